"""The command and environment of a job's child process: always a list of arguments, never a shell string."""

from __future__ import annotations

import os
import sys
from typing import Any

import yaml

from ftui import files, hardware, settings, workspace
from ftui.jobs.folder import Job
from ftui.jobs.kinds import KINDS

# Without these, up to a third of a step's time on a CPU was seen to go into page faults.
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "1073741824",
    "MALLOC_TRIM_THRESHOLD_": "4294967296",
    "MALLOC_TOP_PAD_": "268435456",
}


# Threads that wait by spinning take the cores from a training that runs beside them: two programs at once were
# seen to be three times slower each. On quiet cores spinning is faster: a seventh in training, more in a chat.
WAIT_ASLEEP = {"GOMP_SPINCOUNT": "0"}


def command(job: Job) -> tuple[list[str], dict[str, str]]:
    """(arguments, environment) that do the job's work. Writes accelerate's configuration for training."""
    machine = hardware.detect()
    module = KINDS[job.kind].module
    if job.kind != "train":
        return [sys.executable, "-m", module, str(job.folder)], environment(machine, 1)
    chosen = settings.parse(job.settings, str(job.folder / "job.yaml"))
    count, _ = settings.processes(chosen, machine)
    path = job.folder / "accelerate.yaml"
    files.write_text(path, yaml.safe_dump(accelerate_config(count, machine), sort_keys=False))
    arguments = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(path)]
    return [*arguments, "-m", module, str(job.folder)], environment(machine, count)


def beside(machine: hardware.Hardware) -> dict[str, str]:
    """The environment of a process that computes while something is trained on the same machine."""
    return (WAIT_ASLEEP if not machine.has_gpu else {}) | environment(machine, 1)


def accelerate_config(processes: int, machine: hardware.Hardware) -> dict[str, Any]:
    """accelerate's configuration file.

    Several processes are asked for as MULTI_GPU even on CPUs: accelerate 1.15 starts a single one for
    MULTI_CPU without a word. The worker compares what runs with what was asked. Port 0 takes a free one.
    """
    return {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": "MULTI_GPU" if processes > 1 else "NO",
        "num_processes": processes,
        "num_machines": 1,
        "machine_rank": 0,
        "main_process_port": 0 if processes > 1 else None,
        "use_cpu": not machine.has_gpu,
        "mixed_precision": "no",
        "dynamo_backend": "NO",
        "rdzv_backend": "static",
        "same_network": True,
    }


def base_environment() -> dict[str, str]:
    """Our environment with the workspace by its full path; nothing in it depends on the machine or on a job.

    The runner gets this one: it looks at the machine itself, and must see every card.
    """
    own = {name: value for name, value in os.environ.items() if value is not None}
    search = [str(workspace.PROJECT), *filter(None, [own.get("PYTHONPATH")])]
    return own | {
        "FTUI_HOME": str(workspace.home()),
        "PYTHONPATH": os.pathsep.join(search),
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "GIT_PYTHON_REFRESH": "quiet",
    }


def environment(machine: hardware.Hardware, processes: int) -> dict[str, str]:
    """The environment of a child that computes: what makes a CPU fast, and one card for one process."""
    own = base_environment()
    if not machine.has_gpu:
        own = MALLOC | {"OMP_NUM_THREADS": str(max(1, machine.cores // processes))} | own
    elif processes == 1 and len(machine.gpus) > 1:
        # trl refuses several visible cards in one process.
        own.setdefault("CUDA_VISIBLE_DEVICES", "0")
        own["CUDA_VISIBLE_DEVICES"] = own["CUDA_VISIBLE_DEVICES"].split(",")[0]
    return own
