"""How much memory a run will need, by component, from shapes alone.

It is arithmetic over what the training step really holds, so that the largest part can be named before Start.
The counts of kept activations were read off torch itself (saved-tensor hooks on the starter model, see
`_kept_elements`); the overheads are fitted to runs, see `estimate`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ftui import settings as schema
from ftui.hardware import Hardware
from ftui.models.card import ModelCard, lora_parameters

CHUNK = 256  # tokens whose logits trl 1.14.2's "chunked_nll" loss holds at a time
_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True)
class Estimate:
    """Memory of a run, in GB (10^9 bytes).

    parts: weights, adapter, gradients, optimiser, activations, logits, overhead.
    """

    method: str
    parts: dict[str, float]

    @property
    def total_gb(self) -> float:
        """All parts together."""
        return sum(self.parts.values())

    @property
    def largest(self) -> str:
        """The part that takes the most."""
        return max(self.parts, key=lambda name: self.parts[name])


def estimate(
    card: ModelCard,
    settings: schema.Settings,
    hardware: Hardware,
    method: str | None = None,
    longest: int | None = None,
) -> Estimate:
    """Memory at the peak of a training step: of one card, or of the whole machine where there is none.

    method: full or lora in place of the settings' own, to compare. longest: tokens of the longest row, if known.

    Measured as peak resident memory of bare trl 1.14.2 on the starter model (CPU, float32, 3 steps, rows of 128
    tokens, LoRA rank 16 on all layers, allocator set as in `jobs.launch`), one run each, against this estimate:
    LoRA batch 8 3.48 GB against 3.41, batch 4 2.78 against 2.73, batch 8 with checkpointing 2.51 against 2.17,
    full batch 8 4.67 against 5.21. With the allocator as it comes: LoRA 3.80, full 4.36. Full is told too
    high since its gradients arrive while activations go. Not measured on any card.
    """
    kind = method or settings.method.kind
    lora = kind == "lora"
    dtype = schema.dtype(settings, hardware)[0]
    # float16 gradients cannot be unscaled, so full training keeps float32 weights; so does a CPU, which
    # then computes in float32 too.
    kept_wide = dtype == "float16" and (not lora or not hardware.has_gpu)
    weight = 4 if kept_wide else _BYTES[dtype]
    compute = 4 if kept_wide and not hardware.has_gpu else _BYTES[dtype]
    adapter = lora_parameters(card, settings.method.rank, settings.method.targets) if lora else 0
    # peft keeps an adapter in float32, whatever the weights are.
    trained, each = (adapter, 4) if lora else (card.parameters, weight)
    count = schema.processes(settings, hardware)[0]
    tokens = settings.training.batch_size * min(longest or settings.data.max_length, settings.data.max_length)
    parts: dict[str, float] = {
        # Autocast keeps a 16-bit copy of float32 weights, and of the adapter, during a step.
        "weights": card.parameters * (weight + (compute if compute < weight else 0)),
        "adapter": adapter * (4 + (compute if compute < 4 else 0)),
        # DDP gathers gradients in buckets of their own.
        "gradients": trained * each * (2 if count > 1 else 1),
        "optimiser": trained * each * _STATES[settings.training.optimizer],
        "activations": _activations(card, settings, hardware, tokens, compute, lora),
        "logits": _logits(card, settings, tokens, lora, weight),
    }
    parts["overhead"] = _overhead(parts, hardware)
    # Cards have a memory each; processes on a CPU share one.
    copies = 1 if hardware.has_gpu else count
    return Estimate(kind, {name: size * copies / 1e9 for name, size in parts.items()})


# Numbers that the optimiser keeps for each trained one. Adafactor keeps sums of rows and columns only.
_STATES = {"adamw_torch_fused": 2, "adamw_torch": 2, "adafactor": 0.01, "sgd": 0}


def _activations(
    card: ModelCard, settings: schema.Settings, hardware: Hardware, tokens: int, size: int, lora: bool
) -> float:
    """Bytes kept from the forward pass for the backward pass.

    With gradient checkpointing: the input of every layer, and one layer's all while it is computed again.
    """
    chosen = settings.training.gradient_checkpointing
    checkpointing = hardware.has_gpu if chosen == "auto" else chosen == "on"
    layer = tokens * _kept_elements(card, settings, size, lora) * size
    if settings.model.attention == "eager":
        # Scores before and after the softmax; sdpa and flash attention never hold them.
        length = tokens / settings.training.batch_size
        layer += 2 * tokens * length * card.heads * size
    if checkpointing:
        return layer + card.layers * tokens * card.hidden * size
    return layer * card.layers


def _kept_elements(card: ModelCard, settings: schema.Settings, size: int, lora: bool) -> float:
    """Numbers that one layer keeps of one token, in units of the compute format.

    Seen with torch's saved-tensor hooks on SmolLM2 (float32, batch 8, 128 tokens): gate, its silu, up and their
    product (4 × intermediate); both norms' input and output (4 × hidden; 6 where the norms' own weights are
    trained); rotated queries and attention's result, rotated keys, and values; LoRA's inner products. Seen again
    under bfloat16 autocast (LoRA, 32 tokens): 26.1 MB against 26.0 counted.
    """
    queries, values = card.heads * card.head_dim, card.kv_heads * card.head_dim
    wide = 4 / size  # norms compute in float32
    kept = 4.0 * card.intermediate + 2 * queries + 2 * values
    kept += (2 + 2 * wide if lora else 2 + 4 * wide) * card.hidden
    if card.family.startswith(("qwen3", "gemma3")):
        kept += wide * (queries + values)  # the norms of queries and keys keep their input
    if lora:
        kept += 7 * settings.method.rank
        if size < 4 or settings.method.dropout:
            # Each adapter keeps an input of its own, cast to its format or with some of it dropped: five of
            # width hidden in place of the two norms' output, and one beside attention's result.
            kept += 3 * card.hidden + queries
    return kept


def _logits(card: ModelCard, settings: schema.Settings, tokens: int, lora: bool, weight: int) -> float:
    """Bytes around the loss, in float32.

    trl's chunked loss holds five arrays of (chunk, vocabulary) while a chunk is differentiated. Where the head is
    trained, a chunk's gradient of it stands beside the sum.
    """
    chunked = settings.training.extra.get("loss_type", "chunked_nll") == "chunked_nll"
    rows = min(tokens, CHUNK) if chunked else tokens
    head = 0 if lora else card.vocabulary * card.hidden * weight
    return 5 * rows * card.vocabulary * 4 + head


def _overhead(parts: dict[str, float], hardware: Hardware) -> float:
    """Bytes of the program itself, and of memory that comes and goes or that the allocator holds unused.

    On a CPU: 0.58 GB of imports, 0.27 GB that our MALLOC_TOP_PAD_ asks for ahead, 0.3 GB of loading and the trainer,
    and a tenth of what is made anew each step; fitted to the runs told of in `estimate`. On a card: 1.4 GB for
    CUDA (Unsloth's figure) and 8 % (Merlina's), neither measured by us.
    """
    if hardware.has_gpu:
        return 1.4e9 + 0.08 * sum(parts.values())
    return 1.15e9 + 0.1 * (parts["activations"] + parts["logits"])
