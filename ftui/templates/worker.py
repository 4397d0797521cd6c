"""The process that tokenises for the page: `python -m ftui.templates.worker`, spoken to through `service`.

It keeps tokenizers warm, so that the second preview is quick, and shows rows while a large set is counted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ftui.service import Answering, Event, progressing, serve
from ftui.settings import DataSettings

# Lengths are told for as many rows as a table shows.
_LENGTHS = 1_000
_named: dict[str, Any] = {}
_loading = threading.Lock()


def _tokens(model: str, settings: DataSettings, trust: bool) -> Any:
    """The model's tokenizer with the settings' template; kept warm while its files stay as they are."""
    from ftui.templates.build import Tokens, tokenizer_files

    stamp = [(path.name, path.stat().st_mtime_ns) for path in tokenizer_files(Path(model))]
    key = repr((model, settings.template, settings.system_role, settings.learn, trust, stamp))
    with _loading:
        if key not in _named:
            _named[key] = Tokens(Path(model), settings, trust)
    return _named[key].of(settings)


def account(
    model: str, data: dict[str, Any], batch: int, trust: bool, stopped: Callable[[], bool]
) -> Answering:
    """Count what is kept, cut and dropped of the rows that would train, with lengths, padding and advice.

    `whole` is the set as its report counts it, `train` and `held_out` are the two sides.

    model: folder of the tokenizer. data: the fields of DataSettings. batch: rows that are computed at once.
    trust: whether the model's own code may run.
    Tells {done_bytes, total_bytes, rows} on the way.
    """
    yield {"doing": "load the tokenizer"}

    def work(told: Callable[[int, int, int], None]) -> Event:
        from ftui.templates.fate import padding
        from ftui.templates.selection import select, whole

        settings = DataSettings.model_validate(data)
        tokens = _tokens(model, settings, trust)
        chosen, train, held = select(tokens, told)
        rows = whole(tokens, chosen)
        counted = rows.account()
        return {
            "whole": counted,
            "train": train.account(),
            "held_out": held.account() | {"origin": chosen.origin},
            "lengths": rows.parts[0].store.longest(_LENGTHS),
            "dropped": rows.dropped,
            "padding": padding(train.lengths, batch, settings.max_length, settings.split_seed),
            "advice": [asdict(found) for found in tokens.advice(chosen.looks[0], counted["dropped"])],
        }

    return (yield from progressing(work, stopped))


def preview(
    model: str, rows: list[dict[str, Any]], data: dict[str, Any], trust: bool, stopped: Callable[[], bool]
) -> Answering:
    """Rows as the model sees them: for each passage its pieces of text with whether they are learned.

    rows: {number, value} with a canonical value.
    """
    from ftui.data import Row
    from ftui.templates.prepare import prepare

    settings = DataSettings.model_validate(data)
    yield {"doing": "load the tokenizer"}
    tokens = _tokens(model, settings, trust)
    prepared = prepare(tokens.tokenizer, [Row(row["number"], row["value"]) for row in rows], settings)
    return {
        "rows": [
            {
                "number": row.number,
                "name": row.name,
                "pieces": pieces(row, tokens.end),
                "tokens": len(row.ids),
                "length": row.length,
            }
            for row in prepared.rows
        ],
        "dropped": prepared.dropped,
    }


def pieces(row: Any, end: str) -> list[dict[str, Any]]:
    """A tokenised row as text: `{"text", "learned", "tokens", "end"?, "cut"?}`, one piece a token.

    Tokens that share a character (a rare sign split into bytes) are one piece. end: the token that ends a turn.
    """
    found: list[dict[str, Any]] = []
    last = None
    for (start, stop), learned in zip(row.spans, row.learned, strict=True):
        if found and (start, stop) == last and stop > start:
            found[-1]["tokens"] += 1
            continue
        last = (start, stop)
        piece = {"text": row.text[start:stop], "learned": bool(learned), "tokens": 1}
        found.append(piece | ({"end": True} if end and piece["text"].strip() == end else {}))
    kept = max((stop for _, stop in row.spans), default=0)
    if kept < len(row.text):
        found.append({"text": row.text[kept:], "learned": False, "tokens": 0, "cut": True})
    return found


def main() -> None:
    """Answer `account` and `preview` until the input closes."""
    serve({"account": account, "preview": preview}, together=True)


if __name__ == "__main__":
    main()
