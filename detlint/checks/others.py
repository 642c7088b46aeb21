"""Calls of a method on objects of which the program doesn't say the class: whoever is handed one may call it, in any file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

from detlint.facts.loops import dotted
from detlint.facts.model import SUPER, Instance, Member, Ref, Result, Span, Value
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.facts.reading.values import tail_of
from detlint.program.answers import Answers
from detlint.program.resolve import Module
from detlint.program.texts import Texts
from detlint.program.users import Use, Users


class Perhaps(NamedTuple):
    """Calls that may be of a method."""

    uses: list[Use]
    unseen: list[ast.Call]
    """Those that no site tells of."""


class _Said(NamedTuple):
    """What a file says that calls a method of a name: sites, and calls that no site tells of."""

    sites: list[int]
    unseen: list[ast.Call]


_Place = tuple[int, int, int | None, int | None]


class Others:
    """Finds the calls that may be of a method, and of which it isn't known. Many classes have methods of one name, so what a file
    says of that is looked up once."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._found: Answers[Perhaps] = Answers(users)
        self._around: Answers[dict[str, None]] = Answers(users)
        self._said: dict[tuple[str, str], _Said] = {}

    def perhaps_called(self, module: Module, name: str, *, with_heirs: bool) -> Perhaps:
        """The calls that may be of a method.

        Args:
            name: that of the method inside its module, dotted.
            with_heirs: whether another class may derive from its class, and ask for it as its base's.
        """
        find = partial(self._find, module, name, with_heirs)
        return self._found.of((module.path, name, with_heirs), find, Perhaps([], []))

    def _find(self, module: Module, name: str, with_heirs: bool) -> Perhaps:
        users, called, found = self._users, name.rpartition(".")[2], Perhaps([], [])
        known = {(use.module.path, use.site) for use in users.of(module, name) or () if use.called}
        for home in self._near(module, called):
            said = self._said_in(home, called)
            found.unseen.extend(call for call in said.unseen if with_heirs or not _is_of_base(call))
            others = (number for number in said.sites if (home.path, number) not in known)
            found.uses.extend(
                Use(home, number, True) for number in others if _may_be(users, module, name, home, number, with_heirs)
            )
        return found

    def _near(self, module: Module, word: str) -> Iterator[Module]:
        """A file, those of its importers, and those of its project, that call a method of a name."""
        users = self._users
        folder = users.home(module)
        around = self._around.of((folder, word), partial(self._calling_below, folder, word), {})
        own = self._calling((module.path, *users.importers_saying(module, word)), word)
        return filter(None, map(users.resolver.module, dict.fromkeys(chain(own, around))))

    def _calling_below(self, folder: str, word: str) -> dict[str, None]:
        """The files below a folder that call a method of a name, in order."""
        return dict.fromkeys(self._calling(self._users.texts.saying(word, folder), word))

    def _calling(self, paths: Iterable[str], word: str) -> Iterator[str]:
        """Those of some files that call a method of a name; what is found out rests on all of them."""
        for home in filter(None, map(self._users.resolver.module, paths)):
            self._users.resolver.opened.add(home.path)
            if any(self._said_in(home, word)):
                yield home.path

    def _said_in(self, home: Module, called: str) -> _Said:
        if (home.path, called) not in self._said:
            self._said[home.path, called] = _said(home, self._users.texts, called)
        return self._said[home.path, called]


def _said(home: Module, texts: Texts, called: str) -> _Said:
    """What a file says that calls a method of a name."""
    text = texts.code(home.path) if texts.has_name(home.path, called) else None
    if text is None:
        return _Said([], [])
    if (numbers := _all_seen(home, text, called)) is not None:
        return _Said(numbers, [])
    said = _Said([], [])
    sites = {_place(site.span): n for n, site in enumerate(home.sites) if site.kind == "call"}
    for call in _calls_in(text).get(called, ()):
        number = sites.get((call.lineno, call.col_offset, call.end_lineno, call.end_col_offset))
        if number is None:
            said.unseen.append(call)
        else:
            said.sites.append(number)
    return said


def may_pass(call: ast.Call, name: str, position: int) -> bool:
    """Whether a call may give a parameter something, by its name, at its position (-1 for none), or by what it unpacks."""
    unpacks = any(isinstance(arg, ast.Starred) for arg in call.args)
    return unpacks or 0 <= position < len(call.args) or any(one.arg in (None, name) for one in call.keywords)


def _all_seen(home: Module, text: bytes, called: str) -> list[int] | None:
    """The sites that call a method by its name, where these are all that a file says of it; None where it has to be parsed to know."""
    named = [n for n, site in enumerate(home.sites) if site.kind == "call" and tail_of(site.target) == called]
    calls = re.compile(rb"\.\s*%s\s*\(" % re.escape(called.encode()))
    if len(calls.findall(text)) != len(named) or not all(isinstance(home.sites[n].target, Member) for n in named):
        return None
    lines = text.splitlines() if named else []
    return named if all(calls.search(_text_at(lines, home.sites[n].span)) for n in named) else None


def _text_at(lines: list[bytes], span: Span) -> bytes:
    """The text of a place, from where it begins to the end of its last line."""
    return b"\n".join((lines[span.line - 1][span.column :], *lines[span.line : span.end_line]))


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


def _is_of_base(call: ast.Call) -> bool:
    """Whether a class calls what its bases have: `super().sample(x)`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Call) and dotted(owner.func) == "super"


@lru_cache(maxsize=16)
def _calls_in(text: bytes) -> dict[str, list[ast.Call]]:
    """Where a file calls methods, by their names. Of one that can't be read nothing runs."""
    found = dict[str, list[ast.Call]]()
    for node in walk(tree(text) or ast.Module([], [])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.setdefault(node.func.attr, []).append(node)
    return found
