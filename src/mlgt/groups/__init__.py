"""Y or H -> A (m, d) in {0,1}: which labels are pooled into which group.

A construction is a module with `WEIGHTED` (True if it takes a column weight) and
`plan(Y, m, rng, *, progress=None, **options)`, which does the work that does not depend on the weight and
returns a `Plan` with `draw(weight, rng) -> A`. To add one, write its file and name it here.
"""

from . import constant_weight, nmf, saffron, sparse_random
from .bipartite import regular_graph
from .constant_weight import constant_weight_groups
from .nmf import nmf_groups
from .pool import is_permutation, pool
from .quality import coherence, correlation_metric, is_disjunct
from .saffron import SaffronDesign, saffron_design
from .sparse_random import sparse_random_groups

CONSTRUCTIONS = {
    "nmf": nmf,
    "constant_weight": constant_weight,
    "sparse_random": sparse_random,
    "saffron": saffron,
}

__all__ = [
    "CONSTRUCTIONS",
    "SaffronDesign",
    "coherence",
    "constant_weight_groups",
    "correlation_metric",
    "is_disjunct",
    "is_permutation",
    "nmf_groups",
    "pool",
    "regular_graph",
    "saffron_design",
    "sparse_random_groups",
]
