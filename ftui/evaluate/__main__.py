"""`python -m ftui.evaluate FOLDER`: measure what the folder's `job.yaml` asks for."""

from __future__ import annotations

import sys
from typing import Any

from ftui.jobs import report


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Run the evaluation worker."""
    # Imported here, so that the status says what is going on while torch loads.
    reporter.phase("load libraries")
    from ftui.evaluate.worker import evaluate

    reporter.check_stop()
    return evaluate(reporter)


if __name__ == "__main__":
    sys.exit(report.run(work))
