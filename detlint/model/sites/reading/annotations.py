"""Annotations: the class that they name."""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.ir.code import Function
from detlint.model import sets
from detlint.model.sites.reading.operators import Operators
from detlint.model.sites.reading.values import LONGEST_TEXT, member
from detlint.model.sites.records import Ref, Value
from detlint.model.sites.scope import Missing

PLAIN: Final = frozenset({
    "int", "float", "bool", "str", "bytes", "dict", "list", "tuple", "set", "object", "None", "type", "Any", "Callable", "Type",
})  # fmt: skip
"""Annotations that say nothing of what can be called on a value."""
TYPING: Final = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required"})


class Annotations(Operators):
    """Reads annotations, which need not be run: by their ops, whose values nothing has read."""

    def annotation(self, at: int) -> str:
        """The class that an annotation names, dotted; "" when it names none or several."""
        return self._class_of(self.scope.function, at) if at >= 0 else ""

    def _class_of(self, function: Function, at: int) -> str:
        operation = function.ops[at]
        code = operation[0]
        if code == op.LOAD or code == op.ATTR:
            if code == op.LOAD and function.text(operation[1]) in PLAIN:
                return sets.SET if function.text(operation[1]) == "set" else ""
            value = self._meant(function, at)
            return value.name if type(value) is Ref else ""
        if code == op.CONST:
            text = function.constant(at)
            written = in_ir(text) if isinstance(text, str) and len(text) <= LONGEST_TEXT else None
            return self._class_of(*written) if written is not None else ""
        if code == op.BINARY:
            left, right = (self._class_of(function, side) for side in operation[2:])
            return left or right if not left or not right or left == right else ""
        if code == op.ITEM:
            head = self._typing_name(function, operation[1])
            if head in sets.SET_TYPES:
                return sets.annotated(head, self._typing_name(function, operation[2]))
            if head in TYPING:
                inner = function.ops[operation[2]]
                items = inner[1:] if inner[0] == op.TUPLE else operation[2:]
                found = {self._class_of(function, item) for item in items} - {""}
                return found.pop() if len(found) == 1 else ""
        return ""

    def _typing_name(self, function: Function, at: int) -> str:
        """The last component of what `Optional` in `Optional[...]` is, under whatever name it was imported."""
        value = self._meant(function, at) if function.ops[at][0] == op.LOAD else None
        return (value.name if isinstance(value, Ref) else function.dotted(at)).rpartition(".")[2]

    def _meant(self, function: Function, at: int) -> Value | None:
        """What a name, or what is read of one, stands for."""
        root, attributes = function.chain(at)
        operation = function.ops[root]
        if operation[0] != op.LOAD:
            return None
        here = function is self.scope.function
        found = self.scope.look_up(operation[1]) if here else self.scope.named(function.text(operation[1]))
        if isinstance(found, Missing):
            found = Ref(self.prefix + function.text(operation[1])) if self.stars else None
        for attribute in attributes:
            found = member(found, attribute)
        return found
