"""Expressions to ops: one function for each kind of node, which gives the position of the value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from detlint.ir import ops as op
from detlint.ir.builder import Builder, Pending
from detlint.ir.operators import BINARY, COMPARISONS, UNARY
from detlint.ir.records import EITHER, GENERATOR, KEYWORD, KIND, LAMBDA, OTHERS, POSITIONAL, REST, CLASS, Parameter

CONST, LOAD, ATTR, ITEM, CALL = op.CONST, op.LOAD, op.ATTR, op.ITEM, op.CALL


def name(f: Builder, node: ast.Name) -> int:
    text = node.id
    slot = f.slots.get(text)
    if slot is None:
        slot = f.slot(text)
    ops = f.ops
    ops.append((LOAD, slot))
    f.nodes.append(node)
    return len(ops) - 1


def constant(f: Builder, node: ast.Constant) -> int:
    ops = f.ops
    ops.append((CONST, f.file.constant(node.value)))
    f.nodes.append(node)
    return len(ops) - 1


def attribute(f: Builder, node: ast.Attribute) -> int:
    inner = node.value
    value = LOWER[inner.__class__](f, inner)
    ops = f.ops
    strings = f.file.strings
    ops.append((ATTR, value, strings.setdefault(node.attr, len(strings))))
    f.nodes.append(node)
    return len(ops) - 1


def item(f: Builder, node: ast.Subscript) -> int:
    inner = node.value
    value = LOWER[inner.__class__](f, inner)
    index = node.slice
    place = LOWER[index.__class__](f, index)
    ops = f.ops
    ops.append((ITEM, value, place))
    f.nodes.append(node)
    return len(ops) - 1


def values(f: Builder, nodes: Sequence[ast.expr]) -> list[int]:
    return [LOWER[node.__class__](f, node) for node in nodes]


def arguments(f: Builder, node: ast.Call | ast.ClassDef, positional: Sequence[ast.expr]) -> list[int]:
    """The operands from the count of the positional arguments on."""
    found = [len(positional)]
    for part in positional:
        found.append(LOWER[part.__class__](f, part))
    if node.keywords:
        strings = f.file.strings
        for keyword in node.keywords:
            part = keyword.value
            value = LOWER[part.__class__](f, part)
            word = keyword.arg
            found.append(-1 if word is None else strings.setdefault(word, len(strings)))
            found.append(value)
    return found


def call(f: Builder, node: ast.Call) -> int:
    callee = node.func
    function = LOWER[callee.__class__](f, callee)
    given = arguments(f, node, node.args)
    ops = f.ops
    ops.append((CALL, function, *given))
    f.nodes.append(node)
    return len(ops) - 1


def binary(f: Builder, node: ast.BinOp) -> int:
    """The left side in a loop: what is put together of thousands of terms is that deep."""
    spine, left = [node], node.left
    while left.__class__ is ast.BinOp:
        spine.append(left)  # type: ignore[arg-type]
        left = left.left  # type: ignore[attr-defined]
    value = LOWER[left.__class__](f, left)
    for part in reversed(spine):
        other = part.right
        right = LOWER[other.__class__](f, other)
        value = f.put((op.BINARY, f.file.string(BINARY[part.op.__class__]), value, right), part)
    return value


def unary(f: Builder, node: ast.UnaryOp) -> int:
    operand = node.operand
    if operand.__class__ is ast.Constant and node.op.__class__ is ast.USub and operand.value.__class__ in (int, float):  # type: ignore[attr-defined]
        return f.put((CONST, f.file.constant(-operand.value)), node)  # type: ignore[attr-defined]
    return f.put((op.UNARY, f.file.string(UNARY[node.op.__class__]), LOWER[operand.__class__](f, operand)), node)


def compare(f: Builder, node: ast.Compare) -> int:
    found = [op.COMPARE, value_of(f, node.left)]
    for kind, part in zip(node.ops, node.comparators):
        found += f.file.string(COMPARISONS[kind.__class__]), LOWER[part.__class__](f, part)
    return f.put(tuple(found), node)


def value_of(f: Builder, node: ast.expr) -> int:
    return LOWER[node.__class__](f, node)


def optional(f: Builder, node: ast.expr | None) -> int:
    return -1 if node is None else LOWER[node.__class__](f, node)


def boolean(f: Builder, node: ast.BoolOp) -> int:
    """`a and b and c` as `(a and b) and c`, which means the same."""
    word = "and" if node.op.__class__ is ast.And else "or"
    value = value_of(f, node.values[0])
    for part in node.values[1:]:
        f.put((op.IF, value), node)
        if word == "or":
            f.put((op.ELSE,), node)
        other = value_of(f, part)
        f.put((op.END,), node)
        value = f.put((op.CHOICE, f.file.string(word), value, other), node)
    return value


def either(f: Builder, node: ast.IfExp) -> int:
    f.put((op.IF, value_of(f, node.test)), node)
    first = value_of(f, node.body)
    f.put((op.ELSE,), node)
    other = value_of(f, node.orelse)
    f.put((op.END,), node)
    return f.put((op.CHOICE, f.file.string("if"), first, other), node)


def display(f: Builder, node: ast.List | ast.Tuple | ast.Set) -> int:
    return f.put((_DISPLAYS[node.__class__], *values(f, node.elts)), node)


_DISPLAYS: Final = {ast.List: op.LIST, ast.Tuple: op.TUPLE, ast.Set: op.SET}


def mapping(f: Builder, node: ast.Dict) -> int:
    found = [op.DICT]
    for key, value in zip(node.keys, node.values):
        found += optional(f, key), value_of(f, value)
    return f.put(tuple(found), node)


def text(f: Builder, node: ast.JoinedStr) -> int:
    return f.put((op.TEXT, *values(f, node.values)), node)


def formatted(f: Builder, node: ast.FormattedValue) -> int:
    return f.put((op.FORMAT, value_of(f, node.value), optional(f, node.format_spec), node.conversion), node)


def part(f: Builder, node: ast.Slice) -> int:
    return f.put((op.SLICE, optional(f, node.lower), optional(f, node.upper), optional(f, node.step)), node)


def starred(f: Builder, node: ast.Starred) -> int:
    return f.put((op.STAR, value_of(f, node.value)), node)


def awaited(f: Builder, node: ast.Await) -> int:
    return f.put((op.AWAIT, value_of(f, node.value)), node)


def yielded(f: Builder, node: ast.Yield) -> int:
    f.kind |= GENERATOR
    return f.put((op.YIELD, optional(f, node.value)), node)


def yielded_from(f: Builder, node: ast.YieldFrom) -> int:
    f.kind |= GENERATOR
    return f.put((op.YIELD_FROM, value_of(f, node.value)), node)


def walrus(f: Builder, node: ast.NamedExpr) -> int:
    value = value_of(f, node.value)
    f.store(node.target.id, value, node)
    return value


def function(f: Builder, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, kind: int, name: str, decorators: int) -> Builder:
    """A function's parameters; its defaults and annotations are evaluated in what is around it."""
    made = Builder(f.file, kind, name, f, visible(f))
    given = node.args
    without = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    defaults = [-1] * without + [value_of(f, default) for default in given.defaults]
    listed: list[tuple[int, ast.arg | None, int]] = []
    for number, argument in enumerate(given.posonlyargs):
        listed.append((POSITIONAL, argument, defaults[number]))
    for number, argument in enumerate(given.args, len(given.posonlyargs)):
        listed.append((EITHER, argument, defaults[number]))
    listed.append((REST, given.vararg, -1))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        listed.append((KEYWORD, argument, optional(f, default)))
    listed.append((OTHERS, given.kwarg, -1))
    for way, argument, default_value in listed:
        if argument is not None:
            made.bind(argument.arg)
            made.parameters.append(Parameter(way, default_value, optional(f, argument.annotation)))
    return made


def visible(f: Builder) -> dict[str, tuple[int, int]] | None:
    return {**(f.visible or {}), **f.inner} if f.inner or f.visible else None


def anonymous(f: Builder, node: ast.Lambda) -> int:
    made = function(f, node, LAMBDA, "<lambda>", 0)
    made.node = node
    f.file.waiting.append(Pending(made, node.body))
    return f.put((op.FUNCTION, made.number, 0), node)


def comprehension(f: Builder, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> int:
    """Inline, with what it binds in slots of its own. Only the first of what it goes through is evaluated outside of it."""
    first = value_of(f, node.generators[0].iter)
    kept_slots, kept_inner = f.slots, f.inner
    mark = f.put((op.COMPREHEND,), node)
    blocks = 1
    if f.kind & KIND == CLASS:  # what a class binds isn't seen inside
        f.slots = {}
    else:
        f.slots = kept_slots.copy()
    f.inner = kept_inner.copy()
    for generator in node.generators:
        for target in ast.walk(generator.target):
            if target.__class__ is ast.Name and target.ctx.__class__ is ast.Store:  # type: ignore[attr-defined]
                text = target.id  # type: ignore[attr-defined]
                f.slots.pop(text, None)
                f.inner[text] = (f.number, f.bind(text))
    for number, generator in enumerate(node.generators):
        source = value_of(f, generator.iter) if number else first
        element = f.put((op.FOR, source, generator.is_async), generator.target)
        STORING[generator.target.__class__](f, generator.target, element)
        blocks += 1
        for test in generator.ifs:
            f.put((op.IF, value_of(f, test)), test)
            blocks += 1
    if node.__class__ is ast.DictComp:
        given = value_of(f, node.key), value_of(f, node.value)  # type: ignore[union-attr]
    else:
        given = value_of(f, node.elt), -1  # type: ignore[union-attr]
    f.put((op.GIVE, *given), node)
    for _ in range(blocks):
        f.put((op.END,), node)
    inside, f.slots, f.inner = f.slots, kept_slots, kept_inner
    if f.kind & KIND != CLASS:
        for text, slot in inside.items():  # names that were first seen inside
            kept_slots.setdefault(text, slot) if text not in f.inner and slot not in f.bound else None
    return f.put((op.COLLECT, f.file.string(_COLLECTS[node.__class__]), mark), node)


_COLLECTS: Final = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}


# -- what is stored into ----------------------------------------------------------------------------------------------------


def store_name(f: Builder, node: ast.Name, value: int) -> None:
    f.bound.add(slot := f.slot(node.id))
    f.ops.append((op.STORE, slot, value))
    f.nodes.append(node)


def store_attribute(f: Builder, node: ast.Attribute, value: int) -> None:
    base = value_of(f, node.value)
    f.put((op.SET_ATTR, base, f.file.string(node.attr), value), node)


def store_item(f: Builder, node: ast.Subscript, value: int) -> None:
    base = value_of(f, node.value)
    f.put((op.SET_ITEM, base, value_of(f, node.slice), value), node)


def store_parts(f: Builder, node: ast.Tuple | ast.List, value: int) -> None:
    count = len(node.elts)
    for number, target in enumerate(node.elts):
        if target.__class__ is ast.Starred:
            target, number = target.value, -1 - number  # type: ignore[attr-defined]  # noqa: PLW2901
        part = f.put((op.PART, value, number, count), target)
        STORING[target.__class__](f, target, part)


STORING: Final[dict[type, Callable[..., None]]] = {
    ast.Name: store_name,
    ast.Attribute: store_attribute,
    ast.Subscript: store_item,
    ast.Tuple: store_parts,
    ast.List: store_parts,
}

LOWER: Final[dict[type, Callable[..., int]]] = {
    ast.Name: name,
    ast.Constant: constant,
    ast.Attribute: attribute,
    ast.Call: call,
    ast.Subscript: item,
    ast.BinOp: binary,
    ast.UnaryOp: unary,
    ast.Compare: compare,
    ast.BoolOp: boolean,
    ast.IfExp: either,
    ast.List: display,
    ast.Tuple: display,
    ast.Set: display,
    ast.Dict: mapping,
    ast.JoinedStr: text,
    ast.FormattedValue: formatted,
    ast.Slice: part,
    ast.Starred: starred,
    ast.Await: awaited,
    ast.Yield: yielded,
    ast.YieldFrom: yielded_from,
    ast.NamedExpr: walrus,
    ast.Lambda: anonymous,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.DictComp: comprehension,
    ast.GeneratorExp: comprehension,
}
