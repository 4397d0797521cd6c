"""The memory estimate: right components, right order, and close to what was measured."""

from __future__ import annotations

from typing import Any

import pytest

from ftui.hardware import Gpu, Hardware
from ftui.models.card import ModelCard, card_of
from ftui.models.memory import Estimate, estimate
from ftui.settings import Settings, parse

CPU = Hardware(cores=2, memory_gb=24, free_gb=20)
H100 = Hardware(cores=16, memory_gb=200, free_gb=190, gpus=(Gpu("H100", 80, 79, (9, 0)),))
T4 = Hardware(cores=4, memory_gb=30, free_gb=20, gpus=(Gpu("T4", 16, 15, (7, 5)),))
PARTS = ["weights", "adapter", "gradients", "optimiser", "activations", "logits", "overhead"]


@pytest.fixture(autouse=True)
def nothing_is_here(own_home: Any) -> None:
    """Shapes come from the table, not from a model that happens to be on this machine."""


def run(**changes: Any) -> Settings:
    """The run that was measured, with changes by dotted name written with two underscores."""
    tree: dict[str, dict[str, Any]] = {"training": {"batch_size": 8}, "data": {"max_length": 128}}
    for name, value in changes.items():
        section, _, field = name.partition("__")
        tree.setdefault(section, {})[field] = value
    return parse(tree)


def card(model_id: str = "starter") -> ModelCard:
    found = card_of(model_id)
    assert found is not None
    return found


def starter(hardware: Hardware = CPU, **changes: Any) -> Estimate:
    return estimate(card(), run(**changes), hardware)


def test_parts_are_named_and_add_up() -> None:
    found = starter()
    assert list(found.parts) == PARTS
    assert found.total_gb == pytest.approx(sum(found.parts.values()))
    assert found.parts[found.largest] == max(found.parts.values())


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ({}, {"training__batch_size": 16}),
        ({}, {"data__max_length": 256}),
        ({}, {"method__rank": 64}),
        ({}, {"method__kind": "full"}),
        ({"method__targets": ["q_proj"]}, {}),
        ({"training__gradient_checkpointing": "on"}, {}),
        ({}, {"model__attention": "eager"}),
        ({}, {"method__dropout": 0.1}),
        ({}, {"training__extra": {"loss_type": "nll"}}),
        ({"method__kind": "full", "training__optimizer": "sgd"}, {"method__kind": "full"}),
        ({}, {"launch__strategy": "ddp", "launch__processes": 2}),
    ],
)
def test_more_work_needs_more_memory(smaller: dict[str, Any], larger: dict[str, Any]) -> None:
    assert starter(**smaller).total_gb < starter(**larger).total_gb


def test_full_training_in_float32_holds_each_weight_four_times() -> None:
    parts = starter(method__kind="full").parts
    whole = 134_515_008 * 4 / 1e9
    assert parts["weights"] == pytest.approx(whole)
    assert parts["gradients"] == pytest.approx(whole)
    assert parts["optimiser"] == pytest.approx(2 * whole)
    assert parts["adapter"] == 0


def test_lora_trains_its_adapter_alone() -> None:
    parts = starter().parts
    assert parts["adapter"] == pytest.approx(4_884_480 * 4 / 1e9)
    assert parts["gradients"] == parts["adapter"]
    assert parts["optimiser"] == pytest.approx(2 * parts["adapter"])


def test_kept_activations_are_those_that_torch_was_seen_to_keep() -> None:
    assert starter().parts["activations"] == pytest.approx(1.242, rel=0.01)
    assert starter(method__kind="full").parts["activations"] == pytest.approx(1.374, rel=0.01)


def test_bfloat16_keeps_what_torch_was_seen_to_keep_under_autocast() -> None:
    changes = {"training__batch_size": 1, "data__max_length": 32, "training__gradient_checkpointing": "off"}
    assert starter(H100, **changes).parts["activations"] * 1000 == pytest.approx(26.06, rel=0.01)


def test_the_longest_row_counts_when_it_is_known() -> None:
    settings = run(data__max_length=1024)
    short = estimate(card(), settings, CPU, longest=128)
    assert short.parts == estimate(card(), run(data__max_length=128), CPU).parts
    assert estimate(card(), settings, CPU, longest=5000).parts == estimate(card(), settings, CPU).parts


def test_the_other_method_can_be_asked_for_to_compare() -> None:
    found = estimate(card(), run(), CPU, method="full")
    assert found.method == "full"
    assert found.parts == starter(method__kind="full").parts


def test_chunked_logits_do_not_grow_with_the_row() -> None:
    assert starter(data__max_length=4096).parts["logits"] == starter().parts["logits"]
    whole = {"loss_type": "nll"}
    assert starter(data__max_length=4096, training__extra=whole).parts["logits"] > 10


def test_qwen3_4b_in_pure_bfloat16_takes_32_gb_before_activations() -> None:
    parts = estimate(card("Qwen/Qwen3-4B"), run(method__kind="full"), H100).parts
    assert sum(parts[name] for name in ("weights", "gradients", "optimiser")) == pytest.approx(32.2, rel=0.01)


def test_qwen3_4b_with_lora_fits_a_card_where_full_does_not() -> None:
    settings = run(data__max_length=2048, training__batch_size=2)
    qwen = card("Qwen/Qwen3-4B")
    card_24 = Hardware(cores=8, memory_gb=64, free_gb=60, gpus=(Gpu("RTX 4090", 24, 23, (8, 9)),))
    assert estimate(qwen, settings, card_24).total_gb < 24
    assert estimate(qwen, settings, card_24, method="full").total_gb > 24


def test_checkpointing_is_on_with_a_card_and_off_without() -> None:
    auto, off = starter(H100), starter(H100, training__gradient_checkpointing="off")
    assert auto.parts["activations"] < off.parts["activations"] / 5
    assert starter().parts == starter(training__gradient_checkpointing="off").parts


def test_float16_keeps_float32_weights_when_they_are_trained() -> None:
    full, lora = starter(T4, method__kind="full"), starter(T4)
    assert full.parts["gradients"] == pytest.approx(134_515_008 * 4 / 1e9)
    assert lora.parts["weights"] == pytest.approx(134_515_008 * 2 / 1e9)


def test_processes_share_a_cpu_but_not_a_card() -> None:
    two = {"launch__strategy": "ddp", "launch__processes": 2}
    assert starter(**two).total_gb > 1.9 * starter().total_gb
    assert starter(H100, **two).total_gb < 1.1 * starter(H100).total_gb


@pytest.mark.parametrize(
    ("changes", "measured_gb"),
    [
        ({}, 3.48),
        ({"training__batch_size": 4}, 2.78),
        ({"training__gradient_checkpointing": "on"}, 2.51),
        ({"method__kind": "full"}, 4.67),
    ],
)
def test_the_estimate_is_within_a_quarter_of_what_was_measured(
    changes: dict[str, Any], measured_gb: float
) -> None:
    imports = 0.58
    assert starter(**changes).total_gb == pytest.approx(measured_gb, rel=0.25)
    assert starter(**changes).total_gb - imports == pytest.approx(measured_gb - imports, rel=0.25)
