"""What parameters, attributes and items always are, by all calls that are in sight, and how tests of them come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from detlint.domains.constant.calls_in_sight import CallsInSight, is_named, is_of_super
from detlint.domains.constant.evaluator import (
    MOST,
    Evaluator,
    Leaf,
    any_of,
    may_grow,
    resolved,
    settle,
)
from detlint.domains.constant.lookups import respells, text_in
from detlint.domains.constant.splats import hands_on, keyword, opened
from detlint.domains.matching.record import Match, is_class
from detlint.ir import ops as op
from detlint.ir.code import Function as Body
from detlint.ir.places import Place, Test
from detlint.ir.records import KIND, LAMBDA
from detlint.ir.tests import comparison
from detlint.model.arguments import Argument
from detlint.model.kept import always_set_to, set_once
from detlint.model.module import Module
from detlint.model.others import Unseen, may_pass
from detlint.model.places import call_of, point_of
from detlint.model.runs.reach import TRAINING
from detlint.model.sites.records import (
    Const,
    Either,
    Expression,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Ref,
    Result,
    Value,
    options,
    plain,
)
from detlint.model.uses import Use

DEEPEST: Final = 3
"""So many functions may hand a parameter on, one to the next."""


class Always(CallsInSight):
    """Finds values, by the calls that are in sight."""

    def _point(self, module: Module, index: int) -> Place | None:
        """Where a site stands in a function; None at the top level."""
        point = point_of(self._resolver, module, module.sites[index])
        return point if point is not None and point.around.number else None

    def _truth(self, module: Module, function: Function, test: Test) -> bool | None:
        """What a test in a function always comes to; None where that isn't known."""
        attributes, body, at = set[str](), test.function, test.value
        leaf = partial(self._asked, module, function, attributes)
        by_type = self._configured is not None and _asks_for_type(body, at, leaf)
        holds = _differs(body, at, leaf) if by_type else Evaluator(leaf).of(body, at)
        if holds is None and self._configured is not None:
            return self._configured.holds(module, body, at)
        is_set = holds is not None and any(self._families.is_set(module, function.owner, name) for name in attributes)
        return None if is_set else holds

    def _computed(self, module: Module, function: Function, index: int, match: Match, name: str) -> Value | None:
        """What a site always gives a parameter by what it is computed of: `keep_prob=1 - drop`, `1 if many else n`."""
        point, attributes = match.passed.place(name), set[str]()
        if point is None:
            return None
        value = Evaluator(partial(self._leaf, module, function, attributes)).value(*point)
        return (
            None if any(self._families.is_set(module, function.owner, attribute) for attribute in attributes) else value
        )

    def _leaf(self, module: Module, function: Function, attributes: set[str], body: Body, at: int) -> Value | None:
        """What a name, an attribute, or an item always is: a parameter, what the constructor keeps of one, or a constant of a file."""
        found = self._asked(module, function, attributes, body, at)
        if body.ops[at][0] == op.CALL and found is None:
            evaluator = Evaluator(partial(self._leaf, module, function, attributes))
            ends = [evaluator.value(body, end) for end in self._ends(module, body, at)]
            return Items((ends[0],), "set") if len(ends) == 2 and ends[0] == ends[1] is not None else None
        if found is not None:
            return found
        meaning = self._users.meanings.of(module) if body.given(at) is None else None
        if meaning is None:
            return None
        base = meaning.value(body, body.ops[at][1]) if body.ops[at][0] == op.ATTR else Ref("")
        meant = (
            meaning.value(body, at) if isinstance(base, Ref) else None
        )  # an object may have another one than its class
        return meant if isinstance(meant, (Const, Items, Mapping)) else None

    def _ends(self, module: Module, body: Body, at: int) -> Sequence[int]:
        """Between which numbers a call gives such as lie even."""
        meaning = self._users.meanings.of(module)
        even = meaning is not None and meaning.name(body, body.ops[at][1]) in self._even
        return body.call(at).positional[:2] if even else ()

    def _asked(self, module: Module, function: Function, attributes: set[str], body: Body, at: int) -> Value | None:
        """What a name or an attribute in a test always is: a parameter, or what the constructor keeps of one.

        Args:
            attributes: is told which of the object's own were asked for.
        """
        if self._configured is not None:
            configured = self._configured.written(module, body, at) or self._configured.member(module, body, at)
            if configured is not None:
                return configured
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
            if value is not None and not self._families.is_own(module, function.owner, name):
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
                    site = option.site if isinstance(option, Result) else -1
                    target = self._matcher.target(home, site) if site >= 0 else None
                    if not isinstance(target, Ref) or "::" in target.name or not is_class(target.name):
                        return None
                    made.add(target.name)
        return made

    def _sets_alone(self, module: Module, owner: str, name: str) -> bool:
        """Whether only a class's own text sets an attribute on its `self`, and no user of a library."""
        offered = self._offered and self._unnamed.is_offered(module, owner)
        return not offered and self._families.is_own(module, owner, name)

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
        return self._configured.value(module, value, function.name) if self._configured is not None else None

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
        code = self._resolver.code(module.path) if self._configured is not None and name != TRAINING else None
        kept = always_set_to(code, plain(owner), name) if code is not None else None
        return (
            self._configured.written(module, *kept, respelled)
            if self._configured is not None and kept is not None
            else None
        )

    def _attribute(self, module: Module, owner: str, name: str) -> Value | None:
        """What the constructor keeps of what it is given, that of a base where the class has no such attribute itself."""
        if owner not in module.classes or name not in module.classes[owner].attributes:
            bases = self._families.bases(module, owner)
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
            value is not None
            and self._families.is_own(module, owner, name)
            and not self._families.is_set(module, owner, name)
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
                if passed.given and home is module and caller == function and is_named(passed.value, name):
                    continue  # it hands its own on
                value = self._value(home, caller, passed.value)
                if passed.value is None and passed.given and home is use.module and use.called:
                    value = self._by_code(use, caller, self._position(module, function, name), name)
                asks = not isinstance(value, Const) and passed.given and home is use.module
                if asks and self._configured is not None:
                    position = self._position(module, function, name)
                    value = self._configured.passed(home, use.site, name, position) or value
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
        if passed < 0 or point.function.ops[passed][0] not in (op.ITEM, op.LIST, op.TUPLE):
            return None
        leaf = partial(self._leaf, use.module, caller, attributes)
        value = Evaluator(leaf).value(point.function, passed)
        return None if any(self._families.is_set(use.module, caller.owner, each) for each in attributes) else value

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
        args = use.module.sites[use.site].args if use.called else ()
        names = {argument.name for argument in args}
        taken = next((parameter for parameter in module.detail(function).parameters if parameter.name == name), None)
        if "**" not in names or "*" in names or taken is None or self._configured is None:
            return None
        default = taken.default if isinstance(taken.default, Const) else None
        if default is None and not taken.needed:
            return None
        tables = [argument.value for argument in args if argument.name == "**"]
        told = (tables[0], use.around) if use.module is home and len(tables) == 1 else ()
        value = self._configured.unpacked(home, name, default, *told)
        return Argument(value, True) if value is not None else None

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
        found.add(self._value(module, module.facts.functions[0], taken.default))
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
        if caller.name.endswith(".__init__") and is_of_super(site.target, use.module, caller.owner):
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


def _holds_list(value: Value | None) -> bool:
    """Whether a value is, or may be, a list or a table, which others may change."""
    return any(isinstance(option, Items) and option.kind == "list" for option in options(value))
