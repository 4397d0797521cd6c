"""The presets: settings files that we ship, each with a sentence on what it is for and what it needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from ftui import settings as schema
from ftui.errors import SettingsError
from ftui.workspace import PRESETS


@dataclass(frozen=True)
class Preset:
    """One preset. title and purpose: for the person; hardware: what it needs; path: its YAML file."""

    name: str
    title: str
    purpose: str
    hardware: str
    path: Path

    def settings(self) -> schema.Settings:
        """The preset's settings."""
        return schema.load(self.path)

    def to_json(self) -> dict[str, Any]:
        """Plain values, for `--json`."""
        return asdict(self) | {"path": str(self.path)}


def presets() -> list[Preset]:
    """All presets, the quick start first."""
    found = [_read(path) for path in sorted(PRESETS.glob("*.yaml"))]
    return sorted(found, key=lambda preset: (preset.name != "quickstart", preset.name))


def preset(name: str) -> Preset:
    """One preset by name. Raises SettingsError, code not_found."""
    for found in presets():
        if found.name == name:
            return found
    raise SettingsError(
        "not_found",
        "No such preset",
        f"There is no preset called {name!r}.",
        f"Choose one of: {', '.join(found.name for found in presets())}.",
    )


def settings_of(name_or_path: str) -> schema.Settings:
    """Settings from a YAML file, or from a preset of that name."""
    path = Path(name_or_path)
    if not path.exists() and path.suffix == "":
        return preset(name_or_path).settings()
    return schema.load(path)


def _read(path: Path) -> Preset:
    head = (yaml.safe_load(path.read_text("utf-8")) or {}).get("preset", {})
    return Preset(
        path.stem, head.get("title", path.stem), head.get("purpose", ""), head.get("hardware", ""), path
    )
