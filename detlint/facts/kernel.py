"""Statements that end a notebook's cell with an error, since it is no script: it stands in no package, and the command line is that
of the kernel which runs it."""

from __future__ import annotations

import ast
import re
from typing import Final

_TAKES_ALL: Final = re.compile(
    rb"argv|REMAINDER|[\"']\.\.\.[\"']|[\"']--?f|prefix_chars|add_subparsers|conflict_handler"
)
"""What may read the kernel's own option (`-f kernel.json`, or `--f=...`), or another command line."""


def ends_cell(statement: ast.stmt, data: bytes) -> bool:
    """Whether a statement of a notebook's top level surely raises: it imports something relative to a package, or parses the
    kernel's options by a parser that has none like them.

    Args:
        data: the notebook's code.
    """
    kind = type(statement)
    if kind is ast.ImportFrom:
        return bool(statement.level) and b"__package__" not in data  # type: ignore[attr-defined]
    call = statement.value if kind is ast.Assign or kind is ast.Expr else None  # type: ignore[attr-defined]
    if type(call) is not ast.Call or call.args or call.keywords or type(call.func) is not ast.Attribute:
        return False
    parser = call.func.value
    return call.func.attr == "parse_args" and type(parser) is ast.Name and _is_plain(parser.id.encode(), data)


def _is_plain(name: bytes, data: bytes) -> bool:
    """Whether a name is only ever a parser of argparse's, and no option of the notebook's is like the kernel's."""
    bound = re.findall(rb"(?<![\w.])%b\s*=(?!=)\s*([\w.]*)" % re.escape(name), data)
    known = bound and all(maker in (b"ArgumentParser", b"argparse.ArgumentParser") for maker in bound)
    return bool(known) and b"argparse" in data and _TAKES_ALL.search(data) is None
