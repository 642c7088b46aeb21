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
    """The name, as a string of the file."""
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
    """Where it begins."""
    parameters: tuple[Parameter, ...]


class FnIR(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a function does. Nothing in it says where it stands, so that it is equal to itself wherever it is moved."""

    names: tuple[Name, ...]
    ops: tuple[tuple[int, ...], ...]


class FileIR(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file."""

    strings: tuple[str, ...]
    constants: tuple[Any, ...]
    functions: tuple[Header, ...]
    bodies: tuple[msgspec.Raw, ...]
    spans: tuple[msgspec.Raw, ...]
