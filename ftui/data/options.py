"""What a person may decide about the data; everything else is detected."""

from __future__ import annotations

from dataclasses import dataclass, field

from ftui.settings import DataSettings

SCHEMAS = ("alpaca", "sharegpt", "messages", "prompt-completion", "preference", "kto", "text")


@dataclass(frozen=True)
class Options:
    """schema: one of SCHEMAS, "" detects it. mapping: canonical name → column, detected where absent.

    system: put before every row that has no system turn. max_rows: stop after so many usable rows of a split.
    context_column: its text is put before questions of fewer than context_below characters.
    """

    schema: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    system: str = ""
    drop_duplicates: bool = False
    max_rows: int | None = None
    context_column: str = ""
    context_below: int = 40

    @classmethod
    def of(cls, data: DataSettings) -> Options:
        """The options that a settings file names."""
        return cls(
            schema=data.schema_name,
            mapping=dict(data.mapping),
            system=data.system,
            drop_duplicates=data.drop_duplicates,
            max_rows=data.max_rows,
            context_column=data.context_column,
            context_below=data.context_below,
        )


DETECTED = Options()
"""Nothing decided: schema and columns are detected, every usable row is kept."""
