"""Canonical rows to tokens and labels: the one path of preview, counts and training."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ftui.data import Row
from ftui.errors import DataError
from ftui.settings import DataSettings
from ftui.templates.mask import Span, answer_spans, end_of_turn, loss_mask
from ftui.templates.render import check_template, fitted

IGNORED = -100
_BATCH = 256


@dataclass(frozen=True)
class Tokenised:
    """A row as it trains.

    ids, learned: (T,) token ids and 0/1, 1 where the token carries loss. spans: (T,) character ranges in
    `text`; both empty where the text was not kept. length: tokens before anything was cut.
    """

    number: int
    text: str
    ids: Sequence[int]
    learned: Sequence[int]
    spans: Sequence[Span]
    length: int

    @property
    def cut(self) -> bool:
        """Whether the row's end was cut off."""
        return self.length > len(self.ids)

    def labels(self) -> list[int]:
        """(T,) the ids where loss is carried, -100 elsewhere, as torch's cross entropy reads them."""
        return [token if mark else IGNORED for token, mark in zip(self.ids, self.learned, strict=True)]


@dataclass
class Prepared:
    """Rows that train, and an account of those that do not.

    dropped: {row, reason, message}. lengths: row number to tokens, of each row that was rendered, uncut.
    """

    rows: list[Tokenised] = field(default_factory=list)
    dropped: list[dict[str, Any]] = field(default_factory=list)
    lengths: dict[int, int] = field(default_factory=dict)
    truncated: list[int] = field(default_factory=list)

    def account(self) -> dict[str, Any]:
        """The numbers for the report: rows kept, cut, dropped by reason, and the spread of lengths."""
        kept = [len(row.ids) for row in self.rows]
        lengths = sorted(self.lengths.values())
        return {
            "kept": len(self.rows),
            "truncated": len(self.truncated),
            "truncated_rows": self.truncated[:1000],
            "dropped": dict(Counter(item["reason"] for item in self.dropped)),
            "no_target_left": sum(item["reason"] == "no_target_left" for item in self.dropped),
            "tokens": sum(kept),
            "learned_tokens": sum(sum(row.learned) for row in self.rows),
            "longest": lengths[-1] if lengths else 0,
            "median": lengths[len(lengths) // 2] if lengths else 0,
        }


def prepare(
    tokenizer: Any,
    rows: Iterable[Row],
    data: DataSettings,
    progress: Callable[[int], None] | None = None,
    keep_text: bool = True,
) -> Prepared:
    """Render, tokenise, mask and cut rows.

    A row is dropped as `template_refused` (the template will not write it, or its answers cannot be found in
    what it writes), `too_long` (where long rows are to be dropped) or `no_target_left` (all of the answer
    was cut off). progress is told the number of rows done. Without keep_text a token takes five bytes instead
    of some 160, as training needs it.
    """
    done = Prepared()
    batch: list[tuple[Row, str, list[Span]]] = []
    ends: list[str] = []
    count = 0
    for row in rows:
        try:
            batch.append((row, *_written(tokenizer, row.value, data, ends)))
        except DataError as refusal:
            done.dropped.append({"row": row.number, "reason": refusal.code, "message": refusal.message})
        count += 1
        if len(batch) == _BATCH:
            _tokenise(tokenizer, batch, data, done, keep_text)
            batch = []
            if progress:
                progress(count)
    _tokenise(tokenizer, batch, data, done, keep_text)
    done.dropped.sort(key=lambda item: item["row"])
    if progress:
        progress(count)
    return done


def _written(
    tokenizer: Any, value: dict[str, Any], data: DataSettings, ends: list[str]
) -> tuple[str, list[Span]]:
    if "text" in value:
        text = value["text"] + (tokenizer.eos_token or "")
        return text, [(0, len(text))]
    if "messages" not in value:
        raise DataError(
            "wrong_schema",
            "These rows are not for this stage",
            f"The row holds {', '.join(value)}, but learning from answers needs a conversation.",
            "Choose data with questions and answers.",
        )
    check_template(tokenizer)
    if not ends:
        ends.append(end_of_turn(tokenizer))
    messages = fitted(tokenizer, value["messages"])
    return answer_spans(tokenizer, messages, value.get("tools"), data.learn, ends[0])


def _tokenise(
    tokenizer: Any,
    batch: list[tuple[Row, str, list[Span]]],
    data: DataSettings,
    done: Prepared,
    keep_text: bool,
) -> None:
    if not batch:
        return
    encoded = tokenizer([text for _, text, _ in batch], add_special_tokens=False, return_offsets_mapping=True)
    for place, (row, text, spans) in enumerate(batch):
        ids, offsets = encoded["input_ids"][place], encoded["offset_mapping"][place]
        if row.value.get("text") is not None and tokenizer.bos_token_id is not None and _adds_bos(tokenizer):
            ids, offsets = [tokenizer.bos_token_id, *ids], [(0, 0), *offsets]
        done.lengths[row.number] = len(ids)
        _keep(done, row.number, text, ids, offsets, spans, data, keep_text)


def _keep(
    done: Prepared,
    number: int,
    text: str,
    ids: list[int],
    offsets: list[Span],
    spans: list[Span],
    data: DataSettings,
    keep_text: bool,
) -> None:
    limit = data.max_length
    if len(ids) > limit and data.long_rows == "drop":
        message = f"{len(ids):,} tokens, and the longest row allowed has {limit:,}."
        done.dropped.append({"row": number, "reason": "too_long", "message": message})
        return
    learned = loss_mask(offsets, spans)[:limit]
    if not any(learned):
        message = f"All of the answer lies behind the cut at {limit:,} tokens ({len(ids):,} in all)."
        done.dropped.append({"row": number, "reason": "no_target_left", "message": message})
        return
    if len(ids) > limit:
        done.truncated.append(number)
    if keep_text:
        done.rows.append(Tokenised(number, text, ids[:limit], learned, offsets[:limit], len(ids)))
    else:
        done.rows.append(Tokenised(number, "", array("i", ids[:limit]), bytes(learned), (), len(ids)))


def _adds_bos(tokenizer: Any) -> bool:
    ids = tokenizer("a")["input_ids"]
    return bool(ids) and ids[0] == tokenizer.bos_token_id
