"""Opens a file as bytes and as text, unpacking gzip, within limits that no damaged file can pass."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ftui.data import problems
from ftui.data.encoding import Encoding, detect, is_binary

HEAD_BYTES = 1024 * 1024
ARROW = (b"ARROW1", b"\xff\xff\xff\xff")  # a file and a stream of Arrow, as `datasets` saves it
_SCAN_BYTES = 64 * 1024 * 1024
_FOREIGN = (
    (b"\x89PNG", "is a PNG picture"),
    (b"GIF8", "is a GIF picture"),
    (b"\xff\xd8\xff", "is a JPEG picture"),
    (b"%PDF", "is a PDF document"),
    (b"\xd0\xcf\x11\xe0", "is an old Office file (.xls or .doc)"),
    (b"7z\xbc\xaf", "is a 7-Zip archive"),
    (b"Rar!", "is a RAR archive"),
    (b"BZh", "is packed with bzip2"),
    (b"\xfd7zXZ", "is packed with xz"),
    (b"(\xb5/\xfd", "is packed with zstd"),
    (b"\x7fELF", "is a program"),
    (b"SQLite format 3", "is an SQLite database"),
)


class Source:
    """A file that was looked into: packed, magic and head tell its format, `text` reads it.

    Raises DataError: not_found, empty_file, too_large, not_text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            size = path.stat().st_size
            if size > problems.MAX_BYTES:
                raise problems.too_large(path, size)
            with path.open("rb") as file:
                self.packed = file.read(2) == b"\x1f\x8b"
            with self.unpacked() as stream:
                self.head = stream.read(HEAD_BYTES)
                self.whole = len(self.head) < HEAD_BYTES
                sample = b"" if self.binary else self._sample(stream)
        except OSError as error:
            raise problems.unreadable(path, error) from None
        if not self.head.strip(b" \t\r\n\x00\xef\xbb\xbf\xff\xfe") and self.whole:
            raise problems.empty_file(path)
        if self.binary:
            return
        for magic, what in _FOREIGN:
            if self.head.startswith(magic):
                raise problems.not_text(path, what, "Export the rows as .jsonl, .csv, .xlsx or .parquet.")
        self.encoding: Encoding = detect(sample, not self.whole)
        if not self.encoding.name.startswith(("utf-16", "utf-32")) and is_binary(self.head):
            raise problems.not_text(
                path, "holds bytes that are no text", "Export the rows as .jsonl, .csv, .xlsx or .parquet."
            )
        self.text_head = self.head.decode(self.encoding.name, "replace").lstrip("\ufeff")

    @property
    def binary(self) -> bool:
        """Whether the magic bytes are those of Parquet, Arrow or a ZIP (a spreadsheet)."""
        return self.head.startswith((b"PAR1", *ARROW, b"PK\x03\x04", b"PK\x05\x06"))

    def unpacked(self) -> IO[bytes]:
        """The unpacked bytes from the start."""
        if not self.packed:
            return self.path.open("rb")
        return io.BufferedReader(_Unpacked(self.path), 1 << 18)

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """The unpacked bytes for formats that begin reading at the end."""
        if not self.packed:
            with self.path.open("rb") as file:
                yield file
            return
        with tempfile.TemporaryFile() as unpacked, self.unpacked() as stream:
            shutil.copyfileobj(stream, unpacked)
            unpacked.seek(0)
            yield unpacked

    def text(self) -> io.TextIOWrapper:
        """The text from the start, line ends as they are; bytes that are no text become U+FFFD."""
        return io.TextIOWrapper(self.unpacked(), self.encoding.name, errors="replace", newline="")

    def _sample(self, stream: IO[bytes]) -> bytes:
        """The head, and what surrounds the first bytes beyond ASCII where they come later."""
        if not self.head.isascii():
            return self.head
        for _ in range(_SCAN_BYTES // HEAD_BYTES):
            block = stream.read(HEAD_BYTES)
            if not block.isascii():
                return self.head[:4096] + block
            if not block:
                break
        return self.head


class _Unpacked(io.RawIOBase):
    """The content of a gzip file; says in a sentence that it is damaged, and stops at the size limit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = gzip.open(path, "rb")  # noqa: SIM115 - close() closes it
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            block = self._file.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise problems.damaged(self._path, "gzip file", str(error)) from None
        self._done += len(block)
        if self._done > problems.MAX_BYTES:
            raise problems.too_large(self._path, self._done)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()
