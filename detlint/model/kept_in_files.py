"""What is only done where a file is missing, into which it is then written: later runs read that.

What it may assume: a call that is handed the path there, with something else that isn't written out, writes that into the file; as does
`open` with a mode that writes.
"""

from __future__ import annotations

from typing import Final

from detlint.catalog import Catalog
from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Function
from detlint.ir.written import exactly
from detlint.model.growth import LEVELS

SPLITS: Final = "splits"
"""Entries in this context split data."""
_ASKS: Final = "asks-for-file"
"""What asks whether a file is there."""
_OF_PATHS: Final = "os.path."


def is_kept(function: Function, at: int, catalog: Catalog) -> bool:
    """Whether an op is only come to where a file is missing, and the function writes that there."""
    missing = _missing(function, at, catalog)
    return bool(missing) and any(
        _takes(function, call, missing) and not missing.isdisjoint(_missing(function, call, catalog))
        for call, _ in function.each(op.CALL)
    )


def _missing(function: Function, at: int, catalog: Catalog) -> set[str]:
    """The paths of the files that are missing where an op is come to, as they are written."""
    asked = (_asked(function, test, catalog) for test, holds in function.held(at) if not holds)
    return {text for path in asked if path >= 0 and (text := exactly(function, path))}


def _asked(function: Function, test: int, catalog: Catalog) -> int:
    """The path of which a test asks whether a file is there; -1 for any other test."""
    if function.ops[test][0] != op.CALL or function.called(test) not in catalog.words_with(_ASKS):
        return -1
    given, base = function.call(test).positional, function.called_on(test)
    if function.external(function.ops[test][1]) in catalog.with_context(_ASKS):
        return given[0] if given else -1
    return base if not given else -1


def _takes(function: Function, call: int, paths: set[str]) -> bool:
    """Whether a call is handed one of some paths, or is of a method of it, and puts something there."""
    callee, values = function.ops[call][1], [*function.call(call).values()]
    external = function.external(callee)
    if function.is_builtin(callee, "print", "str") or external.startswith(_OF_PATHS) or function.called(call) in LEVELS:
        return False
    given = values if external or function.called_on(call) < 0 else [*values, function.called_on(call)]
    others = [value for value in given if exactly(function, value) not in paths]
    if len(others) == len(given):
        return False
    known = [function.constant(value) for value in others]
    if function.called(call) == "open":
        return any(isinstance(mode, str) and not {*"wax"}.isdisjoint(mode) for mode in known)
    return UNKNOWN in known
