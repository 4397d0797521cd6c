"""Where models are registered: addresses, whether one may and can reach them, and MLflow set up for them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftui import workspace
from ftui.errors import AccessError, FtuiError, SettingsError
from ftui.export import names
from ftui.export.names import is_unity_catalog

EXPERIMENT = "ftui-models"
_PROBE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "15"}


@dataclass(frozen=True)
class Store:
    """tracking: where the MLflow run is recorded; registry: where the model gets its name."""

    tracking: str
    registry: str

    @property
    def words(self) -> str:
        """The registry's address without a login."""
        return re.sub(r"//[^/@]*@", "//…@", self.registry)

    @property
    def is_own(self) -> bool:
        """Whether it is a database in the workspace, whose files we place ourselves."""
        path = self.tracking.removeprefix("sqlite:///")
        return path != self.tracking and workspace.inside(Path(path), [workspace.home()])


def store(registry: str) -> Store:
    """The store that a request names; where it names none, the environment's, else the workspace's own.

    The environment's: MLFLOW_REGISTRY_URI, else MLFLOW_TRACKING_URI. Unity Catalog wants its runs on
    Databricks too. Raises SettingsError, code secret_in_address.
    """
    if re.search(r"//[^/@]*:[^/@]*@", registry):
        raise SettingsError(
            "secret_in_address",
            "A password does not belong here",
            "The registry's address holds one, and it would be written to the job's folder.",
            "Set the whole address as MLFLOW_TRACKING_URI in the environment and leave the field empty.",
        )
    chosen = registry or os.environ.get("MLFLOW_REGISTRY_URI") or workspace.mlflow_uri()
    if is_unity_catalog(chosen):
        return Store("databricks" + chosen.removeprefix("databricks-uc"), chosen)
    return Store(registry or workspace.mlflow_uri(), chosen)


def check_request(name: str, alias: str, registry: str) -> Store:
    """The store of a registration, with all that can be said before it starts: address, names and login.

    Raises SettingsError (secret_in_address, bad_name, bad_alias) or AccessError (no_login).
    """
    wanted = store(registry)
    names.check(name, alias, wanted.registry)
    check_login(wanted)
    return wanted


def check_login(wanted: Store) -> None:
    """Raise AccessError, code no_login, where Databricks is asked for and nothing says who one is."""
    if not wanted.registry.startswith("databricks") and not wanted.tracking.startswith("databricks"):
        return
    config = Path(os.environ.get("DATABRICKS_CONFIG_FILE") or "~/.databrickscfg").expanduser()
    host = os.environ.get("DATABRICKS_HOST")
    secret = os.environ.get("DATABRICKS_TOKEN") or os.environ.get("DATABRICKS_CLIENT_SECRET")
    if (host and secret) or config.is_file() or os.environ.get("DATABRICKS_RUNTIME_VERSION"):
        return
    missing = " and ".join(
        name for name, value in (("DATABRICKS_HOST", host), ("DATABRICKS_TOKEN", secret)) if not value
    )
    raise AccessError(
        "no_login",
        "Not logged in to Databricks",
        f"{missing} {'are' if ' and ' in missing else 'is'} not set, and there is no {config}.",
        "Set DATABRICKS_HOST and DATABRICKS_TOKEN in the environment that ftui is started in.",
    )


def use(wanted: Store, temporary: Path) -> Any:
    """MLflow's client, set up for a store and told to keep its temporary files in a folder of the job."""
    import tempfile

    temporary.mkdir(parents=True, exist_ok=True)
    # MLflow stages models in the temporary folder, which may be small, and lies outside the workspace.
    tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow

    mlflow.set_tracking_uri(wanted.tracking)
    mlflow.set_registry_uri(wanted.registry)
    return mlflow.MlflowClient(wanted.tracking, wanted.registry)


def check_reachable(client: Any, wanted: Store) -> None:
    """Ask the registry something small. Raises FtuiError, code not_reachable, with what it answered."""
    try:
        with _environment(_PROBE):
            if is_unity_catalog(wanted.registry):
                client.search_experiments(max_results=1)
            else:
                client.search_registered_models(max_results=1)
    except Exception as error:  # each kind of store has errors of its own
        raise _not_reachable(wanted, error) from error


def experiment(client: Any, wanted: Store, default: str = EXPERIMENT) -> str:
    """The id of an experiment; its files lie in the workspace where the store does.

    default: its name in the workspace's own store, and elsewhere unless MLFLOW_EXPERIMENT_NAME gives another.
    """
    # In the workspace's own store an experiment of that name may keep its files in the folder of some run.
    named = "" if wanted.is_own else os.environ.get("MLFLOW_EXPERIMENT_NAME", "")
    name = named or default
    if wanted.tracking.startswith("databricks") and not name.startswith("/"):
        name = f"/Shared/{name}"
    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    # A database that keeps its files nowhere in particular would put them into the folder of this job.
    path = wanted.tracking.removeprefix("sqlite:///")
    beside = Path(path).parent if path != wanted.tracking else None
    place = (beside / "mlflow-artifacts").as_uri() if beside else None
    return str(client.create_experiment(name, artifact_location=place))


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _not_reachable(wanted: Store, error: Exception) -> FtuiError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    first = re.sub(r"//[^/@\s]*@", "//…@", first)
    return FtuiError(
        "not_reachable",
        "The registry cannot be reached",
        f"{wanted.words} gave no answer: {first[:240]}",
        "Check the address and the login, or leave the registry empty to use the workspace's own.",
    )
