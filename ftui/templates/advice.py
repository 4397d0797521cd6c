"""What is worth knowing of a tokenizer and its chat template before training: found by having it write small talks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ftui.errors import FtuiError
from ftui.templates.chatml import adds_bos as begins_with_bos
from ftui.templates.chatml import chatml
from ftui.templates.mask import answer_spans, end_of_turn, loss_mask
from ftui.templates.prompt import prompt_end
from ftui.templates.render import Messages, TemplateRefused, folded, render

_ASKED, _SYSTEM = "ftui question", "ftui system"
_USER = {"role": "user", "content": _ASKED}
_ANSWER = {"role": "assistant", "content": "ftui answer"}
_TALK: Messages = [_USER, _ANSWER]


@dataclass(frozen=True)
class Advice:
    """A warning with what can be done.

    change: settings by dotted name that one click would apply; may be empty. harmless: nothing is to be done here.
    """

    code: str
    title: str
    message: str
    fix: str
    change: dict[str, object] = field(default_factory=dict)
    harmless: bool = False


def advice(tokenizer: Any, adds_bos: bool | None = None) -> list[Advice]:
    """All that is to be said of a tokenizer with its template; never raises for odd ones.

    adds_bos: whether texts get the beginning-of-text token put in front; found out where None. Codes: no_template;
    stop_not_learned; system_refused, system_ignored; alternation_refused; thought_opened; double_bos; no_pad.
    """
    if not getattr(tokenizer, "chat_template", None):
        return [_no_template(tokenizer), *_padding(tokenizer)]
    if adds_bos is None:
        adds_bos = begins_with_bos(tokenizer)
    found = [*_stop(tokenizer), *_system(tokenizer), *_alternation(tokenizer), *_thought(tokenizer)]
    return [*found, *_bos(tokenizer, adds_bos), *_padding(tokenizer)]


def _no_template(tokenizer: Any) -> Advice:
    try:
        chatml(tokenizer)
    except FtuiError as error:
        return Advice("no_template", "The model has no chat template", error.message, error.fix)
    return Advice(
        "no_template",
        "The model has no chat template",
        "It brings no form for conversations. ChatML is offered, made of the special tokens that it has.",
        "Have talks written as ChatML, choose an instruct model, or train on plain text.",
        {"data.template": "chatml"},
    )


def _stop(tokenizer: Any) -> list[Advice]:
    title = "The model would not learn to stop"
    try:
        end = end_of_turn(tokenizer)
        text, spans = answer_spans(tokenizer, _TALK, None, "answers", end)
    except FtuiError as error:
        return [
            Advice(
                "stop_not_learned", "The answers cannot be found in the template", error.message, error.fix
            )
        ]
    if not end:
        return [
            Advice(
                "stop_not_learned",
                title,
                "The template writes nothing behind an answer, so no token that ends it can be learned.",
                "Have talks written as ChatML, whose turns end with a token.",
                {"data.template": "chatml"},
            )
        ]
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    marks = loss_mask(encoded["offset_mapping"], spans)
    learned = [token for token, mark in zip(encoded["input_ids"], marks, strict=True) if mark]
    stops = _stops(tokenizer)
    if stops & set(learned):
        return []
    known = ", ".join(repr(tokenizer.decode([stop])) for stop in sorted(stops)) or "none"
    return [
        Advice(
            "stop_not_learned",
            title,
            f"Its template ends an answer with {end.strip()!r}, but generation stops at {known}: "
            "an answer would go on until the limit.",
            "Check that tokenizer, template and generation_config.json are those of one model; the last can name "
            "the token among its eos_token_id.",
        )
    ]


def _stops(tokenizer: Any) -> set[int]:
    """The tokens at which generation ends: of the tokenizer, and of generation_config.json beside it."""
    named: list[Any] = [tokenizer.eos_token_id]
    try:
        config = json.loads((Path(tokenizer.name_or_path) / "generation_config.json").read_text("utf-8"))
        ids = config.get("eos_token_id")
        named += ids if isinstance(ids, list) else [ids]
    except (OSError, ValueError, AttributeError):
        pass  # no model folder, or none that can be read: the tokenizer's own word stands
    return {stop for stop in named if isinstance(stop, int)}


def _system(tokenizer: Any) -> list[Advice]:
    talk: Messages = [{"role": "system", "content": _SYSTEM}, *_TALK]
    try:
        if _SYSTEM not in render(tokenizer, folded(talk)):
            return []  # what is lost then is more than the system turn
    except TemplateRefused:
        return []
    fix = "Put the system prompt in front of the first question. The preview shows how it is then read."
    change: dict[str, object] = {"data.system_role": "first_user"}
    try:
        if _SYSTEM in render(tokenizer, talk):
            return []
    except TemplateRefused as refusal:
        said = f"The template takes no system turn, so rows with one are dropped. {refusal.message}"
        return [Advice("system_refused", "The template refuses a system prompt", said, fix, change)]
    said = "The template writes nothing of a system turn: it would be lost without a word."
    return [Advice("system_ignored", "The template leaves out the system prompt", said, fix, change)]


def _alternation(tokenizer: Any) -> list[Advice]:
    if not _renders(tokenizer, _TALK):
        return []
    for talk, what in (
        ([_ANSWER, *_TALK], "begins with the assistant"),
        ([_USER, *_TALK], "has two questions in a row"),
    ):
        try:
            render(tokenizer, talk)
        except TemplateRefused as refusal:
            return [
                Advice(
                    "alternation_refused",
                    "The template wants question and answer in turn",
                    f"It refuses a talk that {what}. {refusal.message}",
                    "Rows are joined where one role speaks twice; others that do not alternate are dropped and "
                    "counted. Mend them in the file to keep them.",
                )
            ]
    return []


def _thought(tokenizer: Any) -> list[Advice]:
    try:
        text, prompt = render(tokenizer, _TALK), render(tokenizer, [_USER], ask=True)
    except TemplateRefused:
        return []
    if prompt_end(text, prompt, strict=True) is not None or prompt_end(text, prompt) is None:
        return []
    return [
        Advice(
            "thought_opened",
            "The model is asked to think before it answers",
            "Its prompt opens a thought, which answers without thoughts do not show: what is learned from such rows "
            "is used only where the prompt leaves the thought out.",
            "Use rows with thoughts, or a model that answers at once.",
        )
    ]


def _bos(tokenizer: Any, adds: bool) -> list[Advice]:
    if tokenizer.bos_token_id is None or not tokenizer.bos_token:
        return []
    try:
        text = render(tokenizer, _TALK)
    except TemplateRefused:
        return []
    bos = tokenizer.bos_token
    if text.startswith(bos * 2) or _leading(tokenizer, text) > 1:
        return [
            Advice(
                "double_bos",
                "The beginning of text stands twice",
                f"Each talk begins with {bos} twice, which the model never saw in its training.",
                "Take one of them out of the model's chat template.",
            )
        ]
    if adds and text.startswith(bos):
        return [
            Advice(
                "double_bos",
                "Template and tokenizer both write the beginning of text",
                f"The template writes {bos} and the tokenizer puts it in front of any text. Here each row gets it "
                "once; a program that tokenises the written talk as plain text would have it twice.",
                "Nothing is to be done here; elsewhere, switch off the adding of special tokens.",
                harmless=True,
            )
        ]
    return []


def _leading(tokenizer: Any, text: str) -> int:
    """How many beginning-of-text tokens stand first, as rows are tokenised here."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return next((place for place, token in enumerate(ids) if token != tokenizer.bos_token_id), len(ids))


def _padding(tokenizer: Any) -> list[Advice]:
    if tokenizer.pad_token_id is not None and tokenizer.pad_token_id != tokenizer.eos_token_id:
        return []
    return [
        Advice(
            "no_pad",
            "The model has no token of its own for padding",
            "The end of text is used to fill up short rows. That is harmless here: what carries loss is marked before "
            "rows are filled up, so a real end of text is learned and one that fills is not.",
            "Nothing is to be done.",
            harmless=True,
        )
    ]


def _renders(tokenizer: Any, messages: Messages) -> bool:
    try:
        render(tokenizer, messages)
    except TemplateRefused:
        return False
    return True
