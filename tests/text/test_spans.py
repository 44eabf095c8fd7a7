"""Places of terms in a text: the same terms as the features count, where they stand."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from mlgt.text import learn_features, mark_words, spans

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
def test_the_places_are_those_of_the_counted_terms(options):
    features, _ = learn_features(TEXTS, **options)
    for text in TEXTS:
        found = spans(features, text)
        row = features([text])
        assert {column for *_, column in found} == set(row.indices.tolist())
        counts, first = Counter(column for *_, column in found), 0
        for part in features.parts:
            counted = part.counter.transform([text])
            own = {int(j) + first: int(v) for j, v in zip(counted.indices, counted.data)}
            assert own == {j: counts[j] for j in own}
            first += part.n_columns
        assert all(0 <= a < b <= len(text) for a, b, _ in found)


def test_words_stand_where_they_are_written():
    text = "Our Cat, our DOG"
    features, _ = learn_features(["our cat dog"])
    names = {j: term for term, j in features.parts[0].counter.vocabulary_.items()}
    assert [(text[a:b], names[j]) for a, b, j in spans(features, text)] == [
        ("Our", "our"), ("Cat", "cat"), ("our", "our"), ("DOG", "dog"),
    ]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_words_add_up_to_the_shares(options):
    features, _ = learn_features(TEXTS, **options)
    rng = np.random.default_rng(0)
    for text in TEXTS:
        found = spans(features, text)
        shares = {column: float(rng.normal()) for *_, column in found}
        marks = mark_words(text, found, shares)
        assert sum(share for *_, share in marks) == pytest.approx(sum(shares.values()))
        if "characters" not in options:
            assert all(b <= c for (_, b, _), (c, _, _) in pairwise(marks))
