"""The data sets that can be chosen without typing, and how an uploaded file becomes one of them."""

from __future__ import annotations

import filecmp
import re
import shutil
from pathlib import Path
from typing import Any

import gradio as gr

from ftui import workspace
from ftui.data import catalogue
from ftui.errors import FtuiError
from ftui.ui.say import say


def sets() -> list[tuple[str, str]]:
    """(words, name) of the samples, and of what lies in the workspace's data folder."""
    samples = sorted((workspace.PRESETS / "samples").glob("*.jsonl"))
    chosen = [
        (say("data.sample", name=path.stem.replace("-", " ")), f"samples/{path.name}")
        for path in samples
        if ".held-out" not in path.name
    ]
    own = sorted(path for path in workspace.data().glob("*") if not path.name.startswith("."))
    return chosen + [found for path in own for found in _of(path)]


def keep(uploaded: str) -> Any:
    """Copy an uploaded file into the workspace under a safe name, and choose it."""
    origin = Path(uploaded)
    workspace.data().mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.]+", "-", origin.name.split(".")[0]).strip("-.").lower()[:80] or "data"
    ending = re.sub(r"[^\w.]+", "-", "".join(origin.suffixes).lower())
    target = workspace.data() / f"{stem}{ending}"
    number = 2
    while target.is_dir() or (target.exists() and not filecmp.cmp(target, origin, shallow=False)):
        target = target.with_name(f"{stem}-{number}{ending}")
        number += 1
    partial = target.with_name(f".{target.name}.part")
    shutil.copyfile(origin, partial)
    partial.replace(target)
    return gr.update(choices=sets(), value=target.name)


def _of(path: Path) -> list[tuple[str, str]]:
    """A file or folder of the workspace; where it is a list of data sets, each of these."""
    listed = path / catalogue.FILE if path.is_dir() else path
    if listed.name != catalogue.FILE or not listed.is_file():
        return [(path.name, path.name)]
    try:
        names = [entry.name for entry in catalogue.entries(listed)]
    except FtuiError:
        return [(path.name, path.name)]  # what is wrong with it is said where it is chosen
    return [(f"{name} · {path.name}", f"{path.name}#{name}") for name in names]


def held_out(source: Any) -> str:
    """The file of held-out rows that lies beside a sample; empty where there is none."""
    if not isinstance(source, str):  # a drop-down whose choices have just changed was seen to send a list
        return ""
    beside = source.replace(".jsonl", ".held-out.jsonl")
    return beside if beside != source and workspace.find(beside) else ""
