"""What each command does: plain arguments in, (value for `--json`, text, exit code) out."""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from ftui import checks, data, hardware, words, workspace
from ftui import presets as shipped
from ftui import settings as schema
from ftui.checks.context import gather, located, require
from ftui.data.dropped import as_table
from ftui.data.look import look
from ftui.errors import JobError, ModelError, SettingsError
from ftui.jobs import control, curves, folder
from ftui.jobs.folder import FINAL, Job
from ftui.jobs.summary import summary

Done = tuple[Any, str, int]


def inspect(given: argparse.Namespace) -> Done:
    """What a data set holds, and with a model also how long its rows are."""
    limit = {"max_length": given.max_length} if given.max_length is not None else {}
    settings = _data_settings(given, held_out="none", **limit)
    told = _told_rows(given)
    if given.dropped:
        seen = look(settings.train, data.Options.of(settings), told)
        report = seen.report
        kept = _dropped_to(seen.dropped, Path(given.dropped))
    else:
        report, kept = data.inspect(settings.train, data.Options.of(settings), told=told).to_json(), ""
    lines = [
        f"{report['path']}: {words.count(report['rows'], 'row')}, {report['schema']}, {report['file_format']}",
        f"  {report['usable']:,} can be used, {report['rows'] - report['usable']:,} are dropped",
    ]
    lines += [f"  row {item['row']}: {item['message']} ({item['reason']})" for item in report["dropped"][:20]]
    lines += [f"  note: {item['message']}" for item in report["warnings"]]
    lines += [f"  the dropped rows are in {kept}"] if kept else []
    if given.model:
        counted = _account(given, settings)
        found = report["lengths"] = counted["whole"]
        report["advice"] = counted["advice"]
        lines.append(
            f"  longest {found['longest']:,} tokens; {found['truncated']:,} cut at {settings.max_length:,}, "
            f"{found['no_target_left']:,} lose all of their answer"
        )
        lines += [f"  {item['title']}: {item['message']} {item['fix']}" for item in counted["advice"]]
    return report, "\n".join(lines), 0


def convert(given: argparse.Namespace) -> Done:
    """A data set as clean JSON lines."""
    settings = _data_settings(given, held_out="none")
    if given.split > 0:
        # Rows are held out where that is asked for, and the data brings none of its own.
        own = "validation" in data.DataSet(settings.train, data.Options.of(settings)).splits
        asked = {
            "held_out": "none" if own else "share",
            "validation_share": given.split,
            "split_seed": given.seed,
        }
        settings = _data_settings(given, **asked)
    made = data.convert(settings, Path(given.out), _told_rows(given))
    return made, "\n".join(f"wrote {path}" for path in made["files"]), 0


def check(given: argparse.Namespace) -> Done:
    """The findings and the memory estimate of settings; exit code 2 where something forbids the start."""
    settings = _settings(given)
    context = gather(settings)
    findings = checks.preflight(context)
    needed = {kind: context.estimate(kind) for kind in ("full", "lora")}
    value: dict[str, Any] = {
        "findings": [finding.to_json() for finding in findings],
        "memory_gb": {kind: found.total_gb for kind, found in needed.items() if found},
        "steps": context.steps(),
    }
    marks = {"ok": "ok", "warning": "! ", "error": "no"}
    lines = [f"{marks[item.level]} {item.title}: {item.message} {item.fix}".rstrip() for item in findings]
    lines += [f"   {kind}: about {words.gigabytes(total)}" for kind, total in value["memory_gb"].items()]
    return value, "\n".join(lines), 2 if checks.blocking(findings) else 0


def train(given: argparse.Namespace) -> Done:
    """Start a run; follow it unless it is to be left alone."""
    settings = _settings(given)
    require(checks.preflight(gather(settings)))
    job = control.start("train", settings.name, settings.model_dump())
    return _followed(job, given)


def jobs(given: argparse.Namespace) -> Done:
    """Act on jobs."""
    if given.action == "list":
        listed = [summary(job, curve=True) for job in folder.listed()]
        return listed, "\n".join(_line(item) for item in listed) or "No jobs yet.", 0
    if not given.id:
        raise JobError(
            "no_such_job",
            "No job named",
            f"jobs {given.action} needs an id.",
            "See: python -m ftui jobs list",
        )
    job = folder.find(given.id)
    if given.action == "show":
        found = summary(job, curve=True)
        return found, _line(found) + f"\n  {found['message']}\n  {found['folder']}", 0
    if given.action == "logs":
        return _logs(job, given)
    if given.action == "stop":
        control.stop(job, "now" if given.now else "save")
        return summary(job), f"{job.id} is asked to stop.", 0
    if given.action == "resume":
        control.resume(job)
        given.detach = not given.follow
        return _followed(job, given)
    if given.action == "clone":
        settings = schema.override(schema.parse(job.settings), given.set)
        require(checks.preflight(gather(settings)))
        given.detach = not given.follow
        return _followed(control.start("train", settings.name, settings.model_dump()), given)
    freed = control.remove(job)
    return {"id": job.id, "freed": freed}, f"{job.id} is removed; {words.size(freed)} are free again.", 0


def chat(given: argparse.Namespace) -> Done:
    """Ask once with --prompt, else answer one question a line until the input ends."""
    from ftui.chat.client import ChatClient, Sampling
    from ftui.models.source import resolve

    source = resolve(_here(given.model), given.checkpoint)
    client = ChatClient()
    sampling = Sampling(max_tokens=given.max_tokens, temperature=given.temperature)
    try:
        for event in client.load(source):
            if event.get("doing") and not given.json:
                print(f"{event['doing']} …", file=sys.stderr)
        columns = ["tuned"] if source.has_tuned else ["base"]
        if given.compare:
            columns = client.columns
        system = [{"role": "system", "content": given.system}] if given.system else []
        if given.prompt:
            asked = [*system, {"role": "user", "content": given.prompt}]
            answers = {column: _answer(client, column, asked, sampling) for column in columns}
            value = {"model": source.name, "prompt": given.prompt, "answers": answers}
            text = "\n".join(f"{column}: {answer['text']}" for column, answer in answers.items())
            return value, text if len(answers) > 1 else next(iter(answers.values()))["text"], 0
        talked: dict[str, list[dict[str, str]]] = {column: list(system) for column in columns}
        for line in sys.stdin:
            for column in columns:
                talked[column].append({"role": "user", "content": line.rstrip("\n")})
                answer = _answer(client, column, talked[column], sampling)
                talked[column].append({"role": "assistant", "content": answer["text"]})
                print(f"{column}: {answer['text']}" if len(columns) > 1 else answer["text"], flush=True)
        return talked, "", 0
    finally:
        client.unload()


def evaluate(given: argparse.Namespace) -> Done:
    """Loss and perplexity of base and tuned."""
    values = {
        "run": _run_or_model(given.model),
        "checkpoint": given.checkpoint,
        "data": str(workspace.find(given.data) or given.data) if given.data else "",
        "max_rows": given.max_rows,
    }
    return _followed(control.start("evaluate", Path(given.model).name, values), given)


def export(given: argparse.Namespace) -> Done:
    """A run's result as a model folder, proved equal."""
    run = folder.find(given.id)
    values = {"run": run.id, "checkpoint": given.checkpoint, "to": given.to}
    return _followed(control.start("export", run.name, values), given)


def register(given: argparse.Namespace) -> Done:
    """A run's result in MLflow's registry."""
    from ftui.export.store import check_request

    run = folder.find(given.id)
    check_request(given.name, given.alias, given.registry)
    values = {
        "run": run.id,
        "checkpoint": given.checkpoint,
        "name": given.name,
        "alias": given.alias,
        "registry": given.registry,
    }
    return _followed(control.start("register", given.name, values), given)


def fetch(given: argparse.Namespace) -> Done:
    """A model brought to this machine."""
    return _followed(control.start("fetch", given.model, {"model": given.model}), given)


def presets(given: argparse.Namespace) -> Done:
    """The presets, or one preset's settings as YAML."""
    if given.action == "show":
        found = shipped.preset(given.name)
        return found.to_json() | {"settings": found.settings().model_dump()}, schema.dump(found.settings()), 0
    listed = shipped.presets()
    text = "\n".join(
        f"{item.name:24} {item.title}\n{'':24} {item.purpose} {item.hardware}" for item in listed
    )
    return [item.to_json() for item in listed], text, 0


def doctor(given: argparse.Namespace) -> Done:
    """What this machine can do, in words."""
    from ftui.models.find import STARTER, find

    machine = hardware.detect()
    dtype, reason = machine.dtype()
    workspace.home().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(workspace.home()).free
    starter = find(STARTER)
    value: dict[str, Any] = {
        "machine": machine.words(),
        "cores": machine.cores,
        "memory_gb": machine.memory_gb,
        "free_gb": machine.free_gb,
        "gpus": [gpu.__dict__ for gpu in machine.gpus],
        "dtype": dtype,
        "dtype_reason": reason,
        "workspace": str(workspace.home()),
        "disk_free_gb": free / 1e9,
        "starter_model": str(starter) if starter else None,
        "running": [job.id for job in control.active()],
        "python": platform.python_version(),
    }
    lines = [
        f"Machine      {value['machine']} · {words.gigabytes(machine.free_gb)} of memory free",
        f"Computes in  {dtype}: {reason}",
        f"Workspace    {value['workspace']} · {words.size(free)} of disk free",
        f"Starter      {starter or 'not fetched yet; python -m ftui fetch brings it (93 MB)'}",
        f"Running      {', '.join(value['running']) or 'nothing'}",
    ]
    return value, "\n".join(lines), 0


def _data_settings(given: argparse.Namespace, **more: Any) -> schema.DataSettings:
    """The data section that the options of `inspect` and `convert` stand for. more: fields unless --set names them."""
    named = {
        "train": given.data,
        "schema_name": given.schema,
        "mapping": _mapping(given.map),
        "system": given.system,
        "drop_duplicates": given.drop_duplicates,
        **more,
    }
    return schema.override(schema.parse({"data": named}), given.set).data


def _mapping(text: str) -> dict[str, str]:
    """The mapping that --map writes as JSON. Raises SettingsError, code bad_mapping."""
    try:
        value = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        value, told = None, f"is no JSON: {error}"
    else:
        told = "is no object"
    if not isinstance(value, dict):
        raise SettingsError(
            "bad_mapping",
            "The mapping cannot be read",
            f"--map {text[:200]} {told}.",
            'Write an object such as {"prompt": "question", "response": "answer"}.',
        )
    return {str(key): str(column) for key, column in value.items()}


def _told_rows(given: argparse.Namespace) -> Any:
    """Tells how far the reading of a large file is, in a terminal; nothing elsewhere."""
    if given.json or not sys.stderr.isatty():
        return None

    def told(done: int, total: int, rows: int) -> None:
        share = f"{done / total:.0%}" if total else ""
        end = "\n" if done >= total else "\r"
        print(
            f"read {words.size(done)} of {words.size(total)} · {rows:,} rows · {share:5}",
            end=end,
            file=sys.stderr,
        )

    return told


def _dropped_to(found: Path | None, wanted: Path) -> str:
    """Copy the file of dropped rows to where it is wanted; its ending says how it is written."""
    if found is None:
        return ""
    if wanted.suffix.lower() == ".csv" and found.suffix != ".csv":
        as_table(found, wanted)
    else:
        shutil.copyfile(found.with_suffix(".jsonl") if wanted.suffix.lower() == ".jsonl" else found, wanted)
    return str(wanted)


def _settings(given: argparse.Namespace) -> schema.Settings:
    return located(schema.override(shipped.settings_of(given.settings), given.set))


def _account(given: argparse.Namespace, settings: schema.DataSettings) -> dict[str, Any]:
    """Count tokens in the process that previews for the page, so that both give the same numbers."""
    from ftui.models.source import of_model
    from ftui.service import Service

    service = Service("ftui.templates.worker")
    try:
        model = str(of_model(_here(given.model)).base)
        return service.call("account", model=model, data=settings.model_dump(), batch=4, trust=False)
    finally:
        service.close()


def _here(model: str) -> str:
    """The model's name; the starter model is fetched first where it is missing, and said to be."""
    from ftui.models.find import STARTER, find

    if model == STARTER and find(STARTER) is None:
        print("Fetching the starter model (93 MB) …", file=sys.stderr)
        job = control.start("fetch", model, {"model": model})
        if control.wait(job) != "finished":
            raise ModelError(
                "not_reachable", "Not fetched", str(job.status()["message"]), str(job.status()["fix"])
            )
    return model


def _run_or_model(name: str) -> str:
    from ftui.models.find import is_starter

    path = Path(name).expanduser()
    if is_starter(name) or path.is_dir():
        return name if is_starter(name) else str(path.resolve())
    try:
        return folder.find(name).id
    except JobError:
        return name


def _followed(job: Job, given: argparse.Namespace) -> Done:
    """The job's end, told as it goes; Ctrl+C asks it to stop and waits for that."""
    if getattr(given, "detach", False):
        return {"id": job.id, "state": job.state, "folder": str(job.folder)}, job.id, 0
    asked = False
    told = ""
    while True:
        try:
            state = control.reconcile(job)
            if not given.json:
                told = _tell(job, told)
            if state in FINAL:
                break
            time.sleep(0.3)
        except KeyboardInterrupt:
            if asked:
                raise
            asked = True
            print("\nAsked to stop; its state is being saved. Once more to leave it alone.", file=sys.stderr)
            control.stop(job)
    found = summary(job, curve=True)
    if state in ("failed", "lost"):
        error = job.result().get("error") or {
            "code": state,
            "title": f"The job {'failed' if state == 'failed' else 'was lost'}",
            "message": found["message"],
            "fix": found["fix"] or f"See: python -m ftui jobs logs {job.id}",
        }
        code = 1 if state == "lost" or error["code"] == "fault" else 2
        if not given.json:
            print(f"{error['title']}\n  {error['message']}\n  → {error['fix']}", file=sys.stderr)
        return found | {"error": error}, "", code
    return (
        found,
        f"{found['state']}: {found['message']}\n{found['folder']}",
        0 if state == "finished" else 130,
    )


def _tell(job: Job, before: str) -> str:
    status = job.status()
    text = " · ".join(
        part
        for part in (
            str(status["state"]),
            str(status.get("phase") or ""),
            words.progress(status.get("progress")),
        )
        if part
    )
    if status.get("phase") == "train":
        loss = curves.latest(curves.points(job.folder), "loss")
        text += f" · loss {words.figure(loss)}" if loss is not None else ""
    if text != before:
        end = "\r" if sys.stderr.isatty() else "\n"
        print(f"{text:78}", end=end, file=sys.stderr, flush=True)
    return text


def _logs(job: Job, given: argparse.Namespace) -> Done:
    if given.json or not given.follow:
        return {"id": job.id, "log": job.log(1_000_000)}, job.log(1_000_000), 0
    with (job.folder / "output.log").open("rb") as source:
        while True:
            block = source.read(65536)
            sys.stdout.write(block.decode("utf-8", "replace"))
            sys.stdout.flush()
            if not block and control.reconcile(job) in FINAL:
                return None, "", 0
            time.sleep(0.0 if block else 0.3)


def _line(item: dict[str, Any]) -> str:
    loss = f"loss {words.figure(item['loss'])}" if item.get("loss") is not None else ""
    return f"{item['state']:9} {item['id']:52} {item.get('curve', ''):17} {loss}".rstrip()


def _answer(client: Any, column: str, messages: list[dict[str, str]], sampling: Any) -> dict[str, Any]:
    last: dict[str, Any] = {}
    for event in client.answer(column, messages, sampling):
        last = event
    return {
        "text": last.get("text", ""),
        "tokens": last.get("tokens"),
        "tokens_per_s": last.get("tokens_per_s"),
    }
