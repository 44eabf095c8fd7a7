"""Steps that several experiments share: design, train, decode, judge; and how their figures look."""

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mlgt._core.rows import map_blocks
from mlgt._core.sparse import label_counts
from mlgt.classifiers.train import train
from mlgt.data import Dataset
from mlgt.data.datasets import Split
from mlgt.decoding import DECODERS, search
from mlgt.decoding.index import LabelIndex
from mlgt.estimators.methods import METHODS
from mlgt.groups import CONSTRUCTIONS, pool
from mlgt.groups.column_weight import choose_column_weight
from mlgt.metrics import modified_precision_at, precision_at

from ..evidence.record import Column, average, deviation

KS = (1, 3, 5)
DESIGNS = {
    "NMF-GT": ("nmf-gt", {}),
    "NMF-GT, Bernoulli": ("nmf-gt", {"sampling": "bernoulli"}),
    "CW-GT": ("cw-gt", {}),
    "SP-GT": ("sp-gt", {}),
}
"""Methods by their names in the paper, and options of the construction. NMF-GT gives every label exactly c
groups (ours), Bernoulli c on average."""
WEIGHTS = tuple(range(10, 71, 10))
"""The column weights that the authors' code tries in the search of Remark 1."""
HARD, SOFT = "top_k", "soft"
DECODER_NAMES = {HARD: "hard", SOFT: "soft"}
P_COLUMNS = [Column(f"P@{k}", "high", 4) for k in KS]
PI_COLUMNS = [Column(f"Pi@{k}", "high", 4) for k in KS]


def plan(Y: sp.csr_array, method: str, m: int, rng: np.random.Generator) -> tuple[Callable, bool]:
    """draw(c, rng) of a construction, and whether it takes a weight c."""
    name, options = DESIGNS[method]
    construction = CONSTRUCTIONS[METHODS[name]["construction"]]
    return construction.plan(Y, m, rng, **options).draw, construction.WEIGHTED


def design(
    Y: sp.csr_array, method: str, m: int, rng: np.random.Generator, weights: Sequence[int] = WEIGHTS
) -> tuple[sp.csr_array, int | None]:
    """(A, c): the group matrix with the column weight that Remark 1 finds; c is None for SP-GT."""
    draw, weighted = plan(Y, method, m, rng)
    c = choose_column_weight(draw, Y, m, rng, candidates=weights)[0] if weighted else None
    return draw(c, rng), c


def train_groups(rows: Dataset, A: sp.csr_array, seed: int) -> Any:
    """Algorithm 1 on one thread."""
    return train(rows.X, pool(rows.Y, A), n_jobs=1, tol=1e-2, seed=seed)


def decode_groups(
    classifiers: Any, A: sp.csr_array, counts: np.ndarray, X: sp.csr_array, decoder: str, k: int = 5
) -> np.ndarray:
    """Algorithm 2: the k best labels of each row, (n, k)."""
    rule, index = DECODERS[decoder](A, counts), LabelIndex(A)
    found = map_blocks(lambda rows: search(rule.values(classifiers.margins(rows)), index, rule, k)[0], X)
    return np.concatenate(found)


def judge(Y: sp.csr_array, labels: np.ndarray) -> dict[str, Any]:
    """P@k and Pi@k for k = 1, 3, 5."""
    figures = {f"P@{k}": precision_at(Y, labels, k) for k in KS}
    return figures | {f"Pi@{k}": modified_precision_at(Y, labels, k) for k in KS}


def train_and_judge(
    split: Split, A: sp.csr_array, seed: int, decoders: Sequence[str] = (HARD, SOFT)
) -> dict[str, dict[str, Any]]:
    """{decoder: figures} of the group matrix A, with CPU seconds of training and of prediction."""
    (began, classifiers), found = (time.process_time(), train_groups(split.train, A, seed)), {}
    training = time.process_time() - began
    counts = label_counts(split.train.Y)
    for decoder in decoders:
        began = time.process_time()
        labels = decode_groups(classifiers, A, counts, split.test.X, decoder)
        seconds = time.process_time() - began
        found[decoder] = judge(split.test.Y, labels) | {"T train": training, "T test": seconds}
    return found


class Trials:
    """Figures of several trials: `rows[key]` has a list per figure."""

    def __init__(self):
        self.rows: dict = defaultdict(lambda: defaultdict(list))

    def add(self, key: Hashable, figures: Mapping[str, Any]) -> None:
        for name, value in figures.items():
            self.rows[key][name].append(value)

    def items(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        return ((key, dict(figures)) for key, figures in self.rows.items())


def marker(name: str) -> dict[str, str]:
    """The style of a method, the same in all pictures."""
    styles = {
        "NMF-GT": ("#b2182b", "*"),
        "NMF-GT, Bernoulli": ("#ef8a62", "P"),
        "CW-GT": ("#2166ac", "o"),
        "SP-GT": ("#333333", "^"),
        "one-vs-all": ("#762a83", "s"),
        "mlgt": ("#1b7837", "D"),
    }
    colour, sign = styles.get(name, (None, "o"))
    return {"marker": sign} | ({"color": colour} if colour else {})


def draw_lines(axes: Any, rows: list[dict[str, Any]], x: str, y: str, **style: Any) -> None:
    """Means of y against x with bars of one standard deviation."""
    rows = sorted(rows, key=lambda row: average(row[x]))
    axes.errorbar(
        [average(row[x]) for row in rows],
        [average(row[y]) for row in rows],
        [deviation(row[y]) for row in rows],
        capsize=2, linewidth=1.2, markersize=5, **style,
    )  # fmt: skip


def finish(axes: Any, title: str = "", xlabel: str = "", ylabel: str = "", legend: bool = True) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def number(value: float, digits: int = 3) -> str:
    """.776 rather than 0.776, as the tables have it; 12.3 as it is."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
