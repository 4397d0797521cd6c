"""A job in plain values, as the Runs table, the terminal and `--json` show it."""

from __future__ import annotations

from typing import Any

from ftui.jobs import control, curves
from ftui.jobs.folder import Job


def summary(job: Job, curve: bool = False) -> dict[str, Any]:
    """What the job is and how it stands. curve: also read its metrics for the small curve and the loss."""
    state = control.reconcile(job)
    status, request, result = job.status(), job.request(), job.result()
    settings = request.get("settings") or {}
    seen: dict[str, Any] = {
        "id": job.id,
        "name": str(request.get("name") or job.id),
        "kind": job.kind,
        "state": state,
        "phase": status.get("phase"),
        "progress": status.get("progress"),
        "created": status.get("created"),
        "started": status.get("started"),
        "ended": status.get("ended"),
        "exit_code": status.get("exit_code"),
        "message": status.get("message") or "",
        "fix": status.get("fix") or "",
        "folder": str(job.folder),
        "model": (settings.get("model") or {}).get("id") if job.kind == "train" else settings.get("run"),
        "method": (settings.get("method") or {}).get("kind"),
        "data": (settings.get("data") or {}).get("train") if job.kind == "train" else settings.get("data"),
        "checkpoints": [path.name for path in job.checkpoints()],
        "result": result,
    }
    if curve and job.kind == "train":
        logged = curves.points(job.folder)
        losses = curves.series(logged, "loss")
        seen["curve"] = curves.small([value for _, value in losses])
        seen["loss"] = losses[-1][1] if losses else None
        seen["tokens_per_s"] = curves.latest(logged, "tokens_per_s")
        seen["best_eval_loss"] = min((value for _, value in curves.series(logged, "eval_loss")), default=None)
    return seen
