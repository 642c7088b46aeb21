"""What a run has found out of a program, kept so that the next one judges anew only what a change can touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from detlint.checks.finding import Finding
from detlint.facts.model import (
    Either,
    Expression,
    Facts,
    Head,
    Items,
    Member,
    Param,
    Partial,
    Result,
    Site,
    Value,
    decode_body,
)
from detlint.facts.model import Mapping as Dictionary
from detlint.program.outcome import Outcome


class Row(msgspec.Struct, array_like=True):
    """A file as it was."""

    size: int
    changed: int
    key: bytes
    inside: bool
    """Whether it is one of the program's own, rather than something that they import."""
    head: Head | None
    """Without what only linking asks of a file, which links that were noted make needless."""

    def holds(self, size: int, changed: int, before: int) -> bool:
        """Whether a file of this size and time of change is surely still the same, if it was looked at `before`."""
        return (self.size, self.changed) == (size, changed) and changed < before


class Followed(msgspec.Struct, array_like=True):
    """What following one entry point gave."""

    outcome: Outcome
    sites: dict[str, frozenset[int]]
    """The sites that it passes and that a rule knows, by module."""
    seeded: dict[str, frozenset[int]]
    """Those that make a generator object with a seed, by module."""
    visited: frozenset[str]
    """The files that it runs something of."""
    findings: list[Finding]


class Judged(msgspec.Struct, array_like=True):
    """What judging one module gave."""

    findings: list[Finding]
    opened: tuple[str, ...]
    """The other files whose bodies that looked into."""
    varies: bool = False
    """Whether it may be another with any run that passes the module, whatever that passes there."""


class Record(msgspec.Struct, array_like=True):
    """A program as it was when it was last checked, under the same settings."""

    files: dict[str, Row] = {}
    imports: dict[str, tuple[str, ...]] = {}
    followed: dict[str, list[Followed]] = {}
    judged: dict[str, Judged] = {}
    others: dict[str, bytes] = {}
    """Keys of files that do not belong to the program, but that names led into."""
    folders: dict[str, tuple[int, bytes]] = {}
    """Folders whose listing was consulted: when they were last changed, and what was in them."""
    written: int = 0
    """When it was made, in nanoseconds: a file changed at about that time may have changed since."""


DECODER = msgspec.msgpack.Decoder(Record)


def same_outline(old: Facts, new: Facts) -> bool:
    """Whether two states of a file mean the same to the files that import it: what they say of its definitions, not where
    it says it or what happens in its functions."""
    return _outline(old) == _outline(new)


def _outline(facts: Facts) -> tuple[Any, ...]:
    sites = decode_body(facts).sites
    functions = [(f.name, f.owner, f.yields, _plain(f.returns, sites)) for f in facts.functions]
    classes = [
        (c.name, _plains(c.bases, sites), _table(c.attributes, sites), c.methods, c.properties) for c in facts.classes
    ]
    return facts.module, facts.imports, facts.stars, _table(facts.names, sites), functions, classes


def _table(values: Mapping[str, Value | None], sites: tuple[Site, ...]) -> dict[str, Any]:
    return {name: _plain(value, sites) for name, value in values.items()}


def _plains(values: Iterable[Value | None], sites: tuple[Site, ...]) -> list[Any]:
    return [_plain(value, sites) for value in values]


def _plain(value: Value | None, sites: tuple[Site, ...]) -> Any:
    """A value without positions: a call by its arguments instead."""
    if isinstance(value, (Result, Partial)):
        made = sites[value.site] if value.site >= 0 else None
        arguments = [(a.name, _plain(a.value, sites)) for a in made.args] if made is not None else None
        return type(value).__name__, _plain(value.of, sites), arguments
    if isinstance(value, Member):
        return "Member", _plain(value.base, sites), value.attr
    if isinstance(value, Param):
        return "Param", value.name, _plain(value.default, sites)
    if isinstance(value, Items):
        return value.kind, _plains(value.values, sites)
    if isinstance(value, Either):
        return "Either", _plains(value.options, sites)
    if isinstance(value, Dictionary):
        return "Mapping", value.keys, _plains(value.values, sites)
    if isinstance(value, Expression):
        return "Expression", value.text, _table(value.names, sites)
    return value
