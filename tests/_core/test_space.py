"""Work spaces that kernels leave as they found them."""

import numpy as np

from mlgt._core import space


def test_a_copy_is_kept_as_long_as_the_array_is_the_same(monkeypatch):
    one, two = np.arange(5.0), np.arange(5.0)
    copy = space.kept_copy(one)
    assert copy is not one
    assert space.kept_copy(one) is copy
    other = space.kept_copy(two)  # equal, but another array
    assert other is not copy
    assert (other == two).all()
    monkeypatch.setattr(space, "MAX_KEPT", 4)
    assert space.kept_copy(one) is not space.kept_copy(one)
