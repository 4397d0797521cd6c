"""The page: head, strip and tabs in the order of the work, and what links them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from ftui import presets
from ftui import settings as schema
from ftui.jobs import control
from ftui.models.find import STARTER
from ftui.models.find import label as model_label
from ftui.ui import (
    chat_tab,
    clock,
    data_tab,
    evaluate_tab,
    export_tab,
    runs,
    runs_tab,
    strip,
    train_tab,
)
from ftui.ui.clock import Area
from ftui.ui.form import shown
from ftui.ui.handler import told
from ftui.ui.say import label, say
from ftui.ui.sets import sets


@dataclass
class Places:
    """The parts of the page that are linked with each other. run: the id of the job that the visitor watches."""

    tabs: gr.Tabs
    run: gr.BrowserState
    train: train_tab.TrainTab
    listed: runs_tab.RunsTab
    chat: chat_tab.ChatTab
    evaluate: evaluate_tab.EvaluateTab
    export: export_tab.ExportTab
    data: data_tab.DataTab
    strip_row: gr.Row
    strip_text: gr.HTML


def build() -> gr.Blocks:
    """The whole page. What it shows is read from the workspace when a browser opens it, not now."""
    control.reconcile_all()
    with gr.Blocks(
        title="ftui", analytics_enabled=False, fill_width=True, delete_cache=(86400, 86400)
    ) as page:
        run = gr.BrowserState("", storage_key="ftui-run", secret="ftui")
        gr.HTML(strip.head, elem_id="head")
        with gr.Row(visible=False, elem_id="strip-row") as strip_row:
            strip_text = gr.HTML()
            strip_stop = gr.Button(label("run.stop"), size="sm", scale=0, min_width=90, elem_id="strip-stop")
        with gr.Tabs(elem_id="tabs") as tabs:
            # The Data tab shows rows as the Train tab's model will see them, so that one is drawn first.
            with gr.Tab(label("tab.data"), id="data") as data_place:
                pass
            with gr.Tab(label("tab.train"), id="train"):
                train = train_tab.build(run)
            with gr.Tab(label("tab.runs"), id="runs"):
                listed = runs_tab.build()
            with gr.Tab(label("tab.chat"), id="chat"):
                chat = chat_tab.build()
            with gr.Tab(label("tab.evaluate"), id="evaluate"):
                evaluate = evaluate_tab.build()
            with gr.Tab(label("tab.export"), id="export"):
                export = export_tab.build()
        with data_place:
            data = data_tab.build(train.form)
        on = Places(tabs, run, train, listed, chat, evaluate, export, data, strip_row, strip_text)
        _link(on)
        _tick(page, on)
        strip_stop.click(told(strip.stop), None, None, show_progress="hidden", concurrency_limit=None)
    return page


def _link(on: Places) -> None:
    """What a press on one tab does on another."""
    quiet: dict[str, Any] = {"show_progress": "hidden"}
    form = on.train.form.controls
    prepared = list(on.data.form.controls)
    given = ["data.train", "data.schema_name", "data.mapping", *prepared]

    def use(*values: Any) -> list[Any]:
        settings = data_tab.asked_of(values).settings
        flat = schema.flatten(settings)
        return [
            gr.Tabs(selected="train"),
            gr.update(choices=sets(), value=settings.data.train),
            *(gr.update(value=shown(flat[name])) for name in given[1:]),
            gr.update(visible=True),
            gr.update(visible=False),
        ]

    on.data.use.click(
        told(use),
        on.data.asked,
        [on.tabs, *(form[name] for name in given), on.train.setup, on.train.watched],
        **quiet,
    )
    on.train.view.chat.click(
        lambda chosen: (gr.Tabs(selected="chat"), chosen), on.run, [on.tabs, on.chat.run], **quiet
    )
    on.train.view.export.click(
        lambda chosen: (gr.Tabs(selected="export"), chosen), on.run, [on.tabs, on.export.run], **quiet
    )
    on.listed.chat.click(
        lambda chosen: (gr.Tabs(selected="chat"), chosen), on.listed.chosen, [on.tabs, on.chat.run], **quiet
    )
    on.listed.open.click(
        lambda chosen: (
            gr.Tabs(selected="train"),
            chosen,
            gr.update(visible=False),
            gr.update(visible=True),
        ),
        on.listed.chosen,
        [on.tabs, on.run, on.train.setup, on.train.watched],
        **quiet,
    )


def _tick(page: gr.Blocks, on: Places) -> None:
    """A clock that looks at the folders; each handler sends only what has changed."""
    dropdowns = [on.chat.run, on.evaluate.run, on.export.run]
    clock.start(
        [
            Area(strip.stamp, strip.drawn, [], [on.strip_row, on.strip_text]),
            on.data.area,
            on.train.area,
            *on.train.view.areas,
            on.listed.area,
            Area(lambda *_: repr(runs.choices()), runs_chosen, dropdowns, dropdowns),
            on.evaluate.area,
            on.export.area,
        ]
    )

    def opened(kept: str) -> tuple[Any, ...]:
        run_shown, active = train_tab.latest(kept)
        return (
            gr.Tabs(selected="train") if active else gr.skip(),
            run_shown,
            gr.update(visible=not active),
            gr.update(visible=active),
        )

    page.load(
        told(opened), on.run, [on.tabs, on.run, on.train.setup, on.train.watched], show_progress="hidden"
    )
    page.load(told(chat_tab.loaded), None, on.chat.status, show_progress="hidden")
    page.load(told(runs_chosen), dropdowns, dropdowns, show_progress="hidden")
    lists = [on.data.source, on.train.form.controls["data.train"], on.train.form.controls["model.id"]]
    page.load(told(choices_now), None, lists, show_progress="hidden")
    for form in (on.train.form, on.data.form):
        # Gradio draws an empty number as 0 until it is told once more that it is empty.
        page.load(told(lambda form=form: form.show(_quickstart())), None, form.inputs, show_progress="hidden")


def choices_now() -> list[Any]:
    """The data sets and models that there are when a browser opens the page."""
    found = sets()
    return [gr.update(choices=found), gr.update(choices=found), gr.update(choices=train_tab.models())]


def runs_chosen(*chosen: str | None) -> list[Any]:
    """New choices for the drop-downs of runs; the newest is chosen where none was."""
    found = runs.choices()
    ids = [run for _, run in found]
    newest = ids[0] if ids else None
    starter = [(say("chat.plain", name=model_label(STARTER)), STARTER)]
    updates: list[Any] = []
    for place, value in enumerate(chosen):
        extra = starter if place == 0 else []
        kept = value if value in [*ids, *(name for _, name in extra)] else newest
        updates.append(gr.update(choices=found + extra, value=kept))
    return updates


def _quickstart() -> Any:
    return presets.preset("quickstart").settings()
