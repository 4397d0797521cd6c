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
    "cp932": "①東京はどこですか。はい、元気です。",
    "euc_jp": "こんにちは、元気ですか。はい、元気です。",
    "koi8-r": "Привет, как дела? Хорошо, спасибо большое.",
    "cp1253": "Καλημέρα, τι κάνεις; Καλά, ευχαριστώ πολύ.",
    "cp1256": "مرحبا كيف حالك؟ بخير شكرا لك",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "latin-1": "Où est la bibliothèque? Ça va très bien, merci.",
    "utf-32-le": "Köln",
    "utf-32-be": "Köln",
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


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_chinese_in_wide_encodings_needs_no_mark(write: Write, encoding: str) -> None:
    said = "感冒了应该注意什么？多休息，多喝水。" * 20
    report = inspect(write("a.csv", f"问题,答案\n{said},{said}\n", encoding))
    assert (report.encoding, report.sample[0]["messages"][1]["content"]) == (encoding, said)


@pytest.mark.parametrize(
    "said",
    ["Voilà", "natürlich", "¿Cómo estás? Mañana, señor", "Jag är från Göteborg", "São Paulo: não há dúvida, ações",
     "È vero? Perché no, città", "Größe „Zitat“ – 5 €…", "½ × 3² = 4½ µm ±5"],
)  # fmt: skip
@pytest.mark.parametrize("rows", [1, 50])
def test_western_text_stays_western(write: Write, said: str, rows: int) -> None:
    report = inspect(write("a.csv", "prompt;completion\r\n" + f"{said};{said}\r\n" * rows, "cp1252"))
    assert report.sample[0]["messages"][0]["content"] == said


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
        b"RIFF\x00\x00\x00\x00WEBP" + bytes(range(256)),
        b"\x93NUMPY\x01\x00v\x00" + bytes(99),
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
