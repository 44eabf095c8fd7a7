"""Which terms of a text are worth a column: rare words, runs of words, characters, hashed words.

    python research/micro/text.py [--seeds 3] [--out FILE]

On Debian's package descriptions and their tags (debtags), read through apt as in scripts/build_debtags.py,
without its test side: a fifth of the remaining sources is held out, the same for all. Mean over the seeds
of the classifier. CPU seconds of training on one thread, counting words with it.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from common import machine, table
from mlgt import MLGTClassifier
from mlgt.metrics import inverse_propensities, precision_at, psp_at
from mlgt.text import label_matrix, learn_features

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import build_debtags

TRIED = {
    "min_df 1": {"min_df": 1},
    "min_df 2": {"min_df": 2},
    "min_df 3": {"min_df": 3},
    "min_df 5": {"min_df": 5},
    "hashed to 2^18": {"hashing": True},
    "hashed to 2^15": {"hashing": 1 << 15},
    "two words, min_df 2": {"min_df": 2, "words": 2},
    "words and characters 3-5, min_df 2": {"min_df": 2, "characters": (3, 5)},
}


def read():
    """(training packages, held-out packages), neither from the test side."""
    index, translations, _ = build_debtags.read_index(build_debtags.CODENAME, any_index=True)
    packages = build_debtags.read_packages(index, translations)
    packages, _ = build_debtags.keep_common_tags(packages)
    rng = np.random.default_rng(build_debtags.SEED)
    train, _ = build_debtags.split_by_source(packages, rng)
    return build_debtags.split_by_source(train, np.random.default_rng(1))


def run(train, held, options, seed=0):
    began = time.process_time()
    Y, names = label_matrix([package.tags for package in train])
    features, X = learn_features([package.text for package in train], **options)
    model = MLGTClassifier(random_state=seed, n_jobs=1).fit(X, Y)
    seconds = time.process_time() - began
    truth, _ = label_matrix([package.tags for package in held], names)
    truth = truth[:, : len(names)]
    labels, _ = model.predict_topk(features([package.text for package in held]), 5)
    rarity = inverse_propensities(model.label_counts_, len(train))
    quality = [precision_at(truth, labels, k) for k in (1, 3, 5)] + [psp_at(truth, labels, 5, rarity)]
    return [features.n_features, *quality, seconds]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", help="write the table there too")
    options = parser.parse_args()
    train, held = read()
    run(train[::20], held[:9], {})  # compile
    rows = []
    for name, setting in TRIED.items():
        runs = [run(train, held, setting, seed) for seed in range(options.seeds)]
        columns, *quality, seconds = np.mean(runs, axis=0)
        rows.append([name, f"{columns:.0f}", *(f"{value:.4f}" for value in quality), f"{seconds:.1f}"])
        print(*rows[-1], flush=True)
    header = ["", "columns", "P@1", "P@3", "P@5", "PSP@5", "CPU s"]
    report = (
        f"{len(train)} packages to learn from, {len(held)} held out, {options.seeds} seeds; {machine()}."
    )
    report += f"\n\n{table(header, rows)}\n"
    print(report)
    if options.out:
        Path(options.out).write_text(f"# Text features\n\n{report}", "utf-8")


if __name__ == "__main__":
    main()
