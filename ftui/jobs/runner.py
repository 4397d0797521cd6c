"""The tiny process that owns a job's child: launches it, waits, records how it ended, serves stop requests.

`python -m ftui.jobs.runner FOLDER`, in a session of its own, so that neither a closed browser nor a killed
server touches it. It imports no torch. The child's output goes straight to a file: a pipe that nobody
reads fills up and blocks the child. The final state comes from what the worker wrote, since launchers
return misleading exit codes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from ftui import files, workspace
from ftui.errors import as_error
from ftui.jobs import launch, process
from ftui.jobs.folder import ACTIVE, Job, just_made, listed
from ftui.jobs.kinds import KINDS

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

POLL_S = 0.2
# A stop asked for in training waits for the step to end and the checkpoint to be written; a step of a large
# model on a slow machine takes minutes.
SAVE_DEADLINE_S = float(os.environ.get("FTUI_STOP_DEADLINE_S", "600"))
GRACE_S = 10.0
WAITS_FOR_WORKER = ("train", "evaluate", "save")


def main(folder: Path) -> int:
    """Run one job to its end. Returns 0 when the end was recorded, whatever it was."""
    job = Job(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    job.update(pid=os.getpid(), pid_started=process.started(os.getpid()))
    try:
        turn = _wait_for_turn(job)
        if turn is None and job.stop_asked():
            _end(job, None, "stopped before it began")
            return 0
        _end(job, _run(job, turn))
    except BaseException as fault:
        with (folder / "output.log").open("a") as log:
            traceback.print_exc(file=log)
        error = as_error(fault, "the log of this job")
        job.move("failed", ACTIVE, message=error.message, fix=error.fix, ended=time.time())
        job.event("failed", message=error.message)
        return 1
    return 0


def _wait_for_turn(job: Job) -> BinaryIO | None:
    """Wait until no earlier job computes. The lock is the kernel's, so it is freed however its holder dies."""
    if not KINDS[job.kind].compute or fcntl is None:
        return None
    lock = (workspace.jobs() / ".compute.lock").open("ab")
    while not job.stop_asked():
        if not _earlier_waiting(job):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            except BlockingIOError:
                pass
        time.sleep(POLL_S)
    lock.close()
    return None


def _earlier_waiting(job: Job) -> bool:
    mine = job.status().get("queued_at") or job.status().get("created") or 0
    for other in listed():
        if other.id == job.id or not KINDS.get(other.kind, KINDS["fetch"]).compute:
            continue
        status = other.status()
        coming = just_made(status) or process.alive(status.get("pid"), status.get("pid_started"))
        if status.get("state") != "queued" or not coming:
            continue
        theirs = status.get("queued_at") or status.get("created") or 0
        if (theirs, other.id) < (mine, job.id):
            return True
    return False


def _run(job: Job, turn: BinaryIO | None) -> int:
    command, environment = launch.command(job)
    job.move("starting", ("queued",), started=time.time(), phase="starting")
    with (job.folder / "output.log").open("ab") as log:
        log.write(f"$ {' '.join(command)}\n".encode())
        log.flush()
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=job.folder,
            start_new_session=True,
            # The child holds the turn too: should this runner be killed, the machine is not given away.
            pass_fds=(turn.fileno(),) if turn is not None else (),
        )
    job.update(worker_pid=child.pid, worker_started=process.started(child.pid))
    job.event("launched", command=command)
    signal.signal(signal.SIGTERM, lambda *_: _ask_stop(job))
    asked_at: float | None = None
    while child.poll() is None:
        mode = job.stop_asked()
        if mode and asked_at is None:
            asked_at = time.monotonic()
            job.move("stopping", ("queued", "starting", "running"))
            job.event("stop asked", mode=mode)
        if asked_at is not None:
            worker_saves = mode == "save" and job.status().get("phase") in WAITS_FOR_WORKER
            if not worker_saves or time.monotonic() - asked_at > SAVE_DEADLINE_S:
                process.end_group(child.pid, GRACE_S)
        time.sleep(POLL_S)
    # The launcher can be gone before its children: nothing of the group may stay behind.
    process.end_group(child.pid, 40.0)
    return child.returncode


def _ask_stop(job: Job) -> None:
    if not job.stop_asked():
        files.write_json(job.folder / "stop", {"mode": "save", "time": time.time()})


def _end(job: Job, exit_code: int | None, message: str = "") -> None:
    changes = final_status(job, exit_code)
    if message:
        changes["message"] = message
    job.update(**changes)
    job.event(str(changes["state"]), exit_code=exit_code, message=changes["message"])


def final_status(job: Job, exit_code: int | None) -> dict[str, Any]:
    """The status fields of a job whose processes are gone, from what the worker wrote.

    exit_code: the child's, negative for a signal; None where nobody saw it end.
    """
    result = job.result()
    outcome = result.get("outcome")
    common = {"ended": time.time(), "exit_code": exit_code, "worker_pid": None, "pid": None}
    if outcome == "failed":
        error = result.get("error", {})
        return common | {
            "state": "failed",
            "message": f"{error.get('title', 'Failed')}: {error.get('message', '')}",
            "fix": error.get("fix", ""),
        }
    if outcome in ("finished", "stopped"):
        return common | {"state": outcome, "message": result.get("message", ""), "fix": ""}
    if job.stop_asked():
        saved = job.checkpoints()
        kept = f"; {saved[-1].name} is kept" if saved else "; nothing had been saved yet"
        return common | {"state": "stopped", "message": f"stopped{kept}", "fix": ""}
    if exit_code is None:
        return common | {
            "state": "lost",
            "message": "Its processes are gone and left no word, as after a power cut.",
            "fix": "Resume goes on from the last complete checkpoint."
            if job.kind == "train"
            else "Start it again.",
        }
    return common | {"state": "failed"} | _unexplained(exit_code)


def _unexplained(exit_code: int) -> dict[str, str]:
    if exit_code in (-9, 137):
        return {
            "message": "The system killed the process, most often because memory ran out.",
            "fix": "Halve the batch size or the longest row, or choose a smaller model, and start again.",
        }
    return {
        "message": f"The process ended with exit code {exit_code} and without a word.",
        "fix": "The last lines of the log say more.",
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
