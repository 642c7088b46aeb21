"""Which calls of a function there are, where all of them are in sight: none may come from elsewhere, and none is never made."""

from __future__ import annotations

import os
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from detlint.catalog import OPEN_SEED, SHUFFLED
from detlint.db import Memo
from detlint.domains.constant.configuration import ByConfiguration
from detlint.domains.constant.splats import RUN_LATER, called_later, handed_over, may_say
from detlint.domains.constant.unpacked import Unpacked
from detlint.domains.reached.unnamed import HOOKS
from detlint.domains.reached.unreferenced import puts_names_together
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.code import Function as Body
from detlint.ir.places import Place
from detlint.model.arguments import Argument, bind, received, signature_of
from detlint.model.handing import Handing
from detlint.model.module import Module
from detlint.model.others import Unseen
from detlint.model.parts import calls_of_parts
from detlint.model.places import call_of
from detlint.model.references import is_spelled
from detlint.model.sites.records import (
    SUPER,
    Function,
    Instance,
    Member,
    Param,
    Ref,
    Result,
    Site,
    Value,
    plain,
)
from detlint.model.uses import Use

if TYPE_CHECKING:
    from detlint.domains.known import Domains


_PLAIN: Final = frozenset({Ref("builtins.staticmethod"), Ref("builtins.classmethod")})
"""Decorators that hand a function to nobody."""


class CallsInSight:
    """Finds the calls of functions and methods.

    Args:
        domains: what else is known of the program.
        offered: whether what a library gives to whoever uses it may be called by others too.
        configured: knows what all files of settings have; None where these don't count.
    """

    def __init__(self, domains: Domains, *, offered: bool = True, configured: ByConfiguration | None = None) -> None:
        matcher, users, gradients, families = domains.matcher, domains.users, domains.gradients, domains.families
        self._matcher = matcher
        self._resolver = matcher.resolver
        self._users = users
        self._gradients = gradients
        self._unnamed = domains.unnamed
        self._others = domains.others
        self._families = families
        self._launched = domains.configuration.launched
        self._offered = offered
        self._configured = configured
        self._catalog = matcher.catalog
        self._shuffling = matcher.catalog.words_of({SHUFFLED, OPEN_SEED})
        self._without_heirs = matcher.catalog.with_context("no-heirs")
        self._even = matcher.catalog.with_context("evenly-spaced")
        self._choosing = matcher.catalog.with_context("chooses")
        self._wraps = matcher.catalog.with_context("called-as-before")
        self._handing = Handing(self._resolver, families.heirs)
        self._unpacked_tables = Unpacked(matcher, users, gradients.uses, self._passed)
        self._values: Memo[Value | None] = Memo(users.db)
        self._left_out: Memo[str] = Memo(users.db)
        self._dead: Memo[bool] = Memo(users.db)

    def _may_be_called_by_base(self, module: Module, function: Function) -> bool:
        """Whether a method is one that frameworks call by themselves, or that a base has too, which then calls this one."""
        last = function.name.rpartition(".")[2]
        if not function.owner or last == "__init__" or self._is_forward(module, function):
            return False
        family = self._resolver.classes.family(f"{module.path}::{function.owner}")
        return last in HOOKS or any(f"{name}.{last}" in home.functions for home, name in [*family][1:])

    def _left_out_of_all(self, module: Module, function: Function, name: str) -> Argument | None:
        """The default of a parameter that only others can give something, by keywords that a library hands on (`**kwargs`): none of
        its files says the name so; None where one may."""
        default = next((p.default for p in module.detail(function).parameters if p.name == name), None)
        library = not self._offered and self._unnamed.is_in_library(module)
        if not library or default is None or may_say(self._resolver.code(module.path), name, own=True):
            return None
        saying = (p for p in self._users.index.saying(name, self._users.home(module)) if p != module.path)
        said = any(not path.endswith(".py") or may_say(self._resolver.code(path), name, own=False) for path in saying)
        return None if said else Argument(default, False)

    def _taken(self, use: Use, own: str) -> frozenset[str] | None:
        """The keywords that a function which is handed a class doesn't hand on to it; None where it may do more with the class than
        to call it, or doesn't hand on all others."""
        site, around = use.module.sites[use.site], use.module.function_of(use.module.sites[use.site])
        target = self._resolver.normal(use.module.path, site.target, around)
        home, builder = (self._resolver.function(target) if site.kind == "call" else None) or (None, None)
        if home is None or builder is None or "." in builder.name or home.detail(builder).decorators:
            return None
        parameters = home.detail(builder).parameters
        bound = bind(self._matcher.call_arguments(use.module, site, around), signature_of(parameters))
        holding = [parameter for parameter, argument in bound.items() if argument.value == Ref(own)]
        if len(holding) != 1:
            return None
        call = next((s for s in home.sites if s.function == builder.number and is_named(s.target, holding[0])), None)
        point = self._called_at(home, builder, call) if call is not None else None
        said = handed_over(point, holding[0]) if point is not None else None
        return said | {p.name for p in parameters} if said is not None else None

    def _called_at(self, module: Module, caller: Function, site: Site) -> Place | None:
        """Where the call of a site stands in its function; None at the top level, and in a lambda."""
        point = call_of(self._resolver, module, site) if caller.name else None
        return point if point is not None and point.function is point.around else None

    def _kept_from(self, module: Module, function: Function, index: int) -> str:
        """Why the flow never comes to a site of a function; "" where it may."""
        raise NotImplementedError

    def calls(self, module: Module, function: Function) -> list[Use] | None:
        """All calls of a function, or of a constructor; None where it may have others."""
        if not function.name or self._may_be_called_by_base(module, function):
            return None
        return self._calls(module, function)

    def _calls(self, module: Module, function: Function, unseen: list[Unseen] | None = None) -> list[Use] | None:
        """All calls of a function; None where it may have others.

        Args:
            unseen: is told of those that may be of it and that no site tells of; None where there may be none.
        """
        if not self._are_all_in_sight(module, function):
            return None
        made = function.name.endswith(".__init__")
        forward = self._is_forward(module, function)
        calls = self._built(module, function.owner) if made else self._only_called(module, function.name)
        if calls is None:
            return None
        if function.owner and not made:
            # A layer whose forward pass is asked for has no heirs, so none of those speaks of it as its base's.
            others, left = self._others.perhaps_called(module, function.name, with_heirs=not forward)
            if left and unseen is None:
                return None
            if unseen is not None:
                unseen += left
            calls = [*calls, *(use for use in others if self._offered or not self._is_dead(use))]
        if not forward:
            return calls
        built = self._only_called(module, function.owner)
        parts = calls_of_parts(self._resolver, self._users, built, not self._offered) if built else None
        return [*calls, *parts] if parts is not None else None

    def _is_dead(self, use: Use) -> bool:
        """Whether nothing runs what a use stands in."""
        return bool(use.around) and self._unnamed.holds(use.module, use.around)

    def _only_called(self, module: Module, name: str, handed: bool = False) -> list[Use] | None:
        """The uses of a definition, as far as they are found, if all are calls; those of what it gives are none of it.

        Args:
            handed: whether a function that only builds the class which it is handed counts as a call of that.
        """
        calls, uses = list[Use](), self._gradients.uses(module, name)
        if uses is None and handed:
            return None
        for use in uses or ():
            if not self._offered and self._is_dead(use):
                continue
            if use.site < 0 and self._only_spells(use.module, name) and self._is_found_in_vain(module):
                continue
            if handed and not use.called and use.site >= 0:
                own = Ref(f"{module.path}::{name}")
                taken = [use] if self._taken(use, own.name) is not None else self._handing.calls(use, own)
                if taken is not None:
                    calls += (call for call in taken if call not in calls)
                    continue
            site = use.module.sites[use.site] if use.site >= 0 else None
            if site is None or site.kind != "call":
                return None
            if not use.called:
                if self._called_later(use, f"{module.path}::{name}") is None:
                    return None
                calls.append(use)
                continue
            if not (isinstance(site.target, Result) and site.target.site >= 0):
                calls.append(use)
        return calls

    def _called_later(self, use: Use, own: str) -> Site | None:
        """The call that a library makes of a function which it is handed, with its keywords; None for any other. Who uses a library may
        know better."""
        if (told := self._unpacked_tables.call_of(use, own)) is not None:
            return told
        site, normal = use.module.sites[use.site], partial(self._resolver.normal, use.module.path)
        around = use.module.function_of(site)
        target = normal(site.target, around)
        if self._offered or not isinstance(target, Ref) or "::" in target.name:
            return None
        run = [a.value for n, a in enumerate(site.args) if a.name in RUN_LATER or (n == 0 and not a.name)]
        return called_later(site) if any(normal(value, around) == Ref(own) for value in run) else None

    def _built(self, module: Module, owner: str) -> list[Use] | None:
        """The calls that run the constructor of a class: of the class, of heirs that have none of their own, and those that heirs
        make of it (`super().__init__(...)`); None where there may be others."""
        calls = self._only_called(module, owner, handed=True)
        codes = (self._resolver.code(home.path) for home in self._families.saying(module, owner) if calls is not None)
        if calls is None or any(code is None or _asks_for_made(code, owner.rpartition(".")[2]) for code in codes):
            return None
        for home, heir in self._families.heirs(module, owner):
            if f"{module.path}::{owner}" not in self._resolver.classes.bases(f"{home.path}::{heir}"):
                continue  # an heir's heir, which that one is asked for
            more = self._built_by(home, heir)
            if more is None:
                return None
            calls += more
        return calls

    def _built_by(self, home: Module, heir: str) -> list[Use] | None:
        """The calls by which objects of an heir, or of its own heirs, run the constructor of its base."""
        if len(home.classes[heir].bases) > 1 or not self._is_only_built_by_name(home, heir):
            return None  # another base may come between
        calls = [
            Use(home, number, True)
            for number, site in enumerate(home.sites)
            if site.kind == "call" and is_of_super(site.target, home, heir)
        ]
        code = self._resolver.code(home.path)
        bodies = code.by_name.get(plain(heir), ()) if code is not None else ()
        inside = [f for body in bodies for f in body.code.inside(body.number)]
        asked = sum(f.code.strings[operation[2]] == "__init__" for f in inside for _, operation in f.each(op.ATTR))
        if not bodies or asked != len(calls):
            return None
        if f"{heir}.__init__" in home.functions:
            return calls
        built = self._built(home, heir)
        return [*calls, *built] if built is not None else None

    def _is_only_built_by_name(self, module: Module, owner: str) -> bool:
        """Whether nothing builds objects of a class but by its name, and nothing else is made of it."""
        body, code = module.classes.get(owner), self._resolver.code(module.path)
        if body is None or code is None or body.decorators:
            return False
        return not (any(map(_builds_anew, code.functions())) or self._is_given_out(module, owner))

    def _is_given_out(self, module: Module, name: str) -> bool:
        """Whether a library gives a definition to others."""
        package = self._resolver.module(os.path.join(os.path.dirname(module.path), "__init__.py"))
        return self._offered and package is not None and self._unnamed.is_offered(module, name.partition(".")[0])

    def _is_forward(self, module: Module, function: Function) -> bool:
        layer = self._resolver.kinds.layer(f"{module.path}::{function.owner}") if function.owner else None
        return layer is not None and function.name.rpartition(".")[2] == layer.forward

    def _passed(self, site: Site, module: Module, function: Function, name: str) -> Argument | None:
        """What one call gives a parameter: as it is written there, or its default."""
        return received(site, module.taken(function)).get(name)

    def _position(self, module: Module, function: Function, name: str) -> int:
        """The position at which a call passes a parameter; -1 for one that it passes by its name alone."""
        names = [p.name for p in takewhile(lambda p: not p.kind, module.taken(function))]
        return names.index(name) if name in names else -1

    def _is_plain(self, decorator: Value | None) -> bool:
        """Whether a decorator leaves a function to those who call it by its name: `@torch.no_grad()`, `@jit`."""
        named = decorator.of if isinstance(decorator, Result) else decorator
        return decorator in _PLAIN or (isinstance(named, Ref) and self._catalog.canonical(named.name) in self._wraps)

    def _are_all_in_sight(self, module: Module, function: Function) -> bool:
        """Whether whoever calls a function calls it by its name: no framework does, nothing hands it on, and no library gives it
        to others."""
        last, owner = function.name.rpartition(".")[2], function.owner
        if "<" in last or "@" in function.name or not all(map(self._is_plain, module.detail(function).decorators)):
            return False
        name = (owner or function.name).partition(".")[0]
        if module.facts.left_out or self._users.is_run_by_notebook(module, name):
            return False
        package = self._resolver.module(os.path.join(os.path.dirname(module.path), "__init__.py"))
        # Who uses a library may always run what it gives out.
        offered = self._offered or self._is_forward(module, function)
        if offered and package is not None and self._unnamed.is_offered(module, name):
            return False
        together = puts_names_together(self._users, module, of_itself=False)
        if together and not self._is_found_in_vain(module) and self._may_be_found(module, name):
            return False
        if owner and self._families.may_ask_itself(module, owner) and puts_names_together(self._users, module):
            return False
        if not owner:
            return True
        forward = self._is_forward(module, function)
        if last != "__init__" and not forward:
            return not last.startswith("__")
        if forward and (self._families.may_run_itself(module, owner) or self._families.heirs(module, owner)):
            return False
        return self._is_only_built_by_name(module, owner)

    def _is_found_in_vain(self, module: Module) -> bool:
        """Whether definitions of a file are only found by names that are put together in functions which nothing comes to, by what all
        files of settings have."""
        if self._configured is None or not puts_names_together(self._users, module, of_itself=False):
            return False
        return not puts_names_together(self._users, module, of_itself=False, dead=self._is_never_come_to)

    def _only_spells(self, module: Module, name: str) -> bool:
        """Whether a file says a name in imports, and as texts, alone."""
        code = self._resolver.code(module.path)
        if code is None:
            return False
        functions = [*code.functions()]
        read = any(code.strings[o[2]] == name for f in functions for _, o in f.each(op.ATTR, op.SET_ATTR))
        loaded = any(o[1] in f.slots[name] for f in functions if name in f.slots for _, o in f.each(op.LOAD))
        return not (read or loaded or any(f.name == name for f in functions))

    def _is_never_come_to(self, path: str, name: str) -> bool:
        """Whether a function of the top level is only called, and the flow comes to none of its calls."""
        module = self._resolver.module(path)
        function = module.functions.get(name) if module is not None else None
        if module is None or function is None or module.detail(function).decorators:
            return False
        return self._dead.of((path, name), partial(self._finds_out_calls, module, name), False)

    def _finds_out_calls(self, module: Module, name: str) -> bool:
        def dead(path: str, other: str) -> bool:
            return (path, other) == (module.path, name) or self._is_never_come_to(path, other)

        calls = self._only_called(module, name)
        if not calls or puts_names_together(self._users, module, of_itself=False, dead=dead):
            return False
        sites = ((use.module, use.module.sites[use.site], use.site) for use in calls)
        return all(self._kept_from(home, home.function_of(site), number) for home, site, number in sites)

    def _may_be_found(self, module: Module, name: str) -> bool:
        """Whether those who put names together may mean a definition: not if all take names of definitions as wholes, and no text
        among the code, or in a YAML file, has that of this one. (Others may, of a library, and hand it over.)"""
        if self._offered or puts_names_together(self._users, module, of_itself=False, wholes=False):
            return True
        for path in self._users.index.saying(name, self._users.home(module)):
            code = self._resolver.code(path)
            if code is None or any(is_spelled(text, name) for text in code.texts):
                return True
        return False


def _asks_for_made(code: Code, name: str) -> bool:
    """Whether a file asks a class of a name for its constructor: `Net.__init__(self)`."""
    if "__init__" not in code.identifiers:
        return False
    asked = (f.dotted(at) for f in code.functions() for at, o in f.each(op.ATTR) if code.strings[o[2]] == "__init__")
    return any(f".{text}".endswith(f".{name}.__init__") for text in asked)


def _builds_anew(body: Body) -> bool:
    """Whether a function builds an object of a class without its name: `cls()`, `self.__class__()`, `type(self)()`."""
    for _, operation in body.each(op.CALL):
        callee = body.ops[operation[1]]
        if callee[0] == op.ATTR and body.code.strings[callee[2]] == "__class__":
            return True
        of_type = callee[0] == op.CALL and body.dotted(callee[1]) == "type"
        if of_type and any(body.is_self(value) for value in body.call(operation[1]).positional):
            return True
        method = body.given(operation[1])
        if method is not None and body.is_self(operation[1]) and _takes_class(method[0]):
            return True
    return False


def _takes_class(method: Body) -> bool:
    """Whether a method is handed its class, not an object of that."""
    around = method.parent
    definition = around.ops[method.definition] if around is not None else (op.FUNCTION, 0, 0)
    decorators = definition[3 : 3 + definition[2]]
    return method.name == "__new__" or (around is not None and "classmethod" in map(around.dotted, decorators))


def is_of_super(target: Value, module: Module, owner: str) -> bool:
    """Whether it is the constructor of a class's base, as the class itself calls it."""
    return target == Member(Member(Instance(f"{module.facts.module}.{owner}"), SUPER), "__init__")


def is_named(value: Value | None, name: str) -> bool:
    return isinstance(value, Param) and value.name == name
