"""What a reading tells while it goes on: how far it is, and what a damaged row looks like in the file."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import Options, inspect
from ftui.data.reader import read
from ftui.data.row import MAX_RAW
from ftui.errors import DataError

Write = Callable[..., Path]
ROWS = [{"prompt": f"question {n}", "completion": f"answer {n}"} for n in range(1, 4)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def raws(path: Path) -> list[str]:
    return [record.raw for record in read(path, Options()).records if record.fault is not None]


def test_damaged_row_keeps_its_text(write: Write) -> None:
    assert raws(write("a.jsonl", LINES + '  {"prompt": "cut\n')) == ['{"prompt": "cut']
    array = json.dumps(ROWS).replace('"answer 2"', '"answer " 2"')
    assert raws(write("b.json", array)) == ['{"prompt": "question 2", "completion": "answer " 2"}']
    assert raws(write("c.csv", 'prompt,completion\na,b,c\nd,e\nf,"g\n')) == ["a,b,c", 'f,"g']
    assert raws(write("d.csv", 'prompt,completion\n"a\r\nb",c,d\n')) == ['"a\r\nb",c,d']
    assert raws(write("e.json", '[["prompt", "completion"], ["a", "b"], ["c"]]')) == ["['c']"]


def test_damaged_row_of_a_spreadsheet_keeps_its_cells(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    for row in (["question", "answer"], ["a", "b", "c"], ["d", "e"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert raws(tmp_path / "a.xlsx") == ["a\tb\tc"]


def test_text_of_a_damaged_row_is_bounded(write: Write) -> None:
    long = '{"prompt": "' + "x" * 200_000
    assert [len(raw) for raw in raws(write("a.jsonl", LINES + long))] == [MAX_RAW]
    assert [len(raw) for raw in raws(write("b.json", json.dumps(ROWS)[:-1] + ", " + long))] == [MAX_RAW]


PACKED = {"": lambda content: content, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.txt"])
def test_position_goes_from_nothing_to_the_size_on_disk(write: Write, name: str, ending: str) -> None:
    rows = [{"prompt": f"{n * 7919 % 99991:x}" * 20, "completion": "b"} for n in range(9000)]
    if name == "a.csv":
        text = "prompt,completion\n" + "".join(f"{row['prompt']},b\n" for row in rows)
    else:
        text = json.dumps(rows) if name == "a.json" else "".join(json.dumps(row) + "\n" for row in rows)
    path = write(name + ending, PACKED[ending](text.encode()))
    reading = read(path, Options())
    assert (reading.position(), reading.file_format.endswith(ending)) == (0, True)
    places = [reading.position() for _ in reading.records]
    assert len(places) == 9000 and places == sorted(places)
    assert 0 < places[0] <= places[-1] == reading.position() == path.stat().st_size
    assert ending or places[0] < places[-1]


def test_position_in_parquet_and_spreadsheets_follows_the_rows(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from openpyxl import Workbook

    table = pa.table({"prompt": [str(n) for n in range(5000)], "completion": ["b"] * 5000})
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=500)
    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (["prompt", "completion"], *([str(n * 7919), f"b{n}"] for n in range(5000))):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    for path in sorted(tmp_path.iterdir()):
        reading = read(path, Options())
        places = [reading.position() for _ in reading.records]
        assert len(places) == 5000 and places == sorted(places), path
        assert places[0] < path.stat().st_size * 0.7 and reading.position() <= path.stat().st_size, path
        assert reading.position() > path.stat().st_size * 0.7, path


def test_zstd_and_packed_files_without_an_ending_are_read(write: Write) -> None:
    import pyarrow as pa

    packed = pa.Codec("zstd").compress(LINES.encode(), asbytes=True)
    assert inspect(write("a.jsonl.zst", packed)).usable == 3
    assert inspect(write("data", gzip.compress(LINES.encode("utf-16")))).usable == 3
    with pytest.raises(DataError) as caught:
        inspect(write("b.jsonl.zst", packed[:-5]))
    assert caught.value.code == "not_text" and "zstd" in caught.value.message


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"<!DOCTYPE html>\n<html><body>Log in</body></html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", "LFS"),
        (b"\x80\x04\x95\x10" + bytes(40), "pickle"),
    ],
)
def test_what_was_fetched_instead_of_data_is_named(write: Write, content: bytes, word: str) -> None:
    with pytest.raises(DataError, match=word) as caught:
        inspect(write("train.jsonl", content))
    assert caught.value.code == "not_text"
