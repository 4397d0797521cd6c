"""What a model is made of, read without loading it: shapes from config.json, counts from safetensors headers.

The page's server asks this, so torch is not imported.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from ftui import files
from ftui.errors import ModelError
from ftui.models.find import STARTER_REPO, find, is_starter, label
from ftui.models.known import known_config

_DTYPES = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}
_HEADER_LIMIT = 100_000_000  # bytes, as the safetensors format itself allows


@dataclass(frozen=True)
class ModelCard:
    """Shapes of a decoder. parameters: all weights, a tied head counted once; context in tokens, 0 where
    the model states none."""

    name: str
    family: str
    parameters: int
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    context: int
    tied: bool
    stored_dtype: str


def read_card(folder: Path) -> ModelCard:
    """The card of a model folder. Raises ModelError, code not_a_model."""
    config = files.read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise _no_model(folder, "config.json is missing or is no JSON object")
    try:
        card = card_from_config(_name(folder), config)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise _no_model(folder, f"config.json does not describe a decoder ({error})") from None
    # Packed weights have other shapes than the layers they stand for.
    return card if "quantization_config" in config else _counted(card, folder)


def card_of(model_id: str, revision: str = "") -> ModelCard | None:
    """The card of a model on this machine or of a well-known one; None for any other."""
    folder = find(model_id, revision)
    if folder is not None:
        return replace(read_card(folder), name=label(model_id))
    config = known_config(STARTER_REPO if is_starter(model_id) else model_id)
    return card_from_config(label(model_id), config) if config else None


def card_from_config(name: str, config: dict[str, Any]) -> ModelCard:
    """The card that a config gives, its parameters counted from the shapes.

    Exact for Llama, Qwen2, Qwen3, Mistral, SmolLM and Gemma 3 text models, with or without experts;
    near for others. Raises KeyError, TypeError or ValueError for a config that is not of a decoder.
    """
    text = config["text_config"] if isinstance(config.get("text_config"), dict) else config
    family = str(text.get("model_type") or config.get("model_type") or "unknown")
    hidden = int(_first(text, "hidden_size", "n_embd"))
    heads = int(_first(text, "num_attention_heads", "n_head"))
    layers = int(_first(text, "num_hidden_layers", "n_layer"))
    vocabulary = int(_first(text, "vocab_size"))
    if min(hidden, heads, layers, vocabulary) < 1:
        raise ValueError("a size is below 1")
    card = ModelCard(
        name=name,
        family=family,
        parameters=0,
        layers=layers,
        hidden=hidden,
        intermediate=int(_first(text, "intermediate_size", "n_inner", default=4 * hidden)),
        heads=heads,
        kv_heads=int(_first(text, "num_key_value_heads", default=heads)),
        head_dim=int(_first(text, "head_dim", default=hidden // heads)),
        vocabulary=vocabulary,
        context=int(_first(text, "max_position_embeddings", "n_positions", default=0)),
        tied=bool(_first({**text, **config}, "tie_word_embeddings", default=_tied_when_silent(family))),
        stored_dtype=str(_first({**text, **config}, "dtype", "torch_dtype", default="float32")),
    )
    return replace(card, parameters=_count(card, text))


def lora_parameters(card: ModelCard, rank: int, targets: list[str]) -> int:
    """Trainable parameters of a LoRA adapter: rank × (inputs + outputs) of every layer it sits beside.

    targets: names of projections, or `all-linear` for all seven. Exact for dense decoders of the Llama kind;
    names that such a model does not have count nothing.
    """
    queries, values = card.heads * card.head_dim, card.kv_heads * card.head_dim
    widths = {
        "q_proj": card.hidden + queries,
        "k_proj": card.hidden + values,
        "v_proj": card.hidden + values,
        "o_proj": queries + card.hidden,
        "gate_proj": card.hidden + card.intermediate,
        "up_proj": card.hidden + card.intermediate,
        "down_proj": card.intermediate + card.hidden,
    }
    chosen = set(widths) if "all-linear" in targets else {name.rpartition(".")[2] for name in targets}
    return card.layers * rank * sum(width for name, width in widths.items() if name in chosen)


def _count(card: ModelCard, text: dict[str, Any]) -> int:
    """All weights of a decoder, by arithmetic."""
    queries, values = card.heads * card.head_dim, card.kv_heads * card.head_dim
    attention = card.hidden * (2 * queries + 2 * values)
    if card.family.startswith("qwen2"):
        attention += queries + 2 * values
    elif text.get("attention_bias"):
        attention += queries + 2 * values + card.hidden
    if card.family.startswith(("qwen3", "gemma3")):
        attention += 2 * card.head_dim  # norms of queries and keys
    norms = (4 if card.family.startswith(("gemma2", "gemma3")) else 2) * card.hidden
    layer = attention + norms + _feed_forward(card, text)
    head = 0 if card.tied else card.vocabulary * card.hidden
    return card.vocabulary * card.hidden + card.layers * layer + card.hidden + head


def _feed_forward(card: ModelCard, text: dict[str, Any]) -> int:
    dense = 3 * card.hidden * card.intermediate
    if text.get("mlp_bias"):
        dense += 2 * card.intermediate + card.hidden
    experts = int(_first(text, "num_experts", "num_local_experts", "n_routed_experts", default=0))
    if not experts:
        return dense
    width = int(_first(text, "moe_intermediate_size", default=card.intermediate))
    shared = int(_first(text, "shared_expert_intermediate_size", default=0))
    gate = card.hidden if shared else 0
    return card.hidden * experts + 3 * card.hidden * (experts * width + shared) + gate


def _counted(card: ModelCard, folder: Path) -> ModelCard:
    """The card with what the weights' own headers say; unchanged where there are no weights."""
    parameters = 0
    formats: Counter[str] = Counter()
    for path in _weights(folder):
        try:
            header = _header(path)
        except (OSError, ValueError, struct.error) as error:
            raise _no_model(folder, f"{path.name} is damaged ({error})") from None
        for name, tensor in header.items():
            if name == "__metadata__" or name.endswith("inv_freq"):
                continue
            if card.tied and name == "lm_head.weight":
                continue  # some files carry the tied head a second time
            size = prod(tensor["shape"])
            parameters += size
            formats[tensor["dtype"]] += size
    if not parameters:
        return card
    stored = formats.most_common(1)[0][0]
    return replace(card, parameters=parameters, stored_dtype=_DTYPES.get(stored, stored.lower()))


def _weights(folder: Path) -> list[Path]:
    single = folder / "model.safetensors"
    if single.is_file():
        return [single]
    index = files.read_json(folder / "model.safetensors.index.json", {})
    return sorted({folder / name for name in index.get("weight_map", {}).values()})


def _header(path: Path) -> dict[str, Any]:
    """The JSON that a safetensors file begins with: {tensor: {dtype, shape, data_offsets}}."""
    with path.open("rb") as source:
        (length,) = struct.unpack("<Q", source.read(8))
        if length > _HEADER_LIMIT:
            raise ValueError("its header is too long")
        header = json.loads(source.read(length))
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    return header


def _first(config: dict[str, Any], *names: str, default: Any = None) -> Any:
    for name in names:
        if config.get(name) is not None:
            return config[name]
    if default is None:
        raise KeyError(f"no {names[0]}")
    return default


def _tied_when_silent(family: str) -> bool:
    """transformers leaves a value out of config.json where it is the family's own default."""
    return family.startswith(("gemma", "gpt2"))


def _name(folder: Path) -> str:
    """A folder of the hub's cache is named by its commit; the model's name stands two levels up."""
    if folder.parent.name == "snapshots":
        return folder.parent.parent.name.rpartition("--")[2]
    return folder.name


def _no_model(folder: Path, reason: str) -> ModelError:
    return ModelError(
        "not_a_model",
        "Not a model folder",
        f"{folder}: {reason}.",
        "Give a folder with the config.json and safetensors of a language model.",
    )
