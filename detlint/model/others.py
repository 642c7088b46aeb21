"""Calls of a method on objects of which the program doesn't say the class: whoever is handed one may call it, in any file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.module import Module
from detlint.model.sites.records import SUPER, Instance, Member, Ref, Result, Value
from detlint.model.uses import Use, Users


class Unseen(NamedTuple):
    """A call that no site tells of."""

    function: Function
    at: int


class Perhaps(NamedTuple):
    """Calls that may be of a method."""

    uses: list[Use]
    unseen: list[Unseen]


class _Said(NamedTuple):
    """What a file says that calls a method of a name: sites, and calls that no site tells of."""

    sites: list[int]
    unseen: list[Unseen]


class Others:
    """Finds the calls that may be of a method, and of which it isn't known. Many classes have methods of one name, so what a file
    says of that is looked up once."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._found: Memo[Perhaps] = Memo(users.db)
        self._around: Memo[dict[str, None]] = Memo(users.db)
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
        return dict.fromkeys(self._calling(self._users.index.saying(word, folder), word))

    def _calling(self, paths: Iterable[str], word: str) -> Iterator[str]:
        """Those of some files that call a method of a name; what is found out rests on all of them."""
        for home in filter(None, map(self._users.resolver.module, paths)):
            if any(self._said_in(home, word)):
                yield home.path

    def _said_in(self, home: Module, called: str) -> _Said:
        code = self._users.resolver.by_words(home.path, called)
        if (home.path, called) not in self._said:
            self._said[home.path, called] = _said(home, code, called)
        return self._said[home.path, called]


def _said(home: Module, code: Code | None, called: str) -> _Said:
    """What a file says that calls a method of a name."""
    said = _Said([], [])
    calls = [*_calls_in(code, called)] if code is not None else []
    sites = {site.span.place: n for n, site in enumerate(home.sites) if site.kind == "call"} if calls else {}
    for function, at in calls:
        number = sites.get(function.spans[at])
        if number is None:
            said.unseen.append(Unseen(function, at))
        else:
            said.sites.append(number)
    return said


def _calls_in(code: Code, called: str) -> Iterator[tuple[Function, int]]:
    """Where a file calls methods of a name."""
    for number, at in code.attributes.get(called, ()):
        function = code.function(number)
        uses = function.users[at] if function.ops[at][0] == op.ATTR else ()
        yield from ((function, use.op) for use in uses if function.ops[use.op][0] == op.CALL and use.place == 1)


def may_pass(unseen: Unseen, name: str, position: int) -> bool:
    """Whether a call may give a parameter something, by its name, at its position (-1 for none), or by what it unpacks."""
    return unseen.function.unpacks(unseen.at) or unseen.function.call(unseen.at).argument(position, name) >= 0


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
        made = resolver.types.of(base) if isinstance(base, Result) else ""
        return made == "" or "::" in made
    owner = f"{module.path}::{name.rpartition('.')[0]}"
    return "::" in meant.name and meant.name.rpartition(".")[0] in resolver.classes.mro(owner)


def _is_sure(base: Value | None) -> bool:
    """Whether an object is surely of its class: it was just made, or is the one whose method runs, or what its bases have of it."""
    if isinstance(base, Member):
        return base.attr == SUPER
    return isinstance(base, Result) or (isinstance(base, Instance) and not base.name)


def _is_of_base(unseen: Unseen) -> bool:
    """Whether a class calls what its bases have: `super().sample(x)`."""
    function = unseen.function
    base = function.ops[function.ops[function.ops[unseen.at][1]][1]]
    return base[0] == op.CALL and function.is_builtin(base[1], "super")
