"""What each part of match and rank brings, on held-out training rows.

    MLGT_DATA=... python research/micro/ranking.py [--data EURLex-4K ...] [--out FILE] [--plot FILE]

An eighth of the training rows is held out; test rows are not touched. Every line is a model trained on
the rest on one thread, from the paper's to the default and away from it again, one change at a time. CPU
seconds of training; PSP@5 counts rare labels more. Then, for the default: how far its probabilities can be
trusted, and the F1 of its label sets beside those of a fixed number of labels and of one threshold for all
rows, both chosen with hindsight on the very same rows.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import folder_size, machine, table
from mlgt import MLGTClassifier
from mlgt._core.sigmoid import sigmoid
from mlgt.data.datasets import load
from mlgt.estimators.methods import METHODS
from mlgt.metrics import (
    calibration_error,
    f1_rows,
    hits,
    inverse_propensities,
    precision_at,
    psp_at,
    recall_at,
    reliability,
)
from mlgt.model.format import to_header
from mlgt.model.writing import save_model
from mlgt.ranking import ONE_VS_ALL, Blend
from mlgt.ranking.sets import expected_f1_cut
from mlgt.report import draw_reliability

PAPER = METHODS["nmf-gt"]
SOFT = {"ranker": None, "column_weight": 16}
FROM_PAPER = {
    "the paper's hard decoding, Bernoulli sampling": PAPER
    | {"construction_params": {"sampling": "bernoulli"}},
    "hard decoding, exactly c groups per label": PAPER,
    "soft decoding, c = 16": SOFT,
    "soft decoding with a prior of .2": SOFT | {"decoder_params": {"prior": 0.2}},
    "soft decoding of dampened rows, power 1/2": SOFT | {"power": 0.5},
}
AROUND = {
    "power 1": {"power": 1.0},
    "power 1/2": {"power": 0.5},
    "C = .3": {"C": 0.3},
    "C = 1": {"C": 1.0},
    "no centroids": {"ranker_params": {"centroids": False}},
    "centroids": {"ranker_params": {"centroids": True}},
    "100 candidates": {"ranker_params": {"n_candidates": 100}},
    "25 candidates": {"ranker_params": {"n_candidates": 25}},
    "tail = .5": {"tail": 0.5},
    "tail = 1": {"tail": 1.0},
}


def main(name, plot):
    data = load(name).train
    rows = np.random.default_rng(0).permutation(data.X.shape[0])
    held, kept = np.sort(rows[: len(rows) // 8]), np.sort(rows[len(rows) // 8 :])
    X, Y, X_held, truth = data.X[kept], data.Y[kept], data.X[held], data.Y[held]
    rarity = inverse_propensities(np.bincount(Y.indices, minlength=Y.shape[1]), len(kept))

    def fit(**settings):
        began = time.process_time()
        model = MLGTClassifier(random_state=0, n_jobs=1, **settings).fit(X, Y)
        return model, time.process_time() - began

    def line(what, estimator, seconds=None, model=None):
        """`model` is the fitted model in place of the estimator's own."""
        model = model or estimator.fitted_model()
        labels, _ = model.predict_topk(X_held, min(100, Y.shape[1]))
        figures = [precision_at(truth, labels, k) for k in (1, 3, 5)]
        figures += [psp_at(truth, labels, 5, rarity), recall_at(truth, labels, 100)]
        cells = [f"{value:.4f}".lstrip("0") for value in figures]
        return [what, *cells, "" if seconds is None else f"{seconds:.1f}", size(model, estimator)]

    lines = [line(what, *fit(**settings)) for what, settings in FROM_PAPER.items()]
    model, seconds = fit()
    lines.append(line("**match and rank, the default**", model, seconds))
    less = parts_left_out(model.fitted_model())
    lines += [line(f"- {what}", model, model=other) for what, other in less.items()]
    lines += [line(f"with {what}", *fit(**settings)) for what, settings in AROUND.items()]
    if Y.shape[1] <= 5000:
        eye = sp.eye_array(Y.shape[1], format="csr", dtype=np.float32)
        lines.append(line("one-vs-all, power and C searched", *fit(construction=eye)))
    header = ["", "P@1", "P@3", "P@5", "PSP@5", "recall@100", "training CPU s", "MB"]
    chosen = (
        f"power {model.power_:g}, C {model.C_:g}, {model.n_groups_} groups, weight {model.column_weight_}, "
    )
    chosen += f"{model.n_candidates_} candidates, {'with' if model.centroids_ else 'without'} centroids"
    head = f"### {name}, {len(held)} held-out training rows\n\nThe default chose: {chosen}.\n"
    trusted = probabilities(model.fitted_model(), X_held, truth, plot, name)
    return f"{head}\n{table(header, lines)}\n\n{trusted}\n"


def size(model, estimator):
    with tempfile.TemporaryDirectory() as folder:
        save_model(model, to_header(model, estimator.get_params(deep=False)), Path(folder) / "m")
        return f"{folder_size(folder) / 1e6:.1f}"


def parts_left_out(model):
    """The same trained model, ranking with less evidence."""
    plain = replace(model, cooccurrence=None, final_blend=None)
    return {
        "without co-occurrence": plain,
        "by the ranker alone": replace(plain, blend=Blend(ranker=1.0, matcher=0.0)),
        "by the matcher alone": replace(plain, blend=Blend(ranker=0.0, matcher=1.0)),
    }


def probabilities(model, X, truth, plot, name):
    labels, scores = model.predict_topk(X, model.max_candidates)
    p, right = sigmoid(scores), hits(truth, labels)
    bins, raw = reliability(p, right), reliability(sigmoid(default_logits(model, X)), right)
    place = np.arange(labels.shape[1])

    def f1(kept):
        return f1_rows(truth, np.where(kept, labels, -1)).mean()

    fixed = max((f1(np.broadcast_to(place < k, labels.shape)), k) for k in range(1, 16))
    threshold = max((f1(p >= t), t) for t in np.linspace(0.05, 0.9, 35))
    cut = expected_f1_cut(p)
    if plot:
        title = f"{name}: calibration error {calibration_error(bins):.4f}"
        draw_reliability(plot.with_stem(f"{plot.stem}-{name}"), bins, title)
    lines = [
        ["calibration error, not calibrated", f"{calibration_error(raw):.4f}"],
        ["calibration error", f"{calibration_error(bins):.4f}"],
        [
            f"F1 of the sets `predict` gives ({cut.mean():.1f} labels per row)",
            f"{f1(place < cut[:, None]):.4f}",
        ],
        [f"F1 of the {fixed[1]} best labels, the best number", f"{fixed[0]:.4f}"],
        [f"F1 of all above {threshold[1]:.2f}, the best threshold", f"{threshold[0]:.4f}"],
    ]
    return table(["probabilities", ""], lines)


def default_logits(model, X):
    """Log-odds of the candidates by the coefficients before any are learnt, in their final order."""
    X = model.scaled(X)
    found = model.candidates(X, model.n_candidates)
    final = model.ranked_by(model.judge(X, found).logits, found.labels)
    order = np.lexsort((found.labels, -final), axis=1)
    before = replace(model, blend=ONE_VS_ALL if model.ranker is None else Blend(), final_blend=None)
    return np.take_along_axis(before.judge(X, found).logits, order, axis=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["EURLex-4K", "YSO-Finna-en"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path, help="a picture per data set, its name added to this one")
    options = parser.parse_args()
    text = f"{machine()}.\n"
    for name in options.data:
        text += "\n" + main(name, options.plot)
        print(text, flush=True)
        if options.out:
            options.out.write_text(text, "utf-8")
