"""Cards: the arithmetic gives the published counts, and the weights' own headers win."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from ftui.errors import ModelError
from ftui.models.card import card_of, lora_parameters, read_card

PUBLISHED = {
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen3-1.7B": 1_720_574_976,
    "Qwen/Qwen3-4B": 4_022_468_096,
    "Qwen/Qwen3-8B": 8_190_735_360,
    "Qwen/Qwen3-14B": 14_768_307_200,
    "Qwen/Qwen3-32B": 32_762_123_264,
    "HuggingFaceTB/SmolLM2-135M-Instruct": 134_515_008,
    "HuggingFaceTB/SmolLM2-360M": 361_821_120,
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": 1_711_376_384,
    "meta-llama/Llama-3.2-1B-Instruct": 1_235_814_400,
    "meta-llama/Llama-3.2-3B": 3_212_749_824,
    "meta-llama/Meta-Llama-3.1-8B-Instruct": 8_030_261_248,
    "google/gemma-3-270m-it": 268_098_176,
    "google/gemma-3-1b-pt": 999_885_952,
}

QWEN2_05B = {
    "model_type": "qwen2",
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "vocab_size": 151_936,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
QWEN3_30B_A3B = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 151_936,
    "max_position_embeddings": 40_960,
    "tie_word_embeddings": False,
}
MIXTRAL = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_local_experts": 8,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 32_000,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": False,
}


@pytest.fixture(autouse=True)
def nothing_is_here(own_home: Path) -> None:
    """No model of the machine that runs the tests."""


def folder_with(tmp_path: Path, config: object) -> Path:
    folder = tmp_path / "model"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return folder


def safetensors(path: Path, tensors: dict[str, tuple[str, list[int]]]) -> None:
    header = {
        name: {"dtype": kind, "shape": shape, "data_offsets": [0, 0]}
        for name, (kind, shape) in tensors.items()
    }
    block = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(struct.pack("<Q", len(block)) + block)


@pytest.mark.parametrize("model_id", PUBLISHED)
def test_a_well_known_model_has_its_published_count(model_id: str) -> None:
    card = card_of(model_id)
    assert card is not None
    assert card.parameters == PUBLISHED[model_id]


@pytest.mark.parametrize(
    ("config", "count"),
    [(QWEN2_05B, 494_032_768), (QWEN3_30B_A3B, 30_532_122_624), (MIXTRAL, 46_702_792_704)],
)
def test_other_families_are_counted_from_their_config(tmp_path: Path, config: dict, count: int) -> None:
    assert read_card(folder_with(tmp_path, config)).parameters == count


def test_an_unknown_model_that_is_not_here_has_no_card() -> None:
    assert card_of("someone/Qwen3-4B") is None
    assert card_of("Qwen/Qwen3-5B") is None
    assert card_of("no such folder") is None


def test_the_starter_has_a_card_before_it_is_fetched() -> None:
    card = card_of("starter")
    assert card is not None
    assert (card.name, card.context, card.tied) == ("SmolLM2-135M-Instruct", 8192, True)


def test_revisions_of_qwen3_keep_their_own_context() -> None:
    contexts = [card_of(f"Qwen/Qwen3-4B{end}") for end in ("", "-Base", "-Instruct-2507")]
    assert [card.context for card in contexts if card] == [40_960, 32_768, 262_144]


def test_lora_on_all_linear_layers_of_qwen3_4b_has_33_million() -> None:
    card = card_of("Qwen/Qwen3-4B")
    assert card is not None
    assert lora_parameters(card, 16, ["all-linear"]) == 33_030_144
    seven = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    assert lora_parameters(card, 16, seven) == 33_030_144
    assert lora_parameters(card, 8, ["q_proj", "v_proj"]) == 36 * 8 * (2560 + 4096 + 2560 + 1024)
    assert lora_parameters(card, 16, ["nothing_of_the_kind"]) == 0


def test_headers_of_the_weights_win_over_arithmetic(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, QWEN2_05B)
    safetensors(
        folder / "model.safetensors",
        {"a.weight": ("BF16", [10, 7]), "lm_head.weight": ("BF16", [99, 99]), "b.inv_freq": ("F32", [32])},
    )
    card = read_card(folder)
    assert card.parameters == 70
    assert card.stored_dtype == "bfloat16"


def test_shards_are_counted_together(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, QWEN2_05B)
    safetensors(folder / "model-1.safetensors", {"a": ("F32", [5])})
    safetensors(folder / "model-2.safetensors", {"b": ("F32", [6])})
    weight_map = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    assert read_card(folder).parameters == 11
    assert read_card(folder).stored_dtype == "float32"


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[1]",
        "{",
        {"model_type": "bert"},
        QWEN2_05B | {"hidden_size": "wide"},
        QWEN2_05B | {"vocab_size": 0},
    ],
)
def test_an_odd_config_is_named_as_such(tmp_path: Path, config: object) -> None:
    with pytest.raises(ModelError) as caught:
        read_card(folder_with(tmp_path, config))
    assert caught.value.code == "not_a_model"


def test_a_folder_without_a_config_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        read_card(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, struct.pack("<Q", 4) + b"[12]"])
def test_damaged_weights_are_named(tmp_path: Path, content: bytes) -> None:
    folder = folder_with(tmp_path, QWEN2_05B)
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.safetensors is damaged"):
        read_card(folder)


def test_the_real_starter_agrees_with_the_table(starter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = read_card(starter)
    table = card_of("starter")
    assert table is not None
    assert card.stored_dtype == "bfloat16"
    assert card == table
