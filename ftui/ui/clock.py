"""The clock of a page: a look at the folders each second, and a redraw of only those areas that have changed.

A tick answers nothing but stamps, which the browser does not draw; an area whose stamp is new is drawn by a
handler of its own. With all areas as outputs of the tick, an idle page was seen to keep a core busy.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ftui.ui.handler import ticking, told

log = logging.getLogger("ftui")
TICK_S = 1.0


@dataclass
class Area:
    """A part of the page that follows the folders.

    stamp(*inputs): a short text that changes when there is something new to show. drawn(*inputs): updates of
    the outputs, at once or in steps. Both get the values of `inputs`.
    """

    stamp: Callable[..., str]
    drawn: Callable[..., Any]
    inputs: list[Any]
    outputs: list[Any]


def start(areas: list[Area]) -> None:
    """Start the clock for these areas; to be called inside the page."""
    seen = [gr.State("") for _ in areas]

    def look(*values: Any) -> list[Any]:
        before, rest = values[: len(areas)], list(values[len(areas) :])
        stamps: list[Any] = []
        for area, last in zip(areas, before, strict=True):
            given, rest = rest[: len(area.inputs)], rest[len(area.inputs) :]
            stamps.append(_stamp(area, given, last))
        return stamps

    inputs = [control for area in areas for control in area.inputs]
    # Through the queue: only there is the browser told which states have changed.
    gr.Timer(TICK_S).tick(
        look, [*seen, *inputs], seen, show_progress="hidden", concurrency_limit=None, api_visibility="private"
    )
    for area, state in zip(areas, seen, strict=True):
        # A handler that draws in steps is one that takes long: its errors are worth a note.
        steps = inspect.isgeneratorfunction(area.drawn)
        state.change(
            told(area.drawn) if steps else ticking(area.drawn, len(area.outputs)),
            area.inputs,
            area.outputs,
            show_progress="hidden",
            queue=steps,
            concurrency_limit=None,
            api_visibility="private",
        )


def _stamp(area: Area, given: list[Any], last: str) -> Any:
    try:
        stamp = area.stamp(*given)
    except Exception:
        log.exception("an area of the page could not be looked at")
        return gr.skip()
    return gr.skip() if stamp == last else stamp
