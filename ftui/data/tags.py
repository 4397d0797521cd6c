"""Names of fields and roles within turns that the person gives, such as {"role_tag": "who", "user_tag": "kunde"}.

They stand in the mapping beside the columns, under the names that LLaMA-Factory's `tags` have: role_tag and
content_tag name the fields of a turn, the others name who speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ftui.data.names import plain
from ftui.data.values import nested

ROLE_TAGS = {
    "system_tag": "system",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "observation_tag": "tool",
    "function_tag": "function_call",
}
TAGS = ("role_tag", "content_tag", *ROLE_TAGS)


@dataclass(frozen=True)
class Tags:
    """role, content: the fields of a turn, "" for those that are known. roles: plain name → the role it means."""

    role: str = ""
    content: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, value: Any) -> Any:
        """A list of turns, or JSON text of one, with the known field names and roles; any other value as it is."""
        turns = nested(value)
        if isinstance(turns, dict):
            return self._turn(turns)
        return [self._turn(turn) for turn in turns] if isinstance(turns, list) else value

    def _turn(self, turn: Any) -> Any:
        if not isinstance(turn, dict):
            return turn
        told = dict(turn)
        for given, known in ((self.role, "role"), (self.content, "content")):
            if given in told:
                told = {known: told.pop(given)} | {name: item for name, item in told.items() if name != known}
        for known in ("role", "from"):
            if isinstance(role := told.get(known), str):
                told[known] = self.roles.get(plain(role), role)
        return told


def tags_of(mapping: Mapping[str, str]) -> Tags | None:
    """The tags among a mapping's entries, None where there are none."""
    given = {plain(name): value for name, value in mapping.items() if plain(name) in TAGS and value}
    if not given:
        return None
    roles = {plain(given[tag]): role for tag, role in ROLE_TAGS.items() if tag in given}
    return Tags(given.get("role_tag", ""), given.get("content_tag", ""), roles)
