"""Functions, classes and methods that no place of the program names, or only what is not run itself: nothing runs them.

Facts tell of calls and of what is handed on. A definition may be named in other ways, by a text or through a table, so this asks
the texts of the files, with the meaning that a name has there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Final

from detlint.checks.gradients import BEGINNING
from detlint.checks.tests import is_test
from detlint.checks.unchosen import Unchosen
from detlint.db import Memo
from detlint.facts.model import PRINTS, SHAPES, Branch, Class, Const, Items, Member, Ref, Result, Site, Value
from detlint.facts.yaml_file import scalars
from detlint.facts.yaml_text import is_yaml
from detlint.folders import INIT
from detlint.ir import code as ir
from detlint.ir import ops as op
from detlint.ir.code import VALUES, Code, Function
from detlint.ir.places import Place
from detlint.model import references
from detlint.model.dynamic import EVALUATING, WORDS, Dynamic
from detlint.model.meaning import Meaning
from detlint.model.readers import Counts, Readers
from detlint.model.references import MAIN, READERS, TOP, Wanted, block_of
from detlint.notebook import is_notebook
from detlint.program.documents import Documents
from detlint.program.resolve import Module, Resolver
from detlint.program.users import Users

HOOKS: Final = BEGINNING | {
    "backward", "bprop", "build", "call", "construct", "eval", "forward", "main", "predict_step", "run", "setup", "step", "test_step",
    "train", "train_step", "training_step", "validation_step",
}  # fmt: skip
"""Methods that frameworks call by themselves, whichever class has them."""
NOTED: Final = "__init_subclass__"
"""The method by which a class notes those that derive from it."""
HEIRS: Final = "__subclasses__"
"""The method by which it is asked for them."""
_STARTS: Final = frozenset({"-m", "import", "python", "python3"})
"""Words of a command, or a statement, that starts or imports a file."""
TRIES: Final = "test_"
"""How the names of functions begin that only try something out."""

Never = Callable[[Module, Place], bool]
"""Says whether the flow never comes to a place of a file."""


class Unnamed:
    """Finds what nothing runs.

    Args:
        users: knows which files import a file.
        attributes: knows what reads the attributes of objects.
        root: the project's root.
        packaged: whether the project is made to be installed, so that others use its packages.
        declared: the entry points that its metadata and its configuration name.
        speaks: whether anything may train in a file, by its words.
        makes_none: whether no object of a class ever comes to be.
        documents: knows what settings and documents say.
    """

    def __init__(
        self,
        resolver: Resolver,
        users: Users,
        attributes: Readers,
        root: str,
        packaged: bool,
        declared: Collection[str],
        speaks: Callable[[str], bool],
        makes_none: Callable[[Module, str], bool],
        documents: Documents,
    ) -> None:
        self._resolver = resolver
        self._users = users
        self._texts = users.texts
        self._root = root
        self._packaged = packaged
        self._declared = {text.rpartition(":")[2].partition(".")[0] for text in declared}
        self._attributes = attributes
        self._unchosen = Unchosen(users, documents, self.is_in_library)
        self._speaks = speaks
        self._makes_none = makes_none
        self._overloads = resolver.catalog.with_context("overloads")
        self._idle: Memo[bool] = Memo(users.db)
        self._led: Memo[bool] = Memo(users.db)
        self._hinting: Memo[bool] = Memo(users.db)
        self._evaluated: Memo[bool] = Memo(users.db)
        self._together: Memo[bool] = Memo(users.db)
        self._offered: Memo[bool] = Memo(users.db)
        self._keeps_from: Never | None = None

    def where(self, keeps_from: Never) -> Unnamed:
        """The same, but that what stands at a place which the flow never comes to names nothing.

        Args:
            keeps_from: says of such places in the texts of definitions whether that holds.
        """
        other = copy(self)
        other._keeps_from, other._idle = keeps_from, Memo(self._users.db)
        return other

    def is_idle(self, module: Module, index: int) -> bool:
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
            return self._users.has_namesake(module) and self._is_never_run(module)

        return self._idle.of((module.path, "", ""), find, False)

    def holds(self, module: Module, name: str) -> bool:
        """Whether nothing runs a function or class of a file, although others import that."""
        return self._asked(module, name)

    def is_never_chosen(self, module: Module, name: str) -> bool:
        """Whether a registry keeps a definition of a file that nobody chooses."""
        return self._unchosen.holds(module, name) and not self._is_put_together(module)

    def is_chosen_by_nobody(self, module: Module, name: str) -> bool:
        """Whether the only decorator of a definition puts it into a registry, out of which nothing in its project takes it."""
        return self._unchosen.by_nobody(module, name)

    def _asked(self, module: Module, name: str, method: str = "") -> bool:
        def find() -> bool:
            if method:
                return self._is_never_called(module, name, method, set())
            return self._is_idle(module, name, set())

        return self._idle.of((module.path, name, method), find, False)

    def _is_idle(self, module: Module, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether nothing that runs refers to a definition.

        Args:
            asking: the definitions that this is asked for; what only they say of each other counts for nothing.
        """
        if (module.path, name) in asking:
            return True
        asking.add((module.path, name))
        if "<" in name or "@" in name or name in self._declared:
            return False
        if self._is_never_run(module):
            return True
        if _is_decorated(module, name) and not self._is_idle_case(module, name, asking):
            return self.is_never_chosen(module, name)
        if self._is_known_to_base(module, name) or is_test(module.path):
            return False
        if not (self._is_done_without(module, name) if module.facts.cells else self._is_imported(module)):
            return False
        wanted, code = self._wanted(module, name), self._resolver.code(module.path)
        listed = code is not None and name in references.listed(code) and self._is_star(module)
        if (
            code is None
            or listed
            or any(self._counts_there(module, p, wanted, asking) for p in self._own(code, wanted))
        ):
            return False
        if module.facts.cells:
            return True  # nothing imports it
        saying = self._users.saying(module, name)
        if saying is None or self._is_given_out(module, name) or self._is_put_together(module):
            return False
        others = (path for path in saying if path != module.path)
        return not any(self._is_named_in(path, wanted, name, asking) for path in others)

    def _wanted(self, module: Module, name: str) -> Wanted:
        homes, stems = partial(self._homes, module), partial(self._stems, module, name)
        return Wanted(module, name, homes, stems, partial(self._is_evaluated, module))

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
        heads = (self._resolver.modules.head(path) for path in self._carriers(module))
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
        if self._keeps_from is not None and self._keeps_from(module, place):
            return False
        layer = self._resolver.layer(wanted.ref.name) is not None
        return not self._is_dark(module, block, asking, layer=layer, number=place.function.outermost.number)

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
        return self._hinting.of(home, lambda: bool(self._texts.saying_any(READERS, home)), False)

    @staticmethod
    def _is_replaced(code: Code, site: Site) -> bool:
        """Whether a site stands in a definition of the top level that a later one of its name replaces."""
        replaced = references.replaced(code)
        found = code.at(site.span.place, *VALUES) if replaced else None
        return found is not None and found[0].outermost.number in replaced

    def _is_known_to_base(self, module: Module, name: str) -> bool:
        """Whether a class may be come to by one that it derives from: that notes its heirs, or somebody asks it for them."""
        bases = self._resolver.mro(f"{module.path}::{name}")[1:] if name in module.classes else ()
        own = [(path, inside) for path, colon, inside in (base.partition("::") for base in bases) if colon]
        bodies = ((path, self._resolver.known(path).classes.get(inside)) for path, inside in own)
        if any(body is None or NOTED in body.methods or self._is_noting(path, body) for path, body in bodies):
            return True
        return bool(own) and bool(self._texts.saying_any([HEIRS], self._users.home(module)))

    def _is_noting(self, path: str, body: Class) -> bool:
        """Whether a metaclass of the program makes a class, or a decorator of the program knows it."""
        named = (self._resolver.name(path, d.name) for d in body.decorators if isinstance(d, Ref))
        return any(isinstance(value, Ref) and "::" in value.name for value in named)

    def _is_noted(self, module: Module) -> bool:
        """Whether some class of the program may know those that derive from it."""
        return bool(self._texts.saying_any([HEIRS, NOTED, "metaclass"], self._users.home(module)))

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
        `_is_idle`."""
        full = f"{owner}.{name}"
        if (module.path, full) in asking:
            return True
        asking.add((module.path, full))
        function = module.functions.get(full)
        special = name.startswith("__") and name.endswith("__")
        if function is None or special or name in HOOKS or module.detail(function).decorators:
            return False
        own = f"{module.path}::{owner}"
        layer = self._resolver.layer(own)
        if layer is not None and name == layer.forward:
            return False
        bases = [base.partition("::") for base in self._resolver.mro(own)[1:]]
        if any(f"{inside}.{name}" in self._resolver.known(path).functions for path, colon, inside in bases if colon):
            return False
        if is_test(module.path) or not self._is_imported(module):
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
        function = other.functions.get(f"{name}.{method}") if method else None
        if function is not None and not other.detail(function).decorators and self._makes_none(other, name):
            return False
        block = name or (MAIN if code.is_main(at) else TOP)
        return owner == f"{path}::{name}" or not self._is_dark(other, block, asking, number=code.outermost.number)

    def is_offered(self, module: Module, name: str) -> bool:
        """Whether a library gives a class, or one that derives from it, to whoever uses it."""
        if name.startswith("_") or not self.is_in_library(module):
            return False
        return self._offered.of((module.path, name), partial(self._finds_out_offered, module, name), False)

    def _finds_out_offered(self, module: Module, name: str) -> bool:
        saying = self._users.saying(module, name)
        if saying is None or self._is_given_out(module, name):
            return True
        wanted = self._wanted(module, name)
        for path in saying:
            meaning = self._meaning(path)
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

    def is_led_to_by(self, module: Module, scripts: frozenset[str]) -> bool:
        """Whether nobody comes to a file but some scripts: no other file imports it, or something of its name, however indirectly, and
        nothing looks for files by names that are put together. What a package gives out anybody may have."""
        return self._led.of((module.path, scripts), lambda: self._finds_out_led(module, scripts), False)

    def _finds_out_led(self, module: Module, scripts: frozenset[str]) -> bool:
        users = self._users
        ends = users.ends(module.path)
        if ends is None or not scripts.issuperset(ends) or any(map(is_notebook, ends)) or self.is_in_library(module):
            return False
        waiting, seen = [module.path], {module.path, *scripts}
        for path in waiting:
            importers, other = users.importers(path), self._resolver.module(path)
            if path.endswith(INIT) or other is None or any(name not in importers for name in users.naming(other)):
                return False
            waiting += [importer for importer in importers if importer not in seen]
            seen.update(importers)
        return not self._may_be_found(module)

    def _is_dark(
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
            return _only_shows_shapes(module) or (layer and self._only_prints(module))
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
        return self._is_idle(module, block, asking)

    def _only_prints(self, module: Module) -> bool:
        """Whether a module of a package has a `__main__` block, which only prints, and nothing that may train."""
        return _only_does(module, PRINTS) and "." in module.facts.module and not self._speaks(module.path)

    def _is_named_in(self, path: str, wanted: Wanted, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether another file may mean a definition by a name that it has: its own, or the one that an import has given it."""
        other, meaning = self._resolver.module(path), self._meaning(path)
        if other is None or meaning is None:
            return any(map(wanted.is_spelled, self._scalars(path)))
        imported = references.imports(meaning, wanted, name)
        has = imported or self._resolver.name(path, other.prefix + name) == wanted.ref
        places = [*references.elsewhere(meaning, wanted, name)]
        if has and not places and self._hands_on(other, name):
            return True
        passes_on = imported and path.endswith(INIT)
        closed = passes_on and (self._is_closed(other) or self._is_left_there(other, wanted))
        if passes_on and not closed:
            return True
        for new in references.renamed(meaning, wanted, name):
            if not closed or self._is_named_by(other, wanted, new, asking):
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
        saying = self._texts.saying(name, self._users.home(package))
        return any(path != package.path for path in saying)

    def _scalars(self, path: str) -> Sequence[str]:
        """The values of a file of settings; of a file of Python that can't be parsed none."""
        data = self._texts.of(path) if is_yaml(path) else None
        return scalars(data) if data is not None else ()

    def _hands_on(self, module: Module, name: str) -> bool:
        """Whether a file has no use for a name that it imports, but perhaps somebody has who isn't in sight, or puts names together."""
        return self._is_given_out(module, name) or not self._is_imported(module) or self._is_put_together(module)

    def _is_evaluated(self, module: Module) -> bool:
        return self._evaluated.of(module.path, lambda: self._may_be_evaluated(module), False)

    def _may_be_evaluated(self, module: Module) -> bool:
        """Whether a text that is no more than a name may become a definition of a module: somebody looks for files, hands a module
        on to whoever may ask for it, or evaluates what is put together."""
        home = self._users.home(module)
        if any(
            self._hands_over(path, carrier) for carrier in self._carriers(module) for path in self._holders(carrier)
        ):
            return True
        if any(self._finding(home)):
            return True
        for path in self._texts.saying_any(sorted(EVALUATING), home):
            if (dynamic := self._users.dynamic(path)) is not None and dynamic.evaluates:
                return True
        return False

    def _hands_over(self, path: str, carrier: str) -> bool:
        """Whether a file does more with another one that it imports as a module than to take what that has by its names."""
        meaning = self._meaning(path)
        own = Ref(f"{carrier}::")
        return meaning is None or any(
            meaning.value(function, at) == own and any(function.ops[use.op][0] != op.ATTR for use in function.users[at])
            for function in meaning.code.functions()
            for at, _ in function.each(op.LOAD, op.ATTR)
        )

    def _meaning(self, path: str) -> Meaning | None:
        """What the values in a file mean; None for one that is no Python."""
        module = self._resolver.module(path)
        return self._users.meanings.of(module) if module is not None else None

    def _finding(self, home: str) -> Iterator[tuple[str, Dynamic]]:
        """The files below a folder that may come to others without their names."""
        for path in self._texts.saying_any(sorted(WORDS), home):
            dynamic = self._users.dynamic(path)
            if dynamic is not None and dynamic.finding:
                yield path, dynamic

    def _is_imported(self, module: Module) -> bool:
        if self._users.is_imported(module):
            return True
        # What is installed is imported by its whole name.
        if self.is_in_library(module):
            return False
        return self._users.is_said_to_be_imported(module) or self._is_left_out(module) or self._is_written_out(module)

    def _is_done_without(self, module: Module, name: str) -> bool:
        """Whether a notebook, of which all cells can be read, does something with definitions of its own behind that of a name, for its own
        sake: whoever writes it has come to the use of that one. No other notebook runs it."""
        dynamic, code = self._users.dynamic(module.path), self._resolver.code(module.path)
        if dynamic is None or code is None or dynamic.own or module.facts.left_out:
            return False
        last = max((f.header.line for f in code.by_name.get(name, ())), default=sys.maxsize)
        acts = (site.span.line for site in self._own_acts(module))
        return last < max(acts, default=0) and not self._users.is_run_by_notebook(module, name)

    def _is_never_run(self, module: Module) -> bool:
        """Whether a file is left out altogether: no run starts in it, and nothing imports it or looks for files by their names, as runs
        import a file beside it."""
        users = self._users
        if self._may_be_imported(module) or users.starts(module.path) or not self._is_left_out(module):
            return False
        if any(self._finding(users.home(module))):
            return False
        return any(self._runs(end) for path in self._beside(module) for end in users.ends(path) or () if end != path)

    def _may_be_imported(self, module: Module) -> bool:
        """Whether anything imports a file, or something of its name, or may do so out of sight."""
        users = self._users
        return users.is_imported(module) or self.is_in_library(module) or users.is_said_to_be_imported(module)

    def _is_star(self, module: Module) -> bool:
        """Whether anything imports all names of a file, or may do so out of sight."""
        if not self._may_be_imported(module):
            return False
        # Where no run leads to a file, it is for others.
        ends = self._users.ends(module.path) or () if not self.is_in_library(module) else ()
        return not any(map(self._users.starts, ends)) or len(self._carriers(module)) > 1

    def _is_left_out(self, module: Module) -> bool:
        """Whether all is in sight that may use a file which nothing imports: a run starts in it, or runs come to others beside
        it, and nothing says its name or looks for files."""
        users = self._users
        if self._runs(module.path) or module.facts.starts == "main":
            return not _only_shows_shapes(module)
        beside = [*self._beside(module)]
        led = any(self._runs(end) for path in beside for end in users.ends(path) or ())
        if not led and not any(map(self._is_meant_by_run, beside)):
            return False
        place = _place(module)
        stem = os.path.basename(place)
        saying = users.saying(module, stem)
        if saying is None:
            return False
        importing = {*users.naming(module)}
        for path in saying:
            own = path == module.path or path.startswith(place + os.sep)
            if not own and (path in importing or self._means_file(path, stem)):
                return False
        return not self._may_be_found(module)

    def _is_meant_by_run(self, path: str) -> bool:
        """Whether a file in which a run starts imports a module of the name of this file, and finds none: whoever starts it says
        where that is."""
        if self._texts.has(os.path.join(os.path.dirname(path), INIT)):
            return False  # what is in a package is imported through that
        module = self._resolver.module(path)
        stem = os.path.basename(_place(module)) if module is not None else ""
        for other in self._users.naming(module) if module is not None else ():
            run = self._resolver.module(other) if self._runs(other) else None
            said = run is not None and any(name.partition(".")[0] == stem for name in run.facts.imports)
            if said and self._resolver.modules.find(other, stem) is None:
                return True
        return False

    def _is_closed(self, package: Module) -> bool:
        """Whether all is in sight that may import a package, and nothing does: what it has of its files nobody gets from it."""
        inside = _place(package) + os.sep
        if self.is_in_library(package) or self._users.home(package).startswith(inside):
            return False
        for path in self._users.importers(package.path):
            if not path.startswith(inside):
                return False
        return self._is_left_out(package)

    def _is_left_there(self, package: Module, wanted: Wanted) -> bool:
        """Whether a package only hands on a definition of one of its files: who takes it from there says its name, and is asked anyway.

        That is so where runs that start outside of the package lead to it, and nobody may come to what it has by a name that isn't
        written out, or by a text.
        """
        users, inside = self._users, _place(package) + os.sep
        outside = (end for end in users.ends(package.path) or () if not end.startswith(inside))
        if self.is_in_library(package) or not any(map(users.starts, outside)):
            return False
        if self._may_be_evaluated(package) or self._is_put_together(package):
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

    def _is_written_out(self, module: Module) -> bool:
        """Whether a text has the whole name of a definition of a file, and so has whoever comes to others of them."""
        folder, stem = _place(module).split(os.sep)[-2:]
        defined = {*module.classes, *module.functions}
        for path in self._users.saying(module, stem) or ():
            parts = (_parts(text) for text in self._constants(path)) if path != module.path else ()
            if any(
                pair[:2] == (folder, stem) and pair[2] in defined
                for each in parts
                for pair in zip(each, each[1:], each[2:], strict=False)
            ):
                return not self._may_be_found(module)
        return False

    def _constants(self, path: str) -> Iterator[str]:
        """The texts that are values in a file: those of its code, or its settings."""
        code = self._resolver.code(path)
        return (
            value for value in (code.constants if code is not None else self._scalars(path)) if isinstance(value, str)
        )

    def _means_file(self, path: str, stem: str) -> bool:
        """Whether a text that is a value in a file may mean another one by its name: alone, or with its folder, its ending, or behind
        `-m`; not as a word of a sentence, nor as a key."""
        code = self._resolver.code(path)
        if code is None:
            return any(_names_file(text, stem) for text in self._scalars(path))
        rows = {row for row, value in enumerate(code.constants) if isinstance(value, str) and _names_file(value, stem)}
        return bool(rows) and any(
            operation[1] in rows and not _is_key(function, at)
            for function in code.functions()
            for at, operation in function.each(op.CONST)
        )

    def _beside(self, module: Module) -> Iterator[str]:
        """The files in the folder of a module, or of a package, but for itself; and those to which others lead in the folders above,
        as far as no run starts in these, or in the next one if there is nothing beside it."""
        folder, home = os.path.dirname(_place(module)), self._users.home(module)
        beside = [path for path in self._inside(folder) if path != module.path and not self._is_empty(path)]
        yield from beside
        above = os.path.dirname(folder)
        while f"{above}{os.sep}".startswith(home) and (above + os.sep != home or not beside):
            yield from (path for path in self._inside(above) if self._users.importers(path))
            above, beside = os.path.dirname(above), [above]

    def _is_empty(self, path: str) -> bool:
        """Whether nothing is done in a file; one that makes a folder a package says that."""
        code = self._resolver.code(path) if not path.endswith(INIT) else None
        return code is not None and not code.module.ops

    def _inside(self, folder: str) -> Iterator[str]:
        """The Python files in a folder itself."""
        below = self._texts.below(folder)
        return (path for path in below if path.endswith(".py") and os.path.dirname(path) == folder)

    def _may_be_found(self, module: Module) -> bool:
        """Whether a program may come to a file whose name it doesn't say: by one that it puts together, or is given."""
        home = self._users.home(module)
        finding = [*self._finding(home)]
        if any(
            not dynamic.only_splits(place.function.outermost) for _, dynamic in finding for place in dynamic.finding
        ):
            return True
        if not finding:
            return False
        # Whole names of classes, with their modules, are written out somewhere, unless a part of one is put in.
        folder = os.path.basename(os.path.dirname(_place(module)))
        texts = (text for path in self._texts.saying(folder, home) for text in self._constants(path))
        return any(_parts(text)[-2:] == (folder, "") for text in texts)

    def _runs(self, path: str) -> bool:
        """Whether a run surely starts in a file: in a block that does more than to show shapes, or where its top level calls
        something of the program for its own sake."""
        module = self._resolver.module(path) if self._users.begins(path) in ("main", "script") else None
        if module is None or module.facts.starts == "main":
            return module is not None and not _only_shows_shapes(module)
        return any(self._own_acts(module))

    def _own_acts(self, module: Module) -> Iterator[Site]:
        """Where the top level of a file calls something of the program for its own sake."""
        dropped = self._users.sinks.is_dropped
        calls = (
            site
            for n, site in enumerate(module.sites)
            if site.function == 0 and site.kind == "call" and dropped(module, n)
        )
        return (site for site in calls if self._is_of_program(module.path, site.target))

    def _is_of_program(self, path: str, value: Value | None) -> bool:
        """Whether a value is of the program, or comes of calling something that is."""
        while isinstance(value, (Member, Result)):
            value = value.base if isinstance(value, Member) else value.of
        named = self._resolver.name(path, value.name) if isinstance(value, Ref) else None
        return isinstance(named, Ref) and "::" in named.name

    def _is_given_out(self, module: Module, name: str) -> bool:
        """Whether a library gives a definition to whoever uses it, without saying its name: it stands in no package, or has
        `from .module import *`."""
        if name.startswith("_") or not self.is_in_library(module):
            return False
        if not self._users.package(module):
            return True
        listed = module.facts.names.get("__all__")
        known = listed.values if isinstance(listed, Items) else ()
        if known and all(isinstance(item, Const) for item in known) and Const(name) not in known:
            return False
        return any(path.endswith(INIT) for path in self._carriers(module))

    def is_in_library(self, module: Module) -> bool:
        """Whether a file is part of what is installed, so that others use it who are not in sight."""
        package = self._users.package(module)
        outside = os.path.dirname(package or module.path)
        if self._packaged and outside in (self._root, os.path.join(self._root, "src")):
            return True
        return bool(package) and not f"{outside}{os.sep}".startswith(f"{self._root}{os.sep}")

    def _carriers(self, module: Module) -> list[str]:
        """The files that have all names of a module: itself, and those that import them with `*`."""
        found = [module.path]
        for carrier in found:
            for path in self._users.importers(carrier):
                if path not in found and any(target == carrier for _, target in self._resolver.stars(path)):
                    found.append(path)
        self._resolver.opened.update(found)
        return found

    def _is_put_together(self, module: Module) -> bool:
        """Whether anything comes to definitions of a module by names that it puts together."""
        return self._together.of(module.path, partial(self._puts_together, module), True)

    def _puts_together(self, module: Module) -> bool:
        carriers = self._carriers(module)
        if any(dynamic is None or dynamic.own for dynamic in map(self._users.dynamic, carriers)):
            return True
        holders = {path for carrier in carriers for path in self._holders(carrier)}
        if any(dynamic is None or dynamic.asking for dynamic in map(self._users.dynamic, sorted(holders))):
            return True
        return any(dynamic.takes_any() for _, dynamic in self._finding(self._users.home(module)))

    def _holders(self, carrier: str) -> list[str]:
        """The files that import another one as a module."""
        holders = [path for path in self._users.importers(carrier) if self._holds(path, carrier)]
        self._resolver.opened.update(holders)
        return holders

    def _holds(self, path: str, carrier: str) -> bool:
        """Whether a file imports another one as a module, and not just some of its names."""
        module = self._resolver.module(path)
        if module is None:
            return True
        modules = self._resolver.modules
        places = (modules.find(path, full) for name in module.facts.imports for full in modules.spelled_out(path, name))
        return any(place == (carrier, "") for place in places)


def _is_decorated(module: Module, name: str) -> bool:
    if name in module.functions:
        return bool(module.detail(module.functions[name]).decorators)
    return name not in module.classes or bool(module.classes[name].decorators)


def _is_trial(module: Module, name: str) -> bool:
    """Whether a function of a file shows no more than shapes, whoever calls it."""
    steps = module.steps(module.functions[name]) if name in module.functions else ()
    return bool(steps) and all(isinstance(step, Branch) and step.kind == "trial" for step in steps)


def _only_shows_shapes(module: Module) -> bool:
    """Whether a file has a `__main__` block, which shows no more than shapes."""
    return _only_does(module, SHAPES)


def _only_does(module: Module, what: Const) -> bool:
    """Whether a file has a `__main__` block, and each does no more than something."""
    steps = module.steps(module.facts.functions[0])
    mains = [step for step in steps if isinstance(step, Branch) and step.kind == "main"]
    return bool(mains) and all(step.test == what for step in mains)


def _names_file(text: str, stem: str) -> bool:
    """Whether a text may have the name of a module as one of a file, or of a module."""
    words = text.split()
    if len(words) == 1:
        return stem in _parts(text)
    starts = not _STARTS.isdisjoint(words)
    return any(stem in _parts(word) and (word != stem or starts) for word in words)


def _parts(text: str) -> tuple[str, ...]:
    """The parts of a dotted name, or a path."""
    return tuple(text.replace("/", ".").replace(":", ".").replace(os.sep, ".").split("."))


def _is_key(function: Function, at: int) -> bool:
    """Whether a constant is only the key of a table, or asked for as one."""
    uses = function.users[at]
    return bool(uses) and all(
        (function.ops[use.op][0] == op.DICT and use.place % 2 == 1)
        or (function.ops[use.op][0] in (op.ITEM, op.SET_ITEM) and use.place == 2)
        for use in uses
    )


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


def _place(module: Module) -> str:
    """Where a module is, as those see it who import it: a file without its ending, or the folder of a package."""
    return module.path.removesuffix(os.sep + INIT).removesuffix(".py")


def _last(name: str) -> str:
    return name.rpartition(".")[2]
