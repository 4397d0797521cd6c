"""A LoRA adapter folded into its base model's weights."""

from __future__ import annotations

from typing import Any

import torch
from peft.tuners.tuners_utils import BaseTunerLayer


def merge(model: Any) -> Any:
    """The plain model that computes what base and adapter compute together; the given model is used up.

    Embeddings that are tied to the output layer stay tied, unless the adapter changes one of the two alone.
    """
    _untie(model.get_base_model())
    merged = model.merge_and_unload(safe_merge=True)
    # An adapter may bring a whole output layer of its own: the weights then no longer are one tensor.
    if tied(merged.config) and not _same_tensor(merged):
        _say_untied(merged)
    return merged


def tied(config: Any) -> bool:
    """Whether the configuration says that input embeddings and output layer are one."""
    return bool(getattr(config.get_text_config(), "tie_word_embeddings", False))


def _untie(model: Any) -> None:
    """Give the output layer its own weights where the adapter would change them through the shared tensor."""
    ends = [model.get_input_embeddings(), model.get_output_embeddings()]
    if not tied(model.config) or not any(isinstance(layer, BaseTunerLayer) for layer in ends):
        return
    output = ends[1]
    layer = output.get_base_layer() if isinstance(output, BaseTunerLayer) else output
    layer.weight = torch.nn.Parameter(layer.weight.detach().clone(), requires_grad=False)
    _say_untied(model)


def _say_untied(model: Any) -> None:
    model.config.tie_word_embeddings = False
    model.config.get_text_config().tie_word_embeddings = False
    # Where saving looks which names stand for one tensor.
    model.all_tied_weights_keys = {}


def _same_tensor(model: Any) -> bool:
    output = model.get_output_embeddings()
    return output is None or output.weight.data_ptr() == model.get_input_embeddings().weight.data_ptr()
