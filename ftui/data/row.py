"""A record as it was read, a row as it is learned from, and why one does not become the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_RAW = 64 * 1024


@dataclass(frozen=True)
class Row:
    """number: from 1, as it stands in the file; value: the canonical row."""

    number: int
    value: dict[str, Any]


@dataclass(slots=True)
class Record:
    """One record of a file, before its meaning is known.

    line: where it begins, 0 where the format has no lines. size: characters, 0 where not known.
    replaced: some of its bytes were no text and stand as U+FFFD. fault: why it cannot be read at all.
    raw: of a record with a fault, the first MAX_RAW characters as they stand in the file, so that it can be mended.
    """

    line: int
    value: Any
    size: int = 0
    replaced: bool = False
    fault: RowFault | None = None
    raw: str = ""


class RowFault(Exception):
    """A row that cannot be learned from. reason: a code of the design; message: a sentence for the person."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
