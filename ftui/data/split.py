"""Holds rows out of training and takes a share of them, the same ones on every machine and in every Python."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterable
from typing import Any, TypeAlias

Numbers: TypeAlias = "array[int]"
"""Row numbers, in file order; one that is seen twice stands twice."""

_BLOCK = 65_536


def numbers_of(values: Iterable[int] = ()) -> Numbers:
    """An array of row numbers, eight bytes each."""
    return array("q", values)


def hold_out(numbers: Numbers, share: float, seed: int) -> tuple[Numbers, Numbers]:
    """(train, held out), both in file order.

    Held out is the share of the rows whose hash of seed and row number is smallest: at least one, and never all.
    A row's number decides, so that mending one row moves few others.
    """
    if share <= 0 or len(numbers) < 2:
        return numbers, numbers_of()
    count = min(max(1, math.floor(len(numbers) * share + 0.5)), len(numbers) - 1)
    return _parted(numbers, count, str(seed))


def weighed(numbers: Numbers, weight: float, seed: int) -> Numbers:
    """The rows that a weight takes at all: below 1 that share of them, at least one; else all."""
    if weight >= 1 or not numbers:
        return numbers
    return _parted(numbers, max(1, math.floor(len(numbers) * weight + 0.5)), f"{seed}:share")[1]


def repeated(numbers: Numbers, weight: float, seed: int) -> Numbers:
    """The rows of an epoch: each as often as the weight says, the copies behind each other."""
    if weight <= 1 or not numbers:
        return numbers
    again = math.floor(len(numbers) * (weight - int(weight)) + 0.5)
    times = _smallest(numbers, again, f"{seed}:again").astype("int64") + int(weight)
    return _array(_vector(numbers).repeat(times))


def _parted(numbers: Numbers, count: int, salt: str) -> tuple[Numbers, Numbers]:
    """(the others, the `count` of smallest hash)."""
    chosen = _smallest(numbers, count, salt)
    rows = _vector(numbers)
    return _array(rows[~chosen]), _array(rows[chosen])


def _smallest(numbers: Numbers, count: int, salt: str) -> Any:
    """(N,) bool: the `count` rows of smallest hash; of equal ones those that stand first.

    Only the first eight bytes of each hash are kept. Where they are equal at the boundary, all of it decides.
    """
    import numpy as np  # the page imports this module, and numpy only where rows are chosen

    chosen = np.zeros(len(numbers), dtype=bool)
    if count <= 0:
        return chosen
    keys = np.empty(len(numbers), dtype=np.uint64)
    for start in range(0, len(numbers), _BLOCK):
        block = b"".join(_rank(salt, number)[:8] for number in numbers[start : start + _BLOCK])
        keys[start : start + _BLOCK] = np.frombuffer(block, dtype=">u8")
    boundary = np.partition(keys, count - 1)[count - 1]
    chosen[keys < boundary] = True
    equal = np.flatnonzero(keys == boundary).tolist()
    equal.sort(key=lambda place: (_rank(salt, numbers[place]), place))
    chosen[equal[: count - int(chosen.sum())]] = True
    return chosen


def _vector(numbers: Numbers) -> Any:
    """(N,) int64, a view of the array."""
    import numpy as np

    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.zeros(0, dtype=np.int64)


def _array(vector: Any) -> Numbers:
    numbers = numbers_of()
    numbers.frombytes(vector.tobytes())
    return numbers


def _rank(salt: str, number: int) -> bytes:
    return hashlib.blake2b(f"{salt}:{number}".encode(), digest_size=16).digest()
