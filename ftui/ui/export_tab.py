"""Export: a model that other programs take, and registration in MLflow, each with its proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from ftui import words, workspace
from ftui.errors import FtuiError, JobError
from ftui.export.store import check_request
from ftui.files import file_name
from ftui.jobs import control, folder
from ftui.ui import html, job_card
from ftui.ui.clock import Area
from ftui.ui.handler import told
from ftui.ui.say import label, say

KINDS = ("export", "register")


@dataclass
class ExportTab:
    """The control that the page links to others, and the area that follows the folders."""

    run: gr.Dropdown
    area: Area


def build() -> ExportTab:
    """Draw the tab."""
    job = gr.State("")
    run = gr.Dropdown([], value=None, label=label("chat.run"), elem_id="export-run")
    with gr.Row():
        with gr.Column(min_width=300, elem_classes="option"):
            gr.HTML(_about("export.merged"))
            merge = gr.Button(label("export.merged.start"), variant="primary", elem_id="export-merged")
        with gr.Column(min_width=300, elem_classes="option"):
            gr.HTML(_about("export.register"))
            with gr.Row():
                name = gr.Textbox(
                    label=label("export.name"), info=label("export.name.help"), elem_id="export-name"
                )
                alias = gr.Textbox("champion", label=label("export.alias"), info=label("export.alias.help"))
            registry = gr.Textbox(
                label=label("export.registry"),
                placeholder=label("export.registry.own"),
                info=label("export.registry.help"),
            )
            register = gr.Button(label("export.register.start"), elem_id="export-register")
    progress = gr.HTML(elem_id="export-progress", min_height=24)
    done = gr.HTML(elem_id="export-done", min_height=80)
    merge.click(told(begin_merge), run, job, show_progress="hidden")
    register.click(told(begin_register), [run, name, alias, registry], job, show_progress="hidden")
    run.change(told(proposed), run, name, show_progress="hidden")
    return ExportTab(run, Area(stamp, drawn, [job, run], [progress, done]))


def begin_merge(run: str | None) -> str:
    """Start the export of a run as a model folder."""
    job = _run(run)
    return control.start("export", job.name, {"run": job.id, "to": "merged"}).id


def begin_register(run: str | None, name: str, alias: str, registry: str) -> str:
    """Start the registration of a run."""
    job = _run(run)
    if not (name or "").strip():
        raise JobError(
            "no_name", say("export.no_name.title"), say("export.no_name"), say("export.no_name.fix")
        )
    values = {
        "run": job.id,
        "name": name.strip(),
        "alias": (alias or "").strip() or "champion",
        "registry": (registry or "").strip(),
    }
    check_request(values["name"], values["alias"], values["registry"])
    if values["registry"].startswith(("sqlite:", "file:", "/", ".")):
        workspace.check_writable(values["registry"].removeprefix("sqlite:///").removeprefix("file://"))
    return control.start("register", values["name"], values).id


def proposed(run: str | None) -> str:
    """A name for the registry, made of the run's."""
    try:
        return file_name(folder.find(run).name) if run else ""
    except FtuiError:
        return ""


def stamp(job_id: str, run: str | None) -> str:
    """What changes when a job goes on, or something was made of the chosen run."""
    shown = job_id or job_card.newest(KINDS)
    return f"{run} {job_card.stamp(shown)} {[(job.id, job.state) for job in _of(run)]}"


def drawn(job_id: str, run: str | None) -> list[Any]:
    """Updates of progress and of what was made of the chosen run, newest first."""
    shown = job_id or job_card.newest(KINDS)
    progress = job_card.drawn(shown) if shown else ""
    cards = [_made(job) for job in _of(run) if job.state == "finished"]
    empty = html.empty(say("export.empty.title"), say("export.empty")) if not progress else ""
    return [progress, "".join(cards) or empty]


def _of(run: str | None) -> list[folder.Job]:
    return (
        [job for job in folder.listed() if job.kind in KINDS and job.settings.get("run") == run]
        if run
        else []
    )


def _made(job: folder.Job) -> str:
    result, when = job.result(), words.when(job.status().get("ended"))
    if job.kind == "export":
        proof = result["proof"]
        path = Path(job.folder) / str(result["model"])
        body = (
            f"<p>{html.text(words.gigabytes(result['size_gb']))} · {html.text(result['dtype'])} · "
            f"<code>{html.text(path)}</code></p>"
            + html.figures(
                [
                    (say("export.equal"), f"{proof['equal_answers']} / {proof['prompts']}"),
                    (say("export.difference"), words.figure(proof["largest_logit_difference"], 2)),
                ]
            )
            + f'<p class="muted">{html.text(say("export.use"))} '
            f"<code>AutoModelForCausalLM.from_pretrained('{html.text(path)}')</code></p>"
        )
        return html.card(html.text(say("export.made.merged", name=job.name, when=when)), body)
    serve = f"mlflow models serve -m {result['uri']} --no-conda"
    body = (
        html.table(
            [say("export.name"), say("export.version"), say("export.alias"), say("export.registry")],
            [(result["name"], result["version"], result["alias"], result["registry"])],
        )
        + f"<p><b>{html.text(say('export.asked'))}</b> {html.text(result['question'])}<br>"
        f"<b>{html.text(say('export.answered'))}</b> {html.text(result['answer'])}</p>"
        f"<p class='muted'><code>mlflow.pyfunc.load_model('{html.text(result['uri'])}')</code> · "
        f"<code>MLFLOW_TRACKING_URI={html.text(result['registry'])} {html.text(serve)}</code></p>"
    )
    return html.card(html.text(say("export.made.register", name=result["name"], when=when)), body)


def _run(run: str | None) -> folder.Job:
    if not run:
        raise JobError("no_run", say("chat.none.title"), say("chat.none"), say("chat.none.fix"))
    return folder.find(run)


def _about(key: str) -> str:
    return f"<h4>{html.text(say(key))}</h4><p class='muted'>{html.text(say(f'{key}.about'))}</p>"
