"""A run's curves as data for the page's charts: thinned, so that a long run stays small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from ftui.jobs import curves
from ftui.ui.say import say

MAIN_POINTS, SMALL_POINTS = 400, 200


def loss_frame(logged: list[dict[str, Any]]) -> pd.DataFrame | None:
    """Loss as logged, smoothed, and on the held-out rows: columns step, value, what."""
    raw = curves.series(logged, "loss")
    lines = [
        (say("plot.raw"), curves.thinned(raw, MAIN_POINTS)),
        (say("plot.smooth"), curves.thinned(curves.smoothed(raw), MAIN_POINTS)),
        (say("plot.evaluation"), curves.series(logged, "eval_loss")),
    ]
    rows = [(step, value, name) for name, points in lines for step, value in points]
    if raw:
        # The chart keeps the names it began with: a series whose first point comes later must be there from the start.
        rows += [(raw[0][0], float("nan"), name) for name, points in lines if not points]
    return _filled(pd.DataFrame(rows, columns=["step", "value", "what"]))


def small_frame(logged: list[dict[str, Any]], name: str) -> pd.DataFrame | None:
    """One figure by step: columns step, value."""
    points = curves.thinned(curves.series(logged, name), SMALL_POINTS)
    return _filled(pd.DataFrame(points, columns=["step", "value"]))


def _filled(frame: pd.DataFrame) -> pd.DataFrame | None:
    """None for an empty frame: a chart that began with one takes later numbers for names and draws no line."""
    return None if frame.empty else frame


def stamp(folder: Path, *names: str) -> str:
    """What changes when one of a job's files does: their sizes and times."""
    found = []
    for name in names:
        try:
            state = (folder / name).stat()
            found.append(f"{state.st_size}-{state.st_mtime_ns}")
        except FileNotFoundError:
            found.append("none")
    return " ".join(found)
