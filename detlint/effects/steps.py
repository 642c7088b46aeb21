"""The steps of a function: imports, branches that meet by intersection, loops, `with` blocks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from detlint.catalog import HARDWARE
from detlint.domains.constant.kept import Kept
from detlint.effects.importing import Importing
from detlint.effects.summary import Block, Fork, Import, Item, Site, Steps, Test, at_yield, is_text
from detlint.ir.alone import in_ir
from detlint.ir.tests import comparison
from detlint.model.managers import EXITS, swallows
from detlint.model.module import Module
from detlint.model.runs.calls import asked_of_itself
from detlint.model.runs.reach import Place, is_mode
from detlint.model.runs.values import ANY, Frame, Origin, Spot
from detlint.model.sites.records import (
    PRINTS,
    SHAPES,
    Branch,
    Const,
    Expression,
    Function,
    Member,
    Param,
    Ref,
    Result,
    Value,
    flag_of,
)
from detlint.model.sites.records import Site as Called

ORDERED: Final = frozenset({"<", "<=", ">", ">="})
"""Comparisons that raise for None."""


class Stepping(Importing):
    """Takes steps."""

    def steps(self, steps: Steps) -> bool:
        """Take steps in order; whether the flow leaves at their end."""
        by_cells = self.are_cells(steps)
        for step in steps:
            if by_cells and 0 < self.line_of(step) < self.next_cell:
                continue
            left = self.take_step(step)
            if self.stopped and by_cells and self.leaves_cell(step):
                continue
            if left or self.stopped:
                return True
        return False

    def take_step(self, step: Item) -> bool:
        """Take one step; whether the flow leaves there."""
        if isinstance(step, Site):
            self.site(step)
        elif isinstance(step, Fork):
            return step.leaves or self.branch(step)
        elif isinstance(step, Import):
            self.import_name(step.name)
        else:
            self.read(step)
        return False

    def are_cells(self, steps: Steps) -> bool:
        """Whether steps are those of the cells of the notebook that is run, outside of any block."""
        module, function = self.frame.module, self.frame.function
        if not module.facts.cells or module is not self.result.entry.module or function.number:
            return False
        return steps is self.flow.summary(module, function).steps

    def line_of(self, step: Item) -> int:
        """The line of the first site in a step; 0 for none."""
        if isinstance(step, Site):
            return step.place.module.sites[step.place.site].span.line
        inside = (one for arm in step.arms for one in arm) if isinstance(step, Fork) else ()
        return next(filter(None, map(self.line_of, inside)), 0)

    def leaves_cell(self, step: Item) -> bool:
        """Whether what has raised only ends a cell of a notebook: each is run by itself, so that the next one is come to."""
        line = self.line_of(step)
        if line:
            cells = (cell.line for cell in self.frame.module.facts.cells)
            self.stopped, self.next_cell = "", next((start for start in cells if start > line), sys.maxsize)
        return line > 0

    def branch(self, fork: Fork) -> bool:
        branch, arms = fork.branch, fork.arms
        if branch.kind in ("main", "loop"):
            if branch.kind == "main":
                self.result.tries = self.result.tries or branch.test == SHAPES
                packed = "." in self.frame.module.facts.module
                self.result.shows = self.result.shows or (packed and branch.test == PRINTS)
                self.steps(arms[0])
            else:
                raised = self.perhaps_coming(partial(self.raises, partial(self.steps, arms[0])))
                if not self.unsure:
                    self.failed = self.failed or raised  # but there may be nothing to go through
            return False
        if branch.kind == "trial":
            self.caught(partial(self.tried, arms[0]))
            return False
        if branch.kind in ("yield", "rebind"):
            return False
        if branch.kind == "exit":
            self.exits = True
            return True
        if branch.kind == "return":
            self.returns = True
            return True
        if branch.kind == "raise":
            name = str(branch.test.value) if isinstance(branch.test, Const) else ""
            given = name != "" and self.some_file(partial(self.flow.words.writers.injects, name))
            return not given and self.stop(f"`{name}`")
        if branch.kind == "with":
            return self.block(fork)
        if branch.kind == "try":
            # The body is what runs; a handler stands in for it where an import or a device is missing.
            before = self.state.copy()
            self.caught(partial(self.steps, arms[0]))
            after = self.state
            for arm in arms[1:]:
                self.state = before.copy()
                self.caught(partial(self.steps, arm))
            self.state = after
            return False
        asked = asked_of_itself(branch, known=True) if self.frame.own is not None else None
        if asked is not None and (holds := self.kept_flag(asked, branch.test)) is not None:
            return self.steps(arms[0 if holds else 1])
        test = self.in_context(fork.tests, partial(self.tested, branch))
        if test.orders and self.caller() is not None:
            return self.stop("an order of None and a number")
        if test.how == "said":
            return self.steps(arms[0 if test.first else 1])
        if test.how == "decided":
            return self.decided(arms[0 if test.first else 1], arms[1 if test.first else 0], test.cause)
        if test.how == "own" and test.own is not None:
            kept = self.kept_flag(test.own, branch.test)
            return self.arms(fork) if kept is None else self.steps(arms[0 if kept else 1])
        return self.arms(fork, by_mode=test.how == "mode")

    def tested(self, branch: Branch) -> Test:
        """What an `if` comes to in this frame."""
        test, two = branch.test, len(branch.arms) == 2
        orders = self.orders_none(test)
        taken, cause = None, None
        name, first = flag_of(test)
        if name:
            taken, cause = self.values.flag(self.frame, Param(name))
            if taken is not None and cause is None and two:
                return Test("said", taken is first, orders=orders)
        if two and self.is_mode(test):
            return Test("mode", orders=orders)
        own = asked_of_itself(branch)
        if own is not None:
            return Test("own", own=own, orders=orders)
        if test is not None and not isinstance(test, Param):
            taken, cause = self.flow.taken(self.frame, test, self.values)
            if cause is not None and branch.span is None and not (self.is_given_any() or _may_be_none(test)):
                taken = None  # nobody knows what the call gives
        if taken is None or not two:
            return Test("arms", orders=orders)
        if cause is None and branch.span is not None and not self.is_said(test):
            cause = Spot(self.frame.module, branch.span)
        return Test("decided", taken, cause, orders=orders)

    def is_given_any(self) -> bool:
        """Whether the call gives anything."""
        return self.values.note(ANY, None, bool(self.frame.given))

    def arms(self, fork: Fork, by_mode: bool = False) -> bool:
        """Alternatives of which each may be taken; whether the run comes out of none.

        Args:
            by_mode: whether the first is taken while a layer trains.
        """
        before, ends, stops = self.state, [], list[str]()
        self.unsure += 1
        for number, arm in enumerate(fork.arms):
            self.state = before.copy()
            self.training += by_mode and not number
            left = self.steps(arm)
            self.training -= by_mode and not number
            stops.append(self.stopped)
            self.stopped = ""
            if not left:
                ends.append(self.state)
        self.unsure -= 1
        if not ends:
            self.state, self.stopped = before, stops[0] if stops and all(stops) else ""
            return True
        self.state = self.meet(ends)
        return False

    def is_said(self, test: Value | None) -> bool:
        """Whether the call itself says the text that an `if` asks for: no option, and no edit of a setting, can change that."""
        asked = [*test.names.values()] if isinstance(test, Expression) else []
        given = [self.values.given(self.frame, value.name) for value in asked if isinstance(value, Param)]
        return (
            bool(given) and len(given) == len(asked) and all(origin is not None and is_text(origin) for origin in given)
        )

    def is_mode(self, test: Value | None) -> bool:
        """Whether an `if` asks a layer whether it trains, by itself or as the call was told."""
        return is_mode(self.values.look(self.frame, test).value) if isinstance(test, (Member, Param)) else False

    def kept_flag(self, asked: Member, test: Value | None) -> bool | None:
        """Whether an attribute is true that a constructor keeps of what it is given, or a test holds which asks what text that is, by all
        that the run has made, or by the one that `self` is; None where these differ or leave it open, something sets it anew, or objects
        may be made out of sight. Of all, it is only known once all are made."""
        made = self.made_for(asked)
        is_own = made is not None and made.frames == [self.frame.own]
        if made is None or not (is_own or self.using):
            return None
        attributes = {asked.attr}
        kept = partial(self.kept_as, asked, attributes)
        value = test if isinstance(test, Expression) else made.kept
        held = {Kept(self.values, frame, kept).is_true(value) for frame in made.frames}
        known = held.pop() if len(held) == 1 and all(frame.given for frame in made.frames) else None
        looks_up = partial(self.flow.words.writers.looks_up, made.owner.rpartition("::")[2])
        if known is None or not (is_own or not self.some_file(looks_up)):
            return None
        return (
            None if any(self.some_file(partial(self.flow.words.writers.sets, name)) for name in attributes) else known
        )

    def kept_as(self, asked: Member, seen: set[str], name: str) -> Value | None:
        """What the constructor keeps as another attribute, which nothing else in the file sets.

        Args:
            seen: is told of it.
        """
        seen.add(name)
        made, module = self.made_for(Member(asked.base, name)), self.frame.module
        keeping = sum(name in body.attributes for body in module.classes.values())
        once = made is not None and self.flow.words.writers.times_set(name, module.path) == keeping
        return made.kept if made is not None and once else None

    def hands_on_amiss(self, site: Called) -> bool:
        """Whether a call hands on what the function around it gets beyond its parameters (`self.network(*inputs)`) to a layer that
        takes more or fewer."""
        given = site.args[0] if len(site.args) == 1 else None
        if given is None or given.name != "*" or not isinstance(site.target, Member) or not self.path:
            return False
        frame = self.frame
        collects = any(
            p.kind == "*" and Param(p.name) == given.value for p in frame.module.detail(frame.function).parameters
        )
        count = self.beyond(frame.module, frame.function, self.path[-1]) if collects else None
        made = self.made_for(site.target) if count is not None else None
        if made is None or count is None or not isinstance(made.kept, Param):
            return False
        if self.some_file(partial(self.flow.words.writers.sets, site.target.attr)):
            return False
        keeping = [
            body for body in frame.module.classes.values() if isinstance(body.attributes.get(site.target.attr), Param)
        ]
        if self.flow.words.writers.times_set(site.target.attr, frame.module.path) != len(keeping):
            return False  # a method may set it anew
        values = {self.values.look(frame, made.kept).value for frame in made.frames}
        names = {value.of.name if isinstance(value, Result) and isinstance(value.of, Ref) else "" for value in values}
        return all(self.flow.raises.handed_on(frame.module, name, count) for name in names)

    def tried(self, steps: Steps) -> None:
        """The body of a function that only shows the shapes of what it makes: nothing that it draws, or builds, counts."""
        built, later, handed = dict(self.built), len(self.later), len(self.handed)
        self.trying += 1
        self.steps(steps)
        self.trying -= 1
        self.built = built
        del self.later[later:], self.handed[handed:]

    def orders_none(self, test: Value | None) -> bool:
        """Whether an `if` asks whether a parameter is above or below a number that the call leaves at None: that raises where what is
        called says its name."""
        function, at = (in_ir(test.text) if isinstance(test, Expression) else None) or (None, -1)
        asked = comparison(function, at) if function is not None else None
        if function is None or asked is None or asked.word not in ORDERED or not isinstance(test, Expression):
            return False
        number = function.constant(asked.right)
        parameter = test.names.get(function.dotted(asked.left)) if isinstance(number, int | float) else None
        if not isinstance(parameter, Param):
            return False
        decorated = self.frame.module.detail(self.frame.function).decorators
        return not decorated and self.values.is_left_at_none(self.frame, parameter)

    def decided(self, usual: Steps, other: Steps, cause: Spot | None) -> bool:
        """An `if` whose test is known by default: one arm is what runs, the other what an option can choose, or has to."""
        if cause is not None and cause in self.required:
            return self.steps(other)
        before = self.state.copy()
        self.exits = False
        self.unsure += cause is not None
        left = self.steps(usual)
        ran, exits = self.state, self.exits
        if cause is None:  # not even an option can choose it
            return left
        stopped, self.stopped = self.stopped, ""
        self.state, self.doubtful = before, self.doubtful + 1
        seedings = len(self.result.seedings)
        gone = self.steps(other)
        self.doubtful -= 1
        self.unsure -= 1
        self.stopped = self.stopped and stopped
        if left:
            if exits or stopped:
                self.required.add(cause)
            return gone
        chosen, self.state = self.state, ran
        if not gone and chosen.switches.get(HARDWARE) != ran.switches.get(HARDWARE):
            ran.switches.pop(HARDWARE, None)  # whoever starts the run chooses
        for stream, kind in chosen.streams.items():
            if kind in ("seeded", "optional") and ran.streams.get(stream, "drawn") == "drawn":
                seeding = next((s for s in self.result.seedings[seedings:] if stream in s.streams), None)
                if seeding is not None:
                    self.result.optional.setdefault(
                        stream, msgspec.structs.replace(seeding, cause=seeding.cause or cause)
                    )
                    ran.streams[stream] = "optional"
        return False

    def block(self, fork: Fork) -> bool:
        """`with`: what entering it does, its body, and what leaving it does or undoes."""
        raw = fork.branch.test
        block = self.in_context(fork.blocks, partial(self.opened, raw))
        before, after = self.around(block)
        saved: dict[str, str] = {}
        if isinstance(raw, Result):
            place = Place(self.frame.module, raw.site)
            saved = self.scopes.pop(place, {})
            if saved:  # what the call itself has seeded holds for the block only
                result = self.result
                result.seedings = [
                    msgspec.structs.replace(s, passing=s.passing or s.place == place) for s in result.seedings
                ]
                result.late = {stream: late for stream, late in result.late.items() if late[0].place != place}
        before()
        self.scoped.append(saved)
        self.hollow += block.hollow
        self.unsure += block.catches
        left = self.steps(fork.arms[0])
        self.unsure -= block.catches
        if block.catches and (self.stopped or len(fork.arms) > 1):
            left, self.stopped = False, ""
        self.hollow -= block.hollow
        self.scoped.pop()
        after()
        for stream, kind in saved.items():
            self.state.streams.pop(stream, None)
            if kind:
                self.state.streams[stream] = kind
        return left

    def has_context(self, site: int, context: str) -> bool:
        """Whether the catalog says something of what a call makes: that tensors have no storage in a block of it, and initial weights no
        numbers (`no-storage`), that it catches what is raised there (`catches`)."""
        found = self.flow.knowledge.matches(self.frame.module, site) if site >= 0 else ()
        return any(context in effect.entry.contexts for effect in found)

    def opened(self, raw: Value | None) -> Block:
        """What a `with` enters in this frame."""
        value = self.values.look(self.frame, raw).value
        kind, manager = self.resolver.types.of(value), self.manager(raw)
        kind = kind if "::" in kind else ""
        hollow = isinstance(raw, Result) and self.has_context(raw.site, "no-storage")
        return Block(manager, kind, self.may_catch(manager, kind, raw), hollow)

    def manager(self, raw: Value | None) -> tuple[Module, Function, dict[str, Origin]] | None:
        """The generator function whose context manager a `with` enters, and what it is given; None for anything else."""
        of = self.values.look(self.frame, raw.of).value if isinstance(raw, Result) else None
        for module, function, _ in self.flow.callees(of) if isinstance(of, Ref) and "::" in of.name else ():
            if self.is_manager(module, function):
                site = self.frame.module.sites[raw.site] if isinstance(raw, Result) and raw.site >= 0 else None
                given = self.values.bind(self.frame, site, module, function) if site is not None else {}
                return module, function, given
        return None

    def around(self, block: Block) -> tuple[Callable[[], object], Callable[[], object]]:
        """What happens before and after the body of a `with`."""
        if block.manager is not None:
            module, function, given = block.manager
            before, after = at_yield(self.flow.summary(module, function).steps)
            frame = Frame(module, function, given, outer=self.frame)
            return partial(self.inside, frame, before), partial(self.inside, frame, after)
        if not block.kind:
            return _nothing, _nothing
        place = self.path[-1] if self.path else None

        def run(method: str) -> None:
            for module, function, owner in self.flow.method(block.kind, method):
                self.call(module, function, owner, place, {})

        return lambda: run("__enter__"), lambda: run("__exit__")

    def may_catch(
        self, manager: tuple[Module, Function, dict[str, Origin]] | None, kind: str, raw: Value | None
    ) -> bool:
        """Whether a `with` may catch what is raised in it: by the generator, or the `__exit__`, of the program, or by the catalog."""
        found = [] if manager is None else [manager[:2]]
        found += [callee[:2] for method in EXITS if kind for callee in self.flow.method(kind, method)]
        for module, function in found:
            code = self.resolver.modules.code(module.path)
            bodies = code.by_name.get(function.name, ()) if code is not None else ()
            for body in bodies:
                self.resolver.inside(module.path, body)
            if code is None or any(map(swallows, bodies)):
                return True
        return isinstance(raw, Result) and self.has_context(raw.site, "catches")

    def is_manager(self, module: Module, function: Function) -> bool:
        """Whether a generator function is a context manager."""
        decorators = [self.resolver.normal(module.path, d) for d in module.detail(function).decorators]
        return any(isinstance(d, Ref) and d.name.endswith("contextmanager") for d in decorators)

    def inside(self, frame: Frame, steps: Steps) -> None:
        outer, self.frame = self.frame, frame
        self.steps(steps)
        self.frame = outer


def _nothing() -> None:
    """What entering most things does to streams."""


def _may_be_none(test: Value) -> bool:
    """Whether an `if` asks for a parameter that may be left at None."""
    asked = test.names.values() if isinstance(test, Expression) else ()
    return any(isinstance(value, Param) and value.default == Const(None) for value in asked)
