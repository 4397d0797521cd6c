"""The model card that lies beside exported weights: what it is, how it was made, how it was measured."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import yaml

from ftui import settings as schema
from ftui.jobs.folder import Job
from ftui.models.find import STARTER_REPO, is_starter, label
from ftui.models.source import Source, manifest


def card(job: Job, source: Source, checkpoint: str, dtype: str, proof: dict[str, Any]) -> str:
    """The card in Markdown, with the header that the hub reads."""
    settings = schema.parse(job.settings, str(job.folder / "job.yaml"))
    result, known = job.result(), manifest(source.base)
    base = STARTER_REPO if is_starter(settings.model.id) else settings.model.id
    # A folder's path says nothing on another machine.
    base = base if base.count("/") == 1 and not base.startswith(("/", ".", "~")) else label(base)
    head = {
        "base_model": base,
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
        "license": str(known.get("licence", "other")).lower(),
        "tags": ["ftui", settings.method.kind, settings.training.stage],
    }
    measured = [
        _line("loss on held-out rows, at the end", result.get("final_eval_loss")),
        _line("best loss on held-out rows", result.get("best_eval_loss")),
        _line("training loss, at the end", result.get("final_loss")),
    ]
    used = {
        name: _last(value) if isinstance(value, str) else value
        for name, value in schema.flatten(settings).items()
        if value not in ("", None, [], {}) and schema.applies(name, schema.flatten(settings))
    }
    return "\n".join(
        [
            "---",
            yaml.safe_dump(head, sort_keys=False, allow_unicode=True).strip(),
            "---",
            f"# {settings.name}",
            "",
            f"{base}, fine-tuned with ftui ({settings.method.kind}, {settings.training.stage}) "
            f"on {_words(result.get('rows'))} rows of `{_last(settings.data.train)}`. "
            f"Written on {date.today()} in {dtype}.",
            "",
            "## How it was measured",
            "",
            *[line for line in measured if line],
            f"- held-out rows: {_words(result.get('held_out'))}, "
            f"{_last(str(result.get('held_out_origin', 'unknown')))}; "
            "their loss is the mean negative log-likelihood of the learned tokens",
            f"- this folder against the trained model: {proof['equal_answers']} of {proof['prompts']} greedy "
            f"answers ({proof['answer_tokens']} tokens) equal, largest logit difference "
            f"{proof['largest_logit_difference']:.2g} (allowed {proof['tolerance']:g})",
            "",
            "## Settings",
            "",
            f"Run `{job.id}`{f', {checkpoint}' if checkpoint else ''}.",
            "",
            "```yaml",
            yaml.safe_dump(used, sort_keys=False, allow_unicode=True).strip(),
            "```",
            "",
        ]
    )


def _line(what: str, value: Any) -> str:
    return f"- {what}: {value:.4f}" if isinstance(value, int | float) else ""


def _words(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "an unknown number of"


def _last(text: str) -> str:
    """The text with each full path cut to its own name: where a file lay here is nobody's business."""
    return re.sub(r"(?<![\w.])[/~][^\s,]*/([^/\s,]+)", r"\1", text)
