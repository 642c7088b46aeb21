"""Which code is of a run: what is live in it, by rapid type analysis.

A definition is live if a live piece of code refers to it as a value, builds its class, or has an attribute of its name, on an object of
its class or of a class that isn't known. What stands at the top level of a file is live if a live piece of code imports that.

Where following a run has told what a function calls by name, only what it hands on, and what it calls of objects that aren't known, counts.

What it may assume: objects are of classes that live code refers to; a framework calls what it calls by itself (`forward`, `__getitem__`,
`training_step`) on whatever is built. What is come to by names that are put together while the program runs isn't seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Final, NamedTuple

import msgspec

from detlint.ir.code import Function
from detlint.model.callees import is_hook
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.refers import ANY, Refers, refers
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Ref, Span, options


class Piece(NamedTuple):
    """A function, class body or top level of the program."""

    path: str
    number: int


class Reason(NamedTuple):
    """Why a piece is live."""

    by: Piece | None
    """The live piece that refers to it; None for where the run starts."""
    at: int
    """The op there."""


class Followed(NamedTuple):
    """What following a run has told: it has decided which ways are taken of what is called there, and by what names."""

    pieces: Set[Piece] = frozenset()
    """The functions that were followed, statement by statement."""
    called: Set[Piece] = frozenset()
    """They, and those that they call of which no statement does anything."""
    built: Set[str] = frozenset()
    """The classes of which they build objects."""
    farthest: int = 2
    """So many references are gone through from code that was followed: what is farther isn't looked into."""


NOTHING: Final = Followed()


class Program:
    """What all runs of a program have in common: what each piece of its code refers to. Everything asked once is remembered."""

    def __init__(self, resolver: Resolver, meanings: Meanings) -> None:
        self.resolver = resolver
        self._meanings = meanings
        self._known: dict[Piece, Refers] = {}
        self._names: dict[str, Sequence[str]] = {}
        self._of: dict[tuple[str, str], Sequence[str]] = {}

    def meaning(self, path: str) -> Meaning | None:
        """What the values of a file mean; None where it can't be read. What is found out rests on the pieces that are asked for."""
        module = self.resolver.module(path)
        return self._meanings.within(module) if module is not None else None

    def around(self, module: Module, span: Span) -> Piece:
        """The piece of code that begins at a place, or stands around it."""
        meaning = self._meanings.of(module)
        place = meaning.code.covering(span.line, span.column) if meaning is not None else None
        return Piece(module.path, place[0].number if place is not None else 0)

    def refers(self, piece: Piece) -> Refers:
        """What a piece of code refers to."""
        function = self.function(piece)
        if piece not in self._known:
            meaning = self.meaning(piece.path)
            made = refers(self.resolver, meaning, function) if meaning is not None and function is not None else None
            self._known[piece] = made or Refers()
        return self._known[piece]

    def pieces(self, name: str) -> Iterator[Piece]:
        """The definitions of a full name; none where it is that of a variable."""
        path, _, inside = name.partition("::")
        meaning = self.meaning(path)
        for function in meaning.code.by_name.get(inside, ()) if meaning is not None else ():
            yield Piece(path, function.number)

    def members(self, name: str) -> Sequence[str]:
        """The names of what a class of the program has, itself or by its bases of the program."""
        if name not in self._names:
            found = dict[str, None]()
            for owner in self.resolver.classes.mro(name):
                path, _, inside = owner.partition("::")
                module = self.resolver.module(path) if inside else None
                body = module.classes.get(inside) if module is not None else None
                found.update(dict.fromkeys((*body.methods, *body.attributes) if body is not None else ()))
            self._names[name] = (*found,)
        return self._names[name]

    def of_class(self, name: str, attribute: str) -> Sequence[str]:
        """The definitions of the program that an attribute of a class may be, wherever in the order of inheritance they are."""
        key = name, attribute
        if key not in self._of:
            values = options(self.resolver.classes.attribute(name, attribute))
            self._of[key] = [value.name for value in values if isinstance(value, Ref) and "::" in value.name]
        return self._of[key]

    def function(self, piece: Piece) -> Function | None:
        """A piece of code, in the IR of its file; None where that can't be read."""
        meaning = self.meaning(piece.path)
        function = meaning.code.function(piece.number) if meaning is not None else None
        if function is not None:
            self.resolver.inside(piece.path, function)
        return function

    def is_class(self, piece: Piece) -> bool:
        """Whether a piece of code is the body of a class."""
        meaning = self.meaning(piece.path)
        return meaning is not None and meaning.code.function(piece.number).is_class


def live(
    program: Program, path: str, names: Iterable[str] = (), followed: Followed = NOTHING
) -> Mapping[Piece, Reason]:
    """The pieces of code that are live in a run.

    Args:
        path: the file in which it starts.
        names: the functions that are called then, by their full names.
        followed: the code of which it is known what it calls by name; what else it refers to is on a way that isn't taken.
    """
    search = _Search(program, followed)
    search.note(Piece(path, 0), Reason(None, -1))
    for name in names:
        for piece in program.pieces(name):
            search.note(piece, Reason(None, -1))
    search.go()
    return search.found


def way_to(found: Mapping[Piece, Reason], piece: Piece) -> list[tuple[Piece, int]]:
    """How a run comes to a live piece: the ops that refer to what comes next, from where it starts."""
    steps = list[tuple[Piece, int]]()
    reason = found[piece]
    while reason.by is not None:
        steps.append((reason.by, reason.at))
        reason = found[reason.by]
    return steps[::-1]


class _Search:
    """A search for what is live, as far as it has come."""

    def __init__(self, program: Program, followed: Followed) -> None:
        self._program, self._followed = program, followed
        self._resolver = program.resolver
        self._waiting: deque[Piece] = deque()
        self._built: dict[str, Reason] = {}
        """The classes that live code refers to."""
        self._having: dict[str, dict[str, None]] = {}
        """What these have, by name -> they."""
        self._heirs: dict[str, list[str]] = {}
        """Classes -> those of them that derive from them, or are they."""
        self._had: dict[str, dict[str, Reason]] = {}
        """The attributes that live code has of objects, with the classes of these."""
        self._tables: dict[str, list[tuple[str, Reason]]] = {}
        """The definitions that live top levels keep in variables which nobody has read yet."""
        self._read: set[str] = set()
        """The variables that live code reads, by their names alone."""
        self._far: dict[Piece, int] = {}
        """How many references lead to a piece from one that was followed, where any was."""
        self.found: dict[Piece, Reason] = {}

    def note(self, piece: Piece, reason: Reason) -> None:
        """Something is live."""
        if piece not in self.found:
            self.found[piece] = reason
            near = not self._followed.pieces or piece in self._followed.called
            self._far[piece] = 0 if near or reason.by is None else self._far[reason.by] + 1
            if self._far[piece] <= self._followed.farthest:
                self._waiting.append(piece)

    def go(self) -> None:
        """Go on until nothing more is found."""
        while self._waiting:
            piece = self._waiting.popleft()
            found = self._program.refers(piece)
            if piece in self._followed.pieces:
                found = self._as_followed(found)
            for path, at in found.imports.items():
                self.note(Piece(path, 0), Reason(piece, at))
            for number, at in found.inside.items():
                self.note(Piece(piece.path, number), Reason(piece, at))
            for name, at in found.definitions.items():
                self._refer(name, Reason(piece, at))
            for (owner, attribute), at in found.attributes.items():
                self._have(owner, attribute, Reason(piece, at))
            self._keep(piece, found)

    def _keep(self, piece: Piece, found: Refers) -> None:
        """A live piece keeps definitions in variables, and reads some: who reads one has what it holds."""
        whole = f"{piece.path}::"
        for variable, kept in found.tables.items():
            for key in (variable, whole):
                self._tables.setdefault(key, []).extend((name, Reason(piece, at)) for name, at in kept.items())
        read = [*found.reads, *(attribute for _, attribute in found.attributes)]
        self._read.update(read)
        for variable in (*found.tables, whole, *read) if self._tables else ():
            for name, reason in self._tables.pop(variable, ()) if variable in self._read else ():
                self._refer(name, reason)

    def _as_followed(self, found: Refers) -> Refers:
        """What is left of what a piece refers to, where it is known which definitions it calls."""
        kept = {name: at for name, at in found.definitions.items() if name in found.values or self._is_followed(name)}
        attributes = {
            (owner, attribute): at
            for (owner, attribute), at in found.attributes.items()
            if owner == ANY or any(map(self._is_followed, self._program.of_class(owner, attribute)))
        }
        return msgspec.structs.replace(found, definitions=kept, attributes=attributes)

    def _is_followed(self, name: str) -> bool:
        """Whether the run calls a function, or builds an object of a class."""
        return name in self._followed.built or any(map(self._followed.called.__contains__, self._program.pieces(name)))

    def _refer(self, name: str, reason: Reason) -> None:
        """Live code has a definition as a value: a function may be called, a class may be built."""
        classes = False
        for piece in self._program.pieces(name):
            classes = classes or self._program.is_class(piece)
            self.note(piece, reason)
        if classes and name not in self._built:
            self._built[name] = reason
            for owner in self._resolver.classes.mro(name):
                self._heirs.setdefault(owner, []).append(name)
            for member in self._program.members(name):
                self._having.setdefault(member, {})[name] = None
                if self._is_called(name, member):
                    self._run(name, member, reason)

    def _is_called(self, name: str, method: str) -> bool:
        """Whether a method of a class is called on its objects, by what is live so far or by a framework: of those that the run builds,
        it is known what frameworks call."""
        had = self._had.get(method, {})
        if ANY in had or not had.keys().isdisjoint(self._resolver.classes.mro(name)):
            return True
        if name in self._followed.built:
            return any(map(self._is_followed, self._program.of_class(name, method)))
        layer = self._resolver.kinds.layer(name)
        by_itself = (method.startswith("__") and method.endswith("__")) or is_hook(method)
        return by_itself or (layer is not None and method == layer.forward)

    def _have(self, owner: str, attribute: str, reason: Reason) -> None:
        """Live code has an attribute of an object."""
        had = self._had.setdefault(attribute, {})
        if owner in had:
            return
        had[owner] = reason
        if owner != ANY:
            self._run(owner, attribute, reason)
        for name in [*(self._having.get(attribute, ()) if owner == ANY else self._heirs.get(owner, ()))]:
            self._run(name, attribute, reason)

    def _run(self, name: str, method: str, reason: Reason) -> None:
        """A method of a class runs."""
        for found in self._program.of_class(name, method):
            self._refer(found, reason)
