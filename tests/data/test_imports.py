"""The page imports this package, so it brings in nothing heavy."""

from __future__ import annotations

import subprocess
import sys

from ftui.workspace import PROJECT


def test_reading_json_and_csv_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom ftui.data import inspect\n"
        "for name in ('alpaca.json', 'quoted.csv', 'corpus.txt'):\n"
        "    inspect('tests/data/cases/files/' + name)\n"
        "heavy = ('torch', 'transformers', 'datasets', 'mlflow', 'pandas', 'pyarrow', 'openpyxl', 'numpy')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PROJECT)
    assert done.stdout.strip() == "[]", done.stderr
