"""Where jobs, data, models and environments live, and which paths may be read or written."""

from __future__ import annotations

import os
from pathlib import Path

from ftui.errors import AccessError

PROJECT = Path(__file__).resolve().parent.parent
PRESETS = PROJECT / "presets"


def home() -> Path:
    """The workspace: FTUI_HOME, else `workspace` in the folder one is in. Read at each call, never cached."""
    return Path(os.environ.get("FTUI_HOME") or "workspace").expanduser().resolve()


def jobs() -> Path:
    """One folder a job."""
    return home() / "jobs"


def data() -> Path:
    """Uploaded and converted data sets."""
    return home() / "data"


def models() -> Path:
    """Models that were fetched or made, one folder each."""
    return home() / "models"


def mlflow_uri() -> str:
    """The tracking and registry store used unless MLFLOW_TRACKING_URI names another."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{home() / 'mlflow.db'}"


def roots() -> list[Path]:
    """The folders that the page may read from and write to: the workspace and FTUI_DATA_ROOTS."""
    named = os.environ.get("FTUI_DATA_ROOTS", "").split(os.pathsep)
    return [home(), *(Path(root).expanduser().resolve() for root in named if root.strip())]


def inside(path: Path, folders: list[Path]) -> bool:
    """Whether a path, links and dots resolved, lies in one of the folders."""
    resolved = path.resolve()
    return any(resolved == folder or folder in resolved.parents for folder in folders)


def check_readable(path: str | Path) -> Path:
    """The resolved path, if the page may read it: workspace, allowed roots, or what ftui ships.

    Raises AccessError, code outside_roots.
    """
    found = Path(path).expanduser().resolve()
    if not inside(found, [*roots(), PRESETS]):
        raise _outside(found)
    return found


def check_writable(path: str | Path) -> Path:
    """The resolved path, if it may be written: the workspace and the allowed roots alone."""
    target = Path(path).expanduser().resolve()
    if not inside(target, roots()):
        raise _outside(target)
    return target


def find(name: str) -> Path | None:
    """The file or folder that a data path in a settings file means.

    Looked for as it stands, then in the workspace's data folder, then beside the presets,
    so that a preset works from whatever folder ftui was started in.
    """
    if not name.strip():
        return None
    for base in (Path(), data(), PRESETS):
        path = (base / Path(name).expanduser()).resolve()
        if path.exists():
            return path
    return None


def _outside(path: Path) -> AccessError:
    return AccessError(
        "outside_roots",
        "This folder is not open to the page",
        f"{path} lies outside the workspace ({home()}) and the folders named in FTUI_DATA_ROOTS.",
        f"Upload the file, or start ftui with FTUI_DATA_ROOTS={path if path.is_dir() else path.parent}.",
    )
