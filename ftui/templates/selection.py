"""The rows that train and those that are held out, as tokens: what a run learns from, and the account of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ftui.data.chosen import Chosen, choose, data_set
from ftui.data.load import Told
from ftui.data.pick import Part
from ftui.settings import DataSettings
from ftui.templates.build import Tokens, store
from ftui.templates.fate import CUT, REASONS, fates, histogram, told
from ftui.templates.prepare import labels
from ftui.templates.store import Store, opened

MAX_NAMED = 1_000


@dataclass(frozen=True)
class Held:
    """A part of a side in its store. places: (R,) of its rows in the store, one that is seen twice stands twice."""

    store: Store
    places: Any
    refused: list[dict[str, Any]]


class Selected:
    """One side of the split as it trains: whole rows in stores, cut at the limit when they are read.

    lengths: (R,) tokens of each kept row as it is read; for pairs, of the longer passage.
    """

    def __init__(self, data: DataSettings, parts: list[Held]) -> None:
        self.data = data
        self.parts = parts
        found = [
            fates(part.store.lengths[part.places], part.store.first[part.places], data) for part in parts
        ]
        self._fates = found
        self.kept = [part.places[fate <= CUT] for part, fate in zip(parts, found, strict=True)]
        self.lengths = np.concatenate(
            [np.minimum(self._longest(part.store, kept), data.max_length) for part, kept in self._kept()]
            or [np.zeros(0, dtype=np.int32)]
        )

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def pairs(self) -> bool:
        """Whether a row holds two passages, as preference pairs do."""
        return any(part.store.passages > 1 for part in self.parts)

    @cached_property
    def dropped(self) -> list[dict[str, Any]]:
        """{row, reason, message} of the first rows that the template refused or that have nothing left to learn."""
        found: list[dict[str, Any]] = []
        for part, fate in zip(self.parts, self._fates, strict=True):
            found += part.refused[:MAX_NAMED]
            lost, first = np.unique(part.places[fate > CUT], return_index=True)
            reasons = fate[fate > CUT][first]
            for place, why in zip(lost[:MAX_NAMED].tolist(), reasons[:MAX_NAMED].tolist(), strict=True):
                message = told(why, int(part.store.lengths[place].max()), self.data)
                number = int(part.store.numbers[place])
                found.append({"row": number, "reason": REASONS[why], "message": message})
        return sorted(found, key=lambda item: item["row"])[:MAX_NAMED]

    @cached_property
    def reasons(self) -> dict[str, int]:
        """Reason to how many rows are dropped for it, each counted once."""
        counts: Counter[str] = Counter()
        for part, fate in zip(self.parts, self._fates, strict=True):
            counts.update(row["reason"] for row in part.refused)
            for why, reason in REASONS.items():
                counts[reason] += len(np.unique(part.places[fate == why]))
        return {reason: count for reason, count in counts.items() if count}

    def account(self) -> dict[str, Any]:
        """The numbers for the report: rows kept, cut, dropped by reason, tokens of an epoch and the spread of lengths.

        kept, tokens and learned_tokens count a row as often as an epoch sees it; the others count each row once.
        """
        limit = self.data.max_length
        cut = np.concatenate(
            [
                np.unique(part.store.numbers[part.places[fate == CUT]])
                for part, fate in zip(self.parts, self._fates, strict=True)
            ]
            or [np.zeros(0, dtype=np.int64)]
        )
        uncut = np.concatenate(
            [self._longest(part.store, np.unique(part.places)) for part in self.parts]
            or [np.zeros(0, dtype=np.int32)]
        )
        return {
            "kept": len(self),
            "truncated": len(cut),
            "truncated_rows": cut[:MAX_NAMED].tolist(),
            "dropped": self.reasons,
            "no_target_left": self.reasons.get("no_target_left", 0),
            "tokens": sum(
                int(np.minimum(part.store.lengths[kept], limit).sum()) for part, kept in self._kept()
            ),
            "learned_tokens": sum(part.store.learned_within(kept, limit) for part, kept in self._kept()),
            "longest": int(uncut.max()) if len(uncut) else 0,
            "median": int(np.sort(uncut)[len(uncut) // 2]) if len(uncut) else 0,
            "histogram": histogram(uncut),
        }

    def row(self, index: int) -> tuple[list[int], list[int]]:
        """(ids, labels) of a kept row's passage, each (T,); a label of -100 carries no loss."""
        part = int(np.searchsorted(self._ends, index, side="right"))
        place = int(self.kept[part][index - (int(self._ends[part - 1]) if part else 0)])
        ids, learned = self.parts[part].store.passage(place, limit=self.data.max_length)
        return ids.tolist(), labels(ids.tolist(), learned.tolist())

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """By the names of the stores: `datasets` pickles what reads rows, and the tokens must not go with it."""
        return _again, (self.data, [(str(part.store.folder), part.places) for part in self.parts])

    @cached_property
    def _ends(self) -> Any:
        return np.cumsum([len(kept) for kept in self.kept])

    def _kept(self) -> list[tuple[Held, Any]]:
        return list(zip(self.parts, self.kept, strict=True))

    @staticmethod
    def _longest(found: Store, places: Any) -> Any:
        return found.lengths[places].max(axis=1) if len(places) else np.zeros(0, dtype=np.int32)


def select(tokens: Tokens, told: Told | None = None) -> tuple[Chosen, Selected, Selected]:
    """(chosen, train, held out). Reads and tokenises what has not been before. Raises DataError."""
    chosen = choose(tokens.data, told)
    train, held = (
        Selected(tokens.data, [_held(tokens, part, told) for part in side.parts])
        for side in (chosen.train, chosen.validation)
    )
    return chosen, train, held


def whole(tokens: Tokens, chosen: Chosen) -> Selected:
    """All usable rows of the set that is trained on, those that are held out among them: what its report counts."""
    part = Part(0, "train", chosen.looks[0].splits["train"])
    return Selected(tokens.data, [_held(tokens, part, None)])


def _held(tokens: Tokens, part: Part, told: Told | None) -> Held:
    made = store(tokens, data_set(tokens.data, part), part.split, told)
    numbers = np.frombuffer(part.numbers, dtype=np.int64) if part.numbers else np.zeros(0, dtype=np.int64)
    places = np.searchsorted(made.numbers, numbers)
    there = np.zeros(len(numbers), dtype=bool)
    inside = places < len(made.numbers)
    there[inside] = made.numbers[places[inside]] == numbers[inside]
    absent = set(numbers[~there].tolist())
    return Held(made, places[there], [row for row in made.refused if row["row"] in absent])


def _again(data: DataSettings, parts: list[tuple[str, Any]]) -> Selected:
    return Selected(data, [Held(opened(folder), places, []) for folder, places in parts])
