"""Indices of which no two meet: those of one list, where a loop that counts puts each of its numbers into one
(`groups.setdefault(size, []).append(i)`), and a single one for each place (`chosen.unsqueeze(-1)`).

It is read from the text of the function, for the few sites that would be told.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from detlint.checks.guards import call_in
from detlint.facts.loops import dotted
from detlint.facts.model import Span
from detlint.facts.nodes import walk

_MAKES: Final = frozenset({"array", "as_tensor", "tensor"})
"""Functions that make a tensor of a list."""
_DICTIONARIES: Final = frozenset({"OrderedDict", "defaultdict", "dict"})
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_COUNTS: Final = frozenset({"enumerate", "range"})
_CHOOSE: Final = frozenset({"argmax", "argmin"})
_KEEP: Final = frozenset({"clone", "contiguous", "cuda", "detach", "long", "to"})
_READS: Final = frozenset({"items", "keys", "values"})


def differ(data: bytes, name: str, span: Span, position: int) -> bool:
    """Whether the indices that a call gets surely differ, wherever they name places of one row. Other arguments as those of
    `call_in`.

    Args:
        position: where it takes them, behind the dimension that they are for.
    """
    found = call_in(data, name, span)
    if found is None:
        return False
    function, call = found
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    along, indices = (
        given.get(parameter) or next(iter(call.args[place : place + 1]), None)
        for parameter, place in (("dim", position - 1), ("index", position))
    )
    if _is_single(indices, along):
        return True
    while isinstance(indices, ast.Call) and dotted(indices.func).rpartition(".")[2] in _MAKES and indices.args:
        indices = indices.args[0]
    nodes = [*walk(function)]
    groups = _groups(nodes, indices.id) if isinstance(indices, ast.Name) else ""
    return bool(groups) and _is_filled_once(nodes, groups)


def _is_single(indices: ast.expr | None, along: ast.expr | None) -> bool:
    """Whether there is one index along a dimension: it is made for it, `chosen.unsqueeze(-1)`, or it was kept,
    `scores.argmax(-1, keepdim=True)`."""
    if along is None or not isinstance(indices, ast.Call) or not isinstance(indices.func, ast.Attribute):
        return False
    given = {keyword.arg: keyword.value for keyword in indices.keywords}
    if indices.func.attr in _KEEP:
        return _is_single(indices.func.value, along)
    kept = given.get("keepdim")
    keeps = indices.func.attr in _CHOOSE and isinstance(kept, ast.Constant) and kept.value is True
    dimension = given.get("dim") or next(iter(indices.args), None)
    return (keeps or indices.func.attr == "unsqueeze") and dimension is not None and _same(dimension, along)


def _same(dimension: ast.expr, other: ast.expr) -> bool:
    return ast.dump(dimension) == ast.dump(other)


def _groups(nodes: Sequence[ast.AST], name: str) -> str:
    """The dictionary whose values a name goes through: `for size, name in groups.items()`; "" for none."""
    if len(_bound(nodes, name)) != 1:
        return ""
    for node in nodes:
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Attribute):
            targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            asked = {1: "values", 2: "items"}.get(len(targets))
            if node.iter.func.attr == asked and isinstance(targets[-1], ast.Name) and targets[-1].id == name:
                return dotted(node.iter.func.value)
    return ""


def _is_filled_once(nodes: Sequence[ast.AST], groups: str) -> bool:
    """Whether a dictionary of lists is filled by one statement, which puts each number of a loop into one of them."""
    adds = [node for node in nodes if isinstance(node, ast.Call) and _is_addition(node, groups)]
    read = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr in _READS and dotted(n.value) == groups]
    said = sum(isinstance(node, ast.Name) and node.id == groups for node in nodes)
    empty = any(_is_made_empty(node, groups) for node in nodes)
    if not empty or len(adds) != 1 or len(_bound(nodes, groups)) != 1 or said != len(adds) + len(read) + 1:
        return False
    loops = [node for node in nodes if isinstance(node, _LOOPS) and any(inner is adds[0] for inner in walk(node))]
    added = adds[0].args[0]
    return len(loops) == 1 and isinstance(added, ast.Name) and added.id == _counter(nodes, loops[0])


def _is_addition(node: ast.Call, groups: str) -> bool:
    """Whether a call appends something to a list of a dictionary: `groups[size].append(i)`."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr == "append" and len(node.args) == 1):
        return False
    chosen = node.func.value
    if isinstance(chosen, ast.Subscript):
        return dotted(chosen.value) == groups
    return isinstance(chosen, ast.Call) and dotted(chosen.func) == f"{groups}.setdefault"


def _is_made_empty(node: ast.AST, groups: str) -> bool:
    """Whether a statement gives a name to a dictionary of nothing yet."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or dotted(_target(node)) != groups:
        return False
    if isinstance(node.value, ast.Call):
        given = [dotted(argument) for argument in node.value.args]
        return dotted(node.value.func).rpartition(".")[2] in _DICTIONARIES and given in ([], ["list"])
    return isinstance(node.value, ast.Dict) and not node.value.keys


def _target(node: ast.Assign | ast.AnnAssign) -> ast.expr:
    return node.target if isinstance(node, ast.AnnAssign) else node.targets[0]


def _counter(nodes: Sequence[ast.AST], loop: ast.AST) -> str:
    """The name that is another number in each turn of a loop, and nothing else; "" for none."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return ""
    called = dotted(loop.iter.func)
    target = loop.target.elts[0] if called == "enumerate" and isinstance(loop.target, ast.Tuple) else loop.target
    counts = called in _COUNTS and isinstance(target, ast.Name) and len(_bound(nodes, target.id)) == 1
    return target.id if counts and isinstance(target, ast.Name) else ""


def _bound(nodes: Sequence[ast.AST], name: str) -> Sequence[ast.AST]:
    """Where a function binds a name."""
    return [
        node
        for node in nodes
        if (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
    ]
