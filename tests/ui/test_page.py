"""The page as it is built: without torch, with a word for each thing, and a control for each field."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from ftui import settings as schema
from ftui.errors import SettingsError
from tests.conftest import ROOT

UI = ROOT / "ftui" / "ui"


def asked(source: str) -> list[Any]:
    """What the Data tab's controls hold when nothing but the data set was chosen."""
    from ftui.ui.data_look import COLUMNS, FIELDS, OF_TRAINING
    from ftui.ui.form import shown

    usual = schema.flatten(schema.Settings())
    columns = [None] * len(COLUMNS)
    trained, prepared = ([shown(usual[name]) for name in names] for names in (OF_TRAINING, FIELDS))
    return [source, *trained, "all", "tokens", "", *columns, *prepared]


def test_the_server_never_imports_torch(home: Path) -> None:
    script = """
import json, sys, types
from ftui.ui import page
from ftui.ui import data_tab, train_tab, runs_tab, evaluate_tab, export_tab, strip, chat_tab, services
from ftui import presets
page.build()
browser = types.SimpleNamespace(session_hash="one")
shown = list(data_tab.show(browser, *json.loads(sys.argv[1])))
assert "longest row" in shown[-1][0] and "learned" in shown[-1][4], shown[-1]
form = train_tab.Form()
strip.drawn(); runs_tab.drawn("all", ""); evaluate_tab.drawn("", None, "all"); export_tab.drawn("", None)
services.PREVIEW.close(); services.READER.close()
heavy = ["torch", "transformers", "trl", "peft", "datasets", "mlflow", "bitsandbytes", "accelerate"]
print(json.dumps([name for name in heavy if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(asked("samples/lumen-desk.jsonl"))],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_every_word_that_the_page_asks_for_is_there_and_none_is_left_over() -> None:
    from ftui.ui.say import words

    known = set(words("en"))
    text = "\n".join(path.read_text("utf-8") for path in UI.glob("*.py"))
    asked = set(re.findall(r"""(?:say|label)\(\s*["']([^"']+[a-z_])["']""", text))
    assert asked <= known, asked - known
    begun = set(re.findall(r"""say\(\s*["']([^"']+\.)["'] \+""", text))
    patterns = [re.compile(re.escape(start)) for start in begun] + [
        re.compile(re.sub(r"\\\{[^}]*\\\}", "[^.]+.*", re.escape(found)) + "$")
        for both in re.findall(r"""(?:say|label|get)\(\s*f(?:"([^"]+)"|'([^']+)')""", text)
        for found in both
        if found
    ]
    plain = set(re.findall(r'"([a-z_]+(?:\.[a-z_]+)+)"', text))
    unused = {
        key
        for key in known
        if key not in asked | plain and not any(pattern.match(key) for pattern in patterns)
    }
    assert not unused


def test_the_form_has_a_control_for_every_field_and_each_value_arrives(bare_home: Path) -> None:
    from ftui.ui.form import Form

    form = Form()
    with gr.Blocks():
        form.draw(list(schema.fields()))
    assert list(form.controls) == list(schema.fields())
    odd: dict[str, Any] = {
        "name": "odd one", "model.id": "some/model", "model.revision": "v2", "model.dtype": "float32",
        "model.attention": "eager", "model.trust_remote_code": True, "data.train": "a.jsonl",
        "data.validation": "b.jsonl", "data.validation_share": 0.2, "data.split_seed": 7, "data.max_length": 99,
        "data.long_rows": "drop", "data.learn": "last_answer", "data.schema_name": "alpaca",
        "data.mapping": {"prompt": "frage", "response": "antwort: ja"}, "data.system": "Be brief.",
        "data.drop_duplicates": True, "data.max_rows": 5, "data.held_out": "share", "data.template": "chatml",
        "data.system_role": "first_user", "data.context_column": "history", "data.context_below": 12,
        "data.weight": 2.5, "data.mix": {"c.jsonl": 0.5}, "method.kind": "full", "method.rank": 3,
        "method.alpha": 5, "method.dropout": 0.1, "method.targets": ["q_proj", "v_proj"], "training.stage": "sft",
        "training.epochs": 1.5, "training.max_steps": 9, "training.learning_rate": 3e-5, "training.batch_size": 2,
        "training.gradient_accumulation": 6, "training.seed": 1, "training.logging_steps": 4,
        "training.save_steps": 3, "training.save_total_limit": 1, "training.scheduler": "linear",
        "training.warmup_steps": 2, "training.weight_decay": 0.01, "training.max_grad_norm": 0.5,
        "training.optimizer": "adafactor", "training.gradient_checkpointing": "on",
        "training.group_by_length": False, "training.extra": {"neftune_noise_alpha": 5}, "evaluation.steps": 8,
        "evaluation.batch_size": 3, "tracking.mlflow": True, "tracking.experiment": "mine",
        "launch.strategy": "ddp", "launch.processes": 2, "output.directory": "out",
    }  # fmt: skip
    wanted = schema.unflatten(odd)
    usual = schema.flatten(schema.Settings())
    same = [name for name, value in schema.flatten(wanted).items() if value == usual[name]]
    assert same == ["training.stage"], "each field gets a value that is not its default"
    updates = form.show(wanted)
    assert form.read([update["value"] for update in updates]) == wanted


def test_an_empty_number_means_what_its_help_says(bare_home: Path) -> None:
    from ftui.ui.form import Form

    form = Form()
    with gr.Blocks():
        form.draw(list(schema.fields()))
    values = [None if name == "training.learning_rate" else update["value"] for name, update in
              zip(form.controls, form.show(schema.Settings()), strict=True)]  # fmt: skip
    assert form.read(values).training.learning_rate is None
    values[list(form.controls).index("training.batch_size")] = None
    assert form.read(values).training.batch_size == schema.Settings().training.batch_size
    values[list(form.controls).index("data.mapping")] = "{broken"
    with pytest.raises(SettingsError):
        form.read(values)


def test_what_a_person_or_a_file_wrote_is_never_html() -> None:
    from ftui.ui import html

    evil = "<img src=x onerror=alert(1)>"
    from ftui.errors import FtuiError

    for shown in (
        html.empty(evil, evil),
        html.waiting(evil),
        html.error(FtuiError("x", evil, evil, evil)),
        html.table([evil], [[evil]]),
        html.figures([(evil, evil)]),
    ):
        assert "<img" not in shown


def test_the_page_refuses_to_read_what_lies_outside(home: Path, tmp_path: Path) -> None:
    from ftui.ui import data_tab

    secret = tmp_path / "outside.jsonl"
    secret.write_text('{"question": "a", "answer": "b"}\n')
    browser: Any = SimpleNamespace(session_hash="one")
    (shown,) = data_tab.show(browser, *asked(str(secret)))
    assert "FTUI_DATA_ROOTS" in shown[0]
    assert "question" not in repr(shown)
    mixed = asked("samples/lumen-desk.jsonl")
    mixed[-1] = f"{{{secret}: 1}}"
    last = list(data_tab.show(browser, *mixed))[-1]
    assert "FTUI_DATA_ROOTS" in last[0]


def test_a_look_that_nobody_waits_for_any_more_ends_and_draws_nothing(home: Path) -> None:
    from ftui.ui import data_look
    from ftui.ui.data_look import Look

    browser: Any = SimpleNamespace(session_hash="two")
    first = Look(browser, ("a",))
    events = iter([{"rows": 1}, {"rows": 2}, {"found": {}}])
    told = []
    for event in first.wanted(events):
        told.append(event)
        data_look.ask(browser, "b")
    assert told == [{"rows": 1}] and first.last is None
    assert all(part == gr.skip() for part in first.cancelled()[:5])
    second = Look(browser, ("b",))
    data_look.stop(browser)
    assert list(second.wanted(iter([{"rows": 1}]))) == []
    assert "You stopped the reading" in second.cancelled()[1]


def test_the_entries_of_a_list_of_data_sets_can_be_chosen_and_none_leads_outside(
    bare_home: Path, tmp_path: Path
) -> None:
    from ftui.errors import AccessError
    from ftui.ui import services
    from ftui.ui.sets import sets

    folder = bare_home / "data" / "lists"
    folder.mkdir(parents=True)
    (folder / "here.json").write_text("[]")
    (tmp_path / "secret.json").write_text("[]")
    entries = {"here": {"file_name": "here.json"}, "away": {"file_name": "../../../secret.json"}}
    (folder / "dataset_info.json").write_text(json.dumps(entries))
    assert [name for _, name in sets() if name.startswith("lists")] == ["lists#here", "lists#away"]
    assert services.readable("lists#here") == f"{folder}#here"
    with pytest.raises(AccessError):
        services.readable("lists#away")


def test_an_upload_is_kept_whole_under_a_safe_name(bare_home: Path, tmp_path: Path) -> None:
    from ftui.ui.sets import keep

    first, second = tmp_path / "a", tmp_path / "b"
    for where, text in ((first, "one"), (second, "two")):
        where.mkdir()
        (where / "Mein Datensatz (1).CSV").write_text(text)
    names = [keep(str(where / "Mein Datensatz (1).CSV"))["value"] for where in (first, second, first)]
    assert names == ["mein-datensatz-1.csv", "mein-datensatz-1-2.csv", "mein-datensatz-1.csv"]
    assert [(bare_home / "data" / name).read_text() for name in names[:2]] == ["one", "two"]
    assert sorted(path.name for path in (bare_home / "data").iterdir()) == sorted(set(names))
    (tmp_path / "医疗 问答.xlsx").write_text("three")
    assert keep(str(tmp_path / "医疗 问答.xlsx"))["value"] == "医疗-问答.xlsx"


def test_the_chart_knows_all_its_series_from_the_first_point_on_and_an_empty_one_is_none() -> None:
    from ftui.ui import plots

    assert plots.loss_frame([]) is None
    first = plots.loss_frame([{"step": 1, "loss": 3.0}])
    assert first is not None
    assert sorted(first["what"].unique()) == ["as logged", "held-out rows", "smoothed"]
    later = plots.loss_frame(
        [{"step": 1, "loss": 3.0}, {"step": 2, "loss": 2.0}, {"step": 2, "eval_loss": 2.5}]
    )
    assert later is not None and later["value"].notna().all()
