"""Which rows of which sets train, and which are held out: decided from row numbers alone.

The page, the checks, the preview and the run all ask here, so they cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ftui.data.split import Numbers, hold_out, numbers_of, repeated, weighed
from ftui.settings import DataSettings

OWN_SPLITS = ("validation", "test")
NAMED = -1


@dataclass(frozen=True)
class Given:
    """A set: its name as the settings have it, how often its rows are seen, and the usable rows of each split."""

    source: str
    weight: float
    splits: dict[str, Numbers]


@dataclass(frozen=True)
class Part:
    """Rows of one split of one set. place: of the set among those given, NAMED for the named file of held-out rows."""

    place: int
    split: str
    numbers: Numbers


@dataclass
class Picked:
    """train, held: parts in the order of the sets. origin: in words, where the held-out rows come from."""

    train: list[Part]
    held: list[Part]
    origin: str


def sources(data: DataSettings) -> list[tuple[str, float]]:
    """The sets that are learned from, each with its weight."""
    return [(data.train, data.weight), *data.mix.items()]


def named_file(data: DataSettings) -> str:
    """The file of held-out rows, where one is named and rows are held out by themselves; else ""."""
    return data.validation if data.held_out == "auto" else ""


def measuring_split(splits: Iterable[str]) -> str:
    """The split of a named source that is measured on: its validation rows, else its test rows, else all it has."""
    return next((name for name in OWN_SPLITS if name in splits), "train")


def needed_split(data: DataSettings, splits: list[str]) -> str:
    """The split of its own that a set's held-out rows come from, "" where they come from elsewhere."""
    if data.validation or data.held_out != "auto":
        return ""
    return next((name for name in OWN_SPLITS if name in splits), "")


def pick(given: list[Given], data: DataSettings, named: Mapping[str, Numbers] | None = None) -> Picked:
    """Hold rows out of each set and weigh the others. named: the splits of `named_file`, None where there is none.

    In this order: a weight below 1 takes its share of the rows; of these some are held out; what is left is seen
    as often as the weight says. So held-out rows are never trained on, and never counted twice.
    """
    picked = Picked([], [], "none are held out")
    origins: dict[str, None] = {}
    for place, each in enumerate(given):
        rows = weighed(each.splits["train"], each.weight, data.split_seed)
        held, split, origin = numbers_of(), "train", ""
        own = needed_split(data, [name for name in OWN_SPLITS if each.splits.get(name)])
        if own:
            held, split, origin = each.splits[own], own, f"the data's own {own} split"
        elif named is None and data.held_out != "none" and data.validation_share > 0:
            rows, held = hold_out(rows, data.validation_share, data.split_seed)
            origin = f"{data.validation_share:.0%} of the rows, seed {data.split_seed}" if held else ""
        if origin:
            origins[origin] = None
        picked.train.append(Part(place, "train", repeated(rows, each.weight, data.split_seed)))
        if held:
            picked.held.append(Part(place, split, held))
    if named is not None:
        split = measuring_split([name for name, rows in named.items() if rows])
        picked.held = [Part(NAMED, split, named[split])]
        of = f"the {split} split of " if len(named) > 1 else ""
        picked.origin = f"from {of}{Path(data.validation).name}"
    elif origins:
        picked.origin = "; ".join(origins)
    return picked
