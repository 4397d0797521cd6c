"""Canonical rows to tokens and labels, in memory: for the rows that a person looks at and those that are measured.

What trains comes from `selection`, by the same functions: `tokenise` writes the tokens, `fate` says what is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ftui.data import Row
from ftui.settings import DataSettings
from ftui.templates.fate import CUT, REASONS, fates, told
from ftui.templates.mask import Span
from ftui.templates.tokenise import Whole, tokenise

IGNORED = -100
_TELL_EVERY = 64


@dataclass(frozen=True)
class Tokenised:
    """A passage as it trains.

    name: `answer`, `text`, `chosen`, `rejected` or `completion`. ids, learned: (T,) token ids and 0/1, 1 where the
    token carries loss. spans: (T,) character ranges in `text`. length: tokens before anything was cut.
    """

    number: int
    name: str
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
        return labels(self.ids, self.learned)


@dataclass
class Prepared:
    """Rows that train, and an account of those that do not.

    dropped: {row, reason, message}. lengths: row number to tokens, of each row that was rendered, uncut.
    """

    rows: list[Tokenised] = field(default_factory=list)
    dropped: list[dict[str, Any]] = field(default_factory=list)
    lengths: dict[int, int] = field(default_factory=dict)
    truncated: list[int] = field(default_factory=list)


def prepare(
    tokenizer: Any, rows: Iterable[Row], data: DataSettings, progress: Callable[[int], None] | None = None
) -> Prepared:
    """Render, tokenise, mask and cut rows.

    A row is dropped as `template_refused` (the template will not write it, or its answers cannot be found in
    what it writes), `too_long` (where long rows are to be dropped) or `no_target_left` (all of the answer
    was cut off). progress is told the number of rows done.
    """
    done = Prepared()
    count = 0
    for count, whole in enumerate(tokenise(tokenizer, rows, data), 1):
        _keep(done, whole, data)
        if progress and count % _TELL_EVERY == 0:
            progress(count)
    if progress:
        progress(count)
    return done


def labels(ids: Sequence[int], learned: Sequence[int]) -> list[int]:
    """(T,) the ids where loss is carried, -100 elsewhere."""
    return [token if mark else IGNORED for token, mark in zip(ids, learned, strict=True)]


def _keep(done: Prepared, whole: Whole, data: DataSettings) -> None:
    if not whole.passages:
        done.dropped.append({"row": whole.number, "reason": whole.reason, "message": whole.message})
        return
    lengths = np.array([[len(passage.ids) for passage in whole.passages]])
    first = np.array([[first_learned(passage.learned) for passage in whole.passages]])
    fate, longest = int(fates(lengths, first, data)[0]), int(lengths.max())
    done.lengths[whole.number] = longest
    if fate in REASONS:
        message = told(fate, longest, data)
        done.dropped.append({"row": whole.number, "reason": REASONS[fate], "message": message})
        return
    if fate == CUT:
        done.truncated.append(whole.number)
    end = data.max_length
    done.rows += [
        Tokenised(
            whole.number,
            passage.name,
            passage.text,
            passage.ids[:end],
            passage.learned[:end],
            passage.spans[:end],
            len(passage.ids),
        )
        for passage in whole.passages
    ]


def first_learned(learned: bytes) -> int:
    """The place of the first token that carries loss; the length where none does."""
    place = learned.find(1)
    return place if place >= 0 else len(learned)
