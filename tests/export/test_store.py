"""Where a model is registered: the workspace's own database, or what the person or the environment names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftui.errors import AccessError, FtuiError, SettingsError
from ftui.export import store


def test_the_workspaces_own_store_is_used_where_none_is_named(bare_home: Path) -> None:
    own = store.store("")
    assert own.registry == own.tracking == f"sqlite:///{bare_home / 'mlflow.db'}"
    assert own.is_own


def test_unity_catalog_takes_its_runs_to_databricks_too(bare_home: Path) -> None:
    assert store.store("databricks-uc") == store.Store("databricks", "databricks-uc")
    assert store.store("databricks-uc://work") == store.Store("databricks://work", "databricks-uc://work")


def test_the_environments_registry_is_used(bare_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://one.example:5000")
    assert store.store("") == store.Store("http://one.example:5000", "http://one.example:5000")
    monkeypatch.setenv("MLFLOW_REGISTRY_URI", "http://two.example:5000")
    assert store.store("") == store.Store("http://one.example:5000", "http://two.example:5000")
    assert not store.store("").is_own


def test_a_password_in_the_address_is_refused_and_one_of_the_environment_is_masked(
    bare_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError) as caught:
        store.store("postgresql://me:secret@db/mlflow")
    assert "secret" not in caught.value.message
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "postgresql://me:secret@db/mlflow")
    assert store.store("").words == "postgresql://…@db/mlflow"


def test_a_missing_databricks_login_names_the_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (
        "DATABRICKS_HOST",
        "DATABRICKS_TOKEN",
        "DATABRICKS_CLIENT_SECRET",
        "DATABRICKS_RUNTIME_VERSION",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATABRICKS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(AccessError) as caught:
        store.check_login(store.Store("databricks", "databricks-uc"))
    assert "DATABRICKS_HOST" in caught.value.fix and "DATABRICKS_TOKEN" in caught.value.fix
    monkeypatch.setenv("DATABRICKS_HOST", "https://x.example")
    monkeypatch.setenv("DATABRICKS_TOKEN", "t")
    store.check_login(store.Store("databricks", "databricks-uc"))


def test_a_registry_that_does_not_answer_is_said_with_its_address(bare_home: Path) -> None:
    from mlflow import MlflowClient

    wanted = store.Store("http://127.0.0.1:9", "http://127.0.0.1:9")
    with pytest.raises(FtuiError) as caught:
        store.check_reachable(MlflowClient(wanted.tracking, wanted.registry), wanted)
    assert caught.value.code == "not_reachable"
    assert "http://127.0.0.1:9" in caught.value.message
