"""Places in the IR, and which tests are passed on the way there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from detlint.ir.code import Function
from detlint.ir.records import KIND, LAMBDA


class Test(NamedTuple):
    """A test on the way to a place, and what it has to be."""

    function: Function
    value: int
    wanted: bool


class Place(NamedTuple):
    """An op of a function."""

    function: Function
    at: int

    @property
    def around(self) -> Function:
        """The innermost function around it that has a name."""
        return named(self.function)

    def tests(self) -> Iterator[Test]:
        """The tests that were passed on the way to it, from the beginning of the function around it that has a name: the innermost
        first. A lambda is only there where its definition is come to."""
        function, at = self
        while True:
            for guard in function.guards(at):
                yield Test(function, guard.test, guard.holds)
            around = function.parent
            if function.header.kind & KIND != LAMBDA or around is None:
                return
            function, at = around, function.definition


def named(function: Function) -> Function:
    """The innermost function around a lambda that is none; itself for any other."""
    while function.header.kind & KIND == LAMBDA and function.parent is not None:
        function = function.parent
    return function
