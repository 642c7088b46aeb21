"""How severe a match is: the rule's level under the profile, the target, the version, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.catalog import Rule
from detlint.checks.finding import Severity, at_most, lowered
from detlint.checks.gradients import BEFORE, OPEN, UNUSED, Gradients
from detlint.checks.match import Match, Matcher
from detlint.checks.origins import Origins
from detlint.checks.tests import is_test
from detlint.config import Settings
from detlint.model.module import Module

Judgement = tuple[Severity | None, str]
"""A severity (None: no finding), and why."""
SEEDED: Final = {
    True: ", and every entry point that draws here seeds its streams",
    False: ", and an entry point comes here whose streams are unseeded",
    None: ", and no entry point comes here, so the caller decides",
}


class Levels:
    """Judges matches of one module."""

    def __init__(self, settings: Settings, matcher: Matcher, gradients: Gradients) -> None:
        self.settings = settings
        self.matcher = matcher
        self.gradients = gradients
        self.origins = Origins(matcher, gradients)

    def judged(
        self, match: Match, rule: Rule, module: Module, index: int, seeded: bool | None, trained: bool
    ) -> Iterator[Judgement]:
        """How the severity of a match comes about, step by step.

        Args:
            seeded: whether every entry point that reaches it seeds its streams; None: the caller decides.
            trained: whether a run that trains reaches it.
        """
        entry, site = match.entry, module.sites[index]
        level = entry.level_or(rule.level)
        align = self.settings.profile == "align"
        severity: Severity
        if level == "design":
            severity = "error" if align else "warning" if seeded is False else "note"
            yield severity, "random by design" + ("" if align else SEEDED[seeded])
        elif level == "align":
            yield (severity := "error" if align else "note"), "it matters where runs on two back ends are compared"
        elif level == "compare":
            yield (severity := "warning" if align else "note"), "it matters where runs on two back ends are compared"
        elif level == "warning":
            severity = "error" if align and rule.family >= 4 else "warning"
            yield severity, "the rule's own level"
        else:
            severity = "error" if level == "error" else "note"
            yield severity, "the rule's own level"
        if not match.sure:
            # What is not known is never guessed into an error.
            severity = at_most(severity, "warning")
            yield severity, "a condition could not be decided, so at most a warning"
        if entry.collides and self.origins.never_collide(module, index, match):
            yield None, f"none of the indices in `{entry.collides}` repeats, so nothing is added in another order"
            return
        if "cpu-in-pipelines" in entry.contexts and self.gradients.at(module, site, builds=False) == BEFORE:
            yield None, "only data pipelines run it, on the CPU"
            return
        if entry.pass_ == "backward":
            builds = is_class(match.name)
            taken = self.gradients.at(module, site, builds)
            if taken <= BEFORE:
                yield None, "it is about the backward pass, and no gradients are taken here"
                return
            if not builds and self.gradients.are_replaced(module, site, match.name):
                yield None, "it is about the backward pass, and the operator around it has one of its own, or none"
                return
            if self.matcher.sinks.ends_gradients(module, index):
                yield None, "it is about the backward pass, and no gradient comes back to what it gives"
                return
            if not builds and self.origins.need_no_gradients(module, index, match):
                yield None, "it is about the backward pass, and its tensors need no gradients"
                return
            if taken == OPEN or (taken == UNUSED and not builds and not trained):
                severity = "note"
                yield severity, "only the caller knows whether gradients are taken"
        if is_test(module.path):
            yield lowered(severity), "a test file, so one level milder"

    def never_varies(self, module: Module, index: int, match: Match) -> bool:
        """Whether an operator surely doesn't vary, by what its own tensors are: its indices never meet, or it is about a backward pass
        that it doesn't have."""
        if match.entry.collides and self.origins.never_collide(module, index, match):
            return True
        return match.entry.pass_ == "backward" and (
            self.gradients.are_replaced(module, module.sites[index], match.name)
            or self.origins.need_no_gradients(module, index, match)
        )


def is_class(name: str) -> bool:
    """Whether what an entry names builds an object, by the capital of its name."""
    return name.rpartition(".")[2][:1].isupper()
