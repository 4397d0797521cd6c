"""A row as the talk it is: bubbles for questions and answers, thoughts and tools folded, pairs side by side."""

from __future__ import annotations

import json
from typing import Any

from ftui import words
from ftui.ui.html import text
from ftui.ui.say import say

ROLES = ("system", "user", "assistant", "tool")
# Characters that stand open, characters of one text that are drawn at all, and what all texts of a row share.
OPEN, LONGEST, WHOLE = 1_200, 20_000, 100_000
TURNS, CALLS, TOOLS = 100, 20, 50
# What is folded away has to be worth the click.
SLACK = 200
ONE_LINE, OPEN_CODE = 60, 400


def bubbles(value: dict[str, Any]) -> str:
    """A canonical row as a conversation: plain turns, a pair of answers, a judged answer, or plain text."""
    if str(value.get("text") or "").strip():
        body = f'<div class="turn plain">{_long(str(value["text"]), LONGEST)}</div>'
    elif "chosen" in value or "rejected" in value:
        sides = _side(value.get("chosen"), "chosen", "kept") + _side(
            value.get("rejected"), "rejected", "dropped"
        )
        body = f'{_turns(value.get("prompt"))}<div class="pair">{sides}</div>'
    elif "completion" in value:
        judged = ("wanted", "kept") if value.get("label") else ("unwanted", "dropped")
        body = _turns(value.get("prompt")) + _side(value["completion"], *judged)
    else:
        body = _turns(value.get("messages"))
    tools = _tools(value.get("tools") or [])
    return f'<div class="talk">{tools}{body or _nothing("talk.nothing")}</div>'


def _side(turns: Any, name: str, colour: str) -> str:
    """An answer with what is said of it: its edge and its label have the colour."""
    inner = _turns(turns) or _nothing("talk.empty")
    return f'<div class="side {colour}"><b class="mark">{text(say(f"talk.{name}"))}</b>{inner}</div>'


def _turns(turns: Any) -> str:
    turns = turns or []
    shown = turns if len(turns) <= TURNS + 1 else turns[:TURNS]
    most = min(LONGEST, max(OPEN, WHOLE // max(1, len(shown))))
    inner = "".join(_turn(turn, most) for turn in shown)
    left = len(turns) - len(shown)
    return inner + (f'<p class="muted">{text(say("talk.more_turns", n=f"{left:,}"))}</p>' if left else "")


def _turn(turn: dict[str, Any], most: int) -> str:
    role = str(turn.get("role") or "")
    known = role in ROLES
    who = say(f"talk.{role}") if known else role
    if role == "tool" and turn.get("name"):
        who = f"{who} · {turn['name']}"
    content, thought, calls = (
        _plain(turn.get("content")),
        _plain(turn.get("reasoning_content")),
        turn.get("tool_calls"),
    )
    inner = _thought(thought, most) if thought.strip() else ""
    if content.strip():
        inner += _long(content, most)
    inner += _calls(calls, most) if calls else ""
    return (
        f'<div class="turn {role if known else "plain"}"><b class="who">{text(_short(who))}</b>'
        f"{inner or _nothing('talk.empty')}</div>"
    )


def _thought(thought: str, most: int) -> str:
    title = say("talk.thought", size=words.count(len(thought), "character"))
    return f'<details class="thought"><summary>{text(title)}</summary>{_said(thought, most)}</details>'


def _calls(calls: list[dict[str, Any]], most: int) -> str:
    shown = calls if len(calls) <= CALLS + 1 else calls[:CALLS]
    most = max(OPEN, most // len(shown))
    lines = []
    for call in shown:
        inner = _function(call)
        name = f"<b>{text(say('talk.call'))}</b> <code>{text(_short(inner.get('name') or ''))}</code>"
        lines.append(f'<div class="call">{name}{_code(inner.get("arguments"), most)}</div>')
    left = len(calls) - len(shown)
    more = f'<p class="muted">{text(say("talk.more_calls", n=f"{left:,}"))}</p>' if left else ""
    return "".join(lines) + more


def _tools(tools: list[dict[str, Any]]) -> str:
    """What the assistant may call, folded: name, what it is for, what it takes."""
    if not tools:
        return ""
    items = []
    shown = tools if len(tools) <= TOOLS + 1 else tools[:TOOLS]
    for tool in shown:
        inner = _function(tool)
        about = _plain(inner.get("description"))
        takes = _code(inner.get("parameters"), OPEN, ONE_LINE) if inner.get("parameters") else ""
        items.append(
            f"<li><code>{text(_short(inner.get('name') or ''))}</code> {_said(about, OPEN)}{takes}</li>"
        )
    left = len(tools) - len(shown)
    more = f'<li class="muted">{text(say("talk.more_tools", n=f"{left:,}"))}</li>' if left else ""
    title = say("talk.tools", tools=words.count(len(tools), "tool"))
    return (
        f'<details class="offered"><summary>{text(title)}</summary><ul>{"".join(items)}{more}</ul></details>'
    )


def _function(outer: dict[str, Any]) -> dict[str, Any]:
    """What stands under `function`, or the object itself where it is not wrapped."""
    inner = outer.get("function")
    return inner if isinstance(inner, dict) else outer


def _long(written: str, most: int) -> str:
    """A text of which the beginning stands open and the rest is one click away."""
    if min(len(written), most) <= OPEN + SLACK:
        return _said(written, most)
    place = _gap(written, OPEN)
    left = f"{len(written) - place:,}"
    return (
        f'<div class="said" dir="auto">{text(written[:place])}</div><details class="more"><summary>'
        f'<span class="shut">{text(say("talk.more", n=left))}</span>'
        f'<span class="open">{text(say("talk.less"))}</span></summary>{_said(written[place:], most - place)}</details>'
    )


def _said(written: str, most: int) -> str:
    """A text as it was written, white space included; what is too long for a page is counted."""
    shown = written if len(written) <= most + SLACK else written[: _gap(written, most)]
    return f'<div class="said" dir="auto">{text(shown)}</div>{_left(len(written) - len(shown))}'


def _code(value: Any, most: int, open_to: int = OPEN_CODE) -> str:
    """Arguments as readable JSON; folded where they are long."""
    written = _json(value)
    shown = written if len(written) <= most + SLACK else written[:most]
    inner = f"<pre>{text(shown)}</pre>{_left(len(written) - len(shown))}"
    if len(written) <= open_to:
        return inner
    size = words.count(len(written), "character")
    return f"<details><summary>{text(say('talk.json', size=size))}</summary>{inner}</details>"


def _left(count: int) -> str:
    return f'<p class="muted">{text(say("talk.more", n=f"{count:,}"))}</p>' if count else ""


def _json(value: Any) -> str:
    if isinstance(value, str):
        return value
    short = json.dumps(value, ensure_ascii=False, default=str)
    return short if len(short) <= ONE_LINE else json.dumps(value, ensure_ascii=False, default=str, indent=2)


def _gap(written: str, near: int) -> int:
    """Where to part a text: behind the last white space before `near`, or there where it has none."""
    start = near - SLACK
    return max(written.rfind("\n", start, near), written.rfind(" ", start, near)) + 1 or near


def _plain(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else _json(value)


def _short(name: Any) -> str:
    name = str(name)
    return name if len(name) <= SLACK else f"{name[:SLACK]}…"


def _nothing(key: str) -> str:
    return f'<p class="muted nothing">{text(say(key))}</p>'
