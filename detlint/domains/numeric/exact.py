"""What comes out the same in any order since only whole numbers are added up: shapes and lengths, counters, masks, ones; or
since no more than two numbers are, or one alone, or all but one of them are zeros; or since each comes to a place of its own.

Means of whole numbers are none of these: where they are told, each number is divided before they are added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from detlint.catalog import Entry
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.domains.numeric.numbers import Made, Numbers, first
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.places import Place
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.readers import Readers
from detlint.model.sites.records import Member
from detlint.model.uses import Callers, Use

SUMS: Final = "whole"
"""Entries that except tensors of such a type add up, or multiply."""
ALONG_AXIS: Final = "along-axis"
"""Entries in this context add up, or multiply, along the axis that they are told after the tensor."""
LOOKS_UP: Final = "looks-up"
"""Entries in this context give rows of a table: their backward pass adds up the gradients of one that was asked for again and again."""
_ALONE: Final = frozenset({"self", "input", "tensor"})
"""What a sum is of, as the parameter of an entry; others are added to it."""


class Exact:
    """Finds sums and products of whole numbers."""

    def __init__(self, matcher: Matcher, attributes: Readers, callers: Callers) -> None:
        self.matcher = matcher
        self._attributes = attributes
        self._callers = callers
        self._asked: set[str] = set()
        """The layers of whose results that is being found out, and the parameters."""

    def holds(self, module: Module, index: int, match: Match) -> bool:
        """Whether all that a call, or the object that it makes, adds up surely is whole numbers, or only two."""
        site = module.sites[index]
        whole = any(asked.not_type == SUMS for asked in match.entry.when.values())
        along, looks = ALONG_AXIS in match.entry.contexts, LOOKS_UP in match.entry.contexts and match.builds
        if not (whole or along or looks):
            return False
        point = self._call_of(module, index)
        if point is None:
            return False
        function, call = point
        numbers = self.numbers(module, function)
        part = numbers.part(call) if match.builds else ""
        if looks:
            asked = self._calls_of_part(module, numbers.layer, function, part) if part else None
            return _look_up_once([(numbers, made) for made in numbers.calls_of(call)] if asked is None else asked)
        if match.builds:
            if part:
                return _adds_one(match.entry) and self._adds_as_part(module, numbers.layer, function, part)
            calls = numbers.calls_of(call)
            return bool(calls) and all(
                (whole and numbers.is_whole(first(function, made)))
                or (along and numbers.are_two(made, first(function, made), 1))
                for made in calls
            )
        callee = function.ops[function.ops[call][1]]
        of_tensor = isinstance(site.target, Member) and callee[0] == op.ATTR
        added = callee[1] if of_tensor else first(function, call)
        if along and (numbers.is_scalar(added) or numbers.are_two(call, added, 0 if of_tensor else 1)):
            return True
        if any(numbers.is_whole(given) for given in self._put_in(match, function, call)):
            return True
        one = _adds_one(match.entry)
        return whole and (numbers.is_whole(added, floats=one) or (one and numbers.are_lone(call, added, of_tensor)))

    def _put_in(self, match: Match, function: Function, call: int) -> Iterator[int]:
        """What a call adds to the numbers of a tensor, in their places: `total.scatter_add_(0, places, numbers)`."""
        names = [name for name, _ in self.matcher.catalog.signatures.get(match.name, ())]
        for word, asked in match.entry.when.items():
            if asked.not_type == SUMS and word not in _ALONE and word in names:
                yield function.call(call).argument(names.index(word), word)

    def numbers(self, module: Module, function: Function) -> Numbers:
        """What is whole in a function."""
        return Numbers(self, self.matcher, module, function)

    def _call_of(self, module: Module, index: int) -> Place | None:
        """The call of a site; None for any other."""
        site = module.sites[index]
        return call_of(self.matcher.resolver, module, site) if site.kind == "call" else None

    def adds(self, name: str) -> bool:
        """Whether what the catalog knows by a name gives the sum of one tensor."""
        catalog = self.matcher.catalog
        return any(_adds_one(catalog.entries[number]) for number in catalog.calls.get(name, ()))

    def is_set_by_others(self, module: Module, layer: str, attribute: str) -> bool:
        """Whether anything but a layer itself may set an attribute of it."""
        return self._attributes.is_set_by_others(module, layer, attribute)

    def gives_whole(self, module: Module, name: str) -> bool:
        """Whether a layer of a file only ever gives whole numbers."""
        framework = self.matcher.resolver.kinds.layer(f"{module.path}::{name}") if name in module.classes else None
        code = self.matcher.resolver.code(module.path) if framework is not None else None
        bodies = code.by_name.get(f"{name}.{framework.forward}", ()) if code is not None and framework else ()
        if len(bodies) != 1 or name in self._asked:
            return False
        self._asked.add(name)
        numbers, forward = self.numbers(module, bodies[0]), bodies[0]
        given = [operation[1] for _, operation in forward.each(op.RETURN)]
        found = all(numbers.is_whole(value) for value in given)
        self._asked.discard(name)
        return found and bool(given)

    def is_given(self, module: Module, name: str, parameter: str, floats: bool) -> bool:
        """Whether all calls of a function, in any file, give a parameter of it tensors of whole numbers."""
        key = f"{module.path}::{name}({parameter})"
        own = module.detail(module.functions[name]) if name in module.functions else None
        if own is None or own.decorators or key in self._asked:
            return False
        position = next((n for n, known in enumerate(own.parameters) if known.name == parameter), None)
        uses = self._callers(module, name)
        if not uses or position is None:
            return False
        self._asked.add(key)
        found = all(self._gives(use, position, parameter, floats) for use in uses)
        self._asked.discard(key)
        return found

    def _gives(self, use: Use, position: int, parameter: str, floats: bool) -> bool:
        """Whether one use of a function is a call that gives a parameter of it whole numbers."""
        point = self._call_of(use.module, use.site) if use.called and use.site >= 0 else None
        if point is None:
            return False
        function, given = point.function, point.function.call(point.at).argument(position, parameter)
        return not function.unpacks(point.at) and self.numbers(use.module, function).is_whole(given, floats=floats)

    def _adds_as_part(self, module: Module, layer: str, function: Function, part: str) -> bool:
        """Whether all that a part of a layer adds up, wherever it is called, is whole numbers."""
        calls = self._calls_of_part(module, layer, function, part)
        return bool(calls) and all(
            numbers.is_whole(first(numbers.function, call)) or numbers.are_lone(call, first(numbers.function, call))
            for numbers, call in calls
        )

    def _calls_of_part(self, module: Module, layer: str, function: Function, part: str) -> list[Made]:
        """The calls of a part of a layer, each with what is known where it stands; none where it may be called elsewhere too."""
        found = list[Made]()
        body = function.code.by_name[layer][0]
        for method in function.code.inside(body.number):
            for at, _ in method.each(op.ATTR):
                if method.own(at) == part:
                    if any(method.ops[use.op][0] != op.CALL or use.place != 1 for use in method.users[at]):
                        return []
                    numbers = self.numbers(module, method)
                    found += [(numbers, use.op) for use in method.users[at]]
        return found if not self._attributes.is_read_by_family(module, layer, part) else []


def _adds_one(entry: Entry) -> bool:
    """Whether what an entry is about adds up one tensor, and nothing to it."""
    added = {parameter for parameter, asked in entry.when.items() if asked.not_type == SUMS}
    return bool(added) and added <= _ALONE


def _look_up_once(calls: Sequence[Made]) -> bool:
    """Whether a table is only asked for positions, each of them once."""
    return len(calls) == 1 and all(
        numbers.is_made_once(call) and numbers.are_apart(first(numbers.function, call)) for numbers, call in calls
    )
