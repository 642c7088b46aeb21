"""Where a fix stands: what gives something a seed there is harmless only if it runs once."""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import Final

from detlint.catalog import Applicability, Recipe
from detlint.fixes.file import around, span_of
from detlint.model.sites.records import Span

_MILDEST: Final[tuple[Applicability, ...]] = ("safe", "unsafe", "display")
_ONCE: Final = frozenset({"main", "__init__"})
"""Functions that a run mostly calls once, or once for each object."""


def applicability(recipe: Recipe, tree: ast.Module | None, span: Span) -> Applicability:
    """What a recipe is at a place: with a seed that is given again and again, the same numbers come each time.

    Args:
        tree: the module; None where it can't be parsed.
        span: what the finding stands on.
    """
    if not recipe.seeds:
        return recipe.applicability
    once = tree is not None and runs_once(tree, span)
    return recipe.applicability if once else max(recipe.applicability, recipe.repeated, key=_MILDEST.index)


def runs_once(tree: ast.Module, span: Span) -> bool:
    """Whether the code at a place runs once in a run, as far as the file tells: at its top level, in `main` or `__init__`,
    in no loop."""
    functions = 0
    stands = around(tree, span)
    for node, inner in pairwise(stands):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner in node.body:
            functions += 1
            if functions > 1 or node.name not in _ONCE:
                return False
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if inner in node.body or inner is getattr(node, "test", None):
                return False
        elif isinstance(node, ast.Lambda):
            return False
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            first = node.generators[0].iter
            if inner is not first and span_of(first) != span:
                return False
    return True
