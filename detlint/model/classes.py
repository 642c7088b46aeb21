"""Which classes derive from one."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.model.resolve import Resolver
from detlint.model.sites.records import Member, Ref


def may_derive(resolver: Resolver, path: str, own: str) -> bool:
    """Whether a class of a file may derive from another class, by its normal name; so where the file can't be read."""
    if resolver.module(path) is None:
        return path.endswith(".py")
    return any(True for _ in deriving(resolver, path, own))


def deriving(resolver: Resolver, path: str, own: str) -> Iterator[str]:
    """The classes of a file that derive from another class, or have a base of its name that isn't known.

    Args:
        own: the class that they may derive from, by normal name.
    """
    module = resolver.module(path)
    word = own.rpartition("::")[2].rpartition(".")[2]
    for name, body in module.classes.items() if module is not None else ():
        full = f"{path}::{name}"
        if full != own and own in resolver.classes.mro(full):
            yield name
        elif not resolver.classes.knows_bases(full):
            said = (
                base.name if isinstance(base, Ref) else base.attr
                for base in body.bases
                if isinstance(base, Ref | Member)
            )
            if any(base.rpartition(".")[2] == word for base in said):
                yield name
