"""What classes derive from, and the attributes that they have by that."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from detlint.model.module import Module
from detlint.model.sites.records import Member, Param, Ref, Result, Value, options
from detlint.model.sites.scope import join

if TYPE_CHECKING:
    from detlint.model.resolve import Resolver


def _merged(orders: list[tuple[str, ...]]) -> list[str]:
    """The C3 linearisation; where it fails, as Python would, classes come as they are named."""
    found: list[str] = []
    left = [list(order) for order in orders if order]
    while left:
        if len(left) == 1:
            return found + left[0]
        heads = [order[0] for order in left]
        head = next((h for h in heads if not any(h in order[1:] for order in left)), heads[0])
        found.append(head)
        left = [[name for name in order if name != head] for order in left]
        left = [order for order in left if order]
    return found


class Inheritance:
    """Answers what classes of the program derive from, and what is found in them. All names are full ones."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._orders: dict[str, tuple[str, ...]] = {}
        self._members: dict[tuple[str, str], Value | None] = {}
        self._bases: dict[str, list[str]] = {}
        self._unknown_bases: set[str] = set()
        """Classes some of whose bases aren't known."""
        self._alternatives: dict[str, list[list[str]]] = {}
        """Classes -> groups of bases, of each of which it has one."""

    def mro(self, name: str) -> tuple[str, ...]:
        """A class of the program and its bases in the order in which Python looks attributes up."""
        if name not in self._orders:
            self._orders[name] = (name,)  # a class that derives from itself ends here
            bases = self.bases(name)
            self._orders[name] = (name, *_merged([*map(self.mro, bases), tuple(bases)]))
        return self._orders[name]

    def bases(self, name: str) -> list[str]:
        """The direct bases of a class of the program that are known, by normal name; of those that a table or a function gives, all."""
        key, colon, inside = name.partition("::")
        module = self._resolver.module(key) if colon else None
        if module is None or inside not in module.classes:
            return []
        if name in self._bases:
            return self._bases[name]
        named = [self._base(module, inside, base) for base in module.classes[inside].bases]
        groups = [group for each in named for group in each]
        found = [*dict.fromkeys(base for group in groups for base in group if base != name)]
        if any(len(group) > 1 for group in groups):
            self._alternatives[name] = [group for group in groups if len(group) > 1]
        if not self._resolver.busy:  # else a name that is being looked up is taken for unknown
            self._bases[name] = found
            self._unknown_bases.update((name,) if not all(named) else ())
        return found

    def knows_bases(self, name: str) -> bool:
        """Whether all direct bases of a class of the program are known."""
        self.bases(name)
        return name in self._bases and name not in self._unknown_bases

    def family(self, name: str) -> Iterator[tuple[Module, str]]:
        """A class of the program, and those of its bases that are of the program, in the order in which attributes are looked up."""
        for module, inside in filter(None, map(self._resolver.definition, self.mro(name))):
            if inside in module.classes:  # a module may stand among the bases, by mistake
                yield module, inside

    def is_class(self, name: str) -> bool:
        """Whether a normal name is a class: one of the program's, or an external one by its capital."""
        key, colon, inside = name.partition("::")
        if colon:
            return inside in self._resolver.known(key).classes
        return name.rpartition(".")[2][:1].isupper()

    def attribute(self, name: str, attr: str) -> Value | None:
        """`Class.attr` in the order of inheritance."""
        key = (name, attr)
        if key not in self._members:
            if self._resolver.is_stopped(key):
                return None
            self._resolver.busy.add(key)
            self._members[key] = self._look_in_class(name, attr)
            self._resolver.busy.discard(key)
        return self._members[key]

    def inherited(self, name: str, attr: str, receiver: str = "") -> Value | None:
        """`super().attr` in a class, when `self` is of the class `receiver`: of classes that may be among its bases, or others in their
        place, what each has."""
        order = self.mro(receiver or name)
        found: dict[str, Value] = {}
        for base in order[order.index(name) + 1 :] if name in order else self.bases(name):
            own = self.attribute(base, attr) if self._says(base, attr) else None
            if own is not None:
                found[base] = own
                if not self._alternatives or self._has(receiver or name, found):
                    break
        return join(found.values())

    def _look_in_class(self, name: str, attr: str) -> Value | None:
        """What a class has under a name by its own body, else by its bases."""
        key, colon, inside = name.partition("::")
        if not colon:
            return self._resolver.external(f"{name}.{attr}")
        module = self._resolver.known(key)
        body = module.classes.get(inside)
        if body is None or not self._says(name, attr):
            return self.inherited(name, attr) if body is not None else None
        if attr in body.methods:
            return Ref(f"{name}.{attr}") if attr not in body.properties else Result(Ref(f"{name}.{attr}"))
        return self._resolver.normal(module.path, body.attributes[attr], module.functions.get(f"{inside}.__init__"))

    def _says(self, name: str, attr: str) -> bool:
        """Whether a class itself says what an attribute is, without its bases; one of a library says it of all."""
        key, colon, inside = name.partition("::")
        body = self._resolver.known(key).classes.get(inside) if colon else None
        return not colon or (body is not None and (attr in body.methods or attr in body.attributes))

    def _has(self, name: str, having: Collection[str], seen: tuple[str, ...] = ()) -> bool:
        """Whether a class surely is one of some classes, or derives from one, whichever of its alternatives it has."""
        if name in having or name in seen:
            return name in having
        seen = (*seen, name)
        groups = self._alternatives.get(name, ())
        sure = [base for base in self.bases(name) if not any(base in group for group in groups)]
        return any(self._has(base, having, seen) for base in sure) or any(
            all(self._has(base, having, seen) for base in group) for group in groups
        )

    def _base(self, module: Module, name: str, value: Value | None) -> list[list[str]]:
        """What a class derives from that names a value as a base: of each group, from one. None where it isn't known."""
        if isinstance(value, Param):
            several = [
                group for given in self._handed_to(module, name, value) for group in self._base(module, "", given)
            ]
            return [[base for group in several for base in group]] if several else []
        found = self._resolver.normal(module.path, value)
        if isinstance(found, Result) and isinstance(found.of, Ref):  # of one of several that a function may give
            found = self._resolver.results.returned(found.of.name)
        elif isinstance(found, Member) and found.attr.startswith("["):  # `Scene[int]`
            found = found.base if isinstance(found.base, Ref) and self.is_class(found.base.name) else None
        names = [option.name for option in options(found) if isinstance(option, Ref)]
        # What a function is handed may be the base of the class that it makes.
        site = module.sites[value.site] if isinstance(value, Result) and value.site >= 0 and names else None
        given = site.args if site is not None else ()
        handed = [self._resolver.normal(module.path, argument.value) for argument in given]
        own = [v.name for v in handed if isinstance(v, Ref) and "::" in v.name and self.is_class(v.name)]
        return [group for group in (names, *([base] for base in own)) if group]

    def _handed_to(self, module: Module, name: str, parameter: Param) -> Iterator[Value | None]:
        """What a function that makes a class may be handed, as far as its own file calls it."""
        function = module.functions.get(name.rpartition(".")[0])
        if function is None:
            return
        if parameter.default is not None:
            yield parameter.default
        own = Ref(f"{module.prefix}{function.name}")
        names = [each.name for each in module.detail(function).parameters if not each.kind]
        for site in module.sites:
            for number, argument in enumerate(site.args if site.target == own else ()):
                if (argument.name or next(iter(names[number:]), "")) == parameter.name:
                    yield argument.value
