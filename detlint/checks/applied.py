"""Networks that what makes them only applies: nothing that is run there trains, and nobody else gets them.

A script, or a function, that evaluates builds the same network as the one that trains, and freezes nothing. What it makes is followed
by the text: what holds it may be called, printed, filled with weights, and handed to what the file imports or defines. All
definitions that are named on the way, in any file, are asked whether they may train.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.model import Const, Expression, Items, Member, Ref, Result, Value
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.program.answers import Answers
from detlint.program.resolve import Module
from detlint.program.users import Use, Users

_MOST: Final = 100
"""Definitions that are asked for one."""
_NUMBERS: Final = frozenset({"bool", "float", "int", "isinstance", "len", "print", "repr", "round", "str", "sum"})
"""Built-in functions that give no network, nor keep one."""
_KEEPS: Final = frozenset({"globals", "locals", "setattr", "vars"})
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES: Final = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""What binds names for itself alone."""
_Place = tuple[int, int]


class Applied:
    """Finds them.

    Args:
        trains: whether something may train in a definition of a file's top level, "" for what stands in none.
    """

    def __init__(self, users: Users, trains: Callable[[str, str], bool]) -> None:
        self._users = users
        self._resolver = users.resolver
        self._trains = trains
        self._only: Answers[bool] = Answers(users)

    def holds(self, use: Use) -> bool:
        """Whether a call makes a network where it is only applied."""
        module, function = use.module, use.module.function_of(use.module.sites[use.site])
        text = self._users.texts.code(module.path)
        if text is None or function.name != use.around or module.facts.left_out:
            return False
        if not function.name and (self._users.is_imported(module) or self._users.is_said_to_be_imported(module)):
            return False
        if not self._only.of((module.path, function.name), lambda: self._only_applies(module, function.name), False):
            return False
        if not function.name:
            return True  # nobody else has what it makes
        found = [node for node in _body(text) if isinstance(node, _DEFINITIONS) and node.name == function.name]
        span = module.sites[use.site].span
        return len(found) == 1 and _Kept(module, found[0], (span.line, span.column)).stays()

    def _only_applies(self, module: Module, name: str) -> bool:
        """Whether neither a function, or the top level of a file, trains anything, nor what it names, in any file."""
        waiting = [(module, name)]
        seen = {(module.path, name)}
        for home, inside in waiting:
            self._resolver.opened.add(home.path)
            if self._trains(home.path, inside) or home.facts.stars:
                return False
            for named in self._named(home, inside):
                other = self._resolver.module(named[0]) if named is not None else None
                if named is None or other is None or len(seen) > _MOST:
                    return False
                if named not in seen:
                    seen.add(named)
                    waiting.append((other, named[1]))
        return True

    def _named(self, module: Module, name: str) -> Iterator[tuple[str, str] | None]:
        """The definitions of the program that one names, with their files, and "" for the top level of a file of which it names something
        else; None where it may mean any of a file, also since it imports something itself."""
        body = _body(self._users.texts.code(module.path) or b"")
        own = [node for node in body if (getattr(node, "name", "") if isinstance(node, _DEFINITIONS) else "") == name]
        for node in (part for statement in own for part in _read(statement, frozenset())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if name:
                    yield None
                continue
            first, dot, rest = dotted(node).partition(".")
            value = made = module.facts.names.get(first)
            while isinstance(made, (Member, Result)):
                made = made.base if isinstance(made, Member) else made.of
            if first not in module.facts.names or (made is not None and _is_plain(made)):
                continue
            full = f"{made.name}{dot}{rest}" if isinstance(made, Ref) and made is value else getattr(made, "name", "")
            found = self._resolver.name(module.path, full) if isinstance(made, Ref) else None
            path, colon, inside = found.name.partition("::") if isinstance(found, Ref) else ("", "", "")
            if colon or found is None:
                yield (path, self._definition(path, inside.partition(".")[0])) if inside else None

    def _definition(self, path: str, name: str) -> str:
        """A name of a file, if that is a definition; "" for any other."""
        module = self._resolver.known(path)
        return name if name in module.functions or name in module.classes else ""


class _Kept:
    """What a function does with the network that a call in it makes."""

    def __init__(self, module: Module, function: ast.stmt, place: _Place) -> None:
        self._names = module.facts.names
        self._function = function
        self._place = place
        self._nodes = [*walk(function)]
        self._bound = {n.id for n in self._nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self._bound |= {node.arg for node in self._nodes if isinstance(node, ast.arg)}
        self._holding = set[str]()
        """The names of what may hold it."""

    def stays(self) -> bool:
        """Whether nobody has it once the function is through."""
        before = -1
        while before < len(self._holding):
            before = len(self._holding)
            if not all(map(self._keeps, self._nodes)):
                return False
        return True

    def _keeps(self, node: ast.AST) -> bool:
        """Whether a part of the function gives it to nobody; notes who may hold it from there."""
        if isinstance(node, (ast.Global, ast.Nonlocal)) or (
            isinstance(node, _DEFINITIONS) and node is not self._function
        ):
            return False
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return not self._may_hold(node.value)
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            return not any(map(self._may_hold, given)) or self._may_be_given(node.func)
        targets, value = _given(node)
        if not self._may_hold(value):
            return True
        return all(self._takes(target) for target in targets)

    def _takes(self, target: ast.expr) -> bool:
        """Whether a target that gets it is a name of the function, or a part of what holds it."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(map(self._takes, target.elts))
        if isinstance(target, ast.Starred):
            return self._takes(target.value)
        if isinstance(target, ast.Name):
            self._holding.add(target.id)
            return True
        return isinstance(target, (ast.Attribute, ast.Subscript)) and self._may_hold(target.value)

    def _may_be_given(self, func: ast.expr) -> bool:
        """Whether what is called doesn't keep what it is given, or holds it already: all of the program that is named was asked."""
        if self._may_hold(func):
            return True
        first = dotted(func).partition(".")[0]
        if first == "" or first in self._bound:
            return False
        return isinstance(self._names.get(first), Ref) or (first not in self._names and first not in _KEEPS)

    def _may_hold(self, node: ast.AST | None) -> bool:
        """Whether what an expression gives may hold the network."""
        if isinstance(node, (ast.BinOp, ast.Compare, ast.JoinedStr)):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NUMBERS - self._bound:
            return False
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == self._place:
            return True
        if isinstance(node, ast.Name):
            return node.id in self._holding
        return node is not None and any(map(self._may_hold, ast.iter_child_nodes(node)))


def _body(text: bytes) -> Sequence[ast.stmt]:
    return (tree(text) or ast.Module([], [])).body


def _read(node: ast.AST, local: frozenset[str]) -> Iterator[ast.AST]:
    """The names, with the attributes that are read of them, which a part of a file reads and no function in it binds; and its imports.

    Args:
        local: what the functions around it bind.
    """
    if isinstance(node, (ast.Import, ast.ImportFrom)) or dotted(node):
        if dotted(node).partition(".")[0] not in local:
            yield node
        return
    inside = local
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (part for outer in node.decorator_list for part in _read(outer, local))
        inside = local | {arg.arg for arg in walk(node.args) if isinstance(arg, ast.arg)} | {*_bound(node.body)}
    for part in ast.iter_child_nodes(node):
        yield from _read(part, inside)


def _bound(body: Sequence[ast.AST]) -> Iterator[str]:
    """The names that statements bind for their function, and not for one inside."""
    for node in body:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        if not isinstance(node, (*_DEFINITIONS, *_SCOPES)):
            yield from _bound([*ast.iter_child_nodes(node)])


def _is_plain(value: Value) -> bool:
    """Whether a value is a number, a text, or made of such."""
    parts = (
        value.values if isinstance(value, Items) else [*value.names.values()] if isinstance(value, Expression) else None
    )
    return isinstance(value, Const) or (parts is not None and all(isinstance(part, Const) for part in parts))


def _given(node: ast.AST) -> tuple[Sequence[ast.expr], ast.expr | None]:
    """The targets that a part of a function binds, and what they get."""
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        return [node.target], node.value
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [node.target], node.iter
    if isinstance(node, ast.withitem):
        return [node.optional_vars] if node.optional_vars is not None else [], node.context_expr
    return [], None
