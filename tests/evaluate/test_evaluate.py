"""Evaluation measures base and tuned on rows that were not trained on, and says how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Row
from ftui.errors import DataError
from ftui.evaluate.loss import RowLoss
from ftui.evaluate.rows import Measured, measured, texts
from ftui.jobs import control
from ftui.jobs.folder import Job
from ftui.settings import DataSettings
from ftui.templates.prepare import Prepared, Tokenised
from tests.conftest import wait_for


def evaluated(**values: Any) -> Job:
    job = control.start("evaluate", "measure", values)
    assert control.wait(job, timeout_s=300) == "finished", job.status()["message"] + job.log()[-3000:]
    return job


def test_the_tuned_loss_is_the_eval_loss_that_trl_reported(trained: Job) -> None:
    job = evaluated(run=trained.id)
    result = job.result()
    rows = result["per_row"]
    assert result["rows"] == len(rows) == 24
    assert result["tokens"] == sum(row["tokens"] for row in rows)
    # trl averages over batches as they come, eight rows each, every row weighing the same.
    batches = [rows[place : place + 8] for place in range(0, 24, 8)]
    as_trl = sum(len(batch) * _weighted(batch) for batch in batches) / 24
    assert as_trl == pytest.approx(trained.result()["final_eval_loss"], rel=1e-3)
    assert result["tuned"]["loss"] == pytest.approx(_weighted(rows), rel=1e-6)
    assert result["tuned"]["loss"] < result["base"]["loss"]
    assert result["difference"] == pytest.approx(result["tuned"]["loss"] - result["base"]["loss"])
    assert rows[0]["prompt"].endswith("desk?") and rows[0]["reference"].endswith(".")
    assert "24 rows" in result["how"] and "perplexity is e to the loss" in result["how"]
    assert job.status()["progress"] == {"done": 48, "total": 48, "unit": "rows", "eta_s": 0.0}


def _weighted(rows: list[dict[str, Any]]) -> float:
    return sum(row["tuned_loss"] * row["tokens"] for row in rows) / sum(row["tokens"] for row in rows)


def test_a_plain_model_is_measured_alone_on_a_file(home: Path, rows_files: tuple[Path, Path]) -> None:
    result = evaluated(run="starter", data=str(rows_files[1]), max_rows=3).result()
    assert result["rows"] == 3
    assert result["tuned"] is None and result["difference"] is None
    assert result["base"]["loss"] > 0 and result["base"]["perplexity"] > 1
    assert all(row["tuned_loss"] is None for row in result["per_row"])


def test_a_plain_model_without_rows_asks_for_a_file() -> None:
    with pytest.raises(DataError) as caught:
        measured(DataSettings(), "", False, None)
    assert caught.value.code == "no_held_out"
    assert "file of rows" in caught.value.fix


def test_stop_during_an_evaluation_ends_as_stopped(trained: Job) -> None:
    job = control.start("evaluate", "soon stopped", {"run": trained.id})
    wait_for(lambda: job.status()["phase"] == "evaluate", 90)
    control.stop(job)
    assert control.wait(job, timeout_s=60) == "stopped"
    assert "base" not in job.result()


def test_prompt_and_reference_are_the_last_question_and_its_answer() -> None:
    turns = [("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    row = {"messages": [{"role": role, "content": content} for role, content in turns]}
    assert texts(row) == ("c", "d")
    assert texts({"text": "plain"}) == ("", "plain")


def test_rows_of_mixed_sets_keep_their_own_prompts_though_their_numbers_are_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ftui.evaluate import worker

    def passage(row: Row) -> Tokenised:
        return Tokenised(row.number, "answer", "", [1, 2], [0, 1], [], 2)

    def prepare(tokenizer: Any, rows: list[Row], *_: Any) -> Prepared:
        return Prepared([passage(row) for row in rows[1:]], [{"row": rows[0].number, "reason": "too_long"}])

    monkeypatch.setattr(worker, "prepare", prepare)
    rows = [Row(number, {"messages": talk(name)}) for name in "ab" for number in (1, 2)]
    data = DataSettings()
    prepared = worker._prepared(None, rows, data, lambda _: None)
    losses = [RowLoss(1.0, 1)] * 3
    found = worker._result(Measured(rows, "x", "y"), prepared, losses, None, "float32", data)["per_row"]
    assert [(row["row"], row["prompt"]) for row in found] == [(2, "ask a"), (1, "ask b"), (2, "ask b")]


def talk(name: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"ask {name}"}, {"role": "assistant", "content": name}]


def test_a_named_source_is_measured_on_its_validation_split(tmp_path: Path) -> None:
    for split in ("train", "test", "validation"):
        (tmp_path / f"{split}.jsonl").write_text(json.dumps({"text": split}))
    found = measured(DataSettings(), str(tmp_path), False, None)
    assert [row.value["text"] for row in found.rows] == ["validation"]
