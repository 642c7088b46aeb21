"""The tables that code reads from files of settings (`json.load(open("run.json"))`), or that a decorator hands it (`@hydra.main`): which
file it is, and what that says under some keys, with its place.

What it may assume: a path is meant from the folder of the file that says it, from that of the script that was started, or from the
project's root, whichever has such a file. Nobody changes what was read; what a command line gives on top, launches say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.launch_texts import LaunchText, is_settings, lower
from detlint.ir.places import Place
from detlint.ir.settings import Items, NotKnown, Row, Setting, Table
from detlint.model.endings import last_name
from detlint.model.index import Index
from detlint.model.meaning import Meanings
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.resolve import Resolver
from detlint.model.search_path import FILE, paths
from detlint.model.sites.reading.values import constant
from detlint.model.sites.records import PARSES, Const, Member, Ref, Site, Span, Value
from detlint.model.sites.records import Mapping as Mapped

_TABLE: Final = "settings:"
"""What the name of a table begins with that a file has."""
_FLAT: Final = "flat:"
"""What stands before the file if its groups have no tables of their own."""
HYDRA: Final = "hydra.main"
_DEFAULTS: Final = "defaults"
_SELF: Final = "_self_"
_ENDINGS: Final = (".yaml", ".yml")
_DEEPEST: Final = 8
"""Files that lead to each other, and references to keys."""

Given = Callable[[str], "str | None"]
"""What a parameter, or an option of a command line, is in a call, where it is a text."""


def _nothing(name: str) -> None:
    """Of a function that nobody calls."""


class Said(NamedTuple):
    """What a file of settings says under some keys."""

    value: Value | None
    """None for what isn't written out."""
    path: str
    span: Span


class _Part(NamedTuple):
    """A table that settings are put together of."""

    path: str
    above: tuple[str, ...]
    """The keys under which it stands."""
    table: Table


class Loaded:
    """Finds such files. It is made once for a program."""

    def __init__(self, resolver: Resolver, index: Index, meanings: Meanings, root: str) -> None:
        self._resolver = resolver
        self._index = index
        self._meanings = meanings
        self._root = root
        self._read: dict[str, set[str]] = {}
        """Files of code -> the files of settings that they read."""
        self._texts: dict[str, LaunchText] = {}
        self._parts: dict[str, tuple[_Part, ...]] = {}
        self._paths: dict[tuple[str, int, int, tuple[tuple[int, tuple[str]], ...]], list[str]] = {}
        """The paths that values may be, with what parameters are on which they rest."""

    def read_by(self, module: Module, site: Site, name: str, script: str, given: Given = _nothing) -> Ref | None:
        """The table that a call of what reads settings gives; None where it isn't known which.

        Args:
            name: what it calls.
            script: the file that was started; "" where that doesn't matter.
            given: what a parameter of the function around is, where it is a text.
        """
        parameter = self._resolver.catalog.reading.get(name, "")
        point = call_of(self._resolver, module, site) if parameter else None
        if point is None:
            return None
        call, names = point.function.call(point.at), [one for one, _ in self._resolver.catalog.signatures.get(name, ())]
        at = call.argument(names.index(parameter) if parameter in names else -1, parameter)
        return self._of_path(point.function, at, given, module, script, "")

    def handed_to(self, module: Module, name: str, script: str) -> Ref | None:
        """The table that a decorator hands a function of a file."""
        place = self.hands(module, name)
        if place is None:
            return None
        around, call = place.function, place.function.call(place.at)
        folder, file = call.argument(0, "config_path"), call.argument(1, "config_name")
        if file < 0:  # the file itself, as before Hydra 1.1
            table = self._of_path(around, folder, _nothing, module, script, "")
            return Ref(f"{_TABLE}{_FLAT}{path_of(table)}") if table is not None else None
        inside = self._folder(module, around, folder) if folder >= 0 else ""
        return self._of_path(around, file, _nothing, module, script, inside)

    def _folder(self, module: Module, function: Function, at: int) -> str:
        """The folder that a value names; of one with an unknown beginning (`root / "conf"`) what it ends with, "" for neither."""
        known, meaning = paths(function.code, function, at, {}), self._meanings.of(module)
        if known or meaning is None:
            return known[0] if known else ""
        end = last_name(meaning, function, at)
        return f"{FILE}/..{end}" if end.startswith(os.sep) else ""

    def hands(self, module: Module, name: str) -> Place | None:
        """What decorates a function of a file so that it is handed settings; None for nothing."""
        code = (
            self._resolver.code(module.path)
            if "hydra" in module.facts.imports or HYDRA in module.facts.imports
            else None
        )
        for body in code.by_name.get(name, ()) if code is not None else ():
            for at in body.decorators if body.parent is not None else ():
                if body.parent is not None and self._is_hydra(module, body.parent, at):
                    return Place(body.parent, at)
        return None

    def _is_hydra(self, module: Module, function: Function, at: int) -> bool:
        meaning, operation = self._meanings.of(module), function.ops[at]
        return operation[0] == op.CALL and meaning is not None and meaning.name(function, operation[1]) == HYDRA

    def _of_path(
        self, function: Function, at: int, given: Given, module: Module, script: str, folder: str
    ) -> Ref | None:
        """The table of the file that a value names.

        Args:
            folder: the one in which it is looked for, as a path from the file itself; "" for wherever that is.
        """
        if at < 0:
            return None
        slots = {n: (text,) for n in function.rests_on(at) if (text := given(function.text(n))) is not None}
        asked = [(part, name) for part in function.made_of(at) if (name := _option(function, part))]
        slots |= {-part: (text,) for part, name in asked if (text := given(name)) is not None}
        key = (module.path, function.number, at, tuple(slots.items()))
        if key not in self._paths:
            self._paths[key] = paths(function.code, function, at, slots)
        for path in self._paths[key]:
            bare = path.removeprefix(f"{FILE}/../")
            inside = (
                os.path.normpath(os.path.join(folder.removeprefix(f"{FILE}/.."), bare).lstrip(os.sep))
                if folder
                else bare
            )
            homes = (os.path.dirname(module.path), os.path.dirname(script) if script else self._root, self._root)
            for home in dict.fromkeys(homes):
                for ending in ("", *_ENDINGS):
                    found = os.path.normpath(os.path.join(home, _up(inside) + ending))
                    if self._is_there(found):
                        self._read.setdefault(module.path, set()).add(found)
                        return Ref(f"{_TABLE}{found}")
        return None

    def _is_there(self, path: str) -> bool:
        return is_settings(path) and self._index.has(path)

    def filled(self, module: Module, site: Site, name: str) -> Mapped | None:
        """What a file says that a call reads, at its top; None where it isn't known which that is.

        Args:
            name: what it calls.
        """
        table = self.read_by(module, site, name, module.path)
        parts = self._of(path_of(table)) if table is not None else ()
        rows = {row.key: _value(row.value) for part in parts if not part.above for row in part.table.rows}
        return Mapped(tuple(rows), tuple(rows.values())) if parts else None

    # -- what a file says ---------------------------------------------------------------------------------------

    def under(self, table: Value | None, key: str) -> Said | None:
        """What a table says under a key; None where it isn't one of settings, or says nothing."""
        keys, root = [key], table
        while isinstance(root, Member):
            keys.insert(0, root.attr)
            root = root.base
        if not is_table(root):
            return None
        assert isinstance(root, Ref)
        return self._said(
            root.name.removeprefix(_TABLE), [key.removeprefix("[").removesuffix("]") for key in keys], 0, table
        )

    def _said(self, path: str, keys: Sequence[str], depth: int, table: Value | None) -> Said | None:
        for part in reversed(self._of(path)):
            if tuple(keys) == part.above[: len(keys)] and table is not None:
                return Said(Member(table, f"[{keys[-1]}]"), part.path, Span(1, 0, 1, 0))
            if tuple(keys[: len(part.above)]) != part.above or len(keys) <= len(part.above):
                continue
            row = _row(part.table, keys[len(part.above) :])
            if row is None:
                continue
            name, value = row.value.text if isinstance(row.value, NotKnown) else "", row.value
            if name.startswith("${") and name.endswith("}") and ":" not in name and depth < _DEEPEST:
                other = self._said(path, name[2:-1].split("."), depth + 1, table)
                return other._replace(path=part.path, span=_span(row)) if other is not None else None
            found = Member(table, f"[{keys[-1]}]") if isinstance(value, Table) and table is not None else _value(value)
            return Said(found, part.path, _span(row))
        return None

    def read_in(self, paths: Iterable[str]) -> set[str]:
        """The files of settings that some files of code were seen to read."""
        found = {one for path in paths for one in self._read.get(path, ())}
        return {part.path for path in found for part in self._of(path)} | found

    def _of(self, table: str) -> tuple[_Part, ...]:
        """What settings are put together of: what is last counts."""
        if table not in self._parts:
            path = table.removeprefix(_FLAT)
            self._parts[table] = ()  # what leads back to itself adds nothing
            self._parts[table] = tuple(self._put_together(path, os.path.dirname(path), (), 0, path != table))
        return self._parts[table]

    def _put_together(self, path: str, home: str, above: tuple[str, ...], depth: int, flat: bool) -> Iterator[_Part]:
        document = next(iter(self._text(path).documents or ()), None)
        if not isinstance(document, Table) or depth > _DEEPEST:
            return
        own = _Part(path, above, document)
        listed, told = document.get(_DEFAULTS), False
        for item in listed.values if isinstance(listed, Items) else ():
            if item == _SELF:
                told = True
                yield own
            for group, option in _chosen(item):
                package = above if flat else above + tuple(part for part in group.split("/") if part)
                for ending in ("", *_ENDINGS):
                    other = os.path.normpath(os.path.join(home, group, option + ending))
                    if self._is_there(other):
                        yield from self._put_together(other, home, package, depth + 1, flat)
                        break
        if not told:
            yield own

    def _text(self, path: str) -> LaunchText:
        if path not in self._texts:
            data = self._index.settings(path)
            self._texts[path] = lower(os.path.basename(path), data) if data is not None else LaunchText()
        return self._texts[path]


def _option(function: Function, at: int) -> str:
    """The option of a command line that a value is: of a parameter with its name, `args.config`, else `.config`; "" for any other."""
    operation = function.ops[at]
    if operation[0] != op.ATTR:
        return ""
    parsed = function.meant(operation[1])
    parsed = function.ops[parsed][1] if function.ops[parsed][0] == op.PART else parsed
    known = function.ops[parsed][0] == op.CALL and function.called(parsed) in PARSES
    slot = function.may_give(parsed)
    return f"{'' if slot < 0 else function.text(slot)}.{function.strings[operation[2]]}" if known or slot >= 0 else ""


def is_table(value: Value | None) -> bool:
    """Whether a value is a table that a file has, or what stands in one."""
    while isinstance(value, Member):
        value = value.base
    return isinstance(value, Ref) and value.name.startswith(_TABLE)


def path_of(table: Ref) -> str:
    """The file that has a table."""
    return table.name.removeprefix(_TABLE).removeprefix(_FLAT)


def _chosen(item: Setting) -> Iterator[tuple[str, str]]:
    """The groups, "" for none, and their options that an item of a list of defaults names."""
    if isinstance(item, str) and item != _SELF:
        yield "", item
    elif isinstance(item, Table):
        for row in item.rows:
            group = row.key.removeprefix("override ").removeprefix("optional ").partition("@")[0].strip()
            if isinstance(row.value, str) and not group.startswith("hydra"):
                yield group, row.value


def _row(table: Table, keys: Sequence[str]) -> Row | None:
    """The row under some keys."""
    found: Row | None = None
    inside: Setting = table
    for key in keys:
        rows = inside.rows if isinstance(inside, Table) else ()
        found = next((row for row in reversed(rows) if row.key == key), None)
        if found is None:
            return None
        inside = found.value
    return found


def _value(value: Setting) -> Value | None:
    found = constant(value) if not isinstance(value, (Items, NotKnown, Table)) else None
    return found if isinstance(found, Const) else None


def _span(row: Row) -> Span:
    """From a key to the end of its value, where that is known."""
    line, column, length = row.place
    end = (line, column + length) if line else (row.line, row.column)
    return Span(row.line, row.column, *end)


def _up(path: str) -> str:
    return path or "."
