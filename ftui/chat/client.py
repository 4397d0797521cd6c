"""The chat that page and terminal share: one model process, one conversation answered at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ftui.models.source import Source
from ftui.service import Service


@dataclass(frozen=True)
class Sampling:
    """max_tokens: of the answer. temperature 0 is always the likeliest word; seed matters above 0."""

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values for the request."""
        return self.__dict__.copy()


class ChatClient:
    """A model that can be loaded, talked to and let go."""

    def __init__(self) -> None:
        self._service = Service("ftui.chat.worker")
        self.loaded: Source | None = None
        self.columns: list[str] = []
        self.memory_gb: float | None = None
        self.seconds: float | None = None

    def load(self, source: Source) -> Iterator[dict[str, Any]]:
        """Load a source, yielding what is being done; the last event names columns, seconds and memory."""
        self.loaded, self.columns = None, []
        for event in self._service.ask("load", source=source.to_json()):
            if event.get("done"):
                self.loaded, self.columns = source, event["columns"]
                self.memory_gb, self.seconds = event["memory_gb"], event["seconds"]
            yield event

    def answer(
        self, column: str, messages: list[dict[str, str]], sampling: Sampling = Sampling()
    ) -> Iterator[dict[str, Any]]:
        """Stream an answer of the `base` or the `tuned` model: events with `text`, the whole text so far."""
        yield from self._service.ask("answer", column=column, messages=messages, **sampling.to_json())

    def stop(self) -> None:
        """End the answer that is being written."""
        self._service.stop()

    def unload(self) -> None:
        """End the model's process, which frees all of its memory."""
        self.loaded, self.columns = None, []
        self._service.close()

    @property
    def running(self) -> bool:
        """Whether the model's process lives."""
        return self._service.running
