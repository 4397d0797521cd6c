"""What is here is found, and what is half here is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ftui.models.find import STARTER_REPO, find, label

COMMIT = "a" * 40


def hub_model(cache: Path, repo: str, names: list[str]) -> Path:
    """A snapshot as the hub's library leaves it."""
    base = cache / f"models--{repo.replace('/', '--')}"
    snapshot = base / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (base / "refs").mkdir()
    (base / "refs" / "main").write_text(COMMIT)
    for name in names:
        (snapshot / name).write_text("{}")
    return snapshot


def test_the_starter_is_here_only_when_its_manifest_is(own_home: Path) -> None:
    folder = own_home / "models" / "SmolLM2-135M-Instruct"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert find("starter") is None
    (folder / "manifest.json").write_text("{}")
    assert find("starter") == folder
    assert find(STARTER_REPO) == folder
    assert find(STARTER_REPO, "main") == folder
    assert find(STARTER_REPO, "another") is None


def test_the_starter_from_the_hub_serves_as_well(own_home: Path, tmp_path: Path) -> None:
    snapshot = hub_model(
        tmp_path / "hub", STARTER_REPO, ["config.json", "tokenizer.json", "model.safetensors"]
    )
    assert find("starter") == snapshot


def test_a_hub_model_is_here_only_when_it_is_whole(own_home: Path, tmp_path: Path) -> None:
    snapshot = hub_model(tmp_path / "hub", "owner/name", ["config.json", "tokenizer.json"])
    assert find("owner/name") is None
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    (snapshot / "model-1.safetensors").write_text("")
    assert find("owner/name") is None
    (snapshot / "model-2.safetensors").write_text("")
    assert find("owner/name") == snapshot
    assert find("owner/name", COMMIT) == snapshot
    assert find("owner/name", "other-branch") is None


def test_hf_home_is_looked_into(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    names = ["config.json", "tokenizer.json", "model.safetensors"]
    assert find("owner/name") is None
    assert hub_model(tmp_path / "hf" / "hub", "owner/name", names) == find("owner/name")


def test_a_folder_is_a_model_when_it_has_a_config(own_home: Path, tmp_path: Path) -> None:
    assert find(str(tmp_path)) is None
    (tmp_path / "config.json").write_text("{}")
    assert find(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["", "  ", "no such/../model", "a/b/c", "--", "name with spaces", "x" * 300])
def test_a_name_that_cannot_be_one_is_just_not_here(own_home: Path, name: str) -> None:
    assert find(name) is None


def test_labels_are_short(own_home: Path) -> None:
    run = own_home / "jobs" / "20261130-120000-train-letters"
    assert label("starter") == "SmolLM2-135M-Instruct"
    assert label("Qwen/Qwen3-4B") == "Qwen3-4B"
    assert label("/models/mine") == "mine"
    assert label(str(run / "model")) == run.name
    assert label(str(run / "checkpoints" / "checkpoint-8")) == f"{run.name} checkpoint-8"


def test_the_page_can_ask_without_torch() -> None:
    code = (
        "import sys, ftui.models.find, ftui.models.card, ftui.models.memory, ftui.models.fetch\n"
        "print([name for name in ('torch', 'transformers', 'datasets') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
