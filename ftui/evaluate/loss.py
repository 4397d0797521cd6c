"""The loss of each row: the negative log-likelihood of its learned tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from ftui.templates.prepare import IGNORED

_TOKENS_AT_ONCE = 2048  # padded; bounds the logits' memory, which grows with the vocabulary


@dataclass(frozen=True)
class RowLoss:
    """total: sum of -ln p over the row's learned tokens; tokens: how many there are."""

    total: float
    tokens: int

    @property
    def mean(self) -> float | None:
        """Loss of this row; None where no token carries loss."""
        return self.total / self.tokens if self.tokens else None


@torch.no_grad()
def row_losses(
    model: Any,
    rows: Sequence[tuple[list[int], list[int]]],
    batch_size: int = 8,
    told: Callable[[int], None] | None = None,
) -> list[RowLoss]:
    """The loss of each row, in the rows' order.

    rows: (ids, labels), each (T,); a label of -100 carries no loss. The token at place t is predicted from
    the true tokens before t, so the first one never counts:

        total = sum over t >= 1 with labels[t] != -100 of  -ln p(labels[t] | ids[0 .. t-1])

    Rows are computed in batches of like length, padded at the right and masked; told is called with the
    number of rows done.
    """
    model.eval()
    order = sorted(range(len(rows)), key=lambda place: len(rows[place][0]), reverse=True)
    found: dict[int, RowLoss] = {}
    while order:
        longest = max(1, len(rows[order[0]][0]))
        count = max(1, min(batch_size, _TOKENS_AT_ONCE // longest))
        batch, order = order[:count], order[count:]
        found |= zip(batch, _batch(model, [rows[place] for place in batch]), strict=True)
        if told:
            told(len(found))
    return [found[place] for place in range(len(rows))]


def mean(losses: Sequence[RowLoss]) -> dict[str, float | None]:
    """Loss over all rows, each learned token weighing the same, and its perplexity e^loss.

    loss = sum of totals / sum of tokens; long rows weigh more than short ones.
    """
    tokens = sum(loss.tokens for loss in losses)
    if not tokens:
        return {"loss": None, "perplexity": None}
    value = sum(loss.total for loss in losses) / tokens
    return {"loss": value, "perplexity": math.exp(value) if value < 700 else math.inf}


def _batch(model: Any, rows: list[tuple[list[int], list[int]]]) -> list[RowLoss]:
    width = max(len(ids) for ids, _ in rows)
    device = model.device
    ids = torch.tensor([row + [0] * (width - len(row)) for row, _ in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row, _ in rows], device=device)
    labels = torch.tensor([row + [IGNORED] * (width - len(row)) for _, row in rows], device=device)
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1]
    targets = labels[:, 1:]
    learned = targets != IGNORED
    # Only the learned places are widened to float32: most of a batch is prompt and padding.
    each = cross_entropy(logits[learned].float(), targets[learned], reduction="none").double()
    totals = torch.zeros(len(rows), dtype=torch.float64, device=device)
    totals.index_add_(0, learned.nonzero()[:, 0], each)
    return [
        RowLoss(total, count) for total, count in zip(totals.tolist(), learned.sum(1).tolist(), strict=True)
    ]
