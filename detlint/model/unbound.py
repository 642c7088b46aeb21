"""Names that nothing binds: to read one raises NameError.

Only what can't be otherwise is said: nothing in the file, in whatever scope, binds the name, and nothing in it can bind names that
it doesn't write out.
"""

from __future__ import annotations

from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.model.sites.scope import BUILTINS

_BY_NAME: Final = frozenset({"__builtins__", "__dict__", "builtins", "exec", "execfile", "globals", "locals"})
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


def bound(code: Code) -> set[str] | None:
    """All names that a file binds anywhere; None where it may bind others besides."""
    names = code.identifiers
    if not _BY_NAME.isdisjoint(names) or ("sys" in names and "modules" in names):
        return None
    found = set(GIVEN)
    for function in code.each_once():
        for _, operation in function.each(op.STAR_IMPORT, op.CALL):
            if operation[0] == op.STAR_IMPORT or (not operation[2] and function.is_builtin(operation[1], "vars")):
                return None
        found.update(function.text(slot) for slot, name in enumerate(function.names) if name.slot >= 0)
    return found


def is_excerpt(code: Code, names: set[str]) -> bool:
    """Whether a file leaves it to its reader to think of much that it reads.

    Args:
        names: what it binds.
    """
    reads = (function.text(slot) for function in code.each_once() for _, (_, slot) in function.each(op.LOAD))
    read = {*reads} - BUILTINS.keys()
    missing = [name for name in read - names if not name.startswith("__")]
    return len(read) - len(missing) < WHOLE * len(missing)


def is_unbound(function: Function, load: int) -> bool:
    """Whether a name is read that nothing in the file binds, so that this raises."""
    slot = function.ops[load][1]
    name = function.text(slot)
    if function.names[slot].slot >= 0 or name in BUILTINS or name.startswith("__"):
        return False
    names = bound(function.code)
    return names is not None and name not in names
