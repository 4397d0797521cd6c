"""What was found in a data set, complete in its counts however many rows are damaged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ftui.data.row import RowFault

MAX_DROPPED = 10_000
MAX_ROWS_NAMED = 1_000
_SAID = {
    "coerced_to_text": "numbers, truth values or dates were taken as text",
    "duplicates": "are equal to an earlier row",
    "merged_turns": "had turns of one role in a row, which were joined with a blank line",
    "starts_with_assistant": "begin with the assistant; they are kept",
    "trailing_prompt_trimmed": "end in a turn without an answer, which was cut off",
    "encoding_fallback": "hold bytes that are no text; they show as \ufffd",
}


@dataclass
class Report:
    """rows, usable, dropped and sample are those of the train split; splits counts the rows of each.

    dropped: {row, line?, reason, message}, at most MAX_DROPPED of them; counts: reason → all that were dropped.
    with_system: usable rows that have a system turn.
    warnings: {code, message, rows}, each with at most MAX_ROWS_NAMED row numbers and the count in its message.
    """

    path: str
    file_format: str = ""
    encoding: str = ""
    schema: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    rows: int = 0
    usable: int = 0
    dropped: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    splits: dict[str, int] = field(default_factory=dict)
    sample: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    with_system: int = 0
    _notes: dict[str, tuple[int, list[int]]] = field(default_factory=dict, repr=False)

    def drop(self, row: int, line: int, fault: RowFault, place: str = "") -> None:
        """Count a dropped row. place: the file, where a split has several."""
        self.counts[fault.reason] += 1
        if len(self.dropped) < MAX_DROPPED:
            at = {"line": line} if line else {}
            where = f"{place}, row {row}: " if place else f"Row {row}: "
            self.dropped.append({"row": row, **at, "reason": fault.reason, "message": where + fault.message})

    def note(self, code: str, row: int) -> None:
        """Count a row that a warning is about."""
        count, rows = self._notes.get(code, (0, []))
        if count < MAX_ROWS_NAMED:
            rows.append(row)
        self._notes[code] = (count + 1, rows)

    def warn(self, code: str, message: str) -> None:
        """A warning about the file, not about rows."""
        self.warnings.append({"code": code, "message": message, "rows": []})

    def finish(self) -> None:
        """Write the warnings about rows, after the last one was counted."""
        for code, (count, rows) in self._notes.items():
            who = "1 row:" if count == 1 else f"{count:,} rows:"
            self.warnings.append({"code": code, "message": f"{who} {_SAID[code]}.", "rows": rows})

    def to_json(self) -> dict[str, Any]:
        """The shape that `inspect --json` prints."""
        shown = {
            "path": self.path,
            "file_format": self.file_format,
            "encoding": self.encoding,
            "schema": self.schema,
            "mapping": self.mapping,
            "columns": self.columns,
            "rows": self.rows,
            "usable": self.usable,
            "dropped": self.dropped,
            "warnings": self.warnings,
            "sample": self.sample,
        }
        return shown | ({"splits": self.splits} if self.splits else {})
