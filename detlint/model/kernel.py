"""Statements that end a notebook's cell with an error, since it is no script: it stands in no package, and the command line is that
of the kernel which runs it."""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function

_MAKERS: Final = frozenset({"ArgumentParser", "argparse.ArgumentParser"})
_OTHERS: Final = frozenset({"argv", "REMAINDER", "prefix_chars", "add_subparsers", "conflict_handler"})
"""What may read another command line, or more of it."""
_LIKE: Final = ("-f", "--f", "...")
"""How options begin that are like the kernel's own (`-f kernel.json`, or `--f=...`), and what takes all."""


def ends_cell(top: Function, at: int) -> bool:
    """Whether an op of a notebook's top level surely raises: it imports something relative to a package, or parses the kernel's
    options by a parser that has none like them."""
    operation = top.ops[at]
    if operation[0] == op.IMPORT:
        return operation[2] > 0 and "__package__" not in top.code.identifiers
    if operation[0] != op.CALL or top.called(at) != "parse_args" or len(operation) > 3:
        return False
    parser = top.ops[top.called_on(at)] if top.called_on(at) >= 0 else (op.END,)
    return parser[0] == op.LOAD and _is_plain(top, parser[1]) and not _takes_all(top.code)


def _is_plain(top: Function, slot: int) -> bool:
    """Whether a name is only ever a parser of argparse's."""
    stores = top.code.stores(top.binding(slot))
    values = [(function, function.ops[at][2]) for function, at in stores if function.ops[at][0] == op.STORE]
    calls = [(function, function.ops[value]) for function, value in values]
    made = (call[0] == op.CALL and function.dotted(call[1]) in _MAKERS for function, call in calls)
    return bool(calls) and len(calls) == len(stores) and all(made)


def _takes_all(code: Code) -> bool:
    """Whether an option of a notebook is like the kernel's."""
    return not _OTHERS.isdisjoint(code.identifiers) or any(text.startswith(_LIKE) for text in code.texts)
