"""A run as it goes: progress and figures on top, curves, the log; redrawn only when its folder has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from ftui import files, words, workspace
from ftui.errors import FtuiError, JobError
from ftui.jobs import control, curves, folder
from ftui.jobs.folder import ACTIVE, Job
from ftui.jobs.summary import summary
from ftui.ui import html, plots
from ftui.ui.clock import Area
from ftui.ui.handler import told
from ftui.ui.say import label, say
from ftui.ui.say import phase as phase_words
from ftui.ui.theme import ACCENT, EVALUATION, RAW, SMOOTH

SMALL = ("learning_rate", "grad_norm", "tokens_per_s", "memory_gb")


@dataclass
class RunView:
    """The controls, and the two areas that follow the run's folder."""

    areas: list[Area]
    stop: gr.Button
    resume: gr.Button
    chat: gr.Button
    export: gr.Button
    new: gr.Button


def build(run: gr.BrowserState) -> RunView:
    """Draw the view. run: the id of the job that this visitor watches."""
    head = gr.HTML(elem_id="run-head", min_height=120)
    with gr.Row(elem_classes="actions"):
        stop = gr.Button(
            label("run.stop"), variant="stop", visible=False, scale=0, min_width=140, elem_id="run-stop"
        )
        chat = gr.Button(
            label("run.chat"), variant="primary", visible=False, scale=0, min_width=140, elem_id="run-chat"
        )
        export = gr.Button(label("run.export"), visible=False, scale=0, min_width=140, elem_id="run-export")
        resume = gr.Button(label("run.resume"), visible=False, scale=0, min_width=140, elem_id="run-resume")
        new = gr.Button(label("run.new"), scale=0, min_width=140, elem_id="run-new")
    loss = gr.LinePlot(
        x="step",
        y="value",
        color="what",
        color_map={say("plot.raw"): RAW, say("plot.smooth"): SMOOTH, say("plot.evaluation"): EVALUATION},
        colors_in_legend=[say("plot.raw"), say("plot.smooth"), say("plot.evaluation")],
        color_title=say("plot.curve"),
        x_title=say("plot.step"),
        y_title=say("plot.loss"),
        height=350,
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
    areas = [
        Area(head_stamp, drawn, [run], [head, stop, chat, export, resume, log, where]),
        Area(curve_stamp, drawn_curves, [run], [loss, *small]),
    ]
    stop.click(told(ask_stop), run, head, show_progress="hidden")
    resume.click(told(ask_resume), run, head, show_progress="hidden")
    return RunView(areas, stop, resume, chat, export, new)


def head_stamp(run: str) -> str:
    """What changes when the head or the log does."""
    if not run:
        return ""
    place = workspace.jobs() / run
    files_of_head = ("status.json", "result.json", "metrics.jsonl", "output.log", "data-report.json")
    return f"{run} {plots.stamp(place, *files_of_head)}"


def curve_stamp(run: str) -> str:
    """What changes when the curves do."""
    return f"{run} {plots.stamp(workspace.jobs() / run, 'metrics.jsonl')}" if run else ""


def drawn(run: str) -> list[Any]:
    """Updates of head, buttons, log and folder."""
    if not run:
        return [gr.skip()] * 7
    try:
        job = folder.find(run)
    except FtuiError as missing:
        return [html.error(missing), *[gr.update(visible=False)] * 4, "", ""]
    found = summary(job)
    logged = curves.points(job.folder)
    active = found["state"] in ACTIVE
    usable = bool(found["result"].get("model") or found["checkpoints"])
    return [
        head_of(job, found, logged),
        gr.update(visible=active and found["state"] != "stopping"),
        gr.update(visible=usable and not active),
        gr.update(visible=usable and not active),
        gr.update(visible=found["state"] in ("stopped", "failed", "lost")),
        job.log(20_000),
        f'<p class="muted">{html.text(job.folder)}</p>',
    ]


def drawn_curves(run: str) -> list[Any]:
    """Updates of all charts."""
    logged = curves.points(workspace.jobs() / run) if run else []
    return [plots.loss_frame(logged), *(plots.small_frame(logged, name) for name in SMALL)]


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
    trained = report.get("trained") or report.get("lengths")
    begun = found["started"]
    took = (found["ended"] - begun) if begun and found["ended"] else None
    items = [
        (say("plot.loss"), words.figure(curves.latest(logged, "loss")) if logged else ""),
        (say("run.eval_loss"), words.figure(curves.latest(logged, "eval_loss")) if logged else ""),
        (say("plot.tokens_per_s"), words.figure(curves.latest(logged, "tokens_per_s")) if logged else ""),
        (say("run.memory"), _memory(result, logged)),
        (say("run.rows"), f"{trained['kept']:,}" if trained else ""),
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
