import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from mlgt import MLGTClassifier, Predictor, TextTagger


@pytest.fixture(
    scope="module", params=["ranked", "soft", "top_k", "inclusion", "top_k_frequency", "saffron"]
)
def model(request, topics):
    settings = {"n_groups": 20, "column_weight": 5, "decoder": request.param}
    if request.param == "ranked":
        settings |= {"decoder": "soft", "ranker_params": {"n_candidates": 10}}
    if request.param == "saffron":
        settings |= {"construction": "saffron", "n_groups": 300}
    model = MLGTClassifier(**({"construction": "constant_weight", "random_state": 0} | settings))
    return model.fit(*topics[0])


def rows_of(X):
    return [(X.indices[a:b], X.data[a:b]) for a, b in zip(X.indptr[:-1], X.indptr[1:])]


@pytest.mark.parametrize("normalize", [True, False])
def test_single_rows_have_the_bits_of_the_batch(model, topics, normalize):
    X = topics[1][0]
    model = MLGTClassifier(**(model.get_params() | {"normalize": normalize})).fit(*topics[0])
    predictor = Predictor(model)
    labels, scores = model.predict_topk(X, 7)
    for i, (indices, values) in enumerate(rows_of(X)):
        one_labels, one_scores = predictor(indices, values, 7)
        assert (one_labels == labels[i]).all()
        assert (one_scores == scores[i]).all()


def test_from_a_folder_and_from_several_threads(model, topics, tmp_path):
    X = topics[1][0]
    model.save(tmp_path / "m")
    predictor = Predictor(tmp_path / "m")
    expected, _ = model.predict_topk(X, 5)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda row: predictor(*row)[0], rows_of(X) * 5))
    assert (np.array(found) == np.tile(expected, (5, 1))).all()


def test_lists_and_an_empty_row(model):
    predictor = Predictor(model)
    assert len(predictor([], [])[0]) == 5
    assert (predictor([3, 1], [1.0, 2.0])[0] == predictor(np.array([3, 1]), np.array([1.0, 2.0]))[0]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1.0]), "two vectors of the same length"),
        (([120], [1.0]), "expected 0 to 119"),
        (([-1], [1.0]), "expected 0 to 119"),
        (([1], [np.nan]), "NaN or infinity"),
        (([1], [1.0], 0), "k=0 must be a whole number of at least 1"),
        (([1], [1.0], 31), "k=31 exceeds 30, the number of labels the model knows. Pass k<=30"),
        (([1], [1.0], 2.5), "k=2.5 must be a whole number"),
        ((np.array([2**32 + 3]), [1.0]), "expected 0 to 119"),
        (([3.7], [1.0]), "expected whole numbers"),
    ],
)
def test_bad_rows_are_explained(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        Predictor(model)(*arguments)


def test_foreign_classifiers_are_refused(topics):
    model = MLGTClassifier(n_groups=8, column_weight=2, classifier=LogisticRegression(), random_state=0)
    with pytest.raises(ValueError, match="no linear weights"):
        Predictor(model.fit(*topics[0]))


def test_batches_have_the_bits_of_the_estimator(model, topics):
    X = topics[1][0]
    labels, scores = model.predict_topk(X, 6)
    for n_jobs in (None, 3):
        found = Predictor(model, n_jobs=n_jobs).predict_topk(X, 6)
        assert (found[0] == labels).all()
        assert (found[1] == scores).all()
    with pytest.raises(ValueError, match="X has 99 features, but the model expects 120"):
        Predictor(model).predict_topk(X[:, :99])


def test_predicting_from_a_folder_needs_no_scikit_learn(model, tmp_path):
    """What makes the command start quickly."""
    model.save(tmp_path / "m")
    code = (
        "import sys, mlgt; p = mlgt.Predictor(sys.argv[1]); p([1], [1.0]); "
        "print([m for m in ('sklearn', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_unsorted_and_repeated_columns_mean_the_same_row(model):
    predictor = Predictor(model)
    expected = predictor([3, 7, 9], [2.0, 1.0, 0.5])
    for indices, values in (([9, 3, 7], [0.5, 2.0, 1.0]), ([3, 7, 3, 9], [1.5, 1.0, 0.5, 0.5])):
        found = predictor(indices, values)
        assert (found[0] == expected[0]).all()
        assert (found[1] == expected[1]).all()


def test_data_frames_must_have_the_features_in_order(topics):
    X, Y = topics[0]
    frame = pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(120)])
    predictor = Predictor(MLGTClassifier(n_groups=10, column_weight=3, random_state=0).fit(frame, Y))
    predictor.predict_topk(frame)
    with pytest.raises(ValueError, match="not the features of the model"):
        predictor.predict_topk(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="1 dimension"):
        predictor.predict_topk(np.zeros(120))


def test_few_labels(topics):
    X, Y = topics[0]
    model = MLGTClassifier(random_state=0).fit(X, Y[:, :3])
    assert model.predict_topk(X)[0].shape == (400, 3)
    assert Predictor(model).predict_topk(X)[0].shape == (400, 3)
    assert len(Predictor(model)([1], [1.0])[0]) == 3


def test_kernels_get_the_types_of_training(tmp_path, monkeypatch):
    """numba compiles kernels again for 64-bit indices and read-only arrays: a loaded model has neither."""
    monkeypatch.setattr("mlgt.model.reading.MAX_READ_BYTES", 0)  # map every file
    texts = ["the cat purrs", "a dog barks", "dog and cat", "no animal"] * 300
    tagger = TextTagger(random_state=0).fit(texts, [["cats"], ["dogs"], ["cats", "dogs"], []] * 300)
    tagger.save(tmp_path / "m")
    model = Predictor(tmp_path / "m")
    fitted = model.fitted_model()
    for X in (model.features_(texts), model.features_(texts[:1]), fitted.sample.X):
        assert X.indptr.dtype == X.indices.dtype == np.int32
    arrays = [value for part in (fitted, fitted.sample) for value in vars(part).values()]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    assert len(arrays) > 5
    assert all(array.flags.writeable for array in arrays)
