"""ChatML for a model that brings no chat template: as far as its own special tokens allow."""

from __future__ import annotations

import copy
from typing import Any, Literal

from ftui.errors import ModelError

_OPEN, _CLOSE = "<|im_start|>", "<|im_end|>"
# What is written is the same for each: a role, a line break, the words, the end of the turn. Thoughts stay in the
# history, so that what stands before an answer never changes later on.
_LAYOUT = """\
{%- if tools %}{{ raise_exception('This layout knows no tools.') }}{% endif -%}
BOS
{%- for message in messages %}
{%- if message['role'] == 'tool' or message['tool_calls'] %}
{{- raise_exception('This layout knows no tools.') }}
{%- endif %}
{{- OPEN_ROLE }}
{%- if message['role'] == 'assistant' and message['reasoning_content'] %}
{{- '<think>\\n' + message['reasoning_content'] + '\\n</think>\\n\\n' }}
{%- endif %}
{{- message['content'] + END + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- OPEN_ASSISTANT }}
{%- endif %}"""


def chatml(tokenizer: Any) -> str:
    """A chat template for a tokenizer without one.

    ChatML where `<|im_start|>` and `<|im_end|>` are single tokens; else the roles are named in plain text
    (`<|user|>`) and a turn ends with the tokenizer's own end of text, which the model knows as a stop. It begins
    with the beginning of text where the tokenizer begins texts so. Raises ModelError, code no_end_of_text, where
    there is neither.
    """
    if _is_token(tokenizer, _OPEN) and _is_token(tokenizer, _CLOSE):
        opened, shut, end = f"'{_OPEN}'", "'\\n'", f"'{_CLOSE}'"
    elif tokenizer.eos_token:
        opened, shut, end = "'<|'", "'|>\\n'", "eos_token"
    else:
        raise ModelError(
            "no_end_of_text",
            "The model has no token that ends a turn",
            f"{tokenizer.name_or_path} has neither {_CLOSE} nor an end-of-text token, so no answer could end.",
            "Choose another model.",
        )
    return (
        _LAYOUT.replace("BOS", "{{- bos_token }}" if adds_bos(tokenizer) else "")
        .replace("OPEN_ROLE", f"{opened} + message['role'] + {shut}")
        .replace("OPEN_ASSISTANT", f"{opened} + 'assistant' + {shut}")
        .replace("END", end)
    )


def with_template(tokenizer: Any, choice: Literal["model", "chatml"]) -> Any:
    """The tokenizer with the chat template that was chosen; a copy where that is not its own.

    With ChatML its `<|im_end|>` becomes the end of text, so that what loads the finished model stops there.
    """
    if choice == "model":
        return tokenizer
    made = apart(tokenizer)
    made.chat_template = chatml(tokenizer)
    if f"'{_CLOSE}'" in made.chat_template:
        made.eos_token = _CLOSE
    return made


def apart(tokenizer: Any) -> Any:
    """A copy of a tokenizer whose template and special tokens are its own; the vocabulary is shared."""
    made = copy.copy(tokenizer)
    for name, value in vars(tokenizer).items():
        if isinstance(value, dict | list):
            setattr(made, name, copy.copy(value))
    return made


def adds_bos(tokenizer: Any) -> bool:
    """Whether the tokenizer begins a text with its beginning-of-text token of itself."""
    if tokenizer.bos_token_id is None:
        return False
    ids = tokenizer("a")["input_ids"]
    return bool(ids) and ids[0] == tokenizer.bos_token_id


def _is_token(tokenizer: Any, text: str) -> bool:
    return len(tokenizer(text, add_special_tokens=False)["input_ids"]) == 1
