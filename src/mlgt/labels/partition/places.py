"""A partition as plain text: one label per line, in the order of ids, each with its place in the tree.

    law/tax        names from the top down, with / between them
    law            a place above others: its labels are a separator, trained with every block below
    .              the top itself

A file with one name per line assigns labels to blocks.
"""

from pathlib import Path

import numpy as np

from ..._core.errors import DataFormatError
from ..._core.files import read_text, replacing
from ..._core.limits import DEFAULT_LIMITS, Limits
from .tree import Partition

TOP = "."


def read_places(
    path: str | Path, n_labels: int | None = None, *, limits: Limits = DEFAULT_LIMITS
) -> Partition:
    """Read the `Partition` that a file of places describes, of `n_labels` labels if that is given."""
    lines = read_text(path, limits).removesuffix("\n").split("\n")
    if n_labels is not None and len(lines) != n_labels:
        raise DataFormatError(
            f"{path} has {len(lines)} lines, but there are {n_labels} labels; expected one line per label, "
            "in the order of ids."
        )
    labels: dict[tuple[str, ...], list[int]] = {}
    for label, line in enumerate(lines):
        place = line.strip()
        names = () if place == TOP else tuple(name.strip() for name in place.split("/"))
        if not all(names):
            raise DataFormatError(
                f"{path}, line {label + 1}: {place[:40]!r} is not a place; expected names with / "
                f"between them, or {TOP} for the top, one label per line, in the order of ids."
            )
        labels.setdefault(names, []).append(label)
    nodes = {names[:depth] for names in labels for depth in range(len(names) + 1)}
    inner = {names[:-1] for names in nodes if names}
    blocks = sorted(nodes - inner, key=lambda names: (names[-1:], names))  # as `write_places` counts them
    order = blocks + sorted(inner, key=lambda names: (-len(names), names))
    number = {names: v for v, names in enumerate(order)}
    own = [np.array(labels.get(names, []), np.int64) for names in order]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in own])])
    parents = np.array([number[names[:-1]] if names else -1 for names in order])
    return Partition(np.concatenate(own), offsets, parents, partitioner="file")


def write_places(partition: Partition, path: str | Path) -> None:
    """Write the file of a partition; places are named by the numbers of their nodes."""
    digits = len(str(partition.n_nodes - 1))
    names = []
    for v in range(partition.n_nodes):
        below_the_top = reversed(partition.path(v)[:-1])
        names.append("/".join(f"{u:0{digits}d}" for u in below_the_top) or TOP)
    with replacing(path) as file:
        file.writelines(f"{names[v]}\n".encode() for v in partition.node_of)
