"""The one path from a file, a folder or a fetched hub set to canonical rows and their report."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ftui import workspace
from ftui.data import problems
from ftui.data.canonical import canonical
from ftui.data.detect import Layout, asked, layout
from ftui.data.duplicates import Seen
from ftui.data.folder import Choice, choose
from ftui.data.hub_names import fetched, is_hub_name
from ftui.data.options import DETECTED, Options
from ftui.data.reader import Reading, read
from ftui.data.report import Report
from ftui.data.row import Record, Row, RowFault
from ftui.data.values import kind

_LOOK_ROWS = 500
_LOOK_SIZE = 16 * 1024 * 1024
_MAX_COLUMNS = 1_000


@dataclass
class Loaded:
    """splits: "train" always, "validation" and "test" where the source has them and they hold rows."""

    report: Report
    splits: dict[str, list[Row]]


def inspect(source: str | Path, options: Options = DETECTED, sample: int = 5) -> Report:
    """The report alone, in flat memory. sample: how many canonical rows it shows. Raises DataError."""
    return _run(source, options, sample, keep=False).report


def load(source: str | Path, options: Options = DETECTED) -> Loaded:
    """The report and all canonical rows. Raises DataError where the source as a whole cannot be used."""
    return _run(source, options, 5, keep=True)


def locate(source: str | Path) -> Path:
    """The file or folder that a name means. Raises DataError, code not_found."""
    name = str(source)
    try:
        found = workspace.find(name) or fetched(name)
    except (OSError, ValueError):  # a name that no file system takes: too long, or with a zero byte
        found = None
    if found is None:
        raise problems.not_found(name[:200], is_hub_name(name))
    return found


def _run(source: str | Path, options: Options, sample: int, keep: bool) -> Loaded:
    asked(options)
    path = locate(source)
    choice = choose(path, lambda file: _shape(file, options)) if path.is_dir() else Choice({"train": [path]})
    report = Report(str(path))
    if choice.skipped:
        named = ", ".join(choice.skipped[:20]) + (" …" if len(choice.skipped) > 20 else "")
        report.warn("skipped_files", f"Not read as data: {named}.")
    if choice.renamed:
        report.warn(
            "no_train_split", f"There is no train split; {choice.renamed} is taken as the rows to learn from."
        )
    train = _Split(path, choice.files["train"], options, report, keep, sample)
    train.run(None)
    report.file_format, report.encoding = train.file_format, train.encoding
    report.columns = list(train.columns)
    splits = {"train": train.kept}
    counts = {"train": report.rows}
    if not report.usable:
        first = report.dropped[0]["message"] if report.dropped else ""
        raise problems.no_usable_rows(path, report.rows, dict(report.counts), first)
    assert train.layout is not None  # a usable row has a layout
    report.schema, report.mapping = train.layout.schema, train.layout.mapping
    for name in ("validation", "test"):
        if name in choice.files:
            whole = Options(options.schema, options.mapping, options.system, options.drop_duplicates)
            other = _Split(path, choice.files[name], whole, Report(str(path)), keep, 0)
            other.run(train.layout)
            counts[name] = other.report.rows
            if other.report.usable:
                splits[name] = other.kept
    if len(choice.files) > 1 or choice.renamed:
        report.splits = counts
    report.finish()
    return Loaded(report, splits)


def _shape(file: Path, options: Options) -> str:
    """The schema of a file by its first rows. Raises DataError."""
    split = _Split(
        file, [file], Options(options.schema, options.mapping, max_rows=1), Report(str(file)), False, 0
    )
    split.run(None)
    if split.layout is None:
        raise problems.no_usable_rows(file, split.report.rows, dict(split.report.counts), "")
    return split.layout.schema


class _Split:
    """Reads the files of one split, one after another; rows are numbered through."""

    def __init__(
        self, path: Path, files: list[Path], options: Options, report: Report, keep: bool, sample: int
    ) -> None:
        self.path, self.files, self.options, self.report = path, files, options, report
        self.keep, self.sample = keep, sample
        self.kept: list[Row] = []
        self.layout: Layout | None = None
        self.file_format = self.encoding = ""
        self.columns: dict[str, None] = {}
        self._keys: set[tuple[str, ...]] = set()
        self._seen = Seen()

    def run(self, known: Layout | None) -> None:
        """Fill the report and, where rows are kept, `kept`. known: the layout, if another split gave it."""
        self.layout = known
        with closing(self._records()) as records:
            first = self._look(records) if known is None else []
            for number, (place, record) in enumerate(chain(first, records), 1):
                self.report.rows = number
                self._take(number, place, record)
                if self.options.max_rows is not None and self.report.usable >= self.options.max_rows:
                    break

    def _look(self, records: Iterator[tuple[str, Record]]) -> list[tuple[str, Record]]:
        """Read ahead as far as it takes to tell the layout."""
        first, size = [], 0
        for item in records:
            first.append(item)
            size += item[1].size
            if len(first) >= _LOOK_ROWS or size > _LOOK_SIZE:
                break
        rows = [record.value for _, record in first if isinstance(record.value, dict)]
        if rows:
            columns = dict.fromkeys(chain(self.columns, *rows))
            self.layout = layout(self.path, rows, list(columns), self.options)
        return first

    def _records(self) -> Generator[tuple[str, Record], None, None]:
        for file in self.files:
            reading = read(file, self.options)
            self._describe(file, reading)
            place = file.name if len(self.files) > 1 else ""
            try:
                for record in reading.records:
                    yield place, record
            except OSError as error:
                raise problems.unreadable(file, error) from None

    def _describe(self, file: Path, reading: Reading) -> None:
        self.file_format = self.file_format or reading.file_format
        self.encoding = self.encoding or reading.encoding
        self.columns.update(dict.fromkeys(reading.columns))
        if reading.guessed:
            self.report.warn(
                "encoding_fallback",
                f"{file.name} is not UTF-8 and was read as {reading.encoding}; check that its text reads right.",
            )
        if reading.skipped:
            self.report.warn("skipped_files", f"Not read in {file.name}: {', '.join(reading.skipped[:20])}.")

    def _take(self, number: int, place: str, record: Record) -> None:
        notes: set[str] = {"encoding_fallback"} if record.replaced else set()
        try:
            value = self._canonical(record, notes)
        except RowFault as fault:
            self.report.drop(number, record.line, fault, place)
            return
        self.report.usable += 1
        for code in sorted(notes):
            self.report.note(code, number)
        if len(self.report.sample) < self.sample:
            self.report.sample.append(value)
        if self.keep:
            self.kept.append(Row(number, value))

    def _canonical(self, record: Record, notes: set[str]) -> dict[str, Any]:
        """The row's canonical value. Raises RowFault."""
        if record.fault is not None:
            raise record.fault
        row = record.value
        if not isinstance(row, dict):
            raise RowFault("not_an_object", f"It is {kind(row)}, but must be an object with named fields.")
        if self.layout is None:  # no row before it was an object
            self.layout = layout(self.path, [row], list(row), self.options)
        self._name_columns(row)
        try:
            value = canonical(self.layout.schema, self.layout.of(row), self.options.system, notes)
            fresh = self._seen.add(value)
        except RecursionError:
            raise RowFault("malformed_json", "It is nested too deeply.") from None
        if not fresh:
            if self.options.drop_duplicates:
                raise RowFault("duplicate", "It is equal to an earlier row.")
            notes.add("duplicates")
        return value

    def _name_columns(self, row: dict[str, Any]) -> None:
        keys = tuple(row)
        if keys not in self._keys and len(self._keys) < _MAX_COLUMNS and len(self.columns) < _MAX_COLUMNS:
            self._keys.add(keys)
            self.columns.update(dict.fromkeys(keys))
