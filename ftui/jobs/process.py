"""Whether a process is still the one we started, and how its whole group is ended."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import psutil


def started(pid: int) -> float | None:
    """When a process began (seconds since 1970); None where there is no live one.

    A pid alone proves nothing: numbers are used again. A zombie is dead but not yet collected.
    """
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def alive(pid: int | None, pid_started: float | None) -> bool:
    """Whether pid lives and is the process that began at that time (to within two seconds)."""
    if not pid or pid_started is None:
        return False
    now = started(pid)
    return now is not None and abs(now - pid_started) < 2


def end_group(leader: int, grace_s: float) -> None:
    """End a process group and all that descends from its leader: SIGTERM, a grace period, SIGKILL.

    The descendants are collected first: once the launcher is gone, its children can no longer be found by it.
    """
    members = _members(leader)
    _signal_group(leader, signal.SIGTERM)
    _, living = psutil.wait_procs(members, timeout=grace_s)
    if living:
        _signal_group(leader, signal.SIGKILL)
        for process in living:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(living, timeout=10)


def _members(leader: int) -> list[psutil.Process]:
    members = {}
    with suppress(psutil.Error):
        top = psutil.Process(leader)
        members = {process.pid: process for process in [top, *top.children(recursive=True)]}
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if os.getpgid(process.pid) == leader:
                members[process.pid] = process
    return list(members.values())


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
