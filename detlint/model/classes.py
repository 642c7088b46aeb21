"""Which classes derive from one."""

from __future__ import annotations

from detlint.facts.model import Member, Ref
from detlint.ir import ops as op
from detlint.ir.code import Code
from detlint.program.resolve import Resolver


def may_derive(resolver: Resolver, path: str, own: str) -> bool:
    """Whether a class of a file may derive from another class: it does, or has a base of its name that isn't known. So where the file can't
    be read.

    Args:
        own: the class that it may derive from, by normal name.
    """
    module = resolver.module(path)
    if module is None:
        return path.endswith(".py")
    word = own.rpartition("::")[2].rpartition(".")[2]
    for name, body in module.classes.items():
        full = f"{path}::{name}"
        if full != own and own in resolver.mro(full):
            return True
        if not resolver.knows_bases(full):
            said = (
                base.name if isinstance(base, Ref) else base.attr
                for base in body.bases
                if isinstance(base, Ref | Member)
            )
            if any(base.rpartition(".")[2] == word for base in said):
                return True
    return False


def keeps_as(code: Code, name: str) -> bool:
    """Whether a class of a file has something under a name that isn't a method which is written there."""
    for body in code.functions():
        for _, operation in body.each(op.STORE) if body.is_class else ():
            if body.text(operation[1]) == name and body.ops[operation[2]][0] != op.FUNCTION:
                return True
    return False
