"""Which rows train and which are held out, from one set and from several."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, choose, inspect
from ftui.data.look import look
from ftui.errors import DataError
from ftui.settings import DataSettings

Write = Callable[..., Path]


def texts(count: int, name: str = "row") -> list[dict[str, Any]]:
    return [{"text": f"{name} {number}"} for number in range(count)]


def chosen(path: Path, **settings: Any) -> tuple[list[str], list[str], str]:
    found = choose(DataSettings.model_validate({"train": str(path), **settings}))
    sides = [[row.value["text"] for row in side] for side in (found.train, found.validation)]
    assert [len(side) for side in (found.train, found.validation)] == [len(side) for side in sides]
    return sides[0], sides[1], found.origin


def test_nine_of_ten_rows_train_and_no_row_is_on_both_sides(write: Write) -> None:
    train, held, origin = chosen(write("a.jsonl", texts(100)))
    assert (len(train), len(held)) == (90, 10)
    assert not set(train) & set(held)
    assert origin == "10% of the rows, seed 42"
    assert chosen(write("a.jsonl", texts(100)), validation_share=0.2)[:2] != (train, held)


def test_the_datas_own_split_is_held_out_before_any_share(write: Write) -> None:
    write("set/train.jsonl", texts(10))
    folder = write("set/test.jsonl", texts(4, "test")).parent
    assert chosen(folder)[1:] == ([f"test {number}" for number in range(4)], "the data's own test split")
    train, held, origin = chosen(folder, held_out="share", validation_share=0.2)
    assert (len(train), len(held)) == (8, 2) and "seed" in origin
    assert chosen(folder, held_out="none")[1:] == ([], "none are held out")


def test_the_lists_of_one_file_are_its_splits(write: Write) -> None:
    value = {"train": texts(6), "dev": texts(2, "dev"), "test": texts(3, "test")}
    path = write("a.json", json.dumps(value))
    assert inspect(path).splits == {"train": 6, "validation": 2, "test": 3}
    assert chosen(path)[1:] == (["dev 0", "dev 1"], "the data's own validation split")
    only = write("b.json", json.dumps({"test": texts(3, "test")}))
    report = inspect(only)
    assert (report.rows, report.splits) == (3, {"train": 3})
    assert [warning["code"] for warning in report.warnings] == ["no_train_split"]


def test_an_entry_of_a_list_of_data_sets_is_read_as_it_says(write: Write) -> None:
    write("lf/talks.json", json.dumps([{"frage": "a", "antwort": "b"}, {"frage": "c", "antwort": ""}]))
    entry = {
        "file_name": "talks.json",
        "columns": {"prompt": "frage", "response": "antwort"},
        "images": "pics",
    }
    folder = write(
        "lf/dataset_info.json", json.dumps({"talks": entry, "other": {"hf_hub_url": "a/b"}})
    ).parent
    for name in (f"{folder}#talks", f"{folder}/dataset_info.json#talks"):
        report = look(name).report
        assert (report["rows"], report["usable"], report["schema"]) == (2, 1, "alpaca")
        assert "images" in next(
            item["message"] for item in report["warnings"] if item["code"] == "no_counterpart"
        )
    with pytest.raises(DataError, match="talks, other"):
        look(f"{folder}/dataset_info.json")
    assert inspect(folder, Options(mapping={"prompt": "frage", "response": "antwort"})).rows == 2


def test_a_named_file_is_held_out_before_all_else(write: Write) -> None:
    write("set/train.jsonl", texts(10))
    folder = write("set/test.jsonl", texts(4, "test")).parent
    named = write("held.csv", "text\nnamed 1\nnamed 2\n")
    train, held, origin = chosen(folder, validation=str(named))
    assert (len(train), held) == (10, ["named 1", "named 2"])
    assert origin == "from held.csv"


def test_sets_are_mixed_by_how_often_each_row_is_seen(write: Write) -> None:
    first, second, third = (write(f"{name}.jsonl", texts(20, name)) for name in "abc")
    train, held, _ = chosen(first, mix={str(second): 2, str(third): 0.5})
    by_name = {name: [text for text in train if text.startswith(name)] for name in "abc"}
    assert [len(by_name[name]) for name in "abc"] == [18, 36, 9]
    assert all(by_name["b"].count(text) == 2 for text in by_name["b"])
    assert len(held) == 2 + 2 + 1 and not set(train) & set(held)


def test_a_weight_that_is_none_is_refused_with_its_name() -> None:
    with pytest.raises(ValueError, match=r"b\.jsonl.*above 0"):
        DataSettings(mix={"b.jsonl": 0})


def test_the_report_is_the_same_as_that_of_inspect_and_is_read_once(write: Write, home: Path) -> None:
    path = write("a.csv", "question,answer\na,b\nc,d,e\nf,\n")
    found = look(path)
    assert found.report == inspect(path).to_json()
    (entry,) = (home / "cache" / "reports").iterdir()
    before = entry.stat().st_ino
    assert look(path).report == found.report
    assert [other.stat().st_ino for other in (home / "cache" / "reports").iterdir()] == [before]
    path.write_text("question,answer\na,b\n")
    assert look(path).report["rows"] == 1


def test_dropped_rows_of_a_spreadsheet_come_back_as_one(write: Write) -> None:
    path = write("a.csv", 'question,answer\na,b\nc,\n"=1+1",\n')
    found = look(path)
    assert found.dropped is not None and found.dropped.suffix == ".csv"
    with found.dropped.open(encoding="utf-8-sig", newline="") as source:
        rows = list(csv.DictReader(source))
    assert [(row["row"], row["reason"], row["question"]) for row in rows] == [
        ("2", "empty_target", "c"),
        ("3", "empty_target", "'=1+1"),
    ]


def test_dropped_rows_of_json_lines_come_back_with_their_text(write: Write) -> None:
    path = write("a.jsonl", '{"text": "a"}\n{"text": \n{"text": ""}\n')
    found = look(path)
    assert found.dropped is not None
    rows = [json.loads(line) for line in found.dropped.read_text("utf-8").splitlines()]
    assert [(row["row"], row["line"], row["reason"]) for row in rows] == [
        (2, 2, "malformed_json"),
        (3, 3, "empty_target"),
    ]
    assert rows[0]["text"] == '{"text":' and rows[1]["record"] == {"text": ""}


def test_a_context_is_put_before_short_questions_only(write: Write) -> None:
    rows = [
        {
            "question": "And then?",
            "answer": "Rain.",
            "history": [["Weather?", "Sun."]],
            "earlier": "About Oslo.",
        },
        {"question": "What is the capital of Norway, please?", "answer": "Oslo.", "earlier": "About Oslo."},
        {"question": "Why?", "answer": "So.", "earlier": None},
        {"question": "Why?", "answer": "Because.", "earlier": ["one", {"content": "two"}]},
    ]
    path = write("a.jsonl", rows)
    sample = inspect(path, Options(context_column="Earlier", context_below=20)).sample
    asked = [[turn["content"] for turn in row["messages"] if turn["role"] == "user"] for row in sample]
    assert asked[1:] == [["What is the capital of Norway, please?"], ["Why?"], ["one\ntwo\n\nWhy?"]]
    assert asked[0][-1] == "And then?", "its turns before are its context already"
    with pytest.raises(DataError, match="'nowhere'"):
        inspect(path, Options(context_column="nowhere"))


def test_progress_is_told_in_bytes_and_can_end_the_reading(write: Write) -> None:
    path = write("a.jsonl", texts(5000))
    told: list[tuple[int, int, int]] = []
    inspect(path, told=lambda *given: told.append(given))
    assert told[-1] == (path.stat().st_size, path.stat().st_size, 5000)

    class Enough(Exception):
        pass

    def cancel(*_: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        look(path, told=cancel)
    assert look(path).report["rows"] == 5000, "nothing half made is left"


def test_a_history_is_never_put_before_the_question_that_it_answers(write: Write) -> None:
    row = {"instruction": "And?", "output": "Rain.", "history": [["hi", "hello"]]}
    sample = inspect(write("a.jsonl", [row]), Options(context_column="history")).sample
    assert [turn["content"] for turn in sample[0]["messages"]] == ["hi", "hello", "And?", "Rain."]


def test_a_named_source_with_splits_gives_those_that_are_not_trained_on(write: Write) -> None:
    path = write("a.jsonl", texts(10))
    for split in ("train", "test"):
        write(f"named/{split}.jsonl", texts(3, split))
    folder = write("named/readme.md", "").parent
    held, origin = chosen(path, validation=str(folder))[1:]
    assert (held, origin) == (["test 0", "test 1", "test 2"], "from the test split of named")
    write("named/validation.jsonl", texts(1, "validation"))
    assert chosen(path, validation=str(folder))[1] == ["validation 0"]


def test_a_share_and_none_go_before_a_named_file(write: Write) -> None:
    path, named = write("a.jsonl", texts(10)), write("held.jsonl", texts(3, "named"))
    train, held, _ = chosen(path, validation=str(named), held_out="share", validation_share=0.2)
    assert (len(train), len(held)) == (8, 2) and not any("named" in text for text in held)
    assert chosen(path, validation=str(named), held_out="none")[1] == []
    named.unlink()
    assert len(chosen(path, validation=str(named), held_out="share")[1]) == 1, "it is not read"
