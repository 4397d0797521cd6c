"""A Chromium for the browser tests: an installed one, else Playwright's own, else the system's package.

As a tool (`python tests/chromium.py`) it installs one where none is found, and prints its path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DOWNLOAD_S = 600
PACKAGE_S = 900
_PLAYWRIGHTS_OWN = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def find() -> str | None:
    """Path of a Chromium that starts: FTUI_CHROMIUM, one of the usual names, or Playwright's own; else None."""
    named = os.environ.get("FTUI_CHROMIUM")
    if named:
        return shutil.which(named) if _starts(named) else None
    for name in NAMES:
        path = shutil.which(name)
        if path and _starts(path):
            return path
    path = _playwrights_own()
    return path if path and _starts(path) else None


def provide() -> str:
    """Path of a Chromium, installed first where there is none. Raises RuntimeError in one sentence."""
    found = find()
    if found:
        return found
    if os.environ.get("FTUI_CHROMIUM"):
        raise RuntimeError(
            f"FTUI_CHROMIUM is {os.environ['FTUI_CHROMIUM']}, which does not start; correct it, or unset it."
        )
    for command, limit_s in _ways():
        print(f"No Chromium found; trying: {' '.join(command)}", file=sys.stderr, flush=True)
        if _run(command, limit_s):
            found = find()
            if found:
                return found
    raise RuntimeError(
        "The browser tests need a Chromium, and none could be installed here: "
        "install Chromium or Chrome, or name one with FTUI_CHROMIUM=/path/to/chrome."
    )


def _ways() -> list[tuple[list[str], int]]:
    """Commands that may bring a Chromium, each with its time limit, the least intrusive first."""
    ways: list[tuple[list[str], int]] = []
    package = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None
    if find_spec("playwright"):
        playwright = [sys.executable, "-m", "playwright"]
        ways.append(([*playwright, "install", "chromium"], DOWNLOAD_S))
        if package:  # a downloaded browser does not start on a machine that lacks its shared libraries
            ways.append(([*playwright, "install-deps", "chromium"], PACKAGE_S))
    if package:
        ways.append((["apt-get", "update"], PACKAGE_S))
        ways.append((["apt-get", "install", "-y", "--no-install-recommends", "chromium"], PACKAGE_S))
    return ways


def _run(command: list[str], limit_s: int) -> bool:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    try:  # on standard error, since standard output is for the path alone
        ended = subprocess.run(command, stdout=sys.stderr, env=environment, timeout=limit_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _starts(path: str) -> bool:
    """Whether it answers --version: a snap's stub and a browser without its libraries do not."""
    try:
        ended = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _playwrights_own() -> str | None:
    """Where this Playwright keeps its Chromium, if it was downloaded. In a child: a test may run an event loop."""
    if not find_spec("playwright"):
        return None
    try:
        ended = subprocess.run(
            [sys.executable, "-c", _PLAYWRIGHTS_OWN], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    path = ended.stdout.strip()
    return path if path and Path(path).exists() else None


if __name__ == "__main__":
    try:
        print(provide())
    except RuntimeError as error:
        sys.exit(str(error))
