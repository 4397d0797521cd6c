"""Damaged bytes of any format give a report or a clear error, never a crash."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftui.data import Options, inspect, load
from ftui.data.catalogue import FILE, entries
from ftui.data.dialogue import asked_in, turns_in, whole_dialogue
from ftui.data.reader import parts, read
from ftui.errors import DataError

CASES = Path(__file__).parent / "cases" / "files"
FILES = sorted(path.name for path in CASES.iterdir() if path.is_file() and 0 < path.stat().st_size < 5000)


@cache
def spreadsheet() -> bytes:
    """A small workbook."""
    import io

    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for row in (["question", "answer"], ["a", 5], ["ö", True]):
        book.active.append(row)
    book.save(out)
    return out.getvalue()


ROWS = [{"prompt": f"question {n}", "completion": f"answer {n}"} for n in range(3)]
TALK = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
SHAPES: dict[str, bytes] = {
    "splits.json": json.dumps({"train": ROWS, "test": ROWS[:1]}).encode(),
    "named.json": json.dumps({str(n): row for n, row in enumerate(ROWS)}, indent=1).encode(),
    "columns.json": json.dumps({"question": ["a", "b"], "answer": ["c", "d"]}).encode(),
    "pandas.json": json.dumps({"columns": ["prompt", "completion"], "data": [["a", "b"]]}).encode(),
    "header.json": json.dumps([["prompt", "completion"], ["a", "b"], ["c", "d"]]).encode(),
    "loose.json": b'// x\n[{"prompt": "a", /* b */ "completion": "c",},\n {"prompt": "d", "completion": "e"}]',
    "python.jsonl": "".join(f"{row}\n" for row in ROWS).encode(),
    "marked.jsonl": "".join(json.dumps({"text": TALK}) + "\n" for _ in range(3)).encode(),
    "labels.jsonl": "".join(
        json.dumps({"chosen": f"User: a\nAssistant: {n}", "rejected": "x"}) + "\n" for n in "ab"
    ).encode(),
    "title.csv": b'Export\nprompt; completion\n"a; \\"b\\"";"c"\n"d"; "e"\n',
    "wide.csv": "prompt,completion\na,ö\nb,d\n".encode("utf-16-le"),
    "packed.jsonl.gz": gzip.compress(json.dumps(ROWS[0]).encode()),
    "packed.jsonl.bz2": bz2.compress(json.dumps(ROWS[0]).encode()),
    "packed.jsonl.xz": lzma.compress(json.dumps(ROWS[0]).encode()),
}


def damage(content: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Replace `length` bytes at each place, taken round, by others."""
    for place, length, new in edits:
        at = place % (len(content) + 1)
        content = content[:at] + new + content[at + length :]
    return content


EDITS = st.lists(
    st.tuples(
        st.integers(0, 100_000),
        st.integers(0, 40),
        st.one_of(
            st.binary(max_size=6),
            st.sampled_from(
                [
                    b'"',
                    b"\\",
                    b"{",
                    b"}",
                    b"[",
                    b"]",
                    b",",
                    b"\n",
                    b"\x00",
                    b"\xff\xfe",
                    b"\\ud800",
                    b"NaN",
                    b"'",
                    b"//",
                    b"/*",
                ]
            ),
        ),
    ),
    min_size=1,
    max_size=4,
)
FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def reads_or_says_why(path: Path) -> None:
    with suppress(DataError):
        for part in parts(path):
            assert sum(1 for _ in read(path, Options(), part).records) >= 0
    try:
        report = inspect(path, Options(system="S"))
    except DataError as error:
        assert error.code and error.message and error.fix
        return
    assert report.usable + sum(report.counts.values()) == report.rows
    json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False, indent=1).encode()
    assert len(load(path).splits["train"]) == report.usable


@pytest.mark.parametrize("name", [*FILES, *SHAPES, "book.xlsx"])
def test_damaged_file_is_read_or_refused_in_words(name: str, tmp_path: Path) -> None:
    content = spreadsheet() if name == "book.xlsx" else SHAPES.get(name) or (CASES / name).read_bytes()
    path = tmp_path / name

    @FEW
    @given(EDITS)
    def check(edits: list[tuple[int, int, bytes]]) -> None:
        path.write_bytes(damage(content, edits))
        reads_or_says_why(path)

    check()


@settings(FEW, max_examples=60)
@given(content=st.binary(max_size=300))
@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.parquet"])
def test_any_bytes_are_read_or_refused_in_words(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    reads_or_says_why(path)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["user", "[{", "gpt"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "from", "value", "name", "arguments", "type"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
KEYS = ["messages", "conversations", "prompt", "completion", "chosen", "rejected", "label", "text", "tools", "history",
        "instruction", "output", "system", "input"]  # fmt: skip


@settings(FEW, max_examples=150)
@given(rows=st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5), min_size=1, max_size=4))
def test_any_values_in_known_fields_are_read_or_refused_in_words(rows: list[dict], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reads_or_says_why(path)


SHAPED = st.recursive(
    st.none() | st.integers(-1, 3) | st.text(max_size=4) | st.sampled_from(["user", "Human: a\n\nAssistant: b"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["train", "test", "data", "rows", "columns", "0", "1", "prompt", "completion", "messages", "text",
                 "role", "content", "row", "row_idx"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=14,
)  # fmt: skip


@settings(FEW, max_examples=250)
@given(value=SHAPED, indent=st.sampled_from([None, 1]))
def test_any_shape_of_json_is_read_or_refused_in_words(
    value: object, indent: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value, indent=indent))
    reads_or_says_why(path)


MARKS = ["Human:", "\n\nAssistant:", "User:", "\n", "<|im_start|>", "user", "<|im_end|>", "[INST]", "[/INST]",
         "<<SYS>>", "### Input:\n", "### Response:", "### Instruction:\n", "</s>", "<|user|>", "Q: ", "答：",
         " "]  # fmt: skip


@settings(FEW, max_examples=300)
@given(pieces=st.lists(st.sampled_from(MARKS), max_size=12))
def test_marks_in_any_order_lose_no_answer(pieces: list[str]) -> None:
    text = "".join(pieces)
    for turns in (turns_in(text), asked_in(text), whole_dialogue(text)):
        assert turns is None or all(isinstance(turn["content"], str) and turn["role"] for turn in turns)


@settings(FEW, max_examples=80)
@given(
    told=st.dictionaries(
        st.sampled_from(
            ["file_name", "hf_hub_url", "formatting", "format", "columns", "tags", "ranking", "num_samples"]
        ),
        VALUES | st.sampled_from(["alpaca", "sharegpt", "../../x", "a\x00b"]),
    )
)
def test_any_entry_of_a_catalogue_is_read_or_refused_in_words(told: dict, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"a": told}))
    with suppress(DataError):
        for entry in entries(tmp_path):
            entry.options(Options())
