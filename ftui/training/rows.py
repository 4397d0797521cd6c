"""The rows of a run as trl's trainer reads them, and the few of them that are kept to be asked later."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from datasets import Dataset

from ftui.data import Row
from ftui.errors import DataError
from ftui.templates.selection import Selected

_LOOKED_AT = 200
_QUESTIONS = 12
_SHORT = 300  # characters


class Read:
    """Tokens and labels of rows as they are asked for, so that a set larger than memory can train."""

    def __init__(self, rows: Selected) -> None:
        self.rows = rows

    def __call__(self, batch: dict[str, list[int]]) -> dict[str, list[list[int]]]:
        """{"input_ids", "labels"} of the rows whose places are in the batch; each (T,)."""
        found = [self.rows.row(place) for place in batch["place"]]
        return {"input_ids": [ids for ids, _ in found], "labels": [labels for _, labels in found]}


def dataset(rows: Selected) -> Dataset:
    """A data set of places alone; what stands there is read from the store when a batch is made."""
    return Dataset.from_dict({"place": list(range(len(rows)))}).with_transform(Read(rows))


def check_stage(stage: str, reports: Iterable[dict[str, Any]]) -> None:
    """Raise DataError, code wrong_schema, where a set's rows are not of the kind that the stage learns from."""
    for report in reports:
        if report["schema"] not in ("preference", "kto"):
            continue
        raise DataError(
            "wrong_schema",
            "These rows are not for this stage",
            f"The rows of {report['path']} hold {report['schema']} pairs; {stage} learns from answers.",
            "Choose data with questions and answers.",
        )


def questions(rows: Iterable[Row]) -> list[str]:
    """Short first questions among the first held-out rows, spread evenly: what the run was not trained on."""
    asked = []
    for row in islice(rows, _LOOKED_AT):
        turns = row.value.get("messages", [])
        first = next((str(turn.get("content")) for turn in turns if turn["role"] == "user"), "")
        if first and len(first) < _SHORT:
            asked.append(first)
    step = max(1, len(asked) // _QUESTIONS)
    return asked[::step][:_QUESTIONS]
