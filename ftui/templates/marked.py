"""Answers in a text by a template that marks them."""

from __future__ import annotations

from ftui.templates.known import Known, Plan, Step
from ftui.templates.prompt import prompt_end
from ftui.templates.render import TemplateRefused, render
from ftui.templates.spoken import Span, check_between, parts_of
from ftui.templates.talk import Talk
from ftui.templates.training import render_marked


def by_marks(talk: Talk, known: Known, template: str) -> tuple[str, list[Span], Plan]:
    """(text, spans, plan) by a template with markers, each prompt compared with that of the model's own template.

    Raises TemplateRefused where a prompt differs, or where an answer is not whole.
    """
    text, marks = _marks(talk, known, template)
    spans, steps = [], []
    for place in talk.turns:
        if not place:
            raise TemplateRefused("The first turn is the assistant's: no prompt stands before it.")
        begin, stop = marks[place]
        prompt = render(talk.tokenizer, talk.messages[:place], talk.tools, ask=True)
        start = prompt_end(text, prompt, strict=True)
        if start is None or text[start:begin].strip():
            raise TemplateRefused(
                f"The text before answer {place + 1} is not what the model sees at generation."
            )
        steps.append(Step(text[min(begin, start) : max(begin, start)], shift=start - begin))
        spans.append((start, _trimmed(text, start, stop, talk.end, known)))
    _check(talk, text, spans)
    return text, spans, Plan(True, tuple(steps))


def follow_marks(talk: Talk, known: Known, plan: Plan) -> tuple[str, list[Span]]:
    """(text, spans) of a talk whose shape is known: its prompts are not rendered again. Raises TemplateRefused."""
    text, marks = _marks(talk, known, str(known.marking))
    spans = []
    for place, step in zip(talk.turns, plan.steps, strict=True):
        begin, stop = marks[place]
        start = begin + step.shift
        if not text.startswith(step.lead, min(begin, start)):
            raise TemplateRefused("The text before the answer is not that of its shape.")
        spans.append((start, _trimmed(text, start, stop, talk.end, known)))
    _check(talk, text, spans)
    return text, spans


def _marks(talk: Talk, known: Known, template: str) -> tuple[str, dict[int, Span]]:
    """(text, mark of each assistant's turn by its place). Raises TemplateRefused where they do not pair up."""
    text, marks = render_marked(talk.tokenizer, template, talk.messages, talk.tools)
    answers = [place for place, message in enumerate(talk.messages) if message["role"] == "assistant"]
    if len(marks) > len(answers):
        # Phi 3 marks the end of text, which it writes once behind the last turn, on its own.
        marks = [mark for mark in marks if text[slice(*mark)].strip() not in ("", *known.specials)]
    if len(marks) != len(answers):
        raise TemplateRefused(f"The template marks {len(marks)} answers of {len(answers)}.")
    return text, dict(zip(answers, marks, strict=True))


def _trimmed(text: str, start: int, stop: int, end: str, known: Known) -> int:
    """The end of an answer: without the white space that templates mark behind a token, with a token left out."""
    said = text[start:stop].rstrip()
    if end and text.startswith(end, stop) and not said.endswith(end):
        return stop + len(end)
    return start + len(said) if said.endswith(known.specials) else stop


def _check(talk: Talk, text: str, spans: list[Span]) -> None:
    """Raise TemplateRefused unless each span holds all that its turn says, and nothing of another turn."""
    for place, (start, stop) in zip(talk.turns, spans, strict=True):
        parts_of(text, talk.told[place], place, start, stop)
    check_between(text, talk.messages, dict(zip(talk.turns, spans, strict=True)))
