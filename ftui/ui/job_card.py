"""A job of any kind as a card: how far it is, or how it ended. Used by the tabs that start jobs."""

from __future__ import annotations

from ftui import words, workspace
from ftui.errors import FtuiError, JobError
from ftui.jobs import control, folder
from ftui.jobs.folder import ACTIVE
from ftui.ui import html, plots
from ftui.ui.say import phase as phase_words
from ftui.ui.say import say


def stamp(job_id: str) -> str:
    """What changes when there is something new to show."""
    if not job_id:
        return ""
    return f"{job_id} {plots.stamp(workspace.jobs() / job_id, 'status.json', 'result.json')}"


def drawn(job_id: str) -> str:
    """The job's progress or its error; empty for a finished one, whose result its tab shows."""
    try:
        job = folder.find(job_id)
    except FtuiError as missing:
        return html.error(missing)
    state, status = control.reconcile(job), job.status()
    title = f'<div class="run-head"><b>{html.text(job.name)}</b>{html.chip(state)}</div>'
    if state in ACTIVE:
        progress = status.get("progress") or {}
        phase = phase_words(status["phase"]) if status.get("phase") else say("run.starting")
        what = " · ".join(part for part in (phase, words.progress(progress)) if part)
        bar = html.bar(progress.get("done") or 0, progress.get("total"))
        return html.card("", f"{title}<p class='muted'>{html.text(what)}</p>{bar}")
    if state in ("failed", "lost"):
        return html.error(
            JobError(state, say(f"run.{state}"), status.get("message", ""), status.get("fix", ""))
        )
    if state == "stopped":
        return html.card("", f"{title}<p>{html.text(status.get('message', ''))}</p>")
    return ""


def newest(kinds: tuple[str, ...]) -> str:
    """The id of the newest job of these kinds that runs; empty where none does. A reloaded page shows it."""
    running = [job.id for job in control.active() if job.kind in kinds]
    return running[-1] if running else ""
