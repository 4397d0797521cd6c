"""The runs as choices for drop-downs, and the first questions of a run's held-out rows."""

from __future__ import annotations

from functools import lru_cache

from ftui import settings as schema
from ftui import words
from ftui.errors import FtuiError
from ftui.jobs import folder
from ftui.templates.rows import choose
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


@lru_cache(maxsize=64)
def questions(run: str, limit: int = 6) -> tuple[str, ...]:
    """Questions from a run's held-out rows: what it was not trained on, one click to ask."""
    try:
        chosen = choose(schema.parse(folder.find(run).settings).data)
    except FtuiError:
        return ()
    asked = []
    for row in chosen.validation:
        turns = row.value.get("messages", [])
        first = next((turn.get("content") for turn in turns if turn["role"] == "user"), None)
        if first and len(str(first)) < 300:
            asked.append(str(first))
    step = max(1, len(asked) // limit)
    return tuple(asked[::step][:limit])
