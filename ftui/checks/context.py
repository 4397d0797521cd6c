"""What the rules look at, gathered from disk: the data's report, the model's card, the machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ftui import hardware, workspace
from ftui import settings as schema
from ftui.checks.preflight import Context, Finding, blocking
from ftui.data.fetching import needs_fetch
from ftui.errors import SettingsError
from ftui.models.card import card_of
from ftui.models.find import find
from ftui.templates.rows import Chosen, choose


def gather(
    settings: schema.Settings, account: dict[str, Any] | None = None, chosen: Chosen | None = None
) -> Context:
    """The context of these settings. Raises DataError where the data cannot be read.

    account: the counts after tokenising, where they are known; the rules that need them are silent without.
    chosen: the rows, where they have been read already.
    """
    here = not needs_fetch(settings.data.train)
    if chosen is None and here:
        chosen = choose(settings.data)
    return Context(
        settings=settings,
        hardware=hardware.detect(),
        report=chosen.report.to_json() if chosen else None,
        account=account,
        rows=len(chosen.train) if chosen else None,
        held_out=len(chosen.validation) if chosen else None,
        data_here=here,
        card=card_of(settings.model.id, settings.model.revision),
        model_here=find(settings.model.id, settings.model.revision) is not None,
        disk_free_gb=shutil.disk_usage(_existing(workspace.home())).free / 1e9,
    )


def located(settings: schema.Settings) -> schema.Settings:
    """The settings with data files and a model folder by their full paths, so that a job works from any folder."""
    changed = settings.model_copy(deep=True)
    for name in ("train", "validation"):
        found = workspace.find(getattr(changed.data, name))
        if found is not None:
            setattr(changed.data, name, str(found))
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
