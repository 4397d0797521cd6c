"""Small pieces of HTML. Everything a person or a file can have written goes through `text`."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ftui.checks import Finding
from ftui.errors import FtuiError
from ftui.ui.say import say


def text(value: object) -> str:
    """A value as HTML text: nothing in it is a tag."""
    return html.escape(str(value), quote=True)


def card(title: str, body: str, kind: str = "") -> str:
    """Things that belong together. title and body: HTML."""
    head = f"<h4>{title}</h4>" if title else ""
    return f'<section class="card {kind}">{head}{body}</section>'


def empty(title: str, message: str) -> str:
    """An area with nothing in it yet: what it is for, and what comes next."""
    return f'<div class="empty"><b>{text(title)}</b><p>{text(message)}</p></div>'


def waiting(message: str) -> str:
    """What is being waited for."""
    return f'<div class="waiting"><i class="spinner"></i>{text(message)}</div>'


def error(fault: FtuiError) -> str:
    """What is wrong, where, and what to do."""
    return (
        f'<section class="card failed" role="alert"><h4>{text(fault.title)}</h4>'
        f"<p>{text(fault.message)}</p><p class='fix'>→ {text(fault.fix)}</p></section>"
    )


def chip(state: str) -> str:
    """A job's state, coloured by what it means."""
    return f'<span class="chip {text(state)}">{text(say(f"state.{state}"))}</span>'


def bar(done: float, total: float | None) -> str:
    """A progress bar; one that only moves where the end is unknown."""
    if not total:
        return '<div class="bar unknown"><i></i></div>'
    share = max(0.0, min(1.0, done / total)) * 100
    return (
        f'<div class="bar" role="progressbar" aria-valuenow="{share:.0f}" aria-valuemin="0" aria-valuemax="100">'
        f'<i style="width:{share:.1f}%"></i></div>'
    )


def parts(shares: Iterable[tuple[str, float, str]]) -> str:
    """One bar of several parts: (class, amount, hint)."""
    items = [(kind, amount, hint) for kind, amount, hint in shares if amount > 0]
    total = sum(amount for _, amount, _ in items) or 1.0
    inner = "".join(
        f'<i class="{kind}" style="width:{amount / total * 100:.2f}%" title="{text(hint)}"></i>'
        for kind, amount, hint in items
    )
    return f'<div class="parts">{inner}</div>'


def figures(items: Iterable[tuple[str, str]]) -> str:
    """Numbers with what they are: (label, value)."""
    inner = "".join(
        f"<div><b>{text(value)}</b><span>{text(name)}</span></div>" for name, value in items if value
    )
    return f'<div class="figures">{inner}</div>'


def findings(found: list[Finding]) -> str:
    """The checks: what is well in one line, what is not with its reason and fix."""
    mark = {"ok": "✓", "warning": "!", "error": "×"}
    well = [item for item in found if item.level == "ok"]
    lines = [
        f'<li class="{item.level}"><i>{mark[item.level]}</i><div><b>{text(item.title)}</b> '
        f"{text(item.message)} <em>{text(item.fix)}</em></div></li>"
        for item in found
        if item.level != "ok"
    ]
    if well:
        inner = " ".join(
            f'<span title="{text(item.message)}"><i>✓</i> {text(item.title)}</span>' for item in well
        )
        lines.append(f'<li class="ok all">{inner}</li>')
    return f'<ul class="findings">{"".join(lines)}</ul>'


def table(headers: list[str], rows: Iterable[Iterable[object]]) -> str:
    """A plain table of texts."""
    head = "".join(f"<th>{text(header)}</th>" for header in headers)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="plain"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
