"""What is asked on the way to a site inside its function: `if self.drop > 0:`, `if norm is not None and train:`.

Facts keep the flags that a call may give (`if flag:`). What else is asked, is read here from the text of a definition, for the few
sites that would be told.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from operator import is_not
from typing import Final, NamedTuple

from detlint.facts.model import Span
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.program.resolve import Module
from detlint.program.texts import Texts

_LEAVE: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINES: Final = re.compile(rb"(?:async[ \t]+def|def|class)[ \t]+")
_AFTER: Final = re.compile(rb"\n[^\s#)\]}]")
"""Where the next statement of the top level begins."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Place = tuple[int, int]


class Guard(NamedTuple):
    """A test on the way to a site, and what it has to be."""

    test: ast.expr
    wanted: bool


class Guarded(NamedTuple):
    """A site in its function."""

    function: _Function
    guards: Sequence[Guard]
    outermost: _Function

    def may_rebind(self, name: ast.Name) -> bool:
        """Whether something may have bound a name by the time that it is read in a test, in the function or in one around it: what
        it was before then says nothing."""
        places = [(node.lineno, node.col_offset) for node in _bound(self.outermost) if node.id == name.id]
        here = (name.lineno, name.col_offset)
        if not places or self.function is not self.outermost:
            return bool(places)
        loops = (node for node in walk(self.function) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
        return min(places) < here or any(_holds(loop, here) for loop in loops)


def guarded(data: bytes, name: str, span: Span) -> Guarded | None:
    """The tests on the way to a site, in the innermost function around it; None where that can't be read.

    Args:
        data: the text of the file.
        name: the definition of the top level that it stands in.
    """
    text, before = _definition(data, name, span)
    return _find(_statements(text), (span.line - before, span.column), [], [])


def on_the_way(texts: Texts, module: Module, index: int) -> Guarded | None:
    """The tests on the way to a site of a module, in the innermost function around it; None at the top level, and where that can't be
    read."""
    site, function = module.sites[index], module.function_of(module.sites[index])
    text = texts.code(module.path) if function.name else None
    return guarded(text, function.name.partition(".")[0], site.span) if text is not None else None


def class_in(data: bytes, name: str) -> ast.ClassDef | None:
    """A class of the top level; None where that can't be read, or where two have the name."""
    if len(re.findall(rb"^class[ \t]+%s\b" % re.escape(name.encode()), data, re.M)) != 1:
        return None
    body = _statements(_definition(data, name, Span(sys.maxsize, 0, sys.maxsize, 0))[0])
    return body[0] if body and isinstance(body[0], ast.ClassDef) else None


def _definition(data: bytes, name: str, span: Span) -> tuple[bytes, int]:
    """The text of the definition of the top level that a site stands in, and how many lines are before it; b"" for none."""
    # What begins with a literal is searched for as fast as that.
    said = (found.start() for found in re.finditer(rb"%s\b" % re.escape(name.encode()), data))
    begins = ((data.rfind(b"\n", 0, at) + 1, at) for at in said)
    heads = (start for start, at in begins if _DEFINES.fullmatch(data, start, at))
    begun = [(start, data.count(b"\n", 0, start)) for start in heads]
    start, before = next(((at, lines) for at, lines in reversed(begun) if lines < span.line), (-1, 0))
    if start < 0:
        return b"", 0
    end = _AFTER.search(data, start)
    return data[start : end.start() + 1 if end else None], before


def _statements(text: bytes) -> Sequence[ast.stmt]:
    """What a definition, or a file, is made of; none where it can't be read."""
    parsed = tree(text)
    return parsed.body if parsed is not None else ()


def _find(
    body: Sequence[ast.stmt], place: _Place, functions: Sequence[_Function], guards: Sequence[Guard]
) -> Guarded | None:
    """Go down to the statement that holds a site.

    Args:
        functions: those that were entered on the way, the outermost first.
        guards: what the innermost has asked so far.
    """
    for statement in body:
        if not _holds(statement, place):
            if isinstance(statement, ast.If) and isinstance(statement.body[-1], _LEAVE) and not statement.orelse:
                guards = [*guards, Guard(statement.test, False)]
            continue
        if isinstance(statement, _FUNCTIONS) and _in_body(statement.body, place):
            return _find(statement.body, place, [*functions, statement], [])
        for block, guard in _blocks(statement):
            if _in_body(block, place):
                return _find(block, place, functions, [*guards, *guard])
        return Guarded(functions[-1], [*guards, *_asked(statement, place)], functions[0]) if functions else None
    return None


def _asked(node: ast.AST, place: _Place) -> Iterator[Guard]:
    """What the expressions of a statement ask on the way to a site: `ops.sum(x) if self.whole else x`."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.expr | ast.keyword | ast.comprehension) or isinstance(inner, ast.Lambda):
            continue  # a lambda is another function
        if not isinstance(inner, ast.comprehension) and not _holds(inner, place):
            continue
        if isinstance(node, ast.IfExp) and inner is not node.test:
            yield Guard(node.test, inner is node.body)
        if isinstance(node, ast.BoolOp):  # `self.whole and ops.sum(x)`
            before = takewhile(partial(is_not, inner), node.values)
            yield from (Guard(value, isinstance(node.op, ast.And)) for value in before)
        yield from _asked(inner, place)


def _blocks(statement: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], Sequence[Guard]]]:
    """The blocks of a statement, each with what is asked before it is entered."""
    if isinstance(statement, ast.If):
        yield statement.body, [Guard(statement.test, True)]
        yield statement.orelse, [Guard(statement.test, False)]
        return
    for _, block in ast.iter_fields(statement):
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block, ()
        elif isinstance(block, list) and block and isinstance(block[0], ast.ExceptHandler):
            for handler in block:
                yield handler.body, ()


@lru_cache(maxsize=16)
def _bound(function: ast.AST) -> Sequence[ast.Name]:
    """Where names are bound in a function, besides its parameters."""
    return [node for node in walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]


def _holds(node: ast.stmt | ast.expr | ast.keyword, place: _Place) -> bool:
    first = (node.lineno, node.col_offset if not isinstance(node, ast.stmt) else 0)
    first = min([first, *((decorator.lineno, 0) for decorator in getattr(node, "decorator_list", ()))])
    return first <= place < (node.end_lineno or 0, node.end_col_offset or 0)


def _in_body(body: Sequence[ast.stmt], place: _Place) -> bool:
    return any(_holds(statement, place) for statement in body)
