"""What is asked on the way to a site about the hardware of a run: `if self.device_target == "GPU":`. An operator behind such a test
isn't reached on the hardware for which its entry holds."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from functools import partial
from typing import Final

from detlint.checks.guards import Guarded, on_the_way
from detlint.checks.levels import is_class
from detlint.checks.match import Match, Matcher
from detlint.checks.parts import calls_of_parts
from detlint.checks.scope import target_of
from detlint.facts.loops import dotted
from detlint.facts.model import Const
from detlint.facts.nodes import walk
from detlint.facts.parse import expression_of
from detlint.program.resolve import Module
from detlint.program.truth import truth
from detlint.program.users import Use, Users

_SPELL: Final = ("lower", "upper", "capitalize")
"""Methods that write a word in other letters."""


class DeviceTests:
    """Knows which sites only other hardware comes to."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._resolver = matcher.resolver
        self._users = users
        self._names = frozenset(matcher.catalog.devices.values())
        """What the libraries call the hardware that a run chooses; who hands it on calls it so, too."""

    def excluded(self, module: Module, index: int, match: Match) -> str:
        """The test that keeps all runs on the hardware that a match is about from it, or from the part of a layer that it makes; ""
        where none surely does."""
        targets = tuple(match.entry.targets)
        if not targets:
            return ""
        if test := self.keeps_from(module, index, targets):
            return test
        made = module.function_of(module.sites[index]).name.endswith(".__init__") and is_class(match.name)
        calls = calls_of_parts(self._resolver, self._users, [Use(module, index, True)]) if made else None
        tests = [self.keeps_from(use.module, use.site, targets) for use in calls or ()]
        return tests[0] if tests and all(tests) else ""

    def keeps_from(self, module: Module, index: int, targets: Sequence[str]) -> str:
        """The test that keeps all runs on some hardware from a site, in the function around it; "" where none surely does."""
        text = self._users.texts.of(module.path)
        if text is None or not any(name.encode() in text for name in self._names):
            return ""
        found = on_the_way(self._users.texts, module, index)
        if found is None:
            return ""
        for guard in found.guards:
            test = self._plain(guard.test)
            compared = {
                part for node in walk(test) if isinstance(node, ast.Compare) for part in ast.iter_child_nodes(node)
            }
            leaf = partial(self._said, found, compared)
            if all(truth(test, partial(leaf, target)) is (not guard.wanted) for target in targets):
                return ast.unparse(guard.test)
        return ""

    def _said(self, found: Guarded, compared: Set[ast.AST], target: str, node: ast.expr) -> Const | None:
        """What an expression is on some hardware, if it tells of that and is compared: whether hardware was chosen says nothing."""
        return Const(target) if node in compared and self._tells(found, node) else None

    def _plain(self, test: ast.expr) -> ast.expr:
        """A test in which each word for hardware is the target that it means, and all else that is written out is unknown."""
        copied = expression_of(ast.unparse(test))
        for node in walk(copied):
            if isinstance(node, ast.Constant) and not self._is_name(node):
                node.value = target_of(node.value) or ...
        return copied

    def _tells(self, found: Guarded, node: ast.expr) -> bool:
        """Whether an expression is the hardware that the run has chosen: `args.device_target`, what something gives that is told the
        name (`get_context("device_target")`), or a name for that."""
        if dotted(node).rpartition(".")[2] in self._names:
            return True
        if isinstance(node, ast.Subscript):
            return self._is_name(node.slice)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _SPELL:
                return self._tells(found, node.func.value)
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return bool(given) and self._is_name(given[-1])
        if not isinstance(node, ast.Name):
            return False
        values = [one.value for one in walk(found.function) if isinstance(one, ast.Assign) and _is_bound(one, node.id)]
        bound = sum(
            isinstance(one, ast.Name) and one.id == node.id and not isinstance(one.ctx, ast.Load)
            for one in walk(found.function)
        )
        return len(values) == bound == 1 and not isinstance(values[0], ast.Name) and self._tells(found, values[0])

    def _is_name(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) and node.value in self._names


def _is_bound(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
