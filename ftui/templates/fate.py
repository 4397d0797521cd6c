"""What becomes of a tokenised row at a length limit, and what that means over a whole set. Numbers alone, in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ftui.settings import DataSettings

KEPT, CUT, TOO_LONG, NO_TARGET = range(4)
REASONS = {TOO_LONG: "too_long", NO_TARGET: "no_target_left"}
_BINS = 40
_PACKED_SAMPLE = 50_000
_MEGABATCH = 50  # as transformers' get_length_grouped_indices sorts: this many batches at a time


def fates(lengths: Any, first: Any, data: DataSettings) -> Any:
    """(R,) of KEPT, CUT, TOO_LONG and NO_TARGET.

    lengths: (R, S) tokens of each row's passages, uncut; first: (R, S) place of the first token that carries loss,
    at least the length where none does. A row shares the worst fate of its passages: a cut takes the end off, and
    a row of which no learned token is left teaches nothing.
    """
    limit = data.max_length
    long = (lengths > limit).any(axis=1)
    found = np.where(long, TOO_LONG if data.long_rows == "drop" else CUT, KEPT).astype(np.uint8)
    lost = (first >= np.minimum(lengths, limit)).any(axis=1)
    found[lost & (found != TOO_LONG)] = NO_TARGET
    return found


def told(fate: int, length: int, data: DataSettings) -> str:
    """Why a row is dropped, in a sentence. length: of its longest passage, uncut."""
    limit = data.max_length
    if fate == TOO_LONG:
        return f"{length:,} tokens, and the longest row allowed has {limit:,}."
    if length <= limit:
        return "None of its tokens is an answer that carries loss."
    return f"All of the answer lies behind the cut at {limit:,} tokens ({length:,} in all)."


def histogram(lengths: Any) -> list[tuple[int, int, int]]:
    """(from, to, rows) of token lengths, both ends counted in, with round edges; empty where there are no rows."""
    if not len(lengths):
        return []
    top = int(lengths.max())
    step = next(step for step in _steps() if step * _BINS >= top)
    counts = np.bincount((np.asarray(lengths, dtype=np.int64) + step - 1) // step)
    low = int(np.flatnonzero(counts)[0])
    return [
        (max(1, (place - 1) * step + 1) if place else 0, place * step, int(counts[place]))
        for place in range(low, len(counts))
    ]


def padding(lengths: Any, batch: int, limit: int, seed: int = 42) -> dict[str, float]:
    """The share of an epoch's tokens that is filling: in random order, in batches of like length, and packed.

    lengths: (R,) of the kept rows, as cut. A batch is filled up to its longest row. Packed rows are laid into
    passages of `limit` tokens, the longest first and each where it fits best; measured on at most 50,000 rows.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    if not len(lengths):
        return {"random": 0.0, "grouped": 0.0, "packed": 0.0}
    order = np.random.default_rng(seed).permutation(len(lengths))
    mega = batch * _MEGABATCH
    grouped = np.concatenate(
        [
            part[np.argsort(-lengths[part], kind="stable")]
            for part in np.split(order, range(mega, len(order), mega))
        ]
    )
    sample = lengths[order[:_PACKED_SAMPLE]]
    return {
        "random": _filling(lengths[order], batch),
        "grouped": _filling(lengths[grouped], batch),
        "packed": 1 - float(sample.sum()) / (_passages(sample, limit) * limit),
    }


def _filling(lengths: Any, batch: int) -> float:
    starts = np.arange(0, len(lengths), batch)
    longest = np.maximum.reduceat(lengths, starts)
    sizes = np.minimum(batch, len(lengths) - starts)
    return 1 - float(lengths.sum()) / float((longest * sizes).sum())


def _passages(lengths: Any, limit: int) -> int:
    """How many passages best-fit decreasing fills: each row goes where the least room is left that still takes it."""
    room = np.zeros(limit + 1, dtype=np.int64)  # room[n]: passages with n tokens of room
    count = 0
    sizes, times = np.unique(np.minimum(lengths, limit), return_counts=True)
    for size, rows in zip(sizes[::-1].tolist(), times[::-1].tolist(), strict=True):
        for left in np.flatnonzero(room[size:]) + size:
            each = int(left) // size
            full, rest = divmod(min(rows, int(room[left]) * each), each)
            room[left] -= full + bool(rest)
            room[left - each * size] += full
            room[left - rest * size] += bool(rest)
            rows -= full * each + rest
            if not rows:
                break
        each = limit // size
        full, rest = divmod(rows, each)
        room[limit - each * size] += full
        if rest:
            room[limit - rest * size] += 1
        count += full + bool(rest)
    return max(1, count)


def _steps() -> Iterator[int]:
    """Widths of a bin: powers of two, as limits on lengths mostly are."""
    step = 1
    while True:
        yield step
        step *= 2
