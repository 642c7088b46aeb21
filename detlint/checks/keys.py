"""DET116: a random key that is used up twice in one function, and so gives the same numbers twice.

A key is told by the value that it is: what the call at a site gave, an item of that, a parameter, an attribute. Two sites
that use up the same value are a finding where one way through the function passes both. Calls of the program's own
functions count where these use up the parameter that the key is given to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from detlint.checks.finding import Finding, Step
from detlint.checks.levels import case_of, level
from detlint.checks.seeds import written
from detlint.domains.matching.match import Matcher
from detlint.model.arguments import received
from detlint.model.module import Module
from detlint.model.runs.reach import Place
from detlint.model.sites.records import (
    Branch,
    Const,
    Either,
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
    branches,
    flag_of,
    sites,
)
from detlint.model.sites.records import Step as Taken
from detlint.model.tests import stands_in_test

CODE: Final = "DET116"
COPIES: Final = "copies-key"
"""The context of what gives the same key again."""
_Way = tuple[tuple[int, int], ...]
"""The arms of branches that lead to a site: (which branch, which arm)."""


class _Use(msgspec.Struct, frozen=True):
    """A site that uses up a key."""

    site: int
    way: _Way
    sure: bool
    """Whether it is a call of JAX itself, so that the value is a key for certain."""


_Flags = frozenset[tuple[str, bool]]
"""What flags a function has to be given to come to a place: (parameter, True or False)."""
_Consumed = dict[str, set[_Flags]]
"""The parameters that a function uses up as keys, each with the flags under which it does so somewhere."""


class _State(msgspec.Struct):
    """The keys that are used up at a point of a function, by their first use."""

    used: dict[Value, _Use] = {}

    def copy(self) -> _State:
        return _State(dict(self.used))


class Keys:
    """Finds keys that are used up twice."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self._parameters: dict[tuple[str, int], tuple[_Consumed, dict[int, None]]] = {}
        """Function -> the parameters that it uses up, and the files that were looked into for that."""
        self._open: list[tuple[str, int]] = []
        self._lowest = 0
        """How far up the open functions a function leads back."""

    def findings(self, module: Module) -> Iterator[Finding]:
        """A finding for each key that a function of the module uses up more than once, at its second use."""
        for number in module.body.keyed:
            function = module.facts.functions[number]
            walk = _Walk(self, module, function)
            walk.steps(module.steps(function), ())
            for second, first, more in walk.again.values():
                yield self._finding(module, second, first, more)

    def _finding(self, module: Module, second: int, first: int, more: int) -> Finding:
        rule = self.matcher.catalog.rules[CODE]
        likely = first != second and _is_copy(module, first, second)  # a target network begins as a copy
        case = case_of(
            rule,
            self.matcher.settings,
            certainty="likely" if likely else "certain",
            in_test=stands_in_test(module, self.matcher.catalog.testing),
        )
        found = level(case)
        api = written(Place(module, second))
        steps: tuple[Step, ...] = ()
        if first == second:
            message = f"`{api}` uses up the same key each time around"
        else:
            before = module.sites[first].span
            message = f"`{api}` uses up a key that `{written(Place(module, first))}` in line {before.line} has used up"
            steps = (Step(module.path, before, "the key is used up here first"),)
        message += f" (and {more} more)" if more else ""
        return Finding(
            module.path, module.sites[second].span, rule.code, rule.name, found.severity, message, rule.remedy,
            steps=steps, certainty=found.certainty,
        )  # fmt: skip

    # -- what a site uses up ------------------------------------------------------------------------------------

    def repeated_at(self, module: Module, index: int) -> Iterator[tuple[Value, _Use]]:
        """The keys that a function uses up which a site has run many times, and which it has from outside."""
        if not any("repeats" in match.entry.contexts for match in self.matcher.matches(module, index)):
            return
        for argument in module.sites[index].args:
            name = argument.value.name.removeprefix(module.prefix) if isinstance(argument.value, Ref) else ""
            function = module.functions.get(name)
            if function is None:
                continue
            own = {parameter.name for parameter in module.detail(function).parameters}
            walk = _Walk(self, module, function)
            walk.steps(module.steps(function), ())
            for value, use in walk.touched.items():
                root = _root(value)
                inner = isinstance(root, (Param, Instance)) and root.name in own
                if not inner and not _made_by(value, set(sites(module.steps(function)))) and _is_key(value, use):
                    yield value, use

    def used_at(self, module: Module, index: int) -> list[tuple[Value, bool]]:
        """The keys that a site uses up, each with whether it is surely a key."""
        site = module.sites[index]
        if site.kind != "call":
            return []
        found: dict[Value, bool] = {}
        for match in self.matcher.matches(module, index):
            for parameter in match.entry.consumes:
                sure = match.name.startswith("jax.random.")
                if sure and self.matcher.sinks.draws_nothing(module, index):
                    continue  # nothing is drawn by what it gives
                found.update(dict.fromkeys(_keys(self.matcher.written(module, index, match, parameter)), sure))
        if not found:
            found.update(dict.fromkeys(self._given_on(module, index, site), False))
        return list(found.items())

    def _given_on(self, module: Module, index: int, site: Site) -> Iterator[Value]:
        """The keys that a site gives a function of the program which uses them up."""
        target = self.matcher.target(module, index)
        resolver = self.matcher.resolver
        if isinstance(target, Partial):
            place = resolver.place(target.site)
            before = place[1].args if place is not None and place[0] is module else ()
            target, site = target.of, msgspec.structs.replace(site, args=(*before, *site.args))
        if isinstance(target, Ref) and "::" in target.name and resolver.classes.is_class(target.name):
            target = resolver.classes.attribute(target.name, "__init__")
        home, function = resolver.function(target) or (None, None)
        if home is None or function is None:
            return
        consumed = self.parameters(home, function)
        given = received(site, home.taken(function)) if consumed else {}
        flags = {name: argument.value for name, argument in given.items()}
        for name, argument in given.items():
            if argument.given and any(_holds_for(flags, asked) for asked in consumed.get(name, ())):
                yield from _keys(argument.value)

    def original(self, module: Module, value: Value) -> Value:
        """The key of which a value is a copy, on other devices: `replicate(key)`."""
        copies = self.matcher.catalog.with_context(COPIES)
        while isinstance(value, Result) and isinstance(value.of, Ref) and value.of.name in copies:
            found = [key for argument in module.sites[value.site].args[:1] for key in _keys(argument.value)]
            if len(found) != 1:
                break
            value = found[0]
        return value

    def parameters(self, module: Module, function: Function) -> _Consumed:
        """The parameters of a function that it uses up on some way, as keys."""
        key = (module.path, function.number)
        db = self.matcher.resolver.db
        if key in self._parameters:
            found, noted = self._parameters[key]
            db.asked.update(noted)
            return found
        if not module.body.keyed:
            return {}
        if key in self._open:
            self._lowest = min(self._lowest, self._open.index(key))
            return {}  # a call of itself adds nothing
        outer, self._lowest = self._lowest, len(self._open)
        self._open.append(key)
        walk = _Walk(self, module, function)
        with db.noting() as noted:
            walk.steps(module.steps(function), ())
            found = {value.name: flags for value, flags in walk.flags.items() if isinstance(value, (Param, Instance))}
            self._open.pop()
            if self._lowest >= len(self._open):
                # Else it is only known together with those that it leads back to.
                self._parameters[key] = found, noted
        db.asked.update(noted)
        self._lowest = min(outer, self._lowest)
        return found


class _Walk:
    """A way through a function, in order; branches from the same state, and the body of a loop twice."""

    def __init__(self, keys: Keys, module: Module, function: Function) -> None:
        self.keys = keys
        self.module = module
        self.function = function
        self.state = _State()
        self.touched: dict[Value, _Use] = {}
        """All keys that some way uses up, with their first use."""
        self.again: dict[Value, tuple[int, int, int]] = {}
        """Key -> its second use, its first, and how many come after."""
        self.branches = 0
        self.under: _Flags = frozenset()
        """The flags that the way to here asks for."""
        self.flags: dict[Value, set[_Flags]] = {}
        """Key -> the flags under which it is used up somewhere."""

    def steps(self, steps: Sequence[Taken], way: _Way) -> bool:
        """Take steps in order; whether the flow leaves at their end."""
        for step in steps:
            if isinstance(step, Branch):
                if self.branch(step, way):
                    return True
            elif step == -1:
                return True
            elif step >= 0:
                for value, sure in self.keys.used_at(self.module, step):
                    self.use(self.keys.original(self.module, value), _Use(step, way, sure))
                for value, use in self.keys.repeated_at(self.module, step):
                    self.report(value, use.site, use.site)
        return False

    def use(self, value: Value, use: _Use) -> None:
        """Note that a site uses up a key."""
        self.touched.setdefault(value, use)
        self.flags.setdefault(value, set()).add(self.under)
        before = self.state.used.get(value)
        if before is None:
            self.state.used[value] = use
            return
        if not _on_one_way(before.way, use.way) or not (before.sure or _is_key(value, use)):
            return
        self.report(value, use.site, before.site)
        self.state.used[value] = msgspec.structs.replace(before, sure=True)

    def report(self, value: Value, second: int, first: int) -> None:
        known = self.again.get(value)
        if known is None:
            self.again[value] = (second, first, 0)
        elif second not in known[:2]:
            self.again[value] = (known[0], known[1], known[2] + 1)

    def branch(self, branch: Branch, way: _Way) -> bool:
        if branch.kind == "rebind":
            self.rebind(branch.test)
            return False
        if branch.kind == "loop":
            self.loop(branch, way)
            return False
        if branch.kind in ("with", "trial"):
            return self.steps(branch.arms[0], way)
        if branch.kind in ("yield", "return", "exit", "raise"):
            return branch.kind != "yield"
        self.branches += 1
        number, before, ends, outer = self.branches, self.state, list[_State](), self.under
        flag, first = flag_of(branch.test) if branch.kind == "if" else ("", True)
        for i, arm in enumerate(branch.arms):
            self.state = before.copy()
            self.under = outer | {(flag, (i == 0) is first)} if flag else outer
            if not self.steps(arm, (*way, (number, i))):
                ends.append(self.state)
        self.state, self.under = before, outer
        for end in ends:
            for value, use in end.used.items():
                before.used.setdefault(value, use)
        return not ends

    def rebind(self, target: Value | None) -> None:
        """An attribute, or an item, holds something new: what it held can be used again under the same name."""
        if target is None or not _is_told(target):
            return
        target = _plain(target)
        for value in [v for v in self.state.used if v == target or _holds(v, target)]:
            del self.state.used[value]

    def loop(self, branch: Branch, way: _Way) -> None:
        """The body of a loop: what it uses up and doesn't replace, every turn uses up again."""
        body = branch.arms[0]
        before = self.state.copy()
        if self.steps(body, way):
            return  # it leaves before a second turn
        pairs = [next(_keys(v), None) for v in branch.test.values] if isinstance(branch.test, Items) else []
        replaced = dict(zip(pairs[::2], pairs[1::2], strict=True))
        inside = set(sites(body))
        targets = (step.test for step in branches(body) if step.kind == "rebind")
        rebound = [key for target in targets for key in _keys(target)]
        for value, use in self.state.used.items():
            if value in before.used or use.site not in inside or not _is_key(value, use):
                continue
            if value in replaced:
                # The next turn finds another key under the name: has this turn used that one up?
                next_one = replaced[value]
                other = self.state.used.get(next_one) if next_one is not None else None
                if other is not None and other.site in inside:
                    self.report(value, use.site, other.site)
            elif not (
                _made_by(value, inside)
                or any(value == v or _holds(value, v) for v in rebound)
                or self.keys.matcher.sinks.is_only_printed(self.module, use.site)
            ):
                self.report(value, use.site, use.site)


def _is_copy(module: Module, first: int, second: int) -> bool:
    """Whether a network is initialised a second time, just as before: to get its weights again, perhaps."""
    one, other = module.sites[first], module.sites[second]
    begins = isinstance(one.target, Member) and one.target.attr == "init"
    return begins and first != second and (one.target, one.args) == (other.target, other.args)


def _holds_for(given: dict[str, Value | None], asked: _Flags) -> bool:
    """Whether a call may come to what some flags lead to, by what it gives them, or their defaults."""
    values = ((given.get(name), wanted) for name, wanted in asked)
    return not any(isinstance(value, Const) and bool(value.value) is not wanted for value, wanted in values)


def _on_one_way(first: _Way, second: _Way) -> bool:
    """Whether one way passes two sites: neither stands in an arm of a branch that the other doesn't come through.

    Two branches may ask the same thing, so arms of different ones are not taken to be passed together.
    """
    return first[: len(second)] == second or second[: len(first)] == first


def _keys(value: Value | None) -> Iterator[Value]:
    """The keys in an argument that can be told apart: itself, or those of a dictionary or a list."""
    if isinstance(value, (Mapping, Items)):
        for item in value.values:
            yield from _keys(item)
    elif value is not None and _is_told(value):
        yield _plain(value)


def _plain(value: Value) -> Value:
    """A value without what doesn't matter to its being the same."""
    if isinstance(value, Member):
        return Member(_plain(value.base), value.attr)
    if isinstance(value, Result):
        return Result(value.of if isinstance(value.of, Ref) else Ref(""), value.site)
    if isinstance(value, Either):
        return Either(tuple(_plain(option) for option in value.options if option is not None))
    return Param(value.name) if isinstance(value, Param) else value


def _is_told(value: Value | None) -> bool:
    """Whether two equal values are surely the same thing."""
    while isinstance(value, Member):
        if value.attr == "[*]" or value.attr.startswith("<"):
            return False  # some item, some operation
        value = value.base
    if isinstance(value, Result):
        return value.site >= 0
    if isinstance(value, Either):
        return all(option is not None and _is_told(option) for option in value.options)
    return isinstance(value, (Param, Ref)) or (isinstance(value, Instance) and value.name != "?")


def _root(value: Value) -> Value:
    """What a value is an item or an attribute of."""
    while isinstance(value, Member):
        value = value.base
    return value


def _is_key(value: Value, use: _Use) -> bool:
    """Whether a value is surely a key: JAX itself uses it up, or has made it."""
    return use.sure or _is_made(value)


def _is_made(value: Value) -> bool:
    value = _root(value)
    if isinstance(value, Either):
        return all(option is not None and _is_made(option) for option in value.options)
    return isinstance(value, Result) and isinstance(value.of, Ref) and value.of.name.startswith("jax.random.")


def _made_by(value: Value, sites: set[int]) -> bool:
    """Whether a value is made anew by one of some sites."""
    value = _root(value)
    if isinstance(value, Either):
        return any(option is not None and _made_by(option, sites) for option in value.options)
    return isinstance(value, Result) and (value.site in sites or _made_by(value.of, sites))


def _holds(value: Value, base: Value | None) -> bool:
    """Whether a value is a part of another: `self.keys[0]` of `self.keys`."""
    while isinstance(value, Member):
        value = value.base
        if value == base:
            return True
    return False
