"""Imports that nothing uses any more once a file is fixed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from detlint.fixes.file import File
from detlint.fixes.python_file import PythonFile
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Undecodable
from detlint.sources.nodes import walk

Imported = tuple[str, str | None, str | None]
"""The module, what is imported from it (None: the module itself), and the name that it gets."""


def without_unused(
    before: Mapping[str, File], after: Mapping[str, bytes], program: Iterable[str], read: Callable[[str], bytes]
) -> dict[str, bytes]:
    """Files without the imports of their top level whose names were used, and are used no more.

    A name stays where another file of the program may import it from there, and in a package's own file; so do relative
    imports, and imports that stand within something.

    Args:
        before: the files as they were.
        after: what edits have made of them.
        program: the paths of all files.
        read: gives the content of a file.
    """
    unused = {path: _unused(before[path], code) for path, code in after.items() if Path(path).name != "__init__.py"}
    unused = {path: names for path, names in unused.items() if names}
    for other in program if unused else ():
        try:
            text = read(other)
        except OSError:
            continue
        for path, names in unused.items():
            if other != path and Path(path).stem.encode() in text:
                for name in [name for name in names if name.encode() in text]:
                    del names[name]
    return {path: _without(path, after[path], names.values()) for path, names in unused.items() if names}


def _unused(before: File, code: bytes) -> dict[str, Imported]:
    """What a file has imported, by the names that were used before and are not after."""
    # Only what stands in the text less often than before can have had its last use; most edits leave nothing to look at.
    names = {name for name, _ in _imported(before.tree)}
    fewer = {name for name in names if code.count(name.encode()) < before.code.count(name.encode())}
    if not fewer:
        return {}
    after = before.after(code)
    lost = fewer & (_used(before.nodes) - _used(walk(after)))
    return {name: imported for name, imported in _imported(after) if name in lost}


def _used(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are used; a text may be one of `__all__`, or an annotation."""
    nodes = [*nodes]
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {text for text in texts if text.isidentifier()}


def imported_by(node: ast.stmt) -> list[Imported]:
    """What a statement imports from modules that are named in full."""
    if isinstance(node, ast.Import):
        return [(alias.name, None, alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
        return [(node.module, alias.name, alias.asname) for alias in node.names]
    return []


def _imported(tree: ast.Module) -> Iterable[tuple[str, Imported]]:
    for node in tree.body:
        for module, name, asname in imported_by(node):
            yield asname or name or module.partition(".")[0], (module, name, asname)


def _without(path: str, code: bytes, gone: Collection[Imported]) -> bytes:
    """A file without some imports; as it was where that can't be done."""
    from detlint.fixes.imports import without_imports  # takes a third of a second

    try:
        file = PythonFile(path, code)
        return file.edited(without_imports(file, gone))
    except (NoFix, Undecodable):
        return code
