"""Smoke tests: `__main__` blocks, and functions that say it, which run something on made-up inputs and show no more than the shape
of what comes out.

What they do is seen in what they drop: a call whose result nobody takes is there for something else. It assumes that what is called like a
class is one, and that what has the name of one of PyTorch's or MindSpore's methods does what that does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Code, Function
from detlint.ir.records import KIND, LAMBDA
from detlint.ir.uses import Op

SHAPES: Final = frozenset({"device", "dtype", "len", "ndim", "numel", "shape", "size", "type"})
"""Attributes and methods of a tensor, and functions, that say nothing of the numbers in it."""
_COUNTS: Final = frozenset({"flops"})
"""Methods of networks that count what they compute, which their weights don't change."""
_SHOWS: Final = frozenset({"print", "pprint"})
_DISPLAYS: Final = "show"
"""The method by which a picture is put on the screen: `Image.show`."""
_PICTURES: Final = frozenset({
    "axis", "destroyAllWindows", "figure", "imshow", "plot", "show", "subplot", "tight_layout", "title", "waitKey",
})  # fmt: skip
"""Calls that make a picture, and put it there."""
_LOOKS_UP: Final = frozenset({"get", "getenv"})
_STOPS: Final = frozenset({"breakpoint", "set_trace"})
"""Debuggers: whoever left them there looked at it himself."""
_PUTS_TOGETHER: Final = frozenset({"format", "list", "str", "sum", "tuple"})
_MODES: Final = frozenset({"cuda", "eval", "float", "half", "npu", "requires_grad_", "train"})
"""Methods that put a network into a mode, or on a device."""
_FORWARD: Final = "forward"
"""How the names of methods begin that only run a network."""
_MAKES_UP: Final = frozenset({"normal", "ones", "rand", "randint", "randn", "random", "uniform", "zeros"})
"""What makes up the numbers that a network is tried with."""
_BACKWARD: Final = "backward"
_ASKS: Final = frozenset({"callable", "hasattr", "isinstance", "issubclass"})
_FILLS: Final = frozenset({
    "init_parameters", "init_weights", "initialize_weights", "reset_parameters", "set_data", "weight_init", "weights_init",
})  # fmt: skip
"""Methods of networks, and of their weights, that give weights their first values."""
_SETS_UP: Final = frozenset({"manual_seed", "seed", "set_context", "set_device", "set_seed", "set_train"})
_SAYS: Final = frozenset({"__repr__", "__str__", "extra_repr"})
"""Methods by which an object says what it is."""
_LITERAL: Final = frozenset({
    op.AUGMENT, op.BINARY, op.CONST, op.DICT, op.FOR, op.LIST, op.PART, op.SET, op.STAR, op.TUPLE, op.UNARY,
})  # fmt: skip
_WHOLES: Final = frozenset({op.BINARY, op.CHOICE, op.FORMAT, op.LIST, op.TEXT, op.TUPLE, op.UNARY})
"""Codes of what says no more than what it is put together of."""
_LEAVING: Final = frozenset({op.AWAIT, op.YIELD, op.YIELD_FROM})
_KEEPS: Final = frozenset({op.SET_ATTR, op.SET_ITEM})

TRIES: Final = "test"
"""How the names of functions begin that only try something out."""
_RUNNER: Final = "pytest.mark."
"""How the decorators begin by which a test runner knows what to hand a function."""


def is_trial(function: Function) -> bool:
    """Whether a function is a smoke test: it is handed nothing, but by a test runner, and gives back and keeps nothing."""
    around = function.parent
    if around is None or not function.name.startswith(TRIES):
        return False
    runner = [_decorated_by(around, value).startswith(_RUNNER) for value in function.decorators]
    if not all(runner) or (function.header.parameters and not runner):
        return False
    return Block(function, 0, len(function.ops)).only_shows_shapes() and not any(
        _keeps(part, operation) for part in function.code.inside(function.number) for operation in part.ops
    )


def _decorated_by(function: Function, value: int) -> str:
    """The full name of a decorator, called or not."""
    return function.external(function.ops[value][1] if function.ops[value][0] == op.CALL else value)


def _keeps(function: Function, operation: Op) -> bool:
    """Whether an op gives something to who comes after it."""
    if operation[0] == op.RETURN:
        return (
            function.header.kind & KIND != LAMBDA and function.constant(operation[1]) is not None and operation[1] >= 0
        )
    if operation[0] == op.STORE:
        return function.names[operation[1]].owner != function.number
    return operation[0] in _KEEPS


def asks_for_tests(function: Function, test: int, testing: Collection[str]) -> bool:
    """Whether a test only holds while tests run: `"PYTEST_CURRENT_TEST" in os.environ`, or `os.getenv` of it.

    Args:
        testing: environment variables, and modules, that are only there then.
    """
    operation, strings = function.ops[test], function.code.strings
    if operation[0] == op.CHOICE and strings[operation[1]] in ("and", "or"):
        asked = [asks_for_tests(function, part, testing) for part in operation[2:]]
        return any(asked) if strings[operation[1]] == "and" else all(asked)
    if operation[0] == op.COMPARE:
        return strings[operation[2]] == "in" and function.constant(operation[1]) in testing
    if operation[0] != op.CALL or function.called(test) not in _LOOKS_UP:
        return False
    return any(function.constant(value) in testing for value in function.call(test).positional[:1])


def layers(code: Code, known: Collection[str]) -> frozenset[int]:
    """The classes of a file's top level that are layers, and say nothing of themselves but what these say, and the functions that only
    make one of them and give it back; by number.

    Args:
        known: the classes of frameworks that layers derive from.
    """
    bodies = [code.function(number) for number in code.children.get(0, ())]
    if any(
        not _SAYS.isdisjoint(code.function(number).name for number in code.children.get(b.number, ()))
        for b in bodies
        if b.is_class
    ):
        return frozenset()
    found = {body.number for body in bodies if body.is_class and _derives(body, known)}
    makers = [body for body in bodies if not body.is_class and not body.decorators]
    while new := {body.number for body in makers if body.number not in found and _only_makes(body, found)}:
        found |= new
    return frozenset(found)


def _derives(body: Function, known: Collection[str]) -> bool:
    around = body.parent
    assert around is not None
    return any(around.external(value) in known for value in around.call(body.definition).positional)


def _only_makes(function: Function, made: Collection[int]) -> bool:
    """Whether all that a function does with what some classes and functions make is to give it back."""
    if any(operation[0] in (*_KEEPS, *_LEAVING, op.FOR, op.WITH, op.TRY) for operation in function.ops):
        return False
    returned = [operation[1] for _, operation in function.each(op.RETURN)]
    dropped = any(not function.users[at] for at, _ in function.each(op.CALL))
    return bool(returned) and not dropped and all(_is_made(function, value, made) for value in returned)


def _is_made(function: Function, value: int, made: Collection[int]) -> bool:
    """Whether a value is what one of some definitions makes, that nothing else is done with."""
    if value < 0:
        return False
    alone = len(function.users[value]) == 1
    meant = function.meant(value)
    if meant != value:
        stores = [use.op for use in function.users[meant]]
        alone = len(stores) == 1 and len(function.loads.get(stores[0], ())) == 1
    return alone and function.ops[meant][0] == op.CALL and _number(function, function.ops[meant][1]) in made


def _number(function: Function, value: int) -> int:
    found = function.definition_of(value)
    return found.number if found is not None else -1


class Block:
    """A part of a function, with the functions inside of it.

    Args:
        start: where its ops begin.
        end: where they end.
        layers: definitions of the file that make objects which, printed, show the layers that they are made of; by number.
    """

    def __init__(self, function: Function, start: int, end: int, layers: Collection[int] = ()) -> None:
        self._function = function
        self._range = range(start, end)
        self._layers = layers
        inside = [o[1] for at, o in function.each(op.FUNCTION, op.CLASS) if at in self._range]
        self._parts = [(function, self._range)]
        self._parts += [(part, range(len(part.ops))) for number in inside for part in function.code.inside(number)]

    def only_prints(self) -> bool:
        """Whether the only calls whose results it drops are those that print, and some do."""
        return not self._dropped_words.isdisjoint(_SHOWS) and self._dropped_words <= _SHOWS | _SETS_UP | _MODES

    def only_looks(self) -> bool:
        """Whether the only calls whose results it drops, if any, are those that print, or show pictures."""
        return self._dropped_words <= _SHOWS | _PICTURES | _SETS_UP | _MODES

    def only_shows_shapes(self) -> bool:
        """Whether all that it does with what it makes is to show its shape or type, or a picture, or to run a network on it in the end.

        It does something else if it calls anything whose result it drops: to save, to plot, to train. A pass back through the network
        isn't training yet.
        """
        shown = self._runs_at_its_end()
        for function, at in self._each(op.ASSERT, *_LEAVING):
            if function.ops[at][0] != op.ASSERT or not self._is_shape(function, function.ops[at][1]):
                return False
            shown = True
        for function, at in self._dropped:
            if function.called(at) in _SHOWS:
                given = function.call(at).positional
                if not all(self._is_shape(function, value) or self._is_network(function, value) for value in given):
                    return False
                shown = shown or any(function.ops[value][0] != op.CONST for value in given)
            elif self._only_looks_at(function, at):
                shown = True
            elif not self._does_no_more(function, at):
                return False
        return shown

    # -------------------------------------------------------------------------------------------------------------------

    def _each(self, *codes: int) -> Iterator[tuple[Function, int]]:
        return ((f, at) for f, places in self._parts for at in places if f.ops[at][0] in codes)

    @cached_property
    def _dropped(self) -> list[tuple[Function, int]]:
        """The calls whose results it drops."""
        return [(function, at) for function, at in self._each(op.CALL) if not function.users[at]]

    @cached_property
    def _dropped_words(self) -> set[str]:
        return {function.called(at) for function, at in self._dropped}

    def _only_looks_at(self, function: Function, call: int) -> bool:
        """Whether a call shows a picture, stops for somebody to look, or builds a network, and that is all."""
        last, operation = function.called(call), function.ops[call]
        displays = last == _DISPLAYS and len(operation) == 3
        return last in _STOPS or displays or _number(function, operation[1]) in self._layers

    def _does_no_more(self, function: Function, call: int) -> bool:
        """Whether a call runs a network, or sets something up."""
        last, callee = function.called(call), function.ops[call][1]
        if last == _BACKWARD or self._is_network(function, callee) or self._is_tried(function, call, kept=False):
            return True
        return last in _SETS_UP or (last in _MODES and not function.call(call).values()) or _fills(function, call)

    def _runs_at_its_end(self) -> bool:
        """Whether it ends with building something, or running a network, and keeps at most what comes out under a name."""
        function, last = self._function, self._range[-1] if self._range else -1
        while last in self._range and function.ops[last][0] == op.END:
            last -= 1
        if last not in self._range:
            return False
        stored = function.ops[last][0] == op.STORE
        call = function.ops[last][2] if stored else last
        if function.ops[call][0] != op.CALL or (not stored and function.users[call]):
            return False
        if self._is_tried(function, call, kept=stored):
            return True
        word, callee = function.called(call), function.ops[call][1]
        if not stored:
            return False
        if function.text(function.ops[last][1]) == "_" and word[:1].isupper():
            return True  # `_ = Net()`: it is built, and that is all
        base = function.called_on(call)
        if base >= 0:  # `features = net.forward_features(x)`
            return function.ops[base][0] == op.LOAD and word.startswith(_FORWARD)
        return self._is_network(function, callee)

    def _made(self, function: Function, value: int) -> list[int]:
        """The calls of which one surely made what a name stands for; none for any other value."""
        stored = function.stored(value) if function.ops[value][0] == op.LOAD else None
        calls = [made for made in stored or () if function.ops[made][0] == op.CALL]
        return calls if stored is not None and len(calls) == len(stored) else []

    @cached_property
    def _called(self) -> set[tuple[int, int]]:
        """The variables that are called."""
        callees = ((function, function.ops[function.ops[at][1]]) for function, at in self._each(op.CALL))
        return {function.binding(callee[1]) for function, callee in callees if callee[0] == op.LOAD}

    def _is_network(self, function: Function, value: int) -> bool:
        """Whether a value is built by a class, under a name that is called, or by what is known to make a layer."""
        made = self._made(function, value)
        if not made:
            return False
        is_called = function.binding(function.ops[value][1]) in self._called
        return all(
            _number(function, function.ops[call][1]) in self._layers
            or (is_called and function.called(call)[:1].isupper())
            for call in made
        )

    def _is_tried(self, function: Function, call: int, kept: bool) -> bool:
        """Whether a call runs what some call has made, with made-up numbers alone: `net = get_net(); x = torch.rand(8); y = net(x)`.

        Args:
            kept: whether its result is; of others, it is written how many numbers.
        """
        given = function.call(call)
        if not given.positional or given.named or given.unpacked or not self._made(function, given.callee):
            return False
        makers = [self._made(function, value) for value in given.positional]
        made_up = all(several and all(function.called(m) in _MAKES_UP for m in several) for several in makers)
        return made_up and (kept or all(_is_written(function, maker) for several in makers for maker in several))

    def _is_shape(self, function: Function, value: int) -> bool:
        """Whether what is shown says nothing of the numbers in a tensor."""
        operation = function.ops[value]
        code = operation[0]
        if code == op.ATTR:
            return function.code.strings[operation[2]] in SHAPES
        if code == op.LOAD:
            return _is_literal(function, value)
        if code == op.CALL:
            last = function.called(value)
            given = function.call(value).positional
            return last in SHAPES | _ASKS | _COUNTS or (
                last in _PUTS_TOGETHER and all(self._is_shape(function, part) for part in given)
            )
        if code == op.COMPARE:
            return self._compares_shapes(function, operation)
        if code == op.COLLECT:
            gives = [at for at, _ in function.each(op.GIVE) if operation[2] in function.blocks(at)]
            return all(self._is_shape(function, part) for at in gives for part in function.values(at))
        if code == op.ITEM or code == op.STAR:
            return self._is_shape(function, operation[1])
        return code == op.CONST or (
            code in _WHOLES and all(self._is_shape(function, p) for p in function.values(value))
        )

    def _compares_shapes(self, function: Function, comparison: Op) -> bool:
        """Whether a comparison says nothing of numbers: `x.shape == (size, 3)`, `x is not None`."""
        sides = comparison[1], comparison[3]
        if function.code.strings[comparison[2]] in ("is", "is not"):
            return any(function.constant(side) is None for side in sides)
        told = [self._is_shape(function, side) for side in sides]
        calls = [any(function.ops[part][0] == op.CALL for part in function.within(side)) for side in sides]
        known = [shape and function.constant(side) is UNKNOWN for shape, side in zip(told, sides, strict=True)]
        return any(known) and all(shape or not call for shape, call in zip(told, calls, strict=True))


def _is_literal(function: Function, value: int, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value is only ever what is written there: `for size in (32, 64)`."""
    for part in function.within(value):
        if function.ops[part][0] == op.LOAD:
            stored = function.stored(part)
            new = [made for made in stored or () if made not in seen]
            if not stored or not all(_is_literal(function, made, seen | {*stored}) for made in new):
                return False
        elif function.ops[part][0] not in _LITERAL:
            return False
    return True


def _is_written(function: Function, maker: int) -> bool:
    """Whether all that a call is handed is written out."""
    given = function.call(maker)
    values = [*given.positional, *(value for word, value in given.named.items() if word != "dtype"), *given.unpacked]
    return all(function.ops[part][0] in _LITERAL for value in values for part in function.within(value))


def _fills(function: Function, call: int) -> bool:
    """Whether a call gives weights their first values: `net.apply(init_weights)`, `nn.init.zeros_(net.bias)`."""
    of = function.dotted(function.ops[call][1]).split(".")
    handed = of[-1:]
    if of[-1] == "apply":
        handed = [function.dotted(value).rpartition(".")[2] for value in function.call(call).positional]
    return "init" in of[:-1] or (len(handed) == 1 and handed[0].strip("_") in _FILLS)
