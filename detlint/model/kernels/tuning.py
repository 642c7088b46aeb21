"""What autotuning by timing changes of a kernel: the names that configurations give different values, and the sums that these regroup.

What it may assume: a configuration is made by a call that is written where configurations are told, or in a function that is called there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.body import UNKNOWN
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.model.kernels.numbers import WHOLE, Values
from detlint.model.kernels.python import Kernels
from detlint.model.meaning import Meaning

WARPS: Final = "num_warps"
"""How many warps share the work on a block: their number decides how a sum over it is grouped."""
_CONFIGS: Final = "configs"
"""What the parameter is called by which Triton's autotuner is told configurations, and whatever is put in its place."""
DEEPEST: Final = 4
_SIGNS: Final = frozenset({"+", "-"})
_TURNING: Final = frozenset({"permute", "ravel", "reshape", "trans", "view", "join", "split"})
"""What may give a block other axes than it is made of."""
_REDUCING: Final = frozenset({"sum", "mean", "softmax", "cumsum", "var", "std", "norm", "logsumexp", "matmul"})
"""Methods of tensors that add up."""


class _Config(NamedTuple):
    """A configuration."""

    place: Place
    is_repeated: bool
    """Whether it is made again and again, in a loop or comprehension."""
    way: str = ""
    """By which of several functions it is made, of which one is chosen; "" where there is one."""


class Tuned(NamedTuple):
    """A kernel that is chosen by timing."""

    kernel: Function
    decorator: Place
    """What has it chosen."""
    sum: Place
    """The first sum in it that is grouped by what is chosen."""


class Tuning:
    """What is known of autotuned kernels in a file."""

    def __init__(self, kernels: Kernels, meaning: Meaning) -> None:
        self._kernels, self._meaning = kernels, meaning
        self._numbers: Values = kernels.numbers(meaning)
        self._terms = kernels.terms

    def tuned(self) -> Iterator[Tuned]:
        """The kernels of the file that are chosen by timing."""
        for function in self._meaning.code.functions():
            around = function.parent
            if around is None or around.is_class:
                continue
            for value in function.decorators:
                made = self._grouped(function, around, value)
                if made is not None:
                    yield Tuned(function, Place(around, value), made)
                    break
        yield from self._tuned_by_calls()

    def _tuned_by_calls(self) -> Iterator[Tuned]:
        """Those that are handed to what a decorator would be: `autotune(configs)(kernel)`."""
        for around in self._meaning.code.functions():
            for at, operation in around.each(op.CALL):
                given = around.call(at).positional if around.ops[operation[1]][0] == op.CALL else ()
                kernel = self._kernel(around, given[0], 0) if len(given) == 1 else None
                made = self._grouped(kernel, around, operation[1]) if kernel is not None else None
                if kernel is not None and made is not None:
                    yield Tuned(kernel, Place(around, operation[1]), made)

    def _kernel(self, around: Function, value: int, depth: int) -> Function | None:
        """The function that a value is, whatever it was handed to that gave it back: `kernel = jit(kernel)`."""
        operation = around.ops[value]
        if operation[0] == op.FUNCTION:
            return around.code.function(operation[1])
        if operation[0] == op.CALL:
            given = around.call(value).positional
            return self._kernel(around, given[0], depth) if len(given) == 1 else None
        stores = around.code.stores(around.binding(operation[1])) if operation[0] == op.LOAD and depth < DEEPEST else ()
        kept = ((other, other.ops[stored]) for other, stored in stores)
        found = (self._kernel(other, store[2], depth + 2) for other, store in kept if store[0] == op.STORE)
        return next((kernel for kernel in found if kernel is not None), None)

    def _grouped(self, function: Function, around: Function, decorator: int) -> Place | None:
        """The sum that a decorator has be grouped by timing."""
        called = around.ops[decorator][0] == op.CALL
        for tuning, place in self._timed(around, decorator) if called else ():
            varied = tuning._varied(*place)
            found = next((sums for kernel in self._inside(function) for sums in self._all_sums(kernel, varied)), None)
            if found is not None:
                return found
        if self._terms.has(
            "tuned_kernels", self._meaning.name(around, around.ops[decorator][1] if called else decorator)
        ):
            given = around.call(decorator).named if called else {}
            untuned = "autotune_effort" in given and around.constant(given["autotune_effort"]) == "none"
            return next(self._reductions(function), None) if not (untuned or "config" in given) else None
        return None

    def _inside(self, function: Function) -> Iterator[Function]:
        """A function, and those in it."""
        return function.code.inside(function.number)

    def _timed(self, function: Function, call: int, depth: int = 0) -> Iterator[tuple[Tuning, Place]]:
        """The configurations among which a call chooses by timing, or a function of the program that it calls, with what knows the
        file that they stand in."""
        for name in self._meaning.names(function, function.ops[call][1]):
            if self._terms.has("autotuners", name):
                value = self._kernels.argument(function, call, name, "configs")
                yield from [(self, Place(function, value))] if value >= 0 else ()
            for meaning, made in self._kernels.definitions(name) if depth < DEEPEST else ():
                tuning = Tuning(self._kernels, meaning)
                number = tuning._told_to_tuner(made) if made.is_class else 0
                told = function.call(call).argument(number - 1, _CONFIGS) if number > 0 else -1
                yield from [(self, Place(function, told))] if told >= 0 else ()
                inside = [(inner, at) for inner in self._inside(made) for at, _ in inner.each(op.CALL)]
                for timed in (found for inner, at in inside for found in tuning._timed(inner, at, depth + 2)):
                    given = timed[1].function.given(timed[1].at)
                    handed = given is not None and given[0] is made
                    value = function.call(call).argument(given[1], made.text(given[1])) if given is not None else -1
                    yield from [(self, Place(function, value))] if handed and value >= 0 else [] if handed else [timed]

    def _told_to_tuner(self, made: Function) -> int:
        """The parameter by which a class of the program's own is told configurations, if its objects stand for kernels; 0 for none."""
        around, operation = made.parent, made.parent.ops[made.definition] if made.parent is not None else (op.END,)
        count = 3 + operation[2] if operation[0] == op.CLASS else 0
        bases = operation[count + 1 : count + 1 + operation[count]] if count else ()
        tunes = around is not None and any(
            self._terms.has("tuners", self._meaning.name(around, base)) for base in bases
        )
        for init in self._meaning.code.by_name.get(f"{made.qualified}.__init__", ()) if tunes else ():
            names = [init.text(number) for number in range(len(init.header.parameters))]
            return names.index(_CONFIGS) if _CONFIGS in names else 0
        return 0

    # -- configurations ---------------------------------------------------------------------------------------------

    def _varied(self, function: Function, configs: int) -> frozenset[str]:
        """What the configurations give several values, on one of the ways by which they are made."""
        found = [*self._configs(function, configs, 0)]
        made = [config for config in found if config.place.function.ops[config.place.at][0] == op.CALL] or found
        ways = {config.way for config in made if config.way} or {""}
        return frozenset().union(*(self._varied_among([c for c in made if c.way in ("", way)]) for way in ways))

    def _varied_among(self, made: Sequence[_Config]) -> set[str]:
        """What some configurations give several values."""
        given: dict[str, list[str]] = {}
        for number, config in enumerate(made):
            for name, value in self._told(config.place):
                constant = config.place.function.constant(config.place.function.meant(value))
                # What isn't written out may be another value each time that it is made.
                several = constant is UNKNOWN and config.is_repeated
                given.setdefault(name, []).extend([f"{number}?", f"{number}!"] if several else [repr(constant)])
        return {name for name, values in given.items() if len({*values}) > 1 or len(values) < len(made)}

    def _told(self, place: Place) -> Iterator[tuple[str, int]]:
        """What one configuration gives names."""
        function, at = place
        operation = function.ops[at]
        if operation[0] == op.CALL:
            call = function.call(at)
            table = call.argument(0, "kwargs")
            yield from call.named.items()
            made = function.meant(table) if table >= 0 else -1
            operation = function.ops[made] if made >= 0 else (op.END,)
            if operation[0] == op.CALL and self._meaning.name(function, operation[1]) == "builtins.dict":
                yield from function.call(made).named.items()
            if self._meaning.name(function, function.ops[at][1]) == "builtins.dict":
                yield from self._zipped(function, at)
        if operation[0] == op.DICT:
            for key, value in zip(operation[1::2], operation[2::2], strict=True):
                name = function.constant(key) if key >= 0 else None
                if isinstance(name, str):
                    yield name, value

    def _zipped(self, function: Function, at: int) -> Iterator[tuple[str, int]]:
        """What `dict(zip(values_of_names, values))` gives names that have several values to choose from."""
        given = function.call(at).positional
        zipped = function.ops[function.meant(given[0])] if given else (op.END,)
        if zipped[0] != op.CALL or self._meaning.name(function, zipped[1]) != "builtins.zip" or zipped[2] != 2:
            return
        table, value = Place(function, function.meant(zipped[3])), zipped[4]
        for name, several in self._told(table):
            options = function.ops[function.meant(several)]
            yield from [(name, value)] if options[0] not in (op.LIST, op.TUPLE) or len(options) > 2 else ()

    def _configs(self, function: Function, value: int, depth: int) -> Iterator[_Config]:
        """The configurations that a value holds."""
        if depth > DEEPEST:
            return
        for at in range(function.first(value), value + 1):
            yield from self._config(function, at, depth)

    def _config(self, function: Function, at: int, depth: int) -> Iterator[_Config]:
        operation = function.ops[at]
        if operation[0] == op.LOAD:
            for around, stored in function.code.stores(function.binding(operation[1])):
                made = around.ops[stored]
                if made[0] == op.STORE and around.ops[made[2]][0] not in (op.FUNCTION, op.FOR, op.PART):
                    yield from self._configs(around, made[2], depth + 1)
        elif operation[0] == op.DICT:
            yield _Config(Place(function, at), self._again(function, at))
        elif operation[0] == op.CALL:
            names = [*self._meaning.names(function, operation[1])]
            zips = "builtins.dict" in names and len(function.call(at).positional) == 1
            if zips or any(self._terms.has("configs", name) for name in names):
                yield _Config(Place(function, at), self._again(function, at))
            makers = [made for name in names if depth < DEEPEST for made in self._kernels.definitions(name)]
            for meaning, maker in makers:
                tuning = self if meaning is self._meaning else Tuning(self._kernels, meaning)
                for config in (found for n in range(len(maker.ops)) for found in tuning._config(maker, n, depth + 2)):
                    yield config._replace(way=f"{meaning.path}::{maker.qualified}") if len(makers) > 1 else config

    def _again(self, function: Function, at: int) -> bool:
        return any(function.ops[mark][0] in (op.FOR, op.WHILE, op.COMPREHEND) for mark in function.blocks(at))

    # -- sums -------------------------------------------------------------------------------------------------------

    def _all_sums(self, function: Function, varied: frozenset[str], depth: int = 0) -> Iterator[Place]:
        """The same in a kernel, and in the functions that it calls, whose parameters get these sizes."""
        yield from self._sums(function, varied)
        for at, _ in function.each(op.CALL) if varied and depth < DEEPEST else ():
            for meaning, made in self._kernels.called(self._meaning, function, at):
                call, words = function.call(at), [made.text(number) for number in range(len(made.header.parameters))]
                given = {word: call.argument(number, word) for number, word in enumerate(words)}
                sizes = {
                    word for word, value in given.items() if value >= 0 and self._rests_on(function, value, varied)
                }
                tuning = Tuning(self._kernels, meaning)
                yield from tuning._all_sums(made, frozenset(sizes | varied & {WARPS}), depth + 2)

    def _sums(self, function: Function, varied: frozenset[str]) -> Iterator[Place]:
        """The sums in a kernel that sizes decide which have several values."""
        for at, _ in function.each(op.CALL) if varied else ():
            name = self._numbers.named(function, function.ops[at][1])
            summed = function.call(at).argument(0, "input", "buffer")
            adds = self._terms.has("sums", name) and summed >= 0 and self._numbers.of(function, summed) != WHOLE
            adds = adds and not self._is_exact(function, at)
            if adds and (WARPS in varied or self._is_cut(function, at, summed, varied)):
                yield Place(function, at)
        for mark, _ in function.each(op.FOR, op.WHILE) if varied else ():
            if self._is_divided(function, mark, varied):
                yield from self._accumulated(function, mark)

    def _is_exact(self, function: Function, call: int) -> bool:
        """Whether a reduction is told a function of the program that adds and multiplies nothing, as the larger of two is found."""
        told = function.call(call).argument(2, "combine_fn")
        name = self._meaning.name(function, told) if told >= 0 else ""
        made = [combine for _, combine in self._kernels.definitions(name)]
        signs = {each.strings[part[1]] for each in made for _, part in each.each(op.BINARY, op.AUGMENT)}
        return bool(made) and signs.isdisjoint({"+", "-", "*"}) and not any(self._calls_sums(each) for each in made)

    def _calls_sums(self, function: Function) -> bool:
        """Whether a function calls another one of the program, or what computes in floating-point numbers."""
        names = (self._meaning.name(function, part[1]) for _, part in function.each(op.CALL))
        return any("::" in name or self._terms.has("floats", name) for name in names)

    def _is_cut(self, function: Function, call: int, summed: int, varied: frozenset[str]) -> bool:
        """Whether the names decide how much of what is summed is in one block; along the axis of the sum, where that is known."""
        axis = function.constant(value) if (value := function.call(call).argument(1, "axis")) >= 0 else UNKNOWN
        made = [*function.made_of(summed)]
        calls = {
            at: self._numbers.named(function, function.ops[at][1]) for at in made if function.ops[at][0] == op.CALL
        }
        turned = any(self._terms.has("sums", name) or name.rpartition(".")[2] in _TURNING for name in calls.values())
        axes = {found for at, name in calls.items() for found in self._axes(function, at, name, made, varied)}
        if turned or not isinstance(axis, int) or axis < 0 or None in axes:
            return self._rests_on(function, summed, varied)
        return axis in axes

    def _axes(
        self, function: Function, at: int, name: str, made: Sequence[int], varied: frozenset[str]
    ) -> Iterator[int | None]:
        """The axes along which a call makes a block as large as one of the names says; None for one that isn't known."""
        call = function.call(at)
        if self._terms.has("lanes", name) and self._rests_on(function, at, varied):
            views = [n for n in made if function.ops[n][0] == op.ITEM and at in {*function.made_of(function.ops[n][1])}]
            yield from (_axis(function, function.ops[n][2]) for n in views)
            yield from () if views else (None,)
        elif self._terms.has("typed", name) or self._terms.has("addresses", name):
            shape = call.argument(4, "block_shape") if self._terms.has("addresses", name) else call.argument(0, "shape")
            parts = function.ops[function.meant(shape)] if shape >= 0 else (op.END,)
            sizes = parts[1:] if parts[0] in (op.LIST, op.TUPLE) else ()
            yield from (axis for axis, size in enumerate(sizes) if self._rests_on(function, size, varied))

    def _rests_on(self, function: Function, value: int, varied: frozenset[str]) -> bool:
        """Whether a value is made of one of the names."""
        reads = (function.ops[at] for at in function.made_of(value))
        return any(part[0] == op.LOAD and function.text(part[1]) in varied for part in reads)

    def _is_divided(self, function: Function, mark: int, varied: frozenset[str]) -> bool:
        """Whether a loop has as many rounds as one of the names says."""
        if function.ops[mark][0] == op.FOR:
            return self._rests_on(function, function.ops[mark][1], varied)
        return any(
            operation[0] == op.AUGMENT and mark < at and self._rests_on(function, operation[3], varied)
            for at, operation in function.each(op.AUGMENT)
            if mark in function.blocks(at)
        )

    def _accumulated(self, function: Function, mark: int) -> Iterator[Place]:
        """The sums that a loop carries from round to round."""
        end = function.parts[mark][-1]
        for at, (_, slot, value) in function.each(op.STORE):
            if (
                mark < at < end
                and self._adds(function, slot, value, mark)
                and self._numbers.of(function, value) != WHOLE
            ):
                yield Place(function, at)
        for at, (_, array, index, value) in function.each(op.SET_ITEM):
            made = function.ops[value]
            adds = mark < at < end and made[0] == op.AUGMENT and function.strings[made[1]] in _SIGNS
            if adds and mark not in function.made_of(index) and self._is_buffer(function, array, mark):
                yield Place(function, at)
        for at, _ in function.each(op.CALL):
            named = self._numbers.named(function, function.ops[at][1])
            if mark < at < end and self._terms.has("products", named) and not function.users[at]:
                yield Place(function, at)  # it adds to what it is handed: `gemm(a, b, c)`

    def _is_buffer(self, function: Function, array: int, mark: int) -> bool:
        """Whether something is an array of floating-point numbers that is made before a loop."""
        made = function.meant(array)
        return made < mark and self._is_number(function, made) if function.ops[made][0] == op.CALL else False

    def _adds(self, function: Function, slot: int, value: int, mark: int) -> bool:
        """Whether what a name gets is itself, from before a loop, and something else; also by way of other names."""
        for made in (each for each in function.made_of(value) if each > mark):
            operation = function.ops[made]
            signed = operation[0] in (op.BINARY, op.AUGMENT) and function.strings[operation[1]] in _SIGNS
            called = self._numbers.named(function, operation[1]) if operation[0] == op.CALL else ""
            adds = signed or self._terms.has("products", called)
            before = [at for at in function.made_of(made) if function.ops[at] == (op.LOAD, slot)] if adds else []
            if any(self._begins_as_number(function, at, mark, made) for at in before):
                return True
        return False

    def _begins_as_number(self, function: Function, load: int, mark: int, value: int) -> bool:
        """Whether a name is no address, and no offset, by what it is before the loop: a constant, what was loaded, or a new array."""
        begins = [made for made in function.stored(load) or () if made < mark]
        return any(self._is_number(function, made) for made in begins) or self._is_handed(function, load, value)

    def _is_handed(self, function: Function, load: int, value: int) -> bool:
        """Whether a parameter is a number by what is added to it: what was loaded or computed; offsets are added to addresses."""
        given = function.given(load)
        calls = (n for n in function.made_of(value) if function.ops[n][0] == op.CALL) if given is not None else ()
        names = [self._numbers.named(function, function.ops[n][1]) for n in calls]
        return any(self._terms.has(key, name) for name in names for key in ("floats", "loads", "products", "sums"))

    def _is_number(self, function: Function, value: int) -> bool:
        """Whether a value is one that adds up inexactly, as what is only handed on is by what that is."""
        if function.ops[value][0] != op.CALL:
            return isinstance(function.constant(value), float)
        name = self._numbers.named(function, function.ops[value][1])
        if self._numbers.of(function, value) == WHOLE or self._terms.has("addresses", name):
            return False
        if any(self._terms.has(key, name) for key in ("typed", "like", "floats", "sums", "products", "loads")):
            return True
        given = function.call(value).positional[:1]
        return self._terms.has("first", name) and any(self._is_number(function, function.meant(part)) for part in given)

    def _reductions(self, function: Function) -> Iterator[Place]:
        """What adds up in a kernel whose whole shape is chosen."""
        for at, _ in function.each(op.CALL):
            name = self._numbers.named(function, function.ops[at][1])
            method = function.called_on(at) >= 0 and function.called(at) in _REDUCING
            known = self._terms.has("sums", name) or self._terms.has("products", name)
            if known or (method and self._numbers.of(function, at) != WHOLE):
                yield Place(function, at)


def _axis(function: Function, index: int) -> int | None:
    """The axis along which an index that only adds axes leaves something: 0 of `offsets[:, None]`; None for any other."""
    operation = function.ops[index]
    parts = operation[1:] if operation[0] == op.TUPLE else (index,)
    kept = [number for number, part in enumerate(parts) if function.ops[part][0] == op.SLICE]
    rest = all(function.constant(part) is None for part in parts if function.ops[part][0] != op.SLICE)
    return kept[0] if len(kept) == 1 and rest else None
