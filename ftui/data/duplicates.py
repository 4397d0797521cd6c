"""Remembers which rows were seen, at some twelve bytes a row, so that millions fit in flat memory."""

from __future__ import annotations

import hashlib
import json
from array import array
from typing import Any


class Seen:
    """A set of 64-bit hashes in one array, open addressing, doubled when two thirds full.

    Two different rows among ten million are taken for equal with a chance of about one in 400,000.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._count = 0

    def add(self, row: dict[str, Any]) -> bool:
        """Remember a row; whether it is new."""
        text = repr(row)  # twice as fast as JSON; only within tools can the order of fields differ
        if "'tool" in text:
            text = json.dumps(row, sort_keys=True)
        key = (
            int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little")
            or 1
        )
        if not self._put(key):
            return False
        self._count += 1
        if self._count * 3 > len(self._slots) * 2:
            old, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
            for known in old:
                if known:
                    self._put(known)
        return True

    def _put(self, key: int) -> bool:
        slots = self._slots
        mask = len(slots) - 1
        at = key & mask
        while slots[at]:
            if slots[at] == key:
                return False
            at = (at + 1) & mask
        slots[at] = key
        return True
