"""Data: bring a data set, see what was found in it, and see a row as the model will."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from ftui import settings as schema
from ftui import words, workspace
from ftui.data import Loaded, Options
from ftui.data.fetching import needs_fetch
from ftui.errors import FtuiError, ModelError
from ftui.files import file_name
from ftui.jobs import control
from ftui.models.find import STARTER, find
from ftui.models.find import label as model_label
from ftui.ui import html, services
from ftui.ui.clock import Area
from ftui.ui.handler import told
from ftui.ui.say import label, say

SHOWN = 200
SCHEMAS = ["alpaca", "sharegpt", "messages", "prompt-completion", "preference", "kto", "text"]
COLUMNS = ["prompt", "response", "system", "reasoning", "text"]


@dataclass
class DataTab:
    """The controls that other tabs need."""

    source: gr.Dropdown
    use: gr.Button
    options: list[Any]
    area: Area


def build(model: Any, max_length: Any) -> DataTab:
    """Draw the tab. model, max_length: the Train form's controls, whose template and limit the preview uses."""
    numbers = gr.State([])
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
            with gr.Accordion(label("data.change"), open=False) as change:
                kind = gr.Dropdown(
                    [(label("data.detected"), ""), *((name, name) for name in SCHEMAS)],
                    value="",
                    label=label("data.schema"),
                )
                columns = [
                    gr.Dropdown([], value=None, label=label(f"data.column.{name}"), allow_custom_value=True)
                    for name in COLUMNS
                ]
                system = gr.Textbox(
                    label=label("field.data.system.title"), info=label("field.data.system.help")
                )
                duplicates = gr.Checkbox(label=label("field.data.drop_duplicates.title"))
        with gr.Column(scale=3, min_width=420):
            which = gr.Radio(
                [
                    (label("data.all"), "all"),
                    (label("data.kept"), "kept"),
                    (label("data.dropped"), "dropped"),
                ],
                value="all",
                show_label=False,
                container=False,
                elem_id="data-which",
            )
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
            preview = gr.HTML(elem_id="data-preview", min_height=160)
            fetch = gr.Button(label("data.fetch"), visible=False, elem_id="data-fetch")
    options: list[Any] = [kind, *columns, system, duplicates]
    asked: list[Any] = [source, model, max_length, which, *options]

    drawn = [found, rows, numbers, preview, fetch, change, *columns]
    quiet: dict[str, Any] = {"show_progress": "hidden", "concurrency_limit": None}
    # What was said of one data set's columns does not hold for the next one.
    source.change(
        lambda: ["", *[None] * len(COLUMNS)], None, [kind, *columns], show_progress="hidden", queue=False
    ).then(told(show), asked, drawn, trigger_mode="always_last", **quiet)
    gr.on(
        [which.change, *(control.input for control in options), model.change, max_length.change],
        told(show),
        asked,
        drawn,
        trigger_mode="always_last",
        **quiet,
    )
    rows.select(
        told(pick),
        [numbers, *asked],
        [preview],
        show_progress="hidden",
        concurrency_limit=None,
    )
    upload.upload(told(keep), upload, source)
    fetch.click(told(begin_fetch), [source, model], fetch)
    return DataTab(source, use, options, Area(here, show, asked, drawn))


def sets() -> list[tuple[str, str]]:
    """What can be chosen without typing: the samples, and what lies in the workspace's data folder."""
    samples = sorted((workspace.PRESETS / "samples").glob("*.jsonl"))
    chosen = [
        (say("data.sample", name=path.stem.replace("-", " ")), f"samples/{path.name}")
        for path in samples
        if ".held-out" not in path.name
    ]
    own = sorted(path for path in workspace.data().glob("*") if not path.name.startswith("."))
    return chosen + [(path.name, path.name) for path in own]


def keep(uploaded: str) -> Any:
    """Copy an uploaded file into the workspace under a safe name, and choose it."""
    origin = Path(uploaded)
    workspace.data().mkdir(parents=True, exist_ok=True)
    target = workspace.data() / f"{file_name(origin.stem, 'data')}{''.join(origin.suffixes).lower()}"
    number = 2
    while target.is_dir() or (target.exists() and not filecmp.cmp(target, origin, shallow=False)):
        target = target.with_name(
            f"{file_name(origin.stem, 'data')}-{number}{''.join(origin.suffixes).lower()}"
        )
        number += 1
    partial = target.with_name(f".{target.name}.part")
    shutil.copyfile(origin, partial)
    partial.replace(target)
    return gr.update(choices=sets(), value=target.name)


def here(source: str, model: str, *_: Any) -> str:
    """What changes when a job has brought the data set or the model: then there is more to show."""
    return f"{needs_fetch(source or '')} {find(model or STARTER)}"


def show(source: str, model: str, max_length: int, which: str, *options: Any) -> Iterator[tuple[Any, ...]]:
    """What was found, the rows and the first row as the model sees it: first what is quick, then the tokens."""
    skip = [gr.skip()] * (1 + len(COLUMNS))
    if not (source or "").strip():
        message = html.empty(say("data.empty.title"), say("data.empty"))
        yield message, _frame([]), [], "", gr.update(visible=False), *skip
        return
    try:
        chosen = settings_of(source, model, max_length, options)
        loaded = services.load(source, Options.of(chosen.data))
    except FtuiError as fault:
        choices = [gr.update(choices=["", *fault.columns]) if fault.columns else gr.skip() for _ in COLUMNS]
        button = gr.update(visible=needs_fetch(source), value=say("data.fetch.set"))
        # Where the columns are not known the person says what they hold: the place to do so opens by itself.
        opened = gr.update(open=True) if fault.columns else gr.skip()
        yield html.error(fault), _frame([]), [], "", button, opened, *choices
        return
    picks = [gr.update(choices=["", *loaded.report.columns]) for _ in COLUMNS]
    table = _table(loaded, which, None)
    numbers = [row[0] for row in table]
    report = loaded.report.to_json()
    yield (
        found_card(report, None),
        _frame(table),
        numbers,
        html.waiting(say("data.tokenising")),
        gr.update(visible=False),
        gr.skip(),
        *picks,
    )
    try:
        counted = services.account(chosen)
    except ModelError as fault:
        hint = say("data.not_here", model=model_label(model))
        fetchable = fault.code == "not_here" and model == STARTER
        yield (
            gr.skip(),
            gr.skip(),
            gr.skip(),
            html.empty(fault.title, hint),
            gr.update(visible=fetchable),
            *skip,
        )
        return
    except FtuiError as fault:
        yield gr.skip(), gr.skip(), gr.skip(), html.error(fault), gr.update(visible=False), *skip
        return
    table = _table(loaded, which, counted)
    numbers = [row[0] for row in table]
    first = next((number for number in numbers if _row(loaded, number) is not None), None)
    shown = seen(loaded, chosen, first) if first is not None else ""
    yield found_card(report, counted), _frame(table), numbers, shown, gr.update(visible=False), *skip


def pick(
    event: gr.SelectData,
    numbers: list[int],
    source: str,
    model: str,
    max_length: int,
    which: str,
    *rest: Any,
) -> str:
    """The chosen row as the model sees it."""
    place = event.index[0] if isinstance(event.index, list | tuple) else event.index
    if place >= len(numbers):
        return ""
    chosen = settings_of(source, model, max_length, rest)
    loaded = services.load(source, Options.of(chosen.data))
    return seen(loaded, chosen, numbers[place])


def seen(loaded: Loaded, chosen: schema.Settings, number: int) -> str:
    """One row with the model's template and its learned tokens, or why it is dropped."""
    title = say("data.as_model", row=number, model=model_label(chosen.model.id))
    row = _row(loaded, number)
    if row is None:
        dropped = next((item for item in loaded.report.dropped if item["row"] == number), None)
        return html.card(title, f"<p>{html.text(dropped['message'])}</p>" if dropped else "", "failed")
    if "messages" not in row and "text" not in row:
        return html.card(title, f"<p>{html.text(say('data.pairs'))}</p>")
    try:
        answer = services.preview(chosen, number, row)
    except ModelError as fault:
        return html.empty(fault.title, say("data.not_here", model=model_label(chosen.model.id)))
    if answer["dropped"]:
        return html.card(title, f"<p>{html.text(answer['dropped'][0]['message'])}</p>", "failed")
    found = answer["rows"][0]
    learned = sum(piece["tokens"] for piece in found["pieces"] if piece["learned"])
    legend = (
        f'<div class="legend"><span class="learned"><i></i>{html.text(say("data.learned", n=learned))}</span>'
        f"<span>{html.text(say('data.tokens', n=found['tokens']))}</span></div>"
    )
    return f"<h4>{html.text(title)}</h4>{legend}{html.tokens(found['pieces'])}"


def found_card(report: dict[str, Any], counted: dict[str, Any] | None) -> str:
    """What was found: shape, columns, and how many rows are kept, cut and dropped, with the reasons."""
    dropped = list(report["dropped"])
    kept, cut = report["usable"], 0
    if counted:
        cut, kept = counted["train"]["truncated"], counted["train"]["kept"]
        dropped += [
            {"row": item["row"], "reason": item["reason"], "message": item["message"]}
            for item in counted["dropped"]
        ]
    lost = max(report["rows"] - report["usable"], len(report["dropped"])) + (
        len(dropped) - len(report["dropped"])
    )
    mapping = "".join(
        f"<li><code>{html.text(column)}</code> → {html.text(name)}</li>"
        for name, column in report["mapping"].items()
    )
    head = say(
        "data.what",
        rows=words.count(report["rows"], "row"),
        schema=report["schema"],
        file=report["file_format"],
    )
    bar = html.parts([("kept", kept - cut, ""), ("cut", cut, ""), ("dropped", lost, "")])
    legend = (
        f'<div class="legend"><span class="kept"><i></i>{kept - cut:,} {html.text(say("data.kept"))}</span>'
        f'<span class="cut"><i></i>{cut:,} {html.text(say("data.cut"))}</span>'
        f'<span class="dropped"><i></i>{lost:,} {html.text(say("data.dropped"))}</span></div>'
    )
    body = f"<p>{html.text(head)}</p>{f'<ul class=muted>{mapping}</ul>' if mapping else ''}{bar}{legend}"
    if counted:
        part = counted["train"]
        body += html.figures(
            [
                (say("data.longest"), f"{part['longest']:,}"),
                (say("data.median"), f"{part['median']:,}"),
                (say("data.learned_share"), f"{100 * part['learned_tokens'] / max(1, part['tokens']):.0f} %"),
            ]
        )
    notes = "".join(f"<li>{html.text(item['message'])}</li>" for item in report["warnings"])
    if notes:
        body += f"<ul class='muted'>{notes}</ul>"
    if dropped:
        body += html.table(
            ["#", say("data.reason")],
            ((item["row"], item["message"]) for item in sorted(dropped, key=_by_row)[:50]),
        )
    return html.card(html.text(say("data.found")), body)


def begin_fetch(source: str, model: str) -> Any:
    """Start the job that brings the data set, or the model, to this machine; the strip shows how far it is."""
    if needs_fetch(source):
        control.start("fetch-data", source, {"dataset": source})
    else:
        control.start("fetch", model_label(model), {"model": model})
    return gr.update(visible=False)


def held_out(source: str) -> str:
    """The file of held-out rows that lies beside a sample; empty where there is none."""
    beside = source.replace(".jsonl", ".held-out.jsonl")
    return beside if beside != source and workspace.find(beside) else ""


def settings_of(
    source: str, model: str, max_length: int, options: tuple[Any, ...] | list[Any]
) -> schema.Settings:
    """The settings that the tab's controls stand for."""
    kind, *rest = options
    picked, (system, duplicates) = rest[: len(COLUMNS)], rest[len(COLUMNS) :]
    mapping = {name: column for name, column in zip(COLUMNS, picked, strict=True) if column}
    return schema.parse(
        {
            "model": {"id": model or STARTER},
            "data": {
                "train": source,
                "max_length": int(max_length or 1024),
                "schema_name": kind or "",
                "mapping": mapping,
                "system": system or "",
                "drop_duplicates": bool(duplicates),
                "validation_share": 0.0,
            },
        }
    )


def _by_row(item: dict[str, Any]) -> int:
    return int(item["row"])


def _row(loaded: Loaded, number: int) -> dict[str, Any] | None:
    return next((row.value for row in loaded.splits["train"] if row.number == number), None)


def _table(loaded: Loaded, which: str, counted: dict[str, Any] | None) -> list[list[Any]]:
    refused = {item["row"]: item["reason"] for item in (counted or {}).get("dropped", [])}
    cut = set((counted or {}).get("train", {}).get("truncated_rows", []))
    rows: list[list[Any]] = []
    if which != "dropped":
        for row in loaded.splits["train"][:SHOWN]:
            state = refused.get(row.number) or ("cut" if row.number in cut else "kept")
            rows.append([row.number, *_sides(row.value), "", _state(state)])
    if which != "kept":
        rows += [[item["row"], "", "", "–", _state(item["reason"])] for item in loaded.report.dropped[:SHOWN]]
    if counted and which != "dropped":
        for shown in rows:
            length = counted["lengths"].get(str(shown[0]))
            shown[3] = f"{length:,}" if length else "–"
    return sorted(rows, key=lambda shown: shown[0])


def _state(reason: str) -> str:
    return say(f"data.{reason}") if reason in ("kept", "cut") else reason.replace("_", " ")


def _sides(value: dict[str, Any]) -> tuple[str, str]:
    """The question and the answer of a canonical row, as short texts."""
    if "text" in value:
        return "", value["text"][:300]
    turns = value.get("messages") or [
        *value.get("prompt", []),
        *value.get("chosen", value.get("completion", [])),
    ]
    asked = next((turn["content"] for turn in turns if turn["role"] == "user"), "")
    answers = [turn for turn in turns if turn["role"] == "assistant"]
    said = (answers[-1].get("content") or str(answers[-1].get("tool_calls", ""))) if answers else ""
    return str(asked)[:300], str(said)[:300]


def _frame(rows: list[list[Any]]) -> pd.DataFrame:
    names = ["#", say("data.user"), say("data.assistant"), say("data.tokens_head"), say("data.state")]
    return pd.DataFrame(rows, columns=names)
