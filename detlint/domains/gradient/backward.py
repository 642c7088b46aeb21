"""Whether an operator of which the catalog knows that it varies surely doesn't where it stands, by its own tensors and their gradients."""

from __future__ import annotations

from detlint.config import Settings
from detlint.domains.gradient.gradients import BEFORE, OPEN, UNUSED, Gradients
from detlint.domains.gradient.origins import Origins
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.model.module import Module


class Backward:
    """Asks for gradients at matches."""

    def __init__(self, settings: Settings, matcher: Matcher, gradients: Gradients) -> None:
        self.settings = settings
        self.matcher = matcher
        self.gradients = gradients
        self.origins = Origins(matcher, gradients)

    def why(self, match: Match, module: Module, index: int) -> str:
        """Why a match is no finding by that; "" where it may be one."""
        entry, site = match.entry, module.sites[index]
        if entry.collides and self.origins.never_collide(module, index, match):
            return f"none of the indices in `{entry.collides}` repeats, so nothing is added in another order"
        if "cpu-in-pipelines" in entry.contexts and self.gradients.at(module, site, builds=False) == BEFORE:
            return "only data pipelines run it, on the CPU"
        if entry.pass_ != "backward":
            return ""
        builds = match.builds
        if self.gradients.at(module, site, builds) <= BEFORE:
            return "it is about the backward pass, and no gradients are taken here"
        if not builds and self.gradients.are_replaced(module, site, match.name):
            return "it is about the backward pass, and the operator around it has one of its own, or none"
        if self.matcher.sinks.ends_gradients(module, index):
            return "it is about the backward pass, and no gradient comes back to what it gives"
        if not builds and self.origins.need_no_gradients(module, index, match):
            return "it is about the backward pass, and its tensors need no gradients"
        return ""

    def is_open(self, match: Match, module: Module, index: int, trained: bool) -> bool:
        """Whether only the caller knows if gradients are taken.

        Args:
            trained: whether a run that trains comes there.
        """
        if match.entry.pass_ != "backward":
            return False
        builds = match.builds
        taken = self.gradients.at(module, module.sites[index], builds)
        return taken == OPEN or (taken == UNUSED and not builds and not trained)

    def never_varies(self, module: Module, index: int, match: Match) -> bool:
        """Whether an operator surely doesn't vary, by what its own tensors are: its indices never meet, or it is about a backward pass
        that it doesn't have."""
        if match.entry.collides and self.origins.never_collide(module, index, match):
            return True
        return match.entry.pass_ == "backward" and (
            self.gradients.are_replaced(module, module.sites[index], match.name)
            or self.origins.need_no_gradients(module, index, match)
        )
