"""One canonical row to tokens and the marks that say which of them carry loss: what all others build on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ftui.data import Row
from ftui.errors import DataError
from ftui.settings import DataSettings
from ftui.templates.chatml import adds_bos
from ftui.templates.mask import Span, answer_spans, end_of_turn, loss_mask
from ftui.templates.render import check_template, conversations, fitted, folded

_BATCH = 256


@dataclass(frozen=True)
class Passage:
    """What one forward pass would read of a row, uncut. A preference row has two: `chosen` and `rejected`.

    ids: (T,) token ids. learned: (T,) 0 or 1, 1 where the token carries loss. spans: (T,) character ranges in text.
    """

    name: str
    text: str
    ids: list[int]
    learned: bytes
    spans: Sequence[Span]


@dataclass(frozen=True)
class Whole:
    """A row with its passages; or, where passages is empty, why the template refuses it."""

    number: int
    passages: tuple[Passage, ...]
    reason: str = ""
    message: str = ""


def tokenise(tokenizer: Any, rows: Iterable[Row], data: DataSettings) -> Iterator[Whole]:
    """Render, tokenise and mask rows, in their order; nothing is cut here.

    A row is refused as `template_refused` where the template will not write it, or where its answers cannot be
    found in what it writes.
    """
    ends: list[str] = []
    bos = tokenizer.bos_token if adds_bos(tokenizer) else ""
    batch: list[tuple[Row, list[tuple[str, str, list[Span]]]]] = []
    for row in rows:
        try:
            batch.append((row, _written(tokenizer, row.value, data, ends, bos)))
        except DataError as refusal:
            yield from _tokenised(tokenizer, batch)
            batch = []
            yield Whole(row.number, (), refusal.code, refusal.message)
        if len(batch) == _BATCH:
            yield from _tokenised(tokenizer, batch)
            batch = []
    yield from _tokenised(tokenizer, batch)


def _written(
    tokenizer: Any, value: dict[str, Any], data: DataSettings, ends: list[str], bos: str
) -> list[tuple[str, str, list[Span]]]:
    """(name, text, spans that carry loss) of each passage of a row."""
    if "text" in value:
        end = tokenizer.eos_token or ""
        text = value["text"] if end and value["text"].endswith(end) else value["text"] + end
        if bos and not text.startswith(bos):
            text = bos + text
        return [("text", text, [(0, len(text))])]
    check_template(tokenizer)
    if not ends:
        ends.append(end_of_turn(tokenizer))
    written = []
    for name, messages, first in conversations(value):
        talk = fitted(tokenizer, messages)
        if data.system_role == "first_user":
            first -= sum(turn["role"] == "system" for turn in talk[:first])
            talk = folded(talk)
        text, spans = answer_spans(tokenizer, talk, value.get("tools"), data.learn, ends[0], first=first)
        written.append((name, text, spans))
    return written


def _tokenised(tokenizer: Any, batch: list[tuple[Row, list[tuple[str, str, list[Span]]]]]) -> Iterator[Whole]:
    texts = [text for _, written in batch for _, text, _ in written]
    if not texts:
        return
    encoded = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True)
    places = iter(range(len(texts)))
    for row, written in batch:
        passages = []
        for name, text, spans in written:
            place = next(places)
            offsets = encoded["offset_mapping"][place]
            learned = bytes(loss_mask(offsets, spans))
            passages.append(Passage(name, text, encoded["input_ids"][place], learned, offsets))
        yield Whole(row.number, tuple(passages))
