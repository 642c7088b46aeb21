"""DET117: processes that must agree and draw differently. Parameters that are drawn after a seed of each process's own, which nothing
makes agree before their gradients are averaged; and a collective that each process's own draw decides on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Final

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import case_of, level
from detlint.db import Memo
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import is_class
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.meaning import Meaning
from detlint.model.ranks import Ranks
from detlint.model.runs.reach import Place, Reach, Seeding
from detlint.model.sites.records import Span
from detlint.model.slices import Point, of_run, point_at
from detlint.model.tests import is_test
from detlint.model.uses import Users

CODE: Final = "DET117"
_OF_WEIGHTS: Final = frozenset({"torch", "mindspore", "tensorflow", "keras", "paddle"})
"""The streams that initial parameters are drawn from."""
_OF_HOST: Final = frozenset({"python", "numpy", "torch"})
_LOADS: Final = frozenset({"load_state_dict"})


class RankRules:
    """Judges what the processes of a run do."""

    def __init__(self, matcher: Matcher, users: Users) -> None:
        self._matcher, self._users = matcher, users
        self._catalog = matcher.catalog
        self._drawing: Memo[list[tuple[Function, int, dict[str, int]]]] = Memo(users.db)
        """By file."""
        self._words = {
            context: self._catalog.with_context(context)
            for context in ("agrees-weights", "averages", "calls-together", "collective", "rank")
        }

    @cached_property
    def _together(self) -> set[str]:
        """The names by which code says what processes do together, but those that others have as well: `gather`."""
        keys = ("averages", "averages-gradients", "collective", "calls-together")
        names = {name for key in keys for name in self._catalog.with_context(key)}
        others = {name.rpartition(".")[2] for name in self._catalog.calls if name.startswith("torch.Tensor.")} | {
            "reduce",
            "barrier",
        }
        return {name.rpartition(".")[2] for name in names} - others

    @cached_property
    def _meeting(self) -> set[str]:
        """The names of what processes only do together."""
        names = self._words["collective"] | self._words["calls-together"]
        return {name.rpartition(".")[2] for name in names}

    def findings(self, reach: Reach) -> Iterator[Finding]:
        """What is told of one run."""
        if not self._may(reach):
            return
        words = self._together | {name.rpartition(".")[2] for name in self._words["rank"]}
        ranks = Ranks(self._catalog, of_run(self._users, reach.files, reach.entry.module.path, words))
        own = [(seeding, point) for seeding in reach.seedings if (point := self._own_seed(ranks, seeding)) is not None]
        yield from self._parameters(reach, ranks, own)
        yield from self._decided(reach, ranks, own)

    def _may(self, reach: Reach) -> bool:
        """Whether the files of a run have a word of what processes do together."""
        return bool(self._users.index.having(reach.files, frozenset(self._together)))

    def _own_seed(self, ranks: Ranks, seeding: Seeding) -> Point | None:
        """The number of the process that a seed is made of."""
        point = point_at(self._users, seeding.place.module, seeding.place.site)
        if point is None:
            return None
        values = point.function.call(point.at).values()
        return next((found for value in values if (found := ranks.of(point.meaning, point.function, value))), None)

    # -- parameters -------------------------------------------------------------------------------------------------

    def _parameters(self, reach: Reach, ranks: Ranks, own: Sequence[tuple[Seeding, Point]]) -> Iterator[Finding]:
        """Parameters that are drawn after a process's own seed, and stay so."""
        averaged = self._averaged(reach, ranks) if own else None
        if averaged is None or self._agree(ranks):
            return
        # a seeding of the host's streams alone leaves the parameters to the one before
        others = {s.place for s in reach.seedings if _OF_WEIGHTS & {*s.streams}} - {s.place for s, _ in own}
        for seeding, point in own:
            built = self._built(reach, seeding, others) if _OF_WEIGHTS & {*seeding.streams} else None
            if built is None:
                continue
            message = "each process seeds with its own number, draws other parameters than the rest, and nothing makes them agree"
            place = Span(*averaged.function.span(averaged.at))
            steps = (
                Step(built.module.path, built.module.sites[built.site].span, "parameters are drawn here"),
                Step(averaged.meaning.path, place, "their gradients are averaged as if they were the same"),
            )
            yield self._finding(self._told_at(seeding, point), message, steps)
            return

    def _built(self, reach: Reach, seeding: Seeding, others: set[Place]) -> Place | None:
        """The first layer that is built after a seeding, before another one."""
        begins = reach.places.index(seeding.place) + 1 if seeding.place in reach.places else len(reach.places)
        for place in reach.places[begins:]:
            if place in others:
                return None
            matches = self._matcher.matches(place.module, place.site)
            if any(_OF_WEIGHTS & {*match.entry.draws} and is_class(match.name) for match in matches):
                return place
        return None

    def _averaged(self, reach: Reach, ranks: Ranks) -> Point | None:
        """Where gradients are averaged by hand."""
        for name in sorted(self._words["averages"]):
            for point in ranks.slices.named.get(name, ()):
                if self._has_gradients(ranks, point):
                    return point
        for place in reach.places:
            contexts = {c for match in self._matcher.matches(place.module, place.site) for c in match.entry.contexts}
            if "averages-gradients" in contexts:
                return point_at(self._users, place.module, place.site)
        return None

    def _has_gradients(self, ranks: Ranks, point: Point) -> bool:
        """Whether a call is handed gradients."""
        for value in point.function.call(point.at).positional[:1]:
            for part in ranks.slices.parts(point.meaning, point.function, value):
                operation = part.function.ops[part.at]
                if operation[0] == op.ATTR and part.function.strings[operation[2]] == "grad":
                    return True
        return False

    def _agree(self, ranks: Ranks) -> bool:
        """Whether something gives all processes the same parameters: a wrapper, a broadcast, a file."""
        named = ranks.slices.named
        methods = {
            f".{name.rpartition('.')[2]}"
            for name in self._words["agrees-weights"]
            if name.rpartition(".")[0][-1:].isalpha()
        }
        if any(name in self._words["agrees-weights"] or (name in methods and name != ".train") for name in named):
            return True
        for name, points in named.items():
            for point in points:
                given = point.function.call(point.at).named.get("parameter_broadcast", -1)
                if given >= 0 and point.function.constant(given) is not False:
                    return True
                loads = point.function.called(point.at) in _LOADS and not [*point.function.guards(point.at)]
                if loads or (name in self._words["averages"] and self._of_parameters(ranks, point)):
                    return True
        return False

    def _of_parameters(self, ranks: Ranks, point: Point) -> bool:
        """Whether a call adds up parameters themselves, and not their gradients."""
        given = point.function.call(point.at).positional[:1]
        weights = {"data", "parameters", "state_dict", "weight", "bias"}
        parts = [part for value in given for part in ranks.slices.parts(point.meaning, point.function, value)]
        read = {p.function.strings[p.function.ops[p.at][2]] for p in parts if p.function.ops[p.at][0] == op.ATTR}
        return "grad" not in read and not weights.isdisjoint(read)

    # -- collectives ------------------------------------------------------------------------------------------------

    def _decided(self, reach: Reach, ranks: Ranks, own: Sequence[tuple[Seeding, Point]]) -> Iterator[Finding]:
        """Collectives that a draw decides on which isn't the same for all processes."""
        seeded = {stream for seeding, _ in own for stream in seeding.streams}
        meeting = (meaning for meaning in ranks.slices.files.values() if meaning.code.identifiers & self._meeting)
        for meaning in meeting:
            for function, mark, draws in self._drawing.of(meaning.path, partial(self._tests, meaning), []):
                if not self._meet(ranks, meaning, function, mark):
                    continue
                apart = self._drawn_apart(ranks, meaning, function, draws)
                stream = next((s for s in draws if s in seeded), "")
                if apart is not None or stream:
                    at = draws[stream] if stream else next(iter(draws.values()))
                    yield self._unequal(Point(meaning, function, at), apart)

    def _tests(self, meaning: Meaning) -> list[tuple[Function, int, dict[str, int]]]:
        """The tests of a file that a draw decides, by the streams that these draw from."""
        tests = ((one, mark, asked[1]) for one in meaning.code.functions() for mark, asked in one.each(op.IF))
        found = (
            (one, mark, {s: at for at in one.made_of(asked) for s in self._streams(meaning, one, at)})
            for one, mark, asked in tests
        )
        return [test for test in found if test[2]]

    def _unequal(self, point: Point, apart: Point | None) -> Finding:
        message = "each process decides by a draw of its own whether it takes part in a collective, and these draws aren't the same"
        steps: tuple[Step, ...] = ()
        if apart is not None:
            steps = (
                Step(
                    apart.meaning.path,
                    Span(*apart.function.span(apart.at)),
                    "some processes draw here and others don't",
                ),
            )
        return self._finding(point, message, steps)

    def _streams(self, meaning: Meaning, function: Function, at: int) -> set[str]:
        """The global streams that a call draws from."""
        if function.ops[at][0] != op.CALL:
            return set()
        name = self._catalog.canonical(meaning.name(function, function.ops[at][1]))
        entries = (self._catalog.entries[number] for number in self._catalog.calls.get(name, ()))
        return {stream for entry in entries for stream in entry.draws if stream in _OF_HOST}

    def _meet(self, ranks: Ranks, meaning: Meaning, function: Function, mark: int) -> bool:
        """Whether processes have to meet in one arm of a test."""
        for at, _ in function.each(op.CALL):
            if mark < at < function.parts[mark][-1]:
                callee = function.ops[at][1]
                if self._catalog.canonical(meaning.name(function, callee)) in self._words["collective"]:
                    return True
                called = ranks.slices.same(meaning, function, callee)
                if any(self._catalog.canonical(made.called) in self._words["calls-together"] for made in called):
                    return True
        return False

    def _drawn_apart(self, ranks: Ranks, meaning: Meaning, function: Function, draws: dict[str, int]) -> Point | None:
        """A draw from one of the streams that only some processes come to: a test of their own data leads there."""
        for at, _ in function.each(op.CALL):
            if at in draws.values() or self._streams(meaning, function, at).isdisjoint(draws):
                continue
            if any(ranks.of(meaning, function, guard.test, shares=True) is not None for guard in function.guards(at)):
                return Point(meaning, function, at)
        return None

    # -- findings ---------------------------------------------------------------------------------------------------

    def _told_at(self, seeding: Seeding, rank: Point) -> Point:
        """The call that the number of the process is handed to, on its way to a seeding."""
        seeds = point_at(self._users, seeding.place.module, seeding.place.site)
        if seeds is not None and seeds.function is rank.function:
            return seeds
        for at, _ in rank.function.each(op.CALL):
            call = rank.function.call(at)
            if "::" in rank.meaning.name(rank.function, call.callee) and any(
                rank.at in rank.function.made_of(value) for value in call.values()
            ):
                return Point(rank.meaning, rank.function, at)
        return seeds or rank

    def _finding(self, point: Point, message: str, steps: tuple[Step, ...]) -> Finding:
        rule = self._catalog.rules[CODE]
        found = level(case_of(rule, self._matcher.settings, in_test=is_test(point.meaning.path)))
        span = Span(*point.function.span(point.at))
        return Finding(
            point.meaning.path, span, rule.code, rule.name, found.severity, message, rule.remedy, steps=steps
        )
