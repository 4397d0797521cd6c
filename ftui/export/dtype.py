"""Number formats: the one that a run's weights have, and the one that this machine computes them in."""

from __future__ import annotations

from ftui import settings as schema
from ftui.hardware import Hardware
from ftui.jobs.folder import Job


def stored(job: Job, machine: Hardware) -> str:
    """The format that a run's weights were held in while it trained, as its worker loaded them."""
    chosen = schema.parse(job.settings, str(job.folder / "job.yaml"))
    dtype = str(job.result().get("dtype") or schema.dtype(chosen, machine)[0])
    if dtype == "float16" and (chosen.method.kind == "full" or not machine.has_gpu):
        # The training worker keeps float32 weights there, since float16 ones cannot be trained by themselves.
        return "float32"
    return dtype


def computed(dtype: str, machine: Hardware) -> str:
    """The format to compute in: 16 bits that this machine only emulates are widened, which loses nothing."""
    if dtype == "float32" or machine.has_gpu or dtype == machine.dtype()[0]:
        return dtype
    return "float32"
