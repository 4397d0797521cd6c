"""Held-out rows are the same everywhere."""

from __future__ import annotations

import pytest

from ftui.data import Row, hold_out

ROWS = [Row(number, {"text": str(number)}) for number in range(1, 21)]
EXPECTED = [1, 6, 10, 16]


def numbers(rows: list[Row]) -> list[int]:
    return [row.number for row in rows]


def test_the_same_rows_on_every_machine() -> None:
    train, held_out = hold_out(ROWS, 0.2, 42)
    assert numbers(held_out) == EXPECTED
    assert numbers(train) == [number for number in range(1, 21) if number not in EXPECTED]


def test_another_seed_holds_out_others() -> None:
    assert numbers(hold_out(ROWS, 0.2, 43)[1]) != EXPECTED


@pytest.mark.parametrize(
    ("count", "share", "held"),
    [(0, 0.5, 0), (1, 0.5, 0), (2, 0.01, 1), (2, 1.0, 1), (20, 0.0, 0), (25, 0.1, 3)],
)
def test_at_least_one_row_is_held_out_and_never_all(count: int, share: float, held: int) -> None:
    rows = [Row(number, {}) for number in range(count)]
    train, held_out = hold_out(rows, share, 1)
    assert (len(train), len(held_out)) == (count - held, held)


def test_mending_one_row_moves_few_others() -> None:
    before = set(numbers(hold_out(ROWS, 0.3, 7)[1]))
    after = set(numbers(hold_out(ROWS[:4] + ROWS[5:], 0.3, 7)[1]))
    assert len(before ^ after) <= 2
