"""A conversation whose answers are to be found in what a template writes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftui.templates.render import Messages
from ftui.templates.spoken import Spoken


@dataclass(frozen=True)
class Talk:
    """What is to be found: the answers at the places `turns`, each ended by `end`. told: what each message says."""

    tokenizer: Any
    messages: Messages
    told: list[Spoken]
    tools: list[Any] | None
    turns: list[int]
    end: str
