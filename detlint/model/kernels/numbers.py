"""What numbers the values of a kernel are, of Python or of C++: whole ones, which add exactly in any order, or floating-point ones.

What it may assume: what adds to a place has the type of that; what a function gets that isn't known may be either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from detlint.catalog import KernelLanguage
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.places import Place
from detlint.ir.records import FileIR

Numbers = str
FLOATS: Final = "floats"
WHOLE: Final = "whole"
OPEN: Final = ""
"""They may be either."""
DEEPEST: Final = 40
_KEPT: Final = frozenset({"//", "%", "<<", ">>", "&", "|", "^"})
"""What is only done to whole numbers, or keeps them so."""
_TYPE_WORDS: Final = frozenset({"dtype", "dtypes", "out_dtype", "type"})


def joined(found: Iterable[Numbers]) -> Numbers:
    """What numbers are of which some are these: floating-point ones, if any surely are."""
    kinds = {*found}
    return FLOATS if FLOATS in kinds else WHOLE if kinds == {WHOLE} else OPEN


class Terms:
    """What the catalog knows of languages for kernels, by name."""

    def __init__(self, languages: Sequence[KernelLanguage]) -> None:
        self._languages = languages
        self._sets: dict[str, frozenset[str]] = {}

    def of(self, key: str) -> frozenset[str]:
        """All names that languages have under a key."""
        if key not in self._sets:
            self._sets[key] = frozenset(name for language in self._languages for name in getattr(language, key))
        return self._sets[key]

    def has(self, key: str, name: str) -> bool:
        """Whether they have one there."""
        return bool(name) and name in self.of(key)

    @cached_property
    def types(self) -> dict[str, Numbers]:
        """The names of types -> their numbers."""
        return {**dict.fromkeys(self.of("whole_types"), WHOLE), **dict.fromkeys(self.of("float_types"), FLOATS)}

    def of_type(self, name: str) -> Numbers:
        """The numbers of a type, by the last part of its name: `torch.float32`, `at::Half`."""
        return self.types.get(name, "") or self.types.get(name.rpartition(".")[2], "") if "/" not in name else OPEN


class Values:
    """Says what numbers values are. What a value is called, and what parameters get, others know better."""

    is_python = True
    """Whether it is Python, where `/` makes other numbers of whole ones, and an index of a parameter is a place."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._known: dict[tuple[int, int, int], Numbers] = {}
        self._files: dict[int, FileIR] = {}

    def named(self, function: Function, at: int) -> str:
        """The full name of a value of a function; "" for none."""
        raise NotImplementedError

    def given(self, function: Function, number: int) -> Numbers:
        """What numbers a parameter gets, or what it gets holds."""
        return OPEN

    def of_template(self, function: Function, at: int) -> Numbers:
        """What a type is that a `LOAD` reads, a parameter of a template."""
        return OPEN

    def returned(self, function: Function, callee: int) -> Numbers:
        """What a function of the program gives back that a value is."""
        return OPEN

    def of(self, function: Function, at: int, depth: int = 0) -> Numbers:
        """What numbers a value is, or holds, or points to; of a type, those that it is of."""
        if at < 0 or depth > DEEPEST:
            return OPEN
        key = (self._file(function), function.number, at)
        if key not in self._known:
            self._known[key] = _PENDING
            self._known[key] = self._found(function, at, depth + 1)
        found = self._known[key]
        return OPEN if found == _PENDING else found

    def _file(self, function: Function) -> int:
        """A number for the file of a function, which is kept so that no other gets it."""
        self._files[id(function.ir)] = function.ir
        return id(function.ir)

    def _all(self, function: Function, values: Iterable[int], depth: int) -> Numbers:
        """What several values are together; one that goes in a circle is what the others are."""
        kinds = list[Numbers]()
        for value in values:
            pending = self._known.get((self._file(function), function.number, value)) == _PENDING
            kinds += [] if pending else [self.of(function, value, depth)]
        return joined(kinds)

    def _found(self, function: Function, at: int, depth: int) -> Numbers:
        operation = function.ops[at]
        code = operation[0]
        if code == op.CONST:
            return self._constant(function.constant(at))
        if code == op.LOAD:
            return self._loaded(function, at, depth)
        if code in (op.ATTR, op.CALL):
            return self._called(function, at, depth) if code == op.CALL else self._attribute(function, at, depth)
        if code in (op.BINARY, op.AUGMENT):
            word = function.strings[operation[1]]
            if word in _KEPT:
                return WHOLE
            found = self._all(function, operation[2:4], depth)
            return FLOATS if word == "/" and found == WHOLE and self.is_python else found
        if code == op.COMPARE:
            return WHOLE
        if code == op.UNARY:
            return WHOLE if function.strings[operation[1]] == "not" else self.of(function, operation[2], depth)
        if code == op.ITEM:
            return self._item(function, operation, depth)
        if code == op.CHOICE:
            return self._all(function, operation[2:4], depth)
        if code in (op.PART, op.STAR, op.FOR):
            return self.of(function, operation[1], depth)
        if code in (op.LIST, op.TUPLE):
            return self._all(function, operation[1:], depth)
        return OPEN

    def _item(self, function: Function, operation: Sequence[int], depth: int) -> Numbers:
        """An item has the numbers of what it is in; of a template, `Accessor<float, 2>`, those of its first argument; of `array[float]`
        those of the type."""
        found = self.of(function, operation[1], depth)
        chosen = function.ops[operation[2]]
        if found == OPEN and self._is_type(function, operation[2]):
            return self.of(function, operation[2], depth)
        if found == OPEN and chosen[0] == op.TUPLE and len(chosen) > 1:
            told = next(
                (value for value in chosen[1:] if self._is_type(function, value)), -1 if self.is_python else chosen[1]
            )
            return self.of(function, told, depth)
        return found

    def _constant(self, value: object) -> Numbers:
        if isinstance(value, float):
            return WHOLE if value.is_integer() and value else FLOATS if value else OPEN
        if isinstance(value, (bool, int)):
            return WHOLE
        return self.terms.of_type(value.rstrip("[:], ")) if isinstance(value, str) else OPEN

    # -- names ------------------------------------------------------------------------------------------------------

    def _loaded(self, function: Function, at: int, depth: int) -> Numbers:
        name = self.named(function, at)
        if self.terms.of_type(name):
            return self.terms.of_type(name)
        if self.terms.has("programs", name) or self.terms.has("threads", name) or self.terms.has("counts", name):
            return WHOLE
        slot = function.ops[at][1]
        owner, home = function.binding(slot)
        around = function if owner == function.number else function.code.function(owner)
        if (given := function.given(at)) is not None:
            return self._of_parameter(*given, depth) or self.declared(around, home, depth)
        if declared := self.declared(around, home, depth):
            return declared
        if self._is_template(function, slot):
            return self.of_template(function, at)
        if owner == function.number and (stored := function.stored(at)) is not None:
            return self._all(function, (value for value in stored if self._tells(function, slot, value)), depth)
        stores = function.code.stores(function.binding(slot)) if home >= 0 else ()
        places = [Place(f, f.ops[n][2]) for f, n in stores if f.ops[n][0] == op.STORE]
        return joined(self.of(f, value, depth) for f, value in places) if places else OPEN

    def _tells(self, function: Function, slot: int, value: int) -> bool:
        """Whether what a variable begins with says what numbers it is of: in C++ the zeros of an array, `T x[4] = {0}`, don't, and a
        constant doesn't where the type is a parameter of a template."""
        code, kinds = function.ops[value][0], function.annotations.get(slot, ())
        generic = (
            function.ops[kind][0] == op.LOAD and self._is_template(function, function.ops[kind][1]) for kind in kinds
        )
        return self.is_python or (code != op.LIST and not (code == op.CONST and any(generic)))

    def _is_template(self, function: Function, slot: int) -> bool:
        """Whether a name is a parameter of a template."""
        stores = function.code.stores(function.binding(slot)) if function.names[slot].slot >= 0 else ()
        return any(f.ops[n][0] == op.STORE and f.ops[f.ops[n][2]][0] == op.TYPE_PARAMETER for f, n in stores)

    def declared(self, function: Function, slot: int, depth: int = 0) -> Numbers:
        """What a variable is by the type that it is declared with."""
        kinds = function.annotations.get(slot, ())
        return joined(self._annotated(function, kind, depth) for kind in kinds) if kinds else OPEN

    def _annotated(self, function: Function, kind: int, depth: int) -> Numbers:
        """What a type is of an annotation, that of any part of a union: `Tensor | None`."""
        operation = function.ops[kind]
        if operation[0] != op.BINARY:
            return self.of(function, kind, depth)
        sides = [side for side in operation[2:4] if function.constant(side) is not None]
        return joined(self._annotated(function, side, depth) for side in sides)

    def _of_parameter(self, function: Function, number: int, depth: int) -> Numbers:
        annotation = function.header.parameters[number].annotation
        around = function.parent
        found = self._annotated(around, annotation, depth) if annotation >= 0 and around is not None else OPEN
        if found == OPEN:
            found = self.given(function, number)
        default = function.header.parameters[number].default
        if found == OPEN and default >= 0 and around is not None and isinstance(around.constant(default), str):
            return self.of(around, default, depth)
        return found

    # -- calls ------------------------------------------------------------------------------------------------------

    def _attribute(self, function: Function, at: int, depth: int) -> Numbers:
        name = self.named(function, at)
        if found := self.terms.of_type(name):
            return found
        attribute = function.strings[function.ops[at][2]]
        base = function.ops[at][1]
        of = self.named(function, base)
        if any(self.terms.has(key, of) for key in ("programs", "threads", "counts")) or attribute in (
            "shape",
            "size",
            "ndim",
        ):
            return WHOLE
        if attribute in (
            "dtype",
            "element_ty",
            "T",
            "data",
            "grad",
            "at",
            "x",
            "y",
            "z",
            "w",
            "type",
            "scalar_type",
            "options",
        ):
            return self.of(function, base, depth)
        return OPEN

    def _called(self, function: Function, at: int, depth: int) -> Numbers:
        call, terms = function.call(at), self.terms
        name = self.named(function, call.callee)
        first = call.positional[0] if call.positional else -1
        told = next((value for word, value in call.named.items() if word in _TYPE_WORDS), -1)
        if self._is_cast(function, call.callee, name) and first >= 0 and self._is_whole_constant(function, first):
            return WHOLE
        if found := terms.of_type(name):  # a cast
            return found
        if any(terms.has(key, name) for key in ("typed", "typed_whole", "like", "first")):
            return self._made(function, name, call.positional, told, depth)
        if terms.has("chooses", name):
            return self._all(function, call.positional[1:3], depth)
        if terms.has("whole", name):
            return WHOLE
        if terms.has("floats", name):
            return FLOATS
        chosen = function.ops[call.callee]
        if chosen[0] == op.ITEM:  # `static_cast<float>(x)`, `x.data_ptr<float>()`
            items = function.ops[chosen[2]]
            kind = self.of(function, items[1], depth) if items[0] == op.TUPLE and len(items) > 1 else OPEN
            if kind:
                return kind
        return self._method(function, at, first, told, depth) or self.returned(function, call.callee)

    def _is_cast(self, function: Function, callee: int, name: str) -> bool:
        """Whether a call of something makes a number of another one: `float(1)`, `T(1)`, `static_cast<T>(1)`."""
        operation = function.ops[callee]
        template = operation[0] == op.LOAD and self._is_template(function, operation[1])
        return template or operation[0] == op.ITEM or bool(self.terms.of_type(name))

    def _is_whole_constant(self, function: Function, value: int) -> bool:
        return self._constant(function.constant(value)) == WHOLE and not isinstance(function.constant(value), str)

    def _made(self, function: Function, name: str, given: Sequence[int], told: int, depth: int) -> Numbers:
        """What a call gives that may be told a type: else what it gives by itself, or what it is given."""
        terms = self.terms
        kinds = [told] if told >= 0 else [*given[0 if terms.has("typed", name) else 1 :]]
        for value in kinds:
            found = self.of(function, value, depth) if self._is_type(function, value) else OPEN
            if found:
                return found
        if told >= 0 and not terms.has("like", name):
            return OPEN
        if terms.has("typed_whole", name):
            return WHOLE
        if terms.has("typed", name):
            return FLOATS
        return self.of(function, given[0], depth) if given else OPEN

    def _is_type(self, function: Function, value: int) -> bool:
        """Whether a value is a type, or the name of one."""
        constant = function.constant(function.meant(value))
        if constant is UNKNOWN and (given := function.given(value)) is not None and given[0].parent is not None:
            constant = given[0].parent.constant(given[0].header.parameters[given[1]].default)
        if constant is not UNKNOWN:
            return isinstance(constant, str) and bool(self.terms.of_type(constant))
        operation = function.ops[value]
        ends = operation[0] == op.ATTR and function.strings[operation[2]] in ("dtype", "element_ty")
        return ends or bool(self.terms.of_type(self.named(function, value)))

    def _method(self, function: Function, at: int, first: int, told: int, depth: int) -> Numbers:
        """What a method gives, by its name."""
        of, method = function.called_on(at), function.called(at)
        terms = self.terms
        if of < 0:
            return OPEN
        if terms.has("cast_methods", method):
            kind = told if told >= 0 else first
            found = self.of(function, kind, depth) if kind >= 0 and self._is_type(function, kind) else OPEN
            return found or self.of(function, of, depth)
        if terms.has("like_methods", method) and told >= 0:
            return self.of(function, told, depth)
        if terms.has("whole_methods", method):
            return WHOLE
        if terms.has("floats_methods", method):
            return FLOATS
        if terms.has("same_methods", method) or terms.has("like_methods", method):
            return self.of(function, of, depth)
        return OPEN


_PENDING: Final = "pending"
