"""What holds at each op of a function: which definitions reach a name, which tests were passed on the way, whether it is reached at all.

One pass over the ops, along their nesting; of a loop a second one, that finds what its body leaves behind for the next round. The state at
a place is one table, with a trail of what was changed in it: an arm is undone before the next one begins, and where arms meet, only what
they changed is looked at.

What it may assume: anything in a `try` may raise, nothing outside of one does; a `with` lets exceptions through, but where something
follows on one whose end isn't come to otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from detlint.ir import ops as op
from detlint.ir.blocks import nested
from detlint.ir.depth import at_any_depth
from detlint.ir.exits import ANY, NONE, ONLY_BEFORE, UNTOLD, Definitions, State, Ways, union
from detlint.ir.uses import Op


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


def flow(
    ops: Sequence[Op], constants: Sequence[object], shared: Collection[int] = (), late: Collection[int] = ()
) -> Flow:
    """What holds at the ops of a function, however deep they are nested.

    Args:
        constants: those of its file.
        shared: the slots that functions inside bind as well.
        late: the `COMPREHEND`s of generators that may be gone through later.
    """
    return at_any_depth(partial(_flow, ops, constants, shared, late))


def _flow(ops: Sequence[Op], constants: Sequence[object], shared: Collection[int], late: Collection[int]) -> Flow:
    found = _Pass(ops, constants)
    found.at_any_time.update(dict.fromkeys(shared, ANY))
    if late:
        found.look_ahead(late)
    found.run(0, len(ops), None)
    return Flow(found.reaching, found.reached, found.blocks, found.parts, found.passed)


Ended = tuple[bool, Guard | None]
"""Whether the end is come to, and the tests that were passed up to there."""


class _Pass:
    def __init__(self, ops: Sequence[Op], constants: Sequence[object]) -> None:
        self.ops = ops
        self.constants = constants
        self.parts, self.blocks, self.begins, self.untils = nested(ops)
        self.reaching: dict[int, Definitions] = {}
        self.reached = [False] * len(ops)
        self.passed: dict[int, Guard] = {}
        self.carried: dict[int, State] = {}
        """Loops -> what their bodies leave behind for the next round."""
        self.ways: list[Ways] = []
        self.now: State = {}
        self.trail: list[tuple[int, Definitions | None]] = []
        """What was changed, and what it was before."""
        self.at_any_time: dict[int, Definitions] = {}
        """Slots -> definitions that may come in between."""
        self.later: dict[int, Definitions] = {}
        """`LOAD`s in generators -> definitions that may have come when they are run."""
        self.notes = True

    def look_ahead(self, late: Iterable[int]) -> None:
        """Find what may be defined before generators are gone through that begin at some marks, and what they define then."""
        places: dict[int, list[int]] = {}
        for at, operation in enumerate(self.ops):
            if operation[0] == op.STORE or operation[0] == op.DELETE:
                places.setdefault(operation[1], []).append(at)
        for mark in late:
            loops = [around for around in self.around(mark) if self.ops[around][0] in (op.FOR, op.WHILE)]
            first = loops[-1] if loops else mark
            for at in range(mark, self.parts[mark][-1]):
                code = self.ops[at][0]
                if code == op.LOAD:
                    found = frozenset(place for place in places.get(self.ops[at][1], ()) if place > first)
                    self.later[at] = union((self.later.get(at, NONE), found))
                elif code == op.STORE:
                    slot = self.ops[at][1]
                    self.at_any_time[slot] = union((self.at_any_time.get(slot, NONE), frozenset((at,))))

    def around(self, at: int) -> Iterator[int]:
        """The marks that began the parts around an op, the innermost first."""
        while (at := self.blocks[at]) >= 0:
            yield at

    # -- the state ------------------------------------------------------------------------------------------------------------

    def put(self, slot: int, definitions: Definitions) -> None:
        self.trail.append((slot, self.now.get(slot)))
        self.now[slot] = definitions

    def add(self, more: dict[int, set[int]]) -> None:
        """Let definitions reach this place, too."""
        for slot, definitions in more.items():
            self.put(slot, union((self.now.get(slot, ONLY_BEFORE), frozenset(definitions))))

    def since(self, mark: int) -> State:
        """What has changed since the trail was so long."""
        return {slot: self.now[slot] for slot, _ in self.trail[mark:]}

    def undo(self, mark: int) -> None:
        """Go back to what was when the trail was so long."""
        if self.ways and len(self.trail) > mark:
            self.ways[-1].back(self.trail, mark)
        while len(self.trail) > mark:
            slot, before = self.trail.pop()
            if before is None:
                del self.now[slot]
            else:
                self.now[slot] = before

    def meet(self, ways: Sequence[State | None]) -> bool:
        """Join what several ways have changed, None for one that doesn't come here; whether one does."""
        living = [way for way in ways if way is not None]
        found: dict[int, list[Definitions]] = {}
        for way in living:
            for slot, definitions in way.items():
                found.setdefault(slot, []).append(definitions)
        for slot, several in found.items():
            if len(several) < len(living):
                several.append(self.now.get(slot, ONLY_BEFORE))
            self.put(slot, union(several) if len(several) > 1 else several[0])
        return bool(living)

    def taken(self, mark: int, alive: bool) -> State | None:
        """What has changed since a mark, which is undone; None where this place isn't come to."""
        found = self.since(mark) if alive else None
        self.undo(mark)
        return found

    def written(self, start: int, end: int) -> dict[int, set[int]]:
        """The definitions among the ops from `start` to before `end`."""
        found: dict[int, set[int]] = {}
        for at in range(start, end):
            code = self.ops[at][0]
            if code == op.STORE or code == op.DELETE:
                found.setdefault(self.ops[at][1], set()).add(at)
            elif code == op.STAR_IMPORT:
                for slot in {*self.now, *found}:
                    found.setdefault(slot, set()).add(at)
        return found

    # -- ops ------------------------------------------------------------------------------------------------------------------

    def run(self, start: int, end: int, guards: Guard | None) -> Ended:
        """Go through the ops from `start` to before `end`."""
        ops, notes, at = self.ops, self.notes, start
        while at < end:
            operation = ops[at]
            code = operation[0]
            if notes:
                self.note(at, guards)
            if code == op.LOAD:
                if notes:
                    self.reaching[at] = self.read(at, operation[1])
            elif code == op.STORE or code == op.DELETE:
                self.put(operation[1], frozenset((at,)))
            elif code in op.OPENING:
                alive, guards = self.block(at, guards)
                at = self.parts[at][-1]
                if notes:
                    self.reached[at] = True
                if not alive:
                    return False, guards
            elif code in _LEAVING:
                if self.ways and code in (op.BREAK, op.CONTINUE):
                    way = self.ways[-1].broken if code == op.BREAK else self.ways[-1].continued
                    way.take(self.now, self.trail)
                return False, guards
            elif code == op.STAR_IMPORT:
                self.add({slot: {at} for slot in self.now})
            at += 1
        return True, guards

    def note(self, at: int, guards: Guard | None) -> None:
        """An op is reached."""
        self.reached[at] = True
        if guards is not None:
            self.passed[at] = guards

    def read(self, at: int, slot: int) -> Definitions:
        """What a `LOAD` may read."""
        found = self.now.get(slot, ONLY_BEFORE)
        if slot in self.at_any_time:
            found |= self.at_any_time[slot]
        return found | self.later[at] if at in self.later else found

    def block(self, at: int, guards: Guard | None) -> Ended:
        """A block."""
        code = self.ops[at][0]
        if code == op.IF:
            return self.conditional(at, guards)
        if code == op.FOR or code == op.WHILE:
            return self.loop(at, guards), guards
        if code == op.TRY:
            return self.attempt(at, guards), guards
        mark, end = len(self.trail), self.parts[at][-1]
        alive, inside = self.run(at + 1, end, guards)
        if code == op.QUOTE:
            return self.meet((self.taken(mark, alive), {})), guards
        if not alive and code == op.WITH and self.holds(end):
            self.undo(mark)
            self.add(self.written(at, end))
            return True, guards
        return alive, inside

    def holds(self, end: int) -> bool:
        """Whether a `with` that ends there must keep exceptions from what is behind, since something follows that is run after it."""
        end += 1
        while end < len(self.ops) and self.ops[end][0] == op.END and self.ops[self.begins[end]][0] == op.WITH:
            end += 1
        if end == len(self.ops):
            return False
        code = self.ops[end][0]
        if code == op.END:
            return self.ops[self.begins[end]][0] in (op.FOR, op.WHILE)
        return code not in op.OF_A_BLOCK

    def truth(self, value: int) -> bool | None:
        """Whether a test is true, where it is a constant."""
        operation = self.ops[value]
        return bool(self.constants[operation[1]]) if operation[0] == op.CONST else None

    # -- `if` -----------------------------------------------------------------------------------------------------------------

    def conditional(self, at: int, guards: Guard | None) -> Ended:
        """All arms of an `if` with those that its `else` ends with. Where some leave, what is behind hangs on their tests."""
        base = len(self.trail)
        before, alive = guards, True
        arms: list[State | None] = []
        tests: list[tuple[Guard, Guard]] = []
        behind: list[tuple[int, int]] = []
        while True:
            parts, test = self.parts[at], self.ops[at][1]
            tests.append((Guard(test, True, guards), Guard(test, False, guards)))
            holding, guards = tests[-1]
            known, mark = self.truth(test), len(self.trail)
            goes_on = known is not False and self.run(parts[0] + 1, parts[1], holding)[0]
            arms.append(self.since(base) if goes_on else None)
            self.undo(mark)
            alive = known is not True
            if len(parts) == 2:
                break
            if self.notes:
                self.reached[parts[1]] = True
            inner = self.last_of(parts)
            if alive:
                alive, guards = self.run(parts[1] + 1, parts[2] if inner < 0 else inner, guards)
            if not alive or inner < 0:
                break
            behind.append((self.parts[inner][-1], parts[2]))
            if self.notes:
                self.note(inner, guards)
            at = inner
        arms.append(self.taken(base, alive))
        self.note_behind(behind, arms, tests)
        dead = next((number for number, arm in enumerate(arms) if arm is not None), len(arms))
        if dead < len(tests) and all(arm is None for arm in arms[dead + 1 :]):
            before = tests[dead][0]
        elif dead:
            before = tests[min(dead, len(tests)) - 1][1]
        return self.meet(arms), before

    def last_of(self, parts: Sequence[int]) -> int:
        """The `if` that an `else` ends with, but for what says which value it gives; -1 for none."""
        last = parts[2] - 1
        while self.ops[last][0] == op.CHOICE:
            last -= 1
        begins = self.begins.get(last, -1)
        return begins if begins > parts[1] and self.ops[begins][0] == op.IF else -1

    def note_behind(
        self, behind: Sequence[tuple[int, int]], arms: Sequence[State | None], tests: Sequence[tuple[Guard, Guard]]
    ) -> None:
        """What stands between the ends of arms is reached where one of those inside is left at its end."""
        if not self.notes or not behind:
            return
        last = max((number for number, arm in enumerate(arms) if arm is not None), default=-1)
        for number, (start, end) in enumerate(behind):
            self.reached[start] = True
            for at in range(start + 1, end) if last > number else ():
                self.note(at, tests[number][1])

    # -- loops ----------------------------------------------------------------------------------------------------------------

    def loop(self, at: int, guards: Guard | None) -> bool:
        parts = self.parts[at]
        if at not in self.carried:
            self.carried[at] = self.left_behind(at, parts)
        for slot, definitions in self.carried[at].items():
            self.put(slot, union((self.now.get(slot, ONLY_BEFORE), definitions)))
        head = len(self.trail)
        _, broken, tested = self.body(at, parts[1], guards)
        if len(parts) == 3:
            if self.notes:
                self.reached[parts[1]] = True
            if self.meet((tested,)):
                tested = self.taken(head, self.run(parts[1] + 1, parts[2], guards)[0])
        return self.meet((tested, *broken))

    def left_behind(self, at: int, parts: Sequence[int]) -> State:
        """The definitions in a loop that reach the end of a round."""
        mark, notes, self.notes = len(self.trail), self.notes, False
        ends, _, _ = self.body(at, parts[1], None)
        self.undo(mark)
        self.notes = notes
        found: dict[int, list[Definitions]] = {}
        for end in ends:
            for slot, definitions in end.items():
                own = frozenset(d for d in definitions if at < d < parts[-1] or d == UNTOLD)
                found.setdefault(slot, []).append(own)
        return {slot: union(several) for slot, several in found.items()}

    def body(self, at: int, end: int, guards: Guard | None) -> tuple[list[State], list[State], State | None]:
        """One round: what has changed where the next begins, where it is left by `break`, and where there is no next."""
        head = len(self.trail)
        begin, alive, tested = at + 1, True, State()
        behind: State | None = tested
        if self.ops[at][0] == op.WHILE:
            until = self.untils[at]
            test = self.ops[until][1]
            alive, guards = self.run(begin, until, guards)
            if self.notes:
                self.reached[until] = True
            known = self.truth(test)
            behind = self.since(head) if alive and known is not True else None
            begin, guards, alive = until + 1, Guard(test, True, guards), alive and known is not False
        self.ways.append(Ways(head))
        if alive:
            alive, _ = self.run(begin, end, guards)
        last = self.taken(head, alive)
        ways = self.ways.pop()
        ends = [*ways.continued.states(self.now), *([last] if last is not None else [])]
        return ends, ways.broken.states(self.now), behind

    # -- `try` ----------------------------------------------------------------------------------------------------------------

    def attempt(self, at: int, guards: Guard | None) -> bool:
        """Handlers begin with whatever any part of the body may have left behind."""
        ops, parts, mark = self.ops, self.parts[at], len(self.trail)
        finally_ = parts[-2] if ops[parts[-2]][0] == op.FINALLY else -1
        if finally_ >= 0:
            self.ways.append(Ways(mark))
        written = self.written(at, parts[1])
        behind = self.taken(mark, self.run(at + 1, parts[1], guards)[0])
        ends: list[State | None] = []
        for part, end in pairwise(parts[1:]):
            if self.notes:
                self.reached[part] = True
            if ops[part][0] == op.EXCEPT:
                self.add(written)
                ends.append(self.handler(part, end, mark, guards))
                # the tests of others come behind that of this, and with `except*` they come behind all of it
                upto = end if ops[part][1] else self.caught(part)
                for slot, places in self.written(part, upto).items():
                    written.setdefault(slot, set()).update(places)
            elif ops[part][0] == op.ELSE and self.meet((behind,)):
                behind = self.taken(mark, self.run(part + 1, end, guards)[0])
        ends.append(behind)
        if finally_ >= 0:
            ends = self.finish(at, finally_, mark, ends, guards)
        return self.meet(ends)

    def handler(self, part: int, end: int, mark: int, guards: Guard | None) -> State | None:
        """A handler; however it is left, the name of its exception is gone."""
        caught, closing = self.caught(part), self.ops[end - 1]
        if self.ops[caught + 1][0] != op.STORE or self.ops[caught + 1][2] != caught or not self.ways:
            return self.taken(mark, self.run(part + 1, end, guards)[0])
        self.ways.append(Ways(mark))
        found = self.taken(mark, self.run(part + 1, end, guards)[0])
        self.hand_on(self.ways.pop(), {closing[1]: frozenset((end - 1,))})
        return found

    def caught(self, part: int) -> int:
        """The `CAUGHT` of an `EXCEPT`."""
        while self.ops[part][0] != op.CAUGHT:
            part += 1
        return part

    def finish(
        self, at: int, finally_: int, mark: int, ends: Sequence[State | None], guards: Guard | None
    ) -> list[State | None]:
        """What is done in any case begins with whatever anything before it left behind; what follows, only without an exception."""
        way, end = self.ways.pop(), self.parts[at][-1]
        self.add(self.written(at, finally_))
        done = self.taken(mark, self.run(finally_ + 1, end, guards)[0])
        if done is None:
            return []
        changed = {slot: done[slot] for slot in self.written(finally_, end) if slot in done}
        self.hand_on(way, changed)
        return [{**state, **changed} if state is not None else None for state in ends]

    def hand_on(self, ways: Ways, changed: State) -> None:
        """Something is changed on the ways out of a `try` to the loop around it."""
        if not self.ways:
            return
        mark, outer = len(self.trail), self.ways[-1]
        for way, further in ((ways.broken, outer.broken), (ways.continued, outer.continued)):
            for state in way.states(self.now):
                for slot, definitions in {**state, **changed}.items():
                    self.put(slot, definitions)
                further.take(self.now, self.trail)
                self.undo(mark)


_LEAVING: Final = frozenset({op.RETURN, op.RAISE, op.BREAK, op.CONTINUE, op.ASSERT})
