"""The job that brings a model to this machine: `python -m ftui.models.job FOLDER`."""

from __future__ import annotations

import sys
from typing import Any

from ftui.jobs import report
from ftui.jobs.kinds import FetchRequest


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Fetch what the job asks for; a fetch that was stopped goes on from where it was."""
    request = FetchRequest.model_validate(reporter.job.settings)
    reporter.phase("fetch")
    from ftui.models.fetch import fetch

    folder = fetch(request.model, request.revision, reporter.fetching)
    return {"model": str(folder), "message": f"{folder.name} is here"}


if __name__ == "__main__":
    sys.exit(report.run(work))
