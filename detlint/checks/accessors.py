"""What becomes of the parts that an object asks itself for by names that it puts together: some it runs, some it only gives out."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final, NamedTuple

from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.facts.spare import Layout

_LOOKS: Final = frozenset({"callable", "getattr", "hasattr", "isinstance", "setattr"})
"""Functions that don't run what they are handed first."""
_RUNS: Final = frozenset({"__call__", "call", "construct", "forward"})
"""Methods that run a layer."""
_PASSED_ON: Final = (ast.BoolOp, ast.IfExp)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Asked(NamedTuple):
    """What a class does more with than to look at it and to give it back, of what it asks itself for."""

    any: bool
    """Whether something is of it whose name isn't written out."""
    names: frozenset[str]
    givers: frozenset[str]
    """The methods that may give it back under a name that isn't written out."""


@lru_cache(maxsize=64)
def asked(text: bytes) -> Asked:
    """What a class does with its attributes, where it has them by `getattr(self, ...)`.

    Args:
        text: its definition.
    """
    parsed = tree(text)
    if parsed is None:
        return Asked(True, frozenset(), frozenset())
    used, givers = list[str | None](), set[str]()
    for function in walk(parsed):
        if isinstance(function, _Function):
            parents = Layout(function.body).parents
            for call in _gets(function):
                name = _name(call)
                if not _is_given_out(call, function, parents):
                    used.append(name)
                elif name is None:
                    givers.add(function.name)
    return Asked(None in used, frozenset(name for name in used if name is not None), frozenset(givers))


def _gets(function: _Function) -> list[ast.Call]:
    """The calls `getattr(self, ...)` of a function."""
    return [
        call
        for call in walk(function)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "getattr"
        and call.args
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id == "self"
    ]


def _name(call: ast.Call) -> str | None:
    """The name of the attribute that is asked for; None where it isn't written out."""
    name = call.args[1] if len(call.args) > 1 else None
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def _is_given_out(node: ast.AST, function: _Function, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the value of an expression is only looked at and given back."""
    around = parents.get(node)
    if isinstance(around, _PASSED_ON):
        return _is_given_out(around, function, parents)
    if isinstance(around, ast.NamedExpr):
        return _is_given_out(around, function, parents) and _are_given_out(around.target, function, parents)
    if isinstance(around, ast.Assign):
        return all(_are_given_out(target, function, parents) for target in around.targets)
    if isinstance(around, ast.Call):
        return isinstance(around.func, ast.Name) and around.func.id in _LOOKS and around.args[:1] == [node]
    if isinstance(around, ast.Attribute):
        return isinstance(around.ctx, ast.Load) and around.attr not in _RUNS
    return isinstance(around, (ast.BinOp, ast.Compare, ast.If, ast.Return, ast.UnaryOp))


def _are_given_out(target: ast.expr, function: _Function, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a name that holds such a value is read for no more than that."""
    return isinstance(target, ast.Name) and all(
        _is_given_out(load, function, parents)
        for load in walk(function)
        if isinstance(load, ast.Name) and load.id == target.id and isinstance(load.ctx, ast.Load)
    )
