"""How the files of a program hang together: which imports which, and which names may hide a name of the catalog."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import msgspec
import xxhash

from detlint.model.modules import Modules
from detlint.model.sites.records import Head, decode_aliases

MANY: Final = 200
"""More words than that are not looked for in a program's files: whoever may say one of them counts as if it did."""


class Links(msgspec.Struct):
    """The import graph of a program, by absolute path."""

    imports: dict[str, tuple[str, ...]] = {}
    _importers: dict[str, list[str]] | None = None

    def add(self, path: str, head: Head, modules: Modules) -> Iterable[str]:
        """Note what a file imports inside the program, the packages around it included; the files that it leads to."""
        names = dict.fromkeys(full for name in head.imports for full in modules.spelled_out(path, name))
        around = (head.module.rpartition(".")[0], *names)
        places = (modules.find(path, name) for name in dict.fromkeys(part for full in around for part in _parts(full)))
        found = tuple(dict.fromkeys(place[0] for place in places if place is not None and place[0] != path))
        self.imports[path] = found
        return found

    def reaching(self, paths: Iterable[str]) -> set[str]:
        """The files that import some files, however indirectly, these included. To be asked when all is linked."""
        return _closure(paths, self._backwards())

    def reached(self, paths: Iterable[str]) -> set[str]:
        """The files that some files import, however indirectly, these included."""
        return _closure(paths, self.imports)

    def importers(self, path: str) -> Sequence[str]:
        """The files that import a file, sorted. To be asked when all is linked."""
        return self._backwards().get(path, ())

    def _backwards(self) -> dict[str, list[str]]:
        """File -> those that import it, sorted."""
        if self._importers is None:
            found: defaultdict[str, list[str]] = defaultdict(list)
            for importer in sorted(self.imports):
                for imported in self.imports[importer]:
                    found[imported].append(importer)
            self._importers = dict(found)
        return self._importers

    def touched(
        self,
        moved: Mapping[str, Collection[str] | None],
        mentions: Callable[[Collection[str], Collection[str]], Iterable[tuple[str, Collection[str]]]],
        passing_on: Callable[[str, Collection[str]], Collection[str]],
    ) -> dict[str, set[str] | None]:
        """The files that may come to definitions which are others now, besides those that these stand in -> by which words;
        None: by any.

        Args:
            moved: the files that have such -> their names; None where any name may be another.
            mentions: of some files tells those in which some words occur, with these.
            passing_on: tells the names of a file that may depend on what some words mean.
        """
        backwards = self._backwards()
        anyhow = _closure([path for path, names in moved.items() if names is None], backwards)
        found: dict[str, set[str] | None] = dict.fromkeys(anyhow)
        wave = {path: {*names} for path, names in moved.items() if names}
        sought: dict[str, set[str]] = {}
        while wave:
            words = {name for names in wave.values() for name in names}
            importers = _closure(wave, backwards) - anyhow
            if len(words) > MANY:
                return found | dict.fromkeys(importers)
            asked: dict[frozenset[str], list[str]] = {}
            for path in importers:
                before = sought.setdefault(path, set())
                if new := frozenset(words - before):
                    before |= new
                    asked.setdefault(new, []).append(path)
            wave = {}
            for new, paths in asked.items():
                for path, said in mentions(paths, new):
                    if path not in moved:
                        found[path] = {*said, *(found.get(path) or ())}
                    if passed := {*passing_on(path, said)}:
                        wave[path] = passed
        return found


def _parts(name: str) -> Iterable[str]:
    """A dotted name, and those of the packages around it, which Python imports before it."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _closure(start: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    waiting = list(start)
    seen = set(waiting)
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def properties(heads: Mapping[str, Head]) -> dict[str, tuple[str, ...]]:
    """The names of the properties of a program that do something -> the files that define such.

    Args:
        heads: by path.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(heads):
        for name in heads[path].properties:
            found.setdefault(name, []).append(path)
    return {name: tuple(paths) for name, paths in found.items()}


Registered = dict[str, tuple[tuple[str, str], ...]]
"""Names of registries -> the program's own things of that name: the file that registers it, and its dotted name."""


def registered(heads: Iterable[tuple[str, Head | None]]) -> Registered:
    """What the files of a program register of their own, under names that the catalog knows as a library's.

    Args:
        heads: with the files' paths.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for path, head in heads:
        for name, thing in head.registers.items() if head is not None else ():
            found.setdefault(name, []).append((path, thing))
    return {name: tuple(sorted(things)) for name, things in found.items()}


Hidden = dict[str, tuple[str, ...]]
"""What `hiding` found, by the words that it was asked for."""


def hiding(heads: Collection[Head], known: Hidden) -> Callable[[frozenset[str]], frozenset[str]]:
    """Finds the names under which something of the catalog may be called although they are no words of it.

    `warp = F.grid_sample` makes `warp` one, `class Drop(nn.Dropout)` makes `Drop` one, and what is derived from it.

    Args:
        heads: those of all files of the program.
        known: what it found before for the same files; what it finds now is put there.
    """
    stands_for: defaultdict[str, set[str]] = defaultdict(set)

    def hidden(words: frozenset[str]) -> frozenset[str]:
        key = xxhash.xxh3_64_hexdigest("\0".join(sorted(words)).encode())
        if key not in known:
            if not stands_for:
                for name, others in chain.from_iterable(decode_aliases(head).items() for head in heads):
                    for other in others:
                        stands_for[other].add(name)
            known[key] = tuple(sorted(_closure(words & stands_for.keys(), stands_for)))
        return frozenset(known[key])

    return hidden


class Linked(NamedTuple):
    """What a program's files say together of names."""

    hiding: Callable[[frozenset[str]], frozenset[str]]
    """Of the last components of some names, those that may stand for them, program-wide."""
    properties: Mapping[str, Sequence[str]]
    """As `properties` tells them."""
    registered: Registered
    """What the program registers under names that the catalog knows."""
