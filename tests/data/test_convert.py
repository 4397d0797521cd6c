"""What is converted is clean, and reads back as the same rows."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import Options, choose, convert, converting, load
from ftui.errors import DataError
from ftui.jobs.report import StopAsked
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


def test_converting_a_file_onto_itself_is_refused_and_keeps_it(write: Write) -> None:
    path = write("a.jsonl", [{"prompt": "a", "completion": "b"}])
    with pytest.raises(DataError) as caught:
        convert(whole(path), path)
    assert caught.value.code == "bad_output"
    assert load(path).report.schema == "prompt-completion"


def said(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]


def test_held_out_rows_of_every_set_are_written_and_further_splits_keep_their_names(
    tmp_path: Path, write: Write
) -> None:
    for split in ("train", "validation", "test"):
        write(f"first/{split}.jsonl", [{"text": f"first {split} {number}"} for number in range(4)])
    second = write("second.jsonl", [{"text": f"second {number}"} for number in range(10)])
    data = whole(tmp_path / "first", held_out="auto", validation_share=0.2, mix={str(second): 1})
    made = convert(data, tmp_path / "out.jsonl")
    assert made["rows"] == {"train": 12, "validation": 6, "test": 4}
    held = said(tmp_path / "out.validation.jsonl")
    assert held[:4] == [f"first validation {number}" for number in range(4)]
    assert all(text.startswith("second") for text in held[4:])
    assert not set(held) & set(said(tmp_path / "out.train.jsonl"))
    data.held_out = "share"
    assert convert(data, tmp_path / "out.jsonl")["rows"]["own-validation"] == 4, "no split is lost"


def test_sets_of_several_kinds_are_refused_by_name(tmp_path: Path, write: Write) -> None:
    talks = write("talks.jsonl", [{"prompt": "a", "completion": "b"}])
    text = write("text.jsonl", [{"text": "a"}])
    for more in ({"mix": {str(text): 1}}, {"validation": str(text), "held_out": "auto"}):
        with pytest.raises(DataError, match=r"talks\.jsonl.*text\.jsonl") as caught:
            convert(whole(talks, **more), tmp_path / "out.jsonl")
        assert caught.value.code == "wrong_schema"
    assert not (tmp_path / "out.jsonl").exists()


def test_no_input_and_no_folder_is_overwritten(tmp_path: Path, write: Write) -> None:
    path = write("a.jsonl", [{"prompt": "a", "completion": "b"}])
    mixed = write("b.jsonl", [{"prompt": "c", "completion": "d"}])
    unused = write("c.jsonl", [{"prompt": "e", "completion": "f"}])
    linked, folder = tmp_path / "link.jsonl", tmp_path / "folder"
    linked.symlink_to(path)
    folder.mkdir()
    before = [file.read_bytes() for file in (path, mixed, unused)]
    for out in (path, mixed, unused, linked, folder, path / "below.jsonl"):
        with pytest.raises(DataError) as caught:
            convert(whole(path, mix={str(mixed): 1}, validation=str(unused)), out)
        assert caught.value.code == "bad_output" and caught.value.fix
    assert [file.read_bytes() for file in (path, mixed, unused)] == before
    listed = write(
        "lf/dataset_info.json",
        json.dumps(
            {"a": {"file_name": "../a.jsonl", "columns": {"prompt": "prompt", "response": "completion"}}}
        ),
    )
    with pytest.raises(DataError, match="one of the files"):
        convert(whole(Path(f"{listed}#a")), listed)


def test_another_file_is_replaced(write: Write) -> None:
    path, out = write("a.jsonl", [{"text": "a"}]), write("out.jsonl", [{"text": "old"}])
    convert(whole(path), out)
    assert said(out) == ["a"]


def test_a_stop_while_writing_leaves_every_file_as_it_was(tmp_path: Path, write: Write) -> None:
    write("set/train.jsonl", [{"text": f"train {number}"} for number in range(300)])
    write("set/test.jsonl", [{"text": f"test {number}"} for number in range(300)])
    data, out = whole(tmp_path / "set"), write("made/out.jsonl", [{"text": "old"}])
    choose(data)  # the look is kept, so that what is told now is of the writing

    def stopped(done: int, total: int, rows: int) -> None:
        if total == (tmp_path / "set/test.jsonl").stat().st_size:
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, converting._stop)
    try:
        with pytest.raises(StopAsked):
            convert(data, out, stopped)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert list(out.parent.iterdir()) == [out] and said(out) == ["old"]
