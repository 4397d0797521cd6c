"""Turns of a talk, in whatever spelling, into messages of the four roles."""

from __future__ import annotations

from typing import Any

from ftui.data.dialogue import turns_in
from ftui.data.names import ROLES, plain
from ftui.data.row import RowFault
from ftui.data.tools import call_of, calls_of
from ftui.data.values import is_nothing, kind, text_of, unpacked

Message = dict[str, Any]
_ROLE_KEYS = ("role", "from", "speaker", "author", "sender", "角色")
_TEXT_KEYS = ("content", "value", "text", "message", "utterance", "内容")
_CALL_KEYS = ("tool_calls", "function_call")
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
_REASONING_PARTS = ("reasoning", "thinking", "think")
_KEPT = ("name", "tool_call_id")


def is_turns(value: Any) -> bool:
    """Whether a value is one turn or a list of turns, and not text or other data."""
    turns = value if isinstance(value, list) else [value]
    return bool(turns) and all(
        isinstance(turn, dict)
        and any(key in turn for key in _ROLE_KEYS)
        and any(key in turn for key in (*_TEXT_KEYS, *_CALL_KEYS))
        for turn in turns
    )


def turns_or_text(value: Any) -> Any:
    """The turns that a cell holds, as they are, as JSON text or within {"messages": …}; any other value as it is."""
    inner = value
    if isinstance(value, str) and value.lstrip().startswith(("[{", "{")):
        try:
            inner = unpacked(value, "")
        except RowFault:
            return value
    if isinstance(inner, dict) and is_turns(inner.get("messages")):
        inner = inner["messages"]
    if isinstance(value, str) and not _are_surely_turns(inner):
        return value
    return inner if is_turns(inner) else value


def _are_surely_turns(value: Any) -> bool:
    """Whether what a text holds as JSON are turns: people also ask for JSON, and it is then the answer itself."""
    return (
        isinstance(value, list)
        and is_turns(value)
        and all(
            isinstance(role := turn.get("role", turn.get("from")), str) and plain(role) in ROLES
            for turn in value
        )
    )


def messages_of(value: Any, name: str, notes: set[str]) -> list[Message]:
    """The messages of a list of turns, turns of one role joined. Raises RowFault.

    name: of the field, for sentences. Roles are told apart by their names alone, never by their place.
    """
    marked = (
        turns_in(value) if isinstance(value, str) and not value.lstrip().startswith(("[{", "{")) else None
    )
    turns = _listed(marked or unpacked(value, name))
    if not isinstance(turns, list | tuple):
        raise RowFault("wrong_type", f"{name} is {kind(turns)}, but must be a list of turns.")
    messages = [
        _message(single, f"turn {place} of {name}", notes)
        for place, turn in enumerate(turns, 1)
        for single in _singles(turn)
    ]
    return merged(messages, notes)


def _listed(turns: Any) -> Any:
    """One turn as a list of it, and the talk within an object such as {"messages": […]}."""
    if not isinstance(turns, dict):
        return turns
    inner = turns.get("messages")
    return inner if isinstance(inner, list) and not any(key in turns for key in _ROLE_KEYS) else [turns]


def _singles(turn: Any) -> list[Any]:
    """A turn, or those that stand in one object by their roles: {"human": "…", "assistant": "…"}."""
    if not isinstance(turn, dict) or any(key in turn for key in (*_ROLE_KEYS, *_TEXT_KEYS)):
        return [turn]
    spoken = {role: text for role, text in turn.items() if plain(role) in ROLES}
    if not spoken or any(isinstance(item, list | dict) for item in spoken.values()):
        return [_plain_keys(turn)]
    return [{"role": role, "content": text} for role, text in spoken.items() if not is_nothing(text)]


def _plain_keys(turn: dict[str, Any]) -> dict[str, Any]:
    """A turn whose fields are written in other letters: "Role", "Content"."""
    return {plain(key): item for key, item in reversed(turn.items())}


def merged(messages: list[Message], notes: set[str]) -> list[Message]:
    """Messages of one role that follow each other, joined with a blank line. Results of tools stay apart."""
    joined: list[Message] = []
    for message in messages:
        if not joined or joined[-1]["role"] != message["role"] or message["role"] == "tool":
            joined.append(message)
            continue
        notes.add("merged_turns")
        last = joined[-1] = dict(joined[-1])
        for key in ("content", "reasoning_content"):
            texts = [text for text in (last.get(key), message.get(key)) if text]
            if texts or key == "content":
                last[key] = "\n\n".join(texts)
        if calls := [*last.get("tool_calls", []), *message.get("tool_calls", [])]:
            last["tool_calls"] = calls
    return joined


def answered(messages: list[Message], notes: set[str]) -> list[Message]:
    """A talk up to its last answer, without a blank system turn. Raises RowFault where it teaches nothing."""
    end = max(
        (place for place, message in enumerate(messages, 1) if message["role"] == "assistant"), default=0
    )
    if not end:
        raise RowFault("no_assistant", "No turn is an answer of the assistant.")
    if end < len(messages):
        notes.add("trailing_prompt_trimmed")
    talk = checked(messages[:end])
    first = next(message for message in talk if message["role"] != "system")
    if first["role"] == "assistant":
        notes.add("starts_with_assistant")
    return talk


def checked(messages: list[Message]) -> list[Message]:
    """The messages without a blank system turn. Raises RowFault where a question or an answer is blank."""
    kept = []
    for place, message in enumerate(messages, 1):
        blank = not message["content"].strip()
        if blank and message["role"] == "user":
            raise RowFault("empty_prompt", f"Turn {place}, of the user, is empty.")
        if blank and message["role"] == "assistant" and not message.get("tool_calls"):
            raise RowFault("empty_target", f"Turn {place}, of the assistant, is empty.")
        if not (blank and message["role"] == "system"):
            kept.append(message)
    return kept


def with_system(messages: list[Message], system: str) -> list[Message]:
    """The messages, led by a system turn where they have none and one is given."""
    if not system.strip() or any(message["role"] == "system" for message in messages):
        return messages
    return [{"role": "system", "content": system}, *messages]


def _message(turn: Any, place: str, notes: set[str]) -> Message:
    if not isinstance(turn, dict):
        raise RowFault(
            "wrong_type", f"{place} is {kind(turn)}, but must be an object with a role and a content."
        )
    role = _role(turn, place)
    value = next((turn[key] for key in _TEXT_KEYS if key in turn), None)
    if role == "call":
        call = turn.get("tool_calls") if is_nothing(value) else value
        message: Message = {"role": "assistant", "content": "", "tool_calls": calls_of(call, place)}
    else:
        message = {"role": role} | _content(value, place, notes)
    if role == "assistant":
        _reasoning_and_calls(message, turn, place, notes)
    for key in _KEPT:
        if isinstance(turn.get(key), str) and turn[key].strip() and role == "tool":
            message[key] = turn[key]
    return message


def _role(turn: Message, place: str) -> str:
    named = next((turn[key] for key in _ROLE_KEYS if not is_nothing(turn.get(key))), None)
    if named is None:
        raise RowFault(
            "missing_field", f"{place} says no role; its fields are {', '.join(map(str, turn)) or 'none'}."
        )
    if not isinstance(named, str):
        raise RowFault("wrong_type", f"The role of {place} is {kind(named)}, but must be text.")
    role = ROLES.get(plain(named))
    if role is None:
        raise RowFault(
            "unknown_role", f"{place} has the role {named[:40]!r}; known are system, user, assistant, tool."
        )
    return role


def _content(value: Any, place: str, notes: set[str]) -> Message:
    """content, reasoning_content and tool_calls of a text, or of a list of typed parts."""
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        value = [value]
    if not isinstance(value, list):
        return {"content": text_of(value, f"The content of {place}", notes)}
    texts, thoughts, calls = [], [], []
    for part in value:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, dict):
            raise RowFault("wrong_type", f"A part of {place} is {kind(part)}, but must be text.")
        sort = str(part.get("type", "text"))
        inner = next((part[key] for key in (sort, "text", "value", "content") if key in part), None)
        if sort in ("text", "input_text", "output_text"):
            texts.append(text_of(inner, f"A part of {place}", notes))
        elif sort in _REASONING_PARTS:
            thoughts.append(text_of(inner, f"The reasoning of {place}", notes))
        elif sort in ("tool_call", "tool_calls", "function_call"):
            calls += calls_of(part if inner is None else inner, place)
        else:
            raise RowFault(
                "wrong_type", f"{place} holds a part of type {sort[:40]!r}; only text can be learned."
            )
    message: Message = {"content": "".join(texts)}
    if any(thought.strip() for thought in thoughts):
        message["reasoning_content"] = "\n\n".join(thoughts)
    return message | ({"tool_calls": calls} if calls else {})


def _reasoning_and_calls(message: Message, turn: Message, place: str, notes: set[str]) -> None:
    """Add what stands beside the content of an assistant's turn."""
    beside = next((turn[key] for key in _REASONING_KEYS if not is_nothing(turn.get(key))), None)
    if beside is not None and "reasoning_content" not in message:
        message["reasoning_content"] = text_of(beside, f"The reasoning of {place}", notes)
    calls = list(message.pop("tool_calls", []))
    if not is_nothing(turn.get("tool_calls")):
        calls += calls_of(turn["tool_calls"], place)
    elif isinstance(turn.get("function_call"), dict):  # OpenAI's spelling before tools
        calls.append(call_of(turn["function_call"], place))
    if calls:
        message["tool_calls"] = calls
