"""By which of its parameters a function seeds: in itself, in those that it hands them on to, or in other methods of an object whose
constructor keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from detlint.facts.model import Function, Site, Value, plain
from detlint.ir import ops as op
from detlint.ir.code import Function as Body
from detlint.model.places import point_of
from detlint.program.resolve import Module, Resolver

Called = tuple[Module, Function, str]
Taking = Mapping[str, int | None]
"""Parameters, and their positions; None for one that has none. "" stands for all."""


class Seeding:
    """Finds them. What is found out is remembered.

    Args:
        library: gives the parameters by which a call of a library may seed.
        callees: the functions of the program that calling a value runs.
    """

    def __init__(
        self,
        resolver: Resolver,
        library: Callable[[Module, int], Taking],
        callees: Callable[[Value | None], Sequence[Called]],
    ) -> None:
        self._resolver = resolver
        self._library = library
        self._callees = callees
        self._known: dict[tuple[str, int], frozenset[str]] = {}

    def by(self, module: Module, function: Function) -> frozenset[str]:
        """The names of the parameters; that of the object itself stands for none."""
        key = (module.path, function.number)
        if key not in self._known:
            self._known[key] = frozenset()  # while that is being found out
            found = {name for body, value in self._seeding(module, function) for name in _parameters(body, value)}
            if function.owner and function.name.endswith(".__init__"):
                found.update(self._kept(module, function))
            self._known[key] = frozenset(found)
        return self._known[key]

    def _seeding(self, module: Module, function: Function) -> Iterator[tuple[Body, int]]:
        """The values by which a function seeds, or what it calls."""
        for index, site in enumerate(module.sites):
            if site.function != function.number or site.kind != "call":
                continue
            taking = self._library(module, index)
            for home, callee, _ in self._callees(self._resolver.normal(module.path, site.target, function)):
                names = self.by(home, callee)
                taken = [p.name for p in home.detail(callee).parameters if not p.kind][bool(callee.owner) :]
                taking = {**taking, **{name: taken.index(name) if name in taken else None for name in names}}
            yield from self._given(module, site, taking) if taking else ()

    def _given(self, module: Module, site: Site, taking: Taking) -> Iterator[tuple[Body, int]]:
        """The values that a call gives some parameters."""
        point = point_of(self._resolver, module, site)
        if point is None or point.function.ops[point.at][0] != op.CALL:
            return
        call = point.function.call(point.at)
        for at, value in enumerate(call.positional):
            if "" in taking or at in taking.values():
                yield point.function, value
        yield from ((point.function, value) for name, value in call.named.items() if name in taking or "" in taking)

    def _kept(self, module: Module, function: Function) -> Iterator[str]:
        """The parameters that a constructor keeps as attributes by which other methods of the class seed."""
        methods = [f for f in module.facts.functions if f.owner == function.owner and f is not function]
        seeding = {
            body.own(at)
            for method in methods
            for body, value in self._seeding(module, method)
            for at in body.made_of(value)
        }
        code = self._resolver.code(module.path) if seeding else None
        for body in code.by_name.get(plain(function.name), ()) if code is not None else ():
            for _, operation in body.each(op.SET_ATTR):
                if body.is_self(operation[1]) and body.code.strings[operation[2]] in seeding:
                    yield from _parameters(body, operation[3])


def _parameters(body: Body, value: int) -> Iterator[str]:
    """The parameters that a value is made of, of its function or of one around."""
    for at in body.made_of(value):
        given = body.given(at)
        if given is not None and not body.is_self(at):
            yield given[0].text(given[1])
