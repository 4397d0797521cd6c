"""Makes the store of a set: reads, renders, tokenises and marks every row once, on the cores there are."""

from __future__ import annotations

import copy
import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import psutil

from ftui import cache
from ftui.data.load import DataSet, Told
from ftui.data.look import Look
from ftui.data.row import Row
from ftui.errors import FtuiError
from ftui.hardware import detect
from ftui.jobs import process
from ftui.models.load import load_tokenizer
from ftui.settings import DataSettings
from ftui.templates.advice import Advice, advice
from ftui.templates.chatml import with_template
from ftui.templates.mask import end_of_turn
from ftui.templates.store import Packed, Store, Writer, is_whole, opened, pack
from ftui.templates.tokenise import tokenise

_CHUNK = 256
# Starting a process costs as much as tokenising some thousand rows: fewer are done by this one alone.
_ALONE = 20_000
# What a process with transformers and a tokenizer was seen to take, shared pages not counted.
_PROCESS_BYTES = 500e6
_MOST = 16
_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".onnx", ".h5", ".msgpack")
_LIBRARIES = ("transformers", "tokenizers", "trl", "jinja2")


class Tokens:
    """A model's tokenizer with the template that the settings choose. name: what it depends on, for the cache."""

    def __init__(self, folder: Path, data: DataSettings, trust_remote_code: bool = False) -> None:
        self.folder, self.data, self.trust_remote_code = folder, data, trust_remote_code
        self.tokenizer = with_template(load_tokenizer(folder, trust_remote_code), data.template)
        self.name = cache.key(
            cache.contents(tokenizer_files(folder)),
            cache.versions(*_LIBRARIES),
            [data.template, data.system_role, data.learn],
        )

    def of(self, data: DataSettings) -> Tokens:
        """The same tokenizer for other data; template, roles and loss must be those it was made for."""
        other = copy.copy(self)
        other.data = data
        return other

    @cached_property
    def end(self) -> str:
        """What ends an assistant's turn; the end of text where the model has no template."""
        try:
            return end_of_turn(self.tokenizer).strip()
        except FtuiError:
            return str(self.tokenizer.eos_token or "")

    def advice(self, look: Look, dropped: dict[str, int]) -> list[Advice]:
        """What is worth knowing of this tokenizer for the data that was looked at: nothing of talks where it is text.

        dropped: reason to rows. What the template makes of a system prompt matters where there is one.
        """
        if look.report["schema"] == "text":
            return []
        shown = self.data.system or look.with_system or "template_refused" in dropped
        return [found for found in advice(self.tokenizer) if shown or not found.code.startswith("system_")]


def tokenizer_files(folder: Path) -> list[Path]:
    """All that a tokenizer may depend on in a model's folder: everything but weights."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in found if path.suffix.lower() not in _WEIGHTS]


def store(tokens: Tokens, found: DataSet, split: str, told: Told | None = None) -> Store:
    """The tokenised rows of a split, made now or found as they were made before. What told raises ends it."""
    name = cache.key(
        tokens.name, found.described(), split, asdict(found.options), cache.contents(found.files),
        cache.versions("pyarrow", "openpyxl"), cache.code("data", "templates"),
    )  # fmt: skip
    folder = cache.entry("tokens", name, lambda made: _make(made, tokens, found, split, told), is_whole)
    return opened(str(folder))


def _make(folder: Path, tokens: Tokens, found: DataSet, split: str, told: Told | None) -> None:
    rows = found.rows(split, told)
    with Writer(folder) as writer:
        for chunk in _chunks(islice(rows, _ALONE)):
            writer.add(pack(tokenise(tokens.tokenizer, chunk, tokens.data)))
        for packed in _together(tokens, rows):
            writer.add(packed)


def _together(tokens: Tokens, rows: Iterator[Row]) -> Iterator[Packed]:
    """The rest of the rows, packed in their order, by several processes where there is room for them."""
    first = next(rows, None)
    if first is None:
        return
    chunks = _chunks(chain([first], rows))
    count = processes()
    if count < 2:
        yield from (pack(tokenise(tokens.tokenizer, chunk, tokens.data)) for chunk in chunks)
        return
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload([__name__])
    given = (str(tokens.folder), tokens.data.model_dump(), tokens.trust_remote_code, os.getpid())
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=given)
    try:
        yield from _in_order(lambda chunk: pool.submit(_packed, chunk), chunks, 2 * count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def processes() -> int:
    """How many processes tokenise: one a core, fewer where memory is short."""
    room = psutil.virtual_memory().available * 0.5 / _PROCESS_BYTES
    return max(1, min(detect().cores, _MOST, int(room)))


def _in_order(
    submit: Callable[[tuple[Row, ...]], Future[Packed]], chunks: Iterable[tuple[Row, ...]], ahead: int
) -> Iterator[Packed]:
    """Results in the order of the chunks; only so many are under way, so that memory stays flat."""
    waiting: deque[Future[Packed]] = deque()
    for chunk in chunks:
        waiting.append(submit(chunk))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _chunks(rows: Iterator[Row]) -> Iterator[tuple[Row, ...]]:
    while chunk := tuple(islice(rows, _CHUNK)):
        yield chunk


_own: list[Tokens] = []


def _begin(folder: str, data: dict[str, Any], trust_remote_code: bool, parent: int) -> None:
    """Set a process of the pool up; it ends by itself when the one that started it is gone."""
    _own[:] = [Tokens(Path(folder), DataSettings.model_validate(data), trust_remote_code)]

    begun = process.started(parent)

    def watch() -> None:
        while process.started(parent) == begun:
            time.sleep(2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _packed(chunk: tuple[Row, ...]) -> Packed:
    return pack(tokenise(_own[0].tokenizer, chunk, _own[0].data))
