"""Files that are never half written: replaced whole, or appended line by line."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TextIO

try:
    import fcntl
except ImportError:  # Windows has no flock: one writer at a time is then a matter of luck
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replaced(path: Path) -> Iterator[TextIO]:
    """A text file to write that takes the place of `path` when all of it is written: no reader sees a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        # Temporary files are made for their owner alone; this one is to be as any other the person makes.
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_text(path: Path, text: str) -> None:
    """Replace a file whole: a reader sees the old text or the new one, never a part."""
    with replaced(path) as out:
        out.write(text)


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file whole. NaN and infinities become null, since JSON has no word for them."""
    write_text(path, json.dumps(_finite(value), ensure_ascii=False, indent=1) + "\n")


def read_json(path: Path, default: Any = None) -> Any:
    """A JSON file's value; `default` where the file is absent or damaged."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError, UnicodeDecodeError):
        return default


def append_json(path: Path, value: dict[str, Any]) -> None:
    """Append one object as one line, in a single write so that lines of two writers never mix."""
    line = (json.dumps(_finite(value), ensure_ascii=False) + "\n").encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def read_json_lines(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The whole lines after byte `offset`, and the offset to go on from.

    A torn last line is left for the next call; a damaged line in the middle is passed over.
    """
    try:
        with path.open("rb") as source:
            source.seek(offset)
            block = source.read()
    except FileNotFoundError:
        return [], offset
    end = block.rfind(b"\n") + 1
    values = []
    for line in block[:end].splitlines():
        with suppress(json.JSONDecodeError, UnicodeDecodeError):
            value = json.loads(line)
            if isinstance(value, dict):
                values.append(value)
    return values, offset + end


def write_json_lines(path: Path, values: Iterable[dict[str, Any]]) -> int:
    """Replace a file with one object a line; returns how many."""
    count = 0
    with replaced(path) as out:
        for value in values:
            out.write(json.dumps(value, ensure_ascii=False) + "\n")
            count += 1
    return count


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file while several processes read, change and write the same record."""
    if fcntl is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder; links count as links."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.lstat(os.path.join(root, name)).st_size
    return total


def file_name(text: str, default: str = "run") -> str:
    """A short name that is safe in a path on every system: letters, digits, dot and dash."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower()
    return name[:48].rstrip("-.") or default


@cache
def _umask() -> int:
    """What new files may not be; the system tells it only by setting it, so it is asked once."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
