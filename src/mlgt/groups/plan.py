"""What a construction has decided before the column weight is known."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp


class Plan(NamedTuple):
    """`draw(weight, rng)` gives a group matrix A (m, d) of that column weight, CSR."""

    draw: Callable[[int | None, np.random.Generator], sp.csr_array]
    reproducible: bool = True
    """False when the clock had a say in it."""
