"""Finds the schema of a data set and which column holds what, from its first rows and what the person said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ftui.data import problems
from ftui.data.dialogue import are_dialogues
from ftui.data.names import ALIASES, COLUMNS, ROLES, find, plain
from ftui.data.options import SCHEMAS, Options
from ftui.data.proposal import proposal
from ftui.data.tags import TAGS, Tags, tags_of
from ftui.data.turns import is_turns
from ftui.data.values import as_label, is_nothing, nested

_LOOK = 50
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
_TALKS = ("messages", "prompt", "response", "chosen", "rejected", "history")
_ONE_OF_PAIR = {"prompt", "response", "text", "chosen", "rejected"}


@dataclass
class Layout:
    """schema, and mapping: canonical name → column. closed: fields that are only what the person named.

    tags: how turns are written, where the person says so. `of` finds the fields in a row whose columns differ a
    little from the mapping.
    """

    schema: str
    mapping: dict[str, str]
    closed: frozenset[str] = frozenset()
    tags: Tags | None = None
    _known: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict, repr=False)

    def of(self, row: dict[str, Any]) -> dict[str, Any]:
        """canonical name → value, for the fields that this row has, under whatever known name."""
        keys = tuple(row)
        places = self._known.get(keys)
        if places is None:
            places = self._places(keys)
            if len(self._known) < 1000:
                self._known[keys] = places
        fields = {name: row[column] for name, column in places.items()}
        if self.tags is not None:
            fields |= {name: self.tags.renamed(fields[name]) for name in _TALKS if name in fields}
        return fields

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
    tags = tags_of(options.mapping)
    for name, column in given.items():
        if not _overlay(columns, {name: column}):
            raise problems.unknown_schema(
                path, columns, f"the mapping asks for {column!r}, which is not among them"
            )
    known = dict(given)
    if options.schema in ("", "sharegpt", "messages") and (column := _talk_column(rows, columns, given)):
        known["messages"] = column
    labelled = "label" in given or _is_labelled(rows, find(columns, "label"))
    votes: Counter[str] = Counter()
    for row in rows:
        votes[options.schema if options.schema else _schema(row, known, labelled)] += 1
    votes.pop("", None)
    if not votes:
        raise problems.unknown_schema(path, columns, proposal=proposal(rows, columns))
    schema = votes.most_common(1)[0][0]
    # who names the question means that column, and not a talk or a context that stands beside it
    closed = frozenset({"messages", "input"} - set(given) if "prompt" in given else ())
    # a column of that name with prose in it is no list of earlier turns
    closed |= {
        name for name in ("history", "tools") if name not in given and _is_prose(rows, find(columns, name))
    }
    mapping = _mapping(schema, columns, known, closed)
    lacking = [name for name in _NEEDED[schema] if name not in mapping]
    if schema == "kto" and not {"messages", "response"} & set(mapping):
        lacking.append("messages")
    if lacking:
        raise problems.unknown_schema(
            path,
            columns,
            f"rows of the shape {schema} also need {' and '.join(lacking)}",
            proposal(rows, columns),
        )
    return Layout(schema, mapping, closed, tags)


def _is_prose(rows: Sequence[dict[str, Any]], column: str) -> bool:
    """Whether a column holds plain text in most of the rows that have any, and not in a single damaged one."""
    values = [value for row in rows if not is_nothing(value := row.get(column))] if column else []
    prose = sum(isinstance(value, str) and not value.lstrip().startswith(("[", "{")) for value in values)
    return prose > 1 and prose * 2 > len(values)


def _talk_column(rows: Sequence[dict[str, Any]], columns: list[str], given: dict[str, str]) -> str:
    """The column that holds whole talks though its name or its kind does not say so; "" where there is none.

    Whole dialogues written in one text are found under the names of talks and texts; turns under any name. A row
    that has a question and an answer of its own is learned from these.
    """
    if given.keys() & {"messages", *_ONE_OF_PAIR} or (find(columns, "prompt") and find(columns, "response")):
        return ""
    if find(columns, "chosen") and find(columns, "rejected"):
        return ""
    for name in ("messages", "text"):
        if column := find(columns, name):
            values = [row.get(column) for row in rows]
            if are_dialogues(value for value in values if not isinstance(nested(value), list | dict)):
                return column
    if find(columns, "messages"):
        return ""
    for column in columns:
        values = [value for row in rows[:_LOOK] if not is_nothing(value := row.get(column))]
        if values and sum(is_turns(nested(value)) for value in values) * 2 > len(values):
            return column
    return ""


def asked(options: Options) -> dict[str, str]:
    """The person's mapping in canonical names. Raises DataError where a name or the schema is unknown."""
    if options.schema and options.schema not in SCHEMAS:
        raise problems.bad_schema(options.schema, SCHEMAS)
    given = {}
    for name, column in options.mapping.items():
        canonical = ALIASES.get(plain(name), plain(name))
        if canonical in TAGS:
            continue
        if canonical not in COLUMNS:
            raise problems.bad_mapping(name, column, (*COLUMNS, *TAGS))
        if column:
            given[canonical] = column
    return given


def is_known_header(columns: list[str], options: Options) -> bool:
    """Whether the cells of a first line are the columns of rows, and not the first words of a text."""
    given = asked(options)
    if given:
        return len(_overlay(columns, given)) == len(given)
    paired = bool(find(columns, "prompt") and find(columns, "response"))
    return paired or any(
        all(find(columns, name) for name in needed)
        and (schema != "kto" or bool(find(columns, "messages")))
        and schema != "text"
        for schema, needed in _NEEDED.items()
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


def _is_labelled(rows: Sequence[dict[str, Any]], column: str) -> bool:
    """Whether a column holds true and false in whatever spelling, and not categories."""
    values = [value for row in rows if not is_nothing(value := row.get(column))]
    return plain(column) == "kto_tag" or sum(as_label(value) is not None for value in values) * 2 > len(
        values
    )


def _schema(row: dict[str, Any], given: dict[str, str], labelled: bool) -> str:
    """The schema of one row, "" where it is none that is known. labelled: its label says whether it is liked."""
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
    if isinstance(talk, str) and talk.strip() and "messages" not in given:
        del has["messages"]  # a text, such as a transcript, and no turns
    if labelled and "label" in has and (is_talk or ("prompt" in has and "response" in has)):
        return "kto"
    if is_talk or ("messages" in has and "response" not in has):
        return _talk_schema(talk, has["messages"])
    if "prompt" in has and "response" in has:
        return "alpaca" if plain(has["prompt"]) in ("instruction", "指令") else "prompt-completion"
    return "text" if "text" in has and not _is_single_turn(row) else ""


def _is_single_turn(row: dict[str, Any]) -> bool:
    """Whether a row is one turn of a talk, which teaches nothing without the others."""
    return any(isinstance(role := row.get(key), str) and plain(role) in ROLES for key in ("role", "from"))


def _talk_schema(talk: Any, column: str) -> str:
    """sharegpt where turns are told by `from`, messages where by `role`; the column's name decides for no turns."""
    first = talk[0] if isinstance(talk, list) and talk else talk
    if isinstance(first, dict):
        return "sharegpt" if "from" in first else "messages"
    if isinstance(talk, str) and talk.strip():
        return "messages"
    return "sharegpt" if plain(column).startswith("conversation") else "messages"
