"""Opens a file as bytes and as text, unpacking it, within limits that no damaged file can pass."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
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
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
_SCAN_BYTES = 64 * 1024 * 1024
_PACKED = ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\xfd7zXZ\x00", ".xz"), (b"(\xb5/\xfd", ".zst"))
_PACKING = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_FOREIGN = (
    (b"\x89PNG", "is a PNG picture"),
    (b"GIF8", "is a GIF picture"),
    (b"\xff\xd8\xff", "is a JPEG picture"),
    (b"%PDF", "is a PDF document"),
    (b"\xd0\xcf\x11\xe0", "is an old Office file (.xls or .doc), or a spreadsheet locked with a password"),
    (b"7z\xbc\xaf", "is a 7-Zip archive"),
    (b"Rar!", "is a RAR archive"),
    (b"\x7fELF", "is a program"),
    (b"MZ\x90\x00", "is a program"),
    (b"SQLite format 3", "is an SQLite database"),
    (b"\x80\x04\x95", "is a Python pickle, which is not opened because it can run code"),
    (b"version https://git-lfs", "is only a pointer to a file that Git LFS has not fetched"),
)


class Source:
    """A file that was looked into: packed, magic and head tell its format, `text` reads it.

    packed: the ending of the packing, "" for none. size: bytes on disk.
    Raises DataError: not_found, empty_file, too_large, not_text.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._disk: io.FileIO | None = None
        try:
            self.size = path.stat().st_size
            if self.size > problems.MAX_BYTES:
                raise problems.too_large(path, self.size)
            with path.open("rb") as file:
                start = file.read(8)
                self.packed = next((ending for magic, ending in _PACKED if start.startswith(magic)), "")
            with self.unpacked() as stream:
                self.head = stream.read(HEAD_BYTES)
                self.whole = len(self.head) < HEAD_BYTES
                sample = b"" if self.binary else self._sample(stream)
        except OSError as error:
            raise problems.unreadable(path, error) from None
        self._disk = None
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

    def position(self) -> int:
        """Bytes of the file on disk that were consumed by what was opened last; 0 before that."""
        if self._disk is None:
            return 0
        return self.size if self._disk.closed else self._disk.tell()

    def unpacked(self) -> IO[bytes]:
        """The unpacked bytes from the start."""
        self._disk = disk = io.FileIO(self.path)
        raw = disk if not self.packed else _Unpacked(self.path, self.packed, io.BufferedReader(disk, 1 << 18))
        return io.BufferedReader(raw, 1 << 18)

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """The unpacked bytes for formats that begin reading at the end."""
        if not self.packed:
            with self.unpacked() as file:
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
    """The content of a packed file; says in a sentence that it is damaged, and stops at the size limit."""

    def __init__(self, path: Path, packing: str, packed: io.BufferedReader) -> None:
        self._path, self._packing, self._packed = path, packing, packed
        self._file = _opened(packing, packed)
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            block = self._file.read(len(buffer))
        except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise problems.damaged(self._path, f"{_PACKING[self._packing]} file", str(error)) from None
        self._done += len(block)
        if self._done > problems.MAX_BYTES:
            raise problems.too_large(self._path, self._done)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def _opened(packing: str, packed: io.BufferedReader) -> IO[bytes]:
    if packing == ".gz":
        return gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[return-value]
    if packing == ".bz2":
        return bz2.BZ2File(packed)  # type: ignore[return-value]
    if packing == ".xz":
        return lzma.LZMAFile(packed)  # type: ignore[return-value]
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(packed, "r"), "zstd")
