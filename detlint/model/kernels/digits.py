"""Numbers that are taken apart, `n // width` and `n % width`: which of their digits are kept apart, and when that is all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

Axes = frozenset[str]
"""Numbers that are kept apart: `program x`, `thread x`, `lane 12`."""
_SUMS: Final = frozenset({"+", "-", "/", "//", "%", "<<", ">>", "&"})
"""What makes a size no product."""


PARTS: Final = {"//": "//", "/": "//", "%": "%", ">>": "//", "&": "%"}
"""What takes a number apart, of Python and of C++."""
_WARPS: Final = frozenset({"2", "4", "8", "16", "32", "64"})
"""Into how many of its threads each block divides."""


def size_of(word: str, size: str) -> str:
    """By what a number is taken apart, `5` of `n >> 5` and `31` of `n & 31` as well; "" for what is no size."""
    size = size.replace("warpSize", "32").replace("(32 - 1)", "31")
    if word == ">>":
        return str(1 << int(size)) if size.isdigit() and int(size) < 32 else ""
    if word == "&":
        size = size.replace(" - 1)", "").removeprefix("(") if size.endswith(" - 1)") else size
        return size if not size.isdigit() else str(int(size) + 1) if not (int(size) + 1) & int(size) else ""
    return size


def taken_apart(axes: Axes, word: str, size: str) -> Axes:
    """What a part of a number keeps apart, by what that does. Blocks hold whole warps, so which of all warps it is tells the block."""
    blocks = {axis for axis in axes if axis.startswith("program ") and f"thread {axis[8:]}" in axes}
    blocks = blocks if size in _WARPS else set[str]()
    parts = {part for axis in axes - blocks if (part := Digit.of(axis).part(PARTS[word], size))}
    return frozenset(parts | blocks if PARTS[word] == "//" else parts)


def _factors(size: str) -> tuple[str, ...]:
    """What a size is a product of: `(B * (H * W))`."""
    if " * " in size and _SUMS.isdisjoint(size.split()):
        return tuple(sorted(size.replace("(", "").replace(")", "").split(" * ")))
    return (size.replace(" ", ""),)


def _without(sizes: Sequence[str], factors: Sequence[str]) -> tuple[str, ...] | None:
    """A product without some of its factors; None where it hasn't these."""
    left = [*sizes]
    for factor in factors:
        if factor not in left:
            return None
        left.remove(factor)
    return tuple(left)


class Digit(NamedTuple):
    """A number that is taken apart, `n // below % rest`: a digit of it, written to mixed bases."""

    number: str
    below: tuple[str, ...]
    """The factors of what it is divided by."""
    rest: tuple[str, ...]
    """Those of what the rest is taken by; none for none."""

    @classmethod
    def of(cls, axis: str) -> Digit:
        """The digit as which an axis is written."""
        number, _, rest = axis.partition(" // ")
        below, _, rest = rest.partition(" % ")
        return cls(number, _listed(below), _listed(rest))

    def part(self, word: str, size: str) -> str:
        """What is left of it by another division, or rest, by a size; "" where that keeps nothing apart."""
        factors, below, rest = _factors(size), self.below, self.rest
        if word == "%":
            within = _without(rest, factors) is not None or not rest
            rest = factors if within else rest
            known = within or _without(factors, rest) is not None
        else:
            left = _without(rest, factors) if rest else ()
            known, below, rest = bool(left) or not rest, tuple(sorted(below + factors)), left or ()
        return f"{self.number} // {' '.join(below)} % {' '.join(rest)}" if known else ""


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def complete(axes: Axes) -> Axes:
    """What is kept apart, with the numbers of which all digits are: `n // size` and `n % size`."""
    digits = [Digit.of(axis) for axis in axes if " // " in axis]
    found = set(axes)
    for number in {digit.number for digit in digits}:
        below: tuple[str, ...] | None = ()
        while below is not None and number not in found:
            following = [digit for digit in digits if digit.number == number and digit.below == below]
            if any(not digit.rest for digit in following):
                found.add(number)
            below = next((tuple(sorted(below + digit.rest)) for digit in following if digit.rest), None)
    return frozenset(found)


class Term(NamedTuple):
    """A part of a sum."""

    axes: Axes
    scale: int
    """The value that it is multiplied by; -1 for none."""
    value: int
    is_taken_away: bool = False
    """Whether it is subtracted."""


def cancelled(terms: Sequence[Term]) -> Axes:
    """The numbers that a sum takes away again: `row * n + k - row * n`."""
    added, taken = ([term.axes for term in terms if term.is_taken_away == side] for side in (False, True))
    return frozenset[str]().union(*added) & frozenset[str]().union(*taken)
