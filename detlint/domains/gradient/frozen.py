"""Layers that only networks have whose weights are frozen: `for p in net.parameters(): p.requires_grad = False`.

No gradient of their weights is ever taken, though one may go through them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detlint.db import Memo
from detlint.domains.gradient.applied import Applied
from detlint.domains.gradient.configured import Configured
from detlint.domains.gradient.freezing import Freezing, Held
from detlint.domains.gradient.gradients import BEGINNING, Gradients
from detlint.domains.reached.unreferenced import puts_names_together
from detlint.ir.yaml_text import is_yaml
from detlint.model.classes import may_derive
from detlint.model.module import Module
from detlint.model.places import call_at, point_of
from detlint.model.references import READERS, only_hints
from detlint.model.sites.records import Result, Site, is_made_by
from detlint.model.training import ASKS, FREEZES, NEEDS, REQUIRES
from detlint.model.uses import Use, Users


class Frozen:
    """Finds layers whose weights are never trained.

    Args:
        in_library: whether others may use what is in a file.
        dead: whether nothing runs a function or class of a file.
        trains: whether something may train in a definition of a file's top level, "" for what stands in none.
    """

    def __init__(
        self,
        gradients: Gradients,
        users: Users,
        in_library: Callable[[Module], bool],
        dead: Callable[[Module, str], bool],
        trains: Callable[[str, str], bool],
    ) -> None:
        self._gradients = gradients
        self._resolver = users.resolver
        self._users = users
        self._in_library = in_library
        self._dead = dead
        self._freezing = Freezing(users, trains)
        self._applied = Applied(users, trains)
        self._configured = Configured(users, self._freezing.freezes)
        self._decided: Memo[bool] = Memo(users.db)
        self._said: Memo[bool] = Memo(users.db)

    def holds(self, module: Module, index: int) -> bool:
        """Whether the layer that a site makes is only part of networks whose weights are frozen."""
        return self._said.of(module.path, lambda: self._only_freeze(module), False) and self._is_part(module, index)

    def _is_part(self, module: Module, index: int, part: str = "") -> bool:
        """Whether what a site makes is frozen there, or only part of what is; or an attribute of it."""
        site = module.sites[index]
        function = module.function_of(site)
        if self._is_frozen_there(module, site, part):
            return True
        if function.owner and part:
            return False
        if function.owner:
            layer = self._resolver.kinds.layer(f"{module.path}::{function.owner}")
            method = function.name.rpartition(".")[2]
            # Whoever calls its other methods may make a network of its own by them.
            inside = method in BEGINNING or (method.startswith("_") and not method.startswith("__"))
            if layer is None or not inside:
                return False
            part = self._kept_as(module, site) if method == "__init__" else ""
            return self._are_all(module, function.owner) or (part != "" and self._are_all(module, function.owner, part))
        if not function.name or not is_made_by(function.returns, index):
            of_whole = self._given_back_in(module, site) if function.name and not part else ""
            return of_whole != "" and self._are_all(module, function.name, of_whole)
        return self._are_all(module, function.name, part)

    def _given_back_in(self, module: Module, site: Site) -> str:
        """The attribute that what a site makes is of what its function makes of it, and gives back prepared; "" for none."""
        meaning, point = self._users.meanings.of(module), point_of(self._resolver, module, site)
        return self._freezing.given_back(meaning, point) if meaning is not None and point is not None else ""

    def _held(self, module: Module, site: Site) -> Held | None:
        """The one name that what a site makes gets; None for none."""
        call = call_at(self._resolver, self._users.meanings, module, site)
        return self._freezing.held(*call) if call is not None else None

    def _kept_as(self, module: Module, site: Site) -> str:
        """The one attribute of its object under which a constructor keeps what a site makes, if its class sets that nowhere else, and
        hands on no weights, which may be trained whatever becomes of them later; "" for none."""
        held = self._held(module, site)
        owner = held.function.parent if held is not None and held.part else None
        return held.part if held is not None and owner and self._freezing.is_kept_alone(owner, held.part) else ""

    def _are_all(self, module: Module, name: str, part: str = "") -> bool:
        """Whether all that a class or a function of a file makes is part of what is frozen.

        Args:
            part: an attribute of the objects of that class: whether this is frozen where they are made.
        """

        def find() -> bool:
            if not name.isidentifier() or self._may_be_used_otherwise(module, name):
                return False
            found = self._gradients.uses(module, name) or ()
            others = (use for use in found if not (self._is_of_made(use) or self._only_tells(use, name)))
            uses = [use for use in others if not (use.around and self._dead(use.module, use.around))]
            frozen = [self._makes_part(use, part) for use in uses]
            return any(frozen) and all(
                is_it or self._only_applies(use) for is_it, use in zip(frozen, uses, strict=True)
            )

        return self._decided.of((module.path, name, part), find, False)

    def _makes_part(self, use: Use, part: str = "") -> bool:
        """Whether a use of a definition is a call, and what that makes only part of what is frozen, or an attribute of it frozen there."""
        is_call = use.called and use.site >= 0 and use.module.sites[use.site].kind == "call"
        if is_yaml(use.module.path):
            return is_call and not part and self._configured.holds(use.module, use.site)
        return is_call and self._is_part(use.module, use.site, part)

    def _only_applies(self, use: Use) -> bool:
        """Whether a use of a definition is a call, and what that makes only applied there."""
        is_call = use.called and use.site >= 0 and use.module.sites[use.site].kind == "call"
        return is_call and not is_yaml(use.module.path) and self._applied.holds(use)

    def _is_of_made(self, use: Use) -> bool:
        """Whether a use calls what was made, rather than to make one: `self.features(x)`."""
        if not use.called or use.site < 0:
            return False
        site = use.module.sites[use.site]
        target = self._resolver.normal(use.module.path, site.target, use.module.function_of(site))
        return isinstance(target, Result)

    def _only_tells(self, use: Use, name: str) -> bool:
        """Whether another file only says the name of a definition to say of which class something is, and nobody reads that."""
        code = self._resolver.code(use.module.path) if use.site < 0 else None
        told = code is not None and only_hints(code, name)
        return told and not self._users.index.saying_any(READERS, self._users.home(use.module))

    def _may_be_used_otherwise(self, module: Module, name: str) -> bool:
        """Whether something may be used by who doesn't say its name: in what is installed, by names put together, or by what
        derives from it."""
        if name in module.classes:
            decorated = bool(module.classes[name].decorators)
        else:
            decorated = name not in module.functions or bool(module.detail(module.functions[name]).decorators)
        if decorated or self._in_library(module) or puts_names_together(self._users, module):
            return True
        saying = self._users.saying(module, name) if name.isascii() else None
        own = f"{module.path}::{name}"
        return saying is None or any(may_derive(self._resolver, path, own) for path in saying)

    def _is_frozen_there(self, module: Module, site: Site, part: str = "") -> bool:
        """Whether what a site makes, or an attribute of it, gets a name, and is frozen behind it, before anything but its mode and its
        weights is set."""
        held = self._held(module, site)
        ends = f".{part}" if part else ""
        return held is not None and self._freezing.freezes(held._replace(name=held.name + ends))

    def _only_freeze(self, module: Module) -> bool:
        """Whether files of the project freeze something, and none, but in what nothing runs, asks for gradients of what needs none."""
        training, found = self._gradients.training, set[str]()
        for home in self._asking(module):
            for name, signs in training.signs(home).items():
                if not signs.isdisjoint((ASKS, NEEDS)) and not (name and self._dead(home, name)):
                    return False
                found |= signs
        return FREEZES in found

    def _asking(self, module: Module) -> Iterator[Module]:
        """The files of the project of a file, those that it imports, and those that import it, which say whether something needs
        gradients."""
        find, project = self._resolver.modules.find, self._users.project(module)
        found = (find(module.path, name) for name in module.facts.imports)
        others = [*self._users.importers(module.path), *(place[0] for place in found if place is not None)]
        for path in dict.fromkeys([*self._users.index.saying_any(sorted(REQUIRES), project), *others]):
            code = self._resolver.code(path)
            home = (
                self._resolver.module(path) if code is not None and not code.identifiers.isdisjoint(REQUIRES) else None
            )
            if home is not None:
                yield home
