"""Makefiles to commands: the recipes of their rules, and their variables.

A line that begins with a tab, below a rule, is the shell's; any other is make's. Each recipe is a process; `$(NAME)` is what the file has
set it to anywhere, and what else make may compute isn't known.
"""

from __future__ import annotations

from collections.abc import Iterator

from detlint.ir import shell
from detlint.ir.commands import NOTHING, Assignment, Group, Script, Step, Word, moved

_SIGNS = ("::=", ":=", "?=", "+=", "=")
_PREFIXES = b"@-+ \t"


def lower(text: bytes) -> Script:
    """What a Makefile says. Never raises on account of the input."""
    if not shell.may_be_parsed(text):
        return NOTHING
    steps, recipe = list[Step](), list[tuple[int, bytes]]()
    for number, line in _logical(text):
        if line.startswith(b"\t"):
            recipe.append((number, line))
            continue
        steps += _recipe(recipe)
        recipe = []
        steps += _assignment(number, line)
    assignments = [step for step in steps if isinstance(step, Assignment)]
    others = [step for step in (*steps, *_recipe(recipe)) if not isinstance(step, Assignment)]
    return Script((*assignments, *others))


def comments(text: bytes) -> list[tuple[int, int, str]]:
    """The comments of a Makefile: line, column, text."""
    found = []
    for number, line in enumerate(text.split(b"\n"), 1):
        at = line.find(b"#")
        while at > 0 and line[at - 1 : at] not in (b" ", b"\t"):
            at = line.find(b"#", at + 1)
        if at >= 0:
            found.append((number, at, line[at:].decode("utf-8", "replace").rstrip()))
    return found


def _logical(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines, with those that continue them, and where they begin, from 0."""
    held, first = b"", 0
    for number, line in enumerate(text.replace(b"\r\n", b"\n").split(b"\n")):
        first = first if held else number
        held += line
        if line.endswith(b"\\"):
            held += b"\n"
            continue
        yield first, held
        held = b""


def _assignment(number: int, line: bytes) -> Iterator[Step]:
    """`NAME := value`"""
    plain = line.decode("utf-8", "replace").partition("#")[0].replace("\\\n", " ")
    exported = plain.startswith("export ")
    head = plain.removeprefix("export ").strip()
    for sign in _SIGNS:
        name, found, value = head.partition(sign)
        name = name.strip()
        if found and name.isidentifier():
            bare = value.strip().encode()
            parts = shell.quoted(_shown(bare).decode()).parts
            at = line.find(bare, line.find(sign.encode()) + len(sign)) if bare and b"\n" not in line else -1
            given = Word(parts, number + 1, at, len(bare)) if at >= 0 else Word(parts)
            yield Assignment(name, given, "export" if exported else "", sign == "+=", number + 1, 0)
            return


def _recipe(lines: list[tuple[int, bytes]]) -> Iterator[Step]:
    for number, line in lines:
        command = line.lstrip(_PREFIXES)
        found = shell.lower(_shown(command)).steps
        yield Group(moved(found, number, len(line) - len(command)))


def _shown(text: bytes) -> bytes:
    """A text of make's as a shell has it: `${NAME}` for its `$(NAME)`, `$NAME` for its `$$NAME`, what it computes unknown."""
    found, at = bytearray(), 0
    while at < len(text):
        if text[at : at + 2] == b"$$":
            found += b"$"
            at += 2
        elif text[at : at + 2] in (b"$(", b"${"):
            end = text.find(b")" if text[at + 1 : at + 2] == b"(" else b"}", at)
            name = text[at + 2 : end] if end > 0 else b""
            known = name.decode("utf-8", "replace").isidentifier() and name.isascii()
            found += b"${%s}" % name if known else b"$(_)"
            at = end + 1 if end > 0 else len(text)
        else:
            found += text[at : at + 1]
            at += 1
    return bytes(found)
