"""Sets of the hub: where they are kept, how they are asked for, and what is said without a connection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ftui.data import fetching, hub, hub_folder, inspect
from ftui.data.fetching import needs_fetch
from ftui.data.hub_names import HubName, fetched
from ftui.errors import DataError
from ftui.workspace import PROJECT


def fetch(*arguments: str, **environment: str) -> tuple[int, list[dict]]:
    done = subprocess.run(
        [sys.executable, "-m", "ftui.data.hub", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=PROJECT,
        env=os.environ | environment,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_folder_of_a_set_is_inside_the_workspace(home: Path) -> None:
    assert hub_folder("owner/name") == home / "data" / "hub" / "owner--name"
    assert hub_folder("owner/name:en@train") == home / "data" / "hub" / "owner--name--en@train"
    assert hub_folder("owner/name:en").name == "owner--name--en"
    assert hub_folder("../../etc").parent == home / "data" / "hub"


def test_set_that_was_not_fetched_says_how(home: Path) -> None:
    with pytest.raises(DataError) as caught:
        inspect("owner/name:en@train")
    assert caught.value.code == "not_found"
    assert "python -m ftui.data.hub owner/name:en@train" in caught.value.fix


def test_fetched_set_is_read_by_its_name(home: Path) -> None:
    folder = hub_folder("owner/name")
    folder.mkdir(parents=True)
    (folder / "train_sft.jsonl").write_text('{"text": "a"}\n')
    (folder / "test_sft.jsonl").write_text('{"text": "b"}\n')
    assert inspect("owner/name").splits == {"train": 1, "test": 1}
    assert inspect("owner/name@test_sft").sample == [{"text": "b"}]


def test_local_set_is_streamed_and_reread(tmp_path: Path, home: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text('{"prompt": "a", "completion": "ö"}\n' * 3)
    code, said = fetch(str(tmp_path / "set"))
    assert code == 0
    assert said[0] == {"done": 0, "total": None}
    assert said[-2]["done"] == 3
    folder = Path(said[-1]["folder"])
    assert home in folder.parents
    assert inspect(folder).rows == 3


def test_only_the_first_rows_of_a_split_are_fetched_where_that_is_asked_for(
    tmp_path: Path, home: Path
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text('{"prompt": "a", "completion": "ö"}\n' * 50)
    code, said = fetch(str(tmp_path / "set"), "--split", "train[:7]")
    assert code == 0 and said[-2]["done"] == 7
    assert [path.name for path in Path(said[-1]["folder"]).iterdir()] == ["train-7.jsonl"]
    assert inspect(said[-1]["folder"]).rows == 7


def test_hub_out_of_reach_is_said_in_words() -> None:
    code, said = fetch("owner/name", HF_HUB_OFFLINE="1")
    assert code == 2
    assert said[-1]["error"]["code"] == "not_reachable"
    assert "owner/name" in said[-1]["error"]["message"]


def test_a_set_that_could_not_be_read_afterwards_is_refused_before_it_is_fetched() -> None:
    large = {"train": SimpleNamespace(info=SimpleNamespace(dataset_size=30 * 1024**3))}
    with pytest.raises(DataError) as caught:
        hub._check_size(HubName("owner/name", "en", ""), large)
    assert caught.value.code == "too_large" and "owner/name:en@train[:100000]" in caught.value.fix
    hub._check_size(HubName("owner/name", "en", "train[:1000]"), large)


def test_size_that_is_refused_is_that_of_the_split_that_is_asked_for() -> None:
    splits = {"train": SimpleNamespace(num_bytes=30 * 1024**3), "test": SimpleNamespace(num_bytes=1024)}
    info = SimpleNamespace(dataset_size=31 * 1024**3, splits=splits)
    hub._check_size(HubName("owner/name", "", "test"), {"test": SimpleNamespace(info=info)})
    with pytest.raises(DataError):
        hub._check_size(HubName("owner/name", "", "train"), {"train": SimpleNamespace(info=info)})


def test_a_part_of_a_set_is_not_taken_for_the_whole(home: Path) -> None:
    part = hub_folder("owner/name@train[:1000]")
    part.mkdir(parents=True)
    (part / "train-1000.jsonl").write_text('{"text": "a"}\n')
    assert inspect("owner/name@train[:1000]").rows == 1
    assert needs_fetch("owner/name") and needs_fetch("owner/name@train")
    assert not needs_fetch("owner/name@train[:1000]")
    whole = hub_folder("owner/name")
    whole.mkdir()
    (whole / "train.jsonl").write_text('{"text": "a"}\n' * 2)
    assert not needs_fetch("owner/name") and not needs_fetch("owner/name@train")
    assert needs_fetch("owner/name@train[:2000]")


@pytest.mark.parametrize("name", ["../..", "./name", "owner/..", "owner/name:..", "a/b\0", "x" * 5000 + "/y"])
def test_what_is_no_name_of_a_set_is_never_fetched(name: str) -> None:
    assert not needs_fetch(name) and fetched(name) is None


def test_a_fetch_that_is_stopped_leaves_nothing_behind(tmp_path: Path, home: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text('{"prompt": "a", "completion": "b"}\n' * 300_000)

    class Enough(Exception):
        pass

    def stop(done: int, total: int | None) -> None:
        if done:
            raise Enough

    with pytest.raises(Enough):
        fetching.fetch(str(tmp_path / "set"), stop)
    assert list((home / "data" / "hub").iterdir()) == []
