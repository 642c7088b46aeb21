"""What devices add up between them, by the code of the files that a run comes to."""

from __future__ import annotations

from collections.abc import Callable, Set

from detlint.effects.effects import ADDING
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.meaning import Meaning
from detlint.model.uses import Users


class Sums:
    """Looks for calls of what adds up between devices, whoever makes them; of what isn't known, by the names of methods.

    Args:
        trains: whether something may train in a definition of a file's top level, or, of "", in what stands in none.
    """

    def __init__(self, users: Users, trains: Callable[[str, str], bool]) -> None:
        self._users = users
        self._trains = trains
        adding = [entry for entry in users.resolver.catalog.entries if not ADDING.isdisjoint(entry.contexts)]
        self._names = {name for entry in adding if entry.rule or not entry.when for name in entry.names}
        tails = {name.rpartition(".")[2] for name in self._names}
        # One word in small letters may mean anything (`reduce`).
        self._words = {word for word in tails if "_" in word or not word.islower()}
        self._known: dict[str, Set[str] | None] = {}

    def may(self, path: str, trains: bool) -> bool:
        """Whether something in a file may add up what several devices have.

        Args:
            trains: whether it does so also if that stands in what trains a network.
        """
        code = self._users.resolver.by_words(path, *self._words)
        if path not in self._known:
            self._known[path] = self._adding(path, code)
        adding = self._known[path]
        return adding is None or any(trains or not self._trains(path, name) for name in adding)

    def _adding(self, path: str, code: Code | None) -> Set[str] | None:
        """The definitions of a file's top level in which something does, "" for what stands in none; None where it can't be read."""
        module = self._users.resolver.module(path)
        if module is None or code is None:
            return None if path.endswith(".py") else frozenset()
        meaning = self._users.meanings.of(module) if not self._words.isdisjoint(code.identifiers) else None
        found = set[str]()
        for function in code.functions() if meaning is not None else ():
            name = function.qualified.partition(".")[0]
            if name not in found and meaning is not None and self._adds(meaning, function):
                found.add(name)
        return found

    def _adds(self, meaning: Meaning, function: Function) -> bool:
        """Whether a function calls what does."""
        for _, operation in function.each(op.CALL):
            root, attributes = function.chain(operation[1])
            last = attributes[-1] if attributes else function.dotted(root)
            name = meaning.name(function, operation[1]) if last else ""
            if name in self._names or (not name and last in self._words):
                return True
        return False
