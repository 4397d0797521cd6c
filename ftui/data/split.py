"""Holds rows out of training, the same ones on every machine and in every Python."""

from __future__ import annotations

import hashlib
import math

from ftui.data.row import Row


def hold_out(rows: list[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """(train, held out), both in file order.

    Held out is the share of the rows whose hash of seed and row number is smallest: at least one, and never all.
    A row's number decides, so that mending one row moves few others.
    """
    if share <= 0 or len(rows) < 2:
        return list(rows), []
    count = min(max(1, math.floor(len(rows) * share + 0.5)), len(rows) - 1)
    order = sorted(range(len(rows)), key=lambda place: (_rank(seed, rows[place].number), place))
    chosen = set(order[:count])
    return (
        [row for place, row in enumerate(rows) if place not in chosen],
        [row for place, row in enumerate(rows) if place in chosen],
    )


def _rank(seed: int, number: int) -> bytes:
    return hashlib.blake2b(f"{seed}:{number}".encode(), digest_size=16).digest()
