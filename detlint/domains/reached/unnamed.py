"""Functions, classes and methods that no place of the program names, or only what is not run itself: nothing runs them.

Facts tell of calls and of what is handed on. A definition may be named in other ways, by a text or through a table, so this asks
for its references.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from detlint.db import Memo
from detlint.domains.gradient.gradients import BEGINNING
from detlint.folders import INIT
from detlint.ir import code as ir
from detlint.ir import ops as op
from detlint.ir.code import VALUES, Code
from detlint.ir.places import Place
from detlint.model import references
from detlint.model.by_text import ByText
from detlint.model.module import Module
from detlint.model.readers import Counts
from detlint.model.references import MAIN, READERS, TOP, Wanted, block_of
from detlint.model.sites.records import NOTED, PRINTS, Branch, Class, Ref, Result, Site
from detlint.model.started_files import Imported, only_does, only_shows_shapes, place_of, scalars_of
from detlint.model.tests import is_test

if TYPE_CHECKING:
    from detlint.domains.known import Domains

HOOKS: Final = BEGINNING | {
    "backward", "bprop", "build", "call", "construct", "eval", "forward", "main", "predict_step", "run", "setup", "step", "test_step",
    "train", "train_step", "training_step", "validation_step",
}  # fmt: skip
"""Methods that frameworks call by themselves, whichever class has them."""
HEIRS: Final = "__subclasses__"
"""The method by which it is asked for them."""
TRIES: Final = "test_"
"""How the names of functions begin that only try something out."""


class Unnamed:
    """Finds what nothing runs.

    Args:
        domains: what else is known of the program; asked later what may train, and what raises, as that is asked what nothing runs.
    """

    def __init__(self, domains: Domains) -> None:
        users, project = domains.users, domains.project
        resolver = domains.resolver
        self._domains = domains
        self._resolver = resolver
        self._users = users
        self._index = users.index
        self._by_text = ByText(users)
        self._files = Imported(users, self._by_text, project.root, project.packaged)
        self._declared = {text.rpartition(":")[2].partition(".")[0] for text in project.declared}
        self._attributes = domains.attributes
        self._overloads = resolver.catalog.with_context("overloads")
        self._dead: Memo[bool] = Memo(users.db)
        self._hinting: Memo[bool] = Memo(users.db)
        self._offered: Memo[bool] = Memo(users.db)

    def is_in_library(self, module: Module) -> bool:
        """Whether a file is part of what is installed, so that others use it who are not in sight."""
        return self._files.is_in_library(module)

    def is_led_to_by(self, module: Module, scripts: frozenset[str]) -> bool:
        """Whether nobody comes to a file but some scripts."""
        return self._files.is_led_to_by(module, scripts)

    def is_dead(self, module: Module, index: int) -> bool:
        """Whether a site stands in a function, class or method that nothing runs, although others import its file."""
        name, _, method = module.function_of(module.sites[index]).name.partition(".")
        if not name:
            return False
        code = self._resolver.code(module.path)
        if (
            code is not None
            and not module.facts.cells
            and self._is_replaced(code, module.sites[index])
            and not self._is_noted(module)
        ):
            return True
        method = method.partition(".")[0] if name in module.classes else ""
        return self._asked(module, name) or (bool(method) and self._asked(module, name, method))

    def leaves_out(self, module: Module) -> bool:
        """Whether a file is left out altogether, also what its top level makes: runs import another one of its name, from a package.
        What makes something and has no such namesake may yet go through it, in the next line that somebody writes."""

        def find() -> bool:
            return self._users.has_namesake(module) and self._files.is_never_run(module)

        return self._dead.of((module.path, "", ""), find, False)

    def holds(self, module: Module, name: str) -> bool:
        """Whether nothing runs a function or class of a file, although others import that."""
        return self._asked(module, name)

    def _asked(self, module: Module, name: str, method: str = "") -> bool:
        def find() -> bool:
            if method:
                return self._is_never_called(module, name, method, set())
            return self._is_dead(module, name, set())

        return self._dead.of((module.path, name, method), find, False)

    def _is_dead(self, module: Module, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether nothing that runs refers to a definition.

        Args:
            asking: the definitions that this is asked for; what only they say of each other counts for nothing.
        """
        if (module.path, name) in asking:
            return True
        asking.add((module.path, name))
        if "<" in name or "@" in name or name in self._declared:
            return False
        if self._files.is_never_run(module):
            return True
        if _is_decorated(module, name) and not self._is_idle_case(module, name, asking):
            return False
        if self._is_known_to_base(module, name) or is_test(module.path):
            return False
        if not (self._files.is_done_without(module, name) if module.facts.cells else self._files.is_imported(module)):
            return False
        wanted, code = self._wanted(module, name), self._resolver.code(module.path)
        listed = code is not None and name in references.listed(code) and self._files.is_star(module)
        if (
            code is None
            or listed
            or any(self._counts_there(module, p, wanted, asking) for p in self._own(code, wanted))
        ):
            return False
        if module.facts.cells:
            return True  # nothing imports it
        saying = self._users.saying(module, name)
        if saying is None or self._files.is_given_out(module, name) or self._by_text.is_put_together(module):
            return False
        others = (path for path in saying if path != module.path)
        return not any(self._is_named_in(path, wanted, name, asking) for path in others)

    def _wanted(self, module: Module, name: str) -> Wanted:
        homes, stems = partial(self._homes, module), partial(self._stems, module, name)
        return Wanted(module, name, homes, stems, partial(self._by_text.is_evaluated, module))

    def _stems(self, module: Module, name: str) -> frozenset[str]:
        """The last parts of the names of a module, and of the files that import a definition from it."""
        found = {module.facts.module}
        for path in self._users.saying(module, name) or ():
            other = self._resolver.module(path) if path != module.path else None
            if other is not None and self._users.imports(other, Ref(f"{module.path}::{name}"), name):
                found.add(other.facts.module)
        return frozenset(map(_last, found))

    def _homes(self, module: Module) -> frozenset[str]:
        """The parts of the names of the modules by which a definition of a module may be had."""
        heads = (self._resolver.modules.head(path) for path in self._by_text.carriers(module))
        return frozenset(part for head in heads if head is not None for part in head.module.split("."))

    def _own(self, code: Code, wanted: Wanted) -> Iterator[Place]:
        """The references of a definition in its own file, but in what that lists for those who import all of it."""
        yield from references.own(code, wanted.name)
        yield from (place for place in references.texts(code, wanted) if not references.is_listed(place))

    def _counts_there(self, module: Module, place: Place, wanted: Wanted, asking: set[tuple[str, str]]) -> bool:
        """Whether a reference counts: it is run, and does more than to say of which class something is, or than to try it out."""
        block = block_of(place)
        if block == wanted.name or (self._is_hint(module, place, block) and not self._reads_hints(module)):
            return False
        layer = self._resolver.kinds.layer(wanted.ref.name) is not None
        return not self._is_dead_part(module, block, asking, layer=layer, number=place.function.outermost.number)

    def _is_hint(self, module: Module, place: Place, block: str) -> bool:
        """Whether a reference only says of which class something is; a decorator may look at what it is handed."""
        if not place.function.is_hint(place.at):
            return False
        told = place.function.annotated(place.at)
        block = told.outermost.name if told is not None else block
        defined = block in module.functions or block in module.classes
        return not (defined and _is_decorated(module, block))

    def _reads_hints(self, module: Module) -> bool:
        """Whether somebody near a module may build what an annotation names."""
        home = self._users.home(module)
        return self._hinting.of(home, lambda: bool(self._index.saying_any(READERS, home)), False)

    @staticmethod
    def _is_replaced(code: Code, site: Site) -> bool:
        """Whether a site stands in a definition of the top level that a later one of its name replaces."""
        replaced = references.replaced(code)
        found = code.at(site.span.place, *VALUES) if replaced else None
        return found is not None and found[0].outermost.number in replaced

    def _is_known_to_base(self, module: Module, name: str) -> bool:
        """Whether a class may be come to by one that it derives from: that notes its heirs, or somebody asks it for them."""
        own = [*self._resolver.classes.family(f"{module.path}::{name}")][1:]
        bodies = ((home.path, home.classes[inside]) for home, inside in own)
        if any(NOTED in body.methods or self._is_noting(path, body) for path, body in bodies):
            return True
        return bool(own) and bool(self._index.saying_any([HEIRS], self._users.home(module)))

    def _is_noting(self, path: str, body: Class) -> bool:
        """Whether a metaclass of the program makes a class, or a decorator of the program knows it."""
        named = (self._resolver.name(path, d.name) for d in body.decorators if isinstance(d, Ref))
        return any(isinstance(value, Ref) and "::" in value.name for value in named)

    def _is_noted(self, module: Module) -> bool:
        """Whether some class of the program may know those that derive from it."""
        return bool(self._index.saying_any([HEIRS, NOTED, "metaclass"], self._users.home(module)))

    def _is_idle_case(self, module: Module, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether a decorator adds a function to one that is put together of cases, and nothing that runs refers to that."""
        whole, code = self._case_of(module, name), self._resolver.code(module.path)
        saying = self._users.saying(module, whole) if whole and code is not None else None
        if saying is None or code is None:
            return False
        for path in saying:
            if path != module.path:
                return False
        places = (place for place in references.own(code, whole) if not _decorates(place))
        return not any(self._counts_there(module, place, self._wanted(module, whole), asking) for place in places)

    def _case_of(self, module: Module, name: str) -> str:
        """The function of the same file, put together of cases, that a decorator adds one to; "" for none."""
        meaning = self._users.meanings.of(module)
        top = meaning.code.module if meaning is not None else None
        defined = (
            [o for _, o in top.each(op.FUNCTION) if top.code.function(o[1]).name == name] if top is not None else []
        )
        if meaning is None or top is None or len(defined) != 1 or defined[0][2] != 1:
            return ""
        adds = top.ops[defined[0][3]]
        method = top.ops[adds[1]] if adds[0] == op.CALL else (op.END,)
        made = meaning.value(top, method[1]) if method[0] == op.ATTR else None
        is_one = isinstance(made, Result) and isinstance(made.of, Ref) and made.of.name in self._overloads
        return top.dotted(method[1]) if is_one else ""

    def _is_never_called(self, module: Module, owner: str, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether nothing that runs calls a method, which is none that a framework or a base calls by itself. Arguments as those of
        `_is_dead`."""
        full = f"{owner}.{name}"
        if (module.path, full) in asking:
            return True
        asking.add((module.path, full))
        function = module.functions.get(full)
        special = name.startswith("__") and name.endswith("__")
        if function is None or special or name in HOOKS or module.detail(function).decorators:
            return False
        own = f"{module.path}::{owner}"
        layer = self._resolver.kinds.layer(own)
        if layer is not None and name == layer.forward:
            return False
        if any(f"{inside}.{name}" in home.functions for home, inside in [*self._resolver.classes.family(own)][1:]):
            return False
        if is_test(module.path) or not self._files.is_imported(module):
            return False
        runs = partial(self._counts, own, asking)
        return not self.is_offered(module, owner) and not self._attributes.is_read(module, owner, name, counts=runs)

    def running(self, owner: str) -> Counts:
        """Says of places whether they may be run.

        Args:
            owner: a class that is known to be used, as `path::name`.
        """
        return partial(self._counts, owner, set())

    def _counts(self, owner: str, asking: set[tuple[str, str]], path: str, code: ir.Function, at: int) -> bool:
        """Whether an op of a function of a file may be run."""
        other = self._resolver.module(path)
        if other is None:
            return True
        name, _, inside = code.qualified.partition(".")
        method = inside.partition(".")[0] if name in other.classes else ""
        # What was only supposed on the way to an answer says nothing where that is no.
        if method and self._is_never_called(other, name, method, {*asking}):
            return False
        block = name or (MAIN if code.is_main(at) else TOP)
        return owner == f"{path}::{name}" or not self._is_dead_part(other, block, asking, number=code.outermost.number)

    def is_offered(self, module: Module, name: str) -> bool:
        """Whether a library gives a class, or one that derives from it, to whoever uses it."""
        if name.startswith("_") or not self._files.is_in_library(module):
            return False
        return self._offered.of((module.path, name), partial(self._finds_out_offered, module, name), False)

    def _finds_out_offered(self, module: Module, name: str) -> bool:
        saying = self._users.saying(module, name)
        if saying is None or self._files.is_given_out(module, name):
            return True
        wanted = self._wanted(module, name)
        for path in saying:
            meaning = self._users.meanings.at(path)
            if meaning is None:
                continue
            places = (
                references.own(meaning.code, name)
                if path == module.path
                else references.elsewhere(meaning, wanted, name)
            )
            listed = name in references.listed(meaning.code)
            if path.endswith(INIT) or listed or any(_is_base(place) for place in places):
                return True
        return False

    def _is_dead_part(
        self, module: Module, block: str, asking: set[tuple[str, str]], *, layer: bool = False, number: int = 0
    ) -> bool:
        """Whether what a part of a file says counts for nothing: it is not run, or only tries something out.

        Args:
            block: a definition of the top level, or `TOP`, or `MAIN`.
            layer: whether what it says is the name of a layer, which does no more than to give numbers.
            number: that of the definition; 0 where it isn't known which of that name it is.
        """
        if block == TOP:
            return False
        if block == MAIN:
            return only_shows_shapes(module) or (layer and self._only_prints(module))
        code = self._resolver.code(module.path)
        if (
            code is not None
            and not module.facts.cells
            and number in references.replaced(code)
            and not self._is_noted(module)
        ):
            return True
        if block.startswith(TRIES) and (
            _is_trial(module, block) or (code is not None and not any(references.own(code, block)))
        ):
            return True
        return self._is_dead(module, block, asking)

    def _only_prints(self, module: Module) -> bool:
        """Whether a module of a package has a `__main__` block, which only prints, and nothing that may train."""
        return (
            only_does(module, PRINTS)
            and "." in module.facts.module
            and not self._domains.untrained.may_train(module.path)
        )

    def _is_named_in(self, path: str, wanted: Wanted, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether another file may mean a definition by a name that it has: its own, or the one that an import has given it."""
        other, meaning = self._resolver.module(path), self._users.meanings.at(path)
        if other is None or meaning is None:
            return any(map(wanted.is_spelled, scalars_of(self._index, path)))
        imported = references.imports(meaning, wanted, name)
        has = imported or self._resolver.name(path, other.prefix + name) == wanted.ref
        places = [*references.elsewhere(meaning, wanted, name)]
        if has and not places and self._hands_on(other, name):
            return True
        passes_on = imported and path.endswith(INIT)
        closed = passes_on and (self._files.is_closed(other) or self._is_left_there(other, wanted))
        if passes_on and not closed:
            return True
        for new in references.renamed(meaning, wanted, name):
            if self._is_named_by(other, wanted, new, asking):
                return True
        defined = name in other.facts.names or name in other.functions or name in other.classes
        texts = references.texts(meaning.code, wanted, dotted=defined and not has)
        places += (place for place in texts if not (closed and references.is_listed(place)))
        return any(self._counts_there(other, place, wanted, asking) for place in places)

    def _is_named_by(self, package: Module, wanted: Wanted, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether anybody means a definition by the name that a package has given it."""
        code = self._resolver.code(package.path)
        if code is None or any(references.own(code, name)):
            return True
        saying = self._index.saying(name, self._users.home(package))
        return any(path != package.path for path in saying)

    def _hands_on(self, module: Module, name: str) -> bool:
        """Whether a file has no use for a name that it imports, but perhaps somebody has who isn't in sight, or puts names together."""
        return (
            self._files.is_given_out(module, name)
            or not self._files.is_imported(module)
            or self._by_text.is_put_together(module)
        )

    def _is_left_there(self, package: Module, wanted: Wanted) -> bool:
        """Whether a package only hands on a definition of one of its files: who takes it from there says its name, and is asked anyway.

        That is so where runs that start outside of the package lead to it, and nobody may come to what it has by a name that isn't
        written out, or by a text.
        """
        users, inside = self._users, place_of(package) + os.sep
        outside = (end for end in users.ends(package.path) or () if not end.startswith(inside))
        if self._files.is_in_library(package) or not any(map(users.starts, outside)):
            return False
        if self._by_text.may_be_evaluated(package) or self._by_text.is_put_together(package):
            return False
        codes = (self._resolver.code(path) for path in users.saying(wanted.module, wanted.name) or ())
        return not any(
            not references.is_listed(Place(function, at))
            for code in codes
            if code is not None and wanted.name in code.constants
            for function in code.functions()
            for at, _ in function.each(op.CONST)
            if function.constant(at) == wanted.name
        )


def _is_decorated(module: Module, name: str) -> bool:
    if name in module.functions:
        return bool(module.detail(module.functions[name]).decorators)
    return name not in module.classes or bool(module.classes[name].decorators)


def _is_trial(module: Module, name: str) -> bool:
    """Whether a function of a file shows no more than shapes, whoever calls it."""
    steps = module.steps(module.functions[name]) if name in module.functions else ()
    return bool(steps) and all(isinstance(step, Branch) and step.kind == "trial" for step in steps)


def _is_base(place: Place) -> bool:
    """Whether a class derives from what stands at a place."""
    return any(place.function.ops[use.op][0] == op.CLASS for use in place.function.users[place.at])


def _decorates(place: Place) -> bool:
    """Whether something is only asked for what decorates a definition: `@step.register(int)`."""
    function, waiting = place.function, [place.at]
    for at in waiting:
        uses = function.users[at]
        if not uses or any(function.ops[use.op][0] not in (op.ATTR, op.CALL, op.FUNCTION) for use in uses):
            return False
        waiting += [use.op for use in uses if function.ops[use.op][0] != op.FUNCTION]
    return True


def _last(name: str) -> str:
    return name.rpartition(".")[2]
