"""A served page and a real browser for the journeys; pictures of what they see go to tests/screenshots/."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests import chromium
from tests.conftest import ROOT, _end_all, _link_tree

SCREENSHOTS = ROOT / "tests" / "screenshots"
# Without these Chromium looks for hosts of its own at each start.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Served:
    """A running server and its workspace. `start` and `kill` end with the page answering or gone."""

    home: Path
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py", "--port", str(self.port)],
                cwd=ROOT,
                env={**os.environ, "FTUI_HOME": str(self.home)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                if httpx.get(self.url, timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.3)
        raise AssertionError(f"the page is not served: {self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium.provide(), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def served(starter: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over a workspace of its own that has the starter model."""
    home = tmp_path_factory.mktemp("journey")
    _link_tree(starter, home / "models" / starter.name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = os.environ.get("FTUI_HOME")
    os.environ["FTUI_HOME"] = str(home)
    server = Served(home, port, home / "server.log")
    server.start()
    try:
        yield server
    finally:
        server.stop()
        try:
            assert "Traceback" not in server.log.read_text(), server.log.read_text()[-4000:]
            _end_all(home)
        finally:
            if kept is not None:
                os.environ["FTUI_HOME"] = kept


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """A wide window in English; what the page reports as an error fails the test."""
    context = browser.new_context(viewport={"width": 1360, "height": 900}, locale="en-US")
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    faults: list[str] = []
    opened.on("pageerror", lambda fault: faults.append(str(fault)))
    opened.goto(served.url)
    opened.wait_for_selector("#head .machine")
    yield opened
    context.close()
    assert not faults


@pytest.fixture(scope="session")
def picture() -> Callable[[Page, str], None]:
    """Keep a picture of what a page shows, for people to look at."""
    shutil.rmtree(SCREENSHOTS, ignore_errors=True)
    SCREENSHOTS.mkdir(parents=True)

    def take(page: Page, name: str) -> None:
        page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    return take


def tab(page: Page, name: str) -> None:
    """Open a tab as a person does; a narrow window keeps some of them behind a button."""
    place = page.get_by_role("tab", name=name, exact=True)
    if not place.first.is_visible():
        page.locator(".overflow-menu > button").first.click()
        page.locator(".overflow-dropdown").get_by_text(name, exact=True).click()
        return
    place.first.click()
