"""Which characters of a rendered conversation the model is trained on: found by rendering, then verified.

An answer begins where the template, asked for a generation prompt after the turns before it, stops writing;
it ends with the template's end-of-turn token. Both are checked against the whole text. Where the check
fails the row is refused: a loss mask that is merely likely would change what is learned without a word.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

from ftui.templates.render import Messages, TemplateRefused, render

Learn = Literal["answers", "last_answer", "everything"]
Span = tuple[int, int]
_PROBE = "ftui probe"


def end_of_turn(tokenizer: Any) -> str:
    """What the template writes to end an assistant's turn: `<|im_end|>`, `<end_of_turn>`, `</s>` …

    The first special token behind a short answer; all that is written behind it where none is special.
    Raises TemplateRefused where the template changes or loses the answer.
    """
    text = render(tokenizer, [{"role": "user", "content": "?"}, {"role": "assistant", "content": _PROBE}])
    _, found, tail = text.rpartition(_PROBE)
    if not found:
        raise TemplateRefused("The template does not write what the assistant says.")
    places = [(tail.find(token), token) for token in _special(tokenizer) if token and token in tail]
    if places:
        place, token = min(places, key=lambda item: (item[0], -len(item[1])))
        return tail[: place + len(token)]
    return tail.strip()


def answer_spans(
    tokenizer: Any, messages: Messages, tools: list[Any] | None, learn: Learn, end: str
) -> tuple[str, list[Span]]:
    """(text, spans): the rendered conversation and the half-open character ranges that carry loss.

    end: from `end_of_turn`. Raises TemplateRefused where a span cannot be verified.
    """
    text = render(tokenizer, messages, tools)
    if learn == "everything":
        return text, [(0, len(text))]
    turns = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    if learn == "last_answer":
        turns = turns[-1:]
    spans = [_span(tokenizer, text, messages, tools, place, end) for place in turns]
    for before, after in pairwise(spans):
        if before[1] > after[0]:
            raise TemplateRefused("Two answers overlap in the rendered text.")
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


def _span(
    tokenizer: Any, text: str, messages: Messages, tools: list[Any] | None, place: int, end: str
) -> Span:
    message = messages[place]
    said = str(message.get("content") or "").strip()
    start = _start(tokenizer, text, messages, tools, place, said)
    limit = _limit(tokenizer, text, messages, tools, place)
    if said and text.find(said, start, limit) < 0:
        raise TemplateRefused(f"Turn {place + 1} is not found in the text that the template writes.")
    behind = start if not said else text.find(said, start, limit) + len(said)
    if not end:
        return start, limit if limit is not None else len(text)
    found = text.rfind(end, behind, limit) if limit is not None else text.find(end, behind)
    if found >= 0:
        return start, found + len(end)
    if place == len(messages) - 1:
        # Some templates end the last turn with nothing; the answer itself is still what is learned.
        return start, len(text)
    raise TemplateRefused(f"No end of turn ({end!r}) is found behind turn {place + 1}.")


def _start(
    tokenizer: Any, text: str, messages: Messages, tools: list[Any] | None, place: int, said: str
) -> int:
    if place:
        head = render(tokenizer, messages[:place], tools, ask=True)
        if text.startswith(head):
            return len(head)
        # A prompt that ends in an opened or empty thought is longer than what the finished turn begins with.
        plain = head.rsplit("<think>", 1)[0]
        if plain != head and text.startswith(plain):
            return len(plain)
        raise TemplateRefused(
            f"The template writes the turns before answer {place + 1} differently later on."
        )
    found = text.find(said) if said else -1
    if found < 0:
        raise TemplateRefused("The first turn is the assistant's, and its text is not found.")
    return found


def _limit(tokenizer: Any, text: str, messages: Messages, tools: list[Any] | None, place: int) -> int | None:
    """Where the turn's text ends for certain: None where the template shortens turns that are not the last."""
    if place == len(messages) - 1:
        return len(text)
    whole = render(tokenizer, messages[: place + 1], tools)
    return len(whole) if text.startswith(whole) else None


def _special(tokenizer: Any) -> list[str]:
    added = [str(token) for token in tokenizer.get_added_vocab()]
    return sorted({*added, *(str(token) for token in tokenizer.all_special_tokens)})
