"""Power and C, tuned on a miniature of the problem: some rows, some labels, one-vs-all.

Up to N_LABELS labels are drawn, frequent ones more often, and rows until they have N_ENTRIES non-zeros, at
most N_ROWS. A fifth of these is not trained on. As many rows with one of the labels are held out, or N_HELD
if that is more, from that fifth and then from the rows outside of the sample: if there are many labels, few
rows have one of those drawn, and if rows are long, the sample has few, too few to decide by. The settings
with the best nDCG@5 on the held-out rows are used for the whole: first the power of `rows`, then C, upwards
or downwards in steps of about 3 as long as it helps. A power other than the first must win by POWER_ERRORS
standard errors of the difference by row; C for groups by some, and by more than C_GAIN, as more C takes the
solver more sweeps. If rankers follow, SOFT_C is tried first: unless it is surely worse than DEFAULT_C, the
labels are noisy, more C would not help, and rankers of labels with many rows need less (`ranking.ranker`,
eq. (3)).

If every label has a classifier, N_HELD_ALONE rows are held out. SOFT_C, or DEFAULT_C with less for labels
with many rows (eq. (3) again), is used if it is better than DEFAULT_C; else more C, as long as that is
surely better. If rankers may follow, they are tried (`trial`), and do if they surely order the held-out
rows better."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._core.rows import scale_rows
from .._core.sigmoid import log_sigmoid
from .._core.sparse import label_counts
from ..classifiers import solve
from ..decoding.soft import DEFAULT_SLOPE
from ..metrics import ndcg_rows, surely_better
from ..ranking import ONE_VS_ALL, Blend, Candidates, learn_blend
from ..ranking.ranker import SOFT_ROWS, label_costs
from .trial import best_labels, try_rankers

N_LABELS, N_ENTRIES, N_ROWS, N_HELD, N_HELD_ALONE = 128, 600_000, 8_000, 600, 4_000
POWER_ERRORS = 1.25
DEFAULT_C, SOFT_C, SOFT_ERRORS = 1.0, 0.3, 2.0
C_GAIN = 0.003
"""nDCG@5 that a step of C for groups must surely gain on the sample: .007 gained nothing in the end on the
synthetic `wiki10`."""
ALONE_ERRORS = 1.0
"""Standard errors by which more C, or rankers, must order the held-out rows better than one-vs-all."""
_MIN_ROWS = 50  # held-out rows with a label


@dataclass(frozen=True)
class Tuning:
    power: float = 1.0
    C: float = 1.0
    tried: dict[tuple[float, float], float] = field(default_factory=dict)
    """(power, C) -> nDCG@5 on held-out rows, in the order tried, C the same for all labels."""
    score: float = 0.0
    """nDCG@5 of the chosen setting."""
    soft: bool = False
    """True if every label has a classifier, and those with many rows need less C."""
    noisy: bool = False
    """True if rankers follow whose labels with many rows need less C: SOFT_C is not surely worse than
    DEFAULT_C, or such rankers won."""
    blend: Blend = ONE_VS_ALL
    """The calibration of one-vs-all margins, if these are all that a model has."""
    ranked: float | None = None
    """nDCG@5 with rankers, if they were tried."""
    rankers_win: bool = False
    """True if they were tried, and are surely better."""


def format_tuning(power: float, C: float, tried: Mapping[tuple[float, float], float]) -> str:
    """Format the chosen power and C with all results, as training and `mlgt inspect` print them."""
    if not tried:
        return f"{power:g}, {C:g}"
    results = "; ".join(f"{p:g}, {c:g}: {value:.3f}" for (p, c), value in tried.items())
    doubt = "; a higher one is not surely better" if max(tried.values()) > tried.get((power, C), 0) else ""
    return f"{power:g}, {C:g} (nDCG@5 on a sample: {results}{doubt})"


def format_reasons(found: Tuning, C: float) -> dict[str, str]:
    """Why these power and C: {"power": ..., "C": ...}."""
    why = "the default, as there are too few rows to try others"
    if found.tried:
        why = (
            f"chosen of {len(found.tried)} tried on a sample, nDCG@5 {found.score:.3f} on its held-out rows"
        )
    reasons = {"power": f"{found.power:g}: {why}", "C": f"{C:g}: {why}"}
    if found.soft and not found.rankers_win:
        reasons["C"] += f"; less for labels with more than {SOFT_ROWS} rows, which is better"
    if found.noisy:
        gain = "which are better" if found.rankers_win else f"as {SOFT_C} is no worse"
        reasons["C"] += f"; less for rankers of labels with more than {SOFT_ROWS} rows, {gain}"
    return reasons


def tune(
    X: sp.csr_array,
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    powers: Sequence[float],
    costs: Sequence[float],
    unit: bool = True,
    slope: float = DEFAULT_SLOPE,
    C_errors: float = 0.0,
    every_label: bool = False,
    rankers: bool = False,
    maybe_rankers: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Tuning:
    """Choose power and C for X (n, p), not yet scaled, and Y (n, d); `options` are those of the solver.

    A single power or cost is kept. `slope` is that of soft decoding; `C_errors` the number of standard
    errors that a step of C for groups must gain; `every_label` says whether every label has a classifier,
    `rankers` whether labels get rankers of their own, `maybe_rankers` whether that is to be decided here.
    """
    rows, rest, labels = _sample(X, Y, rng)
    n_held = len(rows) // 5
    kept, others = rows[n_held:], np.concatenate([rows[:n_held], rest])
    Z = sp.csr_array(Y[:, labels])
    held = others[np.diff(Z.indptr)[others] > 0][: max(n_held, N_HELD_ALONE if every_label else N_HELD)]
    default = Tuning(powers[0], costs[_default(costs)], noisy=rankers and len(costs) > 1)
    if len(held) < _MIN_ROWS:
        return default
    options["n_jobs"] = n_jobs
    mini = _Miniature(X[kept], Z[kept], X[held], Z[held], label_counts(Z), unit, options)
    trials = len(powers) + len(costs) - 1 + (rankers or every_label)

    def score(power, C, soft=False):
        values = mini.score(power, C, soft)
        if progress is not None:
            progress(len(mini.tried), trials)
        return values

    if len(powers) > 1 and len(mini.X.data) and np.ptp(np.abs(mini.X.data)) == 0:
        powers = powers[:1]  # all the same: a power changes nothing
    power = _climb(powers, 0, lambda power: score(power, default.C), POWER_ERRORS)
    noisy = default.noisy and not surely_better(score(power, default.C), score(power, SOFT_C), SOFT_ERRORS)
    choose = _choose_alone if every_label else _choose_pooled
    C, soft = (default.C, False) if noisy else choose(costs, lambda *own: score(power, *own), C_errors)
    alone = score(power, C, soft)
    found = Tuning(power, C, mini.means(), float(alone.mean()), soft, noisy)
    if maybe_rankers:
        ranked = mini.with_rankers((power, C, soft), slope)
        win = surely_better(ranked, alone, ALONE_ERRORS)
        found = replace(found, noisy=win, ranked=float(ranked.mean()), rankers_win=win)
    if not every_label or found.rankers_win:
        return found
    any_rows = others[:N_HELD_ALONE]  # those with a label alone would make all labels look likely
    return replace(found, blend=mini.calibration((power, C, soft), slope, X[any_rows], Z[any_rows]))


def _choose_pooled(costs, score, errors):
    """(C, False) for groups: more or less of it as long as that surely helps."""
    return _climb(costs, _default(costs), score, errors, C_GAIN if errors else 0.0), False


def _choose_alone(costs, score, _):
    """(C, whether labels with many rows have less) for one classifier per label."""
    if len(costs) == 1:
        return costs[0], False
    choices = (DEFAULT_C, False), (SOFT_C, False), (DEFAULT_C, True)
    best = max(choices, key=lambda choice: score(*choice).mean())
    return best if best != choices[0] else (_climb(costs, _default(costs), score, ALONE_ERRORS), False)


def _default(costs):
    return costs.index(DEFAULT_C) if DEFAULT_C in costs else 0


@dataclass
class _Miniature:
    """Rows X with labels Y to train on, and held-out ones, not scaled; what was tried on them.

    A setting is a power, C, and whether labels with many rows have less.
    """

    X: sp.csr_array
    Y: sp.csr_array
    X_held: sp.csr_array
    Y_held: sp.csr_array
    counts: np.ndarray
    """Number of all rows with each label."""
    unit: bool
    options: dict[str, Any]
    tried: dict = field(default_factory=dict)
    """setting -> nDCG@5 of each held-out row."""
    solutions: dict = field(default_factory=dict)

    def score(self, power, C, soft=False):
        setting = power, C, soft
        if setting not in self.tried:
            rows, costs = scale_rows(self.X, power, self.unit), label_costs(self.counts, C) if soft else C
            self.solutions[setting] = solve(rows, self.Y, C=costs, tol=0.03, **self.options)
            best = best_labels(self.margins(self.X_held, setting), 5)
            self.tried[setting] = ndcg_rows(self.Y_held, best, 5)
        return self.tried[setting]

    def margins(self, rows, setting):
        solution = self.solutions[setting]
        return scale_rows(rows, setting[0], self.unit) @ solution.coef + solution.intercept

    def means(self):
        return {(power, C): float(v.mean()) for (power, C, soft), v in self.tried.items() if not soft}

    def calibration(self, setting, slope, X, Y):
        """The blend of one-vs-all margins, learnt on rows X with labels Y."""
        scores = log_sigmoid(np.float32(slope) * self.margins(X, setting))
        labels = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
        return learn_blend(Candidates(labels, scores).evidence(None), Y.toarray() > 0)

    def with_rankers(self, setting, slope):
        """nDCG@5 of each held-out row with rankers."""
        power, C, _ = setting
        rows, held = (scale_rows(some, power, self.unit) for some in (self.X, self.X_held))
        found, held_found = (self.margins(some, setting) for some in (self.X, self.X_held))
        costs = max(DEFAULT_C, C)
        return try_rankers(
            rows, self.Y, found, held, self.Y_held, held_found, costs, slope, self.options["n_jobs"]
        )


def _climb(choices, at, value, sure, least=0.0):
    """From choices[at], step up or down while `value`, one number per row, surely rises by `least`."""
    if len(choices) == 1:
        return choices[0]
    for step in (-1, 1):
        start = at
        while 0 <= at + step < len(choices):
            if not surely_better(value(choices[at + step]) - least, value(choices[at]), sure):
                break
            at += step
        if at != start:
            break
    return choices[at]


def _sample(X, Y, rng):
    """(rows, the other rows, both in random order; labels, ascending) of the miniature."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    share = counts / counts.sum()
    labels = np.sort(
        rng.choice(len(counts), min(N_LABELS, np.count_nonzero(counts)), replace=False, p=share)
    )
    rows = rng.permutation(X.shape[0])
    entries = np.cumsum(np.diff(X.indptr)[rows])
    size = max(5 * _MIN_ROWS, min(N_ROWS, np.searchsorted(entries, N_ENTRIES)))
    return rows[:size], rows[size:], labels
