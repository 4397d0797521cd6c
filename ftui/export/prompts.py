"""The questions that an export is compared on: from the run's held-out rows, else a few of our own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from ftui import settings as schema
from ftui.data.chosen import choose
from ftui.errors import FtuiError
from ftui.jobs.folder import Job
from ftui.templates.render import Messages, fitted, render

OWN = (
    "What is the capital of France?",
    "Name three colours.",
    "Write a short greeting.",
    "What is two plus three?",
    "Explain in one sentence why the sky is blue.",
    "Give me a word that rhymes with house.",
    "How do I boil an egg?",
    "Who are you?",
)
_LOOKED_AT = 2_000  # held-out rows that the prompts are spread over
_TEXT_START = 200  # characters of a plain text that serve as its prompt


@dataclass(frozen=True)
class Prompt:
    """messages: the turns up to the first question, none for plain text. text: as the model reads them."""

    messages: Messages
    text: str


def prompts(job: Job, tokenizer: Any, limit: int = 16) -> tuple[list[Prompt], str]:
    """(prompts, origin): at most `limit`, spread evenly over the held-out rows; origin in words."""
    try:
        chosen = choose(schema.parse(job.settings).data)
        values = [row.value for row in islice(chosen.validation, _LOOKED_AT)]
        origin = f"held-out rows, {chosen.origin}"
    except FtuiError:
        # The data may have moved since; the comparison does not depend on it.
        values, origin = [], ""
    found = [prompt for value in _spread(values, limit) if (prompt := _prompt(tokenizer, value)) is not None]
    if found:
        return found, origin
    own = [{"messages": [{"role": "user", "content": text}]} for text in OWN[:limit]]
    built_in = [_prompt(tokenizer, value) or Prompt([], value["messages"][0]["content"]) for value in own]
    return built_in, "ftui's own questions, since no held-out rows can be read"


def _prompt(tokenizer: Any, value: dict[str, Any]) -> Prompt | None:
    if value.get("text"):
        return Prompt([], str(value["text"])[:_TEXT_START])
    turns = value.get("messages") or []
    first = next((place for place, turn in enumerate(turns) if turn.get("role") == "user"), None)
    if first is None or not getattr(tokenizer, "chat_template", None):
        return None
    asked = turns[: first + 1]
    try:
        return Prompt(asked, render(tokenizer, fitted(tokenizer, asked), value.get("tools"), ask=True))
    except FtuiError:
        return None


def _spread(values: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    step = max(1.0, len(values) / limit)
    return [values[int(place * step)] for place in range(min(limit, len(values)))]
