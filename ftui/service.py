"""A warm child process that answers requests: how the page uses torch without importing it.

Requests and events are JSON lines on the child's standard input and output. A request is
`{"id", "method", …}`; its events carry the same id, and the last one has `done` or `error`. The child ends when
its input closes, so a killed server leaves none behind.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

from ftui import hardware, workspace
from ftui.errors import FtuiError, JobError, as_error
from ftui.jobs import control, launch, process

Event = dict[str, Any]
Answering = Generator[Event, None, Event]
Answer = Callable[..., Answering]


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Service:
    """The client's side. The child starts with the first request and stays warm until `close`."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._child: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, queue.Queue[Event | None]] = {}
        self._ids = itertools.count(1)
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        """Whether the child lives."""
        return self._child is not None and self._child.poll() is None

    def ask(self, method: str, **values: Any) -> Iterator[Event]:
        """Send a request and yield its events until it is done. Raises the FtuiError that the child reports.

        A consumer that goes away early (a closed page) has the request stopped.
        """
        number, events = self._send(method, values)
        finished = False
        try:
            while True:
                event = events.get()
                if event is None:
                    finished = True
                    raise JobError(
                        "worker_gone",
                        "The model process ended",
                        "It was closed, or the system ended it because memory ran out.",
                        "Load the model again; a smaller one if this repeats.",
                    )
                if "error" in event:
                    finished = True
                    raise FtuiError.from_json(event["error"])
                if event.get("done"):
                    finished = True
                    yield event
                    return
                yield event
        finally:
            self._waiting.pop(number, None)
            if not finished:
                with suppress(OSError, JobError):
                    self._write({"method": "stop", "target": number})

    def call(self, method: str, **values: Any) -> Event:
        """The last event of a request, for methods that answer once."""
        last: Event = {}
        for event in self.ask(method, **values):
            last = event
        return last

    def stop(self) -> None:
        """Stop all that is being answered; the child stays warm."""
        if self.running:
            with suppress(OSError):
                self._write({"method": "stop", "target": 0})

    def close(self) -> None:
        """End the child and free what it holds."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            with suppress(OSError):
                child.stdin.close()  # type: ignore[union-attr]
            process.end_group(child.pid, 3.0)
            child.wait()

    def _send(self, method: str, values: dict[str, Any]) -> tuple[int, queue.Queue[Event | None]]:
        number = next(self._ids)
        events: queue.Queue[Event | None] = queue.Queue()
        with self._lock:
            if not self.running:
                self._start()
            self._waiting[number] = events
        self._write({"id": number, "method": method, **values})
        return number, events

    def _write(self, request: dict[str, Any]) -> None:
        line = (json.dumps(request, ensure_ascii=False) + "\n").encode()
        with self._lock:
            if self._child is None or self._child.stdin is None:
                raise JobError(
                    "worker_gone", "The model process ended", "It is not running.", "Load it again."
                )
            self._child.stdin.write(line)
            self._child.stdin.flush()

    def _start(self) -> None:
        machine, training = hardware.detect(), any(job.kind == "train" for job in control.active())
        folder = workspace.home() / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{self.module}.log").open("ab") as log:
            self._child = subprocess.Popen(
                [sys.executable, "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=launch.beside(machine) if training else launch.environment(machine, 1),
                cwd=workspace.PROJECT,
                start_new_session=True,
            )
        atexit.register(self.close)
        threading.Thread(target=self._read, args=(self._child,), daemon=True).start()

    def _read(self, child: subprocess.Popen[bytes]) -> None:
        for line in child.stdout or ():
            with suppress(json.JSONDecodeError):
                event = json.loads(line)
                waiting = self._waiting.get(event.get("id"))
                if waiting is not None:
                    waiting.put(event)
        for waiting in list(self._waiting.values()):
            waiting.put(None)


def serve(methods: dict[str, Answer], together: bool = False) -> None:
    """The child's side: answer requests until the input closes; one after the other, or all `together`.

    A method is called with the request's values and `stopped`, a function that says whether to end early.
    What it yields is told at once; what it returns is the last event.
    """
    # What libraries print must not get between the JSON lines.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.Queue[dict[str, Any] | None] = queue.Queue()
    stopped: set[int] = set()
    latest = [0]
    writing = threading.Lock()

    def read() -> None:
        for line in sys.stdin:
            request = json.loads(line)
            if request["method"] == "stop":
                stopped.update(range(1, latest[0] + 1) if request["target"] == 0 else [request["target"]])
            else:
                latest[0] = request["id"]
                requests.put(request)
        requests.put(None)
        stopped.update(range(1, latest[0] + 1))

    def answer(request: dict[str, Any]) -> None:
        number, method = request.pop("id"), request.pop("method")

        def say(event: Event) -> None:
            with writing:
                out.write(json.dumps({"id": number, **event}, ensure_ascii=False) + "\n")
                out.flush()

        try:
            steps = methods[method](**request, stopped=lambda: number in stopped)
            say(tell(steps, say) | {"done": True})
        except Stopped:
            say({"done": True, "stopped": True})
        except Exception as fault:
            traceback.print_exc()
            say({"error": as_error(fault, f"{workspace.home() / 'logs'}").to_json()})

    if together:
        # A small question must not wait for a thread that computes each time that it looks at a file: with Python's
        # five milliseconds a row was seen to take ten seconds beside the reading of a large set.
        sys.setswitchinterval(0.0002)
    threading.Thread(target=read, daemon=True).start()
    while (request := requests.get()) is not None:
        if together:
            threading.Thread(target=answer, args=(request,), daemon=True).start()
        else:
            answer(request)


def progressing(
    work: Callable[[Callable[[int, int, int], None]], Event], stopped: Callable[[], bool]
) -> Answering:
    """Do the work beside and tell its progress, as events {done_bytes, total_bytes, rows}; returns its result.

    work: gets a function that it tells bytes done, bytes in all and rows; this raises Stopped where nobody waits.
    """
    events: queue.Queue[Event | None] = queue.Queue()
    ended: list[Any] = []

    def told(done: int, total: int, rows: int) -> None:
        if stopped():
            raise Stopped
        events.put({"done_bytes": done, "total_bytes": total, "rows": rows})

    def run() -> None:
        try:
            ended.append(work(told))
        except BaseException as fault:
            ended.append(fault)
        events.put(None)

    threading.Thread(target=run, daemon=True).start()
    while (event := events.get()) is not None:
        yield event
    if isinstance(ended[0], BaseException):
        raise ended[0]
    result: Event = ended[0]
    return result


def tell(steps: Generator[Event, None, Event], say: Callable[[Event], None]) -> Event:
    """Tell each event of a generator as it comes; returns what the generator returns."""
    while True:
        try:
            say(next(steps))
        except StopIteration as end:
            return end.value or {}
