"""What this machine has: cores, memory, graphics cards and the number formats they compute natively.

Read without torch, so that the page can ask at any time; `/proc` and `nvidia-smi` know enough.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

import psutil

Dtype = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True)
class Gpu:
    """One card. Memory in GB (10^9 bytes); capability as (major, minor), (0, 0) where unknown."""

    name: str
    memory_gb: float
    free_gb: float
    capability: tuple[int, int] = (0, 0)

    @property
    def native_bfloat16(self) -> bool:
        """NVIDIA cards compute bfloat16 from capability 8.0 (Ampere) on."""
        return self.capability >= (8, 0)


@dataclass(frozen=True)
class Hardware:
    """The machine. cores: those this process may use; memory in GB (10^9 bytes)."""

    cores: int
    memory_gb: float
    free_gb: float
    cpu_bfloat16: bool = False
    gpus: tuple[Gpu, ...] = field(default=())

    @property
    def has_gpu(self) -> bool:
        """Whether training would run on a card."""
        return bool(self.gpus)

    def dtype(self) -> tuple[Dtype, str]:
        """The number format that is right here, with the reason.

        float32 on a CPU without bfloat16 units: there bfloat16 matrix products were measured 140 times slower.
        """
        if self.gpus:
            if all(gpu.native_bfloat16 for gpu in self.gpus):
                return "bfloat16", f"{self.gpus[0].name} computes bfloat16 natively"
            return "float16", f"{self.gpus[0].name} has no bfloat16 units"
        if self.cpu_bfloat16:
            return "bfloat16", "this processor has bfloat16 units"
        return "float32", "this processor has no bfloat16 units, and emulating them is far slower"

    def budget_gb(self) -> float:
        """Memory that one training process can count on: the smallest card, or the machine's own."""
        return min(gpu.memory_gb for gpu in self.gpus) if self.gpus else self.memory_gb

    def words(self) -> str:
        """The machine in one line, as the page's head shows it."""
        if not self.gpus:
            cores = f"{self.cores} core{'s' if self.cores != 1 else ''}"
            return f"CPU only · {cores} · {self.memory_gb:.0f} GB"
        first = self.gpus[0]
        count = f"{len(self.gpus)} × " if len(self.gpus) > 1 else ""
        return f"{count}{first.name} · {sum(gpu.free_gb for gpu in self.gpus):.0f} GB free"


def detect() -> Hardware:
    """The machine as it is now."""
    memory = psutil.virtual_memory()
    return Hardware(
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gb=min(memory.total, _container_limit()) / 1e9,
        free_gb=min(memory.available, _container_limit()) / 1e9,
        cpu_bfloat16=_cpu_bfloat16(),
        gpus=_gpus(),
    )


def _container_limit() -> int:
    """The memory limit of the control group, as Docker sets it; very large where there is none."""
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return int(Path(path).read_text().strip())
        except (OSError, ValueError):
            continue
    return 2**62


@lru_cache(maxsize=1)
def _cpu_bfloat16() -> bool:
    if platform.machine() == "arm64" and platform.system() == "Darwin":
        return False
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return any(flag in flags for flag in ("avx512_bf16", "amx_bf16", " bf16"))


def _gpus() -> tuple[Gpu, ...]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return ()
    command = shutil.which("nvidia-smi")
    if not command:
        return ()
    query = "--query-gpu=index,uuid,name,memory.total,memory.free,compute_cap"
    try:
        done = subprocess.run(
            [command, query, "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    if done.returncode:
        return ()
    chosen = [part.strip() for part in visible.split(",")] if visible else None
    cards = []
    for line in done.stdout.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == 6 and (chosen is None or parts[0] in chosen or parts[1] in chosen):
            cards.append(_card(parts))
    return tuple(cards)


def _card(parts: list[str]) -> Gpu:
    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return 0.0

    major, _, minor = parts[5].partition(".")
    capability = (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)
    mib = 2**20 / 1e9
    return Gpu(parts[2], number(parts[3]) * mib, number(parts[4]) * mib, capability)
