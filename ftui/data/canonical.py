"""One canonical row of one record, for each schema; or the reason why there is none."""

from __future__ import annotations

from typing import Any

from ftui.data.dialogue import asked_in, whole_dialogue
from ftui.data.row import RowFault
from ftui.data.tools import tools_of
from ftui.data.turns import (
    Message,
    answered,
    checked,
    is_turns,
    merged,
    messages_of,
    turns_or_text,
    with_system,
)
from ftui.data.values import as_label, is_nothing, kind, text_of, unpacked


def canonical(schema: str, fields: dict[str, Any], system: str, notes: set[str]) -> dict[str, Any]:
    """The canonical row of fields by canonical name. notes: warnings of this row are added to it.

    Raises RowFault with the reason, where the row cannot be learned from.
    """
    return _SCHEMAS[schema](fields, system, notes)


def _text(fields: dict[str, Any], _: str, notes: set[str]) -> dict[str, Any]:
    text = text_of(fields.get("text"), "text", notes)
    if not text.strip():
        raise RowFault("empty_target", "The text is empty.")
    return {"text": text}


def _talk(fields: dict[str, Any], system: str, notes: set[str]) -> dict[str, Any]:
    talk = _given_talk(fields, notes)
    return _with_tools({"messages": with_system(answered(talk, notes), system)}, fields)


def _pair(fields: dict[str, Any], system: str, notes: set[str]) -> dict[str, Any]:
    prompt = _prompt(fields, notes)
    answer = _answer(fields, "response", notes)
    if "reasoning" in fields and answer[-1]["role"] == "assistant" and "reasoning_content" not in answer[-1]:
        reasoning = text_of(fields["reasoning"], "reasoning", notes)
        if reasoning.strip():
            answer[-1] = answer[-1] | {"reasoning_content": reasoning}
    talk = answered(merged([*prompt, *answer], notes), notes)
    return _with_tools({"messages": with_system(talk, system)}, fields)


def _preference(fields: dict[str, Any], system: str, notes: set[str]) -> dict[str, Any]:
    chosen, rejected = _sides(fields, notes)
    shared = _shared(chosen, rejected)
    pair = [answered(side[shared:], set()) for side in (chosen, rejected)]
    if shared:
        prompt = chosen[:shared]
        if prompt[0]["role"] != "system" and not is_nothing(fields.get("system")):
            prompt = with_system(prompt, text_of(fields["system"], "system", notes))
        prompt = checked(prompt)
    elif "messages" in fields:
        prompt = checked(_given_talk(fields, notes))
    else:
        prompt = _prompt(fields, notes)
    _must_ask(prompt)
    if pair[0] == pair[1]:
        raise RowFault("identical_pair", "The chosen and the rejected answer are equal.")
    row = {"prompt": with_system(prompt, system), "chosen": pair[0], "rejected": pair[1]}
    return _with_tools(row, fields)


def _kto(fields: dict[str, Any], system: str, notes: set[str]) -> dict[str, Any]:
    if "messages" in fields:
        talk = answered(_given_talk(fields, notes), notes)
        prompt, completion = talk[:-1], talk[-1:]
        if "starts_with_assistant" in notes and len(talk) == 1:
            notes.discard("starts_with_assistant")
    else:
        prompt = _prompt(fields, notes)
        completion = answered(_answer(fields, "response", notes), set())
    _must_ask(prompt)
    value = fields.get("label")
    if is_nothing(value):
        raise RowFault("missing_label", "It has no label.")
    label = as_label(value)
    if label is None:
        shown = repr(value)[:40] if isinstance(value, str | int | float) else kind(value)
        raise RowFault("wrong_type", f"The label is {shown}, but must be true or false.")
    return _with_tools(
        {"prompt": with_system(prompt, system), "completion": completion, "label": label}, fields
    )


_SCHEMAS = {
    "alpaca": _pair,
    "prompt-completion": _pair,
    "sharegpt": _talk,
    "messages": _talk,
    "preference": _preference,
    "kto": _kto,
    "text": _text,
}


def _given_talk(fields: dict[str, Any], notes: set[str]) -> list[Message]:
    """The turns of the messages field, led by the system field where they have no system turn."""
    value = fields.get("messages")
    if is_nothing(value) and not isinstance(value, list):
        raise RowFault("missing_field", "It has no turns.")
    talk = messages_of(value, "messages", notes)
    return with_system(talk, text_of(fields.get("system"), "system", notes))


def _prompt(fields: dict[str, Any], notes: set[str]) -> list[Message]:
    """System turn, history and question. Raises RowFault: missing_field, empty_prompt, wrong_type."""
    before: list[Message] = []
    system = text_of(fields.get("system"), "system", notes)
    if system.strip():
        before.append({"role": "system", "content": system})
    before += _history(fields.get("history"), notes)
    if "prompt" not in fields and "input" not in fields:
        raise RowFault("missing_field", "It has no prompt.")
    value = turns_or_text(fields.get("prompt"))
    if isinstance(value, str):
        value = asked_in(value) or value
    if is_turns(value):
        turns = messages_of(value, "prompt", notes)
        if turns[0]["role"] == "system":
            before = [message for message in before if message["role"] != "system"]
            turns, before = turns[1:], turns[:1] + before
        before += turns
    else:
        texts = [text_of(fields.get(name), name, notes) for name in ("prompt", "input")]
        asked = "\n".join(text for text in texts if text.strip())
        if not asked:
            raise RowFault("empty_prompt", "The prompt is empty.")
        before.append({"role": "user", "content": asked})
    return checked(merged(before, notes))


def _history(value: Any, notes: set[str]) -> list[Message]:
    """Earlier turns: pairs of question and answer, or turns with roles."""
    history = unpacked(value, "history")
    if is_nothing(history):
        return []
    if not isinstance(history, list):
        raise RowFault(
            "wrong_type", f"history is {kind(history)}, but must be a list of question and answer pairs."
        )
    if is_turns(history):
        return messages_of(history, "history", notes)
    messages = []
    for place, pair in enumerate(history, 1):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise RowFault("wrong_type", f"Pair {place} of history is no list of a question and an answer.")
        for role, part in zip(("user", "assistant"), pair, strict=True):
            messages.append({"role": role, "content": text_of(part, f"Pair {place} of history", notes)})
    return messages


def _answer(fields: dict[str, Any], name: str, notes: set[str]) -> list[Message]:
    """The assistant's side, from text, one turn or several. Raises RowFault: empty_target, wrong_type."""
    given = fields.get(name)
    value = turns_or_text(given)
    if isinstance(given, str) and is_turns(value) and not is_nothing(fields.get("prompt")):
        # Beside a question of its own a text that holds a whole talk is what was asked for.
        turns = messages_of(value, name, set())
        value = value if all(turn["role"] in ("assistant", "tool") for turn in turns) else given
    if is_nothing(value):
        raise RowFault("empty_target", f"{name} is empty.")
    if is_turns(value):
        return messages_of(value, name, notes)
    return [{"role": "assistant", "content": text_of(value, name, notes)}]


def _sides(fields: dict[str, Any], notes: set[str]) -> tuple[list[Message], list[Message]]:
    """The chosen and the rejected turns; two texts that are whole dialogues give those that they hold."""
    talks = {
        name: whole_dialogue(text)
        for name in ("chosen", "rejected")
        if isinstance(text := fields.get(name), str)
    }
    if len(talks) == 2 and all(talks.values()) and _holds_prompt(fields.get("prompt"), talks["chosen"]):
        fields = fields | talks
    return _answer(fields, "chosen", notes), _answer(fields, "rejected", notes)


def _holds_prompt(prompt: Any, talk: list[Message] | None) -> bool:
    """Whether a dialogue begins with the question that stands beside it; True where none does."""
    if is_nothing(prompt):
        return True
    return isinstance(prompt, str) and any(
        turn["role"] == "user" and str(turn["content"]).strip() == prompt.strip() for turn in talk or ()
    )


def _shared(chosen: list[Message], rejected: list[Message]) -> int:
    """How many first turns two whole dialogues share; 0 where both are answers alone."""
    if chosen[0]["role"] == "assistant" and rejected[0]["role"] == "assistant":
        return 0
    count = 0
    for left, right in zip(chosen[:-1], rejected[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count


def _must_ask(prompt: list[Message]) -> None:
    if not any(message["role"] in ("user", "tool") for message in prompt):
        raise RowFault("empty_prompt", "Nothing is asked before the answer.")


def _with_tools(row: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    tools = tools_of(fields.get("tools"))
    return row | ({"tools": tools} if tools else {})
