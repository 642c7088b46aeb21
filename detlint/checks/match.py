"""Which catalog entries a site fulfils."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from detlint.catalog import Catalog, Entry
from detlint.checks.conditions import Argument, CallArgument, Judge, Verdict, bind
from detlint.facts.model import Const, Either, Function, Member, Param, Ref, Result, Site, Value
from detlint.facts.reader import UNKNOWN_RECEIVER
from detlint.program.resolve import Module, Resolver


@dataclass(frozen=True, slots=True)
class Match:
    """An entry that a site fulfils; `sure` unless a condition could not be decided."""

    entry: Entry
    name: str
    """The API, canonical."""
    sure: bool
    arguments: dict[str, Argument]


class Matcher:
    """Matches sites against the catalog; every site is matched once."""

    def __init__(self, resolver: Resolver, catalog: Catalog) -> None:
        self.resolver = resolver
        self.catalog = catalog
        self.judge = Judge(resolver.type_of, resolver._tensors, self._first_argument)
        self._numbers: dict[int, Module] = {}
        self._matches: dict[tuple[int, int], list[Match]] = {}

    @cached_property
    def _tables(self) -> dict[str, dict[str, list[int]]]:
        catalog = self.catalog
        return {
            "call": catalog.calls,
            "partial": catalog.calls,
            "assignment": catalog.assignments,
            "environment": catalog.environment,
            "registry": catalog.registry,
        }

    def matches(self, module: Module, index: int) -> list[Match]:
        """All entries that a site fulfils, at most one for each rule, in catalog order."""
        key = (module.number, index)
        if key not in self._matches:
            self._numbers[module.number] = module
            site = module.sites[index]
            function = module.function_of(site)
            found: dict[str, Match] = {}
            for name, entries in self.candidates(module, site, function):
                for match in self._fulfilled(module, site, function, name, entries):
                    other = found.get(match.entry.rule)
                    if match.entry.rule and (other is None or (match.sure and not other.sure)):
                        found[match.entry.rule] = match
                    elif not match.entry.rule:
                        found[f"{len(found)}"] = match
            self._matches[key] = list(found.values())
        return self._matches[key]

    def candidates(self, module: Module, site: Site, function: Function) -> list[tuple[str, list[int]]]:
        """The names that a site's target may have, each with the entries that know it."""
        table = self._tables[site.kind]
        if site.kind in ("environment", "registry"):
            assert isinstance(site.target, Ref)
            name = site.target.name
            return [(name, table[name])] if name in table else []
        target = self.resolver.normal(module.path, site.target, function)
        if site.kind == "assignment" and isinstance(target, Ref):
            owner, _, attr = target.name.rpartition(".")
            unknown = [i for i in self.catalog.members.get(owner, ()) if attr not in self.catalog.entries[i].known]
            return [(target.name, [*table.get(target.name, ()), *unknown])]
        if isinstance(target, Either):
            found = [self._named(option) for option in target.options if option is not None]
            # Alternatives count only when each of them is known to behave alike.
            rules = [{self.catalog.entries[i].rule for _, entries in named for i in entries} for named in found]
            same = len(found) == len(target.options) and all(rule == rules[0] for rule in rules)
            return found[0] if found and same else []
        named = self._named(target)
        return named or self._copied(site, target)

    def _named(self, target: Value | None) -> list[tuple[str, list[int]]]:
        calls = self.catalog.calls
        if isinstance(target, Member) and target.base == UNKNOWN_RECEIVER:
            return [(target.attr, self.catalog.methods.get(target.attr, []))]
        if isinstance(target, Member) and target.attr in self.catalog.methods and not self.resolver.type_of(target.base):
            return [(target.attr, self.catalog.methods[target.attr])]
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
        """A method that the catalog knows on what the class `returns` (datasets share `Dataset.shuffle`)."""
        for i in self.catalog.calls.get(owner, ()):
            base = self.catalog.entries[i].returns
            if base and f"{base}.{last}" in self.catalog.calls:
                name = f"{base}.{last}"
                return [(name, self.catalog.calls[name])]
        return []

    def _inside(self, name: str) -> list[tuple[str, list[int]]]:
        """A definition of the program: it may be the very library that the catalog describes, or a bare subclass."""
        key, _, inside = name.partition("::")
        module = self.resolver.by_path[key]
        known = self.catalog.canonical(f"{module.facts.module}.{inside}")
        if known in self.catalog.calls:
            return [(known, self.catalog.calls[known])]
        body = module.classes.get(inside)
        if body is not None and "__init__" not in body.methods:
            for base in self.resolver.bases(name):
                found = self._named(Ref(base))
                if found:
                    return found
        return []

    def _copied(self, site: Site, target: Value | None) -> list[tuple[str, list[int]]]:
        """A project's own copy of a known kernel, recognised by its name: `MSDeformAttnFunction.apply(...)`."""
        if not isinstance(site.target, Ref):
            return []
        parts = site.target.name.split(".")
        last = parts[-2] if parts[-1] == "apply" and len(parts) > 1 else parts[-1]
        entries = self.catalog.copies.get(last, [])
        return [(last, entries)] if entries else []

    def _fulfilled(
        self, module: Module, site: Site, function: Function, name: str, entries: list[int]
    ) -> list[Match]:
        if not entries:
            return []
        arguments = self.call_arguments(module, site, function)
        known = self.catalog.entries
        signature = self.catalog.signatures.get(name) or next(
            (s for i in entries for n in known[i].names if (s := self.catalog.signatures.get(n)) and n.endswith(name)), []
        )
        bound = bind(arguments, signature, partial=site.kind == "partial")
        found = []
        for i in entries:
            verdict: Verdict = self.judge.fulfilled(known[i], bound)
            if verdict or (verdict is None and known[i].unsure == "report"):
                found.append(Match(known[i], name, verdict is True, bound))
        return found

    def call_arguments(self, module: Module, site: Site, function: Function) -> list[CallArgument]:
        """A site's arguments with their values in normal form."""
        normal = self.resolver.normal
        return [CallArgument(arg.name, normal(module.path, arg.value, function)) for arg in site.args]

    def _first_argument(self, global_site: int) -> Value | None:
        """The first argument of the call that made a value."""
        module = self._numbers.get(global_site >> 32) if global_site >= 0 else None
        if module is None:
            return None
        site = module.sites[global_site & 0xFFFFFFFF]
        function = module.function_of(site)
        return self.resolver.normal(module.path, site.args[0].value, function) if site.args else None


def known_constant(argument: Argument | None) -> object:
    """The literal that an argument is, `...` when it isn't one."""
    if argument is not None and isinstance(argument.value, Const):
        return argument.value.value
    return ...


def is_optional(value: Value | None) -> bool:
    """Whether a value is an option that defaults to None."""
    return isinstance(value, Param) and value.default in (Const(None), Const(-1))


def made_by(value: Value | None) -> str:
    """The name of what was called to make a value, "" for anything else."""
    return value.of.name if isinstance(value, Result) and isinstance(value.of, Ref) else ""
