"""What all visitors of one server share: the process that tokenises and the one that holds a model to talk to."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from ftui import data as datasets
from ftui import settings as schema
from ftui import workspace
from ftui.chat.client import ChatClient
from ftui.data import Loaded, Options
from ftui.data.fetching import needs_fetch
from ftui.errors import ModelError
from ftui.models.find import find, label
from ftui.service import Service
from ftui.templates.rows import Chosen, choose

PREVIEW = Service("ftui.templates.worker")
CHAT = ChatClient()


def readable(name: str) -> str:
    """A data name as it may be read by the page: a path inside the allowed roots by its full path, or a hub id."""
    found = workspace.find(name)
    return str(workspace.check_readable(found)) if found is not None else name


def load(name: str, options: Options) -> Loaded:
    """A data set's rows and report; kept while the file does not change."""
    path = readable(name)
    return _load(path, _stamp(path), repr(options), _Carried(options))


def account(settings: schema.Settings) -> dict[str, Any]:
    """The counts after tokenising: `train`, `held_out`, `lengths`, `dropped`. Takes seconds the first time."""
    folder = model_folder(settings)
    data = settings.data.model_copy(update={"train": readable(settings.data.train)})
    if data.validation:
        data.validation = readable(data.validation)
    stamp = f"{_stamp(data.train)}{_stamp(data.validation)}"
    return _account(str(folder), data.model_dump_json(), stamp)


def chosen(settings: schema.Settings) -> Chosen | None:
    """The rows that would train and those held out; read once while files and settings stay. None: not here yet."""
    if needs_fetch(settings.data.train):
        return None
    data = settings.data
    return _chosen(data.model_dump_json(), f"{_stamp(data.train)}{_stamp(data.validation)}")


def preview(settings: schema.Settings, number: int, value: dict[str, Any]) -> dict[str, Any]:
    """One row as the model sees it: `rows` with their pieces, or `dropped` with the reason."""
    folder = model_folder(settings)
    rows = [{"number": number, "value": value}]
    return PREVIEW.call("preview", model=str(folder), rows=rows, data=settings.data.model_dump())


def model_folder(settings: schema.Settings) -> Path:
    """The folder of the settings' model. Raises ModelError, code not_here, where it has not been fetched."""
    found = find(settings.model.id, settings.model.revision)
    if found is None:
        raise ModelError(
            "not_here",
            "The model is not here yet",
            f"{label(settings.model.id)} has not been fetched to this machine.",
            "Press Fetch, or Start, which fetches it first.",
        )
    return found


class _Carried:
    """Options through a cache whose key is their text: they hold a dict and cannot be hashed themselves."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Carried)


@lru_cache(maxsize=4)
def _load(path: str, stamp: str, key: str, carried: _Carried) -> Loaded:
    return datasets.load(path, carried.options)


@lru_cache(maxsize=2)
def _chosen(data: str, stamp: str) -> Chosen:
    return choose(schema.DataSettings.model_validate_json(data))


@lru_cache(maxsize=32)
def _account(model: str, data: str, stamp: str) -> dict[str, Any]:
    return PREVIEW.call(
        "account", model=model, data=schema.DataSettings.model_validate_json(data).model_dump()
    )


def _stamp(name: str) -> str:
    """What changes when a file or one of a folder's files does."""
    found = workspace.find(name)
    if found is None:
        return ""
    paths = [found, *sorted(found.iterdir())] if found.is_dir() else [found]
    return repr([(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in paths])
