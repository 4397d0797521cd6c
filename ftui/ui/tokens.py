"""A row as the model sees it: token by token, with what is learned, what is only read, and what is cut off."""

from __future__ import annotations

from typing import Any

from ftui.ui.html import text
from ftui.ui.say import say

PIECES, CHARACTERS = 4_000, 1_200


def tokens(pieces: list[dict[str, Any]]) -> str:
    """Pieces `{"text", "learned", "tokens", "cut"?, "end"?}` as coloured text under a legend of what occurs in it."""
    if not pieces:
        return f'<p class="muted">{text(say("tokens.none"))}</p>'
    shown, rest = pieces[:PIECES], pieces[PIECES:]
    missed = _missed(pieces)
    inner = "".join(_piece(piece, place in missed) for place, piece in enumerate(shown))
    left = sum(piece["tokens"] for piece in rest if not piece.get("cut"))
    if left:
        inner += f'<em class="left">{text(say("tokens.more", n=f"{left:,}"))}</em>'
    if gone := "".join(piece["text"] for piece in rest if piece.get("cut")):
        inner += _cut(gone)
    return (
        f'{_legend(pieces, bool(missed))}<div class="tokens" role="region" tabindex="0" '
        f'aria-label="{text(say("tokens.region"))}">{inner}</div>'
    )


def notice(advice: list[dict[str, Any]]) -> str:
    """What is worth knowing of how rows are written for the model, `{"title", "message", "fix", "harmless"}` each."""
    lines = []
    for item in sorted(advice, key=lambda item: bool(item.get("harmless"))):
        kind, mark = ("note", "i") if item.get("harmless") else ("warning", "!")
        lines.append(
            f'<li class="{kind}"><i aria-hidden="true">{mark}</i><div><b>{text(item["title"])}</b> '
            f"{text(item['message'])} <em>{text(item.get('fix') or '')}</em></div></li>"
        )
    return f'<ul class="findings notice" role="list">{"".join(lines)}</ul>' if lines else ""


def _missed(pieces: list[dict[str, Any]]) -> set[int]:
    """Places of the ends that are not learned though the answer before them is: the model would not learn to stop."""
    found, answered = set(), False
    for place, piece in enumerate(pieces):
        if piece.get("end"):
            if answered and not piece["learned"]:
                found.add(place)
            answered = False
        elif piece["text"].strip():
            answered = bool(piece["learned"])
    return found


def _piece(piece: dict[str, Any], missed: bool) -> str:
    if piece.get("cut"):
        return _cut(piece["text"])
    written = piece["text"]
    kept = written.rstrip("\n")
    # The breaks stand behind the token, so that its right edge is not drawn at the start of the next line.
    breaks = len(written) - len(kept)
    inner, after = (
        f"{_signs(kept)}{'<i class=nl></i>' * min(breaks, CHARACTERS)}",
        "\n" * min(breaks, CHARACTERS),
    )
    kinds, title = ["learned"] if piece["learned"] else [], ""
    if piece.get("end"):
        kinds += ["end", "missed"] if missed else ["end"]
        title = say("tokens.end_learned") if piece["learned"] else say("tokens.end_unlearned")
    elif piece["tokens"] > 1:
        title = say("tokens.several", n=f"{piece['tokens']:,}")
    tag = "mark" if piece["learned"] else "span"
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    hint = f' title="{text(title)}"' if title else ""
    return f"<{tag}{kind}{hint}>{inner}</{tag}>{after}"


def _cut(written: str) -> str:
    shown = written if len(written) <= CHARACTERS * 2 else written[:CHARACTERS]
    left = len(written) - len(shown)
    more = f'<em class="left">{text(say("talk.more", n=f"{left:,}"))}</em>' if left else ""
    return f'<s title="{text(say("data.cut_off"))}">{_signs(shown)}</s>{more}'


def _signs(written: str) -> str:
    """A text with a sign at each break, and its first spaces marked so that they can be shown."""
    if len(written) > CHARACTERS * 2:
        written = f"{written[:CHARACTERS]}…"
    rest = written.lstrip(" ")
    spaces = len(written) - len(rest)
    first = f"<i class=sp>{' ' * spaces}</i>" if spaces else ""
    return first + text(rest).replace("\n", "<i class=nl></i>\n")


def _legend(pieces: list[dict[str, Any]], missed: bool) -> str:
    """The kinds that occur, and how many tokens are learned and only read."""
    whole = [piece for piece in pieces if not piece.get("cut")]
    learned = sum(piece["tokens"] for piece in whole if piece["learned"])
    total = sum(piece["tokens"] for piece in whole)
    items = []
    if learned:
        items.append(("learned", say("tokens.learned", n=f"{learned:,}")))
    if total > learned:
        items.append(("read", say("tokens.read", n=f"{total - learned:,}")))
    if any(piece.get("end") for piece in whole):
        items.append(("end", say("tokens.end")))
    if missed:
        items.append(("missed", say("tokens.end_unlearned")))
    if len(whole) < len(pieces):
        items.append(("cut-off", say("tokens.cut")))
    inner = "".join(f'<span class="{kind}"><i></i>{text(name)}</span>' for kind, name in items)
    return f'<div class="legend">{inner}</div>'
