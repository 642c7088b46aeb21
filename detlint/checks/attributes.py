"""Attributes of objects that nothing reads: by the texts of the files, with the class that an object has there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from detlint.checks.by_name import ANY
from detlint.facts.model import Ref
from detlint.program.resolve import Module, Resolver
from detlint.program.texts import Block, Texts
from detlint.program.users import Users

KNOWN: Final = ("builtins.", "abc.", "typing.", "enum.")
"""What classes of others begin with that read no attributes of those which derive from them."""
WINDOW: Final = 200
"""In bytes: so far before an attribute's name stands what it is read of."""
_OWNER: Final = re.compile(rb"(super\([^()]*\)|\w*[\w)\]])\s*\.[ \t]*\Z")
_DOTTED: Final = re.compile(rb"(?<![\w.)\]])([^\W\d]\w*)\.(?:\w+\.)*\Z")
"""The names before an attribute, where there is nothing else."""
_SET: Final = re.compile(rb"\w|\s*(?::[^=\n]*)?=(?!=)|\s*(?:,\s*self\.\w+\s*)+=(?!=)")
"""What stands behind the name of an attribute that is set, alone or with others, or behind a part of another name."""
_NAMED: Final = re.compile(rb"attr\([^()]*[\"']\Z")
_HEAD: Final = re.compile(rb"^([ \t]+)(?:async[ \t]+)?def[ \t]+(\w+)", re.M)
UNNAMED: Final = re.compile(rb"\bgetattr\([^,()]*" + ANY + rb"|__dict__|\bvars\(self|children\(|cells\(|\._modules\b")
"""By what a class may come to the attributes of its objects without their names."""

Counts = Callable[[str, Block, int], bool]
"""Whether what stands at a place in a part of a file counts."""


class Attributes:
    """Says whether anything reads an attribute of a class."""

    def __init__(self, resolver: Resolver, users: Users, texts: Texts) -> None:
        self._resolver = resolver
        self._users = users
        self._texts = texts
        self._frameworks = {framework.module for framework in resolver.catalog.frameworks}

    def is_read(
        self, module: Module, owner: str, name: str, *, inside: bool = False, counts: Counts | None = None
    ) -> bool:
        """Whether anything may read an attribute, or call a method, of the objects of a class; so where what reads it can't all
        be found.

        Args:
            owner: the class, by its name inside the module.
            inside: whether it is a part of what the object does itself, as layers have them: others than its class read it
                only where they import that, or call it of an object that they were handed: `model.encoder(x)`.
            counts: says which readings count; None for all of them.
        """
        own = f"{module.path}::{owner}"
        called = f"self.{name}(".encode("utf-8", "replace")
        blocks = (block for block in self._texts.blocks(module.path) if block.name == _outermost(owner))
        # So it is with most of them, and a search for a literal is fast.
        if not name.isascii() or (counts is None and any(called in block.text for block in blocks)):
            return True
        if not self._is_closed(own):
            return True
        saying = self._users.saying(module, name, anywhere=not inside)
        if saying is None:
            return True
        first = [module.path, *(base.partition("::")[0] for base in self._resolver.mro(own)[1:] if "::" in base)]
        for path in dict.fromkeys(first):
            if self._reads(path, own, name, counts):
                return True
        for path in saying:
            if path not in first and self._reads(path, own, name, counts):
                self._resolver.opened.add(path)
                return True
        return inside and self._is_read_farther_away(module, own, name, counts)

    def _is_read_farther_away(self, module: Module, own: str, name: str, counts: Counts | None) -> bool:
        """Whether a file that doesn't import a module itself may read what its objects have: a class there derives from theirs, by way
        of what a package offers; or it calls that of an object that it was handed, if tensors have no such method, which it will mean."""
        of_tensors = name in self._resolver.catalog.tensor_methods
        for path in self._users.saying(module, name) or ():
            other = self._resolver.module(path) if path.endswith(".py") else None
            for block in self._texts.blocks(path) if other is not None and other is not module else ():
                for base, at in _readings(block.text, name.encode()):
                    if _is_own(base):
                        read = self._is_akin(path, block, own)
                    else:
                        called = block.text.startswith(b"(", at + len(name)) and not (
                            of_tensors or _is_import(other, base)
                        )
                        read = called and not self._is_of_library(path, block.text, at, name)
                    if read and (counts is None or counts(path, block, at)):
                        self._resolver.opened.add(path)
                        return True
        return False

    def is_read_by_kin(self, module: Module, owner: str, name: str) -> bool:
        """Whether another class may read an attribute of its own `self` that a class sets: one that derives from it, or that it
        derives from; so where these can't all be found. Whoever has one of its objects isn't asked.

        Args:
            owner: the class, by its name inside the module.
        """
        own = f"{module.path}::{owner}"
        saying = self._users.saying(module, name, anywhere=False) if name.isascii() and self._is_closed(own) else None
        if saying is None:
            return True
        first = [module.path, *(base.partition("::")[0] for base in self._resolver.mro(own)[1:] if "::" in base)]
        near = dict.fromkeys([*first, *saying])
        for path in near:
            self._resolver.opened.add(path)
            for block in self._texts.blocks(path):
                if path == module.path and block.name == _outermost(owner):
                    continue
                if self._reads_itself(block, name) and (not path.endswith(".py") or self._is_related(path, block, own)):
                    return True
        for path in self._users.saying(module, name) or ():
            blocks = self._texts.blocks(path) if path.endswith(".py") and path not in near else ()
            if any(self._reads_itself(block, name) and self._is_akin(path, block, own) for block in blocks):
                self._resolver.opened.add(path)
                return True
        return False

    @staticmethod
    def _reads_itself(block: Block, name: str) -> bool:
        """Whether a part of a file reads an attribute of `self`, or of what isn't known."""
        return any(base is None or _is_own(base) for base, _ in _readings(block.text, name.encode()))

    def is_set_by_others(self, module: Module, owner: str, name: str) -> bool:
        """Whether anything but a class itself may set an attribute of its objects: one that derives from it, or whoever has one.

        Args:
            owner: the class, by its name inside the module.
        """
        saying = self._users.saying(module, name, anywhere=False) if name.isascii() else None
        if saying is None:
            return True
        own, sets = f"{module.path}::{owner}", re.compile(rb"(\w*)\.%s\b[^=\n()<>!]*=(?!=)" % name.encode())
        for path in dict.fromkeys([module.path, *saying]):
            self._resolver.opened.add(path)
            for block in self._texts.blocks(path):
                heads = {found[1] for found in sets.finditer(block.text)}
                itself = path == module.path and block.name == _outermost(owner)
                if heads - {b"self"} or (heads and not itself and self._is_related(path, block, own)):
                    return True
        return False

    def _is_closed(self, own: str) -> bool:
        """Whether all that a class derives from is known, and names the attributes that it reads."""
        for name in self._resolver.mro(own):
            path, colon, inside = name.partition("::")
            if not colon:
                if name not in self._frameworks and not name.startswith(KNOWN):
                    return False
                continue
            module = self._resolver.known(path)
            body = module.classes.get(inside)
            if body is None or not self._resolver.knows_bases(name):
                return False
            self._resolver.opened.add(path)
            if any(
                UNNAMED.search(block.text) for block in self._texts.blocks(path) if block.name == _outermost(inside)
            ):
                return False
        return True

    def _reads(self, path: str, own: str, name: str, counts: Counts | None) -> bool:
        """Whether a file reads an attribute of objects that may be of a class."""
        if not path.endswith(".py"):
            return path.endswith(".ipynb")
        for block in self._texts.blocks(path):
            for base, at in _readings(block.text, name.encode()):
                if _is_own(base):
                    related = self._is_related(path, block, own)
                else:
                    related = base is None or not self._is_of_library(path, block.text, at, name)
                if related and (counts is None or counts(path, block, at)):
                    return True
        return False

    def _is_of_library(self, path: str, text: bytes, at: int, name: str) -> bool:
        """Whether what is read at a place of a part of a file is what a library has that the catalog knows: `ops.randn_like`. Not if that
        part may bind the name for something else, as a parameter has it."""
        module, said = self._resolver.module(path), _DOTTED.search(text, max(0, at - WINDOW), at)
        if module is None or said is None:
            return False
        if re.search(rb"[(,]\s*%s\s*[,:=)]|\b(?:for|as)\s+%s\b|\b%s\s*:?=(?!=)" % ((said[1],) * 3), text):
            return False
        meant = self._resolver.name(path, f"{module.prefix}{said[0].decode('utf-8', 'replace')}{name}")
        return isinstance(meant, Ref) and meant.name.partition(".")[0] in self._resolver.catalog.roots

    def _is_related(self, path: str, block: Block, own: str) -> bool:
        """Whether `self` in a part of a file may be an object of a class, or of one that it derives from."""
        home, _, inside = own.partition("::")
        if path == home and block.name == _outermost(inside):
            return True
        module = self._resolver.module(path)
        body = module.classes.get(block.name) if module is not None else None
        if body is None or not self._resolver.knows_bases(f"{path}::{block.name}"):
            return self._texts.says(path, _outermost(inside))  # what it derives from is not known
        return self._is_akin(path, block, own)

    def _is_akin(self, path: str, block: Block, own: str) -> bool:
        """Whether a part of a file is a class that surely derives from another one, or that one from it."""
        other = f"{path}::{block.name}"
        return own in self._resolver.mro(other) or other in self._resolver.mro(own)


def _is_own(base: bytes | None) -> bool:
    """Whether an attribute is one of the object whose method reads it."""
    return base in (b"self", b"cls") or (base is not None and base.startswith(b"super("))


def _is_import(module: Module | None, base: bytes | None) -> bool:
    """Whether what an attribute is read of is something that a file imports, or isn't known."""
    return base is None or module is None or isinstance(module.facts.names.get(base.decode("utf-8", "replace")), Ref)


def _outermost(name: str) -> str:
    return name.partition(".")[0]


def _readings(text: bytes, name: bytes) -> Iterator[tuple[bytes | None, int]]:
    """What an attribute is read of, wherever a text does so, and where; None where it is read by its name as a text."""
    start = text.find(name)  # most texts don't have it, and a search for a literal is fast
    while start >= 0:
        end, window = start + len(name), max(0, start - WINDOW)
        if (before := _OWNER.search(text, window, start)) is not None:
            if _SET.match(text, end) is None:
                yield before[1], start
        elif text[end : end + 1] in (b"'", b'"') and _NAMED.search(text, window, start) is not None:
            yield None, start
        start = text.find(name, end)


def method_at(text: bytes, at: int) -> str:
    """The method of a class that a place of its text stands in; "" for none, or where that isn't clear."""
    heads = [*_HEAD.finditer(text)]
    indent = min((len(head[1]) for head in heads), default=0)
    head = next((head for head in reversed(heads) if len(head[1]) == indent and head.end() <= at), None)
    outside = re.compile(rb"^[ \t]{0,%d}[^\s)\]}#]" % indent, re.M)
    return "" if head is None or outside.search(text, head.end(), at) else head[2].decode("utf-8", "replace")
