"""What calls give that are more than their result by name: the object of a method that returns it, the module that a function imports by
its name, an object that a parser fills."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from detlint.model.arguments import owner_of
from detlint.model.sites.records import (
    GETATTR,
    LOOKED_UP,
    PUT_TOGETHER,
    Const,
    Either,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Ref,
    Result,
    Value,
    options,
)
from detlint.model.sites.scope import MOST_DEFINITIONS, join

if TYPE_CHECKING:
    from detlint.model.module import Module
    from detlint.model.resolve import Resolver

VIEWS: Final = frozenset({"get", "items", "values"})
"""Methods of tables that give what is in them."""
ABSTRACT: Final = Ref("abc.abstractmethod")
METHODCALLER: Final = Ref("operator.methodcaller")
"""What makes functions that call a method of what they get; other getters read attributes of it."""


def definitions(value: Value | None) -> Value | None:
    """What a table of functions and classes has, if it is one."""
    if not isinstance(value, Mapping) or value.open or any(not isinstance(entry, Ref) for entry in value.values):
        return None
    return join(value.values)


def in_table(value: Value | None, view: str) -> Value | None:
    """What a table that is written out has, as one of its views gives it, or `get` of functions and classes; None for anything else."""
    if view == "get":
        return definitions(value)
    if not isinstance(value, Mapping) or value.open:
        return None
    pairs = zip(value.keys, value.values, strict=True)
    return Items(
        value.values if view == "values" else tuple(Items((Const(key), one), "tuple") for key, one in pairs), "list"
    )


class Results:
    """Answers what calls give."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._given: dict[str, Value | None] = {}
        """Functions -> the modules and classes that they give back."""

    def of(self, path: str, value: Result, function: Function | None) -> Value | None:
        """What a call gives: of `model.to(device)` the model, of `compile(model)` its argument, of `TABLE.get(name)` what may
        be in the table."""
        resolver = self._resolver
        if isinstance(value.of, Member) and value.of.attr in VIEWS:
            inside = in_table(resolver.normal(path, value.of.base, function), value.of.attr)
            if inside is not None:
                return inside
        site = resolver.global_site(path, value.site)
        if value.of in LOOKED_UP and value.site >= 0 and (module := resolver.module(path)) is not None:
            given = [resolver.normal(path, argument.value, function) for argument in module.sites[value.site].args]
            return self.looked_up(module, value, given) or Result(value.of, site)
        of = resolver.normal(path, value.of, function)
        if isinstance(of, Ref) and "::" not in of.name:
            contexts = resolver.contexts(of.name)
            if isinstance(value.of, Member) and resolver.returns_self(of.name):
                return resolver.normal(path, value.of.base, function)
            if "returns-object" in contexts and (made := self._asked_class(path, value.of)) is not None:
                return Result(made, site)
            if "returns-first" in contexts and value.site >= 0:
                module = resolver.module(path)
                args = module.sites[value.site].args if module is not None else ()
                if args and not args[0].name:
                    return resolver.normal(path, args[0].value, function)
            if "returns-record" in contexts and value.site >= 0:
                return self._first_record(path, value.site)
        elif isinstance(of, Ref) and (back := self._thing_given(of.name)) is not None:
            return back
        elif isinstance(of, Result) and value.site >= 0 and self.is_getter(of):
            found = self.asked(of, path, value.site, function)
            return Result(found, site) if of.of == METHODCALLER and found is not None else found
        return Result(of, site) if of is not None else None

    def _asked_class(self, path: str, method: Value | None) -> Ref | None:
        """The class of the program that is asked for a method of a library's: `Net.load_from_checkpoint`."""
        base = owner_of(method) if method is not None else None
        named = self._resolver.name(path, base.name) if isinstance(base, Ref) else None
        return named if isinstance(named, Ref) and self._resolver.classes.is_class(named.name) else None

    def is_getter(self, value: Result) -> bool:
        """Whether a call makes a function that reads attributes of what it gets, or calls a method of it."""
        return isinstance(value.of, Ref) and "getter" in self._resolver.contexts(value.of.name)

    def called(self, getter: Result, path: str, number: int, function: Function | None) -> Value | None:
        """What the call of a getter calls: a method, or a property's function."""
        asked = self.asked(getter, path, number, function)
        if isinstance(asked, Result) and asked.site < 0:
            return asked.of
        return asked if getter.of == METHODCALLER and asked is not None else getter

    def asked(self, getter: Result, path: str, number: int, function: Function | None) -> Value | None:
        """What a call of a getter reads of its first argument; None for several attributes, and where the name isn't known."""
        module, maker = self._resolver.module(path), self._resolver.place(getter.site)
        given = module.sites[number].args if module is not None else ()
        if maker is None or not given or given[0].name:
            return None
        names = [self._resolver.normal(maker[0].path, argument.value) for argument in maker[1].args]
        if not names or not isinstance(names[0], Const) or (len(names) > 1 and getter.of != METHODCALLER):
            return None
        found = self._resolver.normal(path, given[0].value, function)
        for part in str(names[0].value).split("."):
            found = self._resolver.member(found, part)
        return found

    def looked_up(self, module: Module, value: Result, given: Sequence[Value | None]) -> Value | None:
        """What a file gets by names that aren't written out, with all that is given: a module, a part of one, or a text; of several that
        it may be, all that there are. None where a name isn't known."""
        by, path = value.of, module.path
        whole = given[:1] if by == GETATTR else ()
        names = [[o.value for o in options(name) if isinstance(o, Const)] for name in given[len(whole) :]]
        if [len(known) for known in names] != [len(options(name)) for name in given[len(whole) :]]:
            return self._fitting(whole[0], module, module.sites[value.site].args[1].value) if whole else None
        texts = [*map("".join, product(*(map(str, known) for known in names)))][:MOST_DEFINITIONS]
        if by == PUT_TOGETHER:
            return Either(tuple(map(Const, texts))) if len(texts) > 1 else Const(texts[0])
        found = [
            self._resolver.member(whole[0], text) if whole else self._resolver.full_name(path, text) for text in texts
        ]
        return join(value for value in found if value is not None)

    def _fitting(self, whole: Value | None, module: Module, name: Value | None) -> Value | None:
        """The functions and classes of a module, or methods of an object, whose names fit a text that a file puts together of parts which
        aren't all known: `f"train_{model}"`; of an item of a table that isn't known, a module's classes."""
        if not isinstance(whole, Ref | Instance):
            return None
        if not (isinstance(name, Result) and name.of == PUT_TOGETHER):
            return self._any_class(whole) if isinstance(name, Member) and name.attr.startswith("[") else None
        path, _, inside = (whole.name if isinstance(whole, Ref) else whole.of).partition("::")
        parts = [arg.value.value if isinstance(arg.value, Const) else "" for arg in module.sites[name.site].args]
        begin, end = str(parts[0]), str(parts[-1])
        home = self._resolver.module(path) if isinstance(whole, Instance) is bool(inside) else None
        if home is None or not begin + end:
            return None
        within = f"{inside}." if inside else ""
        names = (one.removeprefix(within) for one in (*home.functions, *home.classes) if one.startswith(within))
        there = [one for one in names if "." not in one and len(one) > len(begin + end)]
        fits = [one for one in there if one.startswith(begin) and one.endswith(end)][:MOST_DEFINITIONS]
        return join(Ref(f"{path}::{within}{one}") for one in fits) if fits else None

    def _any_class(self, whole: Ref | Instance) -> Value | None:
        """The classes that a module of the program offers, of which a name that isn't known chooses one."""
        resolver, path = self._resolver, whole.name.removesuffix("::") if isinstance(whole, Ref) else ""
        homes = (resolver.stars.reached(path) or ()) if resolver.is_module(path) else ()
        names = dict.fromkeys(name for home in homes for name in resolver.modules.offers(home))
        offered = [resolver.member(whole, name) for name in names]
        found = [one for one in offered if isinstance(one, Ref) and self._may_be_built(one.name)]
        return join(found) if 1 < len(found) <= MOST_DEFINITIONS else None

    def _may_be_built(self, name: str) -> bool:
        """Whether a name is that of a class of the program of which there may be objects: no method of it waits for derived ones."""
        module, inside = self._resolver.definition(name) or (None, "")
        if module is None or inside not in module.classes:
            return False
        methods = (module.functions.get(f"{inside}.{method}") for method in module.classes[inside].methods)
        decorators = (value for one in methods if one is not None for value in module.detail(one).decorators)
        return all(self._resolver.normal(module.path, value) != ABSTRACT for value in decorators)

    def returned(self, name: str) -> Value | None:
        """What a function of the program gives back."""
        module, function = self._resolver.function(Ref(name)) or (None, None)
        if module is None or function is None or function.deferred:
            return None
        return self._resolver.normal(module.path, function.returns, function)

    def _thing_given(self, name: str) -> Value | None:
        """The module, or one of several, that a function of the program gives back, having imported it by its name; or the class."""
        if name not in self._given:
            self._given[name] = None  # of one that gives back what it gets itself
            value = self.returned(name)
            is_class = isinstance(value, Ref) and "::" in value.name and self._resolver.classes.is_class(value.name)
            if is_class or all(isinstance(option, Ref) and option.name.endswith("::") for option in options(value)):
                self._given[name] = value
        if (found := self._given[name]) is not None:
            self._resolver.opened.add(name.partition("::")[0])
        return found

    def _first_record(self, path: str, number: int) -> Value | None:
        """An object of the class that a call is handed: `tyro.cli(Arguments)`."""
        module = self._resolver.module(path)
        args = module.sites[number].args if module is not None else ()
        named = self._resolver.normal(path, args[0].value) if args and not args[0].name else None
        return Instance(named.name) if isinstance(named, Ref) and "::" in named.name else None

    def record(self, base: Result, index: str) -> Value | None:
        """One of the objects that a parser fills of the classes that it was made with:
        `HfArgumentParser((Arguments, Options)).parse_args_into_dataclasses()[0]`."""
        contexts = self._resolver.contexts(base.of.name) if isinstance(base.of, Ref) and index.isdigit() else ()
        if "parses-records" not in contexts:
            return None
        place = self._resolver.place(base.site)
        parser = place[1].target.base if place is not None and isinstance(place[1].target, Member) else None
        if place is None or not isinstance(parser, Result) or parser.site < 0:
            return None
        args = place[0].sites[parser.site].args
        if not args or args[0].name:
            return None
        classes = self._resolver.normal(place[0].path, args[0].value)
        options = classes.values if isinstance(classes, Items) else (classes,)
        named = options[int(index)] if int(index) < len(options) else None
        return Instance(named.name) if isinstance(named, Ref) and "::" in named.name else None
