"""What the rules look at, gathered from disk: the data's report, the model's card, the machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ftui import hardware, workspace
from ftui import settings as schema
from ftui.checks.preflight import Context, Finding, blocking
from ftui.data.chosen import choose
from ftui.data.fetching import full_name, missing
from ftui.errors import SettingsError
from ftui.models.card import card_of
from ftui.models.find import find


def gather(
    settings: schema.Settings, counted: dict[str, Any] | None = None, chosen: dict[str, Any] | None = None
) -> Context:
    """The context of these settings. Raises DataError where the data cannot be read.

    counted: what `templates.worker.account` found, where it is known; the rules that need it are silent without.
    chosen: `Chosen.to_json` of the data, where it has been read already.
    """
    absent = missing(settings.data)
    if chosen is None and not absent:
        chosen = choose(settings.data).to_json()
    return Context(
        settings=settings,
        hardware=hardware.detect(),
        report=chosen["report"] if chosen else None,
        mixed=tuple(chosen["mixed"]) if chosen else (),
        conflict=chosen["conflict"] if chosen else "",
        account=counted["train"] if counted else None,
        advice=tuple(counted["advice"]) if counted else (),
        rows=chosen["rows"] if chosen else None,
        held_out=chosen["held_out"] if chosen else None,
        data_missing=tuple(absent),
        card=card_of(settings.model.id, settings.model.revision),
        model_here=find(settings.model.id, settings.model.revision) is not None,
        disk_free_gb=shutil.disk_usage(_existing(workspace.home())).free / 1e9,
    )


def located(settings: schema.Settings) -> schema.Settings:
    """The settings with data files and a model folder by their full paths, so that a job works from any folder."""
    changed = settings.model_copy(deep=True)
    for name in ("train", "validation"):
        setattr(changed.data, name, full_name(getattr(changed.data, name)))
    changed.data.mix = {full_name(name): weight for name, weight in changed.data.mix.items()}
    if changed.output.directory:
        changed.output.directory = str(workspace.check_writable(changed.output.directory))
    folder = Path(changed.model.id).expanduser()
    if (folder / "config.json").is_file():
        changed.model.id = str(folder.resolve())
    return changed


def require(findings: list[Finding]) -> None:
    """Raise one SettingsError, code of the first, that names all findings which forbid the start."""
    errors = blocking(findings)
    if errors:
        raise SettingsError(
            errors[0].code,
            errors[0].title if len(errors) == 1 else f"{len(errors)} things forbid the start",
            " ".join(finding.message for finding in errors),
            " ".join(finding.fix for finding in errors),
        )


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path
