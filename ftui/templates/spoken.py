"""What a turn says, and where a rendered text says it: thoughts, words and tool calls, each looked for by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ftui.templates.render import THOUGHTS, Messages, TemplateRefused

Span = tuple[int, int]
_LOST_THOUGHTS = (
    "Where a later question follows, learn only the last answer (data.learn: last_answer); "
    "else take the thoughts out, or choose a model whose template writes them."
)


@dataclass(frozen=True)
class Spoken:
    """The parts of a turn, without white space round them, in the order in which templates write them."""

    thought: str
    said: str
    calls: tuple[str, ...]
    arguments: str

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is the row's own."""
        return (self.thought, self.said, *self.calls, self.arguments)


def spoken(message: dict[str, Any]) -> Spoken:
    """The parts of a message. A thought may stand in its field or, as `<think>…</think>`, before the words."""
    said, thought = str(message.get("content") or ""), ""
    for name in THOUGHTS:
        if message.get(name):
            thought = str(message[name])
    if not thought and "</think>" in said:
        before, _, said = said.rpartition("</think>")
        thought = before.strip().removeprefix("<think>")
    calls = [call["function"] for call in message.get("tool_calls") or []]
    arguments = json.dumps([call["arguments"] for call in calls], ensure_ascii=False) if calls else ""
    return Spoken(thought.strip(), said.strip(), tuple(str(call["name"]) for call in calls), arguments)


def parts_of(text: str, turn: Spoken, place: int, start: int, limit: int) -> list[Span]:
    """Where the parts of a turn stand in text[start:limit]: thought, words, names of called tools, as there are.

    place: of the message, from 0. Raises TemplateRefused where one is missing: it would be lost without a word.
    """
    found, position = [], start
    named = [(turn.thought, "thoughts"), (turn.said, "words"), *((name, "call") for name in turn.calls)]
    for part, kind in named:
        if not part:
            continue
        at = text.find(part, position, limit)
        if at < 0:
            raise _lost(kind, part, place)
        position = at + len(part)
        found.append((at, position))
    return found


def check_between(text: str, messages: Messages, spans: dict[int, Span]) -> None:
    """Raise TemplateRefused unless what was asked stands before the answer to it, and behind the answer before.

    spans: by place of the message. So a span that reaches into another turn is found, as is a turn that the
    template leaves out. Tool results may be written as JSON text.
    """
    position = 0
    for place, message in enumerate(messages):
        if place in spans:
            start, stop = spans[place]
            if start < position or stop <= start:
                raise TemplateRefused(f"Answer {place + 1} is not where it belongs in the rendered text.")
            position = stop
        elif message["role"] in ("user", "tool"):
            limit = next((start for later, (start, _) in spans.items() if later > place), len(text))
            said = str(message.get("content") or "").strip()
            at, length = find_written(text, said, position, limit)
            if at < 0:
                raise TemplateRefused(f"The template leaves out turn {place + 1}, of the {message['role']}.")
            position = at + length


def find_written(text: str, said: str, start: int, limit: int) -> tuple[int, int]:
    """(place, length) of words in text[start:limit], as they are or as in a JSON text; place is -1 where not."""
    at = text.find(said, start, limit)
    if at >= 0:
        return at, len(said)
    escaped = json.dumps(said, ensure_ascii=False)[1:-1]
    return text.find(escaped, start, limit), len(escaped)


def _lost(kind: str, part: str, place: int) -> TemplateRefused:
    if kind == "thoughts":
        return TemplateRefused(f"The template leaves out the thoughts of answer {place + 1}.", _LOST_THOUGHTS)
    if kind == "call":
        return TemplateRefused(
            f"The template does not write the call of {part[:60]} in turn {place + 1}.",
            "Choose a model whose template writes tool calls, or leave out rows with calls.",
        )
    return TemplateRefused(f"Turn {place + 1} is not found in the text that the template writes.")
