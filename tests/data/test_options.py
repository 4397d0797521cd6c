"""What the person decides is done, and what cannot be is said with the columns that there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import Options, inspect, load
from ftui.errors import DataError
from ftui.settings import DataSettings

Write = Callable[..., Path]


def test_settings_become_options() -> None:
    settings = DataSettings(
        schema_name="kto", mapping={"prompt": "q"}, system="S", drop_duplicates=True, max_rows=3
    )
    assert Options.of(settings) == Options("kto", {"prompt": "q"}, "S", True, 3)


def test_mapping_wins_over_known_columns(write: Write) -> None:
    row = {
        "question": "not this",
        "prompt": "nor this",
        "answer": "no",
        "q": "a",
        "a": "b",
        "context": "beside",
    }
    report = inspect(write("a.jsonl", [row]), Options(mapping={"prompt": "q", "completion": "A"}))
    assert report.mapping == {"prompt": "q", "response": "a"}
    assert [message["content"] for message in report.sample[0]["messages"]] == ["a", "b"]


def test_mapping_completes_what_is_detected(write: Write) -> None:
    row = {"question": "a", "antwort": "b", "gedanken": "c"}
    report = inspect(
        write("a.jsonl", [row]), Options(mapping={"response": "antwort", "reasoning": "gedanken"})
    )
    assert report.mapping == {"response": "antwort", "reasoning": "gedanken", "prompt": "question"}
    assert report.sample[0]["messages"][1]["reasoning_content"] == "c"


def test_empty_entries_of_a_mapping_are_no_entries(write: Write) -> None:
    report = inspect(write("a.jsonl", [{"prompt": "a", "completion": "b"}]), Options(mapping={"prompt": ""}))
    assert report.usable == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(mapping={"prompt": "frage"}), ["frage", "prompt, completion"]),
        (Options(mapping={"colour": "prompt"}), ["colour", "prompt"]),
        (Options(schema="alpacca"), ["alpacca", "alpaca"]),
        (Options(schema="preference"), ["chosen", "rejected", "prompt, completion"]),
        (Options(schema="kto"), ["label"]),
        (Options(schema="messages"), ["messages"]),
    ],
)
def test_impossible_options_name_what_there_is(write: Write, options: Options, words: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.jsonl", [{"prompt": "a", "completion": "b"}]), options)
    assert caught.value.code == "unknown_schema"
    for word in words:
        assert word in caught.value.message + caught.value.fix


def test_chosen_schema_and_text_column(write: Write) -> None:
    path = write("a.jsonl", [{"prompt": "a", "completion": "b", "story": "c"}])
    assert inspect(path, Options(mapping={"text": "story"})).sample == [{"text": "c"}]
    assert inspect(path, Options(schema="text", mapping={"text": "story"})).schema == "text"
    assert inspect(path, Options(schema="alpaca")).schema == "alpaca"


def test_at_most_counts_usable_rows(write: Write) -> None:
    rows = [{"prompt": "a", "completion": ""}, *({"prompt": str(n), "completion": "b"} for n in range(9))]
    loaded = load(write("a.jsonl", rows), Options(max_rows=4))
    assert [row.number for row in loaded.splits["train"]] == [2, 3, 4, 5]


def test_sample_is_as_long_as_asked(write: Write) -> None:
    path = write("a.jsonl", [{"text": str(n)} for n in range(9)])
    assert [row["text"] for row in inspect(path, sample=2).sample] == ["0", "1"]


def test_report_has_the_fields_of_the_command(write: Write) -> None:
    shown = inspect(write("a.jsonl", [{"text": "a"}])).to_json()
    assert list(shown) == [
        "path", "file_format", "encoding", "schema", "mapping", "columns", "rows", "usable", "dropped", "warnings",
        "sample",
    ]  # fmt: skip
    assert shown["path"].endswith("a.jsonl")
