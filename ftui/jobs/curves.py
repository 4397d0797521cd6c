"""A run's curves from `metrics.jsonl`: columns by step, smoothed, thinned and as a line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ftui import files

Series = list[tuple[float, float]]
_BARS = "▁▂▃▄▅▆▇█"


def points(folder: Path) -> list[dict[str, Any]]:
    """Every logged step once, in order. After a resume a step can stand twice: the later one counts."""
    path = folder / "metrics.jsonl"
    try:
        state = path.stat()
    except FileNotFoundError:
        return []
    return _points(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _points(path: Path, size: int, changed: int) -> list[dict[str, Any]]:
    """Read once for all who look at the same state of the file; the list is only read."""
    by_step: dict[tuple[Any, bool], dict[str, Any]] = {}
    for point in files.read_json_lines(path)[0]:
        by_step[(point.get("step"), "eval_loss" in point)] = point
    return sorted(by_step.values(), key=lambda point: (point.get("step") or 0, "eval_loss" in point))


def series(logged: list[dict[str, Any]], name: str) -> Series:
    """(step, value) of one figure, where it was logged. A NaN, stored as null, is left out here."""
    return [
        (float(point["step"]), float(point[name]))
        for point in logged
        if isinstance(point.get(name), int | float) and isinstance(point.get("step"), int | float)
    ]


def smoothed(values: Series, weight: float = 0.8) -> Series:
    """Exponential moving average, corrected for its start.

    weight: share of the past in each value, 0 to below 1. The correction divides by 1 - weight^n, as in
    Adam's moments (Kingma and Ba, 2015), so that the first values are not pulled to zero.
    """
    out, average = [], 0.0
    for number, (step, value) in enumerate(values, 1):
        average = weight * average + (1 - weight) * value
        out.append((step, average / (1 - weight**number)))
    return out


def thinned(values: Series, limit: int = 500) -> Series:
    """At most about `limit` points: of each stretch its lowest and its highest, so that a spike is still seen."""
    if len(values) <= limit:
        return values
    stretch = math.ceil(len(values) / (limit // 2))
    kept: Series = []
    for start in range(0, len(values), stretch):
        part = values[start : start + stretch]
        ends = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        kept.extend(sorted(ends))
    return kept


def small(values: Sequence[float], width: int = 16) -> str:
    """A curve as a short line of text, for tables and terminals; empty where there is nothing to show."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return ""
    count = min(width, len(finite))
    means = []
    for place in range(count):
        part = finite[place * len(finite) // count : (place + 1) * len(finite) // count]
        means.append(sum(part) / len(part))
    low, high = min(means), max(means)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((mean - low) * scale)] for mean in means)


def latest(logged: list[dict[str, Any]], name: str) -> float | None:
    """The last value of a figure."""
    values = series(logged, name)
    return values[-1][1] if values else None
