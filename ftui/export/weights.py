"""Files of weights, read without torch: their size, their format, and whether they are still the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from ftui.errors import FtuiError
from ftui.models.source import Source

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_NAMES = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}


def parameters(folder: Path) -> dict[str, int]:
    """Numbers stored in a folder's safetensors files, by format."""
    found: dict[str, int] = {}
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as source:
            header = json.loads(source.read(int.from_bytes(source.read(8), "little")))
        for name, tensor in header.items():
            if name != "__metadata__":
                count = 1
                for size in tensor["shape"]:
                    count *= size
                dtype = _NAMES.get(tensor["dtype"], tensor["dtype"])
                found[dtype] = found.get(dtype, 0) + count
    return found


def dtype(folder: Path, default: str = "float32") -> str:
    """The format that most of a folder's weights have."""
    counts = {name: count for name, count in parameters(folder).items() if name in BYTES}
    return max(counts, key=lambda name: counts[name]) if counts else default


def size(folder: Path, dtype: str) -> int:
    """Bytes that a folder's weights take in a format."""
    return sum(parameters(folder).values()) * BYTES[dtype]


def check_space(needed: int, free: int, where: Path) -> None:
    """Raise FtuiError, code disk_full, unless `needed` bytes and a little more are free."""
    needed = int(needed * 1.02) + 64_000_000
    if free < needed:
        raise FtuiError(
            "disk_full",
            "Not enough room on the disk",
            f"This needs about {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free at {where}.",
            f"Free {(needed - free) / 1e9:.1f} GB, for example by removing old runs, and start again.",
        )


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of weights."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as source:
            found[path.name] = hashlib.file_digest(source, "sha256").hexdigest()
    return found


def identity(source: Source) -> dict[str, object]:
    """What makes a tuned model this one and no other: its own weights, and the base they lie on."""
    tuned = source.adapter or source.tuned or source.base
    base = [
        [path.name, path.stat().st_size, path.stat().st_mtime_ns]
        for path in sorted(source.base.glob("*.safetensors"))
    ]
    return {"tuned": hashes(tuned), "base": str(source.base), "base_files": base if source.adapter else []}
