"""Names of data sets on the Hugging Face hub, and where the workspace keeps those that were fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ftui import workspace

_NAME = re.compile(r"(?P<id>[\w.-]+/[\w.-]+)(?::(?P<config>[\w.-]+))?(?:@(?P<split>[\w.\[\]%:-]+))?")
_LIMIT = re.compile(r"\[:(\d+)\]$")


class HubName(NamedTuple):
    """id: owner/name; config and split: "" for the set's own default and for all splits."""

    id: str
    config: str
    split: str


def is_hub_name(name: str) -> bool:
    """Whether a name could be one of the hub: owner/name, perhaps with :config and @split, and no ending of a file."""
    return _NAME.fullmatch(name) is not None and not re.search(
        r"\.(json[l5c]?|ndjson|csv|tsv|parquet|arrow|feather|xlsx|txt|md|gz|bz2|xz|zst)$", name.lower()
    )


def parse(name: str) -> HubName:
    """The parts of a hub name; a folder's path is all id."""
    found = None if Path(name).exists() else _NAME.fullmatch(name)
    if found is None:
        return HubName(name, "", "")
    return HubName(found["id"], found["config"] or "", found["split"] or "")


def whole_split(split: str) -> str:
    """The split without a limit on its rows."""
    return _LIMIT.sub("", split)


def limit_of(split: str) -> int | None:
    """How many first rows a split such as `train[:1000]` means, None for all."""
    found = _LIMIT.search(split)
    return int(found[1]) if found else None


def hub_folder(name: str) -> Path:
    """Where the workspace keeps a fetched set, one folder a set and config."""
    wanted = parse(name)
    safe = "--".join(part for part in (wanted.id.replace("/", "--"), wanted.config) if part)
    return workspace.data() / "hub" / (re.sub(r"[^A-Za-z0-9._-]+", "-", safe).strip(".-") or "set")


def fetched(name: str) -> Path | None:
    """The folder of a set that was fetched, or the file of its split; None where it was not."""
    if not is_hub_name(name):
        return None
    folder = hub_folder(name)
    split = parse(name).split
    found = folder / f"{file_stem(split)}.jsonl" if split else folder
    return found if found.exists() else None


def file_stem(split: str) -> str:
    """The file name, without its ending, under which a split is kept."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", split).strip(".-") or "train"
