"""What a run or a model name means as folders: the base model, and what was tuned on top of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftui import files, settings
from ftui.errors import JobError, ModelError
from ftui.jobs import folder
from ftui.models.find import find, is_starter, label


@dataclass(frozen=True)
class Source:
    """base: folder of the model that was tuned. adapter: LoRA weights on top. tuned: a whole tuned model.

    At most one of adapter and tuned is set; with neither, it is a plain model.
    """

    name: str
    base: Path
    adapter: Path | None = None
    tuned: Path | None = None
    trust_remote_code: bool = False

    @property
    def has_tuned(self) -> bool:
        """Whether there is something to compare with the base."""
        return self.adapter is not None or self.tuned is not None

    @property
    def tokenizer(self) -> Path:
        """The folder whose tokenizer is used: the tuned one, since training may have changed it."""
        return self.adapter or self.tuned or self.base

    def to_json(self) -> dict[str, Any]:
        """Plain values, as sent to a child process."""
        return {
            "name": self.name,
            "base": str(self.base),
            "adapter": str(self.adapter) if self.adapter else None,
            "tuned": str(self.tuned) if self.tuned else None,
            "trust_remote_code": self.trust_remote_code,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Source:
        """The source that `to_json` described."""
        return cls(
            value["name"],
            Path(value["base"]),
            Path(value["adapter"]) if value.get("adapter") else None,
            Path(value["tuned"]) if value.get("tuned") else None,
            bool(value.get("trust_remote_code")),
        )


def of_model(model_id: str, revision: str = "", trust_remote_code: bool = False) -> Source:
    """A plain model that is on this machine. Raises ModelError, code not_here."""
    found = find(model_id, revision)
    if found is None:
        raise ModelError(
            "not_here",
            "The model is not on this machine yet",
            f"{label(model_id)} has not been fetched.",
            f"Fetch it on the Train tab, or with: python -m ftui fetch {model_id}",
        )
    return Source(label(model_id), found, trust_remote_code=trust_remote_code)


def of_run(job: folder.Job, checkpoint: str = "") -> Source:
    """A training job's result, or one of its checkpoints. Raises JobError where there is none."""
    if job.kind != "train":
        raise JobError(
            "no_model",
            "This job made no model",
            f"{job.name} is a job of kind {job.kind}.",
            "Choose a training run.",
        )
    chosen = settings.parse(job.settings, str(job.folder / "job.yaml"))
    base = of_model(chosen.model.id, chosen.model.revision, chosen.model.trust_remote_code)
    tuned = _tuned_folder(job, checkpoint)
    if (tuned / "adapter_config.json").is_file():
        return Source(job.name, base.base, adapter=tuned, trust_remote_code=base.trust_remote_code)
    return Source(job.name, base.base, tuned=tuned, trust_remote_code=base.trust_remote_code)


def resolve(run_or_model: str, checkpoint: str = "") -> Source:
    """A run by its id, else a model by its name or folder."""
    if is_starter(run_or_model) or (Path(run_or_model).expanduser() / "config.json").is_file():
        return of_model(run_or_model)
    try:
        job = folder.find(run_or_model)
    except JobError as missing:
        try:
            return of_model(run_or_model)
        except ModelError:
            looks_like_a_job = run_or_model[:8].isdigit()
            if looks_like_a_job:
                raise missing from None
            raise
    return of_run(job, checkpoint)


def _tuned_folder(job: folder.Job, checkpoint: str) -> Path:
    saved = job.checkpoints()
    if checkpoint:
        for path in saved:
            if path.name == checkpoint:
                return path
        raise JobError(
            "no_checkpoint",
            "No such checkpoint",
            f"{job.name} has no complete checkpoint {checkpoint!r}.",
            f"Choose one of: {', '.join(path.name for path in saved) or 'none yet'}.",
        )
    whole = job.folder / "model"
    if (whole / "config.json").is_file() or (whole / "adapter_config.json").is_file():
        return whole
    if saved:
        return saved[-1]
    raise JobError(
        "no_model",
        "There is no model yet",
        f"{job.name} is {job.state} and has saved nothing so far.",
        "Wait for its first checkpoint, or resume it.",
    )


def manifest(model: Path) -> dict[str, Any]:
    """What is known of where a model came from; empty where nothing is."""
    value = files.read_json(model / "manifest.json")
    return value if isinstance(value, dict) else {}
