"""Statements to ops: one function for each kind of node."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from detlint.ir import ops as op
from detlint.ir.builder import GLOBAL, NONLOCAL, Builder
from detlint.ir.expressions import LOWER, STORING, arguments, function, optional, type_parameters, value_of, values
from detlint.ir.operators import BINARY
from detlint.ir.patterns import matches
from detlint.ir.records import ASYNC, CLASS, FUNCTION


def block(f: Builder, statements: Sequence[ast.stmt]) -> None:
    for statement in statements:
        STATEMENTS[statement.__class__](f, statement)


def expression(f: Builder, node: ast.Expr) -> None:
    value = node.value
    if value.__class__ is not ast.Constant:
        LOWER[value.__class__](f, value)


def assign(f: Builder, node: ast.Assign) -> None:
    source = node.value
    value = LOWER[source.__class__](f, source)
    for target in node.targets:
        STORING[target.__class__](f, target, value)
        if target.__class__ is not ast.Name:
            of_statement(f, node)


def of_statement(f: Builder, node: ast.stmt) -> None:
    """What sets an attribute or item has the place of its statement."""
    if f.ops[-1][0] in (op.SET_ATTR, op.SET_ITEM):
        f.nodes[-1] = node


def augment(f: Builder, node: ast.AugAssign) -> None:
    target, word = node.target, f.file.string(BINARY[node.op.__class__])
    if isinstance(target, ast.Name):
        before = f.put(f.load(target.id), target)
        value = f.put((op.AUGMENT, word, before, value_of(f, node.value)), node)
        f.store(target.id, value, target)
        return
    base = value_of(f, target.value)
    if isinstance(target, ast.Attribute):
        text = f.file.string(target.attr)
        before = f.put((op.ATTR, base, text), target)
        value = f.put((op.AUGMENT, word, before, value_of(f, node.value)), node)
        f.put((op.SET_ATTR, base, text, value), node)
    else:
        index = value_of(f, target.slice)
        before = f.put((op.ITEM, base, index), target)
        value = f.put((op.AUGMENT, word, before, value_of(f, node.value)), node)
        f.put((op.SET_ITEM, base, index, value), node)


def annotate(f: Builder, node: ast.AnnAssign) -> None:
    target = node.target
    base = -1
    if node.value is not None:
        STORING[target.__class__](f, target, value_of(f, node.value))
        of_statement(f, node)
    elif isinstance(target, ast.Attribute | ast.Subscript):
        base = value_of(f, target.value)
        if isinstance(target, ast.Subscript):
            value_of(f, target.slice)
    f.put((op.QUOTE,), node.annotation)
    annotation = value_of(f, node.annotation)
    if base < 0 and isinstance(target, ast.Attribute):  # it was evaluated, and isn't a second time
        base = value_of(f, target.value)
    f.put((op.END,), node.annotation)
    if isinstance(target, ast.Name):
        if node.simple or node.value is not None:
            f.put((op.ANNOTATE, f.bind(target.id), annotation), node)
    elif isinstance(target, ast.Attribute):
        f.put((op.ANNOTATE_ATTR, base, f.file.string(target.attr), annotation), node)


def returns(f: Builder, node: ast.Return) -> None:
    f.put((op.RETURN, optional(f, node.value)), node)


def raises(f: Builder, node: ast.Raise) -> None:
    f.put((op.RAISE, optional(f, node.exc), optional(f, node.cause)), node)


def asserts(f: Builder, node: ast.Assert) -> None:
    test = value_of(f, node.test)
    f.put((op.IF, test), node)
    f.put((op.ELSE,), node)
    f.put((op.ASSERT, test, optional(f, node.msg)), node)
    f.put((op.END,), node)


def leaves(f: Builder, node: ast.Break | ast.Continue) -> None:
    f.put((op.BREAK if node.__class__ is ast.Break else op.CONTINUE,), node)


def nothing(f: Builder, node: ast.stmt) -> None:
    pass


def declare(f: Builder, node: ast.Global | ast.Nonlocal) -> None:
    for name in node.names:
        f.declare(name, NONLOCAL if node.__class__ is ast.Nonlocal else GLOBAL)


def delete(f: Builder, node: ast.Delete) -> None:
    waiting = node.targets[::-1]
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Name):
            f.put((op.DELETE, f.bind(target.id)), target)
        elif isinstance(target, ast.Attribute):
            f.put((op.DELETE_ATTR, value_of(f, target.value), f.file.string(target.attr)), target)
        elif isinstance(target, ast.Subscript):
            base = value_of(f, target.value)
            f.put((op.DELETE_ITEM, base, value_of(f, target.slice)), target)
        else:
            waiting += target.elts[::-1]  # type: ignore[attr-defined]


def imports(f: Builder, node: ast.Import) -> None:
    string = f.file.string
    for alias in node.names:
        first = alias.asname is None and "." in alias.name
        name = string(alias.name)
        module = f.put((op.IMPORT, name, 0, int(first)), alias)
        bound = alias.asname or alias.name.partition(".")[0]
        f.store(bound, module, alias)
        f.file.imports.append((f.number, name, 0, None, bound))


def imports_from(f: Builder, node: ast.ImportFrom) -> None:
    string = f.file.string
    name = string(node.module or "")
    module = f.put((op.IMPORT, name, node.level, 0), node)
    for alias in node.names:
        bound = None if alias.name == "*" else alias.asname or alias.name
        if bound is None:
            f.put((op.STAR_IMPORT, module), alias)
        else:
            f.store(bound, f.put((op.MEMBER, module, string(alias.name)), alias), alias)
        f.file.imports.append((f.number, name, node.level, alias.name, bound))


# -- blocks -----------------------------------------------------------------------------------------------------------------


def conditional(f: Builder, node: ast.If) -> None:
    """The arms of a long `elif` in a loop, each inside the `ELSE` of the one before."""
    count = 0
    while True:
        f.put((op.IF, value_of(f, node.test)), node.test)
        count += 1
        block(f, node.body)
        rest = node.orelse
        if not rest:
            break
        f.put((op.ELSE,), rest[0])
        if len(rest) > 1 or not isinstance(rest[0], ast.If):
            block(f, rest)
            break
        node = rest[0]
    for _ in range(count):
        f.put((op.END,), node)


def loop(f: Builder, node: ast.For | ast.AsyncFor) -> None:
    source = value_of(f, node.iter)
    element = f.put((op.FOR, source, int(node.__class__ is ast.AsyncFor)), node)
    STORING[node.target.__class__](f, node.target, element)
    block(f, node.body)
    alternative(f, node.orelse)
    f.put((op.END,), node)


def alternative(f: Builder, statements: Sequence[ast.stmt], mark: int = op.ELSE) -> None:
    if statements:
        f.put((mark,), statements[0])
        block(f, statements)


def repeat(f: Builder, node: ast.While) -> None:
    f.put((op.WHILE,), node)
    f.put((op.UNTIL, value_of(f, node.test)), node.test)
    block(f, node.body)
    alternative(f, node.orelse)
    f.put((op.END,), node)


def attempt(f: Builder, node: ast.Try) -> None:
    f.put((op.TRY,), node)
    block(f, node.body)
    for handler in node.handlers:
        f.put((op.EXCEPT, int(node.__class__ is not ast.Try)), handler)
        caught = f.put((op.CAUGHT, optional(f, handler.type)), handler)
        if handler.name:
            f.store(handler.name, caught, handler)
        block(f, handler.body)
        if handler.name:
            f.put((op.DELETE, f.load(handler.name)[1]), handler)
    alternative(f, node.orelse)
    alternative(f, node.finalbody, op.FINALLY)
    f.put((op.END,), node)


def manage(f: Builder, node: ast.With | ast.AsyncWith) -> None:
    for item in node.items:
        entered = f.put(
            (op.WITH, value_of(f, item.context_expr), int(node.__class__ is ast.AsyncWith)), item.context_expr
        )
        if item.optional_vars is not None:
            STORING[item.optional_vars.__class__](f, item.optional_vars, entered)
    block(f, node.body)
    for _ in node.items:
        f.put((op.END,), node)


def match(f: Builder, node: ast.Match) -> None:
    subject = value_of(f, node.subject)
    blocks = 0
    for case in node.cases:
        pattern, guard = case.pattern, case.guard
        test, captures = matches(f, pattern, subject)
        opened = guard is not None and test >= 0 and f.put((op.IF, test), guard) >= 0
        if test >= 0 and not opened:
            f.put((op.IF, test), pattern)
        for capture in captures:
            f.store(*capture)
        if guard is not None:
            guarded = value_of(f, guard)
            if opened:
                f.put((op.END,), guard)
                guarded = f.put((op.CHOICE, f.file.string("and"), test, guarded), guard)
            f.put((op.IF, guarded), pattern)
        block(f, case.body)
        if test < 0 and guard is None:
            break
        f.put((op.ELSE,), pattern)
        blocks += 1
    for _ in range(blocks):
        f.put((op.END,), node)


# -- definitions ------------------------------------------------------------------------------------------------------------


def define(f: Builder, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = values(f, node.decorator_list)
    made = function(f, node, FUNCTION | (ASYNC if node.__class__ is ast.AsyncFunctionDef else 0), node.name)
    made.body = node.body
    f.store(node.name, f.put((op.FUNCTION, made.number, len(decorators), *decorators), node), node)


def define_class(f: Builder, node: ast.ClassDef) -> None:
    decorators = values(f, node.decorator_list)
    before = type_parameters(f, node)
    made = Builder(f.file, CLASS, node.name, node.lineno, f)
    found = [op.CLASS, made.number, len(decorators), *decorators]
    arguments(f, node.bases, node.keywords, found)
    f.restore(before)
    f.file.bases[made.number] = [*map(dotted, node.bases)]
    made.body = node.body
    f.store(node.name, f.put(tuple(found), node), node)


def dotted(node: ast.expr) -> str | None:
    """A dotted name as it is written, or None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def alias(f: Builder, node: Any) -> None:
    """`type Name = value`, which is evaluated when it is asked for."""
    before = type_parameters(f, node)
    f.put((op.QUOTE,), node)
    value = value_of(f, node.value)
    f.put((op.END,), node)
    f.restore(before)
    f.store(node.name.id, value, node)


STATEMENTS: Final[dict[type, Callable[..., None]]] = {
    ast.Expr: expression,
    ast.Assign: assign,
    ast.AugAssign: augment,
    ast.AnnAssign: annotate,
    ast.Return: returns,
    ast.Raise: raises,
    ast.Assert: asserts,
    ast.Break: leaves,
    ast.Continue: leaves,
    ast.Pass: nothing,
    ast.Global: declare,
    ast.Nonlocal: declare,
    ast.Delete: delete,
    ast.Import: imports,
    ast.ImportFrom: imports_from,
    ast.If: conditional,
    ast.For: loop,
    ast.AsyncFor: loop,
    ast.While: repeat,
    ast.Try: attempt,
    ast.With: manage,
    ast.AsyncWith: manage,
    ast.Match: match,
    ast.FunctionDef: define,
    ast.AsyncFunctionDef: define,
    ast.ClassDef: define_class,
    **{getattr(ast, kind): lower for kind, lower in (("TryStar", attempt), ("TypeAlias", alias)) if hasattr(ast, kind)},
}
