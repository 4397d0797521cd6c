"""The process that reads whole data sets for the page: `python -m ftui.data.worker`, spoken to through `service`.

It needs no torch, so it is there at once; a file of gigabytes is read here, and meanwhile other
files and single rows are too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ftui.data.chosen import choose
from ftui.data.load import DataSet
from ftui.data.options import Options
from ftui.data.row import Record, RowFault
from ftui.service import Answering, Event, progressing, serve
from ftui.settings import DataSettings

_SHOWN = 4_000


class _Found(Exception):
    """The row that was asked for has come."""


def chosen(data: dict[str, Any], stopped: Callable[[], bool]) -> Answering:
    """`Chosen.to_json`, with progress {done, total (bytes), rows}. data: the fields of DataSettings."""

    def work(told: Callable[[int, int, int], None]) -> Event:
        return choose(DataSettings.model_validate(data), told).to_json()

    return (yield from progressing(work, stopped))


def row(data: dict[str, Any], number: int, stopped: Callable[[], bool]) -> Answering:
    """One row of the train split by its number: {value}, or {dropped, raw} where it cannot be used, or {} for none."""

    def work(told: Callable[[int, int, int], None]) -> Event:
        lost: Event = {}

        def keep(place: int, record: Record, fault: RowFault, _: str) -> None:
            if place == number:
                lost.update(dropped=fault.message, reason=fault.reason)
                lost["raw"] = (record.raw or str(record.value))[:_SHOWN]
                raise _Found

        settings = DataSettings.model_validate(data)
        try:
            for found in DataSet(settings.train, Options.of(settings)).rows("train", told, keep, number):
                if found.number == number:
                    return {"value": found.value}
        except _Found:
            pass
        return lost

    return (yield from progressing(work, stopped))


def main() -> None:
    """Answer until the input closes."""
    serve({"chosen": chosen, "row": row}, together=True)


if __name__ == "__main__":
    main()
