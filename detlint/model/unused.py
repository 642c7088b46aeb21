"""Values that become nothing: what is kept under a name which nobody reads, or only to make something else that is worth no more.

A value is followed along its uses in one function, through the names that hold it as far as its definitions reach. What isn't understood
takes the value to be used. It assumes that arithmetic and what gives an item have no other effects, and that nothing reads names that
aren't written out (ask `reads_any_name`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.exits import BEFORE
from detlint.ir.uses import Use

Role = Literal["ends", "passes", ""]
"""What a call makes of a value that it is handed: nothing that matters; something that is worth no more; anything else."""
_WORTH_NO_MORE: Final = frozenset({
    op.ATTR, op.ITEM, op.BINARY, op.UNARY, op.COMPARE, op.CHOICE, op.LIST, op.TUPLE, op.SET, op.DICT, op.TEXT, op.FORMAT, op.SLICE, op.STAR,
    op.PART, op.FOR,
})  # fmt: skip
"""Codes of ops whose value is worth no more than what is in them."""
_BY_NAME: Final = frozenset({"locals", "vars", "eval", "exec"})
"""By what code reads names that it doesn't say,"""
_OF_FRAMES: Final = "f_locals"
"""also those of another function that runs."""


def reads_any_name(code: Code, number: int = 0) -> bool:
    """Whether a function, or what stands in it, may read names that aren't written out; 0: anything of the file."""
    if _BY_NAME.isdisjoint(code.identifiers) and _OF_FRAMES not in code.identifiers:
        return False
    return any(
        not _BY_NAME.isdisjoint(function.slots)
        or any(function.strings[operation[2]] == _OF_FRAMES for _, operation in function.each(op.ATTR))
        for function in code.inside(number)
    )


def acts(function: Function, prepares: Collection[str]) -> bool:
    """Whether a top level goes through something, or calls something for its own sake, and not just to print or to prepare: whoever writes
    it has come to the use of what he makes there.

    Args:
        prepares: the last components of the names of what only prepares.
    """
    calls = [call for call, _ in function.each(op.CALL) if not function.users[call]]
    acting = (call for call in calls if function.called(call) not in prepares)
    if any(not function.is_builtin(function.ops[call][1], "print") for call in acting):
        return True
    return any(function.collected(mark) < 0 for mark, _ in function.each(op.FOR, op.WHILE))


class Worth(NamedTuple):
    """What uses are worth of the values that are asked for."""

    role: Callable[[Function, int, int], Role] = lambda *_: ""
    """What a call of a function makes of one of its arguments."""
    passes: Callable[[str], bool] = lambda _: False
    """Whether a method of a value gives something that is worth no more, by its name."""
    ends: Callable[[Function, int], bool] = lambda *_: False
    """Whether an attribute of a value, or what calls that, says nothing of it that matters."""
    fills: Collection[str] = ()
    """Methods by which a list that was just made is handed something to keep."""
    makes: Collection[str] = ()
    """What makes such an object, too, by its last component."""
    tables: bool = False
    """Whether what is put into a table that was just made is worth no more than that."""
    compares: bool = False
    """Whether nothing of a value is left in a comparison."""
    parts: bool = True
    """Whether its items, and what it has as attributes, are worth no more than it."""
    sinks: Callable[[Function, Use], bool] = lambda *_: False
    """Whether a use, by anything but a call, makes nothing of a value that matters."""
    inside: bool = False
    """Whether functions of the file are looked into that it is handed to."""


class Unused:
    """Finds values of one function that become nothing.

    Args:
        known: the functions of the file that are known to make nothing of what they are handed but what they return, and whether that
            ends it; neither while that is asked.
    """

    def __init__(self, function: Function, worth: Worth, known: dict[int, tuple[bool, bool]] | None = None) -> None:
        self._function = function
        self._worth = worth
        self._known = known if known is not None else {}
        self._returned = False
        self._asked: set[int] = set()
        self.ended = False
        """Whether something ends a value: who keeps it under a name that nobody reads may yet use it in another file."""
        self.places: set[int] = set()
        """Where it is among several things that are returned; -1 where it is what is returned, or that isn't known."""

    def holds(self, value: int, returned: bool = False) -> bool:
        """Whether a value becomes nothing that matters.

        Args:
            returned: whether what becomes of it where the function gives it back is another matter.
        """
        self._begin(returned)
        return self._ends(value)

    def hold_parameters(self) -> bool:
        """Whether what the function is handed becomes nothing that matters, but for what it gives back."""
        function = self._function
        self._begin(returned=True)
        loads = (function.loads.get(BEFORE - slot, ()) for slot in range(len(function.header.parameters)))
        private = function.shared.isdisjoint(range(len(function.header.parameters)))
        return private and all(self._ends(load) for several in loads for load in several)

    def _begin(self, returned: bool) -> None:
        self._asked.clear()
        self.places.clear()
        self._returned, self.ended = returned, False

    def _ends(self, value: int) -> bool:
        if value in self._asked:
            return True
        self._asked.add(value)
        uses = self._function.users[value]
        self.ended = self.ended or not uses  # where cells are run, that shows it
        return all(self._ends_in(value, use) for use in uses)

    def _ends_in(self, value: int, use: Use) -> bool:
        """Whether one use makes nothing that matters of a value."""
        function, operation = self._function, self._function.ops[use.op]
        code = operation[0]
        if self._worth.sinks(function, use):
            self.ended = True
            return True
        if code == op.STORE:
            return self._is_unread(use.op)
        if code == op.CALL:
            return use.place > 1 and self._is_handed(use.op, value)
        if code == op.ATTR:
            return self._ends_as_attribute(use.op)
        if code == op.COMPARE and self._worth.compares:
            return True
        if code in (op.ITEM, op.STAR, op.FOR) and not self._worth.parts:
            return False
        if code == op.SET_ITEM:
            return self._worth.tables and (use.place == 1 or (use.place == 3 and self._is_put_aside(operation[1])))
        if code == op.AUGMENT:
            return use.place == 2 and self._ends(use.op)
        if code == op.GIVE:
            return self._ends(function.collected(use.op))
        if code == op.FOR and (made := function.collected(use.op)) >= 0:
            return self._ends(use.op) and self._ends(made)
        if code == op.IF:
            return self._only_chooses(use.op)
        if code == op.RETURN:
            self.places.add(-1)
            return self._returned
        if code in (op.TUPLE, op.LIST) and self._is_given_back(use.op):
            plain = all(function.ops[item][0] != op.STAR for item in operation[1:])
            self.places.add(use.place - 1 if plain else -1)
            return self._returned
        if code in (op.TUPLE, op.LIST) and (parts := self._taken_apart(use)) is not None:
            return all(map(self._ends, parts))
        return code in _WORTH_NO_MORE and self._ends(use.op)

    def _taken_apart(self, use: Use) -> list[int] | None:
        """What takes a value out of a display again: `a, b = f(), g()`; None where more is done with that."""
        function = self._function
        display, taking = function.ops[use.op], [(more.op, function.ops[more.op]) for more in function.users[use.op]]
        if any(part[0] != op.PART or part[2] < 0 or part[3] != len(display) - 1 for _, part in taking):
            return None
        return [at for at, part in taking if part[2] == use.place - 1] if taking else None

    def _is_given_back(self, several: int) -> bool:
        """Whether a display is nothing but what the function gives back."""
        function = self._function
        uses = function.users[several]
        return bool(uses) and all(function.ops[use.op][0] == op.RETURN for use in uses)

    def _is_unread(self, store: int) -> bool:
        """Whether what a name is bound to is read for nothing that matters."""
        function, slot = self._function, self._function.ops[store][1]
        own = function.names[slot].owner == function.number and slot not in function.shared
        return own and all(self._ends(load) for load in function.loads.get(store, ()))

    def _ends_as_attribute(self, attribute: int) -> bool:
        """Whether nothing that matters is made of an attribute of a value, or of what its method gives."""
        function = self._function
        uses = function.users[attribute]
        if self._worth.ends(function, attribute):
            self.ended = True
            return True
        if not uses or any(function.ops[use.op][0] != op.CALL or use.place != 1 for use in uses):
            return self._worth.parts and self._ends(attribute)
        calls = [use.op for use in uses]
        if self._worth.passes(function.code.strings[function.ops[attribute][2]]):
            return all(map(self._ends, calls))
        return all(self._filled(call) >= 0 for call in calls)

    def _is_handed(self, call: int, value: int) -> bool:
        """Whether a call makes nothing of a value that it is handed."""
        role: Role = "ends" if self._is_of_ended(call) else self._worth.role(self._function, call, value)
        if not role and self._worth.inside:
            role = self._role_inside(call)
        self.ended = self.ended or role == "ends"
        if role:
            return role == "ends" or self._ends(call)
        filled = self._filled(call)
        made = self._function.stored(filled) if filled >= 0 else None
        return made is not None and all(map(self._ends, made))

    def _role_inside(self, call: int) -> Role:
        """The same of a call of a function of the file."""
        own = self._function.definition_of(self._function.ops[call][1])
        if own is None or own.is_class:
            return ""
        if own.number not in self._known:
            self._known[own.number] = False, False
            inside = Unused(own, self._worth, self._known)
            self._known[own.number] = inside.hold_parameters(), inside.ended
        nothing, ends = self._known[own.number]
        self.ended = self.ended or (nothing and ends)
        return "passes" if nothing else ""

    def _is_of_ended(self, call: int) -> bool:
        """Whether a call is of a method of an object that somebody made who makes nothing of what he is handed."""
        function = self._function
        base = function.called_on(call)
        made = function.stored(base) if base >= 0 and function.ops[base][0] == op.LOAD else None
        makers = [value for value in made or () if function.ops[value][0] == op.CALL]
        return (
            bool(made)
            and len(makers) == len(made or ())
            and all(self._worth.role(function, maker, maker) == "ends" for maker in makers)
        )

    def _filled(self, call: int) -> int:
        """What reads the object that a call only hands something to keep, if it was made in this function; -1 for none."""
        function = self._function
        base = function.called_on(call)
        fills = base >= 0 and function.called(call) in self._worth.fills and not function.users[call]
        if not fills or function.ops[base][0] != op.LOAD:
            return -1
        made = function.stored(base)
        new = bool(made) and all(self._is_new(value) for value in made or ())
        return base if new and function.ops[base][1] not in function.shared else -1

    def _is_new(self, value: int) -> bool:
        """Whether a value is an object that was just made, or what such an object's methods make of it."""
        function = self._function
        value = function.element(value)
        operation = function.ops[value]
        if operation[0] != op.CALL:
            return operation[0] == op.LIST
        word, given = function.called(value), function.call(value).positional
        if word in self._worth.makes or (given and self._worth.role(function, value, given[0]) == "passes"):
            return True
        return self._worth.passes(word) and self._is_new(function.meant(function.called_on(value)))

    def _is_put_aside(self, table: int) -> bool:
        """Whether a table was made in this function, and nobody reads it."""
        function = self._function
        made = function.stored(table) if function.ops[table][0] == op.LOAD else None
        for value in made or ():
            operation = function.ops[value]
            if operation[0] != op.DICT and not (operation[0] == op.CALL and function.dotted(operation[1]) == "dict"):
                return False
        return bool(made) and all(map(self._ends, made or ()))

    def _only_chooses(self, mark: int) -> bool:
        """Whether a test only chooses one of two values that are worth no more, to get which nothing is called."""
        function = self._function
        end = function.flow.parts[mark][-1]
        if any(function.ops[at][0] == op.CALL for at in range(mark, end)):
            return False
        behind = end + 1
        while behind < len(function.ops) and function.ops[behind][0] == op.CHOICE:
            if not self._ends(behind):
                return False
            behind += 1
        return behind > end + 1
