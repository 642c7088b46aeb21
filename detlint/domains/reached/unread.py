"""Values that a function keeps under a name which nobody reads, or only to keep another so, or what it computes of them; or gives back to
who does no more with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from detlint.domains.gradient.origins import KEEPS
from detlint.ir import ops as op
from detlint.ir.code import Function as Body
from detlint.ir.places import Place
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Function, Instance, Member, Result, Site
from detlint.model.unused import Role, Unused, Worth, reads_any_name
from detlint.model.uses import Callers

OUT: Final = "out"
"""The parameter by which a call is told where to put its result."""
DEEPEST: Final = 2
"""Through so many functions that give it back an object is followed."""
Ignores = Callable[[Module, Body, int, int], bool]
"""Whether a call of a function makes nothing of an argument."""
IN_PLACE: Final = "_"
"""How the names of methods end that change the tensor that they are called on."""


def is_unread(
    resolver: Resolver,
    module: Module,
    site: Site,
    computes: Callable[[Module, str], bool] | None = None,
    ignores: Ignores | None = None,
) -> bool:
    """Whether what a call in a function gives is kept under a name that nobody reads, or only to keep something under another such
    name.

    Args:
        computes: whether what a file means by a name only makes a tensor of others. Such, and what methods make of the result, is worth
            no more than that; None where it has to be kept as it is.
        ignores: whether a call makes nothing of an argument.
    """
    point = _call_of(resolver, module, site)
    if point is None or not point.function.users[point.at] or any(argument.name == OUT for argument in site.args):
        return False
    function = point.function

    def role(function: Body, call: int, value: int) -> Role:
        told, name = function.call(call), _name(function, call)
        if ignores is not None and ignores(module, function, call, value):
            return "ends"
        root = function.chain(told.callee).root
        plain = function.ops[root][0] == op.LOAD and not function.binding(function.ops[root][1]).owner
        return "passes" if computes is not None and plain and OUT not in told.named and computes(module, name) else ""

    def passes(method: str) -> bool:
        return computes is not None and method in KEEPS

    return Unused(function, Worth(role, passes, fills=("append",) if computes else ())).holds(point.at)


class UnreadObjects:
    """Finds objects that nobody ever uses: transforms, that only draw when data are handed to them.

    Args:
        callers: the uses of a function; None where there may be others.
        makes_object: whether what a file means by a name is a class of a library, whose objects only keep what they are handed.
    """

    def __init__(self, resolver: Resolver, callers: Callers, makes_object: Callable[[Module, str], bool]) -> None:
        self._resolver = resolver
        self._callers = callers
        self._makes_object = makes_object

    def holds(self, module: Module, site: Site, depth: int = 0) -> bool:
        """Whether nobody reads what a call gives, or an object that it is handed to, where the function around it keeps it, nor where
        those do who call that and are given it."""
        function = module.function_of(site)
        point = _call_of(self._resolver, module, site)
        if point is None:
            return False
        unused = Unused(point.function, Worth(partial(self._role, module), tables=True))
        if unused.holds(point.at):
            return True
        plain = not (function.owner or function.yields or module.detail(function).decorators)
        if depth == DEEPEST or not plain or not unused.holds(point.at, returned=True):
            return False
        uses = self._callers(module, function.name)
        return bool(uses) and all(
            use.called and use.site >= 0 and self.holds(use.module, use.module.sites[use.site], depth + 1)
            for use in uses or ()
        )

    def _role(self, module: Module, function: Body, call: int, value: int) -> Role:
        return "passes" if self._makes_object(module, _name(function, call)) else ""


class Ignored:
    """Finds arguments that the forward pass which takes them never reads: `if self.guided: x = x + self.embed(guide)`.

    Args:
        is_set: whether anything but a class itself may set an attribute of its objects.
        keeps_from: whether the flow never comes to an op in its function.
    """

    def __init__(
        self,
        resolver: Resolver,
        is_set: Callable[[Module, str, str], bool],
        keeps_from: Callable[[Module, Place], bool],
    ) -> None:
        self._resolver = resolver
        self._is_set = is_set
        self._keeps_from = keeps_from

    def holds(self, module: Module, body: Body, at: int, value: int) -> bool:
        """Whether a call of a part of a layer is handed something that this never reads."""
        call, span = body.call(at), body.spans[at]
        if body.unpacks(at):
            return False
        sites = (site for site in module.sites if site.span.place == span and site.kind == "call")
        site = next((site for site in sites if isinstance(site.target, Member)), None)
        taken = self._taking(module, site) if site is not None else None
        if taken is None:
            return False
        home, function = taken
        names = [p.name if not p.kind else "" for p in home.detail(function).parameters[1:]]
        name = next((keyword for keyword, given in call.named.items() if given == value), "")
        if value in call.positional:
            name = next(iter(names[call.positional.index(value) :]), "")
        return name in names and name != "" and self._is_never_read(home, function, name)

    def _taking(self, module: Module, site: Site) -> tuple[Module, Function] | None:
        """The forward pass that a call of a part runs, of which the object itself always is, as its constructor makes it."""
        around, target = module.function_of(site), site.target
        if not isinstance(target, Member) or not isinstance(target.base, Instance) or target.base.name:
            return None
        made = self._resolver.normal(module.path, target, around)
        kind = self._resolver.types.of(made) if isinstance(made, Result) else ""
        layer = self._resolver.kinds.layer(kind) if "::" in kind else None
        path, _, owner = kind.partition("::")
        if layer is None or self._is_set(module, around.owner, target.attr):
            return None
        home = self._resolver.looked_into(path)
        forward = home.functions.get(f"{owner}.{layer.forward}")
        return (home, forward) if forward is not None and not home.detail(forward).decorators else None

    def _is_never_read(self, home: Module, function: Function, name: str) -> bool:
        """Whether the flow comes to no place of a method that reads a parameter."""
        code = self._resolver.code(home.path)
        bodies = code.by_name.get(function.name, ()) if code is not None else ()
        if code is None or len(bodies) != 1 or reads_any_name(code):
            return False
        body = bodies[0]
        slot = next(iter(body.slots.get(name, ())), -1)
        loads = (at for at, operation in body.each(op.LOAD) if operation[1] == slot)
        return slot not in body.shared and all(self._keeps_from(home, Place(body, load)) for load in loads)


def _name(function: Body, call: int) -> str:
    return function.dotted(function.ops[call][1])


def _call_of(resolver: Resolver, module: Module, site: Site) -> Place | None:
    """The call of a site in a function; None where it has another place, or names are put together."""
    point = call_of(resolver, module, site) if site.kind == "call" and module.function_of(site).name else None
    return point if point is not None and not reads_any_name(point.function.code) else None
