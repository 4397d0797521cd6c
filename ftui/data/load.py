"""The one path from a file, a folder or a fetched hub set to canonical rows and their report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ftui import workspace
from ftui.data import problems
from ftui.data.canonical import canonical
from ftui.data.catalogue import Entry, entry_of
from ftui.data.context import context_column, with_context
from ftui.data.detect import Layout, asked, layout
from ftui.data.duplicates import Seen
from ftui.data.folder import choose
from ftui.data.hub_names import fetched, is_hub_name
from ftui.data.names import split_name
from ftui.data.options import DETECTED, Options
from ftui.data.reader import Reading, parts, read
from ftui.data.report import Report
from ftui.data.row import Record, Row, RowFault
from ftui.data.values import kind
from ftui.errors import DataError

Told = Callable[[int, int, int], None]
"""Is told bytes done, bytes in all and rows read; what it raises ends the reading."""
Lost = Callable[[int, Record, RowFault, str], None]
"""Is told each dropped row: its number, the record, why, and its file where a split has several."""

_LOOK_ROWS = 500
_LOOK_SIZE = 16 * 1024 * 1024
_MOST_ROWS = 100_000
_MOST_SIZE = 64 * 1024 * 1024
_MAX_COLUMNS = 1_000
_TELL_EVERY_S = 0.1
_known_parts: dict[tuple[str, int, str], tuple[str, ...]] = {}


@dataclass
class Loaded:
    """splits: "train" always, "validation" and "test" where the source has them and they hold rows."""

    report: Report
    splits: dict[str, list[Row]]


def inspect(
    source: str | Path, options: Options = DETECTED, sample: int = 5, told: Told | None = None
) -> Report:
    """The report alone, in flat memory. sample: how many canonical rows it shows. Raises DataError."""
    data = DataSet(source, options, sample)
    for split in data.splits:
        for _ in data.rows(split, told):
            pass
    return data.report


def head(source: str | Path, options: Options = DETECTED, rows: int = 200) -> Loaded:
    """The first rows and a report of these alone, without reading on. Raises DataError."""
    data = DataSet(source, options, splits=False)
    first = list(data.rows(stop_after=rows))  # fills the report
    return Loaded(data.report, {"train": first})


def load(source: str | Path, options: Options = DETECTED, told: Told | None = None) -> Loaded:
    """The report and all canonical rows, in memory. Raises DataError where the source cannot be used."""
    data = DataSet(source, options)
    splits = {split: list(data.rows(split, told)) for split in data.splits}
    return Loaded(data.report, {name: rows for name, rows in splits.items() if rows or name == "train"})


def records(source: str | Path, count: int = 5) -> list[dict[str, Any]]:
    """The first objects of a file as they stand there, whatever they mean; none for a folder. Raises DataError."""
    path = locate(source)
    if path.is_dir():
        return []
    found = (record.value for record in read(path, DETECTED).records)
    return list(islice((value for value in found if isinstance(value, dict)), count))


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


Place = tuple[Path, str]
"""A file, and which of its parts is read: "" for all of it."""


@dataclass
class _Choice:
    """places of each split, "train" among them; skipped: names of files; renamed: the split that train really is."""

    places: dict[str, list[Place]]
    skipped: list[str] = field(default_factory=list)
    renamed: str = ""


class DataSet:
    """A source that was looked into: which splits it has. Rows are read from disk as they are asked for.

    splits: "train" first; where they are not asked for, a file is not read through to find them.
    report: of the last reading of the train split; whole when that came to its end.
    Raises DataError where there is no data at all.
    """

    def __init__(
        self, source: str | Path, options: Options = DETECTED, sample: int = 5, splits: bool = True
    ) -> None:
        asked(options)
        entry = entry_of(str(source))
        self.path = _place(entry) if entry else locate(source)
        self.options = entry.options(options) if entry else options
        self._notes = entry.notes if entry else ()
        self._sample = sample
        self._choice = self._choose(splits)
        self._counts: dict[str, int] = {}
        self._layout: tuple[Layout, str] | None = None
        self.splits = ["train", *(name for name in ("validation", "test") if name in self._choice.places)]
        self.report = self._fresh()

    @property
    def files(self) -> list[Path]:
        """All files that rows are read from."""
        return list(dict.fromkeys(file for places in self._choice.places.values() for file, _ in places))

    def rows(
        self,
        split: str = "train",
        told: Told | None = None,
        lost: Lost | None = None,
        stop_after: int | None = None,
    ) -> Iterator[Row]:
        """The usable rows of a split, one after another.

        stop_after: so many records are read, and the report is of these. Raises DataError where the whole
        train split has no usable row.
        """
        if split == "train":
            report, options = self._fresh(), self.options
            self.report = report
        else:
            # A limit on rows is for training, and the layout is that of the rows that are learned from.
            report, options = Report(str(self.path)), replace(self.options, max_rows=None)
        reading = _Reading(self.path, self._choice.places[split], options, report, self._sample, told, lost)
        try:
            yield from reading.rows(None if split == "train" else self._known_layout(), stop_after)
        except DataError as error:
            if split == "train":
                raise
            self.report.warn("skipped_files", f"The {split} split is not read. {error.message}")
        self._counts[split] = report.rows
        if split == "train":
            self._close(report, reading, stop_after is None)
            if reading.layout is not None:
                self._layout = reading.found()
        if len(self.splits) > 1 or self._choice.renamed:
            self.report.splits = {name: self._counts[name] for name in self.splits if name in self._counts}

    def described(self) -> list[Any]:
        """What is read as which split, and what is said of it: all that the files' contents do not tell."""
        places = {
            split: [(os.path.relpath(file, self.path), part) for file, part in found]
            for split, found in self._choice.places.items()
        }
        return [str(self.path), places, self._choice.skipped, self._choice.renamed, list(self._notes)]

    def _choose(self, splits: bool) -> _Choice:
        if self.path.is_dir():
            found = choose(self.path, lambda file: _shape(file, self.options))
            places = {split: [(file, "") for file in files] for split, files in found.files.items()}
            return _Choice(places, found.skipped, found.renamed)
        named: dict[str, list[Place]] = {}
        for part in _parts(str(self.path), self.path.stat().st_mtime_ns, self.options) if splits else ():
            named.setdefault(split_name(part), []).append((self.path, part))
        if not named:
            return _Choice({"train": [(self.path, "")]})
        renamed = "" if "train" in named else "validation" if "validation" in named else "test"
        return _Choice({"train": named.pop(renamed or "train")} | named, renamed=renamed)

    def _fresh(self) -> Report:
        report, choice = Report(str(self.path)), self._choice
        if self._notes:
            report.warn("no_counterpart", f"Of its entry in the list of data sets: {' '.join(self._notes)}")
        if choice.skipped:
            named = ", ".join(choice.skipped[:20]) + (" …" if len(choice.skipped) > 20 else "")
            report.warn("skipped_files", f"Not read as data: {named}.")
        if choice.renamed:
            report.warn(
                "no_train_split",
                f"There is no train split; {choice.renamed} is taken as the rows to learn from.",
            )
        return report

    def _close(self, report: Report, reading: _Reading, whole: bool) -> None:
        report.file_format, report.encoding = reading.file_format, reading.encoding
        report.columns = list(reading.columns)
        if not report.usable and not whole:
            return
        if not report.usable:
            first = report.dropped[0]["message"] if report.dropped else ""
            raise problems.no_usable_rows(self.path, report.rows, dict(report.counts), first)
        found, _ = reading.found()
        report.schema, report.mapping = found.schema, found.mapping
        report.finish()

    def _known_layout(self) -> tuple[Layout, str]:
        if self._layout is None:
            self._layout = _layout(self.path, self._choice.places["train"], self.options)
        return self._layout


def _place(entry: Entry) -> Path:
    """Where the rows of a listed data set are. Raises DataError, code not_found."""
    if (found := entry.place) is not None:
        return found
    raise problems.not_found(entry.hub or str(entry.path or entry.name), bool(entry.hub))


def _parts(path: str, mtime_ns: int, options: Options) -> tuple[str, ...]:
    """`reader.parts`, which reads through a file that has some; remembered while the file does not change."""
    key = (path, mtime_ns, repr(options))
    if key not in _known_parts:
        _known_parts[key] = tuple(parts(Path(path), options))
        while len(_known_parts) > _MAX_COLUMNS:
            _known_parts.pop(next(iter(_known_parts)))
    return _known_parts[key]


def _layout(path: Path, places: list[Place], options: Options) -> tuple[Layout, str]:
    """The layout of files by their first rows, and their context column. Raises DataError."""
    report = Report(str(path))
    reading = _Reading(path, places, replace(options, max_rows=1), report, 0, None, None)
    for _ in reading.rows(None, None):
        pass
    if reading.layout is None:
        raise problems.no_usable_rows(path, report.rows, dict(report.counts), "")
    return reading.found()


def _shape(file: Path, options: Options) -> str:
    """The schema of a file by its first rows. Raises DataError."""
    return _layout(file, [(file, "")], Options(options.schema, options.mapping))[0].schema


class _Reading:
    """Reads the files of one split, one after another; rows are numbered through."""

    def __init__(
        self,
        path: Path,
        places: list[Place],
        options: Options,
        report: Report,
        sample: int,
        told: Told | None,
        lost: Lost | None,
    ) -> None:
        self.path, self.places, self.options, self.report = path, places, options, report
        self.sample, self.told, self.lost = sample, told, lost
        self.layout: Layout | None = None
        self.file_format = self.encoding = ""
        self.columns: dict[str, None] = {}
        self._keys: set[tuple[str, ...]] = set()
        self._seen = Seen()
        self._context = ""
        self._size = sum(file.stat().st_size for file, _ in places if file.exists())
        self._before = 0
        self._position: Callable[[], int] = int
        self._told_at = 0.0
        self._unread: DataError | None = None

    def rows(self, known: tuple[Layout, str] | None, stop_after: int | None) -> Iterator[Row]:
        """The usable rows; fills the report. known: layout and context column, if another split gave them."""
        if known is not None:
            self.layout, self._context = known
        with closing(self._records()) as records:
            first = self._look(records) if known is None else []
            for number, (place, record) in enumerate(chain(first, records), 1):
                self.report.rows = number
                row = self._take(number, place, record)
                self._tell(number)
                if row is not None:
                    yield row
                if self.report.usable == self.options.max_rows or number == stop_after:
                    break
        if self._unread is not None and not self.report.rows:
            raise self._unread
        if self.told is not None:
            self.told(self._size, self._size, self.report.rows)

    def found(self) -> tuple[Layout, str]:
        """The layout, and the column that short questions get their context from; after a usable row was read."""
        assert self.layout is not None
        return self.layout, self._context

    def _tell(self, number: int) -> None:
        if self.told is None or number % 64:
            return
        now = time.monotonic()
        if now - self._told_at > _TELL_EVERY_S:
            self._told_at = now
            self.told(min(self._size, self._before + self._position()), self._size, number)

    def _look(self, records: Iterator[tuple[str, Record]]) -> list[tuple[str, Record]]:
        """Read ahead as far as it takes to tell the layout.

        Where the first rows do not tell it, on to where rows have other fields: one may be absent at first.
        """
        first, size = [], 0
        rows: list[dict[str, Any]] = []
        shapes: set[tuple[str, ...]] = set()
        unknown: DataError | None = None
        for item in records:
            first.append(item)
            size += item[1].size
            value = item[1].value
            if isinstance(value, dict) and (unknown is None or tuple(value) not in shapes):
                shapes.add(tuple(value))
                rows.append(value)
                if unknown is not None and self._tell_layout(rows) is None:
                    return first
            if unknown is None and (len(first) >= _LOOK_ROWS or size > _LOOK_SIZE):
                unknown = self._tell_layout(rows)
                if unknown is None:
                    return first
            if len(first) >= _MOST_ROWS or size > _MOST_SIZE:
                break
        error = unknown or self._tell_layout(rows)
        if error is not None:
            raise error
        return first

    def _tell_layout(self, rows: list[dict[str, Any]]) -> DataError | None:
        """Find the layout of these rows; the error where it cannot be told, None too where there are no rows."""
        if not rows:
            return None
        try:
            self._lay_out(rows, list(dict.fromkeys(chain(self.columns, *rows))))
        except DataError as error:
            return error
        return None

    def _lay_out(self, rows: list[dict[str, Any]], columns: list[str]) -> None:
        self.layout = layout(self.path, rows, columns, self.options)
        if self.options.context_column:
            self._context = context_column(self.path, self.options.context_column, columns)

    def _records(self) -> Generator[tuple[str, Record], None, None]:
        for file, part in self.places:
            try:
                reading = read(file, self.options, part)
            except DataError as error:
                if len(self.places) == 1:
                    raise
                # One file of several that cannot be read must not take the others with it.
                self.report.warn("skipped_files", f"Not read: {error.message}")
                self._unread = self._unread or error
                continue
            self._describe(file, reading)
            self._position = reading.position
            place = file.name if len(self.places) > 1 else ""
            try:
                for record in reading.records:
                    yield place, record
            except OSError as error:
                raise problems.unreadable(file, error) from None
            self._position = int
            self._before += file.stat().st_size

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

    def _take(self, number: int, place: str, record: Record) -> Row | None:
        notes: set[str] = {"encoding_fallback"} if record.replaced else set()
        try:
            value = self._canonical(record, notes)
        except RowFault as fault:
            self.report.drop(number, record.line, fault, place)
            if self.lost is not None:
                self.lost(number, record, fault, place)
            return None
        self.report.usable += 1
        talk = value.get("messages") or value.get("prompt") or ()
        self.report.with_system += any(turn["role"] == "system" for turn in talk)
        for code in sorted(notes):
            self.report.note(code, number)
        if len(self.report.sample) < self.sample:
            self.report.sample.append(value)
        return Row(number, value)

    def _canonical(self, record: Record, notes: set[str]) -> dict[str, Any]:
        """The row's canonical value. Raises RowFault."""
        if record.fault is not None:
            raise record.fault
        row = record.value
        if not isinstance(row, dict):
            raise RowFault("not_an_object", f"It is {kind(row)}, but must be an object with named fields.")
        if self.layout is None:  # no row before it was an object
            self._lay_out([row], list(row))
        assert self.layout is not None
        self._name_columns(row)
        try:
            value = canonical(self.layout.schema, self.layout.of(row), self.options.system, notes)
            if self._context:
                value = with_context(value, row.get(self._context), self.options.context_below)
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
