"""What is known of a template: learned by rendering with it once, and remembered as long as the tokenizer lives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from ftui.templates.prompt import shared_start
from ftui.templates.render import Messages, TemplateRefused, render, template_of
from ftui.templates.spoken import Spoken
from ftui.templates.training import marking

PROBE = "ftui probe"
# Talks of more kinds than this are checked each time anew, so that memory stays flat.
_MOST_PLANS = 4096
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_OPENED = re.compile(r"<think>\s*$")
Shape = tuple[Any, ...]


@dataclass(frozen=True)
class Step:
    """How one answer is found again. lead: what stands between the turn before, or the mark, and the answer.

    Of a marked text, shift is the answer's first character counted from the mark's. Of an unmarked text, gaps
    are what stands before each part and before the end, and end is the end of the turn.
    """

    lead: str
    shift: int = 0
    gaps: tuple[str, ...] = ()
    end: str = ""


@dataclass(frozen=True)
class Plan:
    """What was verified of a talk by rendering each of its prompts, and holds for all talks of its shape."""

    marked: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Known:
    """A template of a tokenizer.

    marking: the template with markers to use for it, or none. specials: the tokenizer's added and special tokens,
    longest first. header: what opens an assistant's turn, without a thought that it opens; may be empty.
    markup: pieces of text that mean something to the template or the tokenizer.
    """

    marking: str | None
    specials: tuple[str, ...]
    header: str
    markup: re.Pattern[str] | None
    plans: dict[Shape, Plan] = field(default_factory=dict)

    def shape(
        self, messages: Messages, told: list[Spoken], tools: list[Any] | None, turns: list[int]
    ) -> Shape | None:
        """What a template's decisions can hang on; None where a text of the talk holds the template's own markup.

        told: what each message says. Talks of one shape differ in their words alone. One that holds markup may be
        written otherwise, or may imitate a turn: nothing is concluded from others for it.
        """
        texts = [text for turn in told for text in turn.texts]
        if self.markup and self.markup.search("\n".join([*texts, repr(tools) if tools else ""])):
            return None
        kinds = tuple(
            (*message, message["role"], bool(turn.thought), bool(turn.said), len(turn.calls))
            for message, turn in zip(messages, told, strict=True)
        )
        return bool(tools), tuple(turns), kinds

    def remember(self, shape: Shape | None, plan: Plan | None) -> None:
        """Keep a plan for talks of a shape."""
        if shape is not None and plan is not None and len(self.plans) < _MOST_PLANS:
            self.plans[shape] = plan


# A tokenizer is no part of what is kept under it: else it would never be let go.
_known: WeakKeyDictionary[Any, dict[tuple[Any, ...], Known]] = WeakKeyDictionary()


def known_of(tokenizer: Any, tools: list[Any] | None = None) -> Known:
    """What is known of the template that writes a talk, with tools or without."""
    template = template_of(tokenizer, tools)
    key = (template, tokenizer.bos_token, tokenizer.eos_token)
    mine = _known.setdefault(tokenizer, {})
    if key not in mine:
        specials, header = _specials(tokenizer), _header(tokenizer)
        mine[key] = Known(marking(template), specials, header, _markup(template, specials, header))
    return mine[key]


def _specials(tokenizer: Any) -> tuple[str, ...]:
    named = {str(token) for token in (*tokenizer.get_added_vocab(), *tokenizer.all_special_tokens)}
    return tuple(sorted((token for token in named if token.strip()), key=_longest_first))


def _header(tokenizer: Any) -> str:
    asked: Messages = [{"role": "user", "content": PROBE}]
    try:
        plain, opened = render(tokenizer, asked), render(tokenizer, asked, ask=True)
    except TemplateRefused:
        return ""
    return _OPENED.sub("", opened[len(shared_start(plain, opened)) :])


def _markup(template: str, specials: tuple[str, ...], header: str) -> re.Pattern[str] | None:
    pieces = {token for token in specials if token in template} | {header.strip()}
    for single, double in _QUOTED.findall(template):
        for piece in re.split(r"\\n|\s", single or double):
            if len(piece) > 2 and any(sign in piece for sign in "<>[]|"):
                pieces.add(piece)
    ordered = sorted(pieces - {""}, key=_longest_first)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _longest_first(text: str) -> tuple[int, str]:
    return -len(text), text
