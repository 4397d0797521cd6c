"""The rows that are measured: a file that is named, else those that the run held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ftui import data as datasets
from ftui.data import Options, Row
from ftui.data.chosen import choose
from ftui.data.pick import measuring_split, named_file
from ftui.errors import DataError
from ftui.settings import DataSettings

_TEXT_KEPT = 2000  # characters of a prompt or answer that the result keeps


@dataclass
class Measured:
    """rows: canonical. data: the file they come from; origin: in words, how they were held out."""

    rows: list[Row] = field(default_factory=list)
    data: str = ""
    origin: str = ""


def measured(settings: DataSettings, data: str, is_run: bool, max_rows: int | None) -> Measured:
    """The rows to measure on.

    settings: the run's data section, which the system prompt comes from too. data: a file, or empty for the
    run's own held-out rows. Raises DataError, code no_held_out, where there are none.
    """
    if data:
        # The file is read as it is: its columns may be named otherwise than those of the training data.
        given = datasets.DataSet(data, Options(system=settings.system))
        name = measuring_split(given.splits)
        origin = f"the {name} split" if len(given.splits) > 1 else "a file you named"
        found = Measured(list(islice(given.rows(name), max_rows)), data, origin)
    elif is_run:
        chosen = choose(settings)
        rows = list(islice(chosen.validation, max_rows))
        found = Measured(rows, named_file(settings) or settings.train, chosen.origin)
    else:
        raise DataError(
            "no_held_out",
            "No rows to measure on",
            "This is a plain model, so it has no held-out rows of its own.",
            "Name a file of rows, or choose a run.",
        )
    if not found.rows:
        raise DataError(
            "no_held_out",
            "No rows to measure on",
            f"{data} has no usable row." if data else f"Of the run's rows, {found.origin}.",
            "Name a file of rows that were not trained on.",
        )
    return found


def texts(value: dict[str, Any]) -> tuple[str, str]:
    """(prompt, reference) of a canonical row: the last question and its answer; plain text has no prompt."""
    if "text" in value:
        return "", _short(str(value["text"]))
    turns = value.get("messages") or []
    answer = max((place for place, turn in enumerate(turns) if turn.get("role") == "assistant"), default=None)
    if answer is None:
        return "", ""
    asked = [str(turn.get("content") or "") for turn in turns[:answer] if turn.get("role") == "user"]
    return _short(asked[-1] if asked else ""), _short(str(turns[answer].get("content") or ""))


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_KEPT else f"{text[: _TEXT_KEPT - 1]}…"
