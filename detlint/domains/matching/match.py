"""Which catalog entries a site fulfils."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Final

import msgspec

from detlint.catalog import SHUFFLED, Catalog, Condition, Entry, Target
from detlint.config import Settings
from detlint.domains.constant.evaluator import Evaluator, parameters_in, resolved, settle
from detlint.domains.constant.experiments import BY_CONFIG, Experiments
from detlint.domains.draws import Handed
from detlint.domains.entropy import SALTED, Salt
from detlint.domains.matching.conditions import Judge, Verdict, argument_of, is_taken_out
from detlint.domains.matching.scope import applies_to_version, targets
from detlint.domains.numeric.dimensions import dimensions
from detlint.domains.numeric.shapes import least
from detlint.domains.probes import Probes
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN
from detlint.ir.code import Function as Body
from detlint.ir.places import Place
from detlint.ir.yaml_text import is_yaml
from detlint.model.arguments import Argument, CallArgument, bind, given_with
from detlint.model.links import Linked
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.places import call_at, point_of
from detlint.model.project import Project
from detlint.model.runs.calls import left_out
from detlint.model.runs.values import is_parsed
from detlint.model.sites.records import (
    TAKES_OUT,
    UNKNOWN_RECEIVER,
    Arg,
    Const,
    Either,
    Function,
    Instance,
    Items,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    Value,
    options,
    sites,
)
from detlint.model.sites.scope import MISSING, Missing
from detlint.model.tables import Known, tables
from detlint.model.uses import Users
from detlint.versions import nearest

CALLS: Final = ("call", "partial", "config")

SAME_NUMBERS: Final = frozenset({
    "astype", "contiguous", "expand", "expand_as", "flatten", "float", "permute", "ravel", "reshape", "squeeze", "transpose", "unsqueeze",
    "view", "view_as",
})  # fmt: skip
"""Methods of tensors that give the same numbers in another shape, or as floating-point ones."""
BY_DESIGN: Final = ("DET2", "DET3")
"""What the rules of layers and data begin with."""
OPERATORS: Final = "DET4"
"""The rules of operators begin with it."""
BY_VALUE: Final = ("DET2", "DET3", "DET4")
"""The rules of what varies or not by the values that calls pass."""
ON_DEVICE: Final = "DET5"
"""The rules of what is drawn on the device begin with it."""
GIVES_LAYER: Final = "gives-layer"
"""The context of functions that give one: `Model.from_pretrained`."""
ON_CPU: Final[tuple[Target, ...]] = ("cpu",)
NOTHING: list[Match] = []
"""What most sites match; shared, never changed."""


class Passed:
    """What a site passes, worked out when first asked for: most entries have no conditions."""

    def __init__(
        self,
        work_out: Callable[[], dict[str, Argument]],
        ways: Callable[[bool], list[dict[str, Argument]]],
        place: Callable[[str], Place | None],
    ) -> None:
        self._work_out = work_out
        self._ways = ways
        self.place = place
        """The value in the IR that a site itself gives a parameter; None for none, or where that isn't known."""

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """What each parameter gets."""
        return self._work_out()

    @cached_property
    def ways(self) -> list[dict[str, Argument]]:
        """The same for each of several tables that may be unpacked."""
        return self._ways(False) or [self.arguments]

    @cached_property
    def usual(self) -> list[dict[str, Argument]]:
        """Those where parameters are what they are by default."""
        return self._ways(True) or [self.arguments]


class Match(msgspec.Struct, frozen=True):
    """An entry that a site fulfils; `sure` unless a condition could not be decided."""

    entry: Entry
    name: str
    """The API, canonical."""
    sure: bool
    passed: Passed
    before: tuple[CallArgument, ...] = ()
    """What the partial gives that is called there, before the call itself does."""
    known: bool = True
    """Whether what isn't sure is so by default; else nothing is known of it."""

    @property
    def arguments(self) -> dict[str, Argument]:
        """What each parameter gets."""
        return self.passed.arguments

    @property
    def builds(self) -> bool:
        """Whether it gives an object that works later: a class, or what gives a layer."""
        return is_class(self.name) or GIVES_LAYER in self.entry.contexts

    def argument(self, parameter: str) -> Argument | None:
        """What one parameter gets, or an item of a dictionary that it gets."""
        return argument_of(self.passed.arguments, parameter)


class Matcher:
    """Matches sites against the catalog; every site is matched once.

    Args:
        users: tell who calls what, and what becomes of what sites give.
        settings: what is asked for.
        linked: what the program's files say together of names.
        project: what the project says of itself.
    """

    def __init__(self, users: Users, settings: Settings, linked: Linked, project: Project) -> None:
        resolver = users.resolver
        self.sinks = users.sinks
        self.hiding, self.registered = linked.hiding, linked.registered
        self.resolver = resolver
        self.catalog: Catalog = resolver.catalog
        self.settings = settings
        self._targets: dict[str, frozenset[str]] = {}
        self._folders = project.versions
        self._versions: dict[str, dict[str, str]] = {}
        self._current: dict[tuple[tuple[int, ...], frozenset[str], int], list[Entry]] = {}
        """By what is asked, the hardware, and which table of versions holds."""
        self.judge = Judge(
            resolver.types.of,
            resolver.types.tensors,
            self._first_argument,
            self._named_argument,
            self._indexable,
            Handed(self).draws,
            {"whole": self.catalog.whole, "half": self.catalog.half},
        )
        self._matches: dict[int, dict[int, list[Match]]] = {}
        self._shuffles: dict[int, dict[int, list[Match]]] = {}
        self._unpacking: dict[int, dict[int, list[Match]]] = {}
        self._normal: dict[int, dict[int, Value | None]] = {}
        """By module number and site, until `forget`."""
        self._words = self.telling(self.catalog.words | self.catalog.raising_words)
        self._shuffling = self.telling(self.catalog.words_of({SHUFFLED}))
        self._asked: set[str] = set()
        """Classes of the program of which it is being found out whether they run a kernel."""
        self._probes = Probes(self, users.of)
        self._meanings = users.meanings
        self._salt = Salt(resolver, users.meanings)
        self.experiments = Experiments(users, project.documents)

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

    def matches(self, module: Module, index: int) -> list[Match]:
        """All entries that a site fulfils, at most one for each rule, in catalog order."""
        known = self._matches.setdefault(module.number, {})
        found = known.get(index)
        if found is None:
            found = known[index] = self._match(module, index)
        return found

    def is_under(self, module: Module, site: Site, context: str) -> bool:
        """Whether a site stands in a `with` block that means a context."""
        return any(context in match.entry.contexts for i in site.within for match in self.matches(module, i))

    def matches_as(self, module: Module, index: int, target: Value) -> list[Match]:
        """The entries that a site fulfils when it calls `target` (a parameter that was given a function)."""
        site = module.sites[index]
        function = module.function_of(site)
        of, before, known = self._prepared(target)
        found = [
            m for n, entries in self.named(of) for m in self._fulfilled(module, site, function, n, entries, before)
        ]
        return [match for match in found if match.entry not in known]

    def written(self, module: Module, index: int, match: Match, parameter: str) -> Value | None:
        """What a site gives a parameter, as the file has it."""
        site = module.sites[index]
        # What a partial gives stands in another file, perhaps.
        before = [CallArgument(argument.name, None) for argument in match.before]
        arguments = [*before, *(CallArgument(argument.name, argument.value) for argument in site.args)]
        signature = self._signature(match.name, [match.entry])
        bound = argument_of(bind(arguments, signature, partial=site.kind == "partial"), parameter)
        return bound.value if bound is not None else None

    def _place(self, module: Module, site: Site, signature: list[tuple[str, object]], parameter: str) -> Place | None:
        """The value in the IR that a site itself gives a parameter, or an attribute; None for none, or where that isn't known."""
        point = point_of(self.resolver, module, site)
        operation = point.function.ops[point.at] if point is not None else (op.END,)
        if point is None or operation[0] not in (op.CALL, op.SET_ATTR):
            return None
        if operation[0] == op.SET_ATTR:
            return Place(point.function, operation[3])
        names = [name for name, _ in signature]
        position = names.index(parameter) if parameter in names and not point.function.unpacks(point.at) else -1
        passed = point.function.call(point.at).argument(position, parameter)
        return Place(point.function, passed) if passed >= 0 else None

    def given_with(self, module: Module, index: int, match: Match) -> list[Arg]:
        """What a site says that a function gets which it is handed, as the file has it."""
        site, signature = module.sites[index], self._signature(match.name, [match.entry])
        assert match.entry.hands is not None
        bound = bind([CallArgument(argument.name, argument.value) for argument in site.args], signature)
        return given_with(match.entry.hands, site, bound, signature)

    def handed(self, module: Module, index: int) -> tuple[Value | None, Site] | None:
        """The function that a site hands to a library, as the file has it, and the call that this makes of it; None where it hands over
        none, or nothing is known of how."""
        match = next((match for match in self.matches(module, index) if match.entry.hands is not None), None)
        if match is None or match.entry.hands is None or match.before:
            return None
        function = self.written(module, index, match, match.entry.hands.function)
        call = msgspec.structs.replace(module.sites[index], args=tuple(self.given_with(module, index, match)))
        return function, call

    def only_shown(self, module: Module, index: int) -> bool:
        """Whether what a site draws is an example for a tracer."""
        return self._probes.only_shown(module, index)

    def holds_with(self, match: Match, values: Mapping[str, Value | None]) -> Verdict:
        """Whether a match's conditions hold when some parameters are given values that are known."""
        given = {name: Argument(value, True) for name, value in values.items()}
        return self.judge.fulfilled(match.entry, {**match.arguments, **given})

    def _match(self, module: Module, index: int) -> list[Match]:
        site = module.sites[index]
        if site.kind in ("write", "item"):
            return NOTHING
        if site.kind in CALLS and not self._may_match(module, site.target, self._words):
            return NOTHING
        function = module.function_of(site)
        found: dict[str, Match] = {}
        _, before, known = self._prepared(self.target(module, index) if site.kind in CALLS else None)
        for name, entries in self.candidates(module, index):
            for match in self._fulfilled(module, site, function, name, entries, before):
                if match.entry in known:
                    continue
                other = found.get(match.entry.rule)
                if match.entry.rule and (other is None or (match.sure and not other.sure)):
                    found[match.entry.rule] = match
                elif not match.entry.rule:
                    found[f"{len(found)}"] = match
        return list(found.values()) or NOTHING

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

    def forget(self, module: Module) -> None:
        """Let go of what is known of a module's sites; it is worked out again if a run passes there later."""
        self._matches.pop(module.number, None)
        self._shuffles.pop(module.number, None)
        self._unpacking.pop(module.number, None)
        self._normal.pop(module.number, None)
        module.rest()

    def telling(self, words: frozenset[str]) -> frozenset[str]:
        """The last components of all that may be, by another name too, what these last components belong to."""
        return words | self.hiding(words) | {"apply"}

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

    def _fulfilled(
        self,
        module: Module,
        site: Site,
        function: Function,
        name: str,
        entries: list[int],
        before: tuple[CallArgument, ...] = (),
    ) -> list[Match]:
        found = []
        for entry, verdict, passed in self._verdicts(module, site, function, name, entries, before):
            if verdict is None:
                usual = BY_CONFIG not in entry.contexts and self._holds_by_default(module, function, entry, passed)
                if entry.unsure == "report" or usual:
                    found.append(Match(entry, name, False, passed, before))
            elif verdict:
                found.append(Match(entry, name, not self._may_be_another(module, site, entry), passed, before))
        return found

    def _verdicts(
        self,
        module: Module,
        site: Site,
        function: Function,
        name: str,
        entries: list[int],
        before: tuple[CallArgument, ...] = (),
    ) -> Iterator[tuple[Entry, Verdict, Passed]]:
        """Whether the conditions of the entries that are about the file hold, with what the site passes."""
        applicable = self._applicable(module, entries)
        if not applicable:
            return
        passed = Passed(
            lambda: self._bound(module, site, function, self._signature(name, applicable), before),
            lambda by_default: self._ways(module, site, self._signature(name, applicable), before, by_default),
            lambda parameter: (
                self._place(module, site, self._signature(name, applicable), parameter) if not before else None
            ),
        )
        for entry in applicable:
            if SALTED in entry.contexts:
                yield entry, self._salt.of_site(module, site), passed
            elif not self._has_other_dimensions(module, site, name, entry):
                ways = passed.ways if entry.when else []
                if entry.reads and entry.when and self.resolver.loaded is not None:
                    table = self.resolver.loaded.filled(module, site, name)
                    ways = [{**way, entry.reads: Argument(table, True)} for way in ways]
                if config := self.experiments.config(module, site, entry) if ways else {}:
                    ways = [{**way, **config} for way in ways]
                verdicts = {self.judge.fulfilled(entry, way) for way in ways} if entry.when else {True}
                yield entry, verdicts.pop() if len(verdicts) == 1 else None, passed

    def _ways(
        self,
        module: Module,
        site: Site,
        signature: list[tuple[str, object]],
        before: tuple[CallArgument, ...],
        by_default: bool,
    ) -> list[dict[str, Argument]]:
        """What each parameter gets where a site unpacks one of several tables; nothing where it unpacks none that is known, or many."""
        function = module.function_of(site)
        if not any(argument.name == "**" for argument in site.args):
            return []
        unpacked = [[*self.unpacked(module, function, a.value, None, by_default)] for a in site.args if a.name == "**"]
        several = [number for number, options in enumerate(unpacked) if len(options) > 1]
        if (len(several) != 1 and not by_default) or not all(unpacked):
            return []
        return [
            self._bound_with(module, site, signature, before, [options[way % len(options)] for options in unpacked])
            for way in range(max(map(len, unpacked)))
        ]

    def fulfilled_with(self, module: Module, index: int, match: Match, unpacked: Sequence[Value | None]) -> Verdict:
        """Whether a match's conditions hold where a site unpacks some tables, in normal form."""
        signature = self._signature(match.name, [match.entry])
        bound = self._bound_with(module, module.sites[index], signature, match.before, unpacked)
        return self.judge.fulfilled(match.entry, bound)

    def _bound_with(
        self,
        module: Module,
        site: Site,
        signature: list[tuple[str, object]],
        before: tuple[CallArgument, ...],
        unpacked: Sequence[Value | None],
    ) -> dict[str, Argument]:
        """What each parameter gets of a site that unpacks tables.

        Args:
            unpacked: these, in normal form.
        """
        given = iter(unpacked)
        arguments = self.call_arguments(module, site, module.function_of(site))
        told = [CallArgument("**", next(given)) if a.name == "**" else a for a in arguments]
        return self._with_self(module, site, bind((*before, *told), signature, partial=site.kind == "partial"))

    def unpacked(
        self, module: Module, function: Function, value: Value | None, known: Known | None, by_default: bool = False
    ) -> Iterator[Value | None]:
        """The tables that a value may be which a site unpacks, in normal form.

        Args:
            known: what the parameters are of `taking(value)`.
            by_default: whether they are what they are by default, as far as `known` doesn't say.
        """
        taking, kept = self.taking(module, function, value)
        usual = {p.name: p.default for p in module.detail(taking).parameters if p.default} if by_default else {}
        for table in tables(kept, known or usual.get):
            yield self.resolver.normal(module.path, table, taking)

    @staticmethod
    def taking(module: Module, function: Function, value: Value | None) -> tuple[Function, Value | None]:
        """The function whose parameters say what a value in one is, with what it is made of there: the constructor, of what that keeps."""
        if isinstance(value, Member) and value.base == Instance(f"{module.facts.module}.{function.owner}"):
            body, made = module.classes.get(function.owner), module.functions.get(f"{function.owner}.__init__")
            if body is not None and made is not None and value.attr in body.attributes:
                return made, body.attributes[value.attr]
        return function, value

    def _holds_by_default(self, module: Module, function: Function, entry: Entry, passed: Passed) -> bool:
        """Whether what the caller, or the command line, may choose is harmful by default, as is to be expected.

        A seed that nobody gives is missing. A function that hands a generator on, without one by default, leaves it to its
        caller where to draw.
        """
        if entry.rule.startswith(ON_DEVICE) and any(
            condition.given is False and isinstance(settle(passed.arguments[name].value), Param)
            for name, condition in entry.when.items()
            if name in passed.arguments
        ):
            return False
        ways = (self._usual(module, function, way, passed) for way in passed.usual)
        # What is found says that it may be; what only draws is to do so.
        return (any if entry.rule else all)(self.judge.fulfilled(entry, usual) for usual in ways)

    def undecided(self, module: Module, index: int, rules: str) -> Iterator[Match]:
        """What a site may be if a caller gives what the function around it hands on: `resize(x, mode=mode)`.

        Args:
            rules: what those begin with that are asked for.
        """
        site = module.sites[index]
        if site.kind not in CALLS or not any(parameters_in(argument.value) for argument in site.args):
            return
        function = module.function_of(site)
        for name, entries in self.candidates(module, index):
            asked = [i for i in entries if self.catalog.entries[i].rule.startswith(rules)]
            for entry, verdict, passed in self._verdicts(module, site, function, name, asked):
                if verdict is not None or entry.unsure == "report":
                    continue
                if not self._holds_by_default(module, function, entry, passed):
                    yield Match(entry, name, False, passed)

    def unknown(self, module: Module, index: int) -> Iterator[Match]:
        """What a site may be, for all that is known of the values which it passes: `batch(8, num_parallel_workers=min(4, n))`. Only rules
        are told of it, nothing that runs do; where something of a family is known, no more of that."""
        site, told = module.sites[index], {match.entry.rule[:4] for match in self.matches(module, index)}
        if site.kind not in CALLS or any(argument.name == "**" for argument in site.args):
            return
        function = module.function_of(site)
        _, before, _ = self._prepared(self.target(module, index))
        for name, entries in self.candidates(module, index):
            asked = [i for i in entries if self.catalog.entries[i].rule.startswith(BY_VALUE)]
            for entry, verdict, passed in self._verdicts(module, site, function, name, asked, before):
                family = entry.rule[:4]
                if verdict is None and family not in told and self._is_open(module, function, entry, passed):
                    told.add(family)
                    yield Match(entry, name, False, passed, before, known=False)

    def _is_open(self, module: Module, function: Function, entry: Entry, passed: Passed) -> bool:
        """Whether values decide of which nothing is known, by default neither."""
        usual = self._usual(module, function, passed.arguments, passed)
        return self.judge.asks_for_values(entry, usual)

    def unpacking(self, module: Module, index: int) -> list[Match]:
        """What a site isn't by itself, and may be by the tables that it unpacks: `DataLoader(data, **options)`."""
        site, known = module.sites[index], self._unpacking.setdefault(module.number, {})
        if site.kind not in CALLS or not any(argument.name == "**" for argument in site.args):
            return NOTHING
        if index not in known:
            told = [match.entry for match in self.matches(module, index)]
            of, before, _ = self._prepared(self.target(module, index))
            known[index] = [
                Match(entry, name, False, passed, before)
                for name, entries in self.named(of)
                for entry, verdict, passed in self._verdicts(
                    module, site, module.function_of(site), name, entries, before
                )
                if not verdict and entry not in told
            ]
        return known[index]

    def is_written_out(self, module: Module, site: Site, match: Match) -> bool:
        """Whether the program itself says what fulfils a match that isn't sure: one of two branches passes `shuffle=True`, or that is an
        option's default. Otherwise nothing is known of what it passes."""
        given, function = match.arguments, module.function_of(site)

        def holds(parameter: str, condition: Condition) -> bool:
            argument = match.argument(parameter) or Argument(None, False)
            usual = options(self.by_default(module, function, argument.value))
            passed = argument.given is not False
            return any(self.judge.holds(condition, Argument(option, passed), given) for option in usual)

        return all(holds(parameter, condition) for parameter, condition in match.entry.when.items())

    def may_draw(self, module: Module, index: int) -> list[Match]:
        """The draws of a site if a condition holds that isn't decided: `DataLoader(data, **options)`, of which the rule is told."""
        told = any(match.entry.rule.startswith(BY_DESIGN) and not match.sure for match in self.matches(module, index))
        site, found = module.sites[index], list[Match]()
        for name, entries in self.candidates(module, index) if told else ():
            drawing = [i for i in entries if self.catalog.entries[i].draws and not self.catalog.entries[i].rule]
            for entry, verdict, passed in self._verdicts(module, site, module.function_of(site), name, drawing):
                found += [Match(entry, name, False, passed)] if verdict is None else ()
        return found

    def shuffles(self, module: Module, index: int) -> list[Match]:
        """The draws of a site that only shuffles if it is handed what makes it: `make_csv_dataset(path, shuffle=shuffle)`."""
        known = self._shuffles.setdefault(module.number, {})
        found = known.get(index)
        if found is None:
            may = self._may_match(module, module.sites[index].target, self._shuffling)
            found = known[index] = [*self.undecided(module, index, SHUFFLED)] if may else NOTHING
        return found

    def _has_other_dimensions(self, module: Module, site: Site, name: str, entry: Entry) -> bool:
        """Whether a tensor that a site passes surely has a number of dimensions for which an entry doesn't hold."""
        asked = [(p, c.not_dimensions) for p, c in entry.when.items() if c.not_dimensions is not None]
        above = [(p, c.dimensions_above) for p, c in entry.when.items() if c.dimensions_above is not None]
        if above and not all(self._least(module, site, name, entry, p) > number for p, number in above):
            return True
        if not asked:
            return False
        passed = bind([CallArgument(a.name, a.value) for a in site.args], self._signature(name, [entry]))
        return any(
            argument is not None and dimensions(argument.value, module.sites) in numbers
            for argument, numbers in ((argument_of(passed, parameter), numbers) for parameter, numbers in asked)
        )

    def _least(self, module: Module, site: Site, name: str, entry: Entry, parameter: str) -> int:
        """How many dimensions a tensor surely has at least that a call gives for a parameter."""
        call = call_at(self.resolver, self._meanings, module, site)
        if call is None:
            return 0
        meaning, point = call
        given = point.function.call(point.at)
        place = [known for known, _ in self._signature(name, [entry])].index(parameter)
        value = given.named.get(parameter, given.positional[place] if place < len(given.positional) else -1)
        return least(self._meanings, meaning, point.function, value) if value >= 0 else 0

    @staticmethod
    def _may_be_another(module: Module, site: Site, entry: Entry) -> bool:
        """Whether a name under `type:` in a YAML file may be something else's: `DCN` is a network of recommenders too. Of
        layers and transforms the word itself says enough."""
        return site.kind == "registry" and entry.rule >= "DET4" and is_yaml(module.path)

    def _applicable(self, module: Module, entries: list[int]) -> list[Entry]:
        """Those of some entries that are about the file's hardware and the configured versions."""
        active, versions = self.active(module), self.versions(module)
        key = (tuple(entries), active, id(versions))
        if key not in self._current:
            self._current[key] = [
                entry
                for entry in map(self.catalog.entries.__getitem__, entries)
                if (not entry.targets or not active.isdisjoint(entry.targets) or self.is_for_runs(module, entry))
                and applies_to_version(entry, versions)
            ]
        return self._current[key]

    def _signature(self, name: str, entries: list[Entry]) -> list[tuple[str, object]]:
        """The parameters of what is called by a name; by its last component alone, a method's rather than the function's that
        takes the object first."""
        signatures = self.catalog.signatures
        names = [n for entry in entries for n in entry.names if n.endswith(name)]
        names.sort(key=lambda n: not n.rpartition(".")[0].rpartition(".")[2][:1].isupper())
        return signatures.get(name) or next((signatures[n] for n in names if signatures.get(n)), [])

    def _bound(
        self,
        module: Module,
        site: Site,
        function: Function,
        signature: list[tuple[str, object]],
        before: tuple[CallArgument, ...] = (),
    ) -> dict[str, Argument]:
        arguments = (*before, *self.call_arguments(module, site, function))
        return self._with_self(module, site, bind(arguments, signature, partial=site.kind == "partial"))

    def _with_self(self, module: Module, site: Site, bound: dict[str, Argument]) -> dict[str, Argument]:
        """What each parameter gets, and that on which a method is called."""
        if isinstance(site.target, Member) and site.kind == "call":
            own = self.resolver.normal(module.path, same_numbers(site.target.base), module.function_of(site))
            bound["self"] = Argument(own, True)
        return bound

    def unfulfilled(self, module: Module, index: int) -> Iterator[tuple[Entry, str, Argument | None]]:
        """The entries that know what a site calls but don't hold for it: the first parameter whose condition fails with what
        it gets; no parameter where the file's hardware or the configured versions rule it out."""
        site = module.sites[index]
        known = [match.entry for match in self.matches(module, index)]
        for name, numbers in self.candidates(module, index) if site.kind not in ("write", "item") else ():
            entries = self._applicable(module, numbers)
            bound = self._bound(module, site, module.function_of(site), self._signature(name, entries))
            for entry in map(self.catalog.entries.__getitem__, numbers):
                if entry not in entries:
                    yield entry, "", None
                elif entry not in known:
                    for parameter, condition in entry.when.items():
                        argument = argument_of(bound, parameter) or bound.get("**") or Argument(None, False)
                        if not self.judge.holds(condition, argument, bound):
                            yield entry, parameter, argument
                            break

    def is_for_runs(self, module: Module, entry: Entry) -> bool:
        """Whether an entry is about the CPU alone, and a file not judged for that: a run may choose it for the file all the same."""
        return entry.targets == ON_CPU and not self.settings.targets and "cpu" not in self.active(module)

    def versions(self, module: Module) -> dict[str, str]:
        """The versions of libraries that hold for a file."""
        if not self._folders:
            return self.settings.versions
        if module.path not in self._versions:
            self._versions[module.path] = nearest(self._folders, module.path, self.settings.versions)
        return self._versions[module.path]

    def active(self, module: Module) -> frozenset[str]:
        """The hardware that a file is judged for."""
        if module.path not in self._targets:
            self._targets[module.path] = targets(module, self.settings, self.catalog, self.resolver.code(module.path))
        return self._targets[module.path]

    def call_arguments(self, module: Module, site: Site, function: Function) -> list[CallArgument]:
        """A site's arguments with their values in normal form."""
        normal = self.resolver.normal
        return [CallArgument(arg.name, normal(module.path, same_numbers(arg.value), function)) for arg in site.args]

    def _usual(
        self, module: Module, function: Function, way: Mapping[str, Argument], passed: Passed
    ) -> dict[str, Argument]:
        """What parameters of a call get when nobody gives the functions around it anything else than their defaults."""
        found = {name: Argument(self.by_default(module, function, a.value), a.given) for name, a in way.items()}
        for name, argument in found.items():
            is_open = argument.value is None or isinstance(argument.value, Either) or is_taken_out(argument.value)
            place = passed.place(name) if is_open and argument.given else None
            meaning = self.sinks.meanings.of(module) if place is not None else None
            if place is not None and meaning is not None:
                leaf = partial(self._usual_leaf, module, function, meaning)
                found[name] = Argument(Evaluator(leaf).value(*place) or _left_out(*place) or argument.value, True)
        return found

    def _usual_leaf(self, module: Module, function: Function, meaning: Meaning, body: Body, at: int) -> Value | None:
        """What a name, an attribute or an item is by default."""
        value = meaning.value(body, at)
        found = resolved(value, partial(self._default, module, function))
        return found if isinstance(found, (Const, Items)) else None

    def by_default(self, module: Module, function: Function, value: Value | None) -> Value | None:
        """What a value is when the user gives no option: an argument's default, a command line's."""
        return resolved(value, partial(self._default, module, function))

    def _default(self, module: Module, function: Function, value: Value) -> Value | None:
        """The default of a parameter, or of an option of a command line; anything else is what it is."""
        if isinstance(value, Param):
            return value.default or self._default_of(module, function, value.name) or value
        option = module.facts.options.get(value.attr) if isinstance(value, Member) else None
        if option is None or not isinstance(value, Member) or not is_parsed(value.base, self.resolver, module.path):
            return value
        return self.resolver.normal(module.path, option.default)

    @staticmethod
    def _default_of(module: Module, function: Function, name: str) -> Value | None:
        """The default of a parameter of a function, or of one around it."""
        parameters = (p for around in module.around(function) for p in module.detail(around).parameters)
        return next((p.default for p in parameters if p.name == name), None)

    def _arguments_of(self, global_site: int) -> list[CallArgument]:
        """The arguments of the call that made a value."""
        place = self.resolver.place(global_site)
        if place is None:
            return []
        module, site = place
        return self.call_arguments(module, site, module.function_of(site))

    def _first_argument(self, global_site: int) -> Value | None:
        return next((argument.value for argument in self._arguments_of(global_site)), None)

    def _named_argument(self, global_site: int, name: str) -> Value | None:
        return next((a.value for a in self._arguments_of(global_site) if a.name == name), None)

    def _indexable(self, value: Value) -> Verdict:
        """Whether a value has items by position: functions, generators, and classes that only iterate have none."""
        if isinstance(value, (Items, Const)):
            return True
        if isinstance(value, Partial):
            return False
        kind = self.resolver.types.of(value)  # of what a function gives too, alone or among others
        target = Ref(kind) if "::" in kind else value.of if isinstance(value, Result) else value
        if not (isinstance(target, Ref) and "::" in target.name):
            return None
        if (found := self.resolver.function(target)) is not None:
            return False if target is value or found[1].yields else None
        by_index = self.resolver.classes.attribute(target.name, "__getitem__")
        return True if by_index is not None else False if self.resolver.kinds.is_surely_no_layer(target.name) else None


def is_class(name: str) -> bool:
    """Whether what an entry names builds an object, by the capital of its name."""
    return name.rpartition(".")[2][:1].isupper()


def last_of(name: str) -> str:
    """A registry's name without the scope before it: `mmdet.RandomFlip`."""
    return name.rpartition(".")[2]


def same_numbers(value: Value | None) -> Value | None:
    """The tensor whose numbers a value holds: `torch.eq(a, b).float().reshape(-1)` holds what the comparison gave."""
    while isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr in SAME_NUMBERS:
        value = value.of.base
    return value


def known_constant(argument: Argument | None) -> object:
    """The literal that an argument is, `...` when it isn't one."""
    if argument is not None and isinstance(argument.value, Const):
        return argument.value.value
    return ...


def _names(value: Value | None) -> list[str]:
    """The dotted names that a value may have, an attribute of alternatives included."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Member):
        return [f"{name}.{value.attr}" for name in _names(value.base)]
    return [name for option in value.options for name in _names(option)] if isinstance(value, Either) else []


def _left_out(function: Body, at: int) -> Const | None:
    """What a call gives that takes out of a table what isn't there: `options.pop("random_state", None)`."""
    at = function.meant(at)
    if function.called_on(at) < 0 or function.called(at) not in TAKES_OUT:
        return None
    given = function.call(at).positional
    constant = function.constant(given[1]) if len(given) == 2 else None if function.called(at) == "get" else UNKNOWN
    return Const(constant) if constant is None or isinstance(constant, bool | int | float | str) else None
