"""Whole dialogues in one text: those that are marked become turns, all other text stays text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.data.dialogue import is_dialogue
from ftui.errors import DataError

Write = Callable[..., Path]
HH = "\n\nHuman: Hi\n\nAssistant: Hello"
CHATML = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
MARKED = {
    "hh-rlhf": HH,
    "guanaco": "### Human: Hi### Assistant: Hello",
    "alpaca": "Below is an instruction that describes a task. Write a response that appropriately completes the "
    "request.\n\n### Instruction:\nHi\n\n### Response:\nHello</s>",
    "alpaca with an end": "### Instruction:\nHi\n\n### Response:\nHello\n\n### End",
    "llama 2": "<s>[INST] Hi [/INST] Hello </s>",
    "mistral": "<s>[INST]Hi[/INST]Hello</s>",
    "chatml": CHATML,
    "llama 3": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>",
    "gemma": "<bos><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n",
    "zephyr": "<|user|>\nHi</s>\n<|assistant|>\nHello</s>",
    "phi": "<|user|>\nHi<|end|>\n<|assistant|>\nHello<|end|>\n<|endoftext|>",
    "vicuna": "USER: Hi ASSISTANT: Hello</s>",
    "deepseek": "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜>Hello<｜end▁of▁sentence｜>",
    "oig": "<human>: Hi\n<bot>: Hello",
    "baize": "[|Human|] Hi\n[|AI|] Hello",
    "labels": "User: Hi\nAssistant: Hello",
    "bold labels": "**User:** Hi\n**Assistant:** Hello",
    "q and a": "Q: Hi\nA: Hello",
    "chinese": "用户：Hi\n助手：Hello",
    "chinese q and a": "问：Hi\n答：Hello",
    "german": "Frage: Hi\nAntwort: Hello",
}


def contents(value: dict[str, Any]) -> list[str]:
    return [message["content"] for message in value["messages"]]


@pytest.mark.parametrize("text", MARKED.values(), ids=MARKED)
@pytest.mark.parametrize("column", ["text", "conversation", "content"])
def test_marked_dialogue_becomes_turns(write: Write, text: str, column: str) -> None:
    report = inspect(write("a.jsonl", [{column: text}, {column: text.replace("\n", "\r\n")}]))
    assert (report.schema, report.usable, report.mapping) == ("messages", 2, {"messages": column})
    assert [contents(row) for row in report.sample] == [["Hi", "Hello"]] * 2
    assert [message["role"] for message in report.sample[0]["messages"]] == ["user", "assistant"]


@pytest.mark.parametrize("text", MARKED.values(), ids=MARKED)
def test_person_decides_what_a_marked_text_is(write: Write, text: str) -> None:
    path = write("a.jsonl", [{"story": text, "text": text}])
    assert contents(inspect(path, Options(mapping={"messages": "story"})).sample[0]) == ["Hi", "Hello"]
    assert inspect(path, Options(schema="text")).sample == [{"text": text}]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] More [/INST] Ok </s>",
            ["Be brief.", "Hi", "Hello", "More", "Ok"],
        ),
        (
            "A chat between a user and an AI. USER: Hi ASSISTANT: Hello</s>USER: x ASSISTANT: y</s>",
            ["A chat between a user and an AI.", "Hi", "Hello", "x", "y"],
        ),
        (
            "### Instruction:\nTranslate\n\n### Input:\nGood\n\n### Response:\nGut",
            ["Translate\nGood", "Gut"],
        ),
        (
            "System: S\nUser: Hi\nAssistant: one:\nmodel: small\nNote: two",
            ["S", "Hi", "one:\nmodel: small\nNote: two"],
        ),
        (
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\n    x\n\n<|im_end|>",
            ["S", "Hi", "    x\n\n"],
        ),
    ],
)
def test_system_input_and_white_space_of_a_dialogue_are_kept(
    write: Write, text: str, wanted: list[str]
) -> None:
    assert contents(inspect(write("a.jsonl", [{"text": text}])).sample[0]) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "It was late. Q: what is it?\nA: nothing, he said.",
        "A: first entry\nB: second",
        "Human: the word stood there.",
        "User: alone\nand more",
        "Answer: no\nQuestion: yes",
        "# Task\n\n### Input\n1 2\n\n### Output\n3",
        "### Summary\nfoo\n### Answer\nbar",
        "Note: a\nUser: b\nAssistant: c",
    ],
)
def test_text_with_a_label_in_it_stays_text(write: Write, text: str) -> None:
    assert not is_dialogue(text)
    assert inspect(write("a.jsonl", [{"text": text}] * 3)).sample[0] == {"text": text}


def test_column_is_what_most_of_its_texts_are(write: Write) -> None:
    report = inspect(write("a.jsonl", [{"text": HH}] * 9 + [{"text": "Nothing marked."}]))
    assert (report.schema, report.usable) == ("messages", 9)
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(10, "wrong_type")]
    assert inspect(write("b.jsonl", [{"text": HH}] * 2 + [{"text": "Nothing."}] * 8)).schema == "text"


def test_question_and_answer_go_before_the_text_that_joins_them(write: Write) -> None:
    row = {"instruction": "Hi", "output": "Hello", "text": MARKED["alpaca"]}
    report = inspect(write("a.jsonl", [row]))
    assert (report.schema, contents(report.sample[0])) == ("alpaca", ["Hi", "Hello"])


def test_transcript_without_marks_is_no_talk(write: Write) -> None:
    row = {"dialogue": "Amanda: Hi\nJerry: Sure", "summary": "They agree."}
    with pytest.raises(DataError) as caught:
        inspect(write("a.jsonl", [row]))
    assert caught.value.code == "unknown_schema"
    report = inspect(write("b.jsonl", [row | {"question": "Who?", "answer": "Both"}]))
    assert contents(report.sample[0]) == ["Who?", "Both"]


@pytest.mark.parametrize("text", MARKED.values(), ids=MARKED)
def test_preference_of_two_dialogues_shares_its_prompt(write: Write, text: str) -> None:
    report = inspect(write("a.jsonl", [{"chosen": text, "rejected": text.replace("Hello", "No")}]))
    assert report.schema == "preference"
    assert report.sample == [
        {
            "prompt": [{"role": "user", "content": "Hi"}],
            "chosen": [{"role": "assistant", "content": "Hello"}],
            "rejected": [{"role": "assistant", "content": "No"}],
        }
    ]


def test_preference_of_dialogues_says_what_its_rows_lack(write: Write) -> None:
    rows = [
        {"chosen": HH, "rejected": HH},
        {"chosen": HH, "rejected": "\n\nHuman: Hi\n\nAssistant:"},
        {"chosen": HH, "rejected": HH.replace("Hello", "No")},
    ]
    report = inspect(write("a.jsonl", rows))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [
        (1, "identical_pair"),
        (2, "empty_target"),
    ]


@pytest.mark.parametrize(
    "prompt", ["\n\nHuman: Hi\n\nAssistant:", CHATML[: CHATML.index("Hello")], "[INST] Hi [/INST]"]
)
def test_prompt_that_a_template_left_open_is_taken_apart(write: Write, prompt: str) -> None:
    report = inspect(write("a.jsonl", [{"prompt": prompt, "chosen": "Hello", "rejected": "No"}]))
    assert report.sample[0]["prompt"] == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize("prompt", ["What is Q:?", "Complete:\nA:", "Human: what is a model"])
def test_other_prompts_stay_as_they_are(write: Write, prompt: str) -> None:
    assert contents(inspect(write("a.jsonl", [{"prompt": prompt, "completion": "x"}])).sample[0]) == [
        prompt,
        "x",
    ]


@pytest.mark.parametrize(
    "part", [" ", "\n", "[INST]", "<s> ", "Human: ", "\n\nHuman: x", "### Input:\n", "</s>", "**"]
)
def test_long_repetitions_are_read_in_no_time(part: str) -> None:
    import time

    before = time.monotonic()
    is_dialogue("User: a\nAssistant: " + part * 20_000 + "x")
    assert time.monotonic() - before < 2
