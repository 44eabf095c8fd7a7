"""The form in which the paper's authors publish their reorderings: two text files.

    NAME-perm.txt     the permutation, one label per line, labels counted from 1
    NAME-comm.txt     the blocks, as Matlab's ranges of places in the permutation, counted from 1:

        set1 = [1:253, 2642:2656, 2673:2728, 3023:3993]; tsize = 1295;

The first range of a set is the block itself, the others are the separators above it, the root's last:
together the S + C_i of `Partition.labels`. Other lines, and those after a line of dashes (blocks merged for
experiments), are not read.
"""

import re
from pathlib import Path

import numpy as np

from ..._core.errors import DataFormatError
from ..._core.files import read_text, replacing
from ..._core.limits import DEFAULT_LIMITS, Limits
from .tree import Partition

_SET = re.compile(r"\s*set\d+\s*=\s*\[(?P<ranges>[^\]]*)\]")
_RANGE = re.compile(r"\s*([0-9]{1,18})\s*:\s*([0-9]{1,18})\s*$")
_LABEL = re.compile("[0-9]{1,18}")


def read_reordering(
    permutation_file: str | Path, blocks_file: str | Path, *, limits: Limits = DEFAULT_LIMITS
) -> Partition:
    """Read the partition that the two files describe, labels counted from 0."""
    permutation = read_permutation(permutation_file, limits=limits)
    paths = list(_read_sets(blocks_file, limits))
    if not paths:
        raise DataFormatError(
            f"{blocks_file} names no block; expected lines such as: set1 = [1:25, 90:99];"
        )
    parent = _parents(paths, blocks_file)
    nodes = _children_first(paths)
    _check_cover(nodes, len(permutation), blocks_file)
    number = {node: v for v, node in enumerate(nodes)}
    tops = [node for node in nodes if parent[node] is None]
    if len(tops) > 1:  # blocks without a common separator: an empty one above them
        nodes.append((1, 0))
        parent |= dict.fromkeys(tops, nodes[-1]) | {nodes[-1]: None}
        number[nodes[-1]] = len(nodes) - 1
    labels = [np.sort(permutation[first - 1 : last]) for first, last in nodes]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in labels])])
    parents = np.array([-1 if parent[node] is None else number[parent[node]] for node in nodes])
    return Partition(np.concatenate(labels), offsets, parents, partitioner="file")


def write_reordering(partition: Partition, permutation_file: str | Path, blocks_file: str | Path) -> None:
    """Write both files; places follow `partition.permutation`, empty separators are left out."""
    begin, end = partition.offsets[:-1] + 1, partition.offsets[1:]
    sizes = partition.sizes
    lines = [f" sepsz = {len(partition.separator)}, nneg = {partition.n_blocks}", ""]
    for i in range(partition.n_blocks):
        ranges = ", ".join(f"{begin[v]}:{end[v]}" for v in partition.path(i) if begin[v] <= end[v])
        lines.append(f"set{i + 1} = [{ranges}]; tsize = {sizes[i]};")
    with replacing(permutation_file) as permutation, replacing(blocks_file) as blocks:
        permutation.writelines(b"%d\n" % (label + 1) for label in partition.permutation)
        blocks.write("\n".join([*lines, ""]).encode())


def read_permutation(file: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> np.ndarray:
    """Read (d,) labels, counted from 0, from a file with each of 1 .. d on its own line."""
    lines = read_text(file, limits).split("\n")
    numbered = [(i, line.strip()) for i, line in enumerate(lines, start=1) if line.strip()]
    d = len(numbered)
    first_at: dict[int, int] = {}
    for i, text in numbered:
        if not _LABEL.fullmatch(text) or not 1 <= int(text) <= d:
            raise DataFormatError(
                f"{file}, line {i}: {text[:40]!r} is not a label of a permutation; expected each number "
                f"from 1 to {d} once, since the file has {d} lines. Labels count from 1 in this form."
            )
        label = int(text)
        if label in first_at:
            raise DataFormatError(
                f"{file}, line {i}: label {label} is in line {first_at[label]} already; a permutation "
                f"has each whole number from 1 to {d} once."
            )
        first_at[label] = i
    if d == 0:
        raise DataFormatError(f"{file} is empty; expected a permutation, one label per line.")
    return np.fromiter(first_at, np.int64, d) - 1


def _read_sets(file, limits):
    """Yield the ranges (first, last) of each set, its block first."""
    for i, line in enumerate(read_text(file, limits).split("\n"), start=1):
        if line.startswith("---"):
            return
        found = _SET.match(line)
        if not found:
            continue
        ranges = [_RANGE.match(text) for text in found["ranges"].split(",")]
        if not all(ranges):
            raise DataFormatError(
                f"{file}, line {i}: [{found['ranges'].strip()}] is not a list of ranges; expected "
                "first:last, first:last, ..."
            )
        yield [(int(r[1]), int(r[2])) for r in ranges if r]


def _parents(paths, file):
    """{range: range of the separator above it, None at the top}."""
    parent: dict = {}
    for number, path in enumerate(paths, start=1):
        for node, above in zip(path, [*path[1:], None]):
            if parent.setdefault(node, above) != above:
                raise DataFormatError(
                    f"{file}: set{number} puts {node[0]}:{node[1]} below {_range_text(above)}, an earlier "
                    f"set below {_range_text(parent[node])}; expected one tree of separators."
                )
    return parent


def _children_first(paths):
    """The blocks in their order, then the separators, each after all nodes below it."""
    latest: dict = {}  # the last place in a separator or below it
    height: dict = {}
    for path in paths:
        for i, node in enumerate(path[1:], start=1):
            latest[node] = max(latest.get(node, 0), *(first for first, _ in path[: i + 1]))
            height[node] = max(height.get(node, 0), i)
    return [path[0] for path in paths] + sorted(latest, key=lambda node: (latest[node], height[node]))


def _range_text(node):
    return "nothing" if node is None else f"{node[0]}:{node[1]}"


def _check_cover(nodes, d, file):
    """Ranges must follow each other without gap or overlap from 1 to d."""
    expected = 1
    for first, last in [*sorted(nodes), (d + 1, d + 1)]:
        if first != expected or last < first:
            raise DataFormatError(
                f"{file}: the ranges do not cover the {d} places of the permutation once each: expected "
                f"one that starts at {expected}, found {first}:{last}."
            )
        expected = last + 1
