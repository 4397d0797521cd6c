"""Finds the schema of a data set and which column holds what, from its first rows and what the person said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ftui.data import problems
from ftui.data.names import ALIASES, COLUMNS, find, plain
from ftui.data.options import SCHEMAS, Options
from ftui.data.values import as_label, nested

# the fields without which a schema cannot be; the further ones that it may have
_NEEDED: dict[str, tuple[str, ...]] = {
    "alpaca": ("prompt", "response"),
    "prompt-completion": ("prompt", "response"),
    "sharegpt": ("messages",),
    "messages": ("messages",),
    "preference": ("chosen", "rejected"),
    "kto": ("label",),
    "text": ("text",),
}
_OPTIONAL: dict[str, tuple[str, ...]] = {
    "alpaca": ("input", "system", "history", "reasoning", "tools"),
    "prompt-completion": ("input", "system", "history", "reasoning", "tools"),
    "sharegpt": ("system", "tools"),
    "messages": ("system", "tools"),
    "preference": ("messages", "prompt", "input", "system", "history", "tools"),
    "kto": ("messages", "prompt", "input", "response", "system", "history", "reasoning", "tools"),
    "text": (),
}


@dataclass
class Layout:
    """schema, and mapping: canonical name → column. closed: fields that are only what the person named.

    `of` finds the fields in a row whose columns differ a little from the mapping.
    """

    schema: str
    mapping: dict[str, str]
    closed: frozenset[str] = frozenset()
    _known: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict, repr=False)

    def of(self, row: dict[str, Any]) -> dict[str, Any]:
        """canonical name → value, for the fields that this row has, under whatever known name."""
        keys = tuple(row)
        places = self._known.get(keys)
        if places is None:
            places = self._places(keys)
            if len(self._known) < 1000:
                self._known[keys] = places
        return {name: row[column] for name, column in places.items()}

    def _places(self, keys: tuple[str, ...]) -> dict[str, str]:
        places = _overlay(keys, self.mapping)
        for name in (*_NEEDED[self.schema], *_OPTIONAL[self.schema]):
            if (
                name not in places
                and name not in self.closed
                and (column := find(keys, name, places.values()))
            ):
                places[name] = column
        return places


def layout(path: Path, rows: Sequence[dict[str, Any]], columns: list[str], options: Options) -> Layout:
    """The layout that fits most of the rows. Raises DataError, code unknown_schema.

    columns: all that were seen, for the message.
    """
    given = asked(options)
    for name, column in given.items():
        if not _overlay(columns, {name: column}):
            raise problems.unknown_schema(
                path, columns, f"the mapping asks for {column!r}, which is not among them"
            )
    votes: Counter[str] = Counter()
    for row in rows:
        votes[options.schema if options.schema else _schema(row, given)] += 1
    votes.pop("", None)
    if not votes:
        raise problems.unknown_schema(path, columns)
    schema = votes.most_common(1)[0][0]
    # who names the question means that column, and not a talk or a context that stands beside it
    closed = frozenset({"messages", "input"} - set(given) if "prompt" in given else ())
    mapping = _mapping(schema, columns, given, closed)
    lacking = [name for name in _NEEDED[schema] if name not in mapping]
    if schema == "kto" and not {"messages", "response"} & set(mapping):
        lacking.append("messages")
    if lacking:
        raise problems.unknown_schema(
            path, columns, f"rows of the shape {schema} also need {' and '.join(lacking)}"
        )
    return Layout(schema, mapping, closed)


def asked(options: Options) -> dict[str, str]:
    """The person's mapping in canonical names. Raises DataError where a name or the schema is unknown."""
    if options.schema and options.schema not in SCHEMAS:
        raise problems.bad_schema(options.schema, SCHEMAS)
    given = {}
    for name, column in options.mapping.items():
        canonical = ALIASES.get(plain(name), plain(name))
        if canonical not in COLUMNS:
            raise problems.bad_mapping(name, column, tuple(COLUMNS))
        if column:
            given[canonical] = column
    return given


def is_known_header(columns: list[str], options: Options) -> bool:
    """Whether the cells of a first line are the columns of rows, and not the first words of a text."""
    given = asked(options)
    if given:
        return len(_overlay(columns, given)) == len(given)
    return any(
        all(find(columns, name) for name in needed) and schema != "text" for schema, needed in _NEEDED.items()
    )


def _overlay(keys: Iterable[str], wanted: dict[str, str]) -> dict[str, str]:
    """canonical name → the key as it is spelt here, for those of the wanted columns that are here."""
    exact = set(keys)
    spelt = {plain(key): key for key in exact}
    places = {}
    for name, column in wanted.items():
        if column in exact:
            places[name] = column
        elif plain(column) in spelt:
            places[name] = spelt[plain(column)]
    return places


def _mapping(
    schema: str, columns: list[str], given: dict[str, str], closed: frozenset[str]
) -> dict[str, str]:
    mapping = _overlay(columns, given)
    for name in (*_NEEDED[schema], *_OPTIONAL[schema]):
        if name in mapping or name in closed or (name == "input" and "prompt" not in mapping):
            continue
        if column := find(columns, name, mapping.values()):
            mapping[name] = column
    fields = {*_NEEDED[schema], *_OPTIONAL[schema]}
    return {name: column for name, column in mapping.items() if name in fields}


def _schema(row: dict[str, Any], given: dict[str, str]) -> str:
    """The schema of one row, "" where it is none that is known."""
    has = _overlay(row, given)
    if "text" in given and not {"prompt", "response", "messages", "chosen", "rejected"} & set(given):
        return "text" if "text" in has else ""
    single = bool({"prompt", "response", "text"} & set(given)) and "messages" not in given
    for name in COLUMNS:
        if name in has or (single and name == "messages"):
            continue
        if column := find(row, name, has.values() if name != "text" else ()):
            has[name] = column
    if "chosen" in has and "rejected" in has:
        return "preference"
    talk = nested(row[has["messages"]]) if "messages" in has else None
    is_talk = isinstance(talk, list | dict)
    if "label" in has and (is_talk or ("prompt" in has and "response" in has)):
        tag = plain(has["label"]) == "kto_tag" or "label" in given
        if tag or as_label(row[has["label"]]) is not None:
            return "kto"
    if is_talk or ("messages" in has and "response" not in has):
        return _talk_schema(talk, has["messages"])
    if "prompt" in has and "response" in has:
        return "alpaca" if plain(has["prompt"]) in ("instruction", "指令") else "prompt-completion"
    return "text" if "text" in has else ""


def _talk_schema(talk: Any, column: str) -> str:
    """sharegpt where turns are told by `from`, messages where by `role`; the column's name decides for no turns."""
    first = talk[0] if isinstance(talk, list) and talk else talk
    if isinstance(first, dict):
        return "sharegpt" if "from" in first else "messages"
    return "sharegpt" if plain(column).startswith("conversation") else "messages"
