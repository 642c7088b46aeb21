"""Which entries of the catalog a site may be about, by the names of what it calls or writes."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Final

from detlint.catalog import UNORDERED, Entry
from detlint.domains.matching.arguments import Arguments
from detlint.domains.matching.record import Match
from detlint.model.arguments import CallArgument
from detlint.model.module import Module
from detlint.model.runs.calls import left_out
from detlint.model.sites.records import (
    UNKNOWN_RECEIVER,
    Either,
    Function,
    Instance,
    Member,
    Partial,
    Ref,
    Result,
    Value,
    options,
    sites,
)
from detlint.model.sites.scope import MISSING, Missing

CALLS: Final = ("call", "partial", "config")


class Candidates(Arguments):
    """Finds entries by names, those of bases and of what stands in their place included."""

    def matches(self, module: Module, index: int) -> list[Match]:
        """The entries that a site fulfils, or may fulfil."""
        raise NotImplementedError

    @cached_property
    def _tables(self) -> dict[str, dict[str, list[int]]]:
        catalog = self.catalog
        return {
            "call": catalog.calls,
            "partial": catalog.calls,
            "config": catalog.calls,
            "assignment": catalog.assignments,
            "environment": catalog.environment,
            "command": catalog.commands,
            "registry": catalog.registry,
            "section": catalog.sections,
            "write": {},
            "item": {},
            "mention": catalog.mentions,
            "setting": catalog.settings,
            "order": catalog.orders,
        }

    @cached_property
    def _listing(self) -> frozenset[str]:
        return self.catalog.words_of(UNORDERED)

    def _prepared(self, target: Value | None) -> tuple[Value | None, tuple[CallArgument, ...], list[Entry]]:
        """What a partial calls, what it gives that, and the entries that it fulfils already, whatever its call gives; anything else calls
        itself."""
        before: tuple[CallArgument, ...] = ()
        known: list[Entry] = []
        made = self.resolver.place(target.site) if isinstance(target, Result) else None
        if made is not None and f"{self.resolver.types.of(target)}.__call__" in self.catalog.calls:
            told = self.call_arguments(made[0], made[1], made[0].function_of(made[1]))  # what the object was made with
            before = tuple(argument for argument in told if argument.name and not argument.name.startswith("*"))
        while isinstance(target, Partial):
            place = self.resolver.place(target.site)
            if place is not None:
                before = (*self.call_arguments(place[0], place[1], place[0].function_of(place[1])), *before)
                known += [match.entry for match in self.matches(place[0], target.site & 0xFFFFFFFF)]
            target = target.of
        return target, before, known

    def suspects(self, module: Module, words: frozenset[str]) -> list[int]:
        """The sites whose target may end with one of some words, by another name too."""
        may = self._may_match
        return [
            i
            for i, s in enumerate(module.sites)
            if (may(module, s.target, words) if s.kind in CALLS else s.kind not in ("write", "item"))
        ]

    def _may_match(self, module: Module, target: Value | None, words: frozenset[str]) -> bool:
        """Whether a site may call what the catalog knows, by the last component of its name.

        Most calls run functions of the program under names that mean nothing to the catalog, and need no further look.
        """
        if isinstance(target, Ref):
            owner, _, last = target.name.rpartition(".")
            known = (last if last != "__init__" else owner.rpartition(".")[2]) in words
            return known or self._is_decorated(module, module.functions.get(target.name.removeprefix(module.prefix)))
        if isinstance(target, Member):
            attr = target.attr
            if attr == "__init__" and isinstance(target.base, Member) and isinstance(target.base.base, Instance):
                return self._has_known_base(module, target.base.base.of, words)
            return attr in words or attr.startswith(("[", "<")) or self._keeps_callable(module, target)
        if isinstance(target, Either):
            return any(self._may_match(module, option, words) for option in target.options)
        if isinstance(target, Partial):
            return self._may_match(module, target.of, words)
        return isinstance(target, Result)

    def _is_decorated(self, module: Module, function: Function | None) -> bool:
        """Whether a function of the file is one that a decorator of a library makes something else of, which the catalog knows calls of."""
        decorators = module.detail(function).decorators if function is not None else ()
        return any(map(self._is_callable, (Result(decorator, -1) for decorator in decorators if decorator is not None)))

    def _keeps_callable(self, module: Module, target: Member) -> bool:
        """Whether an attribute of an object of the file's own classes is kept from what gives something that the catalog knows calls of."""
        base = target.base
        body = module.classes.get(base.of.removeprefix(module.prefix)) if isinstance(base, Instance) else None
        return body is not None and any(map(self._is_callable, options(body.attributes.get(target.attr))))

    def _is_callable(self, value: Value | None) -> bool:
        while isinstance(value, (Result, Member)):
            value = value.of if isinstance(value, Result) else value.base
            if isinstance(value, Ref) and value.name.rpartition(".")[2] in self.catalog.giving_callables:
                return True
        return False

    def _has_known_base(self, module: Module, name: str, words: frozenset[str]) -> bool:
        """Whether `super().__init__(...)` in a class may construct something that the catalog knows."""
        body = module.classes.get(name.removeprefix(f"{module.facts.module}."))
        return body is None or any(self._may_match(module, base, words) for base in body.bases)

    def target(self, module: Module, index: int) -> Value | None:
        """A site's target in normal form; worked out once."""
        known = self._normal.setdefault(module.number, {})
        found = known.get(index, MISSING)
        if isinstance(found, Missing):
            site = module.sites[index]
            function = module.function_of(site)
            found = known[index] = self.resolver.normal(module.path, site.target, function)
            if isinstance(found, Result) and self.resolver.results.is_getter(found):
                found = known[index] = self.resolver.results.called(found, module.path, index, function)
        return found

    def candidates(self, module: Module, index: int) -> list[tuple[str, list[int]]]:
        """The names that a site's target may have, each with the entries that know it."""
        site = module.sites[index]
        table = self._tables[site.kind]
        if site.kind in ("environment", "command", "registry", "section", "setting", "order"):
            assert isinstance(site.target, Ref)
            name = site.target.name
            if site.kind == "registry" and name in self.registered:
                return self._registered(name)
            if name in table:
                return [(name, table[name])]
            return self.named(self.target(module, index)) if site.kind == "registry" else []
        target = self.target(module, index)
        if site.kind == "mention" and isinstance(target, Ref):
            return [(target.name, table.get(target.name, []))]
        if site.kind == "assignment" and isinstance(target, Ref):
            owner, _, attr = target.name.rpartition(".")
            unknown = [i for i in self.catalog.members.get(owner, ()) if attr not in self.catalog.entries[i].known]
            return [(target.name, [*table.get(target.name, ()), *unknown])]
        if isinstance(target, Either):
            function = module.function_of(site)
            others = [option for option in target.options if not left_out(module, function, option)]
            found = [self.named(option) if option is not None else [] for option in others or target.options]
            return self._alike(found) or self._copied(module, target)
        target = self._prepared(target)[0]
        named = self.named(target) or self._copied(module, site.target) or self._copied(module, target)
        if not named and isinstance(target, Member) and target.attr in self._listing:
            given = self.given_here(module, site, target.base)
            methods = (self.named(self.resolver.member(value, target.attr)) for value in given)
            named = next(filter(None, methods), named)
        return [(name, entries) for name, entries in named if self._has_kernel(target, entries)]

    def _alike(self, found: list[list[tuple[str, list[int]]]]) -> list[tuple[str, list[int]]]:
        """What the catalog knows of alternatives: they count only where each is known, and breaks a rule of one family. Then
        they are judged as the first of the most."""
        rules = [frozenset(self.catalog.entries[i].rule for _, entries in named for i in entries) for named in found]
        families = {frozenset(rule[:4] for rule in broken) for broken in rules}
        if not found or not all(found) or len(families) > 1:
            return []
        (most, _), *_ = Counter(rules).most_common(1)
        return found[rules.index(most)]

    def _registered(self, name: str) -> list[tuple[str, list[int]]]:
        """What the program itself registers under a name is its own, and no longer the library's of that name; unless the
        program is that library, or derives it from something known."""
        found = []
        for path, thing in self.registered[name]:
            if thing.partition(".")[0] in self.catalog.scopes:
                return [(name, self.catalog.registry[name])]
            found.append(self.named(self.resolver.name(path, thing)))
        return found[0] if all(found) else []

    def named(self, target: Value | None) -> list[tuple[str, list[int]]]:
        """The names of a value that the catalog knows, with the numbers of their entries."""
        calls = self.catalog.calls
        if isinstance(target, Member) and target.base == UNKNOWN_RECEIVER:
            return [(target.attr, self.catalog.methods.get(target.attr, []))]
        if (
            isinstance(target, Member)
            and target.attr in self.catalog.methods
            and not self.resolver.types.of(target.base)
        ):
            return [(target.attr, self.catalog.methods[target.attr])]
        if isinstance(target, (Result, Instance)):
            name = f"{self.resolver.types.of(target)}.__call__"
            return [(name, calls[name])] if name in calls else []
        if not isinstance(target, Ref):
            return []
        name = target.name
        if "::" in name:
            return self._inside(name)
        if name in calls:
            return [(name, calls[name])]
        owner, _, last = name.rpartition(".")
        if last == "__init__" and owner in calls:
            return [(owner, calls[owner])]
        return self._method_of_base(owner, last)

    def _method_of_base(self, owner: str, last: str) -> list[tuple[str, list[int]]]:
        """A method that the catalog knows on what the class `returns` (datasets share `Dataset.shuffle`), or on all layers."""
        layer = self.resolver.kinds.layer(owner) if last in self.catalog.methods else None
        owners = (owner, layer.module) if layer is not None else (owner,)
        bases = [self.catalog.entries[i].returns for name in owners for i in self.catalog.calls.get(name, ())]
        for base in (*bases, *owners[1:]):
            if base and f"{base}.{last}" in self.catalog.calls:
                name = f"{base}.{last}"
                return [(name, self.catalog.calls[name])]
        # What a layer has is a tensor: `net.fc.weight.data.normal_()`.
        whole = owner.rpartition(".")[0] if last in self.catalog.methods and owner not in self.catalog.calls else ""
        while whole and self.resolver.kinds.layer(whole) is None:
            whole = whole.rpartition(".")[0]
        return [(last, self.catalog.methods[last])] if whole else []

    def _inside(self, name: str) -> list[tuple[str, list[int]]]:
        """A definition of the program: it may be the very library that the catalog describes, or a bare subclass."""
        key, _, inside = name.partition("::")
        module = self.resolver.known(key)
        known = self.catalog.canonical(f"{module.facts.module}.{inside}")
        if known in self.catalog.calls:
            return [(known, self.catalog.calls[known])]
        function = module.functions.get(inside)
        if function is not None and (made := self._decorated(module, function)):
            return made
        body = module.classes.get(inside)
        if body is not None and "__init__" not in body.methods:
            for base in self.resolver.classes.bases(name):
                found = self.named(Ref(base))
                if found:
                    own = self._own_rules(module, name, inside)
                    return [
                        (of, [i for i in numbers if self.catalog.entries[i].rule not in own]) for of, numbers in found
                    ]
        return []

    def _decorated(self, module: Module, function: Function) -> list[tuple[str, list[int]]]:
        """What calling a function is that a decorator of a library has made something else of, if the catalog knows that."""
        for decorator in module.detail(function).decorators:
            made = self.resolver.normal(module.path, decorator.of if isinstance(decorator, Result) else decorator)
            name = f"{made.name}.__call__" if isinstance(made, Ref) else ""
            if name in self.catalog.calls:
                return [(name, self.catalog.calls[name])]
        return []

    def _own_rules(self, module: Module, name: str, inside: str) -> set[str]:
        """What a layer's forward pass breaks by operators that it calls itself, instead of what its base has: these are told."""
        layer = self.resolver.kinds.layer(name)
        forward = module.functions.get(f"{inside}.{layer.forward}") if layer is not None else None
        if forward is None or name in self._asked:
            return set()
        self._asked.add(name)
        indices = [*sites(module.steps(forward))]
        alone = all(isinstance(module.sites[index].target, Ref) for index in indices)
        matches = (match for index in indices for match in self.matches(module, index)) if alone else ()
        own = {match.entry.rule for match in matches if match.entry.rule.startswith("DET4")}
        self._asked.discard(name)
        return own

    def _copied(self, module: Module, target: Value | None) -> list[tuple[str, list[int]]]:
        """A project's own copy of a known kernel, recognised by its name: `MSDeformAttnFunction.apply(...)`."""
        if not self._may_be_copy(target):
            return []
        names = [name.removesuffix(".apply").rpartition("::")[2].rpartition(".")[2] for name in _names(target)]
        entries = [[i for i in self.catalog.copies.get(name, ()) if self._is_akin(module, i)] for name in names]
        return [(names[0], entries[0])] if entries and all(entries) else []

    def _has_kernel(self, target: Value | None, entries: list[int]) -> bool:
        """Whether a project's own layer with the name of a known operator (DET4xx) runs its kernel, as far as its source is there:
        its file calls something else that breaks the same rule. One made of small operators has these reported instead."""
        if not isinstance(target, Ref) or "::" not in target.name:
            return True
        named = (entry for entry in map(self.catalog.entries.__getitem__, entries) if entry.copies)
        rules = {entry.rule for entry in named if entry.rule.startswith("DET4")}
        if not rules or self.resolver.kinds.layer(target.name) is None:
            return True
        if target.name in self._asked:
            return False
        module = self.resolver.known(target.name.partition("::")[0])
        known = (entry for entry in self.catalog.entries if entry.rule in rules)
        words = frozenset(name.rpartition(".")[2] for entry in known for name in (*entry.names, *entry.copies))
        self._asked.add(target.name)
        found = any(
            match.entry.rule in rules
            for index in self.suspects(module, words | {"apply"})
            for match in self.matches(module, index)
        )
        self._asked.discard(target.name)
        return found

    def _is_akin(self, module: Module, number: int) -> bool:
        """Whether a file may have a copy of what an entry knows: not one that only uses other frameworks than its."""
        own = {name.partition(".")[0] for name in module.facts.imports}
        known = {name.partition(".")[0] for name in self.catalog.entries[number].names}
        used = [framework for framework in self.catalog.frameworks if not own.isdisjoint(framework.modules)]
        from_one = known <= self.catalog.roots and bool(known)
        return not (used and from_one) or any(not known.isdisjoint(framework.modules) for framework in used)

    def _may_be_copy(self, target: Value | None) -> bool:
        last = (
            target.attr
            if isinstance(target, Member)
            else target.name.rpartition(".")[2]
            if isinstance(target, Ref)
            else ""
        )
        return last == "apply" or last.rpartition("::")[2] in self.catalog.copies or isinstance(target, Either)


def _names(value: Value | None) -> list[str]:
    """The dotted names that a value may have, an attribute of alternatives included."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Member):
        return [f"{name}.{value.attr}" for name in _names(value.base)]
    return [name for option in value.options for name in _names(option)] if isinstance(value, Either) else []
