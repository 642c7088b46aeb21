"""Seed flow: what an entry point has seeded when it reaches a draw.

A run is followed from the entry point through the calls of the program, in execution order: imports run a module's top
level where they stand, branches meet by intersection, loops run their body once, a constructor runs `__init__`, calling a
layer runs its `forward`; what frameworks call by themselves runs at the end. Functions that can't touch any stream or
switch, however deep they go, are known once for all runs and left out. Switches (`deterministic-algorithms`, ...) flow
the same way, as things that are set rather than seeded.

A run is one class in layers, a file each in `following/`: each layer stands on those below.
"""

from __future__ import annotations

from detlint.effects.ground import Ground
from detlint.effects.state import State
from detlint.effects.top import Top
from detlint.effects.whole import WholeRun
from detlint.model.module import Module
from detlint.model.runs.entry import EntryPoint
from detlint.model.runs.reach import Reach
from detlint.model.sites.records import Span


class Flow(Ground):
    """Follows entry points; it is made as `Ground` says."""

    def reach(self, entry: EntryPoint) -> list[Reach]:
        """Everything that a run from this entry point does, and the processes that it starts."""
        return WholeRun(self, entry, State(), ()).follow()

    def look(self, module: Module) -> Top:
        """What importing a module does."""
        entry = EntryPoint(module, module.facts.functions[0], Span(1, 0, 1, 0), "import")
        return WholeRun(self, entry, State(), ()).seen_imported()
