"""Evaluate: loss and perplexity of base and tuned model on rows that were not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
import pandas as pd

from ftui import words
from ftui.errors import JobError
from ftui.jobs import control, folder
from ftui.jobs.folder import Job
from ftui.ui import html, job_card, services
from ftui.ui.handler import told
from ftui.ui.say import label, say

KINDS = ("evaluate",)


@dataclass
class EvaluateTab:
    """The controls that the page links to others; `outputs` in the order of `drawn`."""

    run: gr.Dropdown
    inputs: list[Any]
    outputs: list[Any]


def build() -> EvaluateTab:
    """Draw the tab."""
    job, seen = gr.State(""), gr.State(())
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
        column_widths=["64px", "32%", "32%", "90px", "90px", "100px"],
        elem_id="evaluate-rows",
    )
    start.click(told(begin), [run, data], [job, seen], show_progress="hidden")
    which.change(
        told(lambda *given: drawn(*given)),
        [job, gr.State(()), run, which],
        [seen, job, figures, rows],
        show_progress="hidden",
    )
    return EvaluateTab(run, [job, seen, run, which], [seen, job, figures, rows])


def begin(run: str | None, data: str) -> tuple[str, tuple[()]]:
    """Start the evaluation of a run."""
    if not run:
        raise JobError("no_run", say("chat.none.title"), say("chat.none"), say("chat.none.fix"))
    source = folder.find(run)
    values = {"run": run, "data": services.readable(data.strip()) if data and data.strip() else ""}
    return control.start("evaluate", source.name, values).id, ()


def drawn(job_id: str, seen: Any, run: str | None, which: str) -> list[Any]:
    """The evaluation that runs, else the chosen run's newest one; nothing where nothing has changed."""
    shown = job_id if job_id and folder_is(job_id, run) else _of(run)
    stamp = (shown, run, which, *job_card.stamp(shown))
    if tuple(seen or ()) == stamp:
        return [gr.skip()] * 4
    if not shown:
        return [stamp, "", html.empty(say("evaluate.empty.title"), say("evaluate.empty")), _frame([], which)]
    running = job_card.drawn(shown)
    if running:
        return [stamp, shown, running, _frame([], which)]
    result = folder.find(shown).result()
    return [stamp, shown, figures_of(result), _frame(result.get("per_row", []), which)]


def folder_is(job_id: str, run: str | None) -> bool:
    """Whether an evaluation measured this run."""
    job = Job(folder.workspace.jobs() / job_id)
    return job.folder.is_dir() and job.settings.get("run") == run


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


def _of(run: str | None) -> str:
    found = (job.id for job in folder.listed("evaluate") if job.settings.get("run") == run)
    return next(found, "") if run else ""


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
