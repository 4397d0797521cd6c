"""Rows of JSON: one object a line, an array, objects end to end, or a list or object inside one object.

Lines are read one by one, everything else through a window over the text, so that memory stays flat. A damaged
element costs one row: reading goes on where the next element begins with the same first field.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ftui.data.json_loose import MAX_LOOSE, closed_at, loose
from ftui.data.json_shape import ELEMENTS, Shape
from ftui.data.lines import numbered
from ftui.data.row import MAX_RAW, Record, RowFault

_CHUNK = 1 << 18
_MAX_ELEMENT = 64 * 1024 * 1024
MAX_WHOLE = 128 * 1024 * 1024
_MAX_WASTED = 16 * 1024 * 1024
_SMALL = 16 * 1024
_SURELY_INSIDE = 500  # of an element that is nested deeper than Python goes
_BRACKET = re.compile(r"[{\[]")
_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,]*")
_FIRST_FIELD = re.compile(r"""\{\s*("(?:[^"\\]|\\.){0,200}"|'(?:[^'\\]|\\.){0,200}')\s*:""")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def json_lines(stream: io.TextIOBase) -> Iterator[Record]:
    """One record a line that is neither blank nor a `//` comment."""
    for number, line, whole in numbered(stream):
        text = line.strip(" \t\r\n\x1a\x1e\x00")
        if text and not text.startswith("//"):
            yield _record(number, text) if whole else _too_long(number, text)


def json_stream(stream: io.TextIOBase, shape: Shape = ELEMENTS) -> Iterator[Record]:
    """The elements of arrays and the objects that stand in a text one after another, or those that `shape` names.

    Raises LookupError where there is nothing at the shape's path.
    """
    window = _Window(stream)
    if not window.enter(shape.path):
        raise LookupError(".".join(shape.path))
    members = shape.form == "members"
    begin, end = ("{", "}") if members else ("[", "]")
    inside, field = False, ""
    while True:
        mark = window.peek(_BETWEEN)
        if mark == "":
            return
        if mark == begin and not inside:
            inside = True
            window.step()
        elif mark == end and inside:
            inside = False
            window.step()
            if shape.path or members:
                return
        elif members and mark == '"' and window.name() is not None and window.peek(_SPACE) not in ("{", "["):
            window.skip()  # a version or a title beside the rows
        else:
            record = window.record(field, bare=mark == '"')
            found = _FIRST_FIELD.match(window.last) if record.fault is None else None
            field = found.group(1) if found else field
            yield record


def json_names(stream: io.TextIOBase, path: tuple[str, ...]) -> list[str]:
    """The names of the object at a path, whose values are passed over however large they are."""
    window = _Window(stream)
    if not window.enter(path) or window.peek(_SPACE) != "{":
        return []
    window.step()
    names = []
    while window.peek(_BETWEEN) not in ("", "}"):
        name = window.name()
        if name is None:
            break
        names.append(name)
        window.skip()
    return names


def json_value(stream: io.TextIOBase, path: tuple[str, ...]) -> Any:
    """The whole value at a path.

    Raises LookupError where there is nothing; ValueError beyond MAX_WHOLE characters; RowFault, reason malformed_json.
    """
    window = _Window(stream)
    if not window.enter(path):
        raise LookupError(".".join(path))
    window.peek(_SPACE)
    return window.whole()


def parse(text: str) -> Any:
    """JSON as people write it, NaN and infinities as null. Raises RowFault, reason malformed_json."""
    try:
        return _cleaned(text, _DECODER.decode(text))
    except json.JSONDecodeError as error:
        told = _told(error, text)
    except (RecursionError, ValueError) as error:
        raise RowFault("malformed_json", _odd(error)) from None
    try:
        return _without_surrogates(loose(text))
    except (ValueError, RecursionError):
        raise RowFault("malformed_json", told) from None


def _cleaned(text: str, value: Any) -> Any:
    """The value of a JSON text with half surrogate pairs, which no file can hold, replaced by U+FFFD."""
    if "\\u" in text and _ESCAPED_SURROGATE.search(text):
        return _without_surrogates(value)
    return value


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _nothing(_: str) -> None:
    return None


_DECODER = json.JSONDecoder(parse_constant=_nothing)


class _Window:
    """A part of the text around the place that is read; grows only while one element needs it."""

    def __init__(self, stream: io.TextIOBase) -> None:
        self._stream = stream
        self._text = ""
        self._at = 0
        self._line = 1
        self._ended = False
        self._wasted = 0  # characters looked through for elements that could not be mended
        self.last = ""

    def peek(self, space: re.Pattern[str]) -> str:
        """The next character behind white space (and commas) and comments, "" at the end."""
        while True:
            found = space.match(self._text, self._at)
            end = found.end() if found else self._at
            self._pass(end)
            if self._at >= len(self._text) - 1 and self._fill():
                continue
            if not self._text.startswith(("//", "/*"), self._at):
                return self._text[self._at : self._at + 1]
            self._pass_comment()

    def step(self) -> None:
        """Pass one character."""
        self._pass(self._at + 1)

    def record(self, field: str, bare: bool = False) -> Record:
        """The element that begins here. field: the first field of the elements before, quoted, if known.

        bare: a text here is an element, unless a colon behind it tells that it is a name whose object never began.
        """
        line, size = self._line, _CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._fill(size):
                    break
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - 16 or error.msg.startswith("Unterminated string")
                if cut and len(self._text) - self._at < _MAX_ELEMENT and self._fill(size):
                    size *= 2
                    continue
                return self._mended(line, field) or self._damaged(
                    line, _told(error, self._text, self._at), field
                )
            except RecursionError as error:
                return self._damaged(line, _odd(error), field, _SURELY_INSIDE)
            except ValueError as error:
                return self._damaged(line, _odd(error), field)
        self.last = self._text[self._at : end]
        if bare and self._text.startswith(":", _behind(_SPACE, self._text, end)):
            return self._damaged(line, "A brace is missing before its first field.", field or self.last)
        self._pass(end)
        return _whole(line, self.last, value)

    def enter(self, path: tuple[str, ...]) -> bool:
        """Go to the value at a path of names; whether it is there."""
        for wanted in path:
            if self.peek(_SPACE) != "{":
                return False
            self.step()
            while self.peek(_BETWEEN) not in ("", "}"):
                name = self.name()
                if name is None or name == wanted:
                    break
                self.skip()
            else:
                return False
            if name is None:
                return False
        return True

    def name(self) -> str | None:
        """Pass a member's name and its colon; None where there is none."""
        while len(self._text) - self._at < 4096 and self._fill():
            pass
        try:
            name, end = _DECODER.raw_decode(self._text, self._at)
        except (ValueError, RecursionError):
            return None
        self._pass(end)
        if not isinstance(name, str) or self.peek(_SPACE) != ":":
            return None
        self.step()
        self.peek(_SPACE)
        return name

    def skip(self) -> None:
        """Pass a value; those of a list one by one, so that a list of any length can be passed."""
        if self.peek(_SPACE) != "[":
            self.record("")
            return
        self.step()
        while self.peek(_BETWEEN) not in ("", "]"):
            self.skip() if self.peek(_SPACE) == "[" else self.record("")
        if self._at < len(self._text):
            self.step()

    def whole(self) -> Any:
        """The value that begins here, however long. Raises RowFault; ValueError beyond MAX_WHOLE characters."""
        while len(self._text) - self._at <= MAX_WHOLE and self._fill(32 * _CHUNK):
            pass
        if not self._ended:
            raise ValueError("too long")
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            told = _told(error, self._text, self._at)
            end = closed_at(self._text, self._at, min(len(self._text), self._at + MAX_LOOSE))
            try:
                return _without_surrogates(loose(self._text[self._at : end]))
            except (ValueError, RecursionError):
                raise RowFault("malformed_json", told) from None
        except (RecursionError, ValueError) as error:
            raise RowFault("malformed_json", _odd(error)) from None
        try:
            return _cleaned(self._text[self._at : end], value)
        except RecursionError as error:
            raise RowFault("malformed_json", _odd(error)) from None

    def _start(self, field: str) -> re.Pattern[str]:
        """What an element begins with. field: as `record` has it; else that of the element here."""
        if not field:
            found = _FIRST_FIELD.match(self._text, self._at)
            field = found.group(1) if found else ""
        return re.compile(r"\{\s*" + re.escape(field) + r"\s*:" if field else r"[{\[]")

    def _damaged(self, line: int, message: str, field: str, inside: int = 0) -> Record:
        """Report the element and pass on to where the next one seems to begin, behind `inside` further brackets."""
        start = self._start(field)
        within = islice(_BRACKET.finditer(self._text, self._at + 1), inside)
        begin = max((found.end() for found in within), default=self._at + 1)
        size, raw = 0, ""
        while True:
            found = start.search(self._text, begin)
            end = found.start() if found else max(begin, len(self._text) - 400)
            raw += self._text[self._at : min(end, self._at + MAX_RAW - len(raw))]
            size += end - self._at
            self._pass(end)
            if found:
                break
            begin = self._at
            if not self._fill():
                raw += self._text[self._at : self._at + MAX_RAW - len(raw)]
                self._pass(len(self._text))
                break
            begin = min(begin, self._at)
        return Record(line, None, size, fault=RowFault("malformed_json", message), raw=raw.rstrip(" \t\r\n,"))

    def _mended(self, line: int, field: str) -> Record | None:
        """The element, where it is JSON but for what `loose` forgives; it ends before another one begins."""
        start = self._start(field)
        while True:
            bound = min(len(self._text), self._at + (MAX_LOOSE if self._wasted < _MAX_WASTED else _SMALL))
            following = start.search(self._text, self._at + 1, bound)
            end = closed_at(self._text, self._at, following.start() if following else bound)
            if end or following or bound < len(self._text) or not self._fill():
                break
        text = self._text[self._at : end]
        try:
            value = loose(text)
        except (ValueError, RecursionError):
            self._wasted += (following.start() if following else bound) - self._at
            return None
        self.last = text
        self._pass(end)
        return _whole(line, text, value)

    def _pass_comment(self) -> None:
        mark = "*/" if self._text.startswith("/*", self._at) else "\n"
        while (end := self._text.find(mark, self._at + 2)) < 0:
            if len(self._text) - self._at > _MAX_ELEMENT or not self._fill():
                self._pass(len(self._text))
                return
        self._pass(end + len(mark))

    def _pass(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _fill(self, size: int = _CHUNK) -> bool:
        """Read on and forget what was passed: every other place in the window moves with it."""
        block = "" if self._ended else self._stream.read(size)
        if not block:
            self._ended = True
            return False
        self._text, self._at = self._text[self._at :] + block, 0
        return True


def _behind(space: re.Pattern[str], text: str, start: int) -> int:
    found = space.match(text, start)
    return found.end() if found else start


def _record(line: int, text: str) -> Record:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        fault = RowFault("malformed_json", _told(error, text))
        try:
            return _whole(line, text, loose(text))
        except (ValueError, RecursionError):
            pass
    except (RecursionError, ValueError) as error:
        fault = RowFault("malformed_json", _odd(error))
    else:
        return _whole(line, text, value)
    return Record(line, None, len(text), replaced="\ufffd" in text, fault=fault, raw=text[:MAX_RAW])


def _whole(line: int, text: str, value: Any) -> Record:
    try:
        cleaned = _cleaned(text, value)
        return Record(
            line, cleaned, len(text), "\ufffd" in text or (cleaned is not value and cleaned != value)
        )
    except RecursionError as error:
        fault = RowFault("malformed_json", _odd(error))
        return Record(line, None, len(text), fault=fault, raw=text[:MAX_RAW])


def _too_long(line: int, text: str) -> Record:
    fault = RowFault("malformed_json", "The line is longer than 64 million characters.")
    return Record(line, None, fault=fault, raw=text[:MAX_RAW])


def _told(error: json.JSONDecodeError, text: str, start: int = 0) -> str:
    """The fault, where it is in the row, and the text around it."""
    around = text[max(start, error.pos - 20) : error.pos + 20].replace("\n", " ")
    what = "The row breaks off" if error.pos >= len(text) else error.msg
    return f"{what} at character {error.pos - start + 1}, near {around!r}."


def _odd(error: Exception) -> str:
    return "It is nested too deeply." if isinstance(error, RecursionError) else f"{error}."[:200]
