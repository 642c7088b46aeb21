"""By what a file may come to what is defined, in itself or elsewhere, without saying its name.

What it may assume: who hands a name on as a value does so to have it called with names that aren't known; a value whose class is known is
no module; an object asks itself for its own parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Code, Function
from detlint.ir.places import Place
from detlint.model.meaning import Meaning
from detlint.model.sites.records import Ref, Result

LOCATES: Final = frozenset({"pydoc.locate", "pkgutil.resolve_name"})
"""What gives a definition by its name with that of its module."""
IMPORTS: Final = frozenset({"importlib.import_module", "builtins.__import__"})
"""What imports a module by a name."""
FINDS: Final = LOCATES | IMPORTS | {
    "imp.load_source", "pkgutil.iter_modules", "pkgutil.walk_packages", "runpy.run_module", "runpy.run_path",
}  # fmt: skip
"""By what a program may come to files without their names."""
_FINDS_SO: Final = frozenset({"exec_module", "load_source"})
"""The same, as methods of whatever object."""
_EVALUATES: Final = frozenset({"builtins.eval", "builtins.exec", "builtins.compile"})
_OWN: Final = _EVALUATES | {"builtins.globals", "builtins.locals", "inspect.getmembers"}
"""What gives a file its own definitions."""
_ALL: Final = frozenset({"builtins.vars", "builtins.dir", "inspect.getmembers"})
"""What gives all names of what it is handed."""
_OF_GIVEN: Final = frozenset({"builtins.vars", "inspect.getmembers"})
"""What does so where it is handed nothing."""
_SHOWS: Final = frozenset({"len", "print", "repr", "str"})
_COPIES: Final = frozenset({"dict", "list", "sorted", "tuple"})
_OF_TABLES: Final = frozenset({"items", "keys", "values"})
_GETTERS: Final = frozenset({"operator.attrgetter", "operator.methodcaller"})
COMING: Final = frozenset(
    name.rpartition(".")[2]
    for name in (*FINDS, *_OWN, *_GETTERS, *_FINDS_SO, "builtins.vars", "sys.modules", "builtins.getattr")
)
"""The names by which a file may come to definitions: without one of them it does not."""
WORDS: Final = frozenset(name.rpartition(".")[2] for name in FINDS) | _FINDS_SO
"""The names of what finds files: a file without them does not."""
EVALUATING: Final = frozenset(name.rpartition(".")[2] for name in _EVALUATES)


class Dynamic:
    """Asks one file."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._code: Code = meaning.code
        self._named: dict[frozenset[str], Sequence[tuple[Place, str]]] = {}

    def named(self, names: frozenset[str]) -> Sequence[tuple[Place, str]]:
        """Where something of some full names is had, called or not, and its name."""
        found = self._named.get(names)
        if found is None:
            found = self._named[names] = [*self._found(names)]
        return found

    def _found(self, names: frozenset[str]) -> Iterator[tuple[Place, str]]:
        words = {name.rpartition(".")[2] for name in names}
        if words.isdisjoint(self._code.identifiers):
            return
        words |= self._renamed
        attributes: dict[int, list[int]] = {}
        for number, at in (place for word in words for place in self._code.attributes.get(word, ())):
            attributes.setdefault(number, []).append(at)
        for function in self._code.functions():
            slots = {slot for word in words.intersection(function.slots) for slot in function.slots[word]}
            loads = (at for at, operation in function.each(op.LOAD) if operation[1] in slots) if slots else ()
            for at in sorted((*loads, *attributes.get(function.number, ()))):
                name = self._meaning.name(function, at) if function.ops[at][0] in (op.LOAD, op.ATTR) else ""
                if name in names:
                    yield Place(function, at), name

    @cached_property
    def _renamed(self) -> frozenset[str]:
        """The names that it gives what it imports from modules, other than theirs."""
        strings = self._code.strings
        members = (each for each in self._code.ir.imports if each.name >= 0 and each.member >= 0)
        return frozenset(strings[each.name] for each in members if each.name != each.member)

    @cached_property
    def finding(self) -> tuple[Place, ...]:
        """Where it may come to files without their names."""
        by_method = (
            Place(function, at)
            for function in self._code.functions()
            if not _FINDS_SO.isdisjoint(self._code.identifiers)
            for at, operation in function.each(op.ATTR)
            if self._code.strings[operation[2]] in _FINDS_SO
        )
        return (*(place for place, _ in self.named(FINDS)), *by_method)

    @cached_property
    def evaluates(self) -> bool:
        """Whether it evaluates a text."""
        return any(self.named(_EVALUATES))

    @cached_property
    def own(self) -> tuple[Place, ...]:
        """Where it may come to its own definitions: by its variables, by a text that it evaluates, as a module."""
        ways = self.named(_OWN | {"builtins.vars", "sys.modules"})
        itself = (place for place, _ in self.named(IMPORTS) if self._imports_itself(place))
        return (*(place for place, name in ways if _counts(place, name)), *itself)

    def _imports_itself(self, place: Place) -> bool:
        given = _given(place)
        return bool(given) and place.function.dotted(given[0]) == "__name__"

    @cached_property
    def asking(self) -> tuple[Place, ...]:
        """Where a module of the program may be asked for what has a name that isn't written out."""
        return tuple(
            place for place, target in self._asked() if target is None or self.may_be_module(place.function, target)
        )

    def _asked(self) -> Iterator[tuple[Place, int | None]]:
        """Where something is asked for what has any name, and that; None for whatever is handed over later."""
        for place, name in self.named(_ALL | _GETTERS | LOCATES | _EVALUATES | {"builtins.getattr"}):
            function, given = place.function, _given(place)
            if name in LOCATES or not given:
                if name not in _ALL:
                    yield place, None
            elif name in _GETTERS or name in _EVALUATES:
                if any(function.constant(value) is UNKNOWN for value in given):
                    yield place, None
            elif name in _ALL:
                if (call := _call_of(place)) is None or not _is_only_shown(function, call):
                    yield place, given[0]
            elif len(given) > 1 and function.constant(given[1]) is UNKNOWN:
                yield place, given[0]
        if "__dict__" in self._code.identifiers:
            for function in self._code.functions():
                for at, operation in function.each(op.ATTR):
                    if self._code.strings[operation[2]] == "__dict__":
                        yield Place(function, at), operation[1]

    def coming_to(self, names: frozenset[str], *, of_itself: bool, wholes: bool) -> Iterator[Place]:
        """Where it may come to definitions of some names, wherever they stand, other than by writing them as names.

        Args:
            of_itself: whether an object may ask itself for what is meant.
            wholes: whether it counts to do so by whole names of definitions.
        """
        yield from self.own
        for place in self.finding:
            if wholes or not self.only_splits(place.function.outermost):
                yield place
        for place, _ in self.named(_GETTERS):
            if not all(isinstance(place.function.constant(value), str) for value in _given(place)):
                yield place
        for place, _ in self.named(frozenset({"builtins.getattr"})):
            function, given = place.function, _given(place)
            asked = function.constant(given[1]) if len(given) > 1 else UNKNOWN
            if asked is not UNKNOWN and asked not in names:
                continue
            if not wholes and given and self._is_imported(function, given[0]) and self.only_splits(function.outermost):
                continue
            if not given or self._may_have(function, given[0], of_itself):
                yield place

    def _is_imported(self, function: Function, value: int) -> bool:
        """Whether a value is a module that is imported by a name."""
        found = self._meaning.value(function, value)
        return isinstance(found, Result) and isinstance(found.of, Ref) and found.of.name in IMPORTS

    def _may_have(self, function: Function, value: int, of_itself: bool) -> bool:
        """Whether a value may have definitions of the program: it is none of a library's, nor a part of the object that asks."""
        root, attributes = function.chain(value)
        if function.is_self(root):
            return of_itself and not attributes
        found, kind = self._meaning.value(function, value), self._meaning.kind(function, value)
        return not (isinstance(found, Ref) and "::" not in found.name) and (not kind or "::" in kind)

    def takes_any(self) -> bool:
        """Whether some definition of it imports modules of any name, and takes what has any name from them."""
        for place, name in self.named(FINDS):
            given, around = _given(place), place.function.outermost
            asks = any(asking.function.outermost is around for asking in self.asking)
            is_named = bool(given) and isinstance(place.function.constant(given[0]), str)
            if name in LOCATES or (asks and not is_named and not self.only_splits(around)):
                return True
        return False

    def may_be_module(self, function: Function, value: int) -> bool:
        """Whether a value may be a module of the program, or something that such a module has."""
        found = self._meaning.value(function, value)
        if self._is_imported(function, value):
            return True
        if isinstance(found, Ref):
            return found.name.endswith("::")
        root, attributes = function.chain(value)
        if function.parameter(root) == 0 and function.parent is not None and function.parent.is_class:
            return False  # an object asks itself
        return not self._meaning.kind(function, value) and (found is None or not attributes)

    def only_splits(self, function: Function) -> bool:
        """Whether all that a function, or what stands in it, imports by names are modules that it splits off whole names of definitions:
        `module, name = target.rsplit(".", 1)`."""
        inside = {each.number for each in self._code.inside(function.number)} if function.number else {0}
        return all(self._splits(place) for place in self.finding if place.function.number in inside)

    def _splits(self, place: Place) -> bool:
        function, given = place.function, _given(place)
        if self._meaning.name(function, place.at) not in IMPORTS or not given:
            return False
        part = function.ops[function.meant(given[0])]
        made = function.ops[part[1]] if part[0] in (op.PART, op.ITEM) else (op.END,)
        method = function.ops[made[1]] if made[0] == op.CALL else (op.END,)
        return method[0] == op.ATTR and self._code.strings[method[2]] in ("rsplit", "rpartition")


def _counts(place: Place, name: str) -> bool:
    """Whether what is had at a place gives a file its own definitions: what is handed on to be called evaluates what others give."""
    return _call_of(place) is not None if name in _EVALUATES else name not in _OF_GIVEN or not _given(place)


def _given(place: Place) -> Sequence[int]:
    """What is handed over, by position, where what stands at a place is called."""
    call = _call_of(place)
    return place.function.call(call).positional if call is not None else ()


def _is_only_shown(function: Function, table: int) -> bool:
    """Whether names, with what they mean, are only gone through to be put into texts: nobody calls what is found so."""
    waiting = [Place(function, table)]
    for home, value in waiting:
        made = list[Place]()
        for use in home.users[value]:
            taking = home.ops[use.op]
            kind, is_given = taking[0], taking[0] == op.CALL and use.place != 1
            callee = home.dotted(taking[1]) if is_given else ""
            if kind == op.STORE:
                made += (Place(*read) for read in home.code.reads(home.binding(taking[1])))
            elif kind == op.ATTR and home.code.strings[taking[2]] not in _OF_TABLES:
                return False
            elif (
                kind in (op.ATTR, op.FOR, op.PART)
                or callee in _COPIES
                or (kind == op.CALL and not is_given and home.ops[value][0] == op.ATTR)
            ):
                made.append(Place(home, use.op))
            elif kind != op.FORMAT and callee not in _SHOWS:
                return False
        waiting += (place for place in made if place not in waiting)
    return True


def _call_of(place: Place) -> int | None:
    """The call of what stands at a place; None where it is something else than called."""
    uses = place.function.users[place.at]
    calls = [use.op for use in uses if use.place == 1 and place.function.ops[use.op][0] == op.CALL]
    return calls[0] if len(calls) == len(uses) == 1 else None
