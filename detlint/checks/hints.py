"""What a text says only for readers, or asks: docstrings, annotations and `isinstance` build nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from detlint.facts.parse import tree

READERS: Final = [
    "__annotations__",
    "get_type_hints",
    "get_annotations",
    "signature",
    "getfullargspec",
    "jsonargparse",
    "LightningCLI",
    "pydantic",
    "tyro",
]
"""By what a program may build what an annotation names."""
_ASKS: Final = ("isinstance", "issubclass")
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=512)
def without_hints(text: bytes) -> bytes:
    """A part of a file, without docstrings, what annotates the parameters, results and names of its functions, and the classes that
    `isinstance` asks for; as it is where it can't be read.

    What annotates the fields of a class stays: a record may be read by them. So does what a decorated function inside says: whoever gets
    that may look.
    """
    parsed = tree(text)
    spans = sorted(_span(node) for node in _hints(parsed)) if parsed is not None else []
    if not spans:
        return text
    starts = [0]
    for each in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(each))
    left, at = [], 0
    for line, column, end_line, end_column in spans:
        begin, end = starts[line - 1] + column, starts[end_line - 1] + end_column
        left += [text[at:begin], b"..."] if begin >= at else []
        at = max(at, end)
    return b"".join([*left, text[at:]])


def _hints(node: ast.AST, *, inside: bool = False) -> Iterator[ast.expr]:
    """The expressions that only tell something, or say what class something is of.

    Args:
        inside: whether it stands in a function without a decorator.
    """
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, _FUNCTIONS) and not inner.decorator_list:
            arguments = inner.args
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            yield from (arg.annotation for arg in every if arg is not None and arg.annotation is not None)
            yield from () if inner.returns is None else (inner.returns,)
        elif isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant):
            yield inner.value
        elif isinstance(inner, ast.AnnAssign) and inside:
            yield inner.annotation
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in _ASKS:
            yield from inner.args[1:]
        yield from _hints(inner, inside=_is_inside(inner, inside))


def _is_inside(node: ast.AST, inside: bool) -> bool:
    if isinstance(node, _FUNCTIONS):
        return not node.decorator_list
    return inside and not isinstance(node, ast.ClassDef)


def _span(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
