"""Answers in a text by the model's own template, found by the prompts that it gives."""

from __future__ import annotations

from ftui.templates.known import Known, Plan, Step
from ftui.templates.prompt import prompt_end
from ftui.templates.render import TemplateRefused, render
from ftui.templates.spoken import Span, check_between, find_written, parts_of
from ftui.templates.talk import Talk


def by_prompts(talk: Talk, known: Known) -> tuple[str, list[Span], Plan | None]:
    """(text, spans, plan) by the model's own template: each answer begins where its prompt ends.

    plan: None where nothing firm stands round an answer. Raises TemplateRefused where the text does not begin with
    a prompt, or where an answer is not whole.
    """
    text = render(talk.tokenizer, talk.messages, talk.tools)
    spans, steps = [], []
    for place in talk.turns:
        start, limit = _start(talk, known, text, place), _limit(talk, text, place)
        parts = parts_of(text, talk.told[place], place, start, len(text) if limit is None else limit)
        if known.header.strip() and known.header.strip() in text[start : parts[0][0] if parts else start]:
            # After a tool's result some prompts open no turn, though the finished talk does.
            raise TemplateRefused(
                f"The text before answer {place + 1} is not what the model sees at generation."
            )
        behind = parts[-1][1] if parts else start
        stop, end = _stop(talk, known, text, place, behind, limit)
        spans.append((start, stop))
        steps.append(_step(talk, text, place, start, parts, stop, end))
    check_between(text, talk.messages, dict(zip(talk.turns, spans, strict=True)))
    whole = tuple(step for step in steps if step is not None)
    return text, spans, Plan(False, whole) if len(whole) == len(steps) else None


def _start(talk: Talk, known: Known, text: str, place: int) -> int:
    if place:
        prompt = render(talk.tokenizer, talk.messages[:place], talk.tools, ask=True)
        start = prompt_end(text, prompt)
        if start is None:
            raise TemplateRefused(
                f"The template writes the turns before answer {place + 1} differently later on."
            )
        return start
    found = text.find(known.header) if known.header.strip() else -1
    if found < 0:
        raise TemplateRefused("The first turn is the assistant's, and where it begins cannot be told.")
    return found + len(known.header)


def _limit(talk: Talk, text: str, place: int) -> int | None:
    """Where the turn's text ends for certain: None where the template shortens turns that are not the last."""
    if place == len(talk.messages) - 1:
        return len(text)
    try:
        whole = render(talk.tokenizer, talk.messages[: place + 1], talk.tools)
    except TemplateRefused:  # a template may want a question in every talk
        return None
    return len(whole) if text.startswith(whole) else None


def _stop(talk: Talk, known: Known, text: str, place: int, behind: int, limit: int | None) -> tuple[int, str]:
    """(where the turn ends, with which token) behind all of its parts."""
    if talk.end and limit is not None:
        found = text.rfind(talk.end, behind, limit)
    elif talk.end and talk.end not in talk.told[place].arguments:
        found = text.find(talk.end, behind)
    else:
        found = -1
    if found >= 0:
        return found + len(talk.end), talk.end
    if limit is not None:
        # Some templates end a turn in the middle of a talk, or a call, with a token of its own (GPT-OSS).
        last = max(((text.rfind(token, behind, limit), token) for token in known.specials), default=(-1, ""))
        if last[0] >= 0:
            return last[0] + len(last[1]), last[1]
        if place == len(talk.messages) - 1:
            # Some end the last turn with nothing; the answer itself is still what is learned.
            return len(text), ""
    raise TemplateRefused(f"No end of turn ({talk.end!r}) is found behind turn {place + 1}.")


def _step(
    talk: Talk, text: str, place: int, start: int, parts: list[Span], stop: int, end: str
) -> Step | None:
    """How to find this answer in talks of the same shape; None where nothing firm stands before or behind it."""
    before = talk.told[place - 1].said if place and talk.messages[place - 1]["role"] != "system" else ""
    at = text.rfind(before, 0, start) if before else -1
    lead = text[at + len(before) : start].lstrip()
    if at < 0 or not lead or not end:
        return None
    behind = [start, *(stop for _, stop in parts)]
    before_parts = [*(begin for begin, _ in parts), stop - len(end)]
    gaps = tuple(text[a:b].strip() for a, b in zip(behind, before_parts, strict=True))
    return Step(lead, gaps=gaps, end=end)


def follow(talk: Talk, plan: Plan) -> tuple[str, list[Span]]:
    """(text, spans) of a talk whose shape is known: its prompts are not rendered again. Raises TemplateRefused."""
    text = render(talk.tokenizer, talk.messages, talk.tools)
    spans, position, seen, last = [], 0, 0, ("", 0)
    for place, step in zip(talk.turns, plan.steps, strict=True):
        for earlier in range(seen, place):
            if talk.messages[earlier]["role"] != "system":
                said = talk.told[earlier].said
                at, length = find_written(text, said, position, len(text))
                if at < 0:
                    raise TemplateRefused("A turn is not found.")
                position, last = at + length, (text[at : at + length], at)
        start = _behind_lead(text, *last, step.lead)
        spans.append((start, _followed(talk, text, place, start, step)))
        position, seen = spans[-1][1], place + 1
    return text, spans


def _behind_lead(text: str, said: str, at: int, lead: str) -> int:
    """Where the lead ends that stands, white space aside, behind words found at or after a place."""
    while at >= 0:
        position = at + len(said)
        while position < len(text) and text[position].isspace() and not text.startswith(lead, position):
            position += 1
        if text.startswith(lead, position):
            return position + len(lead)
        at = text.find(said, at + 1)
    raise TemplateRefused("The text before the answer is not that of its shape.")


def _followed(talk: Talk, text: str, place: int, start: int, step: Step) -> int:
    """The end of an answer whose parts stand between the same texts as those of its shape."""
    turn = talk.told[place]
    parts = parts_of(text, turn, place, start, len(text))
    found = text.find(step.end, parts[-1][1] if parts else start)
    if found < 0:
        raise TemplateRefused("No end of turn is found.")
    behind = [start, *(stop for _, stop in parts)]
    before = [*(begin for begin, _ in parts), found]
    gaps = [text[a:b].strip() for a, b in zip(behind, before, strict=True)]
    # Behind the name of a called tool stand its arguments, which are the row's own.
    firm = len(gaps) - len(turn.calls)
    if gaps[:firm] != list(step.gaps[:firm]):
        raise TemplateRefused("The answer is written otherwise than those of its shape.")
    return found + len(step.end)
