"""Which models are on this machine already, so that nothing is fetched twice and the page can say so.

The page's server asks this, so neither torch nor transformers is imported.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from huggingface_hub import constants, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from ftui import workspace

STARTER = "starter"
STARTER_REPO = "HuggingFaceTB/SmolLM2-135M-Instruct"
MANIFEST = "manifest.json"

_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tekken.json", "spiece.model")


def find(model_id: str, revision: str = "") -> Path | None:
    """The folder of a complete model on this machine; None where it has to be fetched.

    model_id: `starter`, a folder, or a model of the hub, looked for in the hub's own cache.
    """
    if is_starter(model_id):
        own = starter_folder()
        # The manifest is written last: without it a conversion was cut short.
        if revision in ("", "main") and (own / MANIFEST).is_file():
            return own
        return _cached(STARTER_REPO, revision)
    folder = Path(model_id).expanduser()
    # os.path's own test, since a name can be too long to be a path at all
    if model_id.strip() and os.path.isfile(folder / "config.json"):
        return folder.resolve()
    return _cached(model_id, revision)


def is_starter(model_id: str) -> bool:
    """Whether an id means the model that needs no hub."""
    return model_id in (STARTER, STARTER_REPO)


def starter_folder() -> Path:
    """Where the starter model is put when it does not come from the hub."""
    return workspace.models() / STARTER_REPO.rpartition("/")[2]


def label(model_id: str) -> str:
    """A short name for people: the part after the owner, a folder's name, or the run a folder belongs to."""
    if is_starter(model_id):
        return STARTER_REPO.rpartition("/")[2]
    path = Path(model_id).expanduser()
    if path.is_absolute() and path.is_relative_to(workspace.jobs()):
        run, *rest = path.relative_to(workspace.jobs()).parts or (path.name,)
        return f"{run} {rest[-1]}" if rest and rest[-1].startswith("checkpoint-") else run
    return path.name or model_id


def hub_cache() -> Path:
    """The hub's cache. Read from the environment at each call; the library reads it once, when imported."""
    if named := os.environ.get("HF_HUB_CACHE"):
        return Path(named).expanduser()
    if home := os.environ.get("HF_HOME"):
        return Path(home).expanduser() / "hub"
    return Path(constants.HF_HUB_CACHE)


def complete(folder: Path) -> bool:
    """Whether a folder holds all that loading needs: config, tokenizer, and every file of weights."""
    if not (folder / "config.json").is_file():
        return False
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        return False
    if (folder / "model.safetensors").is_file():
        return True
    try:
        index = json.loads((folder / "model.safetensors.index.json").read_text("utf-8"))
        shards = set(index["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return bool(shards) and all((folder / name).is_file() for name in shards)


def _cached(repo: str, revision: str) -> Path | None:
    try:
        config = try_to_load_from_cache(repo, "config.json", cache_dir=hub_cache(), revision=revision or None)
    except (HFValidationError, ValueError, OSError):
        return None
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    return folder if complete(folder) else None
