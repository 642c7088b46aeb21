"""Annotations: the class that they name."""

from __future__ import annotations

import ast
from typing import Final

from detlint.facts import sets
from detlint.facts.loops import dotted
from detlint.facts.model import Ref
from detlint.facts.parse import expression_of
from detlint.facts.reading.handlers import EXPRESSIONS
from detlint.facts.reading.operators import Operators
from detlint.facts.reading.values import LONGEST_TEXT

PLAIN: Final = frozenset({
    "int", "float", "bool", "str", "bytes", "dict", "list", "tuple", "set", "object", "None", "type", "Any", "Callable", "Type",
})  # fmt: skip
"""Annotations that say nothing of what can be called on a value."""
TYPING: Final = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required"})


class Annotations(Operators):
    """Reads annotations."""

    __slots__ = ()

    def typing_name(self, node: ast.expr) -> str:
        """The last component of what `Optional` in `Optional[...]` is, under whatever name it was imported."""
        named = self.scope.look_up(node.id) if isinstance(node, ast.Name) else None
        return (named.name if isinstance(named, Ref) else dotted(node)).rpartition(".")[2]

    def annotated(self, node: ast.expr) -> str:
        """What `annotation` says; whether it is evaluated when the file runs depends on where it stands."""
        self.unsure += 1
        found = self.annotation(node)
        self.unsure -= 1
        return found

    def annotation(self, node: ast.expr) -> str:
        """The class that an annotation names, dotted; "" when it names none or several."""
        kind = type(node)
        if kind is ast.Name or kind is ast.Attribute:
            if kind is ast.Name and node.id in PLAIN:  # type: ignore[attr-defined]
                return sets.SET if node.id == "set" else ""  # type: ignore[attr-defined]
            value = EXPRESSIONS[kind](self, node)
            return value.name if type(value) is Ref else ""
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, str) or len(node.value) > LONGEST_TEXT:
                return ""
            try:
                return self.annotation(expression_of(node.value))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return ""
        if isinstance(node, ast.BinOp):
            left, right = self.annotation(node.left), self.annotation(node.right)
            return left or right if not left or not right or left == right else ""
        if isinstance(node, ast.Subscript):
            head = self.typing_name(node.value)
            if head in sets.SET_TYPES:
                return sets.annotated(head, self.typing_name(node.slice))
            if head in TYPING:
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                found = {self.annotation(item) for item in inner} - {""}
                return found.pop() if len(found) == 1 else ""
        return ""
