"""What trains is what the preview shows: the same tokens, from disk, by however many processes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from ftui.data import choose
from ftui.settings import DataSettings
from ftui.templates import build
from ftui.templates.build import Tokens
from ftui.templates.prepare import prepare
from ftui.templates.selection import Selected, select


@pytest.fixture
def rows(bare_home: Path, tmp_path: Path) -> Path:
    """60 talks of growing length, one in seven refused for want of an answer within the limit."""
    path = tmp_path / "talks.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for number in range(1, 61):
            asked = "word " * (100 if number % 7 == 0 else number % 5)
            turns = [
                {"role": "user", "content": f"{asked}Frage {number}?"},
                {"role": "assistant", "content": f"答案 {number}. " * (1 + number % 9)},
            ]
            out.write(json.dumps({"messages": turns}, ensure_ascii=False) + "\n")
    return path


def settings(path: Path, **more: Any) -> DataSettings:
    return DataSettings.model_validate({"train": str(path), "max_length": 64, **more})


def trained(side: Selected) -> list[tuple[list[int], list[int]]]:
    return [side.row(index) for index in range(len(side))]


def stores(home: Path) -> set[str]:
    return {folder.name for folder in (home / "cache" / "tokens").iterdir()}


@pytest.mark.parametrize("more", [{}, {"long_rows": "drop"}, {"learn": "everything"}, {"max_length": 44}])
def test_the_tokens_that_train_are_those_that_are_previewed(starter: Path, rows: Path, more: Any) -> None:
    tokens = Tokens(starter, settings(rows, **more))
    chosen, train, held = select(tokens)
    for side, found in ((chosen.train, train), (chosen.validation, held)):
        shown = prepare(tokens.tokenizer, side, tokens.data)
        assert trained(found) == [(list(row.ids), row.labels()) for row in shown.rows]
        assert found.dropped == shown.dropped
        account = found.account()
        assert account["truncated_rows"] == shown.truncated
        assert account["tokens"] == sum(len(row.ids) for row in shown.rows)
        assert account["learned_tokens"] == sum(sum(row.learned) for row in shown.rows)
        assert account["longest"] == max(shown.lengths.values())
        assert sum(count for _, _, count in account["histogram"]) == len(shown.lengths)
    assert len(train.lengths) == len(train) and train.lengths.max() <= tokens.data.max_length


def test_another_limit_or_split_tokenises_nothing_again(
    starter: Path, rows: Path, bare_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    select(Tokens(starter, settings(rows)))
    before = stores(bare_home)

    def never(*_: Any) -> Any:
        raise AssertionError("tokenised again")

    monkeypatch.setattr(build, "tokenise", never)
    _, train, held = select(
        Tokens(starter, settings(rows, max_length=56, validation_share=0.2, split_seed=7, long_rows="drop"))
    )
    assert train.lengths.max() <= 56 and len(held)
    assert stores(bare_home) == before
    rows.write_text(rows.read_text("utf-8").replace("Frage 1?", "Frage eins?"), "utf-8")
    with pytest.raises(AssertionError, match="tokenised again"):
        select(Tokens(starter, settings(rows)))


def test_several_processes_make_the_same_tokens_in_the_same_order(
    starter: Path, rows: Path, bare_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = select(Tokens(starter, settings(rows)))
    wanted = [trained(side) for side in alone[1:]]
    monkeypatch.setattr(build, "_ALONE", 10)
    monkeypatch.setattr(build, "_CHUNK", 7)
    monkeypatch.setattr(build, "processes", lambda: 2)
    monkeypatch.setenv("FTUI_HOME", str(bare_home / "other"))
    together = select(Tokens(starter, settings(rows)))
    assert [trained(side) for side in together[1:]] == wanted
    assert len(stores(bare_home / "other")) == 1


def test_what_is_cancelled_leaves_nothing_behind(
    starter: Path, rows: Path, bare_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Enough(Exception):
        pass

    choose(settings(rows))

    def cancel(*_: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        select(Tokens(starter, settings(rows)), cancel)
    assert stores(bare_home) == set()


def test_a_weighed_row_stands_in_an_epoch_as_often_as_it_is_seen(starter: Path, rows: Path) -> None:
    _, once, _ = select(Tokens(starter, settings(rows)))
    _, twice, _ = select(Tokens(starter, settings(rows, weight=2)))
    assert len(twice) == 2 * len(once)
    assert trained(twice)[::2] == trained(twice)[1::2] == trained(once)
    first, second = once.account(), twice.account()
    assert second["tokens"] == 2 * first["tokens"] and second["truncated"] == first["truncated"]
    assert once.dropped == twice.dropped


def test_rows_are_handed_on_by_name_and_not_with_their_tokens(starter: Path, rows: Path) -> None:
    _, train, _ = select(Tokens(starter, settings(rows)))
    packed = pickle.dumps(train)
    assert len(packed) < 8_000
    assert trained(pickle.loads(packed)) == trained(train)


def test_both_sides_of_a_pair_are_counted(starter: Path, bare_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    pair = {"prompt": "Hi", "chosen": "Hello there, friend.", "rejected": "No."}
    long = {"prompt": "Hi", "chosen": "Yes.", "rejected": "No. " * 100}
    path.write_text("".join(json.dumps(row) + "\n" for row in (pair, long)))
    _, train, _ = select(Tokens(starter, settings(path, held_out="none")))
    assert train.pairs and len(train) == 2
    account = train.account()
    assert account["truncated_rows"] == [2] and account["longest"] > 200
    shown = prepare(
        train_tokens := Tokens(starter, settings(path)).tokenizer,
        choose(settings(path, held_out="none")).train,
        settings(path),
    )
    assert [row.name for row in shown.rows] == ["chosen", "rejected"] * 2
    learned = [
        train_tokens.decode([t for t, m in zip(r.ids, r.learned, strict=True) if m]) for r in shown.rows[:2]
    ]
    assert learned == ["Hello there, friend.<|im_end|>", "No.<|im_end|>"]
