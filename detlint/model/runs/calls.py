"""What calling a value runs, and which functions do nothing that matters, however deep their calls go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from detlint.ir.alone import in_ir
from detlint.model.arguments import owner_of
from detlint.model.callees import BARE, Callee, Callees, returned
from detlint.model.imports import Imports
from detlint.model.module import Module
from detlint.model.parameters import Parameters
from detlint.model.raises import Raises
from detlint.model.registries import BUILDS, Registries, last
from detlint.model.resolve import Resolver
from detlint.model.runs.reach import Effect, matters, touches
from detlint.model.runs.values import is_parsed, rests_on_name, root_of
from detlint.model.sinks import Sinks
from detlint.model.sites.records import (
    LOOKED_UP,
    SETTER,
    SUPER,
    Arg,
    Branch,
    Const,
    Either,
    Expression,
    Function,
    Instance,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Step,
    Value,
    options,
    sites,
)
from detlint.model.tables import parameters, parts_of
from detlint.model.training import ONLY_DIFFERENTIATES

DEEPEST: Final = 800
"""How deep calls are explored for what matters."""
MOST_HELPERS: Final = 4
"""Functions that give back what others do."""
# Methods of a function that hand it over to a library.
LATER: Final = ("add_command", "remote")
CALLS: Final = ("call", "partial", "config")
PREPARES: Final = "prepares"
TRAINING_CELL: Final = "training-cell"
"""What gives a layer that trains when it is called, by itself or by what has it."""
OF_INPUTS: Final = "of-inputs"
"""Such gradients that are surely none of weights."""
STARTS_COMMUNICATION: Final = "starts-communication"
ADDS_COMMAND: Final = "adds-command"
"""What the catalog says of decorators that add a function to the commands of their object."""
DESCRIBES: Final = ("config", "registry")
"""Sites that say what is to be built later."""


class Knowledge(Protocol):
    """What the rule engine knows of sites."""

    sinks: Sinks
    """What becomes of what they give."""

    def matches(self, module: Module, index: int) -> Sequence[Effect]:
        """The catalog entries that a site fulfils."""

    def matches_as(self, module: Module, index: int, target: Value) -> Sequence[Effect]:
        """Those that it fulfils when it calls something else than it says (a parameter that was given a function)."""

    def shuffles(self, module: Module, index: int) -> Sequence[Effect]:
        """The draws of a site that only shuffles if it is handed what makes it."""

    def unpacking(self, module: Module, index: int) -> Sequence[Effect]:
        """What a site isn't by itself, and may be by the tables that it unpacks."""

    def may_draw(self, module: Module, index: int) -> Sequence[Effect]:
        """The draws of a site if a condition holds which isn't decided."""

    def holds_with(self, effect: Any, values: Mapping[str, Value | None]) -> bool | None:
        """Whether an entry's conditions hold when some parameters are given values that are known."""

    def target(self, module: Module, index: int) -> Value | None:
        """What a site calls, in normal form."""

    def named(self, value: Value | None) -> Sequence[tuple[str, Sequence[int]]]:
        """The names of a value that the catalog knows, with the numbers of their entries."""

    def only_shown(self, module: Module, index: int) -> bool:
        """Whether what a site draws is an example for a tracer."""

    def written(self, module: Module, index: int, effect: Any, parameter: str) -> Value | None:
        """What a call gives a parameter, as the file has it."""

    def given_with(self, module: Module, index: int, effect: Any) -> Sequence[Arg]:
        """What a call says that a function gets which it is handed, as the file has it."""


_Method = tuple[str, int, str]
"""A module, a function of it by number, and the class of `self`."""


class _Matters(Exception):
    """A function touches a stream or a switch, or passes a site that a rule knows."""


class Seen(NamedTuple):
    """The files that say that something does nothing of interest, by their paths."""

    visited: frozenset[str]
    """Those whose functions do."""
    imported: frozenset[str]
    """Those whose top level does."""
    files: tuple[str, ...] = ()
    """All of them, in a fixed order."""


class Plain(NamedTuple):
    """A call, by a name, of a function that does nothing of interest."""

    module: Module
    function: Function
    seen: Seen


class Calls(Callees):
    """What calling things runs, program-wide.

    Args:
        resolver: resolves what is called.
        knowledge: what the catalog says of sites.
        properties: the names of the properties that do something -> the files that define such.
    """

    def __init__(self, resolver: Resolver, knowledge: Knowledge, properties: Mapping[str, Sequence[str]]) -> None:
        super().__init__(resolver)
        self.knowledge = knowledge
        self.properties = properties
        self.registries = Registries(resolver, self.callees, returned)
        self.imports = Imports(resolver)
        self.raises = Raises(resolver, knowledge)
        self.parameters = Parameters(resolver, knowledge.sinks.meanings, self.callees, knowledge.named)
        self._telling: dict[str, bool] = {}
        """Whether one of the properties of a name matters."""
        self._inert: dict[_Method, int | None] = {}
        """Functions that do nothing of interest -> where this was seen from, as bits, two for a module: its top level, and its
        functions; None for the others."""
        self._inert_classes: dict[str, frozenset[str] | None] = {}
        self._seen: dict[int, Seen] = {}
        self._imports: dict[tuple[int, str], list[str]] = {}
        self._plain: dict[tuple[str, int], Plain | None] = {}
        self._loading: dict[tuple[str, int], bool] = {}
        self._commands: dict[str, list[tuple[str, Value]]] = {}
        self.callbacks: dict[str, list[Ref]] = {}
        """What runs before any command of a group, by the group's key."""

    def imports_of(self, module: Module, name: str) -> list[str]:
        """The files that importing a name runs: the packages around it, then the module itself."""
        key = (module.scope, name)
        found = self._imports.get(key)
        if found is None:
            paths = dict[str, None]()
            for full in self.resolver.modules.spelled_out(module.path, name):
                parts = full.split(".")
                for i in range(1, len(parts) + 1):
                    place = self.resolver.modules.find(module.path, ".".join(parts[:i]))
                    if place is not None:
                        paths[place[0]] = None
            found = self._imports[key] = [*filter(self.resolver.is_module, paths)]
        return [path for path in found if path != module.path] if module.path in found else found

    def imported(self, module: Module, name: str) -> Iterator[Module]:
        """The same, as modules."""
        return map(self.resolver.known, self.imports_of(module, name))

    def loads_weights(self, module: Module, function: Function) -> bool:
        """Whether a function may load weights into something that it has, by the name of the method; most have none of such names."""
        key = (module.path, function.number)
        known = self._loading.get(key)
        if known is None:
            targets = (module.sites[number].target for number in sites(module.steps(function)))
            words = self.resolver.catalog.loading
            known = self._loading[key] = any(isinstance(t, Member) and t.attr in words for t in targets)
        return known

    def draws_by_tables(self, module: Module, index: int) -> bool:
        """Whether a site may draw by a table that a parameter gives it to unpack."""
        by_parameter = any(a.name == "**" and any(parameters(a.value)) for a in module.sites[index].args)
        return by_parameter and any(effect.entry.draws for effect in self.knowledge.unpacking(module, index))

    # -- functions that need not be followed --------------------------------------------------------------------

    def is_inert(self, module: Module, function: Function, receiver: str = "") -> bool:
        """Whether running a function can't touch a stream or a switch, nor pass a site that a rule knows.

        Args:
            receiver: the class of `self`; its methods are what a method calls.
        """
        key = (module.path, function.number, receiver)
        if key not in self._inert:
            found: dict[_Method, int] = {}
            open_: list[_Method] = []
            try:
                self._explore(module, function, receiver, found, open_)
            except _Matters:
                # Everything that is still open leads to what matters.
                self._inert.update(dict.fromkeys(open_))
        return self._inert[key] is not None

    def inert(self, name: str) -> frozenset[str] | None:
        """The files that say that objects of a class of the program do nothing which a run is to know of, whoever calls whichever of their
        methods; None where they may."""
        if name not in self._inert_classes:
            family = [*self.resolver.classes.family(name)]
            methods = [
                (module, module.functions.get(f"{owner}.{method}"), name)
                for module, owner in family
                for method in module.classes[owner].methods
            ]
            files = self._inert_in(methods) if self.resolver.kinds.is_surely_no_layer(name) else None
            self._inert_classes[name] = None if files is None else files.union(module.path for module, _ in family)
        return self._inert_classes[name]

    def inert_at(self, module: Module, index: int) -> frozenset[str] | None:
        """The files that say that a site runs nothing but functions which do nothing of interest; None where it may."""
        return self._inert_in(self._callees_at(module, index, ""))

    def _inert_in(self, run: Iterable[tuple[Module, Function | None, str] | None]) -> frozenset[str] | None:
        files = set[str]()
        for callee in run:
            if callee is None:
                return None
            module, function, receiver = callee
            if function is None or not function.number or not self.is_inert(module, function, receiver):
                return None
            files.update(self.seen_from(module, function, receiver).files)
        return frozenset(files)

    def seen_from(self, module: Module, function: Function, receiver: str = "") -> Seen:
        """The files that say so of an inert function."""
        bits = self._inert[module.path, function.number, receiver] or 0
        if bits not in self._seen:
            found, files = (set[str](), set[str]()), dict[str, None]()
            left = bits
            while left:
                low = left & -left
                number, inside = divmod(low.bit_length() - 1, 2)
                other = self.resolver.numbered(number)
                if other is not None:
                    found[inside].add(other.path)
                    files[other.path] = None
                left ^= low
            self._seen[bits] = Seen(frozenset(found[1]), frozenset(found[0]), tuple(files))
        return self._seen[bits]

    def plain(self, module: Module, index: int) -> Plain | None:
        """The call that a site of a top level is, if it is plain: no run, whatever it has done before, has more to do there."""
        key = (module.path, index)
        if key not in self._plain:
            self._plain[key] = self._found_plain(module, index)
        return self._plain[key]

    def _found_plain(self, module: Module, index: int) -> Plain | None:
        site, target = module.sites[index], self.knowledge.target(module, index)
        callees = self.callees(target) if isinstance(target, Ref) and isinstance(site.target, Ref) else []
        if site.kind != "call" or len(callees) != 1 or self.knowledge.matches(module, index):
            return None
        home, function, _ = callees[0]
        if function.owner or function.deferred or home.detail(function).decorators:
            return None
        if self.knowledge.sinks.given_back_as(module, index) >= 0 or last(site.target) in ("remote", "add_command"):
            return None
        if self.inert_at(module, index) is None:
            return None
        return Plain(home, function, self.seen_from(home, function))

    def _explore(
        self, module: Module, function: Function, receiver: str, found: dict[_Method, int], open_: list[_Method]
    ) -> tuple[int, int]:
        """One visit of Tarjan's algorithm: functions that call each other in a circle are inert together, or none is.

        Args:
            found: the functions that were met, by the order in which they were.
            open_: those of them that are not settled.

        Returns: the first open function that it leads back to, and what was looked into, as bits.

        Raises:
            _Matters: it leads to something that matters, or that can't be known.
        """
        key = (module.path, function.number, receiver)
        number = first = found[key] = len(found)
        if len(open_) > DEEPEST:
            open_.append(key)
            raise _Matters
        open_.append(key)
        bits = 1 << 2 * module.number + (function.number > 0)
        for callee in self._callees_of(module, module.steps(function), function, receiver):
            if callee is None:
                raise _Matters
            other = (callee[0].path, callee[1].number, callee[2])
            if other in self._inert:
                known = self._inert[other]
                if known is None:
                    raise _Matters
                bits |= known
            elif other in found:
                first = min(first, found[other])
            else:
                back, below = self._explore(*callee, found, open_)
                first, bits = min(first, back), bits | below
        if first == number:
            start = open_.index(key)
            self._inert.update(dict.fromkeys(open_[start:], bits))
            del open_[start:]
            if function.number == 0:
                module.rest()  # most modules are only imported
        return first, bits

    def _callees_of(
        self, module: Module, steps: Iterable[Step], function: Function, receiver: str
    ) -> Iterator[Callee | None]:
        """What some steps run; None for something that matters or can't be known."""
        for step in steps:
            if isinstance(step, Branch):
                if step.kind == "main" and function.number == 0:
                    continue
                if step.kind in ("exit", "raise"):
                    yield None
                if step.kind == "with":
                    kind = self.resolver.types.of(self.resolver.normal(module.path, step.test))
                    for method in ("__enter__", "__exit__") if "::" in kind else ():
                        yield from self.method(kind, method)
                for arm in step.arms:
                    yield from self._callees_of(module, arm, function, receiver)
            elif step <= -2:
                run = module.body.runs[-2 - step]
                if isinstance(run, str):
                    if self.imports.may_raise(module, run):
                        yield None
                    yield from ((imported, imported.facts.functions[0], "") for imported in self.imported(module, run))
                elif run.attr in self.properties:
                    yield from self._accessed(module, run, receiver)
            elif step >= 0:
                yield from self._callees_at(module, step, receiver)

    def _callees_at(self, module: Module, index: int, receiver: str) -> Iterator[Callee | None]:
        site = module.sites[index]
        if site.kind == "write":
            assert isinstance(site.target, Member)
            base = self.resolver.normal(module.path, site.target.base)
            if is_seed(site.target) or is_parsed(base, self.resolver, module.path):
                yield None
            elif site.target.attr in self.properties:
                yield from self._accessed(module, site.target, receiver, SETTER)
            return
        found = self.knowledge.matches(module, index)
        if (
            any(matters(e.entry) for e in found)
            or last(site.target) in LATER
            or is_chosen(site.target)
            or self.raises.at(module, index)
        ):
            yield None
            return
        if self.knowledge.shuffles(module, index) or self.draws_by_tables(module, index):
            yield None
            return
        if site.kind not in CALLS:
            return
        target = self.dispatched(module, index, receiver)
        if self.is_prepared(target) or rests_on_name(target) or self.rests_on_settings(target):
            yield None
            return
        if (holds_parameter(site.target) or holds_parameter(target)) and receiver != BARE:
            yield None
            return
        if isinstance(site.target, Member) and is_parsed(site.target.base, self.resolver, module.path):
            yield None  # `args.func(args)`
            return
        if is_choice(site.target) and any(
            isinstance(option, Ref) and any(matters(e.entry) for e in self.knowledge.matches_as(module, index, option))
            for option in options(target)
        ):
            yield None
            return
        given = (inner for argument in site.args for inner in parts_of(argument.value))
        handed = (self.resolver.normal(module.path, value) for value in given if isinstance(value, (Ref, Partial)))
        # A class that is handed over is seldom made there, and what draws is seen where it is.
        functions = (
            v for v in handed if not (isinstance(v, Ref) and "::" in v.name and self.resolver.classes.is_class(v.name))
        )
        for value in (target, *functions):
            for home, callee, owner in self._run_by(value):
                own = receiver if isinstance(site.target, Member) and is_self(site.target.base) else owner
                if not own and callee.owner and isinstance(site.target, Member):
                    own = self.resolver.types.of(self.resolver.normal(module.path, site.target.base))
                yield home, callee, own if callee.owner else ""
                yield from self._wrappers(home, callee)

    def is_prepared(self, target: Value | None) -> bool:
        """Whether calling a value takes gradients, because what it holds was made for that: `grad_fn = value_and_grad(net)`."""
        return any(
            isinstance(option, Result)
            and isinstance(option.of, Ref)
            and "::" not in option.of.name
            and PREPARES in self.resolver.contexts(option.of.name)
            and self._prepares(option.site)
            for option in options(target)
        )

    def rests_on_settings(self, value: Value | None) -> bool:
        """Whether settings say what something is: it is of what a builder gives, perhaps by way of functions of the program."""
        root = root_of(value)
        for _ in range(MOST_HELPERS if root is not value else 0):
            if not isinstance(root, Ref) or "::" not in root.name:
                break
            root = root_of(self.resolver.results.returned(root.name))
        return isinstance(root, Ref) and root.name in self.resolver.catalog.builders

    def _prepares(self, number: int) -> bool:
        """Whether a call, whose site may not be known, gives what takes gradients of more than its arguments."""
        place = self.resolver.place(number)
        if place is None:
            return True
        effects = self.knowledge.matches(place[0], number & 0xFFFFFFFF)
        return not any(ONLY_DIFFERENTIATES in effect.entry.contexts for effect in effects)

    def _accessed(self, module: Module, target: Member, receiver: str, what: str = "") -> Iterator[Callee | None]:
        """What reading an attribute runs, or setting it; None where that can't be known, and such a property matters."""
        base = target.base
        own = isinstance(base, Instance) and receiver
        value = Instance(receiver) if own else self.resolver.normal(module.path, base)
        if value is not None and holds_parameter(value):
            if self._tells(target.attr):
                yield None
        else:
            yield from self.accessors(value, target.attr, what)

    def _tells(self, name: str) -> bool:
        """Whether any property of a name, of any class, matters."""
        if name not in self._telling:
            self._telling[name] = True  # while that is being found out
            self._telling[name] = any(
                not self.is_inert(module, function)
                for module in map(self.resolver.module, self.properties[name])
                if module is not None
                for function in module.facts.functions
                if function.owner and function.name in (f"{function.owner}.{name}", f"{function.owner}.{name}{SETTER}")
            )
        return self._telling[name]

    def _run_by(self, target: Value | None) -> Iterator[Callee]:
        """The functions that calling a value may run at any time: a class's constructor, and what is called on its
        objects."""
        for option in options(target):
            if isinstance(option, Result) and isinstance(option.of, Ref):
                for module, function, _ in self.callees(option.of):
                    inner = returned(module, function)
                    if inner is not None:
                        yield module, inner, ""
            yield from self.callees(option)
            if isinstance(option, Ref) and "::" in option.name and self.resolver.classes.is_class(option.name):
                yield from self.hooks(option.name)

    def _wrappers(self, module: Module, function: Function) -> Iterator[Callee]:
        """The functions that decorators of the program put around one."""
        for decorator in module.detail(function).decorators:
            made = decorator.of if isinstance(decorator, Result) else decorator
            for home, outer, _ in self.callees(self.resolver.normal(module.path, made)):
                inner: Function | None = outer
                while inner is not None:
                    yield home, inner, BARE
                    inner = returned(home, inner)

    def acts(self, module: Module) -> bool:
        """Whether a module's top level does anything that matters besides importing."""
        for index in sites(module.steps(module.facts.functions[0])):
            if module.sites[index].kind in DESCRIBES:
                continue
            found = self.knowledge.matches(module, index)
            if any(touches(effect.entry) for effect in found):
                return True
            for callee in self._callees_at(module, index, "") if not found else ():
                if callee is None or not self.is_inert(*callee):
                    return True
        return False

    def commands_in(self, module: Module) -> list[tuple[str, Value]]:
        """The commands that decorators in a file add: (the key of their group, the function)."""
        if module.path not in self._commands:
            self._commands[module.path] = [
                (key, Ref(f"{module.path}::{function.name}"))
                for function in module.facts.functions
                for decorator in module.detail(function).decorators
                if decorator is not None and (key := self._adds_to(module, decorator))
            ]
            for function in module.facts.functions:
                for decorator in module.detail(function).decorators:
                    made = decorator.of if isinstance(decorator, Result) else None
                    if made is not None and (key := self._group(module, made, "callback")):
                        self.callbacks.setdefault(key, []).append(Ref(f"{module.path}::{function.name}"))
        return self._commands[module.path]

    def _adds_to(self, module: Module, decorator: Value) -> str:
        """The key of the group that a decorator adds a function to: `@group.command()`, `@experiment.main`; "" for any other."""
        made = decorator.of if isinstance(decorator, Result) else decorator
        if isinstance(decorator, Result) and (key := self._group(module, made, "command")):
            return key
        normal = self.resolver.normal(module.path, made)
        adds = isinstance(normal, Ref) and ADDS_COMMAND in self.resolver.contexts(normal.name)
        return repr(self.resolver.normal(module.path, owner_of(made))) if adds else ""

    def _group(self, module: Module, made: Value, method: str) -> str:
        """The key of the group that `@group.command()` adds to; "" for another decorator."""
        if last(made) != method:
            return ""
        return repr(self.resolver.normal(module.path, owner_of(made)))

    def dispatched(self, module: Module, index: int, receiver: str) -> Value | None:
        """What a site calls, methods of `self` by the class that it is of."""
        raw = module.sites[index].target
        if receiver and isinstance(raw, Member):
            if isinstance(raw.base, Instance):
                found = self.resolver.classes.attribute(receiver, raw.attr)
                if found is not None:
                    return found
            elif is_self(raw.base) and isinstance(raw.base, Member) and isinstance(raw.base.base, Instance):
                own = self.resolver.name(module.path, raw.base.base.of)
                if isinstance(own, Ref):
                    return self.resolver.classes.inherited(own.name, raw.attr, receiver)
        return self.knowledge.target(module, index)


def holds_parameter(value: Value | None) -> bool:
    """Whether what is called may be something that a parameter was given."""
    root = root_of(value)
    return any(map(holds_parameter, root.options)) if isinstance(root, Either) else isinstance(root, Param)


def rests_on_call(value: Value | None) -> bool:
    """Whether what something is hangs on what a call gives: of a function of the program, or by a name that isn't written out."""
    while isinstance(value, (Member, Result)):
        if isinstance(value, Result) and isinstance(value.of, Ref):
            return "::" in value.of.name or value.of in LOOKED_UP
        value = value.base if isinstance(value, Member) else value.of
    return False


def left_out(module: Module, function: Function, value: Value | None) -> str:
    """The parameter that a value is, if it is None where a call leaves it out; "" where it is none. Something else stands in its place
    then (`norm = norm or BatchNorm2d`)."""
    if isinstance(value, Param):
        return value.name if value.default == Const(None) else ""
    name = value.name if isinstance(value, Instance) else ""
    known = name and any(p.name == name and p.default == Const(None) for p in module.detail(function).parameters)
    return name if known else ""


def is_self(value: Value) -> bool:
    """Whether a method's receiver is `self` or `super()`."""
    return isinstance(value, Instance) or (isinstance(value, Member) and value.attr == SUPER)


def is_seed(target: Member) -> bool:
    """Whether an attribute that is set may be an option of the command line that decides on a seed."""
    return isinstance(target.base, (Param, Result, Member)) and "seed" in target.attr.lower()


def is_choice(value: Value | None) -> bool:
    """Whether something is called that was taken out of a collection."""
    return isinstance(value, Member) and value.attr.startswith("[")


def is_chosen(target: Value) -> bool:
    """Whether a registry may be what chooses: `MODELS[name](...)`, `self.get(name)(...)`, `MODELS.build(...)`."""
    if not isinstance(root_of(target), (Ref, Instance)):
        return False
    return is_choice(target) or isinstance(target, Result) or last(target) in BUILDS


def asked_of_itself(branch: Branch, *, known: bool = False) -> Member | None:
    """The attribute of the object itself that an `if` asks, or of which it asks what text that is; None for any other.

    Args:
        known: whether it is known with what the object was made, so that tests count, too, which options may decide.
    """
    test = branch.test if branch.kind == "if" and len(branch.arms) == 2 else None
    if isinstance(test, Member):
        return test
    if not isinstance(test, Expression) or (branch.span is not None and not known) or len(test.names) != 1:
        return None
    ((name, own),) = test.names.items()
    found = in_ir(test.text) if isinstance(own, Instance) and not own.name else None
    for part in found[0].within(found[1]) if found is not None else ():
        root, _, attributes = found[0].dotted(part).partition(".") if found is not None else ("", "", "")
        if own is not None and root == name and attributes:
            return Member(own, attributes.partition(".")[0])
    return None
