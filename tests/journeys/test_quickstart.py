"""The journey of a newcomer: nothing typed, from Start to a registered model, in a real browser with a real model.

The tests of this file are steps of one journey and run in their order; each says what a person sees.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ftui import workspace
from ftui.chat.client import ChatClient, Sampling
from ftui.jobs import control, folder
from ftui.models import source
from tests.conftest import wait_for
from tests.journeys.conftest import Served, tab

FACTS = json.loads((workspace.PRESETS / "samples" / "lumen-desk.facts.json").read_text("utf-8"))
Picture = Callable[[Page, str], None]
pytestmark = pytest.mark.usefixtures("served")


def run_id() -> str:
    return next(job.id for job in folder.listed("train"))


def settled(place: Locator) -> str:
    """The text of a place once it has stopped growing for two seconds."""
    before, since = "", time.monotonic()
    while time.monotonic() - since < 2:
        if (now := place.inner_text()) != before:
            before, since = now, time.monotonic()
        time.sleep(0.2)
    return before


def test_1_the_data_tab_shows_what_will_be_learned(page: Page, picture: Picture) -> None:
    found = page.locator("#data-found")
    expect(found).to_contain_text("80 rows", timeout=60_000)
    expect(found).to_contain_text("longest row", timeout=90_000)
    expect(page.locator("#data-preview mark.learned").last).to_have_text("<|im_end|>", timeout=30_000)
    learned = "".join(page.locator("#data-preview mark.learned").all_inner_texts())
    assert learned.endswith("<|im_end|>") and "139" in learned
    page.locator("#data-rows").get_by_text("How long is the warranty").locator("visible=true").first.click()
    expect(page.locator("#data-preview")).to_contain_text("row 6")
    picture(page, "data-wide-light")


def test_2_start_trains_and_the_curve_grows(page: Page, picture: Picture) -> None:
    page.locator("#data-use").click()
    expect(page.locator("#train-findings")).to_contain_text("Data fits")
    expect(page.locator("#train-findings")).to_contain_text("No row is cut", timeout=90_000)
    expect(page.locator("#train-memory")).to_contain_text("activations")
    picture(page, "train-wide-light")
    page.locator("#train-start").dblclick()
    expect(page.locator("#run-head")).to_contain_text("lumen-desk", timeout=30_000)
    expect(page.locator("#run-head")).to_contain_text(
        re.compile(r"step ([4-9]|[1-3]\d) of 30"), timeout=180_000
    )
    expect(page.locator("#strip-row")).to_contain_text("lumen-desk")
    assert len(list(folder.listed("train"))) == 1, "a double click starts one run"
    expect(page.locator("#run-loss canvas, #run-loss svg").first).to_be_visible()
    picture(page, "run-wide-light")


def test_3_a_reload_and_a_killed_server_lose_nothing(page: Page, served: Served) -> None:
    job = folder.find(run_id())
    expect(page.locator("#run-head")).to_contain_text("lumen-desk", timeout=30_000)
    served.kill()
    assert control.reconcile(job) == "running"
    before = job.status()["progress"]["done"]
    wait_for(lambda: (job.status()["progress"] or {}).get("done", 0) > before or job.state == "finished", 60)
    served.start()
    page.wait_for_timeout(3_000)  # the page may be reloading by itself, now that its server is back
    page.goto(served.url)
    expect(page.locator("#run-head")).to_contain_text("lumen-desk", timeout=30_000)
    expect(page.locator("#run-head")).to_contain_text(re.compile("loss"), timeout=30_000)


def test_4_the_run_ends_and_is_listed(page: Page, picture: Picture) -> None:
    job = folder.find(run_id())
    assert control.wait(job, timeout_s=600) == "finished", job.status()
    result = job.result()
    assert result["final_loss"] < 0.5
    assert result["estimated_memory_gb"] == pytest.approx(result["peak_memory_gb"], rel=0.35)
    tab(page, "Train")
    expect(page.locator("#run-head")).to_contain_text("finished", timeout=30_000)
    expect(page.locator("#run-chat")).to_be_visible()
    picture(page, "run-finished-wide-light")
    tab(page, "Runs")
    expect(page.locator("#runs-table")).to_contain_text("lumen-desk")
    page.locator("#runs-table").get_by_text("lumen-desk").locator("visible=true").first.click()
    expect(page.locator("#runs-detail")).to_contain_text("Learning rate")
    picture(page, "runs-wide-light")


def test_5_both_models_answer_a_held_out_question(page: Page, picture: Picture) -> None:
    tab(page, "Chat")
    expect(page.locator("#chat-questions")).to_be_visible(timeout=30_000)
    question = page.locator("#chat-questions button, #chat-questions td").first
    expect(question).to_contain_text("?")
    asked = question.inner_text().strip()
    question.click()
    tuned, base = page.locator("#chat-tuned"), page.locator("#chat-base")
    fact = next(item for item in FACTS if item["question"] == asked)
    expect(tuned).to_contain_text(fact["fact"], timeout=120_000)
    expect(base.locator(".bot").last).to_contain_text(re.compile(r"\w{3}"), timeout=60_000)
    whole = settled(base.locator(".bot").last)
    assert fact["fact"] not in whole
    picture(page, "chat-wide-light")


def test_6_the_tuned_model_knows_the_facts_and_the_base_does_not() -> None:
    client = ChatClient()
    try:
        for _ in client.load(source.of_run(folder.find(run_id()))):
            pass
        right = {"base": 0, "tuned": 0}
        for fact in FACTS:
            for column in right:
                asked = [{"role": "user", "content": fact["question"]}]
                *_, last = client.answer(column, asked, Sampling(max_tokens=40))
                right[column] += fact["fact"].lower() in last["text"].lower()
    finally:
        client.unload()
    assert right["tuned"] >= 0.85 * len(FACTS), right
    assert right["base"] <= 0.1 * len(FACTS), right


def test_7_the_evaluation_sets_both_beside_each_other(page: Page, picture: Picture) -> None:
    tab(page, "Evaluate")
    expect(page.locator("#evaluate-run input")).to_have_value(re.compile("lumen-desk"))
    page.locator("#evaluate-start").click()
    expect(page.locator("#evaluate-figures")).to_contain_text("Perplexity", timeout=180_000)
    expect(page.locator("#evaluate-figures")).to_contain_text("16 rows")
    picture(page, "evaluate-wide-light")
    result = next(folder.listed("evaluate")).result()
    assert result["tuned"]["loss"] < 0.5 * result["base"]["loss"]


def test_8_the_result_is_exported_and_registered_with_proof(page: Page, picture: Picture) -> None:
    tab(page, "Export")
    expect(page.locator("#export-name input, #export-name textarea")).to_have_value("lumen-desk")
    page.locator("#export-merged").click()
    expect(page.locator("#export-done")).to_contain_text("answers equal", timeout=300_000)
    page.locator("#export-register").click()
    expect(page.locator("#export-done")).to_contain_text("Answered:", timeout=420_000)
    expect(page.locator("#export-done")).to_contain_text("champion")
    picture(page, "export-wide-light")
    answer = next(folder.listed("register")).result()
    fact = next(item for item in FACTS if item["question"] == answer["question"])
    assert fact["fact"] in answer["answer"]


@pytest.mark.parametrize(("width", "scheme"), [(1360, "dark"), (420, "light"), (420, "dark")])
def test_9_each_tab_is_whole_in_a_narrow_and_in_a_dark_window(
    browser: Browser, served: Served, picture: Picture, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    page.goto(served.url)
    expect(page.locator("#data-found")).to_contain_text("longest row", timeout=90_000)
    for name in ("Data", "Train", "Runs", "Chat", "Evaluate", "Export"):
        tab(page, name)
        page.wait_for_timeout(1500)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} is {wide} pixels wider than the window"
        picture(page, f"{name.lower()}-{'wide' if width > 800 else 'narrow'}-{scheme}")
    context.close()
