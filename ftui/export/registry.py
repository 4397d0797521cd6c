"""The worker that registers a run's result in MLflow: `python -m ftui.export.registry FOLDER`.

The model is merged and proved first, then recorded, named, given its alias, loaded back through
`mlflow.pyfunc` by that alias, and asked a question. Only when it answers is the job done.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ftui import settings as schema
from ftui.errors import FtuiError
from ftui.export import made, merged, store
from ftui.export.prompts import OWN, prompts
from ftui.jobs import report
from ftui.jobs.kinds import RegisterRequest

_NEEDED = ("mlflow", "torch", "transformers", "accelerate", "jinja2")
_ANSWER_TOKENS = 64


def work(reporter: report.Reporter) -> dict[str, Any]:
    """Do what the job asks for."""
    request = RegisterRequest.model_validate(reporter.job.settings)
    reporter.phase("look at the run")
    wanted = store.check_request(request.name, request.alias, request.registry)
    what = merged.wanted(request.run, request.checkpoint)
    # Once as a folder, once staged by MLflow, once where the registry keeps it.
    merged.check_space(what, reporter.job.folder, copies=3)

    reporter.phase("reach the registry")
    temporary = reporter.job.folder / "temporary"
    client = store.use(wanted, temporary)
    store.check_reachable(client, wanted)
    reporter.check_stop()
    try:
        model, proof = _model(reporter, what)
        return _register(reporter, request, wanted, client, what, model, proof)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _model(reporter: report.Reporter, what: merged.Wanted) -> tuple[Path, dict[str, Any]]:
    """The merged folder: one that was exported and proved before, else a new one."""
    found = made.earlier(what.job.id, what.checkpoint, what.source, what.stored)
    if found is None:
        result = merged.make(reporter, what)
        return reporter.job.folder / "model", result["proof"]
    reporter.event("taken from an earlier export", folder=str(found[0]))
    return found[0], found[1]["proof"]


def _register(
    reporter: report.Reporter,
    request: RegisterRequest,
    wanted: store.Store,
    client: Any,
    what: merged.Wanted,
    model: Path,
    proof: dict[str, Any],
) -> dict[str, Any]:
    reporter.check_stop()
    reporter.phase("log the model")
    try:
        info = _log(request, client, wanted, what, model)
        made_version = str(info.registered_model_version)
        reporter.check_stop()
        before = _alias_version(client, request.name, request.alias)
        if request.alias:
            client.set_registered_model_alias(request.name, request.alias, made_version)
    except (report.StopAsked, FtuiError):
        raise
    except Exception as error:
        raise _refused(wanted, error) from error

    reporter.phase("ask the registered model")
    uri = (
        f"models:/{request.name}@{request.alias}"
        if request.alias
        else f"models:/{request.name}/{made_version}"
    )
    try:
        question, answer = _ask(uri, what, model)
    except Exception as error:
        # What does not answer must not be what the alias stands for.
        _put_alias_back(client, request.name, request.alias, before)
        raise FtuiError(
            "no_answer",
            "The registered model does not answer",
            f"{uri} (version {made_version}): {(str(error).splitlines() or [type(error).__name__])[0][:240]}",
            "The alias stands where it stood before. See the log of this job.",
        ) from error
    # The registry has it now; a second copy would only fill the disk.
    shutil.rmtree(reporter.job.folder / "model", ignore_errors=True)
    return {
        "name": request.name,
        "version": int(made_version) if made_version.isdigit() else made_version,
        "alias": request.alias,
        "uri": uri,
        "model_uri": info.model_uri,
        "registry": wanted.words,
        "question": question,
        "answer": answer,
        "signature": _signature(info.signature),
        "dtype": what.stored,
        "proof": proof,
        "run": what.job.id,
        "checkpoint": what.checkpoint,
        "mlflow_run": info.run_id,
        "message": f"{request.name} version {made_version}{f' is {request.alias}' if request.alias else ''}"
        " and answers",
    }


def _log(request: RegisterRequest, client: Any, wanted: store.Store, what: merged.Wanted, model: Path) -> Any:
    import mlflow
    from huggingface_hub import ModelCard

    settings = schema.parse(what.job.settings)
    with mlflow.start_run(experiment_id=store.experiment(client, wanted), run_name=what.job.name) as run:
        values = {name: value for name, value in schema.flatten(settings).items() if value not in ("", None)}
        mlflow.log_params({name: str(value)[:6000] for name, value in values.items()})
        mlflow.log_metrics(_metrics(what.job.result()))
        mlflow.set_tags({"ftui.run": what.job.id, "ftui.checkpoint": what.checkpoint or "result"})
        return mlflow.transformers.log_model(
            str(model),
            name="model",
            task="llm/v1/chat",
            registered_model_name=request.name,
            # Given, so that MLflow neither loads the model to infer them, nor asks a hub for a card.
            pip_requirements=requirements(),
            model_card=ModelCard((model / "README.md").read_text("utf-8")),
            metadata=_metadata(settings, what, model) | {"mlflow_run": run.info.run_id},
        )


def requirements() -> list[str]:
    """What serving the model needs, in the versions it was proved with."""
    # A local build (2.13.0+cpu) is on no index.
    return [f"{name}=={version(name).partition('+')[0]}" for name in _NEEDED]


def _metadata(settings: schema.Settings, what: merged.Wanted, model: Path) -> dict[str, Any]:
    from ftui.export import weights

    config = json.loads((model / "config.json").read_text("utf-8"))
    return {
        "base_model": settings.model.id,
        "family": config.get("model_type", ""),
        "parameters": sum(weights.parameters(model).values()),
        "dtype": what.stored,
        "method": settings.method.kind,
        "ftui_run": what.job.id,
    }


def _metrics(result: dict[str, Any]) -> dict[str, float]:
    wanted = (
        "final_loss",
        "final_eval_loss",
        "best_eval_loss",
        "seconds",
        "step",
        "rows",
        "held_out",
        "peak_memory_gb",
    )
    return {name: float(result[name]) for name in wanted if isinstance(result.get(name), int | float)}


def _ask(uri: str, what: merged.Wanted, model: Path) -> tuple[str, str]:
    """(question, answer): through the same door that any program of the registry's users takes."""
    import mlflow

    from ftui.models.load import load_tokenizer

    found, _ = prompts(what.job, load_tokenizer(model, what.source.trust_remote_code), limit=1)
    messages = [
        {"role": turn["role"], "content": str(turn.get("content") or "")} for turn in found[0].messages
    ] or [{"role": "user", "content": OWN[0]}]
    served = mlflow.pyfunc.load_model(uri)
    # top_k 1 is the greedy answer; this signature has no other way to ask for it.
    said = served.predict({"messages": messages, "max_tokens": _ANSWER_TOKENS, "top_k": 1})
    answer = str(said[0]["choices"][0]["message"]["content"])
    if not answer.strip():
        raise ValueError("the answer is empty")
    return messages[-1]["content"], answer


def _alias_version(client: Any, name: str, alias: str) -> str:
    if not alias:
        return ""
    return str((client.get_registered_model(name).aliases or {}).get(alias, ""))


def _put_alias_back(client: Any, name: str, alias: str, before: str) -> None:
    if before:
        client.set_registered_model_alias(name, alias, before)
    elif alias:
        client.delete_registered_model_alias(name, alias)


def _signature(signature: Any) -> str:
    asked = [column.name for column in signature.inputs]
    needed = [column.name for column in signature.inputs if column.required]
    more = [name for name in asked if name not in needed]
    given = ", ".join(str(column.name) for column in signature.outputs)
    return f"{', '.join(needed)} (and {', '.join(more[:4])} …) → {given}"


def _refused(wanted: store.Store, error: Exception) -> FtuiError:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return FtuiError(
        "registry_refused",
        "The registry did not take the model",
        f"{wanted.words} says: {first[:300]}",
        "Check your rights there and the name, and see the log of this job.",
    )


if __name__ == "__main__":
    sys.exit(report.run(work))
