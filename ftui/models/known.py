"""Shapes of well-known models, so that their memory can be estimated before anything is fetched.

Only numbers that give the published parameter count exactly; a test counts each. What is not here is not guessed.
"""

from __future__ import annotations

import re
from typing import Any

_OWNERS = {"qwen", "huggingfacetb", "meta-llama", "google", "unsloth"}

# name: (family, hidden, intermediate, layers, heads, kv heads, head dim, vocabulary, context, tied)
_SHAPES: dict[str, tuple[str, int, int, int, int, int, int, int, int, bool]] = {
    "qwen3-0.6b": ("qwen3", 1024, 3072, 28, 16, 8, 128, 151_936, 40_960, True),
    "qwen3-1.7b": ("qwen3", 2048, 6144, 28, 16, 8, 128, 151_936, 40_960, True),
    "qwen3-4b": ("qwen3", 2560, 9728, 36, 32, 8, 128, 151_936, 40_960, True),
    "qwen3-8b": ("qwen3", 4096, 12_288, 36, 32, 8, 128, 151_936, 40_960, False),
    "qwen3-14b": ("qwen3", 5120, 17_408, 40, 40, 8, 128, 151_936, 40_960, False),
    "qwen3-32b": ("qwen3", 5120, 25_600, 64, 64, 8, 128, 151_936, 40_960, False),
    "smollm2-135m": ("llama", 576, 1536, 30, 9, 3, 64, 49_152, 8192, True),
    "smollm2-360m": ("llama", 960, 2560, 32, 15, 5, 64, 49_152, 8192, True),
    "smollm2-1.7b": ("llama", 2048, 8192, 24, 32, 32, 64, 49_152, 8192, True),
    "llama-3.2-1b": ("llama", 2048, 8192, 16, 32, 8, 64, 128_256, 131_072, True),
    "llama-3.2-3b": ("llama", 3072, 8192, 28, 24, 8, 128, 128_256, 131_072, True),
    "llama-3.1-8b": ("llama", 4096, 14_336, 32, 32, 8, 128, 128_256, 131_072, False),
    "gemma-3-270m": ("gemma3_text", 640, 2048, 18, 4, 1, 256, 262_144, 32_768, True),
    "gemma-3-1b": ("gemma3_text", 1152, 6912, 26, 4, 1, 256, 262_144, 32_768, True),
}


def known_config(model_id: str) -> dict[str, Any] | None:
    """The config of a well-known model as its config.json would say it; None for any other."""
    owner, _, name = model_id.lower().rpartition("/")
    if owner not in _OWNERS:
        return None
    name = name.removeprefix("meta-")
    base = re.sub(r"-(base|instruct|thinking|it|pt)?(-2507)?$", "", name)
    shape = _SHAPES.get(base)
    if shape is None:
        return None
    family, hidden, intermediate, layers, heads, kv_heads, head_dim, vocabulary, context, tied = shape
    if family == "qwen3" and name != base:
        context = 262_144 if name.endswith("-2507") else 32_768
    return {
        "model_type": family,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        "tie_word_embeddings": tied,
        "dtype": "bfloat16",
    }
