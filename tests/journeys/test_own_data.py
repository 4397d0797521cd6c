"""A person with a spreadsheet of their own, in German and in Chinese; and one who types nonsense."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from playwright.sync_api import Locator, Page, expect

from ftui import workspace
from ftui.jobs import folder
from tests.conftest import wait_for

Picture = Callable[[Page, str], None]


def test_a_german_spreadsheet_is_taken_as_it_looks_and_shows_what_is_learned(
    page: Page, picture: Picture, tmp_path: Path
) -> None:
    rows = "".join(f"Frage {number}: Wie heißt Stadt {number}?;Köln {number}\n" for number in range(1, 13))
    table = tmp_path / "Fragen und Antworten.csv"
    table.write_bytes(("Frage;Antwort\n" + rows + "Ohne Antwort?;\n").encode("cp1252"))
    found = _upload(page, table)
    expect(found).to_contain_text("Frage, Antwort", timeout=30_000)
    expect(page.locator("#data-preview")).to_contain_text("Köln 1")
    picture(page, "data-asked-wide-light")
    page.locator("#data-apply").click()
    expect(found).to_contain_text("13 rows", timeout=30_000)
    expect(found).to_contain_text("1 dropped")
    expect(page.locator("#data-preview mark.learned").first).to_be_visible(timeout=60_000)
    learned = "".join(page.locator("#data-preview mark.learned").all_inner_texts())
    assert learned == "Köln 1<|im_end|>"
    picture(page, "data-own-wide-light")
    page.locator("#data-use").click()
    expect(page.locator("#train-findings")).to_contain_text("1 of 13 rows is dropped", timeout=60_000)
    page.get_by_role("button", name="All settings, by section").click()
    page.get_by_role("button", name="What is learned").click()
    validation = page.locator("#field-data-validation textarea, #field-data-validation input").first
    expect(validation).to_have_value("")


def test_a_chinese_spreadsheet_needs_no_word_and_its_bad_rows_can_be_taken_home(
    page: Page, picture: Picture, tmp_path: Path
) -> None:
    rows = [
        {"问题": f"感冒了应该注意什么？（{number}）", "答案": "多休息，多喝水。" * number}
        for number in range(1, 31)
    ]
    rows[16]["答案"] = ""
    table = tmp_path / "医疗问答.xlsx"
    pd.DataFrame(rows).to_excel(table, index=False)
    found = _upload(page, table)
    expect(found).to_contain_text("30 rows", timeout=30_000)
    expect(page.locator("#data-preview mark.learned").first).to_be_visible(timeout=60_000)
    expect(page.locator("#data-lengths")).to_contain_text("cut at 256")
    page.locator("#data-which").get_by_text("dropped").click()
    page.locator("#data-rows").get_by_text("is empty").locator("visible=true").first.click()
    expect(page.locator("#data-preview")).to_contain_text("Row 17 is dropped")
    expect(page.locator("#data-preview")).to_contain_text("（17）")
    with page.expect_download() as download:
        page.locator("#data-dropped").click()
    kept = tmp_path / "kept.csv"
    download.value.save_as(kept)
    (row,) = csv.DictReader(kept.read_text("utf-8-sig").splitlines())
    assert (row["row"], row["reason"], row["问题"]) == ("17", "empty_target", rows[16]["问题"])

    page.locator("#data-which").get_by_text("All rows").click()
    page.locator("#data-go-to textarea, #data-go-to input").first.fill("30")
    page.locator("#data-go-to textarea, #data-go-to input").first.press("Enter")
    expect(page.locator("#data-preview h4")).to_contain_text("row 30")
    page.locator("#data-view").get_by_text("As a talk").click()
    expect(page.locator("#data-preview")).to_contain_text("As a talk · row 30")
    picture(page, "data-talk-wide-light")
    page.get_by_role("button", name="Prepare: split").click()
    page.locator("#data-data-max_length input").fill("2000")
    expect(page.locator("#data-lengths")).to_contain_text("nothing is cut", timeout=30_000)
    page.get_by_label("Name of the new data set").fill("clean talks")
    page.locator("#data-convert").click()
    wait_for(lambda: (workspace.data() / "clean-talks.validation.jsonl").exists(), 60)
    written = (workspace.data() / "clean-talks.train.jsonl").read_text("utf-8").splitlines()
    assert len(written) == 26 and "17" not in [line.split("（")[1][:2] for line in written]
    page.locator("#data-use").click()
    expect(page.locator("#field-data-max_length input")).to_have_value("2000")


def test_nonsense_gets_words_with_a_fix_and_no_stack_trace(page: Page, picture: Picture) -> None:
    box = page.get_by_label("Data set")
    box.fill("nowhere/at all.jsonl")
    box.press("Enter")
    expect(page.locator("#data-found")).to_contain_text("→", timeout=30_000)
    expect(page.locator("#data-found")).not_to_contain_text("Traceback")
    box.fill("/etc/passwd")
    box.press("Enter")
    expect(page.locator("#data-found")).to_contain_text("FTUI_DATA_ROOTS", timeout=30_000)
    page.get_by_role("tab", name="Train", exact=True).first.click()
    epochs = page.locator("#field-training-epochs input")
    epochs.fill("-3")
    expect(page.locator("#train-findings")).to_contain_text("training.epochs", timeout=30_000)
    expect(page.locator("#train-start")).to_be_disabled()
    epochs.fill("2")
    expect(page.locator("#train-start")).to_be_enabled(timeout=30_000)
    assert not list(folder.listed("train"))


def _upload(page: Page, table: Path) -> Locator:
    """Bring a file as a person does, once the page has drawn its sample; returns the place of what was found."""
    found = page.locator("#data-found")
    found.get_by_text("longest row").wait_for(timeout=90_000)
    page.locator("input[type=file]").first.set_input_files(table)
    return found
