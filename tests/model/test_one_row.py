"""One row and batches: the same bits, whatever the model and the thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from mlgt import HierarchicalMLGTClassifier, MLGTClassifier, Predictor, TextTagger
from mlgt._core.sigmoid import log_sigmoid
from mlgt._core.space import minus_ones, zeros
from mlgt.ranking.ranker import LabelRanker

N, P, D = 1500, 120, 300
KINDS = {
    "default": {},
    "no ranker": {"ranker": None},
    "the paper's decoder": {"decoder": "top_k", "ranker": None},
    "ties by frequency": {"decoder": "top_k_frequency", "ranker": None},
    "tail": {"tail": 1.0},
    "saffron": {"construction": "saffron", "decoder": "saffron"},
    "constant weight": {"construction": "constant_weight"},
}

BLENDED = ["default", "tail", "constant weight", "blocks", "one-vs-all"]
"""Kinds that order labels by a blend of evidence, not by the decoder alone."""


@pytest.fixture(scope="module")
def data():
    """Rows whose features are those of their labels, and some noise."""
    rng = np.random.default_rng(0)
    topics = sp.random(D, P, density=0.05, random_state=rng, dtype=np.float32)
    labels = np.minimum(rng.geometric(0.02, (N, 2)) - 1, D - 1)
    Y = sp.csr_array((np.ones(2 * N), (np.repeat(np.arange(N), 2), labels.ravel())), shape=(N, D))
    Y.sum_duplicates()
    Y.data[:] = 1
    noise = sp.random(N, P, density=0.03, random_state=rng, dtype=np.float32)
    return sp.csr_array(Y @ topics + noise, dtype=np.float32), Y


@pytest.fixture(scope="module", params=[*KINDS, "blocks", "one-vs-all"])
def trained(request, data):
    X, Y = data
    if request.param == "blocks":
        return Predictor(HierarchicalMLGTClassifier(n_blocks=3, random_state=0).fit(X, Y)), X
    if request.param == "one-vs-all":
        return Predictor(MLGTClassifier(random_state=0).fit(X, Y[:, :40])), X
    return Predictor(MLGTClassifier(random_state=0, **KINDS[request.param]).fit(X, Y)), X


def one_by_one(predictor, X, k):
    found = [predictor(X.indices[a:b], X.data[a:b], k) for a, b in zip(X.indptr, X.indptr[1:])]
    return tuple(np.stack(part) for part in zip(*found))


@pytest.mark.parametrize("k", [1, 5, 30])
def test_a_row_alone_has_the_bits_of_a_batch(trained, k):
    predictor, X = trained
    together, alone = predictor.predict_topk(X[:80], k), one_by_one(predictor, X[:80], k)
    assert all(np.array_equal(one, both) for one, both in zip(alone, together))
    assert len(np.unique(together[0])) > 5 or k == 1


def test_threads_do_not_disturb_each_other(trained):
    predictor, X = trained
    expected = predictor.predict_topk(X[:200], 5)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: one_by_one(predictor, X[:200], 5), range(8)):
            assert all(np.array_equal(one, both) for one, both in zip(found, expected))


@pytest.mark.parametrize("trained", BLENDED, indirect=True)
def test_the_list_is_ordered_by_the_evidence_that_explanations_have(trained):
    """The compiled order is that of `judge`, one step after the other."""
    predictor, X = trained
    model = predictor.fitted_model()
    rows = model.scaled(X[:60])
    found = model.candidates(rows, model.n_candidates)
    scores = model.ranked_by(model.judge(rows, found).logits, found.labels)
    order = np.lexsort((found.labels, -scores), axis=1)[:, :10]
    labels, best = model.top_k(rows, 10)
    assert np.array_equal(labels, np.take_along_axis(found.labels, order, 1))
    assert np.array_equal(best, np.take_along_axis(scores, order, 1))


def test_kernels_leave_work_spaces_as_they_were(trained):
    predictor, X = trained
    predictor.predict_topk(X[:50])
    assert not zeros(max(P, D)).any()
    assert (minus_ones(D) == -1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_margins_by_words_are_those_by_labels(rng, dtype):
    """Many weights per label and few per feature: lists by feature are kept, and give the same margins."""
    weights = sp.random(40, 2000, density=0.5, random_state=rng, format="csr")
    weights.data = (20 * (weights.data - 0.5)).astype(dtype)
    parts = weights.indptr.astype(np.int64), weights.indices.astype(np.uint16), weights.data
    bias, scale = rng.random(40).astype(np.float32), rng.random(40).astype(np.float32)
    ranker = LabelRanker(*parts, scale, bias, 2000)
    X = sp.random(30, 2000, density=0.005, random_state=rng, format="csr", dtype=np.float32)
    long = sp.csr_array(np.ones((1, 2000), np.float32))  # for which labels are scanned
    X = sp.csr_array(sp.vstack([X, long]), dtype=np.float32)
    candidates = np.stack([rng.permutation(40)[:30] for _ in range(31)])
    candidates[:, -1] = -1
    assert len(ranker._lists[0]) == 2001
    expected = (X @ weights.T.astype(np.float64)).toarray() * scale + bias
    found = ranker.margins(X, candidates)
    assert (found[:, -1] == -np.inf).all()
    np.testing.assert_allclose(
        found[:, :-1], np.take_along_axis(expected, candidates[:, :-1], 1), rtol=1e-4, atol=1e-3
    )


def test_log_sigmoid_is_right_to_the_last_bits():
    x = np.linspace(-90, 60, 20_001).astype(np.float32)
    expected = -np.logaddexp(0, -x.astype(np.float64))
    np.testing.assert_allclose(log_sigmoid(x), expected, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(log_sigmoid(x, 2.0), -np.logaddexp(0, -2.0 * x), rtol=1e-6, atol=1e-30)
    assert log_sigmoid(np.float32([-np.inf]))[0] == -np.inf


FEATURES = {
    "words": {},
    "pairs of words": {"words": 2},
    "words and characters": {"characters": (3, 4)},
    "stems": {"language": "en"},
    "hashed": {"hashing": 64},
}


@pytest.mark.parametrize("kind", FEATURES)
def test_a_text_alone_has_the_answer_of_a_list(kind, stories):
    texts, labels = stories
    tagger = TextTagger(random_state=0, **FEATURES[kind]).fit(texts, labels)
    asked = ["", "qqq", "cats dogs cats cats", "Füßes größes glass s ss judges C++", *texts[:20]]
    asked.append(" ".join(texts[:200]))  # more words than are looked up one by one
    assert [tagger.tag(text, k=3) for text in asked] == tagger.tag(asked, k=3)
    rows, alone = tagger.features_(asked), [tagger.features_.one(text) for text in asked]
    for i, row in enumerate(alone):
        span = slice(rows.indptr[i], rows.indptr[i + 1])
        assert (row.indices == rows.indices[span]).all()
        assert row.data.tobytes() == rows.data[span].tobytes()
        assert (row.indices.dtype, row.indptr.dtype) == (rows.indices.dtype, rows.indptr.dtype)
