"""Rows of CSV and its kin: comma, semicolon, tab or bar; quoted cells may hold all of these and line ends.

A row of another width than the header is reported and passed over. A quote that is never closed would swallow
the rest of the file, so a cell that grows past bounds costs one row and reading goes on at the next line.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from ftui.data.lines import numbered
from ftui.data.row import Record, RowFault

_DELIMITERS = (",", ";", "\t", "|")
_MAX_RECORD_LINES = 10_000
_MAX_RECORD = 16 * 1024 * 1024
_LOOK = 50


def sniff(head: str) -> tuple[str, list[str]]:
    """(delimiter, header) of the table that a text begins with; delimiter "" where it has a single column.

    The delimiter that splits the header is the one under which most of the first rows are as wide as it.
    """
    best: tuple[float, int] = (0.0, 1)
    chosen = ""
    for delimiter in _DELIMITERS:
        rows = _first_rows(head, delimiter)
        if not rows or len(rows[0]) < 2:
            continue
        width = len(rows[0])
        agree = sum(len(row) == width for row in rows) / len(rows)
        if (agree, width) > best:
            best, chosen = (agree, width), delimiter
    rows = _first_rows(head, chosen or ",")
    return chosen, header(rows[0]) if rows else []


def header(cells: list[str]) -> list[str]:
    """The column names, each once: an empty one is named by its place, a repeated one gets a number."""
    names: list[str] = []
    for place, cell in enumerate(cells, 1):
        name = str(cell).strip().strip("\ufeff") or f"column {place}"
        count = 2
        unique = name
        while unique in names:
            unique, count = f"{name} {count}", count + 1
        names.append(unique)
    return names


def table(stream: io.TextIOBase, delimiter: str) -> Iterator[Record]:
    """The rows under the header. delimiter: as `sniff` gives it."""
    lines = _Lines(stream)
    names: list[str] = []
    for line, cells, text in lines.rows(delimiter or ","):
        if not delimiter:
            cells = _single(cells, text)
        if not names:
            if not _hint(text):
                names = header(cells)
            continue
        if any(cells[len(names) :]) or len(cells) < len(names):
            message = (
                f"It has {len(cells)} cells, the header has {len(names)}. Put cells with a comma in quotes."
            )
            if text is None:
                message = "A quote in it is never closed."
            yield Record(line, None, sum(map(len, cells)), fault=RowFault("ragged_row", message))
            continue
        size = sum(map(len, cells))
        yield Record(
            line, dict(zip(names, cells, strict=False)), size, any("\ufffd" in cell for cell in cells)
        )


def _single(cells: list[str], text: str | None) -> list[str]:
    """A single column needs no quotes: commas in it are text, unless the cell was quoted."""
    if len(cells) < 2 or text is None:
        return cells
    return [text.rstrip("\r\n")]


def _hint(text: str | None) -> bool:
    """Excel's first line `sep=;`, which names the delimiter and is no header."""
    return text is not None and text.strip().lower() in {f"sep={mark}" for mark in _DELIMITERS} | {"sep="}


def _first_rows(head: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    lines = _Lines(io.StringIO(head, newline=""))
    for _, cells, text in lines.rows(delimiter):
        if not rows and _hint(text):
            continue
        rows.append(cells)
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

    def rows(self, delimiter: str) -> Iterator[tuple[int, list[str], str | None]]:
        """(line, cells, the line's text or None where a quote was not closed) of each row that is not blank."""
        while True:
            # strict, since a cell that swallowed other rows ends in a quote with text right behind it
            reader = csv.reader(self._feed(), delimiter=delimiter, strict=True)
            try:
                while True:
                    self._record = []
                    cells = next(reader)
                    if cells:
                        line, text = self._record[0]
                        yield line, cells, text
            except StopIteration:
                return
            except csv.Error:
                yield self._mended(delimiter)

    def _mended(self, delimiter: str) -> tuple[int, list[str], str | None]:
        """The first line of a record that the strict reader refused; its other lines are read again."""
        line, text = self._record[0]
        if not self._ended and len(self._record) == 1:
            with suppress(csv.Error):
                return line, next(csv.reader([text], delimiter=delimiter)), text
        self._again.extendleft(reversed(self._record[1:]))
        return line, [text.rstrip("\r\n")], None

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
