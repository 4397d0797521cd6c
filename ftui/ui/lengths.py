"""How long the rows are: a histogram with the cut in it, and what one pass over them takes."""

from __future__ import annotations

from typing import Any

from ftui import words
from ftui.ui import html
from ftui.ui.html import text
from ftui.ui.say import say

# Pixels: the label's room on top, the bars, and the numbers below. Across, all is in per cent of what room there is.
TOP, TALL, BELOW = 18, 82, 20
BARS, TICKS = 120, 6
ORDERS = ("random", "grouped", "packed")

Bin = tuple[int, int, int]


def histogram(bins: list[Bin], limit: int, truncated: int, lost: int) -> str:
    """Rows by their length. bins: (from, to, rows) in tokens, both ends counted in, in order.

    truncated: rows that are cut at the limit. lost: rows whose answer is cut off whole.
    """
    bins = _fewer([one for one in bins if one[1] >= one[0]])
    rows = sum(count for _, _, count in bins)
    if not rows:
        return html.empty(say("lengths.none.title"), say("lengths.none"))
    end, most = max(1, *(to for _, to, _ in bins)), max(count for _, _, count in bins)
    sentence = _sentence(rows, truncated, lost)
    bars = "".join(_bar(one, limit, end, most, truncated) for one in bins if one[2])
    axis = f'<line class="axis" x1="0" x2="100%" y1="{TOP + TALL}" y2="{TOP + TALL}"/>'
    height = TOP + TALL + BELOW
    return (
        f'<figure class="lengths"><p class="muted">{text(say("lengths.about", most=words.count(most, "row")))}</p>'
        f'<svg width="100%" height="{height}" role="img" aria-label="{text(sentence)}">'
        f"{bars}{axis}{_ticks(end)}{_line(limit, end)}</svg>{_table(bins)}<figcaption>{text(sentence)}</figcaption>"
        "</figure>"
    )


def epoch(figures: dict[str, Any]) -> str:
    """What one pass over the rows takes, and how much of its batches is padding in each order of the rows."""
    rows, tokens, learned = (figures.get(name) for name in ("rows", "tokens", "learned_tokens"))
    steps, batch = figures.get("steps"), figures.get("batch")
    share = _percent(learned / tokens) if tokens and learned is not None else ""
    known = [
        (say("lengths.steps", rows=words.count(batch, "row")) if batch else say("train.steps"), steps),
        (say("lengths.rows"), rows),
        (say("lengths.tokens", share=share) if share else say("train.tokens"), tokens),
    ]
    counted = [(name, f"{number:,}") for name, number in known if number is not None]
    if not counted:
        return html.card(
            text(say("lengths.epoch")), f'<p class="muted">{text(say("lengths.unknown"))}</p>', "epoch"
        )
    body = html.figures(counted) + _padding(figures)
    return html.card(text(say("lengths.epoch")), body, "epoch")


def _padding(figures: dict[str, Any]) -> str:
    """Three bars to compare; the order in use is marked."""
    lines = []
    for order in ORDERS:
        share = figures.get(f"padding_{order}")
        if share is None:
            continue
        used = figures.get("using") == order
        name = text(say(f"lengths.padding.{order}"))
        if used:
            name = f"{name} <em>{text(say('lengths.in_use'))}</em>"
        width = max(0.0, min(1.0, share)) * 100
        lines.append(
            f"<li{' class=used' if used else ''}><span>{name}</span>"
            f'<i class="track"><i style="width:{width:.1f}%"></i></i><b>{_percent(share)}</b></li>'
        )
    if not lines:
        return ""
    return f'<p class="muted">{text(say("lengths.padding"))}</p><ul class="padding" role="list">{"".join(lines)}</ul>'


def _bar(one: Bin, limit: int, end: int, most: int, truncated: int) -> str:
    """A bar; where the limit stands inside it, what is beyond has the colour of what is cut."""
    start, to, count = one
    left = max(0, start - 1)
    parts = [(left, to, "cut" if 0 < limit < start else "kept")]
    if truncated and left < limit < to:
        parts = [(left, limit, "kept"), (limit, to, "cut")]
    height = max(2.0, TALL * count / most)
    # For a gap between bars each gives up a little of its width.
    gap = min(0.15 * (to - left) / end * 100, 0.4)
    drawn = "".join(
        f'<rect class="{kind}" x="{first / end * 100:.3f}%" y="{TOP + TALL - height:.1f}" '
        f'width="{max(0.1, (last - first) / end * 100 - (gap if last == to else 0)):.3f}%" height="{height:.1f}"/>'
        for first, last, kind in parts
    )
    span = f"{start:,}" if start == to else f"{start:,}–{to:,}"
    title = say("lengths.bar", rows=words.count(count, "row"), span=span)
    return f"<g><title>{text(title)}</title>{drawn}</g>"


def _line(limit: int, end: int) -> str:
    """Where rows are cut; at the right edge where no row is so long."""
    if limit <= 0:
        return ""
    inside = limit < end
    place = limit / end * 100 if inside else 100.0
    label = say("lengths.cut_at", n=f"{limit:,}") if inside else say("lengths.nothing_cut")
    anchor, shift = ("start", 6) if place < 60 else ("end", -6)
    stroke = "limit" if inside else "limit beyond"
    return (
        f'<line class="{stroke}" x1="{place:.3f}%" x2="{place:.3f}%" y1="2" y2="{TOP + TALL}"/>'
        f'<text class="{stroke}" x="{place:.3f}%" dx="{shift}" y="12" text-anchor="{anchor}">{text(label)}</text>'
    )


def _ticks(end: int) -> str:
    """Numbers below: steps of a power of two, as lengths are chosen."""
    step = 1
    while end / step > TICKS:
        step *= 2
    drawn = []
    for number in range(0, end + 1, step):
        place = number / end * 100
        anchor = "start" if not number else "end" if place > 94 else "middle"
        y = TOP + TALL
        drawn.append(
            f'<line class="axis" x1="{place:.3f}%" x2="{place:.3f}%" y1="{y}" y2="{y + 4}"/>'
            f'<text x="{place:.3f}%" y="{y + 16}" text-anchor="{anchor}">{number:,}</text>'
        )
    return "".join(drawn)


def _table(bins: list[Bin]) -> str:
    """The same as a table, for those who hear the page."""
    lines = "".join(
        f"<tr><td>{start:,}–{to:,}</td><td>{count:,}</td></tr>" for start, to, count in bins if count
    )
    return (
        f'<table class="unseen"><thead><tr><th>{text(say("data.tokens_head"))}</th>'
        f"<th>{text(say('lengths.rows'))}</th></tr></thead><tbody>{lines}</tbody></table>"
    )


def _sentence(rows: int, truncated: int, lost: int) -> str:
    """What the limit does to the rows, in one sentence."""
    parts: list[str] = []
    for number, one, many in (
        (truncated, "lengths.cut_one", "lengths.cut"),
        (lost, "lengths.lost_one", "lengths.lost"),
    ):
        if number:
            some = f"{number:,}"
            # Only the first says of how many.
            some = some if parts else say("lengths.of", n=some, rows=words.count(rows, "row"))
            parts.append(say(one if number == 1 else many, some=some))
    return "; ".join(parts) + "." if parts else say("lengths.fit")


def _fewer(bins: list[Bin]) -> list[Bin]:
    """No more bars than can be told apart: neighbours become one."""
    size = -(-len(bins) // BARS) or 1
    groups = [bins[place : place + size] for place in range(0, len(bins), size)]
    return [(group[0][0], group[-1][1], sum(count for _, _, count in group)) for group in groups]


def _percent(share: float) -> str:
    """`45 %`; with one decimal below one."""
    percent = 100 * share
    return f"{percent:.1f} %" if 0 < percent < 0.95 else f"{percent:.0f} %"
