"""What is asked on the way to a site about the hardware of a run: `if self.device_target == "GPU":`. An operator behind such a test
isn't reached on the hardware for which its entry holds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from detlint.checks.backward import is_class
from detlint.checks.match import Match, Matcher
from detlint.checks.parts import calls_of_parts
from detlint.checks.scope import target_of
from detlint.domains.constant import Evaluator
from detlint.facts.model import Const
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.written import written
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.uses import Use, Users

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
        code = self._resolver.code(module.path)
        if code is None or self._names.isdisjoint(code.identifiers | code.texts):
            return ""
        point = point_of(self._resolver, module, module.sites[index])
        for test in point.tests() if point is not None else ():
            known = (Evaluator(partial(self._said, target), _hardware) for target in targets)
            if all(truth.of(test.function, test.value) is (not test.wanted) for truth in known):
                return written(test.function, test.value)
        return ""

    def _said(self, target: str, function: Function, at: int) -> Const | None:
        """What an expression is on some hardware, if it tells of that and is compared: whether hardware was chosen says nothing."""
        compared = any(function.ops[use.op][0] == op.COMPARE for use in function.users[at])
        return Const(target) if compared and self._tells(function, at) else None

    def _tells(self, function: Function, at: int) -> bool:
        """Whether an expression is the hardware that the run has chosen: `args.device_target`, what something gives that is told the
        name (`get_context("device_target")`), or a name for that."""
        operation = function.ops[at]
        if function.dotted(at).rpartition(".")[2] in self._names:
            return True
        if operation[0] == op.ITEM:
            return function.constant(operation[2]) in self._names
        if operation[0] == op.CALL:
            if function.called(at) in _SPELL and function.called_on(at) >= 0:
                return self._tells(function, function.called_on(at))
            given = function.call(at).values()
            return bool(given) and function.constant(given[-1]) in self._names
        meant = function.meant(at)
        return meant != at and self._tells(function, meant)


def _hardware(function: Function, at: int) -> Const | None:
    """The target that a word for hardware means; None for all else that is written out."""
    target = target_of(function.constant(at))
    return Const(target) if target else None
