"""Holds rows out of training and takes a share of them, the same ones on every machine and in every Python."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterable
from typing import TypeAlias

Numbers: TypeAlias = "array[int]"
"""Row numbers, in file order; one that is seen twice stands twice."""


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
    if weight <= 1:
        return numbers
    again = math.floor(len(numbers) * (weight - int(weight)) + 0.5)
    more = set(_parted(numbers, again, f"{seed}:again")[1])
    return numbers_of([number for number in numbers for _ in range(int(weight) + (number in more))])


def _parted(numbers: Numbers, count: int, salt: str) -> tuple[Numbers, Numbers]:
    """(the others, the `count` of smallest hash)."""
    order = sorted(range(len(numbers)), key=lambda place: (_rank(salt, numbers[place]), place))
    chosen = bytearray(len(numbers))
    for place in order[:count]:
        chosen[place] = 1
    return (
        numbers_of([number for place, number in enumerate(numbers) if not chosen[place]]),
        numbers_of([number for place, number in enumerate(numbers) if chosen[place]]),
    )


def _rank(salt: str, number: int) -> bytes:
    return hashlib.blake2b(f"{salt}:{number}".encode(), digest_size=16).digest()
