"""Choose the settings of the baselines that their papers leave open, on held-out training rows.

    MLGT_DATA=... python research/micro/baselines.py [--data Bibtex] [--out FILE]

A fifth of the training rows is held out; test rows are not read. SLEEC runs with one learner and PfastreXML
with ten trees, to be quick.
"""

import argparse
import os
from pathlib import Path

import numpy as np

from mlgt.data import read_xmc
from mlgt.metrics import precision_at
from mlgt_research.baselines import PfastreXMLClassifier, SLEECClassifier

TRIED = {
    "SLEEC, alpha": [(alpha, SLEECClassifier(n_learners=1, alpha=alpha)) for alpha in (0.1, 1.0, 10.0)],
    "PfastreXML, C": [(C, PfastreXMLClassifier(n_trees=10, C=C)) for C in (1.0, 10.0, 100.0)],
}


def main(data, out):
    rows = read_xmc(Path(os.environ["MLGT_DATA"]) / data / "train.txt.gz")
    n = rows.X.shape[0]
    held = np.zeros(n, bool)
    held[np.random.default_rng(0).permutation(n)[: n // 5]] = True
    lines = [f"# Settings of baselines on held-out training rows of {data}", ""]
    lines += ["    python research/micro/baselines.py", ""]
    lines += ["| setting | value | P@1 | P@3 | P@5 |", "|---|---|---|---|---|"]
    for setting, models in TRIED.items():
        for value, model in models:
            model.set_params(random_state=0, n_jobs=1).fit(rows.X[~held], rows.Y[~held])
            labels, _ = model.predict_topk(rows.X[held], 5)
            cells = [f"{precision_at(rows.Y[held], labels, k):.3f}" for k in (1, 3, 5)]
            lines.append("| " + " | ".join([setting, f"{value:g}", *cells]) + " |")
            print(lines[-1], flush=True)
    if out:
        Path(out).write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="Bibtex")
    parser.add_argument("--out")
    options = parser.parse_args()
    main(options.data, options.out)
