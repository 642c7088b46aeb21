"""`# noqa: DET201` at the end of the lines on which something is found.

The comment goes to the first line of what is found, where flake8 and ruff look for it; if none can stand there, because the
line ends in a string or with a backslash, to its last line or the line of the argument that decided.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from detlint.checks.finding import Finding
from detlint.checks.suppress import lines_of
from detlint.fixes.cells import CellSource, Replacement, bytes_of, cell_sources, is_ascii_only, text_of
from detlint.fixes.recipe import Changed, Left, NoFix
from detlint.fixes.text import Edit, Undecodable, of_python
from detlint.ir import cpp
from detlint.ir.cpp_text import is_cpp
from detlint.ir.launch_texts import is_settings, kind_of, lower
from detlint.ir.yaml_text import is_yaml
from detlint.model.sites.store import with_deep_stack
from detlint.notebook import BOM, NotANotebook, cell_of, is_notebook, open_notebook
from detlint.source import Source
from detlint.sources.parse import module_of

_NOQA: Final = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Z][A-Z0-9]*(?:[\s,]+[A-Z]+[0-9]+)*)", re.I)
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class CannotStand(Exception):
    """Why no comment can be put there."""


@dataclass
class Added:
    """What came of it.

    Attributes:
        texts: the new content of each file that has changed.
        lines: on how many lines of each there is a comment that wasn't, or that names more.
        refused: what no comment can cover, and why.
        stale: whether a file isn't any more what was checked.
    """

    texts: dict[str, bytes] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[Finding, str]] = field(default_factory=list)
    stale: bool = False


def add(findings: Iterable[Finding], read: Callable[[str], bytes]) -> Added:
    """Write comments that cover some findings.

    Args:
        read: gives a file's bytes; raises `Left` where nothing may be changed in it.
    """
    done = Added()
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(finding.path, []).append(finding)
    for path, group in sorted(files.items()):
        try:
            data = read(path)
            page = _page(path, data)
            wanted = _wanted(group, page, done)
            changed = page.commented(wanted)
        except (CannotStand, Left) as error:  # one file: the others go on
            done.refused += [(finding, str(error)) for finding in group]
            done.stale |= isinstance(error, Changed)
            continue
        if changed != data:
            done.texts[path] = changed
            done.lines[path] = len(wanted)
    return done


def _wanted(findings: list[Finding], page: _Page, done: Added) -> dict[int, set[str]]:
    """The codes to name on each line."""
    wanted: dict[int, set[str]] = {}
    for finding in findings:
        if finding.family == 0:
            done.refused.append((finding, "it is about the file or its comments, not about code"))
            continue
        line = next((line for line in _lines(finding, page.source) if line not in page.closed), None)
        if line is None:
            done.refused.append((finding, "its lines end inside of a string or with a backslash"))
        else:
            wanted.setdefault(line, set()).add(finding.code)
    return wanted


def _lines(finding: Finding, source: Source) -> Iterator[int]:
    """The lines on which a comment counts, the best first."""
    first, last = finding.span.line, finding.span.end_line
    yield from dict.fromkeys([first, last, *sorted(lines_of(finding, source))])


class _Page:
    """A file that gets comments.

    Attributes:
        source: its lines, as findings have them.
        closed: the lines at whose end no comment can stand.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.source = Source(path, data)
        self.closed = self._closed()

    def commented(self, wanted: Mapping[int, set[str]]) -> bytes:
        """The file with comments.

        Args:
            wanted: the codes to name, by line.

        Raises:
            CannotStand: it would mean something else.
        """
        after = self._edited(wanted)
        if self._meaning(after) != self._meaning(self.data):
            raise CannotStand("the file would mean something else")
        return after

    def _closed(self) -> set[int]:
        raise NotImplementedError

    def _edited(self, wanted: Mapping[int, set[str]]) -> bytes:
        raise NotImplementedError

    def _meaning(self, data: bytes) -> object:
        """What must stay the same."""
        raise NotImplementedError


class _Python(_Page):
    def _closed(self) -> set[int]:
        try:
            self.text = of_python(self.data)
        except Undecodable as error:
            raise CannotStand(str(error)) from None
        closed, self.comments = _comments(self.text.text)
        return closed

    def _edited(self, wanted: Mapping[int, set[str]]) -> bytes:
        try:
            return self.text.edited(self._edit(line, codes) for line, codes in wanted.items())
        except Undecodable as error:
            raise CannotStand(str(error)) from None

    def _edit(self, number: int, codes: set[str]) -> Edit:
        start, line = self.text.starts[number - 1], self.text.line(number).rstrip("\r\n")
        return Edit(start, start + len(line), _naming(line, codes, self.comments.get(number, "")))

    def _meaning(self, data: bytes) -> object:
        return _tree(data)


class _Yaml(_Page):
    def _closed(self) -> set[int]:
        import yaml

        closed: set[int] = set()
        for token in self._scan(self.data):
            first, last = token.start_mark.line + 1, token.end_mark.line + 1
            if isinstance(token, yaml.ScalarToken) and last > first:
                # The text of a block ends at the beginning of the line behind it.
                closed.update(range(first + 1, last) if token.style in ("|", ">") else range(first, last))
        return closed

    def _edited(self, wanted: Mapping[int, set[str]]) -> bytes:
        try:
            self.data.decode("utf-8")
        except UnicodeDecodeError:
            raise CannotStand("the file is not in UTF-8") from None
        lines = self.data.splitlines(keepends=True)
        for number, codes in wanted.items():
            line = lines[number - 1]
            bare = line.rstrip()
            lines[number - 1] = bare + f"  {_comment(codes)}".encode() + line[len(line.rstrip(b"\r\n")) :]
        return b"".join(lines)

    def _meaning(self, data: bytes) -> object:
        return [(type(token), getattr(token, "value", None)) for token in self._scan(data)]

    @staticmethod
    def _scan(data: bytes) -> list[Any]:
        import yaml

        try:
            return [*yaml.scan(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            raise CannotStand(f"the file can't be parsed: {error}") from None


class _Cpp(_Page):
    def _closed(self) -> set[int]:
        lines = self.data.splitlines()
        return {i for i, line in enumerate(lines, 1) if line.endswith(b"\\") or b"//" in line}

    def _edited(self, wanted: Mapping[int, set[str]]) -> bytes:
        lines = self.data.splitlines(keepends=True)
        for number, codes in wanted.items():
            line = lines[number - 1]
            comment = f"  // detlint: ignore[{', '.join(sorted(codes))}]".encode()
            lines[number - 1] = line.rstrip() + comment + line[len(line.rstrip(b"\r\n")) :]
        return b"".join(lines)

    def _meaning(self, data: bytes) -> object:
        ir = cpp.lower(data)
        return (ir.strings, ir.constants, ir.functions, ir.bodies) if ir is not None else None


class _Launch(_Yaml):
    def _closed(self) -> set[int]:
        kind, lines = kind_of(self._name), self.data.split(b"\n")
        recipes = kind == "make"
        if kind not in ("shell", "make"):
            raise CannotStand("JSON has no comments" if kind == "json" else "comments have lines of their own there")
        return {
            n for n, line in enumerate(lines, 1) if line.rstrip().endswith(b"\\") or (recipes and line[:1] != b"\t")
        }

    def _meaning(self, data: bytes) -> object:
        return lower(self._name, data)

    @property
    def _name(self) -> str:
        return os.path.basename(self.path)


class _Notebook(_Page):
    def _closed(self) -> set[int]:
        closed, self.comments = _comments(self.source.data.decode("utf-8", "replace"))
        return closed

    def _edited(self, wanted: Mapping[int, set[str]]) -> bytes:
        mark = BOM if self.data.startswith(BOM) else b""
        text = text_of(self.data.removeprefix(BOM))
        parts, at = list[str](), 0
        try:
            cells, sources = open_notebook(self.data).cells, cell_sources(text)
        except (NotANotebook, NoFix) as error:
            raise CannotStand(str(error)) from None
        for cell, lines in groupby(sorted(wanted), key=lambda number: cell_of(cells, number)):
            source = sources[cell.number - 1] if cell is not None else None
            if cell is None or source is None:
                raise CannotStand("it stands in no cell")
            replaced = [self._replaced(source, line - cell.line, line, wanted[line]) for line in lines]
            parts += text[at : source.start], source.replaced(replaced, is_ascii_only(text))
            at = source.end
        return mark + bytes_of("".join([*parts, text[at:]]))

    def _replaced(self, source: CellSource, index: int, number: int, codes: set[str]) -> Replacement:
        return Replacement(index, index + 1, [_naming(source.line(index), codes, self.comments.get(number, ""))])

    def _meaning(self, data: bytes) -> object:
        return _tree(Source("notebook.ipynb", data).data)


def _page(path: str, data: bytes) -> _Page:
    other = _Launch if is_settings(path) else _Cpp if is_cpp(path) else _Python
    kind = _Notebook if is_notebook(path) else _Yaml if is_yaml(path) else other
    return kind(path, data)


# -- Python -----------------------------------------------------------------------------------------------------


def _comments(text: str) -> tuple[set[int], dict[int, str]]:
    """The lines at whose end no comment can stand, because a string goes on behind it or a backslash ends it; and the
    comments that there are."""
    closed, opened, comments = set[int](), list[int](), dict[int, str]()
    lines = _LINE_END.split(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
            name = tokenize.tok_name[token.type]
            if name == "COMMENT":
                comments[token.start[0]] = token.string
            elif name == "STRING":
                closed.update(range(token.start[0], token.end[0]))
            elif name in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif name in ("FSTRING_END", "TSTRING_END"):
                closed.update(range(opened.pop(), token.end[0]))
    except (tokenize.TokenError, SyntaxError) as error:
        raise CannotStand(f"the file can't be parsed: {error}") from None
    closed.update(i for i, line in enumerate(lines, 1) if line.endswith("\\") and i not in comments)
    return closed, comments


def _naming(line: str, codes: set[str], comment: str) -> str:
    """A line whose comment names some codes, beside those that it names.

    Args:
        comment: the one that it ends with, if it has one.
    """
    bare = line.rstrip()
    start = len(bare) - len(comment.rstrip()) if comment and bare.endswith(comment.rstrip()) else len(bare)
    found = _NOQA.search(line, start)
    if found is None:
        return f"{bare}  {_comment(codes)}"
    named = re.split(r"[\s,]+", found["codes"].upper())
    more = "".join(f", {code}" for code in sorted(codes - {*named}))
    return line[: found.end("codes")] + more + line[found.end("codes") :]


def _comment(codes: set[str]) -> str:
    return f"# noqa: {', '.join(sorted(codes))}"


def _tree(data: bytes) -> str:
    """A module as its tree, without places."""

    def dumped() -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(module_of(data))

    try:
        return with_deep_stack(dumped)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CannotStand(f"the file can't be parsed: {error}") from None
