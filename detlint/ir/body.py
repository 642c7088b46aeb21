"""What a function, class body or module top level says by itself: its ops, where they stand, what its names mean, what values say.

It is decoded when somebody asks for it, and kept for a while (`kept`).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.blocks import parts_of
from detlint.ir.kept import BODIES
from detlint.ir.records import CLASS, EITHER, KIND, FnIR, Header, Name
from detlint.ir.spans import Span, Spans, span_of, spans_of
from detlint.ir.storage import body_of
from detlint.ir.uses import Op, places

if TYPE_CHECKING:
    from detlint.ir.code import Code
    from detlint.ir.function import Function

VALUES: Final = tuple(range(op.STORE))
"""The codes of ops that give a value."""


class Unknown:
    """What isn't known."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()
_SMALL: Final = frozenset({
    "_code", "_made_by", "constants", "decorators", "definition", "header", "ir", "number", "outermost", "parent", "qualified",
    "receives", "strings",
})  # fmt: skip
"""What takes no more room than the function itself, by its name."""
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

    def argument(self, position: int, *names: str) -> int:
        """What a parameter gets, by its position among those that are given without a name (-1: it has none), or by one of its names;
        -1 for nothing. What is unpacked isn't asked."""
        given = self.positional[position : position + 1] if position >= 0 else ()
        return next(iter((*given, *(self.named[name] for name in names if name in self.named))), -1)

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


class Body:
    """A function, class body or module top level, as it is written."""

    def __init__(self, code: Code, number: int) -> None:
        self._made_by = weakref.ref(code)  # which keeps this one: what kept both would never be freed
        self.number = number
        self.ir = code.ir
        self.strings = code.strings
        self.constants = code.constants
        self.header: Header = code.ir.functions[number]

    @property
    def code(self) -> Code:
        """The file that it stands in."""
        found = self._made_by()
        return found if found is not None else self._code

    @cached_property
    def _code(self) -> Code:
        """The same, once more, where nobody keeps what has made this one."""
        from detlint.ir.code import Code

        return Code(self.ir)

    @property
    def name(self) -> str:
        """As it is written; "" for the module."""
        return self.strings[self.header.name]

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
        found = body_of(self.ir, self.number)
        BODIES.add(self, len(found.ops))
        return found

    def forget(self) -> None:
        """Work out all of it again when it is asked for next."""
        for name in vars(self).keys() - _SMALL:
            del self.__dict__[name]

    @cached_property
    def ops(self) -> Sequence[Op]:
        """What it does."""
        return self._body.ops

    @cached_property
    def names(self) -> Sequence[Name]:
        """What its slots mean."""
        return self._body.names

    @cached_property
    def spans(self) -> Spans:
        """Where each op stands."""
        return spans_of(self.ir, self.number)

    def span(self, at: int) -> Span:
        """Where one op stands."""
        return span_of(self.ir, self.number, at)

    def span_of_parameter(self, number: int) -> Span:
        """Where a parameter stands."""
        return span_of(self.ir, self.number, len(self.ops) + number)

    @cached_property
    def parts(self) -> Mapping[int, Sequence[int]]:
        """The marks that open blocks -> they, those that divide them, and their ends."""
        return parts_of(self.ops)

    @cached_property
    def opened(self) -> Mapping[int, int]:
        """The ends of blocks -> the marks that open them."""
        return {parts[-1]: mark for mark, parts in self.parts.items()}

    def each(self, *codes: int) -> Iterator[tuple[int, Op]]:
        """The ops of some codes, with their positions."""
        return ((at, operation) for at, operation in enumerate(self.ops) if operation[0] in codes)

    @cached_property
    def annotations(self) -> Mapping[int, Sequence[int]]:
        """The variables that are declared with types -> these types."""
        found: dict[int, list[int]] = {}
        for _, operation in self.each(op.ANNOTATE):
            found.setdefault(operation[1], []).append(operation[2])
        return found

    @cached_property
    def defined(self) -> Mapping[int, int]:
        """The functions and classes that stand in it, by their numbers -> the ops that make them."""
        return {operation[1]: at for at, operation in self.each(op.FUNCTION, op.CLASS)}

    @cached_property
    def definition(self) -> int:
        """The op of the function around it that defines it; -1 for the module."""
        around = self.parent.each(op.FUNCTION, op.CLASS) if self.parent is not None else ()
        return next((at for at, operation in around if operation[1] == self.number), -1)

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

    # -- names ---------------------------------------------------------------------------------------------------------

    def text(self, slot: int) -> str:
        """The name of a slot."""
        return self.strings[self.names[slot].text]

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

    @cached_property
    def private(self) -> frozenset[int]:
        """The slots that comprehensions and type parameters have for themselves."""
        found, marks = set[int](), list[int]()
        for operation in self.ops:
            code = operation[0]
            if code in op.OPENING:
                marks.append(code)
            elif code == op.END:
                marks.pop()
            elif code == op.STORE:
                made = self.ops[operation[2]][0]
                if made == op.TYPE_PARAMETER or (made in (op.FOR, op.PART) and op.COMPREHEND in marks):
                    found.add(operation[1])
        return frozenset(found)

    # -- values --------------------------------------------------------------------------------------------------------

    def constant(self, value: int) -> object:
        """The constant that a value is as it stands there; `UNKNOWN` for anything else."""
        operation = self.ops[value] if value >= 0 else (op.END,)
        return self.constants[operation[1]] if operation[0] == op.CONST else UNKNOWN

    def chain(self, value: int) -> Chain:
        """A value as a name with attributes."""
        attributes: list[str] = []
        while self.ops[value][0] == op.ATTR:
            attributes.append(self.strings[self.ops[value][2]])
            value = self.ops[value][1]
        return Chain(value, tuple(reversed(attributes)))

    def dotted(self, value: int) -> str:
        """A name with attributes as it is written, `self.encoder`; "" for any other value."""
        root, attributes = self.chain(value)
        operation = self.ops[root]
        return ".".join((self.text(operation[1]), *attributes)) if operation[0] == op.LOAD else ""

    def attributes(self) -> Iterator[str]:
        """The names with attributes that it reads, dotted, each of their beginnings too: `os`, `os.path`, `os.path.join`."""
        return (text for at, _ in self.each(op.ATTR) if (text := self.dotted(at)))

    def external(self, value: int) -> str:
        """The full name of what a value is by the imports of its file: `argparse.ArgumentParser`; "" where it is none, or may be
        something else."""
        root, attributes = self.chain(value)
        function: Body = self
        if self.ops[root][0] == op.LOAD:
            home = self.binding(self.ops[root][1])
            stored = self.code.stores(home) if home.slot >= 0 else ()
            if len(stored) != 1:
                return ""
            function, at = stored[0]
            root = function.ops[at][2] if function.ops[at][0] == op.STORE else at
        name = function._imported(root)
        return ".".join((name, *attributes)) if name else ""

    def _imported(self, at: int) -> str:
        """What an import gives, by its dotted name; "" for any other op, and for what is relative."""
        operation, strings = self.ops[at], self.strings
        if operation[0] == op.MEMBER:
            source = self._imported(operation[1])
            return f"{source}.{strings[operation[2]]}" if source else ""
        if operation[0] != op.IMPORT or operation[2]:
            return ""
        return strings[operation[1]].partition(".")[0] if operation[3] else strings[operation[1]]

    def call(self, at: int) -> Call:
        """What a `CALL` calls and hands over, or a `CLASS` is made of."""
        operation, strings = self.ops[at], self.strings
        callee, start = (operation[1], 2) if operation[0] == op.CALL else (-1, 3 + operation[2])
        named = start + 1 + operation[start]
        pairs = [*zip(operation[named::2], operation[named + 1 :: 2], strict=True)]
        return Call(
            callee,
            operation[start + 1 : named],
            {strings[word]: value for word, value in pairs if word >= 0},
            [value for word, value in pairs if word < 0],
        )

    def unpacks(self, at: int) -> bool:
        """Whether a `CALL` hands over more than is written out: `*args`, `**options`."""
        call = self.call(at)
        return bool(call.unpacked) or any(self.ops[value][0] == op.STAR for value in call.positional)

    def called(self, at: int) -> str:
        """The last name of what a `CALL` calls, `item` of `x.item()`; "" for any other value."""
        operation = self.ops[at]
        callee = self.ops[operation[1]] if operation[0] == op.CALL else (op.END,)
        if callee[0] == op.ATTR:
            return self.strings[callee[2]]
        return self.text(callee[1]) if callee[0] == op.LOAD else ""

    def called_on(self, at: int) -> int:
        """The value whose method a `CALL` calls; -1 where it calls no attribute, and for any other value."""
        operation = self.ops[at]
        callee = self.ops[operation[1]] if operation[0] == op.CALL else (op.END,)
        return callee[1] if callee[0] == op.ATTR else -1

    def values(self, at: int) -> list[int]:
        """The values that an op takes."""
        operation = self.ops[at]
        return [operation[place] for place in places(operation) if operation[place] >= 0]

    def first(self, value: int) -> int:
        """The first op of the expression that gives a value: all up to this one are parts of it."""
        while True:
            operation = self.ops[value]
            if operation[0] == op.COLLECT:
                value = self.ops[operation[2] + 1][1]
                continue
            inside = [operation[place] for place in places(operation) if operation[place] >= 0]
            if not inside:
                return value
            value = inside[0]

    def within(self, value: int) -> Iterator[int]:
        """A value and all that it is made of, in the expression that it is."""
        waiting, seen = [value], {value}
        while waiting:
            at = waiting.pop()
            yield at
            new = {*self.values(at)} - seen
            seen |= new
            waiting += new

    def annotated(self, at: int) -> Function | None:
        """The function that stands in this one, and one of whose annotations an op is a part of."""
        for number in self.code.children.get(self.number, ()):
            function = self.code.function(number)
            told = (function.header.returns, *(parameter.annotation for parameter in function.header.parameters))
            if any(value >= 0 and at in self.within(value) for value in told):
                return function
        return None
