"""First weights that count for nothing: whoever builds their layer puts stored ones in their place at once."""

from __future__ import annotations

from itertools import chain

from detlint.domains.gradient.gradients import BEGINNING
from detlint.domains.matching.match import Matcher
from detlint.effects.state import LOADS_WEIGHTS
from detlint.model.module import Module
from detlint.model.sites.records import Function, Member, is_made_by, surely
from detlint.model.tests import telling
from detlint.model.uses import Use, Users

_Known = dict[tuple[str, str], bool]
"""What is known of functions, by path and name; of one that is being asked, that it does."""


class Loaded:
    """Decides whether draws make weights that are overwritten.

    Args:
        users: finds who builds a layer.
    """

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher = matcher
        self._users = users

    def overwritten(self, module: Module, index: int, runs_load: bool) -> bool:
        """Whether what a site draws goes into weights of a layer, which all who build it then load.

        Args:
            runs_load: whether every run that comes there loads weights, and trains none.
        """
        site, sinks = module.sites[index], self._matcher.sinks
        if sinks.is_dropped(module, index):
            return False
        function = module.function_of(site)
        overwritten = self._while_built(module, function, {}) or (
            runs_load and self._while_built(module, function, {}, loaded=True)
        )
        if not overwritten or not sinks.is_kept_alone(module, index):
            return overwritten
        return sinks.becomes_weights(module, index)  # else it may be no weight

    def _while_built(self, module: Module, function: Function, known: _Known, *, loaded: bool = False) -> bool:
        """Whether a function runs only while layers are built whose weights are loaded then, as is known if `loaded`."""
        if self._matcher.resolver.kinds.layer(f"{module.path}::{function.owner}") is None:
            return False
        if function.name.rpartition(".")[2] in BEGINNING:
            return loaded or self._all_load(module, function.owner, known)
        key = (module.path, function.name)
        if key not in known:
            known[key] = True
            uses = self._users.within(module, function.name)
            callers = [module.function_of(module.sites[use.site]) for use in uses if use.called]
            known[key] = bool(callers) and all(
                self._while_built(module, caller, known, loaded=loaded) for caller in callers
            )
        return known[key]

    def _all_load(self, module: Module, name: str, known: _Known) -> bool:
        """Whether all who call a definition load weights into the layer that it gives."""
        key = (module.path, name)
        if key not in known:
            known[key] = True
            uses = telling(self._users.each(module, name), module)
            first = next(uses, None)
            known[key] = first is not None and all(self._loads(use, known) for use in chain((first,), uses))
        return known[key]

    def _loads(self, use: Use, known: _Known) -> bool:
        """Whether weights are loaded into what a call gives: there, where its layer is built, or where it is given back to."""
        module, index, called = use
        if not called or index < 0:
            return False
        function = module.function_of(module.sites[index])
        for other in surely(module.body.steps[function.number]):
            site = module.sites[other]
            owner = site.target.base if isinstance(site.target, Member) else None
            if any(is_made_by(value, index) for value in (owner, *(arg.value for arg in site.args))):
                found = self._matcher.matches(module, other)
                if any(LOADS_WEIGHTS in match.entry.contexts for match in found):
                    return True
        if self._while_built(module, function, known):
            return True
        given_back = not function.owner and is_made_by(function.returns, index)
        return given_back and self._all_load(module, function.name, known)
