"""The kinds of job there are, what each asks for, and which module does its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ftui import settings as schema
from ftui.errors import SettingsError


class Request(BaseModel):
    """What a job is asked to do; written to `job.yaml` as its settings."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class FetchRequest(Request):
    """Bring a model to this machine."""

    model: str = Field("starter", min_length=1)
    revision: str = ""


class FetchDataRequest(Request):
    """Bring a data set of the hub to this machine."""

    dataset: str = Field(min_length=1)


class ConvertRequest(Request):
    """Write prepared rows as clean JSON lines into the workspace's data folder. out: the name of the new set."""

    data: schema.DataSettings
    out: str = Field(min_length=1, max_length=80)


class EvaluateRequest(Request):
    """Measure base and tuned model on rows that were not trained on.

    run: id of a training job, or a model folder or name. checkpoint: its folder name, or empty for the
    result. data: a file, or empty for the run's own held-out rows.
    """

    run: str = Field(min_length=1)
    checkpoint: str = ""
    data: str = ""
    max_rows: int | None = Field(None, ge=1)


class ExportRequest(Request):
    """Turn a run's result into a form that other programs take."""

    run: str = Field(min_length=1)
    checkpoint: str = ""
    to: str = Field("merged", pattern="^merged$")


class RegisterRequest(Request):
    """Put a run's result into MLflow's model registry."""

    run: str = Field(min_length=1)
    checkpoint: str = ""
    name: str = Field(min_length=1)
    alias: str = "champion"
    registry: str = ""


@dataclass(frozen=True)
class Kind:
    """module: run with the job's folder as its argument. compute: waits for its turn on the machine."""

    name: str
    module: str
    request: type[BaseModel]
    compute: bool


KINDS = {
    kind.name: kind
    for kind in (
        Kind("train", "ftui.training", schema.Settings, compute=True),
        Kind("evaluate", "ftui.evaluate", EvaluateRequest, compute=True),
        Kind("export", "ftui.export.merged", ExportRequest, compute=True),
        Kind("register", "ftui.export.registry", RegisterRequest, compute=True),
        Kind("fetch", "ftui.models.job", FetchRequest, compute=False),
        Kind("fetch-data", "ftui.data.job", FetchDataRequest, compute=False),
        Kind("convert", "ftui.data.converting", ConvertRequest, compute=False),
    )
}


def request(kind: str, values: dict[str, Any]) -> BaseModel:
    """The checked request of a job. Raises SettingsError with every problem named."""
    if kind == "train":
        return schema.parse(values)
    try:
        return KINDS[kind].request.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(f"`{'.'.join(map(str, item['loc']))}`: {item['msg']}" for item in error.errors())
        raise SettingsError(
            "bad_settings", f"This {kind} cannot be started", f"{problems}.", "Mend the field it names."
        ) from None
