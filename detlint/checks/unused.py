"""What nothing in the program ever names again of what is made and kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Final

from detlint.checks.match import Matcher
from detlint.checks.wholes import only_splits_names, without
from detlint.facts.model import Branch, Either, Function, Instance, Member, Ref, Result, Value, is_made_by
from detlint.model.by_name import ByName
from detlint.model.readers import Counts, Readers
from detlint.program.entry import sites
from detlint.program.resolve import Module
from detlint.program.texts import IMPORT, TOP, Texts, deriving
from detlint.program.users import Users

ANY: Final = rb",(?!\s*[\"'][\w.]*[\"']\s*[,)])"
"""What stands before a name that isn't written out whole, behind what is asked for it."""
PUT_TOGETHER: Final = (b"__dict__", b"vars(", b"globals(", b"locals(", b"eval(", b"import_module", b"__import__")
"""By what a file may come to definitions by names that it puts together; a method, or a function of the file, may be called `eval`."""
_WAYS: Final = re.compile(
    rb"(?<![\w.])(?<!def )(?<!level=)(?:__dict__|vars\((?!\w*(?:args|opts?|arguments|hparams)\))|locals\(|eval\(|import_module|__import__"
    rb"|globals\((?!\)\[[\"']__))"  # what asks for what Python says of a file: none of a module
)
"""Not what is evaluated for the level of a log, which is a number, nor what parsed options have."""
_DEFINES: Final = re.compile(rb"^def ((?:vars|globals|locals|eval)\()", re.M)
_GETS: Final = re.compile(
    rb"getattr\((?<![._]getattr\()(?!self\.)"  # what is asked of a part of an object is none of a module
    rb"(?:(self),|(?:\s*(\w+)\s*|[^,()]*),)?"
    rb"(?:\s*[\"'](\w+)[\"']\s*[,)])?"
)
"""What asks for an attribute: of the object itself, or of what has which name, and by which name, if that is written out."""
_OWN_PARTS: Final = re.compile(
    rb"\bgetattr\((?:self|super\(\))" + ANY + rb"|__dict__|\bvars\(self|children\(|\bcells\(|\._(?:modules|cells)\b"
)
"""By what a class may come to the parts of its own objects without their names."""
_LOOPS: Final = re.compile(rb"^(?:for|while) ", re.M)
"""How a loop at the top level begins."""
OF_ITSELF: Final = "getattr(self,"
"""What asks an object for something of its own."""


def puts_names_together(
    users: Users,
    module: Module,
    *,
    of_itself: bool = True,
    wholes: bool = True,
    idle: Callable[[str, str], bool] | None = None,
) -> bool:
    """Whether a file, or one that imports it, may come to its definitions without their names.

    Args:
        of_itself: whether an object may ask itself for what is meant.
        wholes: whether it counts to do so by whole names of definitions.
        idle: whether nothing comes to a definition of the top level of a file, so that it doesn't count what that does.
    """
    importers = users.importers(module.path)
    named = {name.rpartition(".")[2].encode() for name in (*module.functions, *module.classes, *module.facts.names)}
    paths = (module.path, *importers)
    texts = ((p, users.texts.of(p) if wholes else without(users.texts, p)) for p in paths)
    if idle is not None:
        texts = ((p, _running(users.texts, p, text, idle) if text is not None else None) for p, text in texts)
    doing = next(
        (
            path
            for path, text in texts
            if text is None
            or _puts_together(text)
            or _asks_any(users, path, wholes, idle)
            or _gets_any(users, path, text, named, of_itself)
        ),
        None,
    )
    if doing is not None:
        users.resolver.opened.add(doing)  # whatever the others do
        return True
    users.resolver.opened.update(importers)
    users.asked.add(os.path.basename(module.path).partition(".")[0])  # whoever comes to import the file may do so too
    return False


def _asks_any(users: Users, path: str, wholes: bool, idle: Callable[[str, str], bool] | None) -> bool:
    """Whether a file may ask a module that it has for what has a name that isn't written out; arguments as above."""
    code = users.resolver.modules.code(path)
    by_name = ByName(code) if code is not None else None
    if by_name is None or not by_name.gets_any():
        return False
    parts = users.texts.blocks(path)
    named = {b.name for b in parts if b.name and idle is not None and _asks(b.text) and idle(path, b.name)}
    splitting = () if wholes else {block.name for block in parts if only_splits_names(block.text)}
    return by_name.gets_any(named, splitting)


def _running(texts: Texts, path: str, text: bytes, idle: Callable[[str, str], bool]) -> bytes:
    """The text of a file, without the definitions of its top level that put names together, and that nothing comes to."""
    parts = [(block.name, block.text) for block in texts.blocks(path)] if _asks(text) else [(TOP, text)]
    return b"".join([part for name, part in parts if not (_asks(part) and name and idle(path, name))])


def _asks(text: bytes) -> bool:
    return b"getattr(" in text or any(way in text for way in PUT_TOGETHER)


@lru_cache(maxsize=256)
def _puts_together(text: bytes) -> bool:
    if not any(way in text for way in PUT_TOGETHER):  # searching for literals is fast
        return False
    own = _DEFINES.findall(text)
    return any(way not in own for way in _WAYS.findall(text))


def _gets_any(users: Users, path: str, text: bytes, names: Collection[bytes], of_itself: bool) -> bool:
    """Whether a file asks for an attribute by a name that isn't written out, or that is one of some names."""
    asked = ((bool(found[1]), found[2], found[3]) for found in _GETS.finditer(text))
    return any(
        (of_itself or not own)
        and (name is None or name in names)
        and not (of and is_of_framework(users, path, text, of))
        for own, of, name in asked
    )


def is_of_framework(users: Users, path: str, text: bytes, name: bytes) -> bool:
    """Whether a file means a library that the catalog knows by a name, wherever it says that: what such a module has is none of the
    program's."""
    module = users.resolver.module(path) if path.endswith(".py") else None
    meant = module.facts.names.get(name.decode("utf-8", "replace")) if module is not None else None
    own = users.resolver.name(path, meant.name) if isinstance(meant, Ref) else None
    root = own.name.partition(".")[0] if isinstance(own, Ref) else ""
    catalog = users.resolver.catalog
    if root not in catalog.roots and root not in catalog.libraries:
        return False
    read = rb"\b%s(?=\.)|\b(?:get|has)attr\(\s*%s(?=\s*,)" % (name, name)
    return not re.search(rb"\b%s\b" % name, re.sub(read, b"", IMPORT.sub(b"", text)))


class Unused:
    """Finds what is made for nothing.

    Args:
        users: knows which files say a word.
        attributes: knows what reads the attributes of objects.
        in_library: whether others may use what is in a file.
    """

    def __init__(
        self, matcher: Matcher, users: Users, attributes: Readers, in_library: Callable[[Module], bool]
    ) -> None:
        self._resolver = matcher.resolver
        self._in_library = in_library
        self._users = users
        self._attributes = attributes
        self._same = matcher.resolver.catalog.words_with("returns-self")
        """Methods that give the object that they are called on: `P.ReduceSum().shard(...)`."""

    def is_made_for_nothing(
        self, module: Module, index: int, made: str, generator: bool, counts: Counts | None = None
    ) -> bool:
        """Whether what a site makes is kept as an attribute, of a layer or as a generator, and nothing reads that.

        Args:
            made: the class of what it makes, if a run passes there that trains: its script is written to the end.
            generator: whether it is a generator of random numbers. One under a name of its module does nothing by itself, either;
                nor does a layer under a name of a script.
            counts: says which places count that read it; None for all of them.
        """
        site = module.sites[index]
        if site.use not in ("", "dropped") and not site.use.startswith(("assigned:", "kept")):
            return False
        function = module.function_of(site)
        if not function.name:
            idle = bool(site.use) if generator else self._is_of_script(module, made)
            return idle and self._is_said_once(module, self._name_in(module.facts.names, index))
        layer = self._resolver.layer(f"{module.path}::{function.owner}") if function.owner else None
        if layer is None and not (generator and function.owner):
            return False
        name, inside = self._name_in(module.classes[function.owner].attributes, index), layer is not None
        if not name:
            return False
        if layer is not None:
            forward = module.functions.get(f"{function.owner}.{layer.forward}")
            in_sight = counts is not None and self._attributes.is_read(module, function.owner, name, inside=True)
            in_sight = in_sight or self._uses_parts(module, forward)
            if not in_sight and not self._is_for_heirs(module, function.owner, layer.forward):
                return False  # what it does stands elsewhere
        return not self._attributes.is_read(module, function.owner, name, inside=inside, counts=counts)

    def _is_for_heirs(self, module: Module, owner: str, forward: str) -> bool:
        """Whether a layer has no forward pass but those that derived ones have, which name the parts that they use.

        Args:
            forward: what the framework calls a forward pass.
        """
        bases = (base.partition("::") for base in self._resolver.mro(f"{module.path}::{owner}"))
        homes = [(self._resolver.known(path), name) for path, colon, name in bases if colon]
        passes = any(f"{name}.{forward}" in home.functions for home, name in homes)
        seen = {owner}
        named = not (passes or self._in_library(module)) and self._heirs_name_parts(module, owner, seen)
        return named and len(seen) > 1

    def _heirs_name_parts(self, module: Module, owner: str, seen: set[str]) -> bool:
        """Whether all that derives from a class, directly or not, says by their names which of its own attributes it uses.

        Args:
            seen: the names of the classes whose heirs have been looked for.
        """
        saying = self._users.saying(module, owner) if owner.isascii() else None
        if saying is None:
            return False
        derived = deriving(owner)
        for path in dict.fromkeys([module.path, *saying]):
            self._resolver.opened.add(path)
            heirs = [block for block in self._users.texts.blocks(path) if derived.search(block.text)]
            home = self._resolver.module(path)
            if heirs and (home is None or any(_OWN_PARTS.search(block.text) for block in heirs)):
                return False
            for name in (block.name for block in heirs if block.name not in seen):
                seen.add(name)
                if home is None or not self._heirs_name_parts(home, name, seen):
                    return False
        return True

    def _is_of_script(self, module: Module, made: str) -> bool:
        """Whether a class of layers is one whose objects a script has for itself, if its top level makes them."""
        own = bool(made) and module.facts.starts in ("main", "script") and self._resolver.layer(made) is not None
        return own and not self._users.is_imported(module)

    @staticmethod
    def _uses_parts(module: Module, forward: Function | None) -> bool:
        """Whether the forward pass of a layer calls any of its attributes."""
        if forward is None:
            return False
        targets = (module.sites[number].target for number in sites(module.steps(forward)))
        return any(isinstance(t, Member) and isinstance(t.base, Instance) and not t.base.name for t in targets)

    def _name_in(self, names: Mapping[str, Value | None], index: int) -> str:
        """The only one of some names that holds what a site makes, at least on one way."""
        found = [
            name
            for name, value in names.items()
            if any(self._is_made_by(v, index) for v in (value.options if isinstance(value, Either) else (value,)))
        ]
        return found[0] if len(found) == 1 else ""

    def _is_made_by(self, value: Value | None, index: int) -> bool:
        while isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr in self._same:
            value = value.of.base
        return is_made_by(value, index)

    def is_unsaid(self, module: Module, index: int, name: str, times: int) -> bool:
        """Whether a name is said so many times, all in the `__main__` block in which a site stands, or at the top level of a script that
        does something for its own sake, or goes through something, and that nothing imports: no import has what that binds."""
        steps = module.steps(module.facts.functions[0])
        blocks = (step for step in steps if isinstance(step, Branch) and step.kind == "main")
        own = any(index in sites(block.arms[0]) for block in blocks)
        # Who writes a notebook may not have come to its use.
        text = self._users.texts.of(module.path) if not module.facts.cells else None
        acts = module.facts.starts in ("main", "script") and self._users.starts(module.path)
        acts = acts or (text is not None and _LOOPS.search(text) is not None)
        own = own or (acts and not self._users.may_be_imported(module, name))
        return own and self._is_said_once(module, name, times)

    def _is_said_once(self, module: Module, name: str, times: int = 1) -> bool:
        """Whether no other place names something: in its file, or in one that imports that.

        Args:
            times: how often its own places do.
        """
        if not name:
            return False
        self._users.asked.add(name)
        if self._users.mentions(module.path, name) != times:
            return False
        importers = self._users.importers(module.path)
        self._resolver.opened.update(importers)
        return not any(self._users.mentions(path, name) for path in importers)
