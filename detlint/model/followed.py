"""Why a run isn't followed to a piece of code: for `detlint explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.callees import is_hook
from detlint.model.liveness import Piece, Program, Reason
from detlint.model.meaning import Meaning
from detlint.model.sites.records import Ref, plain
from detlint.model.uses import Users

At = Callable[[Piece, int], str]
"""The file and line of an op, as text."""


def not_followed(
    program: Program, entered: Set[tuple[str, str]], way: Sequence[tuple[Piece, int]], piece: Piece, at: At
) -> str:
    """What keeps a way to a live piece from being followed: its first step that is no plain call, behind what the run is seen to run.

    Args:
        entered: the functions that the run is seen to run, by file and name.
        way: how the run comes to the piece, as `way_to` gives it.
    """
    ran = [i for i, (by, _) in enumerate(way) if i and _name(program, by) in entered]
    first = ran[-1] if ran else 0
    for i, (by, op_) in enumerate(way[first:], first):
        then = way[i + 1][0] if i + 1 < len(way) else piece
        if why := _open(program, by, op_, then, at):
            return why
    names = [_said(program, by) for by, _ in way[1:]] + [_said(program, piece)]
    comes = "it is not seen to come to this line" if not way else f"{at(*way[-1])} is not seen to call {names[-1]}"
    return f"{comes}: it leaves before, or an option or a setting decides so"


def _name(program: Program, piece: Piece) -> tuple[str, str]:
    function = program.function(piece)
    return piece.path, plain(function.qualified) if function is not None else ""


def _said(program: Program, piece: Piece) -> str:
    name = _name(program, piece)[1]
    return f"`{name}`" if name else "the file"


def _open(program: Program, by: Piece, op_: int, then: Piece, at: At) -> str:
    """Why a reference to a piece is no call that can be followed; "" where it is a plain one."""
    function, meaning = program.function(by), program.meaning(by.path)
    if function is None or meaning is None:
        return ""
    place, said, kind = at(by, op_), _said(program, then), function.ops[op_][0]
    if kind == op.CALL:
        if function.is_builtin(function.ops[op_][1], "getattr"):
            return f"{place} asks for it by `getattr`, of an object whose class is not known"
        return ""
    if kind not in (op.LOAD, op.ATTR):
        return ""
    method = said.strip("`").rpartition(".")[2]
    value = meaning.value(function, op_)
    sure = isinstance(value, Ref) and "::" in value.name
    callers = [use.op for use in function.users[op_] if use.place == 1 and function.ops[use.op][0] == op.CALL]
    if kind == op.ATTR and not sure and _attribute(function, op_) == method:
        what = "calls" if callers else "takes"
        return f"{place} {what} `{method}` of an object whose class is not known"
    if isinstance(value, Ref) and program.resolver.classes.is_class(value.name):
        layer = program.resolver.kinds.layer(value.name)
        by_itself = is_hook(method) or (method.startswith("__") and method.endswith("__"))
        if by_itself or (layer is not None and method == layer.forward):
            return f"{place} refers to the class, and no call of {said} is seen"
        return f"{place} refers to the class, and {said} is only called on an object whose class is not known"
    if callers:
        return "" if sure else f"{place} calls one of several, and which is not known"
    return _kept(meaning, function, op_, place, said)


def _attribute(function: Function, at: int) -> str:
    return function.code.strings[function.ops[at][2]]


def _kept(meaning: Meaning, function: Function, op_: int, place: str, said: str) -> str:
    """What is done with a function that isn't called where it is referred to."""
    for use in function.users[op_]:
        if function.ops[use.op][0] == op.CALL:
            callee = function.ops[use.op][1]
            name = meaning.name(function, callee) or function.dotted(callee)
            whom = f"`{name.rpartition('::')[2]}`" if name else "a call"
            return f"{place} hands {said} to {whom}, which is not known to call it"
    return f"{place} keeps {said}, and who calls it from there is not known"


def not_referred(program: Program, users: Users, lives: Mapping[Piece, Reason], piece: Piece, at: At) -> str:
    """Why a run that imports a file doesn't come to a piece of it, which nothing in the run refers to."""
    owner, _, method = _name(program, piece)[1].rpartition(".")
    reason = f"nothing in this run refers to {_said(program, piece)} by its name"
    if program.resolver.classes.is_class(f"{piece.path}::{owner}"):
        had = any(f"{piece.path}::{owner}" in program.refers(each).definitions for each in lives)
        reason = (
            f"nothing in this run calls `{method}`" if had else f"nothing in this run refers to the class `{owner}`"
        )
    for path in dict.fromkeys(each.path for each in lives):
        dynamic = users.dynamic(path)
        for place in dynamic.asking if dynamic is not None else ():
            by = Piece(path, place.function.number)
            if by in lives:
                return f"{reason}; {at(by, place.at)} asks for a name that is not written out"
    return reason
