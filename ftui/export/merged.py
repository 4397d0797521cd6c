"""The worker that makes an ordinary model folder of a run: `python -m ftui.export.merged FOLDER`.

The folder is written as `model.partial`, loaded anew, compared with the model it came from, and renamed.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftui import files, hardware
from ftui.export import dtype as formats
from ftui.export import weights
from ftui.export.card import card
from ftui.jobs import folder, report
from ftui.jobs.folder import Job
from ftui.jobs.kinds import ExportRequest
from ftui.models import source as sources
from ftui.models.source import Source

# What a checkpoint holds beside a model.
_NOT_THE_MODEL = (
    "optimizer*",
    "scheduler*",
    "rng_state*",
    "trainer_state*",
    "training_args*",
    "scaler*",
    "global_step*",
)


@dataclass(frozen=True)
class Wanted:
    """A run's result and the formats it is written and compared in."""

    job: Job
    checkpoint: str
    source: Source
    stored: str
    computed: str


def wanted(run: str, checkpoint: str) -> Wanted:
    """What is to be exported. Raises JobError where the run made no model."""
    job = folder.find(run)
    source = sources.of_run(job, checkpoint)
    machine = hardware.detect()
    stored = weights.dtype(source.tuned) if source.tuned else formats.stored(job, machine)
    return Wanted(job, checkpoint, source, stored, formats.computed(stored, machine))


def check_space(what: Wanted, target: Path, copies: int = 1) -> None:
    """Raise FtuiError, code disk_full, before anything is written."""
    needed = weights.size(what.source.tuned or what.source.base, what.stored) * copies
    weights.check_space(needed, shutil.disk_usage(target).free, target)


def make(reporter: report.Reporter, what: Wanted) -> dict[str, Any]:
    """Write, prove and name the folder `model` of this job; returns the fields of the result."""
    reporter.phase("load libraries")
    from ftui.export import verify
    from ftui.export.prompts import prompts
    from ftui.models.load import load_model, load_tokenizer

    reporter.check_stop()
    partial = reporter.job.folder / "model.partial"
    shutil.rmtree(partial, ignore_errors=True)
    source, trust = what.source, what.source.trust_remote_code

    reporter.phase("load the model")
    tokenizer = load_tokenizer(source.tokenizer, trust)
    questions, origin = prompts(what.job, tokenizer)
    texts = [prompt.text for prompt in questions]
    model = load_model(
        source.tuned or source.base, what.computed, adapter=source.adapter, trust_remote_code=trust
    )

    def told(done: int) -> None:
        reporter.progress(done, len(texts), "questions")
        reporter.check_stop()

    reporter.phase("ask the trained model")
    before = verify.observe(model, tokenizer, texts, told)
    reporter.phase("merge" if source.adapter else "copy")
    _write(model, what, partial)
    del model
    reporter.check_stop()

    reporter.phase("verify")
    written = load_model(partial, what.computed, trust_remote_code=trust)
    after = verify.observe(written, load_tokenizer(partial, trust), texts, told)
    del written
    proof = verify.check(verify.compare(before, after, what.stored, what.computed, origin))

    files.write_text(
        partial / "README.md", card(what.job, source, what.checkpoint, what.stored, proof.to_json())
    )
    whole = reporter.job.folder / "model"
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    return {
        "model": whole.name,
        "size_gb": files.folder_size(whole) / 1e9,
        "dtype": what.stored,
        "proof": proof.to_json(),
        "run": what.job.id,
        "checkpoint": what.checkpoint,
        "identity": weights.identity(source),
        "files": weights.hashes(whole),
        "message": f"{proof.words()}; {files.folder_size(whole) / 1e9:.2f} GB in {what.stored}",
    }


def _write(model: Any, what: Wanted, target: Path) -> None:
    if what.source.adapter is None:
        _copy(what.source.tuned or what.source.base, what.source.base, target)
        return
    import torch

    from ftui.export.merge import merge
    from ftui.models.load import load_tokenizer

    merge(model).to(getattr(torch, what.stored)).save_pretrained(target)
    load_tokenizer(what.source.tokenizer, what.source.trust_remote_code).save_pretrained(target)
    # The base's own settings for generation, as they are; saving the loaded ones would fill in defaults.
    for name in ("generation_config.json", *(path.name for path in what.source.base.glob("*.py"))):
        if (what.source.base / name).is_file():
            shutil.copyfile(what.source.base / name, target / name)


def _copy(model: Path, base: Path, target: Path) -> None:
    """A whole tuned model: weights as hard links where the disk allows; nobody changes them in place."""
    shutil.copytree(
        model, target, ignore=shutil.ignore_patterns(*_NOT_THE_MODEL, "README.md"), copy_function=_link
    )
    if not (target / "generation_config.json").exists() and (base / "generation_config.json").is_file():
        shutil.copyfile(base / "generation_config.json", target / "generation_config.json")


def _link(source: str, target: str) -> str:
    if source.endswith(".safetensors"):
        try:
            os.link(source, target)
            return target
        except OSError:
            pass
    return str(shutil.copyfile(source, target))


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Do what the job asks for."""
    request = ExportRequest.model_validate(reporter.job.settings)
    reporter.phase("look at the run")
    what = wanted(request.run, request.checkpoint)
    check_space(what, reporter.job.folder)
    return make(reporter, what)


if __name__ == "__main__":
    sys.exit(report.run(work))
