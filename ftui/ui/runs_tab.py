"""Runs: every job there is, and what can be done with one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr
import pandas as pd

from ftui import files, words
from ftui import settings as schema
from ftui.errors import FtuiError
from ftui.jobs import control, folder
from ftui.jobs.folder import ACTIVE
from ftui.jobs.summary import summary
from ftui.models.find import label as model_label
from ftui.ui import html
from ftui.ui.clock import Area
from ftui.ui.handler import told
from ftui.ui.say import label, say

HEADS = ("name", "state", "kind", "model", "method", "curve", "loss", "best", "time", "when")


@dataclass
class RunsTab:
    """The controls that the page links to others, and the area that follows the folders."""

    chosen: gr.State
    open: gr.Button
    chat: gr.Button
    area: Area


def build() -> RunsTab:
    """Draw the tab."""
    chosen, ids = gr.State(""), gr.State([])
    kind = gr.Radio(
        [(label("runs.train"), "train"), (label("runs.all"), "all")],
        value="train",
        show_label=False,
        container=False,
        elem_id="runs-kind",
    )
    table = gr.Dataframe(
        headers=[say(f"runs.{name}") for name in HEADS],
        interactive=False,
        show_label=False,
        max_height=420,
        show_search="filter",
        buttons=[],
        elem_id="runs-table",
    )
    detail = gr.HTML(elem_id="runs-detail", min_height=80)
    with gr.Row(elem_classes="actions"):
        opened = gr.Button(
            label("runs.open"), variant="primary", visible=False, scale=0, min_width=140, elem_id="runs-open"
        )
        chat = gr.Button(label("run.chat"), visible=False, scale=0, min_width=140, elem_id="runs-chat")
        stop = gr.Button(label("run.stop"), variant="stop", visible=False, scale=0, min_width=140)
        resume = gr.Button(label("run.resume"), visible=False, scale=0, min_width=140)
        remove = gr.Button(label("runs.remove"), visible=False, scale=0, min_width=140, elem_id="runs-remove")
    with gr.Row(visible=False, elem_classes="actions") as sure:
        question = gr.HTML()
        yes = gr.Button(
            label("runs.remove.yes"), variant="stop", scale=0, min_width=160, elem_id="runs-remove-yes"
        )
        no = gr.Button(label("cancel"), scale=0, min_width=110)
    buttons = [opened, chat, stop, resume, remove]
    outputs = [table, ids, detail, *buttons]

    def pick(listed: list[str], event: gr.SelectData) -> tuple[Any, ...]:
        place = event.index[0] if isinstance(event.index, list | tuple) else event.index
        run = listed[place] if place < len(listed) else ""
        return run, *_detail(run)

    table.select(told(pick), ids, [chosen, detail, *buttons], show_progress="hidden")
    kind.change(told(drawn), [kind, chosen], outputs, show_progress="hidden")
    stop.click(told(lambda run: control.stop(folder.find(run))), chosen, None)
    resume.click(told(lambda run: control.resume(folder.find(run)) and None), chosen, None)
    remove.click(told(_question), chosen, [question, sure], show_progress="hidden")
    no.click(lambda: gr.update(visible=False), None, sure, show_progress="hidden")
    yes.click(told(_remove), chosen, [chosen, sure, *outputs], show_progress="hidden")
    return RunsTab(chosen, opened, chat, Area(stamp, drawn, [kind, chosen], outputs))


def stamp(kind: str, chosen: str) -> str:
    """What changes when a job of the list does."""
    return kind + repr([(job.id, job.state, _size(job)) for job in _jobs(kind)])


def drawn(kind: str, chosen: str) -> list[Any]:
    """Updates of table, ids, detail and buttons."""
    found = [_summary(job) for job in _jobs(kind)]
    table = pd.DataFrame([_line(item) for item in found], columns=[say(f"runs.{name}") for name in HEADS])
    if not found:
        message = html.empty(say("runs.empty.title"), say("runs.empty"))
        return [table, [], message, *[gr.update(visible=False)] * 5]
    return [table, [item["id"] for item in found], *_detail(chosen)]


def _summary(job: folder.Job) -> dict[str, Any]:
    """A job's summary; that of an ended one is read once, since a long list is looked at each second."""
    if job.state in ACTIVE:
        return summary(job, curve=True)
    return _ended(job, (job.folder / "status.json").stat().st_mtime_ns)


@lru_cache(maxsize=4096)
def _ended(job: folder.Job, changed: int) -> dict[str, Any]:
    return summary(job, curve=True)


def _jobs(kind: str) -> list[folder.Job]:
    return [job for job in folder.listed() if kind == "all" or job.kind == "train"]


def _size(job: folder.Job) -> int:
    try:
        return (job.folder / "metrics.jsonl").stat().st_size
    except FileNotFoundError:
        return 0


def _line(item: dict[str, Any]) -> list[Any]:
    started, ended = item["started"], item["ended"]
    took = (ended or time.time()) - started if started and (ended or item["state"] in ACTIVE) else None
    progress = words.progress(item["progress"]) if item["state"] in ACTIVE else ""
    return [
        item["name"],
        f"{say('state.' + item['state'])} {progress}".strip(),
        say(f"kind.{item['kind']}"),
        model_label(item["model"]) if item["kind"] == "train" and item["model"] else "",
        say(f"method.{item['method']}") if item["method"] else "",
        item.get("curve", ""),
        words.figure(item["loss"]) if item.get("loss") is not None else "",
        words.figure(item["best_eval_loss"]) if item.get("best_eval_loss") is not None else "",
        words.duration(took),
        words.when(item["created"]),
    ]


def _detail(run: str) -> tuple[Any, ...]:
    hidden = gr.update(visible=False)
    if not run:
        return html.empty(say("runs.pick.title"), say("runs.pick")), *[hidden] * 5
    try:
        job = folder.find(run)
    except FtuiError:
        return html.empty(say("runs.pick.title"), say("runs.pick")), *[hidden] * 5
    item = summary(job)
    active, training = item["state"] in ACTIVE, item["kind"] == "train"
    usable = training and bool(item["checkpoints"] or item["result"].get("model"))
    shown = _settings(job) if training else _result(item["result"])
    message = (
        f"<p>{html.text(item['message'])} <b>{html.text(item['fix'])}</b></p>" if item["message"] else ""
    )
    body = (
        f'<div class="run-head"><h3>{html.text(item["name"])}</h3>{html.chip(item["state"])}</div>{message}'
        f'{shown}<p class="muted">{html.text(item["folder"])} · {words.size(files.folder_size(job.folder))}</p>'
    )
    return (
        html.card("", body),
        gr.update(visible=training),
        gr.update(visible=usable and not active),
        gr.update(visible=active),
        gr.update(visible=item["state"] in ("stopped", "failed", "lost")),
        gr.update(visible=not active),
    )


def _settings(job: folder.Job) -> str:
    """The settings that differ from the defaults, as people want to see first."""
    try:
        values = schema.flatten(schema.parse(job.settings))
    except FtuiError as fault:
        return html.error(fault)
    usual, fields = schema.flatten(schema.Settings()), schema.fields()
    shown = [
        (fields[name].title, ", ".join(value) if isinstance(value, list) else value)
        for name, value in values.items()
        if name in ("model.id", "data.train", "method.kind") or (value != usual[name] and name != "name")
    ]
    return html.table([say("runs.setting"), say("runs.value")], shown)


def _result(result: dict[str, Any]) -> str:
    plain = [
        (name, value)
        for name, value in result.items()
        if isinstance(value, str | int | float) and name != "outcome"
    ]
    return html.table([say("runs.setting"), say("runs.value")], plain)


def _question(run: str) -> tuple[Any, ...]:
    job = folder.find(run)
    size = words.size(files.folder_size(job.folder))
    message = say("runs.remove.sure", name=job.name, size=size, checkpoints=len(job.checkpoints()))
    return f"<p>{html.text(message)}</p>", gr.update(visible=True)


def _remove(run: str) -> list[Any]:
    job = folder.find(run)
    freed = control.remove(job)
    gr.Info(say("runs.removed", name=job.name, size=words.size(freed)))
    return ["", gr.update(visible=False), *drawn("train" if job.kind == "train" else "all", "")]
