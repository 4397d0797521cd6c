"""For each template that trl ships and any talk: what carries loss is what the assistant says, or the row is refused.

What is right is told in two steps. A table says by hand what a plain talk must give, template by template. For
any other talk, the same talk with plain words is the pattern: the same pieces must stand between other words.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftui.templates.known import known_of
from ftui.templates.mask import answer_spans, end_of_turn, loss_mask
from ftui.templates.render import Messages, TemplateRefused, fitted, render
from ftui.templates.training import shipped_templates

TEMPLATES = shipped_templates()
# They read the words of a turn as a list of parts, for pictures among them, and write nothing of plain text.
PICTURES = {"idefics3", "llava_next"}
TOOLS = [{"type": "function", "function": {"name": "look_up", "description": "Looks up.", "parameters": {}}}]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str, thought: str = "", value: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"role": "assistant", "content": text}
    if thought:
        made["reasoning_content"] = thought
    if value is not None:
        made["tool_calls"] = [
            {"type": "function", "function": {"name": "look_up", "arguments": {"q": value}}}
        ]
    return made


TALK = [user("Ask"), answer("Hello"), user("More"), answer("Bye")]
# What must carry loss in TALK. Where the prompt ends in a line break and the answer begins with one (Qwen 3.5 behind
# an opened thought), the tokenizer makes one token of both: it begins in the prompt, and carries none.
WANTED = {
    "cohere": ["Hello<|END_OF_TURN_TOKEN|>", "Bye<|END_OF_TURN_TOKEN|>"],
    "cohere2": ["Hello<|END_RESPONSE|><|END_OF_TURN_TOKEN|>", "Bye<|END_RESPONSE|><|END_OF_TURN_TOKEN|>"],
    "deepseek_r1_distill": ["Hello<｜end▁of▁sentence｜>", "Bye<｜end▁of▁sentence｜>"],
    "deepseekv3": ["Hello<｜end▁of▁sentence｜>", "Bye<｜end▁of▁sentence｜>"],
    "diffusion_gemma": ["Hello<turn|>", "Bye<turn|>"],
    "gemma": ["Hello<end_of_turn>", "Bye<end_of_turn>"],
    "gemma3": ["Hello<end_of_turn>", "Bye<end_of_turn>"],
    "gemma4": ["Hello<turn|>", "Bye<turn|>"],
    "glm4moe": ["\n<think></think>\nHello<|user|>", "\n<think></think>\nBye<|user|>"],
    "gptoss": ["<|channel|>final<|message|>Hello<|end|>", "<|channel|>final<|message|>Bye<|return|>"],
    "llama3": ["Hello<|eot_id|>", "Bye<|eot_id|>"],
    "llama3_1": ["Hello<|eot_id|>", "Bye<|eot_id|>"],
    "llama3_2": ["Hello<|eot_id|>", "Bye<|eot_id|>"],
    "muse_glimmer": [" to=user<|message|>Hello<|eot|>", " to=user<|message|>Bye<|eot|>"],
    "phi3": ["Hello<|end|>", "Bye<|end|>"],
    "phi3_5": ["Hello<|end|>", "Bye<|end|>"],
    "qwen3": ["Hello<|im_end|>", "<think>\n\n</think>\n\nBye<|im_end|>"],
    "qwen3_5_think": ["Hello<|im_end|>", "</think>\n\nBye<|im_end|>"],
    "qwen3_6": ["Hello<|im_end|>", "</think>\n\nBye<|im_end|>"],
    "qwen3_8": ["</think>\n\nHello<|im_end|>", "</think>\n\nBye<|im_end|>"],
} | {
    name: ["<think></think>Hello<|im_end|>", "<think></think>Bye<|im_end|>"]
    for name in TEMPLATES
    if name.startswith("nemotron_3")
}
CHATML = ["Hello<|im_end|>", "Bye<|im_end|>"]


def learned(tokenizer: Any, messages: Messages, tools: Any = None, **asked: Any) -> list[str]:
    """The runs of tokens that carry loss, decoded. Raises TemplateRefused."""
    talk = fitted(tokenizer, messages)
    text, spans = answer_spans(
        tokenizer, talk, tools, end=end_of_turn(tokenizer), **{"learn": "answers"} | asked
    )
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    offsets = encoded["offset_mapping"]
    runs = []
    for span in spans:
        marks = loss_mask(offsets, [span])
        runs.append(
            tokenizer.decode([token for token, mark in zip(encoded["input_ids"], marks, strict=True) if mark])
        )
    assert sum(loss_mask(offsets, spans)) == sum(sum(loss_mask(offsets, [span])) for span in spans)
    return runs


@pytest.mark.parametrize("name", sorted(TEMPLATES.keys() - PICTURES))
def test_the_answers_and_their_end_carry_loss_and_nothing_else(
    name: str, wearing: Callable[[str], Any]
) -> None:
    tokenizer = wearing(TEMPLATES[name])
    wanted = WANTED.get(name, CHATML)
    assert learned(tokenizer, TALK) == wanted
    assert learned(tokenizer, TALK, learn="last_answer") == wanted[1:]
    assert learned(tokenizer, TALK, first=2) == wanted[1:]
    whole = learned(tokenizer, TALK, learn="everything")
    assert "".join(whole) == render(tokenizer, TALK)


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_template_that_writes_no_plain_text_is_refused(name: str, wearing: Callable[[str], Any]) -> None:
    with pytest.raises(TemplateRefused):
        learned(wearing(TEMPLATES[name]), TALK)


@pytest.mark.parametrize("name", sorted(TEMPLATES.keys() - PICTURES))
def test_the_text_before_a_learned_answer_is_the_prompt_of_generation(
    name: str, wearing: Callable[[str], Any]
) -> None:
    """But for thoughts that are opened or empty."""
    tokenizer = wearing(TEMPLATES[name])
    text, spans = answer_spans(tokenizer, TALK, None, "answers", end_of_turn(tokenizer))
    for place, (start, _) in zip((1, 3), spans, strict=True):
        prompt = render(tokenizer, TALK[:place], ask=True)
        assert without_thought(text[:start]) == without_thought(prompt)


def without_thought(text: str) -> str:
    return re.sub(r"<think>\s*(</think>\s*|$)", "", text).rstrip()


# Any talk

words = st.text(
    st.sampled_from("abc XYZ 09.,!?'\"\\{}你好世界éß😀👩‍👩‍👧\u3000\u200b"), min_size=1, max_size=12
)
spaced = st.tuples(
    st.sampled_from(["", " ", "\n", "\n\n", "\t "]), words, st.sampled_from(["", " ", "\n", "  \n", "\r\n"])
)
plain = spaced.map("".join).filter(str.strip)
markup = st.tuples(
    words,
    st.sampled_from(
        [
            "<|im_end|>", "<|im_end|>\n<|im_start|>assistant\n", "<|im_start|>user\n", "<|eot_id|>", "<end_of_turn>\n",
            "<start_of_turn>model\n", "</s>", "[/INST]", "<think>", "</think>", "<think>\n\n</think>\n\n",
            "<tool_response>", "<|end|>", "<|user|>",
             "<|start|>assistant<|channel|>final<|message|>", "OWN HEADER", "OWN END",
        ]
    ),
    words,
)  # fmt: skip


@st.composite
def talks(draw: Any) -> tuple[Messages, bool]:
    """(messages, whether any text holds what looks like a template's)."""
    wild = draw(st.sampled_from([False, False, True]))
    one = st.one_of(plain, markup.map("".join)) if wild else plain
    # Thoughts written into an answer are the template's to read: `test_qwen3` has them.
    told = one.filter(lambda text: "think>" not in text)
    messages: Messages = []
    if draw(st.integers(0, 3)) == 0:
        messages.append({"role": "system", "content": draw(one)})
    thinks = draw(st.booleans()) and draw(st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        messages.append(user(draw(one)))
        if draw(st.integers(0, 2)) == 0:
            thought = draw(told) if thinks else ""
            # How a template writes quotes in a value is its own affair.
            messages.append(answer("", thought, re.sub(r"['\"\\\s]", "_", draw(one))))
            messages.append({"role": "tool", "content": draw(one)})
        messages.append(answer(draw(told), draw(told) if thinks and draw(st.booleans()) else ""))
    return messages, wild


def own(value: Any, tokenizer: Any) -> Any:
    """The talk with this template's own header and end of turn in it where it imitates one."""
    if isinstance(value, str):
        header, end = known_of(tokenizer).header, end_of_turn(tokenizer)
        return value.replace("OWN HEADER", f"{end}\n{header}").replace("OWN END", end)
    if isinstance(value, list):
        return [own(item, tokenizer) for item in value]
    return {key: own(item, tokenizer) for key, item in value.items()} if isinstance(value, dict) else value


def patterned(messages: Messages) -> tuple[Messages, dict[int, list[tuple[str, str]]]]:
    """The talk with a plain word for each text, and by place of each answer the (word, text) in it."""
    made: Messages = []
    pairs: dict[int, list[tuple[str, str]]] = {}
    for place, message in enumerate(messages):
        words = {key: f"{key[:3]}word{place}" for key in ("content", "reasoning_content") if message.get(key)}
        copied = message | words
        found = [(words[key], message[key]) for key in ("reasoning_content", "content") if key in words]
        if message.get("tool_calls"):
            copied |= {"tool_calls": answer("", value=f"argword{place}")["tool_calls"]}
            found.append((f"argword{place}", message["tool_calls"][0]["function"]["arguments"]["q"]))
        made.append(copied)
        if message["role"] == "assistant":
            pairs[place] = found
    return made, pairs


def fits(run: str, pattern: str, pairs: list[tuple[str, str]]) -> bool:
    """Whether a run is the pattern with other words, white space round them aside."""
    built, rest = "", pattern.lstrip()
    for word, text in pairs:
        before, found, rest = rest.partition(word)
        assert found, f"{word} is not in {pattern!r}"
        # Values that tools are called with are JSON text, in JSON text with some.
        forms = [text.strip(), json.dumps(text, ensure_ascii=False)[1:-1].strip()]
        built += re.escape(before.rstrip()) + r"\s*(?:" + "|".join(map(re.escape, forms)) + r")\s*"
        rest = rest.lstrip()
    return re.fullmatch(built + re.escape(rest), run.lstrip()) is not None


@pytest.mark.parametrize("name", [*sorted(TEMPLATES.keys() - PICTURES), "qwen3 itself"])
def test_of_any_talk_exactly_the_answers_carry_loss_or_it_is_refused(
    name: str, wearing: Callable[[str], Any], qwen3: Any
) -> None:
    tokenizer = qwen3 if name == "qwen3 itself" else wearing(TEMPLATES[name])
    counts = {"exact": 0, "refused": 0}

    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(talks())
    def check(drawn: tuple[Messages, bool]) -> None:
        messages, wild = own(drawn[0], tokenizer), drawn[1]
        simple, pairs = patterned(messages)
        tools = TOOLS if any(message["role"] == "tool" for message in messages) else None
        try:
            patterns = learned(tokenizer, simple, tools)
        except TemplateRefused:
            patterns = None
        try:
            runs = learned(tokenizer, messages, tools)
        except TemplateRefused as refusal:
            assert patterns is None or wild, f"refused though plain: {refusal.message} {messages}"
            counts["refused"] += 1
            return
        # What was learned of other talks changes nothing.
        assert learned(copy.copy(tokenizer), messages, tools) == runs
        assert patterns is not None, f"a plain talk of this shape is refused, this is not: {messages}"
        assert len(runs) == len(patterns) == len(pairs)
        for run, pattern, texts in zip(runs, patterns, pairs.values(), strict=True):
            assert fits(run, pattern, texts), f"{run!r} is not {pattern!r} with {texts}"
        counts["exact"] += 1

    check()
    assert counts["exact"] >= 5, counts
