"""What the tests share: a workspace of their own, the starter model fetched once, one small finished run.

Nothing may stay behind: after each test its workspace's jobs are stopped, and no process that was started for it
may still live.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from ftui import settings as schema
from ftui import workspace
from ftui.jobs import control, folder, process
from ftui.jobs.folder import Job

ROOT = Path(__file__).resolve().parent.parent
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"


@pytest.fixture
def bare_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace with nothing in it."""
    home = tmp_path / "workspace"
    home.mkdir()
    monkeypatch.setenv("FTUI_HOME", str(home))
    for name in ("FTUI_DATA_ROOTS", "FTUI_AUTH", "MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI"):
        monkeypatch.delenv(name, raising=False)
    yield home
    _end_all(home)


@pytest.fixture
def home(bare_home: Path, starter: Path) -> Path:
    """A workspace that already has the starter model, as hard links."""
    _link_tree(starter, bare_home / "models" / starter.name)
    return bare_home


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the starter model, fetched and converted once a session, as a person's first start does it."""
    from ftui.models.fetch import fetch

    kept, own = os.environ.get("FTUI_HOME"), tmp_path_factory.mktemp("starter")
    os.environ["FTUI_HOME"] = str(own)
    try:
        return fetch("starter")
    finally:
        _restore(kept)


@pytest.fixture(scope="session")
def rows_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Small question and answer files: (48 rows to train, 24 held out)."""
    where = tmp_path_factory.mktemp("rows")
    names = ["Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal", "Ivy", "Jo", "Kit", "Lea"]
    rows = [
        {"question": f"{ask} {name}'s desk?", "answer": f"{name} sits at desk {number + 11}."}
        for ask in (
            "Where is",
            "What number has",
            "Can you tell me",
            "Do you know",
            "Which one is",
            "Tell me",
        )
        for number, name in enumerate(names)
    ]
    train, held = where / "train.jsonl", where / "held-out.jsonl"
    for path, part in ((train, rows[:48]), (held, rows[48:])):
        path.write_text("".join(json.dumps(row) + "\n" for row in part), "utf-8")
    return train, held


@pytest.fixture
def small(rows_files: tuple[Path, Path]) -> Callable[..., schema.Settings]:
    """Make the settings of a run of seconds; changes by dotted name: `small(**{"training.max_steps": 2})`."""
    train, held = rows_files

    def make(**changes: Any) -> schema.Settings:
        values = {
            "name": "small",
            "data.train": str(train),
            "data.validation": str(held),
            "data.max_length": 96,
            "method.rank": 4,
            "training.max_steps": 4,
            "training.batch_size": 4,
            "training.learning_rate": 1e-3,
            "evaluation.steps": 4,
        }
        return schema.unflatten(values | changes)

    return make


@pytest.fixture(scope="session")
def finished_run(
    starter: Path, rows_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """(workspace, job id) of one small LoRA run on the starter model, trained once a session."""
    kept, own = os.environ.get("FTUI_HOME"), tmp_path_factory.mktemp("trained")
    os.environ["FTUI_HOME"] = str(own)
    try:
        _link_tree(starter, own / "models" / starter.name)
        train, held = rows_files
        values = {
            "name": "desk finder",
            "data.train": str(train),
            "data.validation": str(held),
            "data.max_length": 96,
            "training.max_steps": 12,
            "training.batch_size": 4,
            "training.learning_rate": 1e-3,
            "training.save_steps": 6,
            "evaluation.steps": 6,
        }
        settings = schema.unflatten(values)
        job = control.start("train", settings.name, settings.model_dump())
        state = control.wait(job, timeout_s=300)
        assert state == "finished", job.status()["message"] + job.log()[-3000:]
        return own, job.id
    finally:
        _restore(kept)


@pytest.fixture
def trained(home: Path, finished_run: tuple[Path, str]) -> Job:
    """A finished training run in this test's own workspace; 24 of its rows are held out."""
    where, run = finished_run
    shutil.copytree(where / "jobs" / run, home / "jobs" / run)
    return folder.find(run)


@pytest.fixture
def ftui(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as a person does: `ftui("jobs", "list", "--json")`."""

    def run(*arguments: str, timeout: float = 120, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ftui", *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **changes},
        )

    return run


def wait_for(what: Callable[[], Any], timeout_s: float = 60, every_s: float = 0.1) -> Any:
    """Wait until `what()` is true, and return it."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(every_s)
    raise AssertionError(f"not so within {timeout_s:.0f} s")


def processes_of(home: Path) -> list[psutil.Process]:
    """Live processes, other than this one, that were started for a workspace."""
    found = []
    for running in psutil.process_iter():
        try:
            mine = running.environ().get("FTUI_HOME") == str(home)
            if mine and running.pid != os.getpid() and running.status() != psutil.STATUS_ZOMBIE:
                found.append(running)
        except psutil.Error:
            continue
    return found


def _end_all(home: Path) -> None:
    os.environ["FTUI_HOME"] = str(home)
    for job in control.active():
        control.stop(job, "now")
    until = time.monotonic() + 20
    while time.monotonic() < until and processes_of(home):
        time.sleep(0.1)
    left = processes_of(home)
    said = [f"{running.pid} {' '.join(running.cmdline())[:200]}" for running in left]
    for running in left:
        process.end_group(running.pid, 1)
    assert not said, f"left behind: {said}"


def _link_tree(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for path in source.iterdir():
        os.link(path, target / path.name)


def _restore(kept: str | None) -> None:
    if kept is None:
        os.environ.pop("FTUI_HOME", None)
    else:
        os.environ["FTUI_HOME"] = kept


def pytest_configure(config: pytest.Config) -> None:
    """Where no workspace is named, tests must not touch the person's own."""
    os.environ.setdefault("FTUI_HOME", str(workspace.home() / ".none"))
