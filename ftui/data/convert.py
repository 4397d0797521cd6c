"""Writes any readable data set as clean canonical JSON lines, which train the same as what they were made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ftui import files
from ftui.data.chosen import Side, choose
from ftui.data.load import DataSet, Told
from ftui.data.options import Options
from ftui.data.row import Row
from ftui.settings import DataSettings


def convert(data: DataSettings, out: Path, told: Told | None = None) -> dict[str, Any]:
    """{"files": [paths], "rows": {split: count}}.

    out: the file of the train rows. Where a share of them is held out, each side has a file beside it instead:
    OUT-stem.train.jsonl and OUT-stem.validation.jsonl. The data's own splits keep their names: OUT-stem.test.jsonl.
    Raises DataError.
    """
    chosen = choose(data, told)
    sides: dict[str, Iterable[Row]] = {"train": chosen.train}
    whole = DataSet(data.train, Options.of(data))
    sides |= {split: whole.rows(split, told) for split in whole.splits if split != "train"}
    shared = Side(data, [part for part in chosen.validation.parts if part.split == "train"])
    if shared.parts:
        sides["validation"] = shared
    targets = {name: out.with_name(f"{out.stem}.{name}.jsonl") for name in sides}
    if not shared.parts:
        targets["train"] = out
    rows = {
        name: files.write_json_lines(targets[name], (row.value for row in side))
        for name, side in sides.items()
    }
    empty = [name for name, count in rows.items() if not count]
    for name in empty:
        targets[name].unlink()
    return {
        "files": [str(path) for name, path in targets.items() if name not in empty],
        "rows": {name: count for name, count in rows.items() if count},
    }
