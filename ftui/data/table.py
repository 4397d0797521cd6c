"""Rows of CSV and its kin: comma, semicolon, tab or bar; quoted cells may hold all of these and line ends.

A row of another width than the header is reported and passed over. A quote that is never closed would swallow
the rest of the file, so a cell that grows past bounds costs one row and reading goes on at the next line.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ftui.data.lines import numbered
from ftui.data.row import MAX_RAW, Record, RowFault

_DELIMITERS = (",", ";", "\t", "|")
_MAX_RECORD_LINES = 10_000
_MAX_RECORD = 16 * 1024 * 1024
_LOOK = 50
_MAX_ABOVE = 8
# what programs write for a cell without a value; a person may mean "null" or "none" as an answer
_NOTHING = frozenset(("NaN", "nan", "<NA>", "#N/A", "\\N", "NULL"))


@dataclass(frozen=True)
class Dialect:
    """delimiter: "" for a single column. escaped: a quote within quotes follows a backslash. spaced: a blank follows
    each delimiter. above: so many rows, such as a title, stand above the header.
    """

    delimiter: str = ""
    escaped: bool = False
    spaced: bool = False
    above: int = 0

    def reader(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """A strict reader, since a cell that swallowed other rows ends in a quote with text right behind it."""
        return csv.reader(
            lines,
            delimiter=self.delimiter or ",",
            strict=True,
            doublequote=not self.escaped,
            escapechar="\\" if self.escaped else None,
            skipinitialspace=self.spaced,
        )


class _Found(NamedTuple):
    """line: where the row begins. text: as it stands in the file. open: a quote in it is not closed."""

    line: int
    cells: list[str]
    text: str
    open: bool = False


def sniff(head: str, known: Callable[[list[str]], bool]) -> tuple[Dialect, list[str]]:
    """(dialect, header) of the table that a text begins with. known: whether columns are those of rows.

    The delimiter that splits the header is the one under which most of the first rows are as wide as it.
    """
    best: tuple[bool, float, int] = (False, 0.0, 1)
    chosen = Dialect()
    found: list[str] = []
    for delimiter in _DELIMITERS:
        for dialect in _dialects(head, delimiter):
            rows = _first_rows(head, dialect)
            above = header_place(rows, known)
            if above is None:
                continue
            width = len(rows[above])
            agree = sum(len(row) == width for row in rows[above:]) / len(rows[above:])
            if (agree > 0 and not above, agree, width) > best:
                best, chosen, found = (not above, agree, width), replace(dialect, above=above), rows[above]
    if not found:
        rows = _first_rows(head, chosen)
        found = rows[0] if rows else []
        if found and len(found) > 1:  # commas in the header of a single column
            found = [",".join(found)]
    return chosen, header(found)


def header_place(rows: Sequence[Sequence[Any]], known: Callable[[list[str]], bool]) -> int | None:
    """How many of the first rows stand above the header: titles in one cell. None where no row is a header.

    A header below titles must be of known columns, or the titles be as wide as the rows: then they are none.
    """
    for above, row in enumerate(rows[: _MAX_ABOVE + 1]):
        if sum(cell not in (None, "") for cell in row) < 2:
            continue
        padded = all(len(title) == len(row) for title in rows[:above])
        return above if padded or known(header([str(cell or "") for cell in row])) else None
    return None


def header(cells: Sequence[str]) -> list[str]:
    """The column names, each once: an empty one is named by its place, a repeated one gets a number."""
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = str(cell).strip().strip("\ufeff").strip() or f"column {place}"
        count = 2
        unique = name
        while unique in names:
            unique, count = f"{name} {count}", count + 1
        names.append(unique)
    return names


def table(stream: io.TextIOBase, dialect: Dialect) -> Iterator[Record]:
    """The rows under the header. dialect: as `sniff` gives it."""
    lines = _Lines(stream)
    names: list[str] = []
    above = dialect.above
    for row in lines.rows(dialect):
        cells = row.cells
        if not dialect.delimiter:
            cells = _single(row)
        if not names:
            if _hint(row.text):
                continue
            if above:
                above -= 1
            else:
                names = header(cells)
            continue
        size = sum(map(len, cells))
        if any(cells[len(names) :]) or len(cells) < len(names):
            message = (
                f"It has {len(cells)} cells, the header has {len(names)}. Put cells with a comma in quotes."
            )
            if row.open:
                message = "A quote in it is never closed."
            fault = RowFault("ragged_row", message)
            yield Record(row.line, None, size, fault=fault, raw=row.text[:MAX_RAW].rstrip("\r\n"))
            continue
        values = [None if cell in _NOTHING else cell for cell in cells]
        yield Record(
            row.line, dict(zip(names, values, strict=False)), size, any("\ufffd" in cell for cell in cells)
        )


def _dialects(head: str, delimiter: str) -> list[Dialect]:
    """The plain dialect of a delimiter and those that the text gives reason to try, the likelier first."""
    plain = Dialect(delimiter)
    tried = [plain]
    if '\\"' in head:
        tried.append(replace(plain, escaped=True))
    if spaced := head.count(f'{delimiter} "'):
        tried.insert(0 if spaced * 2 >= head.count("\n") else 1, replace(plain, spaced=True))
    return tried


def _single(row: _Found) -> list[str]:
    """A single column needs no quotes: commas in it are text, unless the cell was quoted."""
    if len(row.cells) < 2 or row.open:
        return row.cells
    return [row.text.rstrip("\r\n")]


def _hint(text: str) -> bool:
    """Excel's first line `sep=;`, which names the delimiter and is no header."""
    return len(text) < 9 and text.strip().strip('"').lower() in {f"sep={mark}" for mark in _DELIMITERS} | {
        "sep="
    }


def _first_rows(head: str, dialect: Dialect) -> list[list[str]]:
    rows: list[list[str]] = []
    for row in _Lines(io.StringIO(head, newline="")).rows(dialect):
        if not rows and _hint(row.text):
            continue
        rows.append(row.cells)
        if len(rows) > _LOOK:
            break
    return rows


class _Lines:
    """Feeds lines to the csv reader, remembers those of the current record, and can go back to them."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._source = numbered(stream)
        self._again: deque[tuple[int, str]] = deque()
        self._record: list[tuple[int, str]] = []
        self._ended = False
        # the limit of the csv module belongs to the whole process; ours is the one on records below
        csv.field_size_limit(_MAX_RECORD * 4)

    def rows(self, dialect: Dialect) -> Iterator[_Found]:
        """Each row that is not blank."""
        while True:
            reader = dialect.reader(self._feed())
            try:
                while True:
                    self._record = []
                    cells = next(reader)
                    if cells and (len(cells) > 1 or cells[0].strip(" \t\x1a") or '"' in self._record[0][1]):
                        line, text = self._record[0]
                        if len(self._record) > 1:
                            text = "".join(part for _, part in self._record)
                        yield _Found(line, cells, text)
            except StopIteration:
                return
            except csv.Error:
                yield self._mended(dialect)

    def _mended(self, dialect: Dialect) -> _Found:
        """The first line of a record that the strict reader refused; its other lines are read again."""
        line, text = self._record[0]
        if not self._ended and len(self._record) == 1:
            with suppress(csv.Error, StopIteration):
                lenient = csv.reader(
                    [text], delimiter=dialect.delimiter or ",", skipinitialspace=dialect.spaced
                )
                return _Found(line, next(lenient), text)
        self._again.extendleft(reversed(self._record[1:]))
        return _Found(line, [text.rstrip("\r\n")], text, True)

    def _feed(self) -> Iterator[str]:
        self._ended, size = False, 0
        while True:
            number, text = self._again.popleft() if self._again else next(self._source, (0, "", True))[:2]
            if not number:
                self._ended = True
                return
            if not self._record:
                size = 0
            self._record.append((number, text))
            size += len(text)
            if len(self._record) > _MAX_RECORD_LINES or size > _MAX_RECORD:
                self._ended = True
                return
            yield text
