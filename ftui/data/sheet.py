"""Rows of an Excel sheet (.xlsx): the first sheet that has any; the first row that has cells is the header."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ftui.data import problems
from ftui.data.row import Record, RowFault
from ftui.data.table import header

_MAX_UNPACKED = 4 * 1024**3


def sheet(path: Path, stream: IO[bytes]) -> Iterator[Record]:
    """Cells as Python values: text, numbers, booleans, dates. Raises DataError: not_text, too_large."""
    _check(path, stream)
    from openpyxl import load_workbook

    stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # styles and extensions that openpyxl does not know matter to no row
            book = load_workbook(stream, read_only=True, data_only=True)
            for page in book.worksheets:
                page.reset_dimensions()  # some programs write a size of one cell
                found = False
                for record in _rows(page.iter_rows(values_only=True)):
                    found = True
                    yield record
                if found:
                    return
    # openpyxl lets whatever a damaged workbook provokes pass through, from zlib.error to TypeError
    except Exception as error:
        raise problems.damaged(path, "spreadsheet", str(error)) from None


def other_sheets(path: Path, stream: IO[bytes]) -> list[str]:
    """The names of the sheets behind the first, to be named as skipped."""
    _check(path, stream)
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            text = archive.read("xl/workbook.xml").decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile, KeyError, ValueError):
        return []
    return re.findall(r'<(?:\w+:)?sheet\b[^>]*?\bname="([^"]*)"', text)[1:]


def _rows(rows: Iterator[tuple[Any, ...]]) -> Iterator[Record]:
    names: list[str] = []
    for line, cells in enumerate(rows, 1):
        filled = [_cell(cell) for cell in cells]
        while filled and filled[-1] is None:
            filled.pop()
        if not filled:
            continue
        if not names:
            names = header(["" if cell is None else str(cell) for cell in filled])
        elif len(filled) > len(names):
            message = f"It has {len(filled)} cells, the header has {len(names)}."
            yield Record(line, None, fault=RowFault("ragged_row", message))
        else:
            padded = filled + [None] * (len(names) - len(filled))
            yield Record(line, dict(zip(names, padded, strict=True)))


def _cell(value: Any) -> Any:
    """Whole numbers as Excel shows them; blank text is an empty cell only where nothing at all is in it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if value == "" else value


def _check(path: Path, stream: IO[bytes]) -> None:
    """Refuse what is no workbook, and one that would unpack to more than any sheet of text."""
    try:
        with zipfile.ZipFile(stream) as archive:
            parts = archive.infolist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, OverflowError) as error:
        raise problems.damaged(path, "spreadsheet or ZIP archive", str(error)) from None
    if not any(part.filename == "xl/workbook.xml" for part in parts):
        raise problems.not_text(
            path, "is a ZIP archive, which is not unpacked", "Unpack it and give the files."
        )
    size = sum(part.file_size for part in parts)
    if size > _MAX_UNPACKED:
        raise problems.too_large(path, size)
