"""Fetches a data set of the Hugging Face hub into the workspace, in a process of its own.

    python -m ftui.data.hub OWNER/NAME[:CONFIG][@SPLIT] [--config C] [--split S]

SPLIT may end in `[:1000]`: rows are streamed, so of a set of terabytes the first thousand cost no more than that.
HF_ENDPOINT names a mirror. Prints one JSON object a line: {"done", "total"} as rows arrive, then {"folder"} or
{"error"}.
`datasets` is imported only there: the page reads the files that this process wrote.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from ftui.data import problems
from ftui.data.hub_names import HubName, file_stem, folder_of, limit_of, parse, whole_split
from ftui.errors import DataError, FtuiError, as_error

_REPORT_EVERY = 1_000


def fetch(wanted: HubName, folder: Path) -> Path:
    """Stream a set into folder/<split>.jsonl, which is there when all of it is, or not at all.

    Raises DataError: not_found, not_reachable, too_large.
    """
    _say({"done": 0, "total": None})  # opening takes seconds: the page hears that it has begun
    streams = _open(wanted)
    _check_size(wanted, streams)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        size, done, total = 0, 0, _total(streams, limit_of(wanted.split))
        made = Path(temporary) / "new"
        made.mkdir()
        for split, rows in streams.items():
            with (made / f"{file_stem(split)}.jsonl").open("wb") as out:
                for row in islice(rows, limit_of(wanted.split)):
                    line = json.dumps(row, ensure_ascii=False, default=str) + "\n"
                    size += out.write(line.encode("utf-8", "replace"))
                    done += 1
                    if size > problems.MAX_BYTES:
                        raise _too_large(wanted, size)
                    if done % _REPORT_EVERY == 0:
                        _say({"done": done, "total": total})
        _say({"done": done, "total": total})
        if folder.exists():
            os.replace(folder, Path(temporary) / "old")
        os.replace(made, folder)
    return folder


def main(arguments: list[str] | None = None) -> int:
    """The child process. Returns 0, or 2 where the person can mend it."""
    parser = argparse.ArgumentParser(prog="python -m ftui.data.hub", description=__doc__.splitlines()[0])
    parser.add_argument("name", metavar="OWNER/NAME")
    parser.add_argument("--config", default="")
    parser.add_argument("--split", default="")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    named = parse(given.name)
    wanted = HubName(named.id, given.config or named.config, given.split or named.split)
    try:
        folder = fetch(wanted, folder_of(wanted))
    except FtuiError as error:
        _say({"error": error.to_json()})
        return 2
    except Exception as error:
        _say({"error": as_error(error, "the output of this command").to_json()})
        print(repr(error), file=sys.stderr)
        return 1
    _say({"folder": str(folder)})
    return 0


def _end(*_: object) -> NoReturn:
    """End as an exception does, so that the half-fetched files go away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def _open(wanted: HubName) -> dict[str, Any]:
    """split → iterable of rows, streamed."""
    import datasets

    try:
        opened = datasets.load_dataset(
            wanted.id, wanted.config or None, split=whole_split(wanted.split) or None, streaming=True
        )
    except datasets.exceptions.DatasetNotFoundError as error:
        raise _not_reachable(wanted, error) if "reach" in str(error) else _not_found(wanted, error) from None
    except ValueError as error:  # an unknown config or split; the message lists the known ones
        raise DataError(
            "not_found",
            "No such part of the data set",
            f"{wanted.id}: {_first(error)}",
            "Name one of the configs or splits that it has.",
        ) from None
    except Exception as error:  # hub, HTTP and socket errors have no base of their own
        raise _not_reachable(wanted, error) from None
    return dict(opened) if isinstance(opened, dict) else {wanted.split: opened}


def _check_size(wanted: HubName, streams: dict[str, Any]) -> None:
    """Refuse what could not be read afterwards, before hours of fetching; a limit on the rows is let through."""
    if limit_of(wanted.split):
        return
    if wanted.split:  # one split may be small where the set is not; an unknown size is counted as it comes
        known = [_size_of(split, rows) for split, rows in streams.items()]
    else:
        known = [getattr(rows.info, "dataset_size", None) or 0 for rows in streams.values()]
    size = max(known, default=0)
    if size > problems.MAX_BYTES:
        raise _too_large(wanted, size)


def _size_of(split: str, rows: Any) -> int:
    """Bytes of a split, 0 where they are not known."""
    known = (getattr(rows.info, "splits", None) or {}).get(whole_split(split))
    return getattr(known, "num_bytes", None) or 0


def _too_large(wanted: HubName, size: int) -> DataError:
    name = f"{wanted.id}:{wanted.config}" if wanted.config else wanted.id
    return DataError(
        "too_large",
        "The data set is too large to fetch whole",
        f"{wanted.id} has {size / 1024**3:.0f} GB; at most {problems.MAX_BYTES / 1024**3:.0f} GB are read.",
        f"Take its first rows: {name}@{whole_split(wanted.split) or 'train'}[:100000]",
    )


def _total(streams: dict[str, Any], limit: int | None) -> int | None:
    counts: list[int | None] = []
    for split, rows in streams.items():
        known = getattr(rows.info, "splits", None) or {}
        name = whole_split(split)
        count = known[name].num_examples if name in known else None
        counts.append(min(count, limit) if count and limit else count)
    return sum(count for count in counts if count) if counts and all(counts) else None


def _not_reachable(wanted: HubName, error: Exception) -> DataError:
    return DataError(
        "not_reachable",
        "The hub cannot be reached",
        f"{wanted.id} was asked for, and the answer was: {_first(error)}",
        "Check the connection (HF_ENDPOINT names a mirror, HF_TOKEN a login), or download the files and upload them.",
    )


def _not_found(wanted: HubName, error: Exception) -> DataError:
    return DataError(
        "not_found",
        "No such data set on the hub",
        f"{wanted.id}: {_first(error)}",
        "Check the name, and log in with `hf auth login` where the set is gated or private.",
    )


def _first(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def _say(value: dict[str, Any]) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
