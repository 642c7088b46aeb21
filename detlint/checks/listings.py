"""DET115, DET305, DET306: whether an order that nothing fixes becomes data: of a set, a listing, results as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from detlint.catalog import Catalog
from detlint.checks.match import Match, Matcher
from detlint.facts.loops import INSIDE, NUMBERED, SUM, WRITTEN, YIELDED
from detlint.facts.model import ANEW, Const, Detail, Either, Function, Member, Ref, Site, is_made_by
from detlint.program.reach import is_object
from detlint.program.resolve import Module
from detlint.program.users import Callers

ERRORS: Final = ("Error", "Exception", "Warning")
# Methods that show what they are given, or only look at it, by their names.
LOOKS: Final = frozenset({
    "add", "create_commit", "critical", "debug", "difference", "difference_update", "discard", "endswith", "error", "exception",
    "format", "info", "intersection", "intersection_update", "isdisjoint", "isin", "issubset", "issuperset", "log", "pop",
    "print", "remove", "set_description", "startswith", "symmetric_difference", "union", "update", "warn", "warning",
    "warning_once",
})  # fmt: skip
MIXES: Final = frozenset({"?.shuffle", "numpy.random.shuffle", "random.shuffle"})
"""What puts a list into another order where it stands."""
ASKED: Final = frozenset({"index", "item", "key", "tested"})
"""What a table is used for that is asked by name."""
LISTS: Final = frozenset({"DET305", "DET306"})
"""The rules of listings, and of results as they come."""
NESTED: Final = "nested"
"""Entries in this context list things that hold listings themselves."""
NOTHING: Final = 0
KEPT: Final = 1
CUT: Final = 2
DECIDES: Final = 3
DEEPEST: Final = 4
"""Through so many functions that give it back a listing is followed."""


Unsaid = Callable[[Module, int, str, int], bool]
"""Whether a name is said so many times, all in the `__main__` block in which a site stands."""


def matters(module: Module, index: int, matcher: Matcher, callers: Callers, unsaid: Unsaid) -> int:
    """What the order of the items at a site does.

    Returns: `NOTHING` where they are only handled one by one (deleted, copied, printed), tested or sorted; `KEPT` where they
    are gathered, returned or put somewhere as they come; `CUT` where some are taken by position, or all made an array;
    `DECIDES` where the order surely shows: they are counted, drawn from, written to a file, or a loop over them draws.
    """
    site = module.sites[index]
    of_set = site.kind == "order"
    return _Order(module, module.function_of(site), matcher, of_set, index, callers, unsaid).of(site.use)


def picks(module: Module, site: Site, match: Match, catalog: Catalog) -> bool:
    """Whether a hash is cut down to pick something by it: `hash(name) % 10`. What seeds is the business of DET110."""
    kind, _, what = site.use.partition(":")
    if kind != "modulo" or module.function_of(site).name.endswith("__hash__"):
        return False
    options = [o for a in match.arguments.values() if isinstance(a.value, Either) for o in a.value.options]
    if any(isinstance(option, Const) and not isinstance(option.value, str) for option in options):
        return False  # what stands in for a number is one
    api = catalog.canonical(what.removeprefix("argument:"))
    return "seed" not in what.lower() and not any(catalog.entries[i].seeds for i in catalog.calls.get(api, ()))


class _Handed(NamedTuple):
    """Where a function was handed some items."""

    by: _Order
    """What becomes of them in the function that did it."""
    uses: Sequence[str]
    """What becomes there of what comes back."""


class _Order(msgspec.Struct):
    """What becomes of the order at one site."""

    module: Module
    function: Function
    matcher: Matcher
    of_set: bool
    """Whether it is that of a set, which is gone through everywhere; rounding alone is not worth a word there."""
    index: int
    """The site."""
    callers: Callers
    unsaid: Unsaid
    depth: int = 0
    """How many functions have given the items back on the way."""
    seen: set[str] = set()
    """Names that were followed."""
    packed: bool = False
    """Whether what is given back may hold all of the items as one of its own."""
    handed: _Handed | None = None
    """Where the function was handed the items; None where the site is its own."""
    grown: frozenset[str] = frozenset()
    """The names that one loop over the items gathers into."""

    @property
    def catalog(self) -> Catalog:
        return self.matcher.catalog

    @property
    def fates(self) -> dict[str, tuple[str, ...]]:
        return self.module.detail(self.function).fates

    def of(self, use: str) -> int:
        """What the order does in one use."""
        kind, _, what = use.partition(":")
        if kind == "counted":
            return DECIDES if self.of(what) or what == "argument:builtins.dict" else NOTHING
        if kind == "joined":
            return self.of(what)
        if kind == "keyed":
            return self._keyed(what)
        if kind in ("index", "written"):
            return DECIDES if kind == "written" else CUT
        if kind == "returned":
            self.packed = self.packed or what != ""
            return self._returned()
        if kind in ("collected", "turn"):
            return KEPT
        if kind in ("data-loop", "put"):
            self.packed = self.packed or kind == "put"
            grown, _, handed = what.partition(";")
            if handed and all(self._is_put_right(name) for name in handed.split(",") if name != "_"):
                return NOTHING
            self.grown = frozenset(grown.split(","))
            return max(map(self._gathered, grown.split(",")))
        if kind == "argument":
            return self._given(what)
        if kind == "loop" and what:
            return DECIDES if self._draws(*map(int, what.split("-"))) else NOTHING
        if kind == "item" or (kind == "assigned" and not what):
            return KEPT if self.depth else NOTHING  # what a function gives back may be more than the items
        return self._held(what) if kind == "assigned" else NOTHING

    def _keyed(self, use: str) -> int:
        """What it does where a table is made by the names of the items: nothing where the table is only asked for names."""
        kind, _, name = use.partition(":")
        if kind != "assigned" or not name:
            return self.of(use)
        if name in self.seen:
            return NOTHING
        self.seen.add(name)
        details = (
            self.module.body.details if "." in name or not self.function.name else (self.module.detail(self.function),)
        )
        fates = {fate for detail in details for fate in _fates(detail, name)}
        if not fates and "." in name:
            return KEPT  # who asks it, isn't known
        other = (fate for fate in sorted(fates - ASKED) if not self._only_asks(fate, name))
        return max(map(self.of, other), default=NOTHING)

    def _only_asks(self, fate: str, name: str) -> bool:
        """Whether it is a function of the program that a table gets to, kept as an attribute, and that only asks it for names."""
        kind, _, callee = fate.partition(":")
        found = self._defined(callee) if kind == "argument" and "." in name else None
        if found is None:
            return False
        module, function = found
        detail, attribute = module.detail(function), name.rpartition(".")[2]
        given = {
            argument.name or (detail.parameters[position].name if position < len(detail.parameters) else "")
            for site in self.module.sites
            if site.target == Ref(callee)
            for position, argument in enumerate(site.args)
            if isinstance(argument.value, Member) and argument.value.attr == attribute
        }
        known = bool(given) and given <= {parameter.name for parameter in detail.parameters}
        return known and all(ASKED.issuperset(_fates(detail, parameter)) for parameter in given)

    def _held(self, name: str) -> int:
        """What it does where a name holds it; that of the names that a module offers is no matter."""
        if name in self.seen or name == "__all__" or self._is_put_right(name.rstrip(ANEW)):
            return NOTHING
        self.seen.add(name)
        if "." in name or not self.function.name:
            fates = {fate for detail in self.module.body.details for fate in _fates(detail, name)}
            # Who else uses an attribute, or a name of the module, isn't known.
            known = any(other.rstrip(ANEW) == name.rstrip(ANEW) for other in self.fates)
            kept = KEPT if "." in name or not (known or self.unsaid(self.module, self.index, name, 1)) else NOTHING
            return max((kept, *map(self.of, sorted(fates))))
        return max(map(self.of, _fates(self.module.detail(self.function), name)), default=NOTHING)

    def _gathered(self, name: str) -> int:
        """What it does where things are put into a name one by one."""
        if name.startswith(SUM):
            if self.of_set:
                return NOTHING
            name = name.removeprefix(SUM)
        if name.startswith((NUMBERED, WRITTEN)):
            return DECIDES
        if name == YIELDED:
            return self._returned()
        if not name or "." in name or name.startswith(INSIDE):
            return NOTHING if self._is_put_right(name) else KEPT
        if name in self.seen or self._is_put_right(name):
            return NOTHING
        self.seen.add(name)
        known = [fate for other, uses in self.fates.items() if other.rstrip(ANEW) == name for fate in uses]
        fates = [fate for fate in known if fate not in ("gathered", "anew")]
        given = "anew" not in known and any(
            parameter.name == name for parameter in self.module.detail(self.function).parameters
        )
        if given or not known:
            return KEPT
        if not fates and not self.function.name:
            return (
                NOTHING if self.unsaid(self.module, self.index, name, 2) else KEPT
            )  # where it is made, and where it grows
        return max(map(self.of, fates), default=NOTHING)

    def _given(self, callee: str) -> int:
        """What it does where a function is given the items."""
        last = callee.rpartition(".")[2]
        if callee in MIXES or self.catalog.canonical(callee) in MIXES:
            return NOTHING  # it leaves another order to whatever is done with the list later
        if callee.startswith("?."):
            if last in self.catalog.all_drawing_words:
                return DECIDES
            if last in LOOKS or last.startswith("assert"):
                return NOTHING
            return self._by_methods(last)
        if (inside := self._inside(callee)) is not None:
            return inside
        if not callee or last in ("sorted", "natsorted", "len", "set", "sort") or last.endswith(ERRORS):
            return NOTHING
        name = self.catalog.canonical(callee)
        if name in self.catalog.orderless:
            return NOTHING
        draws = any(self.catalog.entries[i].draws for i in self.catalog.calls.get(name, ()))
        if draws or name in self.catalog.numbers_texts:
            return DECIDES
        return CUT if name in self.catalog.keeps_order else KEPT

    def _returned(self) -> int:
        """What those do with the items who call a function that gives them back: nothing, if it is nothing everywhere."""
        if self.handed is not None:
            by, fates = self.handed
            return max(KEPT if fate in ("", "kept") else by.of(fate) for fate in fates)
        name = self.function.name
        uses = self.callers(self.module, name) if name and not self.function.owner and self.depth < DEEPEST else None
        if not uses or any(not use.called or use.site < 0 for use in uses):
            return KEPT
        for use in uses:
            site = use.module.sites[use.site]
            module, depth = use.module, self.depth + 1
            there = replace(
                self, module=module, function=module.function_of(site), index=use.site, depth=depth, seen=set()
            )
            if (
                not site.use
                or site.use.startswith("kept")
                or (site.use.startswith("assigned:") and not self._is_flat())
            ):
                return KEPT
            if there.of(site.use):
                return KEPT
        return NOTHING

    def _is_flat(self) -> bool:
        """Whether what a function gives back is nothing but the items, each of them whole, and none a listing itself."""
        found = [match.entry for match in self.matcher.matches(self.module, self.index)] if not self.depth else []
        whole = any(e.rule in LISTS for e in found) and not any(NESTED in e.contexts for e in found)
        return whole and not self.packed and not self.function.yields

    def _inside(self, callee: str) -> int | None:
        """What a function of the program does with the order of the items that it is given; None for any other."""
        if (found := self._defined(callee)) is None:
            return None
        module, function = found
        parameters = [parameter.name for parameter in module.detail(function).parameters]
        uses, given = list[str](), set[str]()
        for site in self.module.sites:
            if site.function != self.function.number or site.target != Ref(callee):
                continue
            here = {
                argument.name or (parameters[position] if position < len(parameters) else "")
                for position, argument in enumerate(site.args)
                if is_made_by(argument.value, self.index)
            }
            given |= here
            uses += [site.use] if here else []
        if not given:
            given, uses = self._gathered_alone(callee, parameters)
        if not given or not given.issubset(parameters):
            return None
        there = replace(self, module=module, function=function, index=-1, seen=set(), handed=_Handed(self, uses))
        return max(map(there._held, sorted(given)))

    def _gathered_alone(self, callee: str, parameters: Sequence[str]) -> tuple[set[str], list[str]]:
        """The parameters of a function that the calls here give nothing but what one loop gathers, side by side, and what becomes of
        what comes back: `accuracy(labels, found)`; none where anything else is given."""
        sites = [
            site for site in self.module.sites if site.function == self.function.number and site.target == Ref(callee)
        ]
        passed = [argument for site in sites for argument in site.args]
        mine = [name for name in self.grown if f"argument:{callee}" in _fates(self.module.detail(self.function), name)]
        if (
            not mine
            or len(mine) != len(passed)
            or any(argument.name or argument.value is not None for argument in passed)
        ):
            return set(), []
        return set(parameters[: max(len(site.args) for site in sites)]), [site.use for site in sites]

    def _by_methods(self, name: str) -> int:
        """What the methods of that name do with the order of what they are given, which the function calls of objects of the program's
        classes: whichever of their parameters that is."""
        calls = [
            site
            for site in self.module.sites
            if site.function == self.function.number and isinstance(site.target, Member) and site.target.attr == name
        ]
        found = [self._method(site) for site in calls]
        if not found or self.handed is not None:
            return KEPT
        done = NOTHING
        for method, site in zip(found, calls, strict=True):
            if method is None:
                return KEPT
            module, function = method
            parameters = module.detail(function).parameters[1:]
            there = replace(
                self, module=module, function=function, index=-1, seen=set(), handed=_Handed(self, [site.use])
            )
            done = max([done, *(there._held(parameter.name) for parameter in parameters)])
        return done

    def _method(self, site: Site) -> tuple[Module, Function] | None:
        """The method that a call of an object's runs, if it is one of the program's, which nothing replaces or wraps, and its file tells
        what it does with its parameters."""
        assert isinstance(site.target, Member)
        resolver = self.matcher.resolver
        base = resolver.normal(self.module.path, site.target.base, self.function)
        path, colon, owner = resolver.type_of(base).partition("::")
        module = resolver.module(path) if colon else None
        function = module.functions.get(f"{owner}.{site.target.attr}") if module is not None else None
        if module is None or function is None or not module.body.lists or module.detail(function).decorators:
            return None
        return module, function

    def _defined(self, callee: str) -> tuple[Module, Function] | None:
        """The function of the program that a name stands for, if its file tells what it does with its parameters."""
        resolver = self.matcher.resolver
        value = resolver.name(self.module.path, callee)
        path, colon, name = value.name.partition("::") if isinstance(value, Ref) else ("", "", "")
        module = resolver.module(path) if colon else None
        function = module.functions.get(name) if module is not None and module.body.lists else None
        if module is None or function is None or function.owner or function is self.function:
            return None
        return module, function

    def _draws(self, first: int, end: int) -> bool:
        """Whether one of some sites draws when it is passed, so that the order says who gets which number."""
        resolver = self.matcher.resolver
        return any(
            match.entry.draws
            and not match.entry.rule.startswith("DET1")
            and not is_object(match, resolver.layer(match.name) is not None)
            for index in range(first, end)
            for match in self.matcher.matches(self.module, index)
        )

    def _is_put_right(self, name: str) -> bool:
        """Whether a local name, or an attribute anywhere in the file, is put in order."""
        if "." in name:
            return any(name in detail.ordered for detail in self.module.body.details)
        return name in self.module.detail(self.function).ordered


def _fates(detail: Detail, name: str) -> list[str]:
    """What becomes in a function of what a name holds: under it, and under what it is called where it may hold something else."""
    others = [name]
    while others[-1].endswith(ANEW):
        others.append(others[-1].removesuffix(ANEW))
    return [fate for other in others for fate in detail.fates.get(other, ())]
