"""Templates that mark what the assistant says: a model's own where it does, else the one that trl ships for it.

trl keeps, beside the chat templates of many models, a twin of each that writes `{% generation %}` round the
assistant's words. They are read from the installed package; trl itself, which pulls torch, is not imported.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ftui.templates.render import Messages, refused

Span = tuple[int, int]
_MARKER = re.compile(r"\{%-?\s*generation\s*-?%\}")
_TWIN = "_training.jinja"


def marking(template: str) -> str | None:
    """A template with markers that writes for the same model: the template itself, trl's twin of it, or none.

    trl's is taken only for a template that is its own letter by letter, as trl itself does.
    """
    if _MARKER.search(template):
        return template
    return _twins().get(template)


def render_marked(
    tokenizer: Any, template: str, messages: Messages, tools: list[Any] | None
) -> tuple[str, list[Span]]:
    """(text, marks): the conversation by a template with markers, and the character ranges it marks.

    Raises TemplateRefused with the template's reason.
    """
    from transformers.utils.chat_template_utils import render_jinja_template

    try:
        texts, marks = render_jinja_template(
            conversations=[messages],
            tools=tools or None,
            chat_template=template,
            return_assistant_tokens_mask=True,
            **tokenizer.special_tokens_map,
        )
    except Exception as refusal:  # jinja raises what the template's author chose to raise
        raise refused(refusal) from refusal
    return texts[0], marks[0]


def shipped_templates() -> dict[str, str]:
    """The chat templates of models that the installed trl carries, by name: `qwen3`, `llama3_1` …"""
    return {
        path.stem: path.read_text("utf-8")
        for path in sorted(_folder().glob("*.jinja"))
        if not path.name.endswith(_TWIN)
    }


@lru_cache(maxsize=1)
def _twins() -> dict[str, str]:
    found = {}
    for path in _folder().glob(f"*{_TWIN}"):
        own = path.with_name(path.name.replace(_TWIN, ".jinja"))
        if own.is_file():
            found[own.read_text("utf-8")] = path.read_text("utf-8")
    return found


def _folder() -> Path:
    spec = find_spec("trl")
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) / "chat_templates" if places else Path("missing")
