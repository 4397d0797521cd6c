"""Every shared data case, read in this process: the report must say all that the case names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ftui.data import Options, inspect
from ftui.errors import DataError

CASES = Path(__file__).parent / "cases"
ALL = json.loads((CASES / "cases.json").read_text("utf-8"))


def options_of(arguments: list[str]) -> Options:
    """The options that a case's command line means."""
    words = iter(arguments)
    given: dict[str, Any] = {}
    for word in words:
        if word == "--drop-duplicates":
            given["drop_duplicates"] = True
        elif word == "--map":
            given["mapping"] = json.loads(next(words))
        else:
            given[word.removeprefix("--")] = next(words)
    return Options(**given)


def assert_says(told: Any, wanted: Any, place: str) -> None:
    """`told` has every field of `wanted`; lists agree in length; fields that `wanted` does not name are free."""
    if isinstance(wanted, dict):
        assert isinstance(told, dict), place
        for key, value in wanted.items():
            assert_says(told.get(key), value, f"{place}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(told, list) and len(told) == len(wanted), f"{place}: {told!r}"
        for index, value in enumerate(wanted):
            assert_says(told[index], value, f"{place}[{index}]")
    else:
        assert told == wanted, place


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_case_holds(case: dict[str, Any]) -> None:
    expect = case["expect"]
    path = CASES / "files" / case["file"]
    if "error" in expect:
        with pytest.raises(DataError) as caught:
            inspect(path, options_of(case["args"]))
        error = caught.value
        assert error.code == expect["error"]
        assert error.message and error.fix
        for word in expect.get("message_has", []):
            assert word.lower() in (error.message + error.fix).lower()
        return
    report = inspect(path, options_of(case["args"])).to_json()
    json.dumps(report, allow_nan=False)
    for key in expect.keys() & {"schema", "rows", "usable", "splits"}:
        assert_says(report.get(key), expect[key], key)
    if "dropped" in expect:
        assert [[row["row"], row["reason"]] for row in report["dropped"]] == expect["dropped"]
    assert set(expect.get("warnings", [])) <= {warning["code"] for warning in report["warnings"]}
    if "first" in expect:
        assert_says(report["sample"][0], expect["first"], "first")
