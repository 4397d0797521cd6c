"""What was found in a data set, as cards: shape and columns, what is kept, cut and dropped, and how long rows are."""

from __future__ import annotations

from typing import Any

from ftui import settings as schema
from ftui import words
from ftui.checks import Context
from ftui.hardware import detect
from ftui.ui import html, lengths, tokens
from ftui.ui.say import say

_NAMED = 50


def found_card(report: dict[str, Any], counted: dict[str, Any] | None, chosen: dict[str, Any] | None) -> str:
    """Shape, columns, and how many rows are kept, cut and dropped, with the reasons.

    counted: the account after tokenising; chosen: which rows train and which are held out; None while not known.
    """
    dropped = list(report["dropped"])
    kept, cut, lost = report["usable"], 0, report["rows"] - report["usable"]
    if counted:
        cut = counted["whole"]["truncated"]
        refused = sum(counted["whole"]["dropped"].values())
        kept, lost = kept - refused, lost + refused
        dropped += counted["dropped"]
    head = say(
        "data.what",
        rows=words.count(report["rows"], "row"),
        schema=report["schema"],
        file=report["file_format"],
    )
    bar = html.parts([("kept", kept - cut, ""), ("cut", cut, ""), ("dropped", lost, "")])
    legend = "".join(
        f'<span class="{name}"><i></i>{count:,} {html.text(say(f"data.{name}"))}</span>'
        for name, count in (("kept", kept - cut), ("cut", cut), ("dropped", lost))
    )
    body = f'<p>{html.text(head)}</p>{_mapping(report)}{bar}<div class="legend">{legend}</div>'
    if chosen:
        body += _sides(chosen)
    if counted:
        part = counted["whole"]
        share = f"{100 * part['learned_tokens'] / max(1, part['tokens']):.0f} %"
        body += html.figures(
            [
                (say("data.longest"), f"{part['longest']:,}"),
                (say("data.median"), f"{part['median']:,}"),
                (say("data.learned_share"), share),
            ]
        )
    body += _notes(report["warnings"])
    if dropped:
        shown = sorted(dropped, key=lambda item: int(item["row"]))[:_NAMED]
        body += html.table(["#", say("data.reason")], ((item["row"], item["message"]) for item in shown))
        if lost > len(shown):
            body += f"<p class='muted'>{html.text(say('data.more_dropped', n=f'{lost - len(shown):,}'))}</p>"
    return html.card(html.text(say("data.found")), body)


def reading_card(event: dict[str, Any], doing: str) -> str:
    """How far a large file has been read or tokenised."""
    if not event.get("total_bytes"):
        return html.waiting(doing)
    far = say(
        "data.reading",
        rows=f"{event['rows']:,}",
        done=words.size(event["done_bytes"]),
        total=words.size(event["total_bytes"]),
    )
    return html.waiting(f"{doing} {far}") + html.bar(event["done_bytes"], event["total_bytes"])


def lengths_card(settings: schema.Settings, counted: dict[str, Any]) -> str:
    """The histogram with its cut, one epoch in numbers, and what is worth knowing of the template."""
    part = counted["train"]
    chart = lengths.histogram(
        [tuple(one) for one in part["histogram"]],
        settings.data.max_length,
        part["truncated"],
        part["no_target_left"],
    )
    padding = counted["padding"]
    epoch = settings.model_copy(deep=True)
    epoch.training.epochs, epoch.training.max_steps = 1, None
    figures = {
        "steps": Context(epoch, detect(), account=part).steps(),
        "rows": part["kept"],
        "tokens": part["tokens"],
        "learned_tokens": part["learned_tokens"],
        "batch": settings.training.batch_size,
        "using": "grouped" if settings.training.group_by_length else "random",
        **{f"padding_{order}": share for order, share in padding.items()},
    }
    advice = tokens.notice(counted["advice"])
    return (
        html.card(html.text(say("data.lengths")), chart)
        + lengths.epoch(figures)
        + (html.card(html.text(say("data.advice")), advice) if advice else "")
    )


def _mapping(report: dict[str, Any]) -> str:
    lines = "".join(
        f"<li><code>{html.text(column)}</code> → {html.text(name)}</li>"
        for name, column in report["mapping"].items()
    )
    return f"<ul class=muted>{lines}</ul>" if lines else ""


def _sides(chosen: dict[str, Any]) -> str:
    """How many rows an epoch sees, how many are held out and how, and what each further set brings."""
    rows, held = words.count(chosen["rows"], "row"), f"{chosen['held_out']:,}"
    key = "data.sides" if chosen["held_out"] else "data.sides.none"
    lines = [say(key, rows=rows, held=held, origin=chosen["origin"])]
    lines += [
        say(
            "data.mixed",
            name=other["path"].rsplit("/", 1)[-1],
            usable=f"{other['usable']:,}",
            rows=f"{other['rows']:,}",
        )
        for other in chosen["mixed"]
    ]
    return "".join(f"<p class='muted'>{html.text(line)}</p>" for line in lines)


def _notes(warnings: list[dict[str, Any]]) -> str:
    notes = "".join(f"<li>{html.text(item['message'])}</li>" for item in warnings)
    return f"<ul class='muted'>{notes}</ul>" if notes else ""
