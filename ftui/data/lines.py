"""Lines of a text, read with a bound so that a file without line ends cannot fill the memory."""

from __future__ import annotations

import io
from collections.abc import Iterator

MAX_LINE = 64 * 1024 * 1024


def numbered(stream: io.TextIOBase) -> Iterator[tuple[int, str, bool]]:
    """(number from 1, line with its end, whether it is whole); what passes MAX_LINE is skipped, not kept.

    Only CR, LF and CRLF end a line: U+2028, U+2029 and U+0085 are text.
    """
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        whole = len(line) < MAX_LINE
        rest = line
        while len(rest) == MAX_LINE and not rest.endswith(("\n", "\r")):
            rest = stream.readline(MAX_LINE)
        yield number, line.removeprefix("\ufeff") if number == 1 else line, whole
