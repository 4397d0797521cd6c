"""Guesses from their content what columns of unknown names hold. Only proposed to the person, never used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ftui.data.dialogue import are_dialogues
from ftui.data.names import ROLES, plain
from ftui.data.turns import is_turns
from ftui.data.values import is_nothing, nested

_LOOK = 100
_IDENTIFIER = re.compile(r"[\w.:/+-]*\d[\w.:/+-]*", re.ASCII)
_ASKS = ("?", "？", "؟", ":", "：")


@dataclass(frozen=True)
class _Column:
    """What a column's texts look like: their mean length, the share of them that ask, and that of different ones.

    numbered: they are numbers, dates or identifiers.
    """

    name: str
    length: float
    asking: float
    different: float
    numbered: bool


def proposal(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> dict[str, str]:
    """canonical name → column: a talk, else a question with its answer, else a text; {} where nothing fits."""
    looked = rows[:_LOOK]
    texts = []
    for name in columns:
        values = [value for row in looked if not is_nothing(value := row.get(name))]
        if not values:
            continue
        if all(is_turns(nested(value)) for value in values) or are_dialogues(values):
            return {"messages": name}
        told = [value for value in values if isinstance(value, str) and plain(value) not in ROLES]
        column = _look(name, told)
        if (
            len(told) * 2 > len(looked)
            and not column.numbered
            and (column.different > 0.3 or len(looked) < 5)
        ):
            texts.append(column)
    if len(texts) < 2:
        return {"text": texts[0].name} if texts else {}
    texts.sort(key=lambda column: -column.length)
    asking = max(texts, key=lambda column: column.asking)
    if asking.asking > 0:
        prompt, response = asking, next(column for column in texts if column is not asking)
    else:
        longest = texts[:2]
        by_place = sorted(longest, key=lambda column: columns.index(column.name))
        clear = longest[1].length * 3 < longest[0].length
        prompt, response = reversed(longest) if clear else by_place
    return {"prompt": prompt.name, "response": response.name}


def _look(name: str, texts: list[str]) -> _Column:
    count = len(texts) or 1
    asking = sum(text.rstrip().endswith(_ASKS) for text in texts) / count
    numbered = all(_IDENTIFIER.fullmatch(text.strip()) for text in texts)
    return _Column(name, sum(map(len, texts)) / count, asking, len(set(texts)) / count, numbered)
