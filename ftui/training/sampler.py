"""The order of rows: batches of like length, the same for a seed and an epoch, whatever was interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import Sampler
from transformers.trainer_pt_utils import get_length_grouped_indices
from trl import SFTTrainer


class LikeLength(Sampler[int]):
    """Row numbers, 0-based, in an order that puts rows of like length into the same batch.

    The library's own sampler draws from torch's global numbers, which after a resume stand elsewhere than they
    stood: the second half of an interrupted epoch then trains other rows. This one depends on seed and epoch.
    """

    def __init__(self, lengths: list[int], batch: int, seed: int) -> None:
        self.lengths, self.batch, self.seed, self.epoch = lengths, batch, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Called by accelerate at the start of each epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(get_length_grouped_indices(self.lengths, self.batch, generator=generator))


class Trainer(SFTTrainer):
    """trl's trainer with our order of rows where batches of like length are asked for."""

    def __init__(self, *given: Any, lengths: list[int] | None = None, **named: Any) -> None:
        self._lengths = lengths
        super().__init__(*given, **named)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if self._lengths is None:
            return super()._get_train_sampler(train_dataset)
        # Without the number of processes: accelerate deals whole batches to them in turn.
        batch = self.args.train_batch_size * self.args.gradient_accumulation_steps
        return LikeLength(self._lengths, batch, self.args.seed)
