"""Talks as templates read them: folded system turns, thoughts and calls in their places, the talks of a row."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ftui.errors import DataError, ModelError
from ftui.templates.chatml import apart
from ftui.templates.mask import answer_spans, end_of_turn
from ftui.templates.render import TemplateRefused, check_template, conversations, fitted, folded, render
from ftui.templates.training import shipped_templates

ASK = {"role": "user", "content": "What is 2+2?"}
CALL = {"type": "function", "function": {"name": "add", "arguments": {"a": 2, "note": "größer"}}}
CALLING = [ASK, {"role": "assistant", "content": "", "tool_calls": [CALL]}]
THINKING = [ASK, {"role": "assistant", "content": "4", "reasoning_content": "two and two"}]


def test_the_system_text_is_put_before_the_first_question_and_nothing_is_changed_in_place() -> None:
    talk = [{"role": "system", "content": "Be brief."}, ASK, {"role": "assistant", "content": "4"}, ASK]
    kept = copy.deepcopy(talk)
    assert [turn["role"] for turn in folded(talk)] == ["user", "assistant", "user"]
    assert folded(talk)[0]["content"] == "Be brief.\n\nWhat is 2+2?"
    assert folded(talk)[2] == ASK
    assert talk == kept


def test_several_system_turns_are_folded_together() -> None:
    talk = [{"role": "system", "content": "A"}, ASK, {"role": "system", "content": "B"}]
    assert folded(talk) == [{"role": "user", "content": "A\n\nB\n\nWhat is 2+2?"}]


def test_a_talk_without_a_system_turn_is_not_touched() -> None:
    assert folded(THINKING) is THINKING


def test_a_talk_with_nothing_but_a_system_turn_begins_with_it_as_a_question() -> None:
    folded_talk = folded([{"role": "system", "content": "A"}, {"role": "assistant", "content": "B"}])
    assert [(turn["role"], turn["content"]) for turn in folded_talk] == [("user", "A"), ("assistant", "B")]


def test_a_folded_talk_is_taken_by_a_template_that_refuses_the_system_role(
    wearing: Callable[[str], Any],
) -> None:
    gemma = wearing(shipped_templates()["gemma"])
    talk = [{"role": "system", "content": "Be brief."}, ASK, {"role": "assistant", "content": "4"}]
    with pytest.raises(TemplateRefused, match="System role not supported"):
        render(gemma, talk)
    assert "<start_of_turn>user\nBe brief.\n\nWhat is 2+2?<end_of_turn>" in render(gemma, folded(talk))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("qwen3", "<think>\ntwo and two\n</think>\n\n4<|im_end|>"),
        ("gptoss", "<|channel|>analysis<|message|>two and two<|end|>"),
        ("lfm2_2_5", "<think>two and two</think>4<|im_end|>"),
        ("llama3", "<think>\ntwo and two\n</think>\n\n4<|eot_id|>"),
    ],
)
def test_thoughts_go_where_the_template_reads_them(
    name: str, written: str, wearing: Callable[[str], Any]
) -> None:
    tokenizer = wearing(shipped_templates()[name])
    kept = copy.deepcopy(THINKING)
    assert written in render(tokenizer, fitted(tokenizer, THINKING))
    assert kept == THINKING


def test_arguments_become_text_where_the_template_fails_on_objects(wearing: Callable[[str], Any]) -> None:
    deepseek = wearing(shipped_templates()["deepseekv3"])
    with pytest.raises(TemplateRefused):
        render(deepseek, CALLING)
    assert '{"a": 2, "note": "größer"}' in render(deepseek, fitted(deepseek, CALLING))
    qwen = wearing(shipped_templates()["qwen2_5"])
    assert fitted(qwen, CALLING) is CALLING


@pytest.mark.parametrize("name", ["lfm2", "llama3", "phi3", "qwen2_5_vl", "deepseek_r1_distill"])
def test_a_call_that_the_template_would_lose_is_refused(name: str, wearing: Callable[[str], Any]) -> None:
    tokenizer = wearing(shipped_templates()[name])
    with pytest.raises(TemplateRefused, match="does not write the call of add") as refusal:
        answer_spans(tokenizer, fitted(tokenizer, CALLING), None, "answers", end_of_turn(tokenizer))
    assert "tool calls" in refusal.value.fix


def test_a_tool_result_that_the_template_would_lose_is_refused(wearing: Callable[[str], Any]) -> None:
    phi = wearing(shipped_templates()["phi3"])
    talk = [
        ASK,
        {"role": "assistant", "content": "I look"},
        {"role": "tool", "content": "four"},
        *THINKING[1:],
    ]
    with pytest.raises(TemplateRefused, match="leaves out turn 3, of the tool"):
        answer_spans(phi, fitted(phi, talk), None, "answers", end_of_turn(phi))


def test_a_row_is_learned_from_its_talks() -> None:
    a, b = ([{"role": "assistant", "content": text}] for text in "AB")
    assert conversations({"messages": THINKING}) == [("answer", THINKING, 0)]
    assert conversations({"prompt": [ASK], "chosen": a, "rejected": b}) == [
        ("chosen", [ASK, *a], 1),
        ("rejected", [ASK, *b], 1),
    ]
    assert conversations({"prompt": [ASK], "completion": a, "label": True}) == [("completion", [ASK, *a], 1)]
    with pytest.raises(DataError) as refusal:
        conversations({"text": "x"})
    assert refusal.value.code == "wrong_schema"


def test_a_missing_template_is_an_error_that_offers_chatml(tokenizer: Any) -> None:
    bare = apart(tokenizer)
    bare.chat_template = None
    with pytest.raises(ModelError) as error:
        check_template(bare)
    assert error.value.code == "no_template"
    assert "data.template: chatml" in error.value.fix
