"""Expressions and types of C++ to ops: one method for each kind of node, which gives the position of the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.builder import Builder, File
from detlint.ir.records import LAMBDA

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES: Final = frozenset({
    "identifier", "type_identifier", "namespace_identifier", "field_identifier", "primitive_type", "sized_type_specifier", "this", "auto",
    "placeholder_type_specifier", "__global__", "__device__", "__host__", "decltype", "statement_identifier", "operator_name",
})  # fmt: skip
_INSIDE: Final = frozenset({"parenthesized_expression", "condition_clause", "expression_statement", "argument"})
_POINTERS: Final = frozenset(
    {"pointer_declarator", "array_declarator", "abstract_pointer_declarator", "abstract_array_declarator"}
)
_SUFFIXES: Final = "uUlLzZ"


class At(NamedTuple):
    """Where a node stands, as nodes of Python's trees say it."""

    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


class Declared(NamedTuple):
    """What a declarator declares."""

    name: str
    pointers: int
    """How many `*`, and `[]`."""
    value: Node | None = None
    """What it begins as."""
    is_function: bool = False
    parameters: Sequence[Node] = ()


def place_of(node: Node) -> At:
    """Where a node stands."""
    (line, column), (end_line, end_column) = node.start_point, node.end_point
    return At(line + 1, column, end_line + 1, end_column)


def text_of(node: Node) -> str:
    """A node as it is written."""
    return (node.text or b"").decode("utf-8", "replace")


class Expressions:
    """Lowers expressions into the function that is at hand."""

    f: Builder

    def __init__(self, file: File) -> None:
        self.file = file

    def later(self, f: Builder, node: Node) -> None:
        """Have a function be lowered once what stands around it is."""
        raise NotImplementedError

    def parameters(self, made: Builder, given: Sequence[Node]) -> None:
        """The parameters of a function."""
        raise NotImplementedError

    def value(self, node: Node) -> int:
        """The value of an expression, or a type."""
        kind = node.type
        if kind in _NAMES:
            return self.named(node)
        if kind in _INSIDE and len(node.named_children) == 1:
            return self.value(node.named_children[0])
        lowered = _EXPRESSIONS.get(kind)
        return lowered(self, node) if lowered is not None else self.several(node)

    def value_or(self, node: Node | None, constant: object) -> int:
        """The value of an expression, or a constant where there is none."""
        if node is not None:
            return self.value(node)
        return self.f.put(self.file.constant(constant), At(1, 0, 1, 0))

    def values(self, nodes: Sequence[Node]) -> list[int]:
        """Those of some expressions."""
        return [self.value(node) for node in nodes if node.type != "comment"]

    def several(self, node: Node) -> int:
        """All values in something, as a tuple."""
        return self.f.put((op.TUPLE, *self.values(node.named_children)), place_of(node))

    def named(self, node: Node) -> int:
        """A name, also of a type."""
        return self.f.put(self.f.load(" ".join(text_of(node).split())), place_of(node))

    def qualified(self, node: Node) -> int:
        """`a::b`"""
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        if name is None:
            return self.several(node)
        if scope is None:
            return self.value(name)
        base = self.value(scope)
        if name.type in ("template_function", "template_type", "qualified_identifier"):
            return self._of_inner(base, name)
        return self.f.put((op.ATTR, base, self.file.string(text_of(name))), place_of(node))

    def _of_inner(self, base: int, node: Node) -> int:
        """What a name that has parts itself is, as a member of something: `a::b<T>`, `a::b::c`."""
        inner = node.child_by_field_name("scope" if node.type == "qualified_identifier" else "name")
        if inner is None:
            return self.several(node)
        made = self.f.put((op.ATTR, base, self.file.string(text_of(inner))), place_of(inner))
        if node.type != "qualified_identifier":
            return self._with_arguments(made, node)
        name = node.child_by_field_name("name")
        if name is None:
            return made
        if name.type in ("template_function", "template_type", "qualified_identifier"):
            return self._of_inner(made, name)
        return self.f.put((op.ATTR, made, self.file.string(text_of(name))), place_of(node))

    def template(self, node: Node) -> int:
        """`f<T>`, `A<T>`"""
        name = node.child_by_field_name("name")
        return self._with_arguments(self.value(name), node) if name is not None else self.several(node)

    def _with_arguments(self, of: int, node: Node) -> int:
        given = node.child_by_field_name("arguments")
        handed = self.values(given.named_children) if given is not None else []
        chosen = self.f.put((op.TUPLE, *handed), place_of(node))
        return self.f.put((op.ITEM, of, chosen), place_of(node))

    def number(self, node: Node) -> int:
        text = text_of(node).replace("'", "").rstrip(_SUFFIXES)
        try:
            value: object = (
                int(text, 0) if not text.startswith("0") or text[1:2].lower() in ("x", "b") else int(text, 8)
            )
        except ValueError:
            try:
                value = float(text.rstrip("fFlL"))
            except ValueError:
                value = None
        return self.f.put(self.file.constant(value), place_of(node))

    def string(self, node: Node) -> int:
        parts = [text_of(child) for child in node.named_children if child.type == "string_content"]
        text = "".join(parts) or text_of(node).strip('"')
        return self.f.put(self.file.constant(text), place_of(node))

    def strings(self, node: Node) -> int:
        """Texts that stand one behind the other."""
        parts = [
            part for child in node.named_children for part in child.named_children if part.type == "string_content"
        ]
        return self.f.put(self.file.constant("".join(map(text_of, parts))), place_of(node))

    def literal(self, node: Node) -> int:
        value = {"true": True, "false": False}.get(node.type)
        return self.f.put(self.file.constant(value), place_of(node))

    # -- operators --------------------------------------------------------------------------------------------------

    def field(self, node: Node) -> int:
        """`a.b` and `a->b`"""
        base, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if base is None or name is None:
            return self.several(node)
        of = self.value(base)
        if name.type in ("template_method", "dependent_name", "qualified_identifier"):
            name = name if name.type == "template_method" else name.named_children[-1]
            inner = name.child_by_field_name("name") or name
            made = self.f.put((op.ATTR, of, self.file.string(text_of(inner))), place_of(inner))
            return self._with_arguments(made, name)
        return self.f.put((op.ATTR, of, self.file.string(text_of(name))), place_of(node))

    def item(self, node: Node) -> int:
        base, given = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        if base is None or given is None:
            return self.several(node)
        of, places = self.value(base), self.values(given.named_children)
        place = places[0] if len(places) == 1 else self.f.put((op.TUPLE, *places), place_of(given))
        return self.f.put((op.ITEM, of, place), place_of(node))

    def unary(self, node: Node) -> int:
        """`-a`, `!a`, `~a`, `&a`, `*a`"""
        of, sign = node.child_by_field_name("argument"), node.child_by_field_name("operator")
        word = text_of(sign) if sign is not None else "+"
        made = self.value_or(of, None)
        return self.f.put((op.UNARY, self.file.string("not" if word == "!" else word), made), place_of(node))

    def binary(self, node: Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        word = text_of(sign) if sign is not None else "+"
        if left is not None and any(child.type == "ERROR" and child.text == b"=" for child in node.children):
            return self._set(left, self.value_or(right, None), word, node)  # `atomic_ref<float>{x} += y`
        one, other = self.value_or(left, None), self.value_or(right, None)
        if word in ("==", "!=", "<", ">", "<=", ">="):
            return self.f.put((op.COMPARE, one, self.file.string(word), other), place_of(node))
        word = {"&&": "&", "||": "|"}.get(
            word, word
        )  # both sides are read in any case: nothing in them matters but what is asked
        return self.f.put((op.BINARY, self.file.string(word), one, other), place_of(node))

    def choice(self, node: Node) -> int:
        """`a ? b : c`"""
        parts = (node.child_by_field_name(name) for name in ("condition", "consequence", "alternative"))
        test, then, other = parts
        place = place_of(node)
        self.f.put((op.IF, self.value_or(test, True)), place)
        one = self.value_or(then, None)
        self.f.put((op.ELSE,), place)
        two = self.value_or(other, None)
        self.f.put((op.END,), place)
        return self.f.put((op.CHOICE, self.file.string("if"), one, two), place)

    def assign(self, node: Node) -> int:
        """`a = b`, `a += b`"""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        value = self.value_or(right, None)
        word = text_of(sign).removesuffix("=") if sign is not None else ""
        return self._set(left, value, word, node) if left is not None else value

    def update(self, node: Node) -> int:
        """`a++`"""
        left, sign = node.child_by_field_name("argument"), node.child_by_field_name("operator")
        one = self.f.put(self.file.constant(1), place_of(node))
        return self._set(left, one, text_of(sign)[:1] if sign is not None else "+", node) if left is not None else one

    def _set(self, left: Node, value: int, word: str, node: Node) -> int:
        """Set what stands at the left of `=`, or of `+=`."""
        place = place_of(node)
        while left.type == "parenthesized_expression" and left.named_children:
            left = left.named_children[0]
        if word:
            before = self.value(left)
            value = self.f.put((op.AUGMENT, self.file.string(word), before, value), place)
        if left.type == "identifier":
            self.f.store(text_of(left), value, place)  # type: ignore[arg-type]
            return value
        target = self.value(left)
        operation = self.f.ops[target]
        if operation[0] == op.ITEM:
            self.f.put((op.SET_ITEM, operation[1], operation[2], value), place)
        elif operation[0] == op.ATTR:
            self.f.put((op.SET_ATTR, operation[1], operation[2], value), place)
        elif operation[0] == op.UNARY:
            first = self.f.put(self.file.constant(0), place)
            self.f.put((op.SET_ITEM, operation[2], first, value), place)
        return value

    # -- calls and types --------------------------------------------------------------------------------------------

    def call(self, node: Node) -> int:
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        of = self.value_or(callee, None)
        launch = next((child for child in node.children if child.type == "kernel_call_syntax"), None)
        if launch is not None:
            shape = self.several(launch)
            of = self.f.put((op.BINARY, self.file.string("<<<"), of, shape), place_of(launch))
        handed = self.values(given.named_children) if given is not None else []
        return self.f.put((op.CALL, of, len(handed), *handed), place_of(node))

    def cast(self, node: Node) -> int:
        """`(T)a` and `T{a}`"""
        kind, of = node.child_by_field_name("type"), node.child_by_field_name("value")
        made = self.value_or(kind, None)
        listed = of is not None and of.type == "initializer_list" and of.named_child_count == 1
        given = of.named_children[0] if of is not None and listed else of
        return self.f.put((op.CALL, made, 1, self.value_or(given, None)), place_of(node))

    def assembler(self, node: Node) -> int:
        """`asm volatile("red.global.add.f32 [%0], %1;" :: "l"(p), "f"(v))`"""
        code = node.child_by_field_name("assembly_code")
        callee = self.f.put(self.f.load("asm"), place_of(node))
        handed = [self.value(code)] if code is not None else []
        waiting = [child for child in node.named_children if child != code]
        while waiting:
            child = waiting.pop(0)
            if child.type.endswith("operand") and child.named_children:
                handed.append(self.value(child.named_children[-1]))
            else:
                waiting += child.named_children
        return self.f.put((op.CALL, callee, len(handed), *handed), place_of(node))

    def function(self, node: Node) -> int:
        """`[&](int i) { ... }`"""
        made = Builder(self.file, LAMBDA, "<lambda>", node.start_point[0] + 1, self.f)
        declarator = node.child_by_field_name("declarator")
        given = declarator.child_by_field_name("parameters") if declarator is not None else None
        self.parameters(made, given.named_children if given is not None else ())
        self.later(made, node)
        return self.f.put((op.FUNCTION, made.number, 0), place_of(node))

    def listed(self, node: Node) -> int:
        """`{a, b}`"""
        return self.f.put((op.LIST, *self.values(node.named_children)), place_of(node))

    def descriptor(self, node: Node) -> int:
        """A type with its pointers, `const T*`."""
        declarator = node.child_by_field_name("declarator")
        declared = self.declared(declarator) if declarator is not None else None
        return self.typed(node.child_by_field_name("type"), declared)

    def typed(self, kind: Node | None, declared: Declared | None) -> int:
        """A type, as what is declared has it; -1 for none, and `auto`."""
        if kind is None or kind.type == "placeholder_type_specifier":
            return -1
        if kind.type in ("class_specifier", "struct_specifier", "enum_specifier"):
            name = kind.child_by_field_name("name")
            value = self.value(name) if name is not None else -1
        else:
            value = self.value(kind)
        for _ in range(declared.pointers if declared is not None and value >= 0 else 0):
            value = self.f.put((op.UNARY, self.file.string("*"), value), place_of(kind))
        return value

    def declared(self, node: Node) -> Declared | None:
        """What a declarator declares; None for what has no name."""
        parameters: Sequence[Node] = ()
        pointers, value, is_function = 0, None, False
        while not node.type.endswith("identifier") and node.type not in ("operator_name", "destructor_name"):
            if node.type == "init_declarator":
                value = node.child_by_field_name("value")
            elif node.type == "function_declarator":
                given = node.child_by_field_name("parameters")
                parameters = [c for c in given.named_children if c.type != "comment"] if given is not None else ()
                is_function = True
            pointers += node.type in _POINTERS
            inner = node.child_by_field_name("declarator")
            inner = inner or next(
                (c for c in node.named_children if c.type.endswith(("declarator", "identifier"))), None
            )
            if inner is None:
                return Declared("", pointers) if node.type.startswith("abstract") else None
            node = inner
        name = text_of(node).rpartition("::")[2].partition("<")[0]
        return Declared(name, pointers, value, is_function, parameters)


_EXPRESSIONS: Final = {
    "qualified_identifier": Expressions.qualified,
    "template_function": Expressions.template,
    "template_type": Expressions.template,
    "number_literal": Expressions.number,
    "string_literal": Expressions.string,
    "raw_string_literal": Expressions.string,
    "concatenated_string": Expressions.strings,
    "true": Expressions.literal,
    "false": Expressions.literal,
    "null": Expressions.literal,
    "field_expression": Expressions.field,
    "subscript_expression": Expressions.item,
    "unary_expression": Expressions.unary,
    "pointer_expression": Expressions.unary,
    "binary_expression": Expressions.binary,
    "conditional_expression": Expressions.choice,
    "assignment_expression": Expressions.assign,
    "update_expression": Expressions.update,
    "call_expression": Expressions.call,
    "cast_expression": Expressions.cast,
    "compound_literal_expression": Expressions.cast,
    "gnu_asm_expression": Expressions.assembler,
    "lambda_expression": Expressions.function,
    "initializer_list": Expressions.listed,
    "type_descriptor": Expressions.descriptor,
}
