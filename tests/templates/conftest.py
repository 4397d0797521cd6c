"""What the tests of templates share: the starter's tokenizer, with any of the templates that trl ships."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.templates.training import shipped_templates

ROOT = Path(__file__).resolve().parents[2]
# How the special tokens of the families look, as they stand in their templates.
_SPECIAL = re.compile(
    r"<[|｜][^<>\s'\"{}]{1,40}[|｜]>|<(?:start|end)_of_(?:turn|utterance|image)>|<\|[a-z_]+>|<[a-z_]+\|>"
    r"|</?s>|\[gMASK\]|<sop>|</?think>|</?tool_call>"
)


@pytest.fixture(scope="session")
def tokenizer(starter: Path) -> Any:
    """The starter model's tokenizer with its own template."""
    from ftui.models.load import load_tokenizer

    return load_tokenizer(starter)


@pytest.fixture(scope="session")
def wearing(starter: Path) -> Callable[[str], Any]:
    """Make a tokenizer that wears a template: the starter's, with the special tokens of all shipped templates."""
    from ftui.models.load import load_tokenizer

    widened = load_tokenizer(starter)
    found = {token for template in shipped_templates().values() for token in _SPECIAL.findall(template)}
    widened.add_special_tokens({"extra_special_tokens": sorted(found)})

    def make(template: str) -> Any:
        made = copy.copy(widened)
        made.chat_template = template
        return made

    return make


def qwen3_folder() -> Path | None:
    """The real Qwen 3 tokenizer, where this machine has it."""
    places = [os.environ.get("FTUI_TEST_QWEN3", ""), str(ROOT.parent / "shared/tokenizers/qwen3")]
    return next(
        (Path(place) for place in places if place and (Path(place) / "tokenizer.json").is_file()), None
    )


@pytest.fixture(scope="session")
def qwen3(wearing: Callable[[str], Any]) -> Any:
    """The real Qwen 3 tokenizer; elsewhere the starter's in Qwen 3's template, which trl ships."""
    from ftui.models.load import load_tokenizer

    folder = qwen3_folder()
    return load_tokenizer(folder) if folder else wearing(shipped_templates()["qwen3"])
