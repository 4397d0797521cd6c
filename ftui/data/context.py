"""Context for short questions: a column's text, such as the history of the talk, put before those that are short."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ftui.data import problems
from ftui.data.names import plain
from ftui.data.values import is_nothing, nested


def context_column(path: Path, wanted: str, columns: Iterable[str]) -> str:
    """The column that is meant, as it is spelt in the data. Raises DataError, code unknown_schema."""
    known = list(columns)
    spelt = {plain(column): column for column in known}
    found = wanted if wanted in known else spelt.get(plain(wanted))
    if found is None:
        raise problems.unknown_schema(
            path, known, f"the context is to come from {wanted!r}, which is not among them"
        )
    return found


def with_context(value: dict[str, Any], context: Any, below: int) -> dict[str, Any]:
    """A canonical row whose last question, where it has fewer than `below` characters, follows the context.

    A talk whose last question stands behind an answer has its context in its own turns and stays as it is:
    put before the first question, a history would tell the answer that is learned from it.
    Text that holds the context already is left alone.
    """
    name = "messages" if "messages" in value else "prompt"
    talk = value.get(name)
    text = _text(context)
    if not talk or not text:
        return value
    last = max((place for place, turn in enumerate(talk) if turn["role"] == "user"), default=None)
    if last is None or any(turn["role"] == "assistant" for turn in talk[:last]):
        return value
    turn = talk[last]
    if len(turn["content"]) >= below or text in turn["content"]:
        return value
    longer = turn | {"content": f"{text}\n\n{turn['content']}"}
    return value | {name: [*talk[:last], longer, *talk[last + 1 :]]}


def _text(context: Any) -> str:
    """A context as text: turns and pairs line by line."""
    value = nested(context)
    if is_nothing(value):
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(part for item in value if (part := _text(item)))
    if isinstance(value, dict):
        inner = next((value[key] for key in ("content", "value", "text") if key in value), None)
        return _text(inner)
    return str(value).strip()
