"""How often rules that decide by held-out rows decide right, over random splits of the training rows.

    MLGT_DATA=... python research/micro/rules.py --data Debian-debtags EURLex-4K [--splits 20]

15 % of the training rows are the judge. Nothing is left out in training; what the rule sees, its gain on
the rows that training holds out, is recorded. A decision is right if the judge, over all splits, agrees.
Results: results/rules.md.
"""

import argparse
from dataclasses import replace

import numpy as np

import mlgt.ranking.train as ranking
from mlgt import MLGTClassifier, datasets
from mlgt.metrics import ndcg_at

SHARE = 0.15


def recorded(seen):
    """`surely_better` that notes (gain, standard error) and never is sure."""

    def note(new, old, errors=2.0):
        gained = np.asarray(old) - np.asarray(new)  # of what would be left out if `new` were surely better
        seen.append((gained.mean(), gained.std() / np.sqrt(len(gained))))
        return False

    return note


def run_split(X, Y, seed):
    """(gain, error) that the rule of co-occurrence sees, and the gain that the judge measures."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    judge, kept = np.sort(order[: int(SHARE * len(order))]), np.sort(order[int(SHARE * len(order)) :])
    seen: list = []
    usual, ranking.surely_better = ranking.surely_better, recorded(seen)
    try:
        model = MLGTClassifier(random_state=seed, n_jobs=2).fit(X[kept], Y[kept]).fitted_model()
    finally:
        ranking.surely_better = usual
    plain = replace(model, final_blend=None, cooccurrence=None)
    with_it, without_it = (
        ndcg_at(Y[judge], some.predict_topk(X[judge], 5)[0], 5) for some in (model, plain)
    )
    return *seen[-1], with_it - without_it


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--splits", type=int, default=20)
    options = parser.parse_args()
    print(
        "| data | gain by the judge | held-out gain, its error | kept now | right | kept before | right |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in options.data:
        train, _ = datasets.load(name)
        found = np.array([run_split(train.X, train.Y, seed) for seed in range(options.splits)])
        gains, errors, truth = found.T
        now, before = gains >= -ranking.DOUBT * errors, gains > ranking.DOUBT * errors
        helps = truth.mean() > 0
        shares = [f"{kept.mean():.0%} | {(kept == helps).mean():.0%}" for kept in (now, before)]
        spread = truth.std() / np.sqrt(len(truth))
        print(
            f"| {name} | {100 * truth.mean():+.2f} ±{100 * spread:.2f} | {100 * gains.mean():+.2f}, "
            f"{100 * errors.mean():.2f} | {' | '.join(shares)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
