"""The loss of rows is the textbook's, and the libraries' own, whatever the batches."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from ftui.evaluate.loss import RowLoss, mean, row_losses  # noqa: E402

ROWS = [
    ([5, 9, 11, 3, 8], [-100, -100, 11, 3, 8]),
    ([7, 4], [-100, 4]),
    ([1, 2, 3, 4, 5, 6, 7, 8], [-100, 2, -100, -100, 5, 6, -100, 8]),
]


@pytest.fixture(scope="module")
def tiny() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=32,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            initializer_range=0.5,
        )
    ).eval()


def test_loss_is_minus_log_p_of_each_learned_token_given_the_true_ones_before_it(tiny: Any) -> None:
    found = row_losses(tiny, ROWS, batch_size=2)
    for (ids, labels), loss in zip(ROWS, found, strict=True):
        by_hand, count = 0.0, 0
        for place in range(1, len(ids)):
            if labels[place] != -100:
                with torch.no_grad():
                    scores = tiny(torch.tensor([ids[:place]])).logits[0, -1].double()
                odds = [math.exp(float(score)) for score in scores]
                by_hand -= math.log(odds[labels[place]] / sum(odds))
                count += 1
        assert loss.tokens == count
        assert loss.total == pytest.approx(by_hand, rel=1e-4)


def test_loss_of_a_row_is_the_one_that_transformers_computes(tiny: Any) -> None:
    for (ids, labels), loss in zip(ROWS, row_losses(tiny, ROWS), strict=True):
        with torch.no_grad():
            own = tiny(input_ids=torch.tensor([ids]), labels=torch.tensor([labels])).loss
        assert loss.mean == pytest.approx(float(own), rel=1e-4)


def test_batches_change_nothing_and_progress_reaches_the_last_row(tiny: Any) -> None:
    told: list[int] = []
    one = row_losses(tiny, ROWS, batch_size=1, told=told.append)
    all_at_once = row_losses(tiny, ROWS, batch_size=16)
    assert told == [1, 2, 3]
    assert [loss.total for loss in one] == pytest.approx([loss.total for loss in all_at_once], rel=1e-4)


def test_long_rows_weigh_more_and_perplexity_is_e_to_the_loss() -> None:
    whole = mean([RowLoss(6.0, 2), RowLoss(2.0, 6)])
    assert whole == {"loss": 1.0, "perplexity": pytest.approx(math.e)}
    assert mean([RowLoss(0.0, 0)]) == {"loss": None, "perplexity": None}
