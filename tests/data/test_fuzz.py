"""Damaged bytes of any format give a report or a clear error, never a crash."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftui.data import Options, inspect, load
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
                [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b"\n", b"\x00", b"\xff\xfe", b"\\ud800", b"NaN"]
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
    try:
        report = inspect(path, Options(system="S"))
    except DataError as error:
        assert error.code and error.message and error.fix
        return
    assert report.usable + sum(report.counts.values()) == report.rows
    json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False, indent=1).encode()
    assert len(load(path).splits["train"]) == report.usable


@pytest.mark.parametrize("name", [*FILES, "book.xlsx"])
def test_damaged_file_is_read_or_refused_in_words(name: str, tmp_path: Path) -> None:
    content = spreadsheet() if name == "book.xlsx" else (CASES / name).read_bytes()
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
