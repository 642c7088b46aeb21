"""Imports that rewritten code needs, put where the file has its own, and those that it needs no more."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor, RemoveImportsVisitor

from detlint import counters
from detlint.fixes.file import File
from detlint.fixes.recipe import NoFix
from detlint.fixes.removal import comments, has_lines, on_lines, without_lines
from detlint.fixes.text import Edit, Text
from detlint.fixes.unused import Imported, imported_by
from detlint.sources.parse import module_of


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
    plain = _top(re.sub(r"\r(?!\n)", "\n", text))  # LibCST loses one at the end of a file
    try:
        new = AddImportsVisitor(context).transform_module(_module(plain)).code
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise NoFix(f"the file can't be parsed: {error}") from None
    newline = Text(text).newline
    return [Edit(e.start, e.end, re.sub(r"\r\n|\r|\n", newline, e.text)) for e in _inserted(plain, new)]


def _top(text: str) -> str:
    """A module without what comes behind the statement that follows its first imports, and that as short as can be: what new imports
    are put before, or above, is all that LibCST looks for, and it takes long to look through the rest."""
    try:
        body = module_of(text).body
    except (SyntaxError, ValueError, RecursionError):
        return text
    for node in body[1:]:
        if node.col_offset == 0 and not isinstance(node, ast.Import | ast.ImportFrom):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            return f"{text[: Text(text).starts[first - 1]]}pass\n"
    return text


def without_imports(file: File, gone: Collection[Imported]) -> list[Edit]:
    """The edits that leave out some imports of the top level which nothing uses. Comments stay.

    Raises:
        NoFix: LibCST can't parse one.
    """
    edits = list[Edit]()
    for node in file.tree.body:
        left = [one for one in imported_by(node) if one not in gone]
        if len(left) < len(imported_by(node)):
            start, end = file.range(node)
            if not has_lines(file.text, start, end):
                if not left and not comments(file.text.text[start:end]):
                    edits.append(Edit(start, end, "pass"))
            elif left:
                edits.append(Edit(start, end, _narrowed(file.text, start, end, gone)))
            else:
                edits.append(without_lines(file.text, start, end))
    return [_closed(file.text, edit) for edit in _joined(edits)]


def _joined(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits, with those as one that take out lines below each other."""
    last: Edit | None = None
    for edit in edits:
        if last is not None and last.end == edit.start and not last.text and not edit.text:
            last = Edit(last.start, edit.end, "")
            continue
        if last is not None:
            yield last
        last = edit
    if last is not None:
        yield last


def _closed(text: Text, edit: Edit) -> Edit:
    """An edit that takes lines out, with the blank lines above it where others follow; at the top of a file, with those below."""
    if edit.text:
        return edit
    first, last = text.place(edit.start)[0], text.place(edit.end)[0]

    def blank(number: int) -> bool:
        return 0 < number <= len(text.starts) and not text.line(number).strip() and text.line(number) != ""

    above = first
    while blank(above - 1) and (blank(last) or last == len(text.starts)):
        above -= 1
    while above == 1 and blank(last):
        last += 1
    return Edit(text.starts[above - 1], text.starts[last - 1], "")


def _narrowed(text: Text, start: int, end: int, gone: Iterable[Imported]) -> str:
    """A statement that imports less; comments on what is gone stand above it."""
    context, source = CodemodContext(), text.text[start:end]
    for imported in gone:
        RemoveImportsVisitor.remove_unused_import(context, *imported)
    try:
        new = RemoveImportsVisitor(context).transform_module(_module(source)).code
    except (cst.ParserSyntaxError, RecursionError) as error:
        raise NoFix(f"the file can't be parsed: {error}") from None
    lost = Counter(comments(source)) - Counter(comments(new))
    margin = text.text[text.starts[text.place(start)[0] - 1] : start]
    return on_lines(lost.elements(), margin, text.newline, text.newline) + new


def _module(text: str) -> cst.Module:
    counters.now.rewrites += 1
    return cst.parse_module(text)


def _inserted(old: str, new: str) -> Iterator[Edit]:
    """The lines that one text has more than the other."""
    if old == new:
        return
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
