"""Switches that are put off and on again before anything computes: that changes nothing.

What it may assume: a run passes all that matters in its functions; built-in functions compute no tensors.
"""

from __future__ import annotations

from detlint.catalog import Scalar
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.ir import ops as op
from detlint.model.places import point_of
from detlint.model.runs.reach import Place, Reach
from detlint.model.sites.records import Const, Ref


def switched_again(reach: Reach, matcher: Matcher) -> set[Place]:
    """Where a run switches something off that it switches on again before anything computes."""
    found, off = set[Place](), dict[str, Place]()
    before: Place | None = None
    for place in reach.places:
        matches = matcher.matches(place.module, place.site)
        sets = [(name, _given(match, value)) for match in matches for name, value in match.entry.sets.items()]
        if off and (_computes(place, matcher) or (before and _computes_between(before, place, matcher))):
            off.clear()
        for name, value in sets:
            if value is False:
                off[name] = place
            elif value and name in off:
                found.add(off.pop(name))
        before = place
    return found


def _given(match: Match, value: Scalar) -> object:
    """What a switch is set to; None where that isn't known."""
    if not isinstance(value, str) or not value.startswith("="):
        return value
    argument = match.argument(value.removeprefix("="))
    return argument.value.value if argument is not None and isinstance(argument.value, Const) else None


def _computes(place: Place, matcher: Matcher) -> bool:
    """Whether a call does more than to set switches and seeds: one of an object that isn't known may. What a function of the program does
    is passed, too."""
    matches = matcher.matches(place.module, place.site)
    if not matches and place.module.sites[place.site].kind == "call":
        return not isinstance(matcher.target(place.module, place.site), Ref)
    return any(match.entry.draws or match.entry.contexts or match.entry.rule.startswith("DET4") for match in matches)


def _computes_between(one: Place, other: Place, matcher: Matcher) -> bool:
    """Whether something stands between two places of one function that may compute: a call of anything but a built-in function that the
    catalog doesn't know, or a product."""
    points = [point_of(matcher.resolver, place.module, place.module.sites[place.site]) for place in (one, other)]
    first, last = points
    if first is None or last is None or one.module is not other.module or first.function.number != last.function.number:
        return False
    function = first.function
    known = {place.module.sites[place.site].span.place for place in (one, other)}
    for at, operation in function.each(op.CALL, op.BINARY):
        if first.at < at < last.at and function.spans[at] not in known:
            if operation[0] == op.BINARY and function.strings[operation[1]] == "@":
                return True
            callee = function.ops[operation[1]] if operation[0] == op.CALL else (op.END,)
            if operation[0] == op.CALL and not (callee[0] == op.LOAD and function.names[callee[1]].slot < 0):
                return True
    return False
