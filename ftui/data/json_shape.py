"""Tells from the beginning of a JSON text where its rows are: end to end, in a list, by name, or in columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ftui.data.json_loose import STRING, without_comments
from ftui.data.names import COLUMNS, plain, split_name

_HEAD = 256 * 1024
_TOKEN = re.compile(STRING + r"|[{}\[\],]", re.DOTALL)
_MAX_DEPTH = 3
# lists of objects under these names belong to a row; under any other name they are the rows
_ROW_LISTS = frozenset(
    (
        *COLUMNS["messages"],
        "chosen",
        "rejected",
        "prompt",
        "completion",
        "tools",
        "tool_calls",
        "history",
        "functions",
        "content",
    )
)
# the names under which rows lie most often, and those that tell about them
LISTS = (
    "data",
    "rows",
    "examples",
    "records",
    "items",
    "instances",
    "samples",
    "entries",
    "dataset",
    "results",
)
_ABOUT = frozenset(
    (
        "features",
        "columns",
        "schema",
        "fields",
        "info",
        "metadata",
        "meta",
        "licenses",
        "categories",
        "authors",
        "tags",
    )
)
_TURN_KEYS = ("role", "from", "speaker")


@dataclass(frozen=True)
class Shape:
    """path: the names that lead from the top to the rows. form: how they lie there.

    elements: of a list, or end to end; members: the values of an object; columns: a list or object a column, which
    must be read whole. split: the last name of the path is a split, and there may be others beside it.
    """

    form: str = "elements"
    path: tuple[str, ...] = ()
    split: bool = False


ELEMENTS = Shape()


def shape_of(head: str, is_row: Callable[[list[str]], bool]) -> Shape:
    """head: the beginning of the text. is_row: whether columns are those of a row."""
    value = _beginning(without_comments(head[:_HEAD]))
    return _of_object(value, is_row, ()) or ELEMENTS if isinstance(value, dict) else ELEMENTS


def columns_of(value: Any) -> list[str]:
    """The column names of a value in columns."""
    if not isinstance(value, dict):
        return []
    if _is_split_orient(value):
        return [str(name) for name in value["columns"]]
    return list(value)


def rows_of(value: Any) -> list[dict[str, Any]]:
    """The rows of a value in columns: lists, pandas' objects by row label, or pandas' columns beside data."""
    if not isinstance(value, dict):
        return []
    if _is_split_orient(value):
        names = columns_of(value)
        return [dict(zip(names, row, strict=False)) for row in value["data"] if isinstance(row, list)]
    cells = {name: column for name, column in value.items() if isinstance(column, list | dict)}
    labels = dict.fromkeys(
        label
        for column in cells.values()
        for label in (column if isinstance(column, dict) else range(len(column)))
    )
    return [
        {name: column[label] for name, column in cells.items() if _has(column, label)} for label in labels
    ]


def _has(column: Any, label: Any) -> bool:
    if isinstance(column, dict):
        return label in column
    return isinstance(label, int) and label < len(column)


def _of_object(
    value: dict[str, Any], is_row: Callable[[list[str]], bool], path: tuple[str, ...]
) -> Shape | None:
    """The shape of an object; None where it is a row itself."""
    lists = {name: item for name, item in value.items() if isinstance(item, list)}
    objects = {name: item for name, item in value.items() if isinstance(item, dict)}
    if _is_one_row(value, lists, is_row):
        return None
    if found := _of_splits(value, is_row, path):
        return found
    if _is_split_orient(value):
        return Shape("columns", path)
    if found := _of_lists(value, lists, is_row, path):
        return found
    if objects and len(objects) == len(value) and _by_label(objects, is_row):
        return Shape("columns", path)
    if objects and not lists and is_row(list(next(iter(objects.values())))):
        return Shape("members", path)
    if len(path) < _MAX_DEPTH:
        for name, item in objects.items():
            if plain(name) not in _ABOUT and (found := _of_object(item, is_row, (*path, name))):
                return found
    kept = [set(item) for item in objects.values()]
    if (
        len(kept) > 1
        and len(objects) == len(value)
        and kept[0]
        and all(keys == kept[0] for keys in kept[:-1])
    ):
        return Shape("members", path)
    return None


def _is_one_row(
    value: dict[str, Any], lists: dict[str, list[Any]], is_row: Callable[[list[str]], bool]
) -> bool:
    """Whether an object is a row itself, whatever lists and objects lie within it.

    Its names are those of a row, and some of them hold what only one row holds: a text, or the turns of one talk.
    """
    columns = len(lists) == len(value) and _are_columns(lists)
    single = {
        name
        for name, item in value.items()
        if not isinstance(item, list | dict)
        or (isinstance(item, list) and _is_field(name, item, columns, is_row))
    }
    if is_row(list(single)):
        return True
    if is_row(list(value)) and not is_row([name for name in value if name not in single]):
        return True
    holds_text = any(plain(name) == "text" and isinstance(item, str) for name, item in value.items())
    talks = [name for name, item in lists.items() if item and _is_turn(item[0])]
    if not holds_text and (not talks or len(talks) == len(value)):
        return False
    inner = [inner for item in value.values() if isinstance(item, dict) for inner in item.values()]
    return not any(_holds_known(item, is_row) for item in (*lists.values(), *inner))


def _is_field(name: str, item: list[Any], columns: bool, is_row: Callable[[list[str]], bool]) -> bool:
    if not _holds_rows(item):
        return not columns
    return _belongs_to_row(item, plain(name) in _ROW_LISTS or is_row([name]))


def _holds_known(item: Any, is_row: Callable[[list[str]], bool]) -> bool:
    """Whether a list holds rows of known columns. A label alone makes none: annotations have one."""
    if not _holds_rows(item) or not isinstance(item[0], dict):
        return False
    return is_row([name for name in item[0] if plain(name) not in COLUMNS["label"]])


def is_wrapper(value: Any, shape: Shape, is_row: Callable[[list[str]], bool]) -> bool:
    """Whether an object on a line of its own surely holds the rows that `shape` leads to, and is none itself."""
    if shape == ELEMENTS or not isinstance(value, dict):
        return False
    texts = sum(isinstance(item, str) for item in value.values())
    if shape.form != "elements" or texts < 2 or plain(shape.path[-1]) in (*LISTS, "train"):
        return True
    rows: Any = value
    for name in shape.path:
        rows = rows.get(name) if isinstance(rows, dict) else None
    return _holds_known(rows, is_row) or (_holds_rows(rows) and not _belongs_to_row(rows, True))


def _of_splits(
    value: dict[str, Any], is_row: Callable[[list[str]], bool], path: tuple[str, ...]
) -> Shape | None:
    """{"train": rows, "test": rows}: the shape of the train rows, else of the first."""
    parts = {name: item for name, item in value.items() if split_name(name) and _are_nested(item)}
    if not parts or any(_holds_rows(item) for name, item in value.items() if name not in parts):
        return None
    name = next((name for name in parts if split_name(name) == "train"), next(iter(parts)))
    item = parts[name]
    if isinstance(item, list):
        return Shape("elements", (*path, name), True)
    inner = _of_object(item, is_row, (*path, name))
    return Shape(inner.form, inner.path, len(inner.path) == len(path) + 1) if inner else None


def _are_nested(item: Any) -> bool:
    """Whether a value holds rows, or columns, and nothing else."""
    inner = item.values() if isinstance(item, dict) else item
    return isinstance(item, list | dict) and all(isinstance(row, list | dict) for row in inner)


def _of_lists(
    value: dict[str, Any],
    lists: dict[str, list[Any]],
    is_row: Callable[[list[str]], bool],
    path: tuple[str, ...],
) -> Shape | None:
    if lists and len(lists) == len(value) and _are_columns(lists):
        return Shape("columns", path)
    talks = {name: item for name, item in lists.items() if item and _is_turn(item[0])}
    if talks and len(talks) == len(value) and not any(plain(name) in _ROW_LISTS for name in talks):
        return Shape("members", path)
    rows = [
        name
        for name, item in lists.items()
        if _holds_rows(item) and not _belongs_to_row(item, plain(name) in _ROW_LISTS or is_row([name]))
    ]
    if not rows and len(value) == 1:
        rows = [name for name, item in lists.items() if item and isinstance(item[0], str)]
    if not rows and len(value) <= 2 and not any(lists.values()):
        rows = [name for name in lists if plain(name) in LISTS]  # which hold nothing
    rows.sort(key=lambda name: (plain(name) in _ABOUT, plain(name) not in LISTS))
    return Shape("elements", (*path, rows[0])) if rows else None


def _belongs_to_row(item: list[Any], named: bool) -> bool:
    """Whether a list is a field of one row: turns or tools. named: its name is one that such a field has."""
    first = item[0]
    if isinstance(first, list) or not (named or _is_turn(first)):
        return False
    return not any(isinstance(inner, list) and inner and _is_turn(inner[0]) for inner in first.values())


def _holds_rows(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and isinstance(item[0], dict | list)


def _is_turn(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _TURN_KEYS)


def _are_columns(lists: dict[str, list[Any]]) -> bool:
    """Whether these lists are columns: as long as each other but for one that was cut, and no turns of one row."""
    lengths = [len(item) for item in lists.values()]
    scalar = all(not isinstance(item[0], dict) for item in lists.values() if item)
    if not scalar or not any(lengths):
        return False
    if len(lists) == 1:
        name, item = next(iter(lists.items()))
        return plain(name) not in LISTS and not isinstance(item[0], list)
    return len(set(lengths[:-1])) == 1


def _by_label(objects: dict[str, dict[str, Any]], is_row: Callable[[list[str]], bool]) -> bool:
    """pandas' {"question": {"0": …, "1": …}, …}: inside are row labels, outside the names of columns."""
    first = next(iter(objects.values()))
    labels = list(first)
    if not labels or any(isinstance(item, dict) and not is_row(list(objects)) for item in first.values()):
        return False
    return all(label.isdigit() for label in labels) or (is_row(list(objects)) and not is_row(labels))


def _is_split_orient(value: dict[str, Any]) -> bool:
    names, rows = value.get("columns"), value.get("data")
    return (
        isinstance(names, list)
        and isinstance(rows, list)
        and bool(names and rows)
        and all(isinstance(name, str) for name in names)
        and isinstance(rows[0], list)
    )


def _beginning(text: str) -> Any:
    """The value that a text begins with, as far as it is there and whole: what is open at the end is closed."""
    for _ in range(4):
        open_, safe = "", (0, "")
        for found in _TOKEN.finditer(text):
            mark = found.group()
            if mark in "{[":
                open_ += mark
                safe = (found.end(), open_)
            elif mark in "}]":
                open_ = open_[:-1]
                safe = (found.end(), open_)
                if not open_:
                    break
            elif mark == ",":
                safe = (found.start(), open_)
        end, left = safe
        try:
            return json.loads(text[:end] + "".join("}" if mark == "{" else "]" for mark in reversed(left)))
        except json.JSONDecodeError as error:
            text = text[: min(error.pos, len(text) - 1)]  # up to the damage
        except (ValueError, RecursionError):
            break
    return None
