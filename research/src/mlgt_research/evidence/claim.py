"""A claim, what was checked of it, and what came out."""

from dataclasses import dataclass, field


@dataclass
class Claim:
    """`checks` are (does it hold?, sentence with figures), `notes` what was measured beside, which does not
    judge the claim; `remark` says what to make of it."""

    text: str
    where: str
    checks: list[tuple[bool, str]] = field(default_factory=list)
    remark: str = ""
    results: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    def check(self, holds, sentence):
        self.checks.append((bool(holds), sentence))

    def note(self, sentence):
        self.notes.append(sentence)

    @property
    def verdict(self):
        """Confirmed if all checks hold, not confirmed if none does."""
        if not self.checks:
            return "not measured"
        return "confirmed" if self.held == len(self.checks) else "partly" if self.held else "not confirmed"

    @property
    def held(self):
        return sum(holds for holds, _ in self.checks)

    @property
    def count(self):
        """How many checks hold, in words."""
        return f"{self.held} of {len(self.checks)} checks hold" if self.checks else ""
