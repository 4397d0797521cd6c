"""The job that writes prepared rows as a clean data set: `python -m ftui.data.converting FOLDER`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from ftui import words, workspace
from ftui.data.convert import convert
from ftui.files import file_name
from ftui.jobs import report
from ftui.jobs.kinds import ConvertRequest


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Write what the job asks for; a data set of that name is kept, and the new one gets a number."""
    signal.signal(signal.SIGTERM, _stop)
    request = ConvertRequest.model_validate(reporter.job.settings)
    reporter.phase("convert")

    def told(done: int, total: int, rows: int) -> None:
        reporter.progress(done, total, "bytes")
        reporter.check_stop()

    made = convert(request.data, _free(file_name(request.out, "data")), told)
    names = ", ".join(Path(path).name for path in made["files"])
    rows = words.count(sum(made["rows"].values()), "row")
    return made | {"message": f"wrote {rows} to {names}"}


def _stop(*_: object) -> NoReturn:
    """The runner ends a job by a signal; as an exception it takes the half-written files away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise report.StopAsked


def _free(stem: str) -> Path:
    """A file in the data folder that is not there yet, and none beside it that a split would take."""
    number = 1
    while True:
        name = stem if number == 1 else f"{stem}-{number}"
        if not list(workspace.data().glob(f"{name}.*")):
            return workspace.data() / f"{name}.jsonl"
        number += 1


if __name__ == "__main__":
    sys.exit(report.run(work))
