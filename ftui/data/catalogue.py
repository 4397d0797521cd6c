"""LLaMA-Factory's `dataset_info.json` as a list of data sets: what each is, and which column holds what.

An entry is named `FOLDER#NAME` or `…/dataset_info.json#NAME`. Its `columns` become a mapping in our names, and its
`tags` stand in the same mapping under their own names (`tags.py` says what they do):

    {"messages": "talk", "role_tag": "who", "user_tag": "kunde"}

What has no counterpart here, such as images, is told in `notes`, never passed over in silence.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ftui import workspace
from ftui.data.hub_names import fetched, is_hub_name
from ftui.data.json_text import parse
from ftui.data.options import Options
from ftui.data.row import RowFault
from ftui.data.tags import TAGS
from ftui.errors import DataError

FILE = "dataset_info.json"
_MAX_BYTES = 16 * 1024 * 1024
_FORMATS = ("alpaca", "sharegpt", "openai")
_COLUMNS = {
    "prompt": "prompt",
    "query": "input",
    "response": "response",
    "history": "history",
    "messages": "messages",
    "system": "system",
    "tools": "tools",
    "chosen": "chosen",
    "rejected": "rejected",
    "kto_tag": "label",
}
_OF_TALKS = ("messages", "system", "tools", "chosen", "rejected", "kto_tag")
_OF_PAIRS = tuple(name for name in _COLUMNS if name != "messages")
_FIELDS = (
    "file_name", "hf_hub_url", "ms_hub_url", "om_hub_url", "script_url", "cloud_file_name", "formatting", "format",
    "ranking", "columns", "tags", "split", "subset", "num_samples", "folder", "revision",
)  # fmt: skip
_NO_COUNTERPART = {
    "ms_hub_url": "ModelScope is not asked",
    "om_hub_url": "Openmind is not asked",
    "script_url": "a loading script is not run",
    "cloud_file_name": "cloud storage is not read",
    "folder": "a folder within a hub's set is not chosen",
    "revision": "the newest revision is taken",
}


@dataclass(frozen=True)
class Entry:
    """path: the file or folder, None where the set is the hub's or nowhere that can be read; hub: its name there.

    schema, mapping and max_rows are as `Options` has them. notes: sentences about what has no counterpart.
    """

    name: str
    path: Path | None = None
    hub: str = ""
    schema: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    max_rows: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> Path | None:
        """Where its rows are read from: its own file or folder, else the fetched set of the hub; None for nowhere.

        A name in a list is never looked for anywhere else: the list may come from a stranger.
        """
        try:
            if self.path is not None and self.path.exists():
                return self.path
            return fetched(self.hub) if self.hub else None
        except (OSError, ValueError):  # a name that no file system takes
            return None

    def options(self, given: Options) -> Options:
        """The person's options, completed by what the entry says. What the person says wins."""
        return replace(
            given,
            schema=given.schema or self.schema,
            mapping={**self.mapping, **given.mapping},
            max_rows=self.max_rows if given.max_rows is None else given.max_rows,
        )


def entries(path: Path) -> list[Entry]:
    """The data sets of a `dataset_info.json`, or of the one in a folder. Raises DataError: not_found, not_text."""
    listed, value = _read(path)
    return [_entry(listed, name, told) for name, told in value.items() if isinstance(told, dict)]


def entry_of(source: str) -> Entry | None:
    """The entry that a data name means, None where it names none: then it is a file, a folder or a set of the hub.

    Raises DataError: not_found for a name that the list has not, not_text for a list that cannot be read.
    """
    where, mark, name = source.rpartition("#")
    if not mark:
        where, name = source, ""
    try:
        listed = workspace.find(where)
        if listed is None or (mark and workspace.find(source) is not None):
            return None
    except (OSError, ValueError):  # a name that no file system takes: too long, or with a zero byte
        return None
    is_list = listed.name == FILE and listed.is_file()
    if not is_list and not (mark and (listed / FILE).is_file()):
        return None
    return resolve(listed, name)


def resolve(path: Path, name: str) -> Entry:
    """One entry by its name; the only one where no name is given. Raises DataError: not_found, not_text."""
    listed, value = _read(path)
    names = [key for key, told in value.items() if isinstance(told, dict)]
    if not name and len(names) == 1:
        name = names[0]
    if name in names:
        return _entry(listed, name, value[name])
    near = difflib.get_close_matches(name, names, 5, 0.5) or names[:10]
    shown = ", ".join(near) + (" …" if len(names) > len(near) else "")
    raise DataError(
        "not_found",
        "No such data set in the list",
        f"{listed} has {len(names)} data sets, and none is named {name!r}."
        if name
        else f"{listed} is a list of {len(names)} data sets, and none of them is named.",
        f"Write one of its names behind a #: {shown or 'it has none'}.",
    )


def _read(path: Path) -> tuple[Path, dict[str, Any]]:
    listed = path / FILE if path.is_dir() else path
    try:
        if listed.stat().st_size > _MAX_BYTES:
            raise _unreadable(listed, "it is larger than any such list")
        text = listed.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(
            "not_found",
            "No list of data sets",
            f"There is no {FILE} at {listed.parent}.",
            "Give the folder that holds it.",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(listed, str(error)) from None
    try:
        value = parse(text)
    except RowFault as fault:
        raise _unreadable(listed, _placed(fault.message, text)) from None
    if not isinstance(value, dict):
        raise _unreadable(listed, "it must be one object with a data set under each name")
    return listed, value


def _placed(told: str, text: str) -> str:
    """A fault's sentence with its line, which people find sooner than a character."""
    words = told.split(" at character ")
    if len(words) != 2:
        return told.rstrip(".")
    place = int(words[1].split(",")[0].rstrip("."))
    return f"{words[0]} in line {text.count(chr(10), 0, place - 1) + 1}, {words[1].partition(', ')[2].rstrip('.')}"


def _unreadable(path: Path, told: str) -> DataError:
    return DataError(
        "not_text",
        "The list of data sets cannot be read",
        f"{path}: {told}.",
        "Mend it there; every name and every text stands in double quotes.",
    )


def _entry(listed: Path, name: str, told: dict[str, Any]) -> Entry:
    notes: list[str] = []
    form = told.get("formatting", told.get("format", "alpaca"))
    if "format" in told and "formatting" not in told:
        notes.append("It says `format`; LLaMA-Factory reads only `formatting`. Taken as meant.")
    if form not in _FORMATS:
        raise DataError(
            "unknown_schema",
            "No such formatting",
            f"{name} in {listed} has the formatting {form!r}.",
            f"Use one of {', '.join(_FORMATS)}.",
        )
    path, hub = _place(listed, told, notes)
    columns = _given(told, "columns", notes)
    schema, mapping = _meaning(form, told, columns, notes)
    rows = told.get("num_samples")
    if isinstance(rows, int) and not isinstance(rows, bool) and rows > 0:
        notes.append(f"num_samples: the first {rows:,} usable rows are taken, not a random choice.")
    else:
        rows = None
    for key in told:
        if key not in _FIELDS:
            near = difflib.get_close_matches(key, _FIELDS, 1, 0.7)
            notes.append(f"{key} is no field of an entry{f'; {near[0]} is' if near else ''}.")
    return Entry(name, path, hub, schema, mapping, rows, tuple(notes))


def _place(listed: Path, told: dict[str, Any], notes: list[str]) -> tuple[Path | None, str]:
    """(file or folder, name on the hub); a file that is here goes before the hub."""
    file = str(told.get("file_name") or "")
    hub = _hub(told, notes)
    path = None
    try:
        path = (listed.parent / file).resolve() if file else None
        if path is not None and hub and not path.exists():
            path = None
    except (OSError, ValueError):  # a name that no file system takes: too long, or with a zero byte
        notes.append(f"file_name {file[:80]!r} is no name of a file.")
    for key, said in _NO_COUNTERPART.items():
        if told.get(key) and not (path or (hub and key.endswith("_url"))):
            notes.append(f"{key} {told[key]!r}: {said}.")
    return (path, "") if path is not None else (None, hub)


def _hub(told: dict[str, Any], notes: list[str]) -> str:
    """The set's name on the hub with its config and split, "" where there is none."""
    hub, subset, split = (str(told.get(key) or "") for key in ("hf_hub_url", "subset", "split"))
    name = hub + (f":{subset}" if subset else "") + (f"@{split}" if split else "")
    if hub and not is_hub_name(name):
        notes.append(f"hf_hub_url {name[:80]!r} is no name of a set on the hub.")
        return ""
    return name if hub else ""


def _given(told: dict[str, Any], key: str, notes: list[str]) -> dict[str, str]:
    """The names under `columns` or `tags` that are not empty."""
    value = told.get(key) or {}
    if not isinstance(value, dict):
        notes.append(f"{key} is no object and is passed over.")
        return {}
    return {name: item for name, item in value.items() if isinstance(item, str) and item}


def _meaning(
    form: str, told: dict[str, Any], columns: dict[str, str], notes: list[str]
) -> tuple[str, dict[str, str]]:
    """The schema and the mapping, columns and tags together."""
    fitting = _OF_PAIRS if form == "alpaca" else _OF_TALKS
    for name, column in columns.items():
        if name in ("images", "videos", "audios"):
            notes.append(f"{name} ({column}): only text is learned.")
        elif name not in fitting:
            known = "means nothing beside" if name in _COLUMNS else "is no column of"
            notes.append(f"The column {name} ({column}) {known} the formatting {form}.")
    mapping = {_COLUMNS[name]: column for name, column in columns.items() if name in fitting}
    tags = _given(told, "tags", notes)
    if form == "alpaca":
        if tags:
            notes.append("tags mean nothing beside the formatting alpaca.")
        schema = "alpaca"
        if columns and not mapping.keys() & {"response", "chosen"}:
            return "text", {"text": mapping["prompt"]} if "prompt" in mapping else {}
    else:
        mapping |= {name: tag for name, tag in tags.items() if name in TAGS}
        notes.extend(f"{name} is no tag." for name in tags if name not in TAGS)
        spelt = tags.get("role_tag", "role" if form == "openai" else "from")
        schema = "messages" if spelt == "role" else "sharegpt"
    if told.get("ranking") is True:
        schema = "preference"
    elif "label" in mapping:
        schema = "kto"
    return schema, mapping
