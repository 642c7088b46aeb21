"""A source file's bytes, with the lines and columns that people see."""

from __future__ import annotations

import contextlib
import io
import tokenize
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from detlint import counters
from detlint.files import read
from detlint.ir.cpp_text import is_cpp
from detlint.ir.launch_texts import is_settings
from detlint.ir.yaml_text import decoded, encoding_of, lines_of
from detlint.model.sites.records import Span
from detlint.notebook import BOM, NotANotebook, Notebook, is_notebook, open_notebook
from detlint.sources.parse import parsable


class Source:
    """The bytes of a file. Positions come from `ast`: 1-based lines, 0-based columns in the UTF-8 of the line. Those of a
    notebook are in the joined code of its cells.

    Args:
        path: notebooks and YAML files are known by their names.
        text: what stands for the file's content, or gives it when it is first needed; None: the file is read then, and one that has
            become unreadable is empty.
    """

    def __init__(self, path: str | Path, text: bytes | Callable[[], bytes] | None = None) -> None:
        self._path = path
        self._text = text

    def _read(self) -> bytes:
        if self._text is not None:
            return self._text if isinstance(self._text, bytes) else self._text()
        try:
            data = read(self._path)
        except OSError:
            return b""
        counters.now.bytes += len(data)
        return data

    @cached_property
    def _content(self) -> bytes:
        return self._read()

    @cached_property
    def _notebook(self) -> Notebook | None:
        """The notebook, if it is one. Its bytes are not kept: most of them are outputs."""
        if is_notebook(self._path):
            with contextlib.suppress(NotANotebook, RecursionError):
                return open_notebook(self._read())
        return None

    @cached_property
    def yaml(self) -> bool:
        """Whether it is a YAML file, or a launch text."""
        return is_settings(str(self._path))

    @property
    def cpp(self) -> bool:
        """Whether it is C++."""
        return is_cpp(self._path)

    @cached_property
    def data(self) -> bytes:
        """The Python, the YAML, or the launch text."""
        notebook = self._notebook
        return parsable(notebook.code, notebook.cells)[0] if notebook is not None else self._content

    @property
    def parts(self) -> dict[int | None, str]:
        """What can be edited, as text with its line ends: of a notebook, each cell of code by its number."""
        notebook = self._notebook
        if notebook is not None:
            return {cell.number: text for cell, text in zip(notebook.cells, notebook.texts, strict=True)}
        if self.yaml:
            mark, encoding = encoding_of(self._content)
            return {None: self._content.removeprefix(mark).decode(encoding, "replace")}
        return {None: self._content.decode(self.encoding, "replace")}

    @cached_property
    def encoding(self) -> str:
        """The declared encoding (PEP 263), UTF-8 when there is none or it is unknown."""
        try:
            return tokenize.detect_encoding(io.BytesIO(self._content).readline)[0]
        except (SyntaxError, LookupError):
            return "utf-8"

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, in UTF-8, without their ends; a notebook's with what is IPython's in them."""
        if self._notebook is not None:
            return self._notebook.text.splitlines()
        if self.yaml:
            with contextlib.suppress(UnicodeDecodeError):
                return lines_of(decoded(self._content))
        data = self._content.removeprefix(BOM)
        if self.encoding not in ("utf-8", "utf-8-sig"):
            try:
                data = data.decode(self.encoding, "replace").encode()
            except Exception:  # some codecs are no text encodings, and each fails in its own way
                return data.splitlines()
        return data.splitlines()

    def line(self, number: int) -> str:
        """A line as text, "" beyond the end."""
        return self.lines[number - 1].decode("utf-8", "replace") if 0 < number <= len(self.lines) else ""

    def column(self, line: int, offset: int) -> int:
        """The 1-based column in characters of a byte offset."""
        if not 0 < line <= len(self.lines):
            return offset + 1
        before = self.lines[line - 1][:offset]
        return (len(before) if before.isascii() else len(before.decode("utf-8", "replace"))) + 1

    def text_at(self, span: Span) -> bytes:
        """The UTF-8 text of a span."""
        lines = self.lines[span.line - 1 : span.end_line]
        if not lines:
            return b""
        lines = [*lines]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return b"\n".join(lines)
