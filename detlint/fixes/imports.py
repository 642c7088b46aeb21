"""Imports that rewritten code needs, put where the file has its own, and those that it needs no more."""

from __future__ import annotations

import ast
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import RemoveImportsVisitor

from detlint import counters
from detlint.fixes.file import File
from detlint.fixes.recipe import NoFix
from detlint.fixes.removal import comments, has_lines, on_lines, without_lines
from detlint.fixes.text import Edit, Text
from detlint.fixes.unused import Imported, imported_by
from detlint.sources.parse import module_of


def import_edits(path: str, text: str, imports: Iterable[str]) -> list[Edit]:
    """The edits that add some imports to a module, each where isort would put it: in its section (the standard library, others'
    libraries, the project), by name, `import` before `from`. What stands there already is not sorted.

    Args:
        path: where the module is, which tells what is the project's own.
        text: the module.
        imports: as statements: `import numpy as np`, `from torchvision.transforms import CenterCrop`.

    Raises:
        NoFix: the module can't be parsed, or there is no line for them.
    """
    try:
        body = module_of(text).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NoFix(f"the file can't be parsed: {error}") from None
    source = Text(text)
    wanted = [module_of(statement).body[0] for statement in sorted(imports)]
    head, added, at = _Head(path, source, body), list[Edit](), dict[int, list[tuple[tuple[int, bool, str], str]]]()
    for node in wanted:
        assert isinstance(node, ast.Import | ast.ImportFrom)
        beside = head.same_module(node)
        if beside is not None:
            added.append(head.widened(beside, node.names[0].name))
        else:
            at.setdefault(head.place(node), []).append((head.key(node), ast.unparse(node)))
    return [*added, *(head.inserted(place, sorted(new)) for place, new in at.items())]


class _Head:
    """The imports that a module begins with.

    Args:
        path: where it is.
        text: what it says.
        body: its statements.
    """

    def __init__(self, path: str, text: Text, body: Sequence[ast.stmt]) -> None:
        self._path = path
        self._text = text
        self._body = body
        documented = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        self._first = 1 if documented else 0
        rest = body[self._first :]
        self._imports = [*takewhile(lambda node: isinstance(node, ast.Import | ast.ImportFrom), rest)]
        self._keys = [self.key(node) for node in self._imports]

    def key(self, node: ast.stmt) -> tuple[int, bool, str]:
        """By what isort sorts an import: its section, whether it begins with `from`, the module."""
        if isinstance(node, ast.Import):
            return self._section(node.names[0].name), False, node.names[0].name.lower()
        assert isinstance(node, ast.ImportFrom)
        module = node.module or ""
        return (4 if node.level else self._section(module)), True, module.lower()

    def _section(self, module: str) -> int:
        root = module.partition(".")[0]
        if root == "__future__":
            return 0
        if root in sys.stdlib_module_names:
            return 1
        folder = os.path.dirname(self._path)
        while folder and folder != os.path.dirname(folder):
            if any(
                os.path.exists(os.path.join(folder, name)) for name in (f"{root}.py", os.path.join(root, "__init__.py"))
            ):
                return 3
            if any(os.path.exists(os.path.join(folder, name)) for name in (".git", "pyproject.toml", "setup.py")):
                break
            folder = os.path.dirname(folder)
        return 2

    def same_module(self, new: ast.stmt) -> ast.ImportFrom | None:
        """The statement that imports from the same module already."""
        if not isinstance(new, ast.ImportFrom):
            return None
        for node in self._imports:
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module, node.level) == (new.module, 0)
                and node.names[0].name != "*"
            ):
                return node
        return None

    def widened(self, node: ast.ImportFrom, name: str) -> Edit:
        """The edit that lets a statement import one more name, behind the last of those that come before it."""
        before = [alias for alias in node.names if _rank(alias.name) < _rank(name)]
        alias = before[-1] if before else node.names[0]
        begin = self._text.offset(alias.lineno, alias.col_offset)
        margin = self._text.text[self._text.starts[alias.lineno - 1] : begin]
        gap = " " if margin.strip() or alias.lineno == node.lineno else self._text.newline + margin
        if not before:
            return Edit(begin, begin, f"{name},{gap}")
        end = self._text.offset(alias.end_lineno or alias.lineno, alias.end_col_offset or alias.col_offset)
        return Edit(end, end, f",{gap}{name}")

    def place(self, new: ast.stmt) -> int:
        """Behind how many of the imports a new one goes; -1 - i: right ahead of number i, with which it stands together."""
        key = self.key(new)
        near = [i for i, other in enumerate(self._keys) if other[0] == key[0]]
        root = key[2].partition(".")[0]
        kin = [i for i in near if self._keys[i][2].partition(".")[0] == root]
        if kin:  # people have sections of their own
            near = [i for i in near if self._group(i) == self._group(kin[0])]
        if near:
            return max((i + 1 for i in near if self._keys[i] < key), default=-1 - near[0])
        return max((i + 1 for i, other in enumerate(self._keys) if other[0] < key[0]), default=0)

    def _group(self, index: int) -> int:
        """The number of the first import of those that stand together without a blank line."""
        while index and not self._gap(index):
            index -= 1
        return index

    def _gap(self, index: int) -> bool:
        """Whether a blank line parts an import from the one before."""
        before, node = self._imports[index - 1], self._imports[index]
        return any(not self._text.line(n).strip() for n in range((before.end_lineno or 0) + 1, node.lineno))

    def inserted(self, place: int, new: Sequence[tuple[tuple[int, bool, str], str]]) -> Edit:
        """The edit that puts statements behind some of the imports, with blank lines between sections where the file has them.

        Raises:
            NoFix: no line begins there.
        """
        lines = list[str]()
        for i, (key, statement) in enumerate(new):
            if i and key[0] != new[i - 1][0][0]:
                lines.append("")
            lines.append(statement)
        if place < 0:
            return self._ahead(self._imports[-1 - place], lines)
        before = self._imports[place - 1] if place else None
        after = self._imports[place] if place < len(self._imports) else None
        spaced = all(self._gap(i) for i in range(1, len(self._keys)) if self._keys[i][0] != self._keys[i - 1][0])
        if before is not None and spaced and self._keys[place - 1][0] != new[0][0][0]:
            lines.insert(0, "")
        if (
            after is not None
            and spaced
            and self._keys[place][0] != new[-1][0][0]
            and (not place or not self._gap(place))
        ):
            lines.append("")
        if before is None and after is None:
            return self._alone(lines)
        if before is not None:
            return self._behind(before, lines)
        assert after is not None
        return self._ahead(after, lines)

    def _alone(self, lines: list[str]) -> Edit:
        """The edit that gives a module its first imports."""
        if self._first:
            return self._behind(self._body[0], ["", *lines])
        if not self._body:
            end = len(self._text.text)
            return Edit(end, end, "".join(line + self._text.newline for line in lines))
        return self._ahead(self._body[0], [*lines, ""])

    def _behind(self, node: ast.stmt, lines: list[str]) -> Edit:
        last = node.end_lineno or node.lineno
        for other in self._body:
            if other.lineno <= last < (other.end_lineno or 0):
                last = other.end_lineno or last
        text, newline = self._text, self._text.newline
        place = text.starts[last] if last < len(text.starts) else len(text.text)
        new = "".join(line + newline for line in lines)
        return Edit(place, place, new if text.end(last) else newline + new.removesuffix(newline))

    def _ahead(self, node: ast.stmt, lines: Iterable[str]) -> Edit:
        decorators = getattr(node, "decorator_list", ())
        line = min([node.lineno, *(each.lineno for each in decorators)])
        if node.col_offset and not decorators:
            raise NoFix("the line has other statements too")
        above = line
        while above > 1 and self._text.line(above - 1).startswith("#"):
            above -= 1
        place = self._text.starts[(above if above > 1 else line) - 1]  # what a file begins with is about the file
        return Edit(place, place, "".join(line + self._text.newline for line in lines))


def _rank(name: str) -> tuple[int, str]:
    """By what isort sorts the members of a module: constants, classes, others."""
    return 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2, name.lower()


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
