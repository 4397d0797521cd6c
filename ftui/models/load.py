"""Models and tokenizers in memory. Imports torch, so only child processes may import this."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from ftui.errors import ModelError


def load_tokenizer(folder: Path, trust_remote_code: bool = False) -> Any:
    """The tokenizer of a model or checkpoint folder; end-of-text serves for padding where there is no pad token."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=trust_remote_code)
    except (OSError, ValueError) as error:
        raise _unusable(folder, "tokenizer", error) from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def load_model(
    folder: Path,
    dtype: str,
    *,
    adapter: Path | None = None,
    attention: str = "auto",
    trust_remote_code: bool = False,
) -> Any:
    """The model in a number format, on the card where there is one, with an adapter on top where one is given."""
    chosen = {} if attention == "auto" else {"attn_implementation": attention}
    try:
        model = AutoModelForCausalLM.from_pretrained(
            str(folder),
            dtype=getattr(torch, dtype),
            trust_remote_code=trust_remote_code,
            use_safetensors=True,
            **chosen,
        )
    except (OSError, ValueError, ImportError) as error:
        raise _unusable(folder, "model", error) from error
    model = model.to(device())
    if adapter is not None:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, str(adapter))
    return model


def device() -> str:
    """Where this process computes: its own card, or the CPU."""
    if torch.cuda.is_available():
        return f"cuda:{torch.cuda.current_device()}"
    return "cpu"


def _unusable(folder: Path, what: str, error: Exception) -> ModelError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return ModelError(
        "not_loadable",
        f"The {what} cannot be loaded",
        f"{folder}: {first[:300]}",
        "Fetch the model again, or choose another one.",
    )
