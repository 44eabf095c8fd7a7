"""The share of k labels that peeling finds, by density evolution (Lee, Pedarsani, Ramchandran 2016).

Each of k labels is in c of m1 bins. In one of its bins, a label is with Binomial(k - 1, c / m1) others:
with none with probability rho_1, with exactly one with probability rho_2. The bin names the label if it is
alone there, or with one other label that is known already. With x the probability that none of its c - 1
other bins has named a label,

    x <- (1 - rho_1 - rho_2 (1 - x))^(c - 1)   until it converges,                               (1)

    share found = 1 - (1 - rho_1 - rho_2 (1 - x))^c.                                             (2)

This is exact as k and m1 grow together; for small ones, cycles in the graph make it slightly optimistic.
"""


def expected_recovery(k: int, m1: int, c: int) -> float:
    """Return the expected share of k labels that peeling finds with c of m1 bins per label, eq. (2)."""
    q = c / m1
    alone = (1 - q) ** (k - 1)
    paired = (k - 1) * q * (1 - q) ** (k - 2) if k > 1 else 0.0
    x, before = 1.0, 2.0
    while before - x > 1e-12:
        before, x = x, (1 - alone - paired * (1 - x)) ** (c - 1)
    return 1 - (1 - alone - paired * (1 - x)) ** c


def best_column_weight(k: int, m1: int, largest: int = 32) -> int:
    """Return the c <= min(m1, largest) with the best expected recovery, the smaller on a tie."""
    return max(range(1, min(m1, largest) + 1), key=lambda c: (round(expected_recovery(k, m1, c), 9), -c))
