"""What a function does with its parameters: itself, by those that it hands them on to, or in other methods of an object whose
constructor keeps them.

What it may assume: nothing is done by what isn't known; functions that call each other in a circle do with what they hand on only what was
found before the circle closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from detlint.db import Memo
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.code import Function as Body
from detlint.model.meaning import Meaning, Meanings
from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import GETATTR, IMPORT_MODULE, Function, Value, options, plain

COMPARES: Final = "compares"
"""An `if` asks which text it is, or an object gets it, of which one may ask that."""
NAMES: Final = "names"
"""It is the name of a module, or of a part of something, or a part of such a name."""
UNPACKS: Final = "unpacks"
"""Its items are arguments of a call."""
SEEDS: Final = "seeds"
"""It seeds a stream, or draws from it depend on it."""
WORKERS: Final = "num_workers"
"""The parameter of a loader that says in how many processes its data draw."""
MISSES_A_SEED: Final = "DET10"
"""How the codes of rules begin about draws that miss a seed."""
_ALIKE: Final = frozenset({"==", "!=", "in", "not in"})
_TABLES: Final = frozenset({"builtins.globals", "builtins.vars"})

Callees = Callable[[Value | None], Sequence[tuple[Module, Function, str]]]
Entries = Callable[[Value | None], Sequence[tuple[str, Sequence[int]]]]
_Use = tuple[str, int]
"""What is done, and with which value."""


class Parameters:
    """Finds out what is done with them. Everything asked once is remembered.

    Args:
        callees: the functions of the program that calling a value runs.
        entries: the names of a value that the catalog knows, with the numbers of their entries.
    """

    def __init__(self, resolver: Resolver, meanings: Meanings, callees: Callees, entries: Entries) -> None:
        self._resolver = resolver
        self._meanings = meanings
        self._callees = callees
        self._entries = entries
        self._known: Memo[Mapping[str, frozenset[str]]] = Memo(resolver.db)

    def that(self, does: str, module: Module, function: Function) -> frozenset[str]:
        """The names of those with which a function does something; not of the object itself."""
        return self._of(module, function).get(does, frozenset())

    def _of(self, module: Module, function: Function) -> Mapping[str, frozenset[str]]:
        """What is done -> with which parameters."""
        return self._known.of((module.path, function.number), partial(self._finds_out, module, function), {})

    def _finds_out(self, module: Module, function: Function) -> Mapping[str, frozenset[str]]:
        meaning = self._meanings.within(module) if function.number else None
        found: dict[str, set[str]] = {}
        for does, name in self._found(meaning, plain(function.name)) if meaning is not None else ():
            found.setdefault(does, set()).add(name)
        return {does: frozenset(names) for does, names in found.items()}

    def _found(self, meaning: Meaning, name: str) -> Iterator[tuple[str, str]]:
        for body in meaning.code.by_name.get(name, ()):
            for does, value in self._uses(meaning, body):
                yield from ((does, parameter) for parameter in _parameters(body, value))
            if body.name == "__init__" and body.receives:
                yield from self._kept(meaning, body)

    def _kept(self, meaning: Meaning, constructor: Body) -> Iterator[tuple[str, str]]:
        """What other methods do with the parameters that a constructor keeps as attributes."""
        used: dict[str, set[str]] = {}
        for method in _methods(meaning.code, constructor):
            for does, value in self._uses(meaning, method):
                for attribute in filter(None, map(method.own, method.made_of(value))):
                    used.setdefault(attribute, set()).add(does)
        for _, operation in constructor.each(op.SET_ATTR) if used else ():
            done = used.get(constructor.strings[operation[2]], ()) if constructor.is_self(operation[1]) else ()
            for parameter in _parameters(constructor, operation[3]) if done else ():
                yield from ((does, parameter) for does in done)

    def _uses(self, meaning: Meaning, body: Body) -> Iterator[_Use]:
        """What a function does, with which values."""
        self._resolver.inside(meaning.path, body)
        for _, operation in body.each(op.IF):
            test = body.ops[operation[1]]
            if test[0] == op.COMPARE and body.strings[test[2]] in _ALIKE:
                yield COMPARES, operation[1]
        yield from ((COMPARES, put[3]) for _, put in body.each(op.SET_ATTR) if not body.is_self(put[1]))
        for _, operation in body.each(op.ITEM):
            if has_all_names(meaning, body, operation[1]):
                yield NAMES, operation[2]
        for at, operation in body.each(op.CALL):
            call, called = body.call(at), meaning.value(body, operation[1])
            yield from ((UNPACKS, value) for value in _unpacked(body, at))
            if called in (GETATTR, IMPORT_MODULE):
                yield from ((NAMES, value) for value in call.positional[called == GETATTR :][:1])
            for option in (option for option in options(called) if option is not None):
                yield from self._by_library(body, at, option)
                yield from self._handed_on(body, at, option)

    def _by_library(self, body: Body, at: int, called: Value) -> Iterator[_Use]:
        """What a call of a library does with what it is handed."""
        call, catalog = body.call(at), self._resolver.catalog
        for name, numbers in self._entries(called):
            entries = [catalog.entries[number] for number in numbers]
            if any(entry.hands is not None for entry in entries):
                yield from ((UNPACKS, value) for value in call.values())
            if self._resolver.kinds.layer(name) is not None:
                continue  # it draws later, if ever
            if any(entry.seeds for entry in entries):
                yield from ((SEEDS, value) for value in (*call.positional, *call.named.values()))
            draws = (entry for entry in entries if entry.draws or entry.rule.startswith(MISSES_A_SEED))
            asked = {name for entry in draws for name, when in entry.when.items() if when.given is False}
            asked |= {WORKERS} if any("loader" in entry.contexts for entry in entries) else set()
            order = [parameter for parameter, _ in catalog.signatures.get(name, ())]
            yield from ((SEEDS, value) for value in _given(body, at, order, asked))

    def _handed_on(self, body: Body, at: int, called: Value) -> Iterator[_Use]:
        """What the functions of the program do that a call hands something on to."""
        for home, function, _ in self._callees(called):
            done = self._of(home, function)
            order = (
                [p.name for p in home.detail(function).parameters if not p.kind][bool(function.owner) :] if done else []
            )
            for does, names in done.items():
                yield from ((does, value) for value in _given(body, at, order, names))


def has_all_names(meaning: Meaning, body: Body, value: int) -> bool:
    """Whether a value is the table of the names of a module, class or object: `globals()`, `vars(module)`, `module.__dict__`."""
    operation = body.ops[value]
    if operation[0] == op.ATTR:
        return body.strings[operation[2]] == "__dict__"
    return operation[0] == op.CALL and meaning.name(body, operation[1]) in _TABLES


def _unpacked(body: Body, at: int) -> Iterator[int]:
    """What a call unpacks, or may put into a table that another one unpacks."""
    call = body.call(at)
    yield from call.unpacked
    yield from (body.ops[value][1] for value in call.positional if body.ops[value][0] == op.STAR)
    if body.called(at) == "update":
        yield from call.positional


def _given(body: Body, at: int, order: Sequence[str], names: frozenset[str] | set[str]) -> Iterator[int]:
    """The values that a call gives some parameters.

    Args:
        order: those that are given by position.
    """
    call = body.call(at)
    yield from (value for name, value in zip(order, call.positional, strict=False) if name in names)
    yield from (value for name, value in call.named.items() if name in names)


def _methods(code: Code, one: Body) -> Iterator[Body]:
    """The other methods of the class of one."""
    found = map(code.function, code.children.get(one.header.parent, ()))
    return (method for method in found if method is not one and method.receives)


def _parameters(body: Body, value: int) -> Iterator[str]:
    """The parameters that a value may be made of, of its function or of one around."""
    for at in body.made_of(value):
        given = body.given(at) or (body, body.may_give(at))
        if given[1] >= 0 and not body.is_self(at):
            yield given[0].text(given[1])
