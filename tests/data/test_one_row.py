"""A file of one row is read as two such rows are, whatever lies within it; and wrappers are still looked into."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.data.reader import read
from ftui.errors import DataError

Write = Callable[..., Path]
TALK = [{"role": "user", "content": "question 1"}, {"role": "assistant", "content": "answer 1"}]
FROM = [{"from": "human", "value": "question 1"}, {"from": "gpt", "value": "answer 1"}]
ROWS = [{"instruction": f"question {n}", "input": "", "output": f"answer {n}"} for n in range(1, 7)]
BASES: list[dict[str, Any]] = [
    {"conversations": FROM},
    {"messages": TALK},
    {"question": "question 1", "answer": "answer 1"},
    {"id": "a", "question": "question 1", "answers": {"text": ["answer 1"]}},
    {"prompt": TALK[:1], "chosen": TALK[1:], "rejected": [{"role": "assistant", "content": "no"}]},
    {"prompt": TALK[:1], "completion": TALK[1:]},
    {"text": "a text"},
    {"unknown": TALK},
]
BESIDE: list[dict[str, Any]] = [
    {"documents": [{"text": "ctx"}]},
    {"extra": {"ids": [1, 2]}},
    {"embedding": [[0.1, 0.2]]},
    {"images": [{"path": "x.png"}]},
    {"scores": [{"name": "a", "score": 1}], "choices": ["a", "b"]},
    {"sources": {"a": {"url": "x"}, "b": {"url": "y"}}},
    {"candidates": [{"text": "a"}], "annotations": [{"label": 1}]},
    {"test": [{"input": "1", "result": "2"}]},
    {"dev": {"ids": [1]}},
    {"eval": [[1, 2]]},
]


def told(path: Path, options: Options) -> Any:
    try:
        report = inspect(path, options)
    except DataError as error:
        return error.code, error.columns
    return report.schema, report.mapping, report.sample[0]


@pytest.mark.parametrize("base", BASES, ids=lambda base: "-".join(base))
@pytest.mark.parametrize("beside", BESIDE, ids=lambda beside: "-".join(beside))
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_one_row_is_read_as_two_are(
    write: Write, base: dict[str, Any], beside: dict[str, Any], first: bool, name: str
) -> None:
    row = base | beside if first else beside | base
    one = write(name, json.dumps(row))
    two = write("two.jsonl", [row, row])
    assert told(one, Options()) == told(two, Options())
    assert len(list(read(one, Options()).records)) == 1


@pytest.mark.parametrize(
    ("row", "mapping"),
    [
        ({"dlg": TALK}, {"messages": "dlg"}),
        ({"dlg": TALK, "docs": [{"text": "x"}]}, {"messages": "dlg"}),
        (
            {"ctx": TALK[:1], "good": TALK[1:], "bad": [{"role": "assistant", "content": "no"}]},
            {"prompt": "ctx", "chosen": "good", "rejected": "bad"},
        ),
        (
            {"f": "question 1", "g": "answer 1", "verlauf": [["x", "y"]]},
            {"prompt": "f", "response": "g", "history": "verlauf"},
        ),
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_one_row_can_be_mapped(write: Write, row: dict[str, Any], mapping: dict[str, str], name: str) -> None:
    options = Options(mapping=mapping)
    report = inspect(write(name, json.dumps(row)), options)
    assert (report.rows, report.usable) == (1, 1)
    assert told(write(name, json.dumps(row)), options) == told(write("two.jsonl", [row, row]), options)


@pytest.mark.parametrize(
    "wrapper",
    [
        {"text": "what it is", "data": ROWS},
        {"text": "what it is", "splits": {"train": ROWS}},
        {"name": "a", "about": "b", "rows": ROWS},
        {"name": "a", "about": "b", "anything": ROWS},
        {"example": TALK, "data": ROWS},
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_one_object_around_rows_is_no_row(write: Write, wrapper: dict[str, Any], name: str) -> None:
    assert inspect(write(name, json.dumps(wrapper))).usable == 6


def test_one_line_of_unknown_columns_is_a_row(write: Write) -> None:
    row = {"frage": "question 1", "antwort": "answer 1", "quellen": [{"url": "x"}]}
    with pytest.raises(DataError) as caught:
        inspect(write("a.jsonl", [row]))
    assert caught.value.columns == ["frage", "antwort", "quellen"]


def test_unicode_text_of_excel_is_a_table(write: Write) -> None:
    path = write("a.txt", "Frage\tAntwort\r\nWie?\tSo, und so.\r\nWo?\tDa.\r\n".encode("utf-16"))
    with pytest.raises(DataError) as caught:
        inspect(path)
    assert (caught.value.code, caught.value.columns) == ("unknown_schema", ["Frage", "Antwort"])
    assert inspect(path, Options(mapping={"prompt": "Frage", "response": "Antwort"})).usable == 2
    assert inspect(write("b.txt", "One.\r\nTwo\tthree.\r\n".encode("utf-16"))).schema == "text"


def test_list_of_no_rows_is_no_column(write: Write) -> None:
    for name in ("a.json", "a.jsonl"):
        with pytest.raises(DataError) as caught:
            inspect(write(name, '{"data": []}'))
        assert caught.value.code == "no_usable_rows"


def test_rows_in_lists_of_their_own_are_read(write: Write) -> None:
    assert inspect(write("a.json", json.dumps([{"data": ROWS}]))).usable == 6
    report = inspect(write("a.jsonl", [{"data": ROWS[:2]}, {"data": ROWS[2:]}]))
    assert (report.rows, report.usable) == (6, 6)


@pytest.mark.parametrize("place", [0, 2, 5])
@pytest.mark.parametrize("indent", [None, 1])
def test_missing_brace_costs_one_row(write: Write, place: int, indent: int | None) -> None:
    parts = [json.dumps(row, indent=indent) for row in ROWS]
    parts[place] = parts[place][1:]
    report = inspect(write("a.json", "[" + ", ".join(parts) + "]"))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(place + 1, "malformed_json")]
    assert (report.rows, report.usable) == (6, 5)
