"""The patterns of `match` to ops: each gives whether a subject is so, and stores what it captures."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from detlint.ir import ops as op
from detlint.ir.builder import Builder
from detlint.ir.expressions import value_of


def matches(f: Builder, node: ast.pattern, subject: int) -> int:
    return PATTERNS[node.__class__](f, node, subject)


def _told(f: Builder, node: ast.pattern, subject: int, kind: str, *parts: int) -> int:
    return f.put((op.MATCHES, subject, f.file.string(kind), *parts), node)


def value(f: Builder, node: ast.MatchValue, subject: int) -> int:
    return _told(f, node, subject, "value", value_of(f, node.value))


def singleton(f: Builder, node: ast.MatchSingleton, subject: int) -> int:
    return _told(f, node, subject, "singleton", f.put((op.CONST, f.file.constant(node.value)), node))


def sequence(f: Builder, node: ast.MatchSequence, subject: int) -> int:
    tests = []
    for number, part in enumerate(node.patterns):
        star = isinstance(part, ast.MatchStar)
        inner = f.put((op.PART, subject, -1 - number if star else number, len(node.patterns)), part)
        tests.append(matches(f, part, inner))
    return _told(f, node, subject, "sequence", *tests)


def mapping(f: Builder, node: ast.MatchMapping, subject: int) -> int:
    tests = []
    for key, part in zip(node.keys, node.patterns):
        tests.append(matches(f, part, f.put((op.ITEM, subject, value_of(f, key)), part)))
    if node.rest:
        f.store(node.rest, subject, node)
    return _told(f, node, subject, "mapping", *tests)


def instance(f: Builder, node: ast.MatchClass, subject: int) -> int:
    kind = value_of(f, node.cls)
    tests = [matches(f, part, f.put((op.PART, subject, n, -1), part)) for n, part in enumerate(node.patterns)]
    for attribute, part in zip(node.kwd_attrs, node.kwd_patterns):
        tests.append(matches(f, part, f.put((op.ATTR, subject, f.file.string(attribute)), part)))
    return _told(f, node, subject, "class", kind, *tests)


def star(f: Builder, node: ast.MatchStar, subject: int) -> int:
    if node.name:
        f.store(node.name, subject, node)
    return _told(f, node, subject, "any")


def captures(f: Builder, node: ast.MatchAs, subject: int) -> int:
    test = matches(f, node.pattern, subject) if node.pattern is not None else _told(f, node, subject, "any")
    if node.name:
        f.store(node.name, subject, node)
    return test


def either(f: Builder, node: ast.MatchOr, subject: int) -> int:
    return _told(f, node, subject, "or", *(matches(f, part, subject) for part in node.patterns))


PATTERNS: Final[dict[type, Callable[..., int]]] = {
    ast.MatchValue: value,
    ast.MatchSingleton: singleton,
    ast.MatchSequence: sequence,
    ast.MatchMapping: mapping,
    ast.MatchClass: instance,
    ast.MatchStar: star,
    ast.MatchAs: captures,
    ast.MatchOr: either,
}
