"""Texts in a file on disk, for more of them than fit into memory."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .memory import Growing


class TextsOnDisk(Sequence[str]):
    """Texts in an unnamed file, decoded when they are used; what is made of them is on disk too."""

    def __init__(self, texts: Iterable[str]) -> None:
        content, ends = Growing(np.uint8, on_disk=True), array("q", [0])
        for text in texts:
            content.append(np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8))
            ends.append(content.size)
        self._content, self._ends = content.finish(), ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[str]:
        return (self._decoded(*span) for span in pairwise(self._ends))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        return self._decoded(self._ends[i], self._ends[i + 1])

    def _decoded(self, first, last):
        return self._content[first:last].tobytes().decode("utf-8", "surrogatepass")
