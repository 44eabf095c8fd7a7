"""Texts as rows: what scikit-learn would make of them, in any language, and the same from a folder."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from mlgt._core.errors import MLGTError
from mlgt.text import TextFeatures, learn_features
from mlgt.text.analysis import normal_form

TEXTS = ["the cat sat on the mat", "a dog, a cat!", "", "Dogs and CATS and dogs", "42 dogs"]


def terms(*texts, **options):
    return learn_features(texts, **options)[0].parts[0].terms


@pytest.mark.parametrize("options", [{}, {"min_df": 2}, {"words": 2}, {"max_features": 3}])
def test_the_values_are_scikit_learns_tf_idf(options):
    _, X = learn_features(TEXTS, **options)
    words = options.pop("words", 1)
    theirs = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+", ngram_range=(1, words), **options)
    np.testing.assert_allclose(X.toarray(), theirs.fit_transform(TEXTS).toarray(), rtol=1e-6)


def test_words_of_any_script_stay_whole():
    assert terms("हिन्दी भाषा") == ["भाषा", "हिन्दी"]
    assert terms("می\u200cخواهم") == ["می\u200cخواهم"]
    assert terms("naïve d'été") == ["d", "naïve", "été"]
    assert terms("C++, C# and c") == ["and", "c", "c#", "c++"]


def test_what_reads_the_same_is_the_same():
    assert terms("Cafe\u0301 STRASSE ﬁt Ａ") == terms("café straße FIT a")
    assert normal_form("half \ud800 a character") == "half  a character"


def test_characters_stand_beside_words_with_the_same_weight():
    features, X = learn_features(TEXTS, characters=(2, 3))
    words = features.parts[0].n_columns
    squares = X.multiply(X)
    for part in (squares[:, :words], squares[:, words:]):
        np.testing.assert_allclose(part.sum(axis=1), [1, 1, 0, 1, 1], rtol=1e-6)
    assert features.terms_of("xcat")[words + features.parts[1].terms.index("cat")] == "'cat'"


def test_hashed_terms_have_a_column_without_a_list():
    features, X = learn_features(TEXTS, words=2, hashing=1 << 10)
    assert X.shape == (5, 1 << 10)
    row = features(["a new cat sat"])
    assert features.parts[0].terms is None
    found = features.terms_of("a new cat sat")
    assert sorted(found) == sorted(row.indices.tolist())
    assert set(found.values()) == {"a", "new", "cat", "sat", "a new", "new cat", "cat sat"}


@pytest.mark.parametrize("options", [{}, {"characters": (3, 5)}, {"hashing": True}, {"words": 2}])
def test_the_same_rows_from_what_a_folder_holds(options):
    features, X = learn_features(TEXTS, **options)
    names = ("of", "shortest", "longest")
    facts = [
        {name: getattr(part, name) for name in names} | {"hashed": part.terms is None}
        for part in features.parts
    ]
    again = TextFeatures.from_arrays(facts, features.to_arrays(), features.n_features)
    for made in (features(TEXTS), features(iter(TEXTS)), again(TEXTS)):
        assert (made != X).nnz == 0
        assert made.dtype == np.float32


def test_texts_without_words_are_refused():
    with pytest.raises(MLGTError, match=r"no word.*right column"):
        learn_features(["", "!!"])
    with pytest.raises(MLGTError, match="no word that occurs in 2 or more"):
        learn_features(["a", "b"], min_df=2)
    with pytest.raises(MLGTError, match="hold no word"):
        learn_features(["", "!!"], hashing=True)
