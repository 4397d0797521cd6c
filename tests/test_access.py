"""Who may reach the page, and which paths it may touch."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ftui import workspace
from ftui.errors import AccessError, FtuiError
from ftui.ui import serve


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::"])
def test_an_open_address_without_a_login_is_refused(host: str) -> None:
    with pytest.raises(AccessError, match="FTUI_AUTH"):
        serve.check_access(host, [], allow_anonymous=False)
    serve.check_access(host, [("anna", "long")], allow_anonymous=False)
    serve.check_access(host, [], allow_anonymous=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_the_own_machine_needs_no_login(host: str) -> None:
    serve.check_access(host, [], allow_anonymous=False)


def test_several_logins_are_read_and_a_half_one_is_refused() -> None:
    assert serve.logins("anna:a:b, bo:c") == [("anna", "a:b"), ("bo", "c")]
    with pytest.raises(AccessError):
        serve.logins("anna")


def test_a_port_in_use_is_said_before_anything_is_built() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(FtuiError, match="--port"):
            serve.check_port("127.0.0.1", taken.getsockname()[1])


def test_a_path_outside_the_workspace_is_refused_however_it_is_written(
    bare_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text("{}")
    (bare_home / "data").mkdir()
    os.symlink(secret, bare_home / "data" / "link.jsonl")
    for path in (
        secret,
        bare_home / ".." / "secret.jsonl",
        bare_home / "data" / "link.jsonl",
        Path("/etc/passwd"),
    ):
        with pytest.raises(AccessError):
            workspace.check_readable(path)
    beside = tmp_path / "workspace-other"
    beside.mkdir()
    with pytest.raises(AccessError):
        workspace.check_readable(beside)
    monkeypatch.setenv("FTUI_DATA_ROOTS", str(tmp_path))
    assert workspace.check_readable(secret) == secret.resolve()


def test_what_is_shipped_can_be_read_but_not_written(bare_home: Path) -> None:
    sample = workspace.PRESETS / "samples" / "lumen-desk.jsonl"
    assert workspace.check_readable(sample)
    with pytest.raises(AccessError):
        workspace.check_writable(sample)
    assert workspace.check_writable(bare_home / "out")
