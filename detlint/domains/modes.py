"""Which networks of PyTorch live code switches to another mode, and what networks are made of.

What it may assume: a network is made of objects of the classes that the methods of its class refer to, and of what its constructor is
handed, if it calls that; nobody else gives it parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from detlint.db import Memo
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.liveness import Piece, Program
from detlint.model.meaning import Meaning

FRAMEWORK: Final = "torch."
"""What it makes holds networks of the program: `nn.DataParallel(net)`."""
METHODS: Final = "torch.nn.Module."
"""How the names of methods begin that networks have."""
_INSIDE: Final = "::"


class Network(NamedTuple):
    """A network that something is done with."""

    kind: str
    """Its class, by full name; "" where that isn't known."""
    made: tuple[Piece, int] | None = None
    """The call that makes it, where a name of the same function holds it."""
    parts: frozenset[int] = frozenset()
    """What that call is handed, by the ops that make it."""


class Modes:
    """Answers for the classes of a program."""

    def __init__(self, matcher: Matcher, program: Program) -> None:
        self._resolver, self._program = matcher.resolver, program
        names = matcher.catalog.with_context("evaluates") | matcher.catalog.with_context("switches-mode")
        self._words = frozenset(name.rpartition(".")[2] for name in names if name.startswith(METHODS))
        self._made_of: Memo[tuple[frozenset[str], frozenset[str]]] = Memo(matcher.resolver.db)

    def switched(self, pieces: Iterable[Piece], evaluating: bool = False) -> Iterator[Network]:
        """The networks that some pieces of code switch to another mode; not those of libraries, which are switched when they are loaded.

        Args:
            evaluating: whether only those count that are switched to evaluation: `net.eval()`, `net.train(False)`.
        """
        for piece in pieces:
            function = self._program.function(piece)
            for at, operation in function.each(op.ATTR) if function is not None else ():
                assert function is not None
                if function.strings[operation[2]] in self._words and not (evaluating and _trains(function, at)):
                    network = self.network(piece, operation[1])
                    if network is not None:
                        yield network

    def network(self, piece: Piece, value: int) -> Network | None:
        """The network that a value is; None for one of a library."""
        meaning, function = self._program.meaning(piece.path), self._program.function(piece)
        assert meaning is not None and function is not None
        kind = meaning.kind(function, value)
        maker = kind or _maker(meaning, function, value)
        if maker and _INSIDE not in maker and not maker.startswith(FRAMEWORK):
            return None
        meant = function.meant(value)
        made = (piece, meant) if function.ops[meant][0] == op.CALL and _INSIDE in kind else None
        parts = [function.meant(part) for part in function.call(meant).values()] if made else ()
        return Network(kind if _INSIDE in kind else "", made, frozenset(parts))

    def are_apart(self, one: Network, other: Network) -> bool:
        """Whether what is done with one network surely isn't done with another: neither is the other, nor a part of that."""
        if one.made and other.made and one.made[0] == other.made[0] and one.made != other.made:
            return one.made[1] not in other.parts and other.made[1] not in one.parts
        return bool(one.kind and other.kind) and not (self.may_hold(one.kind, other.kind))

    def may_hold(self, outer: str, inner: str) -> bool:
        """Whether an object of a class may be, or be made of, one of another class."""
        return self.holds(outer, inner) or any(map(self._calls_what_it_is_handed, (outer, *self._parts(outer))))

    def holds(self, outer: str, inner: str) -> bool:
        """Whether an object of a class is, or is made of, one of another class, by all that its methods say."""
        related = {inner, *self._resolver.classes.mro(inner)}
        return any(
            inner in self._resolver.classes.mro(name) or (name in related and _INSIDE in name)
            for name in (outer, *self._parts(outer))
        )

    def files(self, kinds: Iterable[str]) -> Iterator[str]:
        """The files that say what networks of some classes are made of."""
        for kind in kinds:
            yield from self._made(kind)[1]

    def _parts(self, name: str) -> frozenset[str]:
        """The layers that the methods of a class refer to, and the functions that these call, and so on."""
        return self._made(name)[0]

    def _made(self, name: str) -> tuple[frozenset[str], frozenset[str]]:
        """They, and the files that say so."""
        return self._made_of.of(name, partial(self._finds_made, name), (frozenset(), frozenset()))

    def _finds_made(self, name: str) -> tuple[frozenset[str], frozenset[str]]:
        seen, waiting = {name}, [name]
        for each in waiting:
            found = [*self._referred(each)]
            waiting += (new for new in dict.fromkeys(found) if new not in seen)
            seen.update(found)
        layers = frozenset(each for each in seen - {name} if self._resolver.kinds.layer(each) is not None)
        return layers, frozenset(each.partition(_INSIDE)[0] for each in seen)

    def _referred(self, name: str) -> Iterator[str]:
        """The definitions that a function refers to, or the methods of a class and those of its bases."""
        for owner in self._resolver.classes.mro(name):
            for piece in self._program.pieces(owner) if _INSIDE in owner else ():
                yield from self._program.refers(piece).definitions
        for method in self._methods(name):
            yield from self._program.refers(method).definitions

    def _methods(self, name: str) -> Iterator[Piece]:
        for member in self._program.members(name):
            for found in self._program.of_class(name, member):
                yield from self._program.pieces(found)

    def _calls_what_it_is_handed(self, name: str) -> bool:
        """Whether a class calls an attribute that one of its methods sets to what it is handed."""
        called, handed = set[str](), set[str]()
        for piece in self._methods(name):
            function = self._program.function(piece)
            for operation in function.ops if function is not None else ():
                assert function is not None
                if operation[0] == op.CALL:
                    called.update(function.chain(operation[1]).attributes[:1])
                elif operation[0] == op.SET_ATTR and function.is_self(operation[1]):
                    given = any(function.parameter(part) >= 0 for part in function.within(operation[3]))
                    handed.update([function.strings[operation[2]]] if given else ())
        return not called.isdisjoint(handed)


def _trains(function: Function, attribute: int) -> bool:
    """Whether an attribute is only called to have a network train: `net.train()`, `net.train(mode)`."""
    calls = [use.op for use in function.users[attribute] if use.place == 1 and function.ops[use.op][0] == op.CALL]
    given = [[function.constant(value) for value in function.call(call).values()] for call in calls]
    return function.strings[function.ops[attribute][2]] == "train" and not any(False in each for each in given)


def _maker(meaning: Meaning, function: Function, value: int) -> str:
    """The full name of a value, or of what gives it, where a call does; "" where it has none."""
    operation = function.ops[value]
    return meaning.name(function, operation[1] if operation[0] == op.CALL else value)
