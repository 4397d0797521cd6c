"""Makes rows of JSON records that are no objects: texts, talks without a name, lists under a header, wrapped rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from ftui.data.json_shape import LISTS
from ftui.data.names import plain
from ftui.data.row import Record, RowFault
from ftui.data.turns import is_turns

_LOOK = 5
_MAX_NAME = 100


def as_rows(records: Iterator[Record], is_row: Callable[[list[str]], bool]) -> Iterator[Record]:
    """The records as rows, by the form that all of the first ones have; records of any other form stay as they are.

    is_row: whether columns are those of a row.
    """
    first = list(islice(records, _LOOK))
    values = [record.value for record in first if record.fault is None]
    every = chain(first, records)
    if not values:
        return every
    if all(isinstance(value, str) for value in values):
        return _wrapped(every, str, "text")
    if all(isinstance(value, list) and is_turns(value) for value in values):
        return _wrapped(every, list, "messages")
    if (
        all(isinstance(value, list) for value in values)
        and len(values) > 1
        and _is_header(values[0], values[1])
    ):
        return _under_header(every)
    if all(
        isinstance(value, dict) and isinstance(value.get("row"), dict) and "row_idx" in value
        for value in values
    ):
        return _unwrapped(every)
    if all((rows := _listed(value)) and is_row(list(rows[0])) for value in values):
        return _out_of_lists(every)
    return every


def _is_header(names: list[Any], row: list[Any]) -> bool:
    named = all(isinstance(name, str) and 0 < len(name.strip()) <= _MAX_NAME for name in names)
    return named and len(set(names)) == len(names) == len(row) > 1


def _wrapped(records: Iterator[Record], kind: type, name: str) -> Iterator[Record]:
    for record in records:
        if record.fault is None and isinstance(record.value, kind):
            record.value = {name: record.value}
        yield record


def _under_header(records: Iterator[Record]) -> Iterator[Record]:
    names: list[str] = []
    for record in records:
        if record.fault is not None or not isinstance(record.value, list):
            yield record
        elif not names:
            names = [name.strip() for name in record.value]
        elif len(record.value) != len(names):
            message = f"It has {len(record.value)} cells, the header has {len(names)}."
            record.fault, record.raw = RowFault("ragged_row", message), str(record.value)
            yield record
        else:
            record.value = dict(zip(names, record.value, strict=True))
            yield record


def _listed(value: Any) -> list[dict[str, Any]]:
    """The rows of an object that holds nothing but a list of them: {"data": [{…}, {…}]}; [] for anything else."""
    if not isinstance(value, dict) or len(value) != 1:
        return []
    name, rows = next(iter(value.items()))
    if plain(str(name)) not in LISTS or not isinstance(rows, list):
        return []
    return rows if all(isinstance(row, dict) for row in rows) else []


def _out_of_lists(records: Iterator[Record]) -> Iterator[Record]:
    for record in records:
        rows = _listed(record.value) if record.fault is None else []
        if not rows:
            yield record
        for row in rows:
            yield Record(record.line, row, record.size // len(rows), record.replaced)


def _unwrapped(records: Iterator[Record]) -> Iterator[Record]:
    """The rows of what the hub's viewer exports: {"row_idx": 0, "row": {…}}."""
    for record in records:
        if isinstance(record.value, dict) and isinstance(record.value.get("row"), dict):
            record.value = record.value["row"]
        yield record
