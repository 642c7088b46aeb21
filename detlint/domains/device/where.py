"""What may be said of where a value lies: the lattice of devices, which is a chain, and values in their contexts.

Of what may be one of several, the one that is farther from the host, as somebody asks for it, says what is asked: whether it may be on an
accelerator, and whether it surely is on the host. So that decides, and is all that is kept.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from detlint.ir.code import Function
from detlint.ir.uses import Op
from detlint.model.meaning import Meaning


class Where(IntEnum):
    """Where a value may lie, at most so far from the host."""

    NOWHERE = 0
    """Of what lies nowhere: numbers, texts."""
    HOST = 1
    """The CPU, as somebody asks for."""
    LEFT = 2
    """The CPU, as nobody asks for another device."""
    OPEN = 3
    """It isn't known."""
    ACCELERATOR = 4


NOWHERE: Final = Where.NOWHERE
HOST: Final = Where.HOST
LEFT: Final = Where.LEFT
OPEN: Final = Where.OPEN
ACCELERATOR: Final = Where.ACCELERATOR

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
