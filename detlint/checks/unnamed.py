"""Functions, classes and methods that no place of the program names, or only what is not run itself: nothing runs them.

Facts tell of calls and of what is handed on. A definition may be named in other ways, by a text or through a table, so this asks
the texts of the files, with the meaning that a name has there.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from functools import lru_cache, partial
from typing import Final

from detlint.checks.attributes import Attributes, Counts, method_at
from detlint.checks.by_name import ANY, LOCATORS, finds_any, gets_any, locates
from detlint.checks.gradients import BEGINNING
from detlint.checks.hints import READERS, without_hints
from detlint.checks.replaced import Replaced
from detlint.checks.tests import is_test
from detlint.checks.unchosen import Unchosen
from detlint.checks.unused import is_of_framework
from detlint.checks.wholes import FINDS, only_splits_names
from detlint.facts.model import PRINTS, SHAPES, Branch, Class, Const, Items, Member, Ref, Result, Site, Value
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.facts.yaml_text import SUFFIXES
from detlint.folders import INIT
from detlint.notebook import is_notebook
from detlint.program.answers import Answers
from detlint.program.documents import Documents
from detlint.program.resolve import Module, Resolver
from detlint.program.texts import IMPORT, MAIN, TOP, Block, says, whole
from detlint.program.users import ANYWHERE, Users, words_in

HOOKS: Final = BEGINNING | {
    "backward", "bprop", "build", "call", "construct", "eval", "forward", "main", "predict_step", "run", "setup", "step", "test_step",
    "train", "train_step", "training_step", "validation_step",
}  # fmt: skip
"""Methods that frameworks call by themselves, whichever class has them."""
NOTED: Final = "__init_subclass__"
"""The method by which a class notes those that derive from it."""
HEIRS: Final = "__subclasses__"
"""The method by which it is asked for them."""
TRIES: Final = "test_"
"""How the names of functions begin that only try something out."""
_COMMENTED: Final = re.compile(rb"^class\s+\w+\([^)]*#", re.M)
"""A class that may have a comment among its bases."""
_OWN: Final = re.compile(
    rb"(?<!\.)(?<!def )\b(?:(?:globals|locals|getmembers|eval|exec)\(|vars\(\s*\))"
    rb"|\bsys\.modules\[|\b__import__\(|\bimport_module\(__"
)
"""By what a file may come to its own definitions without saying their names."""
_OTHERS: Final = re.compile(
    rb"\bgetattr\(\s*(?!self\b|cls\b)(?:(\w+)|[^,()]+(?:\([^()]*\))?)\s*" + ANY + rb"|(?<!self)(?<!cls)\.__dict__\b"
    rb"|(?<!\.)\b(?:vars|dir)\(\s*(?!self\b|cls\b|args\b)\w|\bgetmembers\("
)
"""By what a file may come to those of a module that it has imported, and what it asks for them, if that has a name."""
_LISTED: Final = re.compile(rb"^__all__[ \t]*\+?=[ \t]*(?:\[[^\]]*\]|\([^)]*\))", re.M)
_DECORATES: Final = re.compile(rb"^@(\w+)\.\w+\([^\n]*\)\s*\Z", re.M)
"""A decorator, behind which a text ends."""
_EVALUATES: Final = re.compile(rb"(?<![\w.])(?<!def )(?:eval|exec)\(")
_STARTS: Final = re.compile(rb"\bimport\b|(?<!\S)-m\b|\bpython\b")
"""By what a text may have a file run."""
_READS: Final = (ast.Attribute, ast.Constant, ast.keyword)
"""What says a name in the code, or has a text, and binds none."""
_KEY: Final = re.compile(rb"^[ \t]*(?:-[ \t]+)*[\"']?([\w-]+)[\"']?[ \t]*:(?=\s)", re.M)
"""A key of a YAML file."""


Never = Callable[[Module, Block, int], bool]
"""Says whether the flow never comes to a place in a part of a file."""


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
        attributes: Attributes,
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
        self._replaced = Replaced(users.texts)
        self._unchosen = Unchosen(users, documents, self.is_in_library)
        self._speaks = speaks
        self._makes_none = makes_none
        self._overloads = resolver.catalog.with_context("overloads")
        self._idle: Answers[bool] = Answers(users)
        self._led: Answers[bool] = Answers(users)
        self._hinting: Answers[bool] = Answers(users)
        self._evaluated: Answers[bool] = Answers(users)
        self._together: Answers[bool] = Answers(users)
        self._offered: Answers[bool] = Answers(users)
        self._keeps_from: Never | None = None

    def where(self, keeps_from: Never) -> Unnamed:
        """The same, but that what stands at a place which the flow never comes to names nothing.

        Args:
            keeps_from: says of such places in the texts of definitions whether that holds.
        """
        other = copy(self)
        other._keeps_from, other._idle = keeps_from, Answers(self._users)
        return other

    def is_idle(self, module: Module, index: int) -> bool:
        """Whether a site stands in a function, class or method that nothing runs, although others import its file."""
        name, _, method = module.function_of(module.sites[index]).name.partition(".")
        if not name:
            return False
        if self._replaced.holds(module.path, module.sites[index].span.line) and not self._is_noted(module):
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
        """Whether nothing that runs names a definition.

        Args:
            asking: the definitions that this is asked for; what only they say of each other counts for nothing.
        """
        if (module.path, name) in asking:
            return True
        asking.add((module.path, name))
        if "<" in name or "@" in name or not name.isascii() or name in self._declared:
            return False
        if self._is_never_run(module):
            return True
        if _is_decorated(module, name) and not self._is_idle_case(module, name, asking):
            return self.is_never_chosen(module, name)
        if self._is_known_to_base(module, name) or is_test(module.path, self._root):
            return False
        if not (self._is_done_without(module, name) if module.facts.cells else self._is_imported(module)):
            return False
        layer = self._resolver.layer(f"{module.path}::{name}") is not None
        for block in self._saying(module, name):
            dark = block.name == name or self._is_dark(module, block, asking, layer=layer)
            dark = dark or self._is_said_in_vain(module, block, name)
            if not dark and not self._only_says_attribute(module, block, name):
                return False
        if module.facts.cells:
            return True  # nothing imports it
        saying = self._users.saying(module, name)
        if saying is None or self._is_given_out(module, name) or self._is_put_together(module):
            return False
        for path in saying:
            if path != module.path and self._is_named_in(path, module, name, asking):
                self._resolver.opened.add(path)
                return False
        return True

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
        """Whether a decorator adds a function to one that is put together of cases, and nothing that runs names that."""
        whole_function = self._case_of(module, name)
        saying = self._users.saying(module, whole_function) if whole_function.isascii() and whole_function else None
        if saying is None:
            return False
        for path in saying:
            if path != module.path:
                self._resolver.opened.add(path)
                return False
        makes = re.compile(rb"^%s[ \t]*=[ \t]*[\w.]+\([^()]*\)|^@%s\b" % ((whole_function.encode(),) * 2), re.M)
        for block in self._saying(module, whole_function):
            if block.name != TOP:
                if not self._is_dark(module, block, asking):
                    return False
            elif whole(whole_function).search(makes.sub(b"", block.text)):
                return False
        return True

    def _case_of(self, module: Module, name: str) -> str:
        """The function of the same file, put together of cases, that a decorator adds one to; "" for none."""
        function = module.functions.get(name)
        decorators = module.detail(function).decorators if function is not None else ()
        blocks = self._texts.blocks(module.path)
        numbers = [number for number, block in enumerate(blocks) if block.name == name]
        if len(decorators) != 1 or len(numbers) != 1:
            return ""
        adds = decorators[0].of if isinstance(decorators[0], Result) else None
        made = adds.base.of if isinstance(adds, Member) and isinstance(adds.base, Result) else None
        named = self._resolver.name(module.path, made.name) if isinstance(made, Ref) else None
        if not isinstance(named, Ref) or named.name not in self._overloads:
            return ""
        found = _DECORATES.search(blocks[numbers[0] - 1].text) if numbers[0] else None
        return found[1].decode() if found else ""

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
        if is_test(module.path, self._root) or not self._is_imported(module):
            return False
        runs = partial(self._counts, own, asking)
        return not self.is_offered(module, owner) and not self._attributes.is_read(module, owner, name, counts=runs)

    def running(self, owner: str) -> Counts:
        """Says of places whether they may be run.

        Args:
            owner: a class that is known to be used, as `path::name`.
        """
        return partial(self._counts, owner, set())

    def _counts(self, owner: str, asking: set[tuple[str, str]], path: str, block: Block, at: int) -> bool:
        """Whether what stands at a place in a part of a file may be run."""
        other = self._resolver.module(path)
        if other is None:
            return True
        method = method_at(block.text, at) if block.name in other.classes else ""
        # What was only supposed on the way to an answer says nothing where that is no.
        if method and self._is_never_called(other, block.name, method, {*asking}):
            return False
        function = other.functions.get(f"{block.name}.{method}") if method else None
        if function is not None and not other.detail(function).decorators and self._makes_none(other, block.name):
            return False
        return owner == f"{path}::{block.name}" or not self._is_dark(other, block, asking)

    def is_offered(self, module: Module, name: str) -> bool:
        """Whether a library gives a class, or one that derives from it, to whoever uses it."""
        if name.startswith("_") or not self.is_in_library(module):
            return False
        return self._offered.of((module.path, name), partial(self._finds_out_offered, module, name), False)

    def _finds_out_offered(self, module: Module, name: str) -> bool:
        saying = self._users.saying(module, name)
        if saying is None or self._is_given_out(module, name):
            return True
        word, heir = whole(name), re.compile(rb"^class\s+\w+\([^)]*%s" % name.encode(), re.M)
        for path in saying:
            text = self._texts.of(path) if path.endswith(".py") and not path.endswith(INIT) else None
            if text and not (b"__all__" in text or heir.search(text) or _COMMENTED.search(text)):
                continue  # as most, which needn't be cut into parts for that
            texts = [block.text for block in self._texts.blocks(path) if word.search(block.text)]
            given_out = path.endswith(INIT) or any(b"__all__" in text for text in texts)
            if given_out or any(heir.search(text) for text in texts):
                self._resolver.opened.add(path)
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
            users.asked.add(os.path.basename(path).partition(".")[0])
            if path.endswith(INIT) or other is None or any(name not in importers for name in users.naming(other)):
                return False
            waiting += [importer for importer in importers if importer not in seen]
            seen.update(importers)
        return not self._may_be_found(module)

    def _saying(self, module: Module, name: str) -> Iterator[Block]:
        """The parts of a file that say a name; what is listed for those who import all of the file (`__all__`) says nothing where
        nobody does."""
        word = whole(name)
        for block in self._texts.blocks(module.path):
            text = block.text
            if word.search(text) and block.name == TOP and _LISTED.search(text) and not self._is_star(module):
                text = _LISTED.sub(b"", text)
            if word.search(text) and word.search(self._used(module, block, text, word)):
                yield block

    def _used(self, module: Module, block: Block, text: bytes, word: re.Pattern[bytes]) -> bytes:
        """What a part of a file, which says a word, has without what only tells something or says of which class it is, unless somebody
        near a module may read that.

        Args:
            text: that part, or what is left of it.
        """
        defined = block.name in module.functions or block.name in module.classes
        used = text if defined and _is_decorated(module, block.name) else without_hints(text)
        if len(word.findall(used)) == len(word.findall(text)):
            return used
        home = self._users.home(module)
        read = self._hinting.of(home, lambda: bool(self._texts.saying_any(READERS, home)), False)
        return text if read else used

    def _only_says_attribute(self, module: Module, block: Block, name: str) -> bool:
        """Whether a part of a file says a name only as that of an attribute of other things than modules: `model.convert()` is none of
        the file's functions, which its own code calls by their bare names."""
        text = self._used(module, block, block.text, whole(name))
        of_something = rb".%s" % name.encode() in text  # searching for literals is fast
        said = [*re.finditer(rb"(\w+)(?:\.\w+)*\.%s\b" % name.encode(), text)] if of_something else []
        if len(said) < len(whole(name).findall(text)):
            return False
        of = ((found[1].decode("utf-8", "replace"), found[0].decode("utf-8", "replace")) for found in said)
        return not any(
            _may_be_module(module.facts.names.get(first)) and not self._is_other(module, f) for first, f in of
        )

    def _means_own(self, module: Module, text: bytes, name: str) -> bool:
        """Whether a part of a file says a name, and not only as that of what a framework has: `nn.Softmax`."""
        dotted = re.findall(rb"(?<![\w.])\w[\w.]*\.%s\b" % name.encode(), text)
        others = sum(self._is_other(module, said.decode("utf-8", "replace")) for said in dotted)
        return len(whole(name).findall(text)) > others

    def _is_other(self, module: Module, name: str) -> bool:
        """Whether a dotted name in a module is one of a framework's."""
        value = self._resolver.name(module.path, f"{module.prefix}{name}")
        return isinstance(value, Ref) and value.name.partition(".")[0] in self._resolver.catalog.roots

    def _is_dark(self, module: Module, block: Block, asking: set[tuple[str, str]], *, layer: bool = False) -> bool:
        """Whether what a part of a file says counts for nothing: it is not run, or only tries something out.

        Args:
            layer: whether what it says is the name of a layer, which does no more than to give numbers.
        """
        if block.name == TOP:
            return False
        if block.name == MAIN:
            return _only_shows_shapes(module) or (layer and self._only_prints(module))
        if self._replaced.is_one(module.path, block) and not self._is_noted(module):
            return True
        if block.name.startswith(TRIES) and (
            _is_trial(module, block.name) or len([*self._saying(module, block.name)]) == 1
        ):
            return True
        return self._is_idle(module, block.name, asking)

    def _only_prints(self, module: Module) -> bool:
        """Whether a module of a package has a `__main__` block, which only prints, and nothing that may train."""
        return _only_does(module, PRINTS) and "." in module.facts.module and not self._speaks(module.path)

    def _is_named_in(self, path: str, module: Module, name: str, asking: set[tuple[str, str]]) -> bool:
        """Whether another file, which says a name, may mean a definition by it."""
        other = self._resolver.module(path) if path.endswith(".py") else None
        if other is None:
            text = self._texts.of(path)
            quoted = path.endswith(".py")
            return text is None or self._is_spelled(text, module, name, quoted=quoted)
        own = Ref(f"{module.path}::{name}")
        has = self._resolver.name(path, other.prefix + name)
        if self._users.imports(other, own, name) or self._says_it_imports(other, module, name):
            has = own
        defined = name in other.facts.names or name in other.functions or name in other.classes
        if has == own and self._hands_on(other, name):
            return True
        word, alias = whole(name), re.compile(rb"\b%s\s+as\s+(\w+)" % name.encode())
        for block in self._texts.blocks(path):
            text = self._used(other, block, block.text, word) if word.search(block.text) else b""
            if not word.search(text):
                continue
            imports = [found for found in IMPORT.findall(text) if word.search(found)]
            passes_on = bool(imports) and has == own and path.endswith(INIT)
            closed = passes_on and (self._is_closed(other) or self._is_left_there(other, module, name))
            renamed = {new for statement in imports for new in alias.findall(statement)} if has == own else set()
            kept = closed and not any(self._is_said_beside(other, new.decode("utf-8", "replace")) for new in renamed)
            if (passes_on and not closed) or (renamed and not kept):
                return True
            rest = IMPORT.sub(b"", text)
            if closed:
                rest = _LISTED.sub(b"", rest)
            if has == own:
                named = block.name != name and self._means_own(other, rest, name)
            else:
                spelled = self._is_spelled(rest, module, name, quoted=True, dotted=defined)
                named = spelled or self._is_taken(other, rest, name, module)
            if named and not (self._is_dark(other, block, asking) or self._is_said_in_vain(other, block, name)):
                return True
        return False

    def _is_said_in_vain(self, module: Module, block: Block, name: str) -> bool:
        """Whether a part of a file says a name only where the flow never comes to."""
        never = self._keeps_from
        said = [found.start() for found in whole(name).finditer(block.text)] if never is not None else ()
        return never is not None and bool(said) and all(never(module, block, at) for at in said)

    def _is_said_beside(self, package: Module, name: str) -> bool:
        """Whether a package says a name, which it gives what it imports, once more, or another file of the program says it."""
        if any(whole(name).search(IMPORT.sub(b"", block.text)) for block in self._texts.blocks(package.path)):
            return True
        return any(path != package.path for path in self._texts.saying(name, self._users.home(package)))

    def _hands_on(self, module: Module, name: str) -> bool:
        """Whether a file has no use for a name that it imports, but perhaps somebody has who isn't in sight, or puts names together."""
        if any(whole(name).search(IMPORT.sub(b"", block.text)) for block in self._texts.blocks(module.path)):
            return False
        return self._is_given_out(module, name) or not self._is_imported(module) or self._is_put_together(module)

    def _is_spelled(self, text: bytes, module: Module, name: str, *, quoted: bool, dotted: bool = False) -> bool:
        """Whether a text has a name that may mean a definition of a module: alone, or as one of that module, or of a package.

        Args:
            quoted: only as a text.
            dotted: only with the name of the module.
        """
        heads = (self._resolver.modules.head(path) for path in self._carriers(module))
        homes = {part for head in heads if head is not None for part in head.module.split(".")}
        for found in _spelling(name, quoted).finditer(text):
            before = re.split(r"[./:]", found[1].decode("utf-8", "replace").rstrip("./:"))[-1]
            if before in homes or (not before and not dotted and self._is_evaluated(module)):
                return True
        return False

    def _is_evaluated(self, module: Module) -> bool:
        return self._evaluated.of(module.path, lambda: self._may_be_evaluated(module), False)

    def _may_be_evaluated(self, module: Module) -> bool:
        """Whether a text that is no more than a name may become a definition of a module: somebody looks for files, hands a module
        on to whoever may ask for it, or evaluates what is put together."""
        home = self._users.home(module)
        for carrier in self._carriers(module):
            stem = os.path.basename(carrier.removesuffix(os.sep + INIT).removesuffix(".py"))
            if any(_hands_over(self._texts.of(path) or b"", stem) for path in self._holders(carrier)):
                return True
        if self._texts.saying_any(FINDS, home):
            return True
        evaluating = (path for path in self._texts.saying_any(["eval", "exec"], home) if path.endswith(".py"))
        for path in evaluating:
            if _EVALUATES.search(self._texts.of(path) or b""):
                self._resolver.opened.add(path)
                return True
        return False

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
        defined = re.compile(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+%s\b" % name.encode(), re.M)
        text = self._texts.code(module.path) or b""
        last = max((found.start() for found in defined.finditer(text)), default=len(text))
        acts = (site.span.line for site in self._own_acts(module))
        if module.facts.left_out or _OWN.search(text) or text.count(b"\n", 0, last) >= max(acts, default=0) - 1:
            return False
        return not self._users.is_run_by_notebook(module, name)

    def _is_never_run(self, module: Module) -> bool:
        """Whether a file is left out altogether: no run starts in it, and nothing imports it or looks for files by their names, as runs
        import a file beside it."""
        users = self._users
        if self._may_be_imported(module) or users.starts(module.path) or not self._is_left_out(module):
            return False
        if self._texts.saying_any(FINDS, users.home(module)):
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
        users.asked.add(ANYWHERE)
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
            in_code = own or self._is_only_in_code(path, stem, imports=path in importing)
            if not in_code and not self._is_only_key(path, stem):
                self._resolver.opened.add(path)
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
                self._resolver.opened.add(other)
                return True
        return False

    def _is_closed(self, package: Module) -> bool:
        """Whether all is in sight that may import a package, and nothing does: what it has of its files nobody gets from it."""
        inside = _place(package) + os.sep
        if self.is_in_library(package) or self._users.home(package).startswith(inside):
            return False
        for path in self._users.importers(package.path):
            if not path.startswith(inside):
                self._resolver.opened.add(path)
                return False
        return self._is_left_out(package)

    def _is_left_there(self, package: Module, module: Module, name: str) -> bool:
        """Whether a package only hands on a definition of one of its files: who takes it from there says its name, and is asked anyway.

        That is so where runs that start outside of the package lead to it, and nobody may come to what it has by a name that isn't
        written out, or by a text.
        """
        users, inside = self._users, _place(package) + os.sep
        users.asked.add(os.path.basename(_place(package)))
        outside = (end for end in users.ends(package.path) or () if not end.startswith(inside))
        if self.is_in_library(package) or not any(map(users.starts, outside)):
            return False
        if self._may_be_evaluated(package) or self._is_put_together(package):
            return False
        text = re.compile(rb"[\"']%s[\"']" % name.encode())
        return not any(
            text.search(_LISTED.sub(b"", self._texts.of(path) or b"")) for path in users.saying(module, name) or ()
        )

    def _is_written_out(self, module: Module) -> bool:
        """Whether a text has the whole name of a definition of a file, and so has whoever comes to others of them."""
        folder, stem = _place(module).split(os.sep)[-2:]
        if not (folder.isidentifier() and stem.isidentifier() and folder.isascii() and stem.isascii()):
            return False  # no dotted name has it
        saying = self._users.saying(module, stem)
        full = re.compile(rb"\b%s\.%s\.(\w+)" % (folder.encode(), stem.encode()))
        defined = {*module.classes, *module.functions}
        for path in saying or ():
            text = self._texts.of(path) if path != module.path else None
            if any(name.decode("utf-8", "replace") in defined for name in full.findall(text or b"")):
                self._resolver.opened.add(path)
                return not self._may_be_found(module)
        return False

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
        """Whether nothing stands in a file; one that makes a folder a package says that."""
        if path.endswith(INIT):
            return False
        code = self._resolver.code(path)
        return code is not None and not code.module.ops

    def _inside(self, folder: str) -> Iterator[str]:
        """The Python files in a folder itself."""
        below = self._texts.below(folder)
        return (path for path in below if path.endswith(".py") and os.path.dirname(path) == folder)

    def _is_only_key(self, path: str, word: str) -> bool:
        """Whether a word is no more than the key of settings in a file: whoever imports a module has its name as a value."""
        text = self._texts.of(path) if path.endswith(SUFFIXES) else None
        return text is not None and whole(word).search(_KEY.sub(b"", text)) is None

    def _is_only_in_code(self, path: str, word: str, *, imports: bool) -> bool:
        """Whether a word is, in a Python file, no more than a name in the code, or a key: none of what it imports, and in no text, but
        in sentences.

        Args:
            imports: whether what it imports may be meant.
        """
        text = self._texts.of(path) if path.endswith(".py") else None
        return text is not None and all(_is_prose(part, word) for part in _texts_in_code(text, word, imports=imports))

    def _may_be_found(self, module: Module) -> bool:
        """Whether a program may come to a file whose name it doesn't say: by one that it puts together, or is given."""
        texts, home = self._texts, self._users.home(module)
        finding = texts.saying_any(FINDS, home)
        for path in finding:
            if not all(only_splits_names(block.text) for block in texts.blocks(path)):
                self._resolver.opened.add(path)
                return True
        if not finding:
            return False
        # Whole names of classes, with their modules, are written out somewhere, unless a part of one is put in.
        folder = os.path.basename(os.path.dirname(_place(module)))
        put_in = re.compile(rf"\b{re.escape(folder)}[./](?:$|[{{%])")
        for path in texts.saying(folder, home) if folder.isascii() else ("",):
            if any(map(put_in.search, self._texts_of_code(path))):
                self._resolver.opened.update({path} - {""})
                return True
        return False

    def _texts_of_code(self, path: str) -> Iterable[str]:
        """The texts that a file's code has, or, of one that is no Python, all that it says."""
        code = self._resolver.modules.code(path) if path else None
        if code is not None:
            return (text for text in code.constants if isinstance(text, str))
        return [(self._texts.of(path) or b"").decode("utf-8", "replace")]

    def _runs(self, path: str) -> bool:
        """Whether a run surely starts in a file: in a block that does more than to show shapes, or where its top level calls
        something of the program for its own sake."""
        head = self._resolver.modules.head(path)
        module = self._resolver.module(path) if head is not None and head.starts in ("main", "script") else None
        if module is None or module.facts.starts == "main":
            return module is not None and not _only_shows_shapes(module)
        return any(self._own_acts(module))

    def _own_acts(self, module: Module) -> Iterator[Site]:
        """Where the top level of a file calls something of the program for its own sake."""
        calls = (site for site in module.sites if site.function == 0 and site.use == "dropped" and site.kind == "call")
        return (site for site in calls if self._is_of_program(module.path, site.target))

    def _is_of_program(self, path: str, value: Value | None) -> bool:
        """Whether a value is of the program, or comes of calling something that is."""
        while isinstance(value, (Member, Result)):
            value = value.base if isinstance(value, Member) else value.of
        named = self._resolver.name(path, value.name) if isinstance(value, Ref) else None
        return isinstance(named, Ref) and "::" in named.name

    def _says_it_imports(self, module: Module, other: Module, name: str) -> bool:
        """Whether a file imports a name from a module that is called like one which has it, and that isn't found beside that:
        where its script is run from decides what it is."""
        home = self._users.home(other)
        stars = self._resolver.stars(module.path) if not name.startswith("_") else ()
        stems = {_last(star) for star, path in stars if not path.startswith(home)}
        for said in module.facts.imports:
            source, _, last = said.rpartition(".")
            value = self._resolver.name(module.path, said) if last == name else Ref(home)
            if not isinstance(value, Ref) or not value.name.startswith(home):
                stems.add(_last(source))
        return bool(stems) and not stems.isdisjoint(_last(has.facts.module) for has in self._having(other, name))

    def _having(self, module: Module, name: str) -> Iterator[Module]:
        """A module, and the files that import a name from it."""
        yield module
        for path in self._users.saying(module, name) or ():
            other = self._resolver.module(path) if path.endswith(".py") and path != module.path else None
            if other is not None and self._users.imports(other, Ref(f"{module.path}::{name}"), name):
                self._resolver.opened.add(path)
                yield other

    def _may_be(self, module: Module, base: str, other: Module) -> bool:
        """Whether a name stands for a module that is called like another one."""
        value = self._resolver.name(module.path, module.prefix + base)
        named = value.name.rstrip(":") if isinstance(value, Ref) else base
        return _last(other.facts.module) in (_last(base), _last(named.removesuffix(".py").replace(os.sep, ".")))

    def _is_taken(self, module: Module, text: bytes, name: str, other: Module) -> bool:
        """Whether a text has something of a name as an attribute, which may be a definition of another module."""
        if b"attr(" in text and re.search(rb",\s*[\"']%s[\"']\s*[,)]" % name.encode(), text):
            return True
        own = Ref(f"{other.path}::{name}")
        for found in re.finditer(rb"([\w.]*[\w)\]])\s*\.[ \t]*%s\b" % name.encode(), text):
            base = found[1].decode("utf-8", "replace")
            first = base.partition(".")[0]
            if first in ("self", "cls"):
                continue
            if first not in module.facts.names:
                if _may_bind(text, first) or module.facts.stars:
                    return True
                continue  # it raises there
            value = self._resolver.name(module.path, f"{module.prefix}{base}.{name}")
            if not isinstance(value, Ref) or value == own:
                return True
            if not value.name.startswith(self._users.home(other)) and self._may_be(module, base, other):
                return True
        return False

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
        if any(_OWN.search(block.text) for path in carriers for block in self._texts.blocks(path)):
            return True
        holders = {path for carrier in carriers for path in self._holders(carrier)}
        for path in sorted(holders):
            parts = self._texts.blocks(path)
            if any(self._asks(path, block.text) for block in parts) or gets_any(
                b"".join(block.text for block in parts)
            ):
                return True
        return self._is_found_with_any(module)

    def _is_found_with_any(self, module: Module) -> bool:
        """Whether a part of the program imports modules by any names, and takes what has any names from there."""
        for path in self._texts.saying_any(["import_module", "__import__", *LOCATORS], self._users.home(module)):
            parts = self._texts.blocks(path) if path.endswith(".py") else ()
            finding = (block.text for block in parts if finds_any(block.text, partial(self._asks, path)))
            if any(locates(text) or not only_splits_names(text) for text in finding):
                self._resolver.opened.add(path)
                return True
        return False

    def _asks(self, path: str, text: bytes) -> bool:
        """Whether a part of a file may ask a module of the program for what has a name that isn't written out."""
        users, whole_text = self._users, self._texts.code(path) or text
        return any(
            not (found[1] and is_of_framework(users, path, whole_text, found[1])) for found in _OTHERS.finditer(text)
        )

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


def _may_be_module(value: Value | None) -> bool:
    """Whether what a name of a file stands for may be a module; what only a function binds is something that it made."""
    if isinstance(value, Result):
        return not isinstance(value.of, (Ref, Member)) or any(word in FINDS for word in words_in(value.of))
    return value is not None


def _only_shows_shapes(module: Module) -> bool:
    """Whether a file has a `__main__` block, which shows no more than shapes."""
    return _only_does(module, SHAPES)


def _only_does(module: Module, what: Const) -> bool:
    """Whether a file has a `__main__` block, and each does no more than something."""
    steps = module.steps(module.facts.functions[0])
    mains = [step for step in steps if isinstance(step, Branch) and step.kind == "main"]
    return bool(mains) and all(step.test == what for step in mains)


def _hands_over(text: bytes, module: str) -> bool:
    """Whether a text does more with a module that it imports than to take what that has by its names."""
    said, rest = b"\n".join(IMPORT.findall(text)), IMPORT.sub(b"", text)
    names = re.findall(rb"\b%s[ \t]+as[ \t]+(\w+)" % re.escape(module.encode()), said)
    if len(whole(module).findall(said)) > len(names):
        names.append(module.encode())
    return any(re.search(rb"(?<![\w\"'])%s\b(?!\s*\.|[\"'])" % re.escape(name), rest) for name in names)


def _may_bind(text: bytes, name: str) -> bool:
    """Whether a part of a file may bind a name, besides reading it; so where it can't be read."""
    parsed = tree(text)
    if parsed is None:
        return True
    binding = (
        node
        for node in walk(parsed)
        if not isinstance(node, _READS) and not isinstance(getattr(node, "ctx", 0), ast.Load)
    )
    fields = (value for node in binding for _, value in ast.iter_fields(node))
    said = (part for value in fields for part in (value if isinstance(value, list) else (value,)))
    return any(isinstance(part, str) and part.partition(".")[0] == name for part in said)


def _texts_in_code(text: bytes, word: str, *, imports: bool) -> list[bytes]:
    """What has a word of the imports of a file, and of its texts that are no keys of a table and no docstrings; nothing that is known
    where that can't be read."""
    parsed = tree(text)
    if parsed is None:
        return [b""]
    nodes = [*walk(parsed)]
    keys = {id(key) for node in nodes if isinstance(node, ast.Dict) for key in node.keys}
    keys |= {id(node.slice) for node in nodes if isinstance(node, ast.Subscript)}
    keys |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    said = (node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in keys)
    texts = [value for value in said if isinstance(value, str)]
    for node in nodes:
        if imports and isinstance(node, (ast.Import, ast.ImportFrom)):
            texts += [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
    parts = (part.encode("utf-8", "replace") for part in texts)
    return [part for part in parts if says(part, word)]


def _is_prose(text: bytes, word: str) -> bool:
    """Whether a text has a word only between others, as sentences have it, and starts or imports nothing."""
    alone = len(re.findall(rb"(?<=\s)%s(?=\s)" % word.encode(), text))
    return alone == len(whole(word).findall(text)) and len(text.split()) > 2 and not _STARTS.search(text)


def _place(module: Module) -> str:
    """Where a module is, as those see it who import it: a file without its ending, or the folder of a package."""
    return module.path.removesuffix(os.sep + INIT).removesuffix(".py")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


@lru_cache(maxsize=64)
def _spelling(name: str, quoted: bool) -> re.Pattern[bytes]:
    """Finds a name, with that of the module that it is said to be of: `package.module.Name`.

    Args:
        quoted: only where that is a text.
    """
    begin, end = (rb"[\"']", rb"[\"']") if quoted else (rb"(?:(?<![\w.])|(?<=\\[nt]))", rb"\b")
    return re.compile(rb"%s((?:[\w./:-]*[./:])?)%s%s" % (begin, name.encode(), end))
