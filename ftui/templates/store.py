"""Tokenised rows on disk, whole and uncut, so that another limit, split or batch size costs no second pass.

A store is a folder of flat arrays that are mapped into memory: `ids` and `learned` of all passages end to end,
and for each row its number, the lengths of its passages and where each first carries loss.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ftui.templates.prepare import first_learned
from ftui.templates.tokenise import Passage, Whole

_ARRAYS = {
    "numbers": np.int64,
    "lengths": np.int32,
    "first": np.int32,
    "counts": np.int32,
    "ids": np.int32,
    "learned": np.uint8,
}


@dataclass(frozen=True)
class Packed:
    """Some rows as arrays, small to send from one process to another. refused: {row, reason, message}."""

    arrays: dict[str, Any]
    passages: int
    refused: list[dict[str, Any]]


def pack(wholes: Iterable[Whole]) -> Packed:
    """Tokenised rows as arrays."""
    numbers: list[int] = []
    refused: list[dict[str, Any]] = []
    passages: list[Passage] = []
    for whole in wholes:
        if whole.passages:
            numbers.append(whole.number)
            passages += whole.passages
        else:
            refused.append({"row": whole.number, "reason": whole.reason, "message": whole.message})
    values: dict[str, Sequence[int] | bytes] = {
        "numbers": numbers,
        "lengths": [len(passage.ids) for passage in passages],
        "first": [first_learned(passage.learned) for passage in passages],
        "counts": [passage.learned.count(1) for passage in passages],
        "ids": [token for passage in passages for token in passage.ids],
    }
    arrays = {name: np.array(value, dtype=_ARRAYS[name]) for name, value in values.items()}
    arrays["learned"] = np.frombuffer(b"".join(passage.learned for passage in passages), dtype=np.uint8)
    return Packed(arrays, len(passages) // len(numbers) if numbers else 1, refused)


class Writer:
    """Fills the folder of a store, batch by batch, in flat memory. Use it in a `with` block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {name: (folder / f"{name}.bin").open("wb") for name in _ARRAYS}
        self._refused = (folder / "refused.jsonl").open("w", encoding="utf-8", errors="replace")
        self._passages = 1

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        for file in self._files.values():
            file.close()
        self._refused.close()
        (self._folder / "passages").write_text(str(self._passages))

    def add(self, packed: Packed) -> None:
        """Append rows."""
        if len(packed.arrays["numbers"]):
            self._passages = packed.passages
        for name, array in packed.arrays.items():
            array.tofile(self._files[name])
        for row in packed.refused:
            self._refused.write(json.dumps(row, ensure_ascii=False) + "\n")


class Store:
    """A store that was made. R rows of S passages each (two in preference pairs, else one).

    numbers: (R,) row numbers, ascending. lengths, first, counts: (R, S) tokens, place of the first learned one, and
    how many are learned; uncut. ids, learned: (T,) of all passages end to end.
    refused: the rows that the template refused, {row, reason, message}.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.passages = int((folder / "passages").read_text())
        self.numbers = self._array("numbers")
        # Mapped at once, so that the tokens stay readable for a run whose store the cache lets go.
        self.ids, self.learned = self._array("ids"), self._array("learned")
        self.lengths, self.first, self.counts = (
            self._array(name).reshape(-1, self.passages) for name in ("lengths", "first", "counts")
        )

    @cached_property
    def refused(self) -> list[dict[str, Any]]:
        with (self.folder / "refused.jsonl").open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    def passage(self, place: int, side: int = 0, limit: int | None = None) -> tuple[Any, Any]:
        """(ids, learned) of a row by its place in the store, each (T,), cut at the limit."""
        at = place * self.passages + side
        start = int(self._starts[at])
        length = int(self.lengths[place, side])
        end = start + (length if limit is None else min(length, limit))
        return self.ids[start:end], self.learned[start:end]

    def longest(self, rows: int) -> dict[int, int]:
        """Row number to the tokens of its longest passage, uncut, for the first so many rows."""
        return dict(zip(self.numbers[:rows].tolist(), self.lengths[:rows].max(axis=1).tolist(), strict=True))

    def learned_within(self, places: Any, limit: int) -> int:
        """How many tokens before the limit carry loss, over all passages of these rows."""
        total = 0
        for side in range(self.passages):
            long = self.lengths[places, side] > limit
            total += int(self.counts[places[~long], side].sum())
            total += sum(int(self.passage(int(place), side, limit)[1].sum()) for place in places[long])
        return total

    @cached_property
    def _starts(self) -> Any:
        return np.concatenate([[0], np.cumsum(self.lengths.reshape(-1), dtype=np.int64)])

    def _array(self, name: str) -> Any:
        path = self.folder / f"{name}.bin"
        if not path.stat().st_size:
            return np.zeros(0, dtype=_ARRAYS[name])
        return np.memmap(path, dtype=_ARRAYS[name], mode="r")


def is_whole(folder: Path) -> bool:
    """Whether every array of a store is as long as the others say."""
    try:
        found = Store(folder)
        tokens = int(found.lengths.sum())
        return len(found.ids) == len(found.learned) == tokens and len(found.lengths) == len(found.numbers)
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=64)
def opened(folder: str) -> Store:
    """The store in a folder, opened once a process."""
    return Store(Path(folder))
