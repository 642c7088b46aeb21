"""Definitions that a later one of the same name replaces in their file, before anything may come to them: nothing ever runs them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import chain

from detlint.ir import ops as op
from detlint.ir.code import Binding, Code, Function
from detlint.notebook import is_notebook
from detlint.program.texts import Block
from detlint.program.users import Users


class Replaced:
    """Finds them."""

    def __init__(self, users: Users) -> None:
        self._modules = users.resolver.modules
        self._texts = users.texts
        self._known: dict[str, dict[tuple[str, int], range]] = {}

    def holds(self, path: str, line: int) -> bool:
        """Whether a line of a file stands in one."""
        return any(line in lines for lines in self._in(path).values())

    def is_one(self, path: str, block: Block) -> bool:
        """Whether a part of a file is one."""
        gone = self._in(path)
        if not any(name == block.name for name, _ in gone):
            return False
        line, blocks = 1, self._texts.blocks(path)
        for other in blocks:
            if other == block:
                return (block.name, line) in gone and blocks.count(block) == 1
            line += other.text.count(b"\n")
        return False

    def _in(self, path: str) -> dict[tuple[str, int], range]:
        """Their names, and where they begin, with their lines."""
        if path not in self._known:
            code = self._modules.code(path) if not is_notebook(path) else None  # whose cells run in any order
            names = [header.name for header in code.ir.functions if not header.parent] if code is not None else ()
            twice = code is not None and len({*names}) < len(names)
            self._known[path] = dict(_replaced(code.module)) if code is not None and twice else {}
        return self._known[path]


def _replaced(top: Function) -> Iterator[tuple[tuple[str, int], range]]:
    """Those of a file's top level."""
    own = {slot for _, (_, slot, value) in top.each(op.STORE) if _is_definition(top, value)}
    last: dict[int, int] = {}
    for at, operation in top.each(op.STORE, op.DELETE):
        before = last.pop(operation[1], -1)
        if operation[0] == op.DELETE or any(True for _ in top.blocks(at)) or not _is_definition(top, operation[2]):
            continue
        if before >= 0 and not _may_be_used(top, before, at, own):
            span = top.spans[top.ops[before][2]]
            yield (top.text(operation[1]), span[0]), range(span[0], span[2] + 1)
        if _is_plain(top, operation[2]):
            last[operation[1]] = at


def _is_definition(top: Function, value: int) -> bool:
    return top.ops[value][0] in (op.FUNCTION, op.CLASS) and top.code.function(top.ops[value][1]).name != "<lambda>"


def _is_plain(top: Function, value: int) -> bool:
    """Whether a value is a definition that nothing else is handed: a decorator, or a metaclass, may keep it."""
    if not _is_definition(top, value) or top.ops[value][2]:
        return False
    given = top.call(value) if top.ops[value][0] == op.CLASS else None
    return given is None or not (given.named or given.unpacked)


def _may_be_used(top: Function, before: int, behind: int, own: Set[int]) -> bool:
    """Whether anything may come to a definition between the ops that bind it and, anew, its name: it says that, or calls or imports
    something. What stands in another definition may, if it is evaluated at once and calls one of the file's.

    Args:
        own: the slots of the file's definitions.
    """
    slot = top.ops[before][1]
    code, inside = top.code, range(before + 1, behind)
    defined = [at for at in inside if _is_definition(top, at)]
    parts = {part for at in defined for value in _given(top, at) for part in top.within(value)}
    for at in inside:
        operation = top.ops[at]
        if operation[0] == op.LOAD and operation[1] == slot:
            return True
        if operation[0] == op.CALL and (at not in parts or _root(top, operation[1]) in own):
            return True
        if operation[0] in (op.IMPORT, op.MEMBER):
            return True
    decorators = (value for at in defined for value in top.ops[at][3 : 3 + top.ops[at][2]])
    if any(_root(top, value) in own for value in decorators):
        return True
    bodies = chain.from_iterable(_bodies(code, top, at) for at in defined)
    return any(_comes_to(body, Binding(0, slot), own) for body in bodies)


def _given(top: Function, at: int) -> Iterator[int]:
    """What a definition is made of: its decorators, defaults, annotations and bases."""
    yield from top.values(at)
    for parameter in top.code.function(top.ops[at][1]).header.parameters:
        yield from (value for value in (parameter.default, parameter.annotation) if value >= 0)


def _bodies(code: Code, around: Function, at: int) -> Iterator[Function]:
    """The body of a class, and those of the classes in it: all that is evaluated with it at once."""
    body = code.function(around.ops[at][1])
    if body.is_class:
        yield body
        yield from chain.from_iterable(_bodies(code, body, inner) for inner, _ in body.each(op.CLASS))


def _comes_to(body: Function, wanted: Binding, own: Set[int]) -> bool:
    """Whether the body of a class says a name of the top level, or calls one of the file's definitions."""
    if any(body.binding(operation[1]) == wanted for _, operation in body.each(op.LOAD)):
        return True
    decorators = (value for _, made in body.each(op.FUNCTION, op.CLASS) for value in made[3 : 3 + made[2]])
    called = (operation[1] for _, operation in body.each(op.CALL))
    return any(_root(body, value) in own for value in chain(decorators, called))


def _root(function: Function, value: int) -> int:
    """The slot of the top level that a value is read from; -1 for none."""
    operation = function.ops[function.chain(value).root]
    owner, slot = function.binding(operation[1]) if operation[0] == op.LOAD else (-1, -1)
    return slot if owner == 0 else -1
