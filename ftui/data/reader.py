"""Decides by its content how a file is read. The ending is asked only where the content fits two formats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ftui.data.detect import is_known_header
from ftui.data.json_text import ROW_LISTS, json_lines, json_stream
from ftui.data.lines import numbered
from ftui.data.options import Options
from ftui.data.parquet import parquet
from ftui.data.row import Record
from ftui.data.sheet import other_sheets, sheet
from ftui.data.source import ARROW, HEAD_BYTES, Source
from ftui.data.table import sniff, table

_LINE_ENDINGS = (".jsonl", ".ndjson", ".jsonlines")
_JSON_ENDINGS = (".json", *_LINE_ENDINGS)
_TABLE_ENDINGS = (".csv", ".tsv", ".tab")
_HEAD_LINES = 40
_NO_JSON = object()


@dataclass
class Reading:
    """An opened file. encoding: "" for binary formats; guessed: it is not proved by the bytes.

    columns: of a table, in its order. skipped: parts that are not read, such as further sheets.
    """

    file_format: str
    encoding: str
    guessed: bool
    records: Iterator[Record]
    columns: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def read(path: Path, options: Options) -> Reading:
    """Look into a file and read it record by record. Raises DataError for the file as a whole."""
    source = Source(path)
    packed = ".gz" if source.packed else ""
    if source.binary:
        return _binary(source, packed)
    kind, delimiter, columns = _kind(source, options)
    names = {
        "lines": "jsonl",
        "stream": "json",
        "text": "text",
        "table": "tsv" if delimiter == "\t" else "csv",
    }
    return Reading(
        names[kind] + packed,
        source.encoding.shown,
        not source.encoding.certain,
        _records(source, kind, delimiter),
        columns,
    )


def _binary(source: Source, packed: str) -> Reading:
    if source.head.startswith(b"PK"):
        with source.seekable() as stream:
            skipped = [f"sheet {name}" for name in other_sheets(source.path, stream)]
        return Reading("xlsx" + packed, "", False, _binary_records(source, sheet), skipped=skipped)
    name = "arrow" if source.head.startswith(ARROW) else "parquet"
    return Reading(name + packed, "", False, _binary_records(source, parquet))


def _binary_records(source: Source, rows: Callable[[Path, IO[bytes]], Iterator[Record]]) -> Iterator[Record]:
    with source.seekable() as stream:
        yield from rows(source.path, stream)


def _kind(source: Source, options: Options) -> tuple[str, str, list[str]]:
    """(lines, stream, table or text; delimiter; columns). lines and stream are JSON."""
    head, ending = source.text_head, _ending(source.path)
    lines = [line.strip() for line in re.split(r"[\r\n]+", head[: HEAD_BYTES // 4]) if line.strip()]
    if (len(head) > HEAD_BYTES // 4 or not source.whole) and lines:
        lines.pop()  # cut by the end of the head
    lines = lines[:_HEAD_LINES]
    values = [_parsed(line) for line in lines]
    objects = sum(isinstance(value, dict) for value in values)
    if _begins_json(head, ending in _JSON_ENDINGS or (bool(values) and values[0] is not _NO_JSON)):
        many = len(lines) > 1
        if many and (values[0] is not _NO_JSON or (head.lstrip()[0] == "{" and objects * 2 >= len(lines))):
            return "lines", "", []
        if not many and ending in _LINE_ENDINGS and objects and not _wraps(values[0]):
            return "lines", "", []
        return "stream", "", []
    if objects and objects * 2 >= len(lines):
        return "lines", "", []
    delimiter, columns = sniff(head)
    if ending in _TABLE_ENDINGS or (delimiter and is_known_header(columns, options)):
        return "table", delimiter, columns
    return ("lines", "", []) if ending in _JSON_ENDINGS else ("text", "", ["text"])


def _begins_json(head: str, likely: bool) -> bool:
    """Whether a text begins like JSON. likely: its ending or its first line says so, which settles `[1] A note`."""
    start = head.lstrip()[:200]
    if re.match(r'\{\s*["}]|\[\s*[{\]]', start):
        return True
    return likely and start[:1] in ("{", "[")


def _wraps(value: Any) -> bool:
    """Whether an object holds its rows in a list."""
    return any(
        isinstance(item, list)
        and item
        and isinstance(item[0], dict)
        and name.strip().casefold() not in ROW_LISTS
        for name, item in value.items()
    )


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return _NO_JSON


def _ending(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return name[name.rfind(".") :] if "." in name else ""


def _records(source: Source, kind: str, delimiter: str) -> Iterator[Record]:
    with source.text() as stream:
        if kind == "lines":
            yield from json_lines(stream)
        elif kind == "stream":
            yield from json_stream(stream)
        elif kind == "table":
            yield from table(stream, delimiter)
        else:
            for number, line, _ in numbered(stream):
                text = line.rstrip("\r\n\x1a")
                if text.strip():
                    yield Record(number, {"text": text}, len(text), "\ufffd" in text)
