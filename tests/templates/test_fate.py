"""What is cut, what is lost, and how much of a batch is filling."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ftui.settings import DataSettings
from ftui.templates.fate import CUT, KEPT, NO_TARGET, TOO_LONG, fates, histogram, padding, told


def fate(rows: list[tuple[int, int]], **settings: object) -> list[int]:
    """rows: (length, place of the first learned token)."""
    lengths, first = np.array(rows).T[:, :, None]
    return fates(lengths, first, DataSettings.model_validate(settings)).tolist()


def test_a_row_is_kept_cut_or_lost_by_where_its_answer_lies() -> None:
    rows = [(8, 4), (9, 4), (20, 7), (20, 8), (5, 5)]
    assert fate(rows, max_length=8) == [KEPT, CUT, CUT, NO_TARGET, NO_TARGET]
    assert fate(rows, max_length=8, long_rows="drop") == [KEPT, TOO_LONG, TOO_LONG, TOO_LONG, NO_TARGET]


def test_a_pair_shares_the_worse_fate_of_its_two_sides() -> None:
    lengths, first = np.array([[5, 5], [5, 20], [5, 20]]), np.array([[2, 2], [2, 3], [2, 12]])
    assert fates(lengths, first, DataSettings(max_length=8)).tolist() == [KEPT, CUT, NO_TARGET]


def test_the_reason_tells_a_cut_answer_from_one_that_never_carried_loss() -> None:
    data = DataSettings(max_length=64)
    assert "lies behind the cut at 64" in told(NO_TARGET, 200, data)
    assert "None of its tokens" in told(NO_TARGET, 20, data)
    assert "200 tokens" in told(TOO_LONG, 200, data)


def test_the_histogram_counts_every_row_once_in_bins_that_touch() -> None:
    lengths = np.array([1, 2, 16, 17, 300, 300])
    bins = histogram(lengths)
    assert sum(rows for _, _, rows in bins) == 6
    for low, high, rows in bins:
        assert rows == ((lengths >= low) & (lengths <= high)).sum()
    assert all(before[1] + 1 == after[0] for before, after in pairwise(bins))
    assert histogram(np.zeros(0, dtype=int)) == []


def test_padding_is_counted_as_batches_would_fill_it() -> None:
    # two batches of two, whichever way they fall: sorted they hold 2+2 and 10+10
    lengths = np.array([2, 10, 2, 10])
    found = padding(lengths, batch=2, limit=12)
    assert found["grouped"] == 0
    assert found["packed"] == pytest.approx(1 - 24 / 24)
    assert padding(np.array([3, 7]), batch=2, limit=10)["random"] == pytest.approx(1 - 10 / 14)
    assert padding(np.zeros(0, dtype=int), 4, 8) == {"random": 0.0, "grouped": 0.0, "packed": 0.0}


def test_packing_lays_rows_as_best_fit_decreasing_does_row_by_row() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        lengths, limit = random.integers(1, 60, 300), 64
        room: list[int] = []
        for size in sorted(lengths.tolist(), reverse=True):
            fits = [place for place, left in enumerate(room) if left >= size]
            if fits:
                room[min(fits, key=lambda place: room[place])] -= size
            else:
                room.append(limit - size)
        wanted = 1 - lengths.sum() / (len(room) * limit)
        assert padding(lengths, 4, limit)["packed"] == pytest.approx(wanted, abs=0.01)
