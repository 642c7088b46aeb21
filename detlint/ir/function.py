"""What is known of a function, class body or module top level by the ways through it: what reaches a name, who uses a value, what holds."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cached_property

from detlint.ir import ops as op
from detlint.ir.body import UNKNOWN, Binding, Body
from detlint.ir.exits import BEFORE, ONLY_BEFORE
from detlint.ir.flow import Flow, Guard, flow
from detlint.ir.generators import late
from detlint.ir.loads import Loads
from detlint.ir.uses import Use, users


class Function(Body):
    """A function, class body or module top level, to be asked."""

    @cached_property
    def outermost(self) -> Function:
        """The definition of the top level that it is, or stands in; the top level for itself."""
        parent = self.parent
        return self if parent is None or not parent.number else parent.outermost

    @cached_property
    def part(self) -> int:
        """The number of the function that it is, or stands in, which stands in none but class bodies and the top level; 0 for these."""
        around = self.parent.part if self.parent is not None else 0
        return around or (self.number if self.number and not self.is_class else 0)

    @cached_property
    def flow(self) -> Flow:
        """What holds at each op."""
        return flow(self.ops, self.constants, self.rebound, late(self))

    @cached_property
    def users(self) -> Sequence[Sequence[Use]]:
        """The uses of each op's result; as a parameter's default in the `FUNCTION`, at the place -1 - which."""
        defaults = (
            (parameter.default, Use(at, -1 - number))
            for at, operation in self.each(op.FUNCTION)
            for number, parameter in enumerate(self.ir.functions[operation[1]].parameters)
            if parameter.default >= 0
        )
        return users(self.ops, defaults)

    @cached_property
    def loads(self) -> Loads:
        """Definitions, or `BEFORE - slot` for what a slot was at the beginning -> the `LOAD`s that they may reach."""
        return Loads(self.ops, self.flow.reaching)

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

    def is_dead(self, at: int) -> bool:
        """Whether an op is never come to, by the tests that are constants and by what leaves. Where the top level ends early, as a cell of
        a notebook may, what is behind is not: somebody may go on there."""
        return not self.flow.reached[at] and (self.number > 0 or self.flow.reached[-1])

    # -- values --------------------------------------------------------------------------------------------------------

    def made_of(self, value: int) -> Iterator[int]:
        """A value and all that it may be made of, also through the names under which this function keeps it."""
        waiting, seen = [value], {value}
        for at in waiting:  # grows meanwhile
            yield at
            kept = self.flow.reaching.get(at, ()) if self.ops[at][0] == op.LOAD else ()
            stores = (self.ops[definition] for definition in kept if definition >= 0)
            new = {*self.values(at), *(store[2] for store in stores if store[0] == op.STORE)} - seen
            seen |= new
            waiting += sorted(new)

    @cached_property
    def _resting(self) -> dict[int, tuple[int, ...]]:
        """What `rests_on` has found."""
        return {}

    def rests_on(self, value: int) -> tuple[int, ...]:
        """The parameters of which a value may be made."""
        if value not in self._resting:
            slots = {slot for at in self.made_of(value) if (slot := self.may_give(at)) >= 0}
            self._resting[value] = (*sorted(slots),)
        return self._resting[value]

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

    def collected(self, at: int) -> int:
        """The `COLLECT` of the comprehension that goes through, or gathers, by a `FOR` or `GIVE`; -1 for any other op."""
        around = self.blocks(at) if self.ops[at][0] in (op.FOR, op.GIVE) else iter(())
        mark = next((mark for mark in around if self.ops[mark][0] == op.COMPREHEND), -1)
        return next((made for made, operation in self.each(op.COLLECT) if operation[2] == mark), -1)

    def element(self, value: int) -> int:
        """What is taken out of a display by a `PART`, `a, b = [], []`; any other value itself."""
        operation = self.ops[value]
        display = self.ops[self.element(operation[1])] if operation[0] == op.PART else (op.END,)
        plain = display[0] in (op.LIST, op.TUPLE) and all(self.ops[item][0] != op.STAR for item in display[1:])
        known = plain and operation[2] >= 0 and operation[3] == len(display) - 1
        return self.element(display[1 + operation[2]]) if known else value

    def taking(self, function: Function, call: int, value: int, bound: int = 0) -> Iterator[int]:
        """Its parameters as which it is handed a value by a call in some function.

        Args:
            bound: how many of them are given by what is called: the object of a method.
        """
        given, parameters = function.call(call), self.header.parameters
        for position, handed in enumerate(given.positional):
            if handed == value and position + bound < len(parameters):
                yield position + bound
            if function.ops[handed][0] == op.STAR:
                break
        names = {self.text(slot): slot for slot in range(len(parameters))}
        yield from (names[word] for word, handed in given.named.items() if handed == value and word in names)

    def same(self, one: int, other: int) -> bool:
        """Whether two values are surely the same: one constant, or what one name is in both places."""
        one, other = self.meant(one), self.meant(other)
        if self.constant(one) is not UNKNOWN:
            return self.constant(one) == self.constant(other)
        loads = self.ops[one][0] == op.LOAD and self.ops[one] == self.ops[other]
        return one == other or (loads and self.flow.reaching.get(one) == self.flow.reaching.get(other))

    def condition(self, choice: int) -> int:
        """The test that decides which arm a `CHOICE` gives."""
        while self.ops[choice][0] != op.END:
            choice -= 1
        return self.ops[self.opened[choice]][1]

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

    # -- parameters, and the object itself -----------------------------------------------------------------------------

    def may_give(self, at: int) -> int:
        """The parameter whose value a `LOAD` may give, unless the function has put another in its place before; -1 for none."""
        operation = self.ops[at]
        slot = operation[1] if operation[0] == op.LOAD else -1
        own = 0 <= slot < len(self.header.parameters) and self.names[slot].owner == self.number
        return slot if own and BEFORE in self.flow.reaching.get(at, ()) else -1

    def parameter(self, at: int) -> int:
        """The parameter whose value a `LOAD` surely gives; -1 for none."""
        slot = self.may_give(at)
        return slot if self.flow.reaching.get(at) == ONLY_BEFORE and slot not in self.rebound else -1

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

    def receiver(self, value: int) -> Function | None:
        """The class around the method whose own object a value surely is, or what its bases have of that: `self`, `super()`."""
        operation = self.ops[value]
        if operation[0] == op.CALL and self.is_builtin(operation[1], "super"):
            return self.method.parent if self.method is not None else None
        if operation[0] != op.LOAD:
            return None
        owner, slot = self.binding(operation[1])
        method = self if owner == self.number else self.code.function(owner)
        if slot != 0 or method.receives != "object":
            return None
        kept = slot not in method.binds or (method.number == self.number and self.parameter(value) == 0)
        return method.parent if kept else None

    @property
    def method(self) -> Function | None:
        """The function, or the next one around it, that stands in a class; None where none does."""
        around: Function | None = self
        while around is not None and not (around.parent is not None and around.parent.is_class):
            around = around.parent
        return around

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
        return self.strings[operation[2]] if of >= 0 and self.is_self(of) else ""

    # -- the way to an op ----------------------------------------------------------------------------------------------

    def guards(self, at: int) -> Iterator[Guard]:
        """The tests that were passed on the way to an op inside this function, the innermost first."""
        guard = self.flow.passed.get(at)
        return iter(guard) if guard is not None else iter(())

    def blocks(self, at: int) -> Iterator[int]:
        """The marks that began the parts of blocks around an op, the innermost first: `IF`, `ELSE`, `FOR`, `EXCEPT`, ..."""
        at = self.flow.blocks[at]
        while at >= 0:
            yield at
            at = self.flow.blocks[at]

    def held(self, at: int) -> Iterator[tuple[int, bool]]:
        """What surely is true, or isn't, where an op is come to: tests that were passed on the way, or the parts that they are made of."""
        waiting = [(guard.test, guard.holds) for guard in self.guards(at)]
        for test, holds in waiting:
            operation = self.ops[test]
            if operation[0] == op.UNARY and self.strings[operation[1]] == "not":
                waiting.append((operation[2], not holds))
            elif operation[0] == op.CHOICE and self.strings[operation[1]] == ("and" if holds else "or"):
                waiting += [(part, holds) for part in operation[2:]]
            else:
                yield test, holds

    def is_main(self, at: int) -> bool:
        """Whether an op of the top level is only run where the file is started: `if __name__ == "__main__":`."""
        return any(self._asks_main(test, holds) for test, holds in self.held(at))

    def _asks_main(self, test: int, holds: bool) -> bool:
        """Whether a test that comes out so is that for the file that is started."""
        operation = self.ops[test]
        if operation[0] != op.COMPARE or self.strings[operation[2]] != ("==" if holds else "!="):
            return False
        sides = operation[1], operation[3]
        return {self.dotted(side) for side in sides} == {"__name__", ""} and "__main__" in map(self.constant, sides)

    def is_hint(self, at: int) -> bool:
        """Whether an op only says of which class something is: in an annotation, but for one of a field, or what `isinstance`, or a
        pattern, asks for."""
        if any(self.ops[mark][0] == op.QUOTE for mark in self.blocks(at)):
            return not (
                self.is_class and any(self.ops[use.op][0] == op.ANNOTATE for use in self.ends(at, range(op.STORE)))
            )
        uses = [*self.ends(at, (op.TUPLE, op.BINARY))]
        return bool(uses) and all(map(self._asks_class, uses))

    def _asks_class(self, use: Use) -> bool:
        operation = self.ops[use.op]
        if operation[0] == op.MATCHES_CLASS:
            return use.place == 2
        callee = self.ops[operation[1]] if operation[0] == op.CALL and use.place == 4 else (op.END,)
        is_built_in = callee[0] == op.LOAD and self.names[callee[1]].slot < 0
        return is_built_in and self.text(callee[1]) in ("isinstance", "issubclass")
