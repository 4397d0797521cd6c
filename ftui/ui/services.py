"""What all visitors of one server share: the process that tokenises and the one that holds a model to talk to."""

from __future__ import annotations

import os
import threading
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
from ftui.data.fetching import local, missing
from ftui.errors import FtuiError, ModelError
from ftui.models.find import find, label
from ftui.service import Event, Service

PREVIEW = Service("ftui.templates.worker")
READER = Service("ftui.data.worker")
CHAT = ChatClient()
_ANSWERS = 16
_FILES = 10_000  # of a folder, whose changes are seen
_WAIT_S = 0.2
_answers: dict[str, Event] = {}
_asking: dict[str, threading.Lock] = {}
# What the tokens alone depend on: the rows that are read are the same.
_TOKENS = {"max_length", "long_rows", "learn", "template", "system_role"}


def readable(name: str) -> str:
    """A data name as it may be read by the page: a path inside the allowed roots by its full path, or a hub id.

    An entry of a `dataset_info.json` is read only where the list and its file both may be. Raises AccessError.
    """
    entry = entry_of(name)
    if entry is not None:
        where, mark, part = name.rpartition("#")
        listed = workspace.check_readable(local(where if mark else name) or where)
        if entry.place is not None:
            workspace.check_readable(entry.place)
        return f"{listed}#{part}" if mark else str(listed)
    found = local(name)
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
    yield from _once(READER, *_of_rows(settings))


def account(settings: schema.Settings) -> Iterator[Event]:
    """The counts after tokenising, as the last event under `found`; see `templates.worker.account`."""
    yield from _once(PREVIEW, *_of_tokens(settings))


def known(settings: schema.Settings) -> tuple[Any, Any]:
    """What `chosen` and `account` would find at once; None for what has to be read or counted first."""
    try:
        return _answers.get(repr(_of_rows(settings))), _answers.get(repr(_of_tokens(settings)))
    except FtuiError:
        return None, None


def last(events: Iterator[Event]) -> Any:
    """What `chosen` or `account` found, waited for."""
    found = None
    for event in events:
        found = event.get("found", found)
    return found


def row(settings: schema.Settings, number: int) -> Event:
    """One row by its number: {value}, or {dropped, raw} where it cannot be used, or {} for none."""
    data = readable_data(settings.data)
    return READER.call("row", data=data.model_dump(), number=number)


def preview(settings: schema.Settings, number: int, value: dict[str, Any]) -> dict[str, Any]:
    """One row as the model sees it: `rows` with their pieces, or `dropped` with the reason."""
    folder = model_folder(settings)
    rows = [{"number": number, "value": value}]
    return PREVIEW.call(
        "preview", model=str(folder), rows=rows, data=settings.data.model_dump(), trust=trusted(settings)
    )


def trusted(settings: schema.Settings) -> bool:
    """Whether the code that a model brings may run: where it was ticked, and never on a page that is open to all."""
    return settings.model.trust_remote_code and not os.environ.get("FTUI_PUBLIC")


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


def _of_rows(settings: schema.Settings) -> tuple[str, dict[str, Any], str]:
    """(method, values, stamp) of the question which rows there are."""
    data = readable_data(settings.data)
    return "chosen", {"data": data.model_dump(exclude=_TOKENS)}, _stamps(data)


def _of_tokens(settings: schema.Settings) -> tuple[str, dict[str, Any], str]:
    """(method, values, stamp) of the question what the rows are as tokens."""
    data = readable_data(settings.data)
    values = {
        "model": str(model_folder(settings)),
        "data": data.model_dump(),
        "batch": settings.training.batch_size,
        "trust": trusted(settings),
    }
    return "account", values, f"{_stamps(data)}{_stamp(str(values['model']))}"


def _once(service: Service, method: str, values: dict[str, Any], stamp: str) -> Iterator[Event]:
    """Ask a service what was not asked before; the answers to the last questions are kept.

    Who asks what is being answered already waits for that answer, with an empty event now and then.
    """
    key = repr((method, values, stamp))
    asking = _asking.setdefault(key, threading.Lock())
    while not asking.acquire(timeout=_WAIT_S):
        yield {}
    try:
        if key not in _answers:
            result: Event = {}
            for event in service.ask(method, **values):
                if event.get("done") is not True:
                    yield event
                result = event
            _answers[key] = result
            while len(_answers) > _ANSWERS:
                oldest = next(iter(_answers))
                _answers.pop(oldest)
                _asking.pop(oldest, None)
        found = _answers[key]
    finally:
        asking.release()
    yield {"found": found}


def readable_data(data: schema.DataSettings) -> schema.DataSettings:
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
    listed = local(name.rpartition("#")[0]) if entry and "#" in name else None
    found = [path for path in (listed, entry.place if entry else local(name)) if path and path.exists()]
    paths = [
        inner for path in found for inner in ([path, *sorted(path.iterdir())] if path.is_dir() else [path])
    ]
    return repr([(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in paths])
