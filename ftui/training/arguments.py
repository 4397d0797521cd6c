"""Settings to the fields of trl's SFTConfig and peft's LoraConfig."""

from __future__ import annotations

import dataclasses
import difflib
from pathlib import Path
from typing import Any

from peft import LoraConfig
from trl import SFTConfig

from ftui import settings as schema
from ftui.errors import SettingsError
from ftui.hardware import Hardware


def sft_arguments(
    settings: schema.Settings, hardware: Hardware, folder: Path, has_validation: bool
) -> dict[str, Any]:
    """The fields of SFTConfig that these settings stand for; `extra` has the last word."""
    training, dtype = settings.training, schema.dtype(settings, hardware)[0]
    rate, _ = schema.learning_rate(settings)
    fields: dict[str, Any] = {
        "output_dir": str(folder / "checkpoints"),
        "learning_rate": rate,
        "num_train_epochs": training.epochs,
        "max_steps": training.max_steps or -1,
        "per_device_train_batch_size": training.batch_size,
        "gradient_accumulation_steps": training.gradient_accumulation,
        "seed": training.seed,
        "lr_scheduler_type": training.scheduler,
        "warmup_steps": training.warmup_steps,
        "weight_decay": training.weight_decay,
        "max_grad_norm": training.max_grad_norm,
        "optim": training.optimizer,
        "gradient_checkpointing": _checkpointing(training.gradient_checkpointing, hardware),
        "gradient_checkpointing_kwargs": {"use_reentrant": False},
        "train_sampling_strategy": "group_by_length" if training.group_by_length else "random",
        "logging_steps": training.logging_steps,
        # A NaN must be seen as one: the library's filter would show it as a harmless zero.
        "logging_nan_inf_filter": False,
        "save_strategy": "steps" if training.save_steps else "epoch",
        "save_steps": training.save_steps or 500,
        "save_total_limit": training.save_total_limit,
        "per_device_eval_batch_size": settings.evaluation.batch_size,
        "eval_strategy": _evaluate(settings, has_validation),
        "eval_steps": settings.evaluation.steps,
        "bf16": dtype == "bfloat16",
        "fp16": dtype == "float16" and hardware.has_gpu,
        "use_cpu": not hardware.has_gpu,
        "dataloader_pin_memory": hardware.has_gpu,
        # Rows come tokenised, masked and cut from the same function as the preview's.
        "dataset_kwargs": {"skip_prepare_dataset": True},
        # The only column is the place of a row, which becomes tokens as it is read.
        "remove_unused_columns": False,
        "max_length": None,
        "disable_tqdm": True,
        "report_to": ["mlflow"] if settings.tracking.mlflow else [],
        "run_name": settings.name,
    }
    return fields | training.extra


def lora(settings: schema.Settings) -> LoraConfig | None:
    """peft's configuration; None where every weight is trained."""
    method = settings.method
    if method.kind != "lora":
        return None
    named = method.targets != ["all-linear"]
    return LoraConfig(
        r=method.rank,
        lora_alpha=method.alpha,
        lora_dropout=method.dropout,
        target_modules=list(method.targets) if named else "all-linear",
        bias="none",
        task_type="CAUSAL_LM",
    )


def _checkpointing(chosen: str, hardware: Hardware) -> bool:
    return hardware.has_gpu if chosen == "auto" else chosen == "on"


def _evaluate(settings: schema.Settings, has_validation: bool) -> str:
    if not has_validation:
        return "no"
    return "steps" if settings.evaluation.steps else "epoch"


def check_extra(extra: dict[str, Any]) -> None:
    """Raise SettingsError, code unknown_setting, for a name that trl does not know; the nearest one is named."""
    known = [field.name for field in dataclasses.fields(SFTConfig)]
    for name in extra:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise SettingsError(
                "unknown_setting",
                "trl has no such setting",
                f"`training.extra.{name}` is no field of trl's SFTConfig.",
                f"Did you mean `{near}`?",
            )
