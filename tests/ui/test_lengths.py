"""The histogram of lengths and the figures of an epoch."""

from __future__ import annotations

import re

from ftui.ui import lengths

BINS = [(1, 32, 40), (33, 64, 120), (65, 96, 0), (97, 128, 7), (129, 160, 1)]


def bars(shown: str) -> list[tuple[str, float, float, float]]:
    """Class, left, width and height of each bar."""
    found = re.findall(
        r'<rect class="(\w+)" x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%" height="([\d.]+)"', shown
    )
    return [(kind, float(left), float(width), float(height)) for kind, left, width, height in found]


def line(shown: str) -> float:
    return float(re.search(r'<line class="limit[^"]*" x1="([\d.]+)%"', shown).group(1))  # type: ignore[union-attr]


def test_bars_are_green_up_to_the_limit_and_amber_beyond() -> None:
    shown = lengths.histogram(BINS, 96, 8, 3)
    assert [kind for kind, *_ in bars(shown)] == ["kept", "kept", "cut", "cut"]
    assert max(bars(shown), key=lambda bar: bar[3])[1] == 20.0
    assert min(bar[3] for bar in bars(shown)) == 2.0
    assert line(shown) == 60.0 and ">cut at 96<" in shown
    assert (
        "<title>120 rows of 33–64 tokens</title>" in shown
        and "<title>1 row of 129–160 tokens</title>" in shown
    )
    assert "8 of 168 rows are cut; 3 lose all of their answer." in shown


def test_a_limit_inside_a_bar_parts_it_there() -> None:
    shown = lengths.histogram(BINS, 112, 4, 0)
    (_, left, width, _), (kind, second, *_) = bars(shown)[2:4]
    assert line(shown) == second == left + width == 70.0 and kind == "cut"
    assert "4 of 168 rows are cut." in shown
    whole = lengths.histogram(BINS, 150, 0, 0)
    assert {kind for kind, *_ in bars(whole)} == {"kept"} and "All rows fit." in whole


def test_a_limit_beyond_all_rows_stands_at_the_right_edge() -> None:
    for limit in (160, 2048):
        shown = lengths.histogram(BINS, limit, 0, 0)
        assert line(shown) == 100.0 and ">nothing is cut<" in shown and "cut at" not in shown
        assert "All rows fit." in shown


def test_one_row_and_one_bar() -> None:
    shown = lengths.histogram([(7, 7, 1)], 4, 1, 1)
    assert [kind for kind, *_ in bars(shown)] == ["kept", "cut"] or bars(shown)[0][0] == "cut"
    assert "1 row of 7 tokens" in shown
    assert "1 of 1 row is cut; 1 loses all of its answer." in shown
    assert "3 of 5 rows lose all of their answer." in lengths.histogram([(1, 9, 5)], 4, 0, 3)
    lengths.histogram([(0, 0, 3)], 0, 0, 0)


def test_without_rows_it_says_what_will_stand_here() -> None:
    for bins in ([], [(1, 32, 0)]):
        shown = lengths.histogram(bins, 512, 0, 0)
        assert "No lengths yet" in shown and "<svg" not in shown


def test_numbers_below_are_few_and_powers_of_two_apart() -> None:
    for end in (5, 97, 704, 2_049, 100_000, 9_999_999):
        shown = lengths.histogram([(1, end, 12)], 0, 0, 0)
        numbers = [int(found.replace(",", "")) for found in re.findall(r'text-anchor="\w+">([\d,]+)<', shown)]
        assert 3 <= len(numbers) <= lengths.TICKS + 1 and numbers[0] == 0 and numbers[-1] <= end
        step = numbers[1]
        assert step & (step - 1) == 0 and numbers == list(range(0, numbers[-1] + 1, step))
        assert 'class="limit' not in shown


def test_many_bars_become_few_and_no_row_is_lost() -> None:
    shown = lengths.histogram([(n, n, 2) for n in range(1, 5_001)], 512, 9, 0)
    assert len(bars(shown)) <= lengths.BARS + 1
    counts = [int(count) for count in re.findall(r"<td>(\d+)</td></tr>", shown)]
    assert sum(counts) == 10_000 and len(shown) < 60_000


def test_those_who_hear_the_page_get_the_sentence_and_a_table() -> None:
    shown = lengths.histogram(BINS, 96, 8, 0)
    assert 'role="img" aria-label="8 of 168 rows are cut."' in shown
    assert '<table class="unseen">' in shown and "<td>33–64</td><td>120</td>" in shown
    assert "preserveAspectRatio" not in shown and "viewBox" not in shown


def test_an_epoch_in_figures_and_its_padding_compared() -> None:
    figures = {
        "steps": 151, "rows": 1204, "tokens": 128_000, "learned_tokens": 48_000, "batch": 8,
        "padding_random": 0.45, "padding_grouped": 0.12, "padding_packed": 0.002, "using": "grouped",
    }  # fmt: skip
    shown = lengths.epoch(figures)
    for part in (
        "<b>151</b><span>steps of 8 rows",
        "<b>128,000</b><span>tokens, 38 % of them learned",
        "<b>1,204</b>",
    ):
        assert part in shown
    assert re.findall(r"<b>([\d.]+ %)</b>", shown) == ["45 %", "12 %", "0.2 %"]
    assert shown.count("in use") == 1 and "class=used><span>in batches of like length" in shown


def test_an_epoch_of_which_little_is_known() -> None:
    assert "Not counted yet." in lengths.epoch({})
    shown = lengths.epoch(
        {"steps": None, "rows": 3, "tokens": 0, "learned_tokens": 0, "padding_random": None}
    )
    assert "steps" not in shown and "padding" not in shown and "<b>3</b>" in shown
