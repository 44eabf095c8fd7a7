"""TextTagger: named labels of texts, the same before and after a folder."""

import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import mlgt
from mlgt import HierarchicalMLGTClassifier, MLGTClassifier, Predictor, TextTagger
from mlgt._core.errors import ModelFileError
from mlgt.errors import UncalibratedWarning
from references.headers import write_header

NEW = ["Our CAT saw the judge", "", "zzz 誰も", "Straße", "the leash of a dog"]


@pytest.fixture(scope="module")
def tagger(stories):
    return TextTagger(random_state=0).fit(*stories)


def test_names_and_probabilities(tagger):
    found = tagger.tag("our cat saw the judge", k=3)
    assert {name for name, _ in found[:2]} == {"cats", "law, civil"}
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
    assert found[1][1] > 0.5 > found[2][1]
    assert tagger.calibrated_


def test_one_text_or_many(tagger):
    rows = tagger.tag(NEW)
    assert rows == [tagger.tag(text) for text in NEW]
    assert rows[1] == rows[2] == []  # nothing is known of them
    assert rows[3][0][0] == "Füße & Maße"
    assert tagger.tag(pd.Series(NEW)) == tagger.tag(np.array(NEW)) == tagger.tag(iter(NEW)) == rows


def test_as_many_as_fit(tagger):
    both, one = tagger.tag(["cat whiskers judge court", "dog bark leash"], k="auto")
    assert {name for name, _ in both} == {"cats", "law, civil"}
    assert [name for name, _ in one] == ["dogs"]


def test_more_than_there_are(tagger):
    assert len(tagger.tag("cat", k=1000)) == len(tagger.classes_) == 4
    with pytest.raises(ValueError, match="k=0 must be a whole number of at least 1"):
        tagger.tag("cat", k=0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"characters": (2, 4)},
        {"hashing": True},
        {"words": 2, "min_df": 3, "max_features": 100},
        {"language": "auto", "max_characters": 20},
        {"language": ("de", "english")},
        {"classifier": MLGTClassifier(n_groups=3, column_weight=2, random_state=1)},
        {"classifier": HierarchicalMLGTClassifier(n_blocks=1, random_state=1)},
        {"classifier": MLGTClassifier("constant_weight", n_groups=4, decoder="top_k", random_state=1)},
    ],
)
def test_a_folder_gives_the_same_tagger(stories, tmp_path, options):
    options = options if "classifier" in options else {**options, "random_state": 0}
    tagger = TextTagger(**options).fit(*stories)
    tagger.save(tmp_path / "m")
    again = mlgt.load(tmp_path / "m")
    assert isinstance(again, TextTagger)

    def tag(tagger):
        if tagger.calibrated_:
            return tagger.tag(NEW, k=4)
        with pytest.warns(UncalibratedWarning):
            return tagger.tag(NEW, k=4)

    expected = tag(tagger)
    assert tag(again) == tag(Predictor(tmp_path / "m")) == expected
    assert tag(clone(again).fit(*stories)) == expected
    again.save(tmp_path / "copy")
    assert tag(mlgt.load(tmp_path / "copy")) == expected


def test_languages_and_lengths_are_kept_and_applied(stories, tmp_path):
    tagger = TextTagger(random_state=0, language="en", max_characters=12).fit(*stories)
    tagger.save(tmp_path / "m")
    for model in (tagger, mlgt.load(tmp_path / "m"), Predictor(tmp_path / "m")):
        assert model.tag("the courts", k=1)[0][0] == "law, civil"
        assert model.tag("the of and a cat", k=1) == model.tag("the of and a", k=1)
        assert [word for word, _ in model.explain("Courts", k=1).labels[0].words] == ["court"]


def test_models_from_before_languages_have_none(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    header = json.loads((tmp_path / "m" / "model.json").read_text("utf-8"))
    header["format_version"] = 3
    for name in ("languages", "language_shares", "max_characters"):
        del header["text"][name]
    for name in ("language", "max_characters"):
        del header["text"]["params"][name]
    write_header(tmp_path / "m", header)
    assert mlgt.load(tmp_path / "m").tag(NEW) == tagger.tag(NEW)


def test_an_altered_vocabulary_is_noticed(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    file = tmp_path / "m" / "text" / "words.npy"
    file.write_bytes(file.read_bytes().replace(b"cat", b"bat"))
    with pytest.raises(ModelFileError, match=r"words\.npy was altered"):
        mlgt.load(tmp_path / "m")


def test_overwriting_knows_its_own_files(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        tagger.save(tmp_path / "m")
    tagger.save(tmp_path / "m", overwrite=True)


def test_the_score_counts_unknown_labels_as_missed(tagger):
    assert tagger.score(["cat", "dog"], [["cats"], ["dogs"]]) == 1
    assert tagger.score(["cat", "dog"], [["cats"], ["wolves"]]) == 0.5


def test_any_threads_the_same(stories):
    one, two = (TextTagger(random_state=3, n_jobs=n).fit(*stories).tag(NEW) for n in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": -1}, "words=-1"),
        ({"words": 0}, "leave no terms"),
        ({"characters": (5, 3)}, "two whole numbers"),
        ({"characters": 3}, "two whole numbers"),
        ({"min_df": 0.5}, "min_df=0.5"),
        ({"hashing": -3}, "hashing=-3"),
        ({"language": "klingon"}, "language='klingon' has no stemmer"),
        ({"max_characters": 0}, "max_characters=0"),
        ({"hashing": True, "min_df": 2}, "no effect with hashing"),
        ({"classifier": MLGTClassifier(), "random_state": 0}, "of your own"),
        ({"classifier": LogisticRegression()}, "cannot be used"),
        ({"classifier": MLGTClassifier(classifier=LogisticRegression())}, "cannot be used"),
    ],
)
def test_settings_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        TextTagger(**options).fit(["a b", "b c"], [["x"], ["y"]])


def test_texts_and_labels_that_do_not_fit():
    with pytest.raises(ValueError, match="2 texts and 1 lists of labels"):
        TextTagger().fit(["a", "b"], [["x"]])
    with pytest.raises(ValueError, match="None of the 2 texts has a label"):
        TextTagger().fit(["a", "b"], [[], None])


def test_sets_and_probabilities_are_those_of_tag(tagger):
    found = tagger.tag(NEW, k="auto")
    assert tagger.predict(NEW) == [{name for name, _ in row} for row in found]
    P = tagger.predict_proba(NEW)
    assert P.shape == (len(NEW), len(tagger.classes_))
    for i, row in enumerate(tagger.tag(NEW, k=4)):
        assert {name: P[i, list(tagger.classes_).index(name)] for name, _ in row} == dict(row)
    assert tagger.predict(["qqq"]) == [set()]
    assert tagger.predict_proba(["qqq"]).nnz == 0


def test_a_handful_of_texts_is_enough_to_start():
    tagger = TextTagger(random_state=0).fit(["a cat", "a dog", "cat and dog"], [["c"], ["d"], ["c", "d"]])
    with pytest.warns(UncalibratedWarning, match="scores, which only order them"):
        assert tagger.tag("my cat", k=1)[0][0] == "c"
    assert not tagger.calibrated_
    assert not hasattr(tagger, "predict_proba")
    assert tagger.predict(["my cat", "nothing"]) == [{"c", "d"}, set()]
    with pytest.raises(ValueError, match="needs probabilities"):
        tagger.tag("my cat", k="auto")


def test_a_model_of_features_has_no_texts(topics):
    model = MLGTClassifier(n_groups=20, column_weight=5, random_state=0).fit(*topics[0])
    with pytest.raises(ValueError, match="not on texts"):
        Predictor(model).tag("text")


def test_many_labels_with_a_ranker(tmp_path):
    """600 labels, each with words of its own: groups, rankers, centroids and blend behind the texts."""
    rng = random.Random(0)
    lists = [[f"label {rng.randrange(600)}" for _ in range(2)] for _ in range(4000)]
    texts = [" ".join(name.replace(" ", "") + rng.choice("ab") for name in row) for row in lists]
    tagger = TextTagger(random_state=0).fit(texts, lists)
    assert tagger.classifier_.ranker_ is not None
    assert tagger.score(texts[:500], lists[:500]) > 0.9
    tagger.save(tmp_path / "m")
    assert mlgt.load(tmp_path / "m").tag(texts[:9], k="auto") == tagger.tag(texts[:9], k="auto")


def test_reasons_are_words(tagger):
    found = tagger.explain("our cat saw the judge", k=2)
    reasons = {label.name: dict(label.words) for label in found.labels}
    assert set(reasons) == {"cats", "law, civil"}
    assert reasons["cats"]["cat"] > 0.3
    assert reasons["law, civil"]["judge"] > 0.3
    assert set(reasons["cats"]) <= {"our", "cat", "the", "judge"}  # saw is unknown
    assert tagger.explain("zzz").labels == []


def test_reasons_of_hashed_words_are_words_too(stories):
    tagger = TextTagger(hashing=1 << 12, random_state=0).fit(*stories)
    (cats,) = tagger.explain("our cat purrs", labels=["cats"]).labels
    assert cats.words[0][0] == "cat"


def test_given_labels_alone(tagger):
    found = tagger.tag(["our cat", ""], among=["law, civil", "dogs"])
    assert {name for name, _ in found[0]} == {"law, civil", "dogs"}
    assert found[1] == []
    assert all(p < 0.2 for _, p in found[0])
    with pytest.raises(ValueError, match="'wolves' is no label of this model"):
        tagger.tag("our cat", among=["wolves"])


def test_pickle_and_threads(tagger):
    again = pickle.loads(pickle.dumps(tagger))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(again.tag, NEW * 20)) == [tagger.tag(text) for text in NEW] * 20


def test_search_over_settings(stories):
    search = GridSearchCV(TextTagger(random_state=0), {"words": [1, 2]}, cv=2).fit(*stories)
    assert search.best_score_ > 0.5


def test_hashed_words_that_are_new_are_learnt():
    rng = np.random.default_rng(0)

    def texts(word, count):
        return [" ".join(f"{word}{j}" for j in rng.choice(20, 6, replace=False)) for _ in range(count)]

    tagger = TextTagger(hashing=True, words=1, random_state=0)
    tagger.fit(texts("a", 40) + texts("b", 40), [["A"]] * 40 + [["B"]] * 40)
    tagger.extend(texts("new", 40) + texts("other", 40), [["N"]] * 40 + [["O"]] * 40)
    held_out = texts("new", 20) + texts("other", 20)
    best, _ = tagger.predict_topk(held_out, 1)
    assert tagger.classes_[best[:, 0]].tolist() == ["N"] * 20 + ["O"] * 20
