"""A person with a spreadsheet of their own: unknown columns, an unreadable file, and nonsense typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from ftui.jobs import folder

Picture = Callable[[Page, str], None]


def test_columns_that_are_not_known_are_asked_for_and_the_rows_appear_at_once(
    page: Page, picture: Picture, tmp_path: Path
) -> None:
    rows = "".join(f"Frage {number}: Wie heißt Stadt {number}?;Köln {number}\n" for number in range(1, 13))
    table = tmp_path / "Fragen und Antworten.csv"
    table.write_bytes(("Frage;Antwort\n" + rows + "Ohne Antwort?;\n").encode("cp1252"))
    page.locator("#data-found").get_by_text("longest row").wait_for(timeout=90_000)
    page.locator("input[type=file]").first.set_input_files(table)
    found = page.locator("#data-found")
    expect(found).to_contain_text("Frage, Antwort", timeout=30_000)
    for name, column in (("question", "Frage"), ("answer", "Antwort")):
        box = page.get_by_label(f"Column with the {name}")
        box.click()
        page.get_by_role("option", name=column, exact=True).click()
    expect(found).to_contain_text("13 rows", timeout=30_000)
    expect(found).to_contain_text("1 dropped")
    expect(page.locator("#data-preview mark.learned").first).to_be_visible(timeout=60_000)
    expect(page.locator("#data-preview")).to_contain_text("Köln 1")
    picture(page, "data-own-wide-light")
    page.locator("#data-use").click()
    expect(page.locator("#train-findings")).to_contain_text("1 of 13 rows is dropped", timeout=60_000)
    page.get_by_role("button", name="All settings, by section").click()
    page.get_by_role("button", name="What is learned").click()
    validation = page.locator("#field-data-validation textarea, #field-data-validation input").first
    expect(validation).to_have_value("")


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
    assert not list(folder.listed())
