"""Expressions to ops: one function for each kind of node, which gives the position of the value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from detlint.ir import ops as op
from detlint.ir.builder import Builder, Shadowed
from detlint.ir.operators import BINARY, COMPARISONS, UNARY
from detlint.ir.records import CLASS, EITHER, GENERATOR, KEYWORD, KIND, LAMBDA, OTHERS, POSITIONAL, REST

ATTR, ITEM, CALL, STORE = op.ATTR, op.ITEM, op.CALL, op.STORE


def name(f: Builder, node: ast.Name) -> int:
    ops = f.ops
    ops.append(f.slots.get(node.id) or f.first(node.id))
    f.nodes.append(node)
    return len(ops) - 1


def constant(f: Builder, node: ast.Constant) -> int:
    value, ops = node.value, f.ops
    ops.append((f.constants.get(value) if value.__class__ is str else None) or f.file.constant(value))
    f.nodes.append(node)
    return len(ops) - 1


def attribute(f: Builder, node: ast.Attribute) -> int:
    inner = node.value
    value = LOWER[inner.__class__](f, inner)
    ops, strings = f.ops, f.strings
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


def values(f: Builder, nodes: Sequence[ast.expr]) -> Sequence[int]:
    return [LOWER[node.__class__](f, node) for node in nodes] if nodes else ()


def arguments(f: Builder, positional: Sequence[ast.expr], keywords: Sequence[ast.keyword], found: list[int]) -> None:
    """Add the operands from the count of the positional arguments on."""
    found.append(len(positional))
    for part in positional:
        found.append(LOWER[part.__class__](f, part))  # noqa: PERF401  # a comprehension is a call of its own up to Python 3.11
    for keyword in keywords:
        part, word, strings = keyword.value, keyword.arg, f.strings
        value = LOWER[part.__class__](f, part)
        found.append(-1 if word is None else strings.setdefault(word, len(strings)))
        found.append(value)


def call(f: Builder, node: ast.Call) -> int:
    callee = node.func
    found = [CALL, LOWER[callee.__class__](f, callee)]
    arguments(f, node.args, node.keywords, found)
    ops = f.ops
    ops.append(tuple(found))
    f.nodes.append(node)
    return len(ops) - 1


def binary(f: Builder, node: ast.BinOp) -> int:
    """The left side in a loop: what is put together of thousands of terms is that deep."""
    spine, left = [node], node.left
    while left.__class__ is ast.BinOp:
        spine.append(left)
        left = left.left
    value, strings = LOWER[left.__class__](f, left), f.strings
    for part in reversed(spine):
        other, word = part.right, BINARY[part.op.__class__]
        right = LOWER[other.__class__](f, other)
        value = f.put((op.BINARY, strings.setdefault(word, len(strings)), value, right), part)
    return value


def unary(f: Builder, node: ast.UnaryOp) -> int:
    operand = node.operand
    if operand.__class__ is ast.Constant and node.op.__class__ is ast.USub and operand.value.__class__ in (int, float):
        return f.put(f.file.constant(-operand.value), node)
    return f.put((op.UNARY, f.file.string(UNARY[node.op.__class__]), LOWER[operand.__class__](f, operand)), node)


def compare(f: Builder, node: ast.Compare) -> int:
    left, inner = node.left, node.comparators[0]
    before = LOWER[left.__class__](f, left)
    after = LOWER[inner.__class__](f, inner)
    value = f.put((op.COMPARE, before, f.file.string(COMPARISONS[node.ops[0].__class__]), after), node)
    if len(node.ops) == 1:
        return value
    for kind, part in zip(node.ops[1:], node.comparators[1:], strict=True):
        f.put((op.IF, value), node)
        before, after = after, value_of(f, part)
        other = f.put((op.COMPARE, before, f.file.string(COMPARISONS[kind.__class__]), after), node)
        f.put((op.END,), node)
        value = f.put((op.CHOICE, f.file.string("and"), value, other), node)
    return value


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
    """What stands behind `else` in a loop, as in a long `elif`."""
    arms: list[tuple[ast.IfExp, int]] = []
    while True:
        f.put((op.IF, value_of(f, node.test)), node)
        arms.append((node, value_of(f, node.body)))
        f.put((op.ELSE,), node)
        if not isinstance(node.orelse, ast.IfExp):
            break
        node = node.orelse
    value = value_of(f, node.orelse)
    for place, first in reversed(arms):
        f.put((op.END,), place)
        value = f.put((op.CHOICE, f.file.string("if"), first, value), place)
    return value


def display(f: Builder, node: ast.List | ast.Tuple | ast.Set) -> int:
    return f.put((_DISPLAYS[node.__class__], *values(f, node.elts)), node)


_DISPLAYS: Final = {ast.List: op.LIST, ast.Tuple: op.TUPLE, ast.Set: op.SET}


def mapping(f: Builder, node: ast.Dict) -> int:
    found = [op.DICT]
    for key, value in zip(node.keys, node.values, strict=True):
        found += optional(f, key), value_of(f, value)
    return f.put(tuple(found), node)


def template(f: Builder, node: Any) -> int:
    return f.put((op.TEMPLATE, *values(f, node.values)), node)


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


def function(f: Builder, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, kind: int, name: str) -> Builder:
    """A function with its parameters. Its defaults and annotations are values in what is around it: first the defaults, in Python's order,
    then the type parameters, which those don't see and the rest does."""
    given = node.args
    positional = given.posonlyargs + given.args if given.posonlyargs else given.args
    defaults = [-1] * (len(positional) - len(given.defaults))
    defaults += values(f, given.defaults)
    of_keywords = [optional(f, default) for default in given.kw_defaults] if given.kw_defaults else ()
    before = type_parameters(f, node)
    made = Builder(f.file, kind, name, node.lineno, f)
    # the mark stands only where it has something to open for
    start = f.put((op.QUOTE,), node)
    add = made.parameter
    only = len(given.posonlyargs)
    for number, argument in enumerate(positional):
        add(argument, POSITIONAL if number < only else EITHER, defaults[number], optional(f, argument.annotation))
    if given.vararg is not None:
        add(given.vararg, REST, -1, optional(f, given.vararg.annotation))
    for argument, default in zip(given.kwonlyargs, of_keywords, strict=True):
        add(argument, KEYWORD, default, optional(f, argument.annotation))
    if given.kwarg is not None:
        add(given.kwarg, OTHERS, -1, optional(f, given.kwarg.annotation))
    if not isinstance(node, ast.Lambda):
        made.returns = optional(f, node.returns)
    if len(f.ops) > start + 1:
        f.put((op.END,), node)
    else:
        f.ops.pop()
        f.nodes.pop()
    f.restore(before)
    return made


def type_parameters(f: Builder, node: Any) -> Shadowed:
    """`def f[T]`, `class A[T]`, `type A[T] = ...`: names that are seen inside alone, up to `restore`."""
    parameters = getattr(node, "type_params", None)
    if not parameters:
        return []
    before = f.shadow(parameter.name for parameter in parameters)
    for parameter in parameters:
        f.put((op.QUOTE,), parameter)
        bound = optional(f, getattr(parameter, "bound", None))
        default = optional(f, getattr(parameter, "default_value", None))
        f.put((op.END,), parameter)
        f.store(
            parameter.name,
            f.put((op.TYPE_PARAMETER, f.file.string(parameter.__class__.__name__), bound, default), parameter),
            parameter,
        )
    return before


def anonymous(f: Builder, node: ast.Lambda) -> int:
    made = function(f, node, LAMBDA, "<lambda>")
    made.body = node.body
    return f.put((op.FUNCTION, made.number, 0), node)


Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def comprehension(f: Builder, node: Comprehension) -> int:
    """Inline, with what it binds in slots of its own. Only the first of what it goes through is evaluated outside of it."""
    first = value_of(f, node.generators[0].iter)
    mark = f.put((op.COMPREHEND,), node)
    slots = f.slots
    if f.kind & KIND == CLASS:  # what a class binds isn't seen inside
        f.slots = f.beyond
    before = f.shadow(_targets(node))
    blocks = 1
    for number, generator in enumerate(node.generators):
        target = generator.target
        source = value_of(f, generator.iter) if number else first
        STORING[target.__class__](f, target, f.put((op.FOR, source, generator.is_async), target))
        blocks += 1
        for test in generator.ifs:
            f.put((op.IF, value_of(f, test)), test)
            blocks += 1
    given = (
        (value_of(f, node.key), value_of(f, node.value))
        if isinstance(node, ast.DictComp)
        else (value_of(f, node.elt), -1)
    )
    f.put((op.GIVE, *given), node)
    for _ in range(blocks):
        f.put((op.END,), node)
    f.restore(before)
    f.slots = slots
    return f.put((op.COLLECT, f.file.string(_COLLECTS[node.__class__]), mark), node)


def _targets(node: Comprehension) -> list[str]:
    """The names that a comprehension binds, once each."""
    waiting: list[ast.expr] = [generator.target for generator in node.generators]
    found: dict[str, None] = {}
    for target in waiting:
        if isinstance(target, ast.Name):
            found[target.id] = None
        elif isinstance(target, ast.Starred):
            waiting.append(target.value)
        elif isinstance(target, ast.Tuple | ast.List):
            waiting += target.elts
    return list(found)


_COLLECTS: Final = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}


# -- what is stored into ----------------------------------------------------------------------------------------------------


def store_name(f: Builder, node: ast.Name, value: int) -> None:
    _, slot = f.slots.get(node.id) or f.first(node.id)
    f.bound.add(slot)
    if f.declared:
        f.bind(node.id)
    f.ops.append((STORE, slot, value))
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
            target, number = target.value, -1 - number
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
    **{
        getattr(ast, kind): lower
        for kind, lower in (("TemplateStr", template), ("Interpolation", formatted))
        if hasattr(ast, kind)
    },
}
