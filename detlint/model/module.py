"""One file of the program, with what it defines by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from detlint.db import Database
from detlint.model.sites.records import Body, Class, Detail, Facts, Function, Parameter, Ref, Site, Step, decode_body

STATIC: Final = Ref("builtins.staticmethod")


class Module(msgspec.Struct, eq=False):
    """A file of the program, with its facts indexed by name."""

    path: str
    """Absolute; normal names begin with it."""
    number: int
    facts: Facts
    prefix: str
    """What the names of its own definitions begin with."""
    scope: int
    """Where it imports from, as `Modules.scope` says."""
    db: Database
    mark: int
    """The number of the mark that stands for what it says: whoever asks for that rests on it."""
    functions: dict[str, Function] = {}
    classes: dict[str, Class] = {}
    _body: Body | None = None

    @property
    def body(self) -> Body:
        """What happens in the file; decoded when first asked for."""
        self.db.asked[self.mark] = None
        if self._body is None:
            self._body = decode_body(self.facts)
        return self._body

    @property
    def sites(self) -> tuple[Site, ...]:
        """Its sites, by position."""
        return self.body.sites

    def steps(self, function: Function) -> tuple[Step, ...]:
        """What a function does, in order."""
        return self.body.steps[function.number]

    def function_of(self, site: Site) -> Function:
        """The function that a site stands in."""
        return self.facts.functions[site.function]

    def detail(self, function: Function) -> Detail:
        """What only matters of a function where this file is checked."""
        return self.body.details[function.number]

    def taken(self, function: Function) -> tuple[Parameter, ...]:
        """The parameters that calls of a function give something: not the object, or class, whose method it is."""
        detail = self.detail(function)
        return detail.parameters[bool(function.owner) and STATIC not in detail.decorators :]

    def around(self, function: Function) -> Iterator[Function]:
        """A function with those that it is defined in, the nearest first."""
        name = function.name
        while name:
            if name in self.functions:
                yield self.functions[name]
            name = name.rpartition(".")[0]

    def rest(self) -> None:
        """Forget the decoded body until it is asked for again."""
        self._body = None
