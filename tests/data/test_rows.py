"""Rows of every schema: what becomes of odd turns, tools, labels and pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.data.report import Report

Write = Callable[..., Path]
GOOD = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
USER = {"role": "user", "content": "a"}


def dropped(report: Report) -> list[tuple[int, str]]:
    return [(row["row"], row["reason"]) for row in report.dropped]


def warned(report: Report) -> dict[str, list[int]]:
    return {warning["code"]: warning["rows"] for warning in report.warnings}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"messages": None}, "missing_field"),
        ({"other": 1}, "missing_field"),
        ({"messages": []}, "no_assistant"),
        ({"messages": "hello"}, "wrong_type"),
        ({"messages": ["a", "b"]}, "wrong_type"),
        ({"messages": '[{"role": "user"'}, "malformed_json"),
        ({"messages": [{"content": "a"}, {"role": "assistant", "content": "b"}]}, "missing_field"),
        ({"messages": [{"role": 1, "content": "a"}]}, "wrong_type"),
        ({"messages": [{"role": "narrator", "content": "a"}]}, "unknown_role"),
        (
            {"messages": [{"role": "user", "content": None}, {"role": "assistant", "content": "b"}]},
            "empty_prompt",
        ),
        ({"messages": [USER, {"role": "assistant", "content": None}]}, "empty_target"),
        ({"messages": [USER, {"role": "assistant"}]}, "empty_target"),
        ({"messages": [USER, {"role": "assistant", "content": {"a": 1}}]}, "wrong_type"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "wrong_type"),
    ],
)
def test_talk_that_teaches_nothing_says_why(write: Write, row: dict[str, Any], reason: str) -> None:
    report = inspect(write("a.jsonl", [GOOD, row, GOOD]))
    assert dropped(report) == [(2, reason)]
    assert report.dropped[0]["message"].startswith("Row 2: ")


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ("", {}),
        (None, {}),
        ('{"a": ', "malformed_json"),
        ("a=1", "malformed_json"),
        ([1], "wrong_type"),
        ("[1]", "wrong_type"),
    ],
)
def test_arguments_of_a_tool_call_become_an_object(write: Write, arguments: Any, outcome: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    turns = [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    report = inspect(write("a.jsonl", [GOOD, {"messages": [*turns, {"role": "assistant", "content": "x"}]}]))
    if isinstance(outcome, str):
        assert dropped(report) == [(2, outcome)]
        return
    made = report.sample[1]["messages"]
    assert made[1]["tool_calls"] == [
        {"type": "function", "function": {"name": "f", "arguments": outcome}, "id": "c1"}
    ]
    assert made[2] == {"role": "tool", "content": "", "tool_call_id": "c1"}


def test_parallel_calls_and_results_stay_apart(write: Write) -> None:
    turns = [
        {"from": "human", "value": "a"},
        {
            "from": "function_call",
            "value": '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]',
        },
        {"from": "observation", "value": "1"},
        {"from": "observation", "value": "2"},
        {"from": "gpt", "value": "b"},
    ]
    report = inspect(write("a.jsonl", [{"conversations": turns}]))
    made = report.sample[0]["messages"]
    assert [message["role"] for message in made] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call["function"]["name"] for call in made[1]["tool_calls"]] == ["f", "g"]


def test_typed_parts_are_sorted_into_text_reasoning_and_calls(write: Write) -> None:
    parts = [
        {"type": "reasoning", "value": "hm"},
        {"type": "text", "value": "let me see"},
        {"type": "tool_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
    ]
    turns = [USER, {"role": "assistant", "content": parts}]
    message = inspect(write("a.jsonl", [{"messages": turns}])).sample[0]["messages"][1]
    assert (message["content"], message["reasoning_content"]) == ("let me see", "hm")
    assert message["tool_calls"][0]["function"]["arguments"] == {"a": 1}


def test_conversations_may_use_role_and_content(write: Write) -> None:
    report = inspect(write("a.jsonl", [{"conversations": GOOD["messages"]}]))
    assert (report.schema, report.sample) == ("messages", [GOOD])


def test_warnings_name_the_rows(write: Write) -> None:
    rows = [
        GOOD,
        {"messages": [*GOOD["messages"], USER]},
        {"messages": [{"role": "assistant", "content": "x"}, *GOOD["messages"]]},
        {"messages": [USER, *GOOD["messages"]]},
        GOOD,
        {"messages": [USER, {"role": "assistant", "content": 5}]},
    ]
    report = inspect(write("a.jsonl", rows))
    assert report.usable == 6
    assert warned(report) == {
        "trailing_prompt_trimmed": [2],
        "duplicates": [2, 5],
        "starts_with_assistant": [3],
        "merged_turns": [4],
        "coerced_to_text": [6],
    }


def test_equal_rows_under_another_spelling_are_duplicates(write: Write) -> None:
    rows = [{"prompt": "a", "completion": "b"}, {"completion": "b", "prompt": "a", "id": 7}]
    path = write("a.jsonl", rows)
    assert warned(inspect(path)) == {"duplicates": [2]}
    assert dropped(inspect(path, Options(drop_duplicates=True))) == [(2, "duplicate")]


def test_blank_system_turn_goes_and_given_one_leads(write: Write) -> None:
    path = write("a.jsonl", [{"messages": [{"role": "system", "content": " "}, *GOOD["messages"]]}])
    assert inspect(path).sample == [GOOD]
    assert inspect(path, Options(system="S")).sample[0]["messages"][0] == {"role": "system", "content": "S"}


def test_system_turn_of_a_row_is_not_replaced(write: Write) -> None:
    path = write("a.jsonl", [{"messages": [{"role": "system", "content": "own"}, *GOOD["messages"]]}])
    assert inspect(path, Options(system="S")).sample[0]["messages"][0]["content"] == "own"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("question", "answer"),
        ("Query", "Response"),
        (" Prompt ", "COMPLETION"),
        ("input", "output"),
        ("docstring", "code"),
        ("User Prompt", "Assistant"),
    ],
)
def test_known_columns_in_many_spellings(write: Write, first: str, second: str) -> None:
    report = inspect(write("a.jsonl", [{"id": 1, first: "a", second: "b"}]))
    assert (report.schema, report.sample) == ("prompt-completion", [GOOD])
    assert report.mapping == {"prompt": first, "response": second}


def test_context_of_a_question_is_its_input(write: Write) -> None:
    row = {"instruction": "Who?", "context": "It was Anna.", "response": "Anna", "category": "qa"}
    report = inspect(write("a.jsonl", [row]))
    assert report.schema == "alpaca"
    assert report.sample[0]["messages"][0]["content"] == "Who?\nIt was Anna."


def test_reasoning_column_of_any_known_name(write: Write) -> None:
    report = inspect(write("a.jsonl", [{"Question": "q", "Complex_CoT": "hm", "Response": "r"}]))
    assert report.sample[0]["messages"][1] == {"role": "assistant", "content": "r", "reasoning_content": "hm"}


def test_prompt_and_completion_may_be_turns(write: Write) -> None:
    row = {"prompt": [USER], "completion": [{"role": "assistant", "content": "b"}]}
    report = inspect(write("a.jsonl", [row]))
    assert (report.schema, report.sample) == ("prompt-completion", [GOOD])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"instruction": " ", "output": "b"}, "empty_prompt"),
        ({"instruction": None, "output": "b"}, "empty_prompt"),
        ({"output": "b"}, "missing_field"),
        ({"instruction": ["a"], "output": "b"}, "wrong_type"),
        ({"instruction": "a", "output": "b", "history": "before"}, "wrong_type"),
        ({"instruction": "a", "output": "b", "history": [["only one"]]}, "wrong_type"),
        ({"instruction": "a", "output": "b", "tools": "[{"}, "malformed_json"),
    ],
)
def test_alpaca_row_that_cannot_be_used_says_why(write: Write, row: dict[str, Any], reason: str) -> None:
    assert dropped(inspect(write("a.jsonl", [{"instruction": "x", "output": "y"}, row]))) == [(2, reason)]


@pytest.mark.parametrize(
    ("label", "outcome"),
    [(True, True), ("False", False), (1, True), (0.0, False), ("yes", True), ("maybe", "wrong_type"), (2, "wrong_type"),
     ("", "missing_label")],
)  # fmt: skip
def test_labels_of_every_kind(write: Write, label: Any, outcome: Any) -> None:
    rows = [{"prompt": "a", "completion": "b", "label": label} for label in (True, False, label)]
    report = inspect(write("a.jsonl", rows))
    if isinstance(outcome, bool):
        assert report.sample[2]["label"] is outcome
    else:
        assert dropped(report) == [(3, outcome)]


def test_label_that_is_a_category_makes_no_kto(write: Write) -> None:
    assert (
        inspect(write("a.jsonl", [{"question": "a", "answer": "b", "label": "physics"}])).schema
        == "prompt-completion"
    )
    assert inspect(write("b.jsonl", [{"text": "a", "label": 1}])).schema == "text"


def test_kto_asks_for_a_question(write: Write) -> None:
    rows = [
        {"messages": GOOD["messages"], "label": True},
        {"messages": [{"role": "assistant", "content": "b"}], "label": True},
        {"messages": [USER], "label": True},
    ]
    assert dropped(inspect(write("a.jsonl", rows))) == [(2, "empty_prompt"), (3, "no_assistant")]


def preference(chosen: Any, rejected: Any, **more: Any) -> dict[str, Any]:
    return {"chosen": chosen, "rejected": rejected} | more


def test_whole_dialogues_beside_a_prompt_are_taken_apart(write: Write) -> None:
    talk = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "w"},
        {"role": "user", "content": "a"},
    ]
    good, bad = ([*talk, {"role": "assistant", "content": text}] for text in ("good", "bad"))
    row = inspect(write("a.jsonl", [preference(good, bad, prompt="a")])).sample[0]
    assert row["prompt"] == talk
    assert (row["chosen"], row["rejected"]) == (good[3:], bad[3:])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (preference("x", "x ", prompt=""), "empty_prompt"),
        (preference("x", "y"), "missing_field"),
        (preference("", "y", prompt="a"), "empty_target"),
        (preference("x", None, prompt="a"), "empty_target"),
        (preference(["x"], "y", prompt="a"), "wrong_type"),
        (preference([USER, {"role": "assistant", "content": "b"}], [USER]), "no_assistant"),
    ],
)
def test_pair_that_teaches_nothing_says_why(write: Write, row: dict[str, Any], reason: str) -> None:
    assert dropped(inspect(write("a.jsonl", [preference("x", "y", prompt="a"), row]))) == [(2, reason)]


def test_talk_of_json_text_is_unpacked(write: Write) -> None:
    report = inspect(write("a.jsonl", [{"conversations": json.dumps(GOOD["messages"]), "tools": "[]"}]))
    assert report.sample == [GOOD]
