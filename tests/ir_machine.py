from __future__ import annotations

from detlint.ir import ops as op
from detlint.ir.records import FnIR


def comprehended(body: FnIR) -> set[int]:
    """The slots that comprehensions and type parameters have for themselves."""
    found, depth = set(), []
    for part in body.ops:
        if part[0] in op.OPENING:
            depth.append(part[0])
        elif part[0] == op.END:
            depth.pop()
        elif part[0] == op.STORE:
            value = body.ops[part[2]][0]
            if value == op.TYPE_PARAMETER or (op.COMPREHEND in depth and value in (op.FOR, op.PART)):
                found.add(part[1])
    return found
