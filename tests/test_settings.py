"""The one schema: what is written once holds in YAML, on the command line and in the form."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftui import presets
from ftui import settings as schema
from ftui.errors import SettingsError
from ftui.hardware import Gpu, Hardware

CPU = Hardware(cores=2, memory_gb=24, free_gb=20)
OLD_CARD = Hardware(8, 64, 60, gpus=(Gpu("Tesla T4", 16, 15, (7, 5)),))
NEW_CARDS = Hardware(64, 512, 500, gpus=(Gpu("H100", 80, 79, (9, 0)),) * 8)


def test_every_field_has_a_title_and_a_help_text() -> None:
    for name, info in schema.fields().items():
        assert info.title, name
        assert info.description and info.description.endswith((".", ")")), name


def test_the_names_that_other_programs_use_are_there() -> None:
    wanted = [
        "model.id",
        "model.dtype",
        "data.train",
        "data.validation",
        "data.max_length",
        "method.kind",
        "method.rank",
        "method.alpha",
        "training.stage",
        "training.learning_rate",
        "training.epochs",
        "training.max_steps",
        "training.batch_size",
        "training.gradient_accumulation",
        "training.seed",
        "training.logging_steps",
        "training.save_steps",
        "evaluation.steps",
        "launch.strategy",
        "launch.processes",
        "output.directory",
    ]
    assert set(wanted) <= set(schema.fields())


def test_settings_survive_a_round_trip_through_yaml(tmp_path: Path) -> None:
    chosen = schema.override(
        schema.Settings(), ["training.learning_rate=1e-4", "method.targets=[q_proj, v_proj]"]
    )
    path = tmp_path / "run.yaml"
    path.write_text(schema.dump(chosen), "utf-8")
    assert schema.load(path) == chosen
    assert chosen.training.learning_rate == 1e-4


def test_an_unknown_key_names_the_nearest_one() -> None:
    with pytest.raises(SettingsError) as raised:
        schema.parse({"training": {"learning_rat": 1}})
    assert raised.value.code == "unknown_setting"
    assert "`training.learning_rate`" in raised.value.fix


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(SettingsError) as raised:
        schema.parse({"training": {"batch_size": 0, "epochs": "many"}, "method": {"kind": "magic"}})
    for name in ("training.batch_size", "training.epochs", "method.kind"):
        assert name in raised.value.message


@pytest.mark.parametrize("text", ["- a list", "training: [1, 2]", "a: b: c", "", "42"])
def test_a_file_that_holds_no_settings_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError) as raised:
        schema.load(path)
    assert raised.value.fix


def test_a_file_of_a_newer_ftui_is_not_half_understood() -> None:
    with pytest.raises(SettingsError, match="schema version 99"):
        schema.parse({"schema_version": 99})


def test_a_missing_file_points_to_the_presets(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="presets list"):
        schema.load(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("machine", "dtype"), [(CPU, "float32"), (OLD_CARD, "float16"), (NEW_CARDS, "bfloat16")]
)
def test_the_number_format_fits_the_machine(machine: Hardware, dtype: str) -> None:
    assert schema.dtype(schema.Settings(), machine)[0] == dtype


def test_a_number_format_that_was_chosen_stays() -> None:
    chosen = schema.override(schema.Settings(), ["model.dtype=float32"])
    assert schema.dtype(chosen, NEW_CARDS) == ("float32", "as set")


@pytest.mark.parametrize(("machine", "count"), [(CPU, 1), (OLD_CARD, 1), (NEW_CARDS, 8)])
def test_one_process_a_card_is_started_by_itself(machine: Hardware, count: int) -> None:
    assert schema.processes(schema.Settings(), machine)[0] == count


def test_the_learning_rate_fits_the_method_unless_it_is_set() -> None:
    chosen = schema.Settings()
    assert schema.learning_rate(chosen)[0] == 2e-4
    assert schema.learning_rate(schema.override(chosen, ["method.kind=full"]))[0] == 2e-5
    assert schema.learning_rate(schema.override(chosen, ["training.learning_rate=3e-3"]))[0] == 3e-3


@pytest.mark.parametrize("preset", presets.presets(), ids=lambda preset: preset.name)
def test_every_preset_is_valid_and_says_what_it_is_for(preset: presets.Preset) -> None:
    assert preset.title and preset.purpose and preset.hardware
    assert preset.settings().name


def test_the_quick_start_comes_first_and_its_data_is_shipped() -> None:
    from ftui import workspace

    first = presets.presets()[0]
    assert first.name == "quickstart"
    chosen = first.settings()
    assert workspace.find(chosen.data.train) and workspace.find(chosen.data.validation)


def test_nothing_in_the_schema_holds_a_secret() -> None:
    for name in schema.fields():
        assert not any(word in name for word in ("token", "password", "secret", "api_key")), name
