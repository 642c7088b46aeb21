"""Imports that rewritten code needs, put where the file has its own, and those that it needs no more."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor, RemoveImportsVisitor

from detlint import counters
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Edit

Imported = tuple[str, str | None, str | None]
"""The module, what is imported from it (None: the module itself), and the name that it gets."""


def import_edits(text: str, imports: Iterable[str]) -> list[Edit]:
    """The edits that add some imports to a module.

    Args:
        text: the module.
        imports: as statements: `import numpy as np`, `from torchvision.transforms import CenterCrop`.

    Raises:
        NoFix: LibCST can't parse the module.
    """
    context = CodemodContext()
    for statement in sorted(imports):
        word, name, *rest = statement.split()
        if word == "from":
            AddImportsVisitor.add_needed_import(context, name, rest[-1])
        else:
            AddImportsVisitor.add_needed_import(context, name, asname=rest[-1] if rest else None)
    try:
        new = AddImportsVisitor(context).transform_module(_module(text)).code
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise NoFix(f"the file can't be parsed: {error}") from None
    return [*_inserted(text, new)]


def without_imports(text: str, gone: Iterable[Imported]) -> list[Edit]:
    """The edits that leave out some imports which nothing uses.

    Raises:
        NoFix: LibCST can't parse the module.
    """
    context = CodemodContext()
    for imported in gone:
        RemoveImportsVisitor.remove_unused_import(context, *imported)
    try:
        new = RemoveImportsVisitor(context).transform_module(_module(text)).code
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise NoFix(f"the file can't be parsed: {error}") from None
    start = _shared(text, new)
    rest = _shared(text[start:][::-1], new[start:][::-1])
    return [Edit(start, len(text) - rest, new[start : len(new) - rest])] if text != new else []


def _module(text: str) -> cst.Module:
    counters.now.rewrites += 1
    return cst.parse_module(text)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _inserted(old: str, new: str) -> Iterable[Edit]:
    """The lines that one text has more than the other."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    head = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    # Imports stand at the top: the rest is the same, and needs no comparison.
    tail = len(after) - len(before)
    if tail >= 0 and before[head:] == after[head + tail :]:
        yield Edit(starts[head], starts[head], "".join(after[head : head + tail]))
        return
    for tag, i, j, k, n in matcher.get_opcodes():
        if tag != "equal":
            yield Edit(starts[i], starts[j], "".join(after[k:n]))
