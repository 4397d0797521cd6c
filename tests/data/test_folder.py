"""Folders: splits by name, shards, and what lies beside the data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import inspect, load
from ftui.data.folder import split_of
from ftui.errors import DataError

Write = Callable[..., Path]


def rows(*texts: str) -> list[dict[str, str]]:
    return [{"prompt": text, "completion": "b"} for text in texts]


def test_empty_folder_says_what_to_put_there(tmp_path: Path, write: Write) -> None:
    (tmp_path / "set").mkdir()
    with pytest.raises(DataError) as caught:
        inspect(tmp_path / "set")
    assert caught.value.code == "not_found" and ".jsonl" in caught.value.fix
    write("set/README.md", "notes")
    with pytest.raises(DataError, match=r"README\.md"):
        inspect(tmp_path / "set")


def test_parquet_shards_are_one_split_numbered_through(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "set" / "data").mkdir(parents=True)
    for number in range(2):
        table = pa.table({"prompt": [f"{number}a", f"{number}b"], "completion": ["x", None]})
        pq.write_table(table, tmp_path / "set" / "data" / f"train-0000{number}-of-00002.parquet")
    table = pa.table({"prompt": ["t"], "completion": ["x"]})
    pq.write_table(table, tmp_path / "set" / "data" / "test-00000-of-00001.parquet")
    loaded = load(tmp_path / "set")
    assert [(row.number, row.value["messages"][0]["content"]) for row in loaded.splits["train"]] == [
        (1, "0a"),
        (3, "1a"),
    ]
    assert loaded.report.splits == {"train": 4, "test": 1}
    assert [drop["row"] for drop in loaded.report.dropped] == [2, 4]
    assert "train-00001-of-00002.parquet" in loaded.report.dropped[1]["message"]


def test_folders_named_after_splits(tmp_path: Path, write: Write) -> None:
    write("set/train/one.jsonl", rows("a"))
    write("set/train/two.jsonl", rows("b"))
    write("set/dev/one.jsonl", rows("c"))
    loaded = load(tmp_path / "set")
    assert {name: len(found) for name, found in loaded.splits.items()} == {"train": 2, "validation": 1}


def test_only_a_test_split_is_learned_from_and_said(tmp_path: Path, write: Write) -> None:
    write("set/test.jsonl", rows("a", "b"))
    loaded = load(tmp_path / "set")
    assert len(loaded.splits["train"]) == 2
    assert [warning["code"] for warning in loaded.report.warnings] == ["no_train_split"]


def test_files_of_another_shape_are_skipped(tmp_path: Path, write: Write) -> None:
    write("set/part1.jsonl", rows("a", "b", "c"))
    write("set/part2.jsonl", rows("d"))
    write("set/notes.txt", "A long line that says something about the rows.\n" * 99)
    write("set/stats.json", json.dumps({"kept": 3, "rules": ["length"]}))
    write("set/.hidden.jsonl", rows("x"))
    report = inspect(tmp_path / "set")
    assert (report.rows, report.splits) == (4, {})
    said = report.warnings[0]["message"]
    assert "notes.txt" in said and "stats.json" in said and "part" not in said


def test_split_without_usable_rows_is_left_out(tmp_path: Path, write: Write) -> None:
    write("set/train.jsonl", rows("a"))
    write("set/validation.jsonl", [{"prompt": "a", "completion": ""}])
    loaded = load(tmp_path / "set")
    assert list(loaded.splits) == ["train"]
    assert loaded.report.splits == {"train": 1, "validation": 1}


def test_name_is_looked_up_in_the_workspace(home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / "mine.jsonl").write_text('{"text": "a"}\n')
    assert inspect("mine.jsonl").path == str(home / "data" / "mine.jsonl")


@pytest.mark.parametrize(
    "name", ["", "no such.jsonl", "a/b/c.jsonl", "x" * 5000, "a\x00b", "owner/set.jsonl"]
)
def test_missing_path_is_not_found(name: str) -> None:
    with pytest.raises(DataError) as caught:
        inspect(name)
    assert caught.value.code == "not_found" and "hub" not in caught.value.message


def test_set_as_the_hub_has_it(tmp_path: Path, write: Write) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in ("data/train-00000-of-00002", "data/train-00001-of-00002", "data/validation-00000-of-00001"):
        path = tmp_path / "set" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"prompt": ["a", "b"], "completion": ["c", "d"]}), path)
    beside = (
        "README.md",
        ".gitattributes",
        "dataset_infos.json",
        "LICENSE",
        "raw.zip",
        "prepare.py",
        "~$a.xlsx",
    )
    for name in beside:
        write(f"set/{name}", "x" * 99)
    report = inspect(tmp_path / "set")
    assert report.splits == {"train": 4, "validation": 2}
    said = report.warnings[0]["message"]
    assert all(name in said for name in beside if not name.startswith("."))


def test_files_of_several_formats_and_packings_are_one_set(tmp_path: Path, write: Write) -> None:
    write("set/a.jsonl", rows("a"))
    write("set/b.csv", "prompt,completion\nb,x\n")
    write("set/c.json.gz", gzip.compress(json.dumps(rows("c")).encode()))
    write("set/d.jsonc", "// mine\n" + json.dumps(rows("d")))
    write("set/deep/er/e.tsv", "prompt\tcompletion\ne\tx\n")
    write("set/empty.jsonl", "")
    report = inspect(tmp_path / "set")
    assert (report.rows, report.usable) == (5, 5)
    assert "empty.jsonl" in report.warnings[0]["message"]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("my-train_data.v2.jsonl", "train"),
        ("DEV.csv", "validation"),
        ("eval/0.jsonl", "validation"),
        ("test/train-0.jsonl", "train"),
        ("validated.jsonl", ""),
        ("latest.jsonl", ""),
        ("retrain.jsonl", ""),
    ],
)
def test_split_is_a_whole_word_of_a_name(name: str, split: str) -> None:
    assert split_of(Path(name)) == split
