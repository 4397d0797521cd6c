"""Head and strip: the machine in words, and what runs, how far and how long still, the same on every tab."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ftui import hardware, words
from ftui.errors import FtuiError
from ftui.jobs import control, curves
from ftui.ui import html
from ftui.ui.say import phase as phase_words
from ftui.ui.say import say


def head() -> str:
    """Name, machine, light or dark."""
    machine = hardware.detect().words()
    return (
        f'<div class="head"><h1>ftui</h1><span class="machine">{html.text(machine)}</span><span class="grow"></span>'
        f'<button class="mode" type="button">{html.text(say("head.mode"))}</button></div>'
    )


def stamp() -> str:
    """What changes when the strip does."""
    return repr([(job.id, job.status()) for job in control.active()])


def drawn() -> list[Any]:
    """Updates of (row, text): the job that runs now, and how many wait."""
    running = control.active()
    if not running:
        return [gr.update(visible=False), ""]
    job, waiting = running[0], len(running) - 1
    status = job.status()
    progress = status.get("progress") or {}
    phase = phase_words(status["phase"]) if status.get("phase") else say("run.starting")
    if status.get("state") == "stopping":
        phase = say("state.stopping")
    parts = [phase, words.progress(progress)]
    if status.get("phase") == "train":
        loss = curves.latest(curves.points(job.folder), "loss")
        parts.append(f"{say('plot.loss')} {words.figure(loss)}" if loss is not None else "")
    if waiting:
        parts.append(say("strip.waiting", n=waiting))
    text = " · ".join(part for part in parts if part)
    bar = html.bar(progress.get("done") or 0, progress.get("total"))
    shown = f'<div class="strip"><b>{html.text(job.name)}</b>{bar}<span>{html.text(text)}</span></div>'
    return [gr.update(visible=True), shown]


def stop() -> None:
    """Stop the job that the strip shows, keeping its state."""
    running = control.active()
    if running:
        try:
            control.stop(running[0])
        except FtuiError as ended:
            gr.Info(ended.message)
            return
        gr.Info(say("run.stopping" if running[0].kind == "train" else "run.ending"))
