"""Chat: the base model and the tuned one side by side, one box that asks both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr

from ftui import words
from ftui.chat.client import Sampling
from ftui.errors import FtuiError, JobError
from ftui.jobs import folder
from ftui.models import source as sources
from ftui.models.find import STARTER
from ftui.ui import html, runs
from ftui.ui.handler import told
from ftui.ui.say import label, say
from ftui.ui.services import CHAT

Talk = list[dict[str, Any]]


@dataclass
class ChatTab:
    """The controls that the page links to others."""

    run: gr.Dropdown
    status: gr.HTML


def build() -> ChatTab:
    """Draw the tab."""
    with gr.Row():
        with gr.Column(scale=1, min_width=260):
            run = gr.Dropdown([], value=None, label=label("chat.run"), elem_id="chat-run")
            checkpoint = gr.Dropdown(
                [(say("chat.result"), "")],
                value="",
                label=label("chat.checkpoint"),
                elem_id="chat-checkpoint",
            )
            with gr.Row(elem_classes="actions"):
                load = gr.Button(label("chat.load"), variant="primary", min_width=100, elem_id="chat-load")
                unload = gr.Button(label("chat.unload"), min_width=100, elem_id="chat-unload")
            status = gr.HTML(elem_id="chat-status", min_height=64)
            with gr.Accordion(label("chat.sampling"), open=False):
                system = gr.Textbox(label=label("chat.system"), lines=2)
                max_tokens = gr.Slider(16, 2048, 200, step=8, label=label("chat.max_tokens"))
                temperature = gr.Slider(
                    0, 2, 0, step=0.05, label=label("chat.temperature"), info=label("chat.temperature.help")
                )
                top_p = gr.Slider(0.05, 1, 1, step=0.05, label=label("chat.top_p"))
                seed = gr.Number(0, precision=0, label=label("chat.seed"))
        with gr.Column(scale=3, min_width=320):
            with gr.Row():
                base, tuned = (
                    gr.Chatbot(
                        label=label(f"chat.{column}"),
                        placeholder=say(f"chat.{column}.empty"),
                        height=380,
                        min_width=280,
                        elem_id=f"chat-{column}",
                        buttons=["copy"],
                    )
                    for column in ("base", "tuned")
                )
            questions = gr.Dataset(
                components=[gr.Textbox(visible=False)],
                samples=[],
                label=label("chat.questions"),
                elem_id="chat-questions",
                visible=False,
            )
            with gr.Row(equal_height=True):
                box = gr.Textbox(
                    show_label=False,
                    placeholder=label("chat.ask"),
                    scale=5,
                    container=False,
                    max_lines=6,
                    elem_id="chat-box",
                )
                send = gr.Button(
                    label("chat.send"), variant="primary", scale=1, min_width=90, elem_id="chat-send"
                )
                stop = gr.Button(label("chat.stop"), scale=1, min_width=90, elem_id="chat-stop")
            with gr.Row(elem_classes="actions"):
                again = gr.Button(label("chat.again"), size="sm", scale=0, min_width=110)
                clear = gr.Button(label("chat.clear"), size="sm", scale=0, min_width=110)
            with gr.Accordion(label("chat.prompt"), open=False):
                prompt = gr.Textbox(
                    show_label=False, interactive=False, lines=6, container=False, elem_classes="log"
                )
    which, sampling = [run, checkpoint], [system, max_tokens, temperature, top_p, seed]
    model: dict[str, Any] = {"concurrency_id": "model", "concurrency_limit": 1, "show_progress": "hidden"}
    load.click(told(load_model), which, status, **model)
    unload.click(told(unload_model), None, status, show_progress="hidden")
    run.change(told(of_run), run, [checkpoint, questions], show_progress="hidden")
    asked = [box, base, tuned, *which, *sampling]
    answered = [box, base, tuned, status, prompt]
    gr.on([send.click, box.submit], told(ask), asked, answered, **model)
    questions.click(told(lambda chosen: chosen[0]), questions, box, show_progress="hidden").then(
        told(ask), asked, answered, **model
    )
    again.click(told(repeat), asked, answered, **model)
    stop.click(lambda: CHAT.stop(), None, None, queue=False)
    clear.click(lambda: ([], [], ""), None, [base, tuned, prompt], show_progress="hidden")
    return ChatTab(run, status)


def of_run(run: str | None) -> tuple[Any, Any]:
    """The checkpoints that can be talked to, and held-out questions to try."""
    choices = [(say("chat.result"), "")]
    asked: tuple[str, ...] = ()
    if run and run != STARTER:
        try:
            choices += [(path.name, path.name) for path in reversed(folder.find(run).checkpoints())]
        except FtuiError:
            return gr.update(choices=choices, value=""), gr.update(visible=False)
        asked = runs.questions(run)
    samples = gr.Dataset(samples=[[question] for question in asked], visible=bool(asked))
    return gr.update(choices=choices, value=""), samples


def load_model(run: str | None, checkpoint: str) -> Iterator[str]:
    """Load a run's models, saying what is being done."""
    yield from (html.waiting(event) if event else "" for event in _load(_source(run, checkpoint)))
    yield loaded()


def unload_model() -> str:
    """End the model's process."""
    CHAT.unload()
    return html.empty(say("chat.unloaded.title"), say("chat.unloaded"))


def loaded() -> str:
    """What is loaded now, and what it takes."""
    if CHAT.loaded is None or not CHAT.running:
        return html.empty(say("chat.unloaded.title"), say("chat.unloaded"))
    return html.card(
        html.text(CHAT.loaded.name),
        html.figures(
            [
                (say("chat.memory"), words.gigabytes(CHAT.memory_gb)),
                (say("chat.took"), words.duration(CHAT.seconds)),
            ]
        ),
    )


def ask(
    box: str, base: Talk, tuned: Talk, run: str | None, checkpoint: str, *sampling: Any
) -> Iterator[tuple[Any, ...]]:
    """Send the question to both models and stream what they answer, the tuned one first."""
    question = (box or "").strip()
    if not question:
        yield tuple([gr.skip()] * 5)
        return
    system, max_tokens, temperature, top_p, seed = sampling
    base, tuned = _plain(base), _plain(tuned)
    wanted = _source(run, checkpoint)
    if CHAT.loaded != wanted or not CHAT.running:
        for doing in _load(wanted):
            yield gr.skip(), gr.skip(), gr.skip(), html.waiting(doing), gr.skip()
    talks = {"base": base, "tuned": tuned}
    for talk in talks.values():
        talk.append({"role": "user", "content": question})
    chosen = Sampling(int(max_tokens), float(temperature), float(top_p), int(seed or 0))
    yield "", base, tuned, loaded(), gr.skip()
    raw = ""
    for column in [name for name in ("tuned", "base") if name in CHAT.columns]:
        talk = talks[column]
        before = [{"role": "system", "content": system}] if system else []
        messages = before + [{"role": turn["role"], "content": turn["content"]} for turn in talk]
        talk.append({"role": "assistant", "content": "…"})
        event: dict[str, Any] = {}
        for event in CHAT.answer(column, messages, chosen):
            talk[-1]["content"] = event.get("text") or "…"
            raw = event.get("prompt", raw)
            yield gr.skip(), base, tuned, gr.skip(), gr.skip()
        if talk[-1]["content"] == "…":
            talk[-1]["content"] = say("chat.nothing")
        if event.get("stopped"):
            break
    yield gr.skip(), base, tuned, gr.skip(), raw


def repeat(
    box: str, base: Talk, tuned: Talk, run: str | None, checkpoint: str, *sampling: Any
) -> Iterator[tuple[Any, ...]]:
    """Ask the last question once more."""
    base, tuned = _plain(base), _plain(tuned)
    last = next((turn["content"] for turn in reversed(tuned or base) if turn["role"] == "user"), "")
    for talk in (base, tuned):
        while talk and talk[-1]["role"] != "user":
            talk.pop()
        if talk:
            talk.pop()
    yield from ask(last, base, tuned, run, checkpoint, *sampling)


def _source(run: str | None, checkpoint: str) -> sources.Source:
    if not run:
        raise JobError("no_run", say("chat.none.title"), say("chat.none"), say("chat.none.fix"))
    return sources.of_model(run) if run == STARTER else sources.of_run(folder.find(run), checkpoint or "")


def _load(wanted: sources.Source) -> Iterator[str]:
    for event in CHAT.load(wanted):
        if doing := event.get("doing"):
            yield say(f"doing.{doing.replace(' ', '_')}")


def _plain(talk: Talk | None) -> Talk:
    """Turns as role and text; the page sends content back as a list of blocks."""
    plain = []
    for turn in talk or []:
        content = turn["content"]
        if isinstance(content, list):
            content = "".join(block.get("text", "") for block in content if isinstance(block, dict))
        plain.append({"role": turn["role"], "content": content})
    return plain
