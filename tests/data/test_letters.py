"""A few letters beyond ASCII among many that are not: the encoding is found all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import inspect

Write = Callable[..., Path]


@pytest.mark.parametrize("others", [0, 2, 20])
@pytest.mark.parametrize(
    ("word", "encoding"),
    [
        ("Köln", "cp1252"),
        ("It’s fine", "cp1252"),
        ("1.234,56 €", "cp1252"),
        ("mañana", "cp1252"),
        ("Größe", "cp1252"),
        ("苹果", "gb18030"),
        ("北京大学", "gb18030"),
        ("你叫什么名字？", "gb18030"),
        ("蘋果", "big5"),
        ("北京大學", "big5"),
        ("Привет", "cp1251"),
    ],
)
def test_one_word_is_enough(write: Write, word: str, encoding: str, others: int) -> None:
    rows = "".join(
        f'{{"question": "What is {number}?", "answer": "It is {number}."}}\n' for number in range(others)
    )
    text = rows + f'{{"question": "Word {word}?", "answer": "{word}"}}\n'
    report = inspect(write("a.jsonl", text, encoding), sample=100)
    assert report.sample[-1]["messages"][-1]["content"] == word
