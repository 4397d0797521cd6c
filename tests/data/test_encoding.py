"""Encodings are found; bytes that are no text cost no row and are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ftui.data import inspect
from ftui.errors import DataError

Write = Callable[..., Path]
SAID = {
    "cp1252": "Straße in Köln, schöne Grüße",
    "gb18030": "感冒了应该注意什么？多休息，多喝水。",
    "big5": "感冒了應該注意什麼？多休息，多喝水。",
    "shift_jis": "こんにちは、元気ですか。はい、元気です。",
    "euc_kr": "안녕하세요, 만나서 반갑습니다. 오늘 날씨가 좋네요.",
    "cp1251": "Привет, как дела? Хорошо, спасибо большое.",
    "utf-16-le": "Nenne eine Stadt: Köln",
    "utf-16-be": "Nenne eine Stadt: Köln",
    "utf-32": "Köln",
    "utf-8-sig": "Köln",
}


@pytest.mark.parametrize("encoding", SAID)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_encoding_is_found(write: Write, encoding: str, ending: str) -> None:
    said = SAID[encoding]
    text = (
        f"question\tanswer\n{said}\t{said}\n"
        if ending == "csv"
        else f'{{"prompt": "{said}", "completion": "{said}"}}\n'
    )
    report = inspect(write(f"a.{ending}", text, encoding))
    assert [message["content"] for message in report.sample[0]["messages"]] == [said, said]


def test_one_damaged_byte_is_replaced_in_its_row(write: Write) -> None:
    lines = ['{"prompt": "größte", "completion": "Köln"}'] * 5
    damaged = "\n".join(lines).encode().replace("ö".encode(), b"\xff", 1)
    report = inspect(write("a.jsonl", damaged))
    assert (report.encoding, report.usable) == ("utf-8", 5)
    assert report.sample[0]["messages"][0]["content"] == "gr\ufffdßte"
    assert [warning["rows"] for warning in report.warnings if warning["code"] == "encoding_fallback"] == [[1]]


def test_text_beyond_ascii_may_come_late(write: Write) -> None:
    plain = f'{{"prompt": "a", "completion": "{"b" * 2000}"}}\n' * 600
    report = inspect(write("a.jsonl", plain + '{"prompt": "Köln", "completion": "Grüße"}\n', "cp1252"))
    assert (report.encoding, report.rows) == ("cp1252", 601)


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n%text",
        b"\x7fELF" + bytes(60),
        bytes(range(256)),
        b"\xd0\xcf\x11\xe0" + b"a" * 99,
        b"BZh9abc",
    ],
)
def test_binary_files_are_refused_in_words(write: Write, content: bytes) -> None:
    with pytest.raises(DataError) as caught:
        inspect(write("a.csv", content))
    assert caught.value.code == "not_text"
    assert "a.csv" in caught.value.message and caught.value.fix


def test_one_zero_byte_does_not_make_a_file_binary(write: Write) -> None:
    lines = b'{"prompt": "a", "completion": "b"}\n' * 3 + b'{"prompt": "a\x00", "completion": "b"}\n'
    report = inspect(write("a.jsonl", lines))
    assert [(row["row"], row["reason"]) for row in report.dropped] == [(4, "malformed_json")]
