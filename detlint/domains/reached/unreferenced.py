"""What nothing in the program ever names again of what is made and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from detlint.domains.matching.arguments import same_numbers
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.code import Function as Body
from detlint.model.classes import deriving
from detlint.model.dynamic import COMING
from detlint.model.module import Module
from detlint.model.readers import Counts, Readers, asks_for_any
from detlint.model.sites.records import (
    Branch,
    Function,
    Instance,
    Member,
    Value,
    is_made_by,
    options,
    plain,
    sites,
)
from detlint.model.uses import Users


def puts_names_together(
    users: Users,
    module: Module,
    *,
    of_itself: bool = True,
    wholes: bool = True,
    dead: Callable[[str, str], bool] | None = None,
) -> bool:
    """Whether a file, or one that imports it, may come to its definitions without their names.

    Args:
        of_itself: whether an object may ask itself for what is meant.
        wholes: whether it counts to do so by whole names of definitions.
        dead: whether nothing comes to a definition of the top level of a file, so that it doesn't count what that does.
    """
    importers = users.importers(module.path)
    names = frozenset(name.rpartition(".")[2] for name in (*module.functions, *module.classes, *module.facts.names))

    def comes(path: str) -> bool:
        if not any(users.index.has_name(path, word) for word in COMING):
            return False
        dynamic = users.dynamic(path)
        if dynamic is None:
            return path.endswith(".py")
        places = dynamic.coming_to(names, of_itself=of_itself, wholes=wholes)
        tops = {place.function.outermost.name for place in places}
        return any(not (dead is not None and top and dead(path, top)) for top in tops)

    return any(map(comes, (module.path, *importers)))


class Unused:
    """Finds what is made for nothing.

    Args:
        users: knows which files say a word.
        attributes: knows what reads the attributes of objects.
        in_library: whether others may use what is in a file.
    """

    def __init__(
        self, matcher: Matcher, users: Users, attributes: Readers, in_library: Callable[[Module], bool]
    ) -> None:
        self._resolver = matcher.resolver
        self._in_library = in_library
        self._users = users
        self._attributes = attributes
        self._same = matcher.resolver.catalog.words_with("returns-self")
        """Methods that give the object that they are called on: `P.ReduceSum().shard(...)`."""

    def is_made_for_nothing(
        self, module: Module, index: int, made: str, generator: bool, counts: Counts | None = None
    ) -> bool:
        """Whether what a site makes is kept as an attribute, of a layer or as a generator, and nothing reads that.

        Args:
            made: the class of what it makes, if a run passes there that trains: its script is written to the end.
            generator: whether it is a generator of random numbers. One under a name of its module does nothing by itself, either;
                nor does a layer under a name of a script.
            counts: says which places count that read it; None for all of them.
        """
        site = module.sites[index]
        function = module.function_of(site)
        if not function.name:
            dead = generator or self._is_of_script(module, made)
            return dead and self._is_said_once(module, self._name_in(module.facts.names, index))
        layer = self._resolver.kinds.layer(f"{module.path}::{function.owner}") if function.owner else None
        if layer is None and not (generator and function.owner):
            return False
        name, inside = self._name_in(module.classes[function.owner].attributes, index), layer is not None
        if not name:
            return False
        if layer is not None:
            forward = module.functions.get(f"{function.owner}.{layer.forward}")
            in_sight = counts is not None and self._attributes.is_read(module, function.owner, name, inside=True)
            in_sight = in_sight or self._uses_parts(module, forward)
            if not in_sight and not self._is_for_heirs(module, function.owner, layer.forward):
                return False  # what it does stands elsewhere
        return not self._attributes.is_read(module, function.owner, name, inside=inside, counts=counts)

    def _is_for_heirs(self, module: Module, owner: str, forward: str) -> bool:
        """Whether a layer has no forward pass but those that derived ones have, which name the parts that they use.

        Args:
            forward: what the framework calls a forward pass.
        """
        family = self._resolver.classes.family(f"{module.path}::{owner}")
        passes = any(f"{name}.{forward}" in home.functions for home, name in family)
        seen = {f"{module.path}::{owner}"}
        named = not (passes or self._in_library(module)) and self._heirs_name_parts(module, owner, seen)
        return named and len(seen) > 1

    def _heirs_name_parts(self, module: Module, owner: str, seen: set[str]) -> bool:
        """Whether all that derives from a class, directly or not, says by their names which of its own attributes it uses.

        Args:
            seen: the classes whose heirs have been looked for, by normal name.
        """
        saying = self._users.saying(module, owner) if owner.isascii() else None
        if saying is None:
            return False
        for path in dict.fromkeys([module.path, *saying]):
            home, code = self._resolver.module(path), self._resolver.code(path)
            if home is None or code is None:
                return False
            for name in deriving(self._resolver, path, f"{module.path}::{owner}"):
                if any(map(asks_for_any, code.by_name.get(plain(name), ()))):
                    return False
                known = f"{path}::{name}" in seen
                seen.add(f"{path}::{name}")
                if not known and not self._heirs_name_parts(home, name, seen):
                    return False
        return True

    def _is_of_script(self, module: Module, made: str) -> bool:
        """Whether a class of layers is one whose objects a script has for itself, if its top level makes them."""
        own = bool(made) and module.facts.starts in ("main", "script") and self._resolver.kinds.layer(made) is not None
        return own and not self._users.is_imported(module)

    @staticmethod
    def _uses_parts(module: Module, forward: Function | None) -> bool:
        """Whether the forward pass of a layer calls any of its attributes."""
        if forward is None:
            return False
        targets = (module.sites[number].target for number in sites(module.steps(forward)))
        return any(isinstance(t, Member) and isinstance(t.base, Instance) and not t.base.name for t in targets)

    def _name_in(self, names: Mapping[str, Value | None], index: int) -> str:
        """The only one of some names that holds what a site makes, at least on one way."""
        found = [
            name
            for name, value in names.items()
            if any(is_made_by(same_numbers(each, self._same), index) for each in options(value))
        ]
        return found[0] if len(found) == 1 else ""

    def is_unsaid(self, module: Module, index: int, name: str, times: int) -> bool:
        """Whether a name is said so many times, all in the `__main__` block in which a site stands, or at the top level of a script that
        does something for its own sake, or goes through something, and that nothing imports: no import has what that binds."""
        steps = module.steps(module.facts.functions[0])
        blocks = (step for step in steps if isinstance(step, Branch) and step.kind == "main")
        own = any(index in sites(block.arms[0]) for block in blocks)
        # Who writes a notebook may not have come to its use.
        code = self._resolver.code(module.path) if not module.facts.cells else None
        acts = module.facts.starts in ("main", "script") and self._users.starts(module.path)
        acts = acts or (code is not None and _loops(code.module))
        own = own or (acts and not self._users.may_be_imported(module, name))
        return own and self._is_said_once(module, name, times)

    def _is_said_once(self, module: Module, name: str, times: int = 1) -> bool:
        """Whether no other place names something: in its file, or in one that imports that.

        Args:
            times: how often its own places do.
        """
        if not name:
            return False
        if self._users.mentions(module.path, name) != times:
            return False
        return not any(self._users.mentions(path, name) for path in self._users.importers(module.path))


def _loops(top: Body) -> bool:
    """Whether a file's top level goes through something, whatever holds."""
    return any(top.flow.blocks[mark] < 0 for mark, _ in top.each(op.FOR, op.WHILE))
