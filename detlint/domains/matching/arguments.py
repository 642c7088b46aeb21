"""What the parameters of an entry get at a site: by the call itself, by tables that it unpacks, by default."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from detlint.catalog import SHUFFLED, Catalog, Entry, Target
from detlint.config import Settings
from detlint.domains.constant.evaluator import Evaluator, resolved
from detlint.domains.constant.experiments import Experiments
from detlint.domains.entropy import Salt
from detlint.domains.matching.conditions import Judge, Verdict, argument_of, is_taken_out
from detlint.domains.matching.record import Match, Passed
from detlint.domains.matching.scope import applies_to_version, targets
from detlint.domains.numeric.dimensions import dimensions
from detlint.domains.numeric.shapes import least
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN
from detlint.ir.code import Function as Body
from detlint.ir.places import Place
from detlint.model.arguments import Argument, CallArgument, bind, signature_of
from detlint.model.links import Linked
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.places import call_at, point_of
from detlint.model.project import Project
from detlint.model.registries import last
from detlint.model.runs.values import is_parsed
from detlint.model.sites.records import (
    TAKES_OUT,
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
)
from detlint.model.tables import Known, tables
from detlint.model.uses import Users
from detlint.versions import nearest

SAME_NUMBERS: Final = frozenset({
    "astype", "contiguous", "expand", "expand_as", "flatten", "float", "permute", "ravel", "reshape", "squeeze", "transpose", "unsqueeze",
    "view", "view_as",
})  # fmt: skip
"""Methods of tensors that give the same numbers in another shape, or as floating-point ones."""
ON_CPU: Final[tuple[Target, ...]] = ("cpu",)


class Arguments:
    """Finds what parameters get.

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
        self.judge: Judge
        self._matches: dict[int, dict[int, tuple[list[Match], dict[int, None]]]] = {}
        """With what they rest on."""
        self._shuffles: dict[int, dict[int, list[Match]]] = {}
        self._unpacking: dict[int, dict[int, list[Match]]] = {}
        self._normal: dict[int, dict[int, Value | None]] = {}
        """By module number and site, until `forget`."""
        self._words = self.telling(self.catalog.words | self.catalog.raising_words)
        self._shuffling = self.telling(self.catalog.words_of({SHUFFLED}))
        self._asked: set[str] = set()
        """Classes of the program of which it is being found out whether they run a kernel."""
        self._meanings = users.meanings
        self._salt = Salt(resolver, users.meanings)
        self.experiments = Experiments(users, project.documents)

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

    def telling(self, words: frozenset[str]) -> frozenset[str]:
        """The last components of all that may be, by another name too, what these last components belong to."""
        return words | self.hiding(words) | {"apply"}

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
            code = self.resolver.modules.code(module.path)  # of which its top level is asked alone
            self._targets[module.path] = targets(module, self.settings, self.catalog, code)
        return self._targets[module.path]

    def call_arguments(self, module: Module, site: Site, function: Function) -> list[CallArgument]:
        """A site's arguments with their values in normal form."""
        normal = self.resolver.normal
        return [CallArgument(arg.name, normal(module.path, same_numbers(arg.value), function)) for arg in site.args]

    def given_here(self, module: Module, site: Site, value: Value) -> Iterator[Value]:
        """What calls in the file give the parameter that a value is, of the function around a site."""
        name = value.name if isinstance(value, Param) else ""
        around = (f for f in module.around(module.function_of(site)) if any(p.name == name for p in module.taken(f)))
        function = next(around, None)
        if not name or function is None:
            return
        own, word = Ref(f"{module.path}::{function.name}"), function.name.rpartition(".")[2]
        signature = signature_of(module.taken(function))
        for call in (one for one in module.sites if one.kind == "call" and last(one.target) == word):
            where = module.function_of(call)
            if self.resolver.normal(module.path, call.target, where) == own:
                given = bind(self.call_arguments(module, call, where), signature).get(name)
                yield from [given.value] if given is not None and given.value is not None else []

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

    def first_argument(self, site: int) -> Value | None:
        """The first argument of the call at a site, by its global number."""
        return next((argument.value for argument in self._arguments_of(site)), None)

    def named_argument(self, site: int, name: str) -> Value | None:
        """The argument that it has by a keyword."""
        return next((a.value for a in self._arguments_of(site) if a.name == name), None)

    def indexable(self, value: Value) -> Verdict:
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


def same_numbers(value: Value | None, same: Container[str] = SAME_NUMBERS) -> Value | None:
    """The tensor whose numbers a value holds: `torch.eq(a, b).float().reshape(-1)` holds what the comparison gave.

    Args:
        same: the methods that give back what they are called on, or its numbers.
    """
    while isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr in same:
        value = value.of.base
    return value


def _left_out(function: Body, at: int) -> Const | None:
    """What a call gives that takes out of a table what isn't there: `options.pop("random_state", None)`."""
    at = function.meant(at)
    if function.called_on(at) < 0 or function.called(at) not in TAKES_OUT:
        return None
    given = function.call(at).positional
    constant = function.constant(given[1]) if len(given) == 2 else None if function.called(at) == "get" else UNKNOWN
    return Const(constant) if constant is None or isinstance(constant, bool | int | float | str) else None
