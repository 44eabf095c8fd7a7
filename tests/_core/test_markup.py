"""Marked texts: nothing is lost, nothing steers a terminal or a browser."""

import re

from mlgt._core.markup import excerpt, marked_html, marked_text, segments

TEXT = "a cat <b>&\x1b[2J dog\nand a cat"
MARKS = [(2, 5, 0.9), (15, 18, -0.3), (25, 28, 0.01)]


def test_the_pieces_make_the_text():
    assert "".join(piece for piece, _ in segments(TEXT, MARKS)) == TEXT
    assert dict(segments(TEXT, MARKS))["cat"] != 0
    assert list(segments("abc", [])) == [("abc", 0.0)]
    assert "".join(piece for piece, _ in segments("abcd", [(0, 3, 1.0), (1, 4, 1.0)])) == "abcd"


def test_a_page_shows_what_was_written():
    page = marked_html(TEXT, MARKS)
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;\\x1b[2J" in page
    assert re.sub("<[^>]*>", "", page).startswith("a cat &lt;b")
    assert page.count("<span") == 3
    assert page.count("underline") == 1


def test_a_terminal_gets_colours_or_signs():
    assert marked_text(TEXT, MARKS, colours=False) == "a [+cat] <b>&\\x1b[2J [-dog]\nand a cat"
    coloured = marked_text(TEXT, MARKS, colours=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == "a cat <b>&\\x1b[2J dog\nand a cat"
    assert "\x1b[1;32mcat\x1b[0m" in coloured
    assert "\x1b[31mdog\x1b[0m" in coloured


def test_an_excerpt_keeps_the_strongest_words():
    words = [f"w{i}" for i in range(2000)]
    text = " ".join(words)
    marks = []
    for i, share in ((0, 0.1), (700, 2.0), (701, -1.0), (1999, 0.5), (3, 0.001)):
        start = text.index(f"w{i} ") if i < 1999 else text.rindex("w")
        marks.append((start, start + len(f"w{i}"), share))
    marks = sorted(marks)
    short, kept = excerpt(text, marks, count=4)
    assert len(short) < 800
    assert {short[a:b]: share for a, b, share in kept} == {text[a:b]: share for a, b, share in marks}
    assert short.count("…") == 2
    assert excerpt("short", [], count=4) == ("short", [])
