"""The template that is offered to a model without one."""

from __future__ import annotations

from typing import Any

import pytest

from ftui.errors import ModelError
from ftui.templates.chatml import apart, chatml, with_template
from ftui.templates.mask import answer_spans, end_of_turn
from ftui.templates.render import Messages, TemplateRefused, fitted, render

TALK: Messages = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " Hi 你好 "},
    {"role": "assistant", "content": "Hello!", "reasoning_content": "A greeting."},
    {"role": "user", "content": "And <|im_end|>?"},
    {"role": "assistant", "content": "Bye"},
]


class Bare:
    """A tokenizer as seen by `chatml`: one token a character, but for those it knows."""

    name_or_path = "some/base"

    def __init__(self, known: list[str], eos: str | None = None, bos: str | None = None) -> None:
        self.known, self.eos_token, self.bos_token = known, eos, bos
        self.bos_token_id = 1 if bos else None

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        first = [1] if self.bos_token and add_special_tokens else []
        return {"input_ids": first + ([7] if text in self.known else [9] * len(text))}


def bare(tokenizer: Any) -> Any:
    made = apart(tokenizer)
    made.chat_template = None
    return made


def learned(tokenizer: Any, talk: Messages) -> list[str]:
    text, spans = answer_spans(tokenizer, fitted(tokenizer, talk), None, "answers", end_of_turn(tokenizer))
    return [text[start:stop] for start, stop in spans]


def test_it_is_chatml_where_the_tokens_are_there(tokenizer: Any) -> None:
    made = with_template(bare(tokenizer), "chatml")
    assert render(made, TALK[:3]) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi 你好 <|im_end|>\n"
        "<|im_start|>assistant\n<think>\nA greeting.\n</think>\n\nHello!<|im_end|>\n"
    )
    assert render(made, TALK[:2], ask=True).endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert learned(made, TALK) == ["<think>\nA greeting.\n</think>\n\nHello!<|im_end|>", "Bye<|im_end|>"]


def test_else_roles_are_plain_text_and_a_turn_ends_with_the_end_of_text(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ftui.templates.chatml._is_token", lambda tokenizer, text: False)
    plain = bare(tokenizer)
    plain.eos_token = "<|endoftext|>"
    made = with_template(plain, "chatml")
    assert render(made, TALK[1:2], ask=True) == "<|user|>\n Hi 你好 <|endoftext|>\n<|assistant|>\n"
    assert learned(made, TALK[3:]) == ["Bye<|endoftext|>"]
    assert made.eos_token == "<|endoftext|>"


def test_it_begins_with_the_beginning_of_text_where_the_tokenizer_does() -> None:
    known = ["<|im_start|>", "<|im_end|>"]
    assert "bos_token" in chatml(Bare(known, bos="<s>"))
    assert "bos_token" not in chatml(Bare(known))


def test_without_a_token_that_ends_a_turn_it_is_an_error() -> None:
    assert "eos_token" in chatml(Bare([], eos="</s>"))
    with pytest.raises(ModelError) as error:
        chatml(Bare([]))
    assert error.value.code == "no_end_of_text"


def test_tools_are_refused_and_not_dropped(tokenizer: Any) -> None:
    made = with_template(bare(tokenizer), "chatml")
    for talk, tools in (
        ([*TALK[:2], {"role": "tool", "content": "x"}], None),
        (TALK[:3], [{"type": "function"}]),
    ):
        with pytest.raises(TemplateRefused, match="knows no tools"):
            render(made, talk, tools)


def test_the_models_own_template_stays_where_it_is_chosen_and_the_given_tokenizer_is_not_changed(
    tokenizer: Any,
) -> None:
    assert with_template(tokenizer, "model") is tokenizer
    plain = bare(tokenizer)
    plain.eos_token = "<|endoftext|>"
    made = with_template(plain, "chatml")
    assert (made.eos_token, made.decode([made.eos_token_id])) == ("<|im_end|>", "<|im_end|>")
    assert (plain.eos_token, plain.chat_template) == ("<|endoftext|>", None)
