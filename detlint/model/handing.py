"""The calls of a class that is handed to functions which only call it, or hand it on to such: `Stage(Block, 64)`, whose constructor does
`self.make(block, width)`, which does `block(width)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function as Body
from detlint.model.arguments import CallArgument, bind, signature_of
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.resolve import Resolver
from detlint.model.sites.records import SUPER, Function, Instance, Member, Param, Parameter, Ref, Site, Value
from detlint.model.uses import Use

_DEEPEST: Final = 3
"""So many functions may hand it on, one to the next."""
Heirs = Callable[[Module, str], Iterable[tuple[Module, str]]]
"""Gives the classes that derive from one."""


class Handing:
    """Finds such calls."""

    def __init__(self, resolver: Resolver, heirs: Heirs) -> None:
        self._resolver = resolver
        self._heirs = heirs

    def calls(self, use: Use, handed: Ref | Param, depth: int = 0) -> list[Use] | None:
        """The calls of what another call is handed, a definition or a parameter of the function around; None where there may be others."""
        site = use.module.sites[use.site]
        found = self._called(use.module, site) if site.kind == "call" else None
        if found is None or depth > _DEEPEST:
            return None
        home, function, parameters = found
        around = use.module.function_of(site)
        given = [CallArgument(a.name, self._meant(use.module, a.value, around)) for a in site.args]
        bound = bind(given, signature_of(parameters))
        holding = [name for name, argument in bound.items() if _is(argument.value, handed)]
        if len(holding) != 1 or sum(_is(argument.value, handed) for argument in given) != 1:
            return None
        return self._within(home, function, holding[0], depth)

    def _within(self, home: Module, function: Function, name: str, depth: int) -> list[Use] | None:
        """The calls of a parameter, in its function and in those that it is handed on to; None where more may be done with it."""
        own, sites = Param(name), [n for n, site in enumerate(home.sites) if site.function == function.number]
        calls = [n for n in sites if home.sites[n].kind == "call" and _is(home.sites[n].target, own)]
        passing = [n for n in sites if any(_is(argument.value, own) for argument in home.sites[n].args)]
        point = point_of(self._resolver, home, home.sites[sites[0]]) if sites else None
        slots = point.around.slots.get(name, ()) if point is not None else ()
        if point is None or not slots or _uses(point.around, slots[0]) != (len(calls), len(passing)):
            return None
        found = [Use(home, number, True) for number in calls]
        for number in passing:
            more = self.calls(Use(home, number, False), own, depth + 1)
            if more is None:
                return None
            found += more
        return found

    def _meant(self, module: Module, value: Value | None, around: Function) -> Value | None:
        """What a call is handed: a parameter as that, whatever its default, anything else in normal form."""
        return value if isinstance(value, Param) else self._resolver.normal(module.path, value, around)

    def _called(self, module: Module, site: Site) -> tuple[Module, Function, tuple[Parameter, ...]] | None:
        """The one function of the program that a call runs, with the parameters that it takes; None where there may be another."""
        around, target = module.function_of(site), site.target
        own = Instance(f"{module.facts.module}.{around.owner}")
        if target == Member(Member(own, SUPER), "__init__"):
            bases = self._resolver.classes.bases(f"{module.path}::{around.owner}")
            meant: Value | None = Ref(bases[0]) if len(bases) == 1 else None
        elif isinstance(target, Member) and target.base == own:
            if any(f"{heir}.{target.attr}" in other.functions for other, heir in self._heirs(module, around.owner)):
                return None
            meant = Ref(f"{module.path}::{around.owner}.{target.attr}")
        else:
            meant = self._resolver.normal(module.path, target, around)
            if isinstance(meant, Ref) and "." in meant.name.partition("::")[2]:
                return None  # a method that is told whose it is
        if isinstance(meant, Ref) and "::" in meant.name and self._resolver.classes.is_class(meant.name):
            meant = Ref(f"{meant.name}.__init__")
        home, function = self._resolver.function(meant) or (None, None)
        if home is None or function is None or home.detail(function).decorators:
            return None
        return home, function, home.detail(function).parameters[bool(function.owner) :]


def _uses(function: Body, parameter: int) -> tuple[int, int] | None:
    """How often a function calls what it has as a parameter, and hands it on; None where it does more than that, and than to ask for
    an attribute (`block.expansion`)."""
    loads = [at for at, operation in function.each(op.LOAD) if operation[1] == parameter]
    if parameter in function.shared or any(function.parameter(at) != parameter for at in loads):
        return None
    called = passed = 0
    for use in (use for at in loads for use in function.users[at]):
        taking = function.ops[use.op]
        if taking[0] == op.CALL:
            called += use.place == 1
            passed += use.place > 1
        elif taking[0] != op.ATTR or any(
            function.ops[m.op][0] == op.CALL and m.place == 1 for m in function.users[use.op]
        ):
            return None
    return called, passed


def _is(value: Value | None, other: Ref | Param) -> bool:
    """Whether a value is a definition, or a parameter, whatever that is by default."""
    return value == other or (isinstance(value, Param) and isinstance(other, Param) and value.name == other.name)
