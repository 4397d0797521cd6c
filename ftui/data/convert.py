"""Writes any readable data set as clean canonical JSON lines, which read back as equal rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ftui import files
from ftui.data.load import load
from ftui.data.options import DETECTED, Options
from ftui.data.split import hold_out


def convert(
    source: str | Path, out: Path, options: Options = DETECTED, share: float = 0.0, seed: int = 42
) -> dict[str, Any]:
    """{"files": [paths], "rows": {split: count}}.

    out: the file of the train rows. With a share above 0, or where the source has splits of its own, each split
    has a file beside it: OUT-stem.train.jsonl, OUT-stem.validation.jsonl …; without a share the train rows stay
    in `out`. A share holds rows out only where the source has no validation rows. Raises DataError.
    """
    splits = load(source, options).splits
    if share > 0 and "validation" not in splits:
        train, held_out = hold_out(splits["train"], share, seed)
        splits = {"train": train} | ({"validation": held_out} if held_out else {}) | splits | {"train": train}
    targets = {name: out.with_name(f"{out.stem}.{name}.jsonl") for name in splits}
    if share <= 0:
        targets["train"] = out
    for name, rows in splits.items():
        files.write_json_lines(targets[name], (row.value for row in rows))
    return {
        "files": [str(path) for path in targets.values()],
        "rows": {name: len(rows) for name, rows in splits.items()},
    }
