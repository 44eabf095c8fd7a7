"""What share of k labels peeling finds, by density evolution (Lee, Pedarsani, Ramchandran 2016).

Each of k labels is in c of m1 bins. Seen from one of its bins, a label shares it with
Binomial(k - 1, c / m1) others: with none with probability rho_1, with exactly one with rho_2. The bin names
the label when it is alone there, or with one other label that is known already. With x the probability that
a label is still unknown to a bin after what its c - 1 other bins have said,

    x <- (1 - rho_1 - rho_2 (1 - x))^(c - 1)   until it rests,                                   (1)

    share found = 1 - (1 - rho_1 - rho_2 (1 - x))^c.                                             (2)

Exact as k and m1 grow together; cycles in the graph make it a little optimistic for small ones.
"""


def expected_recovery(k, m1, c):
    """Eq. (2): the expected share of k labels that peeling finds with c of m1 bins a label."""
    q = c / m1
    alone = (1 - q) ** (k - 1)
    paired = (k - 1) * q * (1 - q) ** (k - 2) if k > 1 else 0.0
    x, before = 1.0, 2.0
    while before - x > 1e-12:
        before, x = x, (1 - alone - paired * (1 - x)) ** (c - 1)
    return 1 - (1 - alone - paired * (1 - x)) ** c


def best_column_weight(k, m1, largest=32):
    """The c <= min(m1, largest) with the largest expected recovery of k labels; the smaller on a tie."""
    return max(range(1, min(m1, largest) + 1), key=lambda c: (round(expected_recovery(k, m1, c), 9), -c))
