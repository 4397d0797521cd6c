"""The findings for a run: each rule is a pure function of settings, data, model and machine.

A rule takes a Context and returns a Finding or None. Whether the run may start is computed from the
findings (`blocking`), never kept apart from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ftui import settings as schema
from ftui import words
from ftui.hardware import Hardware
from ftui.models.card import ModelCard
from ftui.models.memory import Estimate, estimate

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """What a check found. level `error` blocks Start. fix: one act, empty where all is well."""

    code: str
    level: Level
    title: str
    message: str
    fix: str = ""

    def to_json(self) -> dict[str, str]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Context:
    """What the rules look at. None where something is not known (yet).

    report: as `inspect --json`; mixed: those of further sets; conflict: why the sets do not go together;
    account: the counts of `Selected.account`; advice: what is worth knowing of the model's template, each as
    `templates.advice.Advice`; rows: how many would train; model_here: whether it is on this machine; data_missing:
    sets of the hub that are not; disk_free_gb: on the workspace's disk.
    """

    settings: schema.Settings
    hardware: Hardware
    report: dict[str, Any] | None = None
    mixed: tuple[dict[str, Any], ...] = ()
    conflict: str = ""
    account: dict[str, Any] | None = None
    advice: tuple[dict[str, Any], ...] = ()
    rows: int | None = None
    held_out: int | None = None
    card: ModelCard | None = None
    model_here: bool = True
    data_missing: tuple[str, ...] = ()
    disk_free_gb: float | None = None

    def estimate(self, method: str | None = None) -> Estimate | None:
        """The memory estimate, where the model's shape is known."""
        if self.card is None:
            return None
        longest = (self.account or {}).get("longest")
        limit = self.settings.data.max_length
        return estimate(
            self.card,
            self.settings,
            self.hardware,
            method=method,
            longest=min(longest, limit) if longest else None,
        )

    def steps(self) -> int | None:
        """Updates of the whole run: rows over (batch × accumulation × processes), times epochs."""
        training = self.settings.training
        if training.max_steps:
            return training.max_steps
        kept = (self.account or {}).get("kept", self.rows)
        if not kept:
            return None
        processes, _ = schema.processes(self.settings, self.hardware)
        batches = math.ceil(kept / (training.batch_size * processes))
        an_epoch = max(1, math.ceil(batches / training.gradient_accumulation))
        return math.ceil(an_epoch * training.epochs)


def preflight(context: Context) -> list[Finding]:
    """All findings, errors first. A rule that breaks is itself reported, and does not hide the others."""
    found = []
    for rule in RULES:
        try:
            finding = rule(context)
        except Exception as fault:
            finding = Finding(
                rule.__name__,
                "warning",
                "A check could not be made",
                f"{rule.__name__}: {fault}",
                "Please report this.",
            )
        if finding:
            found.append(finding)
    found += [
        Finding(item["code"], "warning", item["title"], item["message"], item["fix"])
        for item in context.advice
        if not item["harmless"]
    ]
    order = {"error": 0, "warning": 1, "ok": 2}
    return sorted(found, key=lambda finding: order[finding.level])


def blocking(findings: list[Finding]) -> list[Finding]:
    """Those that forbid the start."""
    return [finding for finding in findings if finding.level == "error"]


def data_fits(context: Context) -> Finding | None:
    """Some rows can be learned from, and those that cannot are counted."""
    report = context.report
    if report is None:
        return None
    rows, usable, stage = report["rows"], report["usable"], context.settings.training.stage
    if context.conflict:
        return Finding(
            "wrong_schema",
            "error",
            "The sets are of different kinds",
            context.conflict,
            "Keep the sets of one kind, or say which columns hold a question and its answer.",
        )
    other = next((each for each in (report, *context.mixed) if each["schema"] in ("preference", "kto")), None)
    if other is not None:
        return Finding(
            "wrong_schema",
            "error",
            "The data is of another kind",
            f"{Path(other.get('path', '')).name} holds {other['schema']} pairs; {stage} learns from answers.",
            "Choose data with questions and answers.",
        )
    lost = rows - usable
    if not lost:
        return Finding("data_fits", "ok", "Data fits", f"All {words.count(rows, 'row')} can be used.")
    message = (
        f"{lost:,} of {words.count(rows, 'row')} {'is' if lost == 1 else 'are'} dropped, each with a reason."
    )
    return Finding("rows_dropped", "warning", "Some rows are dropped", message, "See them on the Data tab.")


def template_takes_rows(context: Context) -> Finding | None:
    """The model's chat template writes every row, and its answers are found in what it writes."""
    if context.account is None:
        return None
    refused = context.account["dropped"].get("template_refused", 0)
    if not refused:
        return Finding("template", "ok", "Template fits", "The model's chat template takes every row.")
    level: Level = "error" if not context.account["kept"] else "warning"
    return Finding(
        "template_refused",
        level,
        "The template refuses rows",
        f"{words.count(refused, 'row')} cannot be written with this model's chat template.",
        "See them on the Data tab, or choose another model.",
    )


def rows_fit_length(context: Context) -> Finding | None:
    """No row is cut, and none loses all of its answer."""
    account, limit = context.account, context.settings.data.max_length
    if account is None:
        return None
    lost, cut, longest = account["no_target_left"], account["truncated"], account["longest"]
    if not account["kept"] and lost:
        return Finding(
            "no_target_left",
            "error",
            "No answer is left",
            f"At {limit:,} tokens every row loses all of its answer; the longest has {longest:,}.",
            f"Set data.max_length to {longest}.",
        )
    if lost or cut:
        message = f"At {limit:,} tokens {words.count(cut, 'row')} {'is' if cut == 1 else 'are'} cut"
        message += (
            f" and {words.count(lost, 'row')} {'loses' if lost == 1 else 'lose'} all of the answer."
            if lost
            else "."
        )
        return Finding(
            "rows_cut",
            "warning",
            "Some rows are cut",
            message,
            f"Set data.max_length to {longest} to keep them whole.",
        )
    return Finding(
        "lengths", "ok", "No row is cut", f"The longest has {longest:,} tokens, {limit:,} are allowed."
    )


def model_is_here(context: Context) -> Finding | None:
    """A model that must be fetched first is said to be."""
    if context.model_here:
        return None
    size = ""
    if context.settings.model.id == "starter":
        size = " (93 MB)"
    return Finding(
        "model_not_here",
        "warning",
        "The model is fetched first",
        f"It is not on this machine yet{size}; Start fetches it, which needs the network.",
        "Nothing to do.",
    )


def data_is_here(context: Context) -> Finding | None:
    """A data set of the hub that must be fetched first is said to be."""
    if not context.data_missing:
        return None
    return Finding(
        "data_not_here",
        "warning",
        "The data set is fetched first",
        f"Start fetches {', '.join(context.data_missing)}, which needs the network.",
        "Fetch it on the Data tab to see its rows before.",
    )


def fits_context(context: Context) -> Finding | None:
    """The longest row allowed is one the model can read."""
    if context.card is None or not context.card.context:
        return None
    limit = context.settings.data.max_length
    if limit <= context.card.context:
        return None
    return Finding(
        "beyond_context",
        "error",
        "Longer than the model can read",
        f"data.max_length is {limit:,}; {context.card.name} reads {context.card.context:,} tokens.",
        f"Set data.max_length to {context.card.context}.",
    )


def fits_memory(context: Context) -> Finding | None:
    """The estimate is within what the machine has."""
    needed = context.estimate()
    if needed is None:
        return None
    has = context.hardware.budget_gb()
    where = "the card has" if context.hardware.has_gpu else "the machine has"
    figures = f"about {words.gigabytes(needed.total_gb)} needed, {where} {words.gigabytes(has)}"
    if needed.total_gb <= 0.9 * has:
        return Finding("memory", "ok", "Fits in memory", f"{figures[0].upper()}{figures[1:]}.")
    largest = needed.largest
    fixes = []
    if context.settings.method.kind == "full":
        fixes.append("choose LoRA")
    if context.settings.training.batch_size > 1:
        fixes.append("halve the batch size")
    if context.settings.training.gradient_checkpointing != "on" and largest == "activations":
        fixes.append("turn gradient checkpointing on")
    fixes.append("choose a smaller model")
    fix = ", or ".join(fixes)
    return Finding(
        "too_large",
        "error" if needed.total_gb > 1.3 * has else "warning",
        "Does not fit in memory" if needed.total_gb > has else "Memory is tight",
        f"{figures[0].upper()}{figures[1:]}; the most goes to {largest} ({words.gigabytes(needed.parts[largest])}).",
        f"{fix[0].upper()}{fix[1:]}.",
    )


def dtype_is_native(context: Context) -> Finding | None:
    """The number format is one that the machine computes."""
    chosen = context.settings.model.dtype
    native, reason = context.hardware.dtype()
    if chosen == "bfloat16" and native != "bfloat16":
        return Finding(
            "no_bfloat16",
            "error" if context.hardware.has_gpu else "warning",
            "bfloat16 is not native here",
            f"{reason[0].upper()}{reason[1:]}.",
            f"Set model.dtype to auto, which takes {native}.",
        )
    if chosen == "float16" and not context.hardware.has_gpu:
        return Finding(
            "no_float16",
            "warning",
            "float16 is no gain here",
            "Without a card the weights are trained as float32 all the same.",
            "Set model.dtype to auto.",
        )
    return None


def held_out_rows(context: Context) -> Finding | None:
    """Something measures whether the run learns or only memorises."""
    if context.held_out is None or context.held_out:
        return None
    return Finding(
        "no_held_out",
        "warning",
        "Nothing is held out",
        "Without held-out rows nobody sees whether the model learns or only memorises.",
        "Set data.validation_share to 0.1.",
    )


def steps_and_warmup(context: Context) -> Finding | None:
    """The warm-up ends before the run does."""
    steps, warmup = context.steps(), context.settings.training.warmup_steps
    if steps is None or warmup < steps:
        return None
    return Finding(
        "warmup_too_long",
        "error",
        "The warm-up is longer than the run",
        f"training.warmup_steps is {warmup:,} but the run has {words.count(steps, 'step')}.",
        f"Set training.warmup_steps to {max(0, steps // 10)}.",
    )


def disk_is_large_enough(context: Context) -> Finding | None:
    """Checkpoints and result have room: weights, and for full tuning two optimiser states a weight."""
    if context.card is None or context.disk_free_gb is None:
        return None
    kept = context.settings.training.save_total_limit + 1
    if context.settings.method.kind == "full":
        needed = context.card.parameters * (4 + 8) / 1e9 * kept + context.card.parameters * 4 / 1e9
    else:
        from ftui.models.card import lora_parameters

        adapter = lora_parameters(context.card, context.settings.method.rank, context.settings.method.targets)
        needed = adapter * 12 / 1e9 * kept
    if needed < context.disk_free_gb:
        return None
    return Finding(
        "disk_too_small",
        "error",
        "The disk is too small",
        f"Checkpoints need about {words.gigabytes(needed)}; {words.gigabytes(context.disk_free_gb)} are free.",
        "Remove old runs, or keep fewer checkpoints.",
    )


def remote_code(context: Context) -> Finding | None:
    """A model's own code runs with the person's rights: said each time."""
    if not context.settings.model.trust_remote_code:
        return None
    return Finding(
        "remote_code",
        "warning",
        "The model's own code will run",
        "It can do on this machine whatever you can.",
        "Untick it unless you trust the author.",
    )


RULES: tuple[Callable[[Context], Finding | None], ...] = (
    data_fits,
    template_takes_rows,
    rows_fit_length,
    model_is_here,
    data_is_here,
    fits_context,
    fits_memory,
    dtype_is_native,
    held_out_rows,
    steps_and_warmup,
    disk_is_large_enough,
    remote_code,
)
