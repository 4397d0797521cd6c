"""The command line as a person uses it: words, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ftui.jobs.folder import Job
from tests.conftest import ROOT

SAMPLE = str(ROOT / "presets" / "samples" / "lumen-desk.jsonl")


def test_every_command_has_help_and_json(ftui: Any) -> None:
    from ftui.cli import build

    commands = next(action for action in build()._actions if hasattr(action, "choices") and action.choices)
    wanted = {"inspect", "train", "jobs", "chat", "evaluate", "export", "register", "presets", "doctor"}
    assert wanted <= set(commands.choices)
    for command in commands.choices.values():
        assert "--json" in command.format_help()


def test_an_error_is_json_on_standard_output_and_exit_code_2(ftui: Any, bare_home: Path) -> None:
    done = ftui("inspect", "nowhere.jsonl", "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "not_found" and error["message"] and error["fix"]


def test_without_json_an_error_is_readable_and_goes_to_standard_error(ftui: Any, bare_home: Path) -> None:
    done = ftui("jobs", "show", "nothing")
    assert done.returncode == 2 and done.stdout == ""
    assert "no job" in done.stderr and "→" in done.stderr and "Traceback" not in done.stderr


def test_a_fault_of_ours_is_one_sentence_exit_code_1_and_a_traceback_in_the_log(
    bare_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ftui import cli, commands

    def broken(_: Any) -> Any:
        raise ZeroDivisionError("a broken command")

    monkeypatch.setattr(commands, "doctor", broken)
    assert cli.main(["doctor", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "fault" and "terminal.log" in error["fix"]
    assert "Traceback" in (bare_home / "logs" / "terminal.log").read_text()


def test_a_setting_that_is_wrong_is_told_before_a_job_is_made(ftui: Any, bare_home: Path) -> None:
    done = ftui("train", "quickstart", "--set", "training.learning_rat=1", "--json")
    assert done.returncode == 2
    assert "training.learning_rate" in json.loads(done.stdout)["error"]["fix"]
    assert not (bare_home / "jobs").exists()


def test_a_check_that_forbids_the_start_is_told_before_a_job_is_made(ftui: Any, home: Path) -> None:
    done = ftui("train", "quickstart", "--set", "training.warmup_steps=5000", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "warmup_too_long"
    assert not (home / "jobs").exists()


def test_check_names_findings_memory_and_steps(ftui: Any, home: Path) -> None:
    done = ftui("check", "quickstart", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["steps"] == 30 and 1 < told["memory_gb"]["lora"] < told["memory_gb"]["full"]


def test_inspect_with_a_model_counts_tokens_as_training_will(ftui: Any, home: Path) -> None:
    done = ftui("inspect", SAMPLE, "--model", "starter", "--max-length", "64", "--json")
    assert done.returncode == 0, done.stderr
    lengths = json.loads(done.stdout)["lengths"]
    assert lengths["kept"] + lengths["no_target_left"] == 80
    assert lengths["longest"] > 40


def test_presets_doctor_and_an_empty_list_of_jobs_answer(ftui: Any, bare_home: Path) -> None:
    assert json.loads(ftui("presets", "--json").stdout)[0]["name"] == "quickstart"
    told = json.loads(ftui("doctor", "--json").stdout)
    assert told["dtype"] in ("float32", "bfloat16") and told["workspace"] == str(bare_home)
    assert ftui("jobs").stdout.strip() == "No jobs yet."


def test_chat_answers_once_with_both_models(ftui: Any, trained: Job) -> None:
    done = ftui(
        "chat", trained.id, "--compare", "--prompt", "Where is Ada's desk?", "--max-tokens", "12", "--json"
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)["answers"]
    assert set(answers) == {"base", "tuned"}
    assert answers["base"]["text"] != answers["tuned"]["text"]
    assert 0 < answers["tuned"]["tokens"] <= 12


def test_jobs_can_be_listed_shown_and_removed(ftui: Any, trained: Job) -> None:
    listed = json.loads(ftui("jobs", "list", "--json").stdout)
    assert [item["id"] for item in listed] == [trained.id]
    assert listed[0]["state"] == "finished" and listed[0]["curve"]
    assert trained.name in json.loads(ftui("jobs", "show", trained.id, "--json").stdout)["name"]
    assert "accelerate" in ftui("jobs", "logs", trained.id).stdout
    done = ftui("jobs", "remove", trained.id, "--json")
    assert json.loads(done.stdout)["freed"] > 0 and not trained.folder.exists()


@pytest.mark.parametrize("action", ["stop", "resume"])
def test_a_finished_run_is_neither_stopped_nor_resumed(ftui: Any, trained: Job, action: str) -> None:
    done = ftui("jobs", action, trained.id, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] in ("not_running", "not_resumable")


def test_a_mapping_that_is_no_json_is_an_error_as_any_other(ftui: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("frage,antwort\na,b\n")
    done = ftui("inspect", str(path), "--map", "{prompt}", "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "bad_mapping" and "{prompt}" in error["message"]
    named = ftui("inspect", str(path), "--map", '{"prompt": "frage", "response": "antwort"}', "--json")
    assert json.loads(named.stdout)["usable"] == 1


def test_a_share_that_cannot_be_is_refused_in_words_and_the_page_and_terminal_split_alike(
    ftui: Any, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"question": "{number}", "answer": "b"}}\n' for number in range(30)))
    refused = ftui("convert", str(path), str(tmp_path / "out.jsonl"), "--split", "0.8", "--json")
    assert refused.returncode == 2
    assert "validation_share" in json.loads(refused.stdout)["error"]["message"]
    given = ["--set", "data.held_out=share", "--set", "data.validation_share=0.2", "--json"]
    done = ftui("convert", str(path), str(tmp_path / "out.jsonl"), *given)
    assert json.loads(done.stdout)["rows"] == {"train": 24, "validation": 6}
