"""The proof of an export: what was written, loaded anew, computes what the model it came from computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

from ftui.errors import FtuiError

ANSWER_TOKENS = 32
POSITIONS = 128
_BATCH = 8
# What rounding was seen to reach on SmolLM2-135M: 0.0001 in float32; where the merged weights themselves
# are rounded, 0.05 to float16 and 0.8 to bfloat16, with 1 of 8 answers different. A wrong merge is far off.
TOLERANCE = {"float32": 0.01, "bfloat16": 2.0, "float16": 0.2}


@dataclass
class Seen:
    """What a model says to each prompt.

    ids: tokens of the prompts. logits: (at most POSITIONS, vocabulary) in float32, of each prompt's last
    tokens. answers: greedy tokens, at most ANSWER_TOKENS, up to and with the end of the turn.
    """

    ids: list[list[int]]
    logits: list[torch.Tensor]
    answers: list[list[int]]


@dataclass(frozen=True)
class Proof:
    """The comparison in numbers. prompts_from: in words; compared_in: the format both were computed in."""

    prompts: int
    equal_answers: int
    largest_logit_difference: float
    tolerance: float
    answer_tokens: int = ANSWER_TOKENS
    prompts_from: str = ""
    compared_in: str = ""

    @property
    def holds(self) -> bool:
        """Logits within the tolerance; up to twice that where every answer is the same."""
        difference = self.largest_logit_difference
        return difference <= self.tolerance or (
            self.equal_answers == self.prompts and difference <= 2 * self.tolerance
        )

    def words(self) -> str:
        """The proof as the page says it."""
        return (
            f"{self.equal_answers} of {self.prompts} answers equal, "
            f"largest logit difference {self.largest_logit_difference:.2g}"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values for the result."""
        return asdict(self)


@torch.no_grad()
def observe(model: Any, tokenizer: Any, texts: list[str], told: Callable[[int], None] | None = None) -> Seen:
    """Ask a model everything once. told: called with the number of prompts done."""
    model.eval()
    # A prompt comes written by the template, which puts what begins a text itself.
    ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    logits: list[torch.Tensor] = []
    answers: list[list[int]] = []
    for place, prompt in enumerate(ids):
        whole = model(input_ids=torch.tensor([prompt], device=model.device)).logits[0, -POSITIONS:]
        logits.append(whole.float().cpu())
        if place % _BATCH == _BATCH - 1 or place == len(ids) - 1:
            answers += _answers(model, tokenizer, ids[len(answers) : place + 1])
            if told:
                told(place + 1)
    return Seen(ids, logits, answers)


def compare(before: Seen, after: Seen, stored: str, computed: str = "", origin: str = "") -> Proof:
    """What is equal and how far the rest is apart. stored: number format of the weights that were written."""
    if before.ids != after.ids:
        raise FtuiError(
            "export_differs",
            "The export does not match",
            "The tokenizer in the written folder splits the prompts otherwise than the model's own.",
            "Please report this with the log of this job.",
        )
    differences = [
        float((one - other).abs().max()) for one, other in zip(before.logits, after.logits, strict=True)
    ]
    # A NaN is smaller than nothing: it must not be lost in the maximum.
    largest = math.inf if any(math.isnan(value) for value in differences) else max(differences, default=0.0)
    equal = sum(one == other for one, other in zip(before.answers, after.answers, strict=True))
    return Proof(
        len(before.ids),
        equal,
        largest,
        TOLERANCE[stored],
        prompts_from=origin,
        compared_in=computed or stored,
    )


def check(proof: Proof) -> Proof:
    """The proof, if it holds. Raises FtuiError, code export_differs."""
    if proof.holds:
        return proof
    raise FtuiError(
        "export_differs",
        "The export does not match",
        f"The written model and the one it came from differ: {proof.words()}, "
        f"where {proof.tolerance:g} is allowed.",
        "Do not use it. Export again; if it differs again, report this with the log of this job.",
    )


def _answers(model: Any, tokenizer: Any, ids: list[list[int]]) -> list[list[int]]:
    width = max(map(len, ids))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    padded = [[pad] * (width - len(row)) + row for row in ids]
    mask = [[0] * (width - len(row)) + [1] * len(row) for row in ids]
    made = model.generate(
        input_ids=torch.tensor(padded, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        do_sample=False,
        max_new_tokens=ANSWER_TOKENS,
        pad_token_id=pad,
    )[:, width:].tolist()
    ends = model.generation_config.eos_token_id
    stops = set(ends if isinstance(ends, list) else [ends])
    return [_until(row, stops) for row in made]


def _until(row: list[int], stops: set[int | None]) -> list[int]:
    end = next((place for place, token in enumerate(row) if token in stops), len(row) - 1)
    return row[: end + 1]
