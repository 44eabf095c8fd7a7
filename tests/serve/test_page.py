"""The page in a real Chromium: Debian's package `chromium`, driven by playwright from PyPI."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlgt import Predictor

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the page is tested with pip install playwright"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the page is tested where chromium is installed")

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
HOSTILE = "<img src=x onerror=alert(1)>"
TEXT = "\U0001f431 The cat purrs, <b>says</b> the judge."


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, server):
    """Opens the page of a server; in the end, nothing was wrong and nothing was asked elsewhere."""
    contexts, wrong = [], []

    def open_page(address=server.address, **options):
        context = browser.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on(
            "console",
            lambda said: said.type == "error" and "401" not in said.text and wrong.append(said.text),
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("http://127.0.0.1:", "blob:")) or wrong.append(request.url)
            ),
        )
        page.goto(address + "/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def item(page, label):
    return page.locator("#labels > li").filter(
        has=page.get_by_role("button", name=f"Accept {label}", exact=True)
    )


def chosen(page):
    return [text.removesuffix("×").strip() for text in page.locator("#chosen li").all_inner_texts()]


def write(page, text=TEXT):
    page.fill("#text", text)
    page.wait_for_selector("#labels > li")


def test_from_a_text_to_rows_that_update_takes(visit, model_folders, tmp_path):
    page = visit()
    write(page)
    assert page.locator("#labels .name").first.inner_text() in ("cats", HOSTILE)
    item(page, "cats").locator(".name").click()
    page.wait_for_selector("#marks mark.for")
    assert "cat" in page.locator("#marks mark.for").all_inner_texts()
    assert page.locator("#marks").inner_text().rstrip() == TEXT
    assert "cat +" in item(page, "cats").locator(".reasons").inner_text()
    item(page, "cats").locator(".accept").click()
    item(page, HOSTILE).locator(".reject").click()
    page.fill("#search", "fuss")
    page.locator("#found li").first.click()
    page.fill("#search", "birds")
    page.get_by_text("New label: birds").click()
    assert chosen(page) == ["cats", "Füße", "birds"]
    page.click("#save")
    assert page.input_value("#text") == ""
    page.reload()  # what was saved is still there
    assert "cats · Füße · birds" in page.locator("#saved").inner_text()
    with page.expect_download() as download:
        page.click("#download")
    rows = tmp_path / "corrected.jsonl"
    download.value.save_as(rows)
    assert json.loads(rows.read_text("utf-8")) == {"text": TEXT, "labels": ["cats", "Füße", "birds"]}
    command = [
        sys.executable,
        "-m",
        "mlgt",
        "update",
        model_folders["animals"],
        rows,
        "--out",
        tmp_path / "new",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    taught = Predictor(tmp_path / "new")
    assert (taught.n_rows_, taught.n_labels_) == (1501, 5)


def test_names_and_texts_are_never_markup(visit):
    page = visit()
    write(page, f"the judge {HOSTILE} law court")
    item(page, HOSTILE).locator(".accept").click()
    item(page, HOSTILE).locator(".name").click()
    page.wait_for_selector("#marks mark")
    page.fill("#search", "img")
    page.wait_for_selector("#found li")
    assert page.locator("img").count() == 0
    assert chosen(page) == [HOSTILE]
    page.keyboard.press("Escape")
    page.click("#save")
    assert page.locator("img").count() == 0


def test_by_keyboard_alone(visit):
    page = visit()
    page.keyboard.press("Alt+t")
    page.keyboard.type("the cat and the dog bark")
    page.wait_for_selector("#labels > li:nth-child(2)")
    page.wait_for_timeout(300)  # the last word has been sent
    page.keyboard.press("Alt+l")
    page.keyboard.press("Enter")
    page.wait_for_selector("#labels .reasons p")
    assert page.evaluate("document.activeElement.className") == "name"
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("r")
    assert page.locator("#labels > li.accepted, #labels > li.rejected").count() == 2
    page.keyboard.press("Alt+s")
    page.keyboard.type("fü")
    page.wait_for_selector("#found li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    assert page.locator("#saved li").count() == 1
    assert page.evaluate("document.activeElement.id") == "text"


def test_the_threshold_and_accepting_all(visit):
    page = visit()
    write(page)
    page.locator("#threshold").fill("0")
    assert page.locator("#labels > li").count() == 4
    page.locator("#threshold").fill("50")
    few = page.locator("#labels > li").count()
    assert 0 < few < 4
    page.click("#accept-shown")
    assert page.locator("#chosen li").count() == few
    page.locator("#threshold").fill("95")
    assert "label" in page.locator("#state").inner_text()


def test_a_file_of_texts(visit, tmp_path):
    table = tmp_path / "texts.csv"
    table.write_text(
        'id,text,labels\n1,"the cat, ""purr""\nmeow",cats;dogs & hounds\n2,dog bark,\n', "utf-8"
    )
    page = visit()
    page.set_input_files("#file", table)
    playwright.expect(page.locator("#place")).to_have_text("1 of 2")
    assert page.input_value("#text") == 'the cat, "purr"\nmeow'
    assert chosen(page) == ["cats", "dogs & hounds"]
    page.keyboard.press("Control+Enter")
    assert page.input_value("#text") == "dog bark"
    page.click("#save")
    assert "has no label yet" in page.locator("#problem").inner_text()
    (tmp_path / "empty.txt").write_text("\n\n")
    page.set_input_files("#file", tmp_path / "empty.txt")
    playwright.expect(page.locator("#problem")).to_contain_text("has no text")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_fits_the_screen_and_axe_finds_nothing(visit, scheme, width):
    page = visit(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    write(page)
    page.locator("#labels .name").first.click()
    page.wait_for_selector("#labels .reasons p")
    page.locator("#labels .accept").first.click()
    page.fill("#search", "a")
    page.wait_for_selector("#found li")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    axe = os.environ.get("MLGT_AXE")  # the file axe.min.js of npm's axe-core
    if not axe:
        pytest.skip("MLGT_AXE does not name the file axe.min.js of npm's axe-core")
    for address in (None, "/docs"):
        if address:
            page.goto(page.url.rstrip("/") + address)
        page.evaluate(Path(axe).read_text("utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.slow
def test_a_token_is_asked_for(visit, started, model_folders, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef")
    server = started(model_folders["animals"], "--token-file", tmp_path / "token")
    page = visit(server.address)
    page.fill("#token", "0123456789abcdef")
    page.keyboard.press("Enter")
    playwright.expect(page.locator("#model option")).to_have_count(1)
    write(page)


@pytest.mark.slow
def test_a_model_of_rows_says_that_it_takes_no_texts(visit, started, model_folders):
    server = started(*model_folders.values())
    page = visit(server.address)
    page.select_option("#model", "rows")
    assert "takes rows of features" in page.locator("#problem").inner_text()
    assert page.is_disabled("#text")
    page.select_option("#model", "animals")
    write(page)


@pytest.mark.slow
def test_a_long_text_stays_quick_and_its_marks_scroll_along(visit):
    page = visit()
    write(page, "the cat purrs and the dog barks. " * 2500)
    page.locator("#labels .name").first.click()
    page.wait_for_selector("#marks mark")
    page.evaluate("document.getElementById('text').scrollTop = 5000")
    page.wait_for_timeout(200)
    scrolled = page.evaluate("['marks', 'text'].map(id => document.getElementById(id).scrollTop)")
    assert scrolled == [5000, 5000]
    heights = page.evaluate("['marks', 'text'].map(id => document.getElementById(id).scrollHeight)")
    assert abs(heights[0] - heights[1]) < 60
