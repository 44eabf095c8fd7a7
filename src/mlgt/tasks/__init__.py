"""Training as stages of independent tasks: on threads, with results kept in files, or on a cluster.

Packages below describe their work as a `Stage` and call `run_stage`; where its tasks run is decided by the
contexts `keep_work` and `on_cluster`, and by nothing else.
"""

from .cluster import on_cluster, use_scheduler
from .kept import expect, keep_training, keep_work
from .stage import Stage, map_rows, run_stage, run_task

__all__ = [
    "Stage",
    "expect",
    "keep_training",
    "keep_work",
    "map_rows",
    "on_cluster",
    "run_stage",
    "run_task",
    "use_scheduler",
]
