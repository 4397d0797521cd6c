"""Which rows train and which are held out: one answer for preview, checks, training and evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field

from ftui import data as datasets
from ftui.data import Options, Report, Row
from ftui.errors import DataError
from ftui.settings import DataSettings


@dataclass
class Chosen:
    """report: of the training data. origin: in words, where the held-out rows come from."""

    report: Report
    train: list[Row] = field(default_factory=list)
    validation: list[Row] = field(default_factory=list)
    origin: str = ""


def choose(data: DataSettings) -> Chosen:
    """Read the data and hold rows out: a file that is named, else the data's own split, else a share."""
    options = Options.of(data)
    loaded = datasets.load(data.train, options)
    train = loaded.splits["train"]
    if data.validation:
        # The file of held-out rows is read as it is: its columns may be named otherwise.
        own = Options(system=data.system)
        held = datasets.load(data.validation, own).splits["train"]
        chosen = Chosen(loaded.report, train, held, f"from {data.validation}")
    elif held := loaded.splits.get("validation") or loaded.splits.get("test") or []:
        name = "validation" if loaded.splits.get("validation") else "test"
        chosen = Chosen(loaded.report, train, held, f"the data's own {name} split")
    elif data.validation_share > 0 and len(train) > 1:
        train, held = datasets.hold_out(train, data.validation_share, data.split_seed)
        chosen = Chosen(
            loaded.report, train, held, f"{data.validation_share:.0%} of the rows, seed {data.split_seed}"
        )
    else:
        chosen = Chosen(loaded.report, train, [], "none are held out")
    if not chosen.train:
        raise DataError(
            "no_usable_rows",
            "There is nothing to learn from",
            f"Of {loaded.report.rows:,} rows in {data.train} none can be used.",
            "See the reasons on the Data tab, or with: python -m ftui inspect",
        )
    return chosen
