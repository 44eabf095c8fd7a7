"""Limits of the files that are read, so that memory and time follow from the size of a file."""

from collections.abc import Callable
from dataclasses import dataclass

from .errors import DataFormatError

MB = 1 << 20
FREE_MB = 4
"""Unpacked megabytes of a gzip file before its ratio counts: a small file may repeat one line."""


@dataclass(frozen=True)
class Limits:
    """The longest line and the largest ratio of compression that are read; beyond, reading stops.

    Parameters
    ----------
    max_line : float, default=64
        Megabytes of the longest line, row of a table or text.
    max_ratio : float, default=100
        Unpacked bytes per packed byte of a gzip file, beyond the first 4 MB. Ordinary text has 2 to 20.

    Examples
    --------
    >>> from mlgt.data import Limits
    >>> Limits(max_line=256)
    Limits(max_line=256, max_ratio=100.0)
    """

    max_line: float = 64.0
    max_ratio: float = 100.0

    def __post_init__(self) -> None:
        for name in ("max_line", "max_ratio"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a finite number above 0.")

    @property
    def line_bytes(self) -> int:
        """Bytes of the longest line."""
        return int(self.max_line * MB)

    def long_line(self, what: str = "a line") -> str:
        """The message about a line that is too long."""
        return (
            f"{what} has more than {self.max_line:g} MB; expected less, one row per line. If the file is "
            f"right, pass max_line={2 * self.max_line:g}."
        )

    def check_ratio(self, unpacked: int, packed: int, name: Callable[[], str]) -> None:
        """Raise if gzip data of `packed` bytes has more `unpacked` bytes than ordinary data."""
        if unpacked > FREE_MB * MB + self.max_ratio * packed:
            raise DataFormatError(
                f"{name()}: {packed} bytes of gzip data unpack to more than {unpacked // MB} MB; expected "
                f"at most {self.max_ratio:g} bytes per byte, beyond {FREE_MB} MB. If the file is right, "
                f"pass max_ratio={10 * self.max_ratio:g}."
            )


DEFAULT_LIMITS = Limits()
