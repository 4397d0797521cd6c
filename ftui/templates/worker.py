"""The process that tokenises for the page: `python -m ftui.templates.worker`, spoken to through `service`.

It keeps tokenizers warm, so that the second preview is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from ftui.service import serve
from ftui.settings import DataSettings

Answering = Generator[dict[str, Any], None, dict[str, Any]]
_tokenizers: dict[str, Any] = {}


def _tokenizer(model: str) -> Any:
    from ftui.models.load import load_tokenizer

    if model not in _tokenizers:
        _tokenizers[model] = load_tokenizer(Path(model))
    return _tokenizers[model]


def account(model: str, data: dict[str, Any], stopped: Callable[[], bool]) -> Answering:
    """Count what is kept, cut and dropped of the rows that would train, with the lengths of all.

    model: folder of the tokenizer. data: the fields of DataSettings.
    """
    from ftui.templates.prepare import prepare
    from ftui.templates.rows import choose

    settings = DataSettings.model_validate(data)
    yield {"doing": "load the tokenizer"}
    tokenizer = _tokenizer(model)
    chosen = choose(settings)
    prepared = prepare(tokenizer, chosen.train, settings)
    held = prepare(tokenizer, chosen.validation, settings)
    return {
        "train": prepared.account(),
        "held_out": held.account() | {"origin": chosen.origin},
        "lengths": dict(list(prepared.lengths.items())[:200_000]),
        "dropped": prepared.dropped[:1000],
    }


def preview(
    model: str, rows: list[dict[str, Any]], data: dict[str, Any], stopped: Callable[[], bool]
) -> Answering:
    """Rows as the model sees them: for each its pieces of text with whether they are learned.

    rows: {number, value} with a canonical value.
    """
    from ftui.data import Row
    from ftui.templates.prepare import prepare

    settings = DataSettings.model_validate(data)
    yield {"doing": "load the tokenizer"}
    tokenizer = _tokenizer(model)
    prepared = prepare(tokenizer, [Row(row["number"], row["value"]) for row in rows], settings)
    return {
        "rows": [
            {"number": row.number, "pieces": pieces(row), "tokens": len(row.ids), "length": row.length}
            for row in prepared.rows
        ],
        "dropped": prepared.dropped,
    }


def pieces(row: Any) -> list[dict[str, Any]]:
    """A tokenised row as text: `{"text", "learned", "tokens"}`, one piece a token.

    Tokens that share a character (a rare sign split into bytes) are one piece.
    """
    found: list[dict[str, Any]] = []
    last = None
    for (start, end), learned in zip(row.spans, row.learned, strict=True):
        if found and (start, end) == last and end > start:
            found[-1]["tokens"] += 1
            continue
        last = (start, end)
        found.append({"text": row.text[start:end], "learned": bool(learned), "tokens": 1})
    kept = max((end for _, end in row.spans), default=0)
    if kept < len(row.text):
        found.append({"text": row.text[kept:], "learned": False, "tokens": 0, "cut": True})
    return found


def main() -> None:
    """Answer `account` and `preview` until the input closes."""
    serve({"account": account, "preview": preview})


if __name__ == "__main__":
    main()
