"""What is kept can be made again, and what is stale or half made is."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ftui import cache


def made(count: list[int], size: int = 10) -> object:
    def make(folder: Path) -> None:
        count.append(1)
        (folder / "whole").write_bytes(b"x" * size)

    return make


def whole(folder: Path) -> bool:
    return (folder / "whole").is_file()


def test_an_entry_is_made_once_and_again_where_it_is_damaged(bare_home: Path) -> None:
    count: list[int] = []
    folder = cache.entry("kind", "name", made(count), whole)
    assert cache.entry("kind", "name", made(count), whole) == folder and len(count) == 1
    (folder / "whole").unlink()
    assert whole(cache.entry("kind", "name", made(count), whole)) and len(count) == 2


def test_what_fails_leaves_nothing_and_what_a_dead_process_left_is_swept(bare_home: Path) -> None:
    left = bare_home / "cache" / "kind" / ".making-999999999-abc"
    mine = bare_home / "cache" / "kind" / f".making-{os.getpid()}-abc"
    for folder in (left, mine):
        folder.mkdir(parents=True)

    def fail(folder: Path) -> None:
        (folder / "part").write_text("x")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        cache.entry("kind", "name", fail, whole)
    assert [folder.name for folder in left.parent.iterdir()] == [mine.name]


def test_the_oldest_entries_go_but_none_that_is_in_use(
    bare_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "KEPT_BYTES", 25)
    folders = [cache.entry("kind", name, made([]), whole) for name in "abc"]
    assert all(folder.is_dir() for folder in folders), "all were used just now"
    for age, folder in zip((9000, 8000, 7000), folders, strict=True):
        os.utime(folder, (time.time() - age,) * 2)
    cache.entry("kind", "b", made([]), whole)
    cache.entry("kind", "d", made([]), whole)
    assert [folder.is_dir() for folder in folders] == [False, True, False]


def test_contents_are_named_by_what_is_in_them(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("one")
    second.write_text("one")
    assert cache.contents([first]) == cache.contents([second]) != cache.contents([first, second])
    second.write_text("two")
    assert cache.contents([first]) != cache.contents([second])
