"""The documents that are open in an editor, as they were at one moment: files, and notebooks with their cells."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import Workspace

from detlint.discover import SUFFIXES
from detlint.files import read
from detlint.fixes.text import of_python, of_yaml
from detlint.ir.launch_texts import is_settings
from detlint.notebook import BOM, NotANotebook, open_notebook


@dataclass(frozen=True, slots=True)
class Part:
    """A text that an editor has a URI for: a file, or a cell of a notebook.

    Attributes:
        language: as the editor calls it; "markdown" for a cell that is none of code.
    """

    uri: str
    version: int | None
    text: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or a notebook.

    Attributes:
        path: absolute; of a document that has never been saved, where it would be.
        parts: a file has one.
        version: the editor's number for this state of it.
        notebook: whether the parts are cells.
    """

    path: str
    parts: tuple[Part, ...]
    version: int | None
    notebook: bool = False

    @property
    def state(self) -> tuple[object, ...]:
        """What differs between any two states of it."""
        return self.version, *((part.uri, part.version) for part in self.parts)

    def data(self, instead: Mapping[str, str]) -> bytes:
        """The file's content.

        Args:
            instead: what stands for the texts of some parts, by URI.
        """
        if not self.notebook:
            part = self.parts[0]
            return encoded(instead.get(part.uri, part.text))
        cells = [
            {
                "cell_type": "markdown" if part.language == "markdown" else "code",
                "metadata": {"vscode": {"languageId": part.language}},
                "source": instead.get(part.uri, part.text),
            }
            for part in self.parts
        ]
        return msgspec.json.encode({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    def texts(self, data: bytes) -> dict[str, str]:
        """The texts of the parts, by URI, if this was the file's content."""
        if not self.notebook:
            return {self.parts[0].uri: of_yaml(data).text if is_settings(self.path) else of_python(data).text}
        cells = msgspec.json.decode(data, type=_Notebook).cells
        return {
            part.uri: cell.source if isinstance(cell.source, str) else "".join(cell.source)
            for part, cell in zip(self.parts, cells, strict=True)
        }

    def unsaved(self) -> bytes | None:
        """The content, if it is another than the file's on disk."""
        data = self.data({})
        try:
            saved = read(self.path)
            if not self.notebook:
                return None if saved.removeprefix(BOM) == data else data
            one, other = open_notebook(saved), open_notebook(data)
            return None if (one.code, one.cells) == (other.code, other.cells) else data
        except (OSError, NotANotebook):
            return data


class _Cell(msgspec.Struct):
    source: str | list[str]


class _Notebook(msgspec.Struct):
    cells: list[_Cell]


def encoded(text: str) -> bytes:
    """A text in the encoding that it declares (PEP 263), else in UTF-8."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        declared = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return data if declared == "utf-8" else text.encode(declared)
    except (SyntaxError, LookupError, UnicodeError):
        return data


def documents(workspace: Workspace, folder: str) -> dict[str, Document]:
    """What is open, by path.

    Args:
        folder: where a document would be that has never been saved.
    """
    found = [*_notebooks(workspace, folder), *_files(workspace, folder)]
    return {document.path: document for document in found}


def _files(workspace: Workspace, folder: str) -> Iterator[Document]:
    for text in workspace.text_documents.values():
        if workspace.get_notebook_document(cell_uri=text.uri) is None:
            language = text.language_id or ""
            path = _path(text.uri, folder)
            if not path.endswith(SUFFIXES) and language == "python":
                path += ".py"
            if path.endswith(SUFFIXES):
                yield Document(path, (Part(text.uri, text.version, text.source, language),), text.version)


def _notebooks(workspace: Workspace, folder: str) -> Iterator[Document]:
    for notebook in workspace.notebook_documents.values():
        parts = []
        for cell in notebook.cells:
            text = workspace.text_documents.get(cell.document) or workspace.get_text_document(cell.document)
            language = text.language_id or "python" if cell.kind == types.NotebookCellKind.Code else "markdown"
            parts.append(Part(cell.document, text.version, text.source, language))
        path = _path(notebook.uri, folder)
        yield Document(path if path.endswith(".ipynb") else f"{path}.ipynb", tuple(parts), notebook.version, True)


def _path(uri: str, folder: str) -> str:
    """The absolute path of a document."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return (
        os.path.abspath(path) if path else os.path.join(folder, uri.partition(":")[2].rpartition("/")[2] or "untitled")
    )
