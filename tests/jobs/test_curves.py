"""Curves as the page and the terminal show them."""

from __future__ import annotations

from pathlib import Path

from ftui import files
from ftui.jobs import curves


def test_smoothing_starts_at_the_first_value_and_follows_the_rest() -> None:
    line = curves.smoothed([(1, 4.0), (2, 4.0), (3, 0.0)], 0.5)
    assert [round(value, 4) for _, value in line] == [4.0, 4.0, 1.7143]


def test_thinning_keeps_a_spike_of_one_point() -> None:
    values = [(float(step), 1.0) for step in range(100_000)]
    values[54_321] = (54_321.0, 9.0)
    thin = curves.thinned(values, 400)
    assert len(thin) <= 400
    assert (54_321.0, 9.0) in thin
    assert thin == sorted(thin)


def test_a_step_that_was_trained_again_after_a_resume_counts_once(tmp_path: Path) -> None:
    for step, loss in ((1, 3.0), (2, 2.0), (3, 1.5), (2, 2.1), (3, 1.6)):
        files.append_json(tmp_path / "metrics.jsonl", {"step": step, "loss": loss})
    files.append_json(tmp_path / "metrics.jsonl", {"step": 3, "eval_loss": 1.9})
    logged = curves.points(tmp_path)
    assert curves.series(logged, "loss") == [(1, 3.0), (2, 2.1), (3, 1.6)]
    assert curves.series(logged, "eval_loss") == [(3, 1.9)]


def test_a_falling_curve_is_drawn_falling() -> None:
    assert curves.small([8, 7, 6, 5, 4, 3, 2, 1]) == "█▇▆▅▄▃▂▁"
    assert curves.small([]) == ""
    assert curves.small([2, 2]) == "▁▁"


def test_a_loss_that_is_no_number_is_left_out_of_the_line_and_breaks_nothing(tmp_path: Path) -> None:
    files.append_json(tmp_path / "metrics.jsonl", {"step": 1, "loss": float("nan")})
    files.append_json(tmp_path / "metrics.jsonl", {"step": 2, "loss": 0.0})
    assert curves.series(curves.points(tmp_path), "loss") == [(2, 0.0)]
