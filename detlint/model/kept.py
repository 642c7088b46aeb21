"""What a class keeps as attributes of its objects."""

from __future__ import annotations

from detlint.ir import ops as op
from detlint.ir.code import Code, Function


def only_setter(code: Code, owner: str, attribute: str) -> tuple[Function, int] | None:
    """The only op of a class that sets an attribute, of whatever object, or deletes one, if it sets that of the object itself; None for
    any other. What other classes and files do isn't asked.

    Args:
        owner: the class, as a name inside its file.
    """
    bodies = code.by_name.get(owner, ())
    if len(bodies) != 1 or not bodies[0].is_class:
        return None
    inside = {function.number for function in code.inside(bodies[0].number)}
    found = [(function, at) for function, at in code.setters(attribute) if function.number in inside]
    if len(found) != 1:
        return None
    function, at = found[0]
    return found[0] if function.ops[at][0] == op.SET_ATTR and function.is_self(function.ops[at][1]) else None


def set_once(code: Code, owner: str, attribute: str) -> tuple[Function, int] | None:
    """The same, if it stands in the constructor, of which the class has one."""
    found = only_setter(code, owner, attribute)
    made = code.by_name.get(f"{owner}.__init__", ())
    return found if found is not None and len(made) == 1 and found[0] is made[0] else None


def always_set_to(code: Code, owner: str, attribute: str) -> tuple[Function, int] | None:
    """The constructor of a class, and the value that it always sets an attribute to, which the class sets nowhere else."""
    found = set_once(code, owner, attribute)
    if found is None:
        return None
    made, at = found
    return (made, made.ops[at][3]) if not any(made.blocks(at)) and not any(made.guards(at)) else None
