"""What a value is, seen from the whole program: through imports, re-exports, classes and the results of calls.

Normal values have names that mean the same everywhere: an external thing is `Ref("torch.nn.Dropout")` in its canonical
spelling; a definition of the program is `Ref("<file>::<name in the file>")`. `None` is unknown, and stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Final

import msgspec

from detlint.catalog import Catalog, Framework
from detlint.db import Database
from detlint.facts.model import (
    ANY,
    GETATTR,
    LOOKED_UP,
    OPERATED,
    PUT_TOGETHER,
    SCALED,
    SUPER,
    UNKNOWN_RECEIVER,
    Body,
    Class,
    Const,
    Detail,
    Either,
    Expression,
    Facts,
    Function,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Parameter,
    Partial,
    Ref,
    Result,
    Site,
    Step,
    Value,
    decode_body,
    options,
)
from detlint.facts.scope import MISSING, MOST_DEFINITIONS, Missing, chosen, is_collection, join, over
from detlint.ir.code import Code
from detlint.marks import Noted, body
from detlint.model.arguments import CallArgument, returned
from detlint.model.exports import GETTER, lazy
from detlint.model.modules import Modules

DEEPEST: Final = 24
FEW_NAMES: Final = 4
"""So many names are looked for in the texts of files that offer theirs by `*`, before these are gathered."""


STATIC: Final = Ref("builtins.staticmethod")


class Module(msgspec.Struct, eq=False):
    """A file of the program, with its facts indexed by name."""

    path: str
    """Absolute; normal names begin with it."""
    number: int
    facts: Facts
    prefix: str
    """What the names of its own definitions begin with."""
    scope: int
    """Where it imports from, as `Modules.scope` says."""
    db: Database
    mark: int
    """The number of the mark that stands for what it says: whoever asks for that rests on it."""
    functions: dict[str, Function] = {}
    classes: dict[str, Class] = {}
    _body: Body | None = None

    @property
    def body(self) -> Body:
        """What happens in the file; decoded when first asked for."""
        self.db.asked[self.mark] = None
        if self._body is None:
            self._body = decode_body(self.facts)
        return self._body

    @property
    def sites(self) -> tuple[Site, ...]:
        """Its sites, by position."""
        return self.body.sites

    def steps(self, function: Function) -> tuple[Step, ...]:
        """What a function does, in order."""
        return self.body.steps[function.number]

    def function_of(self, site: Site) -> Function:
        """The function that a site stands in."""
        return self.facts.functions[site.function]

    def detail(self, function: Function) -> Detail:
        """What only matters of a function where this file is checked."""
        return self.body.details[function.number]

    def taken(self, function: Function) -> tuple[Parameter, ...]:
        """The parameters that calls of a function give something: not the object, or class, whose method it is."""
        detail = self.detail(function)
        return detail.parameters[bool(function.owner) and STATIC not in detail.decorators :]

    def around(self, function: Function) -> Iterator[Function]:
        """A function with those that it is defined in, the nearest first."""
        name = function.name
        while name:
            if name in self.functions:
                yield self.functions[name]
            name = name.rpartition(".")[0]

    def rest(self) -> None:
        """Forget the decoded body until it is asked for again."""
        self._body = None


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


def definitions(value: Value | None) -> Value | None:
    """What a table of functions and classes has, if it is one."""
    if not isinstance(value, Mapping) or value.open or any(not isinstance(entry, Ref) for entry in value.values):
        return None
    return join(value.values)


class Resolver:
    """Answers what values are. Everything asked once is remembered.

    Args:
        says: whether a file has a word in it, as part of another one too.
        db: is told what answers rest on.
    """

    def __init__(self, modules: Modules, catalog: Catalog, says: Callable[[str, str], bool], db: Database) -> None:
        self.db = db
        self.modules = modules
        self.says = says
        self.catalog = catalog
        self.by_path: dict[str, Module | None] = {}
        self._numbered: list[Module | None] = [None]
        """By number: from 1, so that no position of a site in its own file is the number of one that means the same everywhere."""
        self._orders: dict[str, tuple[str, ...]] = {}
        self._names: dict[tuple[str | int, str], Value | None] = {}
        self._members: dict[tuple[str, str], Value | None] = {}
        self._layers: dict[str, Framework | None] = {}
        self._bases: dict[str, list[str]] = {}
        self._unknown_bases: set[str] = set()
        """Classes some of whose bases aren't known."""
        self._alternatives: dict[str, list[list[str]]] = {}
        """Classes -> groups of bases, of each of which it has one."""
        self._datasets: dict[str, bool] = {}
        self._known_contexts: dict[str, set[str]] = {}
        self._starry: dict[str, list[tuple[str, str]]] = {}
        self._star_reached: dict[str, list[str] | None] = {}
        self._offers: dict[str, set[str] | None] = {}
        self._said: dict[str, dict[str, bool]] = {}
        """Names that files may offer -> which of them do."""
        self._returned: dict[str, str] = {}
        self._given: dict[str, Value | None] = {}
        """Functions -> the modules and classes that they give back."""
        self._forwarded: dict[str, str] = {}
        """The classes of what layers of the program give when they are called."""
        self._imported: dict[str, list[Module]] = {}
        self._busy: set[object] = set()
        self.opened: Noted[str] = Noted(db, body)
        """The files that were looked into."""
        self.missed: set[str] = set()
        """The names that files were asked for and don't define themselves: to define one may be news to who asked."""

    # -- modules and names --------------------------------------------------------------------------------------

    def module(self, path: str) -> Module | None:
        """The module in a file, None where it can't be read."""
        if path not in self.by_path:
            facts = self.modules.facts(path)
            module = None
            if facts is not None and facts.problem is None:
                prefix, scope = f"{facts.module}.", self.modules.scope(path)
                mark = self.db.number(body, path)
                module = Module(path, len(self._numbered), facts, prefix, scope, self.db, mark)
                module.functions = {f.name: f for f in facts.functions if f.name}
                module.classes = {c.name: c for c in facts.classes}
            self.by_path[path] = module
            self._numbered.append(module)
        return self.by_path[path]

    def code(self, path: str) -> Code | None:
        """The IR of a file; None where there is none."""
        self.opened.add(path)
        return self.modules.code(path)

    def looked_into(self, path: str) -> Module:
        """The module that a normal name begins with, for whoever goes by what it defines."""
        self.opened.add(path)
        return self.known(path)

    def known(self, path: str) -> Module:
        """The module that a normal name begins with."""
        module = self.by_path[path]
        assert module is not None, path
        return module

    def definition(self, name: str) -> tuple[Module, str] | None:
        """The file that a full name of the program begins with, and the name inside it; None for one of a library."""
        path, colon, inside = name.partition("::")
        module = self.module(path) if colon else None
        return (module, inside) if module is not None else None

    def function(self, value: Value | None) -> tuple[Module, Function] | None:
        """The function, or method, of the program that a value surely is; None for anything else."""
        module, inside = (self.definition(value.name) if isinstance(value, Ref) else None) or (None, "")
        function = module.functions.get(inside) if module is not None else None
        return (module, function) if module is not None and function is not None else None

    def family(self, name: str) -> Iterator[tuple[Module, str]]:
        """A class of the program, and those of its bases that are of the program, in the order in which attributes are looked up."""
        for module, inside in filter(None, map(self.definition, self.mro(name))):
            if inside in module.classes:  # a module may stand among the bases, by mistake
                yield module, inside

    def imported(self, module: Module) -> list[Module]:
        """The program's modules that a module imports, in order."""
        if module.path not in self._imported:
            places = [self.modules.find(module.path, name) for name in module.facts.imports]
            paths = dict.fromkeys(place[0] for place in places if place is not None)
            found = [self.module(path) for path in paths]
            self._imported[module.path] = [target for target in found if target is not None]
        return self._imported[module.path]

    def meant(self, module: Module, written: str) -> str:
        """The full name of what a file writes as a name, perhaps dotted (`nn.Conv2d`); "" where that isn't known."""
        first, dot, rest = written.partition(".")
        of = module.facts.names.get(first)
        found = self.name(module.path, f"{of.name}{dot}{rest}") if isinstance(of, Ref) else None
        return found.name if isinstance(found, Ref) else ""

    def name(self, path: str, name: str) -> Value | None:
        """What a dotted name means in the file `path`."""
        module = self.by_path.get(path) or self.module(path)
        if module is None:
            return self._name(path, name)
        own = name.startswith(module.prefix)
        # All files that import from the same places share what their names mean, but for their own, and the file's itself.
        key = (path if own or name == module.facts.module else module.scope, name)
        found = self._names.get(key, MISSING)
        if not isinstance(found, Missing):
            return found
        if key in self._busy or len(self._busy) > DEEPEST:
            return None
        self._busy.add(key)
        found = self._names[key] = self._own_name(module, name) if own else self._name(path, name)
        self._busy.discard(key)
        return found

    def _own_name(self, module: Module, name: str) -> Value | None:
        found = self._inside(module, name[len(module.prefix) :])
        return found if found is not None else self._name(module.path, name)

    def _name(self, path: str, name: str) -> Value | None:
        if ANY in name:
            options = (self._name(path, full) for full in self.modules.spelled_out(path, name))
            return join(option for option in options if isinstance(option, Ref) and "::" in option.name)
        place = self.modules.find(path, name)
        if place is None or place[0] == path:
            return self._external(name)
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
            and self._gives(module.path, last)
        )
        return self._inside(module, last) if given and bound is None else None

    def _external(self, name: str) -> Value:
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
        for star, path in reversed(self.stars(module.path)):
            if path:
                if not self._gives(path, name):
                    continue
                target = self.module(path)
                key = (path, target.prefix + name) if target is not None else None
                if key is None or key in self._busy:
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

    def stars(self, path: str) -> list[tuple[str, str]]:
        """What a file imports with `*`, in order: the name, and the file, "" where it is none of the program's."""
        if path not in self._starry:
            found: list[tuple[str, str]] = []
            head = self.modules.head(path)
            for star in head.stars if head is not None else ():
                place = self.modules.find(path, star)
                if place is None:
                    found.append((star, ""))
                elif not place[1] and place[0] != path:
                    found.append((star, place[0]))
            self._starry[path] = found
        return self._starry[path]

    def _gives(self, path: str, name: str) -> bool:
        """Whether `import *` may take a name from a file, as far as that itself says."""
        head = self.modules.head(path)
        if head is None or not head.closed:
            return not name.startswith("_") and self._may_offer(path, name)
        if path not in self._offers and self.says(path, name):
            self._offers[path] = {*self.modules.offers(path)}
        return name in (self._offers.get(path) or ())

    def _may_offer(self, path: str, name: str) -> bool:
        """Whether a file may bind a name, by `*` too; where packages import hundreds so, most files don't."""
        if path not in self._offers:
            reached = self.reached_by_stars(path)
            if reached is None:
                self._offers[path] = None
            elif name in self._said or len(self._said) < FEW_NAMES:  # as after an edit of one file
                return any(self._binds(other, name) for other in reached)
            else:
                self._offers[path] = {n for o in reached for n in (*self.modules.offers(o), *self.modules.beside(o))}
        offered = self._offers[path]
        return offered is None or name in offered

    def _binds(self, path: str, name: str) -> bool:
        """Whether a file offers a name, or a module of that name stands beside it; most files don't even say it."""
        said = self._said.setdefault(name, {})
        if path not in said:
            offered = self.says(path, name) and name in self.modules.offers(path)
            said[path] = offered or name in self.modules.beside(path)
        return said[path]

    def reached_by_stars(self, path: str) -> list[str] | None:
        """A file and those from which it imports with `*`, however indirectly; None where one of them is not the program's."""
        if path not in self._star_reached:
            reached, seen = [path], {path}
            for other in reached:
                targets = {target: None for _, target in self.stars(other) if target not in seen}
                if "" in targets:
                    self._star_reached[path] = None
                    return None
                seen.update(targets)
                reached += targets
            self._star_reached[path] = reached
        return self._star_reached[path]

    # -- values -------------------------------------------------------------------------------------------------

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
            return self._result(path, value, function)
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
        if isinstance(value, Mapping):
            held = tuple(self.normal(path, item, function) for item in value.values)
            table = Mapping(value.keys, held, value.open, self.normal(path, value.rest, function))
            return over(table, table.rest)
        names = {name: self.normal(path, inner, function) for name, inner in value.names.items()}
        return Expression(value.text, names)

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

    def _result(self, path: str, value: Result, function: Function | None) -> Value | None:
        """What a call gives: of `model.to(device)` the model, of `compile(model)` its argument, of `TABLE.get(name)` what may
        be in the table."""
        if isinstance(value.of, Member) and value.of.attr == "get":
            entries = definitions(self.normal(path, value.of.base, function))
            if entries is not None:
                return entries
        if value.of in LOOKED_UP and value.site >= 0 and (module := self.module(path)) is not None:
            given = [self.normal(path, argument.value, function) for argument in module.sites[value.site].args]
            return self.looked_up(path, value.of, given) or Result(value.of, self.global_site(path, value.site))
        of = self.normal(path, value.of, function)
        if isinstance(of, Ref) and "::" not in of.name:
            contexts = self.contexts(of.name)
            if isinstance(value.of, Member) and self.returns_self(of.name):
                return self.normal(path, value.of.base, function)
            if "returns-first" in contexts and value.site >= 0:
                module = self.module(path)
                site = module.sites[value.site] if module is not None else None
                if site is not None and site.args and not site.args[0].name:
                    return self.normal(path, site.args[0].value, function)
            if "returns-record" in contexts and value.site >= 0:
                return self._first_record(path, value.site)
        elif isinstance(of, Ref) and (back := self._thing_given(of.name)) is not None:
            return back
        return Result(of, self.global_site(path, value.site)) if of is not None else None

    def looked_up(self, path: str, by: Value, given: Sequence[Value | None]) -> Value | None:
        """What a file gets by names that aren't written out, with all that is given: a module, a part of one, or a text; of several that
        it may be, all that there are. None where a name isn't known."""
        whole = given[:1] if by == GETATTR else ()
        names = [[o.value for o in options(name) if isinstance(o, Const)] for name in given[len(whole) :]]
        if [len(known) for known in names] != [len(options(name)) for name in given[len(whole) :]]:
            return None
        texts = [*map("".join, product(*(map(str, known) for known in names)))][:MOST_DEFINITIONS]
        if by == PUT_TOGETHER:
            return Either(tuple(map(Const, texts))) if len(texts) > 1 else Const(texts[0])
        found = [self.member(whole[0], text) if whole else self._name(path, text) for text in texts]
        return join(value for value in found if value is not None)

    def _thing_given(self, name: str) -> Value | None:
        """The module, or one of several, that a function of the program gives back, having imported it by its name; or the class."""
        if name not in self._given:
            self._given[name] = None  # of one that gives back what it gets itself
            value = self._returned_value(name)
            is_class = isinstance(value, Ref) and "::" in value.name and self.is_class(value.name)
            if is_class or all(isinstance(option, Ref) and option.name.endswith("::") for option in options(value)):
                self._given[name] = value
        if (found := self._given[name]) is not None:
            self.opened.add(name.partition("::")[0])
        return found

    def _first_record(self, path: str, number: int) -> Value | None:
        """An object of the class that a call is handed: `tyro.cli(Arguments)`."""
        module = self.module(path)
        args = module.sites[number].args if module is not None else ()
        named = self.normal(path, args[0].value) if args and not args[0].name else None
        return Instance(named.name) if isinstance(named, Ref) and "::" in named.name else None

    def _record(self, base: Result, index: str) -> Value | None:
        """One of the objects that a parser fills of the classes that it was made with:
        `HfArgumentParser((Arguments, Options)).parse_args_into_dataclasses()[0]`."""
        if not (isinstance(base.of, Ref) and index.isdigit() and "parses-records" in self.contexts(base.of.name)):
            return None
        place = self.place(base.site)
        parser = place[1].target.base if place is not None and isinstance(place[1].target, Member) else None
        if place is None or not isinstance(parser, Result) or parser.site < 0:
            return None
        args = place[0].sites[parser.site].args
        if not args or args[0].name:
            return None
        classes = self.normal(place[0].path, args[0].value)
        options = classes.values if isinstance(classes, Items) else (classes,)
        named = options[int(index)] if int(index) < len(options) else None
        return Instance(named.name) if isinstance(named, Ref) and "::" in named.name else None

    def returns_self(self, name: str) -> bool:
        """Whether a method of a library, by its canonical name, gives the object that it is called on."""
        return "returns-self" in self.contexts(name)

    def contexts(self, name: str) -> set[str]:
        """What the catalog says of calls of a name, by all its entries."""
        if name not in self._known_contexts:
            entries = (self.catalog.entries[i] for i in self.catalog.calls.get(name, ()))
            self._known_contexts[name] = {context for entry in entries for context in entry.contexts}
        return self._known_contexts[name]

    def global_site(self, path: str, site: int) -> int:
        """A number for a site of a file that means the same everywhere; -1 for none."""
        module = self.module(path)
        return -1 if site < 0 or module is None else (module.number << 32) | site

    def numbered(self, number: int) -> Module | None:
        """The module of a number."""
        return self._numbered[number]

    def place(self, number: int) -> tuple[Module, Site] | None:
        """The site that a number of `global_site` stands for; None for none."""
        if number < 0:
            return None
        module = self.numbered(number >> 32)
        assert module is not None, f"{number} is a position in some file"
        return module, module.sites[number & 0xFFFFFFFF]

    def _parameter(self, path: str, value: Param, function: Function | None) -> Value | None:
        """A parameter is known by its default at most; in `forward` of a layer it is a tensor."""
        if function is not None and function.owner:
            module = self.module(path)
            layer = self.layer(f"{module.path}::{function.owner}") if module is not None else None
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
            if attr == "[*]":
                if base.open:
                    return None
                return Either(base.values) if len(base.values) > 1 else next(iter(base.values), None)
            key = attr[1:-1] if attr.startswith("[") else attr
            if key in base.keys:
                return base.values[base.keys.index(key)]
            return join(v for k, v in zip(base.keys, base.values, strict=True) if k.startswith("["))
        if isinstance(base, Items) and attr.startswith("["):
            index = attr[1:-1]
            if index == "*":
                return join(base.values)
            if index.lstrip("-").isdigit() and -len(base.values) <= int(index) < len(base.values):
                return base.values[int(index)]
            return None
        if isinstance(base, Either):  # None has nothing that is asked for, so where something is, it isn't None
            library = self._stood_in_for(base)
            if library is not None:
                return self.member(library, attr)
            return join(self.member(option, attr) for option in base.options if option != Const(None))
        if isinstance(base, Result) and attr.startswith("[") and (record := self._record(base, attr[1:-1])):
            return record
        if attr == SUPER:
            return Member(base, attr)
        if isinstance(base, Member) and base.attr == SUPER and isinstance(base.base, Instance):
            return self.inherited(base.base.of, attr)
        named = not attr.startswith(("[", "<"))
        if named and isinstance(base, Result) and isinstance(base.of, Either):
            each = [self.member(Result(option, base.site), attr) for option in base.of.options if option is not None]
            if each and all(isinstance(found, Ref) for found in each):  # `Net = A if small else B; Net().train()`
                return join(each)
        kind = self.type_of(base)
        if kind and named:
            found = self.attribute_of_class(kind, attr)
            if found is not None:
                return found
        if isinstance(base, (Const, Partial)):
            return None
        return Member(base, attr)

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
        if attr.startswith(("[", "<")):
            return Member(Ref(name), attr)
        key, colon, inside = name.partition("::")
        if not colon:
            return self._external(f"{name}.{attr}")
        module = self.known(key)
        if not inside:
            return self.name(module.path, f"{module.facts.module}.{attr}") if module.facts.module else None
        if inside in module.classes:
            return self.attribute_of_class(name, attr)
        return Member(Ref(name), attr) if is_collection(module.facts.names.get(inside)) else None

    def attribute_of_class(self, name: str, attr: str) -> Value | None:
        """`Class.attr` in the order of inheritance."""
        key = (name, attr)
        if key not in self._members:
            if key in self._busy or len(self._busy) > DEEPEST:
                return None
            self._busy.add(key)
            self._members[key] = self._look_in_class(name, attr)
            self._busy.discard(key)
        return self._members[key]

    def _look_in_class(self, name: str, attr: str) -> Value | None:
        key, colon, inside = name.partition("::")
        if not colon:
            return self._external(f"{name}.{attr}")
        module = self.known(key)
        body = module.classes.get(inside)
        if body is None:
            return None
        if attr in body.methods:
            return Ref(f"{name}.{attr}") if attr not in body.properties else Result(Ref(f"{name}.{attr}"))
        if attr in body.attributes:
            return self.normal(module.path, body.attributes[attr], module.functions.get(f"{inside}.__init__"))
        return self.inherited(name, attr)

    def inherited(self, name: str, attr: str, receiver: str = "") -> Value | None:
        """`super().attr` in a class, when `self` is of the class `receiver`: of classes that may be among its bases, or others in their
        place, what each has."""
        order = self.mro(receiver or name)
        found: dict[str, Value] = {}
        for base in order[order.index(name) + 1 :] if name in order else self.bases(name):
            own = self._own_attribute(base, attr)
            if own is not None:
                found[base] = own
                if not self._alternatives or self._has(receiver or name, found):
                    break
        return join(found.values())

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

    def _own_attribute(self, name: str, attr: str) -> Value | None:
        """What a class itself says of an attribute, without its bases."""
        key, colon, inside = name.partition("::")
        if not colon:
            return self._external(f"{name}.{attr}")
        module = self.known(key)
        body = module.classes.get(inside)
        if body is None or (attr not in body.methods and attr not in body.attributes):
            return None
        return self.attribute_of_class(name, attr)

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
        module = self.by_path.get(key) if colon else None
        if module is None or inside not in module.classes:
            return []
        if name in self._bases:
            return self._bases[name]
        named = [self._base(module, inside, base) for base in module.classes[inside].bases]
        groups = [group for each in named for group in each]
        found = [*dict.fromkeys(base for group in groups for base in group if base != name)]
        if any(len(group) > 1 for group in groups):
            self._alternatives[name] = [group for group in groups if len(group) > 1]
        if not self._busy:  # else a name that is being looked up is taken for unknown
            self._bases[name] = found
            self._unknown_bases.update((name,) if not all(named) else ())
        return found

    def knows_bases(self, name: str) -> bool:
        """Whether all direct bases of a class of the program are known."""
        self.bases(name)
        return name in self._bases and name not in self._unknown_bases

    def _base(self, module: Module, name: str, value: Value | None) -> list[list[str]]:
        """What a class derives from that names a value as a base: of each group, from one. None where it isn't known."""
        if isinstance(value, Param):
            several = [
                group for given in self._handed_to(module, name, value) for group in self._base(module, "", given)
            ]
            return [[base for group in several for base in group]] if several else []
        found = self.normal(module.path, value)
        if isinstance(found, Result) and isinstance(found.of, Ref):  # of one of several that a function may give
            found = self._returned_value(found.of.name)
        elif isinstance(found, Member) and found.attr.startswith("["):  # `Scene[int]`
            found = found.base if isinstance(found.base, Ref) and self.is_class(found.base.name) else None
        names = [option.name for option in options(found) if isinstance(option, Ref)]
        # What a function is handed may be the base of the class that it makes.
        site = module.sites[value.site] if isinstance(value, Result) and value.site >= 0 and names else None
        handed = [self.normal(module.path, argument.value) for argument in site.args] if site is not None else []
        own = [v.name for v in handed if isinstance(v, Ref) and "::" in v.name and self.is_class(v.name)]
        return [group for group in (names, *([base] for base in own)) if group]

    def _returned_value(self, name: str) -> Value | None:
        """What a function of the program gives back."""
        module, function = self.function(Ref(name)) or (None, None)
        deferred = module is None or function is None or function.deferred
        return self.normal(module.path, function.returns, function) if module and function and not deferred else None

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

    # -- types --------------------------------------------------------------------------------------------------

    def layer(self, name: str) -> Framework | None:
        """The framework whose layer class `name` is or derives from, None when it isn't a layer."""
        if name in self._layers:
            return self._layers[name]
        if name in self._busy or len(self._busy) > DEEPEST:
            return None
        found = None
        if "::" not in name:
            last = name.rpartition(".")[2]
            entries = (self.catalog.entries[i] for i in self.catalog.calls.get(name, ()))
            returned = {entry.returns for entry in entries if "layer" in entry.contexts}
            for framework in (known for known in self.catalog.frameworks if known.module):
                if (
                    name == framework.module
                    or framework.module in returned
                    or (last[:1].isupper() and any(name == prefix + last for prefix in framework.layers))
                ):
                    found = framework
        else:
            self._busy.add(name)
            found = next((layer for base in self.bases(name) if (layer := self.layer(base))), None)
            self._busy.discard(name)
        self._layers[name] = found
        return found

    def is_surely_no_layer(self, name: str) -> bool:
        """Whether a class of the program is known, all the way up, not to derive from any layer class."""
        key, _, inside = name.partition("::")
        module = self.by_path.get(key)
        if module is None or inside not in module.classes:
            return name.startswith(("builtins.", "abc.", "typing.", "enum.", "collections."))
        if name in self._busy:
            return True
        bases = self.bases(name)
        if not self.knows_bases(name):
            return False
        self._busy.add(name)
        known = all(self.is_surely_no_layer(base) for base in bases)
        self._busy.discard(name)
        return known

    def is_dataset(self, name: str) -> bool:
        """Whether a class of the program derives from what the catalog knows for a dataset."""
        if name not in self._datasets:
            self._datasets[name] = False  # where bases lead in a circle
            bases = self.bases(name)
            self._datasets[name] = any(
                "dataset" in self.contexts(b) or ("::" in b and self.is_dataset(b)) for b in bases
            )
        return self._datasets[name]

    def is_class(self, name: str) -> bool:
        """Whether a normal name is a class: one of the program's, or an external one by its capital."""
        key, colon, inside = name.partition("::")
        if colon:
            return inside in self.known(key).classes
        return name.rpartition(".")[2][:1].isupper()

    def type_of(self, value: Value | None) -> str:
        """The class of a normal value, by normal name; "" when unknown."""
        if isinstance(value, Instance):
            return value.of
        if isinstance(value, Ref):
            # A property that the catalog types: `Path(__file__).parent`.
            owner = value.name.rpartition(".")[0].rpartition(".")[2]
            return self._returned_by(value.name) if owner[:1].isupper() and value.name in self.catalog.calls else ""
        if isinstance(value, Const):
            return f"builtins.{type(value.value).__name__}"
        if isinstance(value, (Items, Mapping)):
            return "builtins.dict" if isinstance(value, Mapping) else f"builtins.{value.kind}"
        if isinstance(value, Either):
            return self._common({self.type_of(option) for option in value.options})
        if isinstance(value, Member) and value.attr.startswith("["):
            kind = self.type_of(value.base)
            return kind if kind in self.tensors else self._type_of_item(value)
        if isinstance(value, Param):
            return self.type_of(value.default) if value.default not in (None, Const(None)) else ""
        return self._type_of_result(value.of, value.site) if isinstance(value, Result) else ""

    @cached_property
    def _closed(self) -> frozenset[str]:
        """Classes whose operators give the class again (`Path / "x"`)."""
        calls, entries = self.catalog.calls, self.catalog.entries
        return frozenset(name for name, found in calls.items() if any("closed" in entries[i].contexts for i in found))

    @cached_property
    def _collections(self) -> frozenset[str]:
        return self.catalog.with_context("collection")

    @cached_property
    def _in_parts(self) -> frozenset[str]:
        return self.catalog.with_context("returns-parts")

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(name for framework in self.catalog.frameworks for name in framework.plain)

    @cached_property
    def tensors(self) -> frozenset[str]:
        return frozenset(framework.tensor for framework in self.catalog.frameworks if framework.tensor)

    def _type_of_result(self, of: Value, site: int) -> str:
        if isinstance(of, Partial):
            return self._type_of_result(of.of, site)
        if isinstance(of, Either):
            return self._common(
                {self._type_of_result(option, site) if option is not None else "" for option in of.options}
            )
        if isinstance(of, Member) and of.attr in (OPERATED, SCALED):
            kind = self.type_of(of.base)
            return kind if kind in self.tensors or kind in self._closed else ""
        if isinstance(of, Ref):
            if of.name in self.catalog.giving_several:
                return self._returned_at(of.name, site)
            if of.name not in self._returned:
                self._returned[of.name] = ""
                self._returned[of.name] = self._returned_by(of.name)
            return self._returned[of.name]
        called = self.type_of(of)
        layer = self.layer(called)
        return self._given_by_layer(called, layer) if layer is not None else ""

    def _common(self, kinds: set[str]) -> str:
        """The class that objects of one of some classes are all of: that class, or the one which all layers derive from."""
        if len(kinds) == 1:
            return kinds.pop()
        layers = {kind: self.layer(kind) for kind in kinds if kind}
        layer = next(iter(layers.values()), None)
        if layer is None or len(layers) < len(kinds) or any(other is not layer for other in layers.values()):
            return ""
        return layer.module if all(self._given_by_layer(kind, layer) == layer.tensor for kind in kinds) else ""

    def _given_by_layer(self, name: str, layer: Framework) -> str:
        """The class of what calling a layer gives: a tensor, if its forward pass doesn't surely make an object of another."""
        if "::" not in name:
            return layer.tensor
        if name not in self._forwarded:
            self._forwarded[name] = layer.tensor  # of one that hands on what it gets itself
            module, function = self.function(Ref(f"{name}.{layer.forward}")) or (None, None)
            value = self.normal(module.path, function.returns, function) if module and function else None
            kind = self.type_of(value) if isinstance(value, Result) else ""
            if "::" in kind and self.layer(kind) is None:
                self._forwarded[name] = kind
        return self._forwarded[name]

    def _type_of_item(self, value: Member) -> str:
        """The class of one of several things that a function of the program returns, `model, sampler = make()`, or that the catalog
        knows: `torch.cuda.default_generators[0]`, `load_dataset(name)["train"]`."""
        if isinstance(value.base, Ref) and value.base.name in self._collections:
            return self._returned_by(value.base.name)
        if part := self.catalog.held.get(self.type_of(value.base)) or self._type_of_part(value):
            return part
        of = value.base.of if isinstance(value.base, Result) else None
        if not isinstance(of, Ref) or "::" not in of.name:
            return ""
        key = f"{of.name}{value.attr}"
        if key not in self._returned:
            self._returned[key] = ""
            module, function = self.function(of) or (None, None)
            if module is not None and function is not None and isinstance(function.returns, Items):
                returned = self.normal(module.path, function.returns, function)
                self._returned[key] = self.type_of(self.member(returned, value.attr))
        return self._returned[key]

    def _type_of_part(self, value: Member) -> str:
        """The class of one of the things that a library gives back under names or numbers: what its first entry `returns`, if the
        call gives the arguments that the one asks for which says so. Nothing is said of what is in such a thing."""
        whole: Value | None = value
        steps = list[str]()
        while isinstance(whole, Member) and whole.attr.startswith("["):
            steps.append(whole.attr)
            whole = whole.base
        if not (isinstance(whole, Result) and isinstance(whole.of, Ref) and whole.of.name in self._in_parts):
            return ""
        if "returns-with-more" in self.contexts(whole.of.name) and steps[-1] == "[0]":
            steps.pop()
        place = self.place(whole.site)
        if place is None or len(steps) > 1:
            return ""
        given = {arg.name for arg in place[1].args}
        lists = {arg.name for arg in place[1].args if isinstance(arg.value, Items)}
        for entry in (self.catalog.entries[i] for i in self.catalog.calls[whole.of.name]):
            asked = {name: said.given for name, said in entry.when.items() if said.given is not None}
            fits = not given & {"*", "**"} and all((name in given) is wanted for name, wanted in asked.items())
            fits = fits and all(name in lists for name, said in entry.when.items() if said.sequence)
            if "returns-parts" in entry.contexts and fits:
                return self._returned_by(whole.of.name)
        return ""

    def _returned_at(self, name: str, site: int) -> str:
        """The class of what one call gives, where its arguments decide that; by the first entry if they can't be read."""
        place = self.place(site)
        if place is None:
            return self._returned_by(name)
        module, call = place
        function = module.facts.functions[call.function]
        given = [CallArgument(arg.name, self.normal(module.path, arg.value, function)) for arg in call.args]
        entries = [self.catalog.entries[i] for i in self.catalog.calls[name]]
        return returned(entries, given, self.catalog.signatures.get(name, []))

    def _returned_by(self, name: str) -> str:
        """The class of what a callable returns."""
        returns = {self.catalog.entries[i].returns for i in self.catalog.calls.get(name, ())} - {"", "generator"}
        if self.is_class(name) and not returns:
            return name
        if "::" in name:
            module, function = self.function(Ref(name)) or (None, None)
            return self.type_of(self.normal(module.path, function.returns, function)) if module and function else ""
        for i in self.catalog.calls.get(name, ()):
            if self.catalog.entries[i].returns:
                # Generator objects keep the name of what made them: their methods are known under it.
                return self.catalog.entries[i].returns if self.catalog.entries[i].returns != "generator" else name
        for framework in self.catalog.frameworks:
            if framework.tensor and name not in self._plain:
                owner, _, last = name.rpartition(".")
                if owner == framework.tensor or (f"{owner}." in framework.producers and last[:1].islower()):
                    return framework.tensor
        return ""
