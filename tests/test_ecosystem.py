"""What users bring along: forms of matrices, data frames, joblib's backends, pickles."""

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score

import mlgt
from mlgt import MLGTClassifier

FORMS = {
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_matrix": sp.coo_matrix,
    "lil_array": sp.lil_array,
    "64-bit ids": lambda M: _wide(sp.csr_array(M)),
    "dense": lambda M: M.toarray(),
    "frame": lambda M: pd.DataFrame(M.toarray()),
    "float64": lambda M: sp.csr_array(M, dtype=np.float64),
}


def _wide(M):
    M = M.copy()
    M.indices, M.indptr = M.indices.astype(np.int64), M.indptr.astype(np.int64)
    return M


@pytest.fixture(scope="module")
def model(topics):
    return MLGTClassifier(n_groups=20, column_weight=5, random_state=0).fit(*topics[0])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_matrix_gives_the_same(topics, model, form):
    (X, Y), (X_test, _) = topics
    make = FORMS[form]
    expected, _ = model.predict_topk(X_test)
    assert (model.predict_topk(make(X_test))[0] == expected).all()
    assert (mlgt.Predictor(model).predict_topk(make(X_test))[0] == expected).all()
    again = MLGTClassifier(n_groups=20, column_weight=5, random_state=0).fit(make(X), make(Y))
    assert (again.predict_topk(make(X_test))[0] == expected).all()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblibs_backends(topics, model, backend):
    X = topics[1][0]
    parts = [X[first : first + 50] for first in range(0, X.shape[0], 50)]
    with joblib.parallel_config(backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(model.predict_topk)(part, 3) for part in parts)
    assert (np.concatenate([labels for labels, _ in found]) == model.predict_topk(X, 3)[0]).all()


def test_cross_validation_in_processes(topics):
    model = MLGTClassifier(n_groups=20, column_weight=5, random_state=0)
    X, Y = topics[0]
    assert cross_val_score(model, X, Y.toarray(), cv=3, n_jobs=2).min() > 0.8  # it takes no sparse y


def test_pickles(topics, model, tmp_path):
    X = topics[1][0]
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert (copy.predict_topk(X)[1] == model.predict_topk(X)[1]).all()


def test_no_data_frame_library_is_needed():
    code = (
        "import sys, numpy as np\n"
        "class Missing:\n"
        "    def find_spec(name, *_):\n"
        "        if name in ('pandas', 'polars', 'pyarrow'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing)\n"
        "from mlgt import MLGTClassifier\n"
        "rows = np.eye(24, dtype=np.float32)\n"
        "print(MLGTClassifier(n_groups=8, column_weight=2).fit(rows, rows).predict_topk(rows, 2)[0].shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "(24, 2)", done.stderr
