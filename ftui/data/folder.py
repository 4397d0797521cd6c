"""Chooses the data among the files of a folder: splits by their names, and what lies beside them named as skipped.

A report, a card or a licence beside the data must never become rows, so where any file is named after a split,
only such files are data; else the files that hold rows of the same shape as the largest one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ftui.data import problems
from ftui.data.names import split_name
from ftui.data.source import PACKED_ENDINGS
from ftui.errors import DataError

_ENDINGS = (
    ".jsonl",
    ".ndjson",
    ".jsonlines",
    ".json",
    ".csv",
    ".tsv",
    ".tab",
    ".parquet",
    ".arrow",
    ".feather",
    ".jsonc",
    ".json5",
    ".xlsx",
    ".txt",
)
_SIDECARS = {
    "dataset_info", "dataset_infos", "dataset_dict", "state", "config", "metadata", "package", "requirements",
    "readme", "license", "licence", "changelog",
}  # fmt: skip
_TELLING = {
    "report", "reports", "stats", "statistics", "results", "args", "arguments", "log", "logs", "summary", "metrics",
    "dropped", "rejected", "removed",
}  # fmt: skip
_MAX_FILES = 10_000


@dataclass
class Choice:
    """files of each split, "train" always among them; skipped: names; renamed: the split that train really is."""

    files: dict[str, list[Path]]
    skipped: list[str] = field(default_factory=list)
    renamed: str = ""


def choose(folder: Path, shape: Callable[[Path], str]) -> Choice:
    """shape: the schema of a file, may raise DataError. Raises DataError where there is no data at all."""
    paths = _walk(folder)
    data = [path for path in paths if _is_data(path)]
    data = [path for path in data if not _is_told(path)] or data
    if not data:
        raise problems.empty_folder(folder, [path.name for path in paths])
    named: dict[str, list[Path]] = {}
    for path in data:
        if split := split_of(path.relative_to(folder)):
            named.setdefault(split, []).append(path)
    renamed = ""
    if not named:
        named = {"train": _of_one_shape(data, shape)}
    elif "train" not in named:
        renamed = "validation" if "validation" in named else "test"
        named = {"train": named.pop(renamed)} | named
    used = {path for files in named.values() for path in files}
    skipped = [str(path.relative_to(folder)) for path in paths if path not in used]
    return Choice(named, skipped, renamed)


def split_of(path: Path) -> str:
    """The split that a relative path names, "" for none: its file name first, then its folders from within."""
    for part in reversed(path.parts):
        if split := split_name(part):
            return split
    return ""


def _walk(folder: Path) -> list[Path]:
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(root) / name for name in names if not name.startswith(".")]
        if len(found) > _MAX_FILES:
            break
    return sorted(path for path in found if path.is_file())


def _is_data(path: Path) -> bool:
    name = path.name.lower()
    name = next((name.removesuffix(end) for end in PACKED_ENDINGS if name.endswith(end)), name)
    return name.endswith(_ENDINGS) and name[: name.rfind(".")] not in _SIDECARS


def _is_told(path: Path) -> bool:
    """Whether a file tells about data or a run, by its name: train_report.json is no train split."""
    return bool(_TELLING & set(re.split(r"[^a-z]+", path.name.lower())))


def _of_one_shape(paths: list[Path], shape: Callable[[Path], str]) -> list[Path]:
    """The files that have the shape of the largest file with rows. Raises the largest file's error if none has."""
    shapes: dict[Path, str] = {}
    first: DataError | None = None
    for path in sorted(paths, key=lambda path: -path.stat().st_size):
        try:
            shapes[path] = shape(path)
        except DataError as error:
            first = first or error
    if not shapes:
        assert first is not None  # there is at least one path, and each has a shape or an error
        raise first
    # plain text is what notes are written in: it is data only where nothing else is
    wanted = next((found for found in shapes.values() if found != "text"), "text")
    return [path for path in paths if shapes.get(path) == wanted]
