"""What other files see of a file: its definitions and what they stand for, not where they are or what happens in them.

A file that changes matters to another one in two ways. That one may have looked into what happens there, which is noted
when it does. Or it comes, by some name, to a definition that is another now; then it says that name, or one of a file
between them whose own definition says it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from detlint.ir.words import words_in
from detlint.model.sites.records import (
    Body,
    Branch,
    Each,
    Either,
    Expression,
    Facts,
    Instance,
    Items,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    Step,
    Value,
    decode_body,
)
from detlint.model.sites.records import Mapping as Dictionary

Outline = dict[str, list[Any]]
"""What a file defines under each name of its top level, without positions."""

ASKED_BY_PYTHON: Final = frozenset({"__all__", "__getattr__", "__dir__"})
"""What modules have for Python to ask: most files say these names too, and none of them comes to a definition by it."""


def moved(old: Facts, new: Facts, missed: Collection[str], starred: Collection[str]) -> frozenset[str] | None:
    """The names of the top level that stand for something else in another state of a file; what is inside of a class or a
    function is reached by the outermost name. None: nobody can say which, any name may.

    Args:
        missed: the names that were asked for in vain. Any other is no news to anybody where it is new, unless something may be
            called by it that is passed over under names which stand for nothing of the catalog.
        starred: the last components of the modules from which any file takes all names that these list; "" for any module.
    """
    if (old.module, old.stars, old.closed) != (new.module, new.stars, new.closed):
        return None
    before, now = outline(old), outline(new)
    names = frozenset(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    may_be_taken = new.closed and not {"", new.module.rpartition(".")[2].strip("()")}.isdisjoint(starred)
    listed = {*(old.offers or "").split()} ^ {*(new.offers or "").split()} if may_be_taken else set()
    same_kinds = (old.aliases, old.properties, old.registers) == (new.aliases, new.properties, new.registers)
    if not same_kinds or old.problem is not None:  # nobody gets as far as to ask a file that can't be read
        return names | listed
    return frozenset(name for name in names if name in before or name in missed) | listed


def passing_on(facts: Facts, words: Collection[str]) -> frozenset[str]:
    """The names of a file's top level whose meaning may depend on what some words mean."""
    sites = decode_body(facts).sites
    return frozenset(
        name
        for name, values in _standing(facts)
        if name in words or any(said in words for value in values for said in _said(value, sites))
    )


def _standing(facts: Facts) -> Iterator[tuple[str, Iterable[Value | None]]]:
    """The names of the top level, and the values on which depends what they stand for."""
    for name, value in facts.names.items():
        yield name, (value,)
    for f in facts.functions:
        yield _outermost(f.name), (f.returns,)
    for c in facts.classes:
        yield _outermost(c.name), (*c.bases, *c.attributes.values(), *c.decorators)


def _said(value: Value | None, sites: tuple[Site, ...]) -> Iterator[str]:
    """The words by which a value leads to definitions; what a literal has in it is none."""
    if isinstance(value, Ref):
        yield from words_in(value.name)
    elif isinstance(value, Instance):
        yield from words_in(value.of)
    elif isinstance(value, Member):
        yield from _said(value.base, sites)
        yield value.attr
    elif isinstance(value, (Result, Partial)):
        yield from _said(value.of, sites)
        for argument in sites[value.site].args if value.site >= 0 else ():
            yield from _said(argument.value, sites)
    elif isinstance(value, Param):
        yield from _said(value.default, sites)
    elif isinstance(value, (Items, Either, Dictionary)):
        for part in value.options if isinstance(value, Either) else value.values:
            yield from _said(part, sites)
    elif isinstance(value, Expression):
        yield from words_in(value.text)
        for part in value.names.values():
            yield from _said(part, sites)


def same_top(old: Facts, new: Facts) -> bool:
    """Whether importing a file does the same by itself in both states: what its top level runs, how it decorates its definitions,
    and the options that it gives the command line. What the functions do that it calls is not looked at."""
    return _top(old, decode_body(old)) == _top(new, decode_body(new))


def _top(facts: Facts, body: Body) -> list[Any]:
    decorators = [
        (function.name, _plains(body.details[function.number].decorators, body.sites)) for function in facts.functions
    ]
    classes = [(c.name, _plains(c.decorators, body.sites)) for c in facts.classes]
    options = {name: _plain(option.default, body.sites) for name, option in facts.options.items()}
    return [
        facts.starts,
        facts.stars,
        _steps(body.steps[0] if body.steps else (), body),  # a file that can't be read does nothing
        [d for d in decorators if d[1]],
        [c for c in classes if c[1]],
        options,
    ]


def acts_on(facts: Facts, words: Collection[str]) -> bool:
    """Whether what importing a file does may depend on what some words mean, and not just on what imports bind to them."""
    body = decode_body(facts)
    silent = msgspec.structs.replace(body, runs=tuple(run if isinstance(run, Member) else "" for run in body.runs))
    return not words_in(repr(_top(facts, silent))).isdisjoint(words)


def _steps(steps: Iterable[Step], body: Body) -> list[Any]:
    found: list[Any] = []
    for step in steps:
        if isinstance(step, Branch):
            found.append((step.kind, _plain(step.test, body.sites), [_steps(arm, body) for arm in step.arms]))
        elif step >= 0:
            found.append(_site(body.sites[step], body.sites))
        elif step == -1:
            found.append(step)
        else:
            run = body.runs[-2 - step]
            found.append(run if isinstance(run, str) else _plain(run, body.sites))
    return found


def _site(site: Site, sites: tuple[Site, ...]) -> tuple[Any, ...]:
    arguments = [(a.name, _plain(a.value, sites)) for a in site.args]
    around = [_plain(sites[i].target, sites) for i in site.within]
    return site.kind, _plain(site.target, sites), arguments, around


def outline(facts: Facts) -> Outline:
    """A file's definitions, by the name of the top level that leads to them."""
    sites = decode_body(facts).sites
    found: Outline = {}
    for name, value in facts.names.items():
        found.setdefault(name, []).append(_plain(value, sites))
    for f in facts.functions:
        entry = (f.name, f.owner, f.yields, f.deferred, _plain(f.returns, sites))
        found.setdefault(_outermost(f.name), []).append(entry)
    for c in facts.classes:
        made = (
            Ref(f"{facts.module}.{c.name.rpartition('.')[0]}") if any(type(base) is Param for base in c.bases) else None
        )
        handed = [_plain(argument.value, sites) for site in sites if site.target == made for argument in site.args]
        parts = (_plains(c.bases, sites), handed, _table(c.attributes, sites), _plains(c.decorators, sites))
        found.setdefault(_outermost(c.name), []).append((c.name, *parts, c.methods, c.properties))
    return {name: entries for name, entries in found.items() if name not in ASKED_BY_PYTHON}


def _outermost(name: str) -> str:
    return name.partition(".")[0].partition("@")[0]


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
    if isinstance(value, Each):
        return "Each", _plain(value.of, sites)
    if isinstance(value, Either):
        return "Either", value.by, _plains(value.options, sites)
    if isinstance(value, Dictionary):
        return "Mapping", value.keys, _plains(value.values, sites)
    if isinstance(value, Expression):
        return "Expression", value.text, _table(value.names, sites)
    return value
