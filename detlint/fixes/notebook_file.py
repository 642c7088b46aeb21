"""Notebooks: fixes are planned in the joined code of the cells and made in the cells themselves."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from detlint.fixes.cells import CellSource, Replacement, bytes_of, cell_sources, is_ascii_only, text_of
from detlint.fixes.fixable import Placed
from detlint.fixes.python_file import PythonFile
from detlint.fixes.recipe import Left, NoFix
from detlint.fixes.text import Edit
from detlint.ipython import as_python
from detlint.notebook import BOM, NotANotebook, open_notebook
from detlint.sources.parse import Cell, parsable


class NotebookFile(PythonFile):
    """A notebook.

    Args:
        path: its name.
        data: its JSON.

    Raises:
        Left: it is no notebook.
    """

    def __init__(self, path: str, data: bytes) -> None:
        try:
            notebook = open_notebook(data)
        except (NotANotebook, RecursionError) as error:
            raise Left(f"it can't be read: {error}") from None
        super().__init__(path, parsable(notebook.code, notebook.cells)[0])
        self._mark = BOM if data.startswith(BOM) else b""
        self._json = text_of(data.removeprefix(BOM))
        bounds = [self.text.starts[cell.line - 1] for cell in notebook.cells] + [len(self.text.text)]
        self._parts = [
            _Part(cell, shown, self.text.text[start:end], start)
            for cell, shown, start, end in zip(notebook.cells, notebook.texts, bounds, bounds[1:], strict=False)
        ]
        self._starts = bounds[:-1]

    @cached_property
    def _sources(self) -> list[CellSource | None]:
        return cell_sources(self._json)

    def _source(self, part: _Part) -> CellSource:
        source = self._sources[part.cell.number - 1]
        if source is None:
            raise NoFix(f"cell {part.cell.number} has no source")
        return source

    def takes(self, edits: Collection[Edit], imports: Collection[str]) -> bool:
        try:
            for part, inside in self._by_part([*(self.importing(imports, edits) if imports else ()), *edits]):
                [*part.indented(part.replacements(inside), self._source(part))]
        except NoFix:
            return False
        return super().takes(edits, imports)

    def importing(self, imports: Collection[str], edits: Collection[Edit]) -> list[Edit]:
        """The imports go to the first cell that has some, if it comes before what needs them; else to the cell that does."""
        from detlint.fixes.imports import import_edits  # takes a third of a second

        user = min(self._index(edit) for edit in edits)
        places = [self.text.starts[node.lineno - 1] for node in self.tree.body if isinstance(node, _IMPORTS)]
        first = min((bisect_right(self._starts, place) - 1 for place in places), default=user)
        for index in sorted({min(first, user), user}):
            part = self._parts[index]
            new = [
                Edit(e.start + part.start, e.end + part.start, e.text)
                for e in import_edits(self.path, part.code, imports)
            ]
            try:
                part.replacements([*new, *(edit for edit in edits if self._index(edit) == index)])
            except NoFix:
                continue
            return new
        raise NoFix("no cell can take the imports")

    def placed(self, edits: Iterable[Edit]) -> Iterator[Placed]:
        for part, inside in self._by_part(edits):
            yield from part.placed(inside, self._source(part))

    def edited(self, edits: Collection[Edit]) -> bytes:
        parts, at = list[str](), 0
        for part, inside in self._by_part(edits):
            source = self._source(part)
            new = source.replaced([*part.indented(part.replacements(inside), source)], is_ascii_only(self._json))
            parts += self._json[at : source.start], new
            at = source.end
        new = "".join([*parts, self._json[at:]])
        data = self._mark + bytes_of(new)
        if NotebookFile(self.path, data).code != super().edited(edits):
            raise NoFix("the cells would have another code")
        return data

    def _by_part(self, edits: Iterable[Edit]) -> Iterator[tuple[_Part, list[Edit]]]:
        """The cells that are edited, with their edits, in order."""
        found: dict[int, list[Edit]] = {}
        for edit in edits:
            found.setdefault(self._index(edit), []).append(edit)
        for index in sorted(found):
            yield self._parts[index], found[index]

    def _index(self, edit: Edit) -> int:
        """The cell that an edit is made in. What is put between two cells goes to the first if that ends in code."""
        index = max(0, bisect_right(self._starts, edit.start) - 1)
        between = edit.start == edit.end == self._starts[index]
        return index - 1 if between and index and self._parts[index - 1].ends_in_code else index


_IMPORTS = (ast.Import, ast.ImportFrom)


class _Part:
    """A cell as a part of the joined code.

    Args:
        cell: where it stands.
        shown: its lines as people see them.
        code: the same lines as Python.
        start: where they begin in the joined code.
    """

    def __init__(self, cell: Cell, shown: str, code: str, start: int) -> None:
        self.cell = cell
        self.code = code
        self.start = start
        self._shown = shown.split("\n")[:-1]
        self._lines = code.split("\n")[:-1]
        self._sound = as_python(shown) == code and not any(line.endswith("\\") for line in self._shown[-2:])
        """Whether a line stands for a line."""

    @property
    def ends_in_code(self) -> bool:
        """Whether its last line is Python, and not only a comment."""
        last = self._lines[-1].lstrip()
        return bool(last) and not last.startswith("#")

    def replacements(self, edits: Iterable[Edit]) -> list[Replacement]:
        """What edits do to its lines.

        Raises:
            NoFix: they touch a line that isn't Python, or reach beyond the cell, or the lines would mean something else
                to IPython than they do to Python.
        """
        if not self._sound:
            raise NoFix("the cell isn't read as it stands")
        found, shown = list[Replacement](), [*self._shown]
        for first, last, group in _grouped(self._local(edits), self._offsets):
            if self._shown[first:last] != self._lines[first:last]:
                raise NoFix("the line isn't Python")
            start = self._offsets[first]
            new = _applied(self.code[start : self._offsets[last]], group, start)
            found.append(Replacement(first, last, new.split("\n")[:-1]))
        for first, last, lines in reversed(found):
            shown[first:last] = lines
        if as_python("".join(f"{line}\n" for line in shown)) != _applied(self.code, self._local(edits), 0):
            raise NoFix("it would mean something else in the notebook")
        return found

    def _local(self, edits: Iterable[Edit]) -> list[Edit]:
        local = [Edit(edit.start - self.start, edit.end - self.start, edit.text) for edit in edits]
        if any(edit.start < 0 or edit.end > len(self.code) for edit in local):
            raise NoFix("it reaches beyond the cell")
        return sorted(local, key=lambda edit: edit[:2])

    @cached_property
    def _offsets(self) -> list[int]:
        """Where its lines begin, and where the last one ends."""
        offsets = [0]
        for line in self._lines:
            offsets.append(offsets[-1] + len(line) + 1)
        return offsets

    def indented(self, replacements: Iterable[Replacement], source: CellSource) -> Iterator[Replacement]:
        """The same replacements with the margin, or the prompts, that the lines around have.

        Raises:
            NoFix: the lines of the source are others.
        """
        if source.lines != len(self._shown):
            raise NoFix("the cell has other lines")
        for first, last, lines in replacements:
            near = [*range(first, last), *range(first - 1, -1, -1), *range(last, len(self._shown))]
            margin = next((_margin(source.line(i), self._shown[i]) for i in near if self._shown[i].strip()), "")
            yield Replacement(first, last, [margin + line if line else margin.rstrip() for line in lines])

    def placed(self, edits: Iterable[Edit], source: CellSource) -> Iterator[Placed]:
        """Where edits are made in the cell."""
        if self.cell.margin:
            # Before every line that is put in there stands the margin too: it takes whole lines to say so.
            for first, last, lines in self.indented(self.replacements(edits), source):
                yield Placed(self.cell.number, (first + 1, 1), (last + 1, 1), "".join(f"{line}\n" for line in lines))
            return
        for edit in self._local(edits):
            (line, column), (last, end) = self._place(edit.start), self._place(edit.end)
            yield Placed(self.cell.number, (line, column), (last, end), edit.text)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._offsets, offset)
        return line, offset - self._offsets[line - 1] + 1


def _grouped(edits: list[Edit], offsets: list[int]) -> Iterator[tuple[int, int, list[Edit]]]:
    """Edits with the lines, from 0, that they rewrite; those of one line together. What is put between lines rewrites none."""
    group, first, last = list[Edit](), 0, 0
    for edit in edits:
        start, end = bisect_right(offsets, edit.start) - 1, bisect_right(offsets, edit.end) - 1
        whole = edit.end == offsets[end] and (
            edit.text.endswith("\n") or (not edit.text and edit.start == offsets[start])
        )
        end = end if whole else min(end + 1, len(offsets) - 1)
        if group and start >= last and not first == last == start:
            yield first, last, group
            group = []
        first, last = (start, end) if not group else (first, max(last, end))
        group.append(edit)
    if group:
        yield first, last, group


def _applied(text: str, edits: Iterable[Edit], start: int) -> str:
    """A text with edits made whose places count from somewhere before it."""
    parts, at = list[str](), 0
    for edit in edits:
        parts += text[at : edit.start - start], edit.text
        at = edit.end - start
    return "".join([*parts, text[at:]])


def _margin(line: str, shown: str) -> str:
    """What a line has before that which is shown of it."""
    return line[: len(line) - len(shown)]
