"""The one tree of errors that a person may see.

    FtuiError            code, title, message, fix
    ├── DataError        a file, a row or a data set is not as it must be
    ├── SettingsError    a setting is unknown, out of bounds, or contradicts another
    ├── ModelError       a model cannot be found, fetched, loaded or used
    ├── JobError         a job is not there, or not in a state that allows what was asked
    └── AccessError      a path outside the workspace and the allowed roots, or a missing login

Errors of the libraries beneath are translated where they are caught, once. What is not an FtuiError
is a fault of ours: its traceback goes to the log and the person reads one sentence (`as_error`).
"""

from __future__ import annotations

from typing import Any


class FtuiError(Exception):
    """Something the person can mend.

    code: short and stable, for programs. title: what is wrong, in a few words.
    message: the fact, with place (row, field, file) and numbers. fix: one act that can be done now.
    """

    def __init__(self, code: str, title: str, message: str, fix: str) -> None:
        super().__init__(f"{title}: {message} {fix}".strip())
        self.code = code
        self.title = title
        self.message = message
        self.fix = fix
        # The columns of a data set whose shape is unknown: what a person chooses from.
        self.columns: list[str] = []
        # What these columns seem to hold: canonical name → column. To be confirmed, never to be taken.
        self.proposal: dict[str, str] = {}

    def to_json(self) -> dict[str, str]:
        """The shape that `--json` prints under `error`."""
        return {"code": self.code, "title": self.title, "message": self.message, "fix": self.fix}

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors go from one process to another as their words: subclasses are made from other arguments."""
        return FtuiError.from_json, (self.to_json(),)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> FtuiError:
        """The error that a child process wrote with `to_json`."""
        return FtuiError(*(str(value.get(key, "")) for key in ("code", "title", "message", "fix")))


class DataError(FtuiError):
    """A file, a row or a data set is not as it must be."""


class SettingsError(FtuiError):
    """A setting is unknown, out of bounds, or contradicts another."""


class ModelError(FtuiError):
    """A model cannot be found, fetched, loaded or used."""


class JobError(FtuiError):
    """A job is not there, or not in a state that allows what was asked."""


class AccessError(FtuiError):
    """A path outside the workspace and the allowed roots, or a missing login."""


def as_error(fault: BaseException, where: str) -> FtuiError:
    """What a person reads of any exception: an FtuiError as it is, anything else as a fault of ours.

    where: the place that holds the whole traceback, for example "the log of this run".
    """
    if isinstance(fault, FtuiError):
        return fault
    if isinstance(fault, MemoryError) or "out of memory" in str(fault).lower():
        return ModelError(
            "out_of_memory",
            "Does not fit in memory",
            f"The machine ran out of memory ({type(fault).__name__}).",
            "Halve the batch size or the longest row, or choose a smaller model, and start again.",
        )
    if isinstance(fault, OSError) and fault.errno == 28:
        return FtuiError(
            "disk_full",
            "The disk is full",
            f"Nothing more could be written{f' to {fault.filename}' if fault.filename else ''}.",
            "Free some space, for example by removing old runs, and start again.",
        )
    text = str(fault).strip().splitlines()
    told = f"{type(fault).__name__}: {text[0][:300]}" if text else type(fault).__name__
    return FtuiError(
        "fault",
        "Something went wrong inside ftui",
        f"{told}.",
        f"The whole story is in {where}; please report it with these lines.",
    )
