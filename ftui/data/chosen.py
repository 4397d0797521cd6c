"""The rows that train and those that are held out, read from disk as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ftui.data.load import DataSet, Told
from ftui.data.look import Look, look
from ftui.data.options import Options
from ftui.data.pick import HELD, Given, Part, pick, sources
from ftui.data.row import Row
from ftui.errors import DataError
from ftui.settings import DataSettings


@dataclass
class Side:
    """Rows of one side of the split; each time it is iterated the files are read again. len: rows of an epoch."""

    data: DataSettings
    parts: list[Part]

    def __len__(self) -> int:
        return sum(len(part.numbers) for part in self.parts)

    def __iter__(self) -> Iterator[Row]:
        for part in self.parts:
            yield from rows_of(data_set(self.data, part), part)


@dataclass
class Chosen:
    """looks: one a set, the first is that of `data.train`. origin: of the held-out rows, in words."""

    train: Side
    validation: Side
    origin: str
    looks: list[Look] = field(default_factory=list)

    @property
    def report(self) -> dict[str, Any]:
        """The report of the data that is trained on, as `inspect --json`."""
        return self.looks[0].report

    def to_json(self) -> dict[str, Any]:
        """{report, mixed, rows, held_out, origin, dropped, report_file}, as the page and the checks look at it.

        mixed: reports of further sets. rows, held_out: how many of each an epoch sees. dropped: path of the file of
        dropped rows, "" where none is.
        """
        first = self.looks[0]
        return {
            "report": first.report,
            "mixed": [look.report for look in self.looks[1:]],
            "rows": len(self.train),
            "held_out": len(self.validation),
            "origin": self.origin,
            "dropped": str(first.dropped or ""),
            "report_file": str(first.report_file),
        }


def choose(data: DataSettings, told: Told | None = None) -> Chosen:
    """Decide which rows train and which are held out; the files are read once, in flat memory, and then known.

    Raises DataError where a set cannot be read, or nothing is left to learn from.
    """
    given, looks = [], []
    for place, (source, weight) in enumerate(sources(data)):
        looks.append(look(source, options_of(data, place), told))
        given.append(Given(source, weight, looks[-1].splits))
    named = look(data.validation, _of_held_out(data), told).splits["train"] if data.validation else None
    picked = pick(given, data, named)
    chosen = Chosen(Side(data, picked.train), Side(data, picked.held), picked.origin, looks)
    if not len(chosen.train):
        raise DataError(
            "no_usable_rows",
            "There is nothing to learn from",
            f"Of {chosen.report['rows']:,} rows in {data.train} none can be used.",
            "See the reasons on the Data tab, or with: python -m ftui inspect",
        )
    return chosen


def data_set(data: DataSettings, part: Part) -> DataSet:
    """The set that a part's rows come from."""
    if part.split == HELD:
        return DataSet(data.validation, _of_held_out(data))
    return DataSet(sources(data)[part.place][0], options_of(data, part.place))


def rows_of(found: DataSet, part: Part) -> Iterator[Row]:
    """The rows of a part, each as often as it is numbered there."""
    wanted = iter(part.numbers)
    number = next(wanted, None)
    for row in found.rows("train" if part.split == HELD else part.split):
        while number == row.number:
            yield row
            number = next(wanted, None)
        if number is None:
            return


def options_of(data: DataSettings, place: int) -> Options:
    """What the person decided about a set. Schema and columns are those of the first; further sets are detected."""
    options = Options.of(data)
    return options if place == 0 else replace(options, schema="", mapping={}, context_column="")


def _of_held_out(data: DataSettings) -> Options:
    """The file of held-out rows is read as it is: its columns may be named otherwise than those that train."""
    return Options(system=data.system)
