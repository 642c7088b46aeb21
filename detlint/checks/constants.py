"""What parameters always are: where every call of the program gives one the same constant, conditions and branches that ask
for it have one answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import takewhile
from typing import Final, TypeGuard

from detlint.catalog import OPEN_SEED, SHUFFLED
from detlint.checks.factors import is_cancelled
from detlint.checks.gradients import Gradients
from detlint.checks.handing import Handing
from detlint.checks.kin import Kin
from detlint.checks.lookups import respells, text_in
from detlint.checks.match import OPERATORS, Match, Matcher, is_class
from detlint.checks.others import Others, Unseen, may_pass
from detlint.checks.parts import calls_of_parts
from detlint.checks.settled import Settled
from detlint.checks.splats import RUN_LATER, called_later, handed_over, hands_on, keyword, may_say, opened
from detlint.checks.unnamed import HOOKS, Unnamed
from detlint.checks.unpacked import Unpacked
from detlint.checks.unused import puts_names_together
from detlint.db import Memo
from detlint.domains.constant import MOST, Evaluator, Leaf, any_of, is_known, may_grow, parameters_in, resolved, settle
from detlint.facts.model import (
    SUPER,
    Const,
    Either,
    Expression,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Site,
    Value,
    options,
    plain,
)
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.ir.code import Function as Body
from detlint.ir.places import Place, Test, named
from detlint.ir.records import KIND, LAMBDA
from detlint.ir.tests import comparison
from detlint.ir.written import written
from detlint.model.arguments import NO_DEFAULT, Argument, bind, received
from detlint.model.kept import always_set_to, set_once
from detlint.model.module import Module
from detlint.model.places import LOCALS, call_of, point_of
from detlint.model.references import is_spelled
from detlint.model.uses import Use, Users
from detlint.program.calls import left_out
from detlint.program.reach import TRAINING
from detlint.program.values import is_parsed, root_of

PLAIN: Final = frozenset({"builtins.staticmethod", "builtins.classmethod"})
"""Decorators that hand a function to nobody."""
DRAWS: Final = ("DET10", "DET50")
"""The rules of what draws, also where no seed reaches that."""
_CHOSEN_FROM: Final = ("seq", "population", "a")
"""What functions call the parameter from which they choose."""
DEEPEST: Final = 3
"""So many functions may hand a parameter on, one to the next."""


class Constants:
    """Finds what parameters always are, over all calls of the program.

    Args:
        launched: what launches of a script give an option of its command line.
        offered: whether what a library gives to whoever uses it may be called by others too.
        settled: knows what all files of settings have; None where these don't count.
        literal: whether no more counts than what calls write out, or leave at its default, through parameters alone: no edit of
            a setting changes that, and nothing else can set it.
    """

    def __init__(
        self,
        matcher: Matcher,
        users: Users,
        gradients: Gradients,
        unnamed: Unnamed,
        others: Others,
        kin: Kin,
        *,
        launched: Callable[[Module, str], Iterable[Const]],
        offered: bool = True,
        settled: Settled | None = None,
        literal: bool = False,
    ) -> None:
        self._matcher = matcher
        self._resolver = matcher.resolver
        self._users = users
        self._gradients = gradients
        self._unnamed = unnamed
        self._others = others
        self._kin = kin
        self._launched = launched
        self._offered = offered
        self._settled = settled
        self._literal = literal
        self._catalog = matcher.catalog
        self._shuffling = matcher.catalog.words_of({SHUFFLED, OPEN_SEED})
        self._without_heirs = matcher.catalog.with_context("no-heirs")
        self._choosing = matcher.catalog.with_context("chooses")
        self._wraps = matcher.catalog.with_context("called-as-before")
        self._handing = Handing(self._resolver, kin.heirs)
        self._unpacked_tables = Unpacked(matcher, users, gradients.uses, self._passed)
        self._values: Memo[Value | None] = Memo(users.db)
        self._left_out: Memo[str] = Memo(users.db)
        self._idle: Memo[bool] = Memo(users.db)

    def rule_out(self, module: Module, index: int, match: Match) -> str:
        """Why a match never holds, by what the calls of the function around it always give; "" where it may hold."""
        function = module.function_of(module.sites[index])
        if (default := self._default_of(module, index)) and self._is_always_given(module, *default):
            return f"every call gives `{default[1]}`, so that its default is never used"
        if not function.name:
            return self._harmless(module, function, index, match)
        if reason := self._kept_from(module, function, index):
            return reason
        draws = match.entry.draws or match.entry.rule.startswith(DRAWS)
        if draws and not match.builds and self._is_cancelled(module, function, index):
            return "whatever it draws is multiplied by zero, by what every call gives"
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

    def keep_from(self, module: Module, index: int) -> bool:
        """Whether the flow never comes to a site, by what the calls of the function around it always give."""
        function = module.function_of(module.sites[index])
        return bool(function.name) and self._kept_from(module, function, index) != ""

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

    def keep_from_there(self, module: Module, point: Place) -> bool:
        """Whether the flow never comes to an op, in its function, by what the calls of that always give."""
        function = module.functions.get(point.around.qualified) if point.around.number else None
        return function is not None and any(
            self._truth(module, function, test) is (not test.wanted) for test in point.tests()
        )

    def bring_to(self, module: Module, index: int) -> bool:
        """Whether all tests on the way to a site in its function always hold, of which there is one at least."""
        function, point = module.function_of(module.sites[index]), self._point(module, index)
        tests = [*point.tests()] if point is not None else []
        return bool(tests) and all(self._truth(module, function, test) is test.wanted for test in tests)

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
            self._matcher.settled(match, {parameter: resolved(kept, partial(_with, name, given))})
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
        if self._kin.heirs(module, function.owner) or not self._kin.is_only_said_to_call(module, function.owner):
            return None
        return made

    def _out_of_way(self, module: Module, function: Function) -> str:
        """Why the flow comes to none of the calls of a function; "" where it may, or where there are none."""
        if not function.name or self._may_be_called_by_base(module, function):
            return ""
        reason, calls = "", self._calls(module, function)
        if calls == [] and function.name.endswith(".__init__") and self._is_found_in_vain(module):
            alone = not (
                self._kin.derives_from_others(module, function.owner) or self._kin.heirs(module, function.owner)
            )
            return "nothing comes to what finds it by its name" if alone else ""
        for use in calls or ():
            reason = self._kept_from(use.module, use.module.function_of(use.module.sites[use.site]), use.site)
            if not reason:
                return ""
        return reason

    def _may_be_called_by_base(self, module: Module, function: Function) -> bool:
        """Whether a method is one that frameworks call by themselves, or that a base has too, which then calls this one."""
        last = function.name.rpartition(".")[2]
        if not function.owner or last == "__init__" or self._is_forward(module, function):
            return False
        family = self._resolver.classes.family(f"{module.path}::{function.owner}")
        return last in HOOKS or any(f"{name}.{last}" in home.functions for home, name in [*family][1:])

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

    def _point(self, module: Module, index: int) -> Place | None:
        """Where a site stands in a function; None at the top level."""
        point = point_of(self._resolver, module, module.sites[index])
        return point if point is not None and point.around.number else None

    def _truth(self, module: Module, function: Function, test: Test) -> bool | None:
        """What a test in a function always comes to; None where that isn't known."""
        attributes, body, at = set[str](), test.function, test.value
        leaf = partial(self._asked, module, function, attributes)
        by_type = self._settled is not None and _asks_for_type(body, at, leaf)
        holds = _differs(body, at, leaf) if by_type else Evaluator(leaf).of(body, at)
        if holds is None and self._settled is not None:
            return self._settled.holds(module, body, at)
        is_set = holds is not None and any(self._kin.is_set(module, function.owner, name) for name in attributes)
        return None if is_set else holds

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

    def _is_cancelled(self, module: Module, function: Function, index: int) -> bool:
        """Whether nothing is left of what a site gives, as it is only multiplied by what is always zero."""
        point, attributes = self._point(module, index), set[str]()
        if point is None or point.function.ops[point.at][0] != op.CALL:
            return False
        cancelled = is_cancelled(*point, partial(self._asked, module, function, attributes))
        return cancelled and not any(self._kin.is_set(module, function.owner, attribute) for attribute in attributes)

    def _computed(self, module: Module, function: Function, index: int, match: Match, name: str) -> Value | None:
        """What a site always gives a parameter by what it is computed of: `keep_prob=1 - drop`, `1 if many else n`."""
        point, attributes = match.passed.place(name), set[str]()
        if point is None:
            return None
        value = Evaluator(partial(self._leaf, module, function, attributes)).value(*point)
        return None if any(self._kin.is_set(module, function.owner, attribute) for attribute in attributes) else value

    def _leaf(self, module: Module, function: Function, attributes: set[str], body: Body, at: int) -> Value | None:
        """What a name, an attribute, or an item always is: a parameter, what the constructor keeps of one, or a constant of a file."""
        found = self._asked(module, function, attributes, body, at)
        if found is not None or body.ops[at][0] == op.CALL:
            return found
        meaning = self._users.meanings.of(module) if body.given(at) is None else None
        if meaning is None:
            return None
        base = meaning.value(body, body.ops[at][1]) if body.ops[at][0] == op.ATTR else Ref("")
        meant = (
            meaning.value(body, at) if isinstance(base, Ref) else None
        )  # an object may have another one than its class
        return meant if isinstance(meant, (Const, Items, Mapping)) else None

    def _asked(self, module: Module, function: Function, attributes: set[str], body: Body, at: int) -> Value | None:
        """What a name or an attribute in a test always is: a parameter, or what the constructor keeps of one.

        Args:
            attributes: is told which of the object's own were asked for.
        """
        if self._settled is not None:
            settled = self._settled.written(module, body, at) or self._settled.member(module, body, at)
            if settled is not None:
                return settled
        if self._literal and body.ops[at][0] != op.LOAD:
            return None
        asked = text_in(body, at)
        if body.ops[at][0] == op.CALL and asked == at:
            return self._asked_for_class(module, function, attributes, body, at)
        value: Value | None = None
        name = self._own(module, function, body, asked)
        if (given := self._kept_parameter(module, function, body, at)) is not None:
            value = self._parameter(module, *given)
        elif isinstance(kept := self._kept(module, function, body, at), Const):
            value = kept if self._sets_alone(module, function.owner, name) else None
        elif isinstance(kept, (Either, Expression)) and self._keeps_once(module, function.owner, name):
            made = module.functions[f"{function.owner}.__init__"]
            value = self._value(module, made, kept) if self._sets_alone(module, function.owner, name) else None
        elif name:
            value = self._kept_of_settings(module, function.owner, name, respells(body, at))
        if name:
            attributes.add(name)
            if value is not None and not self._kin.is_own(module, function.owner, name):
                value = None
        return value

    @staticmethod
    def _own(module: Module, function: Function, body: Body, at: int) -> str:
        """The attribute of the object itself that a method reads; "" for any other value."""
        return body.own(at) if function.owner in module.classes else ""

    def _kept_parameter(self, module: Module, function: Function, body: Body, at: int) -> tuple[Function, str] | None:
        """The parameter that a name in a test is, or that the constructor keeps as an attribute; None for anything else."""
        if body.ops[at][0] == op.LOAD:
            given = body.given(at)
            of_function = given is not None and given[0].header.kind & KIND != LAMBDA
            return (function, body.text(body.ops[at][1])) if of_function else None
        kept, made = self._kept(module, function, body, at), module.functions.get(f"{function.owner}.__init__")
        # What is annotated is an object of its class, under the parameter's name.
        return (made, kept.name) if made is not None and isinstance(kept, (Param, Instance)) else None

    def _kept(self, module: Module, function: Function, body: Body, at: int) -> Value | None:
        """What the constructor keeps as the attribute of the object itself that a method reads."""
        name = self._own(module, function, body, at)
        made = f"{function.owner}.__init__" in module.functions
        return module.classes[function.owner].attributes.get(name) if name and made else None

    def _asked_for_class(
        self, module: Module, function: Function, attributes: set[str], body: Body, at: int
    ) -> Const | None:
        """What `isinstance(optimizer, Wrapper)` always is: False where all calls give objects of other classes of libraries, in
        which nothing derives from that one."""
        args = body.call(at).positional
        if body.dotted(body.ops[at][1]) != "isinstance" or len(args) != 2:
            return None
        asked = body.ops[args[1]][1:] if body.ops[args[1]][0] == op.TUPLE else args[1:]
        names = {self._resolver.meant(module, body.dotted(part)) for part in asked}
        given = self._kept_parameter(module, function, body, args[0]) if names <= self._without_heirs else None
        made = self._made_by_calls(module, *given) if given is not None else None
        if name := self._own(module, function, body, args[0]):
            attributes.add(name)
        return Const(False) if made and made.isdisjoint(names) else None

    def _made_by_calls(self, module: Module, function: Function, name: str, depth: int = 0) -> set[str] | None:
        """The classes of libraries whose objects all calls of a function give a parameter; None where there may be others."""
        made = set[str]()
        for use in self._calls(module, function) or ():
            for home, caller, passed in self._passed_by(use, module, function, name):
                for option in options(passed.value) if passed is not None else (None,):
                    if isinstance(option, Param) and depth < DEEPEST:
                        handed_on = self._made_by_calls(home, caller, option.name, depth + 1)
                        if handed_on is None:
                            return None
                        made |= handed_on
                        continue
                    target = self._matcher.target(home, option.site) if _is_of_call(option) else None
                    if not isinstance(target, Ref) or "::" in target.name or not is_class(target.name):
                        return None
                    made.add(target.name)
        return made

    def _sets_alone(self, module: Module, owner: str, name: str) -> bool:
        """Whether only a class's own text sets an attribute on its `self`, and no user of a library."""
        offered = self._offered and self._unnamed.is_offered(module, owner)
        return not offered and self._kin.is_own(module, owner, name)

    def _keeps_once(self, module: Module, owner: str, name: str) -> bool:
        """Whether a class sets an attribute in its constructor alone, and once: what it is, is all of its parameters."""
        code = self._resolver.code(module.path)
        return code is not None and set_once(code, plain(owner), name) is not None

    def _value(self, module: Module, function: Function, value: Value | None) -> Value | None:
        """What a value in a function always is, one of several perhaps; None where that isn't known."""
        return resolved(value, partial(self._known, module, function))

    def _known(self, module: Module, function: Function, value: Value) -> Value | None:
        """The same of a parameter, an attribute, a name, or what a call gives."""
        if isinstance(value, Param):
            return self._parameter(module, function, value.name)
        if isinstance(value, Member) and value.base == Instance(f"{module.facts.module}.{function.owner}"):
            return self._attribute(module, function.owner, value.attr)
        if isinstance(value, Member) and value.attr.startswith("["):
            item = self._item(module, function, value)
            if item is not None:
                return item
        found = settle(self._resolver.normal(module.path, value, function))
        if isinstance(found, Const) and not self._is_of_object(module, value, function):
            return found
        return self._settled.value(module, value, function.name) if self._settled is not None else None

    def _item(self, module: Module, function: Function, value: Member) -> Value | None:
        """What all calls of a function give under a key of a table that it is handed, or of one in that: `options["gpu"]["use"]`."""
        keys, table = [value.attr], value.base
        while isinstance(table, Member) and table.attr.startswith("["):
            keys, table = [table.attr, *keys], table.base
        name = table.name if isinstance(table, Param) else ""
        for around in module.around(function) if name else ():
            if any(parameter.name == name for parameter in module.detail(around).parameters):
                given = partial(self._items_given, module, around, name, keys)
                return self._values.of((module.path, around.number, name, *keys), given, None)
        return None

    def _items_given(self, module: Module, function: Function, name: str, keys: list[str]) -> Value | None:
        """The same of a parameter of the function itself; None where its file sets such an item."""
        found = {
            self._under(home, caller, passed.value if passed is not None else None, keys)
            for use in self._calls(module, function) or ()
            for home, caller, passed in self._passed_by(use, module, function, name)
        }
        return (
            any_of(sorted(found, key=repr))
            if found and None not in found and not self._sets_item(module, keys[-1])
            else None
        )

    def _under(self, module: Module, function: Function, table: Value | None, keys: list[str]) -> Value | None:
        """What stands under keys of a table, one in the other, that is displayed; None where that isn't known."""
        if table is None or self._sets_item(module, keys[-1]):
            return None
        item = Member(table, keys[0])
        for key in keys[1:]:
            item = Member(item, key)
        if isinstance(table, Param):
            return self._item(module, function, item)
        known = settle(self._resolver.normal(module.path, item, function))
        return known if isinstance(known, Const) else None

    def _sets_item(self, module: Module, key: str) -> bool:
        """Whether a file may set an item of a table that was made under a key."""
        code = self._resolver.code(module.path)
        named = key[1:-1]
        return code is None or any(
            str(function.constant(operation[2])) == named
            for function in code.functions()
            for _, operation in function.each(op.SET_ITEM)
        )

    def _is_of_object(self, module: Module, value: Value | None, function: Function) -> bool:
        """Whether a value is an attribute of some object, of which its class only says what it is at first: a setting."""
        base = value.base if isinstance(value, Member) else None
        if isinstance(value, Ref):
            base = Ref(value.name.rpartition(".")[0])
        found = self._resolver.normal(module.path, base, function)
        return any(isinstance(option, (Instance, Result, Param)) for option in options(found))

    def _kept_of_settings(self, module: Module, owner: str, name: str, respelled: str = "") -> Const | None:
        """What a class keeps as an attribute that its constructor alone sets, in one place, to what it looks up in settings.

        Args:
            respelled: the method that writes it otherwise before it counts; "" for none.
        """
        code = self._resolver.code(module.path) if self._settled is not None and name != TRAINING else None
        kept = always_set_to(code, plain(owner), name) if code is not None else None
        return (
            self._settled.written(module, *kept, respelled) if self._settled is not None and kept is not None else None
        )

    def _attribute(self, module: Module, owner: str, name: str) -> Value | None:
        """What the constructor keeps of what it is given, that of a base where the class has no such attribute itself."""
        if owner not in module.classes or name not in module.classes[owner].attributes:
            bases = self._kin.bases(module, owner)
            having = (
                (home, base) for home, base in bases if base in home.classes and name in home.classes[base].attributes
            )
            base = next(having, None)
            return self._attribute(*base, name) if base is not None else None
        kept = module.classes[owner].attributes.get(name)
        made = module.functions.get(f"{owner}.__init__")
        value = self._value(module, made, kept) if made is not None and isinstance(kept, (Const, Param)) else None
        if value is None and made is not None and not isinstance(kept, (Const, Param)):
            value = self._kept_of_settings(module, owner, name)
        alone = (
            value is not None and self._kin.is_own(module, owner, name) and not self._kin.is_set(module, owner, name)
        )
        return value if alone else None

    def _parameter(self, module: Module, function: Function, name: str) -> Value | None:
        """What all calls of a function, or of one around it, give a parameter."""
        for around in module.around(function):
            if any(parameter.name == name for parameter in module.detail(around).parameters):
                given = partial(self._given, module, around, name)
                return self._values.of((module.path, around.number, name), given, None)
        return None

    def _given(self, module: Module, function: Function, name: str) -> Value | None:
        """What all calls of a function give a parameter, one of several perhaps."""
        found: set[Value | None] = set()
        unseen = list[Unseen]()
        calls = self._calls(module, function, unseen)
        if calls is None or (unseen and not self._leave_out(unseen, module, function, name, found)):
            return None
        for use in calls:
            for home, caller, known in self._passed_by(use, module, function, name):
                passed = known or self._of_table(use, home, module, function, name)
                if passed is None:
                    return None
                if passed.given and home is module and caller == function and _is_named(passed.value, name):
                    continue  # it hands its own on
                if self._literal and not isinstance(passed.value, (Const, Param)):
                    return None
                value = self._value(home, caller, passed.value)
                if passed.value is None and passed.given and home is use.module and use.called:
                    value = self._by_code(use, caller, self._position(module, function, name), name)
                asks = not isinstance(value, Const) and passed.given and home is use.module
                if asks and self._settled is not None:
                    position = self._position(module, function, name)
                    value = self._settled.passed(home, use.site, name, position) or value
                found.add(value if not _holds_list(value) or self._is_as_written(use, module, function, name) else None)
                if None in found or len(found) > MOST:
                    return None
        return any_of(sorted(found, key=repr))

    def _by_code(self, use: Use, caller: Function, position: int, name: str) -> Value | None:
        """The list that a call passes, as it is displayed there."""
        point, attributes = call_of(self._resolver, use.module, use.module.sites[use.site]), set[str]()
        if point is None or point.function.unpacks(point.at):
            return None
        passed = point.function.call(point.at).argument(position, name)
        if passed < 0 or point.function.ops[passed][0] not in (op.LIST, op.TUPLE):
            return None
        leaf = partial(self._leaf, use.module, caller, attributes)
        value = Evaluator(leaf).value(point.function, passed)
        return None if any(self._kin.is_set(use.module, caller.owner, each) for each in attributes) else value

    def _is_as_written(self, use: Use, module: Module, function: Function, name: str) -> bool:
        """Whether a list that a call passes is written there, or under a name under which nothing changes it; or is no argument."""
        point = call_of(self._resolver, use.module, use.module.sites[use.site])
        if point is None or point.function.unpacks(point.at):
            return False
        passed = point.function.call(point.at).argument(self._position(module, function, name), name)
        called = point.function.dotted(passed).rpartition(".")[2] if passed >= 0 else ""
        return not called or not may_grow(point.function.code, called)

    def _of_table(self, use: Use, home: Module, module: Module, function: Function, name: str) -> Argument | None:
        """What a call gives a parameter by a table of settings that it unpacks; None where that isn't known.

        Args:
            home: the file that says it.
        """
        names = {argument.name for argument in use.module.sites[use.site].args} if use.called else set()
        if "**" not in names or "*" in names:
            return None
        value = self._chosen(home, module, function, name)
        return Argument(value, True) if value is not None else None

    def _chosen(self, home: Module, module: Module, function: Function, name: str) -> Const | None:
        """What all files of settings have for a parameter of a function, by its name."""
        taken = next((parameter for parameter in module.detail(function).parameters if parameter.name == name), None)
        if self._settled is None or taken is None or not (taken.needed or isinstance(taken.default, Const)):
            return None
        return self._settled.unpacked(home, name, taken.default if isinstance(taken.default, Const) else None)

    def _leave_out(
        self, unseen: list[Unseen], module: Module, function: Function, name: str, found: set[Value | None]
    ) -> bool:
        """Whether calls that may be of a function all leave a parameter at a default that is known.

        Args:
            found: is told of that.
        """
        position = self._position(module, function, name)
        taken = next(p for p in module.detail(function).parameters if p.name == name)
        if any(may_pass(call, name, position) for call in unseen):
            return False
        if taken.needed:
            return True  # so they are of another one
        known = isinstance(taken.default, Const) or not self._literal
        found.add(self._value(module, module.facts.functions[0], taken.default) if known else None)
        return None not in found

    def _passed_by(
        self, use: Use, module: Module, function: Function, name: str
    ) -> Iterator[tuple[Module, Function, Argument | None]]:
        """What a call gives a parameter, and where that is said, which for a default is the file of the function; None where it isn't
        known."""
        for home, caller, passed in self._written_by(use, module, function, name):
            is_default = passed is not None and not passed.given
            yield *((module, module.facts.functions[0]) if is_default else (home, caller)), passed

    def _written_by(
        self, use: Use, module: Module, function: Function, name: str
    ) -> Iterator[tuple[Module, Function, Argument | None]]:
        """What a call gives a parameter, and where that call stands. An heir's constructor that hands on all that it is given says
        nothing itself: its own calls do."""
        site = use.module.sites[use.site]
        caller = use.module.function_of(site)
        told = site if use.called else self._called_later(use, f"{module.path}::{function.name}")
        passed = self._passed(told, module, function, name) if told is not None else None
        if passed is not None and passed.given is not None:
            yield use.module, caller, passed
            return
        if caller.name.endswith(".__init__") and _is_of_super(site.target, use.module, caller.owner):
            calls = self._calls(use.module, caller)
            if calls == []:
                return  # nobody builds one
            point = self._called_at(use.module, caller, site)
            if calls and point is not None and hands_on(point):
                parameters = use.module.detail(caller).parameters
                for call in calls:
                    through = opened(site, call.module.sites[call.site], parameters)
                    given = self._passed(through, module, function, name) if through is not None else None
                    known = given is not None and given.given is not None
                    around = call.module.function_of(call.module.sites[call.site])
                    yield call.module, around, given if known else None
                return
        passed = self._unpacked(use, caller, f"{module.path}::{function.owner}", name)
        if passed is None and all(argument.name != "*" for argument in site.args):
            passed = self._left_out_of_all(module, function, name)
        yield use.module, caller, passed

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

    def _unpacked(self, use: Use, caller: Function, own: str, name: str) -> Argument | None:
        """What a call gives a parameter by a dictionary that it unpacks, or through a function that builds the class which it is
        handed; None where that isn't known.

        Args:
            own: that class.
        """
        site = use.module.sites[use.site]
        if not use.called and name in (self._taken(use, own) or ()):
            return None
        written = next((argument.value for argument in site.args if argument.name == name), None)
        if written is not None:
            return Argument(written, True)
        point = self._called_at(use.module, caller, site)
        found = keyword(point, name) if point is not None else None
        if found is None or not found.handed_on:
            return Argument(found.value, True) if found is not None else None
        given = partial(self._given, use.module, caller, name)
        value = self._values.of((use.module.path, caller.number, name), given, None)
        return Argument(value, True) if value is not None else None

    def _left_out_of_all(self, module: Module, function: Function, name: str) -> Argument | None:
        """The default of a parameter that only others can give something, by keywords that a library hands on (`**kwargs`): none of
        its files says the name so; None where one may."""
        default = next((p.default for p in module.detail(function).parameters if p.name == name), None)
        library = not self._offered and self._unnamed.is_in_library(module)
        if not library or default is None or may_say(self._resolver.code(module.path), name, own=True):
            return None
        saying = (p for p in self._users.index.saying(name, self._users.home(module)) if p != module.path)
        said = any(not path.endswith(".py") or may_say(self._resolver.code(path), name, own=False) for path in saying)
        return None if said else Argument(default, False)

    def _taken(self, use: Use, own: str) -> frozenset[str] | None:
        """The keywords that a function which is handed a class doesn't hand on to it; None where it may do more with the class than
        to call it, or doesn't hand on all others."""
        site, around = use.module.sites[use.site], use.module.function_of(use.module.sites[use.site])
        target = self._resolver.normal(use.module.path, site.target, around)
        home, builder = (self._resolver.function(target) if site.kind == "call" else None) or (None, None)
        if home is None or builder is None or "." in builder.name or home.detail(builder).decorators:
            return None
        parameters = home.detail(builder).parameters
        signature: list[tuple[str, object]] = [(p.kind + p.name, NO_DEFAULT) for p in parameters]
        bound = bind(self._matcher.call_arguments(use.module, site, around), signature)
        holding = [parameter for parameter, argument in bound.items() if argument.value == Ref(own)]
        if len(holding) != 1:
            return None
        call = next((s for s in home.sites if s.function == builder.number and _is_named(s.target, holding[0])), None)
        point = self._called_at(home, builder, call) if call is not None else None
        said = handed_over(point, holding[0]) if point is not None else None
        return said | {p.name for p in parameters} if said is not None else None

    def _called_at(self, module: Module, caller: Function, site: Site) -> Place | None:
        """Where the call of a site stands in its function; None at the top level, and in a lambda."""
        point = call_of(self._resolver, module, site) if caller.name else None
        return point if point is not None and point.function is point.around else None

    def calls(self, module: Module, function: Function) -> list[Use] | None:
        """All calls of a function, or of a constructor; None where it may have others."""
        if not function.name or self._may_be_called_by_base(module, function):
            return None
        return self._calls(module, function)

    def _calls(self, module: Module, function: Function, unseen: list[Unseen] | None = None) -> list[Use] | None:
        """All calls of a function; None where it may have others.

        Args:
            unseen: is told of those that may be of it and that no site tells of; None where there may be none.
        """
        if not self._are_all_in_sight(module, function):
            return None
        made = function.name.endswith(".__init__")
        forward = self._is_forward(module, function)
        calls = self._built(module, function.owner) if made else self._only_called(module, function.name)
        if calls is None:
            return None
        if function.owner and not made:
            # A layer whose forward pass is asked for has no heirs, so none of those speaks of it as its base's.
            others, left = self._others.perhaps_called(module, function.name, with_heirs=not forward)
            if left and unseen is None:
                return None
            if unseen is not None:
                unseen += left
            calls = [*calls, *(use for use in others if self._offered or not self._is_idle(use))]
        if not forward:
            return calls
        built = self._only_called(module, function.owner)
        parts = calls_of_parts(self._resolver, self._users, built, not self._offered) if built else None
        return [*calls, *parts] if parts is not None else None

    def _is_idle(self, use: Use) -> bool:
        """Whether nothing runs what a use stands in."""
        return bool(use.around) and self._unnamed.holds(use.module, use.around)

    def _only_called(self, module: Module, name: str, handed: bool = False) -> list[Use] | None:
        """The uses of a definition, as far as they are found, if all are calls; those of what it gives are none of it.

        Args:
            handed: whether a function that only builds the class which it is handed counts as a call of that.
        """
        calls, uses = list[Use](), self._gradients.uses(module, name)
        if uses is None and handed:
            return None
        for use in uses or ():
            if not self._offered and self._is_idle(use):
                continue
            if use.site < 0 and self._only_spells(use.module, name) and self._is_found_in_vain(module):
                continue
            if handed and not use.called and use.site >= 0:
                own = Ref(f"{module.path}::{name}")
                taken = [use] if self._taken(use, own.name) is not None else self._handing.calls(use, own)
                if taken is not None:
                    calls += (call for call in taken if call not in calls)
                    continue
            site = use.module.sites[use.site] if use.site >= 0 else None
            if site is None or site.kind != "call":
                return None
            if not use.called:
                if self._called_later(use, f"{module.path}::{name}") is None:
                    return None
                calls.append(use)
                continue
            if not (isinstance(site.target, Result) and site.target.site >= 0):
                calls.append(use)
        return calls

    def _called_later(self, use: Use, own: str) -> Site | None:
        """The call that a library makes of a function which it is handed, with its keywords; None for any other. Who uses a library may
        know better."""
        if (told := self._unpacked_tables.call_of(use, own)) is not None:
            return told
        site, normal = use.module.sites[use.site], partial(self._resolver.normal, use.module.path)
        around = use.module.function_of(site)
        target = normal(site.target, around)
        if self._offered or not isinstance(target, Ref) or "::" in target.name:
            return None
        run = [a.value for n, a in enumerate(site.args) if a.name in RUN_LATER or (n == 0 and not a.name)]
        return called_later(site) if any(normal(value, around) == Ref(own) for value in run) else None

    def _built(self, module: Module, owner: str) -> list[Use] | None:
        """The calls that run the constructor of a class: of the class, of heirs that have none of their own, and those that heirs
        make of it (`super().__init__(...)`); None where there may be others."""
        calls = self._only_called(module, owner, handed=True)
        codes = (self._resolver.code(home.path) for home in self._kin.saying(module, owner) if calls is not None)
        if calls is None or any(code is None or _asks_for_made(code, owner.rpartition(".")[2]) for code in codes):
            return None
        for home, heir in self._kin.heirs(module, owner):
            if f"{module.path}::{owner}" not in self._resolver.classes.bases(f"{home.path}::{heir}"):
                continue  # an heir's heir, which that one is asked for
            more = self._built_by(home, heir)
            if more is None:
                return None
            calls += more
        return calls

    def _built_by(self, home: Module, heir: str) -> list[Use] | None:
        """The calls by which objects of an heir, or of its own heirs, run the constructor of its base."""
        if len(home.classes[heir].bases) > 1 or not self._is_only_built_by_name(home, heir):
            return None  # another base may come between
        calls = [
            Use(home, number, True)
            for number, site in enumerate(home.sites)
            if site.kind == "call" and _is_of_super(site.target, home, heir)
        ]
        code = self._resolver.code(home.path)
        bodies = code.by_name.get(plain(heir), ()) if code is not None else ()
        inside = [f for body in bodies for f in body.code.inside(body.number)]
        asked = sum(f.code.strings[operation[2]] == "__init__" for f in inside for _, operation in f.each(op.ATTR))
        if not bodies or asked != len(calls):
            return None
        if f"{heir}.__init__" in home.functions:
            return calls
        built = self._built(home, heir)
        return [*calls, *built] if built is not None else None

    def _is_only_built_by_name(self, module: Module, owner: str) -> bool:
        """Whether nothing builds objects of a class but by its name, and nothing else is made of it."""
        body, code = module.classes.get(owner), self._resolver.code(module.path)
        if body is None or code is None or (body.decorators and not self._is_registered_in_vain(module, owner)):
            return False
        return not (any(map(_builds_anew, code.functions())) or self._is_given_out(module, owner))

    def _is_registered_in_vain(self, module: Module, owner: str) -> bool:
        """Whether a decorator only puts a class into a registry under names by which nobody chooses it."""
        return self._settled is not None and self._unnamed.is_chosen_by_nobody(module, owner)

    def _is_given_out(self, module: Module, name: str) -> bool:
        """Whether a library gives a definition to others."""
        package = self._resolver.module(os.path.join(os.path.dirname(module.path), "__init__.py"))
        return self._offered and package is not None and self._unnamed.is_offered(module, name.partition(".")[0])

    def _is_forward(self, module: Module, function: Function) -> bool:
        layer = self._resolver.kinds.layer(f"{module.path}::{function.owner}") if function.owner else None
        return layer is not None and function.name.rpartition(".")[2] == layer.forward

    def _passed(self, site: Site, module: Module, function: Function, name: str) -> Argument | None:
        """What one call gives a parameter: as it is written there, or its default."""
        return received(site, module.taken(function)).get(name)

    def _position(self, module: Module, function: Function, name: str) -> int:
        """The position at which a call passes a parameter; -1 for one that it passes by its name alone."""
        names = [p.name for p in takewhile(lambda p: not p.kind, module.taken(function))]
        return names.index(name) if name in names else -1

    def _is_plain(self, decorator: Value | None) -> bool:
        """Whether a decorator leaves a function to those who call it by its name: `@torch.no_grad()`, `@jit`."""
        named = decorator.of if isinstance(decorator, Result) else decorator
        return decorator in _PLAIN or (isinstance(named, Ref) and self._catalog.canonical(named.name) in self._wraps)

    def _are_all_in_sight(self, module: Module, function: Function) -> bool:
        """Whether whoever calls a function calls it by its name: no framework does, nothing hands it on, and no library gives it
        to others."""
        last, owner = function.name.rpartition(".")[2], function.owner
        if "<" in last or "@" in function.name or not all(map(self._is_plain, module.detail(function).decorators)):
            return False
        name = (owner or function.name).partition(".")[0]
        if module.facts.left_out or self._users.is_run_by_notebook(module, name):
            return False
        package = self._resolver.module(os.path.join(os.path.dirname(module.path), "__init__.py"))
        # Who uses a library may always run what it gives out.
        offered = self._offered or self._is_forward(module, function)
        if offered and package is not None and self._unnamed.is_offered(module, name):
            return False
        together = puts_names_together(self._users, module, of_itself=False)
        if together and not self._is_found_in_vain(module) and self._may_be_found(module, name):
            return False
        if owner and self._kin.may_ask_itself(module, owner) and puts_names_together(self._users, module):
            return False
        if not owner:
            return True
        forward = self._is_forward(module, function)
        if last != "__init__" and not forward:
            return not last.startswith("__")
        if forward and (self._kin.may_run_itself(module, owner) or self._kin.heirs(module, owner)):
            return False
        return self._is_only_built_by_name(module, owner)

    def _is_found_in_vain(self, module: Module) -> bool:
        """Whether definitions of a file are only found by names that are put together in functions which nothing comes to, by what all
        files of settings have."""
        if self._settled is None or not puts_names_together(self._users, module, of_itself=False):
            return False
        return not puts_names_together(self._users, module, of_itself=False, idle=self._is_never_come_to)

    def _only_spells(self, module: Module, name: str) -> bool:
        """Whether a file says a name in imports, and as texts, alone."""
        code = self._resolver.code(module.path)
        if code is None:
            return False
        functions = [*code.functions()]
        read = any(code.strings[o[2]] == name for f in functions for _, o in f.each(op.ATTR, op.SET_ATTR))
        loaded = any(o[1] in f.slots[name] for f in functions if name in f.slots for _, o in f.each(op.LOAD))
        return not (read or loaded or any(f.name == name for f in functions))

    def _is_never_come_to(self, path: str, name: str) -> bool:
        """Whether a function of the top level is only called, and the flow comes to none of its calls."""
        module = self._resolver.module(path)
        function = module.functions.get(name) if module is not None else None
        if module is None or function is None or module.detail(function).decorators:
            return False
        return self._idle.of((path, name), partial(self._finds_out_calls, module, name), False)

    def _finds_out_calls(self, module: Module, name: str) -> bool:
        def idle(path: str, other: str) -> bool:
            return (path, other) == (module.path, name) or self._is_never_come_to(path, other)

        calls = self._only_called(module, name)
        if not calls or puts_names_together(self._users, module, of_itself=False, idle=idle):
            return False
        sites = ((use.module, use.module.sites[use.site], use.site) for use in calls)
        return all(self._kept_from(home, home.function_of(site), number) for home, site, number in sites)

    def _may_be_found(self, module: Module, name: str) -> bool:
        """Whether those who put names together may mean a definition: not if all take names of definitions as wholes, and no text
        among the code, or in a YAML file, has that of this one. (Others may, of a library, and hand it over.)"""
        if self._offered or puts_names_together(self._users, module, of_itself=False, wholes=False):
            return True
        for path in self._users.index.saying(name, self._users.home(module)):
            code = self._resolver.code(path)
            if code is None or any(is_spelled(text, name) for text in code.texts):
                return True
        return False


_PLAIN: Final = frozenset(Ref(name) for name in PLAIN)


def _asks_for_made(code: Code, name: str) -> bool:
    """Whether a file asks a class of a name for its constructor: `Net.__init__(self)`."""
    if "__init__" not in code.identifiers:
        return False
    asked = (f.dotted(at) for f in code.functions() for at, o in f.each(op.ATTR) if code.strings[o[2]] == "__init__")
    return any(f".{text}".endswith(f".{name}.__init__") for text in asked)


def _builds_anew(body: Body) -> bool:
    """Whether a function builds an object of a class without its name: `cls()`, `self.__class__()`, `type(self)()`."""
    for _, operation in body.each(op.CALL):
        callee = body.ops[operation[1]]
        if callee[0] == op.ATTR and body.code.strings[callee[2]] == "__class__":
            return True
        of_type = callee[0] == op.CALL and body.dotted(callee[1]) == "type"
        if of_type and any(body.is_self(value) for value in body.call(operation[1]).positional):
            return True
        method = body.given(operation[1])
        if method is not None and body.is_self(operation[1]) and _takes_class(method[0]):
            return True
    return False


def _takes_class(method: Body) -> bool:
    """Whether a method is handed its class, not an object of that."""
    around = method.parent
    definition = around.ops[method.definition] if around is not None else (op.FUNCTION, 0, 0)
    decorators = definition[3 : 3 + definition[2]]
    return method.name == "__new__" or (around is not None and "classmethod" in map(around.dotted, decorators))


def _is_of_super(target: Value, module: Module, owner: str) -> bool:
    """Whether it is the constructor of a class's base, as the class itself calls it."""
    return target == Member(Member(Instance(f"{module.facts.module}.{owner}"), SUPER), "__init__")


def _asks_for_type(body: Body, test: int, leaf: Leaf) -> bool:
    """Whether a test tells True from 1, which settings, or code that reads them, may stand for each other. What is off is never True."""
    for at in body.within(test):
        asked = comparison(body, at)
        if (
            asked is not None
            and asked.word in ("is", "is not")
            and isinstance(wanted := body.constant(asked.right), bool)
        ):
            value = Evaluator(leaf).result(body, asked.left) if wanted else None
            if value is None or value.value:
                return True
    return False


def _differs(body: Body, test: int, leaf: Leaf) -> bool | None:
    """What a test comes to that asks whether something is True, or False, where it surely isn't the same number; else None."""
    asked = comparison(body, test)
    if asked is None or asked.word not in ("is", "is not"):
        return None
    left, right = (Evaluator(leaf).result(body, side) for side in (asked.left, asked.right))
    differs = left is not None and right is not None and left.value != right.value
    return asked.word == "is not" if differs else None


def _is_of_call(value: Value | None) -> TypeGuard[Result]:
    return isinstance(value, Result) and value.site >= 0


def _is_named(value: Value | None, name: str) -> bool:
    return isinstance(value, Param) and value.name == name


def _holds_list(value: Value | None) -> bool:
    """Whether a value is, or may be, a list or a table, which others may change."""
    return any(isinstance(option, Items) and option.kind == "list" for option in options(value))


def _with(name: str, given: Value, value: Value) -> Value:
    """A value where a parameter is given something."""
    return given if _is_named(value, name) else value


def _is_open(value: Value | None) -> bool:
    """Whether a value may depend on a parameter."""
    return isinstance(value, (Param, Member, Items, Either, Expression))
