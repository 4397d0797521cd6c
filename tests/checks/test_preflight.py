"""Each rule with a setting that breaks it and one that does not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ftui import checks
from ftui import settings as schema
from ftui.checks import Context
from ftui.checks.context import require
from ftui.errors import SettingsError
from ftui.hardware import Gpu, Hardware
from ftui.models.card import card_of

CPU = Hardware(cores=2, memory_gb=24, free_gb=20)
SMALL_CARD = Hardware(8, 32, 30, gpus=(Gpu("RTX 3070", 8.6, 8.2, (8, 6)),))
ACCOUNT = {
    "kept": 90, "truncated": 0, "truncated_rows": [], "dropped": {}, "no_target_left": 0,
    "tokens": 4000, "learned_tokens": 900, "longest": 80, "median": 44,
}  # fmt: skip


def context(*assignments: str, **changes: Any) -> Context:
    """A run that nothing is said against, with these changes."""
    settings = schema.override(schema.Settings(), ["data.max_length=256", *assignments])
    usual = Context(
        settings=settings,
        hardware=CPU,
        report={"rows": 100, "usable": 100, "schema": "alpaca"},
        account=ACCOUNT,
        rows=90,
        held_out=10,
        card=card_of("HuggingFaceTB/SmolLM2-135M-Instruct"),
        disk_free_gb=50,
    )
    return dataclasses.replace(usual, **changes)


def levels(found: Context) -> dict[str, str]:
    return {finding.code: finding.level for finding in checks.preflight(found)}


def test_a_sound_run_has_nothing_said_against_it() -> None:
    assert set(levels(context()).values()) == {"ok"}


@pytest.mark.parametrize(
    ("code", "level", "changed"),
    [
        ("rows_dropped", "warning", context(report={"rows": 100, "usable": 97, "schema": "alpaca"})),
        ("wrong_schema", "error", context(report={"rows": 9, "usable": 9, "schema": "preference"})),
        ("template_refused", "warning", context(account=ACCOUNT | {"dropped": {"template_refused": 3}})),
        ("template_refused", "error", context(account=ACCOUNT | {"kept": 0, "dropped": {"template_refused": 90}})),
        ("rows_cut", "warning", context(account=ACCOUNT | {"truncated": 21, "longest": 384})),
        ("no_target_left", "error", context(account=ACCOUNT | {"kept": 0, "no_target_left": 90, "longest": 900})),
        ("model_not_here", "warning", context(model_here=False)),
        ("wrong_schema", "error", context(mixed=({"schema": "kto", "path": "b.jsonl"},))),
        ("wrong_schema", "error", context(conflict="There are talks in a and plain text in b.")),
        ("data_not_here", "warning", context(data_missing=("owner/name",), report=None, rows=None)),
        ("beyond_context", "error", context("data.max_length=100000")),
        ("too_large", "error", context("method.kind=full", hardware=SMALL_CARD, card=card_of("Qwen/Qwen3-4B"))),
        ("no_bfloat16", "warning", context("model.dtype=bfloat16")),
        ("no_float16", "warning", context("model.dtype=float16")),
        ("no_held_out", "warning", context(held_out=0)),
        ("warmup_too_long", "error", context("training.warmup_steps=500")),
        ("disk_too_small", "error", context("method.kind=full", disk_free_gb=1.0)),
        ("remote_code", "warning", context("model.trust_remote_code=true")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_with_a_fix(code: str, level: str, changed: Context) -> None:
    found = {finding.code: finding for finding in checks.preflight(changed)}
    assert found[code].level == level
    assert found[code].message and found[code].fix


def test_the_largest_part_of_the_memory_is_named() -> None:
    found = checks.preflight(context("method.kind=full", hardware=SMALL_CARD, card=card_of("Qwen/Qwen3-4B")))
    message = next(finding.message for finding in found if finding.code == "too_large")
    assert "optimiser" in message or "weights" in message
    assert "8.6 GB" in message


def test_steps_are_rows_over_the_global_batch_times_epochs() -> None:
    found = context("training.batch_size=8", "training.gradient_accumulation=2", "training.epochs=3")
    assert found.steps() == 18  # 90 rows: 12 batches of 8, 6 updates of 2 batches, 3 times
    assert context("training.max_steps=7").steps() == 7


def test_errors_forbid_the_start_and_are_told_together() -> None:
    found = checks.preflight(context("training.warmup_steps=500", "data.max_length=100000"))
    with pytest.raises(SettingsError) as raised:
        require(found)
    assert "warm" in raised.value.message and "8,192" in raised.value.message
    require(checks.preflight(context()))


def test_a_rule_that_breaks_is_reported_and_hides_no_other() -> None:
    found = checks.preflight(context(account={"kept": 1}))
    assert any(finding.title == "A check could not be made" for finding in found)
    assert any(finding.code == "data_fits" for finding in found)
