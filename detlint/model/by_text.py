"""How files come to others, and to what these have, without their names: by texts, by tables, by whole modules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.model.dynamic import EVALUATING, WORDS, Dynamic
from detlint.model.module import Module
from detlint.model.sites.records import Ref
from detlint.model.uses import Users


class ByText:
    """Asks the files near a module."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._resolver = users.resolver
        self._index = users.index
        self._evaluated: Memo[bool] = Memo(users.db)
        self._together: Memo[bool] = Memo(users.db)

    def carriers(self, module: Module) -> list[str]:
        """The files that have all names of a module: itself, and those that import them with `*`."""
        found = [module.path]
        for carrier in found:
            for path in self._users.importers(carrier):
                if path not in found and any(target == carrier for _, target in self._resolver.stars.of(path)):
                    found.append(path)
        self._resolver.opened.update(found)
        return found

    def is_evaluated(self, module: Module) -> bool:
        return self._evaluated.of(module.path, lambda: self.may_be_evaluated(module), False)

    def may_be_evaluated(self, module: Module) -> bool:
        """Whether a text that is no more than a name may become a definition of a module: somebody looks for files, hands a module
        on to whoever may ask for it, or evaluates what is put together."""
        home = self._users.home(module)
        if any(self._hands_over(path, carrier) for carrier in self.carriers(module) for path in self._holders(carrier)):
            return True
        if any(self.finding(home)):
            return True
        for path in self._index.saying_any(sorted(EVALUATING), home):
            if (dynamic := self._users.dynamic(path)) is not None and dynamic.evaluates:
                return True
        return False

    def _hands_over(self, path: str, carrier: str) -> bool:
        """Whether a file does more with another one that it imports as a module than to take what that has by its names."""
        meaning = self._users.meanings.at(path)
        own = Ref(f"{carrier}::")
        return meaning is None or any(
            meaning.value(function, at) == own and any(function.ops[use.op][0] != op.ATTR for use in function.users[at])
            for function in meaning.code.functions()
            for at, _ in function.each(op.LOAD, op.ATTR)
        )

    def finding(self, home: str) -> Iterator[tuple[str, Dynamic]]:
        """The files below a folder that may come to others without their names."""
        for path in self._index.saying_any(sorted(WORDS), home):
            dynamic = self._users.dynamic(path)
            if dynamic is not None and dynamic.finding:
                yield path, dynamic

    def is_put_together(self, module: Module) -> bool:
        """Whether anything comes to definitions of a module by names that it puts together."""
        return self._together.of(module.path, partial(self._puts_together, module), True)

    def _puts_together(self, module: Module) -> bool:
        carriers = self.carriers(module)
        if any(dynamic is None or dynamic.own for dynamic in map(self._users.dynamic, carriers)):
            return True
        holders = {path for carrier in carriers for path in self._holders(carrier)}
        if any(dynamic is None or dynamic.asking for dynamic in map(self._users.dynamic, sorted(holders))):
            return True
        return any(dynamic.takes_any() for _, dynamic in self.finding(self._users.home(module)))

    def _holders(self, carrier: str) -> list[str]:
        """The files that import another one as a module."""
        holders = [path for path in self._users.importers(carrier) if self._holds(path, carrier)]
        self._resolver.opened.update(holders)
        return holders

    def _holds(self, path: str, carrier: str) -> bool:
        """Whether a file imports another one as a module, and not just some of its names."""
        module = self._resolver.module(path)
        if module is None:
            return True
        modules = self._resolver.modules
        places = (modules.find(path, full) for name in module.facts.imports for full in modules.spelled_out(path, name))
        return any(place == (carrier, "") for place in places)
