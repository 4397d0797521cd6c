"""What could mean two things is taken as people mean it, or asked about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect

Write = Callable[..., Path]
ROWS = [{"question": "a", "answer": "b"}, {"question": "c", "answer": "d"}]


def talk(write: Write, row: dict[str, Any]) -> dict[str, Any]:
    return inspect(write("a.jsonl", [row, row])).sample[0]


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"author": "Smith", "text": "hi"}),
        json.dumps([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]),
        json.dumps([{"sender": "Bob", "message": "hi"}]),
    ],
)
def test_json_that_was_asked_for_is_the_answer_as_it_is(write: Write, answer: str) -> None:
    found = talk(write, {"instruction": "Write JSON", "output": answer})
    assert found["messages"] == [
        {"role": "user", "content": "Write JSON"},
        {"role": "assistant", "content": answer},
    ]


def test_an_answer_of_assistant_turns_in_a_text_is_still_read_as_turns(write: Write) -> None:
    answer = json.dumps([{"role": "assistant", "content": "Hello"}])
    assert talk(write, {"prompt": "Hi", "completion": answer})["messages"][-1]["content"] == "Hello"


def test_a_pair_keeps_its_own_prompt_where_its_answers_look_like_dialogues(write: Write) -> None:
    row = {"prompt": "Write a Q and A", "chosen": "Q: a\nA: b", "rejected": "Q: a\nA: d"}
    found = talk(write, row)
    assert found["prompt"] == [{"role": "user", "content": "Write a Q and A"}]
    assert found["chosen"] == [{"role": "assistant", "content": "Q: a\nA: b"}]


def test_prose_in_a_column_named_history_or_tools_costs_no_row(write: Write) -> None:
    rows = [row | {"history": "Earlier: foo", "tools": "see the manual"} for row in ROWS]
    report = inspect(write("a.jsonl", rows))
    assert report.usable == 2 and not {"history", "tools"} & set(report.mapping)
    context = inspect(write("b.jsonl", rows), Options(context_column="history"))
    assert context.sample[0]["messages"][0]["content"] == "Earlier: foo\n\na"


def test_the_last_word_of_a_name_tells_its_split(write: Write) -> None:
    write("set/medical_eval_train.jsonl", ROWS)
    folder = write("set/medical_eval_test.jsonl", ROWS[:1]).parent
    assert inspect(folder).splits == {"train": 2, "test": 1}


@pytest.mark.parametrize(
    "name", ["test_report.json", "eval_results.json", "train_stats.json", "training_args.json"]
)
@pytest.mark.parametrize("data", ["data.jsonl", "train.jsonl"])
def test_a_report_beside_the_data_is_no_split(write: Write, name: str, data: str) -> None:
    write(f"set/{name}", json.dumps({"loss": 1.5, "notes": ["a"]}))
    report = inspect(write(f"set/{data}", ROWS).parent)
    assert report.rows == 2
    assert name in next(item["message"] for item in report.warnings if item["code"] == "skipped_files")


def test_a_label_alone_is_no_known_header(write: Write) -> None:
    assert inspect(write("a.txt", "label, thumbs up\nGood morning\n")).schema == "text"
