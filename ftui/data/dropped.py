"""The dropped rows as a file, each with its reason, so that people can mend them where they came from."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from ftui import cache
from ftui.data.row import Record, RowFault
from ftui.files import file_name

_TABLES = ("csv", "tsv", "xlsx")
_OWN = ["row", "line", "reason", "message"]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class DroppedFile:
    """Takes dropped rows as they come (`add` is a `Lost`), in flat memory. Use it in a `with` block.

    One JSON object a line: row, line, reason, message, and the record as it was read, or its raw text where it
    could not be read at all.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dropped.jsonl"
        self.count = 0
        self._out: TextIO | None = None

    def __enter__(self) -> DroppedFile:
        self._out = self.path.open("w", encoding="utf-8", errors="replace", newline="\n")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._out is not None:
            self._out.close()

    def add(self, number: int, record: Record, fault: RowFault, place: str) -> None:
        """Write one row. place: its file, where a split has several."""
        if self._out is None:
            raise ValueError("the file of dropped rows is not open")
        told: dict[str, Any] = {"row": number}
        if place:
            told["file"] = place
        if record.line:
            told["line"] = record.line
        told |= {"reason": fault.reason, "message": fault.message}
        told |= {"text": record.raw} if record.raw else {"record": record.value}
        self._out.write(json.dumps(told, ensure_ascii=False, default=str) + "\n")
        self.count += 1


def all_dropped(read: Path | None, more: list[dict[str, Any]], file_format: str, stem: str) -> Path:
    """One file of every dropped row: those that were dropped in reading, and `more` that a template or a limit drops.

    read: the file of a look, None where it dropped none; more: {row, reason, message}. Kept in the workspace's cache.
    """
    lines = read.with_name("dropped.jsonl") if read is not None else None
    name = f"{file_name(stem, 'data')}-dropped.{'csv' if is_table(file_format) else 'jsonl'}"

    def make(folder: Path) -> None:
        whole = folder / "all.jsonl"
        with whole.open("w", encoding="utf-8", newline="\n") as out:
            if lines is not None:
                with lines.open(encoding="utf-8") as source:
                    shutil.copyfileobj(source, out)
            for row in more:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        if name.endswith(".csv"):
            as_table(whole, folder / name)
        else:
            whole.rename(folder / name)

    key = cache.key(name, more, cache.contents([lines] if lines else []))
    return cache.entry("downloads", key, make, lambda folder: (folder / name).is_file()) / name


def as_table(lines: Path, table: Path) -> None:
    """The rows of a DroppedFile as a spreadsheet: reason and message first, then the columns of the data.

    Written as Excel reads it without asking (UTF-8 with a mark, commas). A cell that a spreadsheet would compute
    is led by an apostrophe.
    """
    columns: dict[str, None] = {}
    for row in _read(lines):
        columns |= dict.fromkeys(_cells(row))
    with table.open("w", encoding="utf-8-sig", errors="replace", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*_OWN, *(_inert(column) for column in columns)])
        for row in _read(lines):
            cells = _cells(row)
            own = [row.get(name, "") for name in _OWN]
            writer.writerow([*own, *(_inert(cells.get(column, "")) for column in columns)])


def is_table(file_format: str) -> bool:
    """Whether data of this format came from a spreadsheet."""
    return file_format.split(".")[0] in _TABLES


def _read(lines: Path) -> Any:
    with lines.open(encoding="utf-8") as source:
        for line in source:
            yield json.loads(line)


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    record = row.get("record")
    if isinstance(record, dict):
        return record
    return {"text": row.get("text", record)} if "text" in row or "record" in row else {}


def _inert(value: Any) -> Any:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"'{text}" if text.startswith(_FORMULA) and isinstance(value, str) else text
