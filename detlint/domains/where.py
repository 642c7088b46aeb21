"""What may be said of where a value lies: the lattice of devices, and values in their contexts.

An abstract value is a set of what the value may be; `|` is the join, and the empty set says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from detlint.ir.code import Function
from detlint.ir.uses import Op
from detlint.model.meaning import Meaning

HOST: Final = "host"
"""The CPU, as somebody asks for."""
LEFT: Final = "left"
"""The CPU, as nobody asks for another device."""
ACCELERATOR: Final = "accelerator"
OPEN: Final = "open"
"""It isn't known."""

Where = frozenset[str]
"""What a value may be."""
NOWHERE: Final = Where()
"""Of what lies nowhere: numbers, texts."""
UNKNOWN: Final = Where({OPEN})
ON_HOST: Final = Where({HOST})
ON_LEFT: Final = Where({LEFT})
ON_ACCELERATOR: Final = Where({ACCELERATOR})

Context = tuple[tuple[int, Where], ...]
"""What some parameters of a function are in one call."""


class Value(NamedTuple):
    """A value of the program, in a context."""

    meaning: Meaning
    function: Function
    at: int
    context: Context = ()

    def of(self, at: int) -> Value:
        """Another value of the same function, in the same context."""
        return self._replace(at=at)

    @property
    def is_named(self) -> bool:
        """Whether it is read by the name of a module, or of a class: `torch.cuda.FloatTensor`, and not of an object."""
        return self.meaning.name(self.function, self.function.chain(self.at).root) != ""

    @property
    def operation(self) -> Op:
        """The op that gives it."""
        return self.function.ops[self.at]


def join(found: Iterable[Where]) -> Where:
    """What may be one of several."""
    return NOWHERE.union(*found)


def together(found: Iterable[Where]) -> Where:
    """Where that lies which is computed of several: an accelerator decides, as numbers on the host may go with it."""
    each = [where for where in found if where]
    return ON_ACCELERATOR if ON_ACCELERATOR in each else join(each)
