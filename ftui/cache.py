"""What can be computed again, kept in the workspace: reports and tokens, each under a key of all it depends on.

An entry is a folder that is made whole under another name and then renamed, so that a reader never sees a part.
The oldest entries go when there are too many; deleting `cache` by hand loses only time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from ftui import files, workspace

KEPT_BYTES = 20e9
KEPT_ENTRIES = 200
_BLOCK = 1 << 20
_MAKING = ".making-"
_IN_USE_S = 3600.0


def key(*parts: Any) -> str:
    """One name for values that JSON can write; any difference in them gives another."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def contents(paths: Iterable[Path]) -> str:
    """A name for what is in these files, whatever they are called; each is read once while it does not change."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        stat = path.stat()
        digest.update(_digest(str(path), stat.st_mtime_ns, stat.st_size))
    return digest.hexdigest()


@cache
def code(*packages: str) -> str:
    """A name for the code of packages beside this file: what it made is stale when it has changed."""
    found = [path for name in packages for path in sorted((Path(__file__).parent / name).rglob("*.py"))]
    return contents(found)


def versions(*packages: str) -> dict[str, str]:
    """The versions of libraries that an entry depends on; "" for one that is not installed."""
    return {name: _version(name) for name in packages}


def entry(kind: str, name: str, make: Callable[[Path], None], whole: Callable[[Path], bool]) -> Path:
    """The folder of an entry. make: fills an empty folder, where there is no such entry yet.

    whole: whether a folder that is there can be used; one that a power cut has damaged is made again.
    """
    folder = workspace.home() / "cache" / kind / name
    if folder.is_dir():
        if whole(folder):
            with suppress(OSError):
                os.utime(folder)
            return folder
        shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{_MAKING}{os.getpid()}-"))
    try:
        make(temporary)
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was quicker, and what it made is the same
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _prune(folder.parent, folder)
    return folder


def _sweep(parent: Path) -> None:
    """Remove what processes that are gone have left half made."""
    for folder in parent.glob(f"{_MAKING}*"):
        owner = folder.name.removeprefix(_MAKING).split("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _prune(parent: Path, newest: Path) -> None:
    """Remove the entries that were used longest ago until the rest fits; none that was used within the hour."""
    entries = []
    for folder in parent.iterdir():
        with suppress(OSError):
            if folder.is_dir() and folder != newest and not folder.name.startswith("."):
                entries.append((folder.stat().st_mtime, folder))
    entries.sort(reverse=True)
    total = files.folder_size(newest)
    for place, (used, folder) in enumerate(entries, 2):
        total += files.folder_size(folder)
        if (total > KEPT_BYTES or place > KEPT_ENTRIES) and time.time() - used > _IN_USE_S:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@lru_cache(maxsize=4096)
def _digest(path: str, mtime_ns: int, size: int) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()
