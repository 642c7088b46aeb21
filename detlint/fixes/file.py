"""Python code that is to be fixed: its text, its tree, its names."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator
from functools import cached_property

from detlint.fixes.fixable import Fixable
from detlint.fixes.names import Names
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Edit, of_python
from detlint.model.sites.records import Span
from detlint.sources.directives import directives
from detlint.sources.nodes import walk
from detlint.sources.parse import module_of


class File(Fixable):
    """A file of code.

    Args:
        path: its name.
        code: its bytes; of a notebook, the joined code.

    Raises:
        Undecodable: the bytes are not in the encoding that they declare.
    """

    def __init__(self, path: str, code: bytes) -> None:
        super().__init__(path, of_python(code))
        self.code = code
        self._outcome: tuple[bytes, ast.Module] | None = None
        """What the edits made of it, already parsed."""

    def takes_over(self, before: File) -> None:
        """Not to parse again what was parsed when edits made it of another file."""
        if before._outcome is not None and before._outcome[0] == self.code:
            self._parsed = before._outcome[1]

    def after(self, code: bytes) -> ast.Module:
        """What edits have made of the module; it was parsed when they were made."""
        return self._outcome[1] if self._outcome is not None and self._outcome[0] == code else parsed(code)

    @property
    def tree(self) -> ast.Module:
        """The module.

        Raises:
            NoFix: it can't be parsed.
        """
        if isinstance(self._parsed, Exception):
            raise NoFix(f"the file can't be parsed: {self._parsed}")
        return self._parsed

    @cached_property
    def _parsed(self) -> ast.Module | Exception:
        """The module, or why there is none: a file may have thousands of findings, and is parsed once."""
        try:
            return parsed(self.code)
        except (SyntaxError, ValueError, RecursionError) as error:
            return error

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return [*walk(self.tree)]

    @cached_property
    def names(self) -> Names:
        """The names that its top level binds."""
        return Names(self.tree, self.nodes)

    @cached_property
    def suppressed(self) -> frozenset[int]:
        return frozenset(d.line for d in directives(self.code) if d.scope == "line" and not d.problem)

    def importing(self, imports: Collection[str], edits: Collection[Edit]) -> list[Edit]:
        from detlint.fixes.imports import import_edits  # takes a third of a second

        return import_edits(self.path, self.text.text, imports)

    def edited(self, edits: Collection[Edit]) -> bytes:
        new = self.text.edited(edits)
        try:
            self._outcome = new, parsed(new)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise NoFix(f"the result can't be parsed ({error})") from None
        return new

    def range(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends, as offsets."""
        return self.text.range(span_of(node))

    def around(self, span: Span) -> list[ast.AST]:
        """The nodes that hold a span, from the module inwards; the last may be what stands there itself."""
        return around(self.tree, span)


def parsed(code: bytes) -> ast.Module:
    """A module, without the warnings of the compiler.

    Raises:
        SyntaxError, ValueError, RecursionError: it can't be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module_of(code)


def around(tree: ast.Module, span: Span) -> list[ast.AST]:
    """The nodes that hold a span, from the module inwards; the last may be what stands there itself."""
    found: list[ast.AST] = [tree]
    inner: ast.AST | None = tree
    while inner is not None:
        inner = next((child for child in _placed(inner) if _holds(child, span)), None)
        if inner is not None:
            found.append(inner)
    return found


def defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """The defaults of a function's parameters, by name."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [(arg, given) for arg, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if given]
    return {arg.arg: default for arg, default in pairs}


def span_of(node: ast.expr | ast.stmt) -> Span:
    """Where a node stands."""
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _placed(node: ast.AST) -> Iterator[ast.AST]:
    """The children that have a place of their own; those of children without one (`ast.arguments`, ...)."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _placed(child)


def _holds(node: ast.AST, span: Span) -> bool:
    own = span_of(node)  # type: ignore[arg-type]
    # A function's own place begins at `def`, below its decorators.
    first = next((span_of(decorator) for decorator in getattr(node, "decorator_list", ())), own)
    return (first.line, first.column) <= (span.line, span.column) and (span.end_line, span.end_column) <= (
        own.end_line,
        own.end_column,
    )
