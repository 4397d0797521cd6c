"""A merged export is a plain model folder that says what the trained model says, or it is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from ftui import hardware
from ftui.errors import FtuiError
from ftui.export import dtype, merged, verify, weights
from ftui.export.prompts import prompts
from ftui.jobs import control
from ftui.jobs.folder import Job
from tests.conftest import wait_for


def exported(run: Job) -> Job:
    job = control.start("export", run.name, {"run": run.id})
    assert control.wait(job, timeout_s=300) == "finished", job.status()["message"] + job.log()[-3000:]
    return job


def test_a_merged_model_is_proved_equal_and_a_tampered_one_is_caught(trained: Job, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    job = exported(trained)
    result, model = job.result(), job.folder / "model"

    proof = result["proof"]
    assert proof["prompts"] == 16
    assert proof["equal_answers"] == 16
    assert proof["largest_logit_difference"] <= proof["tolerance"] == verify.TOLERANCE[result["dtype"]]
    assert "16 of 16 answers equal, largest logit difference" in job.status()["message"]
    assert "24 held-out" in proof["prompts_from"] or "held-out" in proof["prompts_from"]
    assert result["run"] == trained.id
    assert result["dtype"] == trained.result()["dtype"] == weights.dtype(model)
    assert result["size_gb"] == pytest.approx(sum(p.stat().st_size for p in model.iterdir()) / 1e9)
    names = {path.name for path in model.iterdir()}
    assert {
        "config.json",
        "tokenizer.json",
        "chat_template.jinja",
        "generation_config.json",
        "README.md",
    } <= names
    assert not any(name.startswith("adapter") for name in names)
    assert not (job.folder / "model.partial").exists()
    card = (model / "README.md").read_text("utf-8")
    assert card.startswith("---\nbase_model: HuggingFaceTB/SmolLM2-135M-Instruct\n")
    assert "16 of 16 greedy answers" in card and str(tmp_path) not in card
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    elsewhere = {path for path in new if job.folder not in path.parents and path.parent.name != "jobs"}
    assert all("cache" in path.relative_to(tmp_path).parts for path in elsewhere), elsewhere

    _tamper(model / "model.safetensors")
    _is_caught(trained, model)


def _tamper(path: Path) -> None:
    tensors = load_file(path)
    changed = next(name for name in tensors if "layers.3" in name and "down_proj" in name)
    tensors[changed] = tensors[changed] * 0.5
    save_file(tensors, path, metadata={"format": "pt"})


def _is_caught(trained: Job, model: Path) -> None:
    from ftui.models.load import load_model, load_tokenizer

    what = merged.wanted(trained.id, "")
    tokenizer = load_tokenizer(model)
    texts = [prompt.text for prompt in prompts(trained, tokenizer, limit=2)[0]]
    tuned = load_model(what.source.base, what.computed, adapter=what.source.adapter)
    seen = verify.observe(tuned, tokenizer, texts)
    other = verify.observe(load_model(model, what.computed), tokenizer, texts)
    with pytest.raises(FtuiError) as caught:
        verify.check(verify.compare(seen, other, what.stored))
    assert caught.value.code == "export_differs"
    assert "largest logit difference" in caught.value.message


def test_an_adapter_on_the_output_layer_of_a_tied_model_stays_exact(starter: Path, tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model

    from ftui.export.merge import merge
    from ftui.models.load import load_model, load_tokenizer

    for targets in (["q_proj", "lm_head"], ["q_proj", "embed_tokens"], ["q_proj"]):
        model = get_peft_model(_tiny(), LoraConfig(r=4, target_modules=targets, init_lora_weights=False))
        tokenizer = load_tokenizer(starter)
        seen = verify.observe(model, tokenizer, ["Two plain words", "And a few more of them"])
        folder = tmp_path / "-".join(targets)
        merge(model).to(torch.float32).save_pretrained(folder)
        other = verify.observe(
            load_model(folder, "float32"), tokenizer, ["Two plain words", "And a few more of them"]
        )
        assert verify.check(verify.compare(seen, other, "float32")).largest_logit_difference < 1e-4
        assert ("lm_head.weight" in load_file(folder / "model.safetensors")) == (len(targets) > 1)


def _tiny() -> object:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=49152,
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            tie_word_embeddings=True,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=2,
        )
    )


def test_stop_during_an_export_ends_as_stopped_and_leaves_no_model(trained: Job) -> None:
    job = control.start("export", "soon stopped", {"run": trained.id})
    wait_for(lambda: job.status()["phase"] in ("load libraries", "load the model"), 60)
    control.stop(job)
    assert control.wait(job, timeout_s=60) == "stopped"
    assert not (job.folder / "model").exists()


def test_an_export_of_what_made_no_model_says_so(home: Path) -> None:
    job = control.start("export", "nothing", {"run": "20200101-000000-train-none"})
    assert control.wait(job, timeout_s=60) == "failed"
    assert "No such job" in job.status()["message"]


def test_a_disk_that_is_too_small_is_said_with_both_numbers(tmp_path: Path) -> None:
    weights.check_space(1_000_000_000, 2_000_000_000, tmp_path)
    with pytest.raises(FtuiError) as caught:
        weights.check_space(5_000_000_000, 2_000_000_000, tmp_path)
    assert caught.value.code == "disk_full"
    assert "5.2 GB" in caught.value.message and "2.0 GB" in caught.value.message


def test_sixteen_bits_that_are_only_emulated_are_computed_in_float32() -> None:
    plain = hardware.Hardware(cores=2, memory_gb=8, free_gb=8)
    card = hardware.Hardware(2, 8, 8, gpus=(hardware.Gpu("H100", 80, 80, (9, 0)),))
    assert dtype.computed("bfloat16", plain) == "float32"
    assert dtype.computed("bfloat16", card) == "bfloat16"
    assert dtype.computed("float32", card) == "float32"


def test_a_nan_in_the_written_model_is_no_small_difference() -> None:
    import torch

    one = verify.Seen([[1]], [torch.zeros(1, 4)], [[2]])
    other = verify.Seen([[1]], [torch.full((1, 4), float("nan"))], [[2]])
    proof = verify.compare(one, other, "float32")
    assert not proof.holds


def test_a_whole_tuned_model_is_taken_over_without_what_only_training_needs(
    starter: Path, tmp_path: Path
) -> None:
    tuned = tmp_path / "checkpoint-2"
    shutil.copytree(starter, tuned)
    (tuned / "optimizer.pt").write_text("x")
    (tuned / "trainer_state.json").write_text("{}")
    merged._copy(tuned, starter, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"model.safetensors", "tokenizer.json", "generation_config.json"} <= names
    assert not names & {"optimizer.pt", "trainer_state.json"}
