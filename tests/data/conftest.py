"""Fixtures: a workspace of its own, and a writer for small data files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FTUI_HOME in a temporary folder."""
    monkeypatch.setenv("FTUI_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(name, text or bytes, or rows): the path; rows become JSON lines."""

    def _write(name: str, content: Any, encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return _write
