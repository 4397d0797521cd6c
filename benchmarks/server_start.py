"""How long the page takes to start and how much memory it holds, beside a bare Gradio page of as many controls.

Both are child processes, started in turn in the same run, so that a slow or busy machine slows both.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import psutil
import requests

from benchmarks.figure import Figure

PROJECT = Path(__file__).resolve().parent.parent
REPEATS = 3
DEADLINE_S = 180
RATIO = 1.5
MEMORY_MB = 350

BARE_PAGE = """
import sys

import gradio as gr

KINDS = [gr.Textbox, gr.Number, gr.Dropdown, gr.Checkbox, gr.Slider, gr.Markdown]
with gr.Blocks() as page:
    for index in range(int(sys.argv[2])):
        KINDS[index % len(KINDS)]()
page.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
"""


def measure() -> list[Figure]:
    """Medians of several starts, and the resident memory after the page has been served."""
    with tempfile.TemporaryDirectory() as folder:
        bare_page = Path(folder) / "bare_page.py"
        bare_page.write_text(BARE_PAGE, "utf-8")
        home = Path(folder) / "workspace"
        controls, ftui_s, bare_s, memory_mb = 0, [], [], []
        _start_ftui(home)  # once unmeasured: both then find the same files in the machine's cache
        for _ in range(REPEATS):
            seconds, megabytes, controls = _start_ftui(home)
            ftui_s.append(seconds)
            memory_mb.append(megabytes)
            bare_s.append(_start_bare(bare_page, controls, home))
    ftui, bare = statistics.median(ftui_s), statistics.median(bare_s)
    return [
        Figure(f"server start, page of {controls} components", ftui, "s"),
        Figure(f"server start, bare Gradio page of {controls} components", bare, "s"),
        Figure("server start, ratio to the bare page", ftui / bare, "", at_most=RATIO),
        Figure("resident memory of the server", statistics.median(memory_mb), "MB", at_most=MEMORY_MB),
    ]


def _start_ftui(home: Path) -> tuple[float, float, int]:
    """Seconds until the page was served, megabytes it then held, and how many components it has."""
    port = _free_port()
    command = [sys.executable, str(PROJECT / "app.py"), "--port", str(port)]
    with _serving(command, port, home) as (process, seconds):
        config = requests.get(f"http://127.0.0.1:{port}/config", timeout=30).json()
        megabytes = psutil.Process(process.pid).memory_info().rss / 1e6
        return seconds, megabytes, len(config["components"])


def _start_bare(script: Path, controls: int, home: Path) -> float:
    port = _free_port()
    with _serving([sys.executable, str(script), str(port), str(controls)], port, home) as (_, seconds):
        return seconds


@contextmanager
def _serving(command: list[str], port: int, home: Path) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """The process and the seconds it took until GET / answered 200; it is ended on leaving."""
    offline = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    environment = os.environ | offline | {"FTUI_HOME": str(home)}
    environment.pop("FTUI_AUTH", None)  # a login page would be measured instead
    with tempfile.TemporaryFile() as log:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            while not _answers(port):
                if process.poll() is not None or time.perf_counter() - began > DEADLINE_S:
                    log.seek(0)
                    said = log.read()[-2000:].decode("utf-8", "replace")
                    raise RuntimeError(f"{' '.join(command)} served no page:\n{said}")
                time.sleep(0.02)
            yield process, time.perf_counter() - began
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/", timeout=10).status_code == 200
    except requests.RequestException:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    print(json.dumps([asdict(figure) | {"kept": figure.kept} for figure in measure()], indent=2))
