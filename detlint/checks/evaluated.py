"""DET204: a network of PyTorch that a run loads weights into and calls while it still trains: its dropout draws.

What it may assume: a call of `eval` or `train` anywhere in live code of the run, of whatever object that isn't a library's, is that of
its network. What a library loads by itself (`from_pretrained`) it switches itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import case_of, level
from detlint.checks.match import Match, Matcher
from detlint.checks.switches import with_context
from detlint.checks.tests import is_test
from detlint.facts.model import Ref, options
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.liveness import Piece, Program, Reason
from detlint.model.meaning import Meaning
from detlint.program.reach import Effect, Place, Reach, follows_mode

CODE: Final = "DET204"
_STREAM: Final = "torch"
_METHODS: Final = "torch.nn.Module."
_FRAMEWORK: Final = "torch."
"""What it makes holds networks of the program: `nn.DataParallel(net)`."""
_SWITCHES: Final = "switches-mode"
_BY_LIBRARY: Final = "from_pretrained"
_HERE: Final = "this draws while the network trains, and networks train until they are told otherwise"


class EvaluationRules:
    """Judges the networks of runs that train nothing.

    Args:
        live: gives the code that is live in a run.
    """

    def __init__(self, matcher: Matcher, program: Program, live: Callable[[Reach], Mapping[Piece, Reason]]) -> None:
        self._matcher, self._program, self._live = matcher, program, live
        names = matcher.catalog.with_context("evaluates") | matcher.catalog.with_context(_SWITCHES)
        self._words = {name.rpartition(".")[2] for name in names if name.startswith(_METHODS)}

    def findings(self, reach: Reach) -> Iterator[Finding]:
        """What is told of one run: once."""
        if reach.trains or reach.stops or not reach.loads:
            return
        loading = (place for place, match in with_context("loads-weights", reach, self._matcher) if _loads(match))
        loads, drawing = next(loading, None), self._drawing(reach)
        if loads is None or drawing is None or with_context(_SWITCHES, reach, self._matcher):
            return
        if any(map(self._switches, self._live(reach))):
            return
        yield self._finding(reach, loads, drawing)

    def _drawing(self, reach: Reach) -> Place | None:
        """The first site of a layer that draws while it trains, and that the run calls."""
        matches = (
            (place, match) for place in reach.places for match in self._matcher.matches(place.module, place.site)
        )
        return next((place for place, match in matches if self._draws(reach, place, match)), None)

    def _draws(self, reach: Reach, place: Place, match: Match) -> bool:
        """Whether a site is of a layer that draws while it trains, and that the run calls."""
        if _STREAM not in match.entry.draws or not follows_mode(match):
            return False
        module, resolver = place.module, self._matcher.resolver
        around = module.function_of(module.sites[place.site])
        name = f"{module.path}::{around.owner}"
        layer = resolver.kinds.layer(name) if around.owner else None
        if layer is None:
            return False
        forward = resolver.classes.attribute(name, layer.forward)
        called = (resolver.function(value) for value in options(forward) if isinstance(value, Ref))
        return any(found is not None and (found[0].path, found[1].number) in reach.followed for found in called)

    def _switches(self, piece: Piece) -> bool:
        """Whether a piece of code switches the mode of something that is no library's."""
        meaning, function = self._program.meaning(piece.path), self._program.function(piece)
        if meaning is None or function is None:
            return False
        named = (o[1] for _, o in function.each(op.ATTR) if function.strings[o[2]] in self._words)
        makers = (meaning.kind(function, value) or _maker(meaning, function, value) for value in named)
        return any(not maker or "::" in maker or maker.startswith(_FRAMEWORK) for maker in makers)

    def _finding(self, reach: Reach, loads: Place, drawing: Place) -> Finding:
        rule = self._matcher.catalog.rules[CODE]
        seeded = any(_STREAM in seeding.streams for seeding in reach.seedings)
        path, span = loads.module.path, loads.module.sites[loads.site].span
        case = case_of(rule, self._matcher.settings, "note" if seeded else "", "likely", in_test=is_test(path))
        found = level(case)
        step = Step(drawing.module.path, drawing.module.sites[drawing.site].span, _HERE)
        return Finding(path, span, CODE, rule.name, found.severity, rule.message, rule.remedy, steps=(step,))


def _loads(match: Effect) -> bool:
    return "loads-weights" in match.entry.contexts and not match.name.endswith(_BY_LIBRARY)


def _maker(meaning: Meaning, function: Function, value: int) -> str:
    """The full name of a value, or of what gives it, where a call does; "" where it has none."""
    operation = function.ops[value]
    return meaning.name(function, operation[1] if operation[0] == op.CALL else value)
