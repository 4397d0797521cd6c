"""Exports that were made and proved before, so that the same model is not merged twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ftui.export import weights
from ftui.jobs import folder
from ftui.models.source import Source


def earlier(run: str, checkpoint: str, source: Source, dtype: str) -> tuple[Path, dict[str, Any]] | None:
    """(folder, result) of a finished export of the very same weights that is still as it was written."""
    identity: dict[str, object] | None = None
    for job in folder.listed("export"):
        result = job.result()
        same = (result.get("run"), result.get("checkpoint"), result.get("dtype")) == (run, checkpoint, dtype)
        if result.get("outcome") != "finished" or not same or not result.get("proof"):
            continue
        made = job.folder / "model"
        identity = identity or weights.identity(source)
        if result.get("identity") == identity and weights.hashes(made) == result.get("files"):
            return made, result
    return None
