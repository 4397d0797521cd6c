"""A conversation as the model's own chat template writes it."""

from __future__ import annotations

from typing import Any

from ftui.errors import DataError, ModelError

Messages = list[dict[str, Any]]


class TemplateRefused(DataError):
    """The template will not write this conversation; the message is the template's own where it gives one."""

    def __init__(self, message: str) -> None:
        super().__init__(
            "template_refused",
            "The model's template refuses this row",
            message,
            "Mend the row, or choose a model whose template takes it.",
        )


def check_template(tokenizer: Any) -> None:
    """Raise ModelError, code no_template, where the tokenizer has no chat template."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError(
            "no_template",
            "The model has no chat template",
            f"{tokenizer.name_or_path} brings no chat template, so a conversation cannot be written for it.",
            "Choose an instruct or chat model, or train on plain text.",
        )


def render(tokenizer: Any, messages: Messages, tools: list[Any] | None = None, ask: bool = False) -> str:
    """The conversation as text. ask: end with the opening of an assistant's turn, as for generation.

    Raises TemplateRefused with the template's reason.
    """
    try:
        text = tokenizer.apply_chat_template(
            messages, tools=tools or None, tokenize=False, add_generation_prompt=ask
        )
    except Exception as refusal:  # jinja raises what the template's author chose to raise
        said = str(refusal).strip().splitlines() or [type(refusal).__name__]
        raise TemplateRefused(f"The template says: {said[0][:300]}") from refusal
    return str(text)


def fitted(tokenizer: Any, messages: Messages) -> Messages:
    """The messages with reasoning where this template reads it: in its own field, else in the text.

    A template that never names `reasoning_content` would drop the thoughts without a word.
    """
    if "reasoning_content" in str(tokenizer.chat_template):
        return messages
    return [_folded(message) for message in messages]


def _folded(message: dict[str, Any]) -> dict[str, Any]:
    if "reasoning_content" not in message:
        return message
    rest = {key: value for key, value in message.items() if key != "reasoning_content"}
    thought = str(message["reasoning_content"])
    return rest | {"content": f"<think>\n{thought}\n</think>\n\n{rest.get('content') or ''}"}
