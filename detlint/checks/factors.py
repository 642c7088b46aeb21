"""What a draw is only ever multiplied by: `x = x + eta * scale * noise`, of which nothing is left where `eta` is zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from detlint.checks.lookups import assignments
from detlint.facts.nodes import walk
from detlint.program.truth import Leaf

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_cancelled(function: _Function, call: ast.Call, leaf: Leaf) -> bool:
    """Whether all that a function makes of what a call gives is multiplied by zero.

    Args:
        leaf: what a name or an attribute in it always is.
    """
    around = {id(inner): node for node in walk(function) for inner in ast.iter_child_nodes(node)}
    uses = [*_uses(function, call, around.get(id(call)))]
    return bool(uses) and all(any(_is_zero(function, each, leaf) for each in _factors(use, around)) for use in uses)


def _uses(function: _Function, call: ast.Call, statement: ast.AST | None) -> Iterator[ast.expr]:
    """The call itself, or all places that read the only name which it gets."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if statement is None or not isinstance(target, ast.Name):
        yield call
    elif len(assignments(function, target.id)) == 1:
        names = (node for node in walk(function) if isinstance(node, ast.Name) and node.id == target.id)
        yield from (name for name in names if isinstance(name.ctx, ast.Load))


def _factors(use: ast.expr, around: dict[int, ast.AST]) -> Sequence[ast.expr]:
    """What a product multiplies something by."""
    found, node, product = list[ast.expr](), use, around.get(id(use))
    while isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        found.append(product.left if product.right is node else product.right)
        node, product = product, around.get(id(product))
    return found


def _is_zero(function: _Function, node: ast.expr, leaf: Leaf) -> bool:
    """Whether an expression is always zero: a number, what is always one, or a product with one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_zero(function, node.left, leaf) or _is_zero(function, node.right, leaf)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_zero(function, node.operand, leaf)
    if isinstance(node, ast.Name) and len(bound := assignments(function, node.id)) == 1:
        return not _says(bound[0].value, node.id) and _is_zero(function, bound[0].value, leaf)
    value = node if isinstance(node, ast.Constant) else leaf(node)
    return value is not None and type(value.value) in (int, float) and value.value == 0


def _says(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in walk(node))
