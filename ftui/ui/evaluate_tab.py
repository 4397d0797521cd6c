"""Evaluate: loss and perplexity of base and tuned model on rows that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
import pandas as pd

from ftui import words, workspace
from ftui.errors import JobError
from ftui.jobs import control, folder
from ftui.jobs.folder import Job
from ftui.ui import html, job_card, services
from ftui.ui.clock import Area
from ftui.ui.handler import told
from ftui.ui.say import label, say


@dataclass
class EvaluateTab:
    """The control that the page links to others, and the area that follows the folders."""

    run: gr.Dropdown
    area: Area


def build() -> EvaluateTab:
    """Draw the tab."""
    job = gr.State("")
    with gr.Row(elem_classes="toolbar"):
        run = gr.Dropdown([], value=None, label=label("chat.run"), scale=3, elem_id="evaluate-run")
        data = gr.Textbox(label=label("evaluate.data"), placeholder=label("evaluate.data.own"), scale=3)
        start = gr.Button(
            label("evaluate.start"), variant="primary", scale=1, min_width=130, elem_id="evaluate-start"
        )
    figures = gr.HTML(elem_id="evaluate-figures", min_height=140)
    which = gr.Radio(
        [
            (label("evaluate.all"), "all"),
            (label("evaluate.better"), "better"),
            (label("evaluate.worse"), "worse"),
        ],
        value="all",
        show_label=False,
        container=False,
        elem_id="evaluate-which",
    )
    rows = gr.Dataframe(
        headers=[
            say(f"evaluate.{name}") for name in ("row", "question", "reference", "base", "tuned", "change")
        ],
        interactive=False,
        show_label=False,
        max_height=420,
        wrap=True,
        buttons=[],
        column_widths=["6%", "34%", "34%", "8%", "9%", "9%"],
        elem_id="evaluate-rows",
    )
    start.click(told(begin), [run, data], job, show_progress="hidden")
    inputs, outputs = [job, run, which], [figures, rows]
    which.change(told(drawn), inputs, outputs, show_progress="hidden")
    return EvaluateTab(run, Area(stamp, drawn, inputs, outputs))


def begin(run: str | None, data: str) -> str:
    """Start the evaluation of a run."""
    if not run:
        raise JobError("no_run", say("chat.none.title"), say("chat.none"), say("chat.none.fix"))
    source = folder.find(run)
    values = {"run": run, "data": services.readable(data.strip()) if data and data.strip() else ""}
    return control.start("evaluate", source.name, values).id


def stamp(job_id: str, run: str | None, which: str) -> str:
    """What changes when another evaluation is shown, or the shown one goes on."""
    return f"{run} {job_card.stamp(_shown(job_id, run))}"


def drawn(job_id: str, run: str | None, which: str) -> list[Any]:
    """Updates of figures and rows: the evaluation just started, else the chosen run's newest one."""
    shown = _shown(job_id, run)
    if not shown:
        return [html.empty(say("evaluate.empty.title"), say("evaluate.empty")), _frame([], which)]
    running = job_card.drawn(shown)
    if running:
        return [running, _frame([], which)]
    result = folder.find(shown).result()
    return [figures_of(result), _frame(result.get("per_row", []), which)]


def _shown(job_id: str, run: str | None) -> str:
    """The id of the evaluation to show; empty where the run has none."""
    if not run:
        return ""
    if job_id and Job(workspace.jobs() / job_id).settings.get("run") == run:
        return job_id
    return next((job.id for job in folder.listed("evaluate") if job.settings.get("run") == run), "")


def figures_of(result: dict[str, Any]) -> str:
    """Loss and perplexity of both, the difference, and how they were measured."""
    base, tuned = result["base"], result.get("tuned")
    lines = [
        (say("evaluate.loss"), words.figure(base["loss"]), words.figure(tuned["loss"]) if tuned else "–"),
        (
            say("evaluate.perplexity"),
            words.figure(base["perplexity"]),
            words.figure(tuned["perplexity"]) if tuned else "–",
        ),
    ]
    verdict = ""
    if tuned:
        less = base["loss"] - tuned["loss"]
        key = "evaluate.learned" if less > 0 else "evaluate.not_learned"
        verdict = f"<p>{html.text(say(key, by=words.figure(abs(less))))}</p>"
    body = (
        html.table(["", say("evaluate.base"), say("evaluate.tuned")], lines)
        + verdict
        + f'<p class="muted">{html.text(result["how"])}</p>'
    )
    title = say("evaluate.title", rows=words.count(result["rows"], "row"), tokens=f"{result['tokens']:,}")
    return html.card(html.text(title), body)


def _frame(per_row: list[dict[str, Any]], which: str) -> pd.DataFrame:
    names = [say(f"evaluate.{name}") for name in ("row", "question", "reference", "base", "tuned", "change")]
    rows = []
    for item in per_row:
        base, tuned = item["base_loss"], item.get("tuned_loss")
        change = tuned - base if tuned is not None else None
        if (which == "better" and not (change or 0) < 0) or (which == "worse" and not (change or 0) > 0):
            continue
        rows.append(
            [
                item["row"],
                item["prompt"],
                item["reference"],
                words.figure(base),
                words.figure(tuned),
                f"{change:+.2f}" if change is not None else "–",
            ]
        )
    return pd.DataFrame(rows, columns=names)
