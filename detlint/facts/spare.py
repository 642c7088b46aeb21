"""Values that become nothing: keys that nothing is drawn by, examples whose shape alone counts, samples chosen to be looked at,
tensors through which no gradient comes back.

A value is followed through the names that hold it, in one function: to where such a name is read after it, or in the next turn
of a loop around it, until it is bound anew. What isn't understood takes the value to be used.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal

from detlint.facts.loops import dotted
from detlint.facts.nodes import walk
from detlint.facts.smoke import SHAPES

Role = Literal["ends", "passes", ""]
"""What a call makes of a value that it is handed: nothing that matters; something that is worth no more; anything else."""
_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
_BLOCKS: Final = frozenset({"body", "orelse", "finalbody"})
"""The fields of a node that may be blocks of statements."""
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_MAY_CATCH: Final = (ast.Try, getattr(ast, "TryStar", ast.Try), ast.With, ast.AsyncWith)
"""What may go on behind an error."""
_Place = tuple[int, int]


class Layout:
    """How the body of a function, or of a module, is laid out: who stands in what, and where names are read.

    Args:
        statements: its own.
    """

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        self.blocks: dict[ast.stmt, tuple[Sequence[ast.stmt], int]] = {}
        self.loads: dict[str, list[ast.Name]] = {}
        self.bound: dict[str, list[ast.Name]] = {}
        self.shared: set[str] = set()
        """Names that other functions see."""
        self._number(statements)
        waiting: list[ast.AST] = [*statements]
        while waiting:
            node = waiting.pop()
            kind = type(node)
            if kind in _SCOPES:
                self.shared.update(_free(node))
            elif kind is ast.Name:
                assert isinstance(node, ast.Name)
                names = self.loads if isinstance(node.ctx, ast.Load) else self.bound
                names.setdefault(node.id, []).append(node)
                continue
            elif kind is ast.Global or kind is ast.Nonlocal:
                self.shared.update(node.names)  # type: ignore[attr-defined]
            elif kind is ast.AugAssign and isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
                self.loads.setdefault(node.target.id, []).append(node.target)  # type: ignore[attr-defined]
            inside = [*ast.iter_child_nodes(node)]
            self.parents.update(dict.fromkeys(inside, node))
            for name in _BLOCKS.intersection(node._fields):
                block = getattr(node, name)
                if type(block) is list and block and isinstance(block[0], ast.stmt):
                    self._number(block)
            if kind not in _SCOPES:
                waiting += inside

    def arms_for(self, call: ast.Call) -> list[tuple[ast.If, bool]]:
        """The arms of `if` in which alone the name is read that a call's value is kept under, the innermost first, and whether each
        is the first one."""
        kept = self.parents[call]
        target = kept.targets[0] if isinstance(kept, ast.Assign) and len(kept.targets) == 1 else None
        if not isinstance(target, ast.Name) or target.id in self.shared or len(self.bound[target.id]) > 1:
            return []
        around = [self._arms(load) for load in self.loads.get(target.id, ())]
        return [arm for arm in around[0] if all(arm in others for others in around)] if around else []

    def _arms(self, node: ast.AST) -> list[tuple[ast.If, bool]]:
        arms = []
        while (parent := self.parents[node]) is not node:
            if isinstance(parent, ast.If) and node is not parent.test:
                arms.append((parent, node in parent.body))
            node = parent
        return arms

    def _number(self, block: Sequence[ast.stmt]) -> None:
        for number, statement in enumerate(block):
            self.blocks[statement] = block, number
            self.parents.setdefault(statement, statement)


class Spare:
    """Finds values in a body that become nothing.

    Args:
        layout: that of the body.
        role: what a call makes of one of its arguments.
        passes: whether a method of a value gives something that is worth no more, by its name.
        functions: those of the module, which may be called here.
        known: which of these make nothing of what they are given but what they return, and whether something in them ends it;
            neither while that is asked.
        ends: attributes and methods of a value that don't give it.
        compares: whether a comparison ends it.
        parts: whether its items, and what it has as attributes, are worth no more than it.
        fills: methods by which an object that was just made is handed something to keep.
        makes: what makes such an object, besides displays of lists, by its last component.
        ends_by: whether a call of a method of a value ends it, by what else that is told.
    """

    def __init__(
        self,
        layout: Layout,
        role: Callable[[ast.Call, ast.expr], Role],
        passes: Callable[[str], bool],
        functions: Mapping[str, ast.FunctionDef],
        known: dict[ast.FunctionDef, tuple[bool, bool]] | None = None,
        ends: Collection[str] = SHAPES,
        compares: bool = False,
        parts: bool = True,
        fills: Collection[str] = (),
        makes: Collection[str] = (),
        ends_by: Callable[[ast.Call], bool] = lambda _: False,
    ) -> None:
        self._role = role
        self._passes = passes
        self._functions = functions
        self._known = known if known is not None else {}
        self._ending = ends
        self._compares = compares
        self._parts = parts
        self._fills = fills
        self._makes = makes
        self._ends_by = ends_by
        self._parents, self._blocks, self._loads, self._bound, self._shared = (
            layout.parents,
            layout.blocks,
            layout.loads,
            layout.bound,
            layout.shared,
        )
        self._asked: set[tuple[ast.AST, str]] = set()
        self._ended = False
        self._returns = False
        """Whether what is returned is the caller's business."""
        self.places: set[int] = set()
        """Where that is among several things which are returned; -1 where that isn't known."""

    def is_spare(self, value: ast.expr, returned: bool = False) -> bool:
        """Whether the value of an expression becomes nothing that matters.

        Args:
            returned: whether what becomes of it where the function gives it back is another matter.
        """
        self._asked.clear()
        self.places.clear()
        self._returns = returned
        return value in self._parents and self._ends(value)

    def is_shown(self, value: ast.expr) -> bool:
        """Whether, besides, something ends it: a name that is never read may be read by another file."""
        self._ended = False
        return self.is_spare(value) and self._ended

    def are_spare(self, names: Iterable[str]) -> bool:
        """Whether what parameters are given becomes nothing that matters, but for what is returned."""
        self._returns = True
        return all(name not in self._shared and all(map(self._ends, self._loads.get(name, ()))) for name in names)

    def _ends(self, node: ast.AST) -> bool:
        """Whether the value of a node becomes nothing that matters, by what stands around it."""
        around = self._parents[node]
        if isinstance(around, ast.Expr):
            self._ended = True  # where cells are run, that shows it
            return True
        if isinstance(around, ast.keyword):
            return self._ends(around)
        if isinstance(around, ast.Call):
            return self._handed(around, node)
        if isinstance(around, ast.Attribute):
            call = self._parents[around]
            if isinstance(call, ast.Call) and call.func is around:
                known = around.attr in self._ending or self._ends_by(call)
                known = known or (self._passes(around.attr) and self._ends(call))
                return known or self._is_filled(call) is not None
            return isinstance(around.ctx, ast.Load) and (
                around.attr in self._ending or (self._parts and self._ends(around))
            )
        if isinstance(around, ast.Compare):
            return self._compares or self._ends(around)
        if isinstance(around, (ast.IfExp, ast.BoolOp)) and _decides(around, node):
            return False
        if isinstance(around, (ast.Subscript, ast.Starred)) and not self._parts:
            return False
        if isinstance(around, ast.Subscript):
            return isinstance(around.ctx, ast.Load) and self._ends(around)
        if isinstance(around, (ast.Assign, ast.AnnAssign)):
            targets = around.targets if isinstance(around, ast.Assign) else [around.target]
            return all(self._are_unread(target, around) for target in targets)
        if isinstance(around, (ast.For, ast.comprehension)):
            return self._gone_through(around, node)
        if isinstance(around, ast.Return):
            self.places.add(-1)
            return self._returns
        if isinstance(around, (ast.Tuple, ast.List)) and isinstance(self._parents[around], ast.Return):
            plain = all(type(item) is not ast.Starred for item in around.elts)
            self.places.add(around.elts.index(node) if plain else -1)  # type: ignore[arg-type]
            return self._returns
        return isinstance(around, _WORTH_NO_MORE) and self._ends(around)

    def _handed(self, call: ast.Call, node: ast.AST) -> bool:
        """Whether a call makes nothing of what it is handed."""
        if call.func is node:
            return False
        value = node.value if isinstance(node, ast.keyword) else node
        assert isinstance(value, ast.expr)
        role = "ends" if self._is_shown_by(call) else self._role(call, value)
        own = self._functions.get(call.func.id) if not role and isinstance(call.func, ast.Name) else None
        if own is not None and own not in self._known:
            self._known[own] = False, False
            inside = Spare(
                Layout(own.body),
                self._role,
                self._passes,
                self._functions,
                self._known,
                self._ending,
                self._compares,
                self._parts,
                self._fills,
                self._makes,
                self._ends_by,
            )
            self._known[own] = inside.are_spare(_parameters(own)), inside._ended
        if own is not None and self._known[own][0]:
            role, self._ended = "passes", self._ended or self._known[own][1]
        self._ended = self._ended or role == "ends"
        if not role and (name := self._is_filled(call)) is not None:
            return all(self._are_unread(made, self._statement(made)) for made in self._bound[name])
        return role == "ends" or (role == "passes" and self._ends(call))

    def _is_shown_by(self, call: ast.Call) -> bool:
        """Whether a call is of a method of an object that somebody made who makes nothing of what he is handed."""
        func = call.func
        name = func.value.id if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""
        makers = [getattr(self._statement(made), "value", None) for made in self._bound.get(name, ())]
        calls = [maker for maker in makers if isinstance(maker, ast.Call) and self._role(maker, maker) == "ends"]
        return bool(calls) and len(calls) == len(makers) and name not in self._shared

    def _is_filled(self, call: ast.Call) -> str | None:
        """The name of the object that a statement only hands something to keep, if it was made in this body."""
        func, statement = call.func, self._parents[call]
        if not (isinstance(func, ast.Attribute) and func.attr in self._fills and isinstance(func.value, ast.Name)):
            return None
        name = func.value.id
        if name in self._shared or not isinstance(statement, ast.Expr):
            return None
        made = self._bound.get(name, [])
        return name if all(map(self._is_made, made)) and any(self._is_before(m, statement) for m in made) else None

    def _is_before(self, node: ast.AST, statement: ast.stmt) -> bool:
        """Whether the statement that a node stands in always comes before another one."""
        block, number = self._blocks[self._statement(node)]
        return any(around in block[number + 1 :] for around in self._around(statement))

    def _is_made(self, target: ast.Name) -> bool:
        """Whether what a name is bound to is a new object, or nothing but what is made of that name."""
        bound = self._parents[target]
        value = self._parents[bound] if isinstance(bound, ast.Tuple) else bound
        if not isinstance(value, ast.Assign):
            return False
        new = value.value
        if isinstance(bound, ast.Tuple):
            if not isinstance(new, ast.Tuple) or len(new.elts) != len(bound.elts):
                return False
            new = new.elts[bound.elts.index(target)]
        if isinstance(new, ast.Call) and isinstance(new.func, ast.Attribute):
            of = new.func.value
            own = isinstance(of, ast.Name) and of.id == target.id and self._passes(new.func.attr)
            return own or new.func.attr in self._makes or self._is_computed(new)
        return isinstance(new, ast.List) or (isinstance(new, ast.Call) and dotted(new.func) in self._makes)

    def _is_computed(self, made: ast.expr) -> bool:
        """Whether an expression is what a call gives that only computes something, or what methods make of that."""
        while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and self._passes(made.func.attr):
            made = made.func.value
        return isinstance(made, ast.Call) and bool(made.args) and self._role(made, made.args[0]) == "passes"

    def _statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node stands in."""
        return next(around for around in self._around(node) if isinstance(around, ast.stmt))

    def _gone_through(self, loop: ast.For | ast.comprehension, node: ast.AST) -> bool:
        """Whether nothing is made of the items of what a loop goes over."""
        if (
            not self._parts
            or loop.iter is not node
            or not all(self._are_unread(target, loop) for target in [loop.target])
        ):
            return False
        return isinstance(loop, ast.For) or self._ends(self._parents[loop])

    def _are_unread(self, target: ast.AST, where: ast.AST) -> bool:
        """Whether names that are bound somewhere are read for nothing that matters, until they are bound anew."""
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(self._are_unread(element, where) for element in target.elts)
        if isinstance(target, ast.Starred):
            return self._are_unread(target.value, where)
        if not isinstance(target, ast.Name) or target.id in self._shared:
            return False
        if (where, target.id) in self._asked:
            return True
        self._asked.add((where, target.id))
        return all(self._ends(load) for load in self._reached(target.id, where))

    def _reached(self, name: str, where: ast.AST) -> Iterator[ast.Name]:
        """Where a name is read that still may have what it is bound to somewhere."""
        loads = self._loads.get(name, ())
        if isinstance(where, ast.comprehension):
            inside = self._parents[where]
            yield from (load for load in loads if inside in self._around(load))
            return
        block, number = self._blocks[where]  # type: ignore[index]
        anew = next((later for later in block[number + 1 :] if _binds(later, name)), None)
        trying = [outer for outer in self._around(where) if isinstance(outer, _MAY_CATCH)] if anew is not None else []
        loop = self._loop(where, name) if anew is None or trying else None
        for load in loads:
            around = self._around(load)
            left = any(outer not in around for outer in trying)  # by an error, before it is bound anew
            before = where in around and not (isinstance(where, ast.For) and where.iter not in around)
            after = (
                not before
                and _at(where) < _at(load)
                and (anew is None or left or _at(load) <= _end(anew.iter if isinstance(anew, ast.For) else anew))
            )
            if after or (loop is not None and loop in around and not self._is_anew(name, around, where)):
                yield load

    def _is_anew(self, name: str, around: Sequence[ast.AST], where: ast.AST) -> bool:
        """Whether a name that is read always got something else by then, in the turn of the innermost loop that also binds it
        somewhere.

        Args:
            around: what is read, and all that it stands in.
        """
        loops = [outer for outer in self._around(where) if isinstance(outer, _LOOPS)]
        inside = takewhile(lambda outer: outer not in loops, around)
        blocks = (self._blocks[outer] for outer in inside if isinstance(outer, ast.stmt))
        return any(_sets(earlier, name) for block, number in blocks for earlier in block[:number])

    def _around(self, node: ast.AST) -> list[ast.AST]:
        found = [node]
        while (parent := self._parents[found[-1]]) is not found[-1]:
            found.append(parent)
        return found

    def _loop(self, node: ast.AST, name: str) -> ast.AST | None:
        """The outermost loop around a node that doesn't bind a name anew in each turn."""
        loops = [outer for outer in reversed(self._around(node)[1:]) if isinstance(outer, _LOOPS)]
        return next((loop for loop in loops if not _binds(loop, name)), None)


_WORTH_NO_MORE: Final = (
    ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.ListComp,
    ast.GeneratorExp, ast.DictComp, ast.BoolOp, ast.IfExp,
)  # fmt: skip
"""Expressions whose value is worth no more than what is in them."""


def _decides(choice: ast.IfExp | ast.BoolOp, node: ast.AST) -> bool:
    """Whether a value decides if something else is called."""
    if isinstance(choice, ast.IfExp):
        others = [choice.body, choice.orelse] if choice.test is node else []
    else:
        others = choice.values[choice.values.index(node) + 1 :]  # type: ignore[arg-type]
    return any(isinstance(inside, ast.Call) for other in others for inside in walk(other))


def _parameters(function: ast.FunctionDef) -> list[str]:
    spec = function.args
    given = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    return [parameter.arg for parameter in given if parameter is not None]


def _free(scope: ast.AST) -> set[str]:
    """The names that a function or class has from outside."""
    read, bound = set[str](), set[str]()
    before = [*getattr(scope, "decorator_list", ()), *getattr(scope, "bases", ())]
    spec = getattr(scope, "args", None)
    if isinstance(spec, ast.arguments):
        before += [default for default in (*spec.defaults, *spec.kw_defaults) if default is not None]
    waiting = [child for child in ast.iter_child_nodes(scope) if child not in before]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        if type(node) in _SCOPES:
            read |= _free(node)
        else:
            waiting += ast.iter_child_nodes(node)
    # What the body of a class binds, its methods don't see.
    read -= bound if not isinstance(scope, ast.ClassDef) else set()
    return read | {node.id for value in before for node in walk(value) if isinstance(node, ast.Name)}


def _binds(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name anew, before it reads what it binds."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.For):
        targets = [statement.target]
    items = [item for target in targets for item in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return any(isinstance(item, ast.Name) and item.id == name for item in items)


def _sets(statement: ast.stmt, name: str) -> bool:
    """Whether a statement surely binds a name."""
    if isinstance(statement, ast.With):
        return any(_sets(inner, name) for inner in statement.body)
    return isinstance(statement, ast.Assign) and _binds(statement, name)


def _at(node: ast.AST) -> _Place:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> _Place:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
