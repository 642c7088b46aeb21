"""What is asked on the way to a site about the hardware of a run: `if self.device_target == "GPU":`. An operator behind such a test
isn't reached on the hardware for which its entry holds."""

from __future__ import annotations

from detlint.domains.device.hardware import HardwareTests
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.model.module import Module
from detlint.model.parts import calls_of_parts
from detlint.model.uses import Use, Users


class DeviceTests:
    """Knows which sites only other hardware comes to."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._resolver = matcher.resolver
        self._users = users
        self._tests = HardwareTests(matcher.resolver)
        self.keeps_from = self._tests.keeps_from

    def excluded(self, module: Module, index: int, match: Match) -> str:
        """The test that keeps all runs on the hardware that a match is about from it, or from the part of a layer that it makes; ""
        where none surely does."""
        targets = tuple(match.entry.targets)
        if not targets:
            return ""
        if test := self._tests.keeps_from(module, index, targets):
            return test
        made = module.function_of(module.sites[index]).name.endswith(".__init__") and match.builds
        calls = calls_of_parts(self._resolver, self._users, [Use(module, index, True)]) if made else None
        tests = [self._tests.keeps_from(use.module, use.site, targets) for use in calls or ()]
        return tests[0] if tests and all(tests) else ""
