"""The frame around every handler: an error becomes words on the page, its traceback goes to the log."""

from __future__ import annotations

import functools
import html
import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import gradio as gr

from ftui.errors import FtuiError, as_error

log = logging.getLogger("ftui")
Handler = TypeVar("Handler", bound=Callable[..., Any])


def told(handler: Handler) -> Handler:
    """Show what a handler raises as a note on the page: title, message and fix, never a stack trace."""

    if inspect.isgeneratorfunction(handler):

        @functools.wraps(handler)
        def steps(*given: Any, **named: Any) -> Any:
            try:
                yield from handler(*given, **named)
            except gr.Error:
                raise
            except Exception as fault:
                raise _note(fault) from None

        return steps  # type: ignore[return-value]

    @functools.wraps(handler)
    def once(*given: Any, **named: Any) -> Any:
        try:
            return handler(*given, **named)
        except gr.Error:
            raise
        except Exception as fault:
            raise _note(fault) from None

    return once  # type: ignore[return-value]


def ticking(handler: Callable[..., list[Any]], outputs: int) -> Callable[..., list[Any]]:
    """A handler of the clock: a fault is logged once and changes nothing, since a note a second helps nobody."""
    logged: set[str] = set()

    @functools.wraps(handler)
    def tick(*given: Any) -> list[Any]:
        try:
            return handler(*given)
        except Exception as fault:
            if repr(fault) not in logged:
                logged.add(repr(fault))
                log.exception("a handler of the clock failed", exc_info=fault)
            return [gr.skip()] * outputs

    return tick


def _note(fault: Exception) -> gr.Error:
    if not isinstance(fault, FtuiError):
        log.exception("a handler of the page failed", exc_info=fault)
    error = as_error(fault, "the server's log")
    body = f"{html.escape(error.message)}<br><b>→ {html.escape(error.fix)}</b>"
    return gr.Error(body, title=html.escape(error.title), duration=15, print_exception=False)
