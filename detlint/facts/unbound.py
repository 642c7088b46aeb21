"""Names that nothing binds: to read one raises NameError.

Only what can't be otherwise is said: nothing in the file, in whatever scope, binds the name, and nothing in it can bind names that
it doesn't write out.
"""

from __future__ import annotations

import ast
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.nodes import walk
from detlint.facts.scope import BUILTINS

_BY_NAME: Final = frozenset({"__builtins__", "builtins", "exec", "execfile", "globals", "locals"})
"""What may bind names that aren't written out."""
GIVEN: Final = frozenset({
    "_", "display", "dbutils", "get_config", "get_ipython", "ic", "profile", "reveal_locals", "reveal_type", "sc", "snakemake", "snoop",
    "spark", "sqlContext",
    "BaseExceptionGroup", "EncodingWarning", "ExceptionGroup", "PythonFinalizationError", "WindowsError", "aiter", "anext",
    "apply", "basestring", "buffer", "cmp", "coerce", "execfile", "file", "intern", "long", "raw_input", "reduce", "reload",
    "unichr", "unicode", "xrange",
})  # fmt: skip
"""What runs a script may give it, and what only other versions of Python have."""
WHOLE: Final = 40
"""How many names a file that is no excerpt binds, of those that it reads, for each that nothing binds."""


def bound(tree: ast.Module) -> set[str] | None:
    """All names that a file binds anywhere, deletes or declares; None where it may bind others besides."""
    names = set(GIVEN)
    for node in walk(tree):
        kind = type(node)
        if kind is ast.Name:
            if node.id in _BY_NAME:  # type: ignore[attr-defined]
                return None
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                names.add(node.id)  # type: ignore[attr-defined]
        elif kind is ast.arg:
            names.add(node.arg)  # type: ignore[attr-defined]
        elif kind is ast.alias:
            if node.name == "*" or node.name in _BY_NAME:  # type: ignore[attr-defined]
                return None
            names.add(node.asname or node.name.partition(".")[0])  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            of_modules = node.attr == "modules" and dotted(node) == "sys.modules"  # type: ignore[attr-defined]
            if of_modules or node.attr == "__dict__" or node.attr in _BY_NAME:  # type: ignore[attr-defined]
                return None
        elif kind is ast.Call:
            if dotted(node.func) == "vars" and not node.args:  # type: ignore[attr-defined]
                return None
        elif kind is ast.Global or kind is ast.Nonlocal:
            names.update(node.names)  # type: ignore[attr-defined]
        else:  # functions, classes, handlers, patterns, type parameters
            names.update(
                name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if type(name) is str
            )
    return names


def is_excerpt(tree: ast.Module, names: set[str]) -> bool:
    """Whether a file leaves it to its reader to think of much that it reads.

    Args:
        names: what it binds.
    """
    read = {node.id for node in walk(tree) if type(node) is ast.Name} - BUILTINS.keys()
    missing = [name for name in read - names if not name.startswith("__")]
    return len(read) - len(missing) < WHOLE * len(missing)
