"""Names as evidence: what the equations say, word for word, and what they are worth where they matter."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import mlgt
from mlgt import MLGTClassifier, TextTagger
from mlgt._core.rows import WordRows
from mlgt.ranking.names import MIN_IDF, NameIndex, name_centroids
from mlgt.text import Analyzer, FeatureWords, NameWords

WORDS = 12
NAMES = st.lists(  # of each label
    st.lists(st.lists(st.integers(0, WORDS - 1), max_size=3), min_size=1, max_size=2),
    min_size=1,
    max_size=9,
)
ROWS = st.lists(st.lists(st.integers(-1, WORDS - 1), max_size=15), min_size=1, max_size=6)


def word_rows(rows, names):
    """The words of rows; those of no name are -1."""
    known = {w for own in names for name in own for w in name}
    words = [w if w in known else -1 for row in rows for w in row]
    return WordRows(np.cumsum([0, *map(len, rows)]), np.array(words, np.int32))


def plain_scores(names, rows, counts):
    """Eqs. (1) and (2), and the phrase, label by label."""
    n, seen = len(rows), [sum(w in row for row in rows) for w in range(WORDS)]
    idf = [np.log((1 + n) / (1 + seen[w])) + MIN_IDF for w in range(WORDS)]
    scores, phrases = np.zeros((n, len(names))), np.zeros((n, len(names)))
    for i, row in enumerate(rows):
        for l, own in enumerate(names):
            for name in filter(None, own):
                met = sum(idf[w] for w in name if w in row)
                score = met**2 / sum(idf[w] for w in name) / (1 + np.log1p(counts[l]))
                stands = any(row[j : j + len(name)] == name for j in range(len(row)))
                scores[i, l] = max(scores[i, l], score)
                phrases[i, l] = max(phrases[i, l], score * stands)
    return scores, phrases


@settings(deadline=None)  # compiles
@given(names=NAMES, rows=ROWS, data=st.data())
def test_scores_are_those_of_the_equations(names, rows, data):
    counts = np.array(data.draw(st.lists(st.integers(0, 50), min_size=len(names), max_size=len(names))))
    words = word_rows(rows, names)
    index = NameIndex.build(names, words, counts)
    labels = np.tile(np.arange(len(names)), (len(rows), 1))
    found, expected = index.scores(words, labels), plain_scores(names, rows, counts)
    for one, two in zip(found, expected):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-6)
    assert (index.unseen(labels) == (counts == 0)).all()


@settings(deadline=None)  # compiles
@given(names=NAMES, rows=ROWS, count=st.integers(1, 5))
def test_the_best_names_are_found(names, rows, count):
    words, counts = word_rows(rows, names), np.arange(len(names))
    index = NameIndex.build(names, words, counts)
    best, expected = index.best(words, count), plain_scores(names, rows, counts)[0]
    for labels, scores in zip(best, expected):
        found = labels[labels >= 0]
        assert len(set(found)) == len(found) == min(count, np.count_nonzero(scores))
        np.testing.assert_allclose(scores[found], -np.sort(-scores)[: len(found)], rtol=1e-4)


def test_words_lose_a_plural_s_and_case():
    names = [["Cats", "glass (material)"], ["history of dogs"], ["gas"]]
    words, sequences = NameWords.learn(names, Analyzer())
    assert words.terms == ["cat", "glass", "material", "history", "of", "dog", "gas"]
    assert sequences == [[[0], [1, 2]], [[3, 4, 5]], [[6]]]
    rows = words.rows(Analyzer().words(["The history of a CAT", "", "dogs in glasses, gas"]))
    assert rows[0:1].words.tolist() == [-1, 3, 4, -1, 0]
    assert rows[2:3].words.tolist() == [5, -1, -1, 6]
    assert rows[np.array([2, 0])].words.tolist() == [5, -1, -1, 6, -1, 3, 4, -1, 0]


def test_features_with_names_have_words():
    words, _ = NameWords.learn([["new york"], ["cats"]], Analyzer())
    features = FeatureWords.learn(["cat", "...", "new york", "dog"], words, Analyzer())
    X = sp.csr_array(np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]], np.float32))
    rows = features.rows(X)
    assert rows[0:1].words.tolist() == [2, -1, -1]
    assert rows[1:2].words.tolist() == []
    assert rows[2:3].words.tolist() == [2, -1, 0, 1, -1, -1, -1]


def test_names_count_more_in_centroids_of_few_rows(rng):
    centroids = sp.csr_array(np.eye(3, 6, dtype=np.float32))
    names = sp.csr_array(np.eye(3, 6, 3, dtype=np.float32))
    both = name_centroids(centroids, names, np.array([0, 3, 10_000])).toarray()
    np.testing.assert_allclose(np.linalg.norm(both, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(
        both[np.arange(3), np.arange(3, 6)] / both.diagonal(), [1, 0.5, 0.01], rtol=1e-3
    )


TOPICS = [
    f"{a} {b}" for a in "red blue green black white".split() for b in "fish bird stone river star".split()
]


def named_texts(rng, n, topics=TOPICS):
    """Texts that hold the names of their labels among other words."""
    texts, labels = [], []
    for _ in range(n):
        own = rng.choice(topics, rng.integers(1, 4), replace=False).tolist()
        noise = [f"word{i}" for i in rng.integers(0, 300, 12)]
        words = [*own, *noise]
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(own)
    return texts, labels


@pytest.fixture(scope="module")
def tagger():
    rng = np.random.default_rng(0)
    topics = [f"{topic}{i}" for i in range(14) for topic in TOPICS]
    seen = topics[:-40]
    classifier = MLGTClassifier(n_groups=64, random_state=0)
    return TextTagger(classifier, vocabulary=topics).fit(*named_texts(rng, 3000, seen)), topics


def test_labels_without_a_row_are_found_by_name(tagger):
    model, topics = tagger
    assert model.fitted_model().name_index is not None
    for topic in topics[-20:]:
        assert model.tag(f"word1 word2 {topic} word3", k=1)[0][0] == topic


def test_explanations_show_where_words_of_a_name_stand(tagger):
    model, topics = tagger
    text = f"word1 {topics[-1]} word2"
    reasons = model.explain(text, k=1).labels[0]
    assert [text[start:end] for start, end in reasons.name_places] == topics[-1].split()
    evidence = {term.name: term.value for term in reasons.evidence}
    assert evidence["phrase"] == evidence["name"] > 0
    assert evidence["unseen"] == 1


def test_names_survive_a_save(tagger, tmp_path):
    model, topics = tagger
    model.save(tmp_path / "m")
    again = mlgt.load(tmp_path / "m")
    texts = [f"word1 {topic} word7" for topic in topics[::7]]
    for one, two in zip(model.predict_topk(texts, 30), again.predict_topk(texts, 30)):
        assert (one == two).all()
    predictor = mlgt.Predictor(tmp_path / "m")
    assert predictor.tag(texts) == model.tag(texts)


def test_names_that_mislead_are_left_out():
    """Every text names a label that it does not have: names alone would be worse than nothing."""
    rng = np.random.default_rng(1)
    texts, labels = named_texts(rng, 2500, [f"{topic}{i}" for i in range(14) for topic in TOPICS])
    names = sorted({label for own in labels for label in own})
    other = dict(zip(names, names[1:] + names[:1]))
    wrong = [[other[label] for label in own] for own in labels]
    model = TextTagger(MLGTClassifier(n_groups=64, random_state=0)).fit(texts, wrong)
    found = [{label for label, _ in tagged} for tagged in model.tag(texts[:200], k=3)]
    right = np.mean([len(own & set(truth)) / len(truth) for own, truth in zip(found, wrong[:200])])
    assert right > 0.6


def test_models_of_rows_with_names_but_without_a_ranker_survive_a_save(rng, tmp_path):
    pd = pytest.importorskip("pandas")
    words = "cat dog law tax sea sun red iron corn".split()
    seen = (rng.random((200, 9)) < 0.3).astype(float)
    X, Y = (pd.DataFrame(seen, columns=[f"{word}{end}" for word in words]) for end in ("", "s"))
    model = MLGTClassifier(random_state=0).fit(X, Y)
    assert model.model_.name_index is None
    model.save(tmp_path / "m")
    found = mlgt.load(tmp_path / "m").predict_topk(X, 3)[0]
    np.testing.assert_array_equal(found, model.predict_topk(X, 3)[0])


def test_few_words_are_found_as_many_are(monkeypatch):
    words = Analyzer().words(["cats glass s ss gas gäs Füßes ÄÖs das boss C++s", ""])
    known, _ = NameWords.learn([["cat"], ["glass"], ["gas", "gäs", "ga"], ["Füße", "ÄÖ", "da"]], Analyzer())
    few = known.rows(words)
    monkeypatch.setattr("mlgt.text.table.MAX_LOOKED_UP", 0)
    many = known.rows(words)
    assert few.words.tolist() == many.words.tolist()
    assert few.words.dtype == many.words.dtype
    assert (few.words >= 0).sum() >= 5
