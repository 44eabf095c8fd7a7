import numpy as np

from mlgt.groups import CONSTRUCTIONS, constant_weight_groups
from mlgt.groups.column_weight import choose_column_weight
from mlgt.groups.quality import reduction_loss


def label_sets(rng, n=300, d=60, k=3):
    Y = np.zeros((n, d))
    for row in Y:
        row[rng.choice(d, k, replace=False)] = 1
    return Y


def test_the_chosen_weight_has_the_smallest_loss(rng):
    Y = label_sets(rng)
    draw = CONSTRUCTIONS["constant_weight"].plan(Y, 40, rng).draw
    c, losses = choose_column_weight(draw, Y, 40, rng)
    assert losses[c] == min(losses.values())
    assert all(1 <= w <= 20 for w in losses)
    assert losses[20 if 20 in losses else max(losses)] > losses[c]  # half of all groups: a bad design


def test_losses_are_reduction_losses():
    rng = np.random.default_rng(0)
    Y = label_sets(rng, n=50)
    designs = {c: constant_weight_groups(40, 60, c, rng) for c in (2, 4, 8)}
    _, losses = choose_column_weight(
        lambda c, rng: designs[c], Y, 40, rng, candidates=tuple(designs), n_rows=50
    )
    assert losses == {c: reduction_loss(Y, A) for c, A in designs.items()}


def test_tiny_designs_still_have_a_candidate(rng):
    Y = label_sets(rng, d=5, k=2)
    draw = CONSTRUCTIONS["constant_weight"].plan(Y, 3, rng).draw
    assert choose_column_weight(draw, Y, 3, rng)[0] == 1


def test_same_seed_same_choice():
    Y = label_sets(np.random.default_rng(1))

    def choose():
        rng = np.random.default_rng(2)
        return choose_column_weight(CONSTRUCTIONS["nmf"].plan(Y, 40, rng).draw, Y, 40, rng)

    assert choose() == choose()


def test_ties_go_to_the_smaller_weight(rng):
    """With A = I, whatever the weight, nothing is lost: the cheapest design wins."""
    Y = label_sets(rng, d=20)
    chosen, losses = choose_column_weight(lambda c, rng: np.eye(20), Y, 20, rng, candidates=(8, 2, 4))
    assert set(losses.values()) == {2.0}
    assert chosen == 2


def test_rows_without_labels_are_left_out(rng):
    Y = label_sets(rng, n=40)
    Y[5:] = 0
    drawn = []

    def draw(c, rng):
        drawn.append(c)
        return np.eye(60)

    _, losses = choose_column_weight(draw, Y, 60, rng, candidates=(4,))
    assert losses == {4: 2.0}  # three labels found, two more to fill up five; empty rows would cost five
