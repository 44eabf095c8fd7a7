"""A claim of the paper, its checks and their verdict."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Claim:
    """`checks` are (True if it holds, sentence with figures); `notes` are further measurements, which do
    not judge the claim; `remark` is the conclusion."""

    text: str
    where: str
    checks: list[tuple[bool, str]] = field(default_factory=list)
    remark: str = ""
    results: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def check(self, holds: Any, sentence: str) -> None:
        self.checks.append((bool(holds), sentence))

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    @property
    def verdict(self) -> str:
        """Confirmed if all checks hold, not confirmed if none does."""
        if not self.checks:
            return "not measured"
        return "confirmed" if self.held == len(self.checks) else "partly" if self.held else "not confirmed"

    @property
    def held(self) -> int:
        return sum(holds for holds, _ in self.checks)

    @property
    def count(self) -> str:
        """The number of checks that hold, in words."""
        return f"{self.held} of {len(self.checks)} checks hold" if self.checks else ""
