"""How soon the first rows of a large file are there, and what the whole report of it takes: time, and memory.

Each measurement is a process of its own, so that its memory is its own too. The whole report is compared with a
bare loop of `json.loads` over the same lines in the same run; its memory at two sizes shows what each row adds: its
number, and a hash to tell equal rows by.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure

PROJECT = Path(__file__).resolve().parent.parent
LARGE = 2_000_000_000
REPORTED = 200_000_000
BLOCK_ROWS = 20_000

MEASURED = """
import json, re, sys, time
from pathlib import Path
from ftui.data import head
from ftui.data.look import look
path, what = sys.argv[1:]
def megabytes(field):
    return int(re.search(field + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024
before, began = megabytes("VmRSS"), time.perf_counter()
if what == "head":
    found = head(path).report
elif what == "report":
    found = look(path)
else:
    rows = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)
            rows += 1
seconds = time.perf_counter() - began
print(json.dumps({"seconds": seconds, "more_mb": megabytes("VmHWM") - before,
                  "rows": rows if what == "bare" else found.rows if what == "head" else found.report["rows"]}))
"""


def measure() -> list[Figure]:
    """Figures of the first rows of 2 GB, and of the report of a tenth of that."""
    with tempfile.TemporaryDirectory() as folder:
        large, tenth, small = (Path(folder) / name for name in ("large.jsonl", "tenth.jsonl", "small.jsonl"))
        for path, size in ((large, LARGE), (tenth, REPORTED), (small, REPORTED // 10)):
            _write(path, size)
        first = _measured(large, "head")
        whole, little, bare = _measured(tenth, "report"), _measured(small, "report"), _measured(tenth, "bare")
    growth = max(0.0, whole["more_mb"] - little["more_mb"]) * 1024**2 / (whole["rows"] - little["rows"])
    return [
        Figure("first rows of a 2 GB JSON lines file", first["seconds"], "s", at_most=1.0),
        Figure("memory for that", first["more_mb"], "MB more", at_most=200),
        Figure("whole report", whole["rows"] / whole["seconds"], "rows/s"),
        Figure("whole report against json.loads alone", whole["seconds"] / bare["seconds"], "times"),
        Figure("memory of the report of 200 MB", whole["more_mb"], "MB more", at_most=50),
        Figure("memory that grows with the rows", growth, "bytes a row", at_most=40),
    ]


def _write(path: Path, size: int) -> None:
    """Chat rows of some 500 bytes, none equal to another within a block."""
    rows = []
    for number in range(BLOCK_ROWS):
        asked = f"Question {number}: how does part {number % 97} of the machine work? " + "Tell me more. " * (
            number % 9
        )
        told = f"Part {number % 97} turns the wheel {number} times. " + "It does so day and night. " * (
            number % 13
        )
        turns = [{"role": "user", "content": asked}, {"role": "assistant", "content": told}]
        rows.append(json.dumps({"messages": turns}) + "\n")
    block = "".join(rows).encode()
    with path.open("wb") as out:
        while out.tell() < size:
            out.write(block)


def _measured(path: Path, what: str) -> dict[str, Any]:
    own = os.environ | {"PYTHONPATH": str(PROJECT), "FTUI_HOME": str(path.with_suffix(".home"))}
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path), what], env=own, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
