"""Blocks: `if`, loops, `try`, `with`, comprehensions, and what leaves a block."""

from __future__ import annotations

from typing import Any, Final

from detlint.ir import ops as op
from detlint.ir.blocks import is_next, is_pattern
from detlint.ir.uses import Op
from detlint.model import trials
from detlint.model.sites.reading.bindings import Bindings
from detlint.model.sites.reading.handlers import of
from detlint.model.sites.reading.state import Block
from detlint.model.sites.reading.values import member
from detlint.model.sites.records import (
    LOOKS,
    PRINTS,
    SHAPES,
    Branch,
    Const,
    Expression,
    Instance,
    Items,
    Member,
    Param,
    Ref,
    Result,
    Step,
    Value,
)
from detlint.model.sites.scope import join

MOST_WORDS: Final = 8
"""Arms of an `if` that are nested, where each is for another text."""
_GOES: Final = frozenset({op.RETURN, op.BREAK, op.CONTINUE})
"""How a block is left without an exception."""
_MAY_ASK: Final = frozenset({op.CHOICE, op.CALL, op.COMPARE})
"""Codes of tests that may ask whether tests run."""


class Blocks(Bindings):
    """Reads blocks."""

    # -- arms -------------------------------------------------------------------------------------------------------------------

    def opened(self, kind: str, at: int, *, plain: bool = False) -> Block:
        """Begin a block.

        Args:
            plain: whether it has no arms: whatever is in it is a part of what is around it.
        """
        block = Block(kind, at, self)
        if plain:
            block.stops.append(False)
        self.blocks.append(block)
        return block

    def start(self, block: Block) -> None:
        """Begin an arm of a block."""
        self.steps, self.noted = [], block.noted.copy()
        block.arms.start()
        block.stops.append(False)

    def end(self, block: Block) -> None:
        """End an arm of a block."""
        block.arms.end(block.stops[-1] and block.kind != "loop")
        block.steps.append(tuple(self.steps))
        self.steps, self.noted = block.outer, block.noted

    def leave(self, stopped: bool, at: int) -> None:
        """What is behind a block whose end is at an op: if none of its arms comes out, nothing of the block around it follows."""
        if stopped:
            self.stop(at)

    # -- `if` -------------------------------------------------------------------------------------------------------------------

    @of(op.IF)
    def _if(self, at: int, operation: Op) -> None:
        test, parts = operation[1], self.scope.function.parts[at]
        behind = self.ops[parts[-1] + 1][0] if parts[-1] + 1 < len(self.ops) else op.END
        # what a pattern binds in parts; a `case` has an `ELSE`
        takes_apart = len(parts) == 2 and is_pattern(self.scope.function, test)
        if behind == op.CHOICE or self.gathering or takes_apart or self.ops[parts[-1] - 1][0] == op.ASSERT:
            kind = "choice" if behind == op.CHOICE else "condition" if self.gathering or takes_apart else "assert"
            block = self.opened(kind, at, plain=kind != "choice")
            if kind == "choice":
                self.start(block)
            self.unsure += 1
            return
        last = self.blocks[-1] if self.blocks else None
        if last is not None and last.kind == "next":  # an `elif`: another arm of the same
            last.kind, last.mark = "if", at
            last.tests.append(test)
            self.start_if(last)
            return
        if self.is_choice(test, "and", "or") and self.steps:
            self.drawn_for(test)
        block = self.opened("main" if self.is_main(test) else "if", at)
        block.tests.append(test)
        self.narrow(block)
        self.start_if(block)

    def start_if(self, block: Block) -> None:
        """Begin an arm, in which a parameter may surely be given."""
        first = not block.steps
        self.start(block)
        if block.asked is not None and block.asked[2] is first:
            self.scope.bind(*block.asked[:2])

    def narrow(self, block: Block) -> None:
        """Find what a parameter that may be left at None is in the arm in which it isn't."""
        name, where = self.told(block.tests[0])
        default = self.named(name)
        narrows = type(default) is Param and default.default == Const(None)
        block.asked = (self.ops[name][1], Param(default.name), where, default) if narrows else None  # type: ignore[union-attr]

    @of(op.ELSE)
    def _else(self, at: int, operation: Op) -> None:
        block = self.blocks[-1]
        if block.kind == "choice":
            self.end(block)
            self.start(block)
        elif block.kind == "if" or block.kind == "main":
            self.end_if(block)
            end = self.scope.function.parts[block.mark][-1] - 1
            inner = self.scope.function.opened.get(end, -1)
            if self.code_of(inner) == op.IF and inner > at and is_next(self.scope.function, inner, at, block.mark):
                block.kind = "next"
            else:
                self.start_if(block)
        elif block.kind == "loop":
            self.end_loop(block)
        elif block.kind == "try":
            self.end(block)
            self.go_on(block, at)

    def end_if(self, block: Block) -> None:
        """End an arm, where what was known of a parameter there alone isn't known any more."""
        if block.asked is not None and self.scope.slots[block.asked[0]] is block.asked[1]:
            self.scope.bind(block.asked[0], block.asked[3])
        self.end(block)

    def close_if(self, block: Block, at: int) -> None:
        """End an `if` with all that its `else` ends with."""
        self.end_if(block)
        tests, complete = block.tests, len(block.steps) > len(block.tests)
        if not complete:
            self.start_if(block)
            self.end_if(block)
        arms, steps, test = block.arms, block.steps, tests[0]
        simple = block.kind == "if" and len(steps) == 2
        by, negated = self.chooser(test) if simple else ("", False)
        fixed = self.fixed(test) if simple else None
        arms.join(by if len(arms.ends) == 2 else "", negated)
        if (
            block.asked is not None
            and not block.asked[2]
            and len(arms.ends) == 1
            and not complete
            and self.scope.log is None
        ):
            self.scope.bind(*block.asked[:2])  # behind `if seed is None: return`
        before = len(self.steps)
        if any(steps):
            self.put_if(block, fixed)
        if len(tests) > 1 and len(self.steps) > before:
            self.tell_mode(tests)
            self.unfold(tests)
        self.tell_early(block, test, complete)
        self.next = at + len(tests)
        self.leave(all(block.stops), self.next - 1)

    def tell_early(self, block: Block, test: int, complete: bool) -> None:
        """Note where a function is left unless a layer trains."""
        returns = self.ops[self.scope.function.parts[block.mark][-1] - 1][0] == op.RETURN
        if returns and not complete and self.steps is self.outermost and block.kind == "if" and len(block.tests) == 1:
            mode = self.decided_by_mode(test, holds=False)
            if mode is not None:
                self.early.append((len(self.steps), mode))

    def put_if(self, block: Block, fixed: bool | None) -> None:
        """Put the step for an `if`."""
        steps, test = block.steps, block.tests[0]
        kind: Any = block.kind
        code = self.ops[test][0]
        if kind == "if" and len(steps) == 2 and (code == op.LOAD or self.is_choice(test, "and", "or")):
            for number, arm in enumerate(steps):
                mode = self.decided(test, holds=not number) if arm else None
                if mode is not None:
                    steps[number] = (Branch("if", mode, (arm, ())),)
        if self.dotted(test).endswith("TYPE_CHECKING"):
            steps[0] = ()  # never runs
            if not any(steps):
                return
        if fixed is not None:
            steps[fixed] = ()  # never runs
        if kind == "if" and code in _MAY_ASK and trials.asks_for_tests(self.scope.function, test, self.catalog.testing):
            kind = "tests"
        asked: Value | None = None
        span = None
        if kind == "if":
            asked, seeds = self.asked(test, steps)
            span = self.span(block.tests[0]) if type(seeds) is Expression else None
        elif kind == "main":
            asked, span = self.shown(block.first), self.span(test)
        self.steps.append(Branch(kind, asked, tuple(steps), span))

    def asked(self, test: int, arms: list[tuple[Step, ...]]) -> tuple[Value | None, Value | None]:
        """What an `if` asks, and that if it may decide on a seed."""
        seeds = self.question(test, arms) or self.mode(test, arms)
        if seeds is not None or len(arms) != 2:
            return seeds, seeds
        asked = self.flag(test, arms) or self.argument(test, arms) or self.choice(test) or self.worded(test)
        if asked is None:
            asked = seeds = self.held(test)
        return asked or self.of_options(test), seeds

    def shown(self, mark: int) -> Value | None:
        """What a `__main__` block is there for, if it only shows something."""
        parts = self.scope.function.parts[mark]
        known = {framework.module for framework in self.catalog.frameworks} - {""}
        block = trials.Block(self.scope.function, parts[0] + 1, parts[1], trials.layers(self.code, known))
        if block.only_shows_shapes():
            return SHAPES
        return PRINTS if block.only_prints() else LOOKS if block.only_looks() else None

    def tell_mode(self, tests: list[int]) -> None:
        """Tell of the chain of `elif` that was just read which arms are only taken while a layer trains: their own test says so, or one
        before them, which has failed."""
        branch, arms, failed = self.steps[-1], [], None
        if type(branch) is not Branch or len(branch.arms) <= len(tests):
            return
        for arm, test in zip(branch.arms, [*tests, -1], strict=True):
            mode = failed or self.decided_by_mode(test, holds=True)
            arms.append((Branch("if", mode, (arm, ())),) if arm and mode is not None else arm)
            failed = failed or self.decided_by_mode(test, holds=False)
        self.steps[-1] = Branch(branch.kind, branch.test, tuple(arms), branch.span)

    def unfold(self, tests: list[int]) -> None:
        """Nest the arms of the `if` that was just read, where each asks what text a parameter is, or what a name stands for: a call, or
        the file, takes one of them."""
        branch = self.steps[-1]
        if type(branch) is not Branch or branch.kind != "if" or branch.test is not None:
            return
        if not len(tests) < len(branch.arms) <= MOST_WORDS or self.ops[tests[0]][0] != op.COMPARE:
            return
        held = [*map(self.held, tests)]
        asked = [kept or self.worded(test) for test, kept in zip(tests, held, strict=True)]
        if None in asked:
            return
        *arms, rest = branch.arms
        for number in reversed(range(len(arms))):
            span = self.span(tests[number]) if held[number] is not None else None
            rest = (Branch("if", asked[number], (arms[number], rest), span),) if arms[number] or rest else ()
        self.steps[-1:] = rest

    # -- loops ------------------------------------------------------------------------------------------------------------------

    @of(op.FOR)
    def _for(self, at: int, operation: Op) -> Value | None:
        source, iterated = operation[1], self.made[operation[1]]
        unordered = self.unordered(iterated)
        if unordered is not None:
            self.order("builtins.iter", unordered, source)
        if self.gathering:
            self.opened("", at, plain=True)
            return member(iterated, "[*]")
        if iterated is None and self.scope.function.called(source) in self.catalog.passing:
            iterated = self.expression(source)
        self.start(self.opened("loop", at))
        if isinstance(iterated, Items) and all(isinstance(value, Ref) for value in iterated.values):
            return Member(iterated, "[*]")  # each of them in turn
        if isinstance(iterated, Items) and 0 < len(iterated.values) <= 4:
            return join(iterated.values)
        return self.deeper(iterated, "[*]")

    @of(op.WHILE)
    def _while(self, at: int, operation: Op) -> None:
        self.opened("loop", at)

    @of(op.UNTIL)
    def _until(self, at: int, operation: Op) -> None:
        self.start(self.blocks[-1])

    def end_loop(self, block: Block) -> None:
        """End the body of a loop. What follows is no part of it."""
        self.end(block)
        after = block.arms.ends[0]
        carried = self.carried(after, self.keys > block.keys, block.renewed) if after else None
        block.arms.join()
        if any(block.steps):
            self.steps.append(Branch("loop", carried, tuple(block.steps)))
        block.kind = "behind"
        block.stops = [False]

    # -- `try` and `with` -------------------------------------------------------------------------------------------------------

    @of(op.TRY)
    def _try(self, at: int, operation: Op) -> None:
        self.start(self.opened("try", at))

    @of(op.EXCEPT)
    def _except(self, at: int, operation: Op) -> None:
        block = self.blocks[-1]
        self.end(block)
        self.start(block)
        self.unsure += 1

    @of(op.CAUGHT)
    def _caught(self, at: int, operation: Op) -> None:
        self.unsure -= 1

    def go_on(self, block: Block, at: int) -> None:
        """Go on behind the body of a `try`, where no exception came."""
        if block.stops[0]:
            self.next = next(mark for mark in self.scope.function.parts[block.mark] if mark > at)
        first = block.arms.ends.pop(0) if not block.stops[0] else {}
        block.stops.append(block.stops.pop(0))
        self.steps, self.noted = [*block.steps.pop(0)], block.noted.copy()
        block.arms.start(first)
        block.kind = "else"

    def end_try(self, block: Block) -> None:
        """End what a `try` is for, and its handlers."""
        self.end(block)
        if block.kind == "else":  # the body comes first
            block.steps.insert(0, block.steps.pop())
            if not block.stops[-1]:
                block.arms.ends.insert(0, block.arms.ends.pop())
        block.arms.join()
        if any(block.steps):
            self.steps.append(Branch("try", None, tuple(block.steps)))
        block.kind = "behind"

    @of(op.FINALLY)
    def _finally(self, at: int, operation: Op) -> None:
        block = self.blocks[-1]
        self.end_try(block)
        block.stops = [all(block.stops), False]

    @of(op.WITH)
    def _with(self, at: int, operation: Op) -> Value | None:
        value = self.made[operation[1]]
        self.opened("with", at, plain=True)
        self.steps = []
        entered = value.of if isinstance(value, Result) else value
        if isinstance(value, Result) and value.site >= 0 and isinstance(entered, Ref):
            self.within = (*self.within, value.site)
        return value

    def close_with(self, block: Block, at: int) -> None:
        """End a `with`."""
        inner: tuple[Step, ...] = tuple(self.steps)
        self.steps, self.within = block.outer, block.around
        value = self.made[self.ops[block.mark][1]]
        # Only a call's result or an object can do something when it is entered, or keep what is raised from what is behind.
        if not isinstance(value, (Result, Ref, Instance)):
            self.steps += inner
            self.leave(block.stops[-1], at)
            return
        raised = block.stops[-1] and all(self.ops[inside][0] not in _GOES for inside in range(block.mark, at))
        self.steps.append(Branch("with", value, (inner, ()) if raised else (inner,)))
        self.leave(block.stops[-1] and not raised, at)

    # -- what is no statement ---------------------------------------------------------------------------------------------------

    @of(op.COMPREHEND)
    def _comprehend(self, at: int, operation: Op) -> None:
        self.opened("comprehension", at, plain=True)
        self.gathering += 1
        self.unsure += 1

    @of(op.QUOTE)
    def _quote(self, at: int, operation: Op) -> None:
        self.next = self.scope.function.parts[at][-1] + 1

    @of(op.END)
    def _end(self, at: int, operation: Op) -> None:
        block = self.blocks.pop()
        kind = block.kind
        if kind == "if" or kind == "main":
            self.close_if(block, at)
        elif kind == "choice":
            self.close_choice(block)
        elif kind == "loop":
            self.end_loop(block)
        elif kind == "with":
            self.close_with(block, at)
        elif kind == "try" or kind == "else":
            self.end_try(block)
            self.leave(all(block.stops), at)
        elif kind == "behind":
            self.leave(len(block.stops) > 1 and any(block.stops), at)
        elif kind == "assert":
            self.close_assert(block, at)
        elif kind == "condition":
            self.unsure -= 1
        elif kind == "comprehension":
            self.gathering -= 1
            self.unsure -= 1
            if self.keys > block.keys:
                self.steps[block.began :] = [Branch("loop", None, (tuple(self.steps[block.began :]),))]

    def close_choice(self, block: Block) -> None:
        """End `a and b` or `a if b else c`: what stands in an arm is taken as in one of an `if`."""
        self.unsure -= 1
        self.tested = self.ops[block.mark][1]
        self.end(block)
        if len(block.steps) == 1:
            self.start(block)
            self.end(block)
        block.arms.join()
        if any(block.steps):
            block.kind, block.tests = "if", [self.tested]
            self.put_if(block, self.fixed(self.tested))

    def close_assert(self, block: Block, at: int) -> None:
        """End an assertion, which may be switched off: nothing in it ends a run."""
        self.unsure -= 1
        test, start = self.ops[block.mark][1], len(self.steps)
        inside = {*self.scope.function.within(test), *range(block.mark, at)}
        while start and self.is_read_in(self.steps[start - 1], inside):
            start -= 1
        if start < len(self.steps):
            self.steps[start:] = [Branch("try", None, (tuple(self.steps[start:]),))]
        # `assert False, "no such mode"` leaves as `raise` does.
        if self.ops[test][0] == op.CONST and not self.constant_of(test):
            self.stop(at)

    # -- what leaves ------------------------------------------------------------------------------------------------------------

    @of(op.RETURN)
    def _return(self, at: int, operation: Op) -> None:
        if operation[1] >= 0:
            self.returned.append(self.made[operation[1]])
        if self.steps is not self.outermost:
            self.steps.append(Branch("return", None, ()))
        self.stop(at)

    @of(op.RAISE, op.BREAK, op.CONTINUE)
    def _stop(self, at: int, operation: Op) -> None:
        self.stop(at)
