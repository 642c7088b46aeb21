"""Calls that surely raise TypeError, since their arguments don't fit what they call: what comes behind them never runs.

Only what can't be otherwise is said: the one definition that is called is known, nothing stands between it and its callers, and the
call spells its arguments out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, Protocol

from detlint.db import Memo
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Function, Member, Parameter, Ref, Result, Site, Value

BOUND: Final = (Ref("builtins.classmethod"), Ref("builtins.staticmethod"))
MAKERS: Final = ("__new__", "__init_subclass__", "__class_getitem__")
INSTEAD: Final = frozenset({"__call__", "register_forward_pre_hook", "setattr"})
"""By what names a file may hand a forward pass something else than the call says, beside giving the layer another one."""


class Targets(Protocol):
    """What sites call."""

    def target(self, module: Module, index: int) -> Value | None:
        """In normal form."""


class Raises:
    """Says which calls can't be made.

    Args:
        resolver: knows what names stand for.
        knowledge: knows what sites call.
    """

    def __init__(self, resolver: Resolver, knowledge: Targets) -> None:
        self.resolver = resolver
        self._knowledge = knowledge
        self._known: Memo[str] = Memo(resolver.db)

    def at(self, module: Module, index: int) -> str:
        """What is wrong with the arguments of a call; "" where nothing surely is."""
        return self._known.of((module.number, index), partial(self._wrong, module, index), "")

    def _wrong(self, module: Module, index: int) -> str:
        site = module.sites[index]
        if site.kind != "call" or module.facts.cells or any(a.name in ("*", "**") for a in site.args):
            return ""
        called = self._called(module, site, self._knowledge.target(module, index))
        return _misfit([argument.name for argument in site.args], *called) if called is not None else ""

    def handed_on(self, module: Module, layer: str, count: int) -> str:
        """What is wrong with so many arguments, by position, for the forward pass of a layer; "" where nothing surely is."""
        called = self._forward(module, layer)
        return _misfit([""] * count, *called) if called is not None else ""

    def _called(self, module: Module, site: Site, target: Value | None) -> tuple[Sequence[Parameter], bool] | None:
        """The parameters of the one function that a site surely calls, and whether the first is its object."""
        raw = site.target
        if isinstance(target, Result) and isinstance(target.of, Ref) and isinstance(raw, (Ref, Result)):
            return self._forward(module, target.of.name)
        home, name = (self.resolver.definition(target.name) if isinstance(target, Ref) else None) or (None, "")
        if (
            home is None
            or not isinstance(target, Ref)
            or home.facts.cells
            or self._may_be_another(module, home)
            or not self._stays(home, name.partition(".")[0])
        ):
            return None
        if name in home.classes:
            plain = isinstance(raw, Ref) and self._is_plain(target.name)
            made = self._parameters(target.name, "__init__") if plain else None
            return (made, True) if made is not None else None
        function = _only(home, name)
        if function is None or "<" in name:
            return None
        detail = home.detail(function)
        if not function.owner:
            return (detail.parameters, False) if not detail.decorators and isinstance(raw, Ref) else None
        if not self._is_own(module, site, raw) or any(d not in BOUND for d in detail.decorators):
            return None
        return detail.parameters, BOUND[1] not in detail.decorators

    def _forward(self, module: Module, made: str) -> tuple[Sequence[Parameter], bool] | None:
        """The parameters of the forward pass that calling a layer of a class runs, where nothing may stand in its place."""
        layer = self.resolver.kinds.layer(made) if "::" in made else None
        if layer is None or not layer.passes_on or not self._is_plain(made):
            return None
        for owner in self.resolver.classes.mro(made):
            path, colon, _ = owner.partition("::")
            if not colon and owner not in (layer.module, "builtins.object"):
                return None
            if colon:
                home = self.resolver.known(path)
                if home.facts.cells or self._may_be_another(module, home):
                    return None
                if any(self._may_stand_in(file, layer.forward) for file in (path, module.path)):
                    return None
        parameters = self._parameters(made, layer.forward)
        return (parameters, True) if parameters is not None else None

    def _may_stand_in(self, path: str, forward: str) -> bool:
        """Whether a file may give a layer another forward pass, or this something else than a call says."""
        # Which attributes it sets at all is said outside of its functions.
        code = self.resolver.by_words(path, *INSTEAD)
        return code is None or not INSTEAD.isdisjoint(code.identifiers) or any(True for _ in code.setters(forward))

    def _may_be_another(self, module: Module, home: Module) -> bool:
        """Whether a file calls a library that it isn't part of: its release may be another than the one at hand."""
        library = home.facts.module.partition(".")[0]
        return library in self.resolver.catalog.libraries and module.facts.module.partition(".")[0] != library

    def _is_own(self, module: Module, site: Site, raw: Value) -> bool:
        """Whether a method is called of an object of the very class that a call has made."""
        base = (
            self.resolver.normal(module.path, raw.base, module.function_of(site)) if isinstance(raw, Member) else None
        )
        made = base.of if isinstance(base, Result) else None
        return (
            isinstance(made, Ref)
            and "::" in made.name
            and self.resolver.classes.is_class(made.name)
            and self._is_plain(made.name)
        )

    def _parameters(self, name: str, method: str) -> Sequence[Parameter] | None:
        """The parameters of a method of a class, its constructor maybe."""
        found = self.resolver.classes.attribute(name, method)
        home, inside = (self.resolver.definition(found.name) if isinstance(found, Ref) else None) or (None, "")
        function = _only(home, inside) if home is not None else None
        detail = home.detail(function) if home is not None and function is not None else None
        return detail.parameters if detail is not None and not detail.decorators else None

    def _stays(self, home: Module, name: str) -> bool:
        """Whether a name of a file's top level is what its definition says, to the end."""
        return home.facts.names.get(name) == Ref(home.prefix + name)

    def _is_plain(self, name: str) -> bool:
        """Whether all that a class is made of is known, and nothing makes its objects in another way."""
        for owner in self.resolver.classes.mro(name):
            path, colon, inside = owner.partition("::")
            if not colon:
                if owner.partition(".")[0] not in self.resolver.catalog.roots and owner != "builtins.object":
                    return False
                continue
            module = self.resolver.known(path)
            body = module.classes.get(inside)
            if body is None or body.decorators or len(body.bases) != len(self.resolver.classes.bases(owner)):
                return False
            if any(maker in body.methods for maker in MAKERS):
                return False
        return True


def _only(module: Module, name: str) -> Function | None:
    """The function of a name, if the file defines no other."""
    found = [function for function in module.facts.functions if function.name == name]
    return found[0] if len(found) == 1 else None


def _misfit(names: Sequence[str], parameters: Sequence[Parameter], own: bool) -> str:
    """What is wrong with the arguments that a call hands to some parameters.

    Args:
        names: those of the arguments; "" for one by position.
        own: whether the first parameter is the object itself.
    """
    return next(_misfits(names, parameters[1:] if own and not (parameters and parameters[0].kind) else parameters), "")


def _misfits(arguments: Sequence[str], parameters: Sequence[Parameter]) -> Iterator[str]:
    kinds = {parameter.kind for parameter in parameters}
    names = [parameter.name for parameter in parameters if not parameter.kind]
    given = [name for name in arguments if name]
    count = len(arguments) - len(given)
    first = next((i for i, parameter in enumerate(parameters) if parameter.kind), len(names))
    if count > first and "*" not in kinds:
        yield f"takes {first} arguments, and is given {count}"
    if "**" not in kinds:
        yield from (f"has no parameter `{name}`" for name in given if name not in names)
    filled = {*names[: min(count, first)]}
    yield from (f"is given `{name}` twice" for name in given if name in filled)
    for parameter in parameters:
        if parameter.needed and parameter.name not in filled and parameter.name not in given:
            yield f"needs `{parameter.name}`"
