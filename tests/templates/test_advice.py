"""Each warning is given by a template that deserves it, and by no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.templates.advice import Advice, advice
from ftui.templates.chatml import apart
from ftui.templates.training import shipped_templates

TURN = "{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}"
ASK = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"


def each(turn: str = TURN, before: str = "", messages: str = "messages", ask: str = ASK) -> str:
    return f"{before}{{% for m in {messages} %}}{turn}{{% endfor %}}{ask}"


def given(tokenizer: Any, **changes: Any) -> dict[str, Advice]:
    return {found.code: found for found in advice(tokenizer, **changes)}


@pytest.fixture
def wears(tokenizer: Any) -> Callable[..., Any]:
    """The starter's tokenizer with a padding token of its own and a template."""

    def make(template: str | None) -> Any:
        made = apart(tokenizer)
        made.pad_token = "<|endoftext|>"
        made.chat_template = template
        return made

    return make


def test_nothing_is_said_of_a_good_template(wears: Callable[..., Any]) -> None:
    assert given(wears(each())) == {}


def test_the_starter_lacks_only_a_token_of_its_own_for_padding(tokenizer: Any) -> None:
    found = given(tokenizer)
    assert list(found) == ["no_pad"]
    assert "harmless" in found["no_pad"].message


def test_a_missing_template_is_offered_chatml(wears: Callable[..., Any]) -> None:
    assert given(wears(None))["no_template"].change == {"data.template": "chatml"}


def test_a_stop_token_that_generation_does_not_know_is_told(
    wears: Callable[..., Any], tmp_path: Path
) -> None:
    made = wears(each(TURN.replace("<|im_end|>", "<|endoftext|>")))
    found = given(made)["stop_not_learned"]
    assert "'<|endoftext|>'" in found.message and "'<|im_end|>'" in found.message
    # The model's own generation settings may name several.
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 0]}), "utf-8")
    made.name_or_path = str(tmp_path)
    assert "stop_not_learned" not in given(made)


def test_a_template_that_ends_a_turn_with_nothing_is_told(wears: Callable[..., Any]) -> None:
    found = given(
        wears(
            each(
                "{{ m['role'] + ': ' + m['content'] }}",
                ask="{% if add_generation_prompt %}assistant: {% endif %}",
            )
        )
    )
    assert found["stop_not_learned"].change == {"data.template": "chatml"}


def test_a_template_in_which_no_answer_is_found_is_told_and_does_not_raise(wears: Callable[..., Any]) -> None:
    for template in (
        "{{ nothing.at.all }}",
        "{% for m in messages %}{{ m['content'] | upper }}{% endfor %}",
        "x",
    ):
        assert "stop_not_learned" in given(wears(template))


@pytest.mark.parametrize(
    ("code", "template"),
    [
        (
            "system_refused",
            each("{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TURN),
        ),
        ("system_ignored", each("{% if m['role'] != 'system' %}" + TURN + "{% endif %}")),
    ],
)
def test_a_system_turn_that_is_refused_or_left_out_can_be_folded(
    code: str, template: str, wears: Callable[..., Any]
) -> None:
    found = given(wears(template))
    assert list(found) == [code]
    assert found[code].change == {"data.system_role": "first_user"}


def test_a_template_that_wants_question_and_answer_in_turn_is_told(wearing: Callable[[str], Any]) -> None:
    found = given(wearing(shipped_templates()["gemma"]))
    assert "must alternate" in found["alternation_refused"].message
    assert "System role not supported" in found["system_refused"].message


def test_a_prompt_that_opens_a_thought_is_told(wears: Callable[..., Any]) -> None:
    assert "thought_opened" in given(wears(each(ask=ASK.replace("assistant\\n", "assistant\\n<think>\\n"))))


def test_a_beginning_of_text_that_stands_twice_is_told(wears: Callable[..., Any]) -> None:
    assert "Each talk begins" in given(wears(each(before="{{ bos_token }}")))["double_bos"].message
    other = wears(each(before="{{ bos_token }}"))
    other.bos_token = "<|endoftext|>"
    assert "double_bos" not in given(other)
    assert "Nothing is to be done here" in given(other, adds_bos=True)["double_bos"].fix
