"""What teaching does to a model: before, after, and trained again on all rows.

    MLGT_DATA=... python research/micro/teaching.py [--data NAME ...] [--seeds 5] [--rows N]
           [--first SEED] [--only same | labels] [--labels 8] [--out FILE]

Every figure is on rows that neither training nor teaching saw, all of them training rows of the data sets.
Of N rows drawn at random for each seed, a fifth judges, a fifth teaches (25 % more rows), and the rest
trains. YSO-Finna-en is texts (`TextTagger`), the others are rows of features; Bibtex is one-vs-all.

same rows      10 .. 2,000 rows of the same distribution, at once or in 20 parts
25 % more      all teaching rows, beside training from scratch on all rows
new labels     all rows with some labels are left out of training, then 5, 20 or 100 of each label taught,
               one label at a time: its recall@5 on rows that are never taught; its predictions on up to
               8,000 of these, among which it is as frequent as among all; how often it stands among the
               first five without being right; F1 of the other labels; the same by training from
               scratch on all these rows of all these labels; and by training from scratch on all their
               rows but the judged ones, those of the model included: what this data can give
one row        a row that the model got wrong, taught: are its labels the first ones afterwards? Ten of
               them, one model each, then one after another
one topic      30 rows that share a label, judged on rows without it
"""

import argparse
import copy
import csv
import gzip
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import machine, table
from mlgt import MLGTClassifier, TextTagger
from mlgt._core.sparse import label_counts
from mlgt.data.datasets import load
from mlgt.metrics import f1_rows, hits, ndcg_at, precision_at
from mlgt.text import label_matrix

DATA = ("YSO-Finna-en", "EURLex-4K", "Debian-debtags", "Bibtex")
SIZES = (10, 20, 100, 500, 2000)
IN_PARTS = (100, 500, 2000)
NEW_ROWS = (5, 20, 100)
N_JUDGED = 8000
"""Most rows on which a new label is predicted."""


class Rows:
    """Rows of features: every label has its column from the start, a new one an empty column."""

    def __init__(self, name):
        train, _ = load(name)
        self.X, self.Y = train.X, sp.csr_array(train.Y)

    def fit(self, rows, Y, seed):
        return MLGTClassifier(random_state=seed, n_jobs=-1).fit(self.X[rows], Y[rows])

    def teach(self, model, rows, Y):
        return model.extend(self.X[rows], Y[rows])

    def best(self, model, rows, k):
        """(labels, of which predicted), both (n, k)."""
        fitted = model.fitted_model()
        labels, _ = fitted.predict_topk(self.X[rows], k)
        kept = fitted.best(self.X[rows], "auto" if fitted.calibrated else 5)[0]
        return labels, kept


class Texts:
    """Texts and the names of their labels."""

    def __init__(self, name):
        csv.field_size_limit(1 << 30)
        file = Path(os.environ["MLGT_DATA"]) / name / "train.csv.gz"
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            records = list(csv.DictReader(lines))
        self.texts = np.array([record["text"] for record in records], object)
        self.Y, self.names = label_matrix([record["labels"].split("|") for record in records])
        self.ids = {name: label for label, name in enumerate(self.names)}

    def _lists(self, rows, Y):
        return [[self.names[l] for l in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]] for i in rows]

    def fit(self, rows, Y, seed):
        tagger = TextTagger(random_state=seed, n_jobs=-1)
        return tagger.fit(self.texts[rows], self._lists(rows, Y))

    def teach(self, model, rows, Y):
        return model.extend(self.texts[rows], self._lists(rows, Y))

    def best(self, model, rows, k):
        X, fitted = model.features_(self.texts[rows]), model.classifier_.fitted_model()
        ids = np.array([self.ids[name] for name in model.classes_])
        found = fitted.predict_topk(X, k)[0], fitted.best(X, "auto")[0]
        return [np.where(labels >= 0, ids[np.maximum(labels, 0)], -1) for labels in found]


def without(Y, labels):
    keep = np.ones(Y.shape[1], np.float32)
    keep[labels] = 0
    left = sp.csr_array(Y @ sp.diags_array(keep))
    left.eliminate_zeros()
    return left


def judge(data, model, rows, Y):
    labels, kept = data.best(model, rows, 5)
    return [precision_at(Y[rows], labels, 1), ndcg_at(Y[rows], labels, 5), f1_rows(Y[rows], kept).mean()]


def same_rows(data, base, first, more, test, seed, sizes):
    """Differences to `base` of P@1, nDCG@5 and F1, by what was taught."""
    Y, before = data.Y, judge(data, base, test, data.Y)
    found = {"before": before}
    for size in sizes:
        if size <= len(more):
            model = data.teach(copy.deepcopy(base), more[:size], Y)
            found[f"{size} rows"] = np.subtract(judge(data, model, test, Y), before)
    for size in IN_PARTS:
        if size <= len(more):
            model = copy.deepcopy(base)
            for part in np.array_split(more[:size], 20):
                model = data.teach(model, part, Y)
            found[f"{size} rows in 20 parts"] = np.subtract(judge(data, model, test, Y), before)
    model = data.teach(copy.deepcopy(base), more, Y)
    found["25 % more rows"] = np.subtract(judge(data, model, test, Y), before)
    again = data.fit(np.concatenate([first, more]), Y, seed)
    found["25 % more, from scratch"] = np.subtract(judge(data, again, test, Y), before)
    return found


def rows_to_judge(rows, has, used, limit):
    """Up to `limit` of the rows that were not used, with the label as frequent as among all of them."""
    own, other = (np.random.default_rng(0).permutation(rows[has[rows] == part]) for part in (True, False))
    left = own[~np.isin(own, used)]
    other = other[~np.isin(other, used)][: round(len(other) * len(left) / max(1, len(own)))]
    return np.random.default_rng(0).permutation(np.concatenate([left, other]))[:limit]


def found_by(data, model, label, has, having, wide):
    """(recall@5 on rows `having` the label; of the rows `wide`: predicted, rightly, with the label, share
    with it wrongly among the first five)."""
    recall = (data.best(model, having, 5)[0] == label).any(axis=1).mean()
    ranked, kept = ((found == label).any(axis=1) for found in data.best(model, wide, 5))
    own = has[wide]
    return recall, kept.sum(), (kept & own).sum(), own.sum(), (ranked & ~own).mean()


def f1_of(data, model, rows, Y):
    """F1 by the labels that Y has at all."""
    kept, known = data.best(model, rows, 5)[1], label_counts(Y) > 0
    return f1_rows(Y[rows], np.where((kept >= 0) & known[kept], kept, -1)).mean()


def new_rows(Y, labels, pool, sizes):
    """{label: (has it (n,) bool, rows to teach, rows to judge)}: of its rows in the pool, at least ten and
    up to a third judge. No row does both for any two of the labels."""
    parts = {}
    for label in labels:
        has = np.asarray(Y[:, [label]].todense()).ravel() > 0
        own = pool[has[pool]]
        most = max(size for size in sizes if size <= len(own) - 10)
        parts[label] = has, *np.split(own, [max(most, len(own) - len(own) // 3)])
    judged = np.concatenate([judging for _, _, judging in parts.values()])
    return {label: (has, own[~np.isin(own, judged)], last) for label, (has, own, last) in parts.items()}


def new_labels(data, first, test, pool, rng, seed, sizes, count):
    """[(size, figures if taught, from scratch, from scratch on all rows)] for `count` labels: those of
    `found_by`, and the change of F1 of all other labels."""
    Y = data.Y
    frequent = np.bincount(Y[pool].indices, minlength=Y.shape[1])
    able = np.flatnonzero((frequent >= 30) & (frequent < len(pool) / 5))
    labels = rng.choice(able, min(count, len(able)), replace=False)
    out, others = np.asarray(Y[:, labels].sum(axis=1)).ravel() > 0, without(Y, labels)
    before_them, parts = first[~out[first]], new_rows(Y, labels, pool, sizes)
    base, found = data.fit(before_them, Y, seed), []
    before = f1_of(data, base, test, others)
    used = np.unique(np.concatenate([own for _, own, _ in parts.values()]))
    judged = {}
    for label, (has, _, having) in parts.items():
        wide = rows_to_judge(np.concatenate([test, pool]), has, used, N_JUDGED)
        judged[label] = label, has, having[:500], wide

    def figures(model, label):
        return *found_by(data, model, *judged[label]), f1_of(data, model, test, others) - before

    best = data.fit(np.concatenate([first, used]), Y, seed)
    most = {label: figures(best, label) for label in labels}
    for size in sizes:
        lessons = {label: own[:size] for label, (_, own, _) in parts.items() if len(own) >= size}
        if not lessons:
            continue
        together = np.unique(np.concatenate(list(lessons.values())))
        again = data.fit(np.concatenate([before_them, together]), Y, seed)
        for label, own in lessons.items():
            model = data.teach(copy.deepcopy(base), own, Y)
            found.append((size, figures(model, label), figures(again, label), most[label]))
    return found


def right(Y, row, labels):
    count = Y.indptr[row + 1] - Y.indptr[row]
    return hits(Y[[row]], labels[:, :count]).sum() == count


def one_row(data, base, more, test, count=10):
    """(share of wrong rows that are right once taught, change of the measures after all of them)."""
    Y = data.Y
    labels, _ = data.best(base, more, 30)
    few = np.diff(Y.indptr)[more] <= 30
    wrong = [row for i, row in enumerate(more) if few[i] and not right(Y, row, labels[[i]])][:count]
    learnt = 0
    for row in wrong:
        model = data.teach(copy.deepcopy(base), np.array([row]), Y)
        learnt += right(Y, row, data.best(model, np.array([row]), 30)[0])
    model = copy.deepcopy(base)
    for row in wrong:
        model = data.teach(model, np.array([row]), Y)
    kept = np.mean([right(Y, row, data.best(model, np.array([row]), 30)[0]) for row in wrong])
    return learnt / len(wrong), kept, np.subtract(judge(data, model, test, Y), judge(data, base, test, Y))


def one_topic(data, base, more, test, count=30):
    Y = data.Y
    counts = np.bincount(Y[more].indices, minlength=Y.shape[1])
    label = np.argsort(-counts, kind="stable")[min(5, len(counts) - 1)]
    has = np.asarray(Y[:, [label]].todense()).ravel() > 0
    model = data.teach(copy.deepcopy(base), more[has[more]][:count], Y)
    far = test[~has[test]]
    return np.subtract(judge(data, model, far, Y), judge(data, base, far, Y))


def one_seed(data, seed, n_rows, sizes, n_labels, only=()):
    rng = np.random.default_rng(seed)
    order = rng.permutation(data.Y.shape[0])
    drawn = order[:n_rows]
    cut = len(drawn) // 5
    test, more, first = drawn[:cut], drawn[cut : 2 * cut], drawn[2 * cut :]
    found = {}
    if not only or {"same", "row", "topic"} & {*only}:
        base = data.fit(first, data.Y, seed)
    if not only or "same" in only:
        found["same"] = same_rows(data, base, first, more, test, seed, sizes)
    if not only or "row" in only:
        found["row"] = one_row(data, base, more, test)
    if not only or "topic" in only:
        found["topic"] = one_topic(data, base, more, test)
    if not only or "labels" in only:
        pool = np.setdiff1d(order, np.concatenate([first, test]))
        rng.shuffle(pool)
        found["labels"] = new_labels(data, first, test, pool, rng, seed, NEW_ROWS, n_labels)
    return found


def signed(values):
    """Means in points with their signs, the standard deviation over seeds in brackets."""
    means, spreads = np.mean(values, axis=0) * 100, np.std(values, axis=0) * 100
    return [f"{mean:+.2f} ({spread:.2f})" for mean, spread in zip(means, spreads)]


def report(name, n_rows, runs):
    """Markdown of the runs of one data set."""
    text = f"## {name}, {n_rows} rows, {len(runs)} splits\n\n"
    if "same" in runs[0]:
        text += report_same(runs)
    return text + (report_labels(runs) if "labels" in runs[0] else "")


def report_same(runs):
    before = np.mean([run["same"]["before"] for run in runs], axis=0)
    lines = [["before", *(f"{value:.4f}" for value in before)]]
    kinds = [kind for kind in runs[0]["same"] if kind != "before"]
    lines += [[kind, *signed([run["same"][kind] for run in runs])] for kind in kinds]
    lines.append(["one topic, 30 rows", *signed([run["topic"] for run in runs])])
    lines.append(["one row, ten times", *signed([run["row"][2] for run in runs])])
    text = table(["taught", "P@1", "nDCG@5", "F1"], lines) + "\n\n"
    learnt, kept = (np.mean([run["row"][i] for run in runs]) for i in (0, 1))
    return text + (
        f"One corrected row is right afterwards: {learnt:.0%}; ten, one after another: {kept:.0%}.\n\n"
    )


def report_labels(runs):
    lines = []
    for size in NEW_ROWS:
        splits = [[part[1:] for part in run["labels"] if part[0] == size] for run in runs]
        splits = [np.array(split, float) for split in splits if split]
        if not splits:
            continue
        found = np.concatenate(splits)
        spread = np.std([split[:, :, 0].mean(axis=0) for split in splits], axis=0)
        ways = zip(("taught", "from scratch", "all its rows"), found.transpose(1, 2, 0), spread)
        for name, figures, by_split in ways:
            recall, predicted, right_ones, having, wrongly, change = figures
            cells = (f"{recall.mean():.2f} ({by_split:.2f})",)
            cells += (f"{right_ones.sum():.0f} of {predicted.sum():.0f}",)
            cells += f"{right_ones.sum() / max(1, having.sum()):.2f}", f"{wrongly.mean():.4f}"
            cells += f"{100 * change.mean():+.2f}", f"{100 * change.min():+.2f}"
            lines.append([size, len(found), name, *cells])
    own = ["recall@5", "right predictions", "recall", "wrongly in first five", "F1 of others", "worst"]
    return table(["rows", "labels", "", *own], lines) + "\n"


def main(names, seeds, rows, out, first=0, n_labels=8, only=()):
    parts = {}
    for name in names:
        data = Texts(name) if name.startswith("YSO") else Rows(name)
        n_rows, runs = min(rows, data.Y.shape[0]), []
        for seed in range(first, first + seeds):
            runs.append(one_seed(data, seed, n_rows, SIZES, n_labels, only))
            parts[name] = report(name, n_rows, runs)
            text = "\n".join(
                [f"{__doc__.splitlines()[0]} {machine()}. Differences are points.\n", *parts.values()]
            )
            if out:
                out.write_text(text, "utf-8")
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=DATA)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--only", nargs="+", default=(), choices=("same", "labels"))
    parser.add_argument("--labels", type=int, default=8)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    chosen = [*options.only, "row", "topic"] if "same" in options.only else options.only
    print(
        main(options.data, options.seeds, options.rows, options.out, options.first, options.labels, chosen)
    )
