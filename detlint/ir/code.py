"""The IR of a file, to be asked: functions by number, ops by place, what a value says, where a name is bound.

Bodies are decoded, and their flow is found out, when somebody first asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.flow import BEFORE, ONLY_BEFORE, Flow, Guard, flow
from detlint.ir.records import CLASS, EITHER, KIND, FileIR, FnIR, Header, Name
from detlint.ir.storage import body_of, spans_of
from detlint.ir.uses import Op, Use, places, users

Span = tuple[int, int, int, int]
"""The first line, from 1, and its column in bytes, from 0; the last line, and the column behind its end."""


class Unknown:
    """What isn't known."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()
_OF_CLASSES: Final = frozenset({"__class_getitem__", "__init_subclass__", "__new__"})
"""Methods that are called with a class although they don't say so."""


class Call(NamedTuple):
    """A call, or what a class is made of, with its values by their positions among the ops."""

    callee: int
    """-1 for a class."""
    positional: Sequence[int]
    """Those before the first `*args`, and whatever comes after that."""
    named: Mapping[str, int]
    unpacked: Sequence[int]
    """The dictionaries of `**options`."""

    def values(self) -> tuple[int, ...]:
        """All that is handed over."""
        return (*self.positional, *self.named.values(), *self.unpacked)


class Chain(NamedTuple):
    """A name with the attributes that are read of it, in order: `self.encoder.layers`."""

    root: int
    """The op that gives what they are read of: a `LOAD` as a rule."""
    attributes: tuple[str, ...]


class Binding(NamedTuple):
    """A variable: the function that binds it, 0 for the module, and its slot there; -1 for one that isn't bound in the file."""

    owner: int
    slot: int


class Function:
    """A function, class body or module top level."""

    def __init__(self, code: Code, number: int) -> None:
        self.code = code
        self.number = number
        self.header: Header = code.ir.functions[number]

    @property
    def name(self) -> str:
        """As it is written; "" for the module."""
        return self.code.strings[self.header.name]

    @property
    def is_class(self) -> bool:
        """Whether it is the body of a class."""
        return self.header.kind & KIND == CLASS

    @cached_property
    def parent(self) -> Function | None:
        """What it stands in."""
        return self.code.function(self.header.parent) if self.header.parent >= 0 else None

    @cached_property
    def qualified(self) -> str:
        """Its name inside the module, as facts have it: `Net.forward`, `main.<locals>.step`; "" for the module."""
        parent = self.parent
        if parent is None or not parent.number:
            return self.name
        return f"{parent.qualified}{'' if parent.is_class else '.<locals>'}.{self.name}"

    @cached_property
    def _body(self) -> FnIR:
        return body_of(self.code.ir, self.number)

    @property
    def ops(self) -> Sequence[Op]:
        """What it does."""
        return self._body.ops

    @property
    def names(self) -> Sequence[Name]:
        """What its slots mean."""
        return self._body.names

    @cached_property
    def spans(self) -> Sequence[Span]:
        """Where each op stands."""
        return spans_of(self.code.ir, self.number)

    @cached_property
    def flow(self) -> Flow:
        """What holds at each op."""
        return flow(self.ops, self.code.constants)

    @cached_property
    def users(self) -> Sequence[Sequence[Use]]:
        """The uses of each op's result."""
        return users(self.ops)

    @cached_property
    def loads(self) -> Mapping[int, Sequence[int]]:
        """Definitions, or `BEFORE - slot` for what a slot was at the beginning -> the `LOAD`s that they reach."""
        found: dict[int, list[int]] = {}
        for load, definitions in self.flow.reaching.items():
            for definition in definitions:
                key = definition if definition != BEFORE else BEFORE - self.ops[load][1]
                found.setdefault(key, []).append(load)
        return found

    def each(self, *codes: int) -> Iterator[tuple[int, Op]]:
        """The ops of some codes, with their positions."""
        return ((at, operation) for at, operation in enumerate(self.ops) if operation[0] in codes)

    @cached_property
    def defined(self) -> Mapping[int, int]:
        """The functions and classes that stand in it, by their numbers -> the ops that make them."""
        return {operation[1]: at for at, operation in self.each(op.FUNCTION, op.CLASS)}

    @cached_property
    def decorators(self) -> Sequence[int]:
        """Its decorators: values in the function around it."""
        if self.parent is None:
            return ()
        operation = self.parent.ops[self.parent.defined[self.number]]
        return operation[3 : 3 + operation[2]]

    @cached_property
    def receives(self) -> str:
        """What its first parameter is, as a method's: an "object" of the class around it, or the "class"; "" for neither."""
        parent, given = self.parent, self.header.parameters
        if parent is None or not parent.is_class or not given or given[0].kind > EITHER:
            return ""
        if any(parent.is_builtin(value, "staticmethod") for value in self.decorators):
            return ""
        of_class = any(parent.is_builtin(value, "classmethod") for value in self.decorators)
        return "class" if of_class or self.name in _OF_CLASSES else "object"

    # -- names ----------------------------------------------------------------------------------------------------------

    def text(self, slot: int) -> str:
        """The name of a slot."""
        return self.code.strings[self.names[slot].text]

    def binding(self, slot: int) -> Binding:
        """The variable that a slot means."""
        name = self.names[slot]
        return Binding(name.owner, name.slot)

    @cached_property
    def slots(self) -> Mapping[str, Sequence[int]]:
        """Names -> their slots, of which a comprehension's may be several."""
        found: dict[str, list[int]] = {}
        for slot in range(len(self.names)):
            found.setdefault(self.text(slot), []).append(slot)
        return found

    @cached_property
    def binds(self) -> frozenset[int]:
        """The slots that it binds, or deletes, itself."""
        return frozenset(operation[1] for _, operation in self.each(op.STORE, op.DELETE))

    def is_builtin(self, value: int, *names: str) -> bool:
        """Whether a value is one of some names that the file doesn't bind itself."""
        operation = self.ops[value]
        if operation[0] != op.LOAD or self.names[operation[1]].slot >= 0:
            return False
        return self.text(operation[1]) in names

    def receiver(self, value: int) -> Function | None:
        """The class around the method whose own object a value surely is, or what its bases have of that: `self`, `super()`."""
        operation = self.ops[value]
        if operation[0] == op.CALL and self.is_builtin(operation[1], "super"):
            return self._own_class()
        if operation[0] != op.LOAD:
            return None
        owner, slot = self.binding(operation[1])
        method = self if owner == self.number else self.code.function(owner)
        if slot != 0 or method.receives != "object":
            return None
        kept = slot not in method.binds or (method is self and self.parameter(value) == 0)
        return method.parent if kept else None

    def _own_class(self) -> Function | None:
        """The class that the next method around stands in, or it itself as one."""
        around: Function | None = self
        while around is not None and not (around.parent is not None and around.parent.is_class):
            around = around.parent
        return around.parent if around is not None else None

    def parameter(self, at: int) -> int:
        """The parameter whose value a `LOAD` surely gives; -1 for none."""
        operation = self.ops[at]
        slot = operation[1] if operation[0] == op.LOAD else -1
        if slot < 0 or slot >= len(self.header.parameters) or self.flow.reaching.get(at) != ONLY_BEFORE:
            return -1
        return slot if self.names[slot].owner == self.number else -1

    # -- values ---------------------------------------------------------------------------------------------------------

    def constant(self, value: int) -> object:
        """The constant that a value is as it stands there; `UNKNOWN` for anything else."""
        operation = self.ops[value] if value >= 0 else (op.END,)
        return self.code.constants[operation[1]] if operation[0] == op.CONST else UNKNOWN

    def chain(self, value: int) -> Chain:
        """A value as a name with attributes."""
        attributes: list[str] = []
        while self.ops[value][0] == op.ATTR:
            attributes.append(self.code.strings[self.ops[value][2]])
            value = self.ops[value][1]
        return Chain(value, tuple(reversed(attributes)))

    def dotted(self, value: int) -> str:
        """A name with attributes as it is written, `self.encoder`; "" for any other value."""
        root, attributes = self.chain(value)
        operation = self.ops[root]
        return ".".join((self.text(operation[1]), *attributes)) if operation[0] == op.LOAD else ""

    def call(self, at: int) -> Call:
        """What a `CALL` calls and hands over, or a `CLASS` is made of."""
        operation, strings = self.ops[at], self.code.strings
        callee, start = (operation[1], 2) if operation[0] == op.CALL else (-1, 3 + operation[2])
        named = start + 1 + operation[start]
        pairs = [*zip(operation[named::2], operation[named + 1 :: 2], strict=True)]
        return Call(
            callee,
            operation[start + 1 : named],
            {strings[word]: value for word, value in pairs if word >= 0},
            [value for word, value in pairs if word < 0],
        )

    def values(self, at: int) -> list[int]:
        """The values that an op takes."""
        operation = self.ops[at]
        return [operation[place] for place in places(operation) if operation[place] >= 0]

    def within(self, value: int) -> Iterator[int]:
        """A value and all that it is made of, in the expression that it is."""
        waiting = [value]
        while waiting:
            at = waiting.pop()
            yield at
            waiting += self.values(at)

    def stored(self, at: int) -> list[int] | None:
        """The values that a `LOAD` may give, stored by `STORE`s of this function; None where it may be something else."""
        found = []
        for definition in sorted(self.flow.reaching.get(at, ())):
            if definition == BEFORE or self.ops[definition][0] != op.STORE:
                return None
            found.append(self.ops[definition][2])
        return found if self.names[self.ops[at][1]].owner == self.number else None

    def meant(self, value: int) -> int:
        """A value through the names under which this function keeps it, as long as there is one that it surely is."""
        seen = {value}
        while self.ops[value][0] == op.LOAD and self.ops[value][1] in self.binds:
            stored = self.stored(value)
            if stored is None or len(stored) != 1 or stored[0] in seen:
                return value
            value = stored[0]
            seen.add(value)
        return value

    # -- the way to an op -----------------------------------------------------------------------------------------------

    def guards(self, at: int) -> Iterator[Guard]:
        """The tests that were passed on the way to an op inside this function, the innermost first."""
        guard = self.flow.passed.get(at)
        return iter(guard) if guard is not None else iter(())

    def is_main(self, at: int) -> bool:
        """Whether an op of the top level stands in a block that asks for the file's `__name__`, and it is so."""
        return any(guard.holds and "__name__" in map(self.dotted, self.within(guard.test)) for guard in self.guards(at))

    def blocks(self, at: int) -> Iterator[int]:
        """The marks that began the parts of blocks around an op, the innermost first: `IF`, `ELSE`, `FOR`, `EXCEPT`, ..."""
        at = self.flow.blocks[at]
        while at >= 0:
            yield at
            at = self.flow.blocks[at]


class Code:
    """The IR of a file, to be asked."""

    def __init__(self, ir: FileIR) -> None:
        self.ir = ir
        self.strings = ir.strings
        self.constants = ir.constants
        self._functions: list[Function | None] = [None] * len(ir.functions)

    def function(self, number: int) -> Function:
        """A function by its number; 0 is the module's top level."""
        found = self._functions[number]
        if found is None:
            found = self._functions[number] = Function(self, number)
        return found

    @property
    def module(self) -> Function:
        """The top level."""
        return self.function(0)

    def functions(self) -> Iterator[Function]:
        """All functions, class bodies and the top level."""
        return map(self.function, range(len(self._functions)))

    def each_once(self) -> Iterator[Function]:
        """The same, for one look at each: those that nobody has asked for so far aren't kept."""
        return (found or Function(self, number) for number, found in enumerate(self._functions))

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[Function]]:
        """Qualified names -> the functions and class bodies of that name."""
        found: dict[str, list[Function]] = {}
        for function in self.functions():
            found.setdefault(function.qualified, []).append(function)
        return found

    def inside(self, number: int) -> Iterator[Function]:
        """A function with those that stand in it."""
        below = {number}
        for function in self.functions():
            if function.number in below or function.header.parent in below:
                below.add(function.number)
                yield function

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """All names that its code has: of variables, attributes, keywords, modules by their parts. Not what its texts say."""
        return frozenset(part for text in self.strings for part in text.split("."))

    @cached_property
    def texts(self) -> frozenset[str]:
        """All texts that are written out in its code."""
        return frozenset(constant for constant in self.constants if isinstance(constant, str))

    @cached_property
    def attributes(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """The ops that read, set or delete attributes, by the names of these: the numbers of their functions, and they."""
        found: dict[str, list[tuple[int, int]]] = {}
        for function in self.each_once():
            for at, operation in function.each(op.ATTR, op.SET_ATTR, op.DELETE_ATTR):
                found.setdefault(self.strings[operation[2]], []).append((function.number, at))
        return found

    @cached_property
    def is_relative(self) -> bool:
        """Whether it imports anything from where it stands: `from . import part`."""
        return any(operation[2] for function in self.each_once() for _, operation in function.each(op.IMPORT))

    def at(self, span: Span, *codes: int) -> tuple[Function, int] | None:
        """The op of some codes that stands at a place; None for none."""
        for function in self.functions():
            if function.number and function.header.line > span[0]:
                continue
            for at, place in enumerate(function.spans):
                if place == span and function.ops[at][0] in codes:
                    return function, at
        return None

    def setters(self, attribute: str) -> Iterator[tuple[Function, int]]:
        """The ops that set an attribute of that name, of whatever object."""
        for number, at in self.attributes.get(attribute, ()):
            function = self.function(number)
            if function.ops[at][0] != op.ATTR:
                yield function, at

    def stores(self, binding: Binding) -> Iterator[tuple[Function, int]]:
        """The ops that bind a variable, or delete it, in whichever function."""
        for function in self.functions():
            slots = {slot for slot in range(len(function.names)) if function.binding(slot) == binding}
            for at, operation in function.each(op.STORE, op.DELETE):
                if operation[1] in slots:
                    yield function, at

    def reads(self, binding: Binding) -> Iterator[tuple[Function, int]]:
        """The ops that read a variable, in whichever function."""
        for function in self.functions():
            slots = {slot for slot in range(len(function.names)) if function.binding(slot) == binding}
            for at, operation in function.each(op.LOAD):
                if operation[1] in slots:
                    yield function, at
