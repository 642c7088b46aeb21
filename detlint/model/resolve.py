"""What a value is, seen from the whole program: through imports, re-exports, classes and the results of calls.

Normal values have names that mean the same everywhere: an external thing is `Ref("torch.nn.Dropout")` in its canonical
spelling; a definition of the program is `Ref("<file>::<name in the file>")`. `None` is unknown, and stays unknown.

What a name stands for may be an attribute of a class, or of what a call gives, and these rest on names again: here is what goes in a
circle (names, values, their members), and the parts that it asks have files of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from detlint.catalog import Catalog
from detlint.db import Database
from detlint.model.exports import GETTER, lazy
from detlint.model.files import Files
from detlint.model.inheritance import Inheritance
from detlint.model.kinds import Kinds
from detlint.model.module import Module
from detlint.model.modules import Modules
from detlint.model.results import Results
from detlint.model.sites.records import (
    ANY,
    SUPER,
    UNKNOWN_RECEIVER,
    Const,
    Each,
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
    Value,
)
from detlint.model.sites.scope import MISSING, Missing, chosen, is_collection, join, over
from detlint.model.stars import Stars
from detlint.model.types import Types

if TYPE_CHECKING:
    from detlint.model.launches.loaded import Loaded

DEEPEST: Final = 24
"""One lookup may lead so often to the next."""


def of_table(table: Mapping, attr: str) -> Value | None:
    """What a table has under a key, `[name]`, or as an attribute of that name; under `[*]` any of its
    values, if it has no others that aren't known."""
    if attr == "[*]":
        if table.open:
            return None
        return Either(table.values) if len(table.values) > 1 else next(iter(table.values), None)
    key = attr[1:-1] if attr.startswith("[") else attr
    if key in table.keys:
        return table.values[table.keys.index(key)]
    return join(value for other, value in zip(table.keys, table.values, strict=True) if other.startswith("["))


def of_sequence(items: Items, index: str) -> Value | None:
    """What stands at a position of a list or tuple, from 0, or from its end below 0; at `*` any of them."""
    if index == "*":
        return join(items.values)
    if index.lstrip("-").isdigit() and -len(items.values) <= int(index) < len(items.values):
        return items.values[int(index)]
    return None


RETURNED: Final = "returned"
"""Stands before a function whose results are being looked up."""


class Resolver(Files):
    """Answers what values are. Everything asked once is remembered.

    Args:
        says: whether a file has a word in it, as part of another one too.
        db: is told what answers rest on.
    """

    def __init__(self, modules: Modules, catalog: Catalog, says: Callable[[str, str], bool], db: Database) -> None:
        super().__init__(modules, db)
        self.catalog = catalog
        self.stars = Stars(modules, says)
        self.results = Results(self)
        self.classes = Inheritance(self)
        self.kinds = Kinds(self)
        self.types = Types(self)
        self.loaded: Loaded | None = None
        """Knows what files of settings say."""
        self.busy: set[object] = set()
        """What is being looked up, by whichever part: what is asked for again meanwhile isn't known."""
        self._names: dict[tuple[str | int, str], Value | None] = {}
        self._known_contexts: dict[str, set[str]] = {}

    def is_stopped(self, key: object) -> bool:
        """Whether something is being looked up already, or too much is on the way to it."""
        return key in self.busy or len(self.busy) > DEEPEST

    def meant(self, module: Module, written: str) -> str:
        """The full name of what a file writes as a name, perhaps dotted (`nn.Conv2d`); "" where that isn't known."""
        first, dot, rest = written.partition(".")
        of = module.facts.names.get(first)
        found = self.name(module.path, f"{of.name}{dot}{rest}") if isinstance(of, Ref) else None
        return found.name if isinstance(found, Ref) else ""

    def name(self, path: str, name: str) -> Value | None:
        """What a dotted name means in the file `path`."""
        if name in self.catalog.kernel_names:  # also where the program is that library itself, with its examples
            return Ref(name)
        module = self.module(path)
        if module is None:
            return self.full_name(path, name)
        own = name.startswith(module.prefix)
        # All files that import from the same places share what their names mean, but for their own, and the file's itself.
        key = (path if own or name == module.facts.module else module.scope, name)
        found = self._names.get(key, MISSING)
        if not isinstance(found, Missing):
            return found
        if self.is_stopped(key):
            return None
        self.busy.add(key)
        found = self._names[key] = self._own_name(module, name) if own else self.full_name(path, name)
        self.busy.discard(key)
        return found

    def _own_name(self, module: Module, name: str) -> Value | None:
        """What a name means that begins with the module of the file itself; if that has none, what it means to any other file."""
        found = self._inside(module, name[len(module.prefix) :])
        return found if found is not None else self.full_name(module.path, name)

    def full_name(self, path: str, name: str) -> Value | None:
        """What a name means that begins with a module, seen from a file: what that module has, or a library."""
        if ANY in name:
            options = (self.full_name(path, full) for full in self.modules.spelled_out(path, name))
            return join(option for option in options if isinstance(option, Ref) and "::" in option.name)
        place = self.modules.find(path, name)
        if place is None or place[0] == path:
            return self.external(name)
        target = self.module(place[0])
        if target is None:
            return None
        if not place[1]:
            return self._instead_of(target, path, name) or Ref(f"{target.path}::")
        found = self._inside(target, place[1])
        # A package may get names when it is imported, or be another release than the one that its examples are for.
        known = found is None and (canonical := self.catalog.canonical(name)) in self.catalog.calls
        return Ref(canonical) if known else found

    def _instead_of(self, module: Module, path: str, name: str) -> Value | None:
        """What a package has in place of a module, where it imports that from there: `from .set_seed import set_seed`."""
        package, _, last = name.rpartition(".")
        place = self.modules.find(path, package) if package else None
        home = self.module(place[0]) if place is not None and not place[1] else None
        if home is None:
            return None
        bound = home.facts.names.get(last)
        if isinstance(bound, Ref) and bound.name.startswith(f"{name}."):
            return self.normal(home.path, bound)
        given = (
            name in home.facts.stars
            and last in {**module.functions, **module.classes}
            and self.stars.gives(module.path, last)
        )
        return self._inside(module, last) if given and bound is None else None

    def external(self, name: str) -> Value:
        """A name of a library, as the catalog spells it."""
        return Ref(self.catalog.canonical(name))

    def _inside(self, module: Module, name: str) -> Value | None:
        """`Net.forward` inside a module, through what its names stand for; "" is the module itself."""
        if not name:
            return Ref(f"{module.path}::")
        if name in module.functions or name in module.classes:
            return Ref(f"{module.path}::{name}")
        first, _, rest = name.partition(".")
        if first in module.classes:
            value: Value | None = Ref(f"{module.path}::{first}")
        elif first in module.facts.names:
            bound = module.facts.names[first]
            if isinstance(bound, Ref) and bound.name == module.prefix + first:
                return None
            value = self.normal(module.path, bound)
        else:
            self.missed.add(first)
            value = self._starred(module, first)
        for attr in rest.split(".") if rest else ():
            value = self.member(value, attr)
        return value

    def _starred(self, module: Module, name: str) -> Value | None:
        """A name that comes by `from m import *`, or a submodule."""
        for star, path in reversed(self.stars.of(module.path)):
            if path:
                if not self.stars.gives(path, name):
                    continue
                target = self.module(path)
                key = (path, target.prefix + name) if target is not None else None
                if key is None or key in self.busy:
                    continue
                found = self.name(*key)
                if found is not None and found != Ref(key[1]):
                    return found
            else:
                known = self.catalog.canonical(f"{star}.{name}")
                if known in self.catalog.calls:
                    return Ref(known)
        if module.path.endswith("__init__.py"):
            place = self.modules.find(module.path, f"{module.facts.module}.{name}")
            if place is not None and not place[1] and place[0] != module.path:
                submodule = self.module(place[0])
                return Ref(f"{submodule.path}::") if submodule is not None else None
        return self._lazily(module, name) if name != GETTER else None

    def _lazily(self, module: Module, name: str) -> Value | None:
        """What a module's `__getattr__` gives: a part of a module of its package, or such a module."""
        if GETTER not in module.functions and GETTER not in module.facts.names:
            return None
        package = (
            module.facts.module.rpartition(".")[0] if not module.path.endswith("__init__.py") else module.facts.module
        )
        code = self.code(module.path)
        places = (
            self.modules.find(module.path, f"{package}.{text.lstrip('.')}") for text in (lazy(code) if code else ())
        )
        homes = [self.module(place[0]) for place in places if place is not None and not place[1]]
        found = (
            self._inside(home, name)
            for home in homes
            if home is not None and home is not module and name in self.modules.offers(home.path)
        )
        return join(value for value in dict.fromkeys(found) if value is not None)

    def variable(self, path: str, name: str) -> str:
        """The normal name of a variable: `<file>::<name>` where it is bound, not where it is imported."""
        for _ in range(DEEPEST):
            module = self.module(path)
            inside = name
            if module is None or not name.startswith(module.prefix):
                place = self.modules.find(path, name)
                module = self.module(place[0]) if place is not None else None
                if place is None or module is None:
                    return self.catalog.canonical(name)
                path, inside = place
            else:
                inside = name[len(module.prefix) :]
            bound = module.facts.names.get(inside)
            if bound is None:
                self.missed.add(inside.partition(".")[0])
            if not isinstance(bound, Ref) or bound.name == module.prefix + inside:
                return f"{path}::{inside}"
            name = bound.name
        return name

    def normal(self, path: str, value: Value | None, function: Function | None = None) -> Value | None:
        """A value of a file in names that mean the same everywhere.

        `function` is the one whose parameters the value may mention.
        """
        # The commonest first: this is asked more than anything else.
        if isinstance(value, Ref):
            return self.name(path, value.name)
        if isinstance(value, Member):
            base = self.normal(path, value.base, function)
            if isinstance(value.base, Ref) and is_collection(base):
                base = Ref(self.variable(path, value.base.name))
            return self.member(base, value.attr)
        if value is None or isinstance(value, Const):
            return value
        if isinstance(value, Result):
            return self.results.of(path, value, function)
        if isinstance(value, Instance):
            named = self.name(path, value.of)
            return Instance(named.name, value.name) if isinstance(named, Ref) else None
        if isinstance(value, Param):
            return self._parameter(path, value, function)
        if isinstance(value, Either):
            options = [self.normal(path, option, function) for option in value.options]
            return chosen(options[0], options[1], value.by) if "." in value.by else join(options)
        if isinstance(value, Partial):
            of = self.normal(path, value.of, function)
            return Partial(of, self.global_site(path, value.site)) if of is not None else None
        if isinstance(value, Items):
            return Items(tuple(self.normal(path, item, function) for item in value.values), value.kind)
        if isinstance(value, Each):
            return Each(self.normal(path, value.of, function))
        if isinstance(value, Mapping):
            held = tuple(self.normal(path, item, function) for item in value.values)
            table = Mapping(value.keys, held, value.open, self.normal(path, value.rest, function))
            return over(table, table.rest)
        names = {name: self.normal(path, inner, function) for name, inner in value.names.items()}
        return Expression(value.text, names)

    def _parameter(self, path: str, value: Param, function: Function | None) -> Value | None:
        """A parameter is known by its default at most; in `forward` of a layer it is a tensor."""
        if function is not None and function.owner:
            module = self.module(path)
            layer = self.kinds.layer(f"{module.path}::{function.owner}") if module is not None else None
            given = value.default is None or value.default == Const(None)
            if given and layer is not None and function.name.rpartition(".")[2] == layer.forward:
                return Instance(layer.tensor, value.name)
        return Param(value.name, self.normal(path, value.default, function))

    def member(self, base: Value | None, attr: str) -> Value | None:
        """An attribute or item of a normal value."""
        if base is None:
            return None
        if isinstance(base, Ref):
            return self._member_of_name(base.name, attr) if base.name != UNKNOWN_RECEIVER.name else Member(base, attr)
        if isinstance(base, Mapping):
            return of_table(base, attr)
        if isinstance(base, Items) and attr.startswith("["):
            return of_sequence(base, attr[1:-1])
        if isinstance(base, Either):  # None has nothing that is asked for, so where something is, it isn't None
            library = self._stood_in_for(base)
            if library is not None:
                return self.member(library, attr)
            return join(self.member(option, attr) for option in base.options if option != Const(None))
        if isinstance(base, Result) and attr.startswith("[") and (record := self.results.record(base, attr[1:-1])):
            return record
        if attr == SUPER:
            return Member(base, attr)
        if isinstance(base, Member) and base.attr == SUPER and isinstance(base.base, Instance):
            return self.classes.inherited(base.base.of, attr)
        return self._member_of_object(base, attr)

    def _member_of_object(self, base: Value, attr: str) -> Value | None:
        """An attribute or item of an object, by its class where that is known."""
        named = not attr.startswith(("[", "<"))
        if named and isinstance(base, Result) and isinstance(base.of, Either):
            objects = [Result(option, base.site) for option in base.of.options if option is not None]
            each = [(self.member(one, attr), self.types.of(one)) for one in objects]
            # `Net = A if small else B; Net().train()`: it is none of the program's that hasn't what is asked for.
            having = [found for found, _ in each if isinstance(found, Ref)]
            if having and all(isinstance(found, Ref) or "::" in kind for found, kind in each):
                return join(having)
        kind = self.types.of(base)
        if kind and named:
            found = self.classes.attribute(kind, attr)
            if found is not None:
                return found
        if isinstance(base, (Const, Partial)):
            return None
        made = base.of if isinstance(base, Result) and named and not kind else None
        found = self._of_several(made.name, attr) if isinstance(made, Ref) and "::" in made.name else None
        known = all(isinstance(one, Ref) for one in (found.options if isinstance(found, Either) else (found,)))
        return found if known else Member(base, attr)

    def _of_several(self, function: str, attr: str) -> Value | None:
        """An attribute of what a function of the program gives back, where that is one of several objects."""
        if self.is_stopped(key := (RETURNED, function)):
            return None
        self.busy.add(key)
        given = self.results.returned(function)
        found = self.member(given, attr) if isinstance(given, Either) else None
        self.busy.discard(key)
        return found

    def _stood_in_for(self, value: Either) -> Ref | None:
        """The library's module among the values of a name, if all others are what takes its place where it isn't installed: an object, a
        class, nothing. Another module may do the same in earnest."""
        modules = [
            option
            for option in value.options
            if isinstance(option, Ref) and (option.name.endswith("::") or option.name in self.catalog.modules)
        ]
        return modules[0] if len(modules) == 1 and "::" not in modules[0].name else None

    def _member_of_name(self, name: str, attr: str) -> Value | None:
        """What a module or class has under a name, and anything else that has a full name."""
        if attr.startswith(("[", "<")):
            return Member(Ref(name), attr)
        key, colon, inside = name.partition("::")
        if not colon:
            return self.external(f"{name}.{attr}")
        module = self.known(key)
        if not inside:
            return self.name(module.path, f"{module.facts.module}.{attr}") if module.facts.module else None
        if inside in module.classes:
            return self.classes.attribute(name, attr)
        return Member(Ref(name), attr) if is_collection(module.facts.names.get(inside)) else None

    def contexts(self, name: str) -> set[str]:
        """What the catalog says of calls of a name, by all its entries."""
        if name not in self._known_contexts:
            entries = (self.catalog.entries[i] for i in self.catalog.calls.get(name, ()))
            self._known_contexts[name] = {context for entry in entries for context in entry.contexts}
        return self._known_contexts[name]

    def returns_self(self, name: str) -> bool:
        """Whether a method of a library, by its canonical name, gives the object that it is called on."""
        return "returns-self" in self.contexts(name)
