"""Names of data sets on the Hugging Face hub, and where the workspace keeps those that were fetched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ftui import workspace

# Each part begins with a letter or digit, as the hub has it too: no path such as ../.. reads as a name.
_NAME = re.compile(r"(?P<id>\w[\w.-]*/\w[\w.-]*)(?::(?P<config>\w[\w.-]*))?(?:@(?P<split>\w[\w.\[\]%:-]*))?")
_MAX_NAME = 200
_LIMIT = re.compile(r"\[:(\d+)\]$")


class HubName(NamedTuple):
    """id: owner/name; config and split: "" for the set's own default and for all splits."""

    id: str
    config: str
    split: str


def is_hub_name(name: str) -> bool:
    """Whether a name could be one of the hub: owner/name, perhaps with :config and @split, and no ending of a file."""
    # The hub's own names end at 96 characters; a folder of a longer name could not be made.
    return (
        len(name) <= _MAX_NAME
        and _NAME.fullmatch(name) is not None
        and not re.search(
            r"\.(json[l5c]?|ndjson|csv|tsv|parquet|arrow|feather|xlsx|txt|md|gz|bz2|xz|zst)$", name.lower()
        )
    )


def parse(name: str) -> HubName:
    """The parts of a hub name; any other name, such as the path of a folder, is all id."""
    found = _NAME.fullmatch(name)
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
    """Where the workspace keeps what a name fetches."""
    return folder_of(parse(name))


def folder_of(wanted: HubName) -> Path:
    """One folder a set and config. A split or its first rows have one of their own: a part is never the whole."""
    safe = "--".join(part for part in (wanted.id.replace("/", "--"), wanted.config) if part)
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", safe).strip(".-") or "set"
    return workspace.data() / "hub" / (f"{safe}@{file_stem(wanted.split)}" if wanted.split else safe)


def fetched(name: str) -> Path | None:
    """The folder of a set that was fetched, or the file of its split; None where it was not."""
    if not is_hub_name(name):
        return None
    wanted = parse(name)
    whole = folder_of(wanted._replace(split=""))
    file = f"{file_stem(wanted.split)}.jsonl"
    # A split that came with the whole set need not be fetched again.
    places = [folder_of(wanted) / file, whole / file] if wanted.split else [whole]
    return next((place for place in places if place.exists()), None)


def file_stem(split: str) -> str:
    """The file name, without its ending, under which a split is kept."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", split).strip(".-") or "train"
