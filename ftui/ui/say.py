"""The page's words: one YAML file a language in `words/`, chosen by the browser.

`label` is for what stands on the page from the start (the browser translates it), `say` for what a handler
answers (in the language of the request it answers).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
import yaml
from gradio.context import LocalContext

from ftui import settings as schema

_FOLDER = Path(__file__).parent / "words"
DEFAULT = "en"


@cache
def words(language: str) -> dict[str, str]:
    """Key to text of one language; the English file also gets the schema's titles and help texts."""
    read = yaml.safe_load((_FOLDER / f"{language}.yaml").read_text("utf-8"))
    texts = {str(key): str(text) for key, text in read.items()}
    if language != DEFAULT:
        return words(DEFAULT) | texts
    for dotted, info in schema.fields().items():
        auto, unit = schema.form(info)["auto"], schema.form(info)["unit"]
        texts[f"field.{dotted}.title"] = f"{info.title} ({unit})" if unit else str(info.title)
        help_text = info.description or ""
        texts[f"field.{dotted}.help"] = f"{help_text} Empty: {auto}." if auto else help_text
    for section, kind in schema.SECTIONS.items():
        texts[f"section.{section}"] = (kind.__doc__ or section).split(".")[0]
    return texts


@cache
def languages() -> list[str]:
    """The languages there are words for."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


@cache
def translations() -> gr.I18n:
    """What the browser chooses from; given to `launch`."""
    return gr.I18n(**{language: words(language) for language in languages()})


def label(key: str) -> Any:
    """A text that stands on the page. A key that has no text is a fault of ours, found when the page is built."""
    if key not in words(DEFAULT):
        raise KeyError(f"no words for {key!r} in {_FOLDER / DEFAULT}.yaml")
    return translations()(key)


def say(key: str, **values: object) -> str:
    """A text that a handler answers, in the language its browser asked for."""
    return words(language())[key].format(**values)


def phase(name: str) -> str:
    """A job's phase in words; a phase without any is shown as its worker named it."""
    return words(language()).get(f"phase.{name}", name)


def language() -> str:
    """The first language the browser accepts that there are words for."""
    request = LocalContext.request.get(None)
    accepted = str(getattr(request, "headers", {}).get("accept-language", "")) if request else ""
    for part in accepted.split(","):
        name = part.split(";")[0].strip().split("-")[0].lower()
        if name in languages():
            return name
    return DEFAULT
