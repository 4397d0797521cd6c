"""The job that brings a hub's data set to this machine: `python -m ftui.data.job FOLDER`."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from ftui.errors import DataError, FtuiError
from ftui.jobs import report
from ftui.jobs.kinds import FetchDataRequest


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Fetch in a child of its own, which alone imports `datasets`, and pass its progress on."""
    request = FetchDataRequest.model_validate(reporter.job.settings)
    reporter.phase("fetch")
    command = [sys.executable, "-m", "ftui.data.hub", request.dataset]
    last: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            last = json.loads(line)
            if "done" in last:
                reporter.progress(last["done"], last["total"], "rows")
    if "error" in last:
        raise FtuiError.from_json(last["error"])
    if "folder" not in last:
        raise DataError(
            "not_fetched",
            "The data set was not fetched",
            f"The process that fetches {request.dataset} ended with code {child.returncode}.",
            "See the log of this job, and start it again.",
        )
    return {"folder": last["folder"], "message": f"{request.dataset} is here"}


if __name__ == "__main__":
    sys.exit(report.run(work))
