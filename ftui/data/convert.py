"""Writes any readable data set as clean canonical JSON lines, which train the same as what they were made from."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ftui import files
from ftui.data.chosen import Chosen, Side, choose, data_set, one_kind
from ftui.data.fetching import local
from ftui.data.load import Told
from ftui.data.pick import NAMED, Part, sources
from ftui.data.split import numbers_of
from ftui.errors import DataError
from ftui.settings import DataSettings


def convert(data: DataSettings, out: Path, told: Told | None = None) -> dict[str, Any]:
    """{"files": [paths], "rows": {split: count}}.

    out: the file of the train rows. Where a share of them is held out, each side has a file beside it instead:
    OUT-stem.train.jsonl and OUT-stem.validation.jsonl. The data's own splits keep their names: OUT-stem.test.jsonl.
    Nothing is written until all of it can be. told: of reading and of writing; what it raises ends either.
    Raises DataError: wrong_schema where sets of several kinds come together, bad_output for an `out` that is taken.
    """
    _no_folder(out)
    chosen = choose(data, told)
    one_kind(chosen)
    sides = _sides(chosen)
    targets = {name: out.with_name(f"{out.stem}.{name}.jsonl") for name in sides}
    if not any(part.split == "train" and part.place != NAMED for part in chosen.validation.parts):
        targets["train"] = out
    for target in targets.values():
        _no_folder(target)
        _no_input(target, chosen)
    return {"files": [str(path) for path in targets.values()], "rows": _write(sides, targets, told)}


def _sides(chosen: Chosen) -> dict[str, Side]:
    """The rows of each file: those that train, those that are held out, and the splits that are neither."""
    held = chosen.validation.parts
    sides = {"train": chosen.train}
    if held:
        own_test = all(part.split == "test" and part.place != NAMED for part in held)
        sides["test" if own_test else "validation"] = chosen.validation
    used = {(part.place, part.split) for part in held}
    more: dict[str, list[Part]] = {}
    for place, look in enumerate(chosen.looks):
        for split, numbers in look.splits.items():
            if split != "train" and numbers and (place, split) not in used:
                # The name is taken where other rows are held out: this split is kept, and held out by no one.
                more.setdefault(f"own-{split}" if split in sides else split, []).append(
                    Part(place, split, numbers)
                )
    return sides | {name: Side(chosen.train.data, parts) for name, parts in more.items()}


def _write(sides: dict[str, Side], targets: dict[str, Path], told: Told | None) -> dict[str, int]:
    """Rows of each side; no file takes its place before all are written."""
    counts = dict.fromkeys(sides, 0)
    with ExitStack() as written:
        for name, side in sides.items():
            out = written.enter_context(files.replaced(targets[name]))
            for row in side.rows(told):
                out.write(json.dumps(row.value, ensure_ascii=False) + "\n")
                counts[name] += 1
            out.flush()  # a full disk is noticed here, while the others still stand as they were
    return counts


def _no_folder(target: Path) -> None:
    if target.is_dir():
        raise _bad_output(f"{target} is a folder.", f"Give a file in it: {target / 'data.jsonl'}")
    above = next((folder for folder in target.parents if folder.exists()), None)
    if above is not None and not above.is_dir():
        raise _bad_output(f"{above} is a file, so nothing can be written below it.", "Give another folder.")


def _no_input(target: Path, chosen: Chosen) -> None:
    """What a person brought is never replaced, under whatever name it is reached."""
    if target.exists() and any(target.samefile(file) for file in _inputs(chosen)):
        raise _bad_output(
            f"{target} is one of the files that the rows come from.", "Give the new file another name."
        )


def _inputs(chosen: Chosen) -> list[Path]:
    """The files that rows are read from, and what is named beside them: a list of data sets, an unused file."""
    data = chosen.train.data
    places = [*range(len(chosen.looks)), *([NAMED] if chosen.held_look else [])]
    read = [file for place in places for file in data_set(data, Part(place, "train", numbers_of())).files]
    names = [data.validation, *(name.rpartition("#")[0] or name for name, _ in sources(data))]
    return read + [found for name in names if (found := local(name))]


def _bad_output(told: str, fix: str) -> DataError:
    return DataError("bad_output", "The rows cannot be written there", told, fix)
