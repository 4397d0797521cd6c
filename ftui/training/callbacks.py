"""What the trainer tells the job's folder, and how it hears that a stop was asked for."""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import torch
from accelerate.utils import broadcast_object_list
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from ftui.jobs import curves
from ftui.jobs.report import Reporter


def peak_memory_gb() -> float:
    """Most memory this process has used so far, in GB (10^9 bytes): of its card, else of the machine."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e9
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


class FolderCallback(TrainerCallback):
    """Writes progress, curves and events, and serves the stop file.

    The first process looks at the file and tells the others, so that all leave at the same step.
    """

    def __init__(self, reporter: Reporter, processes: int) -> None:
        self.reporter = reporter
        self.processes = processes
        self.stopped = ""
        self._began = 0.0
        self._first_step = 0
        self._tokens = 0.0
        self._before = 0.0
        self._logged = 0.0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Start the clock; a resumed run counts from where it goes on."""
        self.reporter.phase("train")
        self._began = self._logged = time.monotonic()
        self._first_step = state.global_step
        # trl counts tokens from zero after a resume.
        before = [
            point for point in curves.points(self.reporter.job.folder) if point["step"] <= self._first_step
        ]
        self._before = (curves.latest(before, "tokens") or 0.0) if self._first_step else 0.0
        self.reporter.progress(state.global_step, state.max_steps, "steps")

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Say how far it is, and stop at this step if that was asked for."""
        done = state.global_step - self._first_step
        spent = time.monotonic() - self._began
        left = spent / max(1, done) * (state.max_steps - state.global_step)
        self.reporter.progress(state.global_step, state.max_steps, "steps", left)
        mode = self._agreed(self.reporter.stop_asked())
        if mode and not self.stopped and state.global_step < state.max_steps:
            self.stopped = mode
            control.should_save = mode == "save"
            control.should_evaluate = False
            control.should_training_stop = True
            self.reporter.event("stopping", step=state.global_step)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """A stop ends the loop through here, where the library would evaluate and save once more."""
        if self.stopped:
            control.should_evaluate = control.should_save = False

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """Append a point of the curves."""
        logs = logs or {}
        point: dict[str, Any] = {"step": state.global_step, "epoch": logs.get("epoch")}
        if "eval_loss" in logs:
            self.reporter.metric(**point, eval_loss=logs["eval_loss"])
            # Time spent on evaluating is no time spent on training.
            self._logged = time.monotonic()
        elif "loss" in logs:
            now, tokens = time.monotonic(), float(logs.get("num_tokens") or 0)
            speed = (tokens - self._tokens) / max(1e-9, now - self._logged)
            self._tokens, self._logged = tokens, now
            self.reporter.metric(
                **point,
                loss=logs["loss"],
                learning_rate=logs.get("learning_rate"),
                grad_norm=logs.get("grad_norm"),
                accuracy=logs.get("mean_token_accuracy"),
                tokens=self._before + tokens,
                tokens_per_s=speed,
                memory_gb=peak_memory_gb(),
            )

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Note a checkpoint; saving is no training time either."""
        self.reporter.event("checkpoint saved", step=state.global_step)
        self._logged = time.monotonic()

    def _agreed(self, mode: str) -> str:
        if self.processes == 1:
            return mode
        told = [mode]
        broadcast_object_list(told, from_process=0)
        return told[0]
