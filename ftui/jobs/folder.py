"""A job as a folder: how it is made, read and listed. Layout and states are those of the design.

Two processes write `status.json`, the runner and the worker, each under the folder's lock, so that
no update is lost; readers need no lock because the file is replaced whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from ftui import files, workspace
from ftui.errors import JobError

State = Literal["queued", "starting", "running", "stopping", "finished", "stopped", "failed", "lost"]
FINAL = ("finished", "stopped", "failed", "lost")
ACTIVE = tuple(state for state in get_args(State) if state not in FINAL)
JOB_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Job:
    """A job's folder. Everything is read from disk when asked for."""

    folder: Path

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.folder.name

    def request(self) -> dict[str, Any]:
        """What `job.yaml` holds: schema_version, kind, name, settings."""
        path = self.folder / "job.yaml"
        try:
            return _read_request(path, path.stat().st_mtime_ns)
        except OSError:
            return {}

    @property
    def kind(self) -> str:
        """train, evaluate, export …, from the folder's name, which saves reading a file."""
        rest = self.id.split("-", 2)[-1]
        for kind in ("fetch-data", "convert", "train", "evaluate", "export", "register", "fetch"):
            if rest == kind or rest.startswith(f"{kind}-"):
                return kind
        return str(self.request().get("kind", ""))

    @property
    def settings(self) -> dict[str, Any]:
        """The request's settings as plain values."""
        value = self.request().get("settings")
        return value if isinstance(value, dict) else {}

    @property
    def name(self) -> str:
        """What the person called it."""
        return str(self.request().get("name") or self.id)

    def status(self) -> dict[str, Any]:
        """What `status.json` holds; state `lost` where the file is gone."""
        value = files.read_json(self.folder / "status.json")
        return value if isinstance(value, dict) else {"state": "lost", "phase": "", "progress": None}

    @property
    def state(self) -> str:
        """The state as it is written. `control.reconcile` makes sure that it is true."""
        return str(self.status().get("state", "lost"))

    def result(self) -> dict[str, Any]:
        """What the worker wrote at its end: outcome, measured figures, what was made, or the error."""
        value = files.read_json(self.folder / "result.json")
        return value if isinstance(value, dict) else {}

    def update(self, **changes: Any) -> dict[str, Any]:
        """Change fields of the status, all together."""
        with files.locked(self.folder / ".lock"):
            status = self.status() | changes
            files.write_json(self.folder / "status.json", status)
        return status

    def move(self, to: State, allowed: tuple[str, ...], **changes: Any) -> bool:
        """Change the state, only from one of the allowed ones; says whether it did."""
        with files.locked(self.folder / ".lock"):
            status = self.status()
            if status.get("state") not in allowed:
                return False
            files.write_json(self.folder / "status.json", status | {"state": to} | changes)
        return True

    def event(self, what: str, **more: Any) -> None:
        """Append to what happened and when."""
        files.append_json(self.folder / "events.jsonl", {"time": time.time(), "event": what, **more})

    def events(self) -> list[dict[str, Any]]:
        """What happened, oldest first."""
        return files.read_json_lines(self.folder / "events.jsonl")[0]

    def stop_asked(self) -> str:
        """How the stop file asks to stop: `save` or `now`; empty where nobody asked."""
        value = files.read_json(self.folder / "stop")
        return str(value.get("mode", "save")) if isinstance(value, dict) else ""

    def checkpoints(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        found = [path for path in (self.folder / "checkpoints").glob("checkpoint-*") if complete(path)]
        return sorted(found, key=lambda path: int(path.name.rsplit("-", 1)[1]))

    def log(self, last: int = 20_000) -> str:
        """The end of the raw output, at most `last` bytes, from the start of a line."""
        try:
            with (self.folder / "output.log").open("rb") as source:
                size = source.seek(0, 2)
                source.seek(max(0, size - last))
                text = source.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return text if size <= last else text.split("\n", 1)[-1]


@lru_cache(maxsize=4096)
def _read_request(path: Path, changed: int) -> dict[str, Any]:
    """A request is written once and read each second, and YAML is slow to read."""
    try:
        value = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def complete(checkpoint: Path) -> bool:
    """Whether a checkpoint was written to its end: a torn one must not be resumed.

    trl marks a save in progress with a file of its own; `trainer_state.json` is written after the weights.
    """
    number = checkpoint.name.rsplit("-", 1)[-1]
    return (
        number.isdigit()
        and (checkpoint / "trainer_state.json").is_file()
        and not (checkpoint / "checkpoint-is-incomplete.txt").exists()
        and any(checkpoint.glob("*.safetensors"))
    )


def just_made(status: dict[str, Any]) -> bool:
    """Whether a waiting job's runner may still be on its way: it needs a moment before it can write its pid."""
    since = status.get("queued_at") or status.get("created") or 0
    return status.get("pid") is None and status.get("state") == "queued" and time.time() - since < 15


def create(kind: str, name: str, settings: dict[str, Any]) -> Job:
    """Make the folder of a new job, in state `queued`. Two made in the same second get names of their own."""
    workspace.jobs().mkdir(parents=True, exist_ok=True)
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{kind}-{files.file_name(name)}"
    for number in range(1, 1000):
        folder = workspace.jobs() / (stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
            break
        except FileExistsError:
            continue
    job = Job(folder)
    request = {"schema_version": JOB_SCHEMA_VERSION, "kind": kind, "name": name, "settings": settings}
    files.write_text(folder / "job.yaml", yaml.safe_dump(request, sort_keys=False, allow_unicode=True))
    files.write_json(
        folder / "status.json",
        {
            "state": "queued",
            "phase": "",
            "progress": None,
            "pid": None,
            "pid_started": None,
            "created": time.time(),
            "started": None,
            "ended": None,
            "exit_code": None,
            "message": "",
            "fix": "",
        },
    )
    job.event("created")
    return job


def listed(kind: str = "") -> Iterator[Job]:
    """All jobs, newest first."""
    try:
        names = sorted((entry.name for entry in workspace.jobs().iterdir()), reverse=True)
    except FileNotFoundError:
        return
    for name in names:
        job = Job(workspace.jobs() / name)
        if not name.startswith(".") and job.folder.is_dir() and (not kind or job.kind == kind):
            yield job


def find(job_id: str) -> Job:
    """The job of that id, or of the only id that begins or ends so. Raises JobError, code no_such_job."""
    jobs = list(listed())
    exact = [job for job in jobs if job.id == job_id]
    close = [job for job in jobs if job_id and (job.id.startswith(job_id) or job.id.endswith(job_id))]
    found = exact or close
    if len(found) == 1:
        return found[0]
    if job_id == "last" and jobs:
        return jobs[0]
    several = f"{len(found)} jobs fit {job_id!r}" if found else f"There is no job {job_id!r}"
    raise JobError(
        "no_such_job",
        "No such job",
        f"{several} in {workspace.jobs()}.",
        "See the ids with: python -m ftui jobs list",
    )
