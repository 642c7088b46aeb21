"""DET204: a network of PyTorch that draws where it is applied.

A run loads weights into it and calls it while it still trains, or trains it and evaluates it so; or dropout isn't told whether it trains,
so that evaluation doesn't switch it off. What it may assume: a call of `eval` or `train` anywhere in live code of the run, of an object of
which nothing is known, is that of its network. What a library loads by itself (`from_pretrained`) it switches itself. A function that takes
gradients, too, evaluates nothing: what it calls without them are targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import case_of, level
from detlint.domains.known import Domains
from detlint.domains.matching.contexts import in_context
from detlint.domains.matching.record import Match
from detlint.domains.modes import METHODS, Modes, Network
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.liveness import Piece, Program, Reason
from detlint.model.places import call_of, place_within
from detlint.model.runs.reach import TRAINING, Effect, Place, Reach, follows_mode
from detlint.model.sites.records import Ref, Result, options
from detlint.model.tests import is_test

CODE: Final = "DET204"
_STREAM: Final = "torch"
_SWITCHES: Final = "switches-mode"
_BY_LIBRARY: Final = "from_pretrained"
_HERE: Final = "this draws while the network trains, and networks train until they are told otherwise"
_NO_GRAD: Final = "no-grad"
_BACKWARD: Final = "backward"
_IN_TRAINING: Final = (
    "this takes no gradients, but nothing switches the network to evaluation: its dropout draws here, too"
)
_SWITCH: Final = "Call `model.eval()` before, and `model.train()` before training goes on."
_UNTOLD: Final = "`{api}` isn't told whether the network trains: it draws in evaluation, too"
_TELL: Final = (
    "Pass `training=self.training`, or make a layer of it in the constructor, which `eval()` then switches off."
)


class EvaluationRules:
    """Judges the networks of runs.

    Args:
        live: gives the code that is live in a run.
    """

    def __init__(self, domains: Domains, program: Program, live: Callable[[Reach], Mapping[Piece, Reason]]) -> None:
        self._matcher, self._live = domains.matcher, live
        self._constants, self._modes = domains.own_constants, Modes(domains.matcher, program)
        self._no_grad = self._matcher.catalog.with_context(_NO_GRAD)

    def findings(self, reach: Reach) -> Iterator[Finding]:
        """What is told of one run."""
        if not reach.stops:
            yield from self._left_in_training(reach)
            yield from self._evaluated_in_training(reach)
            yield from self._never_switched_off(reach)

    def _left_in_training(self, reach: Reach) -> Iterator[Finding]:
        """The first network that gets its weights and is called, of a run that trains nothing and never switches it."""
        if reach.trains or not reach.loads:
            return
        loading = [place for place, match in in_context("loads-weights", reach, self._matcher) if _loads(match)]
        if not loading or self._drawing(reach, "") is None or self._is_switched_by_others(reach):
            return
        switched = [*self._modes.switched(self._live(reach))]
        reach.visited.update(self._modes.files(one.kind for one in switched if one.kind))
        for loads in loading:
            network = self._network(loads) if switched else Network("")
            apart = network is not None and all(self._modes.are_apart(one, network) for one in switched)
            drawing = self._drawing(reach, network.kind) if network is not None and apart else None
            if drawing is not None:
                seeded = any(_STREAM in seeding.streams for seeding in reach.seedings)
                yield self._finding(loads, drawing, "note" if seeded else "", "", "")
                return

    def _evaluated_in_training(self, reach: Reach) -> Iterator[Finding]:
        """The first call without gradients of a network that draws, in a run that trains and switches none to evaluation."""
        called = [place for place in reach.places if place in reach.applied and self._takes_no_gradients(place)]
        if not reach.trains or not called or self._is_switched_by_others(reach):
            return
        drawing = {place: self._drawing(reach, reach.applied[place]) for place in called}
        if not any(drawing.values()) or any(self._modes.switched(self._live(reach), evaluating=True)):
            return
        place, drawn = next((place, drawn) for place, drawn in drawing.items() if drawn is not None)
        yield self._finding(place, drawn, "", _IN_TRAINING, _SWITCH)

    def _takes_no_gradients(self, place: Place) -> bool:
        """Whether a call takes no gradients, and stands in a function that takes none."""
        site = place.module.sites[place.site]
        point = place_within(self._matcher.resolver, place.module, site)
        if point is None or not (self._matcher.is_under(place.module, site, _NO_GRAD) or self._is_decorated(place)):
            return False
        function = point.function
        return not any(function.strings[operation[2]] == _BACKWARD for _, operation in function.each(op.ATTR))

    def _is_decorated(self, place: Place) -> bool:
        """Whether a call stands in a function whose decorator says that it takes no gradients."""
        module, resolver = place.module, self._matcher.resolver
        around = module.function_of(module.sites[place.site])
        decorators = (resolver.normal(module.path, one) for one in module.detail(around).decorators if around.number)
        named = (one.of if isinstance(one, Result) else one for one in decorators)
        return any(isinstance(one, Ref) and one.name in self._no_grad for one in named)

    def _never_switched_off(self, reach: Reach) -> Iterator[Finding]:
        """What draws in a forward pass that isn't told whether it trains, of networks that the run evaluates."""
        untold = [
            (place, match, owner) for place, match in self._drawn(reach) if (owner := self._untold(reach, place, match))
        ]
        if not untold:
            return
        evaluated = [*self._modes.switched(self._live(reach), evaluating=True)]
        if self._is_switched_by_others(reach):
            evaluated.append(Network(""))
        wholes = self._wholes(reach)
        reach.visited.update(self._modes.files([*wholes, *(one.kind for one in evaluated if one.kind)]))
        for place, match, owner in untold:
            if any(self._is_of(one, owner, wholes) for one in evaluated):
                rule, path = self._matcher.catalog.rules[CODE], place.module.path
                case = case_of(rule, self._matcher.settings, certainty="likely", in_test=is_test(path))
                yield Finding(
                    path,
                    place.module.sites[place.site].span,
                    CODE,
                    rule.name,
                    level(case).severity,
                    _UNTOLD.format(api=match.name),
                    _TELL,
                )

    def _is_of(self, network: Network, owner: str, wholes: Sequence[str]) -> bool:
        """Whether a network is surely made of objects of a class; one of which nothing is known, if all are that the run has."""
        kinds = [network.kind] if network.kind else wholes
        return bool(kinds) and all(self._modes.holds(kind, owner) for kind in kinds)

    def _wholes(self, reach: Reach) -> list[str]:
        """The networks that a run builds which are no parts of others."""
        layers = [name for name in sorted(reach.built) if self._matcher.resolver.kinds.layer(name) is not None]
        return [one for one in layers if not any(o != one and self._modes.holds(o, one) for o in layers)]

    def _is_switched_by_others(self, reach: Reach) -> bool:
        """Whether a library switches, or evaluates, what it is handed."""
        found = in_context(_SWITCHES, reach, self._matcher)
        return any(not match.name.startswith(METHODS) for _, match in found)

    def _network(self, loads: Place) -> Network | None:
        """The network that a call loads weights into; None where it is somebody else's."""
        point = call_of(self._matcher.resolver, loads.module, loads.module.sites[loads.site])
        base = point.function.called_on(point.at) if point is not None else -1
        if point is None or base < 0:
            return Network("")
        return self._modes.network(Piece(loads.module.path, point.function.number), base)

    def _drawn(self, reach: Reach) -> Iterator[tuple[Place, Match]]:
        """The sites of a run that draw from the stream of PyTorch."""
        matches = (
            (place, match) for place in reach.places for match in self._matcher.matches(place.module, place.site)
        )
        return ((place, match) for place, match in matches if _STREAM in match.entry.draws)

    def _drawing(self, reach: Reach, kind: str) -> Place | None:
        """The first site of a layer that draws while it trains, and that the run calls.

        Args:
            kind: the class of the network that is made of it; "" for any.
        """
        for place, match in self._drawn(reach):
            owner = self._owner(reach, place) if follows_mode(match) else ""
            of_kind = owner and (not kind or self._modes.holds(kind, owner))
            if of_kind and not self._constants.rule_out(place.module, place.site, match):
                return place
        return None

    def _owner(self, reach: Reach, place: Place) -> str:
        """The layer that a site stands in, if the run calls its forward pass; "" for none."""
        module, resolver = place.module, self._matcher.resolver
        around = module.function_of(module.sites[place.site])
        name = f"{module.path}::{around.owner}"
        layer = resolver.kinds.layer(name) if around.owner else None
        if layer is None:
            return ""
        forward = resolver.classes.attribute(name, layer.forward)
        called = (resolver.function(value) for value in options(forward) if isinstance(value, Ref))
        followed = any(found is not None and (found[0].path, found[1].number) in reach.followed for found in called)
        return name if followed else ""

    def _untold(self, reach: Reach, place: Place, match: Match) -> str:
        """The layer in which dropout isn't told whether it trains: a function that goes by its default, or a layer that is made where it
        is called; "" where it is."""
        if match.entry.rule != "DET201":
            return ""
        given = match.arguments.get(TRAINING)
        by_default = not match.builds and given is not None and given.given is False
        point = call_of(self._matcher.resolver, place.module, place.module.sites[place.site])
        if point is None or not (by_default or (match.builds and _is_called(*point))) or _only_trains(*point):
            return ""
        return self._owner(reach, place)

    def _finding(self, at: Place, drawing: Place, own: str, message: str, remedy: str) -> Finding:
        rule = self._matcher.catalog.rules[CODE]
        path, span = at.module.path, at.module.sites[at.site].span
        case = case_of(rule, self._matcher.settings, own, "likely", in_test=is_test(path))
        step = Step(drawing.module.path, drawing.module.sites[drawing.site].span, _HERE)
        severity = level(case).severity
        return Finding(
            path, span, CODE, rule.name, severity, message or rule.message, remedy or rule.remedy, steps=(step,)
        )


def _loads(match: Effect) -> bool:
    return "loads-weights" in match.entry.contexts and not match.name.endswith(_BY_LIBRARY)


def _only_trains(function: Function, at: int) -> bool:
    """Whether an op is only come to while the layer around it trains; of a method, where its class calls it."""
    around = function.parent
    methods = function.code.children.get(around.number, ()) if around is not None and around.is_class else ()
    calls = [
        (method, call)
        for method in map(function.code.function, methods)
        for call, _ in method.each(op.CALL)
        if method.own(method.ops[call][1]) == function.name
    ]
    return _asks(function, at) or (bool(calls) and all(_asks(*call) for call in calls))


def _asks(function: Function, at: int) -> bool:
    """Whether a function only comes to an op while the layer trains, by its own tests."""
    return any(holds and _is_mode(function, test) for test, holds in function.held(at))


def _is_mode(function: Function, test: int) -> bool:
    """Whether a test asks whether the layer trains: `self.training`, or a parameter of that name."""
    return function.own(test) == TRAINING or (function.parameter(test) >= 0 and function.dotted(test) == TRAINING)


def _is_called(function: Function, made: int) -> bool:
    """Whether a layer that a call makes is only called, at once or by a name of the function."""
    values = [made]
    for value in values:
        for use in function.users[value]:
            operation = function.ops[use.op]
            if operation[0] == op.STORE and operation[1] not in function.shared:
                values += (load for load in function.loads.get(use.op, ()) if load not in values)
            elif operation[0] != op.CALL or use.place != 1:
                return False
    return len(values) > 1 or bool(function.users[made])
