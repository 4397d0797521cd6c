"""A conversation as the model's own chat template writes it."""

from __future__ import annotations

import json
import re
from typing import Any

from ftui.errors import DataError, ModelError

Messages = list[dict[str, Any]]
# The fields in which templates look for thoughts; canonical rows keep them in the first.
THOUGHTS = ("reasoning_content", "reasoning", "thinking")


class TemplateRefused(DataError):
    """The template will not write this conversation; the message is the template's own where it gives one."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(
            "template_refused",
            "The model's template refuses this row",
            message,
            fix or "Mend the row, or choose a model whose template takes it.",
        )


def check_template(tokenizer: Any) -> None:
    """Raise ModelError, code no_template, where the tokenizer has no chat template."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError(
            "no_template",
            "The model has no chat template",
            f"{tokenizer.name_or_path} brings no chat template, so a conversation cannot be written for it.",
            "Have talks written as ChatML (data.template: chatml), choose an instruct or chat model, "
            "or train on plain text.",
        )


def template_of(tokenizer: Any, tools: list[Any] | None = None) -> str:
    """The text of the template that writes a conversation: some models keep one for talks with tools apart."""
    return str(tokenizer.get_chat_template(tools=tools or None))


def render(tokenizer: Any, messages: Messages, tools: list[Any] | None = None, ask: bool = False) -> str:
    """The conversation as text. ask: end with the opening of an assistant's turn, as for generation.

    Raises TemplateRefused with the template's reason.
    """
    try:
        text = tokenizer.apply_chat_template(
            messages, tools=tools or None, tokenize=False, add_generation_prompt=ask
        )
    except Exception as refusal:  # jinja raises what the template's author chose to raise
        raise refused(refusal) from refusal
    return str(text)


def refused(fault: Exception) -> TemplateRefused:
    """What a person reads of an exception that a template raised."""
    said = str(fault).strip().splitlines() or [type(fault).__name__]
    return TemplateRefused(f"The template says: {said[0][:300]}")


def conversations(value: dict[str, Any]) -> list[tuple[str, Messages, int]]:
    """The talks that a canonical row is learned from: (name, messages, first).

    first: only turns at or behind this place carry loss; what stands before is the prompt. Names: `answer`;
    `chosen` and `rejected`; `completion`. Raises DataError, code wrong_schema, for a row of another kind.
    """
    if "messages" in value:
        return [("answer", value["messages"], 0)]
    prompt = value.get("prompt", [])
    names = [name for name in ("chosen", "rejected", "completion") if name in value]
    if not names:
        raise DataError(
            "wrong_schema",
            "These rows are not for this stage",
            f"The row holds {', '.join(value)}, but learning from answers needs a conversation.",
            "Choose data with questions and answers.",
        )
    return [(name, [*prompt, *value[name]], len(prompt)) for name in names]


def fitted(tokenizer: Any, messages: Messages) -> Messages:
    """The messages as this template reads them; those given are left as they are.

    Thoughts go into the field that the template names, else into the text: a template that never looks at them
    would drop them without a word. Arguments of tool calls become JSON text where the template joins them to
    text and fails on objects (DeepSeek V3).
    """
    made = messages
    if any(THOUGHTS[0] in message for message in messages):
        template = template_of(tokenizer)
        field = next((name for name in THOUGHTS if _reads(template, name)), None)
        if field != THOUGHTS[0]:
            made = [_thinking(message, field) for message in messages]
    if any(message.get("tool_calls") for message in messages) and _wants_text(tokenizer):
        made = [_with_text_arguments(message) for message in made]
    return made


def folded(messages: Messages) -> Messages:
    """The messages without a system turn: its text leads the first user turn, with a blank line between.

    For templates that refuse the system role or write nothing of it. Where no user turn follows, it is one.
    """
    texts = [str(message.get("content") or "") for message in messages if message["role"] == "system"]
    if not texts:
        return messages
    system = "\n\n".join(texts)
    rest = [message for message in messages if message["role"] != "system"]
    for place, message in enumerate(rest):
        if message["role"] == "user":
            asked = message | {"content": f"{system}\n\n{message.get('content') or ''}"}
            return [*rest[:place], asked, *rest[place + 1 :]]
    return [{"role": "user", "content": system}, *rest]


def _reads(template: str, field: str) -> bool:
    """Whether a template looks at a field of a message: `message.thinking`, `message['thinking']` …"""
    return re.search(rf"\.{field}\b|['\"]{field}['\"]", template) is not None


def _thinking(message: dict[str, Any], field: str | None) -> dict[str, Any]:
    """The message with its thoughts in a field, or in the text where field is None."""
    if THOUGHTS[0] not in message:
        return message
    rest = {key: value for key, value in message.items() if key != THOUGHTS[0]}
    thought = str(message[THOUGHTS[0]])
    if field:
        return rest | {field: thought}
    return rest | {"content": f"<think>\n{thought}\n</think>\n\n{rest.get('content') or ''}"}


_PROBE_CALL = {"type": "function", "function": {"name": "ftui_probe", "arguments": {"a": "b"}}}
_PROBE_TALK: Messages = [
    {"role": "user", "content": "?"},
    {"role": "assistant", "content": "", "tool_calls": [_PROBE_CALL]},
]
# By template: whether arguments must be JSON text.
_text_arguments: dict[str, bool] = {}


def _wants_text(tokenizer: Any) -> bool:
    template = template_of(tokenizer)
    if template not in _text_arguments:
        _text_arguments[template] = not _writes(tokenizer, _PROBE_TALK) and _writes(
            tokenizer, [_with_text_arguments(message) for message in _PROBE_TALK]
        )
    return _text_arguments[template]


def _writes(tokenizer: Any, messages: Messages) -> bool:
    try:
        return "ftui_probe" in render(tokenizer, messages)
    except TemplateRefused:
        return False


def _with_text_arguments(message: dict[str, Any]) -> dict[str, Any]:
    if not message.get("tool_calls"):
        return message
    calls = []
    for call in message["tool_calls"]:
        inner = call["function"]
        arguments = inner["arguments"]
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        calls.append(call | {"function": inner | {"arguments": arguments}})
    return message | {"tool_calls": calls}
