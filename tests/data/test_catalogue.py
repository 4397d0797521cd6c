"""LLaMA-Factory's list of data sets: each entry is read as it means, and what has no counterpart is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, hub_folder, inspect
from ftui.data.catalogue import entries, entry_of, resolve
from ftui.data.fetching import needs_fetch
from ftui.errors import DataError

Write = Callable[..., Path]
TALK = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
PAIR = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
OPENAI = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
SETS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    # the entry but for its file, a row of the file, the canonical row
    "alpaca": ({}, {"instruction": "a", "input": "", "output": "b"}, PAIR),
    "alpaca of other columns": (
        {"columns": {"prompt": "frage", "response": "antwort", "system": "rolle", "history": "vorher"}},
        {"frage": "a", "antwort": "b", "rolle": "", "vorher": []},
        PAIR,
    ),
    "query is the input": (
        {"columns": {"prompt": "p", "query": "q", "response": "r"}},
        {"p": "a", "q": "x", "r": "b"},
        {"messages": [{"role": "user", "content": "a\nx"}, PAIR["messages"][1]]},
    ),
    "sharegpt": ({"formatting": "sharegpt"}, {"conversations": TALK}, PAIR),
    "sharegpt of own tags": (
        {
            "formatting": "sharegpt",
            "columns": {"messages": "talk"},
            "tags": {"role_tag": "who", "content_tag": "said", "user_tag": "Kunde", "assistant_tag": "wir"},
        },
        {"talk": [{"who": "Kunde", "said": "a"}, {"who": "wir", "said": "b"}]},
        PAIR,
    ),
    "openai": ({"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": OPENAI}, PAIR, PAIR),
    "preference": (
        {"ranking": True, "columns": {"prompt": "q", "chosen": "good", "rejected": "bad"}},
        {"q": "a", "good": "b", "bad": "c"},
        {
            "prompt": PAIR["messages"][:1],
            "chosen": PAIR["messages"][1:],
            "rejected": [{"role": "assistant", "content": "c"}],
        },
    ),
    "preference of turns": (
        {
            "ranking": True,
            "formatting": "sharegpt",
            "columns": {"messages": "conversations", "chosen": "chosen", "rejected": "rejected"},
        },
        {"conversations": TALK[:1], "chosen": TALK[1], "rejected": {"from": "gpt", "value": "c"}},
        {
            "prompt": PAIR["messages"][:1],
            "chosen": PAIR["messages"][1:],
            "rejected": [{"role": "assistant", "content": "c"}],
        },
    ),
    "kto": (
        {"formatting": "sharegpt", "columns": {"messages": "messages", "kto_tag": "good"}, "tags": OPENAI},
        PAIR | {"good": False},
        {"prompt": PAIR["messages"][:1], "completion": PAIR["messages"][1:], "label": False},
    ),
    "text": ({"columns": {"prompt": "text"}}, {"text": "Once.", "title": "x"}, {"text": "Once."}),
    "format for formatting": ({"format": "sharegpt"}, {"conversations": TALK}, PAIR),
}


def listed(write: Write, **sets: dict[str, Any]) -> Path:
    return write("lf/dataset_info.json", json.dumps(sets)).parent


@pytest.mark.parametrize(("told", "row", "canonical"), SETS.values(), ids=SETS)
def test_entry_is_read_as_it_means(
    write: Write, told: dict[str, Any], row: dict[str, Any], canonical: dict[str, Any]
) -> None:
    folder = listed(write, mine={"file_name": "sub/mine.json"} | told)
    path = write("lf/sub/mine.json", json.dumps([row]))
    entry = entry_of(f"{folder}#mine")
    assert entry is not None and entry.path == path
    assert inspect(entry.path, entry.options(Options())).sample == [canonical]


def test_what_the_person_says_wins_over_the_entry(write: Write) -> None:
    folder = listed(
        write, mine={"file_name": "a.json", "num_samples": 5, "columns": {"prompt": "p", "response": "r"}}
    )
    entry = resolve(folder, "mine")
    given = entry.options(Options(mapping={"response": "other"}, max_rows=2, system="S"))
    assert given == Options("alpaca", {"prompt": "p", "response": "other"}, "S", max_rows=2)
    assert entry.options(Options()).max_rows == 5


def test_what_has_no_counterpart_is_told(write: Write) -> None:
    folder = listed(
        write,
        pictures={"file_name": "a", "formatting": "sharegpt", "columns": {"messages": "m", "images": "pics"}},
        typo={"file_name": "a", "format": "alpaca", "colums": {}},
        script={"script_url": "x.py"},
        tags={
            "file_name": "a",
            "tags": {"role_tag": "x"},
            "columns": {"messages": "m", "prompt": "p", "response": "r"},
        },
    )
    notes = {entry.name: " ".join(entry.notes) for entry in entries(folder)}
    assert "images (pics)" in notes["pictures"]
    assert "formatting" in notes["typo"] and "colums" in notes["typo"] and "columns" in notes["typo"]
    assert "not run" in notes["script"]
    assert "tags mean nothing" in notes["tags"] and "messages" in notes["tags"]


def test_set_of_the_hub_has_its_name_there(write: Write) -> None:
    folder = listed(
        write,
        hub={"hf_hub_url": "owner/set", "subset": "de", "split": "train"},
        both={"hf_hub_url": "owner/set", "file_name": "absent.json"},
        elsewhere={"ms_hub_url": "owner/set"},
    )
    hub, both, elsewhere = entries(folder)
    assert (hub.path, hub.hub) == (None, "owner/set:de@train")
    assert (both.path, both.hub) == (None, "owner/set")
    assert (elsewhere.path, elsewhere.hub) == (None, "") and "ModelScope" in elsewhere.notes[0]


def test_unknown_name_gets_the_near_ones(write: Write) -> None:
    folder = listed(
        write, medical_en={"file_name": "a"}, medical_de={"file_name": "b"}, code={"file_name": "c"}
    )
    with pytest.raises(DataError) as caught:
        entry_of(f"{folder}#medical_e")
    assert (
        caught.value.code == "not_found"
        and "medical_en" in caught.value.fix
        and "code" not in caught.value.fix
    )
    with pytest.raises(DataError) as caught:
        entry_of(str(folder / "dataset_info.json"))
    assert "medical_en" in caught.value.fix


def test_only_entry_needs_no_name(write: Write) -> None:
    folder = listed(write, one={"file_name": "a.json"})
    entry = entry_of(str(folder / "dataset_info.json"))
    assert entry is not None and entry.name == "one"


@pytest.mark.parametrize(
    "source", ["{folder}", "{folder}/a.json", "{folder}/a.json#x", "owner/set", "a#b", "", "#"]
)
def test_other_names_are_no_entries(write: Write, source: str) -> None:
    folder = listed(write, one={"file_name": "a.json"})
    write("lf/a.json", "[]")
    assert entry_of(source.format(folder=folder)) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{\n "a": {"file_name": "a"},\n b: 3}', "line 3"),
        ("[]", "one object"),
        ("", "line 1"),
        ("\x00\xff", ""),
    ],
)
def test_list_that_cannot_be_read_says_where(write: Write, text: str, word: str) -> None:
    path = write("dataset_info.json", text)
    with pytest.raises(DataError) as caught:
        entries(path)
    assert caught.value.code == "not_text" and word in caught.value.message and caught.value.fix


def test_formatting_that_is_none_is_an_error(write: Write) -> None:
    with pytest.raises(DataError) as caught:
        entries(listed(write, x={"file_name": "a", "formatting": "xml"}))
    assert caught.value.code == "unknown_schema" and "sharegpt" in caught.value.fix


@pytest.mark.parametrize(
    "hub", ["../..", "/etc/passwd", "..", "~/x", "a/../b", "a\0b", "owner/set.json", "x" * 5000]
)
def test_what_is_no_name_on_the_hub_leads_nowhere(write: Write, hub: str) -> None:
    folder = listed(write, mine={"hf_hub_url": hub}, file={"file_name": hub + "\0"})
    for entry in entries(folder):
        assert (entry.path, entry.hub, entry.place) == (None, "", None) and entry.notes
    with pytest.raises(DataError):
        inspect(f"{folder}#mine")


def test_a_hub_set_is_read_from_where_it_was_fetched_and_from_no_other_folder(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("owner/set/train.jsonl", [{"text": "not listed"}])
    monkeypatch.chdir(tmp_path)
    (entry,) = entries(listed(write, mine={"hf_hub_url": "owner/set"}))
    assert entry.place is None
    assert needs_fetch(f"{tmp_path / 'lf'}#mine")
    hub_folder("owner/set").mkdir(parents=True)
    assert entry.place == hub_folder("owner/set")


def test_a_file_whose_name_is_too_long_is_nowhere(write: Write) -> None:
    (entry,) = entries(listed(write, mine={"file_name": "x" * 5000}))
    assert entry.place is None
