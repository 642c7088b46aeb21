"""The IR of one file, as it is kept."""

from __future__ import annotations

from typing import Any, Final

import msgspec

MODULE: Final = 0
FUNCTION: Final = 1
LAMBDA: Final = 2
CLASS: Final = 3
ASYNC: Final = 8
"""Added to a kind: it is a coroutine."""
GENERATOR: Final = 16
"""Added to a kind: calling it makes a generator."""
KIND: Final = 7

POSITIONAL: Final = 0
"""Only by position."""
EITHER: Final = 1
KEYWORD: Final = 2
"""Only by keyword."""
REST: Final = 3
"""`*args`"""
OTHERS: Final = 4
"""`**options`"""


class Name(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A slot: what one name means in one function."""

    text: int
    """The name, as a string of the file, as it is written: not `_Class__name`, though that is what is looked for."""
    owner: int
    """The function that binds it: itself, one around it, or 0: the module."""
    slot: int
    """Its slot there; -1: the module doesn't bind it. It is built in, or comes by `import *`."""


class Parameter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A parameter; its slot is its position."""

    kind: int
    default: int
    """The value in the function around; -1: it has none."""
    annotation: int
    """The value in the function around; -1: it has none."""


class Header(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of a function without its body."""

    kind: int
    name: int
    """A string."""
    parent: int
    """The function around it; -1 for the module."""
    line: int
    """Where it begins, from 1."""
    parameters: tuple[Parameter, ...]
    returns: int
    """The annotation of what it gives, a value in the function around; -1: it has none."""


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One name of an import statement."""

    function: int
    """What it stands in."""
    module: int
    """A string, dotted; empty for `from . import`."""
    level: int
    """How many dots stand before."""
    member: int
    """A string; `*`: all; -1: the module itself."""
    name: int
    """The string that it is bound to; -1 for `*`."""


OF_IMPORT: Final = 0
OF_FUNCTION: Final = 1
OF_CLASS: Final = 2
OF_VALUE: Final = 3
SEVERAL: Final = 4


class Export(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a name of the module's top level is bound to."""

    name: int
    """A string."""
    kind: int
    """`OF_IMPORT` etc.; `SEVERAL`: it is bound more than once, or deleted, or by a function that declares it global."""
    number: int
    """The row of the import, or the function (a class: its body); else -1."""


class Class(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class without its body."""

    function: int
    """Its body."""
    bases: tuple[int, ...]
    """Strings, dotted as they are written; -1: not a dotted name."""
    methods: tuple[tuple[int, int], ...]
    """The functions that its body binds, in their order: name (a string) and function. A name may stand here twice: properties."""


class FnIR(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a function does. Nothing in it says where it stands, so that it is equal to itself wherever it is moved."""

    names: tuple[Name, ...]
    ops: tuple[tuple[int, ...], ...]


class FileIR(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file. Its functions are in the order in which a walk in breadth comes to them; the first is the module's top level."""

    strings: tuple[str, ...]
    constants: tuple[Any, ...]
    functions: tuple[Header, ...]
    imports: tuple[Import, ...]
    exports: tuple[Export, ...]
    classes: tuple[Class, ...]
    bodies: tuple[msgspec.Raw, ...]
    """Of each function its `FnIR`: ask `body_of`."""
    spans: tuple[bytes, ...]
    """Of each function where its ops stand: ask `spans_of`."""
