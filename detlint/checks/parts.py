"""The calls of layers that others keep as parts: who runs a forward pass, and with what."""

from __future__ import annotations

import re
from functools import lru_cache

from detlint.checks.unused import OF_ITSELF
from detlint.facts.model import Instance, Member, Value, is_made_by, options
from detlint.program.resolve import Module, Resolver
from detlint.program.users import Use, Users


def calls_of_parts(resolver: Resolver, users: Users, made: list[Use]) -> list[Use] | None:
    """The calls of the objects that some calls build, each of which becomes one attribute of a layer that runs it by that
    name; None where they may be run otherwise.

    Args:
        made: all that builds objects of the class.
    """
    found: list[Use] = []
    for use in made:
        holder = use.module.function_of(use.module.sites[use.site]).owner
        body = use.module.classes.get(holder)
        if body is None or resolver.layer(f"{use.module.path}::{holder}") is None:
            return None
        kept = [name for name, v in body.attributes.items() if any(is_made_by(o, use.site) for o in options(v))]
        calls = _calls_of(resolver, users, use.module, holder, kept[0]) if len(kept) == 1 else None
        if calls is None:
            return None
        found += calls
    return found or None


def _calls_of(resolver: Resolver, users: Users, module: Module, holder: str, name: str) -> list[Use] | None:
    """The calls of an attribute of a class on itself; None where anything else is done with it, here or in a file that imports
    this one."""
    users.asked.add(name)
    resolver.opened.add(module.path)
    if _asks_for_any(resolver, users, module, holder):
        return None
    others = (path for path in users.importers(module.path) if users.mentions(path, name))
    if any(_uses(users, path, name) for path in others):
        return None
    sites = [n for n, site in enumerate(module.sites) if site.kind == "call" and _is_own(site.target, name)]
    if _uses(users, module.path, name) != len(sites):
        return None
    own = f"{module.path}::{holder}"
    calls = []
    for number in sites:
        caller = module.function_of(module.sites[number]).owner
        if own in resolver.mro(f"{module.path}::{caller}"):
            calls.append(Use(module, number, True))
        elif caller not in module.classes or name not in module.classes[caller].attributes:
            return None
    return calls


def _asks_for_any(resolver: Resolver, users: Users, module: Module, holder: str) -> bool:
    """Whether objects of a class may come to their parts by names that they put together."""
    own = f"{module.path}::{holder}"
    related = {holder, *(name for name in module.classes if own in resolver.mro(f"{module.path}::{name}"))}
    word = OF_ITSELF.encode()
    if any(word in block.text for block in users.texts.blocks(module.path) if block.name in related):
        return True
    bases = (base.partition("::") for base in resolver.mro(own)[1:])
    return any(users.mentions(path, OF_ITSELF) for path, colon, _ in bases if colon)


def _uses(users: Users, path: str, name: str) -> int:
    """How often a file does more with an attribute of that name than to set it, or to read what it has itself."""
    return len(_used(name).findall(users.texts.of(path) or b""))


@lru_cache(maxsize=16)
def _used(name: str) -> re.Pattern[bytes]:
    word = re.escape(name.encode())
    return re.compile(
        rb"\.%s\b(?![ \t]*(?::[^\n=]*)?=(?!=)|[ \t]*\.(?!forward\b|construct\b|call\b))|getattr\([^()]*[\"']%s\b"
        % (word, word)
    )


def _is_own(value: Value | None, name: str) -> bool:
    return isinstance(value, Member) and value.attr == name and isinstance(value.base, Instance) and not value.base.name
