"""The training worker, phase by phase: fetch, prepare, load the model, train, save."""

from __future__ import annotations

import os
import shutil
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from transformers import set_seed
from trl import SFTConfig

from ftui import hardware, workspace
from ftui import settings as schema
from ftui.data.chosen import Chosen, one_kind
from ftui.data.fetching import fetch as fetch_data
from ftui.data.fetching import missing
from ftui.errors import DataError, JobError, ModelError, SettingsError
from ftui.export.store import experiment, store
from ftui.jobs.report import Reporter
from ftui.models.card import read_card
from ftui.models.fetch import fetch
from ftui.models.load import load_model
from ftui.models.memory import estimate
from ftui.templates.build import Tokens
from ftui.templates.selection import Selected, select, whole
from ftui.training.arguments import check_extra, lora, sft_arguments
from ftui.training.callbacks import FolderCallback, peak_memory_gb
from ftui.training.rows import check_stage, dataset, questions
from ftui.training.sampler import Trainer


def train(reporter: Reporter) -> dict[str, Any]:
    """Do the whole run; returns the fields of `result.json`."""
    settings = schema.parse(reporter.job.settings, str(reporter.job.folder / "job.yaml"))
    machine = hardware.detect()
    check_extra(settings.training.extra)
    # The others wait while the first process fetches a model, which can take hours.
    state = PartialState(cpu=not machine.has_gpu, timeout=timedelta(hours=24))
    _check_processes(settings, machine, state)
    model_folder = _fetch(reporter, settings, state)
    reporter.check_stop()
    tokens = Tokens(model_folder, settings.data, settings.model.trust_remote_code)
    chosen, train_rows, held_rows = _prepare(reporter, settings, tokens, state)
    tokenizer = tokens.tokenizer
    reporter.check_stop()

    reporter.phase("load the model")
    # Before the adapter is made: its first weights are random, and the same seed must give the same run.
    set_seed(settings.training.seed)
    dtype, dtype_reason = schema.dtype(settings, machine)
    model = load_model(
        model_folder,
        _load_dtype(settings, dtype, machine),
        attention=settings.model.attention,
        trust_remote_code=settings.model.trust_remote_code,
    )
    reporter.check_stop()
    callback = FolderCallback(reporter, state.num_processes)
    trainer = _trainer(reporter, settings, machine, model, tokenizer, train_rows, held_rows, callback)
    trainable, total = trainer.model.num_parameters(only_trainable=True), trainer.model.num_parameters()

    began = time.monotonic()
    resumed = reporter.job.checkpoints()
    trainer.train(resume_from_checkpoint=str(resumed[-1]) if resumed else None)
    seconds = time.monotonic() - began
    losses = [point["loss"] for point in trainer.state.log_history if "loss" in point]
    held = [point["eval_loss"] for point in trainer.state.log_history if "eval_loss" in point]
    measured = {
        "step": trainer.state.global_step,
        "steps": trainer.state.max_steps,
        "seconds": seconds,
        "final_loss": losses[-1] if losses else None,
        "final_eval_loss": held[-1] if held else None,
        "best_eval_loss": min(held, default=None),
        "peak_memory_gb": peak_memory_gb(),
        "estimated_memory_gb": _estimated(model_folder, settings, machine, train_rows),
        "trainable_parameters": trainable,
        "parameters": total,
        "dtype": dtype,
        "dtype_reason": dtype_reason,
        "learning_rate": schema.learning_rate(settings)[0],
        "processes": state.num_processes,
        "rows": len(train_rows),
        "held_out": len(held_rows),
        "held_out_origin": chosen.origin,
    }
    if callback.stopped:
        kept = reporter.job.checkpoints()
        where = f"; {kept[-1].name} is kept" if kept else "; nothing was kept"
        message = f"stopped at step {trainer.state.global_step:,} of {trainer.state.max_steps:,}{where}"
        return measured | {"outcome": "stopped", "message": message}
    reporter.phase("save")
    folder = _save(reporter, trainer, tokenizer, state, settings)
    return measured | {"model": folder, "message": f"trained {trainer.state.global_step:,} steps"}


def _check_processes(settings: schema.Settings, machine: hardware.Hardware, state: PartialState) -> None:
    """accelerate can start fewer processes than asked for without a word: compare before anything loads."""
    asked, _ = schema.processes(settings, machine)
    if state.num_processes != asked:
        raise JobError(
            "wrong_launch",
            "Not started as asked",
            f"{asked} processes were asked for and {state.num_processes} run ({state.distributed_type}).",
            "Set launch.strategy to single, or report this with the log.",
        )


def _fetch(reporter: Reporter, settings: schema.Settings, state: PartialState) -> Path:
    reporter.phase("fetch the model")
    # The first process of a machine fetches, the others find what it brought.
    with state.local_main_process_first():
        return fetch(settings.model.id, settings.model.revision, reporter.fetching)


def _prepare(
    reporter: Reporter, settings: schema.Settings, tokens: Tokens, state: PartialState
) -> tuple[Chosen, Selected, Selected]:
    """The rows as tokens. The first process of a machine makes what is not there yet, the others open it."""
    with state.local_main_process_first():
        for name in missing(settings.data):
            reporter.phase("fetch the data set")
            fetch_data(name, reporter.rows)
        reporter.phase("prepare the data")

        def told(done: int, total: int, rows: int) -> None:
            reporter.progress(done, total, "bytes")
            reporter.check_stop()

        chosen, train_rows, held_rows = select(tokens, told)
    one_kind(chosen)
    check_stage(settings.training.stage, [look.report for look in chosen.looks])
    all_rows = whole(tokens, chosen)
    reporter.write(
        "data-report.json",
        chosen.report
        | {
            "mixed": [look.report for look in chosen.looks[1:]],
            "lengths": all_rows.account(),
            "template_dropped": all_rows.dropped,
            "trained": train_rows.account(),
            "held_out": {
                "origin": chosen.origin,
                "rows": len(chosen.validation),
                "questions": questions(chosen.validation),
                **held_rows.account(),
            },
        },
    )
    if not len(train_rows):
        first = train_rows.dropped[0]
        raise DataError(
            first["reason"],
            "No row can be learned from",
            f"All {len(train_rows.dropped):,} rows were dropped; row {first['row']}: {first['message']}",
            "Raise data.max_length if answers are cut off, or see the Data tab.",
        )
    return chosen, train_rows, held_rows


def _load_dtype(settings: schema.Settings, dtype: str, machine: hardware.Hardware) -> str:
    """float16 weights cannot be trained by themselves (their gradients cannot be unscaled): keep float32 ones."""
    if dtype == "float16" and (settings.method.kind == "full" or not machine.has_gpu):
        return "float32"
    return dtype


def _trainer(
    reporter: Reporter,
    settings: schema.Settings,
    machine: hardware.Hardware,
    model: Any,
    tokenizer: Any,
    train_rows: Selected,
    held_rows: Selected,
    callback: FolderCallback,
) -> Trainer:
    if settings.tracking.mlflow and reporter.main:
        _track(settings.tracking.experiment)
    fields = sft_arguments(settings, machine, reporter.job.folder, bool(len(held_rows)))
    try:
        arguments = SFTConfig(**fields)
        return Trainer(
            model=model,
            args=arguments,
            train_dataset=dataset(train_rows),
            eval_dataset=dataset(held_rows) if len(held_rows) else None,
            processing_class=tokenizer,
            peft_config=lora(settings),
            callbacks=[callback],
            lengths=train_rows.lengths.tolist() if settings.training.group_by_length else None,
        )
    except (ValueError, TypeError, ImportError) as refusal:
        if "target_modules" in str(refusal).lower() or "target modules" in str(refusal).lower():
            raise _no_such_layers(settings, model) from refusal
        raise SettingsError(
            "refused",
            "trl refuses these settings",
            f"It says: {str(refusal).strip().splitlines()[0][:400]}",
            "Change the settings it names.",
        ) from refusal


def _track(name: str) -> None:
    """Name the place and the experiment to transformers' MLflow callback; its files stay in the workspace."""
    from mlflow import MlflowClient

    wanted = store("")
    os.environ["MLFLOW_TRACKING_URI"] = wanted.tracking
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    client = MlflowClient(wanted.tracking)
    os.environ["MLFLOW_EXPERIMENT_NAME"] = client.get_experiment(experiment(client, wanted, name)).name


def _no_such_layers(settings: schema.Settings, model: Any) -> SettingsError:
    linear = sorted(
        {
            name.rsplit(".", 1)[-1]
            for name, module in model.named_modules()
            if isinstance(module, torch.nn.Linear) and not name.endswith("lm_head")
        }
    )
    return SettingsError(
        "no_such_layers",
        "LoRA finds no such layers",
        f"method.targets is {', '.join(settings.method.targets)}; the model has {', '.join(linear)}.",
        "Name some of these, or use all-linear.",
    )


def _save(
    reporter: Reporter, trainer: Trainer, tokenizer: Any, state: PartialState, settings: schema.Settings
) -> str:
    """Write the result beside, then rename: a folder called `model` is a whole one."""
    folder = reporter.job.folder / "model"
    partial = reporter.job.folder / "model.partial"
    if state.is_main_process:
        shutil.rmtree(partial, ignore_errors=True)
    state.wait_for_everyone()
    trainer.save_model(str(partial))
    state.wait_for_everyone()
    if state.is_main_process:
        tokenizer.save_pretrained(str(partial))
        (partial / "training_args.bin").unlink(missing_ok=True)
        if not list(partial.glob("*.safetensors")):
            raise ModelError(
                "not_saved",
                "The model was not saved",
                f"{partial} holds no weights.",
                "See the log of this run.",
            )
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
        if settings.output.directory:
            copy = workspace.check_writable(settings.output.directory)
            shutil.copytree(folder, copy, dirs_exist_ok=True)
            reporter.event("copied", to=str(copy))
    state.wait_for_everyone()
    return folder.name


def _estimated(
    model_folder: Path, settings: schema.Settings, machine: hardware.Hardware, rows: Selected
) -> float | None:
    longest = int(rows.lengths.max()) if len(rows) else None
    try:
        return estimate(read_card(model_folder), settings, machine, longest=longest).total_gb
    except ModelError:
        # A model whose shape is unknown still trains; there is just nothing to compare with.
        return None
