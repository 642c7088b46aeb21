"""What all runs of a program share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Mapping as Table
from typing import Any

from detlint.catalog import OPEN_SEED, SHUFFLED, Scalar
from detlint.effects.recorder import Recorder
from detlint.effects.summary import Summary
from detlint.effects.top import Top
from detlint.effects.words import Words
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.runs.calls import Calls, Knowledge, Seen, asked_of_itself
from detlint.model.runs.values import Frame, Spot, Values
from detlint.model.sites.records import Function, Value, branches

Taken = Callable[[Frame, Value, Values], tuple[bool | None, Spot | None]]


class Ground(Calls):
    """What all runs of a program share.

    Args:
        resolver: resolves what is called.
        knowledge: what the catalog says of sites.
        properties: the names of the properties that do something -> the files that define such.
        switch: the value that a site gives a switch.
        taken: whether a test holds by default (None when unknown), and where the default stands that decides.
        words: tells what may happen in a file.
    """

    recorder = Recorder()
    """Is told what the runs do, by who wants to show it."""
    start = ""
    """How processes start where nothing says it (`fork`, `spawn`, `forkserver`); "" where that isn't known."""

    def __init__(
        self,
        resolver: Resolver,
        knowledge: Knowledge,
        properties: Table[str, Sequence[str]],
        switch: Callable[[Any, Scalar], Scalar],
        taken: Taken,
        words: Words,
    ) -> None:
        super().__init__(resolver, knowledge, properties)
        self.switch = switch
        self.taken = taken
        self.words = words
        trains = (name.rpartition(".")[0] for name in resolver.catalog.with_context("trains"))
        self.trained = {owner for owner in trains if resolver.classes.is_class(owner)} - resolver.types.tensors
        """The classes whose methods train."""
        ordering = (SHUFFLED, OPEN_SEED)
        acting = (
            entry for entry in resolver.catalog.entries if entry.seeds or (entry.draws and entry.rule in ordering)
        )
        owners = {name.rpartition(".")[0] for entry in acting for name in entry.names}
        self.deciding = self.trained | {owner for owner in owners if resolver.classes.is_class(owner)}
        """Those, and the ones whose methods seed, or put data in a random order."""
        self._summaries: dict[tuple[int, int, str, str], Summary] = {}
        self._keys: dict[object, int] = {}
        self._noting: dict[int, bool] = {}
        self._quiet: dict[str, bool] = {}
        self._asking: dict[tuple[int, str], bool] = {}
        self.top: Callable[[str], Top | None]
        """What importing a file does; None for one that can't be read. Whoever keeps that says who answers."""

    def summary(self, module: Module, function: Function, receiver: str = "", registry: str = "") -> Summary:
        """What a function comes to, for all runs.

        Args:
            receiver: the class of `self`.
            registry: the registry that `self` is, by its key.
        """
        key = (module.number, function.number, receiver, registry)
        if key not in self._summaries:
            self._summaries[key] = Summary(module, module.steps(function))
        return self._summaries[key]

    def asks_itself(self, module: Module, owner: str) -> bool:
        """Whether a method of a class asks an attribute of its object which way to go."""
        key = (module.number, owner)
        if key not in self._asking:
            methods = (function for function in module.facts.functions if function.owner == owner)
            found = (branch for method in methods for branch in branches(module.steps(method)))
            self._asking[key] = any(asked_of_itself(branch, known=True) is not None for branch in found)
        return self._asking[key]

    def notes(self, seen: Seen) -> bool:
        """Whether any of some files adds commands to groups, or puts something into registries."""
        if id(seen) not in self._noting:
            known = map(self.resolver.known, seen.files)
            self._noting[id(seen)] = any(map(self.adds, known))
        return self._noting[id(seen)]

    def is_quiet(self, path: str) -> bool:
        """Whether neither the top level of a file, nor that of any that it imports, comes to something that a run is to know of."""
        if path not in self._quiet:
            met, waiting, quiet = {path}, [path], True
            while waiting and quiet:
                file = waiting.pop()
                top = self.top(file)
                quiet = self._quiet.get(file, top is None or not top.counts)
                new = {event for event, _ in top.events if isinstance(event, str)} - met if top is not None else set()
                met |= new
                waiting += sorted(new)
            self._quiet.update(dict.fromkeys(met if quiet else (path,), quiet))
        return self._quiet[path]

    def adds(self, module: Module) -> bool:
        """Whether a file adds commands to groups, or what runs before them, or puts something into registries."""
        found = bool(self.commands_in(module) or self.registries.kept_by(module))
        own = f"{module.path}::"
        return found or any(run.name.startswith(own) for runs in self.callbacks.values() for run in runs)

    def number(self, key: object) -> int:
        """A number that stands for a key as long as this is asked."""
        return self._keys.setdefault(key, len(self._keys))
