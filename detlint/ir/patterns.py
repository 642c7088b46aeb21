"""Patterns of `match` to ops. What a pattern captures is bound once all of it matches, so each gives back its captures with its test."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.builder import Builder
from detlint.ir.expressions import value_of


class Capture(NamedTuple):
    """A name that a pattern binds, and to what."""

    name: str
    value: int
    node: ast.pattern


Matched = tuple[int, list[Capture]]
"""Whether a subject matches, -1 where it always does; and what is bound then."""
Part = Callable[[], Matched]


def matches(f: Builder, node: ast.pattern, subject: int) -> Matched:
    """The test of a value against a pattern."""
    return _PATTERNS[node.__class__](f, node, subject)


def _test(f: Builder, node: ast.pattern, subject: int, code: int, *parts: int) -> int:
    return f.put((code, subject, *parts), node)


def _and(f: Builder, node: ast.pattern, test: int, parts: Iterable[Part]) -> Matched:
    """Parts of which each is looked at only if what is before it matches."""
    captures: list[Capture] = []
    opened = False
    for part in parts:
        if not opened:
            f.put((op.IF, test), node)
            opened = True
        inner, captured = part()
        captures += captured
        if inner >= 0:
            f.put((op.END,), node)
            opened = False
            test = f.put((op.CHOICE, f.file.string("and"), test, inner), node)
    if opened:
        f.put((op.END,), node)
    return test, captures


def _value(f: Builder, node: ast.MatchValue, subject: int) -> Matched:
    return _test(f, node, subject, op.MATCHES_VALUE, value_of(f, node.value)), []


def _singleton(f: Builder, node: ast.MatchSingleton, subject: int) -> Matched:
    return _test(f, node, subject, op.MATCHES_SINGLETON, f.put(f.file.constant(node.value), node)), []


def _sequence(f: Builder, node: ast.MatchSequence, subject: int) -> Matched:
    starred = any(isinstance(part, ast.MatchStar) for part in node.patterns)
    test = _test(f, node, subject, op.MATCHES_SEQUENCE, len(node.patterns) - starred, int(starred))

    def part(number: int, pattern: ast.pattern) -> Matched:
        place = -1 - number if isinstance(pattern, ast.MatchStar) else number
        return matches(f, pattern, f.put((op.PART, subject, place, len(node.patterns)), pattern))

    return _and(f, node, test, (partial(part, *numbered) for numbered in enumerate(node.patterns)))


def _mapping(f: Builder, node: ast.MatchMapping, subject: int) -> Matched:
    keys = [value_of(f, key) for key in node.keys]
    test = _test(f, node, subject, op.MATCHES_MAPPING, *keys)

    def part(key: int, pattern: ast.pattern) -> Matched:
        return matches(f, pattern, f.put((op.ITEM, subject, key), pattern))

    def rest(name: str) -> Matched:
        return -1, [Capture(name, _test(f, node, subject, op.WITHOUT, *keys), node)]

    parts: list[Part] = [partial(part, *pair) for pair in zip(keys, node.patterns, strict=True)]
    if node.rest:
        parts.append(partial(rest, node.rest))
    return _and(f, node, test, parts)


def _instance(f: Builder, node: ast.MatchClass, subject: int) -> Matched:
    kind = value_of(f, node.cls)
    attributes = [f.file.string(attribute) for attribute in node.kwd_attrs]
    test = _test(f, node, subject, op.MATCHES_CLASS, kind, len(node.patterns), *attributes)

    def part(get: tuple[int, ...], pattern: ast.pattern) -> Matched:
        return matches(f, pattern, f.put(get, pattern))

    gets: list[tuple[int, ...]] = [(op.PART, subject, number, -1) for number in range(len(node.patterns))]
    gets += [(op.ATTR, subject, attribute) for attribute in attributes]
    patterns = [*node.patterns, *node.kwd_patterns]
    return _and(f, node, test, (partial(part, *pair) for pair in zip(gets, patterns, strict=True)))


def _star(f: Builder, node: ast.MatchStar, subject: int) -> Matched:
    return -1, [Capture(node.name, subject, node)] if node.name else []


def _captures(f: Builder, node: ast.MatchAs, subject: int) -> Matched:
    test, captures = (-1, []) if node.pattern is None else matches(f, node.pattern, subject)
    if node.name:
        captures.append(Capture(node.name, subject, node))
    return test, captures


def _either(f: Builder, node: ast.MatchOr, subject: int) -> Matched:
    """The alternatives bind the same names, each what it sees."""
    test, captures = matches(f, node.patterns[0], subject)
    for part in node.patterns[1:]:
        f.put((op.IF, test), part)
        f.put((op.ELSE,), part)
        other, captured = matches(f, part, subject)
        f.put((op.END,), part)
        test = f.put((op.CHOICE, f.file.string("or"), test, other), part) if other >= 0 else -1
        values = {capture.name: capture.value for capture in captured}
        captures = [
            Capture(name, f.put((op.CHOICE, f.file.string("if"), value, values.get(name, -1)), part), place)
            for name, value, place in captures
        ]
    return test, captures


_PATTERNS: Final[dict[type, Callable[[Builder, Any, int], Matched]]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchSequence: _sequence,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _instance,
    ast.MatchStar: _star,
    ast.MatchAs: _captures,
    ast.MatchOr: _either,
}
