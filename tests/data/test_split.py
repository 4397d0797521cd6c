"""Held-out rows are the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from ftui.data.split import _parted, _rank, hold_out, numbers_of, repeated, weighed

ROWS = numbers_of(range(1, 21))
EXPECTED = [1, 6, 10, 16]


def test_the_same_rows_on_every_machine() -> None:
    train, held_out = hold_out(ROWS, 0.2, 42)
    assert list(held_out) == EXPECTED
    assert list(train) == [number for number in range(1, 21) if number not in EXPECTED]


def test_another_seed_holds_out_others() -> None:
    assert list(hold_out(ROWS, 0.2, 43)[1]) != EXPECTED


@pytest.mark.parametrize(
    ("count", "share", "held"),
    [(0, 0.5, 0), (1, 0.5, 0), (2, 0.01, 1), (2, 1.0, 1), (20, 0.0, 0), (25, 0.1, 3)],
)
def test_at_least_one_row_is_held_out_and_never_all(count: int, share: float, held: int) -> None:
    train, held_out = hold_out(numbers_of(range(count)), share, 1)
    assert (len(train), len(held_out)) == (count - held, held)


def test_mending_one_row_moves_few_others() -> None:
    before = set(hold_out(ROWS, 0.3, 7)[1])
    after = set(hold_out(ROWS[:4] + ROWS[5:], 0.3, 7)[1])
    assert len(before ^ after) <= 2


@pytest.mark.parametrize(
    ("weight", "rows", "epoch"),
    [(0.5, 10, 10), (0.01, 1, 1), (1, 20, 20), (1.5, 20, 30), (2, 20, 40), (3.25, 20, 65)],
)
def test_a_weight_says_how_often_rows_are_seen(weight: float, rows: int, epoch: int) -> None:
    taken = weighed(ROWS, weight, 42)
    seen = repeated(taken, weight, 42)
    assert (len(taken), len(set(seen)), len(seen)) == (rows, rows, epoch)
    assert list(seen) == sorted(seen)
    assert max(seen.count(number) for number in seen) - min(seen.count(number) for number in seen) <= 1


@pytest.mark.parametrize("numbers", [range(1, 501), [7] * 40 + [3] * 40, [5], []])
@pytest.mark.parametrize("count", [0, 1, 17, 80])
def test_the_rows_are_those_that_sorting_by_the_whole_hash_gives(numbers: Iterable[int], count: int) -> None:
    rows = numbers_of(numbers)
    count = min(count, len(rows))
    order = sorted(range(len(rows)), key=lambda place: (_rank("s", rows[place]), place))
    first = set(order[:count])
    others, chosen = _parted(rows, count, "s")
    assert list(chosen) == [row for place, row in enumerate(rows) if place in first]
    assert list(others) == [row for place, row in enumerate(rows) if place not in first]
