"""A look is kept only as long as it is true."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from ftui.data import head, inspect
from ftui.data.dropped import all_dropped
from ftui.data.look import look

Write = Callable[..., Path]


def test_a_file_that_becomes_another_split_is_seen_though_nothing_in_it_changed(write: Write) -> None:
    write("set/train-1.jsonl", [{"text": "a"}])
    second = write("set/train-2.jsonl", [{"text": "b"}, {"text": "c"}])
    folder = second.parent
    assert {name: list(rows) for name, rows in look(folder).splits.items()} == {"train": [1, 2, 3]}
    second.rename(folder / "validation-2.jsonl")
    found = {name: list(rows) for name, rows in look(folder).splits.items()}
    assert found == {"train": [1], "validation": [1, 2]}


def test_first_rows_that_cannot_be_used_do_not_hide_the_others(write: Write) -> None:
    bad = [{"question": "a", "answer": ""}] * 300
    path = write("a.jsonl", [*bad, {"question": "b", "answer": "c"}])
    first = head(path)
    assert first.splits["train"] == [] and first.report.rows == 200 and len(first.report.dropped) == 200
    assert look(path).report["usable"] == 1


def test_rows_that_a_template_drops_stand_in_the_same_file_as_those_that_cannot_be_read(write: Write) -> None:
    found = look(write("Fragen.csv", "question,answer\na,b\nc,\n"))
    more = [{"row": 1, "reason": "no_target_left", "message": "All of the answer lies behind the cut."}]
    path = all_dropped(found.dropped, more, found.report["file_format"], "Fragen")
    assert path.name == "fragen-dropped.csv"
    rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
    assert [(row["row"], row["reason"], row["question"]) for row in rows] == [
        ("2", "empty_target", "c"),
        ("1", "no_target_left", ""),
    ]
    assert all_dropped(None, more, "jsonl", "x").read_text("utf-8").count("no_target_left") == 1


def test_a_further_split_that_cannot_be_read_does_not_take_the_others_with_it(write: Write) -> None:
    write("set/train.jsonl", [{"text": "a"}, {"text": "b"}])
    folder = write("set/test.jsonl", "").parent
    write("set/validation.jsonl", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    found = look(folder)
    assert (found.report["usable"], {name: len(rows) for name, rows in found.splits.items()}) == (
        2,
        {"train": 2, "validation": 0, "test": 0},
    )
    assert sum(item["code"] == "skipped_files" for item in found.report["warnings"]) == 2


def test_one_damaged_file_among_several_is_named_and_left_out(write: Write) -> None:
    write("set/train-1.jsonl", [{"text": "a"}])
    folder = write("set/train-2.jsonl", "").parent
    report = inspect(folder)
    assert report.usable == 1
    assert "train-2.jsonl" in next(
        item["message"] for item in report.warnings if item["code"] == "skipped_files"
    )


def test_a_field_that_is_absent_from_the_first_thousands_of_rows_is_found(write: Write) -> None:
    path = write("a.jsonl", [*[{"instruction": "a"}] * 1500, {"instruction": "b", "output": "c"}])
    report = inspect(path)
    assert (report.schema, report.rows, report.usable) == ("alpaca", 1501, 1)
    assert {item["reason"] for item in report.dropped} == {"empty_target"}


def test_rows_with_a_system_turn_are_counted_wherever_they_stand(write: Write) -> None:
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    rows = [{"messages": talk}] * 9 + [{"messages": [{"role": "system", "content": "s"}, *talk]}]
    assert inspect(write("a.jsonl", rows)).with_system == 1
