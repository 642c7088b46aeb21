"""Branches: the arms of an `if`, and what a test makes of them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import Any, Final

from detlint.facts import loops
from detlint.facts.loops import dotted
from detlint.facts.model import COMPLETE, LOOKS, PRINTS, SHAPES, Branch, Const, Expression, Member, Param, Result, Value
from detlint.facts.reading.bindings import Bindings
from detlint.facts.reading.handlers import EXPRESSIONS, of_statement
from detlint.facts.reading.tests import tells_given
from detlint.facts.reading.values import span_of, tail_of, with_use
from detlint.facts.scope import Arms
from detlint.ir import ops as op
from detlint.ir.code import VALUES
from detlint.model import trials

MOST_WORDS: Final = 8
"""Arms of an `if` that are nested, where each is for another text."""
_MAY_ASK: Final = frozenset({ast.BoolOp, ast.Call, ast.Compare})
"""Kinds of tests that may ask whether tests run."""


class Branches(Bindings):
    """Reads `if` and `assert`."""

    __slots__ = ()

    @of_statement(ast.Assert)
    def _assert(self, node: ast.Assert) -> bool:
        inside = len(self.sites)
        self.unsure += 1
        self.children(node)
        self.unsure -= 1
        self.may_be_passed_over(inside)
        self.ordered.update(loops.alone(node.test, holds=True))
        for empty in loops.empty(node.test):
            self.misses_none(empty)
        # `assert False, "no such mode"` leaves as `raise` does.
        return type(node.test) is ast.Constant and not node.test.value

    def misses_none(self, empty: str) -> None:
        """Note that a call loads all weights of a layer, whatever it was told: an assertion in its block says that none is missing."""
        name, _, part = empty.rpartition(".")
        call = self.scope.look_up(name or part)
        if not name and isinstance(call, Member):
            part, call = call.attr, call.base
        if not isinstance(call, Result) or part not in self.catalog.missing:
            return
        if tail_of(call.of) in self.catalog.loading and call.site in self.steps:
            self.sites[call.site] = with_use(self.sites[call.site], COMPLETE)

    @of_statement(ast.If)
    def _if(self, node: ast.If) -> bool:
        test, rest = node.test, node.orelse
        if type(test) is ast.Compare and is_main_test(test):
            return self.branch("main", test, [node.body, rest])
        if type(test) is ast.BoolOp and self.steps:
            self.drawn_for(test)
        self.use = "tested"
        EXPRESSIONS[type(test)](self, test)
        # `elif` nests in the tree; as further arms a chain of thousands of them is no deeper than one.
        bodies, tests = [node.body], [test]
        while len(rest) == 1 and type(rest[0]) is ast.If:
            node = rest[0]
            bodies.append(node.body)
            tests.append(node.test)
            rest = node.orelse
            self.use = "tested"
            self.expression(node.test)
        bodies.append(rest)
        if isinstance(bodies[0][-1], (ast.Raise, ast.Return, ast.Continue)):
            self.ordered.update(loops.alone(test, holds=False))
        under_tests = type(test) in _MAY_ASK and self.asks_for_tests(test)
        before = len(self.steps)
        held = [self.held(test) for test in tests] if len(tests) > 1 and type(test) is ast.Compare else []
        over = self.branch("tests" if under_tests else "if", test, bodies)
        if len(tests) > 1 and len(self.steps) > before:
            self.tell_mode(tests)
        if held and len(self.steps) > before:
            self.unfold(tests, held)
        if not rest and self.steps is self.outermost and type(bodies[0][-1]) is ast.Return and len(bodies) == 2:
            mode = self.decided_by_mode(test, holds=False)
            if mode is not None:
                self.early.append((len(self.steps), mode))
        return over

    def branch(
        self,
        kind: Any,
        test: ast.expr | None,
        bodies: list[list[ast.stmt]],
        names: Sequence[str] = (),
        renewed: Collection[str] = (),
    ) -> bool:
        """Read alternatives, each of which may bind a name at its start; whether none of them comes out.

        Args:
            renewed: what a loop binds at the beginning of each turn.
        """
        outer, arms, all_steps, stops, keys = self.steps, Arms(self.scope), [], True, self.keys
        by, negated = self.chooser(test) if kind == "if" and len(bodies) == 2 else ("", False)
        told, where = tells_given(test) if kind == "if" else ("", False)
        fixed = self.fixed(test) if kind == "if" and len(bodies) == 2 else None
        default = self.scope.names.get(told)
        narrows = type(default) is Param and default.default == Const(None)
        given = Param(default.name) if narrows else None  # type: ignore[union-attr]
        noted = self.noted
        for i, body in enumerate(bodies):
            self.steps, self.noted = [], noted.copy()
            arms.start()
            if names and names[i]:
                self.scope.bind(names[i], None)
            if given is not None and (i == 0) is where:
                self.scope.bind(told, given)
            stopped = bool(body) and self.block(body)
            if given is not None and self.scope.names.get(told) is given:
                self.scope.bind(told, default)
            arms.end(stopped and kind != "loop")
            all_steps.append(tuple(self.steps))
            stops = stops and stopped
        self.steps, self.noted = outer, noted
        carried = self.carried(arms.ends[0], self.keys > keys, renewed) if kind == "loop" and arms.ends[0] else None
        arms.join(by if len(arms.ends) == 2 else "", negated)
        if given is not None and not where and len(arms.ends) == 1 and self.scope.log is None and not bodies[-1]:
            self.scope.bind(told, given)  # behind `if seed is None: return`
        if any(all_steps):
            if kind == "if" and (type(test) is ast.BoolOp or type(test) is ast.Name) and len(all_steps) == 2:
                for i, steps in enumerate(all_steps):
                    mode = self.decided(test, holds=not i) if steps else None
                    if mode is not None:
                        all_steps[i] = (Branch("if", mode, (steps, ())),)
            if (type(test) is ast.Name or type(test) is ast.Attribute) and dotted(test).endswith("TYPE_CHECKING"):
                all_steps[0] = ()  # never runs
                if not any(all_steps):
                    return stops and kind != "loop"
            if fixed is not None:
                all_steps[fixed] = ()  # never runs
            asked = seeds = None
            if test is not None and kind == "if":
                asked = seeds = self.question(test, all_steps) or self.mode(test, all_steps)
                if asked is None and len(all_steps) == 2:
                    asked = self.flag(test, all_steps) or self.argument(test, all_steps)
                    asked = asked or self.choice(test) or self.worded(test)
                if asked is None and len(all_steps) == 2:
                    asked = seeds = self.held(test)
            elif kind == "main":
                asked = self.tries(test) if test is not None else None
            span = span_of(test) if test is not None and (type(seeds) is Expression or kind == "main") else None
            self.steps.append(Branch(kind, asked or carried, tuple(all_steps), span))
        return stops and kind != "loop"

    def asks_for_tests(self, test: ast.expr) -> bool:
        """Whether a test only holds while tests run."""
        place = self.code.at(span_of(test).place, *VALUES)
        return place is not None and trials.asks_for_tests(*place, self.catalog.testing)

    def tries(self, test: ast.expr) -> Value | None:
        """What a `__main__` block is there for, if it only shows something.

        Args:
            test: its test.
        """
        place = self.code.at(span_of(test).place, op.COMPARE)
        marks = place[0].users[place[1]] if place is not None else ()
        if place is None or not marks:
            return None
        parts = place[0].flow.parts[marks[0].op]
        known = {framework.module for framework in self.catalog.frameworks} - {""}
        block = trials.Block(place[0], parts[0] + 1, parts[1], trials.layers(self.code, known))
        if block.only_shows_shapes():
            return SHAPES
        return PRINTS if block.only_prints() else LOOKS if block.only_looks() else None

    def tell_mode(self, tests: list[ast.expr]) -> None:
        """Tell of the chain of `elif` that was just read which arms are only taken while a layer trains: their own test says so, or one
        before them, which has failed."""
        branch, arms, failed = self.steps[-1], [], None
        if type(branch) is not Branch or len(branch.arms) <= len(tests):
            return
        for arm, test in zip(branch.arms, [*tests, None], strict=True):
            mode = failed or self.decided_by_mode(test, holds=True)
            arms.append((Branch("if", mode, (arm, ())),) if arm and mode is not None else arm)
            failed = failed or self.decided_by_mode(test, holds=False)
        self.steps[-1] = Branch(branch.kind, branch.test, tuple(arms), branch.span)

    def unfold(self, tests: list[ast.expr], held: list[Value | None]) -> None:
        """Nest the arms of the `if` that was just read, where each asks what text a parameter is, or what a name stands for: a call, or
        the file, takes one of them.

        Args:
            held: what they ask of such names.
        """
        branch = self.steps[-1]
        if type(branch) is not Branch or branch.kind != "if" or branch.test is not None:
            return
        if not len(tests) < len(branch.arms) <= MOST_WORDS:
            return
        asked = [kept or self.worded(test) for test, kept in zip(tests, held, strict=True)]
        if None in asked:
            return
        *arms, rest = branch.arms
        for number in reversed(range(len(arms))):
            span = span_of(tests[number]) if held[number] is not None else None
            rest = (Branch("if", asked[number], (arms[number], rest), span),) if arms[number] or rest else ()
        self.steps[-1:] = rest


def is_main_test(node: ast.Compare) -> bool:
    if len(node.ops) != 1 or type(node.ops[0]) is not ast.Eq:
        return False
    sides = (node.left, node.comparators[0])
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
        isinstance(s, ast.Constant) and s.value == "__main__" for s in sides
    )
