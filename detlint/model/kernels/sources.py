"""Sources in C++ and CUDA: where they add atomically, what numbers, and by what Python comes there.

What it may assume: names are what the linker takes them for, one function each; a template is only what some launch of it makes of its
parameters; a type that isn't known is as likely as not of floating-point numbers; macros of a project's own are calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Binding, Code, Function
from detlint.ir.cpp_text import is_cpp
from detlint.ir.places import Place
from detlint.ir.records import LAMBDA
from detlint.model.index import Index
from detlint.model.kernels.atomic_modes import Modes
from detlint.model.kernels.locks import sums_behind, taken, varies
from detlint.model.kernels.numbers import FLOATS, OPEN, WHOLE, Numbers, Terms, Values, joined
from detlint.model.kernels.source_adders import Adder, Adders, is_macro
from detlint.model.kernels.source_swaps import Swaps
from detlint.model.kernels.source_ways import SourceWays
from detlint.model.kernels.writers import Writers

DEEPEST: Final = 4
"""So many names may stand for one another."""
MOST_INCLUDED: Final = 40
MOST_CALLERS: Final = 40
"""So many functions are followed back to what Python may call."""
_EXPORTS: Final = frozenset({"def", "impl", "def_submodule"})
"""By what a function is given out: `m.def("name", &function)`."""
_REDUCING: Final = frozenset({"red", "atom"})
"""Instructions of PTX that add to memory, if `add` is among their parts."""
_OF_PTX: Final = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"})


class Atomic(NamedTuple):
    """What adds atomically in a source."""

    place: Place
    name: str
    """As it is called."""
    numbers: Numbers
    is_own: bool = False
    """Whether it may be that nobody else adds there."""
    is_counter: bool = False
    """Whether it counts whole numbers, and gives each thread a place by that."""

    is_locked: bool = False
    """Whether it adds while it holds a lock."""
    is_lost: bool = False
    """Whether it isn't atomic, so that some of what threads add is lost."""
    is_of_host: bool = False
    """Whether threads of the host add, by OpenMP or OpenACC."""

    @property
    def line(self) -> int:
        """In which line of its source it stands."""
        return self.place.function.span(self.place.at)[0]


def assembled(text: str) -> Numbers | None:
    """What numbers instructions of PTX add to memory: `red.global.add.f32 [%0], %1;`; None for none."""
    found = list[Numbers]()
    for instruction in text.replace("{", "{;").split(";"):
        words = (word for word in instruction.split() if not word.startswith("@"))
        parts = next(words, "").split(".")
        reduces = parts[0] in _REDUCING or parts[:2] in (["cp", "reduce"], ["multimem", "red"])
        if reduces and "add" in parts:
            found.append(WHOLE if _OF_PTX.isdisjoint(parts) else FLOATS)
    return joined(found) if found else None


class Source:
    """One source, to be asked.

    Args:
        terms: what the catalog knows.
        index: finds other sources, None for a text that stands alone.
        path: where it stands.
    """

    def __init__(self, terms: Terms, code: Code, index: Index | None = None, path: str = "") -> None:
        self.terms, self.code, self.path = terms, code, path
        self._index = index
        self._modes = Modes(terms, [*code.functions()])
        self.values = _Values(self)
        self.ways = SourceWays(self)
        self.swaps = Swaps(self)
        self.adders = Adders(self)

    def atomics(self) -> Iterator[Atomic]:
        """The places that add atomically, and not surely whole numbers, to what others add to as well."""
        for function in self.code.functions():
            told = not is_macro(function) and not self.adders.is_one(function)
            for at, operation in function.each(op.CALL, op.AUGMENT) if told else ():
                called = operation[0] == op.CALL
                name = self.called(function, at) if called else f"{function.strings[operation[1]]}="
                found = self._atomic(function, at, name) if called else self._augmented(function, at)
                if found is not None and found != WHOLE:
                    own = self.terms.has("modes", name) and self._modes.is_of_own_places(function, at)
                    yield Atomic(Place(function, at), name, found, own)
                elif found == WHOLE and called and self.ways.gives_places(function, at):
                    yield Atomic(Place(function, at), name, found, is_counter=True)
            yield from self._locked(function) if told else ()

    def _locked(self, function: Function) -> Iterator[Atomic]:
        """What a function adds to while it holds a lock."""
        begin = taken(function, self.called, self.terms)
        for each in sums_behind(function, begin) if begin >= 0 else ():
            given = any(function.given(n) is not None for n in function.made_of(each.place[0]))
            found = self._added(function, each.at, each.place, each.added) if given else WHOLE
            if found != WHOLE and varies(function, each.added):
                yield Atomic(Place(function, each.at), "+=", found, is_locked=True)

    def called(self, function: Function, at: int) -> str:
        """The last name of what a call calls, templates and namespaces aside."""
        callee = function.ops[at][1]
        while function.ops[callee][0] in (op.ITEM, op.BINARY):
            callee = function.ops[callee][1 if function.ops[callee][0] == op.ITEM else 2]
        operation = function.ops[callee]
        if operation[0] == op.ATTR:
            return function.strings[operation[2]]
        name = function.text(operation[1]) if operation[0] == op.LOAD else ""
        words = self._meant(name)
        return next((word for word in words if self.terms.has("atomics", word)), words[-1])

    def _meant(self, name: str) -> list[str]:
        """A name and those that it is at the top level of this source and what that includes, as the parameters of macros that make
        kernels are, and macros that only name something else."""
        found = [name]
        for word in found if name else ():  # grows meanwhile
            found += (other for source in self.included for other in source.renamed.get(word, ()) if other not in found)
        return found

    @cached_property
    def renamed(self) -> dict[str, list[str]]:
        """The names that are others at the top level -> those."""
        top, found = self.code.module, dict[str, list[str]]()
        for _, (_, slot, value) in top.each(op.STORE):
            named = top.ops[value][0] in (op.ATTR, op.LOAD)
            word = top.dotted(value).rpartition(".")[2] if named else ""
            if word:
                found.setdefault(top.text(slot), []).append(word)
        return found

    def _atomic(self, function: Function, at: int, name: str) -> Numbers | None:
        """What numbers a call adds atomically; None where it does no such thing."""
        given = function.call(at).positional
        if name == "asm":
            return self.assembles(function, at)
        if self.terms.has("modes", name):
            return self._chosen(function, at)
        if not self.terms.has("atomics", function.name) and (swap := self.swaps.at(function, at, name)) is not None:
            alone = function.called_on(at) >= 0 and self.ways.is_alone(function, at, [swap.place])
            return WHOLE if alone else swap.numbers
        if not given:
            return None
        if self.terms.has("float_atomics", name):
            return FLOATS
        if self.terms.has("counters", name):
            return WHOLE
        if self.terms.has("indexed_atomics", name) and len(given) > 3:
            return self._added(function, at, given[:2], given[3])
        if not (self.terms.has("atomics", name) or self._is_of_namespace(function, at)):
            adder = self.adders.of(name, len(given)) if name != function.name else None
            return self._by_adder(function, at, given, adder) if adder is not None else None
        if function.called_on(at) >= 0 and len(given) < 3 and not self._is_qualified(function, at):
            place, added = [function.called_on(at)], given[0]
            if self.values.of(function, place[0]) == OPEN and not self.is_reference(function, place[0]):
                return None
        elif len(given) > 1:
            place, added = [given[0]], given[1]
        else:
            return None
        return self._added(function, at, place, added)

    def assembles(self, function: Function, at: int) -> Numbers | None:
        """What numbers instructions add that a source has written out; None for none."""
        given = function.call(at).positional
        text = function.constant(given[0]) if given else None
        return assembled(text) if isinstance(text, str) else None

    def _augmented(self, function: Function, at: int) -> Numbers | None:
        """What numbers `+=` adds to what an atomic reference is one to; None for any other."""
        _, word, place, added = function.ops[at]
        known = function.strings[word] in ("+", "-") and self.is_reference(function, place)
        return self._added(function, at, [place], added) if known else None

    def _added(self, function: Function, at: int, place: Sequence[int], added: int) -> Numbers:
        """What numbers are added to a place; whole ones also where only one thread adds to it."""
        into, of = self.values.of(function, place[0]), self.values.of(function, added)
        found = WHOLE if WHOLE in (into, of) else into or of
        return WHOLE if self.ways.is_alone(function, at, place) else found

    def _by_adder(self, function: Function, at: int, given: Sequence[int], adder: Adder) -> Numbers | None:
        """The same of what adds under another name; where none of what it is handed is the array, by what is added alone."""
        place, added = adder.place, given[adder.added]
        if place[0] >= 0:
            return self._added(function, at, [given[n] for n in place], added) or adder.numbers
        alone = Writers(self.values, threads=True).is_alone(function, at, [given[n] for n in place[1:]])
        return WHOLE if alone else self.values.of(function, added)

    def _is_of_namespace(self, function: Function, at: int) -> bool:
        """Whether a call adds atomically that is told by its namespace: `Simt::AtomicAdd`."""
        name = function.dotted(function.ops[at][1])
        return self.terms.has("atomics", ".".join(name.split(".")[-2:])) if "." in name else False

    def _is_qualified(self, function: Function, at: int) -> bool:
        """Whether what is before a name is a namespace: `at::native::gpuAtomicAdd`."""
        root, _ = function.chain(function.called_on(at))
        operation = function.ops[root]
        return operation[0] == op.LOAD and function.names[operation[1]].slot < 0

    @cached_property
    def _says_references(self) -> bool:
        """Whether this source, or one that it includes, names a type of atomic references at all."""
        words = self.terms.of("atomic_references")
        return any(not words.isdisjoint(source.code.identifiers) for source in self.included)

    def is_reference(self, function: Function, value: int) -> bool:
        """Whether a value is a reference whose methods are atomic: `cuda::atomic_ref<float>(x).fetch_add(1)`."""
        for at in function.made_of(value) if self._says_references else ():
            operation = function.ops[at]
            told = function.annotations.get(operation[1], ()) if operation[0] == op.LOAD else ()
            kinds = [(function, kind) for kind in (at, *told)]
            given = function.given(at)
            if given is not None and given[0].parent is not None:
                kinds.append((given[0].parent, given[0].header.parameters[given[1]].annotation))
            parts = ((around, part) for around, kind in kinds if kind >= 0 for part in around.within(kind))
            if any(self.terms.has("atomic_references", self.values.named(*part)) for part in parts):
                return True
        return False

    def _chosen(self, function: Function, at: int) -> Numbers:
        """The numbers of the type that a call is told: `SetAtomicAdd<float>()`."""
        if self._modes.adds_counts(function, at):
            return WHOLE
        callee = function.ops[function.ops[at][1]]
        items = function.ops[callee[2]] if callee[0] == op.ITEM else (op.END,)
        return self.values.of(function, items[1]) if items[0] == op.TUPLE and len(items) > 1 else OPEN

    # -- what other files say ---------------------------------------------------------------------------------------

    @cached_property
    def included(self) -> list[Source]:
        """This source, and what it includes that is there."""
        found, waiting, index = {self.path: self}, [self], self._index
        for source in waiting if index is not None else ():  # grows meanwhile
            for _, operation in source.code.module.each(op.IMPORT):
                path = self._found(source.path, source.code.strings[operation[1]])
                new = path and path not in found and len(found) < MOST_INCLUDED
                code = index.source(path) if index is not None and new else None
                if code is not None:
                    found[path] = Source(self.terms, code, None, path)
                    waiting.append(found[path])
        return [*found.values()]

    def is_included(self, other: Source) -> bool:
        """Whether another source includes this one, or is it."""
        asking = Source(self.terms, other.code, self._index, other.path)
        return other.path == self.path or any(each.path == self.path for each in asking.included)

    def _found(self, path: str, name: str) -> str:
        """The file of the program that another one includes: beside it, or below a folder above; "" for none."""
        folder = os.path.dirname(path)
        while self._index is not None and len(folder) > 1:
            for inner in ("", "include", "csrc", "src"):
                found = os.path.normpath(os.path.join(folder, inner, name))
                if self._index.has(found):
                    return found
            folder = os.path.dirname(folder)
        return ""

    # -- templates --------------------------------------------------------------------------------------------------

    @cached_property
    def templates(self) -> dict[Binding, tuple[Function, int]]:
        """The parameters of templates -> the function that each is one of, and which."""
        found: dict[Binding, tuple[Function, int]] = {}
        for around in self.code.functions():
            waiting = list[int]()
            for operation in around.ops:
                if operation[0] == op.STORE and around.ops[operation[2]][0] == op.TYPE_PARAMETER:
                    waiting.append(operation[1])
                elif operation[0] in (op.FUNCTION, op.CLASS):
                    made = self.code.function(operation[1])
                    found.update({Binding(around.number, slot): (made, number) for number, slot in enumerate(waiting)})
                    waiting = []
        return found

    def others(self, name: str) -> Iterator[Source]:
        """This source, and others that say a name."""
        yield self
        for path in self._index.saying(name, "") if self._index is not None else ():
            code = self._index.source(path) if self._index is not None and is_cpp(path) and path != self.path else None
            if code is not None:
                yield Source(self.terms, code, None, path)

    def instances(self, function: Function, number: int) -> Iterator[Numbers]:
        """What launches and calls of a template make of one of its parameters; of a class, where it is told its types: another of
        its name has none."""
        for source in self.others(function.name):
            for place in source.reads(function.name):
                around, at = place
                told = any(around.ops[use.op][0] == op.ITEM and use.place == 1 for use in around.users[at])
                if told or not function.is_class:
                    yield source.instance(place, function, number)

    def reads(self, name: str) -> Iterator[Place]:
        """Where a function is named, other than where it is defined."""
        for function in self.code.functions() if name in self.code.identifiers else ():
            for at, operation in function.each(op.LOAD, op.ATTR):
                said = function.text(operation[1]) if operation[0] == op.LOAD else function.strings[operation[2]]
                if said == name:
                    yield Place(function, at)

    def instance(self, place: Place, template: Function, number: int) -> Numbers:
        """What one of them makes of it: what is told, or what the argument has whose type it is."""
        function, at = place
        for use in function.users[at]:
            operation = function.ops[use.op]
            if operation[0] == op.ITEM and use.place == 1:
                told = function.ops[operation[2]]
                return (
                    self.values.of(function, told[1 + number])
                    if told[0] == op.TUPLE and number + 1 < len(told)
                    else OPEN
                )
        callee, around = at, template.parent
        launches = [use.op for use in function.users[at] if function.ops[use.op][0] == op.BINARY]
        callee = launches[0] if launches else callee
        call = next(
            (use.op for use in function.users[callee] if function.ops[use.op][0] == op.CALL and use.place == 1), -1
        )
        if call < 0 or around is None:
            return OPEN
        given = function.call(call).positional
        slots = {
            slot for (owner, slot), found in self.templates.items() if found[1] == number and owner == around.number
        }
        kinds = list[Numbers]()
        for position, parameter in enumerate(template.header.parameters[: len(given)]):
            parts = around.within(parameter.annotation) if parameter.annotation >= 0 else ()
            if any(
                around.ops[part][0] == op.LOAD and around.binding(around.ops[part][1]).slot in slots for part in parts
            ):
                kinds.append(self.values.of(function, given[position]))
        return joined(kinds) if kinds else OPEN

    # -- who comes there --------------------------------------------------------------------------------------------

    def calls(self, name: str) -> Iterator[tuple[Source, Place]]:
        """The calls of a function, with the sources that they stand in."""
        for source in self.others(name):
            for function, at in source.reads(name):
                items = [use.op for use in function.users[at] if function.ops[use.op][0] == op.ITEM and use.place == 1]
                for callee in (at, *items):
                    for use in function.users[callee]:
                        if function.ops[use.op][0] == op.CALL and use.place == 1:
                            yield source, Place(function, use.op)

    def exported(self, function: Function) -> list[str]:
        """The names by which Python may call what comes to a function: those of functions that call it, up to what is given out."""
        names, found = [function.name], dict[str, None]()
        for name in names:
            for source in self.others(name) if len(names) <= MOST_CALLERS else ():
                for place in source.reads(name):
                    around = source.outermost(place.function)
                    given = [*source.given_out(place)]
                    found.update(dict.fromkeys(given))
                    if not given and around.number and around.name not in names:
                        names.append(around.name)
        return [*found]

    def outermost(self, function: Function) -> Function:
        """The function that a lambda stands in."""
        while function.header.kind == LAMBDA and function.parent is not None:
            function = function.parent
        return function

    def given_out(self, place: Place) -> Iterator[str]:
        """The names under which a function is given out: `m.def("name", &function)`."""
        function, at = place
        for call, _ in function.each(op.CALL):
            if self.called(function, call) in _EXPORTS and at in function.within(call):
                text = next((function.constant(value) for value in function.call(call).positional), None)
                if isinstance(text, str):
                    yield text.partition("(")[0].rpartition(":")[2].strip()


class _Values(Values):
    """What numbers values of a source are."""

    is_python = False

    def __init__(self, source: Source) -> None:
        super().__init__(source.terms)
        self._source = source

    def named(self, function: Function, at: int) -> str:
        operation = function.ops[at]
        if operation[0] == op.ATTR:
            word, of = function.strings[operation[2]], function.meant(operation[1])
            maker = self._source.called(function, of) if function.ops[of][0] == op.CALL else ""
            return f"{maker}.{word}" if self.terms.has("grids", f"{maker}.{word}") else word
        if operation[0] != op.LOAD:
            return ""
        owner, slot = function.binding(operation[1])
        stores = function.code.stores(Binding(owner, slot)) if slot >= 0 else ()
        bound = slot >= 0 and not any(
            f.ops[f.ops[n][2]][0] == op.FUNCTION for f, n in stores if f.ops[n][0] == op.STORE
        )
        return "" if bound else function.text(operation[1])

    def _loaded(self, function: Function, at: int, depth: int) -> Numbers:
        found = super()._loaded(function, at, depth)
        operation = function.ops[at]
        if found != OPEN or function.names[operation[1]].slot >= 0:
            return found
        name = function.text(operation[1])
        if self._is_field(function, at):
            return self._field(name)
        return self._defined(name) or self._dispatched(function)

    def _defined(self, name: str) -> Numbers:
        """What a constant, or a type by another name, is that a file defines which the source includes."""
        for source in self._source.included[1:]:
            top = source.code.module
            for slot in top.slots.get(name, ()):
                stored = (operation[2] for _, operation in top.each(op.STORE) if operation[1] == slot)
                values = [value for value in stored if top.ops[value][0] not in (op.CLASS, op.FUNCTION)]
                return joined(source.values.of(top, value) for value in values) if values else OPEN
        return OPEN

    def _attribute(self, function: Function, at: int, depth: int) -> Numbers:
        return super()._attribute(function, at, depth) or self._field(function.strings[function.ops[at][2]])

    def of_template(self, function: Function, at: int) -> Numbers:
        found = self._source.templates.get(function.binding(function.ops[at][1]))
        return joined(self._source.instances(*found)) if found is not None else OPEN

    def returned(self, function: Function, callee: int) -> Numbers:
        """What functions give back that have a name, in this source and what it includes."""
        operation = function.ops[callee]
        callee = operation[1] if operation[0] == op.ITEM else callee
        name = function.text(function.ops[callee][1]) if function.ops[callee][0] == op.LOAD else ""
        made = [
            (source, each)
            for source in self._source.included
            for each in (source.code.by_name.get(name, ()) if name else ())
            if each.header.returns >= 0 and each.parent is not None
        ]
        kinds = [source.values.of(each.parent, each.header.returns) for source, each in made if each.parent is not None]
        return joined(kinds) if kinds else OPEN

    def _dispatched(self, function: Function) -> Numbers:
        """What a type is that a macro names in the function that it is handed: `AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] {`."""
        inner: Function | None = function
        while inner is not None and inner.header.kind == LAMBDA and inner.parent is not None:
            around = inner.parent
            for use in around.users[inner.definition]:
                name = self._source.called(around, use.op) if around.ops[use.op][0] == op.CALL else ""
                if self.terms.has("dispatches_floats", name):
                    return FLOATS
                if self.terms.has("dispatches_whole", name):
                    return WHOLE
            inner = around
        return OPEN

    def _is_field(self, function: Function, at: int) -> bool:
        """Whether a name may be a field of the class around."""
        outer = self._source.outermost(function).parent
        name = function.text(function.ops[at][1])
        return (
            outer is not None and outer.is_class and any(outer.text(a[1]) == name for _, a in outer.each(op.ANNOTATE))
        )

    def _field(self, name: str) -> Numbers:
        """What a field is, by the one type that classes of the source declare it with."""
        kinds = [
            source.values.of(body, operation[2])
            for source in self._source.included
            for body in source.code.functions()
            if body.is_class
            for _, operation in body.each(op.ANNOTATE)
            if body.text(operation[1]) == name
        ]
        return joined(kinds) if kinds else OPEN
