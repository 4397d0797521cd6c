"""Bring a data set of the hub to this machine, in a child process that alone imports `datasets`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ftui import workspace
from ftui.data.catalogue import Entry, entry_of
from ftui.data.hub_names import fetched, is_hub_name
from ftui.data.pick import named_file
from ftui.errors import DataError, FtuiError
from ftui.settings import DataSettings

_GRACE_S = 5.0


def needs_fetch(name: str) -> bool:
    """Whether a data name means a set of the hub that is not here yet."""
    entry = _entry(name)
    if entry is not None:
        return bool(entry.hub) and entry.place is None
    return is_hub_name(name) and local(name) is None and fetched(name) is None


def local(name: str) -> Path | None:
    """`workspace.find` for any text that a person or a list may hold."""
    try:
        return workspace.find(name)
    except (OSError, ValueError):  # a name that no file system takes: too long, or with a zero byte
        return None


def missing(data: DataSettings) -> list[str]:
    """The sets of the hub among these settings that are not here yet."""
    return [name for name in (data.train, *data.mix, named_file(data)) if name and needs_fetch(name)]


def hub_name(name: str) -> str:
    """The name on the hub of an entry of a list of data sets; any other name as it is."""
    entry = _entry(name)
    return entry.hub if entry and entry.hub else name


def full_name(name: str) -> str:
    """A data name by its full path, so that it means the same from any folder; a hub name as it is."""
    where, mark, part = name.rpartition("#")
    found = local(name)
    if found is None and mark and (listed := local(where)):
        return f"{listed}#{part}"
    return str(found) if found is not None else name


def fetch(name: str, progress: Callable[[int, int | None], None]) -> str:
    """Fetch a set and return its folder. progress: rows done, and in all where that is known.

    Raises DataError as the child reports it: not_found, not_reachable, unknown_split; or not_fetched.
    """
    last: dict[str, Any] = {}
    with subprocess.Popen(
        [sys.executable, "-m", "ftui.data.hub", hub_name(name)], stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            for line in child.stdout or ():
                last = json.loads(line)
                if "done" in last:
                    progress(last["done"], last["total"])
        except BaseException:
            _end(child)
            raise
    if "error" in last:
        raise FtuiError.from_json(last["error"])
    if "folder" not in last:
        raise DataError(
            "not_fetched",
            "The data set was not fetched",
            f"The process that fetches {name} ended with code {child.returncode}.",
            "See the log of this job, and start it again.",
        )
    return str(last["folder"])


def _end(child: subprocess.Popen[str]) -> None:
    """Ask the child to end, which takes its half-fetched files away; a deaf one is killed."""
    child.terminate()
    try:
        child.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()


def _entry(name: str) -> Entry | None:
    try:
        return entry_of(name)
    except DataError:  # whoever reads the rows says what is wrong with the list
        return None
