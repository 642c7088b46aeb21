"""What comes out the same in any order since only whole numbers are added up: shapes and lengths, counters, ones.

The facts know tensors by what makes them. What those were made of, and what an object that adds up is called with, is read here
from the text of a function, for the few sites that would be told.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Final

from detlint.checks.guards import call_in
from detlint.checks.levels import is_class
from detlint.checks.match import Match, Matcher
from detlint.facts.loops import dotted
from detlint.facts.model import Member, Ref
from detlint.program.resolve import Module
from detlint.program.texts import Texts

SUMS: Final = "whole"
"""Entries that except tensors of such a type add up, or multiply."""
_KEEP: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""Operators that make whole numbers of whole numbers."""


class Exact:
    """Finds sums and products of whole numbers."""

    def __init__(self, matcher: Matcher, texts: Texts) -> None:
        self._matcher = matcher
        self._texts = texts

    def holds(self, module: Module, index: int, match: Match) -> bool:
        """Whether all that a call, or the object that it makes, adds up surely is whole numbers."""
        site = module.sites[index]
        name = module.function_of(site).name.partition(".")[0]
        if not name or site.kind != "call" or all(asked.not_type != SUMS for asked in match.entry.when.values()):
            return False
        text = self._texts.of(module.path) if module.path.endswith(".py") else None
        found = call_in(text, name, site.span) if text is not None else None
        if found is None:
            return False
        function, call = found
        numbers = _Numbers(self._matcher, module, function)
        if is_class(match.name):
            calls = numbers.calls_of(call)
            return bool(calls) and all(numbers.is_whole(_first(made)) for made in calls)
        of_tensor = isinstance(site.target, Member) and isinstance(call.func, ast.Attribute)
        return numbers.is_whole(call.func.value if of_tensor else _first(call))  # type: ignore[attr-defined]


class _Numbers:
    """What is whole in one function."""

    def __init__(self, matcher: Matcher, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._matcher = matcher
        self._module = module
        self._nodes = [*ast.walk(function)]
        self._read = Counter(n.id for n in self._nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        self._set = Counter(n.id for n in self._nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
        self._not_own = {node.arg for node in self._nodes if isinstance(node, ast.arg)}
        for node in self._nodes:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._not_own.update(node.names)

    def calls_of(self, made: ast.Call) -> Sequence[ast.Call]:
        """The calls of an object that a call makes; nothing where it may be called elsewhere too."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        at_once = [node for node in calls if node.func is made]
        kept = (node.targets for node in self._nodes if isinstance(node, ast.Assign) and node.value is made)
        targets = next(kept, [])
        name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
        if self._set[name] != 1 or name in self._not_own:
            return at_once
        called = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == name]
        return called if self._read[name] == len(called) else ()

    def is_whole(self, node: ast.expr | None) -> bool:
        """Whether an expression surely is a tensor of whole numbers."""
        if isinstance(node, ast.Name):
            return not self._is_changed(node.id) and self.is_whole(self._bound(node))
        if not isinstance(node, ast.Call):
            return False
        catalog, called = self._matcher.catalog, self._name(node.func)
        if called not in catalog.wraps:
            return called in catalog.whole
        kinds = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
        if kinds:
            return all(self._name(kind) in catalog.whole for kind in kinds)
        return all(keyword.arg for keyword in node.keywords) and self._is_number(_first(node))

    def _is_number(self, node: ast.expr | None) -> bool:
        """Whether an expression surely is a whole number, or some: a shape, a length, and what is made of such."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int)
        if isinstance(node, ast.Name):
            value = self._bound(node)
            return not isinstance(value, ast.List) and self._is_number(value)  # others may come into a list
        if isinstance(node, (ast.List, ast.Tuple)):
            return all(map(self._is_number, node.elts))
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self._is_number(node.value)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, _KEEP) and self._is_number(node.left) and self._is_number(node.right)
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"

    def _bound(self, name: ast.Name) -> ast.expr | None:
        """What a name is, or what it is an item of; None where it isn't bound exactly once before, by an assignment."""
        if self._set[name.id] != 1 or name.id in self._not_own:
            return None
        assigned = (node for node in self._nodes if isinstance(node, ast.Assign))
        found = next((node for node in assigned if any(_binds(target, name.id) for target in node.targets)), None)
        return found.value if found is not None and (found.end_lineno or 0) < name.lineno else None

    def _is_changed(self, name: str) -> bool:
        """Whether the numbers of a tensor may become others: `totals[0] = 0.5`, `totals.mul_(0.5)`."""
        changes = (
            node.value
            for node in self._nodes
            if (isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Attribute) and node.attr.endswith("_"))
        )
        return any(dotted(changed) == name for changed in changes)

    def _name(self, node: ast.expr) -> str:
        """What a name of the file stands for, dotted; "" where that isn't known."""
        first, dot, rest = dotted(node).partition(".")
        meant = self._module.facts.names.get(first)
        if not isinstance(meant, Ref) or self._set[first] or first in self._not_own:
            return ""
        found = self._matcher.resolver.name(self._module.path, f"{meant.name}{dot}{rest}")
        return found.name if isinstance(found, Ref) else ""


def _first(call: ast.Call) -> ast.expr | None:
    """The first argument of a call."""
    return next(iter(call.args), None) or next((keyword.value for keyword in call.keywords if keyword.arg), None)


def _binds(target: ast.expr, name: str) -> bool:
    """Whether a target of an assignment is a name, or holds it: `b, c = x.shape`."""
    items = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return any(isinstance(item, ast.Name) and item.id == name for item in items)
