"""A registered model has a name, a version, an alias and a chat signature, and answers by its alias."""

from __future__ import annotations

from pathlib import Path

from ftui import workspace
from ftui.jobs import control
from ftui.jobs.folder import Job


def registered(run: Job, **values: str) -> Job:
    job = control.start("register", run.name, {"run": run.id, "name": "desk finder", **values})
    assert control.wait(job, timeout_s=400) == "finished", job.status()["message"] + job.log()[-3000:]
    return job


def test_a_run_is_registered_twice_and_the_alias_moves(trained: Job, home: Path, tmp_path: Path) -> None:
    """An export comes first, so that the first registration takes it, and the second one too."""
    export = control.start("export", trained.name, {"run": trained.id})
    assert control.wait(export, timeout_s=300) == "finished", export.log()[-3000:]

    first = registered(trained)
    result = first.result()
    assert (result["name"], result["version"], result["alias"]) == ("desk finder", 1, "champion")
    assert result["uri"] == "models:/desk finder@champion"
    assert result["registry"] == workspace.mlflow_uri()
    assert result["answer"].strip() and result["question"].endswith("desk?")
    assert result["signature"].startswith("messages")
    assert any(event["event"] == "taken from an earlier export" for event in first.events())
    assert {path.name for path in first.folder.iterdir()}.isdisjoint({"temporary", "model", "mlruns"})

    second = registered(trained)
    assert second.result()["version"] == 2
    _is_found_by_its_alias(trained, home)
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]


def _is_found_by_its_alias(trained: Job, home: Path) -> None:
    from mlflow import MlflowClient

    client = MlflowClient(workspace.mlflow_uri(), workspace.mlflow_uri())
    found = client.get_model_version_by_alias("desk finder", "champion")
    assert str(found.version) == "2"
    run = client.get_run(found.run_id)
    assert run.data.params["method.rank"] == str(trained.settings["method"]["rank"])
    assert run.data.metrics["final_loss"] == trained.result()["final_loss"]
    place = client.get_experiment(run.info.experiment_id).artifact_location
    assert place == (home / "mlflow-artifacts").as_uri()
    needed = next((home / "mlflow-artifacts").rglob("requirements.txt")).read_text().splitlines()
    assert all("==" in line and "+" not in line for line in needed)


def test_a_name_that_the_registry_refuses_fails_before_any_work(trained: Job) -> None:
    job = control.start("register", "bad", {"run": trained.id, "name": "desk/finder"})
    assert control.wait(job, timeout_s=60) == "failed"
    assert job.result()["error"]["code"] == "bad_name"
    assert not any(event.get("phase") == "load libraries" for event in job.events())
