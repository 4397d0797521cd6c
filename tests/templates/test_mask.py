"""What carries loss: exactly the assistant's words and the end of its turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ftui.data import Row
from ftui.settings import DataSettings
from ftui.templates.mask import loss_mask
from ftui.templates.prepare import IGNORED, prepare

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi 你好"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "Who wrote Faust?"},
    {"role": "assistant", "content": "Goethe\nwrote it."},
]
LLAMA = (
    "{{ bos_token }}{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + "
    "m['content'] | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
GEMMA = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{{ '<start_of_turn>' + ('model' if m['role'] == 'assistant' else m['role']) + '\n' + m['content'] | trim + "
    "'<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
# As Qwen 3 does it: the last answer opens with an empty thought, earlier ones do not.
THINKING = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}"
    "{% if m['role'] == 'assistant' and loop.last %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
    "{{ m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# As Mistral does it: the turn ends with the model's end of text.
MISTRAL = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'] + eos_token }}{% endif %}{% endfor %}"
)


@pytest.fixture(scope="module")
def tokenizer(starter: Path) -> Any:
    from ftui.models.load import load_tokenizer

    return load_tokenizer(starter)


def learned(tokenizer: Any, messages: list[dict[str, str]], **settings: Any) -> str:
    done = prepare(tokenizer, [Row(1, {"messages": messages})], DataSettings(**settings))
    assert not done.dropped, done.dropped
    row = done.rows[0]
    assert row.labels() == [i if m else IGNORED for i, m in zip(row.ids, row.learned, strict=True)]
    return tokenizer.decode([i for i, m in zip(row.ids, row.learned, strict=True) if m])


def test_the_answers_and_their_end_of_turn_are_learned_and_nothing_else(tokenizer: Any) -> None:
    assert learned(tokenizer, TALK) == "Hello!<|im_end|>Goethe\nwrote it.<|im_end|>"


def test_only_the_last_answer_is_learned_where_that_is_asked_for(tokenizer: Any) -> None:
    assert learned(tokenizer, TALK, learn="last_answer") == "Goethe\nwrote it.<|im_end|>"


def test_everything_is_learned_where_that_is_asked_for(tokenizer: Any) -> None:
    text = learned(tokenizer, TALK, learn="everything")
    assert text == tokenizer.apply_chat_template(TALK, tokenize=False)


@pytest.mark.parametrize(
    ("template", "special", "wanted"),
    [
        (
            LLAMA,
            ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
            "Hello!<|eot_id|>Goethe\nwrote it.<|eot_id|>",
        ),
        (GEMMA, ["<start_of_turn>", "<end_of_turn>"], "Hello!<end_of_turn>Goethe\nwrote it.<end_of_turn>"),
        (THINKING, [], "Hello!<|im_end|><think>\n\n</think>\n\nGoethe\nwrote it.<|im_end|>"),
        (MISTRAL, [], " Hello!<|im_end|> Goethe\nwrote it.<|im_end|>"),
    ],
    ids=["llama", "gemma", "thinking", "mistral"],
)
def test_templates_of_other_families_are_masked_alike(
    starter: Path, template: str, special: list[str], wanted: str
) -> None:
    from ftui.models.load import load_tokenizer

    other = load_tokenizer(starter)
    other.add_special_tokens({"additional_special_tokens": special})
    other.chat_template = template
    talk = TALK if template != GEMMA else TALK[1:]
    assert learned(other, talk) == wanted


def test_a_row_that_the_template_refuses_is_dropped_with_the_templates_own_words(starter: Path) -> None:
    from ftui.models.load import load_tokenizer

    other = load_tokenizer(starter)
    other.chat_template = GEMMA
    done = prepare(other, [Row(7, {"messages": TALK})], DataSettings())
    assert done.dropped[0]["row"] == 7
    assert done.dropped[0]["reason"] == "template_refused"
    assert "System role not supported" in done.dropped[0]["message"]


def test_a_template_that_loses_the_answer_is_refused_and_never_guessed(starter: Path) -> None:
    from ftui.models.load import load_tokenizer

    other = load_tokenizer(starter)
    other.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] | upper }}\n{% endfor %}"
    done = prepare(other, [Row(1, {"messages": TALK})], DataSettings())
    assert [item["reason"] for item in done.dropped] == ["template_refused"]


def test_the_ids_are_those_of_the_tokenizers_own_template(tokenizer: Any) -> None:
    row = prepare(tokenizer, [Row(1, {"messages": TALK})], DataSettings()).rows[0]
    assert row.ids == tokenizer.apply_chat_template(TALK, tokenize=True)["input_ids"]


def test_reasoning_is_not_lost_where_the_template_does_not_read_it(tokenizer: Any) -> None:
    talk = [TALK[1], {"role": "assistant", "content": "4", "reasoning_content": "2+2"}]
    assert learned(tokenizer, talk) == "<think>\n2+2\n</think>\n\n4<|im_end|>"


def test_a_row_whose_answer_is_cut_off_is_dropped_and_counted(tokenizer: Any) -> None:
    long = [{"role": "user", "content": "word " * 200}, {"role": "assistant", "content": "Yes."}]
    rows = [Row(1, {"messages": TALK[:3]}), Row(2, {"messages": long})]
    done = prepare(tokenizer, rows, DataSettings(max_length=64))
    assert [row.number for row in done.rows] == [1]
    assert [(item["row"], item["reason"]) for item in done.dropped] == [(2, "no_target_left")]


def test_a_long_row_is_trimmed_or_dropped_as_was_chosen(tokenizer: Any) -> None:
    long = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "word " * 200}]
    trimmed = prepare(tokenizer, [Row(3, {"messages": long})], DataSettings(max_length=64))
    assert trimmed.truncated == [3] and len(trimmed.rows[0].ids) == 64 and trimmed.rows[0].cut
    dropped = prepare(tokenizer, [Row(3, {"messages": long})], DataSettings(max_length=64, long_rows="drop"))
    assert [item["reason"] for item in dropped.dropped] == ["too_long"]


def test_plain_text_is_learned_whole_with_its_end(tokenizer: Any) -> None:
    done = prepare(tokenizer, [Row(1, {"text": "Once upon a time"})], DataSettings())
    assert tokenizer.decode(done.rows[0].ids) == "Once upon a time<|im_end|>"
    assert all(done.rows[0].learned)


def test_a_token_that_begins_before_the_answer_is_not_learned() -> None:
    assert loss_mask([(0, 3), (3, 6), (5, 9), (9, 12), (12, 14)], [(5, 10), (12, 14)]) == [0, 0, 1, 1, 1]
    assert loss_mask([(0, 6), (6, 8)], [(5, 8)]) == [0, 1]
