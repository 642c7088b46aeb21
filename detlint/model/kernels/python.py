"""Kernels that are written in Python: who launches them, with what numbers, and what they add to which place.

What it may assume: a kernel is launched by calls of it, `kernel[grid](x)` or `kernel(x)`, or by what it is handed to that calls it with
arrays of the shapes that it is told (`pallas_call`); other launches are of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detlint.catalog import Entry
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.places import Place
from detlint.model.kernels.digits import Axes
from detlint.model.kernels.grids import Grids
from detlint.model.kernels.numbers import OPEN, WHOLE, Numbers, Terms, Values, joined
from detlint.model.meaning import Meaning
from detlint.model.sites.records import Ref
from detlint.model.uses import Users

_OUT: Final = ("out_shape", "out_type")
"""By what the results are told of what is launched by being handed over."""
DEEPEST: Final = 4
"""So many functions may hand on what another one is given."""


class Launch(NamedTuple):
    """A call that launches a kernel, or calls a part of one."""

    meaning: Meaning
    function: Function
    call: int
    grid: int
    """What says how many programs are launched; -1 for a plain call."""
    results: int = -1
    """What tells the shapes of the arrays that the kernel gets behind those that the call hands over."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.function, self.call)


class Adding(NamedTuple):
    """What an atomic addition takes."""

    place: Sequence[int]
    """The values that tell to which place it adds."""
    added: int


class _Numbers(Values):
    """What numbers values of a file are."""

    def __init__(self, kernels: Kernels, meaning: Meaning, depth: int) -> None:
        super().__init__(kernels.terms)
        self._kernels, self._meaning, self._depth = kernels, meaning, depth

    def named(self, function: Function, at: int) -> str:
        found = self._meaning.name(function, at)
        return found or (function.external(at) if function.ops[at][0] in (op.LOAD, op.ATTR) else "")

    def given(self, function: Function, number: int) -> Numbers:
        return self._kernels.given(self._meaning, function, number, self._depth)

    def _attribute(self, function: Function, at: int, depth: int) -> Numbers:
        return super()._attribute(function, at, depth) or joined(self._kept(function, at, depth))

    def _kept(self, function: Function, at: int, depth: int) -> Iterator[Numbers]:
        """What is kept as an attribute of the object whose method this is: `self.mass = ti.field(ti.f32)`."""
        name = function.own(at)
        for setter, there in function.code.setters(name) if name else ():
            if setter.own(there) == name and setter.ops[there][0] == op.SET_ATTR:
                yield self.of(setter, setter.ops[there][3], depth)

    def returned(self, function: Function, callee: int) -> Numbers:
        return self._kernels.returned(self._meaning, function, callee, self._depth)


class Kernels:
    """Knows the kernels of a program."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self.terms = Terms(users.resolver.catalog.kernel_languages)
        self._grids = Grids(self.terms)
        self._launches: dict[tuple[str, str], list[Launch]] = {}
        self._methods: dict[str, tuple[Meaning, Function] | None] = {}
        self._pending: set[tuple[str, str, int]] = set()

    def numbers(self, meaning: Meaning, depth: int = 0) -> Values:
        """What numbers the values of a file are."""
        return _Numbers(self, meaning, depth)

    def adding(self, function: Function, call: int, name: str, entry: Entry) -> Adding:
        """What a call takes that the catalog knows to add atomically."""
        given = function.call(call)
        values = [self.argument(function, call, name, word) for word in entry.adds]
        if entry.names[0].startswith("warp.") and len(given.positional) > len(entry.adds):  # an index for each axis
            values = [given.positional[0], *given.positional[1:-1], given.positional[-1]]
        return Adding([value for value in values[:-1] if value >= 0], values[-1])

    def argument(self, function: Function, call: int, name: str, word: str) -> int:
        """The argument for a parameter of what the catalog knows; -1 for none."""
        words = [each for each, _ in self._users.resolver.catalog.signatures.get(name, ())]
        return function.call(call).argument(words.index(word) if word in words else -1, word)

    def definitions(self, name: str) -> Iterator[tuple[Meaning, Function]]:
        """The functions of the program that have a full name: several, where a test chooses one."""
        path, colon, inside = name.partition("::")
        meaning = self._users.meanings.at(path) if colon else None
        yield from ((meaning, made) for made in meaning.code.by_name.get(inside, ())) if meaning is not None else ()

    def kind(self, meaning: Meaning, function: Function, adding: Adding) -> Numbers:
        """What numbers are added up: whole ones, also where only whole ones are added to others."""
        numbers = self.numbers(meaning)
        into = numbers.of(function, adding.place[0]) if adding.place else OPEN
        added = numbers.of(function, adding.added)
        return WHOLE if WHOLE in (into, added) else into or added

    def zero(self, launches: Sequence[Launch], function: Function) -> frozenset[int]:
        """The parameters that are 0 in some launch which gives the array that is added to."""
        parameters = range(len(function.header.parameters))
        found = set[int]()
        for launch in launches:
            handed = {number: self.handed(launch, function, number) for number in parameters}
            absent = {way for value in handed.values() for way in self._ways(launch, value, None)}
            found |= {number for number, value in handed.items() if {*self._ways(launch, value, 0)} - absent}
        return frozenset(found)

    def _ways(self, launch: Launch, value: int, constant: int | None) -> Iterator[tuple[object, ...]]:
        """The ways on which an argument is a constant: the tests that were passed, or what a function of the program returns."""
        function = launch.function
        operation = function.ops[function.meant(value)] if value >= 0 else (op.END,)
        if operation[0] == op.PART and function.ops[operation[1]][0] == op.CALL:
            name = launch.meaning.name(function, function.ops[operation[1]][1])
            made = self._users.meanings.definition(name)
            for at, given in made[1].each(op.RETURN) if made is not None else ():
                parts = made[1].ops[given[1]] if made is not None and given[1] >= 0 else (op.END,)
                several = parts[0] == op.TUPLE and 0 <= operation[2] < len(parts) - 1
                if made is not None and several and _is(made[1], parts[1 + operation[2]], constant):
                    yield operation[1], at
            return
        stored = function.stored(value) if value >= 0 and function.ops[value][0] == op.LOAD else None
        for each in stored if stored is not None else (value,):
            if _is(function, each, constant):
                yield tuple((guard.test, guard.holds) for guard in function.guards(each))

    # -- launches ---------------------------------------------------------------------------------------------------

    def launches(self, meaning: Meaning, function: Function) -> list[Launch]:
        """The calls of a kernel in the whole program, or of a part of one."""
        key = meaning.path, function.qualified
        if key not in self._launches:
            self._launches[key] = [*self._found(meaning, function)] if function.number else []
        return self._launches[key]

    def _found(self, meaning: Meaning, function: Function) -> Iterator[Launch]:
        wanted, word = Ref(f"{meaning.path}::{function.qualified}"), function.name
        if not word.isidentifier():
            return
        paths = [*self._users.index.saying(word, "")] if "<" not in function.qualified else [meaning.path]
        for path in dict.fromkeys((meaning.path, *paths)):
            self._users.resolver.opened.add(path)
            other = self._users.meanings.at(path)
            if other is not None:
                for place in self._references(other, wanted, word):
                    yield from self._launched(other, place.function, place.at)

    def _references(self, meaning: Meaning, wanted: Ref, word: str) -> Iterator[Place]:
        code = meaning.code
        if word not in code.identifiers:
            return
        for function in code.functions():
            for at, operation in function.each(op.LOAD, op.ATTR):
                said = function.text(operation[1]) if operation[0] == op.LOAD else code.strings[operation[2]]
                if said != word:
                    continue
                known = meaning.value(function, at) == wanted or self._is_own(meaning, function, at, wanted)
                if known or (operation[0] == op.ATTR and self._is_only(meaning, function, at, wanted)):
                    yield Place(function, at)

    def _is_only(self, meaning: Meaning, function: Function, at: int, wanted: Ref) -> bool:
        """Whether kernels name a method of an object that isn't known, and the program has no other of that name for them."""
        asked = not meaning.name(function, at) and self._is_part(meaning, function)
        only = self._only(function.strings[function.ops[at][2]]) if asked else None
        return only is not None and wanted.name == f"{only[0].path}::{only[1].qualified}"

    def _is_own(self, meaning: Meaning, function: Function, at: int, wanted: Ref) -> bool:
        """Whether a name is a definition of the same file, whatever its decorators make of it."""
        made = self._defined(function, at)
        return made is not None and wanted.name == f"{meaning.path}::{made.qualified}"

    def _defined(self, function: Function, at: int) -> Function | None:
        """The definition of the same file that a name is, whatever its decorators make of it."""
        operation = function.ops[at]
        stores = function.code.stores(function.binding(operation[1])) if operation[0] == op.LOAD else ()
        if len(stores) != 1 or stores[0][0].ops[stores[0][1]][0] != op.STORE:
            return None
        around, stored = stores[0]
        made = around.ops[around.ops[stored][2]]
        return function.code.function(made[1]) if made[0] == op.FUNCTION else None

    def _launched(self, meaning: Meaning, function: Function, at: int, depth: int = 0) -> Iterator[Launch]:
        """The launches of what a value is: a kernel, one with its grid, one that is partly given, or kept under a name."""
        for use in function.users[at] if depth < DEEPEST else ():
            operation = function.ops[use.op]
            if operation[0] == op.ITEM and use.place == 1:
                calls = [other.op for other in function.ends(use.op, ()) if function.ops[other.op][0] == op.CALL]
                yield from (
                    Launch(meaning, function, call, operation[2]) for call in calls if function.ops[call][1] == use.op
                )
            elif operation[0] == op.CALL and use.place == 1:
                given = [function.ops[value][0] for value in function.call(use.op).positional]
                if given != [op.TUPLE] * 3:  # CuPy's: a grid, a block, all arguments
                    yield Launch(meaning, function, use.op, -1)
            elif operation[0] == op.CALL:
                yield from self._called_later(meaning, function, use.op, at)
                yield from self._called_there(meaning, function, use.op, at, depth)
            elif operation[0] == op.STORE and function.binding(operation[1]).owner == function.number:
                loads = [
                    n
                    for n, load in function.each(op.LOAD)
                    if load[1] == operation[1] and function.stored(n) == [operation[2]]
                ]
                for load in loads:
                    yield from self._launched(meaning, function, load, depth + 1)

    def _called_later(self, meaning: Meaning, function: Function, call: int, kernel: int) -> Iterator[Launch]:
        """The launch by what a kernel is handed to, which is called with arrays: `pallas_call(kernel, out_shape=...)(x)`."""
        given = function.call(call)
        results = next((given.named[word] for word in _OUT if word in given.named), -1)
        if results < 0 and given.positional[:1] == (kernel,) and len(given.positional) > 1:
            results = given.positional[1]
        if given.positional[:1] == (kernel,) and meaning.name(function, given.callee) == "functools.partial":
            yield from self._launched(meaning, function, call, 1)
        for use in function.users[call]:
            if function.ops[use.op][0] == op.CALL and use.place == 1 and results >= 0:
                yield Launch(meaning, function, use.op, -1, results)

    def _called_there(
        self, meaning: Meaning, function: Function, call: int, kernel: int, depth: int
    ) -> Iterator[Launch]:
        """The calls by a function of the program that it is handed to: `self.for_all_neighbours(i, self.task)`."""
        given = function.call(call)
        place = given.positional.index(kernel) if kernel in given.positional else -1
        word = next((word for word, value in given.named.items() if value == kernel), "")
        for other, made in self.called(meaning, function, call):
            bound = function.called_on(call) >= 0 and bool(made.receives)
            for at, _ in made.each(op.LOAD):
                own = made.parameter(at)
                if own >= 0 and own == (place + bound if place >= 0 else -1 if made.text(own) != word else own):
                    yield from self._launched(other, made, at, depth + 1)

    def called(self, meaning: Meaning, function: Function, call: int) -> list[tuple[Meaning, Function]]:
        """The functions that a call calls; of an object that isn't known, the one method of the program of that name."""
        own = self._defined(function, function.ops[call][1])
        if own is not None:
            return [(meaning, own)]
        name = meaning.name(function, function.ops[call][1])
        if name or function.called_on(call) < 0:
            return [*self.definitions(name)]
        only = self._only(function.called(call)) if self._is_part(meaning, function) else None
        return [only] if only is not None else []

    def _is_part(self, meaning: Meaning, function: Function) -> bool:
        """Whether a function is a kernel, or a part of one, by its decorators."""
        around = function.parent
        names = (meaning.name(around, value) for value in function.decorators) if around is not None else ()
        return any(self.terms.has(key, name) for name in names for key in ("kernels", "functions"))

    def _only(self, word: str) -> tuple[Meaning, Function] | None:
        """The one method of the program of a name that is a part of kernels; None where there are several, or none."""
        if word not in self._methods:
            meanings = [self._users.meanings.at(path) for path in self._users.index.saying(word, "")]
            said = [(m, each) for m in meanings if m is not None for each in m.code.functions() if each.name == word]
            found = [(m, each) for m, each in said if each.receives and self._is_part(m, each)]
            self._methods[word] = found[0] if len(found) == 1 else None
        return self._methods[word]

    def grid(self, launch: Launch) -> Axes | None:
        """The axes along which more than one program is launched; None where that isn't known."""
        return self._grids.several(launch)

    # -- what is given ----------------------------------------------------------------------------------------------

    def given(self, meaning: Meaning, function: Function, number: int, depth: int) -> Numbers:
        """What numbers a parameter gets by all calls that are known."""
        key = meaning.path, function.qualified, number
        if key in self._pending or depth > DEEPEST or not function.number:
            return OPEN
        told = self._signed(meaning, function, number)
        if told:
            return told
        self._pending.add(key)
        kinds = [self._handed_over(launch, function, number, depth) for launch in self.launches(meaning, function)]
        self._pending.discard(key)
        return joined(kinds) if kinds else OPEN

    def returned(self, meaning: Meaning, function: Function, callee: int, depth: int) -> Numbers:
        """What numbers a function of the program gives back that a value is."""
        own = self._defined(function, callee)
        found = (meaning, own) if own is not None else self._users.meanings.definition(meaning.name(function, callee))
        key = (found[0].path, found[1].qualified, -1) if found is not None else ("", "", -1)
        if found is None or key in self._pending or depth > DEEPEST:
            return OPEN
        self._pending.add(key)
        numbers = self.numbers(found[0], depth + 1)
        given = [operation[1] for _, operation in found[1].each(op.RETURN) if operation[1] >= 0]
        kinds = [numbers.of(found[1], value) for value in given if found[1].ops[value][0] != op.TUPLE]
        self._pending.discard(key)
        return joined(kinds) if kinds else OPEN

    def _signed(self, meaning: Meaning, function: Function, number: int) -> Numbers:
        """What a parameter is by the signature that a decorator tells: `@cuda.jit("void(float32[:], int32)")`."""
        around = function.parent
        for value in function.decorators if around is not None else ():
            given = around.call(value).positional if around.ops[value][0] == op.CALL else ()  # type: ignore[union-attr]
            if not given:
                continue
            text = around.constant(given[0])  # type: ignore[union-attr]
            if isinstance(text, str):
                parts = _parts(text)
                return self.terms.of_type(parts[number].partition("[")[0]) if number < len(parts) else OPEN
            inner = around.call(given[0]).positional if around.ops[given[0]][0] == op.CALL else ()  # type: ignore[union-attr]
            if number < len(inner):
                return self.numbers(meaning).of(around, inner[number])  # type: ignore[arg-type]
        return OPEN

    def handed(self, launch: Launch, function: Function, number: int) -> int:
        """The argument that a launch gives for a parameter; -1 for none."""
        bound = 1 if function.receives else 0
        call = launch.function.call(launch.call)
        return call.argument(number - bound, function.text(number)) if number >= bound else -1

    def _handed_over(self, launch: Launch, function: Function, number: int, depth: int) -> Numbers:
        call, value = launch.function.call(launch.call), self.handed(launch, function, number)
        numbers = self.numbers(launch.meaning, depth + 1)
        if value < 0 and launch.results >= 0 and number >= len(call.positional):
            shapes = launch.function.ops[launch.function.meant(launch.results)]
            place = number - len(call.positional)
            several = shapes[0] in (op.LIST, op.TUPLE)
            value = shapes[1 + place] if several and place + 1 < len(shapes) else -1 if several else launch.results
        return numbers.of(launch.function, value) if value >= 0 else OPEN


def _is(function: Function, value: int, constant: int | None) -> bool:
    found = function.constant(function.element(value)) if value >= 0 else UNKNOWN
    return found is None if constant is None else type(found) is int and found == constant


def _parts(signature: str) -> list[str]:
    """The types of the parameters in a signature: `void(float32[:,:], int32)`."""
    inside = signature.partition("(")[2].rpartition(")")[0] or signature
    found, depth = [""], 0
    for letter in inside:
        depth += (letter in "[(") - (letter in ")]")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]
