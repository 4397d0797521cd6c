"""Tool calls and tool definitions, which come as objects, as JSON text and as JSON text inside objects."""

from __future__ import annotations

from typing import Any

from ftui.data.row import RowFault
from ftui.data.values import is_nothing, kind, shallow, unpacked


def calls_of(value: Any, place: str) -> list[dict[str, Any]]:
    """One call or several. Raises RowFault: malformed_json, wrong_type, missing_field."""
    calls = unpacked(value, f"The tool call in {place}")
    calls = calls if isinstance(calls, list) else [calls]
    if not calls:
        raise RowFault("missing_field", f"The tool call in {place} is empty.")
    return [call_of(call, place) for call in calls]


def call_of(value: Any, place: str) -> dict[str, Any]:
    """{"type": "function", "function": {"name", "arguments": object}, "id"?} of one call."""
    call = unpacked(value, f"The tool call in {place}")
    if not isinstance(call, dict):
        raise RowFault("wrong_type", f"The tool call in {place} is {kind(call)}, but must be an object.")
    inner = _function(call)
    name = inner.get("name")
    if is_nothing(name):
        raise RowFault("missing_field", f"The tool call in {place} names no tool.")
    if not isinstance(name, str):
        raise RowFault("wrong_type", f"The tool's name in {place} is {kind(name)}, but must be text.")
    given = next((inner[key] for key in ("arguments", "parameters", "args", "input") if key in inner), None)
    arguments = unpacked(given, f"The arguments of {name} in {place}")
    if is_nothing(arguments):
        arguments = {}
    if not isinstance(arguments, dict):
        found = "text that is no JSON object" if isinstance(arguments, str) else kind(arguments)
        reason = "malformed_json" if isinstance(arguments, str) else "wrong_type"
        raise RowFault(reason, f"The arguments of {name} in {place} are {found}, but must be an object.")
    made = {
        "type": "function",
        "function": {"name": name, "arguments": shallow(arguments, f"The arguments of {name} in {place}")},
    }
    return made | ({"id": call["id"]} if isinstance(call.get("id"), str) and call["id"] else {})


def tools_of(value: Any) -> list[dict[str, Any]]:
    """The tools that a row offers, each {"type": "function", "function": {…}}; none for nothing or an empty list."""
    tools = unpacked(value, "tools")
    if is_nothing(tools):
        return []
    tools = tools if isinstance(tools, list) else [tools]
    return [_tool(tool, place) for place, tool in enumerate(tools, 1)]


def _tool(value: Any, place: int) -> dict[str, Any]:
    tool = unpacked(value, f"Tool {place} of tools")
    if not isinstance(tool, dict):
        raise RowFault("wrong_type", f"Tool {place} of tools is {kind(tool)}, but must be an object.")
    inner = _function(tool)
    if is_nothing(inner.get("name")):
        raise RowFault("missing_field", f"Tool {place} of tools has no name.")
    shallow(tool, f"Tool {place} of tools")
    return tool if inner is not tool else {"type": "function", "function": tool}


def _function(outer: dict[str, Any]) -> dict[str, Any]:
    """What stands under `function`, or the object itself where it is not wrapped."""
    inner = outer.get("function")
    return inner if isinstance(inner, dict) else outer
