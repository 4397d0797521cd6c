"""Finds the encoding of a text file, since spreadsheets seldom write UTF-8 and never say what they wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_LEGACY = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "cp1252"]
_GUESS_BYTES = 64 * 1024
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b\x1a")


@dataclass(frozen=True)
class Encoding:
    """name: a Python codec. certain: marked or proved by the bytes; otherwise it was guessed."""

    name: str
    certain: bool

    @property
    def shown(self) -> str:
        """The name that a report gives: the byte-order mark is no encoding of its own."""
        return self.name.removesuffix("-sig")


def detect(sample: bytes, cut: bool) -> Encoding:
    """sample: bytes of the file among which text beyond ASCII is found, if there is any.

    cut: the sample ends before the file does, perhaps inside a character.

    A file that is UTF-8 but for a few bytes is UTF-8: those bytes are replaced and reported row by row.
    """
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return Encoding(name, True)
    if wide := _wide(sample):
        return Encoding(wide, True)
    text = sample.decode("utf-8", "replace")
    broken = (text[:-1] if cut else text).count("\ufffd") - sample.count("\ufffd".encode())
    if broken <= 0:
        return Encoding("utf-8", True)
    whole = len(re.findall(r"[\u0080-\ufffc\U00010000-\U0010ffff]", text))
    if whole >= 4 * broken:
        return Encoding("utf-8", True)
    return Encoding(_legacy(sample), False)


def is_binary(sample: bytes) -> bool:
    """Whether these bytes, in no wide encoding, hold more control characters than a damaged text would."""
    head = sample[: 1024 * 1024]
    controls = len(head) - len(head.translate(None, _CONTROL))
    return controls >= 2 and controls > 0.02 * len(head)


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark, told by the zero bytes that its Latin letters and line ends bring."""
    head = sample[: 4096 // 2 * 2]
    if len(head) < 4:
        return ""
    even, odd = head[0::2].count(0) / len(head) * 2, head[1::2].count(0) / len(head) * 2
    if odd > 0.3 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.3 and odd < 0.05 else ""


def _legacy(sample: bytes) -> str:
    """The likeliest of the encodings that came before UTF-8."""
    start = max(0, next(i for i, byte in enumerate(sample) if byte > 127) - 1024)
    block = sample[start : start + _GUESS_BYTES]
    high = [place for place, byte in enumerate(block) if byte > 127]
    # letters beyond ASCII stand alone in Western words; elsewhere there is one in every character
    near = sum(right - left <= 2 for left, right in pairwise(high))
    if near > len(high) / 2 - 1:
        from charset_normalizer import from_bytes

        best = from_bytes(block, cp_isolation=_LEGACY).best()
        if best is not None:
            # three or four Chinese characters also spell Korean syllables; Chinese files are far more common
            few = len(high) < 40 and _decodes(block, "gb18030")
            return "gb18030" if best.encoding == "euc_kr" and few else best.encoding
        if _decodes(block, "gb18030"):
            return "gb18030"
    return "cp1252" if _decodes(block, "cp1252") else "latin-1"


def _decodes(block: bytes, encoding: str) -> bool:
    try:
        block[:-3].decode(encoding)
    except UnicodeDecodeError as error:
        return error.start > len(block) - 8
    return True
