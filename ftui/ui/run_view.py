"""A run as it goes: progress and figures on top, curves, the log; redrawn only when its folder has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from ftui import files, words
from ftui.errors import FtuiError, JobError
from ftui.jobs import control, curves, folder
from ftui.jobs.folder import ACTIVE, Job
from ftui.jobs.summary import summary
from ftui.ui import html, plots
from ftui.ui.handler import told
from ftui.ui.say import label, say
from ftui.ui.say import phase as phase_words
from ftui.ui.theme import ACCENT, EVALUATION, RAW, SMOOTH

SMALL = ("learning_rate", "grad_norm", "tokens_per_s", "memory_gb")


@dataclass
class RunView:
    """The controls, and `outputs` in the order of `drawn`."""

    run: gr.BrowserState
    seen: gr.State
    outputs: list[Any]
    stop: gr.Button
    resume: gr.Button
    chat: gr.Button
    export: gr.Button
    new: gr.Button


def build(run: gr.BrowserState) -> RunView:
    """Draw the view. run: the id of the job that this visitor watches."""
    seen = gr.State(())
    head = gr.HTML(elem_id="run-head", min_height=120)
    with gr.Row(elem_classes="actions"):
        stop = gr.Button(label("run.stop"), variant="stop", visible=False, min_width=120, elem_id="run-stop")
        chat = gr.Button(
            label("run.chat"), variant="primary", visible=False, min_width=120, elem_id="run-chat"
        )
        export = gr.Button(label("run.export"), visible=False, min_width=120, elem_id="run-export")
        resume = gr.Button(label("run.resume"), visible=False, min_width=120, elem_id="run-resume")
        new = gr.Button(label("run.new"), min_width=120, elem_id="run-new")
    loss = gr.LinePlot(
        x="step",
        y="value",
        color="what",
        color_map={say("plot.raw"): RAW, say("plot.smooth"): SMOOTH, say("plot.evaluation"): EVALUATION},
        colors_in_legend=[say("plot.raw"), say("plot.smooth"), say("plot.evaluation")],
        x_title=say("plot.step"),
        y_title=say("plot.loss"),
        height=300,
        label=label("plot.loss"),
        buttons=["fullscreen", "export"],
        elem_id="run-loss",
    )
    with gr.Row():
        small = [
            gr.LinePlot(
                x="step",
                y="value",
                color_map={"value": ACCENT},
                x_title=say("plot.step"),
                y_title=" ",
                height=170,
                label=label(f"plot.{name}"),
                min_width=220,
                buttons=[],
                elem_id=f"run-{name}",
            )
            for name in SMALL
        ]
    with gr.Accordion(label("run.log"), open=False, elem_id="run-log"):
        log = gr.Textbox(
            show_label=False, lines=14, max_lines=14, interactive=False, elem_classes="log", container=False
        )
        where = gr.HTML()
    outputs = [seen, head, stop, chat, export, resume, loss, *small, log, where]
    stop.click(told(ask_stop), run, head, show_progress="hidden")
    resume.click(told(ask_resume), run, head, show_progress="hidden")
    return RunView(run, seen, outputs, stop, resume, chat, export, new)


def drawn(run: str, seen: Any) -> list[Any]:
    """Updates of all outputs; nothing is sent where the folder has not changed since."""
    nothing = [gr.skip()] * (7 + len(SMALL) + 2)
    if not run:
        return nothing
    try:
        job = folder.find(run)
    except FtuiError as missing:
        if seen == ("gone",):
            return nothing
        hidden = [gr.update(visible=False)] * 4
        return [("gone",), html.error(missing), *hidden, *[gr.skip()] * (1 + len(SMALL) + 2)]
    stamp = (run, *plots.stamp(job.folder))
    # After a round trip through the browser's session a tuple can have become a list.
    before = tuple(seen or ())
    control.reconcile(job)
    if before == stamp:
        return nothing
    found = summary(job)
    logged = curves.points(job.folder)
    active = found["state"] in ACTIVE
    usable = bool(found["result"].get("model") or found["checkpoints"])
    metrics_changed = before[:3] != stamp[:3]
    charts: list[Any] = [gr.skip()] * (1 + len(SMALL))
    if metrics_changed:
        charts = [plots.loss_frame(logged), *(plots.small_frame(logged, name) for name in SMALL)]
    return [
        stamp,
        head_of(job, found, logged),
        gr.update(visible=active and found["state"] != "stopping"),
        gr.update(visible=usable and not active),
        gr.update(visible=usable and not active),
        gr.update(visible=found["state"] in ("stopped", "failed", "lost")),
        *charts,
        job.log(20_000),
        f'<p class="muted">{html.text(job.folder)}</p>',
    ]


def head_of(job: Job, found: dict[str, Any], logged: list[dict[str, Any]]) -> str:
    """Name, state, bar, what it waits for, and the figures of now."""
    state, progress = found["state"], found["progress"] or {}
    phase = phase_words(found["phase"]) if found["phase"] and state in ACTIVE else ""
    what = " · ".join(part for part in (phase, words.progress(progress) if state in ACTIVE else "") if part)
    title = (
        f'<div class="run-head"><h3>{html.text(found["name"])}</h3>{html.chip(state)}'
        f'<span class="muted">{html.text(what)}</span></div>'
    )
    bar = ""
    if state == "queued":
        ahead = [other for other in control.active() if other.id != job.id]
        message = say("run.queued", name=ahead[0].name) if ahead else say("run.starting")
        bar = html.waiting(message)
    elif state in ACTIVE:
        bar = html.bar(progress.get("done") or 0, progress.get("total"))
    result = found["result"]
    report = files.read_json(job.folder / "data-report.json", {})
    begun = found["started"]
    took = (found["ended"] - begun) if begun and found["ended"] else None
    items = [
        (say("plot.loss"), words.figure(curves.latest(logged, "loss")) if logged else ""),
        (say("run.eval_loss"), words.figure(curves.latest(logged, "eval_loss")) if logged else ""),
        (say("plot.tokens_per_s"), words.figure(curves.latest(logged, "tokens_per_s")) if logged else ""),
        (say("run.memory"), _memory(result, logged)),
        (say("run.rows"), f"{report['lengths']['kept']:,}" if "lengths" in report else ""),
        (say("run.time"), words.duration(took)),
        (say("run.trained"), _share(result)),
    ]
    told_end = ""
    if state in ("failed", "lost"):
        told_end = html.error(JobError(state, say(f"run.{state}"), found["message"], found["fix"]))
    elif state in ("finished", "stopped") and found["message"]:
        told_end = f"<p>{html.text(found['message'][:1].upper() + found['message'][1:])}.</p>"
    return title + bar + html.figures(items) + told_end


def ask_stop(run: str) -> Any:
    """Ask the watched run to stop, keeping its state."""
    control.stop(folder.find(run))
    gr.Info(say("run.stopping"))
    return gr.skip()


def ask_resume(run: str) -> Any:
    """Go on with the watched run."""
    control.resume(folder.find(run))
    return gr.skip()


def _memory(result: dict[str, Any], logged: list[dict[str, Any]]) -> str:
    peak = result.get("peak_memory_gb") or curves.latest(logged, "memory_gb")
    guess = result.get("estimated_memory_gb")
    if peak is None:
        return ""
    return f"{words.gigabytes(peak)}" + (f" / {words.gigabytes(guess)}" if guess else "")


def _share(result: dict[str, Any]) -> str:
    if not result.get("parameters"):
        return ""
    return f"{100 * result['trainable_parameters'] / result['parameters']:.2g} %"
