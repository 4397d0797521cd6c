"""Decides by its content how a file is read. The ending is asked only where the content fits two formats."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ftui.data import problems
from ftui.data.detect import is_known_header
from ftui.data.json_rows import as_rows
from ftui.data.json_shape import ELEMENTS, Shape, is_wrapper, rows_of, shape_of
from ftui.data.json_text import MAX_WHOLE, json_lines, json_names, json_stream, json_value, parse
from ftui.data.lines import numbered
from ftui.data.names import split_name
from ftui.data.options import DETECTED, Options
from ftui.data.parquet import parquet
from ftui.data.row import Record, RowFault
from ftui.data.sheet import choose_sheet, sheet
from ftui.data.source import ARROW, HEAD_BYTES, PACKED_ENDINGS, Source
from ftui.data.table import Dialect, header, sniff, table
from ftui.data.turns import is_turns

_LINE_ENDINGS = (".jsonl", ".ndjson", ".jsonlines")
_JSON_ENDINGS = (".json", ".json5", ".jsonc", *_LINE_ENDINGS)
_TABLE_ENDINGS = (".csv", ".tsv", ".tab")
_HEAD_LINES = 40
_TABBED = 64 * 1024
_COMMENTS = re.compile(r"(?:\s+|//[^\n]*(?:\n|$)|/\*.*?\*/)+", re.DOTALL)
_NO_JSON = object()


@dataclass
class Reading:
    """An opened file. encoding: "" for binary formats; guessed: it is not proved by the bytes.

    columns: of a table, in its order. skipped: parts that are not read, such as further sheets.
    position: bytes of the file on disk consumed so far; by the share of the rows where a format is read from its end.
    """

    file_format: str
    encoding: str
    guessed: bool
    records: Iterator[Record]
    columns: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    position: Callable[[], int] = int


@dataclass(frozen=True)
class _Form:
    """kind: lines or stream (of JSON), table or text. shape: of a stream; dialect and columns: of a table."""

    kind: str
    shape: Shape = ELEMENTS
    dialect: Dialect = field(default_factory=Dialect)
    columns: tuple[str, ...] = ()


def read(path: Path, options: Options, part: str = "") -> Reading:
    """Look into a file and read it record by record. Raises DataError for the file as a whole.

    part: one of `parts(path)`; "" reads the train rows of a file that has parts, and all of any other file.
    """
    source = Source(path)
    if source.binary:
        return _binary(source, options)
    form = _form(source, options)
    shape = _part(source, form.shape, part)
    known = _known(options)
    names = {
        "lines": "jsonl",
        "stream": "json",
        "text": "text",
        "table": "tsv" if form.dialect.delimiter == "\t" else "csv",
    }
    return Reading(
        names[form.kind] + source.packed,
        source.encoding.shown,
        not source.encoding.certain,
        _records(source, form, shape, known),
        list(form.columns),
        [f"the lines above the header ({form.dialect.above})"] if form.dialect.above else [],
        source.position,
    )


def parts(path: Path, options: Options = DETECTED) -> list[str]:
    """The lists of rows in a JSON file that keeps its splits side by side, by their names; [] for any other file.

    {"train": […], "test": […]} → ["train", "test"]. Reads through the file. Raises DataError.
    """
    source = Source(path)
    if source.binary:
        return []
    shape = _form(source, options).shape
    if not shape.split:
        return []
    with source.text() as stream:
        return [name for name in json_names(stream, shape.path[:-1]) if split_name(name)]


def _part(source: Source, shape: Shape, part: str) -> Shape:
    """The shape of the rows of a part. Raises DataError, code not_found."""
    if not part or (shape.split and shape.path[-1] == part):
        return shape
    if not shape.split:
        raise problems.no_such_part(source.path, part)
    return Shape(shape.form, (*shape.path[:-1], part), True)


def _binary(source: Source, options: Options) -> Reading:
    meter = _Meter(source.size)
    if source.head.startswith(b"PK"):
        known = _known(options)
        with source.seekable() as stream:
            name, others = choose_sheet(source.path, stream, known)
        records = _binary_records(source, lambda path, stream: sheet(path, stream, name, known), meter)
        skipped = [f"sheet {other}" for other in others]
        return Reading("xlsx" + source.packed, "", False, records, skipped=skipped, position=meter.position)
    kind = "arrow" if source.head.startswith(ARROW) else "parquet"
    records = _binary_records(source, lambda path, stream: parquet(path, stream, meter.tell), meter)
    return Reading(kind + source.packed, "", False, records, position=meter.position)


class _Meter:
    """How far a format is read that has its table of contents at the end: as it tells, else where the stream is."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._share: float | None = None
        self._stream: IO[bytes] | None = None
        self._length = 1

    def follow(self, stream: IO[bytes]) -> None:
        self._length = stream.seek(0, 2) or 1
        stream.seek(0)
        self._stream = stream

    def tell(self, share: float) -> None:
        self._share = share

    def position(self) -> int:
        if self._share is not None:
            return int(self._size * self._share)
        if self._stream is None:
            return 0
        return self._size if self._stream.closed else int(self._size * self._stream.tell() / self._length)


def _binary_records(
    source: Source, rows: Callable[[Path, IO[bytes]], Iterator[Record]], meter: _Meter
) -> Iterator[Record]:
    with source.seekable() as stream:
        meter.follow(stream)
        yield from rows(source.path, stream)


def _known(options: Options) -> Callable[[list[str]], bool]:
    return lambda columns: is_known_header(columns, options)


def _form(source: Source, options: Options) -> _Form:
    begin = _COMMENTS.match(source.text_head)
    head, ending = source.text_head[begin.end() if begin else 0 :], _ending(source.path)
    lines = [line.strip() for line in re.split(r"[\r\n]+", head[: HEAD_BYTES // 4])]
    if len(head) > HEAD_BYTES // 4 or not source.whole:
        lines.pop()  # cut by the end of the head
    lines = [line for line in lines if line and not line.startswith("//")][:_HEAD_LINES]
    values = [_parsed(line) for line in lines]
    objects = sum(isinstance(value, dict) for value in values)
    if _begins_json(head, ending in _JSON_ENDINGS or (bool(values) and values[0] is not _NO_JSON)):
        begun = values[0] is not _NO_JSON and not _is_batch(values[0]) if values else False
        if len(lines) > 1 and (begun or (head[0] == "{" and objects * 2 >= len(lines))):
            return _Form("lines")
        shape = shape_of(head, _known(options))
        single = len(lines) == 1 and ending in _LINE_ENDINGS and objects
        if single and not is_wrapper(values[0], shape, _known(options)):
            return _Form("lines")
        return _Form("stream", shape)
    if objects and objects * 2 >= len(lines):
        return _Form("lines")
    if ending != ".txt" and re.match(r"<(?:!doctype\s+)?html", head[:20], re.IGNORECASE):
        raise problems.not_text(
            source.path, "is a web page, perhaps one that asks for a login", "Download the data itself again."
        )
    dialect, columns = sniff(source.text_head, _known(options))
    if ending in _TABLE_ENDINGS or (dialect.delimiter and is_known_header(columns, options)):
        return _Form("table", dialect=dialect, columns=tuple(columns))
    if ending == ".txt" and source.encoding.name.startswith("utf-16") and (names := _tabbed(source)):
        return _Form("table", dialect=Dialect("\t"), columns=tuple(names))
    return _Form("lines") if ending in _JSON_ENDINGS else _Form("text", columns=("text",))


def _tabbed(source: Source) -> list[str]:
    """The header of what Excel saves as Unicode text; [] where the first rows are not equally many cells."""
    text = source.text_head[:_TABBED]
    rows = []
    try:
        rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter="\t"), _HEAD_LINES))
    except csv.Error:
        return []
    if len(rows) < _HEAD_LINES and len(text) < len(source.text_head):
        rows.pop()  # cut
    rows = [row for row in rows if row]
    return header(rows[0]) if len(rows) > 1 and {len(row) for row in rows} == {max(2, len(rows[0]))} else []


def _begins_json(head: str, likely: bool) -> bool:
    """Whether a text begins like JSON. likely: its ending or its first line says so, which settles `[1] A note`."""
    start = head.lstrip()[:200]
    if re.match(r'\{\s*["}]|\[\s*[{\]]', start):
        return True
    return likely and start[:1] in ("{", "[")


def _is_batch(value: Any) -> bool:
    """Whether a line holds several rows, and not one talk."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and not is_turns(value)


def _parsed(line: str) -> Any:
    try:
        return parse(line)
    except RowFault:
        return _NO_JSON


def _ending(path: Path) -> str:
    name = path.name.lower()
    name = next((name.removesuffix(end) for end in PACKED_ENDINGS if name.endswith(end)), name)
    return name[name.rfind(".") :] if "." in name else ""


def _records(
    source: Source, form: _Form, shape: Shape, known: Callable[[list[str]], bool]
) -> Iterator[Record]:
    with source.text() as stream:
        if form.kind == "lines":
            yield from as_rows(json_lines(stream), known)
        elif form.kind == "table":
            yield from table(stream, form.dialect)
        elif form.kind == "text":
            for number, line, _ in numbered(stream):
                text = line.rstrip("\r\n\x1a")
                if text.strip():
                    yield Record(number, {"text": text}, len(text), "\ufffd" in text)
        else:
            try:
                yield from _json_rows(source.path, stream, shape, known)
            except LookupError as missing:
                raise problems.no_such_part(source.path, str(missing.args[0])) from None


def _json_rows(
    path: Path, stream: io.TextIOBase, shape: Shape, known: Callable[[list[str]], bool]
) -> Iterator[Record]:
    """The rows of a JSON text. Raises LookupError where the shape is not there; DataError: too_large, not_text."""
    if shape.form != "columns":
        yield from as_rows(json_stream(stream, shape), known)
        return
    try:
        value = json_value(stream, shape.path)
    except RowFault as fault:
        raise problems.damaged_whole(path, fault.message) from None
    except ValueError:
        raise problems.too_large_whole(path, MAX_WHOLE) from None
    for row in rows_of(value):
        yield Record(0, row)
