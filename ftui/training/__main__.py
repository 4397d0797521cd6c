"""`python -m ftui.training FOLDER`: train what the folder's `job.yaml` asks for."""

from __future__ import annotations

import os
import sys

from ftui.jobs import report


def main() -> int:
    """Run the training worker; of several processes only the first writes the folder."""

    def work(reporter: report.Reporter) -> dict[str, object]:
        # Imported here, so that the status says what is going on while torch and trl load.
        reporter.phase("load libraries")
        from ftui.training.worker import train

        return train(reporter)

    return report.run(work, main=os.environ.get("RANK", "0") == "0")


if __name__ == "__main__":
    sys.exit(main())
