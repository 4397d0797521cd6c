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
_LEGACY = [
    "gb18030", "big5", "cp932", "euc_jp", "euc_kr", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp874", "cp1252",
]  # fmt: skip
_GUESS_BYTES = 64 * 1024
_SHORT = 60  # bytes beyond ASCII, below which statistics of letters say little
_FEW = 6
_MORE_SENSE = 0.1
_CONTROL = bytes(code for code in range(32) if code not in b"\t\n\r\f\x1b\x1a")
_WIDE = (("utf-32-le", 4, 3), ("utf-32-be", 4, 0), ("utf-16-le", 2, 1), ("utf-16-be", 2, 0))
_SPACING = re.compile(r"[\n\r,;\t\"{} ]")
_EASTERN = re.compile("[\t\n\r -~\u2010-\u203b\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_UNLIKELY = re.compile("[\x00-\x08\x0e-\x1f\ufffe\uffff\ue000-\uf8ff]")


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
    """UTF-16 or UTF-32 without a mark, told by where the zero bytes of its Latin letters and line ends stand.

    East Asian text has few of them, so there the characters that it would give must be of such text.
    """
    head = sample[:4096]
    zeros = head.count(0)
    if len(head) < 4 or zeros < 2:
        return ""
    for name, width, zero in _WIDE:
        whole = head[: len(head) // width * width]
        placed = whole[zero::width].count(0)
        if width == 4 and placed * 4 < len(whole):
            continue
        if width == 2 and placed < 0.8 * zeros:
            continue
        try:
            text = whole.decode(name)
        except UnicodeDecodeError as error:
            if error.start < len(whole) - 4:  # a character may be cut at the end of the sample
                continue
            text = whole[: error.start].decode(name)
        many = zeros >= 0.02 * len(head)
        if many and len(_UNLIKELY.findall(text)) <= 0.02 * len(text) and _SPACING.search(text):
            return name
        if not many and not _decodes(head, "utf-8") and len(_EASTERN.findall(text)) >= 0.97 * len(text):
            return name
    return ""


def _legacy(sample: bytes) -> str:
    """The likeliest of the encodings that came before UTF-8."""
    start = max(0, next(i for i, byte in enumerate(sample) if byte > 127) - 1024)
    block = sample[start : start + _GUESS_BYTES]
    high = [place for place, byte in enumerate(block) if byte > 127]
    # letters beyond ASCII stand alone in Western words; elsewhere there is one in every character
    near = sum(right - left <= 2 for left, right in pairwise(high))
    if near and near > len(high) / 2 - 1:
        if len(high) < _SHORT and (found := _short_chinese(block)):
            return found
        from charset_normalizer import from_bytes

        best = from_bytes(block, cp_isolation=_LEGACY).best()
        if best is not None:
            # three or four Chinese characters also spell Korean syllables; Chinese files are far more common
            few = len(high) < 40 and _decodes(block, "gb18030")
            if best.encoding == "euc_kr":
                return "gb18030" if few else "cp949"  # Windows' own, which has all of it and more
            return best.encoding
        if _decodes(block, "gb18030"):
            return "gb18030"
    return _western(block)


def _short_chinese(block: bytes) -> str:
    """gb18030 or big5 for a few Chinese characters among ASCII, which are too few for statistics; else "".

    Both keep their common characters at two bytes with a first byte of their own range: GB 2312's first level begins
    with B0 to D7 (its signs with A1 to A3), Big5's with A4 to C6. One pair between Latin letters is two letters.
    """
    first_level = second_level = signs = 0
    gb = big5 = True
    low = False
    at = 0
    pairs = []
    while at < len(block):
        lead = block[at]
        if lead < 0x80:
            at += 1
            continue
        trail = block[at + 1] if at + 1 < len(block) else 0
        pairs.append((at, lead, trail))
        first_level += 0xB0 <= lead <= 0xD7
        second_level += 0xD8 <= lead <= 0xF7
        signs += 0xA1 <= lead <= 0xA3
        gb = gb and (0xA1 <= lead <= 0xA3 or 0xB0 <= lead <= 0xF7) and 0xA1 <= trail <= 0xFE
        high, small = 0xA1 <= trail <= 0xFE, 0x40 <= trail <= 0x7E
        big5 = big5 and 0xA1 <= lead <= 0xC6 and (high or small)
        low = low or small or 0xA4 <= lead < 0xB0
        at += 2
    if len(pairs) == 1:
        place = pairs[0][0]
        around = block[max(0, place - 1) : place] + block[place + 2 : place + 3]
        if any(chr(byte).isalpha() for byte in around if byte < 0x80):
            return ""
    if gb and first_level and first_level >= 3 * second_level:
        return "gb18030"
    return "big5" if big5 and low and len(pairs) > signs else ""


def _western(block: bytes) -> str:
    """Windows' encoding of Western Europe, unless the letters make far more sense as Central European or Turkish."""
    usual = "cp1252" if _decodes(block, "cp1252") else "latin-1"
    if sum(byte > 127 for byte in block) < _FEW:
        return usual
    from charset_normalizer import from_bytes

    found = {
        match.encoding: match for match in from_bytes(block, cp_isolation=["cp1252", "cp1250", "cp1254"])
    }
    if not found:
        return usual
    best, same = next(iter(found.values())), found.get("cp1252")
    sense = best.coherence - (same.coherence if same else 0.0)
    return usual if sense < _MORE_SENSE or str(best) == block.decode(usual, "replace") else best.encoding


def _decodes(block: bytes, encoding: str) -> bool:
    try:
        block[:-3].decode(encoding)
    except UnicodeDecodeError as error:
        return error.start > len(block) - 8
    return True
