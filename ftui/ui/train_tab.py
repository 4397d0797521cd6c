"""Train: a preset, a handful of settings, what the checks find, one button; then the run in the same place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from ftui import checks, presets, words, workspace
from ftui import settings as schema
from ftui.checks import Context
from ftui.checks.context import gather, located, require
from ftui.data.fetching import needs_fetch
from ftui.errors import AccessError, FtuiError
from ftui.files import file_name
from ftui.jobs import control, folder
from ftui.models.find import STARTER, find
from ftui.models.find import label as model_label
from ftui.ui import html, run_view, services
from ftui.ui.clock import Area
from ftui.ui.form import Form
from ftui.ui.handler import told
from ftui.ui.say import label, say
from ftui.ui.sets import held_out, sets

CHOICES = ["model.id", "data.train", "method.kind"]
HANDFUL = [
    "training.epochs",
    "training.learning_rate",
    "training.batch_size",
    "training.gradient_accumulation",
    "data.max_length",
]
HUB_MODELS = ["Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B", "Qwen/Qwen3-4B", "HuggingFaceTB/SmolLM2-360M-Instruct"]


@dataclass
class TrainTab:
    """The controls that the page links to others."""

    form: Form
    setup: gr.Column
    watched: gr.Column
    view: run_view.RunView
    area: Area


def build(run: gr.BrowserState) -> TrainTab:
    """Draw the tab. run: the id of the job that this visitor watches."""
    form = Form()
    with gr.Column(visible=True) as setup:
        with gr.Row():
            preset = gr.Dropdown(
                [(item.title, item.name) for item in presets.presets()],
                value="quickstart",
                label=label("train.preset"),
                info=label("train.preset.help"),
                elem_id="train-preset",
                scale=2,
            )
            with gr.Column(scale=1, min_width=200):
                form.draw(["name"])
        with gr.Row():
            form.draw(CHOICES, _special())
        with gr.Row():
            form.draw(HANDFUL)
        with gr.Accordion(label("train.all"), open=False, elem_id="train-all"):
            for section in schema.SECTIONS:
                names = [
                    name
                    for name in schema.fields()
                    if name.startswith(f"{section}.") and name not in form.controls
                ]
                with gr.Accordion(label(f"section.{section}"), open=False), gr.Row():
                    form.draw(names)
        with gr.Row():
            with gr.Column(scale=3, min_width=360):
                found = gr.HTML(elem_id="train-findings", min_height=140)
            with gr.Column(scale=2, min_width=300):
                memory = gr.HTML(elem_id="train-memory", min_height=140)
        with gr.Row():
            with gr.Column(scale=3, min_width=280), gr.Accordion(label("train.command"), open=False):
                command = gr.Code(language="shell", interactive=False, show_label=False, lines=1)
                written = gr.Code(
                    language="yaml",
                    interactive=False,
                    show_label=False,
                    max_lines=24,
                    buttons=["copy", "download"],
                )
                load = gr.UploadButton(label("train.load"), file_types=[".yaml", ".yml"], min_width=120)
            start = gr.Button(
                label("train.start"), variant="primary", scale=1, min_width=180, elem_id="train-start"
            )
    with gr.Column(visible=False) as watched:
        view = run_view.build(run)
    form.link()
    # Another data set has other held-out rows: those of a sample must not stay behind.
    form.controls["data.train"].input(
        told(held_out),
        form.controls["data.train"],
        form.controls["data.validation"],
        show_progress="hidden",
    )
    refresh = [found, memory, start, command, written]
    gr.on(
        [control.change for control in form.inputs],
        told(partial(look, form)),
        form.inputs,
        refresh,
        show_progress="hidden",
        trigger_mode="always_last",
        concurrency_limit=None,
    )
    preset.input(told(lambda name: form.show(presets.preset(name).settings())), preset, form.inputs)
    load.upload(told(lambda path: form.show(schema.load(Path(path)))), load, form.inputs)
    start.click(
        told(partial(begin, form)),
        form.inputs,
        [run, setup, watched],
        concurrency_limit=None,
        show_progress="minimal",
    )
    view.new.click(
        lambda: (gr.update(visible=True), gr.update(visible=False)),
        None,
        [setup, watched],
        show_progress="hidden",
    )
    area = Area(partial(brought, form), partial(look, form), form.inputs, refresh)
    return TrainTab(form, setup, watched, view, area)


def _special() -> dict[str, Any]:
    def model(**options: Any) -> gr.Dropdown:
        return gr.Dropdown(models(), allow_custom_value=True, **options)

    def data(**options: Any) -> gr.Dropdown:
        return gr.Dropdown(sets(), allow_custom_value=True, **options)

    def method(**options: Any) -> gr.Radio:
        names = schema.choices(schema.fields()["method.kind"])
        return gr.Radio([(label(f"method.{name}"), name) for name in names], **options)

    return {"model.id": model, "data.train": data, "method.kind": method}


def models() -> list[tuple[str, str]]:
    """What can be chosen without typing: the starter model, those on this machine, some of the hub."""
    own = [
        (path.name, str(path))
        for path in sorted(workspace.models().glob("*"))
        if (path / "config.json").is_file() and path != find(STARTER)
    ]
    hub = [(name if find(name) else say("train.to_fetch", name=name), name) for name in HUB_MODELS]
    return [(model_label(STARTER), STARTER), *own, *hub]


def brought(form: Form, *values: Any) -> str:
    """What changes when a job has brought the model or the data set: then more can be checked."""
    chosen = dict(zip(form.controls, values, strict=True))
    return f"{find(chosen['model.id'] or STARTER)} {needs_fetch(chosen['data.train'] or '')}"


def look(form: Form, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The findings and the memory: first what is known at once, then what needs the tokens counted."""
    try:
        chosen = form.read(values)
        allowed(chosen)
        placed = located(chosen)
        rows = services.last(services.chosen(placed))
        context = gather(placed, None, rows)
    except FtuiError as fault:
        yield html.error(fault), gr.skip(), gr.update(interactive=False), gr.skip(), gr.skip()
        return
    files = (f"python -m ftui train {file_name(chosen.name)}.yaml", schema.dump(chosen))
    yield findings_card(context, True), memory_card(context), _startable(context), *files
    try:
        counted = services.last(services.account(placed)) if rows else None
    except FtuiError as fault:
        if fault.code == "not_here":  # Start fetches the model first
            yield findings_card(context, False), gr.skip(), gr.skip(), gr.skip(), gr.skip()
            return
        shown = findings_card(context, False) + html.error(fault)
        yield shown, gr.skip(), gr.update(interactive=False), gr.skip(), gr.skip()
        return
    context = gather(placed, counted, rows)
    yield findings_card(context, False), memory_card(context), _startable(context), gr.skip(), gr.skip()


def begin(form: Form, *values: Any) -> tuple[Any, ...]:
    """Start the run and put it in the form's place."""
    chosen = located(form.read(values))
    allowed(chosen)
    require(checks.preflight(gather(chosen)))
    job = control.start("train", chosen.name, chosen.model_dump())
    return job.id, gr.update(visible=False), gr.update(visible=True)


def allowed(chosen: schema.Settings) -> None:
    """Raise AccessError where the settings name a path that the page may not touch."""
    for name in (chosen.data.train, chosen.data.validation, *chosen.data.mix):
        if name:
            services.readable(name)
    model = Path(chosen.model.id).expanduser()
    if model.exists():
        workspace.check_readable(model)
    if chosen.model.trust_remote_code and os.environ.get("FTUI_PUBLIC"):
        raise AccessError(
            "public",
            "Not on an open page",
            "Here everyone can start runs, so the code that a model brings is not run.",
            "Set FTUI_AUTH=user:password where the page is served, or use a model without code of its own.",
        )


def findings_card(context: Context, counting: bool) -> str:
    """The checks, and what the run will take."""
    found = checks.preflight(context)
    steps, account = context.steps(), context.account
    items = [(say("train.steps"), f"{steps:,}" if steps else "")]
    if account and steps:
        training = context.settings.training
        seen = account["tokens"] / max(1, account["kept"]) * steps
        seen *= training.batch_size * training.gradient_accumulation
        items.append((say("train.tokens"), f"{seen:,.0f}"))
    items += [
        (say("train.rows"), f"{context.rows:,}" if context.rows else ""),
        (say("data.held_out"), f"{context.held_out:,}" if context.held_out is not None else ""),
    ]
    body = html.findings(found) + html.figures(items)
    body += html.waiting(say("data.tokenising")) if counting else ""
    return html.card(html.text(say("train.before")), body)


def memory_card(context: Context) -> str:
    """The estimate by component for the chosen method, and the total of each."""
    title = html.text(say("train.memory"))
    chosen = context.estimate()
    if chosen is None:
        return html.card(title, f"<p class='muted'>{html.text(say('train.memory.unknown'))}</p>")
    has = context.hardware.budget_gb()
    names = [name for name, amount in chosen.parts.items() if amount > 0]
    bar = html.parts(
        (f"p{place}", chosen.parts[name], f"{say(f'memory.{name}')}: {chosen.parts[name]:.2f} GB")
        for place, name in enumerate(names)
    )
    legend = "".join(
        f'<span class="p{place}"><i></i>{html.text(say(f"memory.{name}"))} {chosen.parts[name]:.2f}</span>'
        for place, name in enumerate(names)
    )
    totals = " · ".join(
        f"{say(f'method.{kind}')}: {words.gigabytes(other.total_gb)}"
        for kind in schema.choices(schema.fields()["method.kind"])
        if (other := context.estimate(kind))
    )
    head = say("train.memory.of", needed=words.gigabytes(chosen.total_gb), has=words.gigabytes(has))
    return html.card(
        f"{title} · {html.text(head)}",
        f'{bar}<div class="legend">{legend}</div><p class="muted">{html.text(totals)}</p>',
    )


def latest(run: str) -> tuple[str, bool]:
    """(id, whether it is active) of what a newly opened page shows: the run it watched, else one that runs."""
    running = [job.id for job in control.active() if job.kind == "train"]
    if run and any(job.id == run for job in folder.listed("train")):
        return run, run in running
    return (running[0], True) if running else ("", False)


def _startable(context: Context) -> Any:
    return gr.update(interactive=not checks.blocking(checks.preflight(context)))
