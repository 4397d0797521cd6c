"""What a worker writes into its job's folder, and the frame in which a worker runs.

A worker module ends with `sys.exit(report.run(work))`. `work(reporter)` does the job and returns its result;
what it raises becomes words for the person, and the traceback goes to the log.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ftui import files
from ftui.errors import FtuiError, as_error
from ftui.jobs.folder import Job

PROGRESS_EVERY_S = 0.25


class StopAsked(Exception):
    """The person asked to stop, and this phase can end at once."""


class Reporter:
    """A worker's pen. Only one process of a job writes: silent where `main` is false (other ranks)."""

    def __init__(self, folder: Path, main: bool = True) -> None:
        self.job = Job(folder)
        self.main = main
        self._written = 0.0
        self._began = time.monotonic()
        self._phase = ""

    def phase(self, name: str) -> None:
        """Enter a phase: fetch, prepare, load, train, evaluate, save, merge, verify …"""
        self._began = time.monotonic()
        self._phase = name
        if self.main:
            self.job.move("running", ("queued", "starting", "running"))
            self.job.update(phase=name, progress=None)
            self.job.event("phase", phase=name)

    def progress(self, done: int, total: int | None, unit: str, eta_s: float | None = None) -> None:
        """Say how far the phase is; written at most four times a second, and at its end."""
        now = time.monotonic()
        if not self.main or (now - self._written < PROGRESS_EVERY_S and done != total):
            return
        self._written = now
        if eta_s is None and total and done:
            eta_s = (now - self._began) / done * (total - done)
        self.job.update(progress={"done": done, "total": total, "unit": unit, "eta_s": eta_s})

    def fetching(self, done: int, total: int | None, what: str) -> None:
        """Progress of `models.fetch`: what is being done becomes the phase. Raises StopAsked."""
        if what != self._phase:
            self.phase(what)
        self.progress(done, total, "bytes")
        self.check_stop()

    def rows(self, done: int, total: int | None) -> None:
        """Progress in rows. Raises StopAsked."""
        self.progress(done, total, "rows")
        self.check_stop()

    def metric(self, **values: Any) -> None:
        """Append a point of the curves."""
        if self.main:
            files.append_json(self.job.folder / "metrics.jsonl", {**values, "time": time.time()})

    def event(self, what: str, **more: Any) -> None:
        """Append to what happened."""
        if self.main:
            self.job.event(what, **more)

    def stop_asked(self) -> str:
        """`save`, `now`, or empty."""
        return self.job.stop_asked()

    def check_stop(self) -> None:
        """End this phase if a stop was asked for. Raises StopAsked."""
        if self.stop_asked():
            raise StopAsked

    def write(self, name: str, value: Any) -> None:
        """Replace a JSON file of the job."""
        if self.main:
            files.write_json(self.job.folder / name, value)

    def end(self, outcome: str, message: str = "", **result: Any) -> None:
        """Write the result: outcome `finished` or `stopped`, a message, and what was made and measured."""
        self.write("result.json", {"outcome": outcome, "message": message, **result})


def run(work: Callable[[Reporter], dict[str, Any]], main: bool = True) -> int:
    """Do a job's work in the folder named on the command line; returns the exit code (0, 1, 2 or 130).

    work returns the result's fields; `outcome` may be among them, else it is `finished`.
    """
    reporter = Reporter(Path(sys.argv[1]), main)
    try:
        result = work(reporter)
        reporter.end(result.pop("outcome", "finished"), result.pop("message", ""), **result)
        return 0
    except StopAsked:
        kept = reporter.job.checkpoints()
        what = f"stopped; {kept[-1].name} is kept" if kept else "stopped before there was anything to keep"
        reporter.end("stopped", what)
        return 130
    except BaseException as fault:
        traceback.print_exc()
        # A fault of one process ends all; the first to fall says why, even if it is not the one that writes.
        reporter.main = reporter.main or not reporter.job.result()
        error = as_error(fault, "the log of this job")
        reporter.end("failed", error.message, error=error.to_json())
        return 2 if isinstance(fault, FtuiError) else 1
