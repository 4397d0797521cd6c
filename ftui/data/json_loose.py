"""JSON as people write it by hand and as Python prints it: comments, commas before a bracket, single quotes."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

MAX_LOOSE = 1 << 20
_MAX_PYTHON = 1 << 18
# each of these also takes what is never closed, up to the end: else the search would begin anew at every quote in it
STRING = r'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)'
_QUOTED = STRING + r"|'(?:[^'\\]|\\.|\\\Z)*+(?:'|\Z)"
_REMARK = r"//[^\r\n]*|/\*.*?(?:\*/|\Z)"
_COMMENT = re.compile(f"{STRING}|{_REMARK}", re.DOTALL)
_COMMA = re.compile(STRING + r"|,(?=\s*[}\]])", re.DOTALL)
# the words of JSON among Python's, and the arrays of numpy, which stand without commas
_PYTHON = re.compile(_QUOTED + r"|\b(?:nan|inf|null|true|false)\b|\}(?=\s+\{)", re.DOTALL)
_WORDS = {"nan": "None", "inf": "None", "null": "None", "true": "True", "false": "False", "}": "},"}
_PYTHON_START = re.compile(r"[\[{(\s]*'")
_OTHER_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TOKEN = re.compile(f"{STRING}|{_REMARK}|" + r"[{}\[\]]", re.DOTALL)
_PYTHON_TOKEN = re.compile(_QUOTED + r"|[{}\[\]]", re.DOTALL)


def loose(text: str) -> Any:
    """The value of a text that strict JSON refuses. Raises ValueError where it is something else, or too long."""
    if len(text) > MAX_LOOSE:
        raise ValueError("too long")
    try:
        if _PYTHON_START.match(text):
            return _python(text)
        bare = _COMMA.sub(_string_only, without_comments(text))
        return json.loads(
            bare, strict=bool(_OTHER_CONTROL.search(bare)), parse_constant=lambda _: None
        )  # tabs and line ends in a string are meant; other controls are damage
    except (SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from None


def without_comments(text: str) -> str:
    """The text without `// …` and `/* … */` outside its strings."""
    return _COMMENT.sub(_string_only, text) if "//" in text or "/*" in text else text


def closed_at(text: str, start: int, end: int) -> int:
    """The place behind the bracket that closes the one at `start`, 0 where there is none before `end`."""
    tokens = _PYTHON_TOKEN if _PYTHON_START.match(text, start, end) else _TOKEN
    depth = 0
    for found in tokens.finditer(text, start, end):
        mark = found.group()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth <= 0:
                return found.end()
    return 0


def _string_only(found: re.Match[str]) -> str:
    return found.group() if found.group().startswith('"') else ""


def _python(text: str) -> Any:
    if len(text) > _MAX_PYTHON:  # Python's own parser takes some hundred times the memory
        raise ValueError("too long")
    told = _PYTHON.sub(lambda found: _WORDS.get(found.group(), found.group()), text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about backslashes
        value = ast.literal_eval(told.strip())
    return json.loads(json.dumps(value))
