"""A row as a conversation: each kind of row, nothing of it a tag, and of a bounded size."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ftui.ui import talk

EVIL = "<script>alert(1)</script>\"><img src=x onerror='alert(1)'>"
TALK = [
    {"role": "system", "content": "Antworte kurz."},
    {"role": "user", "content": "感冒了应该注意什么？"},
    {"role": "assistant", "reasoning_content": "Erkältung: Ruhe.\n", "content": "  1. 多休息\n  2. 多喝水"},
]


def calling(arguments: Any) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}


def opened(shown: str) -> str:
    """What stands on the page before anything is clicked."""
    while "<details" in shown:
        shown = re.sub(r"<details[^>]*>((?!<details).)*?</details>", "", shown, count=1, flags=re.DOTALL)
    return shown


def test_a_talk_shows_its_turns_in_order_with_white_space_and_the_thought_folded() -> None:
    shown = talk.bubbles({"messages": TALK})
    places = [shown.index(part) for part in ('"turn system"', '"turn user"', '"turn assistant"')]
    assert places == sorted(places)
    assert "  1. 多休息\n  2. 多喝水" in shown
    assert "Thought · 17 characters" in shown
    assert "Erkältung" in shown and "Erkältung" not in opened(shown)


def test_calls_results_and_offered_tools() -> None:
    tool = {
        "type": "function",
        "function": {"name": "get_weather", "description": "Das Wetter", "parameters": {}},
    }
    shown = talk.bubbles(
        {
            "messages": [
                {"role": "user", "content": "Wetter?"},
                calling({"city": "Köln"}),
                {"role": "tool", "name": "get_weather", "content": '{"temp": 3}'},
            ],
            "tools": [tool],
        }
    )
    assert "1 tool offered" in shown and "Das Wetter" in shown and "Das Wetter" not in opened(shown)
    assert "{&quot;city&quot;: &quot;Köln&quot;}" in opened(shown)
    assert "tool result · get_weather" in shown and "(empty)" not in shown
    long = talk.bubbles({"messages": [calling({f"field {n}": "wert" for n in range(60)})]})
    assert "field 59" in long and "field 59" not in opened(long)


def test_a_pair_stands_side_by_side_and_a_judged_answer_says_how() -> None:
    answer = [{"role": "assistant", "content": "Ja."}]
    pair = talk.bubbles({"prompt": TALK[:2], "chosen": answer, "rejected": []})
    assert pair.index("感冒") < pair.index('"side kept"') < pair.index('"side dropped"')
    assert ">chosen<" in pair and ">rejected<" in pair and "(empty)" in pair
    good = talk.bubbles({"prompt": TALK[:2], "completion": answer, "label": True})
    bad = talk.bubbles({"prompt": TALK[:2], "completion": answer, "label": False})
    assert '"side kept"' in good and ">wanted<" in good
    assert '"side dropped"' in bad and ">unwanted<" in bad


def test_plain_text_and_rows_of_nothing() -> None:
    shown = talk.bubbles({"text": "Es war einmal\n\tein Leuchtturm."})
    assert '"turn plain"' in shown and "einmal\n\tein" in shown
    for nothing in ({}, {"text": " "}, {"messages": []}, {"messages": None, "tools": None}):
        assert "There is nothing in this row." in talk.bubbles(nothing)
    assert "(empty)" in talk.bubbles({"messages": [{"role": "assistant", "content": None}]})


@pytest.mark.parametrize(
    "row",
    [
        {"text": EVIL},
        {"messages": [{"role": EVIL, "content": EVIL, "reasoning_content": EVIL}]},
        {"messages": [{"role": "tool", "name": EVIL, "content": [{"type": "text", "text": EVIL}]}]},
        {
            "messages": [calling({EVIL: EVIL})],
            "tools": [{"name": EVIL, "description": EVIL, "parameters": {EVIL: 1}}],
        },
        {"messages": [calling(EVIL)], "tools": [{"type": "function", "function": {"name": EVIL}}]},
        {"prompt": [], "chosen": [{"role": "assistant", "content": EVIL}], "rejected": None},
        {
            "prompt": [{"role": "user", "content": EVIL}],
            "completion": [{"role": EVIL, "content": ""}],
            "label": 1,
        },
    ],
)
def test_what_a_row_holds_is_never_a_tag_nor_ends_an_attribute(row: dict[str, Any]) -> None:
    shown = talk.bubbles(row)
    assert "<script" not in shown and "<img" not in shown and '"><' not in re.sub(r"<[^<>]*>", "", shown)
    assert "&lt;script&gt;" in shown
    assert shown.count("<div") == shown.count("</div>") and shown.count("<details") == shown.count(
        "</details>"
    )


def test_a_long_text_is_folded_at_a_gap_and_stays_whole() -> None:
    written = "Die Wärmepumpe entzieht der Luft Energie. " * 60
    shown = talk.bubbles({"text": written})
    parts = re.findall(r'<div class="said" dir="auto">(.*?)</div>', shown, flags=re.DOTALL)
    assert "".join(parts) == written
    assert talk.OPEN - talk.SLACK <= len(parts[0]) <= talk.OPEN and parts[0].endswith(" ")
    assert f"… {len(parts[1]):,} more characters" in shown and parts[1] not in opened(shown)
    assert "<details" not in talk.bubbles({"text": "ä" * (talk.OPEN + talk.SLACK)})


@pytest.mark.parametrize(
    "row",
    [
        {"text": "字" * 100_000},
        {"messages": [{"role": "user", "content": "word " * 20_000, "reasoning_content": "x" * 100_000}]},
        {"messages": [{"role": "user", "content": "lang " * 4_000}] * 3_000},
        {"messages": [calling({"note": "y" * 100_000})]},
        {"messages": TALK, "tools": [{"name": "n" * 9_000, "parameters": {"z": "z" * 9_000}}] * 900},
        {"messages": [{"role": "assistant", "content": "", "tool_calls": calling("a" * 9_000)["tool_calls"] * 900}]},
        {"prompt": TALK, "chosen": [{"role": "assistant", "content": "z" * 100_000}], "rejected": []},
    ],
)  # fmt: skip
def test_a_huge_row_is_drawn_in_part_and_says_how_much_more_there_is(row: dict[str, Any]) -> None:
    shown = talk.bubbles(row)
    assert len(shown) < 250_000
    assert re.search(r"… [\d,]+ more", shown)
