"""The table of rows on the Data tab, and one row seen closely: token by token, or as the talk it is."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ftui import settings as schema
from ftui.data import Loaded
from ftui.errors import FtuiError
from ftui.models.find import label as model_label
from ftui.ui import html, services, talk, tokens
from ftui.ui.say import say

SHOWN = 200


def table(
    first: Loaded, report: dict[str, Any], which: str, counted: dict[str, Any] | None
) -> list[list[Any]]:
    """(number, question, answer, tokens, state) of the first rows and of the first dropped ones, in file order."""
    refused = {item["row"]: item for item in (counted or {}).get("dropped", [])}
    cut = set((counted or {}).get("whole", {}).get("truncated_rows", []))
    rows: list[list[Any]] = []
    if which != "dropped":
        for row in first.splits["train"][:SHOWN]:
            state = "cut" if row.number in cut else "kept"
            if row.number not in refused:
                rows.append([row.number, *_sides(row.value), "", _state(state)])
    if which != "kept":
        lost = [*report["dropped"][:SHOWN], *list(refused.values())[:SHOWN]]
        rows += [[item["row"], item["message"], "", "–", _state(item["reason"])] for item in lost]
    if counted:
        for shown in rows:
            length = counted["lengths"].get(str(shown[0]))
            shown[3] = f"{length:,}" if length else "–"
    return sorted(rows, key=lambda shown: int(shown[0]))


def frame(rows: list[list[Any]]) -> pd.DataFrame:
    """The table as the page's component takes it."""
    names = ["#", say("data.user"), say("data.assistant"), say("data.tokens_head"), say("data.state")]
    return pd.DataFrame(rows, columns=names)


def raw(records: list[dict[str, Any]]) -> str:
    """The first rows as they stand in the file, for a person who has to say what the columns hold."""
    columns = list(dict.fromkeys(column for record in records for column in record))
    rows = [[_short(record.get(column)) for column in columns] for record in records]
    return html.card(html.text(say("data.raw")), html.table(columns, rows)) if rows else ""


def close(first: Loaded, chosen: schema.Settings, number: int, view: str) -> str:
    """One row by its number, as the model sees it or as a talk; or why it is dropped, with what stands in the file."""
    value = next((row.value for row in first.splits["train"] if row.number == number), None)
    if value is None:
        found = services.row(chosen, number)
        if "value" not in found:
            return _absent(number, found)
        value = found["value"]
    if view == "talk":
        return f"<h4>{html.text(say('data.as_talk', row=f'{number:,}'))}</h4>{talk.bubbles(value)}"
    return _tokens(chosen, number, value)


def _tokens(chosen: schema.Settings, number: int, value: dict[str, Any]) -> str:
    title = say("data.as_model", row=f"{number:,}", model=model_label(chosen.model.id))
    try:
        answer = services.preview(chosen, number, value)
    except FtuiError as fault:
        if fault.code != "not_here":
            return html.error(fault)
        return html.empty(fault.title, say("data.not_here", model=model_label(chosen.model.id)))
    if answer["dropped"]:
        return html.card(html.text(title), f"<p>{html.text(answer['dropped'][0]['message'])}</p>", "failed")
    parts = [f"<h4>{html.text(title)}</h4>"]
    for passage in answer["rows"]:
        if len(answer["rows"]) > 1:
            name = say(f"talk.{passage['name']}")
            parts.append(f"<h5>{html.text(name)}</h5>")
        parts.append(tokens.tokens(passage["pieces"]))
    return "".join(parts)


def _absent(number: int, found: dict[str, Any]) -> str:
    if not found.get("dropped"):
        return html.empty(say("data.no_row.title"), say("data.no_row", row=f"{number:,}"))
    raw = f"<pre class='raw'>{html.text(found['raw'])}</pre>" if found.get("raw") else ""
    title = html.text(say("data.dropped_row", row=f"{number:,}"))
    return html.card(title, f"<p>{html.text(found['dropped'])}</p>{raw}", "failed")


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


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
