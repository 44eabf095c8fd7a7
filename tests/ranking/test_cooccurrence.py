import numpy as np
import scipy.sparse as sp

from mlgt.labels.graph import cooccurrence
from mlgt.ranking import CooccurrenceShares
from mlgt.ranking.cooccurrence import MIN_SHARE, N_LIKELY


def test_support_is_the_sum_of_the_formula(rng):
    n, d, K = 300, 40, 15
    Y = sp.csr_array((rng.random((n, d)) < 0.1).astype(np.float32))
    G = cooccurrence(Y)
    shares = CooccurrenceShares.from_counts(G)
    candidates = np.stack([rng.choice(d, K, replace=False) for _ in range(20)])
    candidates[3, 4:] = -1
    logits = np.where(candidates >= 0, rng.normal(size=candidates.shape) * 2, -np.inf).astype(np.float32)
    found = shares.support(candidates, logits)

    share = G.toarray() / (G.diagonal()[:, None] + 1)
    share[share < MIN_SHARE] = 0
    np.fill_diagonal(share, 0)
    for i in range(20):
        p = 1 / (1 + np.exp(-logits[i]))
        likely = np.argsort(-logits[i])[:N_LIKELY]
        for j, l in enumerate(candidates[i]):
            total = (
                sum(p[q] * share[candidates[i, q], l] for q in likely if candidates[i, q] >= 0)
                if l >= 0
                else 0
            )
            assert abs(found[i, j] - np.sqrt(total)) < 0.02


def test_a_child_supports_its_parent_more_than_the_other_way_round():
    Y = np.zeros((100, 3), np.float32)
    Y[:, 0] = 1  # the parent
    Y[:20, 1] = 1  # a child
    Y[20:40, 2] = 1  # another
    shares = CooccurrenceShares.from_counts(cooccurrence(sp.csr_array(Y)))
    child = shares.support(np.array([[0, 1, 2]]), np.float32([[-9, 5, -9]]))[0]
    parent = shares.support(np.array([[0, 1, 2]]), np.float32([[5, -9, -9]]))[0]
    assert child[0] > parent[1] + 0.4
    assert child[2] < child[0] - 0.4


def test_labels_that_never_occur_have_no_support():
    shares = CooccurrenceShares.from_counts(cooccurrence(sp.csr_array((10, 4), dtype=np.float32)))
    found = shares.support(np.array([[0, 3, -1]]), np.float32([[1, 2, -np.inf]]))
    assert (found == 0).all()
