"""Names and aliases of registered models: what MLflow and Unity Catalog take, said before any work."""

from __future__ import annotations

import re

from ftui.errors import SettingsError

_LENGTH = 250


def check(name: str, alias: str, registry: str) -> None:
    """Raise SettingsError, code bad_name or bad_alias, where the registry would refuse them.

    alias: empty for none. registry: its address; `databricks-uc…` wants catalog.schema.model.
    """
    if is_unity_catalog(registry):
        _check_levels(name)
    elif not name.strip() or name != name.strip() or name in (".", "..") or re.search(r"[/:\\%]", name):
        raise _bad_name(f"{name!r} must not be empty, and hold neither / nor : nor \\ nor %.", "support-desk")
    if len(name) > _LENGTH or any(ord(sign) < 32 for sign in name):
        raise _bad_name(f"It has {len(name)} characters; {_LENGTH} visible ones are allowed.", "support-desk")
    if alias and (
        not re.fullmatch(r"[\w\-]{1,255}", alias) or re.fullmatch(r"latest|[vV]\d+", alias, re.IGNORECASE)
    ):
        raise SettingsError(
            "bad_alias",
            "The registry does not take this alias",
            f"{alias!r} may hold letters, digits, _ and - alone; `latest` and `v1`, `v2` … are reserved.",
            "Use an alias such as champion, or leave it empty.",
        )


def is_unity_catalog(registry: str) -> bool:
    """Whether an address means Databricks' Unity Catalog."""
    return registry == "databricks-uc" or registry.startswith("databricks-uc://")


def _check_levels(name: str) -> None:
    levels = name.split(".")
    if len(levels) != 3 or not all(level and not re.search(r"[\s/\x00-\x1f\x7f]", level) for level in levels):
        raise _bad_name(
            f"Unity Catalog wants three levels, catalog.schema.model, without spaces; {name!r} has "
            f"{len([level for level in levels if level])}.",
            "main.support.desk",
        )


def _bad_name(message: str, example: str) -> SettingsError:
    return SettingsError(
        "bad_name", "The registry does not take this name", message, f"Use a name such as {example}."
    )
