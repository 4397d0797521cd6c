"""The rows that train and those that are held out, read from disk as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ftui.data.load import DataSet, Told
from ftui.data.look import Look, look
from ftui.data.options import Options
from ftui.data.pick import NAMED, Given, Part, named_file, pick, sources
from ftui.data.row import Row
from ftui.errors import DataError
from ftui.settings import DataSettings

# What canonical rows of a schema are, where they are no talks.
_KINDS = {"text": "plain text", "preference": "pairs of answers", "kto": "labelled answers"}


@dataclass
class Side:
    """Rows of one side of the split; each time it is iterated the files are read again. len: rows of an epoch."""

    data: DataSettings
    parts: list[Part]

    def __len__(self) -> int:
        return sum(len(part.numbers) for part in self.parts)

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    def rows(self, told: Told | None = None) -> Iterator[Row]:
        """The rows, part after part. told: of the reading of each part, and may end it."""
        for part in self.parts:
            yield from rows_of(data_set(self.data, part), part, told)


@dataclass
class Chosen:
    """looks: one a set, the first is that of `data.train`; held_look: of the named file of held-out rows.

    origin: of the held-out rows, in words.
    """

    train: Side
    validation: Side
    origin: str
    looks: list[Look] = field(default_factory=list)
    held_look: Look | None = None

    @property
    def report(self) -> dict[str, Any]:
        """The report of the data that is trained on, as `inspect --json`."""
        return self.looks[0].report

    def to_json(self) -> dict[str, Any]:
        """{report, mixed, conflict, rows, held_out, origin, dropped, report_file}, as the page and the checks see it.

        conflict: why these sets cannot be learned from together, "" where they can. mixed: reports of further sets.
        rows, held_out: how many of each an epoch sees. dropped: path of the file of dropped rows, "" where none is.
        """
        first, conflict = self.looks[0], ""
        try:
            one_kind(self)
        except DataError as error:
            conflict = error.message
        return {
            "conflict": conflict,
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
    named = named_file(data)
    held = look(named, _of_held_out(data), told) if named else None
    picked = pick(given, data, held.splits if held else None)
    chosen = Chosen(Side(data, picked.train), Side(data, picked.held), picked.origin, looks, held)
    if not len(chosen.train):
        raise DataError(
            "no_usable_rows",
            "There is nothing to learn from",
            f"Of {chosen.report['rows']:,} rows in {data.train} none can be used.",
            "See the reasons on the Data tab, or with: python -m ftui inspect",
        )
    return chosen


def one_kind(chosen: Chosen) -> None:
    """Raise DataError, code wrong_schema, where sets of several kinds come together: no run learns from both."""
    data = chosen.train.data
    seen = [(name, look) for (name, _), look in zip(sources(data), chosen.looks, strict=True)]
    if chosen.held_look is not None:
        seen.append((data.validation, chosen.held_look))
    kinds: dict[str, list[str]] = {}
    for name, found in seen:
        kinds.setdefault(_KINDS.get(found.report["schema"], "talks"), []).append(name)
    if len(kinds) > 1:
        told = "; ".join(f"{kind} in {', '.join(names)}" for kind, names in kinds.items())
        raise DataError(
            "wrong_schema",
            "These sets are of different kinds",
            f"There are {told}.",
            "Keep the sets of one kind, or say which columns hold a question and its answer.",
        )


def data_set(data: DataSettings, part: Part) -> DataSet:
    """The set that a part's rows come from."""
    if part.place == NAMED:
        return DataSet(data.validation, _of_held_out(data))
    return DataSet(sources(data)[part.place][0], options_of(data, part.place))


def rows_of(found: DataSet, part: Part, told: Told | None = None) -> Iterator[Row]:
    """The rows of a part, each as often as it is numbered there."""
    wanted = iter(part.numbers)
    number = next(wanted, None)
    for row in found.rows(part.split, told):
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
