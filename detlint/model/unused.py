"""Values that become nothing: what is kept under a name which nobody reads, or only to make something else that is worth no more.

A value is followed along its uses in one function, through the names that hold it as far as its definitions reach. What isn't understood
takes the value to be used. It assumes that arithmetic and what gives an item have no other effects, and that nothing reads names that
aren't written out (ask `reads_any_name`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.uses import Use

Role = Literal["ends", "passes", ""]
"""What a call makes of a value that it is handed: nothing that matters; something that is worth no more; anything else."""
_WORTH_NO_MORE: Final = frozenset({
    op.ATTR, op.ITEM, op.BINARY, op.UNARY, op.COMPARE, op.CHOICE, op.LIST, op.TUPLE, op.SET, op.DICT, op.TEXT, op.FORMAT, op.SLICE, op.STAR,
    op.PART, op.FOR,
})  # fmt: skip
"""Codes of ops whose value is worth no more than what is in them."""
_BY_NAME: Final = frozenset({"locals", "vars", "eval", "exec"})


def reads_any_name(code: Code) -> bool:
    """Whether a file may read names that aren't written out."""
    if _BY_NAME.isdisjoint(code.identifiers) and "f_locals" not in code.identifiers:
        return False
    functions = code.functions()
    return "f_locals" in code.identifiers or any(not _BY_NAME.isdisjoint(function.slots) for function in functions)


class Unused:
    """Finds values of one function that become nothing.

    Args:
        role: what a call makes of one of its arguments.
        passes: whether a method of a value gives something that is worth no more, by its name.
        fills: methods by which a list that was just made is handed something to keep.
        tables: whether what is put into a table that was just made is worth no more than that.
    """

    def __init__(
        self,
        function: Function,
        role: Callable[[int, int], Role],
        passes: Callable[[str], bool] = lambda _: False,
        fills: Collection[str] = (),
        tables: bool = False,
    ) -> None:
        self._function = function
        self._role = role
        self._passes = passes
        self._fills = fills
        self._tables = tables
        self._returned = False
        self._asked: set[int] = set()

    def holds(self, value: int, returned: bool = False) -> bool:
        """Whether a value becomes nothing that matters.

        Args:
            returned: whether what becomes of it where the function gives it back is another matter.
        """
        self._asked.clear()
        self._returned = returned
        return self._ends(value)

    def _ends(self, value: int) -> bool:
        if value in self._asked:
            return True
        self._asked.add(value)
        return all(self._ends_in(value, use) for use in self._function.users[value])

    def _ends_in(self, value: int, use: Use) -> bool:
        """Whether one use makes nothing that matters of a value."""
        function, operation = self._function, self._function.ops[use.op]
        code = operation[0]
        if code == op.STORE:
            return self._is_unread(use.op)
        if code == op.CALL:
            return use.place > 1 and self._is_handed(use.op, value)
        if code == op.ATTR and self._is_called(use.op):
            method = function.code.strings[operation[2]]
            calls = [more.op for more in function.users[use.op]]
            if self._passes(method):
                return all(map(self._ends, calls))
            return all(self._filled(call) >= 0 for call in calls)
        if code == op.SET_ITEM:
            return self._tables and (use.place == 1 or (use.place == 3 and self._is_put_aside(operation[1])))
        if code == op.AUGMENT:
            return use.place == 2 and self._ends(use.op)
        if code == op.GIVE:
            mark = next(mark for mark in function.blocks(use.op) if function.ops[mark][0] == op.COMPREHEND)
            return self._ends(next(at for at, made in function.each(op.COLLECT) if made[2] == mark))
        if code == op.IF:
            return self._only_chooses(use.op)
        if code == op.RETURN:
            return self._returned
        return code in _WORTH_NO_MORE and self._ends(use.op)

    def _is_unread(self, store: int) -> bool:
        """Whether what a name is bound to is read for nothing that matters."""
        function, slot = self._function, self._function.ops[store][1]
        own = function.names[slot].owner == function.number and slot not in function.shared
        return own and all(self._ends(load) for load in function.loads.get(store, ()))

    def _is_called(self, attribute: int) -> bool:
        """Whether an attribute is a method that is only called."""
        uses = self._function.users[attribute]
        return bool(uses) and all(self._function.ops[use.op][0] == op.CALL and use.place == 1 for use in uses)

    def _is_handed(self, call: int, value: int) -> bool:
        """Whether a call makes nothing of a value that it is handed."""
        if self._is_of_ended(call):
            return True
        role = self._role(call, value)
        if role:
            return role == "ends" or self._ends(call)
        filled = self._filled(call)
        made = self._function.stored(filled) if filled >= 0 else None
        return made is not None and all(map(self._ends, made))

    def _is_of_ended(self, call: int) -> bool:
        """Whether a call is of a method of an object that somebody made who makes nothing of what he is handed."""
        function = self._function
        base = function.called_on(call)
        made = function.stored(base) if base >= 0 and function.ops[base][0] == op.LOAD else None
        calls = [
            maker for maker in made or () if function.ops[maker][0] == op.CALL and self._role(maker, maker) == "ends"
        ]
        return bool(made) and len(calls) == len(made or ())

    def _filled(self, call: int) -> int:
        """What reads the list that a call only hands something to keep, if it was made in this function; -1 for none."""
        function = self._function
        base = function.called_on(call)
        fills = base >= 0 and function.called(call) in self._fills and not function.users[call]
        if not fills or function.ops[base][0] != op.LOAD:
            return -1
        made = function.stored(base)
        new = bool(made) and all(function.ops[value][0] == op.LIST for value in made or ())
        return base if new and function.ops[base][1] not in function.shared else -1

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
        """Whether a test only chooses one of two values, to get which nothing is called."""
        function = self._function
        end = function.flow.parts[mark][-1]
        chooses = end + 1 < len(function.ops) and function.ops[end + 1][0] == op.CHOICE
        return chooses and not any(function.ops[at][0] == op.CALL for at in range(mark, end))
