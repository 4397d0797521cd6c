"""Rows of an Excel workbook (.xlsx): of the first visible sheet with known columns, else of the first with any rows."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ftui.data import problems
from ftui.data.row import MAX_RAW, Record, RowFault
from ftui.data.table import header, header_place

_MAX_UNPACKED = 4 * 1024**3
_LOOK = 50
_ERRORS = frozenset(("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!"))
Known = Callable[[list[str]], bool]


def sheet(path: Path, stream: IO[bytes], name: str, known: Known) -> Iterator[Record]:
    """Cells of a sheet as Python values: text, numbers, booleans, dates. Raises DataError: not_text, too_large.

    known: whether columns are those of rows; tells the header from a title above it.
    """
    with _opened(path, stream) as book:
        if name:
            yield from _rows(_cells(book[name]), known)


def choose_sheet(path: Path, stream: IO[bytes], known: Known) -> tuple[str, list[str]]:
    """(the sheet that is read, "" for none; the names of the others, for the report)."""
    with _opened(path, stream) as book:
        first = chosen = ""
        shown = [page for page in book.worksheets if page.sheet_state == "visible"] or book.worksheets
        for page in shown:
            rows = [row for _, row in islice(_cells(page), _LOOK)]
            place = header_place(rows, known)
            if not rows:
                continue
            first = first or page.title
            if known(header([str(cell or "") for cell in rows[place or 0]])):
                chosen = page.title
                break
        chosen = chosen or first
        return chosen, [title for title in book.sheetnames if title != chosen]


@contextmanager
def _opened(path: Path, stream: IO[bytes]) -> Iterator[Any]:
    _check(path, stream)
    from openpyxl import load_workbook

    stream.seek(0)
    try:
        with warnings.catch_warnings():
            # styles and extensions that openpyxl does not know matter to no row
            warnings.simplefilter("ignore")
            with closing(load_workbook(stream, read_only=True, data_only=True)) as book:
                yield book
    # openpyxl lets whatever a damaged workbook provokes pass through, from zlib.error to TypeError
    except Exception as error:
        raise problems.damaged(path, "spreadsheet", str(error)) from None


def _cells(page: Any) -> Iterator[tuple[int, list[Any]]]:
    """(line, cells without the empty ones at the end) of each row that is not empty."""
    if not hasattr(page, "reset_dimensions"):  # a sheet that is a chart
        return
    page.reset_dimensions()  # some programs write a size of one cell
    for line, cells in enumerate(page.iter_rows(values_only=True), 1):
        filled = [_cell(cell) for cell in cells]
        while filled and filled[-1] is None:
            filled.pop()
        if filled:
            yield line, filled


def _rows(rows: Iterator[tuple[int, list[Any]]], known: Known) -> Iterator[Record]:
    first = list(islice(rows, _LOOK))
    if not first:
        return
    place = header_place([cells for _, cells in first], known) or 0
    names = header(["" if cell is None else str(cell) for cell in first[place][1]])
    for line, cells in first[place + 1 :]:
        yield _record(line, cells, names)
    for line, cells in rows:
        yield _record(line, cells, names)


def _record(line: int, cells: list[Any], names: list[str]) -> Record:
    if len(cells) > len(names):
        fault = RowFault("ragged_row", f"It has {len(cells)} cells, the header has {len(names)}.")
        raw = "\t".join("" if cell is None else str(cell) for cell in cells)
        return Record(line, None, fault=fault, raw=raw[:MAX_RAW])
    padded = cells + [None] * (len(names) - len(cells))
    return Record(line, dict(zip(names, padded, strict=True)))


def _cell(value: Any) -> Any:
    """Whole numbers as Excel shows them; an error, or text in which nothing at all is, is an empty cell."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return None if not value or value in _ERRORS else value.replace("_x000D_", "\r")
    return value


def _check(path: Path, stream: IO[bytes]) -> None:
    """Refuse what is no workbook, and one that would unpack to more than any sheet of text."""
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            parts = archive.infolist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, OverflowError) as error:
        raise problems.damaged(path, "spreadsheet or ZIP archive", str(error)) from None
    if not any(part.filename == "xl/workbook.xml" for part in parts):
        names = {part.filename for part in parts}
        if "mimetype" in names and "content.xml" in names:
            raise problems.not_text(path, "is an OpenDocument file", "Save it as .xlsx or .csv.")
        if "xl/workbook.bin" in names:
            raise problems.not_text(path, "is a binary workbook (.xlsb)", "Save it as .xlsx or .csv.")
        if "word/document.xml" in names:
            raise problems.not_text(
                path, "is a Word document", "Save its text as .txt, or its table as .xlsx."
            )
        raise problems.not_text(
            path, "is a ZIP archive, which is not unpacked", "Unpack it and give the files."
        )
    size = sum(part.file_size for part in parts)
    if size > _MAX_UNPACKED:
        raise problems.too_large(path, size)
