"""DET307: a run that goes on from a checkpoint, or writes one for that, without the random states, and draws afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from detlint.catalog import SHUFFLED, Catalog
from detlint.checks.finding import Certainty, Finding, Step
from detlint.checks.levels import ALIGN, case_of, level
from detlint.domains.draws import makes_generator
from detlint.domains.matching.contexts import in_context
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.endings import last_name, may_be_one
from detlint.model.meaning import Meaning
from detlint.model.parameters import has_all_names
from detlint.model.runs.reach import Effect, Place, Reach
from detlint.model.sites.records import Const, Span
from detlint.model.slices import Point, Slices, of_run, point_at
from detlint.model.tests import is_test
from detlint.model.uses import Users

CODE: Final = "DET307"
_STATE: Final = "state_dict"
_LOADS: Final = "load_state_dict"
_OWN: Final = "__dict__"
_DESIGN: Final = ("DET2", "DET301", "DET302")
_INITIAL: Final = ("torch.nn.init.", "mindspore.common.initializer.")
_SETS_EPOCH: Final = frozenset({"set_epoch"})
_DRAWS: Final = "the run draws here, and goes on with other numbers"
_OTHERS: Final = "the run goes on from a checkpoint that has the states of other streams: it draws other numbers than a run without a break"
_UNDONE: Final = "the seed that is set here undoes the random states that the checkpoint gave back: the run draws its first numbers again"
_PATHS: Final = ("f", "ckpt_file_name", "dst", "path", "target")
"""Parameters of what reads, writes and renames files that are their paths."""
_DEEPEST: Final = 3
"""So many functions are followed to what seeds."""


class ResumeRules:
    """Judges the checkpoints of runs."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher, self._users = matcher, users
        catalog: Catalog = matcher.catalog
        self._catalog = catalog
        self._writes, self._reads = catalog.with_context("writes-checkpoint"), catalog.with_context("reads-checkpoint")
        self._writing = catalog.words_with("writes-checkpoint")
        self._gives, self._fills = catalog.with_context("gives-state"), catalog.with_context("reads-into")
        self._filling = catalog.words_with("reads-into")
        self._keys = catalog.with_context("key")
        self._names_files = catalog.with_context("names-file")
        self._saving = frozenset[str]().union(*map(catalog.with_context, ("goes-on", "goes-on-in-full", "only-model")))
        """Libraries that write checkpoints by themselves."""
        self._global = catalog.with_context("keeps-global-states")
        self._restores = {name for name in self._global if name.rpartition(".")[2].startswith("set")}
        self._training = catalog.words_with("trains")
        self._optimizers = tuple(name for framework in catalog.frameworks for name in framework.optimizers)

    def findings(self, reach: Reach) -> Iterator[Finding]:
        """What is told of one run: once."""
        goes_on = self._goes_on(reach)
        if not reach.trains or (goes_on is None and not self._may(reach)) or self._seeds_each_epoch(reach):
            return
        kept = self._kept(reach)
        if kept & self._restores:
            yield from self._undone(self._slices(reach))
        if kept <= self._global:
            yield from self._left_out(reach, goes_on, kept)

    def _left_out(self, reach: Reach, goes_on: Point | None, kept: Collection[str]) -> Iterator[Finding]:
        """A checkpoint without the state of what the run draws from.

        Args:
            kept: by what it keeps those of the streams that the process has, if it does.
        """
        drawn = None if kept else self._drawn(reach, shuffled=not self._says(reach, _SETS_EPOCH))
        if drawn is None and not kept and not self._says(reach, self._filling):
            return
        slices = self._slices(reach)
        drawn = drawn or (self._own_draw(slices) if kept else self._renewed_key(slices))
        found = ((goes_on, True) if goes_on is not None else self._by_hand(slices)) if drawn is not None else None
        if found is not None and drawn is not None:
            yield self._finding(found[0], drawn, _OTHERS if kept else "", "certain" if found[1] else "possible")

    def _slices(self, reach: Reach) -> Slices:
        words = {
            _STATE,
            _LOADS,
            _OWN,
            *(name.rpartition(".")[2] for name in self._writes | self._gives | self._fills),
        } - {"save"}
        return of_run(self._users, reach.files, reach.entry.module.path, words)

    def _may(self, reach: Reach) -> bool:
        return self._says(
            reach, (_STATE, _LOADS, _OWN, *self._filling, *(name.rpartition(".")[2] for name in self._gives))
        )

    def _says(self, reach: Reach, words: Iterable[str]) -> bool:
        """Whether a file of the run has one of some names."""
        has = self._users.index.has_name
        return any(has(path, word) for path in sorted(reach.files) for word in words)

    # -- what the run does ------------------------------------------------------------------------------------------

    def _goes_on(self, reach: Reach) -> Point | None:
        """Where a library is told to go on that keeps no random states."""
        full = in_context("goes-on-in-full", reach, self._matcher)
        said = in_context("only-model" if full else "goes-on", reach, self._matcher)
        if not said:
            return None
        place, match = said[-1]
        return point_at(self._users, place.module, place.site) if match.sure and not self._is_none(match) else None

    def _is_none(self, match: Effect) -> bool:
        """Whether what says where to go on is surely nothing."""
        for word in match.entry.when:
            argument = match.arguments.get(word)
            if argument is not None and argument.value in (Const(None), Const(False)):
                return True
        return False

    def _drawn(self, reach: Reach, *, shuffled: bool) -> Step | None:
        """Something that the run draws in each epoch: not the initial weights of a layer.

        Args:
            shuffled: whether the order of the data counts.
        """
        for place in reach.places:
            for match in self._matcher.matches(place.module, place.site):
                inside = "draws-inside" in match.entry.contexts
                if match.entry.rule == SHUFFLED and not shuffled:
                    continue
                if (
                    inside
                    or match.entry.rule.startswith(_DESIGN)
                    or (match.entry.draws and self._is_each_round(place, match))
                ):
                    return Step(place.module.path, place.module.sites[place.site].span, _DRAWS)
        return None

    def _own_draw(self, slices: Slices) -> Step | None:
        """Something that a method draws from a generator object of its own, of which nothing is done but that: its state isn't kept."""
        for point, _ in slices.calls():
            meaning, function = point.meaning, point.function
            of, around = function.called_on(point.at), function.parent
            if of < 0 or around is None or not around.is_class or function.name.startswith("__init"):
                continue
            drawn = function.ops[of][0] == op.ATTR and makes_generator(meaning.value(function, of), self._catalog)
            if drawn and self._is_only_called(meaning, function.strings[function.ops[of][2]]):
                return Step(meaning.path, Span(*function.span(point.at)), _DRAWS)
        return None

    def _renewed_key(self, slices: Slices) -> Step | None:
        """Where a loop is handed a key of JAX's that it renews in each turn, and that begins as one which no checkpoint gave."""
        for point, _ in slices.calls():
            function = point.function
            loops = [mark for mark in function.blocks(point.at) if function.ops[mark][0] in (op.FOR, op.WHILE)]
            for value in _given(point) if loops else ():
                stores = [
                    at for at in function.flow.reaching.get(value, ()) if at >= 0 and function.ops[at][0] == op.STORE
                ]
                before = [at for at in stores if at < loops[-1]]
                new = any(self._is_new_key(slices, point, function.ops[at][2]) for at in before)
                ahead = {loops[-1], *(mark for at in before for mark in function.blocks(at))}
                if len(before) < len(stores) and new and not any(self._brings(slices, point, mark) for mark in ahead):
                    return Step(point.meaning.path, Span(*function.span(point.at)), _DRAWS)
        return None

    def _is_new_key(self, slices: Slices, point: Point, made: int) -> bool:
        """Whether a call gives a key, or several, and is handed nothing that comes of a checkpoint."""
        while point.function.ops[made][0] == op.PART:
            made = point.function.ops[made][1]
        names = self._made_by(slices, point, made)
        return names[0] in self._keys and self._fills.isdisjoint(names)

    def _brings(self, slices: Slices, point: Point, mark: int) -> bool:
        """Whether a loop only renews keys, as often as a checkpoint says: it brings them to where that was written."""
        function = point.function
        inside = [point._replace(at=at) for at, _ in function.each(op.CALL) if mark in function.blocks(at)]
        if function.ops[mark][0] != op.FOR or not all(
            self._catalog.canonical(one.called) in self._keys for one in inside
        ):
            return False
        return not self._fills.isdisjoint(self._made_by(slices, point, function.ops[mark][1]))

    def _made_by(self, slices: Slices, point: Point, value: int) -> list[str]:
        """The full names of what makes a value, "" where nothing is called."""
        return [self._catalog.canonical(part.called) for part in slices.parts(point.meaning, point.function, value)]

    def _is_only_called(self, meaning: Meaning, attribute: str) -> bool:
        """Whether a file has an attribute's methods called, and neither hands it on nor reads another attribute of it."""
        for function in meaning.code.functions():
            for at, operation in function.each(op.ATTR):
                if function.strings[operation[2]] != attribute:
                    continue
                read = [use.op for use in function.users[at]]
                calls = [function.ops[use.op][0] == op.CALL for method in read for use in function.users[method]]
                if not calls or not all(calls) or any(function.ops[method][0] != op.ATTR for method in read):
                    return False
        return True

    def _is_each_round(self, place: Place, match: Match) -> bool:
        """Whether a function draws again and again: in a loop, or in a method, but no initial weights."""
        if match.name.rpartition(".")[2][:1].isupper() or match.name.startswith(_INITIAL):
            return False
        point = point_at(self._users, place.module, place.site)
        if point is None:
            return False
        loops = (point.function.ops[mark][0] in (op.FOR, op.WHILE) for mark in point.function.blocks(point.at))
        method = point.function.method
        return any(loops) or (method is not None and not method.name.startswith("__init"))

    def _kept(self, reach: Reach) -> set[str]:
        """What the run keeps random states by: full names, or "" for a method of an object that isn't known."""
        brief = self._users.resolver.brief
        return {name for path in sorted(reach.files) for name in brief(path).keeps}

    def _seeds_each_epoch(self, reach: Reach) -> bool:
        return any(self._is_each_epoch(seeding.place) for seeding in reach.seedings if not seeding.passing)

    def _is_each_epoch(self, place: Place) -> bool:
        """Whether a seeding stands in a loop, and is told which round it is."""
        point = point_at(self._users, place.module, place.site)
        if point is None:
            return False
        function = point.function
        rounds = [mark for mark in function.blocks(point.at) if function.ops[mark][0] == op.FOR]
        made = {part for value in function.call(point.at).values() for part in function.made_of(value)}
        return any(mark in made for mark in rounds)

    # -- checkpoints by hand ----------------------------------------------------------------------------------------

    def _by_hand(self, slices: Slices) -> tuple[Point, bool] | None:
        """Where a checkpoint is read to go on with an optimizer, or, if none is, written with one; and whether the run does both.

        What nothing writes may come from elsewhere, and what nothing reads may be for nobody. What is read together with it then
        waits for it, too; and what is written beside is for going on if it is more than one state.
        """
        reads = [(read, self._is_written(read)) for read in self._reads_for_optimizers(slices)]
        lost = [read for read, written in reads if not written]
        for read, written in reads:
            if written and not any(_is_beside(read, other) for other in lost):
                return read, True
        fewest = 2 if lost else 1
        writes = (point for point, name in slices.calls() if self._catalog.canonical(name) in self._writes)
        write = next((point for point in writes if self._has_optimizer(slices, point, fewest)), None)
        return (write, bool(reads)) if write is not None else (lost[0], False) if lost else None

    def _reads_for_optimizers(self, slices: Slices) -> Iterator[Point]:
        """The calls that read the states which optimizers are given."""
        for point, name in slices.calls():
            if name in self._fills and any(self._is_optimizer(slices, point, value) for value in _given(point)):
                yield point
            of = self._given_state(point, name)
            if of >= 0 and self._is_optimizer(slices, point, of):
                read = self._read_from(slices, point, [*_given(point)])
                if read is not None:
                    yield read
        for meaning in slices.files.values():
            for function in meaning.code.functions():
                yield from self._reads_for_itself(slices, meaning, function)

    def _reads_for_itself(self, slices: Slices, meaning: Meaning, function: Function) -> Iterator[Point]:
        """The calls that read what an object takes for its attributes, with all that is in them: `self.__dict__[name] = value`; not of
        data."""
        owner = f"{meaning.path}::{function.parent.qualified}" if function.parent is not None else ""
        tables = (at for at, put in function.each(op.SET_ITEM) if has_all_names(meaning, function, put[1]))
        for at in tables if not self._users.resolver.kinds.is_dataset(owner) else ():
            read = self._read_from(slices, Point(meaning, function, at), [function.ops[at][3]])
            yield from (read,) if read is not None else ()

    def _is_written(self, read: Point) -> bool:
        """Whether something in the project writes the file that a call reads, or may give one its name: not where that is known, and what
        is written under others that aren't has no optimizer's state."""
        file = _last_name(read, 0)
        if not file.startswith("/"):
            return True
        users, home = self._users, self._users.home(read.meaning.module)
        words = {name.rpartition(".")[2] for name in self._writes | self._names_files | self._saving}
        files = users.index.saying_any(sorted(words), home)
        slices = of_run(users, files, read.meaning.path, words)
        return any(self._may_write(slices, point, name, file) for point, name in slices.calls())

    def _may_write(self, slices: Slices, point: Point, name: str, file: str) -> bool:
        """Whether a call writes a file of a name, or gives one that name.

        Args:
            name: what it calls.
            file: the last name of its path.
        """
        if name in self._saving:
            return True
        renames = name in self._names_files
        unknown = not name and point.function.called(point.at) in self._writing
        if not (renames or unknown or name in self._writes):
            return False
        # `fabric.save(path, state)`
        written = _last_name(point, 1) or ("" if renames else _last_name(point, 0))
        if written:
            return may_be_one(file, written)
        return renames or self._has_optimizer(slices, point, 1) or self._asks_state(slices, point)

    def _asks_state(self, slices: Slices, point: Point) -> bool:
        """Whether the function in which a call stands asks an optimizer for its state."""
        function = point.function
        calls = (at for at, _ in function.each(op.CALL) if function.called(at) == _STATE)
        return any(self._is_optimizer(slices, point, function.called_on(at)) for at in calls)

    def _given_state(self, point: Point, name: str) -> int:
        """The object that a call gives a state which it is handed, `optimizer.load_state_dict(state)`; -1 where it does no such thing."""
        if point.function.called(point.at) == _LOADS:
            return point.function.called_on(point.at)
        first = point.function.call(point.at).positional[:1]
        return first[0] if first and self._catalog.canonical(name) in self._gives else -1

    def _read_from(self, slices: Slices, point: Point, given: list[int]) -> Point | None:
        """The call that reads the file from which an optimizer's state comes."""
        for value in given:
            for part in slices.parts(point.meaning, point.function, value):
                if self._catalog.canonical(part.called) in self._reads:
                    return part
        return None

    def _has_optimizer(self, slices: Slices, point: Point, fewest: int) -> bool:
        """Whether what is written has the state of an optimizer, among so many states at least."""
        for value in point.function.call(point.at).positional[:1]:
            states, found = 0, False
            for part in slices.parts(point.meaning, point.function, value):
                function, of = part.function, part.function.called_on(part.at)
                if function.called(part.at) == _STATE and of >= 0:
                    states, found = states + 1, found or self._is_optimizer(slices, part, of)
                    if found and states >= fewest:
                        return True
        return False

    def _is_optimizer(self, slices: Slices, point: Point, value: int) -> bool:
        """Whether a value is an optimizer, by what made it, or has one in it."""
        for part in slices.held(point.meaning, point.function, value):
            name = self._catalog.canonical(part.called)
            if name and (f"{name}.".startswith(self._optimizers) or name in self._optimizers):
                return True
        return False

    # -- states that are given back ---------------------------------------------------------------------------------

    def _undone(self, slices: Slices) -> Iterator[Finding]:
        """A seed that is set behind the states which a checkpoint gave back, in the same function or by what that calls."""
        for meaning in slices.files.values():
            for function in meaning.code.functions():
                calls = [at for at, _ in function.each(op.CALL) if not function.is_dead(at)]
                for number, at in enumerate(calls):
                    point = Point(meaning, function, at)
                    given_back = self._seeded(slices, point, self._restores)
                    later = self._seeding(slices, point, given_back, calls[number + 1 :]) if given_back else 0
                    if later:
                        step = Step(meaning.path, Span(*function.span(at)), "the states are given back here")
                        yield self._finding(Point(meaning, function, later), step, _UNDONE)
                        return

    def _seeding(self, slices: Slices, point: Point, streams: Collection[str], behind: Sequence[int]) -> int:
        """The last of the calls behind one that give a stream a seed, before the first that trains; 0 for none, or if none does."""
        function, found = point.function, 0
        for at in behind:
            later = Point(point.meaning, function, at)
            if self._trains(later):
                return found
            if self._seeded(slices, later, self._restores):
                found = 0
            elif _is_behind(function, point.at, at) and not self._seeded(slices, later, None).isdisjoint(streams):
                found = at
        return 0

    def _trains(self, point: Point, depth: int = 0) -> bool:
        """Whether a call trains, or what it calls."""
        if point.function.called(point.at) in self._training:
            return True
        made = self._made(point) if depth < _DEEPEST else None
        return made is not None and any(self._trains(Point(*made, at), depth + 1) for at, _ in made[1].each(op.CALL))

    def _made(self, point: Point) -> tuple[Meaning, Function] | None:
        """The function of the program that a call calls."""
        return self._users.meanings.definition(point.called)

    def _seeded(self, slices: Slices, point: Point, by: Collection[str] | None, depth: int = 0) -> set[str]:
        """The streams that a call seeds, or what it calls, whatever the run does.

        Args:
            by: the functions that count, of those which give back what a checkpoint has; None for all that take a seed.
        """
        name = self._catalog.canonical(point.called)
        entries = [self._catalog.entries[number] for number in self._catalog.calls.get(name, ())]
        streams = {stream for entry in entries for stream in entry.seeds if by is not None or entry.seed}
        if by is not None and (name not in by or not self._read_from(slices, point, [*_given(point)])):
            streams = set()
        made = self._made(point) if depth < _DEEPEST else None
        for at, _ in made[1].each(op.CALL) if made is not None else ():
            if made is not None and next(made[1].blocks(at), None) is None:
                streams |= self._seeded(slices, Point(*made, at), by, depth + 1)
        return streams

    def _finding(self, point: Point, step: Step, message: str, certainty: Certainty = "certain") -> Finding:
        rule = self._catalog.rules[CODE]
        settings = self._matcher.settings
        own = "error" if settings.profile == ALIGN else ""  # a run with a break is no run to compare
        found = level(case_of(rule, settings, own, certainty, in_test=is_test(point.meaning.path)))
        span = Span(*point.function.span(point.at))
        return Finding(
            point.meaning.path,
            span,
            rule.code,
            rule.name,
            found.severity,
            message or rule.message,
            rule.remedy,
            certainty=found.certainty,
            steps=(step,),
        )


def _given(point: Point) -> Iterable[int]:
    return point.function.call(point.at).values()


def _last_name(point: Point, place: int) -> str:
    """What is known of the last name of the path that a call is handed at a place, or by a name."""
    value = point.function.call(point.at).argument(place, *_PATHS)
    return last_name(point.meaning, point.function, value) if value >= 0 else ""


def _is_beside(one: Point, other: Point) -> bool:
    """Whether a call stands in the same block as another one."""
    return one.function is other.function and one.function.flow.blocks[one.at] == other.function.flow.blocks[other.at]


def _is_behind(function: Function, one: int, other: int) -> bool:
    """Whether a call comes once after another one has: not in a loop of its own, and not where that one didn't come."""
    around = {*function.blocks(one)}
    if any(function.ops[mark][0] in (op.FOR, op.WHILE) for mark in function.blocks(other) if mark not in around):
        return False
    passed = {guard.test: guard.holds for guard in function.guards(one)}
    return all(passed.get(guard.test, guard.holds) == guard.holds for guard in function.guards(other))
