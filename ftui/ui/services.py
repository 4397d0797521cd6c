"""What all visitors of one server share: the process that tokenises and the one that holds a model to talk to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ftui import data as datasets
from ftui import settings as schema
from ftui import workspace
from ftui.chat.client import ChatClient
from ftui.data import Loaded, Options
from ftui.data.catalogue import entry_of
from ftui.data.fetching import missing
from ftui.errors import ModelError
from ftui.models.find import find, label
from ftui.service import Event, Service

PREVIEW = Service("ftui.templates.worker")
READER = Service("ftui.data.worker")
CHAT = ChatClient()
_ANSWERS = 64
_answers: dict[str, Event] = {}
# What the tokens alone depend on: the rows that are read are the same.
_TOKENS = {"max_length", "long_rows", "learn", "template", "system_role"}


def readable(name: str) -> str:
    """A data name as it may be read by the page: a path inside the allowed roots by its full path, or a hub id.

    An entry of a `dataset_info.json` is read only where the list and its file both may be. Raises AccessError.
    """
    entry = entry_of(name)
    if entry is not None:
        where, mark, part = name.rpartition("#")
        listed = workspace.check_readable(workspace.find(where if mark else name) or where)
        if entry.path is not None:
            workspace.check_readable(entry.path)
        return f"{listed}#{part}" if mark else str(listed)
    found = workspace.find(name)
    return str(workspace.check_readable(found)) if found is not None else name


def head(name: str, options: Options) -> Loaded:
    """A data set's first rows; kept while the file does not change."""
    path = readable(name)
    return _head(path, _stamp(path), repr(options), _Carried(options))


def records(name: str) -> list[dict[str, Any]]:
    """The first rows of a file as they stand there."""
    return datasets.records(readable(name))


def chosen(settings: schema.Settings) -> Iterator[Event]:
    """`Chosen.to_json` of the data, as the last event under `found`; on the way {done_bytes, total_bytes, rows}.

    Read once while files and settings stay. A data set that is not here yet has None.
    """
    if missing(settings.data):
        yield {"found": None}
        return
    data = _readable(settings.data)
    yield from _once("chosen", READER, {"data": data.model_dump(exclude=_TOKENS)}, _stamps(data))


def account(settings: schema.Settings) -> Iterator[Event]:
    """The counts after tokenising, as the last event under `found`; see `templates.worker.account`."""
    data = _readable(settings.data)
    values = {
        "model": str(model_folder(settings)),
        "data": data.model_dump(),
        "batch": settings.training.batch_size,
    }
    yield from _once("account", PREVIEW, values, _stamps(data))


def last(events: Iterator[Event]) -> Any:
    """What `chosen` or `account` found, waited for."""
    found = None
    for event in events:
        found = event.get("found", found)
    return found


def row(settings: schema.Settings, number: int) -> Event:
    """One row by its number: {value}, or {dropped, raw} where it cannot be used, or {} for none."""
    data = _readable(settings.data)
    return READER.call("row", data=data.model_dump(), number=number)


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


@lru_cache(maxsize=8)
def _head(path: str, stamp: str, key: str, carried: _Carried) -> Loaded:
    return datasets.head(path, carried.options)


def _once(method: str, service: Service, values: dict[str, Any], stamp: str) -> Iterator[Event]:
    """Ask a service what was not asked before; the answers to the last questions are kept."""
    key = repr((method, values, stamp))
    if key not in _answers:
        result: Event = {}
        for event in service.ask(method, **values):
            if event.get("done") is not True:
                yield event
            result = event
        _answers[key] = result
        while len(_answers) > _ANSWERS:
            _answers.pop(next(iter(_answers)))
    yield {"found": _answers[key]}


def _readable(data: schema.DataSettings) -> schema.DataSettings:
    """The settings with every file by its full path. Raises AccessError where the page may not read one."""
    return data.model_copy(
        update={
            "train": readable(data.train),
            "validation": readable(data.validation) if data.validation else "",
            "mix": {readable(name): weight for name, weight in data.mix.items()},
        }
    )


def _stamps(data: schema.DataSettings) -> str:
    return repr([_stamp(name) for name in (data.train, data.validation, *data.mix)])


def _stamp(name: str) -> str:
    """What changes when a file or one of a folder's files does."""
    entry = entry_of(name)
    listed = workspace.find(name.rpartition("#")[0]) if entry and "#" in name else None
    found = [
        path for path in (listed, entry.path if entry else workspace.find(name)) if path and path.exists()
    ]
    paths = [
        inner for path in found for inner in ([path, *sorted(path.iterdir())] if path.is_dir() else [path])
    ]
    return repr([(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in paths])
