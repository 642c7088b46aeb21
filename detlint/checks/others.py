"""Calls of a method on objects of which the program doesn't say the class: whoever is handed one may call it, in any file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

from detlint.facts.model import Instance, Member, Ref, Result, Span, Value
from detlint.facts.parse import tree
from detlint.program.resolve import Module
from detlint.program.users import Use, Users

_Place = tuple[int, int, int | None, int | None]
SUPER: Final = "<super>"
"""How a class asks for what its bases have."""


def perhaps_called(users: Users, module: Module, name: str, *, with_heirs: bool) -> list[Use] | None:
    """The calls that may be of a method, and of which it isn't known; None where something calls one of its name and no site tells
    with what.

    Args:
        name: that of the method inside its module, dotted.
        with_heirs: whether another class may derive from its class, and ask for it as its base's.
    """
    called, found = name.rpartition(".")[2], list[Use]()
    known = {(use.module.path, use.site) for use in users.of(module, name) or () if use.called}
    for home in _near(users, module, called):
        if not users.mentions(home.path, f".{called}("):
            continue
        written = _calls_in(users.texts.code(home.path) or b"").get(called, ())
        sites = {_place(site.span): n for n, site in enumerate(home.sites) if site.kind == "call"}
        if any(place not in sites for place in written):
            return None
        others = (number for number in map(sites.__getitem__, written) if (home.path, number) not in known)
        found += (Use(home, n, True) for n in others if _may_be(users, module, name, home, n, with_heirs))
    return found


def _near(users: Users, module: Module, word: str) -> Iterator[Module]:
    """A file, those of its importers, and those of its project, that say a word."""
    users.asked.add(word)
    importing = (path for path in users.importers(module.path) if users.mentions(path, word))
    paths = dict.fromkeys(chain((module.path,), importing, users.texts.saying(word, users.home(module))))
    for home in filter(None, map(users.resolver.module, paths)):
        users.resolver.opened.add(home.path)
        if users.texts.code(home.path) is not None:
            yield home


def _may_be(users: Users, module: Module, name: str, home: Module, index: int, with_heirs: bool) -> bool:
    """Whether a call may be of a method: nothing says for sure that its object is of a class of which it can't be one."""
    resolver, site = users.resolver, home.sites[index]
    base = site.target.base if isinstance(site.target, Member) else None
    if isinstance(base, Member) and base.attr == SUPER and not with_heirs:
        return False
    if not (isinstance(site.target, Ref) or _is_sure(base)):
        return True
    meant = resolver.normal(home.path, site.target, home.function_of(site))
    if not isinstance(meant, Ref):
        made = resolver.type_of(base) if isinstance(base, Result) else ""
        return made == "" or "::" in made
    owner = f"{module.path}::{name.rpartition('.')[0]}"
    return "::" in meant.name and meant.name.rpartition(".")[0] in resolver.mro(owner)


def _is_sure(base: Value | None) -> bool:
    """Whether an object is surely of its class: it was just made, or is the one whose method runs, or what its bases have of it."""
    if isinstance(base, Member):
        return base.attr == SUPER
    return isinstance(base, Result) or (isinstance(base, Instance) and not base.name)


def _place(span: Span) -> _Place:
    return span.line, span.column, span.end_line, span.end_column


@lru_cache(maxsize=64)
def _calls_in(text: bytes) -> dict[str, list[_Place]]:
    """Where a file calls methods, by their names. Of one that can't be read nothing runs."""
    found = dict[str, list[_Place]]()
    for node in ast.walk(tree(text) or ast.Module([], [])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.setdefault(node.func.attr, []).append(
                (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            )
    return found
