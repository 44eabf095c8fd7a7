import numpy as np
import pytest
import scipy.sparse as sp

from mlgt.model.sample import Sample


@pytest.mark.parametrize(("value", "kind"), [(0.5, np.float16), (1e5, np.float32), (1e-9, np.float32)])
def test_values_that_half_a_float_cannot_hold_stay_whole(value, kind):
    """A value that became 0 would make every row look like a taught one."""
    X = sp.csr_array(np.array([[0.25, 0, value]], np.float32))
    kept = Sample.of(X, sp.csr_array(np.array([[1, 0]], np.float32)), (0, 0, 1))
    assert kept.values.dtype == kind
    np.testing.assert_allclose(kept.X.toarray(), X.toarray(), rtol=1e-3)
    other = sp.csr_array(np.array([[0, 1, 1]], np.float32))
    assert [row for row, _ in kept.recall(X)] == [0]
    assert list(kept.recall(other)) == []
