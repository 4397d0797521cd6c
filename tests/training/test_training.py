"""Training with the real engine: the command line, runner, accelerate, trl, and a model small enough for tests."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

from ftui import settings as schema
from ftui.jobs import control, curves
from ftui.jobs.folder import Job, find
from tests.conftest import processes_of, wait_for


@pytest.fixture(scope="session")
def tiny(starter: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of two small layers with the starter model's tokenizer and template."""
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(str(starter))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    where = tmp_path_factory.mktemp("tiny") / "tiny-llama"
    LlamaForCausalLM(config).save_pretrained(str(where))
    tokenizer.save_pretrained(str(where))
    return where


@pytest.fixture
def train(bare_home: Path, tiny: Path, small: Callable[..., schema.Settings]) -> Callable[..., Job]:
    """Train the tiny model with these changes, and wait for its end."""

    def run(wait: bool = True, **changes: Any) -> Job:
        settings = small(**{"model.id": str(tiny), "training.max_steps": 6, **changes})
        job = control.start("train", settings.name, settings.model_dump())
        if wait:
            control.wait(job, timeout_s=180)
        return job

    return run


def losses(job: Job) -> list[float]:
    return [value for _, value in curves.series(curves.points(job.folder), "loss")]


def test_the_terminal_trains_and_prints_id_state_folder_and_result(
    bare_home: Path, tiny: Path, small: Callable[..., schema.Settings], ftui: Any, tmp_path: Path
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(schema.dump(small(**{"model.id": str(tiny)})), "utf-8")
    done = ftui("train", str(path), "--set", "training.max_steps=3", "--json", timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["state"] == "finished"
    job = find(told["id"])
    assert told["folder"] == str(job.folder) and told["result"]["step"] == 3
    assert {"job.yaml", "status.json", "metrics.jsonl", "events.jsonl", "output.log", "data-report.json",
            "checkpoints", "model", "result.json"} <= {path.name for path in job.folder.iterdir()}  # fmt: skip
    report = json.loads((job.folder / "data-report.json").read_text())
    assert (report["rows"], report["usable"], report["lengths"]["kept"]) == (48, 48, 48)
    seen = ftui("inspect", job.settings["data"]["train"], "--model", str(tiny), "--max-length",
                str(job.settings["data"]["max_length"]), "--json", timeout=120)  # fmt: skip
    shown = json.loads(seen.stdout)
    shown.pop("advice")
    assert shown == {name: report[name] for name in shown}, "the terminal and the run count alike"
    again = yaml.safe_load((job.folder / "job.yaml").read_text())
    assert again["settings"]["training"]["max_steps"] == 3


def test_the_adapter_moves_and_the_base_stays(train: Callable[..., Job], tiny: Path) -> None:
    before = load_file(tiny / "model.safetensors")
    job = train()
    assert job.state == "finished", job.log()[-3000:]
    adapter = load_file(job.folder / "model" / "adapter_model.safetensors")
    moved = [name for name, tensor in adapter.items() if "lora_B" in name and tensor.abs().max() > 0]
    assert len(moved) == 14, "seven projections in each of two layers"
    after = load_file(tiny / "model.safetensors")
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_full_tuning_moves_every_weight_and_its_loss_falls(train: Callable[..., Job], tiny: Path) -> None:
    job = train(**{"method.kind": "full", "training.max_steps": 30, "training.learning_rate": 5e-3})
    assert job.state == "finished", job.log()[-3000:]
    before, after = (
        load_file(tiny / "model.safetensors"),
        load_file(job.folder / "model" / "model.safetensors"),
    )
    assert all(not torch.equal(before[name], after[name]) for name in before)
    curve = losses(job)
    assert sum(curve[-3:]) < 0.7 * sum(curve[:3])
    result = job.result()
    assert result["trainable_parameters"] == result["parameters"]


def test_the_losses_are_those_of_a_plain_trl_script(train: Callable[..., Job], tiny: Path) -> None:
    from datasets import Dataset
    from transformers import set_seed
    from trl import SFTConfig, SFTTrainer

    from ftui.data.chosen import choose
    from ftui.models.load import load_model, load_tokenizer
    from ftui.training.arguments import lora

    job = train(**{"training.group_by_length": False, "evaluation.steps": 100})
    settings = schema.parse(job.settings)
    tokenizer = load_tokenizer(tiny)
    # What a person would write by hand: the model's template with marks around what the assistant says.
    said = "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    assert said in tokenizer.chat_template
    marked = (
        "{% if message['role'] == 'assistant' %}{{'<|im_start|>assistant\n'}}{% generation %}"
        "{{message['content'] + '<|im_end|>'}}{% endgeneration %}{{'\n'}}{% else %}" + said + "{% endif %}"
    )
    tokenizer.chat_template = tokenizer.chat_template.replace(said, marked)
    rows = [{"messages": row.value["messages"]} for row in choose(settings.data).train]
    arguments = SFTConfig(
        output_dir=str(job.folder / "plain"), learning_rate=1e-3, max_steps=6, per_device_train_batch_size=4,
        lr_scheduler_type="cosine", seed=42, logging_steps=1, save_strategy="no", use_cpu=True, bf16=False,
        gradient_checkpointing=False, max_length=96, optim="adamw_torch_fused", disable_tqdm=True, report_to=[],
        assistant_only_loss=True,
    )  # fmt: skip
    set_seed(42)
    trainer = SFTTrainer(
        model=load_model(tiny, "float32"),
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        peft_config=lora(settings),
    )
    trainer.train()
    plain = [point["loss"] for point in trainer.state.log_history if "loss" in point]
    assert losses(job) == pytest.approx(plain, rel=1e-5)


def test_a_stop_saves_the_step_and_resume_continues_the_same_curve(train: Callable[..., Job]) -> None:
    settings = {"training.max_steps": 40, "training.save_steps": 100, "evaluation.steps": 100}
    whole = train(**settings)
    job = train(wait=False, **settings)
    wait_for(
        lambda: (job.status()["progress"] or {}).get("done", 0) >= 3 and job.status()["phase"] == "train", 90
    )
    control.stop(job)
    assert control.wait(job, timeout_s=60) == "stopped"
    step = job.result()["step"]
    assert 3 <= step < 40
    assert [path.name for path in job.checkpoints()] == [f"checkpoint-{step}"]
    assert f"stopped at step {step} of 40" in job.status()["message"]
    assert not (job.folder / "model").exists(), "a stopped run must not look complete"
    control.resume(job)
    assert control.wait(job, timeout_s=120) == "finished", job.log()[-3000:]
    assert losses(job) == pytest.approx(losses(whole), rel=1e-4)
    assert "resumed" in [event["event"] for event in job.events()]


def test_two_processes_learn_what_one_learns(train: Callable[..., Job]) -> None:
    one = train(**{"training.batch_size": 4, "training.group_by_length": False, "evaluation.steps": 6})
    two = train(
        **{
            "training.batch_size": 2,
            "training.group_by_length": False,
            "evaluation.steps": 6,
            "launch.strategy": "ddp",
            "launch.processes": 2,
        }
    )
    assert two.state == "finished", two.log()[-3000:]
    assert two.result()["processes"] == 2
    assert losses(two) == pytest.approx(losses(one), rel=0.02)
    saved = load_file(two.folder / "model" / "adapter_model.safetensors")
    assert all(math.isfinite(tensor.sum().item()) for tensor in saved.values())


def test_two_processes_stop_at_the_same_step_and_leave_nothing(
    train: Callable[..., Job], bare_home: Path
) -> None:
    job = train(
        wait=False,
        **{
            "training.max_steps": 400,
            "launch.strategy": "ddp",
            "launch.processes": 2,
            "training.batch_size": 2,
        },
    )
    wait_for(
        lambda: (job.status()["progress"] or {}).get("done", 0) >= 2 and job.status()["phase"] == "train", 120
    )
    control.stop(job)
    assert control.wait(job, timeout_s=90) == "stopped", job.log()[-3000:]
    assert len(job.checkpoints()) == 1
    wait_for(lambda: not processes_of(bare_home), 20)


def test_a_killed_worker_fails_and_resume_goes_on_from_its_checkpoint(train: Callable[..., Job]) -> None:
    job = train(wait=False, **{"training.max_steps": 60, "training.save_steps": 5, "evaluation.steps": 100})
    wait_for(lambda: job.checkpoints(), 90)
    os.killpg(job.status()["worker_pid"], signal.SIGKILL)
    assert control.wait(job, timeout_s=30) == "failed"
    control.resume(job)
    assert control.wait(job, timeout_s=120) == "finished"
    assert [step for step, _ in curves.series(curves.points(job.folder), "loss")] == list(range(1, 61))


@pytest.mark.parametrize(
    ("changes", "code", "named"),
    [
        ({"method.targets": ["q_prjo"]}, "no_such_layers", "q_proj"),
        ({"training.extra": {"lerning_rate": 1}}, "unknown_setting", "learning_rate"),
        ({"data.max_length": 8}, "no_target_left", "max_length"),
    ],
)
def test_what_cannot_be_trained_fails_in_words(
    train: Callable[..., Job], changes: dict[str, Any], code: str, named: str
) -> None:
    job = train(**changes)
    assert job.state == "failed"
    error = job.result()["error"]
    assert error["code"] == code
    assert named in error["message"] + error["fix"]
    assert "Traceback" not in job.status()["message"]


def test_mlflow_gets_the_curve_and_nothing_is_written_outside(
    train: Callable[..., Job], bare_home: Path
) -> None:
    from mlflow import MlflowClient

    job = train(**{"tracking.mlflow": True, "training.max_steps": 3})
    assert job.state == "finished", job.log()[-3000:]
    client = MlflowClient(f"sqlite:///{bare_home / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("ftui")
    assert str(bare_home) in experiment.artifact_location
    run = client.search_runs([experiment.experiment_id])[0]
    assert len(client.get_metric_history(run.info.run_id, "loss")) == 3
    assert not (job.folder / "mlruns").exists()
