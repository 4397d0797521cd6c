"""The process that reads for the page answers small questions while it reads a large file, and can be stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ftui.errors import FtuiError
from ftui.service import Service
from ftui.settings import DataSettings
from tests.conftest import wait_for


@pytest.fixture
def reader(bare_home: Path) -> Iterator[Service]:
    service = Service("ftui.data.worker")
    yield service
    service.close()


def settings(path: Path) -> dict[str, object]:
    return DataSettings(train=str(path)).model_dump()


def test_a_row_is_answered_while_a_large_file_is_read_and_the_reading_can_be_stopped(
    reader: Service, bare_home: Path, tmp_path: Path
) -> None:
    large, small = tmp_path / "large.jsonl", tmp_path / "small.jsonl"
    line = json.dumps({"question": "Why?", "answer": "So. " * 20}) + "\n"
    large.write_text(line * 400_000)
    small.write_text('{"question": "a", "answer": "b"}\n{"question": "c"}\n')
    reading = reader.ask("chosen", data=settings(large))
    event = next(event for event in reading if event.get("done_bytes", 0) > 0)
    assert event["done_bytes"] < event["total_bytes"] == large.stat().st_size
    found = reader.call("row", data=settings(small), number=1)
    assert found["value"]["messages"][0]["content"] == "a"
    lost = reader.call("row", data=settings(small), number=2)
    assert lost["reason"] == "empty_target" and "c" in lost["raw"]
    assert "value" not in reader.call("row", data=settings(small), number=3)
    assert next(reading)["done_bytes"] > event["done_bytes"], "it went on meanwhile"
    reading.close()
    made = bare_home / "cache" / "reports"
    wait_for(lambda: not list(made.iterdir()), 20)
    assert reader.running


def test_what_is_wrong_with_a_set_arrives_as_its_error(reader: Service, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("frage,antwort\na,b\n")
    with pytest.raises(FtuiError) as caught:
        reader.call("chosen", data=settings(path))
    assert caught.value.code == "unknown_schema"
