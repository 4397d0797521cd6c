"""The job that brings a hub's data set to this machine: `python -m ftui.data.job FOLDER`."""

from __future__ import annotations

import sys
from typing import Any

from ftui.data.fetching import fetch
from ftui.jobs import report
from ftui.jobs.kinds import FetchDataRequest


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Fetch what the job asks for."""
    request = FetchDataRequest.model_validate(reporter.job.settings)
    reporter.phase("fetch")
    folder = fetch(request.dataset, reporter.rows)
    return {"folder": folder, "message": f"{request.dataset} is here"}


if __name__ == "__main__":
    sys.exit(report.run(work))
