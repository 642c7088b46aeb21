"""Whether gradients are taken at a place: of the layers that come there, of the code that trains, or of neither.

A function is asked for who calls it, in the whole program, up to where that is decided: a layer that works on its data, code
under `no_grad`, the items of a data set. What the callers differ on is decided by the one that takes most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import Final, Literal, NamedTuple

from detlint.db import Memo
from detlint.domains.matching.match import Matcher
from detlint.ir import ops as op
from detlint.ir.places import Test
from detlint.ir.tests import denied
from detlint.model.module import Module
from detlint.model.places import point_of
from detlint.model.sites.records import Const, Function, Member, Partial, Ref, Result, Site, Value, options
from detlint.model.tests import telling
from detlint.model.training import Training
from detlint.model.uses import Use, Users, words_in

EVALUATED: Final = 0
"""None are: it runs under `no_grad`, or where a layer doesn't train."""
BEFORE: Final = 1
"""None are: it makes data, or weights, before anything is trained."""
OPEN: Final = 2
"""Whoever uses it may take some, or none."""
UNUSED: Final = 3
"""Nothing in the program uses it."""
TAKEN: Final = 4
Taken = int


class _About(NamedTuple):
    """What is asked of functions."""

    what: Literal["", "layers", "objects"] = ""
    """Whether it is about layers that they build, which compute later, or about other objects that they make, and what is
    handed on; else about what they compute themselves."""
    everywhere: bool = True
    """Whether other files are searched for their callers."""


_Key = tuple[str, int, _About]
_Known = dict[_Key, Taken | None]
"""What is known of functions, by path and number; None: nothing yet."""

BEGINNING: Final = frozenset({"__init__", "__post_init__", "_init_weights", "init_weights", "reset_parameters"})
"""Methods of layers that run before any pass, and so are part of none."""
GIVES_BACKWARD: Final = "register_autograd"
"""The word by which an operator that a program defines gets a backward pass."""
_LEAVES: Final = frozenset({"builtins", "contextlib", "functools"})
"""Modules whose decorators leave a function to those who call it by its name."""


class Gradients:
    """Decides whether gradients are taken at places of a program."""

    def __init__(self, matcher: Matcher, users: Users, training: Training, root: str) -> None:
        self.matcher = matcher
        self.resolver = matcher.resolver
        self.users = users
        self.training = training
        self.root = root
        self._decided: Memo[Taken] = Memo(users.db)
        self._inferring: dict[str, bool] = {}
        self._modes = self.resolver.catalog.modes
        self._forwards = {framework.forward for framework in self.resolver.catalog.frameworks}
        self._wraps = self.resolver.catalog.with_context("called-as-before")
        self._no_grad = self.resolver.catalog.with_context("no-grad")
        self._pipelines = self.resolver.catalog.with_context("pipeline")
        self._operators = self.resolver.catalog.with_context("operator")
        self._opaque = self.resolver.catalog.with_context("opaque-operator")
        self._keepers = self.resolver.catalog.with_context("keeps-for-backward")

    def at(self, module: Module, site: Site, builds: bool) -> Taken:
        """Whether gradients are taken at a site.

        Args:
            builds: whether it builds an object, whose gradients are taken where that is used.
        """
        return self._at(module, site, _About("layers" if builds else ""))

    def are_off(self, module: Module, site: Site, by_callers: bool = False) -> bool:
        """Whether a site surely runs where none are taken, by what stands around it alone.

        Args:
            by_callers: or by who calls its function in the same file.
        """
        if by_callers and self._at(module, site, _About(everywhere=False)) <= BEFORE:
            return True
        off = self.never_flow_out(module, module.function_of(site))
        return off or self._under_no_grad(module, site) or self._runs_while_evaluating(module, site)

    def are_replaced(self, module: Module, site: Site, name: str) -> bool:
        """Whether a site stands in the forward pass of an operator that has a backward pass of its own, in the place of those of
        what it does: `torch.autograd.Function`, or a function that keeps tensors for one. Or the operator has none at all.

        Args:
            name: what it calls. A kernel of another library has no backward pass by itself: it is told of the whole operator.
        """
        function = module.function_of(site)
        if function.owner:
            bases = self._operators.intersection(self.resolver.classes.mro(f"{module.path}::{function.owner}"))
            inside = function.name == f"{function.owner}.forward" and any(
                _library(base) == _library(name) for base in bases
            )
        else:
            inside = any(_library(k) == _library(name) for k in self._keepers) and self._keeps(module, function, site)
        inside = inside or self._is_opaque(module, function)
        return inside and not self.matcher.is_under(module, site, "gradients")

    def never_flow_out(self, module: Module, function: Function) -> bool:
        """Whether what a function gives needs no gradients, since it runs under `no_grad`."""
        return any(self._is_no_grad(module, decorator) for decorator in module.detail(function).decorators)

    def uses(self, module: Module, name: str) -> list[Use] | None:
        """The uses of a definition in the program, outside of tests; None where they can't all be found."""
        found = self.users.of(module, name)
        return found and [*telling(found, module)]

    def _at(self, module: Module, site: Site, about: _About) -> Taken:
        if self._under_no_grad(module, site) or self._runs_while_evaluating(module, site):
            return EVALUATED

        def find() -> Taken:
            taken = self._ask(module, module.function_of(site), about, {})
            return UNUSED if taken is None else taken

        return self._decided.of((module.path, site.function, about), find, UNUSED)

    def _ask(self, module: Module, function: Function, about: _About, known: _Known) -> Taken | None:
        """What a function or those who call it say; None for one that only calls itself.

        Args:
            known: what is known already, and, as None, what is being asked.
        """
        key = (module.path, function.number, about)
        if key not in known:
            known[key] = None
            known[key] = self._decide(module, function, about, known)
        return known[key]

    def _decide(self, module: Module, function: Function, about: _About, known: _Known) -> Taken | None:
        if self.never_flow_out(module, function):
            return EVALUATED
        if not function.name:
            return self._of_top_level(module, about)
        if function.owner:
            return self._of_method(module, function, about, known)
        if self._handles_weights(module, function):
            return EVALUATED
        if self._is_handed_a_layer(module, function):
            return TAKEN
        if self._is_registered(module, function):
            return TAKEN
        uses = self._uses(module, function.name, about)
        first = next(uses, None)
        if first is not None:
            return self._through(chain((first,), uses), function.name, about, known)
        around = next(islice(module.around(function), 1, None), None)
        return self._ask(module, around, about, known) if around is not None else self._unused(module)

    def _through(self, uses: Iterable[Use], name: str, about: _About, known: _Known) -> Taken | None:
        """The most that a use takes of what a definition does."""
        found: list[Taken | None] = []
        for module, index, called in uses:
            if index < 0:
                return TAKEN
            site = module.sites[index]
            if self._under_no_grad(module, site) or self._runs_while_evaluating(module, site):
                found.append(EVALUATED)
            elif (
                self._only_prepares_data(module, index) if called else self._is_for_data(site, name.rpartition(".")[2])
            ):
                found.append(BEFORE)
            else:
                # What is handed on is run sometime later, as what is built is.
                later = about if called else about._replace(what=about.what or "objects")
                found.append(self._ask(module, module.function_of(site), later, known))
            if found[-1] == TAKEN:
                return TAKEN
        return max((taken for taken in found if taken is not None), default=None)

    def _uses(self, module: Module, name: str, about: _About) -> Iterator[Use]:
        """The uses of a definition, one by one."""
        uses = self.users.each(module, name) if about.everywhere else self.users.within(module, name)
        return telling(uses, module)

    def _of_method(self, module: Module, function: Function, about: _About, known: _Known) -> Taken | None:
        owner, last = f"{module.path}::{function.owner}", function.name.rpartition(".")[2]
        layer = self.resolver.kinds.layer(owner)
        if layer is not None and last in BEGINNING and not about.what:
            return BEFORE
        if layer is None or last != layer.forward:
            callers = [use for use in self.users.within(module, function.name) if use.called]
            taken = self._through(callers, function.name, about, known) if callers else None
            if taken is not None and taken <= BEFORE:
                return taken
        if layer is not None:
            return OPEN if self._only_evaluated(module, function.owner) else TAKEN
        if self.resolver.kinds.is_dataset(owner):
            return BEFORE
        if not self.resolver.kinds.is_surely_no_layer(owner):
            return OPEN if self._only_infers(module) and last not in self._forwards else TAKEN
        if self._evaluates_itself(module, function.owner):
            return OPEN
        helps = last not in BEGINNING and self._is_handed_a_layer(module, function)
        if not helps and not self._trains(module):
            return OPEN
        # What it does is taken from where objects of its class are made.
        uses = [*self._uses(module, function.owner, about)]
        made = [use for use in uses if use.called]
        later = about._replace(what=about.what or "objects")
        taken = self._through(made, function.owner, later, known) if made else TAKEN
        if helps:
            return taken  # it does part of that layer's work
        surely = taken == EVALUATED and len(made) == len(uses) and not self._enables(module)
        return EVALUATED if surely else TAKEN

    def _evaluates_itself(self, module: Module, owner: str) -> bool:
        """Whether a class takes no gradients where it is used as a whole, as pipelines of inference do, by what it or a base has for
        that."""
        if not owner:
            return False
        for name in self.resolver.classes.mro(f"{module.path}::{owner}"):
            if name in self._pipelines:
                return True
            used = self.resolver.function(Ref(f"{name}.__call__"))
            if used is not None:
                return self.never_flow_out(*used)
        return False

    def _has_pipeline(self, module: Module) -> bool:
        """Whether a class of a file takes no gradients where it is used as a whole, and nothing in the file takes any."""
        return any(self._evaluates_itself(module, name) for name in module.classes) and not self._trains(module)

    def _only_evaluated(self, module: Module, owner: str) -> bool:
        """Whether only a class of the same file builds a layer, and takes no gradients, as a pipeline of inference does."""
        if self._enables(module) or not any(self._evaluates_itself(module, name) for name in module.classes):
            return False
        uses = [*self._uses(module, owner, _About())]
        return bool(uses) and all(self._builds_to_evaluate(use, module, owner) for use in uses)

    def _builds_to_evaluate(self, use: Use, module: Module, owner: str) -> bool:
        """Whether a class that takes no gradients builds a layer, perhaps by a method of that (`cls(...)`)."""
        if self._is_in_pipeline(use):
            return True
        function = use.module.function_of(use.module.sites[use.site]) if use.site >= 0 else None
        if function is None or not use.called or use.module is not module or function.owner != owner:
            return False
        makers = [*self._uses(module, function.name, _About())]
        return bool(makers) and all(map(self._is_in_pipeline, makers))

    def _is_in_pipeline(self, use: Use) -> bool:
        """Whether a class that takes no gradients where it is used as a whole calls a definition."""
        if not use.called or use.site < 0:
            return False
        return self._evaluates_itself(use.module, use.module.function_of(use.module.sites[use.site]).owner)

    def _of_top_level(self, module: Module, about: _About) -> Taken:
        """Of what a module does when it is imported, or run."""
        if about.what != "objects" or module.facts.starts in ("main", "notebook") or not self.users.is_imported(module):
            return TAKEN
        layers = (self.resolver.kinds.layer(f"{module.path}::{name}") for name in module.classes)
        return TAKEN if any(layer is not None for layer in layers) else OPEN

    def _unused(self, module: Module) -> Taken:
        """Of a function that nothing in the program uses. What uses a file that nothing imports is not in sight."""
        if self._only_infers(module) or self._has_pipeline(module):
            return OPEN
        return UNUSED if self.users.is_imported(module) else TAKEN

    def _is_registered(self, module: Module, function: Function) -> bool:
        """Whether a decorator may hand a function to somebody else, `@ATTENTION.register("flash")`, as all do of which it isn't known that
        they leave it to those who call it by its name."""
        made = (d.of if isinstance(d, Result) else d for d in module.detail(function).decorators)
        values = (self.resolver.normal(module.path, value) for value in made)
        names = [self.resolver.catalog.canonical(v.name) if isinstance(v, Ref) else "" for v in values]
        return any(name.partition(".")[0] not in _LEAVES and name not in self._wraps for name in names)

    def _is_for_data(self, site: Site, word: str) -> bool:
        """Whether a call hands a function to a data pipeline: `dataset.map(f)`, `DataLoader(collate_fn=f)`."""
        words = self.resolver.catalog.pipelines
        if _called(site) in words:
            return True
        return all(arg.name in words for arg in site.args if word in words_in(arg.value))

    def _only_prepares_data(self, module: Module, index: int) -> bool:
        """Whether a site makes a partial function that only data pipelines are handed: `dataset.map(partial(f, 2))`."""
        if module.sites[index].kind != "partial":
            return False
        words, handed = self.resolver.catalog.pipelines, False
        for site in module.sites:
            if _is_partial(site.target, index):
                return False
            for arg in site.args:
                if _is_partial(arg.value, index):
                    handed = True
                    if _called(site) not in words and arg.name not in words:
                        return False
        return handed

    def _is_handed_a_layer(self, module: Module, function: Function) -> bool:
        annotations = [p.annotation for p in module.detail(function).parameters if p.annotation]
        values = [self.resolver.name(module.path, annotation) for annotation in annotations]
        return any(isinstance(value, Ref) and self.resolver.kinds.layer(value.name) is not None for value in values)

    def _is_opaque(self, module: Module, function: Function) -> bool:
        """Whether a function is made an operator that records nothing of what it does, and no file that says its name, or that of
        the operator, gives any a backward pass. What stands in for the decorator in versions without it, counts for nothing."""
        for made in module.detail(function).decorators:
            if isinstance(made, Result) and made.site >= 0 and self._is_made_opaque(module, made):
                first = next((argument.value for argument in module.sites[made.site].args), None)
                named = str(first.value).rpartition("::")[2] if isinstance(first, Const) else ""
                return bool(named) and not self._give_backward({function.name.rpartition(".")[2], named})
        return False

    def _is_made_opaque(self, module: Module, decorator: Result) -> bool:
        values = options(self.resolver.normal(module.path, decorator.of))
        return any(isinstance(value, Ref) and value.name in self._opaque for value in values)

    def _give_backward(self, names: set[str]) -> bool:
        """Whether the code of a file has one of some names, also as that of an operator, and gives operators backward passes."""
        for path in self.users.index.saying(GIVES_BACKWARD, self.root):
            code = self.resolver.code(path)
            if code is None or GIVES_BACKWARD not in code.identifiers:
                continue
            said = {text.rpartition("::")[2] for text in code.constants if isinstance(text, str)}
            if not names.isdisjoint(code.identifiers | said):
                return True
        return False

    def _handles_weights(self, module: Module, function: Function) -> bool:
        """Whether a function is handed stored weights, to convert or resize them."""
        names = {parameter.name for parameter in module.detail(function).parameters}
        return not names.isdisjoint(self.resolver.catalog.weights)

    def _only_infers(self, module: Module) -> bool:
        """Whether a file is about inference: something in it takes no gradients, and no class of it is a layer."""
        if module.path not in self._inferring:
            decorators = (decorator for detail in module.body.details for decorator in detail.decorators)
            self._inferring[module.path] = (
                any(self._is_no_grad(module, decorator) for decorator in decorators)
                and not self._trains(module)
                and bool(module.classes)
                and all(self.resolver.kinds.layer(f"{module.path}::{name}") is None for name in module.classes)
            )
        return self._inferring[module.path]

    def _trains(self, module: Module) -> bool:
        return any(site.kind == "call" and _called(site) == "backward" for site in module.sites)

    def _enables(self, module: Module) -> bool:
        """Whether a file switches gradients on again inside of what takes none: it takes some there."""
        calls = (site for site in module.sites if site.kind == "call" and _called(site) == "backward")
        return any(self.are_off(module, site) for site in calls)

    def _under_no_grad(self, module: Module, site: Site) -> bool:
        return self.matcher.is_under(module, site, "no-grad")

    def _keeps(self, module: Module, function: Function, site: Site) -> bool:
        """Whether a function is handed what tensors are kept in for a backward pass, and keeps some."""
        first = module.detail(function).parameters[:1]
        kind = self.resolver.name(module.path, first[0].annotation) if first and first[0].annotation else None
        point = point_of(self.resolver, module, site) if isinstance(kind, Ref) and kind.name in self._keepers else None
        if point is None:
            return False
        around, strings = point.around, point.around.code.strings
        asked = (operation for _, operation in around.each(op.ATTR) if strings[operation[2]] == "save_for_backward")
        return any(around.given(operation[1]) == (around, 0) for operation in asked)

    def _runs_while_evaluating(self, module: Module, site: Site) -> bool:
        """Whether a site runs only while its layer doesn't train: `if not self.training: ...`."""
        point = point_of(self.resolver, module, site) if not self._modes.isdisjoint(self._names(module)) else None
        return point is not None and any(map(self._asks_mode, point.tests()))

    def _names(self, module: Module) -> AbstractSet[str]:
        code = self.resolver.code(module.path)
        return code.identifiers if code is not None else frozenset()

    def _asks_mode(self, test: Test) -> bool:
        """Whether a test holds only while a layer doesn't train."""
        function, value, wanted = test
        while (inner := denied(function, value)) >= 0:
            value, wanted = inner, not wanted
        operation = function.ops[value]
        return not wanted and operation[0] == op.ATTR and function.code.strings[operation[2]] in self._modes

    def _is_no_grad(self, module: Module, decorator: Value | None) -> bool:
        named = decorator.of if isinstance(decorator, Result) else decorator
        value = self.resolver.name(module.path, named.name) if isinstance(named, Ref) else None
        return isinstance(value, Ref) and value.name in self._no_grad


def _library(name: str) -> str:
    return name.partition(".")[0]


def _is_partial(value: Value | None, index: int) -> bool:
    """Whether a value is the partial function that a site makes."""
    return isinstance(value, Partial) and value.site == index


def _called(site: Site) -> str:
    """The last component of what a site calls."""
    target = site.target
    return (
        target.attr if isinstance(target, Member) else target.name.rpartition(".")[2] if isinstance(target, Ref) else ""
    )
