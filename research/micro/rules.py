"""How often rules that decide by held-out rows decide right, over random splits of the training rows.

    MLGT_DATA=... python research/micro/rules.py --data Debian-debtags EURLex-4K [--splits 20] [--judged 5]
           [--rules names ...] [--rows N]

Each split keeps 15 % of the training rows as judge and trains on the others by default; what each rule
decided is read from the model. In the first splits the model is trained again with each decision turned
round. A decision is right if it is the one that is better by the judge, in the mean of these splits
(nDCG@5, paired by row), or if the two differ by less than their standard error. `cost` is what the wrong
decisions cost, in points of nDCG@5 per training. YSO-Finna-en/texts are texts with a vocabulary. Results:
results/rules.md.
"""

import argparse
import csv
import gzip
import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mlgt.ranking.train as ranking
import mlgt.training.tuning as tuning
from mlgt import MLGTClassifier, TextTagger, datasets
from mlgt.metrics import ndcg_rows
from mlgt.ranking.ranker import SOFT_ROWS
from mlgt.text import label_matrix

SHARE = 0.15


@contextmanager
def patched(name, value, module=ranking):
    """A function or constant of a module replaced for a while."""
    usual = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, usual)


class Rule(NamedTuple):
    """What a model decided (None: the rule does not apply), and how to train it with the other decision."""

    decided: Callable[[Any], bool | None]
    otherwise: Callable[[Any, bool], Any]


def cooccurrence(train, kept):
    if kept:
        model = train()
        owner = getattr(model, "classifier_", model)
        owner.model_ = replace(owner.model_, final_blend=None, cooccurrence=None)
        return model
    with patched("DOUBT", np.inf):
        return train()


def softer(model):
    if not (model.record.tried and model.ranker is not None):
        return None
    return f"more than {SOFT_ROWS} rows" in model.record.reasons.get("C", "")


def costs(train, kept):
    with patched("SOFT_ERRORS", -np.inf if kept else np.inf, tuning):
        return train()


def names(train, kept):
    with patched("_names_help", lambda *_: not kept):
        return train()


def power(model):
    return model.power < 1 if len({setting[0] for setting in model.record.tried}) > 1 else None


def larger_C(model):
    return model.record.C > 1 if model.record.tried else None


def judged_by(fact, part):
    """The decision about a part of the model, if the held-out rows gave this fact."""
    return lambda model: getattr(model, part) is not None if fact in model.record.held_out else None


RULES = {
    "power 1/2": Rule(power, lambda train, kept: train(power=1.0 if kept else 0.5)),
    "C above 1": Rule(larger_C, lambda train, kept: train(C=1.0 if kept else 3.0)),
    "less C for frequent labels": Rule(softer, costs),
    "centroids": Rule(
        judged_by("recall_by_groups", "centroids"),
        lambda train, kept: train(ranker_params={"centroids": not kept}),
    ),
    "co-occurrence": Rule(judged_by("gain_of_cooccurrence", "final_blend"), cooccurrence),
    "names": Rule(judged_by("gain_of_names", "name_index"), names),
}


class Rows:
    """A data set of rows: training and judging by row ids."""

    def __init__(self, name):
        train, _ = datasets.load(name)
        self.X, self.Y, self.n = train.X, train.Y, train.X.shape[0]

    def train(self, kept, seed, **params):
        return MLGTClassifier(random_state=seed, n_jobs=1, **params).fit(self.X[kept], self.Y[kept])

    def judge(self, model, rows):
        return ndcg_rows(self.Y[rows], model.predict_topk(self.X[rows], 5)[0], 5)


class Texts:
    """YSO-Finna-en's texts with its vocabulary."""

    def __init__(self, name):
        self.folder = Path(os.environ["MLGT_DATA"]) / name
        with gzip.open(self.folder / "train.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.texts = np.array([row["text"] for row in rows], object)
        self.lists = [row["labels"].split("|") for row in rows]
        self.n = len(rows)

    def train(self, kept, seed, **params):
        classifier = MLGTClassifier(random_state=seed, n_jobs=1, **params)
        tagger = TextTagger(classifier, vocabulary=str(self.folder / "labels.txt.gz"))
        return tagger.fit(self.texts[kept].tolist(), [self.lists[i] for i in kept])

    def judge(self, model, rows):
        Y, _ = label_matrix([self.lists[i] for i in rows], model.classes_)
        return ndcg_rows(Y, model.predict_topk(self.texts[rows].tolist(), 5)[0], 5)


def fitted(model):
    return getattr(model, "classifier_", model).model_


def study(data, splits, judged, rules, rows):
    """{rule: (decisions, gains of the decision `True` by the judge)} over splits."""
    decisions: dict[str, list] = {}
    gains: dict[str, list] = {}
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(data.n)[:rows]
        cut = int(SHARE * len(order))
        judge, kept = np.sort(order[:cut]), np.sort(order[cut:])

        def train(**params):
            return data.train(kept, seed, **params)  # noqa: B023

        model = train()
        for name, rule in rules.items():
            if (decided := rule.decided(fitted(model))) is None:
                continue
            decisions.setdefault(name, []).append(decided)
            if seed < judged:
                other = rule.otherwise(train, decided)
                gained = data.judge(model, judge) - data.judge(other, judge)
                gains.setdefault(name, []).append((gained if decided else -gained).mean())
    return {name: (np.array(found), np.array(gains[name])) for name, found in decisions.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--judged", type=int, default=5)
    parser.add_argument("--rows", type=int, help="of each split, default: all")
    parser.add_argument("--rules", nargs="+", choices=list(RULES), default=list(RULES))
    options = parser.parse_args()
    rules = {name: RULES[name] for name in options.rules}
    print("| data | rule | gain by the judge, points | decided so | right | cost, points |")
    print("|---|---|---|---|---|---|")
    for name in options.data:
        folder, _, texts = name.partition("/")
        found = study(
            Texts(folder) if texts else Rows(folder), options.splits, options.judged, rules, options.rows
        )
        for rule, (decisions, gains) in found.items():
            gain, error = gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains))
            right = np.ones(len(decisions), bool) if abs(gain) < error else decisions == (gain > 0)
            print(
                f"| {name} | {rule} | {100 * gain:+.2f} ±{100 * error:.2f} | {decisions.mean():.0%} | "
                f"{right.mean():.0%} | {100 * abs(gain) * (~right).mean():.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
