"""What holds at each op of a function: which definitions reach a name, which tests were passed on the way, whether it is reached at all.

One pass over the ops, along their nesting; of a loop a second one, that finds what its body leaves behind for the next round. The
definitions that reach a place are the positions of `STORE`s and `DELETE`s, and `BEFORE`: what the name was when the function began, its
parameter's value, or whatever it means outside.

What it may assume: anything in a `try` may raise, nothing outside of one does; a `with` lets exceptions through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from detlint.ir import ops as op
from detlint.ir.uses import Op

BEFORE: Final = -1
ONLY_BEFORE: Final = frozenset({BEFORE})
Definitions = frozenset[int]
State = dict[int, Definitions]
"""Slot -> the definitions that reach a place; a slot that isn't there is as it was before the block that is looked at."""


class Guard(msgspec.Struct, frozen=True, eq=False):
    """A test that was passed on the way, and the one before it."""

    test: int
    """The value that was asked for."""
    holds: bool
    """Whether it was true."""
    outer: Guard | None

    def __iter__(self) -> Iterator[Guard]:
        """All that were passed, the innermost first."""
        guard: Guard | None = self
        while guard is not None:
            yield guard
            guard = guard.outer


class Flow(NamedTuple):
    """What holds at the ops of a function, by their positions."""

    reaching: dict[int, Definitions]
    """For each `LOAD` that is reached."""
    reached: Sequence[bool]
    blocks: Sequence[int]
    """The mark that began the innermost part of a block around it (`IF`, `ELSE`, `FOR`, `EXCEPT`, ...); -1 for none."""
    parts: dict[int, list[int]]
    """Marks that open a block -> them, those that divide it, and its end."""
    passed: dict[int, Guard]
    """For each op that hangs on some: the innermost test on the way."""


def flow(ops: Sequence[Op], constants: Sequence[object]) -> Flow:
    """What holds at the ops of a function.

    Args:
        constants: those of its file.
    """
    found = _Pass(ops, constants)
    found.run(0, len(ops), {}, None, note=True)
    return Flow(found.reaching, found.reached, found.blocks, found.parts, found.passed)


def _joined(states: Iterable[State | None]) -> State | None:
    """What may hold where ways meet; None where no way comes there."""
    living = [state for state in states if state is not None]
    if len(living) < 2:
        return living[0] if living else None
    found: State = {}
    for slot in {slot for state in living for slot in state}:
        found[slot] = frozenset().union(*(state.get(slot, ONLY_BEFORE) for state in living))
    return found


class _Loop(NamedTuple):
    """A loop around the place that is looked at: the states in which it is left, or goes on."""

    broken: list[State]
    continued: list[State]


class _Pass:
    def __init__(self, ops: Sequence[Op], constants: Sequence[object]) -> None:
        self.ops = ops
        self.constants = constants
        self.parts, self.blocks = _nested(ops)
        self.reaching: dict[int, Definitions] = {}
        self.reached = [False] * len(ops)
        self.passed: dict[int, Guard] = {}
        self.carried: dict[int, State] = {}
        """Loops -> what their bodies leave behind for the next round."""
        self.loops: list[_Loop] = []
        self.note = True

    def run(self, start: int, end: int, state: State | None, guards: Guard | None, *, note: bool) -> State | None:
        """Go through the ops from `start` to before `end`, from a state; the state at their end, None where that isn't reached."""
        ops, reaching, reached, passed = self.ops, self.reaching, self.reached, self.passed
        at = start
        while at < end:
            operation = ops[at]
            code = operation[0]
            if state is None:
                return None
            if note:
                reached[at] = True
                if guards is not None:
                    passed[at] = guards
            if code == op.LOAD:
                if note:
                    found = state.get(operation[1], ONLY_BEFORE)
                    reaching[at] = found
            elif code == op.STORE or code == op.DELETE:
                state[operation[1]] = frozenset((at,))
            elif code in op.OPENING:
                parts = self.parts[at]
                state, guards = self.block(at, parts, state, guards, note)
                at = parts[-1]
                if note:
                    reached[at] = True
            elif code in _LEAVING:
                if code == op.BREAK and self.loops:
                    self.loops[-1].broken.append(state)
                elif code == op.CONTINUE and self.loops:
                    self.loops[-1].continued.append(state)
                return None
            at += 1
        return state

    def block(
        self, at: int, parts: Sequence[int], state: State, guards: Guard | None, note: bool
    ) -> tuple[State | None, Guard | None]:
        """A block; the state behind it, and the tests that were passed to get there."""
        code = self.ops[at][0]
        if code == op.IF:
            return self.conditional(parts, state, guards, note)
        if code == op.FOR or code == op.WHILE:
            return self.loop(at, parts, state, guards, note), guards
        if code == op.TRY:
            return self.attempt(parts, state, guards, note), guards
        return self.run(at + 1, parts[-1], state, guards, note=note), guards

    def conditional(
        self, parts: Sequence[int], state: State, guards: Guard | None, note: bool
    ) -> tuple[State | None, Guard | None]:
        """Both arms; where one of them leaves, what is behind hangs on the test."""
        test = self.ops[parts[0]][1]
        is_true, is_false, known = Guard(test, True, guards), Guard(test, False, guards), self.truth(test)
        first = self.run(parts[0] + 1, parts[1], state.copy(), is_true, note=note) if known is not False else None
        other: State | None = state if known is not True else None
        if len(parts) == 3:
            if note:
                self.reached[parts[1]] = True
            other = self.run(parts[1] + 1, parts[2], other, is_false, note=note)
        if first is None and other is not None:
            return other, is_false
        if other is None and first is not None:
            return first, is_true
        return _joined((first, other)), guards

    def truth(self, value: int) -> bool | None:
        """Whether a test is true, where it is a constant."""
        operation = self.ops[value]
        return bool(self.constants[operation[1]]) if operation[0] == op.CONST else None

    def loop(self, at: int, parts: Sequence[int], state: State, guards: Guard | None, note: bool) -> State | None:
        if at not in self.carried:
            self.carried[at] = {}
            self.carried[at] = self.body(at, parts[1], {}, None, False)[0] or {}
        head = {slot: found | state.get(slot, ONLY_BEFORE) for slot, found in self.carried[at].items()}
        head = {**state, **head}
        last, broken, tested = self.body(at, parts[1], head.copy(), guards, note)
        behind = tested if self.ops[at][0] == op.WHILE else _joined((head, last))
        if len(parts) == 3:
            if note:
                self.reached[parts[1]] = True
            behind = self.run(parts[1] + 1, parts[2], behind, guards, note=note)
        return _joined((behind, *broken))

    def body(
        self, at: int, end: int, state: State, guards: Guard | None, note: bool
    ) -> tuple[State | None, list[State], State | None]:
        """One round: the state in which the next begins, those in which it is left by `break`, and of a `while` that after its test."""
        self.loops.append(_Loop([], []))
        begin, current, tested = at + 1, state, None
        if self.ops[at][0] == op.WHILE:
            until = self.until(at)
            test = self.ops[until][1]
            current = self.run(begin, until, state, guards, note=note) or {}
            if note:
                self.reached[until] = True
            tested = dict(current) if self.truth(test) is not True else None
            begin, guards = until + 1, Guard(test, True, guards)
        last = self.run(begin, end, current, guards, note=note)
        loop = self.loops.pop()
        return _joined((last, *loop.continued)), loop.broken, tested

    def until(self, at: int) -> int:
        """The `UNTIL` of a `WHILE`."""
        return next(n for n in range(at, len(self.ops)) if self.ops[n][0] == op.UNTIL and self.blocks[n] == at)

    def attempt(self, parts: Sequence[int], state: State, guards: Guard | None, note: bool) -> State | None:
        """Handlers begin with whatever any part of the body may have left behind."""
        ops = self.ops
        any_ = _anywhere(ops, parts[0], parts[1], state)
        last = self.run(parts[0] + 1, parts[1], state.copy(), guards, note=note)
        ends: list[State | None] = []
        behind: State | None = last
        finally_ = -1
        for part, end in pairwise(parts[1:]):
            if note:
                self.reached[part] = True
            code = ops[part][0]
            if code == op.EXCEPT:
                ends.append(self.run(part + 1, end, any_.copy(), guards, note=note))
            elif code == op.ELSE:
                behind = self.run(part + 1, end, behind, guards, note=note)
            else:
                finally_ = part
        behind = _joined((behind, *ends))
        if finally_ >= 0:
            behind = self.finish(parts, finally_, state, behind, guards, note)
        return behind

    def finish(
        self, parts: Sequence[int], at: int, state: State, behind: State | None, guards: Guard | None, note: bool
    ) -> State | None:
        """What is done in any case begins with whatever anything before it left behind; what follows, only without an exception."""
        all_ = _anywhere(self.ops, parts[0], at, state)
        done = self.run(at + 1, parts[-1], all_, guards, note=note)
        if done is None or behind is None:
            return None
        written = {self.ops[n][1] for n in range(at, parts[-1]) if self.ops[n][0] in (op.STORE, op.DELETE)}
        return {**behind, **{slot: done[slot] for slot in written if slot in done}}


_LEAVING: Final = frozenset({op.RETURN, op.RAISE, op.BREAK, op.CONTINUE, op.ASSERT})


def _anywhere(ops: Sequence[Op], start: int, end: int, state: State) -> State:
    """What may hold where some of the ops from `start` to before `end` were done."""
    found = dict(state)
    for at in range(start, end):
        if ops[at][0] == op.STORE or ops[at][0] == op.DELETE:
            slot = ops[at][1]
            found[slot] = found.get(slot, ONLY_BEFORE) | {at}
    return found


def _nested(ops: Sequence[Op]) -> tuple[dict[int, list[int]], list[int]]:
    """The parts of each block: where it opens, is divided, and ends; and for each op the mark that began the part around it."""
    parts: dict[int, list[int]] = {}
    blocks: list[int] = []
    open_: list[int] = []
    inside: list[int] = [-1]
    for at, operation in enumerate(ops):
        code = operation[0]
        if code in op.OPENING:
            blocks.append(inside[-1])
            parts[at] = [at]
            open_.append(at)
            inside.append(at)
        elif code == op.UNTIL:
            blocks.append(open_[-1])
        elif code in op.OF_A_BLOCK:
            blocks.append(blocks[open_[-1]])
            parts[open_[-1]].append(at)
            inside[-1] = at
        elif code == op.END:
            blocks.append(blocks[open_[-1]])
            parts[open_.pop()].append(at)
            inside.pop()
        else:
            blocks.append(inside[-1])
    return parts, blocks
