"""What code draws that is live in a run though no call which can be followed leads there: it belongs to the run, as likely.

What it may assume: what liveness does. A stream that anything of the run seeds, or that its live code seeds, counts as seeded; only
functions that draw by themselves count, and the initial weights of layers where a run may train and loads none; not what draws when
it is used. Where a seeded run of
PyTorch has loaders with workers, such code runs in these, which seed Python's and NumPy's streams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from detlint.checks.finding import Step
from detlint.checks.library import draws_by_itself, matters_little
from detlint.domains.matching.contexts import in_context
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.model.liveness import Followed, Piece, Program, Reason, live, way_to
from detlint.model.module import Module
from detlint.model.runs.reach import HOST, Draws, Place, Reach
from detlint.model.sites.records import Span, plain
from detlint.model.tests import is_test

_NEAR: Final = 2
_IN_DEPTH: Final = 6
"""So many references are gone through from what was followed; more in a run that may train, and of which nothing is known that it draws
or seeds."""


class LiveDraw(NamedTuple):
    """The draws of a stream, with the references that lead to the first."""

    draws: Draws
    way: tuple[Step, ...]


class _Draws(NamedTuple):
    """What is drawn in a file, by stream."""

    drawn: dict[str, list[Place]]
    """By functions that draw by themselves."""
    weights: dict[str, list[Place]]
    """As the initial weights of layers."""
    seeded: frozenset[str]
    """The streams that something in it seeds."""


class LiveDraws:
    """Finds them, run by run.

    Args:
        may_train: whether a run trains, as far as it is followed or its file says.
    """

    def __init__(self, matcher: Matcher, program: Program, may_train: Callable[[Reach], bool]) -> None:
        self._matcher, self._program, self._may_train = matcher, program, may_train
        catalog = matcher.catalog
        self._streams = [frozenset(rule.streams) for rule in catalog.rules.values() if rule.streams]
        """Of each rule: one that is drawn from, or seeded, speaks for all of them."""
        self._drawing = matcher.telling(catalog.drawing_words)
        self._setting = matcher.telling(catalog.setting_words)
        self._last: tuple[Reach, Mapping[Piece, Reason]] | None = None
        self._known: dict[str, _Draws] = {}

    def of(self, reach: Reach) -> dict[str, LiveDraw]:
        """Streams of which nothing is seeded -> what live code draws from them. What is found counts as passed by the run."""
        shows_shapes = reach.tries or reach.shows or reach.measures  # how large something is, or how long it takes
        if reach.stops or (not reach.trains and (shows_shapes or is_test(reach.entry.module.path))):
            return {}
        known = {*reach.unseeded, *reach.optional, *reach.late}
        seeded = {stream for seeding in reach.seedings for stream in seeding.streams}
        open_ = {stream for streams in self._streams if streams.isdisjoint(known | seeded) for stream in streams}
        if "torch" in seeded and reach.workers and in_context("loader", reach, self._matcher):
            open_ -= HOST
        brief = self._matcher.resolver.brief
        weights = self._builds(reach)
        if not weights and not any(not open_.isdisjoint(brief(path).draws) for path in sorted(reach.files)):
            return {}
        found = self.live(reach)
        paths = sorted({piece.path for piece in found})
        open_ -= {stream for path in paths for stream in self._in(path).seeded}
        drawn = self._drawn(reach, found, paths, open_, weights) if open_ else {}
        return {stream: self._told(reach, places, found) for stream, places in drawn.items()}

    def live(self, reach: Reach) -> Mapping[Piece, Reason]:
        """The pieces of code that are live in a run, as far as following it hasn't told; what is found out rests on their files."""
        if self._last is None or self._last[0] is not reach:
            path = reach.entry.module.path
            self._last = reach, live(self._program, path, self._begins(reach), self._followed(reach))
            reach.visited.update(piece.path for piece in self._last[1])
        return self._last[1]

    def _builds(self, reach: Reach) -> bool:
        """Whether the initial weights of layers that are live in a run count."""
        return not reach.loads and self._may_train(reach)

    def _begins(self, reach: Reach) -> Iterator[str]:
        """The functions that are called where a run, or a process, begins."""
        if reach.entry.function.number:
            yield f"{reach.entry.module.path}::{reach.entry.function.name}"
        if reach.process is not None:
            _, spot, function = reach.process
            yield f"{spot.module.path}::{function}"

    def _followed(self, reach: Reach) -> Followed:
        """What following the run has told of its code; the top levels of files that it imports were followed, too."""
        called = {piece for path, number in reach.followed for piece in self._pieces(path, number)}
        inert = {piece for path, number in reach.inert for piece in self._pieces(path, number)}
        tops = {Piece(path, 0) for path in reach.files}
        unreported = self._builds(reach) and not (reach.seedings or reach.unseeded)
        return Followed(called - inert | tops, called, reach.built, _IN_DEPTH if unreported else _NEAR)

    def _pieces(self, path: str, number: int) -> Iterator[Piece]:
        """The pieces of code that a function of the facts may be."""
        name = self._matcher.resolver.known(path).facts.functions[number].name
        return self._program.pieces(f"{path}::{name}")

    def _drawn(
        self, reach: Reach, found: Mapping[Piece, Reason], paths: Sequence[str], streams: set[str], weights: bool
    ) -> dict[str, list[tuple[Place, Piece]]]:
        """What live code draws from some streams that isn't followed, the nearest first.

        Args:
            weights: whether the initial weights of layers count.
        """
        drawn: dict[str, list[tuple[Place, Piece]]] = {}
        for path in paths:
            known = self._in(path)
            for stream, here in (*known.drawn.items(), *(known.weights.items() if weights else ())):
                for place in here if stream in streams else ():
                    site = place.module.sites[place.site]
                    piece = self._program.around(place.module, site.span)
                    if piece in found and piece.number and (path, site.function) not in reach.followed:
                        drawn.setdefault(stream, []).append((place, piece))
        for places in drawn.values():
            places.sort(key=lambda one: (len(way_to(found, one[1])), one[0].module.path, one[0].site))
        return drawn

    def _told(self, reach: Reach, places: list[tuple[Place, Piece]], found: Mapping[Piece, Reason]) -> LiveDraw:
        first, piece = places[0]
        for place, _ in places:
            reach.passed.add(place.module.path)
            reach.judged.add(place)
        steps = way_to(found, piece)
        following = [*(by for by, _ in steps[1:]), piece]
        way = tuple(self._step(by, at, after) for (by, at), after in zip(steps, following, strict=True))
        draws = Draws(first, (), count=len(places), sure=False, places=[place for place, _ in places])
        return LiveDraw(draws, way)

    def _step(self, piece: Piece, at: int, to: Piece) -> Step:
        """A reference, with what it leads to."""
        function, other = self._program.function(piece), self._program.function(to)
        assert function is not None and other is not None
        said = f"refers to `{plain(other.qualified)}`" if other.qualified else "imports what comes next"
        return Step(piece.path, Span(*function.spans[at]), said)

    def _in(self, path: str) -> _Draws:
        """What is drawn in a file."""
        if path not in self._known:
            module = self._matcher.resolver.module(path)
            known = self._known[path] = _Draws({}, {}, frozenset(self._seeded(module) if module is not None else ()))
            if module is not None:
                for index in self._matcher.suspects(module, self._drawing):
                    for match in self._matcher.matches(module, index):
                        self._note(known, Place(module, index), match)
        return self._known[path]

    def _note(self, known: _Draws, place: Place, match: Match) -> None:
        """Note what a site draws, if it does so by itself, or is of a layer whose initial weights are drawn where it is built."""
        matcher = self._matcher
        plain = match.sure and match.entry.draws and not matters_little(matcher, place.module, place.site)
        if plain and draws_by_itself(match, matcher):
            drawn = known.drawn
        elif plain and not match.entry.rule and matcher.resolver.kinds.layer(match.name) is not None:
            drawn = known.weights
        else:
            return
        for stream in match.entry.draws:
            drawn.setdefault(stream, []).append(place)

    def _seeded(self, module: Module) -> Iterator[str]:
        for index in self._matcher.suspects(module, self._setting):
            for match in self._matcher.matches(module, index):
                yield from match.entry.seeds
