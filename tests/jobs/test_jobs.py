"""Jobs with real processes: the folder is the only truth, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from ftui import files
from ftui.errors import JobError, SettingsError
from ftui.jobs import control, curves, folder, kinds, process
from ftui.jobs.folder import Job
from tests.conftest import processes_of, wait_for

WORKER = """
import sys, time
from pathlib import Path
from ftui.jobs import report

def work(reporter):
    reporter.phase("train" if "{mode}" == "saves" else "{phase}")
    for step in range(1, {steps} + 1):
        time.sleep(0.1)
        reporter.progress(step, {steps}, "steps")
        reporter.metric(step=step, loss=1 / step)
        if reporter.stop_asked() and "{mode}" == "saves":
            return {{"outcome": "stopped", "message": f"stopped at step {{step}}", "step": step}}
    if "{mode}" == "breaks":
        raise ValueError("a broken worker")
    return {{"message": "done", "step": {steps}}}

sys.exit(report.run(work))
"""


@pytest.fixture
def start(bare_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Start a job of kind evaluate whose worker is a small script instead of a model's."""

    def begin(mode: str = "", steps: int = 5, phase: str = "prepare", name: str = "toy") -> Job:
        module = tmp_path / f"toy_{mode or 'plain'}_{steps}_{phase}.py"
        module.write_text(WORKER.format(mode=mode, steps=steps, phase=phase))
        job = folder.create("evaluate", name, {"run": "x"})
        # The runner reads the kind's module from the table, so the toy is put where that name leads.
        stand_in = tmp_path / "site" / "sitecustomize.py"
        stand_in.parent.mkdir(exist_ok=True)
        stand_in.write_text(
            "import os\n"
            "if os.environ.get('FTUI_TOY'):\n"
            "    import ftui.jobs.kinds as kinds, dataclasses\n"
            "    kinds.KINDS['evaluate'] = dataclasses.replace(\n"
            "        kinds.KINDS['evaluate'], module=os.environ['FTUI_TOY'])\n"
        )
        monkeypatch.setenv("PYTHONPATH", f"{stand_in.parent}{os.pathsep}{tmp_path}")
        monkeypatch.setenv("FTUI_TOY", module.stem)
        control._launch(job)
        return job

    return begin


def test_a_job_runs_in_a_process_of_its_own_and_ends_finished(start) -> None:  # type: ignore[no-untyped-def]
    job = start()
    assert control.wait(job, timeout_s=30) == "finished"
    status = job.status()
    assert (status["exit_code"], status["message"], status["pid"]) == (0, "done", None)
    assert status["progress"] == {"done": 5, "total": 5, "unit": "steps", "eta_s": 0.0}
    assert [event["event"] for event in job.events()][:2] == ["created", "launched"]
    assert len(curves.points(job.folder)) == 5


def test_a_stop_request_is_served_without_any_server_and_keeps_the_step(start) -> None:  # type: ignore[no-untyped-def]
    job = start("saves", steps=300)
    wait_for(lambda: (job.status()["progress"] or {}).get("done", 0) >= 2)
    asked = time.monotonic()
    control.stop(job)
    assert job.state == "stopping"
    assert control.wait(job, timeout_s=20) == "stopped"
    assert time.monotonic() - asked < 10
    assert "stopped at step" in job.status()["message"]


def test_a_phase_that_cannot_save_is_ended_at_once(start) -> None:  # type: ignore[no-untyped-def]
    job = start(steps=600)
    wait_for(lambda: job.state == "running")
    control.stop(job)
    assert control.wait(job, timeout_s=20) == "stopped"
    wait_for(lambda: not processes_of(job.folder.parent.parent), 10)


def test_stop_now_does_not_wait_for_a_worker_that_saves(start) -> None:  # type: ignore[no-untyped-def]
    job = start("saves", steps=600)
    wait_for(lambda: job.state == "running")
    control.stop(job, "now")
    assert control.wait(job, timeout_s=20) == "stopped"


def test_a_broken_worker_fails_with_words_and_its_traceback_is_in_the_log(start) -> None:  # type: ignore[no-untyped-def]
    job = start("breaks", steps=1)
    assert control.wait(job, timeout_s=30) == "failed"
    assert "a broken worker" in job.status()["message"]
    assert job.status()["fix"]
    assert "Traceback" in job.log()
    assert "Traceback" not in job.status()["message"]


def test_a_worker_killed_by_the_system_is_failed_and_says_why(start) -> None:  # type: ignore[no-untyped-def]
    job = start(steps=600)
    worker = wait_for(lambda: job.state == "running" and job.status().get("worker_pid"))
    os.kill(worker, signal.SIGKILL)
    assert control.wait(job, timeout_s=20) == "failed"
    assert "memory" in job.status()["message"]


def test_a_job_whose_processes_are_all_gone_is_lost_and_can_be_resumed(start) -> None:  # type: ignore[no-untyped-def]
    job = start(steps=600)
    wait_for(lambda: job.state == "running")
    for name in ("pid", "worker_pid"):
        os.kill(job.status()[name], signal.SIGKILL)
    wait_for(lambda: control.reconcile(job) == "lost", 20)
    assert "Start it again" in job.status()["fix"]
    assert control.resume(job).status()["state"] in ("queued", "starting", "running")


def test_a_killed_runner_leaves_the_worker_running_and_the_state_true(start) -> None:  # type: ignore[no-untyped-def]
    job = start(steps=30)
    wait_for(lambda: job.state == "running")
    os.kill(job.status()["pid"], signal.SIGKILL)
    time.sleep(0.5)
    assert control.reconcile(job) == "running"
    assert control.wait(job, timeout_s=20) == "finished"


def test_a_pid_that_belongs_to_another_process_is_not_taken_for_ours(bare_home: Path) -> None:
    me = psutil.Process()
    assert process.alive(me.pid, me.create_time())
    assert not process.alive(me.pid, me.create_time() - 100)
    assert not process.alive(me.pid, None)


def test_two_jobs_take_turns_and_the_earlier_one_goes_first(start) -> None:  # type: ignore[no-untyped-def]
    first, second = start(steps=15, name="first"), start(steps=2, name="second")
    wait_for(lambda: first.state == "running")
    assert control.reconcile(second) == "queued"
    assert control.wait(second, timeout_s=40) == "finished"
    assert first.status()["ended"] <= second.status()["started"]


def test_a_waiting_job_can_be_stopped(start) -> None:  # type: ignore[no-untyped-def]
    first, second = start(steps=100, name="first"), start(steps=2, name="second")
    wait_for(lambda: first.state == "running" and second.status()["pid"])
    control.stop(second)
    assert control.wait(second, timeout_s=10) == "stopped"
    control.stop(first, "now")
    control.wait(first, timeout_s=20)


def test_two_jobs_made_in_the_same_second_have_folders_of_their_own(bare_home: Path) -> None:
    made = {folder.create("train", "Same name!", {}).id for _ in range(5)}
    assert len(made) == 5
    assert all("-train-same-name" in name for name in made)


def test_a_running_job_is_not_removed(start) -> None:  # type: ignore[no-untyped-def]
    job = start(steps=600)
    wait_for(lambda: job.state == "running")
    with pytest.raises(JobError, match="still running"):
        control.remove(job)
    control.stop(job, "now")
    control.wait(job, timeout_s=20)
    assert control.remove(job) > 0
    assert not job.folder.exists()


def test_a_job_is_found_by_the_end_of_its_id_and_an_unknown_one_says_where_to_look(bare_home: Path) -> None:
    job = folder.create("train", "one", {})
    assert folder.find("train-one").id == job.id
    with pytest.raises(JobError, match="jobs list"):
        folder.find("nothing")


def test_every_kind_names_a_module_that_is_there() -> None:
    import importlib.util

    for kind in kinds.KINDS.values():
        assert importlib.util.find_spec(kind.module), kind.name


def test_a_request_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(SettingsError, match="colour"):
        kinds.request("export", {"run": "x", "colour": "red"})


def test_a_torn_last_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1}\n{"st')
    rows, offset = files.read_json_lines(path)
    assert rows == [{"step": 1}]
    with path.open("ab") as more:
        more.write(b'ep": 2}\n')
    assert files.read_json_lines(path, offset)[0] == [{"step": 2}]


def test_a_status_that_is_being_replaced_is_never_half_read(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    for number in range(50):
        files.write_json(path, {"number": number, "long": "x" * 10_000})
        assert json.loads(path.read_text())["number"] == number
    assert [entry.name for entry in tmp_path.iterdir()] == ["status.json"]


def test_a_checkpoint_without_its_last_file_is_not_one(bare_home: Path) -> None:
    job = folder.create("train", "one", {})
    for step, names in (
        (2, ["adapter_model.safetensors", "trainer_state.json"]),
        (4, ["adapter_model.safetensors"]),
    ):
        where = job.folder / "checkpoints" / f"checkpoint-{step}"
        where.mkdir(parents=True)
        for name in names:
            (where / name).write_text("{}")
    assert [path.name for path in job.checkpoints()] == ["checkpoint-2"]
    (job.folder / "checkpoints" / "checkpoint-2" / "checkpoint-is-incomplete.txt").write_text("")
    assert job.checkpoints() == []
