"""Which characters of a rendered conversation the model is trained on: found by rendering, and verified.

The standard is generation. An answer begins where the model's own template, asked for a generation prompt after
the turns before it, stops writing; it ends with the end of its turn; and all that the turn says stands between.

Two texts can serve. A template that marks the assistant's words (`training`: the model's own, or trl's twin of
it) comes first, where the prompt of every learned answer in it is, letter by letter, what the model's own template
gives at generation. Where it is not (trl's Qwen 3 keeps a thought in every turn, the model's own drops those before
the last question) the model's own text is taken. It may differ from the prompts by empty or opened thoughts alone
(`prompt`): so an earlier answer of Qwen 3 is learned without the empty thought that generation would begin with.

A talk for which neither can be verified is refused, for a mask that is merely likely would change without a word
what is learned. Among them: a template that leaves out a tool call, a turn, or the thoughts of earlier answers.

Rendering is what costs: what was verified of one talk by rendering each of its prompts holds for talks of the same
shape (`known`). Those are rendered once, and each answer is found again between the same texts.
"""

from __future__ import annotations

from typing import Any, Literal

from ftui.templates.known import PROBE, Known, known_of
from ftui.templates.marked import by_marks, follow_marks
from ftui.templates.prompt import shared_start
from ftui.templates.render import Messages, TemplateRefused, render
from ftui.templates.spoken import Span, spoken
from ftui.templates.talk import Talk
from ftui.templates.training import render_marked
from ftui.templates.unmarked import by_prompts, follow

Learn = Literal["answers", "last_answer", "everything"]
_TALK: Messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": PROBE}]


def end_of_turn(tokenizer: Any) -> str:
    """What the template writes to end an assistant's turn: `<|im_end|>`, `<end_of_turn>`, `</s>` …

    The first special tokens behind a short answer, as far as they also stand behind an answer that is not the
    last; all that is written behind it where none is special. Where the model's own template writes nothing, what
    a template with markers writes (GLM ends its turn with the opening of the next). Raises TemplateRefused where
    the template changes or loses the answer.
    """
    known = known_of(tokenizer)
    tail = _tail(render(tokenizer, _TALK))
    if not tail.strip() and known.marking:
        tail = _tail(render_marked(tokenizer, known.marking, _TALK, None)[0])
    try:
        middle = render(tokenizer, [*_TALK, *_TALK]).partition(PROBE)[2]
    except TemplateRefused:
        middle = tail
    return _specials(shared_start(tail, middle), known) or _specials(tail, known) or tail.strip()


def answer_spans(
    tokenizer: Any, messages: Messages, tools: list[Any] | None, learn: Learn, end: str, *, first: int = 0
) -> tuple[str, list[Span]]:
    """(text, spans): the rendered conversation and the half-open character ranges that carry loss.

    end: from `end_of_turn`. first: only turns at or behind this place carry loss; with `everything`, all from the
    first answer there on. Raises TemplateRefused where a span cannot be verified.
    """
    turns = [
        place for place, message in enumerate(messages) if message["role"] == "assistant" and place >= first
    ]
    if not turns or (learn == "everything" and not first):
        text = render(tokenizer, messages, tools)
        return text, [(0, len(text))] if learn == "everything" and not first else []
    if learn == "last_answer":
        turns = turns[-1:]
    elif learn == "everything":
        turns = turns[:1]
    text, spans = _found(
        Talk(tokenizer, messages, [spoken(message) for message in messages], tools, turns, end)
    )
    if learn == "everything":
        return text, [(spans[0][0], len(text))]
    return text, spans


def loss_mask(offsets: list[Span], spans: list[Span]) -> list[int]:
    """Mark the tokens that begin inside one of the spans.

    offsets: (T,) character ranges of the tokens; spans: half-open character ranges, sorted, not overlapping.
    Returns (T,) of 0 and 1. A token that begins before a span and reaches into it is not marked: at
    generation it is part of the prompt.
    """
    mask = [0] * len(offsets)
    place = 0
    for token, (start, _) in enumerate(offsets):
        while place < len(spans) and start >= spans[place][1]:
            place += 1
        if place < len(spans) and start >= spans[place][0]:
            mask[token] = 1
    return mask


def _found(talk: Talk) -> tuple[str, list[Span]]:
    known = known_of(talk.tokenizer, talk.tools)
    shape = known.shape(talk.messages, talk.told, talk.tools, talk.turns)
    plan = known.plans.get(shape) if shape is not None else None
    if plan is not None:
        try:
            return follow_marks(talk, known, plan) if plan.marked else follow(talk, plan)
        except TemplateRefused:
            # This one is written otherwise than those of its shape before: it is looked at on its own.
            plan = None
    if known.marking:
        try:
            text, spans, plan = by_marks(talk, known, known.marking)
        except TemplateRefused:
            plan = None
    if plan is None:
        text, spans, plan = by_prompts(talk, known)
    known.remember(shape, plan)
    return text, spans


def _tail(text: str) -> str:
    _, found, tail = text.rpartition(PROBE)
    if not found:
        raise TemplateRefused("The template does not write what the assistant says.")
    return tail


def _specials(tail: str, known: Known) -> str:
    """The tail as far as its first special tokens: those that follow each other with nothing between."""
    places = [(tail.find(token), token) for token in known.specials if token in tail]
    if not places:
        return ""
    place, token = min(places, key=lambda item: (item[0], -len(item[1])))
    stop = place + len(token)
    while more := next((token for token in known.specials if tail.startswith(token, stop)), ""):
        stop += len(more)
    return tail[:stop]
