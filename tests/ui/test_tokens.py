"""A row token by token: colours, ends of turns, what is cut off, and the warnings about it."""

from __future__ import annotations

from typing import Any

from ftui.ui.tokens import PIECES, notice, tokens

EVIL = "<script>alert(1)</script>\"'><img src=x>"


def piece(text: str, learned: bool = False, **more: Any) -> dict[str, Any]:
    return {"text": text, "learned": learned, "tokens": 1} | more


def test_each_token_is_marked_and_the_legend_names_what_occurs() -> None:
    shown = tokens(
        [piece("Wie"), piece(" lange"), piece("?\n\n"), piece("多", True), piece("息", True, tokens=3)]
    )
    assert "<span>Wie</span><span><i class=sp> </i>lange</span>" in shown
    assert "<span>?<i class=nl></i><i class=nl></i></span>\n\n" in shown
    assert '<mark class="learned">多</mark>' in shown and 'title="3 tokens for one sign">息</mark>' in shown
    assert "learned · 4" in shown and "read only · 3" in shown
    assert "end of turn" not in shown and "cut off" not in shown.lower()
    assert "read only" not in tokens([piece("a", True)]) and "learned ·" not in tokens([piece("a")])


def test_ends_of_turns_say_whether_they_are_learned() -> None:
    end = "<|im_end|>"
    asked = [piece("Wie?"), piece(end, end=True), piece("\n")]
    well = tokens([*asked, piece("So.", True), piece(end, True, end=True)])
    assert '<span class="end" title="end of turn · not learned">&lt;|im_end|&gt;</span>' in well
    assert '<mark class="learned end" title="end of turn · learned">&lt;|im_end|&gt;</mark>' in well
    assert "missed" not in well
    ill = tokens([*asked, piece("So.", True), piece("\n"), piece(end, end=True), *asked])
    assert ill.count('class="end missed" title="end of turn · not learned"') == 1
    assert '<span class="missed">' in ill


def test_what_is_cut_off_is_struck_out_and_bounded() -> None:
    shown = tokens([piece("Ja", True), piece(" und\nweiter", cut=True, tokens=0)])
    assert "<i class=sp> </i>und<i class=nl></i>\nweiter</s>" in shown and "cut off" in shown
    huge = tokens([piece("Ja", True), piece("x" * 100_000, cut=True, tokens=0)])
    assert len(huge) < 5_000 and "… 98,800 more characters" in huge


def test_of_a_huge_row_the_first_tokens_are_drawn() -> None:
    row = [*(piece(" w", n % 2 > 0) for n in range(PIECES + 5_000)), piece("fort", cut=True, tokens=0)]
    shown = tokens(row)
    assert shown.count("<i class=sp>") == PIECES and "… 5,000 more tokens" in shown and "fort</s>" in shown
    assert "learned · 4,500" in shown
    assert len(tokens([piece("y" * 100_000, True), piece("\n" * 100_000)])) < 50_000


def test_nothing_of_it_is_a_tag() -> None:
    shown = tokens([piece(EVIL), piece(EVIL, True, end=True), piece(EVIL, cut=True)])
    shown += notice([{"code": "x", "title": EVIL, "message": EVIL, "fix": EVIL}])
    assert "<script" not in shown and "<img" not in shown and "&quot;&#x27;&gt;" in shown


def test_an_empty_row_says_so_and_no_warning_is_nothing() -> None:
    assert "This row has no tokens." in tokens([])
    assert notice([]) == ""
    shown = notice([{"code": "x", "title": "No end.", "message": "It will not stop.", "fix": ""}])
    assert '<li class="warning">' in shown and "It will not stop." in shown
