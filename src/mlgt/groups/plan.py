"""The part of a construction that does not depend on the column weight."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Plan(NamedTuple):
    """`draw(weight, rng)` returns a group matrix A (m, d) with this column weight, CSR."""

    draw: Callable[[Any, np.random.Generator], sp.csr_array]
    reproducible: bool = True
    """False if a time limit stopped the computation early."""
