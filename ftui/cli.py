"""The command line: every action of the page, each with `--json`.

Exit codes: 0 done, 2 the person can mend it, 130 stopped, 1 a fault of ours. With `--json` an error is
`{"error": {code, title, message, fix}}` on standard output, without it readable text on standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ftui import __version__, commands, workspace
from ftui.errors import FtuiError, as_error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = build()
    given = parser.parse_args(arguments)
    if not getattr(given, "command", None):
        parser.print_help()
        return 0
    try:
        value, text, code = given.command(given)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except FtuiError as error:
        return _failed(error, given.json, 2)
    except Exception as fault:
        return _failed(as_error(fault, str(_logged())), given.json, 1)
    if given.json:
        print(json.dumps(value, ensure_ascii=False, indent=1, default=str))
    elif text:
        print(text)
    return code


def build() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="python -m ftui", description="Fine-tune language models. The page does the same: python app.py"
    )
    parser.add_argument("--version", action="version", version=__version__)
    subs = parser.add_subparsers(metavar="COMMAND")

    def add(name: str, does: Callable[..., Any], help: str) -> argparse.ArgumentParser:
        sub = subs.add_parser(name, help=help, description=help)
        sub.add_argument("--json", action="store_true", help="print the result, or the error, as JSON")
        sub.set_defaults(command=does)
        return sub

    inspect = add("inspect", commands.inspect, "Say what a data set holds and which rows can be used")
    _data_options(inspect)
    inspect.add_argument("--model", default="", help="also count tokens with this model's template")
    inspect.add_argument(
        "--max-length", type=int, default=None, help="longest row in tokens, with --model; 1024 if not given"
    )
    inspect.add_argument(
        "--dropped",
        default="",
        metavar="FILE",
        help="write the dropped rows with their reasons (.csv or .jsonl)",
    )

    convert = add("convert", commands.convert, "Write a data set as clean JSON lines")
    _data_options(convert)
    convert.add_argument("out", help="the .jsonl file to write")
    convert.add_argument("--split", type=float, default=0.0, help="share of rows held out, for example 0.1")
    convert.add_argument("--seed", type=int, default=42, help="decides which rows are held out")

    check = add("check", commands.check, "Check settings and estimate memory before a run")
    _settings_options(check)

    train = add("train", commands.train, "Start a run and follow it; Ctrl+C stops it and keeps its state")
    _settings_options(train)
    train.add_argument("--detach", action="store_true", help="start it and return at once")

    jobs = add("jobs", commands.jobs, "List, show, follow, stop, resume, clone or remove jobs")
    jobs.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=["list", "show", "logs", "stop", "resume", "clone", "remove"],
    )
    jobs.add_argument("id", nargs="?", default="", help="a job's id, its end, or `last`")
    jobs.add_argument("-f", "--follow", action="store_true", help="with logs or resume: go on until it ends")
    jobs.add_argument("--now", action="store_true", help="with stop: do not save first")
    jobs.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="with clone: change a setting"
    )

    chat = add("chat", commands.chat, "Talk to a run's model, or to a model by name")
    chat.add_argument("model", help="a run's id, a model's name or its folder")
    chat.add_argument("--checkpoint", default="", help="a checkpoint of the run instead of its result")
    chat.add_argument("--compare", action="store_true", help="also ask the base model")
    chat.add_argument("--prompt", default="", help="ask once and end; without it, one question a line")
    chat.add_argument("--system", default="", help="a system prompt")
    chat.add_argument("--max-tokens", type=int, default=256, help="longest answer in tokens")
    chat.add_argument("--temperature", type=float, default=0.0, help="0 takes the likeliest word each time")

    evaluate = add("evaluate", commands.evaluate, "Measure base and tuned model on held-out rows")
    evaluate.add_argument("model", help="a run's id, a model's name or its folder")
    evaluate.add_argument("--checkpoint", default="")
    evaluate.add_argument(
        "--data", default="", help="rows to measure on; a run's own held-out rows without it"
    )
    evaluate.add_argument("--max-rows", type=int, default=None)

    export = add("export", commands.export, "Turn a run's result into a model that other programs take")
    export.add_argument("id", help="a run's id")
    export.add_argument("--to", required=True, choices=["merged"])
    export.add_argument("--checkpoint", default="")

    register = add("register", commands.register, "Put a run's result into MLflow's model registry")
    register.add_argument("id", help="a run's id")
    register.add_argument(
        "--name", required=True, help="of the registered model; catalog.schema.model for Unity Catalog"
    )
    register.add_argument("--alias", default="champion")
    register.add_argument(
        "--registry", default="", help="registry URI; MLFLOW_TRACKING_URI, else the workspace's own"
    )
    register.add_argument("--checkpoint", default="")

    fetch = add("fetch", commands.fetch, "Bring a model to this machine")
    fetch.add_argument("model", nargs="?", default="starter", help="`starter`, or a model of the hub")

    presets = add("presets", commands.presets, "List the presets, or show one")
    presets.add_argument("action", nargs="?", default="list", choices=["list", "show"])
    presets.add_argument("name", nargs="?", default="quickstart")

    add("doctor", commands.doctor, "Say what this machine can do")
    return parser


def _data_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("data", help="a file, a folder, or a data set of the hub")
    sub.add_argument("--map", default="", metavar="JSON", help='{"prompt": "question", …}')
    sub.add_argument(
        "--schema", default="", help="alpaca, sharegpt, messages, prompt-completion, preference, kto, text"
    )
    sub.add_argument("--system", default="", help="a system prompt for rows that have none")
    sub.add_argument("--drop-duplicates", action="store_true", help="keep only the first of equal rows")
    sub.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="data.context_column=history"
    )


def _settings_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("settings", help="a YAML file, a job's job.yaml, or the name of a preset")
    sub.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="training.learning_rate=1e-4"
    )


def _logged() -> Path:
    """Write the traceback of a fault of ours to the log, where the person who reports it finds it."""
    path = workspace.home() / "logs" / "terminal.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as log:
        log.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {' '.join(sys.argv[1:])}\n{traceback.format_exc()}\n")
    return path


def _failed(error: FtuiError, as_json: bool, code: int) -> int:
    if as_json:
        print(json.dumps({"error": error.to_json()}, ensure_ascii=False, indent=1))
    else:
        print(f"{error.title}\n  {error.message}\n  → {error.fix}", file=sys.stderr)
    return code
