"""The hardware that all scripts choose which lead to a file, and runs that only compute on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from detlint.catalog import Catalog
from detlint.db import Memo
from detlint.domains.device.hardware import DEVICES, target_of
from detlint.domains.gradient.untrained import Untrained
from detlint.domains.matching.contexts import in_context
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.scope import chosen
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Use
from detlint.model.module import Module
from detlint.model.places import call_of
from detlint.model.resolve import Resolver
from detlint.model.runs.reach import Place, Reach
from detlint.model.sites.records import Const, options
from detlint.model.tests import is_test
from detlint.model.uses import Users

NOWHERE: Final = frozenset[str]()


class Hardware:
    """Looks for the scripts that lead to a file, through all that imports it.

    Args:
        untrained: knows what speaks of training.
    """

    def __init__(self, resolver: Resolver, users: Users, untrained: Untrained) -> None:
        self._resolver = resolver
        self._catalog: Catalog = resolver.catalog
        self._users = users
        self._untrained = untrained
        self._chosen: Memo[frozenset[str]] = Memo(users.db)
        self._frameworks = {name.partition(".")[0] for name in self._catalog.devices}
        self._parameters = frozenset(self._catalog.devices.values())

    def everywhere(self, module: Module) -> frozenset[str]:
        """The hardware that all scripts which import a file, however indirectly, choose in so many words; nothing where one that has
        networks leaves it open, or where only the CPU is chosen, as for a trial. If none is seen to import it, those of its package
        are meant: one of them comes to it by a name that is put together, or by a path that Python is told of."""
        if not self._names_framework(module):
            return NOWHERE
        return self._chosen.of(module.path, lambda: self._by_scripts(module), NOWHERE)

    def _by_scripts(self, module: Module) -> frozenset[str]:
        users = self._users
        ends = users.ends(module.path)
        alone = ends is not None and not any(users.starts(end) for end in ends if end != module.path)
        scripts = self._of_package(module) if alone else ends
        others = [path for path in scripts if path != module.path] if scripts is not None else []
        return self._said(others)

    def _of_package(self, module: Module) -> Iterator[str]:
        """The scripts of a file's package: those in the folders around the file, and others in which hardware is chosen."""
        package, texts = self._users.package(module), self._users.index
        if package:
            inside = f"{os.path.dirname(module.path)}{os.sep}"
            choosing = {*filter(self._chooses, texts.saying_any(sorted(self._parameters), package))}
            for path in texts.below(package):
                around = inside.startswith(os.path.dirname(path) + os.sep)
                if path in choosing or (around and self._users.starts(path)):
                    yield path

    def _chooses(self, path: str) -> bool:
        code = self._resolver.by_words(path, *self._parameters)
        return code is not None and not self._parameters.isdisjoint(code.identifiers)

    def _said(self, scripts: Iterable[str]) -> frozenset[str]:
        """What some scripts choose; nothing where one that has networks leaves it open."""
        found = set[str]()
        for script in map(self._resolver.module, scripts):
            if script is not None:
                said = chosen(script, self._catalog)
                if not said and self._has_networks(script):
                    return NOWHERE
                found |= said
        return frozenset(found) if found - {"cpu"} else NOWHERE

    def _has_networks(self, script: Module) -> bool:
        """Whether a script may run networks, other than for a test: one that neither names a framework nor speaks of training prepares
        data beside them."""
        named = self._names_framework(script) or self._untrained.may_train(script.path)
        return named and not is_test(script.path)

    def _names_framework(self, module: Module) -> bool:
        return not self._frameworks.isdisjoint(name.partition(".")[0] for name in module.facts.imports)


class OnCpu:
    """Finds runs that only compute on the CPU: all devices of PyTorch that they make are that, and none of their files names another one
    where the flow may come.

    Args:
        keeps_from: whether the program, as its calls and settings are, keeps the flow from a site.
    """

    def __init__(self, matcher: Matcher, keeps_from: Callable[[Module, int], bool]) -> None:
        self._matcher, self._keeps_from = matcher, keeps_from

    def holds(self, reach: Reach) -> bool:
        """Whether a run only computes on the CPU."""
        made = [found for found in in_context("device", reach, self._matcher) if found[1].argument("type")]
        words = [
            argument.value
            for place, effect in made
            if (argument := effect.argument("type"))
            and not self._keeps_from(place.module, place.site)
            and not self._is_where_loaded(place)
        ]
        said = [option.value if isinstance(option, Const) else "" for word in words for option in options(word)]
        if not said or any(target_of(word) != "cpu" for word in said):
            return False
        if in_context("finds-hardware", reach, self._matcher):
            return False
        return not any(map(self._names_another, sorted({*reach.through, reach.entry.module.path})))

    def _is_where_loaded(self, place: Place) -> bool:
        """Whether a device only says where what is loaded lies at first: `torch.load(path, map_location=torch.device("cpu"))`."""
        point = call_of(self._matcher.resolver, place.module, place.module.sites[place.site])
        if point is None:
            return False
        function, uses = point.function, point.function.users[point.at]
        calls = [use.op for use in uses if function.ops[use.op][0] == op.CALL]
        loads = [at for at in calls if function.called(at) == "load" or "map_location" in function.call(at).named]
        given = [function.call(load).argument(1, "map_location") for load in loads]
        return bool(uses) and given == [point.at] * len(uses)

    def _names_another(self, path: str) -> bool:
        """Whether a file may put something on an accelerator."""
        module, code = self._matcher.resolver.module(path), self._matcher.resolver.code(path)
        if module is None or code is None or not module.facts.mentions:
            return False
        sites = {site.span.place: number for number, site in enumerate(module.sites) if site.kind == "call"}

        def is_kept_from(function: Function, call: int) -> bool:
            number = sites.get(function.span(call), -1)
            return number >= 0 and self._keeps_from(module, number)

        return any(
            not is_kept_from(function, use.op) if function.ops[use.op][0] == op.CALL else True
            for function in code.functions()
            for use in _naming(function)
        )


def _naming(function: Function) -> Iterator[Use]:
    """The uses of words for accelerators in a function, but to compare them, or to look something up; and the calls of methods that
    have such names: `x.cuda()`."""
    for at, operation in enumerate(function.ops):
        if operation[0] == op.CONST and target_of(function.constant(at)) not in ("", "cpu"):
            yield from (
                use
                for use in function.users[at]
                if not _is_key(function, use) and function.ops[use.op][0] != op.COMPARE
            )
        elif operation[0] == op.ATTR and function.strings[operation[2]] in DEVICES:
            yield from (use for use in function.users[at] if function.ops[use.op][0] == op.CALL and use.place == 1)


def _is_key(function: Function, use: Use) -> bool:
    """Whether a value is only a key of a table."""
    code = function.ops[use.op][0]
    return code == op.ITEM or (code == op.SET_ITEM and use.place == 2) or (code == op.DICT and use.place % 2 == 1)
