"""What settings an object has that runs functions by them: the variables of functions that its methods decorate, and the tables that it is
told: `@experiment.config`, `experiment.add_config({"rate": 0.1})`.

What it may assume: files that don't refer to the object tell it nothing. A table that isn't written out has what the project's files of
settings, and its launches, give a key anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detlint.catalog import Entry
from detlint.domains.constant.configuration import settings_folder
from detlint.ir import ops as op
from detlint.model.arguments import Argument, owner_of
from detlint.model.launches.documents import Documents
from detlint.model.module import Module
from detlint.model.sites.records import Const, Function, Mapping, Member, Ref, Result, Site, Value, is_made_by
from detlint.model.uses import Users

BY_CONFIG: Final = "by-config"
"""Entries in this context ask for settings of the object whose method is called, as parts of a parameter `config`."""
ADDS: Final = "adds-config"
"""What the catalog says of methods that add settings."""
_UNKNOWN: Final = Mapping((), (), open=True)


class Experiments:
    """Finds them."""

    def __init__(self, users: Users, documents: Documents) -> None:
        self._resolver = users.resolver
        self._users = users
        self._documents = documents

    def config(self, module: Module, site: Site, entry: Entry) -> dict[str, Argument]:
        """The settings that an entry asks for, as arguments of the call; nothing for any other entry."""
        if BY_CONFIG not in entry.contexts:
            return {}
        told = self.told(module, site)
        keys = {name.partition(".")[2] for name in entry.when if name.startswith("config.")}
        if told.open and any(self._may_be_said(module, key) for key in keys - {*told.keys}):
            return {"config": Argument(Mapping((*sorted(keys),), (None,) * len(keys)), True)}
        return {"config": Argument(Mapping(told.keys, told.values), True)}

    def _may_be_said(self, module: Module, key: str) -> bool:
        """Whether a file of settings, or a launch, may give a key something."""
        folder = settings_folder(self._users, self._documents, module)
        said = self._documents.chosen(folder, key, "") if folder else None
        return said is None or not {*said.values} <= {Const(None)}

    def told(self, module: Module, site: Site) -> Mapping:
        """All settings of the object whose method a site calls; an open table where some aren't known."""
        made = self._owner(module, site.target)
        place = self._resolver.place(made.site) if isinstance(made, Result) else None
        if not isinstance(made, Result) or place is None:
            return _UNKNOWN
        home = place[0]
        names = [name for name, value in home.facts.names.items() if is_made_by(value, made.site & 0xFFFFFFFF)]
        files = {module.path: module, home.path: home}
        for name in names:
            saying = map(self._resolver.module, self._users.importers_saying(home, name))
            files |= {other.path: other for other in saying if other is not None}
        tables = [table for file in files.values() for table in self._in_file(file, made)]
        found = {key: value for table in tables for key, value in zip(table.keys, table.values, strict=True)}
        return Mapping(tuple(found), tuple(found.values()), open=any(table.open for table in tables))

    def _owner(self, module: Module, method: Value) -> Value | None:
        return self._resolver.normal(module.path, owner_of(method))

    def _adds(self, module: Module, method: Value, made: Value) -> bool:
        """Whether a method adds settings to an object."""
        normal = self._resolver.normal(module.path, method)
        adds = isinstance(normal, Ref) and ADDS in self._resolver.contexts(normal.name)
        return adds and self._owner(module, method) == made

    def _in_file(self, module: Module, made: Value) -> Iterator[Mapping]:
        for function in module.facts.functions:
            if any(one and self._adds(module, one, made) for one in module.detail(function).decorators):
                yield self._variables(module, function)
        for site in module.sites:
            if site.kind == "call" and isinstance(site.target, (Member, Ref)) and self._adds(module, site.target, made):
                yield from self._given(site)

    @staticmethod
    def _given(site: Site) -> Iterator[Mapping]:
        """The tables that a call gives."""
        for argument in site.args:
            if argument.name and argument.name[0] != "*":
                yield Mapping((argument.name,), (argument.value,))
            else:
                yield argument.value if isinstance(argument.value, Mapping) else _UNKNOWN

    def _variables(self, module: Module, function: Function) -> Mapping:
        """The variables of a function, by name; of those that it binds otherwise than by a plain assignment, the values aren't known."""
        code = self._resolver.code(module.path)
        bodies = code.by_name.get(function.name, ()) if code is not None else ()
        found: dict[str, Value | None] = {}
        for body in bodies:
            for _, (_, slot, value) in body.each(op.STORE):
                nothing = body.ops[value][0] == op.CONST and body.constant(value) is None
                found[body.text(slot)] = Const(None) if nothing else None
        return Mapping(tuple(found), tuple(found.values()), open=len(bodies) != 1)
