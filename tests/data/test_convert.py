"""What is converted is clean, and reads back as the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import Options, convert, load
from ftui.settings import DataSettings

Write = Callable[..., Path]


def whole(path: Path, **settings: object) -> DataSettings:
    return DataSettings.model_validate({"train": str(path), "held_out": "none", **settings})


CASES = Path(__file__).parent / "cases" / "files"
EACH_SCHEMA = {
    "alpaca": "alpaca_history.json",
    "sharegpt": "sharegpt_tools.json",
    "messages": "tool_calls.jsonl",
    "prompt-completion": "medical_r1.jsonl",
    "preference": "dpo_sharegpt.json",
    "kto": "kto.jsonl",
    "text": "corpus.txt",
    "two assistants first": "two_gpt.json",
    "code": "code.jsonl",
}


@pytest.mark.parametrize("file", EACH_SCHEMA.values(), ids=EACH_SCHEMA)
def test_converted_rows_are_equal_when_read_and_converted_again(tmp_path: Path, file: str) -> None:
    wanted = [row.value for row in load(CASES / file, Options(system="S")).splits["train"]]
    out = tmp_path / "out.jsonl"
    assert convert(whole(CASES / file, system="S"), out) == {
        "files": [str(out)],
        "rows": {"train": len(wanted)},
    }
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == wanted
    again = tmp_path / "again.jsonl"
    convert(whole(out), again)
    assert again.read_bytes() == out.read_bytes()


def test_share_makes_two_files_that_hold_every_row_once(tmp_path: Path, write: Write) -> None:
    path = write("a.jsonl", [{"text": str(number)} for number in range(20)])
    made = convert(whole(path, held_out="share", validation_share=0.25, split_seed=1), tmp_path / "out.jsonl")
    assert made["rows"] == {"train": 15, "validation": 5}
    assert [Path(file).name for file in made["files"]] == ["out.train.jsonl", "out.validation.jsonl"]
    texts = [
        json.loads(line)["text"] for file in made["files"] for line in Path(file).read_text().splitlines()
    ]
    assert sorted(texts, key=int) == [str(number) for number in range(20)]
    assert not (tmp_path / "out.jsonl").exists()


def test_splits_of_the_source_are_kept(tmp_path: Path) -> None:
    made = convert(whole(CASES / "splits"), tmp_path / "out.jsonl")
    assert made["rows"] == {"train": 3, "test": 1}
    assert [Path(file).name for file in made["files"]] == ["out.jsonl", "out.test.jsonl"]


def test_converting_a_file_onto_itself_keeps_its_rows(write: Write) -> None:
    path = write("a.jsonl", [{"prompt": "a", "completion": "b"}])
    convert(whole(path), path)
    assert load(path).report.schema == "messages"
