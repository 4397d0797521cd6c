"""Where the rows are in a JSON file: in lists, by name, in columns, under a header, side by side as splits."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.data.reader import parts, read
from ftui.errors import DataError

Write = Callable[..., Path]
ROWS = [{"prompt": f"question {n}", "completion": f"answer {n}"} for n in range(1, 4)]
TALK = [{"role": "user", "content": "question 1"}, {"role": "assistant", "content": "answer 1"}]
THREE = {
    "list of one name": {"anything": ROWS},
    "list beside what tells about it": {"version": "1.0", "features": [{"name": "prompt"}], "data": ROWS},
    "list within an object": {"dataset": {"name": "x", "items": ROWS}},
    "splits": {"test": ROWS[:1], "train": ROWS},
    "only a split of validation": {"validation": ROWS},
    "splits within an object": {"data": {"train": ROWS, "test": []}},
    "splits in columns": {
        "train": {"prompt": ["question 1", "b", "c"], "completion": ["answer 1", "b", "c"]}
    },
    "by an identifier": {"id1": ROWS[0], "id2": ROWS[1], "id3": ROWS[2]},
    "by an identifier, beside a version": {"version": "1.0", "a": ROWS[0], "b": ROWS[1], "c": ROWS[2]},
    "pandas index": {str(place): row for place, row in enumerate(ROWS)},
    "columns": {"question": ["question 1", "b", "c"], "answer": ["answer 1", "b", "c"]},
    "pandas columns": {
        "question": {"0": "question 1", "1": "b", "2": "c"},
        "answer": {"0": "answer 1", "1": "b", "2": "c"},
    },
    "pandas split": {
        "columns": ["prompt", "completion"],
        "index": [0, 1, 2],
        "data": [["question 1", "answer 1"], ["b", "c"], ["d", "e"]],
    },
    "pandas table": {"schema": {"fields": [{"name": "index"}]}, "data": ROWS},
    "header and lists": [["prompt", "completion"], ["question 1", "answer 1"], ["b", "c"], ["d", "e"]],
    "rows of the hub's viewer": {
        "features": [],
        "rows": [{"row_idx": n, "row": row} for n, row in enumerate(ROWS)],
    },
    "talks without a name": [TALK, TALK, TALK],
    "talks by an identifier": {"c1": TALK, "c2": TALK, "c3": TALK},
    "column of talks": {"messages": [TALK, TALK, TALK]},
    "objects of talks under a talk's name": {"conversations": [{"messages": TALK}] * 3},
}


def first(report: Any) -> list[str]:
    return [message["content"] for message in report.sample[0]["messages"]]


@pytest.mark.parametrize("value", THREE.values(), ids=THREE)
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_rows_are_found(write: Write, value: Any, indent: int | None, name: str) -> None:
    report = inspect(write(name, json.dumps(value, indent=indent)))
    assert (report.rows, report.usable, first(report)) == (3, 3, ["question 1", "answer 1"])


@pytest.mark.parametrize(
    "row",
    [
        {"instruction": "question 1", "input": "", "output": "answer 1"},
        {"messages": TALK},
        {"id": 1, "question": "question 1", "answer": "answer 1", "tags": ["x"], "sources": [{"url": "y"}]},
        {"unknown": TALK, "id": 1},
    ],
)
def test_one_object_is_one_row(write: Write, row: dict[str, Any]) -> None:
    report = inspect(write("a.json", json.dumps(row, indent=1)))
    assert (report.rows, first(report)) == (1, ["question 1", "answer 1"])


def test_list_of_texts_is_text(write: Write) -> None:
    assert inspect(write("a.json", '["One.", "Two."]')).sample == [{"text": "One."}, {"text": "Two."}]
    assert inspect(write("b.jsonl", '"One."\n"Two."\n')).sample[1] == {"text": "Two."}


@pytest.mark.parametrize(
    "value",
    [
        {"frage": ["a", "b"], "antwort": ["c", "d"]},
        {"frage": {"0": "a", "1": "b"}, "antwort": {"0": "c", "1": "d"}},
        [["frage", "antwort"], ["a", "c"], ["b", "d"]],
        {"x": {"frage": "a", "antwort": "b"}, "y": {"frage": "a", "antwort": "b"}},
    ],
)
def test_unknown_columns_of_any_shape_are_named_and_can_be_mapped(write: Write, value: Any) -> None:
    path = write("a.json", json.dumps(value))
    with pytest.raises(DataError) as caught:
        inspect(path)
    assert caught.value.columns == ["frage", "antwort"]
    assert inspect(path, Options(mapping={"prompt": "frage", "response": "antwort"})).usable == 2


def test_short_column_and_short_row_cost_their_rows(write: Write) -> None:
    report = inspect(write("a.json", json.dumps({"question": ["a", "b"], "answer": ["c"]})))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(2, "empty_target")]
    report = inspect(write("b.json", json.dumps([["question", "answer"], ["a", "b"], ["c"]])))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(2, "ragged_row")]


def test_columns_that_are_damaged_are_said_as_a_whole(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.json", json.dumps({"question": ["a"], "answer": ["b"]})[:-4]))
    assert caught.value.code == "not_text" and "columns" in caught.value.message


def test_columns_beyond_the_bound_are_too_large(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ftui.data.json_text.MAX_WHOLE", 1 << 20)
    path = write("a.json", json.dumps({"question": ["a" * 1000] * 40_000, "answer": ["b"] * 40_000}))
    with pytest.raises(DataError) as caught:
        inspect(path)
    assert caught.value.code == "too_large" and "JSON lines" in caught.value.fix


@pytest.mark.parametrize("packed", [False, True])
def test_parts_of_a_file_are_read_one_by_one(write: Write, packed: bool) -> None:
    content = json.dumps({"title": "x", "train": ROWS * 3000, "test": ROWS[:1], "licences": []}).encode()
    path = write("a.json", gzip.compress(content) if packed else content)
    assert parts(path) == ["train", "test"]
    counts = [sum(1 for _ in read(path, Options(), part).records) for part in ("train", "test", "")]
    assert counts == [9000, 1, 9000]
    with pytest.raises(DataError, match="dev"):
        next(read(path, Options(), "dev").records)


def test_mended_last_row_of_a_part_does_not_reach_the_next(write: Write) -> None:
    text = json.dumps({"train": ROWS, "test": ROWS[:1]}).replace('"answer 3"}]', '"answer 3",}]')
    path = write("a.json", text)
    assert parts(path) == ["train", "test"]
    assert inspect(path).usable == 3


@pytest.mark.parametrize(
    "content", [json.dumps(ROWS), json.dumps(ROWS[0]), "prompt,completion\na,b\n", "text"]
)
def test_other_files_have_no_parts(write: Write, content: str) -> None:
    assert parts(write("a.json", content)) == []


def test_damage_among_named_rows_costs_one(write: Write) -> None:
    text = json.dumps({"a": ROWS[0], "b": ROWS[1], "c": ROWS[2]}).replace('"answer 2"', '"answer " 2"')
    report = inspect(write("a.json", text))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(2, "malformed_json")]
    assert report.usable == 2


LOOSE = {
    "comments": '// mine\n[\n  /* first */ {"prompt": "question 1", "completion": "answer 1"}, // one\n'
    '  {"prompt": "http://x", "completion": "// no comment"}\n]',
    "trailing commas": '[{"prompt": "question 1", "completion": "answer 1",}, {"prompt": "a", "completion": "b",},]',
    "comments in lines": '// mine\n{"prompt": "question 1", "completion": "answer 1"} // x\n'
    '{"prompt": "a", "completion": "b",}\n',
    "python lines": "{'prompt': 'question 1', 'completion': \"answer 1\", 'x': None, 'y': nan}\n"
    "{'prompt': 'it\\'s', 'completion': 'b', 'ok': true}\n",
    "python list": str(ROWS[:2]),
    "python list, pretty": "[\n {'prompt': 'question 1',\n  'completion': 'answer 1'},\n"
    " {'prompt': 'a', 'completion': 'b'}]",
    "line ends within texts": '[{"prompt": "question 1", "completion": "answer 1", "x": "a\nb"},'
    ' {"prompt": "a", "completion": "b\tc"}]',
    "record separators": "".join("\x1e" + json.dumps(row) + "\n" for row in ROWS[:2]),
    "two arrays": json.dumps(ROWS[:1]) + "\n" + json.dumps(ROWS[1:2]),
}


@pytest.mark.parametrize("text", LOOSE.values(), ids=LOOSE)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_json_as_people_write_it_is_read(write: Write, text: str, name: str) -> None:
    report = inspect(write(name, text))
    assert (report.rows, report.usable, first(report)) == (2, 2, ["question 1", "answer 1"])


def test_control_characters_within_json_stay_damage(write: Write) -> None:
    report = inspect(
        write("a.jsonl", '{"prompt": "a\x01", "completion": "b"}\n' + json.dumps(ROWS[0]) + "\n")
    )
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(1, "malformed_json")]


@pytest.mark.parametrize("part", ['\\"', "/*", "'", '"', ", ", "{", "[", '{"a":', "{'a':", "\\"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_damage_of_any_length_is_passed_in_no_time(write: Write, part: str, name: str) -> None:
    import time

    path = write(
        name,
        '{"prompt": "a", "completion": "'
        + part * 50_000
        + "\n"
        + "".join(json.dumps(r) + "\n" for r in ROWS),
    )
    before = time.monotonic()
    assert inspect(path).usable == 3
    assert time.monotonic() - before < 5


def test_rows_of_single_turns_are_no_text(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.jsonl", TALK))
    assert caught.value.code == "unknown_schema"
