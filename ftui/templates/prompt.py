"""Whether the text before an answer is the prompt that generation would give: texts compared by their starts."""

from __future__ import annotations

import re

_EMPTY = re.compile(r"<think>\s*</think>\s*")
_OPENED = re.compile(r"<think>\s*$")


def prompt_end(text: str, prompt: str, strict: bool = False) -> int | None:
    """Where the answer begins in a rendered talk: behind the prompt; None where another text stands before it.

    An empty thought says that nothing was thought: templates write it or leave it out depending on how far back
    a turn lies, and open a thought in the prompt that a finished turn does not show. Prompts that differ in that
    alone count as the same, unless strict.
    """
    if text.startswith(prompt):
        return len(prompt)
    if strict:
        return None
    position = 0
    for number, piece in enumerate(_EMPTY.split(_OPENED.sub("", prompt))):
        empty = _EMPTY.match(text, position) if number else None
        position = empty.end() if empty else position
        if not text.startswith(piece, position):
            return None
        position += len(piece)
    return position


def shared_start(one: str, other: str) -> str:
    """What two texts begin with alike, character by character."""
    length = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None
    )
    return one[:length] if length is not None else min(one, other, key=len)
