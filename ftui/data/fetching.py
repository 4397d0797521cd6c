"""Bring a data set of the hub to this machine, in a child process that alone imports `datasets`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from ftui import workspace
from ftui.data.hub_names import fetched, is_hub_name
from ftui.errors import DataError, FtuiError


def needs_fetch(name: str) -> bool:
    """Whether a data name means a set of the hub that is not here yet."""
    return workspace.find(name) is None and is_hub_name(name) and fetched(name) is None


def fetch(name: str, progress: Callable[[int, int | None], None]) -> str:
    """Fetch a set and return its folder. progress: rows done, and in all where that is known.

    Raises DataError as the child reports it: not_found, not_reachable, unknown_split; or not_fetched.
    """
    last: dict[str, Any] = {}
    with subprocess.Popen(
        [sys.executable, "-m", "ftui.data.hub", name], stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            for line in child.stdout or ():
                last = json.loads(line)
                if "done" in last:
                    progress(last["done"], last["total"])
        except BaseException:
            child.kill()
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
