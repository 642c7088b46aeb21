"""Python files, fixed by the rewrites of Python expressions."""

from __future__ import annotations

from detlint.fixes import rewrites
from detlint.fixes.file import File
from detlint.fixes.recipe import Change, Order


class PythonFile(File):
    """A file of code in which recipes are followed."""

    def follow(self, order: Order) -> Change:
        spot = rewrites.Spot(self, order)
        return Change(rewrites.edits(spot), spot.imports)
