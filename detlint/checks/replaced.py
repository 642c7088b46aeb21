"""Definitions that a later one of the same name replaces in their file, before anything may come to them: nothing ever runs them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.program.texts import DEFINES, Block, Texts

_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Replaced:
    """Finds them."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def holds(self, path: str, line: int) -> bool:
        """Whether a line of a file stands in one."""
        return any(line in lines for lines in _replaced(self._texts.of(path) or b"").values())

    def is_one(self, path: str, block: Block) -> bool:
        """Whether a part of a file is one."""
        gone = _replaced(self._texts.of(path) or b"")
        if not any(name == block.name for name, _ in gone):
            return False
        line, blocks = 1, self._texts.blocks(path)
        for other in blocks:
            if other == block:
                return (block.name, line) in gone and blocks.count(block) == 1
            line += other.text.count(b"\n")
        return False


@lru_cache(maxsize=64)
def _replaced(text: bytes) -> dict[tuple[str, int], range]:
    """The names of such definitions, and where they begin, with their lines."""
    names = DEFINES.findall(text)
    body = getattr(tree(text), "body", ()) if len({*names}) < len(names) else ()
    own = frozenset(node.name for node in body if isinstance(node, _DEFINITIONS))
    found = (node for number, node in enumerate(body) if _is_replaced(node, body[number + 1 :], own))
    return {(node.name, node.lineno): range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in found}


def _is_replaced(statement: ast.stmt, behind: Sequence[ast.stmt], own: Collection[str]) -> bool:
    """Whether a statement is such a definition. A decorator, or a metaclass, may keep what it is given.

    Args:
        own: the names of all definitions of the file, which may come to it when they are called.
    """
    if not isinstance(statement, _DEFINITIONS) or statement.decorator_list:
        return False
    if isinstance(statement, ast.ClassDef) and statement.keywords:
        return False
    for other in behind:
        if isinstance(other, _DEFINITIONS) and other.name == statement.name:
            at_once = any(_may_come_to(part, statement.name, own) for part in _at_once(other))
            return not (at_once or _calls_one(other, own))
        if _may_come_to(other, statement.name, own):
            return False
    return False


def _at_once(definition: _Definition) -> Iterator[ast.AST]:
    """What a definition evaluates before its name means it, but for what is defined in it."""
    if isinstance(definition, ast.ClassDef):
        own = (statement for statement in definition.body if not isinstance(statement, _DEFINITIONS))
        return chain(definition.decorator_list, definition.bases, definition.keywords, own)
    return chain(definition.decorator_list, [definition.args])


def _all_at_once(definition: _Definition) -> Iterator[ast.AST]:
    """What a definition evaluates before its name means it, and in a class what is defined in that."""
    inside = definition.body if isinstance(definition, ast.ClassDef) else ()
    inner = (_all_at_once(statement) for statement in inside if isinstance(statement, _DEFINITIONS))
    return chain(_at_once(definition), chain.from_iterable(inner))


def _may_come_to(node: ast.AST, name: str, own: Collection[str]) -> bool:
    """Whether a part of a file may use what has a name before it: it says that, or calls or imports something; a definition says it,
    or what another one of the file does when it is called at once: a decorator, for a default, in the body of a class."""
    if any(type(part) is ast.Name and part.id == name for part in walk(node)):
        return True
    if isinstance(node, _DEFINITIONS):
        return _calls_one(node, own)
    return any(type(part) in (ast.Call, ast.Import, ast.ImportFrom) for part in walk(node))


def _calls_one(definition: _Definition, own: Collection[str]) -> bool:
    """Whether a definition calls another one of its file at once."""
    nodes = [*chain.from_iterable(map(walk, _all_at_once(definition)))]
    inner = [
        node for node in definition.body if isinstance(definition, ast.ClassDef) and isinstance(node, _DEFINITIONS)
    ]
    decorators = chain.from_iterable(each.decorator_list for each in (definition, *inner))
    called = (*decorators, *(node.func for node in nodes if isinstance(node, ast.Call)))
    return any(dotted(function).partition(".")[0] in own for function in called)
