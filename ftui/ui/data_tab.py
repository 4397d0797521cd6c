"""Data: bring a data set, see what was found in it, prepare it, and see each row as the model will."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from ftui import settings as schema
from ftui.data import Options
from ftui.data.fetching import needs_fetch
from ftui.errors import FtuiError
from ftui.jobs import control
from ftui.models.find import STARTER, find
from ftui.models.find import label as model_label
from ftui.ui import data_look as look
from ftui.ui import data_rows, html, services
from ftui.ui.clock import Area
from ftui.ui.data_look import COLUMNS, LENGTH, MORE, OF_TRAINING, SPLIT, TALK, Look, asked_of
from ftui.ui.form import Form
from ftui.ui.found import found_card, reading_card
from ftui.ui.handler import told
from ftui.ui.say import label, say
from ftui.ui.sets import held_out, keep, sets

SCHEMAS = ["alpaca", "sharegpt", "messages", "prompt-completion", "preference", "kto", "text"]
SHARES = [("90 / 10", 0.1), ("80 / 20", 0.2), ("95 / 5", 0.05), ("70 / 30", 0.3), ("50 / 50", 0.5)]


@dataclass
class DataTab:
    """The controls that other tabs need. asked: all that a look depends on, for `settings_of`."""

    source: gr.Dropdown
    use: gr.Button
    form: Form
    asked: list[Any]
    area: Area


def build(train: Form) -> DataTab:
    """Draw the tab. train: the Train tab's form, whose model and batch the counts are made for."""
    form = Form(prefix="data")
    numbers, current, changes = gr.State([]), gr.State(0), gr.State({})
    with gr.Row(elem_classes="toolbar"):
        source = gr.Dropdown(
            sets(),
            value=schema.DataSettings().train,
            label=label("data.source"),
            info=label("data.source.help"),
            allow_custom_value=True,
            scale=4,
            elem_id="data-source",
        )
        upload = gr.UploadButton(label("data.upload"), file_count="single", scale=1, min_width=120)
        use = gr.Button(label("data.use"), variant="primary", scale=1, min_width=160, elem_id="data-use")
    with gr.Row():
        with gr.Column(scale=2, min_width=320):
            found = gr.HTML(elem_id="data-found", min_height=160)
            with gr.Row(elem_classes="actions"):
                cancel = gr.Button(label("data.cancel"), visible=False, size="sm", elem_id="data-cancel")
                apply = gr.Button(visible=False, variant="primary", elem_id="data-apply")
                fetch = gr.Button(label("data.fetch"), visible=False, size="sm", elem_id="data-fetch")
                dropped = gr.DownloadButton(
                    label("data.download_dropped"), visible=False, size="sm", elem_id="data-dropped"
                )
                report = gr.DownloadButton(
                    label("data.download_report"), visible=False, size="sm", elem_id="data-report"
                )
            with gr.Accordion(label("data.change"), open=False) as change:
                kind = gr.Dropdown(
                    [(label("data.detected"), ""), *((name, name) for name in SCHEMAS)],
                    value="",
                    label=label("data.schema"),
                )
                with gr.Row():
                    columns = [
                        gr.Dropdown(
                            [],
                            value=None,
                            label=label(f"data.column.{name}"),
                            allow_custom_value=True,
                            min_width=150,
                        )
                        for name in COLUMNS
                    ]
            lengths = gr.HTML(elem_id="data-lengths")
        with gr.Column(scale=3, min_width=420):
            with gr.Row(elem_classes="toolbar"):
                which = gr.Radio(
                    [(label(f"data.{name}"), name) for name in ("all", "kept", "dropped")],
                    value="all",
                    show_label=False,
                    container=False,
                    scale=3,
                    elem_id="data-which",
                )
                number = gr.Textbox(label=label("data.go_to"), scale=1, min_width=110, elem_id="data-go-to")
            rows = gr.Dataframe(
                headers=["#", "user", "assistant", "tokens", "state"],
                datatype=["number", "str", "str", "str", "str"],
                interactive=False,
                wrap=False,
                max_height=340,
                max_chars=90,
                column_widths=["56px", "40%", "36%", "72px", "88px"],
                show_label=False,
                buttons=[],
                elem_id="data-rows",
            )
            view = gr.Radio(
                [(label("data.view.tokens"), "tokens"), (label("data.view.talk"), "talk")],
                value="tokens",
                show_label=False,
                container=False,
                elem_id="data-view",
            )
            preview = gr.HTML(elem_id="data-preview", min_height=160)
    with gr.Accordion(label("data.prepare"), open=False, elem_id="data-prepare"):
        for names in (SPLIT, LENGTH, TALK, MORE):
            with gr.Row():
                form.draw(names, {"data.validation_share": _shares})
        with gr.Row(elem_classes="toolbar"):
            name = gr.Textbox(
                label=label("data.convert.name"),
                info=label("data.convert.help"),
                scale=3,
                elem_id="data-convert-name",
            )
            convert = gr.Button(label("data.convert"), scale=1, min_width=160, elem_id="data-convert")

    form.controls["data.validation"].value = held_out(source.value)
    asked: list[Any] = [source, *(train.controls[part] for part in OF_TRAINING), which, view, kind, *columns]
    asked += form.inputs
    drawn = [
        found,
        lengths,
        rows,
        numbers,
        preview,
        current,
        cancel,
        apply,
        changes,
        fetch,
        dropped,
        report,
        change,
        *columns,
    ]
    quiet: dict[str, Any] = {"show_progress": "hidden", "concurrency_limit": None}

    # A look at a large file goes on until another one is asked for, or none.
    triggers = [which.change, *(control.input for control in (kind, *columns))]
    triggers += [train.controls[part].change for part in OF_TRAINING]
    triggers += [event for control in form.inputs for event in _settled(control)]
    gr.on(triggers, look.ask, asked, None, queue=False, show_progress="hidden", trigger_mode="multiple")
    gr.on(triggers, told(show), asked, drawn, trigger_mode="always_last", **quiet)

    # What was said of one data set does not hold for the next one.
    changed = source.change(
        lambda chosen: ["", *[None] * len(COLUMNS), held_out(chosen or ""), ""],
        source,
        [kind, *columns, form.controls["data.validation"], form.controls["data.context_column"]],
        show_progress="hidden",
        queue=False,
    )
    changed.then(look.ask, asked, None, queue=False, show_progress="hidden").then(
        told(show), asked, drawn, trigger_mode="always_last", **quiet
    )
    cancel.click(look.stop, None, None, queue=False, show_progress="hidden")
    rows.select(told(pick), [numbers, *asked], [preview, current], **quiet)
    number.submit(told(go_to), [number, *asked], [preview, current], **quiet)
    view.change(told(go_to), [current, *asked], [preview, current], **quiet)
    upload.upload(told(keep), upload, source)
    fetch.click(told(begin_fetch), [source, asked[1]], fetch)
    applied = apply.click(
        told(lambda wanted: _applied(form, wanted)),
        changes,
        [kind, *columns, *form.inputs],
        show_progress="hidden",
    )
    applied.then(told(show), asked, drawn, **quiet)
    convert.click(told(begin_convert), [name, *asked], name, show_progress="hidden")
    _together(form.controls["data.max_length"], train.controls["data.max_length"])
    return DataTab(source, use, form, asked, Area(here, show, asked, drawn))


def here(source: str, model: str, *_: Any) -> str:
    """What changes when a job has brought the data set or the model: then there is more to show."""
    return f"{needs_fetch(source or '')} {find(model or STARTER)}"


def show(request: gr.Request, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The first rows at once, then the whole report, then the counts of tokens; each as far as it goes."""
    seen = Look(request, values)
    if not str(values[0] or "").strip():
        yield seen.drawn(found=html.empty(say("data.empty.title"), say("data.empty")), rows=[])
        return
    try:
        asked = asked_of(values)
        first = services.head(asked.source, Options.of(asked.settings.data))
    except FtuiError as fault:
        yield seen.failed(fault, str(values[0]))
        return
    chosen, counted = services.known(asked.settings)
    if chosen and counted:  # nothing to wait for, so nothing flickers
        yield seen.counted(asked, first, chosen, counted)
        return
    yield seen.first(asked, first)
    try:
        for event in seen.wanted(services.chosen(asked.settings)):
            if event.get("total_bytes") and event["done_bytes"] < event["total_bytes"]:
                yield seen.drawn(found=reading_card(event, say("data.reading_all")), cancel=True)
    except FtuiError as fault:
        yield seen.failed(fault, str(values[0]))
        return
    chosen = seen.last
    if chosen is None:
        yield seen.cancelled(found_card(first.report.to_json(), None, None))
        return
    yield seen.whole(asked, first, chosen)
    try:
        for event in seen.wanted(services.account(asked.settings)):
            if event.get("total_bytes") and event["done_bytes"] < event["total_bytes"]:
                yield seen.drawn(lengths=reading_card(event, say("data.counting")), cancel=True)
    except FtuiError as fault:
        yield seen.uncounted(asked, fault)
        return
    if seen.last is None:
        yield seen.cancelled()
        return
    yield seen.counted(asked, first, chosen, seen.last)


def pick(event: gr.SelectData, numbers: list[int], *values: Any) -> tuple[Any, Any]:
    """The chosen row seen closely, and its number."""
    place = event.index[0] if isinstance(event.index, list | tuple) else event.index
    return go_to(numbers[place], *values) if place < len(numbers) else (gr.skip(), gr.skip())


def go_to(number: int | str, *values: Any) -> tuple[Any, Any]:
    """A row by its number seen closely, and the number."""
    written = str(number).strip().replace(",", "").replace(".", "")
    if not written.isdecimal() or int(written) < 1:
        return html.empty(say("data.no_row.title"), say("data.no_number")), gr.skip()
    asked = asked_of(values)
    first = services.head(asked.source, Options.of(asked.settings.data))
    return data_rows.close(first, asked.settings, int(written), asked.view), int(written)


def begin_fetch(source: str, model: str) -> Any:
    """Start the job that brings the data set, or the model, to this machine; the strip shows how far it is."""
    if needs_fetch(source):
        control.start("fetch-data", source, {"dataset": source})
    else:
        control.start("fetch", model_label(model), {"model": model})
    return gr.update(visible=False)


def begin_convert(name: str, *values: Any) -> Any:
    """Start the job that writes the prepared rows as clean JSON lines into the workspace's data folder."""
    asked = asked_of(values)
    data = services.readable_data(asked.settings.data)
    wanted = name.strip() or f"{Path(asked.source).name.split('.')[0]}-clean"
    job = control.start("convert", wanted, {"data": data.model_dump(), "out": wanted})
    gr.Info(say("data.convert.started", name=job.name))
    return ""


def _shares(**options: Any) -> gr.Dropdown:
    return gr.Dropdown(SHARES, allow_custom_value=True, **options)


def _settled(control: Any) -> list[Any]:
    """The events that say a person is done with a control: text while it is typed is no reason to read a file."""
    return [control.submit, control.blur] if isinstance(control, gr.Textbox) else [control.change]


def _together(ours: gr.Number, theirs: gr.Number) -> None:
    """One limit on lengths, shown on two tabs."""
    theirs.change(lambda value: value, theirs, ours, show_progress="hidden", queue=False)
    ours.input(lambda value: value, ours, theirs, show_progress="hidden", queue=False)


def _applied(form: Form, wanted: dict[str, Any]) -> list[Any]:
    """Updates that put what was proposed into the controls: columns, or settings by dotted name."""
    columns = wanted.get("columns", {})
    updates: list[Any] = [
        gr.skip(),
        *(gr.update(value=columns.get(name)) if columns else gr.skip() for name in COLUMNS),
    ]
    fields = wanted.get("fields", {})
    return updates + [
        gr.update(value=fields[name]) if name in fields else gr.skip() for name in form.controls
    ]
