"""How often code has a name: once for each time that it is written, of whatever many ops that is lowered to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detlint.ir import ops as op
from detlint.ir.uses import Op

if TYPE_CHECKING:
    from detlint.ir.code import Function


def mentioned(function: Function) -> Iterator[str]:
    """The names that it has itself, each as often as `Code.mentions` counts."""
    strings, again = function.strings, _said_again(function)
    yield from (function.text(slot) for slot in range(len(function.header.parameters)))
    for at, operation in enumerate(function.ops):
        code = operation[0]
        if at in again:
            continue
        if code == op.STORE:
            if not _is_told(function, operation):
                yield function.text(operation[1])
        elif code in (op.LOAD, op.DELETE, op.ANNOTATE):
            yield function.text(operation[1])
        elif code in (op.ATTR, op.SET_ATTR, op.DELETE_ATTR, op.MEMBER, op.ANNOTATE_ATTR):
            yield strings[operation[2]]
        elif code == op.IMPORT:
            yield from filter(None, strings[operation[1]].split("."))
        elif code in (op.FUNCTION, op.CLASS):
            yield function.code.function(operation[1]).name
        if code in (op.CALL, op.CLASS):
            yield from function.call(at).named


def _said_again(function: Function) -> set[int]:
    """The ops that have a name which others have by the same words: where an exception's is gone, where what is bound is annotated,
    and where an attribute is set that `+=` has read."""
    found, quotes, caught = set[int](), list[int](), list[int]()
    for at, operation in enumerate(function.ops):
        code = operation[0]
        if code in op.OPENING:
            quotes.append(at)
            caught.append(-1)
        elif code == op.EXCEPT or code == op.ELSE or code == op.FINALLY or code == op.END:
            if caught[-1] >= 0:
                found.add(at - 1)
            caught[-1] = -1
            if code == op.END:
                caught.pop()
                quote = quotes.pop()
        elif code == op.CAUGHT and function.ops[at + 1][0] == op.STORE and function.ops[at + 1][2] == at:
            caught[-1] = at
        elif code == op.SET_ATTR and function.ops[operation[3]][0] == op.AUGMENT:
            found.add(at)
        elif code == op.ANNOTATE and function.ops[quote - 1][:2] == (op.STORE, operation[1]):
            if function.spans[quote - 1][:2] == function.spans[at][:2]:
                found.add(at)
        elif code == op.ANNOTATE_ATTR and operation[1] > quote:
            found |= {at, *function.within(operation[1])}
    return found


def _is_told(function: Function, operation: Op) -> bool:
    """Whether a `STORE` binds a name that the op which gives the value has already: a definition, an import by its own name, `+=`."""
    made = function.ops[operation[2]]
    if made[0] == op.MEMBER:
        return function.strings[made[2]] == function.text(operation[1])
    if made[0] == op.IMPORT:
        return function.text(operation[1]) in function.strings[made[1]].split(".")
    if made[0] in (op.FUNCTION, op.CLASS):
        return function.code.function(made[1]).name == function.text(operation[1])  # `f = lambda: 1` says `f` itself
    return made[0] == op.AUGMENT
