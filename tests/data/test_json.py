"""JSON in all its shapes, whole and damaged."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import Options, inspect, load
from ftui.errors import DataError

Write = Callable[..., Path]
ROWS = [{"prompt": f"question {n}", "completion": f"answer {n}"} for n in range(1, 6)]


def dropped(path: Path) -> list[tuple[int, str]]:
    return [(row["row"], row["reason"]) for row in inspect(path).dropped]


def test_truncated_array_loses_its_last_row_alone(write: Write) -> None:
    path = write("a.json", json.dumps(ROWS)[:-12])
    report = inspect(path)
    assert (report.rows, report.usable) == (5, 4)
    assert dropped(path) == [(5, "malformed_json")]


def test_array_without_its_last_bracket_is_whole(write: Write) -> None:
    report = inspect(write("a.json", json.dumps(ROWS)[:-1]))
    assert (report.rows, report.usable) == (5, 5)


def test_trailing_comma_of_an_array_is_no_row(write: Write) -> None:
    report = inspect(write("a.json", json.dumps(ROWS)[:-1] + ",\n]"))
    assert (report.rows, report.usable) == (5, 5)


def test_lines_that_end_in_commas_are_rows(write: Write) -> None:
    report = inspect(write("a.jsonl", "".join(json.dumps(row) + ",\n" for row in ROWS)))
    assert (report.rows, report.usable) == (5, 5)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("end", ["]", '], "version": 3}'])
def test_damaged_element_costs_one_row_of_an_array(write: Write, indent: int | None, end: str) -> None:
    text = json.dumps(ROWS, indent=indent).replace('"answer 2"', '"answer " 2"')
    path = write("a.json", ('{"rows": ' if end != "]" else "") + text[:-1] + end)
    report = inspect(path)
    assert (report.rows, report.usable) == (5, 4)
    assert dropped(path) == [(2, "malformed_json")]


def test_damage_within_turns_makes_no_rows_of_the_turns(write: Write) -> None:
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    text = json.dumps([{"messages": talk}] * 3, indent=1)
    place = text.index('"b"', text.index('"b"') + 1)
    path = write("a.json", text[:place] + "b" + text[place + 3 :])
    assert dropped(path) == [(2, "malformed_json")]
    assert inspect(path).rows == 3


def test_damaged_first_line_does_not_hide_the_lines(write: Write) -> None:
    path = write("a.jsonl", '{"prompt": "cut off\n' + "".join(json.dumps(row) + "\n" for row in ROWS))
    assert dropped(path) == [(1, "malformed_json")]
    assert inspect(path).usable == 5


def test_row_numbers_skip_blank_lines_and_lines_do_not(write: Write) -> None:
    first, second = (json.dumps(row) for row in ROWS[:2])
    report = inspect(write("a.jsonl", f"\n{first}\n\n{{broken\n{second}\n"))
    assert report.dropped[0]["row"] == 2
    assert report.dropped[0]["line"] == 4


def test_mixed_line_ends_are_line_ends(write: Write) -> None:
    lines = [json.dumps(row) for row in ROWS]
    report = inspect(write("a.jsonl", f"{lines[0]}\r\n{lines[1]}\n{lines[2]}\r{lines[3]}\r\n\r\n{lines[4]}"))
    assert (report.rows, report.usable) == (5, 5)


def test_deep_nesting_is_a_malformed_row(write: Write) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    path = write("a.jsonl", f'{{"prompt": "a", "completion": {deep}}}\n' + json.dumps(ROWS[0]) + "\n")
    assert dropped(path) == [(1, "malformed_json")]
    path = write("b.json", f'[{{"prompt": "a", "completion": {deep}}}, {json.dumps(ROWS[0])}]')
    assert dropped(path) == [(1, "malformed_json")]


def test_nesting_within_tools_is_bounded(write: Write) -> None:
    deep = '{"a":' * 200 + "1" + "}" * 200
    row = f'{{"prompt": "a", "completion": "b", "tools": [{{"name": "t", "parameters": {deep}}}]}}\n'
    assert dropped(write("a.jsonl", row + json.dumps(ROWS[0]) + "\n")) == [(1, "malformed_json")]


def test_only_damaged_lines_say_what_is_wrong(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.jsonl", "{'prompt': 'a', 'completion': }\n" * 3))
    assert caught.value.code == "no_usable_rows"
    assert "malformed_json" in caught.value.message and "Row 1" in caught.value.message


@pytest.mark.parametrize("text", ["[]", "[ ]\n", '{"data": []}'])
def test_no_rows_at_all_is_an_error(write: Write, text: str) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.json", text))
    assert caught.value.code in ("no_usable_rows", "unknown_schema")


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\ufeff", "\ufeff\n"])
def test_blank_file_is_empty(write: Write, text: str) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.json", text))
    assert caught.value.code == "empty_file"


def test_half_a_surrogate_pair_is_replaced_and_said(write: Write) -> None:
    report = inspect(write("a.jsonl", '{"prompt": "a \\ud83d", "completion": "b \\ud83d\\ude00"}\n'))
    messages = report.sample[0]["messages"]
    assert [message["content"] for message in messages] == ["a \ufffd", "b 😀"]
    assert [warning["code"] for warning in report.warnings] == ["encoding_fallback"]
    json.dumps(report.to_json(), ensure_ascii=False).encode()


def test_numbers_of_any_length_become_text(write: Write) -> None:
    report = inspect(write("a.jsonl", '{"prompt": 12345678901234567890123, "completion": 1.50}\n'))
    assert report.sample[0]["messages"][0]["content"] == "12345678901234567890123"
    assert report.warnings[0]["rows"] == [1]


def test_infinity_teaches_nothing(write: Write) -> None:
    path = write("a.jsonl", '{"prompt": "a", "completion": Infinity}\n' + json.dumps(ROWS[0]) + "\n")
    assert dropped(path) == [(1, "empty_target")]


def test_text_stays_as_it_is(write: Write) -> None:
    text = "  a\n\n\tb\u00a0\r\n "
    report = inspect(write("a.jsonl", [{"prompt": text, "completion": text}]))
    assert {message["content"] for message in report.sample[0]["messages"]} == {text}


def test_damaged_gzip_is_told_as_such(write: Write) -> None:
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS * 200).encode())
    with pytest.raises(DataError) as caught:
        inspect(write("a.jsonl.gz", packed[:-40]))
    assert caught.value.code == "not_text"
    assert "gzip" in caught.value.message


def test_array_beyond_one_window_is_read_whole(write: Write) -> None:
    rows = [{"prompt": f"{n}", "completion": "x" * 3000} for n in range(1000)]
    loaded = load(write("a.json", json.dumps(rows)))
    assert [row.number for row in loaded.splits["train"]] == list(range(1, 1001))
    assert loaded.splits["train"][-1].value["messages"][0]["content"] == "999"


def test_row_longer_than_a_window_is_read(write: Write) -> None:
    row = {"prompt": "a", "completion": "x" * 3_000_000}
    for name, text in (
        ("a.jsonl", json.dumps(row) + "\n" + json.dumps(ROWS[0])),
        ("b.json", json.dumps([row])),
    ):
        assert len(inspect(write(name, text)).sample[0]["messages"][1]["content"]) == 3_000_000


def test_first_rows_come_without_reading_the_rest(write: Write) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    report = inspect(write("a.jsonl", lines + "{broken\n" * 5), Options(max_rows=3))
    assert (report.rows, report.usable, report.dropped) == (3, 3, [])


def test_report_stays_small_with_many_damaged_rows(write: Write) -> None:
    report = inspect(write("a.jsonl", json.dumps(ROWS[0]) + "\n" + "{broken\n" * 12_000))
    assert (report.rows, report.usable, report.counts["malformed_json"]) == (12_001, 1, 12_000)
    assert len(report.dropped) == 10_000


def test_late_column_is_found_where_the_first_rows_lack_it(write: Write) -> None:
    tool = [{"name": "t", "parameters": {}}]
    rows = [{"prompt": str(n), "completion": "b"} for n in range(600)]
    loaded = load(write("a.jsonl", [*rows, {"prompt": "a", "completion": "b", "tools": tool}]))
    assert loaded.splits["train"][-1].value["tools"] == [{"type": "function", "function": tool[0]}]
    assert loaded.report.columns == ["prompt", "completion", "tools"]
