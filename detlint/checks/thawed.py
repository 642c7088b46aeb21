"""Places that ask for gradients of what may have been frozen: `p.requires_grad = True`.

Those in what nothing runs don't count, nor do parameters that their function has just made: no network had them when it was frozen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.program.resolve import Module, Resolver

_ASKING: Final = re.compile(rb"\brequires_grad(?:_\((?!\s*(?:requires_grad\s*=\s*)?False\b)|\s*=(?!=)(?!\s*False\b))")
_PARAMETERS: Final = re.compile(rb"\bParameter\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
"""Those ask for gradients by themselves, whether they say so or not."""
_OWNER: Final = re.compile(rb"(?<![\w.])(\w+)\.$")


class Thawed:
    """Looks for such places in the texts of files.

    Args:
        idle: whether nothing runs a function or class of a file.
    """

    def __init__(self, resolver: Resolver, idle: Callable[[Module, str], bool]) -> None:
        self._resolver = resolver
        self._idle = idle

    def may(self, path: str, text: bytes) -> bool:
        """Whether a file asks for gradients of what may have been frozen."""
        code = _PARAMETERS.sub(_blank, text)
        return any(self._counts(path, text, code, found.start()) for found in _ASKING.finditer(code))

    def _counts(self, path: str, text: bytes, code: bytes, at: int) -> bool:
        """Whether a place counts; one in a file that can't be read does."""
        line, begin = code.count(b"\n", 0, at) + 1, code.rfind(b"\n", 0, at) + 1
        around = _around(text, line)
        owner = _OWNER.search(code[begin:at])
        if around and owner is not None and _is_new(around[-1], owner[1].decode()):
            return False
        module = self._resolver.module(path) if around and path.endswith(".py") else None
        return module is None or not self._idle(module, around[0].name)


def _blank(found: re.Match[bytes]) -> bytes:
    """As many lines, with nothing in them, so that all places stay."""
    return re.sub(rb"[^\n]", b" ", found[0])


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _around(text: bytes, line: int) -> Sequence[_Definition]:
    """The definitions that a line stands in, the outermost first."""
    return [node for node in _definitions(text) if node.lineno <= line <= (node.end_lineno or 0)]


@lru_cache(maxsize=4)
def _definitions(text: bytes) -> Sequence[_Definition]:
    """The definitions of a file in order; none where it can't be read."""
    nodes = walk(tree(text) or ast.Module([], []))
    return sorted((node for node in nodes if isinstance(node, _Definition)), key=lambda node: node.lineno)


def _is_new(function: _Definition, name: str) -> bool:
    """Whether a function binds a name to nothing but parameters that it makes."""
    nodes = [*walk(function)]
    bound = {
        id(node) for node in nodes if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    }
    made = {id(node.targets[0]) for node in nodes if isinstance(node, ast.Assign) and _makes_parameter(node.value)}
    handed = any(isinstance(node, ast.arg) and node.arg == name for node in nodes)
    return bool(bound) and bound <= made and not handed


def _makes_parameter(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] == "Parameter"
