"""Draw the pictures of docs/how-it-works.md from real runs on Debian's debtags, which ship with mlgt.

    python scripts/draw_how.py [--out docs/pictures]

pool.svg    which tags share groups
decode.svg  one package: the group probabilities, and the tags decoded from them
groups.svg  how much is found with how many groups
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from mlgt import MLGTClassifier
from mlgt._core.rows import scale_rows
from mlgt._core.sigmoid import sigmoid
from mlgt.data import datasets
from mlgt.groups import pool
from mlgt.metrics import precision_at, recall_at

GREEN, PALE, GREY = "#1b7837", "#5aae9f", "#c7c7c7"
SHOWN = 20  # tags in the first picture
M, C = 64, 6  # groups, and groups per tag, of the first two pictures
SIZES = (16, 32, 64, 128, 256)
PLAIN = {"ranker": None, "random_state": 0}


def save(figure, path):
    matplotlib.rcParams.update({"svg.hashsalt": path.stem, "svg.fonttype": "none"})
    figure.savefig(path, metadata={"Date": None})


def bare(axes):
    axes.spines[["top", "right"]].set_visible(False)


def draw_pool(model, data, path):
    """A dot where a tag is in a group; tags sorted by name, so that facets are together."""
    frequent = np.argsort(-model.label_counts_, kind="stable")[:SHOWN]
    tags = sorted(frequent, key=lambda l: data.tags[l])
    inside = model.groups_.toarray()[:, tags] > 0
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots()
    group, tag = np.nonzero(inside)
    axes.scatter(group, tag, s=22, color=GREEN)
    axes.set_yticks(range(SHOWN), [data.tags[l] for l in tags], fontsize=8)
    axes.set_xlabel(f"group, 0 to {M - 1}")
    axes.set_xlim(-1, M)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.set_title(
        f"Each tag is in {C} of {M} groups (the {SHOWN} most frequent tags)", fontsize=10, loc="left"
    )
    bare(axes)
    save(figure, path)


def draw_decode(model, data, path):
    """Group probabilities of one test package, and the tags with the best scores."""
    row = next(  # the first with five tags, not chosen for looking good
        i for i in range(data.test.X.shape[0]) if data.test.Y[[i]].nnz == 5
    )
    x = data.test.X[[row]]
    truth = set(data.test.Y[[row]].indices.tolist())
    positive = pool(data.test.Y[[row]], model.groups_).toarray()[0] > 0
    margins = model.classifiers_.margins(scale_rows(x))[0]
    probability = sigmoid(3 * margins)
    scores = model.decision_function(x)[0]
    best = np.argsort(-scores, kind="stable")[:10][::-1]
    figure = Figure(figsize=(10, 4), layout="constrained")
    tests, tags = figure.subplots(1, 2, width_ratios=(1.5, 1))
    tests.bar(range(M), probability, color=[GREEN if p else GREY for p in positive])
    tests.set_xlabel("group; green: it holds a true tag")
    tests.set_ylabel("probability of the group")
    tests.set_title(f"{data.test_packages[row]}: {M} tests", fontsize=10, loc="left")
    tags.barh(range(10), np.exp(scores[best]), color=[GREEN if l in truth else GREY for l in best])
    tags.set_yticks(range(10), [data.tags[l] for l in best], fontsize=8)
    tags.set_xlabel("mean of the groups; green: a true tag")
    tags.set_title("decoded: the ten best tags", fontsize=10, loc="left")
    bare(tests)
    bare(tags)
    save(figure, path)


def draw_groups(data, path):
    """P@1 and recall@20 against the number of groups, with soft and the paper's hard decoding."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    d = data.train.Y.shape[1]
    for decoder, words, colour in (
        ("soft", "soft decoding", GREEN),
        ("top_k", "hard decoding, the paper's", PALE),
    ):
        first, found = [], []
        for m in SIZES:
            settings = {"n_groups": m, "column_weight": min(C, m // 4), "decoder": decoder}
            model = MLGTClassifier(**settings, **PLAIN).fit(data.train.X, data.train.Y)
            labels, _ = model.predict_topk(data.test.X, 20)
            first.append(precision_at(data.test.Y, labels, 1))
            found.append(recall_at(data.test.Y, labels, 20))
            print(f"{decoder} m={m}: P@1 {first[-1]:.3f}, recall@20 {found[-1]:.3f}", flush=True)
        left.plot(SIZES, first, marker="o", color=colour, label=words)
        right.plot(SIZES, found, marker="o", color=colour, label=words)
    full = MLGTClassifier(random_state=0).fit(data.train.X, data.train.Y)
    labels, _ = full.predict_topk(data.test.X, 20)
    for axes, measure, name in (
        (left, precision_at(data.test.Y, labels, 1), "P@1"),
        (right, recall_at(data.test.Y, labels, 20), "recall@20"),
    ):
        axes.axhline(
            measure, color="#444444", linestyle="--", linewidth=1, label="with the ranker, all defaults"
        )
        axes.set_xscale("log", base=2)
        axes.set_xticks(SIZES, [str(m) for m in SIZES])
        axes.set_xlabel(f"groups, for {d} tags")
        axes.set_ylim(0, 1)
        axes.set_title(name, fontsize=10, loc="left")
        bare(axes)
        print(f"default {name} {measure:.3f}")
    right.legend(frameon=False, fontsize=8, loc="lower right")
    save(figure, path)


def main(out):
    data = datasets.load_debtags()
    model = MLGTClassifier(n_groups=M, column_weight=C, **PLAIN).fit(data.train.X, data.train.Y)
    draw_pool(model, data, out / "pool.svg")
    draw_decode(model, data, out / "decode.svg")
    draw_groups(data, out / "groups.svg")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    main(parser.parse_args().out)
