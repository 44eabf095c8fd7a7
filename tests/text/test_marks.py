"""Shares of words: what the terms of a text say, word by word."""

from itertools import pairwise

import numpy as np
import pytest

from mlgt.text import learn_features, mark_words

TEXTS = [
    "The cat's  cats, C++ and C#!",
    "Straße ÉTÉ e\u0301te\u0301 ﬁnd ½ cup\nnew line",
    "नमस्ते दुनिया cat cat dog",
    "",
    "a-b_c 12.5 cats&dogs",
]
OPTIONS = [
    {"words": 1},
    {"words": 3},
    {"words": 0, "characters": (2, 4)},
    {"words": 2, "characters": (1, 3)},
    {"words": 1, "hashing": 64},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_add_up_to_the_shares(options):
    features, _ = learn_features(TEXTS, **options)
    rng = np.random.default_rng(0)
    for text in TEXTS:
        found = features.spans(text)
        shares = {column: float(rng.normal()) for *_, column in found}
        marks = mark_words(features.word_spans(text), found, shares)
        assert sum(share for *_, share in marks) == pytest.approx(sum(shares.values()))
        assert all(0 <= a < b <= len(text) for a, b, _ in marks)
        if "characters" not in options:
            assert all(b <= c for (_, b, _), (c, _, _) in pairwise(marks))


def test_words_stand_where_they_are_written():
    text = "Our Cat, our DOG"
    features, _ = learn_features(["cat dog"])
    assert [text[a:b] for a, b in features.word_spans(text)] == ["Our", "Cat", "our", "DOG"]
    shares = {column: 1.0 + column for *_, column in features.spans(text)}
    marks = mark_words(features.word_spans(text), features.spans(text), shares)
    assert [(text[a:b], share) for a, b, share in marks] == [("Cat", 1.0), ("DOG", 2.0)]
