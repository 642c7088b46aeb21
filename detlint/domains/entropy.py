"""What differs from run to run though nothing draws it: here `hash()`, which Python salts for texts and bytes, and for what holds such.

Clocks, processes and the system's entropy stand in the catalog. It may assume that annotations hold, that what a function of the program
gives is what one of its returns says, and what `model/elements.py` does of names that nothing else tells of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from detlint.catalog import Entry
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model import elements
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.places import call_at, calls_among
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Site
from detlint.model.uses import Callers

SALTED: Final = "salted"
"""Entries in this context hold of a hash only where it is salted."""
_TEXTS: Final = frozenset({"builtins.str", "builtins.bytes"})
_NUMBERS: Final = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.complex"})
_TUPLES: Final = frozenset({"builtins.tuple", "builtins.frozenset"})
_GIVES_TEXT: Final = frozenset({
    "capitalize", "casefold", "decode", "digest", "encode", "format", "getvalue", "hex", "hexdigest", "join", "lower", "lstrip",
    "removeprefix", "removesuffix", "replace", "rstrip", "strip", "title", "tobytes", "upper", "zfill",
})  # fmt: skip
"""Methods that give a text, or bytes."""
_CUTS: Final = frozenset({"%", "&", ">>", "//"})
_MIXES: Final = frozenset({"+", "-", "*", "^", "|", "<<"})
_SMALLER: Final = frozenset({"<", "<=", ">", ">="})
_SAME_NUMBER: Final = frozenset({"builtins.abs", "builtins.int", "builtins.divmod"})
_DEEPEST: Final = 8
"""Through so many names and functions a value is followed."""


class Salt:
    """Says of which values the hash is salted.

    Args:
        meanings: say what the values of a file mean.
    """

    def __init__(self, resolver: Resolver, meanings: Meanings) -> None:
        self._resolver = resolver
        self._meanings = meanings

    def of_site(self, module: Module, site: Site) -> bool | None:
        """Whether the hash that a site asks for is salted; None where that isn't known."""
        call = call_at(self._resolver, self._meanings, module, site)
        if call is None:
            return None
        meaning, point = call
        given = point.function.call(point.at)
        if len(given.positional) != 1 or given.named:
            return None
        return self.of(meaning, point.function, given.positional[0])

    def of(self, meaning: Meaning, function: Function, value: int, depth: int = 0) -> bool | None:
        """Whether the hash of a value is salted."""
        operation, more = function.ops[value], depth + 1
        code = operation[0]
        if depth > _DEEPEST:
            return None
        if code == op.CONST:
            return isinstance(function.constant(value), (str, bytes))
        if code == op.TEXT:
            return True
        if code == op.COMPARE:
            return False
        if code == op.TUPLE:
            return _any(self.of(meaning, function, item, more) for item in operation[1:])
        if code == op.LOAD:
            return self._named(meaning, function, value, more)
        if code == op.PART and function.ops[operation[1]][0] == op.TUPLE:
            parts = function.ops[operation[1]]
            whole = 0 <= operation[2] < len(parts) - 1
            return self.of(meaning, function, parts[operation[2] + 1], more) if whole else None
        if code in (op.BINARY, op.AUGMENT, op.CHOICE):
            # A number is only put together with another, and only a number stands in for one.
            sides = {self.of(meaning, function, side, more) for side in operation[2:] if side >= 0}
            return True if True in sides else False if False in sides else None
        if code == op.UNARY:
            return False
        found = self._given_by(meaning, function, value, more) if code == op.CALL else None
        return found if found is not None else _KINDS.get(elements.element(function, value))

    def _named(self, meaning: Meaning, function: Function, load: int, depth: int) -> bool | None:
        """The same of what a name holds: by the annotation of a parameter, or by all that it is bound to."""
        slot = function.ops[load][1]
        if (parameter := function.parameter(load)) >= 0:
            annotation = function.header.parameters[parameter].annotation
            around = function.parent
            kinds = [*_annotations(meaning, around, annotation)] if around is not None and annotation >= 0 else []
            if kinds:
                return _all(kinds)
        elif (stored := function.stored(load)) is not None:
            return _all(self.of(meaning, function, made, depth) for made in stored)
        owner, home = function.binding(slot)
        if home < 0 or owner == function.number:
            return None
        stores = function.code.stores(function.binding(slot))
        known = all(there.ops[at][0] == op.STORE for there, at in stores)
        return _all(self.of(meaning, there, there.ops[at][2], depth) for there, at in stores) if known else None

    def _given_by(self, meaning: Meaning, function: Function, call: int, depth: int) -> bool | None:
        """The same of what a call gives."""
        catalog = self._resolver.catalog
        name = catalog.canonical(meaning.name(function, function.ops[call][1]))
        given = function.call(call).positional
        if name in _TUPLES and given:
            return _KINDS.get(elements.items(function, given[0]))
        if name in catalog.giving_texts:
            return True
        if name in catalog.giving_numbers:
            return False
        if not name and function.called_on(call) >= 0:
            return True if function.called(call) in _GIVES_TEXT else None
        found = self._meanings.definition(name) if "::" in name else None
        if found is None or found[1].is_class or found[1].decorators:
            return None
        there, body = found
        gives = [operation[1] for _, operation in body.each(op.RETURN) if operation[1] >= 0]
        return _all(self.of(there, body, value, depth) for value in gives)


_KINDS: Final[dict[str, bool]] = {"str": True, "int": False}


def _annotations(meaning: Meaning, function: Function, at: int) -> Iterator[bool | None]:
    """What an annotation says of a value: `str`, `int | float`, `Optional[str]`."""
    operation = function.ops[at]
    if operation[0] == op.BINARY:
        for side in operation[2:]:
            yield from _annotations(meaning, function, side)
    elif operation[0] == op.ITEM:
        inside = function.ops[operation[2]]
        optional = meaning.name(function, operation[1]) in ("typing.Optional", "typing.Union")
        for part in inside[1:] if inside[0] == op.TUPLE else operation[2:]:
            yield from _annotations(meaning, function, part) if optional else (None,)
    elif not (operation[0] == op.CONST and function.constant(at) is None):
        name = meaning.name(function, at)
        yield True if name in _TEXTS else False if name in _NUMBERS else None


def _any(kinds: Iterable[bool | None]) -> bool | None:
    """Whether something is salted that is made of several."""
    found = {*kinds}
    return True if True in found else None if None in found else False


def _all(kinds: Iterable[bool | None]) -> bool | None:
    """Whether something is salted that is one of several: not known where they differ."""
    found = {*kinds}
    return found.pop() if len(found) == 1 else None


class Picked(NamedTuple):
    """Who knows what is asked of a hash."""

    resolver: Resolver
    meanings: Meanings
    callers: Callers
    entries: Callable[[Module, int], Sequence[Entry]]
    """What the catalog knows of a site."""

    def holds(self, module: Module, index: int) -> bool:
        """Whether a hash is cut down, or compared, to pick something by it: `hash(name) % 10`. What seeds is another matter."""
        call = call_at(self.resolver, self.meanings, module, module.sites[index])
        if call is None or call[1].function.name == "__hash__":
            return False
        return self._picks(call[0], *call[1], set())

    def _picks(self, meaning: Meaning, function: Function, at: int, seen: set[tuple[str, int, int]]) -> bool:
        key = (meaning.path, function.number, at)
        if key in seen or len(seen) > _DEEPEST * _DEEPEST:
            return False
        seen.add(key)
        strings = function.code.strings
        for use in function.users[at]:
            taking = function.ops[use.op]
            code = taking[0]
            if code == op.BINARY and use.place == 2 and strings[taking[1]] in _CUTS:
                if not self._only_seeds(meaning, function, use.op):
                    return True
                continue
            if code == op.COMPARE and strings[taking[2]] in _SMALLER:
                return True
            follows = (
                code in (op.UNARY, op.CHOICE)
                or (code in (op.BINARY, op.AUGMENT) and strings[taking[1]] in _MIXES)
                or (code == op.CALL and use.place > 1 and meaning.name(function, taking[1]) in _SAME_NUMBER)
            )
            if follows and self._picks(meaning, function, use.op, seen):
                return True
            if code == op.STORE and any(
                self._picks(meaning, function, load, seen) for load in function.loads.get(use.op, ())
            ):
                return True
            if code == op.RETURN and self._picked_by_callers(meaning, function, seen):
                return True
        return False

    def _picked_by_callers(self, meaning: Meaning, function: Function, seen: set[tuple[str, int, int]]) -> bool:
        """Whether those pick by it who call a function that gives it back."""
        uses = self.callers(meaning.module, function.qualified) if function.number else None
        calls = calls_among(self.resolver, self.meanings, uses or ())
        return any(self._picks(there, point.function, point.at, seen) for there, point in calls)

    def _only_seeds(self, meaning: Meaning, function: Function, at: int) -> bool:
        """Whether a number becomes nothing but a seed."""
        uses, catalog = [*function.users[at]], self.resolver.catalog
        for use in uses:
            taking = function.ops[use.op]
            if taking[0] == op.STORE:
                loads = function.loads.get(use.op, ())
                if not loads or not all(self._only_seeds(meaning, function, load) for load in loads):
                    return False
            elif taking[0] == op.CALL and use.place > 1:
                name = catalog.canonical(meaning.name(function, taking[1]))
                passes = name in _SAME_NUMBER and self._only_seeds(meaning, function, use.op)
                if not passes and not self._takes_seed(meaning, function, use.op, name):
                    return False
            else:
                return False
        return bool(uses)

    def _takes_seed(self, meaning: Meaning, function: Function, call: int, name: str) -> bool:
        """Whether the catalog knows that what is called by a name, or as a method, takes a seed."""
        catalog, module = self.resolver.catalog, meaning.module
        found = [catalog.entries[i] for i in catalog.calls.get(name, ())]
        if not name and function.called(call) in catalog.seeded_words:
            here = (i for i, site in enumerate(module.sites) if site.span.place == function.spans[call])
            found = [entry for i in here for entry in self.entries(module, i)]
        return any(entry.seeds or entry.seed for entry in found)
