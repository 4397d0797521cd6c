"""CSV and its kin, spreadsheets and Parquet."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.data.report import Report
from ftui.errors import DataError

Write = Callable[..., Path]


def texts(report: Report) -> list[list[str]]:
    return [[message["content"] for message in row["messages"]] for row in report.sample]


def dropped(report: Report) -> list[tuple[int, str]]:
    return [(row["row"], row["reason"]) for row in report.dropped]


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, 1):
        page = book.create_sheet(f"Sheet {number}")
        for row in rows:
            page.append(row)
    book.save(path)
    return path


def test_tabs_behind_a_byte_order_mark(write: Write) -> None:
    report = inspect(write("a.csv", "\ufeffprompt\tresponse\r\na, b\tc\r\n"))
    assert (report.file_format, report.columns, texts(report)) == (
        "tsv",
        ["prompt", "response"],
        [["a, b", "c"]],
    )


def test_single_column_needs_no_quotes(write: Write) -> None:
    report = inspect(write("a.csv", 'text\nOne, two, three.\n"Four, five"\n'))
    assert [row["text"] for row in report.sample] == ["One, two, three.", "Four, five"]


def test_header_alone_has_no_rows(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.csv", "prompt,completion\n"))
    assert caught.value.code == "no_usable_rows"


def test_short_row_is_ragged_and_surplus_empty_cells_are_not(write: Write) -> None:
    report = inspect(write("a.csv", "prompt,completion\na\nb,c,,\nd,e\n"))
    assert dropped(report) == [(1, "ragged_row")]
    assert report.usable == 2


def test_quote_that_is_never_closed_costs_one_row(write: Write) -> None:
    report = inspect(write("a.csv", 'prompt,completion\na,"never closed\nb,c\nd,e\n'))
    assert dropped(report) == [(1, "ragged_row")]
    assert "quote" in report.dropped[0]["message"] and report.dropped[0]["line"] == 2
    assert texts(report) == [["b", "c"], ["d", "e"]]


def test_open_quote_does_not_reach_the_next_quoted_cell(write: Write) -> None:
    report = inspect(write("a.csv", 'prompt,completion\na,"open\nb,c\n"d, e",f\n'))
    assert dropped(report) == [(1, "ragged_row")]
    assert texts(report) == [["b", "c"], ["d, e", "f"]]


def test_quotes_within_a_cell_are_text(write: Write) -> None:
    report = inspect(write("a.csv", 'prompt,completion\nA 5" pipe,yes\nHe said "no",why\n'))
    assert texts(report) == [['A 5" pipe', "yes"], ['He said "no"', "why"]]


def test_line_ends_within_cells_stay_as_they_are(write: Write) -> None:
    report = inspect(write("a.csv", 'prompt,completion\r\n"a\nb","c\r\nd"\r\n'))
    assert texts(report) == [["a\nb", "c\r\nd"]]


def test_repeated_columns_keep_the_first(write: Write) -> None:
    report = inspect(write("a.csv", "prompt,completion,prompt\na,b,c\n"))
    assert report.columns == ["prompt", "completion", "prompt 2"]
    assert texts(report) == [["a", "b"]]


def test_excel_separator_line_is_no_header(write: Write) -> None:
    report = inspect(write("a.csv", "sep=;\nprompt;completion\na;b\n"))
    assert (report.columns, texts(report)) == (["prompt", "completion"], [["a", "b"]])


def test_cell_beyond_the_usual_limit_is_read(write: Write) -> None:
    report = inspect(write("a.csv", f'prompt,completion\na,"{"x" * 400_000}"\n'))
    assert len(texts(report)[0][1]) == 400_000


def test_python_list_in_a_cell_is_read(write: Write) -> None:
    cell = "[{'role': 'user', 'content': \"it's\"}, {'role': 'assistant', 'content': 'fine'}]"
    report = inspect(write("a.csv", 'messages\n"' + cell.replace('"', '""') + '"\n'))
    assert (report.schema, texts(report)) == ("messages", [["it's", "fine"]])


def test_broken_json_in_a_cell_is_malformed(write: Write) -> None:
    good = json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]).replace(
        '"', '""'
    )
    report = inspect(write("a.csv", f'id,messages\n1,"{good}"\n2,"{good[:-8]}"\n'))
    assert dropped(report) == [(2, "malformed_json")]


def test_prose_with_commas_is_no_table(write: Write) -> None:
    report = inspect(write("a.txt", "Hello, world\nGood, better\nOne, two\n"))
    assert (report.schema, report.rows) == ("text", 3)


def test_csv_behind_a_json_ending_is_a_table(write: Write) -> None:
    assert inspect(write("a.json", "question,answer\na,b\n")).file_format == "csv"


def test_chinese_columns_in_their_own_encoding(write: Write) -> None:
    text = "问题,答案\n感冒了应该注意什么？,多休息，多喝水，必要时就医。\n什么是高血压？,血压持续偏高的慢性病。\n"
    report = inspect(write("a.csv", text, "gb18030"))
    assert report.encoding == "gb18030"
    assert texts(report)[0] == ["感冒了应该注意什么？", "多休息，多喝水，必要时就医。"]
    assert "encoding_fallback" in {warning["code"] for warning in report.warnings}


def test_german_columns_are_mapped_by_the_person(write: Write) -> None:
    path = write("a.csv", "Frage;Antwort\nWie heißt die größte Stadt?;Köln ist es nicht\n", "cp1252")
    report = inspect(path, Options(mapping={"prompt": "frage", "response": "antwort"}))
    assert report.encoding == "cp1252"
    assert texts(report) == [["Wie heißt die größte Stadt?", "Köln ist es nicht"]]


def test_numbers_and_dates_of_a_spreadsheet_become_text(tmp_path: Path) -> None:
    rows = [
        ["question", "answer"],
        ["When?", datetime.datetime(2024, 2, 29)],
        [None, None],
        ["How many?", 5.0],
        ["True?", True],
        ["Half?", 0.5],
        ["Nothing?", None],
    ]
    report = inspect(workbook(tmp_path / "a.xlsx", rows))
    assert report.file_format == "xlsx"
    assert [answer for _, answer in texts(report)] == ["2024-02-29", "5", "true", "0.5"]
    assert dropped(report) == [(5, "empty_target")]
    assert report.dropped[0]["line"] == 7
    assert report.warnings == [
        {"code": "coerced_to_text", "message": report.warnings[0]["message"], "rows": [1, 2, 3, 4]}
    ]


def test_german_and_chinese_spreadsheets(tmp_path: Path) -> None:
    german = workbook(tmp_path / "de.xlsx", [["Frage", "Antwort"], ["Größte Stadt?", "Berlin"]])
    mapped = Options(mapping={"prompt": "Frage", "response": "Antwort"})
    assert texts(inspect(german, mapped)) == [["Größte Stadt?", "Berlin"]]
    with pytest.raises(DataError) as caught:
        inspect(german)
    assert caught.value.code == "unknown_schema" and "Antwort" in caught.value.message
    chinese = workbook(tmp_path / "zh.xlsx", [["问题", "回答"], ["感冒了？", "多喝水。"]])
    assert texts(inspect(chinese)) == [["感冒了？", "多喝水。"]]


def test_first_sheet_with_rows_is_read_and_others_are_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["question", "answer"], ["a", "b"]], [["notes"], ["x"]])
    report = inspect(path)
    assert report.usable == 1
    assert [(w["code"], "Sheet 2" in w["message"]) for w in report.warnings] == [("skipped_files", True)]


def test_spreadsheet_named_csv_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.csv", [["question", "answer"], ["a", "b"]])
    assert inspect(path).file_format == "xlsx"


def test_archive_is_not_unpacked(write: Write) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("train.csv", "question,answer\na,b\n")
    with pytest.raises(DataError) as caught:
        inspect(write("train.csv", packed.getvalue()))
    assert caught.value.code == "not_text" and "ZIP" in caught.value.message


def test_parquet_packed_and_damaged(tmp_path: Path, write: Write) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {"prompt": ["a", "b"], "completion": ["c", None], "when": [datetime.date(2024, 1, 2)] * 2}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    report = inspect(write("b.parquet.gz", gzip.compress(whole)))
    assert (report.file_format, report.usable, dropped(report)) == ("parquet.gz", 1, [(2, "empty_target")])
    with pytest.raises(DataError) as caught:
        inspect(write("c.parquet", whole[:-20]))
    assert caught.value.code == "not_text"


def test_arrow_as_datasets_saves_it(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.table({"text": ["One.", "Two."]})
    with pa.OSFile(str(tmp_path / "data.arrow"), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    report = inspect(tmp_path / "data.arrow")
    assert (report.file_format, report.schema, report.usable) == ("arrow", "text", 2)


BASE = "prompt,completion\nquestion 1,answer 1\nquestion 2,answer 2\n"


@pytest.mark.parametrize(
    "content",
    [
        "My export\nof January\n" + BASE,
        "My export,\n,\n" + BASE,
        "My export\n\n" + BASE,
        "My export\n" + BASE.replace(",", ";"),
        '\ufeff\ufeff"prompt","completion"\n"question 1","answer 1"\n"question 2","answer 2"\n',
        " prompt , completion \nquestion 1,answer 1\nquestion 2,answer 2\n",
        ",prompt,completion\n0,question 1,answer 1\n1,question 2,answer 2\n",
        "prompt,completion,,\nquestion 1,answer 1,,\nquestion 2,answer 2,,\n",
        '"sep=;"\n' + BASE.replace(",", ";"),
        "\ufeffsep=|\r\n" + BASE.replace(",", "|"),
        BASE.replace("\n", "\r"),
        BASE + "\x1a",
        "\n\n" + BASE.replace("\n", "\n\n"),
        'prompt, completion\n"question 1", "answer 1"\n"question 2", "answer 2"\n',
    ],
)
def test_header_is_found_wherever_programs_put_it(write: Write, content: str) -> None:
    report = inspect(write("a.csv", content))
    assert texts(report) == [["question 1", "answer 1"], ["question 2", "answer 2"]]
    assert report.rows == 2


def test_titles_above_unknown_columns_need_the_same_width_or_a_mapping(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.csv", "Export;;\n;;\nnr;frage;antwort\n1;Wer?;Ich\n"))
    assert caught.value.columns == ["nr", "frage", "antwort"]
    path = write("b.csv", "Export\nfrage;antwort\nWer?;Ich\n")
    assert texts(inspect(path, Options(mapping={"prompt": "frage", "response": "antwort"}))) == [
        ["Wer?", "Ich"]
    ]


def test_quotes_behind_a_backslash_and_behind_a_blank(write: Write) -> None:
    report = inspect(write("a.csv", 'prompt,completion\n"He said \\"yes\\", ok","a, b"\nx,y\n'))
    assert texts(report)[0] == ['He said "yes", ok', "a, b"]
    report = inspect(write("b.csv", 'prompt, completion\n"a, b", "c, d"\n"e", "f, g"\n'))
    assert texts(report) == [["a, b", "c, d"], ["e", "f, g"]]


def test_cell_that_a_program_wrote_for_no_value_is_empty(write: Write) -> None:
    report = inspect(write("a.csv", "prompt,completion\na,NaN\nb,\nc,  \nd,#N/A\ne,None\n"))
    assert dropped(report) == [(row, "empty_target") for row in (1, 2, 3, 4)]
    assert texts(report) == [["e", "None"]]


def test_zero_bytes_in_a_cell_stay(write: Write) -> None:
    assert texts(inspect(write("a.csv", BASE.replace("question 1", "que\0stion"))))[0][0] == "que\0stion"


def test_header_of_a_spreadsheet_may_stand_below_a_title_and_beside_empty_columns(tmp_path: Path) -> None:
    rows = [["My list"], [], [None, "question", "answer"], [None, "a", "b"], [None, "c", "#N/A"]]
    report = inspect(workbook(tmp_path / "a.xlsx", rows))
    assert texts(report) == [["a", "b"]]
    assert dropped(report) == [(2, "empty_target")]


def test_sheet_with_known_columns_goes_before_a_cover_and_hidden_ones(tmp_path: Path) -> None:
    from openpyxl import load_workbook

    head = ["question", "answer"]
    path = workbook(tmp_path / "a.xlsx", [head, ["x", "y"]], [["About"], ["this"]], [head, ["a", "b"]])
    book = load_workbook(path)
    book["Sheet 1"].sheet_state = "hidden"
    book.save(path)
    report = inspect(path)
    assert texts(report) == [["a", "b"]]
    assert all(name in report.warnings[0]["message"] for name in ("Sheet 1", "Sheet 2"))


def test_formula_that_was_never_computed_is_an_empty_cell(tmp_path: Path) -> None:
    report = inspect(workbook(tmp_path / "a.xlsx", [["question", "answer"], ["a", "b"], ["c", "=1+1"]]))
    assert dropped(report) == [(2, "empty_target")]


def test_office_files_of_other_kinds_are_named(write: Write) -> None:
    for name, word in (
        ("content.xml", "OpenDocument"),
        ("word/document.xml", "Word"),
        ("xl/workbook.bin", "xlsb"),
    ):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("mimetype", "x")
            archive.writestr(name, "x")
        with pytest.raises(DataError, match=word):
            inspect(write("a.xlsx", packed.getvalue()))


def test_columns_of_every_kind_in_parquet(tmp_path: Path) -> None:
    import decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {
        "dictionary": (pa.array(["b"]).dictionary_encode(), "b"),
        "large text": (pa.array(["b"], pa.large_string()), "b"),
        "nanoseconds": (pa.array([1704067200000000001], pa.timestamp("ns")), "2024-01-01"),
        "decimal": (pa.array([decimal.Decimal("1.50")]), "1.50"),
        "date": (pa.array([datetime.date(2024, 1, 2)]), "2024-01-02"),
    }
    for column, wanted in kinds.values():
        rest = {"input": pa.nulls(1), "more": pa.array([[{"t": 1, "m": ["k"]}]])}
        pq.write_table(pa.table({"prompt": ["a"], "completion": column} | rest), tmp_path / "a.parquet")
        assert texts(inspect(tmp_path / "a.parquet")) == [["a", wanted]]
    pq.write_table(pa.table({"prompt": ["a", "b"], "completion": [b"x", b"y"]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="bytes"):
        inspect(tmp_path / "a.parquet")
