"""Start, stop, resume and remove jobs, and make sure that a state on disk is true."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import Any

from ftui import files, workspace
from ftui.errors import JobError
from ftui.jobs import folder, kinds, launch, process
from ftui.jobs.folder import ACTIVE, FINAL, Job, just_made
from ftui.jobs.runner import final_status

RESUMABLE = ("stopped", "failed", "lost")


def start(kind: str, name: str, values: dict[str, Any]) -> Job:
    """Make a job of the checked values and start its runner. Returns at once."""
    checked = kinds.request(kind, values)
    job = folder.create(kind, name, checked.model_dump())
    _launch(job)
    return job


def stop(job: Job, mode: str = "save") -> None:
    """Ask a job to stop: `save` keeps the state of the last step, `now` keeps only what is saved already.

    It needs no server: the worker sees the file at the end of a step, the runner in every other phase.
    """
    if reconcile(job) in FINAL:
        raise JobError(
            "not_running",
            "This job is not running",
            f"{job.name} is {job.state}, so there is nothing to stop.",
            "See its result on the Runs tab.",
        )
    files.write_json(job.folder / "stop", {"mode": mode, "time": time.time()})
    job.move("stopping", ("starting", "running"))


def resume(job: Job) -> Job:
    """Go on from the last complete checkpoint, in the same folder; from the start where there is none."""
    if reconcile(job) not in RESUMABLE:
        raise _not_resumable(job)
    moved = job.move(
        "queued",
        RESUMABLE,
        phase="",
        progress=None,
        message="",
        fix="",
        ended=None,
        exit_code=None,
        queued_at=time.time(),
        pid=None,
        pid_started=None,
    )
    if not moved:
        raise _not_resumable(job)
    for name in ("stop", "result.json"):
        (job.folder / name).unlink(missing_ok=True)
    job.event("resumed", checkpoint=next((path.name for path in reversed(job.checkpoints())), None))
    _launch(job)
    return job


def remove(job: Job) -> int:
    """Delete a job's folder; returns the bytes freed. A running job is refused."""
    if reconcile(job) in ACTIVE:
        raise JobError(
            "still_running",
            "This job is still running",
            f"{job.name} is {job.state}.",
            "Stop it, then remove it.",
        )
    size = files.folder_size(job.folder)
    # Renamed first, so that a removal that is interrupted leaves no half job in the list.
    doomed = job.folder.with_name(f".removed-{job.id}")
    os.replace(job.folder, doomed)
    shutil.rmtree(doomed, ignore_errors=True)
    return size


def reconcile(job: Job) -> str:
    """The true state of a job: a live runner or worker keeps it, else what they recorded decides."""
    status = job.status()
    state = str(status.get("state", "lost"))
    if state in FINAL or _alive(status) or just_made(status):
        return state
    changes = final_status(job, status.get("exit_code"))
    with files.locked(job.folder / ".lock"):
        # Looked at again under the lock: the runner may have recorded the end in between.
        status = job.status()
        if status.get("state") in FINAL or _alive(status) or not job.folder.exists():
            return str(status.get("state"))
        files.write_json(job.folder / "status.json", status | changes)
    job.event(str(changes["state"]), message=changes["message"])
    return str(changes["state"])


def reconcile_all() -> list[Job]:
    """Look at every unfinished job, as the server does when it starts; returns those that still run."""
    return [job for job in folder.listed() if job.state in ACTIVE and reconcile(job) in ACTIVE]


def active() -> list[Job]:
    """Jobs that run or wait, the one that computes first."""
    running = reconcile_all()
    return sorted(running, key=lambda job: (job.state == "queued", job.status().get("created") or 0))


def wait(job: Job, poll_s: float = 0.2, timeout_s: float | None = None) -> str:
    """Wait for a job's end; returns its final state. Raises JobError, code timeout."""
    until = None if timeout_s is None else time.monotonic() + timeout_s
    while (state := reconcile(job)) not in FINAL:
        if until is not None and time.monotonic() > until:
            raise JobError(
                "timeout", "Still running", f"{job.name} is {state} after {timeout_s:.0f} s.", "Wait longer."
            )
        time.sleep(poll_s)
    return state


def _not_resumable(job: Job) -> JobError:
    state = job.state
    fix = "Only a stopped, failed or lost job goes on." if state == "finished" else "Stop it first."
    return JobError("not_resumable", "This job cannot be resumed", f"{job.name} is {state}.", fix)


def _alive(status: dict[str, Any]) -> bool:
    runner = process.alive(status.get("pid"), status.get("pid_started"))
    return runner or process.alive(status.get("worker_pid"), status.get("worker_started"))


def _launch(job: Job) -> None:
    with (job.folder / "output.log").open("ab") as log:
        runner = subprocess.Popen(
            [sys.executable, "-m", "ftui.jobs.runner", str(job.folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=launch.base_environment(),
            cwd=workspace.PROJECT,
            start_new_session=True,
        )
    # Written here too: a machine under load can need long before the runner itself writes it.
    job.update(pid=runner.pid, pid_started=process.started(runner.pid))
    _ours.append(runner)
    # Collect those of ours that ended: an uncollected child stays in the process table as a zombie.
    _ours[:] = [child for child in _ours if child.poll() is None]


_ours: list[subprocess.Popen[bytes]] = []
