"""The evaluation worker: rows, then the base model, then the tuned one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ftui import hardware
from ftui import settings as schema
from ftui.data import Row
from ftui.errors import DataError, JobError
from ftui.evaluate.loss import RowLoss, mean, row_losses
from ftui.evaluate.rows import Measured, measured, texts
from ftui.jobs import folder
from ftui.jobs.kinds import EvaluateRequest
from ftui.jobs.report import Reporter
from ftui.models.load import load_model, load_tokenizer
from ftui.models.source import Source, resolve
from ftui.settings import DataSettings
from ftui.templates.chatml import with_template
from ftui.templates.prepare import Prepared, prepare

KEPT = 500


def evaluate(reporter: Reporter) -> dict[str, Any]:
    """Measure what the job asks for; returns the fields of `result.json`."""
    request = EvaluateRequest.model_validate(reporter.job.settings)
    reporter.phase("prepare the data")
    source = resolve(request.run, request.checkpoint)
    settings = _settings(request.run)
    data = settings.data if settings else schema.parse({}).data
    chosen = measured(data, request.data, settings is not None, request.max_rows)
    tokenizer = with_template(load_tokenizer(source.tokenizer, source.trust_remote_code), data.template)
    prepared = _prepared(tokenizer, chosen.rows, data, lambda _: reporter.check_stop())
    dtype = hardware.detect().dtype()[0]
    batch = settings.evaluation.batch_size if settings else 8
    base, tuned = _losses(reporter, source, prepared, dtype, batch)
    return _result(chosen, prepared, base, tuned, dtype, data)


def _settings(run: str) -> schema.Settings | None:
    """The settings of a run; None for a plain model."""
    try:
        job = folder.find(run)
    except JobError:
        return None
    return schema.parse(job.settings, str(job.folder / "job.yaml"))


def _prepared(
    tokenizer: Any, rows: list[Row], data: DataSettings, progress: Callable[[int], None]
) -> Prepared:
    """Tokens of the rows, each numbered by its place among them: sets that are mixed number their rows alike.

    Raises DataError where none can be measured.
    """
    placed = [Row(place, row.value) for place, row in enumerate(rows)]
    prepared = prepare(tokenizer, placed, data, progress)
    if not prepared.rows:
        first = prepared.dropped[0]
        raise DataError(
            first["reason"],
            "No row can be measured",
            f"All {len(prepared.dropped):,} rows were dropped; "
            f"row {rows[first['row']].number}: {first['message']}",
            "Raise the longest row allowed if answers are cut off, or mend the rows.",
        )
    return prepared


def _losses(
    reporter: Reporter, source: Source, prepared: Prepared, dtype: str, batch: int
) -> tuple[list[RowLoss], list[RowLoss] | None]:
    """(base, tuned). With an adapter the base is loaded once and measured with the adapter switched off."""
    rows = [(row.ids, row.labels()) for row in prepared.rows]
    passes = 2 if source.has_tuned else 1

    def told(before: int) -> Callable[[int], None]:
        def tell(done: int) -> None:
            reporter.progress(before + done, passes * len(rows), "rows")
            reporter.check_stop()

        return tell

    def loaded(path: Any, adapter: Any = None) -> Any:
        reporter.phase("load the model")
        model = load_model(path, dtype, adapter=adapter, trust_remote_code=source.trust_remote_code)
        reporter.check_stop()
        reporter.phase("evaluate")
        return model

    model = loaded(source.base, source.adapter)
    with model.disable_adapter() if source.adapter else nullcontext():
        base = row_losses(model, rows, batch, told(0))
    if source.tuned:
        del model
        model = loaded(source.tuned)
    return base, row_losses(model, rows, batch, told(len(rows))) if source.has_tuned else None


def _result(
    chosen: Measured,
    prepared: Prepared,
    base: list[RowLoss],
    tuned: list[RowLoss] | None,
    dtype: str,
    data: DataSettings,
) -> dict[str, Any]:
    tokens = sum(loss.tokens for loss in base)
    total, after = mean(base), mean(tuned) if tuned is not None else None
    difference = after["loss"] - total["loss"] if after and after["loss"] and total["loss"] else None
    per_row = []
    for place, row in enumerate(prepared.rows[:KEPT]):
        given = chosen.rows[row.number]
        prompt, reference = texts(given.value)
        per_row.append(
            {
                "row": given.number,
                "tokens": base[place].tokens,
                "prompt": prompt,
                "reference": reference,
                "base_loss": base[place].mean,
                "tuned_loss": tuned[place].mean if tuned is not None else None,
            }
        )
    return {
        "rows": len(prepared.rows),
        "tokens": tokens,
        "base": total,
        "tuned": after,
        "difference": difference,
        "per_row": per_row,
        "dropped": len(prepared.dropped),
        "data": chosen.data,
        "held_out_origin": chosen.origin,
        "dtype": dtype,
        "how": _how(prepared, tokens, dtype, data),
        "message": _message(total, after),
    }


def _how(prepared: Prepared, tokens: int, dtype: str, data: DataSettings) -> str:
    of_what = {
        "answers": "answer tokens",
        "last_answer": "tokens of the last answers",
        "everything": "tokens",
    }
    left_out = f"; {len(prepared.dropped):,} rows could not be used" if prepared.dropped else ""
    cut = (
        f"; {len(prepared.truncated):,} rows were cut at {data.max_length:,} tokens"
        if prepared.truncated
        else ""
    )
    return (
        f"Loss is the mean of −ln p over the {tokens:,} {of_what[data.learn]} of "
        f"{len(prepared.rows):,} rows, each token predicted from the true ones before it "
        "and weighing the same; perplexity is e to the loss. "
        f"Computed in {dtype}{left_out}{cut}."
    )


def _message(base: dict[str, float | None], tuned: dict[str, float | None] | None) -> str:
    if tuned is None:
        return f"loss {base['loss']:.3f}"
    return f"loss {base['loss']:.3f} before, {tuned['loss']:.3f} after tuning"
