"""Which `LOAD`s a definition may reach: the other side of what reaches a `LOAD`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from detlint.ir import ops as op
from detlint.ir.exits import BEFORE, UNTOLD, Definitions
from detlint.ir.uses import Op


class Loads:
    """Asks one function. What reaches a `LOAD` that isn't told is put together when somebody asks for it: generated code may have
    thousands of definitions of one name, and as many such `LOAD`s.

    Args:
        ops: those of the function.
        reaching: the definitions that reach each `LOAD`.
    """

    def __init__(self, ops: Sequence[Op], reaching: Mapping[int, Definitions]) -> None:
        self._ops = ops
        self._told: dict[int, list[int]] = {}
        self._untold: dict[int, list[int]] = {}
        """Slots -> the `LOAD`s that any definition of them may reach."""
        for load, definitions in reaching.items():
            slot = ops[load][1]
            if UNTOLD in definitions:
                self._untold.setdefault(slot, []).append(load)
                continue
            for definition in definitions:
                self._told.setdefault(definition if definition != BEFORE else BEFORE - slot, []).append(load)

    def get(self, definition: int, default: Sequence[int] = ()) -> Sequence[int]:
        """What a definition may reach: a `STORE`, a `DELETE`, or, as `BEFORE - slot`, what a slot was at the beginning."""
        told: Sequence[int] = self._told.get(definition, ())
        operation = self._ops[definition] if definition >= 0 else (op.STORE, BEFORE - definition)
        untold = self._untold.get(operation[1], ()) if operation[0] in (op.STORE, op.DELETE) else ()
        return sorted((*told, *untold)) if told and untold else told or untold or default
