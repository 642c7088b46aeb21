"""The calls of layers that others keep as parts: who runs a forward pass, and with what."""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.accessors import asked, asks_itself
from detlint.model.module import Module
from detlint.model.projects import MANY
from detlint.model.readers import readings
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Instance, Member, Result, Value, is_made_by, options
from detlint.model.uses import Use, Users

_RUNS: Final = frozenset({"call", "construct", "forward"})
"""What a part has that runs it."""


def calls_of_parts(resolver: Resolver, users: Users, made: list[Use], given_out: bool = False) -> list[Use] | None:
    """The calls of the objects that some calls build, each of which becomes one attribute of an object that runs it by that
    name; None where they may be run otherwise.

    Args:
        made: all that builds objects of the class.
        given_out: whether a method may give them to whoever asks, who has them as attributes anyway.
    """
    found: list[Use] = []
    for use in made:
        holder = use.module.function_of(use.module.sites[use.site]).owner
        body = use.module.classes.get(holder)
        if body is None:
            return None
        kept = [name for name, v in body.attributes.items() if any(is_made_by(o, use.site) for o in options(v))]
        calls = _calls_of(resolver, users, use.module, holder, kept[0], given_out) if len(kept) == 1 else None
        if calls is None:
            return None
        found += calls
    return found or None


def _calls_of(
    resolver: Resolver, users: Users, module: Module, holder: str, name: str, given_out: bool
) -> list[Use] | None:
    """The calls of an attribute of a class on itself; None where anything else is done with it, here or in a file that imports
    this one."""
    asking = _asking(resolver, module, holder, name if given_out else "")
    if asking is None:
        return None
    if any(_uses(resolver.code(path), name) for path in users.importers_saying(module, name)):
        return None
    sites = [n for n, site in enumerate(module.sites) if site.kind == "call" and _is_own(site.target, name)]
    giving = [f.name.rpartition(".")[2] for f in module.facts.functions if given_out and _is_own(f.returns, name)]
    if _uses(resolver.code(module.path), name) != len(sites) + len(giving):
        return None
    own = f"{module.path}::{holder}"
    accessors = sorted({*giving, *asking})
    calls = [call for accessor in accessors for call in _calls_of_given(resolver, users, module, accessor)]
    for number in sites:
        caller = module.function_of(module.sites[number]).owner
        if own in resolver.classes.mro(f"{module.path}::{caller}"):
            calls.append(Use(module, number, True))
        elif caller not in module.classes or name not in module.classes[caller].attributes:
            return None
    return calls


def _calls_of_given(resolver: Resolver, users: Users, module: Module, accessor: str) -> list[Use]:
    """The calls of what a method of that name gives, of whichever class, here and in the files that import this one."""
    saying = users.importers_saying(module, accessor)
    return [
        Use(home, number, True)
        for home in (module, *filter(None, map(resolver.module, saying)))
        for number, site in enumerate(home.sites)
        if site.kind == "call"
        and isinstance(site.target, Result)
        and isinstance(site.target.of, Member)
        and site.target.of.attr == accessor
    ]


def _asking(resolver: Resolver, module: Module, holder: str, given_out: str) -> frozenset[str] | None:
    """The methods that may give out a part of an object under a name that they put together; None where objects of its class may
    do more with what they come to by such names.

    Args:
        given_out: the part, if it may be given out; "" if not.
    """
    own = f"{module.path}::{holder}"
    related = {holder, *(name for name in module.classes if own in resolver.classes.mro(f"{module.path}::{name}"))}
    bases = [*resolver.classes.family(own)][1:]
    relatives = [*((module.path, name) for name in related), *((home.path, name) for home, name in bases)]
    codes = [(resolver.code(path), name) for path, name in relatives]
    bodies = [body for code, name in codes if code is not None for body in code.by_name.get(name, ())]
    if not given_out:
        return None if any(map(asks_itself, bodies)) else frozenset()
    found = [*map(asked, bodies)]
    if any(each.any or given_out in each.names for each in found):
        return None
    return frozenset[str]().union(*(each.givers for each in found))


def _uses(code: Code | None, name: str) -> int:
    """How often a file does more with an attribute of that name than to set it, or to read what it has itself; often, where it can't
    be read."""
    if code is None:
        return MANY
    return sum(not _only_asks(function, at) for function, at, _ in readings(code, name))


def _only_asks(function: Function, at: int) -> bool:
    """Whether all that is done with a part is to read what it has itself."""
    taking = [function.ops[use.op] for use in function.users[at]]
    return bool(taking) and all(
        operation[0] == op.ATTR and function.code.strings[operation[2]] not in _RUNS for operation in taking
    )


def _is_own(value: Value | None, name: str) -> bool:
    return isinstance(value, Member) and value.attr == name and isinstance(value.base, Instance) and not value.base.name
