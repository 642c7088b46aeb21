"""The IR of a file, to be asked: functions by number, ops by place, what a value says, where a name is bound.

Bodies are decoded, and their flow is found out, when somebody first asks for them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.flow import BEFORE, ONLY_BEFORE, UNTOLD, Flow, Guard, flow
from detlint.ir.generators import late
from detlint.ir.mentions import mentioned
from detlint.ir.records import CLASS, EITHER, KIND, FileIR, FnIR, Header, Name
from detlint.ir.storage import body_of, spans_of
from detlint.ir.uses import Op, Use, places, users

Span = tuple[int, int, int, int]
"""The first line, from 1, and its column in bytes, from 0; the last line, and the column behind its end."""


VALUES: Final = tuple(range(op.STORE))
"""The codes of ops that give a value."""


_NOTHING: Final = ((), ())


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
    def outermost(self) -> Function:
        """The definition of the top level that it is, or stands in; the top level for itself."""
        parent = self.parent
        return self if parent is None or not parent.number else parent.outermost

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
        found: Sequence[Span] = spans_of(self.code.ir, self.number)
        return found

    @cached_property
    def begins(self) -> Mapping[tuple[int, int], Sequence[int]]:
        """Lines and columns -> the ops that begin there, in order."""
        found: dict[tuple[int, int], list[int]] = {}
        for at, span in enumerate(self.spans):
            found.setdefault((span[0], span[1]), []).append(at)
        return found

    @cached_property
    def definition(self) -> int:
        """The op of the function around it that defines it; -1 for the module."""
        around = self.parent.each(op.FUNCTION, op.CLASS) if self.parent is not None else ()
        return next((at for at, operation in around if operation[1] == self.number), -1)

    @cached_property
    def flow(self) -> Flow:
        """What holds at each op."""
        return flow(self.ops, self.code.constants, self.rebound, late(self))

    @cached_property
    def users(self) -> Sequence[Sequence[Use]]:
        """The uses of each op's result; as a parameter's default in the `FUNCTION`, at the place -1 - which."""
        found = users(self.ops)
        for at, operation in self.each(op.FUNCTION):
            for number, parameter in enumerate(self.code.ir.functions[operation[1]].parameters):
                if parameter.default >= 0:
                    found[parameter.default].append(Use(at, -1 - number))
        return found

    @cached_property
    def loads(self) -> Mapping[int, Sequence[int]]:
        """Definitions, or `BEFORE - slot` for what a slot was at the beginning -> the `LOAD`s that they may reach."""
        found: dict[int, list[int]] = {}
        places: dict[int, list[int]] = {}
        for at, operation in self.each(op.STORE, op.DELETE):
            places.setdefault(operation[1], []).append(at)
        for load, definitions in self.flow.reaching.items():
            slot = self.ops[load][1]
            several = (*places.get(slot, ()), BEFORE) if UNTOLD in definitions else definitions
            for definition in several:
                found.setdefault(definition if definition != BEFORE else BEFORE - slot, []).append(load)
        return found

    @cached_property
    def shared(self) -> frozenset[int]:
        """The slots of variables that functions inside of it use, too."""
        inside = (function for function in self.code.inside(self.number) if function.number != self.number)
        return frozenset(name.slot for function in inside for name in function.names if name.owner == self.number)

    @cached_property
    def rebound(self) -> frozenset[int]:
        """Those that functions inside of it may bind: they are whatever these make of them."""
        bound: set[int] = set()
        for function in self.code.inside(self.number) if self.shared else ():
            stored = (
                {operation[1] for _, operation in function.each(op.STORE, op.DELETE)}
                if function.number != self.number
                else ()
            )
            bound.update(function.names[slot].slot for slot in stored if function.names[slot].owner == self.number)
        return frozenset(bound)

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

    def definition_of(self, value: int) -> Function | None:
        """The function, or class, that a value surely is: a definition of the file's top level by its name, with no decorator."""
        operation, top = self.ops[value], self.code.module
        home = self.binding(operation[1]) if operation[0] == op.LOAD else Binding(0, -1)
        made = self.code.stores(home) if home.owner == 0 and home.slot >= 0 else ()
        if len(made) != 1 or made[0][0] is not top or top.ops[made[0][1]][0] != op.STORE:
            return None
        definition = top.ops[top.ops[made[0][1]][2]]
        defines = definition[0] in (op.FUNCTION, op.CLASS) and not definition[2]
        return self.code.function(definition[1]) if defines else None

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
        kept = slot not in method.binds or (method.number == self.number and self.parameter(value) == 0)
        return method.parent if kept else None

    def _own_class(self) -> Function | None:
        """The class that the next method around stands in, or it itself as one."""
        around: Function | None = self
        while around is not None and not (around.parent is not None and around.parent.is_class):
            around = around.parent
        return around.parent if around is not None else None

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

    def is_dead(self, at: int) -> bool:
        """Whether an op is never come to, by the tests that are constants and by what leaves. Where the top level ends early, as a cell of
        a notebook may, what is behind is not: somebody may go on there."""
        return not self.flow.reached[at] and (self.number > 0 or self.flow.reached[-1])

    def parameter(self, at: int) -> int:
        """The parameter whose value a `LOAD` surely gives; -1 for none."""
        operation = self.ops[at]
        slot = operation[1] if operation[0] == op.LOAD else -1
        if slot < 0 or slot >= len(self.header.parameters) or self.flow.reaching.get(at) != ONLY_BEFORE:
            return -1
        return slot if self.names[slot].owner == self.number and slot not in self.rebound else -1

    def given(self, at: int) -> tuple[Function, int] | None:
        """The parameter, of this function or of one around, whose value a `LOAD` surely gives, by its position; None for none."""
        operation = self.ops[at]
        if operation[0] != op.LOAD:
            return None
        owner, slot = self.binding(operation[1])
        if owner == self.number:
            own = self.parameter(at)
            return (self, own) if own >= 0 else None
        around = self.code.function(owner)
        takes = owner > 0 and 0 <= slot < len(around.header.parameters)
        return (around, slot) if takes and not any(self.code.stores(Binding(owner, slot))) else None

    def is_self(self, at: int) -> bool:
        """Whether a value is the object, or class, whose method this is, or the method around."""
        method, position = self.given(at) or (self, -1)
        around = method.parent
        if position != 0 or around is None or not around.is_class:
            return False
        definition = around.ops[method.definition]
        return "staticmethod" not in map(around.dotted, definition[3 : 3 + definition[2]])

    def own(self, at: int) -> str:
        """The attribute of the object itself that an op reads, or sets: `self.encoder`; "" for any other op."""
        operation = self.ops[at]
        of = operation[1] if operation[0] in (op.ATTR, op.SET_ATTR) else -1
        return self.code.strings[operation[2]] if of >= 0 and self.is_self(of) else ""

    # -- values ---------------------------------------------------------------------------------------------------------

    def constant(self, value: int) -> object:
        """The constant that a value is as it stands there; `UNKNOWN` for anything else."""
        operation = self.ops[value] if value >= 0 else (op.END,)
        return self.code.constants[operation[1]] if operation[0] == op.CONST else UNKNOWN

    def condition(self, choice: int) -> int:
        """The test that decides which arm a `CHOICE` gives."""
        end = next(at for at in range(choice, -1, -1) if self.ops[at][0] == op.END)
        return self.ops[next(mark for mark, parts in self.flow.parts.items() if parts[-1] == end)][1]

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

    def attributes(self) -> Iterator[str]:
        """The names with attributes that it reads, dotted, each of their beginnings too: `os`, `os.path`, `os.path.join`."""
        return (text for at, _ in self.each(op.ATTR) if (text := self.dotted(at)))

    def external(self, value: int) -> str:
        """The full name of what a value is by the imports of its file: `argparse.ArgumentParser`; "" where it is none, or may be
        something else."""
        root, attributes = self.chain(value)
        function: Function = self
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
        operation, strings = self.ops[at], self.code.strings
        if operation[0] == op.MEMBER:
            source = self._imported(operation[1])
            return f"{source}.{strings[operation[2]]}" if source else ""
        if operation[0] != op.IMPORT or operation[2]:
            return ""
        return strings[operation[1]].partition(".")[0] if operation[3] else strings[operation[1]]

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

    def called(self, at: int) -> str:
        """The last name of what a `CALL` calls, `item` of `x.item()`; "" for any other value."""
        operation = self.ops[at]
        callee = self.ops[operation[1]] if operation[0] == op.CALL else (op.END,)
        if callee[0] == op.ATTR:
            return self.code.strings[callee[2]]
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

    def within(self, value: int) -> Iterator[int]:
        """A value and all that it is made of, in the expression that it is."""
        waiting, seen = [value], {value}
        while waiting:
            at = waiting.pop()
            yield at
            new = {*self.values(at)} - seen
            seen |= new
            waiting += new

    def stored(self, at: int) -> list[int] | None:
        """The values that a `LOAD` may give, stored by `STORE`s of this function; None where it may be something else."""
        found = []
        for definition in sorted(self.flow.reaching.get(at, ())):
            if definition < 0 or self.ops[definition][0] != op.STORE:
                return None
            found.append(self.ops[definition][2])
        slot = self.ops[at][1]
        own = self.names[slot].owner == self.number and not (self.number and slot in self.rebound)
        return found if own else None

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

    def same(self, one: int, other: int) -> bool:
        """Whether two values are surely the same: one constant, or what one name is in both places."""
        one, other = self.meant(one), self.meant(other)
        if self.constant(one) is not UNKNOWN:
            return self.constant(one) == self.constant(other)
        loads = self.ops[one][0] == op.LOAD and self.ops[one] == self.ops[other]
        return one == other or (loads and self.flow.reaching.get(one) == self.flow.reaching.get(other))

    # -- the way to an op -----------------------------------------------------------------------------------------------

    def guards(self, at: int) -> Iterator[Guard]:
        """The tests that were passed on the way to an op inside this function, the innermost first."""
        guard = self.flow.passed.get(at)
        return iter(guard) if guard is not None else iter(())

    def is_main(self, at: int) -> bool:
        """Whether an op of the top level is only run where the file is started: `if __name__ == "__main__":`."""
        return any(self._asks_main(guard) for guard in self.guards(at))

    def _asks_main(self, guard: Guard) -> bool:
        """Whether a test that was passed is, or holds only with, that for the file that is started."""
        strings, waiting = self.code.strings, [(guard.test, guard.holds)]
        while waiting:
            test, holds = waiting.pop()
            operation = self.ops[test]
            if operation[0] == op.UNARY and strings[operation[1]] == "not":
                waiting.append((operation[2], not holds))
            elif operation[0] == op.CHOICE and strings[operation[1]] == ("and" if holds else "or"):
                waiting += [(part, holds) for part in operation[2:]]
            elif operation[0] == op.COMPARE and strings[operation[2]] == ("==" if holds else "!="):
                sides = operation[1], operation[3]
                names = {self.dotted(side) for side in sides}
                if names == {"__name__", ""} and "__main__" in map(self.constant, sides):
                    return True
        return False

    def is_hint(self, at: int) -> bool:
        """Whether an op only says of which class something is: in an annotation, but for one of a field, or what `isinstance`, or a
        pattern, asks for."""
        if any(self.ops[mark][0] == op.QUOTE for mark in self.blocks(at)):
            return not (
                self.is_class and any(self.ops[use.op][0] == op.ANNOTATE for use in self.ends(at, range(op.STORE)))
            )
        uses = [*self.ends(at, (op.TUPLE, op.BINARY))]
        return bool(uses) and all(map(self._asks_class, uses))

    def ends(self, value: int, codes: Container[int]) -> Iterator[Use]:
        """The uses of a value, and of what ops of some codes make of it, that aren't such ops; and those of which no one uses anything."""
        waiting, seen = [value], {value}
        while waiting:
            for use in self.users[waiting.pop()]:
                if self.ops[use.op][0] not in codes or not self.users[use.op]:
                    yield use
                elif use.op not in seen:
                    seen.add(use.op)
                    waiting.append(use.op)

    def annotated(self, at: int) -> Function | None:
        """The function that stands in this one, and one of whose annotations an op is a part of."""
        for number in self.code.children.get(self.number, ()):
            function = self.code.function(number)
            told = (function.header.returns, *(parameter.annotation for parameter in function.header.parameters))
            if any(value >= 0 and at in self.within(value) for value in told):
                return function
        return None

    def _asks_class(self, use: Use) -> bool:
        operation = self.ops[use.op]
        if operation[0] == op.MATCHES_CLASS:
            return use.place == 2
        callee = self.ops[operation[1]] if operation[0] == op.CALL and use.place == 4 else (op.END,)
        is_built_in = callee[0] == op.LOAD and self.names[callee[1]].slot < 0
        return is_built_in and self.text(callee[1]) in ("isinstance", "issubclass")

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

    @cached_property
    def defined(self) -> frozenset[Binding]:
        """The variables of the top level that definitions bind."""
        top = self.module
        made = ((operation[1], top.ops[operation[2]][0]) for _, operation in top.each(op.STORE))
        return frozenset(Binding(0, slot) for slot, code in made if code in (op.FUNCTION, op.CLASS))

    def inside(self, number: int) -> Iterator[Function]:
        """A function with those that stand in it."""
        waiting = deque([number])
        while waiting:
            found = waiting.popleft()
            yield self.function(found)
            waiting += self.children.get(found, ())

    @cached_property
    def children(self) -> Mapping[int, Sequence[int]]:
        """Functions -> those that stand in them, but in none that does."""
        found: dict[int, list[int]] = {}
        for number, header in enumerate(self.ir.functions):
            found.setdefault(header.parent, []).append(number)
        return found

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """All names that its code has: of variables, attributes, keywords, modules by their parts. Not what its texts say."""
        return frozenset(part for text in self.strings for part in text.split("."))

    @cached_property
    def mentions(self) -> Counter[str]:
        """How often its code has each name: of variables that are bound or read, definitions, parameters, attributes, keywords and parts
        of what is imported; and how often a constant is one, or has it as a part of a dotted name."""
        found = Counter(name for function in self.functions() for name in mentioned(function))
        found.update(
            part for constant in self.constants if isinstance(constant, str) for part in {*constant.split(".")}
        )
        return found

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
        """The op of some codes, or of any, that stands at a place; None for none."""
        for function in self._latest_first:
            if function.number and function.header.line > span[0]:
                continue
            for at in function.begins.get(span[:2], ()):
                if function.spans[at] == span and (not codes or function.ops[at][0] in codes):
                    return function, at
        return None

    def covering(self, line: int, column: int) -> tuple[Function, int] | None:
        """The smallest op that holds a place, in the innermost function that has one."""
        for function in self._latest_first:
            if function.number and function.header.line > line:
                continue
            spans = function.spans
            holding = [n for n, span in enumerate(spans) if span[:2] <= (line, column) < span[2:]]
            if holding:
                return function, min(holding, key=lambda n: (spans[n][2] - spans[n][0], spans[n][3] - spans[n][1]))
        return None

    @cached_property
    def _latest_first(self) -> Sequence[Function]:
        """All functions, those that begin later before the others."""
        return sorted(self.functions(), key=lambda function: (function.header.line, function.number), reverse=True)

    def setters(self, attribute: str) -> Iterator[tuple[Function, int]]:
        """The ops that set an attribute of that name, of whatever object."""
        for number, at in self.attributes.get(attribute, ()):
            function = self.function(number)
            if function.ops[at][0] != op.ATTR:
                yield function, at

    @cached_property
    def _variables(self) -> Mapping[Binding, tuple[list[tuple[Function, int]], list[tuple[Function, int]]]]:
        """Variables -> the ops that bind or delete them, and those that read them."""
        found: dict[Binding, tuple[list[tuple[Function, int]], list[tuple[Function, int]]]] = {}
        for function in self.functions():
            bindings = [*map(function.binding, range(len(function.names)))]
            for at, operation in function.each(op.LOAD, op.STORE, op.DELETE):
                uses = found.setdefault(bindings[operation[1]], ([], []))
                uses[operation[0] == op.LOAD].append((function, at))
        return found

    def stores(self, binding: Binding) -> Sequence[tuple[Function, int]]:
        """The ops that bind a variable, or delete it, in whichever function."""
        return self._variables.get(binding, _NOTHING)[0]

    def reads(self, binding: Binding) -> Sequence[tuple[Function, int]]:
        """The ops that read a variable, in whichever function."""
        return self._variables.get(binding, _NOTHING)[1]
