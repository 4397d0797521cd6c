"""One look at a data set: what the Data tab's controls ask for, and what each step of the answer draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from ftui import settings as schema
from ftui.data.dropped import all_dropped
from ftui.data.fetching import needs_fetch
from ftui.errors import FtuiError
from ftui.models.find import STARTER
from ftui.models.find import label as model_label
from ftui.ui import data_rows, html, services
from ftui.ui.form import Form
from ftui.ui.found import found_card, lengths_card
from ftui.ui.say import say

COLUMNS = ["messages", "prompt", "response", "system", "reasoning", "chosen", "rejected", "label", "text"]
SPLIT = ["data.validation_share", "data.split_seed", "data.held_out", "data.validation"]
LENGTH = ["data.max_length", "data.long_rows", "data.learn", "data.max_rows"]
TALK = ["data.system", "data.system_role", "data.template"]
MORE = ["data.drop_duplicates", "data.context_column", "data.context_below", "data.weight", "data.mix"]
# The Train form's controls that the counts depend on, besides the data's own.
OF_TRAINING = [
    "model.id", "model.revision", "model.trust_remote_code", "training.batch_size", "training.gradient_accumulation",
    "training.group_by_length", "launch.strategy", "launch.processes",
]  # fmt: skip
FIELDS = [*SPLIT, *LENGTH, *TALK, *MORE]
# The look that each browser waits for, by its session.
_wanted: dict[str, str] = {}


@dataclass
class Asked:
    """What the tab's controls say. which: all, kept or dropped rows; view: tokens or talk."""

    settings: schema.Settings
    source: str
    which: str
    view: str

    @property
    def model(self) -> str:
        return self.settings.model.id


def asked_of(values: tuple[Any, ...]) -> Asked:
    """What the controls say. Raises SettingsError that names every field at fault."""
    source, *rest = values
    trained, rest = rest[: len(OF_TRAINING)], rest[len(OF_TRAINING) :]
    which, view, kind, *rest = rest
    picked, prepared = rest[: len(COLUMNS)], rest[len(COLUMNS) :]
    mapping = {name: column for name, column in zip(COLUMNS, picked, strict=True) if column}
    flat = Form.flat([*OF_TRAINING, *FIELDS], [*trained, *prepared])
    flat["model.id"] = flat["model.id"] or STARTER
    own = {"data.train": source, "data.schema_name": kind or "", "data.mapping": mapping}
    settings = schema.unflatten(flat | own)
    return Asked(settings, source, which, view)


def ask(request: gr.Request, *values: Any) -> None:
    """Say which look this browser waits for now: an older one ends as soon as it notices."""
    _wanted[str(request.session_hash)] = repr(values)


def stop(request: gr.Request) -> None:
    """Say that this browser waits for none."""
    _wanted[str(request.session_hash)] = ""


class Look:
    """One look at a data set: what it draws, by name, and whether somebody still waits for it."""

    def __init__(self, request: gr.Request, values: tuple[Any, ...]) -> None:
        self._session, self._key = str(request.session_hash), repr(values)
        ask(request, *values)
        self.last: Any = None

    def wanted(self, events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The events as long as they are wanted; what was found stands in `last` then, None where they were not."""
        self.last = None
        for event in events:
            if _wanted.get(self._session, self._key) != self._key:
                return
            yield event
            self.last = event.get("found", self.last)

    def drawn(self, **parts: Any) -> tuple[Any, ...]:
        """Updates of all outputs; what is not named stays, but for buttons that belong to one moment."""
        rows = parts.get("rows")
        proposal: tuple[str, dict[str, Any]] = parts.get("proposal") or ("", {})
        choices = parts.get("columns")
        return (
            parts.get("found", gr.skip()),
            parts.get("lengths", gr.skip()),
            data_rows.frame(rows) if rows is not None else gr.skip(),
            [row[0] for row in rows] if rows is not None else gr.skip(),
            parts.get("preview", gr.skip()),
            parts.get("current", gr.skip()),
            gr.update(visible=bool(parts.get("cancel"))),
            gr.update(visible=bool(proposal[0]), value=proposal[0] or ""),
            proposal[1],
            gr.update(visible=bool(parts.get("fetch")), value=parts.get("fetch_words", say("data.fetch"))),
            self._download(parts, "dropped"),
            self._download(parts, "report"),
            gr.update(open=True) if parts.get("open") else gr.skip(),
            *(
                [gr.skip()] * len(COLUMNS)
                if choices is None
                else [gr.update(choices=["", *choices])] * len(COLUMNS)
            ),
        )

    def failed(self, fault: FtuiError, source: str) -> tuple[Any, ...]:
        """The error; where the columns are not known, the place to say what they hold opens by itself."""
        guess = getattr(fault, "proposal", {}) or {}
        told_guess = ", ".join(f"{column} → {say(f'data.holds.{name}')}" for name, column in guess.items())
        return self.drawn(
            found=html.error(fault),
            lengths="",
            rows=[],
            preview=data_rows.raw(services.records(source)) if fault.columns else "",
            fetch=needs_fetch(source),
            fetch_words=say("data.fetch.set"),
            columns=fault.columns or None,
            open=bool(fault.columns),
            proposal=(say("data.take", what=told_guess), {"columns": guess}) if guess else None,
            dropped="",
            report="",
        )

    def first(self, asked: Asked, first: Any) -> tuple[Any, ...]:
        """The first rows, while the rest is read."""
        report = first.report.to_json()
        return self.drawn(
            found=html.waiting(say("data.reading_all")),
            lengths="",
            rows=data_rows.table(first, report, asked.which, None),
            preview=html.waiting(say("data.tokenising")),
            columns=report["columns"],
            dropped="",
            report="",
        )

    def whole(self, asked: Asked, first: Any, chosen: dict[str, Any]) -> tuple[Any, ...]:
        """The report of the whole file."""
        report = chosen["report"]
        return self.drawn(
            found=found_card(report, None, chosen),
            lengths=html.waiting(say("data.tokenising")),
            rows=data_rows.table(first, report, asked.which, None),
            columns=report["columns"],
            dropped=chosen["dropped"],
            report=chosen["report_file"],
        )

    def uncounted(self, asked: Asked, fault: FtuiError) -> tuple[Any, ...]:
        """Why there are no tokens: the model is not here yet, it has no template, or another error."""
        if fault.code == "not_here":
            hint = html.empty(fault.title, say("data.not_here", model=model_label(asked.model)))
            return self.drawn(lengths="", preview=hint, fetch=asked.model == STARTER)
        chatml = (say("data.take_chatml"), {"fields": {"data.template": "chatml"}})
        offered = chatml if fault.code == "no_template" else None
        return self.drawn(lengths=html.error(fault), preview="", proposal=offered)

    def counted(
        self, asked: Asked, first: Any, chosen: dict[str, Any], counted: dict[str, Any]
    ) -> tuple[Any, ...]:
        """All there is: counts, lengths, and the first row seen closely."""
        rows = data_rows.table(first, chosen["report"], asked.which, counted)
        change = next((item for item in counted["advice"] if item["change"]), None)
        return self.drawn(
            found=found_card(chosen["report"], counted, chosen),
            lengths=lengths_card(asked.settings, counted),
            rows=rows,
            preview=data_rows.close(first, asked.settings, int(rows[0][0]), asked.view) if rows else "",
            current=int(rows[0][0]) if rows else 0,
            proposal=(change["fix"], {"fields": change["change"]}) if change else None,
            dropped=_every_dropped(chosen, counted),
            report=chosen["report_file"],
        )

    def cancelled(self, found: str | None = None) -> tuple[Any, ...]:
        """What is known so far, where the person asked to stop; nothing where another look has been asked for."""
        if not _wanted.get(self._session):
            note = html.empty(say("data.cancelled.title"), say("data.cancelled"))
            return self.drawn(**({"found": note + found} if found else {"lengths": note, "preview": ""}))
        return self.drawn()

    @staticmethod
    def _download(parts: dict[str, Any], name: str) -> Any:
        if name not in parts:
            return gr.skip()
        path = parts[name]
        return gr.update(visible=bool(path), value=path or None)


def _every_dropped(chosen: dict[str, Any], counted: dict[str, Any]) -> str:
    """The file of all dropped rows, those among them that the template or the limit drops; "" where there are none."""
    if not chosen["dropped"] and not counted["dropped"]:
        return ""
    report = chosen["report"]
    read = Path(chosen["dropped"]) if chosen["dropped"] else None
    stem = Path(report["path"]).name.split(".")[0]
    return str(all_dropped(read, counted["dropped"], report["file_format"], stem))
