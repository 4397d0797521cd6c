"""Known names of columns, roles and labels; what is not known is proposed by the look of it, never taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.errors import DataError

Write = Callable[..., Path]
U, A = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}


def contents(report: Any) -> list[str]:
    return [message["content"] for message in report.sample[0]["messages"]]


@pytest.mark.parametrize(
    ("prompt", "response"),
    [
        ("Question", "Response"),
        ("Open-ended Verifiable Question", "Ground-True Answer"),
        ("instruction_zh", "output_zh"),
        ("question_content", "best_answer"),
        ("func_documentation_string", "func_code_string"),
        ("prompt", "canonical_solution"),
        ("docstring", "code"),
        ("问题", "回答"),
        ("提问", "回复"),
        ("输入", "输出"),
        ("问", "答"),
        ("User Prompt", "Model Response"),
        ("user-input", "bot response"),
        ("inputs", "targets"),
    ],
)
def test_names_of_question_and_answer(write: Write, prompt: str, response: str) -> None:
    report = inspect(write("a.jsonl", [{"id": 7, prompt: "Hi", response: "Hello", "source": "x"}]))
    assert (report.schema, contents(report)) == ("prompt-completion", ["Hi", "Hello"])


def test_chinese_names_of_everything(write: Write) -> None:
    row = {"系统": "S", "指令": "Hi", "输入": "there", "思考": "hm", "输出": "Hello"}
    messages = inspect(write("a.jsonl", [row])).sample[0]["messages"]
    assert [message["content"] for message in messages] == ["S", "Hi\nthere", "Hello"]
    assert messages[2]["reasoning_content"] == "hm"


@pytest.mark.parametrize("user", ["USER ", "Human", "prompter", "用户", "customer", "患者"])
@pytest.mark.parametrize("assistant", ["Assistant ", "GPT-4", "bot", "AI Assistant", "助手", "医生"])
def test_names_of_roles(write: Write, user: str, assistant: str) -> None:
    talk = [{"from": user, "value": "Hi"}, {"from": assistant, "value": "Hello"}]
    assert inspect(write("a.jsonl", [{"conversations": talk}])).sample == [{"messages": [U, A]}]


@pytest.mark.parametrize("role", ["narrator", "moderator", "critic", "wizard"])
def test_other_roles_are_unknown(write: Write, role: str) -> None:
    rows = [{"messages": [U, A]}, {"messages": [{"role": role, "content": "x"}, A]}]
    report = inspect(write("a.jsonl", rows))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(2, "unknown_role")]
    assert role in report.dropped[0]["message"]


@pytest.mark.parametrize(
    "row",
    [
        {"conversation": [{"human": "Hi", "assistant": "Hello"}], "category": "x"},
        {"conversations": [{"user": "Hi"}, {"assistant": "Hello"}]},
        {"messages": [{"Role": "User", "Content": "Hi"}, {"Role": "Assistant", "Content": "Hello"}]},
        {"gespraech": [U, A], "id": 1},
        {"gespraech": json.dumps([U, A])},
        {"conversation": {"messages": [U, A]}},
        {"messages": "[{'content': 'Hi', 'role': 'user'}\n {'content': 'Hello', 'role': 'assistant'}]"},
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}, A]},
        {"dialog": [{"sender": "user", "utterance": "Hi"}, {"sender": "bot", "utterance": "Hello"}]},
    ],
)
def test_turns_in_other_spellings(write: Write, row: dict[str, Any]) -> None:
    assert inspect(write("a.jsonl", [row])).sample == [{"messages": [U, A]}]


def test_tags_name_the_fields_and_roles_of_turns(write: Write) -> None:
    talk = [
        {"who": "chef", "said": "S"},
        {"who": "kunde", "said": "Hi"},
        {"who": "aufruf", "said": '{"name": "f", "arguments": {}}'},
        {"who": "ergebnis", "said": "5"},
        {"who": "wir", "said": "Hello"},
    ]
    tags = {
        "role_tag": "who",
        "content_tag": "said",
        "system_tag": "chef",
        "user_tag": "kunde",
        "assistant_tag": "wir",
    }
    tags |= {"function_tag": "aufruf", "observation_tag": "ergebnis"}
    report = inspect(write("a.jsonl", [{"t": talk}]), Options(mapping={"messages": "t"} | tags))
    assert [message["role"] for message in report.sample[0]["messages"]] == [
        "system", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    with pytest.raises(DataError, match="role_tag"):
        inspect(write("a.jsonl", [{"t": talk}]), Options(mapping={"messages": "t", "rolle": "who"}))


@pytest.mark.parametrize(
    ("label", "meaning"),
    [("TRUE ", True), ("👍", True), ("thumbs_up", True), ("desirable", True), ("是", True), ("+1", True), (1.0, True),
     ("bad", False), ("👎", False), (-1, False), ("rejected", False), ("否", False), ("nein", False)],
)  # fmt: skip
def test_labels_in_other_spellings(write: Write, label: Any, meaning: bool) -> None:
    report = inspect(write("a.jsonl", [{"prompt": "a", "completion": "b", "label": label}]))
    assert (report.schema, report.sample[0]["label"]) == ("kto", meaning)


def test_half_of_the_labels_may_be_missing(write: Write) -> None:
    rows = [{"prompt": "a", "completion": "b", "label": label} for label in (None, True)]
    report = inspect(write("a.jsonl", rows))
    assert (report.schema, [row["reason"] for row in report.dropped]) == ("kto", ["missing_label"])


def test_openai_preference_format(write: Write) -> None:
    row = {
        "input": {"messages": [U]},
        "preferred_output": [A],
        "non_preferred_output": [{"role": "assistant", "content": "No"}],
    }
    assert inspect(write("a.jsonl", [row])).sample[0]["prompt"] == [U]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (
            [{"id": "1", "antwort": "Paris.", "frage": "Hauptstadt von Frankreich?"}],
            {"prompt": "frage", "response": "antwort"},
        ),
        (
            [
                {"kurz": f"Erkläre Nummer {n}", "lang": f"Nummer {n} ist eine lange Geschichte. " * 9}
                for n in range(9)
            ],
            {"prompt": "kurz", "response": "lang"},
        ),
        (
            [
                {"lang": f"Nummer {n} ist eine lange Geschichte. " * 9, "kurz": f"Erkläre Nummer {n}"}
                for n in range(9)
            ],
            {"prompt": "kurz", "response": "lang"},
        ),
        ([{"geschichte": "Es war einmal ein langer Satz.", "nr": 3}], {"text": "geschichte"}),
        (
            [
                {"art": ("alt", "neu")[n % 2], "vraag": f"Wat is {n}?", "antwoord": f"Het is het {n}e getal"}
                for n in range(30)
            ],
            {"prompt": "vraag", "response": "antwoord"},
        ),
        ([{"a": 1, "b": 2}], {}),
    ],
)
def test_unknown_columns_come_with_a_proposal(
    write: Write, rows: list[dict[str, Any]], wanted: dict[str, str]
) -> None:
    path = write("a.jsonl", rows)
    with pytest.raises(DataError) as caught:
        inspect(path)
    error = caught.value
    assert (error.code, error.columns, error.proposal) == ("unknown_schema", list(rows[0]), wanted)
    if wanted:
        assert json.dumps(wanted, ensure_ascii=False) in error.fix
        assert inspect(path, Options(mapping=wanted)).usable == len(rows)
