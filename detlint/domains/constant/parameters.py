"""What parameters always are: where every call of the program gives one the same constant, conditions and branches that ask
for it have one answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from detlint.catalog import OPEN_SEED, SHUFFLED
from detlint.domains.constant.always import DEEPEST, Always
from detlint.domains.constant.calls_in_sight import is_named
from detlint.domains.constant.evaluator import (
    Evaluator,
    is_known,
    may_grow,
    parameters_in,
    resolved,
    settle,
)
from detlint.domains.matching.match import OPERATORS
from detlint.domains.matching.record import Match
from detlint.ir import ops as op
from detlint.ir.places import Test, named
from detlint.ir.written import written
from detlint.model.arguments import Argument
from detlint.model.module import Module
from detlint.model.parts import calls_of_parts
from detlint.model.places import LOCALS, call_of
from detlint.model.runs.calls import left_out
from detlint.model.runs.values import is_parsed, root_of
from detlint.model.sites.records import (
    Const,
    Either,
    Expression,
    Function,
    Items,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Value,
    options,
)
from detlint.model.uses import Use

_CHOSEN_FROM: Final = ("seq", "population", "a")
"""What functions call the parameter from which they choose."""


class Constants(Always):
    """Finds what parameters always are, over all calls of the program.

    Args:
        domains: what else is known of the program.
        offered: whether what a library gives to whoever uses it may be called by others too.
        configured: knows what all files of settings have; None where these don't count.
    """

    def rule_out(self, module: Module, index: int, match: Match) -> str:
        """Why a match never holds, by what the calls of the function around it always give; "" where it may hold."""
        function = module.function_of(module.sites[index])
        if (default := self._default_of(module, index)) and self._is_always_given(module, *default):
            return f"every call gives `{default[1]}`, so that its default is never used"
        if not function.name:
            return self._harmless(module, function, index, match)
        if reason := self._kept_from(module, function, index):
            return reason
        for option in options(module.sites[index].target):
            name = left_out(module, function, option)
            if name and self._is_given_otherwise(module, function, name):
                return f"every call gives `{name}`, and something else"
        if match.builds and (test := self._never_run(module, function, index)):
            return f"`{test}` decides against all calls of it, by what every call gives"
        taking = self._unpacked_tables.taking(module, index) if not match.sure else None
        calls = self._calls(module, taking) if taking is not None and taking.name else None
        if calls and self._unpacked_tables.never_holds(module, index, match, calls):
            return "every call gives a table that makes it harmless"
        return self._harmless(module, function, index, match)

    def _harmless(self, module: Module, function: Function, index: int, match: Match) -> str:
        """Why a match never holds, by the values that a site surely passes; "" where it may."""
        for parameter in match.entry.when if module.sites[index].kind in ("call", "partial") else ():
            passed = match.argument(parameter)
            if passed is None or not passed.given or isinstance(passed.value, Const):
                continue
            written = self._matcher.written(module, index, match, parameter)
            value = self._value(module, function, written) if _is_open(written) else None
            if not isinstance(value, Const):  # the code around may say more of it than what it is made of
                computed = self._computed(module, function, index, match, parameter)
                value = computed if is_known(computed) else value
            if is_known(value):
                ways = ({**way, parameter: Argument(value, True)} for way in match.passed.ways)
                if all(self._matcher.judge.fulfilled(match.entry, way) is False for way in ways):
                    return f"every call gives `{parameter}` what makes it harmless"
        return ""

    def draw_nothing(self, module: Module, index: int) -> bool:
        """Whether nothing is left to chance where a site draws: it chooses from a list of one, by what is written or all calls give."""
        function, attributes = module.function_of(module.sites[index]), set[str]()
        point = call_of(self._resolver, module, module.sites[index])
        target = self._matcher.target(module, index) if point is not None else None
        if point is None or not isinstance(target, Ref) or target.name not in self._choosing:
            return False
        given = point.function.call(point.at).argument(0, *_CHOSEN_FROM)
        leaf = partial(self._leaf, module, function, attributes)
        value = (
            Evaluator(leaf).value(point.function, given)
            if given >= 0 and not point.function.unpacks(point.at)
            else None
        )
        several = [isinstance(option, Items) and len(option.values) == 1 for option in options(value)]
        name = point.function.dotted(given).rpartition(".")[2] if given >= 0 else ""
        return all(several) and (not name or not may_grow(point.function.code, name))

    def handed_on(self, module: Module, index: int) -> Iterator[Match]:
        """What a site is by what some call gives the function around it, and by default isn't: a wrapper that hands `mode` on, or
        `shuffle`, or one that trains the model that it is handed."""
        function = module.function_of(module.sites[index])
        if not function.name:
            return
        for match in (*self._matcher.undecided(module, index, OPERATORS), *self._matcher.shuffles(module, index)):
            if any(self._is_given(module, function, index, match, parameter) for parameter in match.entry.when):
                yield match
        yield from self._of_a_parameter(module, function, index)
        yield from self._unpacked_tables.found(module, index)

    def _is_given(self, module: Module, function: Function, index: int, match: Match, parameter: str) -> bool:
        """Whether a match holds with what some call gives a parameter of the function around it, or of the constructor."""
        written = self._matcher.written(module, index, match, parameter)
        taking, kept = self._matcher.taking(module, function, written)
        return any(
            self._matcher.holds_with(match, {parameter: resolved(kept, partial(_with, name, given))})
            for name in parameters_in(kept)
            for given in self._given_by_some(module, taking, name)
        )

    def _of_a_parameter(self, module: Module, function: Function, index: int) -> Iterator[Match]:
        """How a method shuffles data by the object of a library that some call gives, or that a method of this one gives:
        `model.fit(x, y)`, `data.cache().shuffle(9)`."""
        target = module.sites[index].target
        if not isinstance(target, Member) or target.attr not in self._shuffling or self._matcher.matches(module, index):
            return
        base = root_of(target.base)
        for value in self._given_by_some(module, function, base.name) if isinstance(base, Param) else ():
            method = self._of_value(module, target, value)
            if isinstance(method, Ref) and "::" not in method.name:
                known = self._matcher.matches_as(module, index, method)
                found = [m for m in known if m.entry.rule == SHUFFLED or (m.entry.rule == OPEN_SEED and m.entry.draws)]
                if found:
                    yield from found
                    return

    def _of_value(self, module: Module, value: Value | None, root: Value) -> Value | None:
        """What attributes and results in a file are, in normal form, where what they are of in the end is a value in normal form."""
        if isinstance(value, Member):
            of = self._of_value(module, value.base, root)
            return self._resolver.member(of, value.attr) if of is not None else None
        if isinstance(value, Result):
            of = self._of_value(module, value.of, root)
            site = self._resolver.global_site(module.path, value.site) if value.site >= 0 else value.site
            return Result(of, site) if of is not None else None
        return root

    def _given_by_some(self, module: Module, function: Function, name: str, depth: int = 0) -> Iterator[Value]:
        """What calls of a function give a parameter, or calls of functions that hand theirs on to it."""
        used = function.owner if function.name.endswith(".__init__") else function.name
        for use in self._gradients.uses(module, used) or ():
            if not use.called or use.site < 0:
                continue
            site = use.module.sites[use.site]
            passed = self._passed(site, module, function, name)
            if passed is None or not passed.given:
                continue
            caller = use.module.function_of(site)
            if isinstance(passed.value, Param) and depth < DEEPEST:
                yield from self._given_by_some(use.module, caller, passed.value.name, depth + 1)
            elif (value := settle(self._resolver.normal(use.module.path, passed.value, caller))) is not None:
                yield value
                if isinstance(value, Member) and is_parsed(value.base, self._resolver, use.module.path):
                    yield from self._launched(use.module, value.attr)

    def _kept_from(self, module: Module, function: Function, index: int) -> str:
        """Why the flow never comes to a site of a function; "" where it may."""
        if test := self._ruled_out(module, function, index):
            return f"`{test}` decides against it, by what every call gives"
        out_of_way = partial(self._out_of_way, module, function)
        reason = self._left_out.of((module.path, function.number), out_of_way, "")
        made = self._maker(module, function) if not reason else None
        if made is None:
            return reason
        return self._left_out.of((module.path, made.number), partial(self._out_of_way, module, made), "")

    def _maker(self, module: Module, function: Function) -> Function | None:
        """The constructor without which there is no object that a method could be called on; None where there may be one."""
        made = module.functions.get(f"{function.owner}.__init__") if function.owner else None
        if made is None or made is function or module.detail(function).decorators:
            return None
        if self._families.heirs(module, function.owner) or not self._families.is_only_said_to_call(
            module, function.owner
        ):
            return None
        return made

    def _out_of_way(self, module: Module, function: Function) -> str:
        """Why the flow comes to none of the calls of a function; "" where it may, or where there are none."""
        if not function.name or self._may_be_called_by_base(module, function):
            return ""
        reason, calls = "", self._calls(module, function)
        if calls == [] and function.name.endswith(".__init__") and self._is_found_in_vain(module):
            alone = not (
                self._families.derives_from_others(module, function.owner)
                or self._families.heirs(module, function.owner)
            )
            return "nothing comes to what finds it by its name" if alone else ""
        for use in calls or ():
            reason = self._kept_from(use.module, use.module.function_of(use.module.sites[use.site]), use.site)
            if not reason:
                return ""
        return reason

    def _ruled_out(self, module: Module, function: Function, index: int) -> str:
        """The test on the way to a site that always keeps the flow from it; "" where none surely does."""
        point = self._point(module, index)
        for test in point.tests() if point is not None else ():
            if self._truth(module, function, test) is (not test.wanted):
                return written(test.function, test.value)
        return ""

    def always(self, module: Module, index: int, test: Test) -> bool:
        """Whether a test always holds in the function of a site, by what every call gives."""
        function, point = module.function_of(module.sites[index]), self._point(module, index)
        own = point is not None and named(test.function) is point.around
        return own and self._truth(module, function, test) is test.wanted

    def _never_run(self, module: Module, function: Function, index: int) -> str:
        """The test that always keeps the flow from all calls of the part that a constructor makes; "" where none surely does, or
        where more is done with it."""
        if (
            not function.name.endswith(".__init__")
            or self._resolver.kinds.layer(f"{module.path}::{function.owner}") is None
        ):
            return ""
        test = ""
        for use in calls_of_parts(self._resolver, self._users, [Use(module, index, True)]) or ():
            test = self._ruled_out(use.module, use.module.function_of(use.module.sites[use.site]), use.site)
            if not test:
                return ""
        return test

    def _is_given_otherwise(self, module: Module, function: Function, name: str, depth: int = 0) -> bool:
        """Whether all calls of a function give a parameter, which is None if it is left out, something that surely isn't None."""
        uses = self._calls(module, function) or ()
        for use in uses:
            site = use.module.sites[use.site]
            caller = use.module.function_of(site)
            passed = self._passed(site, module, function, name) if use.called else None
            if passed is None or not passed.given:
                return False
            handed_on = left_out(use.module, caller, passed.value)
            if handed_on and depth < DEEPEST:
                if not self._is_given_otherwise(use.module, caller, handed_on, depth + 1):
                    return False
            elif not isinstance(self._resolver.normal(use.module.path, passed.value, caller), (Ref, Partial)):
                return False
        return bool(uses)

    def _default_of(self, module: Module, index: int) -> tuple[Function, str] | None:
        """The function, and the parameter, whose default a site makes where the function is defined; None for any other site."""
        point = call_of(self._resolver, module, module.sites[index])
        uses = point.function.users[point.at] if point is not None else ()
        if point is None or len(uses) != 1 or point.function.ops[uses[0].op][0] != op.FUNCTION or uses[0].place >= 0:
            return None
        made = point.function.code.function(point.function.ops[uses[0].op][1])
        function = module.functions.get(made.qualified.replace(LOCALS, ""))
        return (function, made.text(-1 - uses[0].place)) if function is not None else None

    def _is_always_given(self, module: Module, function: Function, name: str) -> bool:
        """Whether all calls of a function are seen, and give a parameter something."""
        uses = self._calls(module, function) or ()
        passed = [
            self._passed(use.module.sites[use.site], module, function, name) if use.called else None for use in uses
        ]
        return bool(passed) and all(one is not None and one.given for one in passed)


def _with(name: str, given: Value, value: Value) -> Value:
    """A value where a parameter is given something."""
    return given if is_named(value, name) else value


def _is_open(value: Value | None) -> bool:
    """Whether a value may depend on a parameter."""
    return isinstance(value, (Param, Member, Items, Either, Expression))
