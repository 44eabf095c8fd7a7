import numpy as np
import pytest
import scipy.sparse as sp

from mlgt._core.sparse import canonical
from mlgt.training import tuning
from mlgt.training.settings import COSTS, POWERS
from mlgt.training.trial import best_labels
from mlgt.training.tuning import tune

CHOICES = {"powers": POWERS, "costs": COSTS}


def problem(rng, n=1500, p=200, d=20, *, burst):
    """Words of labels, each counted once; with `burst`, chance repeats some others a hundred times."""
    labels = rng.integers(d, size=n)
    words = np.zeros((n, p))
    for i, l in enumerate(labels):
        words[i, 10 * l + rng.choice(10, 3, replace=False)] = 1
        words[i, rng.choice(p, 12, replace=False)] += 1
        if burst:
            words[i, rng.choice(p, 2, replace=False)] = rng.integers(20, 400, 2)
    Y = sp.csr_array((np.ones(n, np.float32), (np.arange(n), labels)), shape=(n, d))
    return sp.csr_array(words, dtype=np.float32), Y


def test_bursts_of_words_are_dampened(rng):
    X, Y = problem(rng, burst=True)
    chosen = tune(X, Y, np.random.default_rng(0), **CHOICES)
    assert chosen.power == 0.5
    assert chosen.tried[0.5, 1.0] > chosen.tried[1.0, 1.0]
    assert chosen.tried[chosen.power, chosen.C] == max(
        value for (power, _), value in chosen.tried.items() if power == 0.5
    ) or (chosen.C == 1.0)


def test_equal_values_need_no_power(rng):
    X, Y = problem(rng, burst=False)
    X.data[:] = 1
    chosen = tune(X, Y, np.random.default_rng(0), **CHOICES)
    assert chosen.power == 1.0
    assert {power for power, _ in chosen.tried} == {1.0}
    assert chosen.C in COSTS


def test_what_is_given_stays(rng):
    X, Y = problem(rng, burst=True)
    chosen = tune(X, Y, np.random.default_rng(0), powers=(0.7,), costs=(2.5,))
    assert (chosen.power, chosen.C) == (0.7, 2.5)
    assert list(chosen.tried) == [(0.7, 2.5)]


def test_few_rows_keep_the_defaults(rng):
    X, Y = problem(rng, n=100, burst=True)
    chosen = tune(X, Y, np.random.default_rng(0), **CHOICES)
    assert (chosen.power, chosen.C, chosen.tried) == (1.0, 1.0, {})


def test_same_seed_same_choice(rng):
    X, Y = problem(rng, burst=True)
    one, two = (tune(X, Y, np.random.default_rng(3), n_jobs=j, **CHOICES) for j in (1, 2))
    assert one.tried == two.tried


def test_progress(rng):
    X, Y = problem(rng, burst=True)
    calls = []
    options = {**CHOICES, "progress": lambda done, total: calls.append((done, total))}
    tune(X, Y, np.random.default_rng(0), **options)
    assert calls
    assert all(done <= total for done, total in calls)


@pytest.mark.parametrize("labels_a_row", [0, 1])
def test_rows_without_labels_do_not_count(rng, labels_a_row):
    X, Y = problem(rng, n=600, burst=True)
    if labels_a_row == 0:
        Y = canonical(Y.multiply((np.arange(600) < 40)[:, None]), np.float32)
    chosen = tune(X, Y, np.random.default_rng(0), **CHOICES)
    assert bool(chosen.tried) == bool(labels_a_row)


@pytest.mark.parametrize(
    ("gains", "chosen"),
    [
        ({}, (1.0, False)),
        ({(0.3, False): 0.01}, (0.3, False)),
        ({(1.0, True): 0.01}, (1.0, True)),
        ({(0.3, False): 0.02, (1.0, True): 0.01}, (0.3, False)),
        ({(3.0, False): 0.01}, (3.0, False)),
        ({(3.0, False): 0.01, (10.0, False): 0.02}, (10.0, False)),
        ({(3.0, False): -0.01, (10.0, False): 0.02}, (1.0, False)),  # not reached
        ({(3.0, False): 0.0001}, (1.0, False)),  # not surely better
    ],
)
def test_one_vs_all_gets_the_best_C(rng, monkeypatch, gains, chosen):
    X, Y = problem(rng, burst=False)
    score = tuning._Miniature.score

    def judged(mini, power, C, soft=False):
        chance = np.sin(10 * C + np.arange(len(score(mini, power, C, soft))))
        mini.tried[power, C, soft] = 0.5 + 0.01 * (chance - chance.mean()) + gains.get((C, soft), 0.0)
        return mini.tried[power, C, soft]

    monkeypatch.setattr(tuning._Miniature, "score", judged)
    found = tune(X, Y, np.random.default_rng(0), powers=(1.0,), costs=COSTS, C_errors=2.0, every_label=True)
    assert (found.C, found.soft) == chosen
    assert found.blend.calibrated
    assert found.tried.keys() >= {(1.0, 0.3), (1.0, 1.0)}


def test_frequent_labels_of_one_vs_all_have_less_C(rng, monkeypatch):
    X, Y = problem(rng, burst=False)
    costs = []
    solve = tuning.solve
    monkeypatch.setattr(tuning, "solve", lambda X, Z, *, C, **o: costs.append(C) or solve(X, Z, C=C, **o))
    tune(X, Y, np.random.default_rng(0), powers=(1.0,), costs=COSTS, every_label=True)
    (soft,) = [C for C in costs if np.ndim(C)]
    counts = np.asarray(Y.sum(axis=0)).ravel()  # of all rows, held-out ones too
    assert np.allclose(soft, np.sqrt(50 / np.maximum(counts, 50)))


def test_best_labels_are_those_of_a_stable_sort(rng):
    margins = rng.integers(4, size=(30, 7)).astype(np.float32)  # many ties
    order = np.argsort(-margins, axis=1, kind="stable")
    for k in (1, 5, 7, 9):
        assert (best_labels(margins, k) == order[:, :k]).all()


def test_short_rows_are_not_all_tried(rng, monkeypatch):
    X, Y = problem(rng, n=1500, burst=True)
    monkeypatch.setattr(tuning, "N_ROWS", 1000)
    solved = []
    solve = tuning.solve
    monkeypatch.setattr(tuning, "solve", lambda X, Z, **options: solved.append(X) or solve(X, Z, **options))
    tune(X, Y, np.random.default_rng(0), **CHOICES)
    assert {X.shape[0] for X in solved} == {800}  # a fifth is held out


def test_noisy_labels_need_less_C(rng):
    """Exceptions that follow from rare words are worth fitting; chance words are not."""
    choices = {"powers": (1.0,), "costs": COSTS[1:], "C_errors": 2.0, "rankers": True}
    assert tune(*problem(rng, burst=False), np.random.default_rng(0), **choices).noisy
    n, d, n_rare = 4000, 20, 200
    usual, rare = rng.integers(d, size=n), rng.integers(n_rare, size=n)
    label = np.where(rare < n_rare / 2, rare % d, usual)  # half of the rare words decide alone
    columns = np.stack([usual, d + usual, 2 * d + usual, 3 * d + rare], axis=1)
    ones, rows = np.ones(4 * n, np.float32), np.repeat(np.arange(n), 4)
    X = canonical(sp.csr_array((ones, (rows, columns.ravel()))))
    Y = sp.csr_array((ones[:n], (np.arange(n), label)), shape=(n, d))
    assert not tune(X, Y, np.random.default_rng(0), **choices).noisy


def noisy_problem(rng, n=3000, p=300, d=50):
    """Rows of one to three labels, a third of which people forgot, half of them of the first five."""
    share = np.full(d, 0.5 / (d - 5))
    share[:5] = 0.1
    words, Y = np.zeros((n, p), np.float32), np.zeros((n, d), np.float32)
    for i in range(n):
        own = rng.choice(d, rng.integers(1, 4), replace=False, p=share)
        for l in own:
            words[i, 6 * l + rng.choice(6, 2, replace=False)] = 1
        words[i, rng.choice(p, 10, replace=False)] += 1
        Y[i, own[rng.random(len(own)) < 2 / 3]] = 1
    return sp.csr_array(words), sp.csr_array(Y)


def test_rankers_are_tried_only_if_asked_for(rng):
    X, Y = noisy_problem(rng)
    options = {"powers": (1.0,), "costs": COSTS}
    plain = tune(X, Y, np.random.default_rng(0), **options)
    tried = tune(X, Y, np.random.default_rng(0), maybe_rankers=True, **options)
    assert (plain.ranked, plain.rankers_win) == (None, False)
    assert (plain.C, plain.tried) == (tried.C, tried.tried)
    assert 0 < tried.ranked <= 1


@pytest.mark.parametrize(("gain", "wins"), [(0.02, True), (0.0, False), (-0.02, False)])
def test_rankers_follow_if_they_surely_win(rng, monkeypatch, gain, wins):
    X, Y = noisy_problem(rng)

    def with_rankers(mini, setting, slope):
        values = mini.tried[setting]
        return values + gain * (1 + 0.1 * np.sin(np.arange(len(values))))

    monkeypatch.setattr(tuning._Miniature, "with_rankers", with_rankers)
    found = tune(X, Y, np.random.default_rng(0), powers=(1.0,), costs=COSTS, maybe_rankers=True)
    assert (found.rankers_win, found.noisy) == (wins, wins)


@pytest.mark.parametrize("least", [0, 250])
def test_many_labels_leave_enough_held_out_rows(rng, monkeypatch, least):
    X, Y = problem(rng, n=6000, d=20, burst=False)
    monkeypatch.setattr(tuning, "N_LABELS", 1)  # one row in twenty has it
    monkeypatch.setattr(tuning, "N_ROWS", 1000)
    monkeypatch.setattr(tuning, "N_HELD", least)
    minis = []
    score = tuning._Miniature.score
    monkeypatch.setattr(
        tuning._Miniature, "score", lambda mini, *own: minis.append(mini) or score(mini, *own)
    )
    tune(X, Y, np.random.default_rng(0), **CHOICES)
    assert minis[0].X.shape[0] == 800
    assert minis[0].Y_held.shape[0] == max(200, least)
    assert (np.diff(minis[0].Y_held.indptr) > 0).all()
    kept, held = ({tuple(row) for row in X.toarray()} for X in (minis[0].X, minis[0].X_held))
    assert not kept & held  # words are drawn anew for each row


@pytest.mark.parametrize(("gain", "C"), [(0.02, 10.0), (0.004, 3.0), (0.002, 3.0)])
def test_more_C_must_gain_more_than_chance_and_than_a_little(rng, gain, C):
    """The first step gains .02, the second one `gain`, with a standard error of .001."""
    noise = {cost: rng.normal(scale=0.03, size=1800) for cost in COSTS}
    means = {0.3: 0.0, 1.0: 0.0, 3.0: 0.02, 10.0: 0.02 + gain}
    values = {cost: means[cost] + noise[cost] - noise[cost].mean() for cost in COSTS}
    assert tuning._climb(COSTS, COSTS.index(1.0), values.get, 2.0, tuning.C_GAIN) == C
