"""Runs every benchmark of this folder, or those named: `python -m benchmarks [NAME …] [--json]`."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.figure import Figure, table

NO_BENCHMARK = {"__init__", "__main__", "figure"}


def main() -> int:
    """Exit code 0 if every budget is kept, else 1."""
    known = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NO_BENCHMARK)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of: {', '.join(known)}; all if none is named"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]}; choose one of: {', '.join(known)}")

    figures: list[Figure] = []
    for name in options.names or known:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures += importlib.import_module(f"benchmarks.{name}").measure()
    if options.json:
        print(json.dumps([asdict(figure) | {"kept": figure.kept} for figure in figures], indent=2))
    else:
        print(table(figures))
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
