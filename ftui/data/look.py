"""A whole look at one set: its report, its usable rows by number, and the dropped rows as a file.

The look streams in flat memory and is kept in the workspace until file, options or ftui's own code change.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ftui import cache, files
from ftui.data.dropped import DroppedFile, as_table, is_table
from ftui.data.load import DataSet, Told
from ftui.data.options import DETECTED, Options
from ftui.data.split import Numbers, numbers_of


@dataclass(frozen=True)
class Look:
    """report: as `inspect --json`. splits: split to the numbers of its usable rows. dropped: None where none is.

    with_system: how many usable rows have a system turn.
    """

    report: dict[str, Any]
    splits: dict[str, Numbers]
    dropped: Path | None
    report_file: Path
    with_system: int


def look(source: str | Path, options: Options = DETECTED, told: Told | None = None) -> Look:
    """Look at a set, or at what was found when it was last looked at. Raises DataError."""
    found = DataSet(source, options)
    named = (str(source), found.described(), asdict(found.options), cache.versions("pyarrow", "openpyxl"))
    name = cache.key(*named, cache.contents(found.files), cache.code("data"))
    folder = cache.entry("reports", name, lambda made: _make(made, found, told), _whole)
    made = files.read_json(folder / "look.json")
    return Look(
        made["report"],
        {split: _numbers(folder / f"{split}.rows") for split in made["splits"]},
        folder / made["dropped"] if made["dropped"] else None,
        folder / "report.json",
        made["with_system"],
    )


def _make(folder: Path, found: DataSet, told: Told | None) -> None:
    with DroppedFile(folder) as dropped:
        for split in found.splits:
            lost = dropped.add if split == "train" else None
            numbers = numbers_of(row.number for row in found.rows(split, told, lost))
            with (folder / f"{split}.rows").open("wb") as out:
                numbers.tofile(out)
    name = ""
    if dropped.count:
        name = dropped.path.name
        if is_table(found.report.file_format):
            name = "dropped.csv"
            as_table(dropped.path, folder / name)
    report = found.report.to_json()
    files.write_json(folder / "report.json", report)
    files.write_json(
        folder / "look.json",
        {
            "report": report,
            "splits": found.splits,
            "dropped": name,
            "with_system": found.report.with_system,
        },
    )


def _whole(folder: Path) -> bool:
    made = files.read_json(folder / "look.json")
    return isinstance(made, dict) and (folder / "report.json").is_file()


def _numbers(path: Path) -> Numbers:
    numbers = numbers_of()
    numbers.frombytes(path.read_bytes())
    return numbers
