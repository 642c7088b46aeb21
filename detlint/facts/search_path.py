"""Folders that a file puts on Python's search path when it is run: `sys.path.append("..")`,
`sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))`.

What is said relative to the working directory is taken for relative to the file's own folder, in which such scripts are started.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator
from typing import Final

from detlint.facts.loops import dotted

MARK: Final = b"sys.path"
_FILE: Final = "__file__"
_SAME: Final = frozenset(
    {"abspath", "realpath", "normpath", "str", "fspath", "Path", "PurePath", "resolve", "absolute"}
)
"""Functions and methods that give the path that they get, spelled otherwise."""
_MOST: Final = 12
"""So many folders above are followed at most."""


def put_on_path(tree: ast.Module) -> tuple[str, ...]:
    """The folders, relative to the file's own and with slashes, in the order in which they are put there; its own folder, which is
    on the path anyway, is left out."""
    names: dict[str, ast.expr] = {}
    found = dict[str, None]()
    for node in _run_at_once(tree.body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node.value
        for said in _put_by(node, names):
            path = _Paths(names).of(said)
            if path is not None and path != "." and not path.startswith("/"):
                found[path] = None
    return tuple(found)


def _run_at_once(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that importing or starting a file may run, without those in functions and classes."""
    for node in statements:
        yield node
        if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
            parts = [getattr(node, field, []) for field in ("body", "orelse", "finalbody")]
            handlers = [handler.body for handler in getattr(node, "handlers", [])]
            for part in (*parts, *handlers):
                yield from _run_at_once(part)


def _put_by(node: ast.stmt, names: dict[str, ast.expr]) -> list[ast.expr]:
    """What a statement puts on the path."""
    if isinstance(node, ast.AugAssign) and dotted(node.target) == "sys.path":
        return _items(node.value, names)
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.keywords:
        return []
    match dotted(call.func), call.args:
        case ("sys.path.append", [said]) | ("sys.path.insert", [_, said]):
            return [said]
        case "sys.path.extend", [said]:
            return _items(said, names)
    return []


def _items(node: ast.expr, names: dict[str, ast.expr]) -> list[ast.expr]:
    kept = names.get(node.id, node) if isinstance(node, ast.Name) else node
    return kept.elts if isinstance(kept, (ast.List, ast.Tuple)) else []


class _Paths:
    """What expressions say of paths, relative to the file's own folder; None where that isn't known.

    Args:
        names: what the top level has assigned.
    """

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self._names = names
        self._busy: set[str] = set()

    def of(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant):
            return posixpath.normpath(node.value) if isinstance(node.value, str) and node.value else None
        if isinstance(node, ast.Name):
            return self._kept(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return _joined([self.of(node.left), self.of(node.right)])
        return self._given_by(node) if isinstance(node, ast.Call) else None

    def _kept(self, name: str) -> str | None:
        if name == _FILE:
            return _FILE
        if name not in self._names or name in self._busy:
            return None
        self._busy.add(name)
        path = self.of(self._names[name])
        self._busy.discard(name)
        return path

    def _attribute(self, node: ast.Attribute) -> str | None:
        if dotted(node) in ("os.pardir", "os.path.pardir"):
            return ".."
        return _above(self.of(node.value)) if node.attr == "parent" else None

    def _item(self, node: ast.Subscript) -> str | None:
        """`sys.path[0]`, which is the folder of the script, and `Path(__file__).parents[1]`."""
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if dotted(node.value) == "sys.path":
            return "." if number == 0 else None
        if not isinstance(node.value, ast.Attribute) or node.value.attr != "parents" or not isinstance(number, int):
            return None
        path = self.of(node.value.value)
        for _ in range(number + 1 if 0 <= number < _MOST else 0):
            path = _above(path)
        return path if 0 <= number < _MOST else None

    def _given_by(self, call: ast.Call) -> str | None:
        name = dotted(call.func).rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        if name in ("getcwd", "cwd") and not call.args:
            return "."
        if name == "dirname" and len(call.args) == 1:
            return _above(self.of(call.args[0]))
        if name in ("join", "joinpath"):
            method = [call.func.value] if name == "joinpath" and isinstance(call.func, ast.Attribute) else []
            return _joined([self.of(part) for part in (*method, *call.args)])
        if name not in _SAME:
            return None
        if call.args:
            return _joined([self.of(part) for part in call.args])
        return self.of(call.func.value) if isinstance(call.func, ast.Attribute) else None


def _above(path: str | None) -> str | None:
    """The folder that a path stands in."""
    if path is None or posixpath.isabs(path):
        return None
    return posixpath.normpath(posixpath.join(path, ".."))


def _joined(parts: list[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return posixpath.normpath(posixpath.join(*known)) if known and len(known) == len(parts) else None
