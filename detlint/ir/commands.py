"""What launch texts say: commands in the order in which they are run, with the structure around them.

Shell scripts, Dockerfiles, recipes, and the commands in files of settings are lowered to these, whatever their grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec


class _Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A compact record: an array on disk."""


class Expansion(_Record, frozen=True, tag=True):
    """What a variable stands for: `$X`, `${X:-default}`, `"${ARGS[@]}"`."""

    name: str
    """`1` for the first argument, `@` for all of them."""
    default: Word | None = None
    """What it is where the variable isn't set."""
    quoted: bool = False
    """Whether it stays one word, whatever it is."""
    each: bool = False
    """Whether it stands for all items of an array, as words of their own."""


Part = str | Expansion | None
"""What is written out; a variable; None for what isn't known."""


class Word(_Record, frozen=True, tag=True):
    """One word as it is written. Quotes and backslashes are gone."""

    parts: tuple[Part, ...]
    line: int = 0
    """From 1."""
    column: int = 0
    """In bytes of UTF-8, from 0."""
    length: int = 0
    """In bytes, with its quotes; 0 where it goes over several lines, or its place isn't known."""

    @property
    def text(self) -> str | None:
        """What is written out; None where a part of it isn't."""
        return "".join(map(str, self.parts)) if all(isinstance(part, str) for part in self.parts) else None


class Array(_Record, frozen=True, tag=True):
    """The words of an array."""

    words: tuple[Word, ...]


class Assignment(_Record, frozen=True, tag=True):
    """A variable gets a value, or is handed on to processes."""

    name: str
    value: Word | Array | None
    """None: what it has already, or nothing that is known."""
    kind: Literal["", "export", "local", "unset", "read"] = ""
    """`read`: what it gets isn't written out."""
    adds: bool = False
    """`X+=more`"""
    line: int = 0
    column: int = 0


class Command(_Record, frozen=True, tag=True):
    """A command, its redirections left out."""

    words: tuple[Word, ...]
    given: tuple[Assignment, ...] = ()
    """The variables that are set for it alone."""
    line: int = 0
    column: int = 0


class Branch(_Record, frozen=True, tag=True):
    """One of several ways is gone, or none of them: `if`, `case`, what follows on `||`."""

    arms: tuple[tuple[Step, ...], ...]
    exhaustive: bool = False
    """Whether one of them is gone in any case."""


class Loop(_Record, frozen=True, tag=True):
    """What is done again and again."""

    variable: str
    """What gets the values in turn; "" for none."""
    values: tuple[Word, ...] | None
    """None for what isn't written out."""
    body: tuple[Step, ...]


class Group(_Record, frozen=True, tag=True):
    """A process of its own: what it sets, its folder too, ends with it."""

    body: tuple[Step, ...]


class Define(_Record, frozen=True, tag=True):
    """A function."""

    name: str
    body: tuple[Step, ...]


Step = Assignment | Command | Branch | Loop | Group | Define


class Script(_Record, frozen=True):
    """What a launch text says."""

    steps: tuple[Step, ...] = ()
    complete: bool = True
    """Whether all of it was understood."""


NOTHING = Script(complete=False)


def assignments(steps: Sequence[Step]) -> Iterator[Assignment]:
    """All that steps set, on whichever way."""
    for step in steps:
        if isinstance(step, Assignment):
            yield step
        elif isinstance(step, Command):
            yield from step.given
        else:
            for arm in step.arms if isinstance(step, Branch) else (step.body,):
                yield from assignments(arm)


def moved(steps: Sequence[Step], lines: int, columns: int = 0, each: bool = False) -> tuple[Step, ...]:
    """Steps of a text that stands in another one, with their places there.

    Args:
        lines: how many lines stand before it.
        columns: how many bytes stand before it in its first line.
        each: whether they do so in any of its lines.
    """
    return tuple(_moved(step, lines, columns, each) for step in steps) if lines or columns else tuple(steps)


def _moved(found: Any, lines: int, columns: int, each: bool) -> Any:
    """A record, or some, with the places of all records in it."""
    if isinstance(found, tuple):
        return tuple(_moved(part, lines, columns, each) for part in found)
    if not isinstance(found, _Record):
        return found
    changed = {name: _moved(getattr(found, name), lines, columns, each) for name in found.__struct_fields__}
    if changed.get("line"):
        changed["column"] += columns if each or changed["line"] == 1 else 0
        changed["line"] += lines
    return type(found)(**changed)
