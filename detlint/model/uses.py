"""Who uses a definition of the program: the calls of it in any file, and what hands it on as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import msgspec

from detlint.model.attributes import Writers
from detlint.model.dynamic import Dynamic
from detlint.model.index import Index
from detlint.model.meaning import Meanings
from detlint.model.module import Module
from detlint.model.projects import MANY, Projects
from detlint.model.resolve import Resolver
from detlint.model.sinks import Sinks
from detlint.model.sites.records import (
    Either,
    Facts,
    Items,
    Mapping,
    Member,
    Partial,
    Ref,
    Result,
    Site,
    Value,
    decode_body,
    options,
)

CALLED: Final = frozenset({"call", "partial", "config"})


class Use(NamedTuple):
    """A place that uses a definition."""

    module: Module
    site: int
    """The site that calls it, or is handed it; -1: somewhere else in the file."""
    called: bool

    @property
    def around(self) -> str:
        """The definition of its file's top level in which it stands; "" for none, and for a lambda."""
        name = self.module.function_of(self.module.sites[self.site]).name if self.site >= 0 else ""
        top = name.partition(".")[0]
        return top if top.isidentifier() else ""


Callers = Callable[[Module, str], Sequence[Use] | None]
"""Gives the uses of a function in the program; None where there may be others."""


class _Said(msgspec.Struct):
    """What a file calls and hands on, by the last component of the names."""

    called: dict[str, list[int]] = {}
    handed: dict[str, list[int]] = {}
    kept: dict[str, list[Value]] = {}
    """What its tables and attributes hold, and its functions give back."""


class _Search(msgspec.Struct):
    """A search for the uses of a definition, as far as it has come."""

    steps: Iterator[list[Use]] | None = None
    found: list[Use] = []
    noted: dict[int, None] = {}
    """What it rests on."""
    done: bool = False
    hidden: bool = False
    """Whether there may be uses although none is found."""


def _unseen(module: Module) -> Use:
    """What a file does with a definition, and no site tells."""
    return Use(module, -1, False)


class Users(Projects):
    """Finds the users of functions and classes. Everything asked once is remembered.

    Args:
        index: finds files by the names that they have.
    """

    def __init__(self, resolver: Resolver, index: Index) -> None:
        self.meanings = Meanings(resolver)
        super().__init__(resolver, index, Sinks(resolver, self.meanings))
        self._dynamic = cache(self._asks)
        self.writers = Writers(resolver)
        self.mentions = index.mentions
        self._said: dict[str, _Said] = {}
        self._searches: dict[tuple[str, str], _Search] = {}

    def dynamic(self, path: str) -> Dynamic | None:
        """By what a file comes to definitions without their names; None for one that is no Python, or can't be read."""
        self.resolver.opened.add(path)
        return self._dynamic(path)

    def _asks(self, path: str) -> Dynamic | None:
        meaning = self.meanings.at(path)
        return Dynamic(meaning) if meaning is not None else None

    def importers_saying(self, module: Module, word: str) -> Iterator[str]:
        """The files that import a file and say a word, one by one; what is found out rests on what they say."""
        self.asked.add(word)
        for path in self.importers(module.path):
            if self.index.has_name(path, word):
                self.resolver.opened.add(path)
                yield path

    def heirs(self, module: Module, owner: str) -> list[tuple[Module, str]]:
        """The classes of the program that derive from one, however far."""
        found: dict[tuple[str, str], Module] = {(module.path, owner): module}
        for (path, name), home in (waiting := [*found.items()]):
            own, word = f"{path}::{name}", name.rpartition(".")[2]
            for other in (home, *filter(None, map(self.resolver.module, self.importers_saying(home, word)))):
                for heir in other.classes:
                    key = other.path, heir
                    if key not in found and own in self.resolver.classes.mro(f"{other.path}::{heir}"):
                        found[key] = other
                        waiting.append((key, other))
        return [(home, name) for (_, name), home in [*found.items()][1:]]

    def of(self, module: Module, name: str) -> list[Use] | None:
        """All uses of a function or class of a module; None where those that there may be can't be found.

        Args:
            name: its name inside the module, dotted.
        """
        uses = [*self.each(module, name)]
        return None if self._searches[module.path, name].hidden else uses

    def each(self, module: Module, name: str) -> Iterator[Use]:
        """The uses, one by one: no file is looked into before its uses are asked for. One that no site has stands for those
        that there may be and that can't be found."""
        search = self._searches.setdefault((module.path, name), _Search())
        if search.steps is None:
            search.steps = self._found(search, module, name, name.rpartition(".")[2])
        number = 0
        while True:
            self.db.asked.update(search.noted)
            yield from search.found[number:]
            number = len(search.found)
            if search.done:
                return
            self._look_on(search)

    def _look_on(self, search: _Search) -> None:
        """Look into one more file."""
        with self.db.noting() as noted:
            more = next(search.steps or iter(()), None)
        search.noted |= noted
        search.found += more or ()
        search.done = more is None
        if search.done:  # most look into all that import a package
            search.noted = self.db.shared(search.noted)

    def within(self, module: Module, name: str) -> list[Use]:
        """The uses of a definition in its own file."""
        return [*self._in(module, Ref(f"{module.path}::{name}"), name.rpartition(".")[2])]

    def _found(self, search: _Search, module: Module, name: str, word: str) -> Iterator[list[Use]]:
        """The uses, file by file."""
        self.asked.add(word)
        own = Ref(f"{module.path}::{name}")
        uses = [*self._in(module, own, word)]
        yield uses
        if "<" in name:
            return  # nobody else can name it
        carriers, bounded = [module.path], False
        seen = {module.path}
        for carrier in carriers:
            importers = self.importers(carrier)
            if carrier != module.path and len(importers) > MANY:
                bounded = True
                continue
            for path in importers:
                if path in seen:
                    continue
                seen.add(path)
                has_it, uses = self._look(path, own, word)
                if has_it or self._passes_all_on(path, word, carriers):
                    carriers.append(path)
                yield uses
        if bounded:
            search.hidden = not search.found
            yield [_unseen(module)] if search.hidden else []

    def _passes_all_on(self, path: str, word: str, carriers: Sequence[str]) -> bool:
        """Whether a file imports everything from one that has a name."""
        return not word.startswith("_") and any(target in carriers for _, target in self.resolver.stars.of(path))

    def _look(self, path: str, own: Ref, word: str) -> tuple[bool, list[Use]]:
        """Whether a file has a definition by its name, for others too, and its uses there."""
        other = self.resolver.module(path) if self.index.has_name(path, word) else None
        if other is None:
            return False, []
        uses = [*self._in(other, own, word)]
        imported = self._imported(other, own, word)
        to_import_it = max((name.split(".").count(word) for name in imported), default=0)
        if imported and not uses and self.mentions(path, word) > to_import_it and not path.endswith("__init__.py"):
            uses = [_unseen(other)]  # it does something with it that no site tells
        return bool(imported), uses

    def imports(self, module: Module, own: Ref, word: str) -> bool:
        """Whether a file imports a definition by its name, wherever it does."""
        return bool(self._imported(module, own, word))

    def _imported(self, module: Module, own: Ref, word: str) -> list[str]:
        """The names that a file imports a definition by."""
        names = [name for name in module.facts.imports if name.rpartition(".")[2] == word]
        return [name for name in names if self.resolver.name(module.path, name) == own]

    def _in(self, module: Module, own: Ref, word: str) -> Iterator[Use]:
        """The uses in one file."""
        self.resolver.opened.add(module.path)
        said = self._said.get(module.path)
        if said is None:
            said = self._said[module.path] = _read(module.facts, module.sites)
        for called, indices in ((True, said.called), (False, said.handed)):
            for index in indices.get(word, ()):
                site = module.sites[index]
                values = [site.target] if called else [value for arg in site.args for value in _parts(arg.value)]
                function = module.function_of(site)
                if any(own in _options(self.resolver.normal(module.path, value, function)) for value in values):
                    yield Use(module, index, called)
        if any(self.resolver.normal(module.path, value) == own for value in said.kept.get(word, ())):
            yield Use(module, -1, False)


def words_of(facts: Facts) -> set[str]:
    """The names by which a file may have, call or hand on definitions of others, by their last components."""
    said = _read(facts, decode_body(facts).sites)
    return {*said.called, *said.handed, *said.kept, *(name.rpartition(".")[2] for name in facts.imports), *facts.stars}


def _read(facts: Facts, sites: Sequence[Site]) -> _Said:
    said = _Said()
    for index, site in enumerate(sites):
        if site.kind in CALLED:
            for word in set(_words(site.target)):
                said.called.setdefault(word, []).append(index)
        for word in {word for arg in site.args for word in words_in(arg.value)}:
            said.handed.setdefault(word, []).append(index)
    held = [*(f.returns for f in facts.functions)]
    for body in facts.classes:
        held += body.attributes.values()
    held += [value for value in facts.names.values() if type(value) is not Ref]
    for part in (part for value in held for part in _parts(value) if type(part) is Ref):
        said.kept.setdefault(part.name.rpartition(".")[2], []).append(part)
    return said


def _parts(value: Value | None) -> Iterator[Value]:
    """A value, and what is in it where it is a collection or one of several."""
    if isinstance(value, (Items, Mapping)):
        for item in value.values:
            yield from _parts(item)
    elif isinstance(value, Either):
        for option in value.options:
            yield from _parts(option)
    elif isinstance(value, Partial):
        yield value.of
    elif isinstance(value, (Ref, Member)):
        yield value


def _words(value: Value | None) -> Iterable[str]:
    if isinstance(value, Ref):
        return (value.name.rpartition(".")[2],)
    if isinstance(value, Member):
        return (value.attr,)
    if isinstance(value, Either):
        return [word for option in value.options for word in _words(option)]
    if isinstance(value, (Result, Partial)):
        return _words(value.of)
    return ()


def words_in(value: Value | None) -> set[str]:
    """The last components of the names of what a value is, or holds."""
    return {word for part in _parts(value) for word in _words(part)}


def _options(value: Value | None) -> tuple[Value | None, ...]:
    """What a callee may be."""
    if isinstance(value, (Result, Partial)):
        value = value.of
    return options(value)
