"""A look is kept only as long as it is true."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ftui.data import head, inspect
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


def test_rows_with_a_system_turn_are_counted_wherever_they_stand(write: Write) -> None:
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    rows = [{"messages": talk}] * 9 + [{"messages": [{"role": "system", "content": "s"}, *talk]}]
    assert inspect(write("a.jsonl", rows)).to_json()["with_system"] == 1
