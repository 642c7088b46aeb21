"""What seeding a process came to, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["set", "already", "late", "waiting", "failed", "absent"]
"""`set`: done. `already`: it was so before. `late`: done, but without effect on this process or on part of it.
`waiting`: done as soon as the library is imported. `failed`: not done. `absent`: the library isn't installed."""


@dataclass(frozen=True)
class Step:
    """One thing that was to be set.

    Attributes:
        what: as code or as a variable: `torch.manual_seed(1234)`, `PYTHONHASHSEED=1234`.
        why: the reason, where it isn't simply set.
        library: the library that it belongs to; empty for Python and the environment.
    """

    what: str
    outcome: Outcome
    why: str = ""
    library: str = ""
    lasting: str = ""
    """Why it can't be undone, where it can't."""

    def __str__(self) -> str:
        return f"{self.outcome:<8} {self.what}" + (f": {self.why}" if self.why else "")


@dataclass
class Record:
    """What `seed_all` did. Steps that wait for an import are replaced by what came of them when it happens.

    Attributes:
        then: gets those steps.
    """

    seed: int
    mode: bool
    steps: list[Step] = field(default_factory=list)
    open: bool = field(default=True, repr=False, compare=False)
    then: Callable[[list[Step]], None] | None = field(default=None, repr=False, compare=False)

    def close(self) -> None:
        """Seed nothing more: what is imported from now on is left alone."""
        self.open = False

    def of(self, *outcomes: Outcome) -> list[Step]:
        """The steps with these outcomes."""
        return [step for step in self.steps if step.outcome in outcomes]

    @property
    def complete(self) -> bool:
        """Whether nothing failed or came too late."""
        return not self.of("failed", "late")

    def put(self, library: str, steps: Iterable[Step]) -> None:
        """Put steps in place of those that wait for a library."""
        place = next((i for i, s in enumerate(self.steps) if s.library == library), len(self.steps))
        rest = [s for s in self.steps if s.library != library]
        self.steps = [*rest[:place], *steps, *rest[place:]]

    def __str__(self) -> str:
        switches = "deterministic operators switched on" if self.mode else "no switch touched"
        absent = ", ".join(step.what for step in self.of("absent"))
        lines = [str(step) for step in self.steps if step.outcome != "absent"]
        if absent:
            lines.append(f"{'absent':<8} {absent}")
        return "\n  ".join([f"seed {self.seed}, {switches}", *lines])
