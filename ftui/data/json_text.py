"""Rows of JSON: one object a line, an array, objects end to end, or a list inside one object.

Lines are read one by one, everything else through a window over the text, so that memory stays flat. A damaged
element costs one row: reading goes on where the next element begins with the same first field.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from ftui.data.lines import numbered
from ftui.data.row import Record, RowFault

_CHUNK = 1 << 20
_MAX_ELEMENT = 64 * 1024 * 1024
_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,]*")
_FIRST_FIELD = re.compile(r'\{\s*("(?:[^"\\]|\\.){0,200}")\s*:')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# lists of objects under these names belong to a row; under any other name they are the rows
ROW_LISTS = frozenset(
    (
        "messages",
        "conversations",
        "conversation",
        "dialogue",
        "dialog",
        "chat",
        "chats",
        "turns",
        "chosen",
        "rejected",
        "prompt",
        "completion",
        "tools",
        "tool_calls",
        "history",
        "functions",
        "content",
    )
)


def json_lines(stream: io.TextIOBase) -> Iterator[Record]:
    """One record a line that is not blank."""
    for number, line, whole in numbered(stream):
        text = line.strip(" \t\r\n\x1a")
        if text:
            yield _record(number, text) if whole else _too_long(number)


def json_stream(stream: io.TextIOBase) -> Iterator[Record]:
    """The elements of arrays and the objects that stand in a text one after another."""
    window = _Window(stream)
    if window.peek(_SPACE) == "{":
        window.enter_wrapped_list()
    inside, field = False, ""
    while True:
        mark = window.peek(_BETWEEN)
        if mark == "":
            return
        if mark == "[" and not inside:
            inside = True
            window.step()
        elif mark == "]" and inside:
            inside = False
            window.step()
            if window.wrapped:
                return
        else:
            record = window.record(field)
            found = _FIRST_FIELD.match(window.last) if record.fault is None else None
            field = found.group(1) if found else field
            yield record


def parse(text: str) -> Any:
    """JSON as people write it, NaN and infinities as null. Raises RowFault, reason malformed_json."""
    try:
        return _cleaned(text, _DECODER.decode(text))
    except json.JSONDecodeError as error:
        raise RowFault("malformed_json", _told(error, text)) from None
    except (RecursionError, ValueError) as error:
        raise RowFault("malformed_json", _odd(error)) from None


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
        self.last = ""
        self.wrapped = False

    def peek(self, space: re.Pattern[str]) -> str:
        """The next character behind white space (and commas), "" at the end."""
        while True:
            found = space.match(self._text, self._at)
            end = found.end() if found else self._at
            self._pass(end)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def step(self) -> None:
        """Pass one character."""
        self._pass(self._at + 1)

    def record(self, field: str) -> Record:
        """The element that begins here. field: the first field of the elements before, quoted, if known."""
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
                return self._damaged(line, _told(error, self._text, self._at), field)
            except (RecursionError, ValueError) as error:
                return self._damaged(line, _odd(error), field)
        self.last = self._text[self._at : end]
        self._pass(end)
        return _whole(line, self.last, value)

    def enter_wrapped_list(self) -> None:
        """Where the text is one object that holds the rows in a list, go to the list; else stay."""
        self._text, self._at = self._text[self._at :], 0  # so that places stay valid while the window grows
        at = 1
        while True:
            try:
                at = self._space(at)
                key, at = _DECODER.raw_decode(self._text, at)
                at = self._space(at)
                if not isinstance(key, str) or self._text[at : at + 1] != ":":
                    return
                at = self._space(at + 1)
                if self._text[at : at + 1] == "[" and key.strip().casefold() not in ROW_LISTS:
                    inner = self._space(at + 1)
                    if self._text[inner : inner + 1] == "{":
                        self._pass(at)
                        self.wrapped = True
                        return
                at = self._space(self._skip_value(at))
                if self._text[at : at + 1] != ",":
                    return
                at += 1
            except (json.JSONDecodeError, RecursionError, ValueError):
                return

    def _skip_value(self, at: int) -> int:
        size = _CHUNK
        while True:
            try:
                return _DECODER.raw_decode(self._text, at)[1]
            except json.JSONDecodeError:
                if len(self._text) > _MAX_ELEMENT or not self._fill(size):
                    raise
                size *= 2

    def _space(self, at: int) -> int:
        """The place behind white space, where at least a little more text is in the window."""
        while True:
            found = _SPACE.match(self._text, at)
            end = found.end() if found else at
            if len(self._text) - end > 64 or not self._fill():
                return end

    def _damaged(self, line: int, message: str, field: str) -> Record:
        """Report the element and pass on to where the next one seems to begin."""
        if not field:
            found = _FIRST_FIELD.match(self._text, self._at)
            field = found.group(1) if found else ""
        start = re.compile(r"\{\s*" + re.escape(field) + r"\s*:" if field else r"[{\[]")
        begin, size = self._at + 1, 0
        while True:
            found = start.search(self._text, begin)
            if found:
                size += found.start() - self._at
                self._pass(found.start())
                break
            kept = max(begin, len(self._text) - 400)
            size += kept - self._at
            self._pass(kept)
            begin = self._at
            if not self._fill():
                self._pass(len(self._text))
                break
            begin = min(begin, self._at)
        return Record(line, None, size, fault=RowFault("malformed_json", message))

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


def _record(line: int, text: str) -> Record:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        fault = RowFault("malformed_json", _told(error, text))
    except (RecursionError, ValueError) as error:
        fault = RowFault("malformed_json", _odd(error))
    else:
        return _whole(line, text, value)
    return Record(line, None, len(text), replaced="\ufffd" in text, fault=fault)


def _whole(line: int, text: str, value: Any) -> Record:
    try:
        cleaned = _cleaned(text, value)
        return Record(
            line, cleaned, len(text), "\ufffd" in text or (cleaned is not value and cleaned != value)
        )
    except RecursionError as error:
        return Record(line, None, len(text), fault=RowFault("malformed_json", _odd(error)))


def _too_long(line: int) -> Record:
    return Record(
        line, None, fault=RowFault("malformed_json", "The line is longer than 64 million characters.")
    )


def _told(error: json.JSONDecodeError, text: str, start: int = 0) -> str:
    """The fault, where it is in the row, and the text around it."""
    around = text[max(start, error.pos - 20) : error.pos + 20].replace("\n", " ")
    what = "The row breaks off" if error.pos >= len(text) else error.msg
    return f"{what} at character {error.pos - start + 1}, near {around!r}."


def _odd(error: Exception) -> str:
    return "It is nested too deeply." if isinstance(error, RecursionError) else f"{error}."[:200]
