"""Launch texts: a value of a variable, or a line that sets one, is changed, and every other byte stays as it is."""

from __future__ import annotations

import os
from collections.abc import Collection, Set
from functools import cached_property

from detlint.catalog import Catalog
from detlint.fixes.fixable import Fixable
from detlint.fixes.recipe import Change, NoFix, Order
from detlint.fixes.text import Edit, Text, of_yaml
from detlint.ir.launch_texts import kind_of
from detlint.model.launches.commands import Given
from detlint.model.launches.launch_facts import Said, directives, said, span_of
from detlint.model.sites.records import Span

_STARTS = ("export ", "ENV ", "ENV\t")
"""What may stand before a variable that a line sets."""


class LaunchFile(Fixable):
    """A launch text.

    Args:
        path: its name.
        data: its bytes.
        catalog: tells what is known of variables and programs.

    Raises:
        Undecodable: the bytes are not in UTF-8.
    """

    def __init__(self, path: str, data: bytes, catalog: Catalog) -> None:
        super().__init__(path, of_yaml(data))
        self._data = data
        self._catalog = catalog
        self._meant: dict[Edit, tuple[tuple[str, str] | None, tuple[str, str] | None]] = {}
        """What edits do to variables: name and value before and after, None for none."""

    @cached_property
    def _said(self) -> Said:
        return _of(self.path, self._data, self._catalog)

    @cached_property
    def suppressed(self) -> Set[int]:
        found = directives(os.path.basename(self.path), self._data)
        return frozenset(line for d in found if d.scope == "line" and not d.problem for line in (d.line, d.about))

    def follow(self, order: Order) -> Change:
        if order.recipe.kind == "set-argument":
            return Change([started_with(self.text, self._said, order)])
        one = given_at(self._said, order)
        if order.recipe.kind == "remove-statement":
            edit = _without(self.text, one)
            self._meant[edit] = (one.name, one.value), None
        else:
            edit, value = replaced(self.text, one, order)
            self._meant[edit] = (one.name, one.value), (one.name, value)
        return Change([edit])

    def export(self, name: str, value: str, beside: Span) -> Edit:
        """One more variable, on a line of its own behind one that sets another, and written like that.

        Args:
            beside: where that one is set.

        Raises:
            NoFix: the line does something else too.
        """
        found = [one for one in self._said.given if span_of(one) == beside and one.place[2]]
        if not found or found[0].line != found[0].place[0]:
            raise NoFix("its value stands elsewhere")
        one, number = found[0], found[0].line
        line, (_, column, length) = self.text.line(number), found[0].place
        written = self.text.text[self.text.offset(number, one.column) : self.text.offset(number, column + length)]
        margin, start = line[: len(line) - len(line.lstrip())], line.partition(written)[0].lstrip()
        rest = line.partition(written)[2]
        plain = not start and kind_of(os.path.basename(self.path)) == "variables"
        start = "" if plain else next((known for known in _STARTS if start.startswith(known)), "")
        if self.text.continues(number) or not (start or plain):
            raise NoFix("its line does something else, too")
        if rest.partition("#")[0].strip() or not written.startswith(one.name):
            raise NoFix("its line does something else, too")
        sign = written[len(one.name) :][:1]
        quoted = written[len(one.name) + 1 :].strip()
        quote = quoted[0] if quoted[:1] in ("'", '"') and quoted[-1:] == quoted[0] else ""
        end = self.text.end(number)
        new = f"{margin}{start}{name}{sign}{quote}{value}{quote}"
        at = self.text.offset(number, 0) + len(line)
        edit = Edit(at, at, new + end if end else self.text.newline + new)
        self._meant[edit] = None, (name, value)
        return edit

    def edited(self, edits: Collection[Edit]) -> bytes:
        data = self.text.edited(edits)
        wanted = [(one.name, one.value) for one in self._said.given]
        for before, after in (self._meant[edit] for edit in edits if edit in self._meant):
            at = wanted.index(before) if before is not None else len(wanted)
            wanted[at : at + 1] = [after] if after is not None else []
        now = {(one.name, one.value) for one in _of(self.path, data, self._catalog).given}
        plain = all(edit in self._meant for edit in edits)
        if now != {*wanted} if plain else not now >= {*wanted}:
            raise NoFix("the file would say something else")
        return data


def _of(path: str, data: bytes, catalog: Catalog) -> Said:
    return said(os.path.basename(path), data, catalog)


def given_at(found: Said, order: Order) -> Given:
    """The variable that is set where an order is to be followed.

    Raises:
        NoFix: its value isn't written there.
    """
    for one in found.given:
        if one.name == order.api and span_of(one) == order.span and one.place[2]:
            return one
    raise NoFix("its value stands elsewhere")


def replaced(text: Text, one: Given, order: Order) -> tuple[Edit, str]:
    """Another value of a variable where that is written, and what it then is.

    Raises:
        NoFix: it is put together of others.
    """
    recipe = order.recipe
    old, new = (recipe.argument, recipe.text) if recipe.kind == "replace-text" else (one.value, str(recipe.value))
    if recipe.kind not in ("replace-text", "replace-value"):
        raise NoFix("it takes Python")
    line, column, length = one.place
    start, end = text.offset(line, column), text.offset(line, column + length)
    written = text.text[start:end]
    begin = len(one.name) + 1 if written.lstrip("'\"").startswith(f"{one.name}=") else 0
    if not old or written.count(old, begin) != 1:
        raise NoFix("its value stands elsewhere")
    at = start + written.index(old, begin)
    return Edit(at, at + len(old), new), one.value.replace(old, new, 1)


def _without(text: Text, one: Given) -> Edit:
    """The text without the line that sets a variable.

    Raises:
        NoFix: the line does something else, too.
    """
    line, (number, column, length) = text.line(one.line), one.place
    written = text.text[text.offset(one.line, one.column) : text.offset(number, column + length)]
    wholes = {f"{start}{written}" for start in ("", *_STARTS)}
    if number != one.line or text.continues(number) or line.strip() not in wholes:
        raise NoFix("its line does something else, too")
    start = text.offset(number, 0)
    return Edit(start, start + len(line), "")


def started_with(text: Text, found: Said, order: Order) -> Edit:
    """What starts a server with one more variable, in capitals, or with one more option.

    Raises:
        NoFix: it isn't written on one line.
    """
    recipe = order.recipe
    for server in found.servers:
        places = server.command.places
        if server.name != order.api or not places or server.command.line != order.span.line:
            continue
        if recipe.argument.isupper() and server.is_inside:
            raise NoFix("another program gives it its variables")
        if recipe.argument.isupper():
            at = text.offset(*places[0][:2])
            return Edit(at, at, f"{recipe.argument}={recipe.value} ")
        line, column, length = places[server.behind - 1]
        at = text.offset(line, column + length)
        return Edit(at, at, f" --{recipe.argument.replace('_', '-')}")
    raise NoFix("what starts it stands elsewhere")
