"""The process that holds a model and answers: `python -m ftui.chat.worker`, spoken to through `service`.

Base and tuned model share the weights where the tuned one is an adapter: the base answers with the adapter
switched off, so both together need hardly more memory than one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ftui.service import serve

Stopped = Callable[[], bool]
Answering = Generator[dict[str, Any], None, dict[str, Any]]


class Chat:
    """The loaded model, its adapter or tuned twin, and their tokenizer."""

    def __init__(self) -> None:
        self.source: Any = None
        self.models: dict[str, Any] = {}
        self.tokenizer: Any = None

    def load(self, source: dict[str, Any], stopped: Stopped) -> Answering:
        """Load a source; yields what is being done, returns the columns and what it took."""
        import time

        began = time.monotonic()
        yield {"doing": "load libraries"}
        from ftui import hardware
        from ftui.models.load import load_model, load_tokenizer
        from ftui.models.source import Source
        from ftui.training.callbacks import peak_memory_gb

        self.unload()
        wanted = Source.from_json(source)
        dtype = hardware.detect().dtype()[0]
        self.tokenizer = load_tokenizer(wanted.tokenizer, wanted.trust_remote_code)
        yield {"doing": "load the model"}
        options: dict[str, Any] = {"trust_remote_code": wanted.trust_remote_code}
        base = load_model(wanted.base, dtype, adapter=wanted.adapter, **options).eval()
        self.models = {"base": base}
        if wanted.adapter:
            self.models["tuned"] = base
        if wanted.tuned:
            yield {"doing": "load the tuned model"}
            self.models["tuned"] = load_model(wanted.tuned, dtype, **options).eval()
        self.source = wanted
        return {
            "columns": list(self.models),
            "seconds": time.monotonic() - began,
            "memory_gb": peak_memory_gb(),
            "dtype": dtype,
        }

    def unload(self) -> None:
        """Let go of the models."""
        self.models, self.tokenizer, self.source = {}, None, None

    def answer(
        self,
        column: str,
        messages: list[dict[str, str]],
        stopped: Stopped,
        max_tokens: int = 256,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
    ) -> Answering:
        """Generate an answer to a conversation; yields `{"text": whole text so far}` as it grows.

        column: `base` or `tuned`. temperature 0 takes the likeliest token each time.
        """
        import threading
        import time

        import torch
        from transformers import StoppingCriteria, TextIteratorStreamer, set_seed

        from ftui.errors import ModelError
        from ftui.models.load import device
        from ftui.templates.render import render

        if column not in self.models:
            raise ModelError(
                "not_loaded", "No model is loaded", f"There is no {column} model.", "Load one first."
            )

        class Stop(StoppingCriteria):
            def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
                return torch.full((input_ids.shape[0],), stopped(), device=input_ids.device)

        prompt = render(self.tokenizer, messages, ask=True)
        encoded = self.tokenizer(prompt, add_special_tokens=False, return_tensors="pt").to(device())
        streamer = TextIteratorStreamer(self.tokenizer, skip_prompt=True, skip_special_tokens=True)
        sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if temperature > 0:
            sampling = {"do_sample": True, "temperature": temperature, "top_p": top_p}
        made: dict[str, Any] = {}

        def generate() -> None:
            try:
                if temperature > 0:
                    set_seed(seed)
                with torch.inference_mode(), self._column(column):
                    made["ids"] = self.models[column].generate(
                        **encoded,
                        **sampling,
                        max_new_tokens=max_tokens,
                        streamer=streamer,
                        stopping_criteria=[Stop()],
                        pad_token_id=self.tokenizer.pad_token_id,
                    )
            except BaseException as fault:
                made["fault"] = fault
                streamer.end()

        began = time.monotonic()
        thread = threading.Thread(target=generate)
        thread.start()
        text = ""
        for piece in streamer:
            if piece:
                text += piece
                yield {"text": text}
        thread.join()
        if "fault" in made:
            raise made["fault"]
        count = made["ids"].shape[1] - encoded["input_ids"].shape[1]
        seconds = time.monotonic() - began
        return {
            "text": text,
            "prompt": prompt,
            "tokens": count,
            "tokens_per_s": count / max(seconds, 1e-9),
            "stopped": stopped(),
        }

    def _column(self, column: str) -> AbstractContextManager[Any]:
        if column == "base" and self.source.adapter:
            return self.models["base"].disable_adapter()
        return nullcontext()


def main() -> None:
    """Answer `load` and `answer` until the input closes."""
    chat = Chat()
    serve({"load": chat.load, "answer": chat.answer})


if __name__ == "__main__":
    main()
