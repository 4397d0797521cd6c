"""The runs as choices for drop-downs, and the first questions of a run's held-out rows."""

from __future__ import annotations

from ftui import files, words
from ftui.errors import FtuiError
from ftui.jobs import folder
from ftui.ui.say import say


def choices() -> list[tuple[str, str]]:
    """(words, id) of training runs that made something to load, newest first."""
    found = []
    for job in folder.listed("train"):
        if (job.folder / "model").is_dir() or job.checkpoints():
            state, created = job.state, job.status().get("created")
            label = f"{job.name} · {words.when(created)}"
            found.append((label if state == "finished" else f"{label} · {say(f'state.{state}')}", job.id))
    return found


def questions(run: str, limit: int = 6) -> tuple[str, ...]:
    """Questions from a run's held-out rows: what it was not trained on, one click to ask."""
    try:
        report = files.read_json(folder.find(run).folder / "data-report.json", {})
    except FtuiError:
        return ()
    return tuple(report.get("held_out", {}).get("questions", [])[:limit])
