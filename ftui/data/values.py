"""Turns the value of one field into text, a list or a label, or says why it cannot be one."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from typing import Any

from ftui.data.json_text import parse
from ftui.data.row import RowFault

MAX_DEPTH = 64
# fmt: off
_LABELS = {
    **dict.fromkeys(
        (
            "true", "yes", "1", "1.0", "+1", "t", "y", "good", "desirable", "desired", "preferred", "chosen", "accept",
            "accepted", "correct", "right", "positive", "pos", "up", "thumbs up", "thumbs_up", "like", "liked", "👍",
            "是", "对", "好", "真", "正确", "ja", "wahr", "richtig", "gut",
        ),
        True,
    ),
    **dict.fromkeys(
        (
            "false", "no", "0", "0.0", "-1", "f", "n", "bad", "undesirable", "undesired", "dispreferred", "rejected",
            "reject", "incorrect", "wrong", "negative", "neg", "down", "thumbs down", "thumbs_down", "dislike",
            "disliked", "👎", "否", "错", "坏", "假", "错误", "nein", "falsch", "schlecht",
        ),
        False,
    ),
}
# fmt: on
_KINDS = {
    dict: "an object",
    list: "a list",
    tuple: "a list",
    bytes: "bytes",
    bool: "a truth value",
    str: "text",
}


def is_nothing(value: Any) -> bool:
    """Absent, null, NaN or blank."""
    if isinstance(value, str):
        return not value.strip()
    return (
        value is None or value == [] or value == {} or (isinstance(value, float) and not math.isfinite(value))
    )


def text_of(value: Any, name: str, notes: set[str]) -> str:
    """The text as it is, "" for nothing. Numbers, booleans and dates become text and are noted.

    Raises RowFault, code wrong_type, for lists, objects and bytes.
    """
    if isinstance(value, str):
        return value
    if is_nothing(value) and not isinstance(value, list | dict):
        return ""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, int | float | decimal.Decimal):
        text = _digits(value)
    elif isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        text = value.date().isoformat() if midnight else value.isoformat(" ")
    elif isinstance(value, datetime.date | datetime.time):
        text = value.isoformat()
    elif isinstance(value, datetime.timedelta):
        text = str(value)
    else:
        raise RowFault("wrong_type", f"{name} is {kind(value)}, but must be text.")
    notes.add("coerced_to_text")
    return text


def kind(value: Any) -> str:
    """A value's kind in words, for a sentence."""
    if value is None:
        return "null"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def nested(value: Any) -> Any:
    """The list or object that a cell of text holds as JSON or as Python writes it; any other value as it is."""
    try:
        return unpacked(value, "")
    except RowFault:
        return value


def unpacked(value: Any, name: str) -> Any:
    """Like `nested`, but raises RowFault, code malformed_json, for text that begins as a list and is none."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text.startswith(("[", "{")):
        return value
    try:
        return parse(text)
    except RowFault as fault:
        raise RowFault("malformed_json", f"{name} holds JSON that cannot be read: {fault.message}") from None


def as_label(value: Any) -> bool | None:
    """True or false as booleans, numbers and words say it; None where it is neither."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | decimal.Decimal) and value in (-1, 0, 1):
        return value == 1
    return _LABELS.get(value.strip().casefold()) if isinstance(value, str) else None


def shallow(value: Any, name: str) -> Any:
    """A value that goes into a row as it is. Raises RowFault, code malformed_json, beyond MAX_DEPTH levels."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise RowFault("malformed_json", f"{name} is nested deeper than {MAX_DEPTH} levels.")
        level = [
            inner
            for item in level
            if isinstance(item, list | dict)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return _written(value)


def _written(value: Any) -> Any:
    """The value as JSON can write it: numbers and dates of a column's own type become text."""
    try:
        json.dumps(value)
    except TypeError:
        return json.loads(json.dumps(value, default=str))
    return value


def _digits(value: int | float | decimal.Decimal) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to write integers of more than some thousand digits
        return hex(int(value))
