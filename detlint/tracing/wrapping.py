"""Putting functions around those of a framework, and taking them away again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any

Around = Callable[..., Any]
"""Gets the function that is there, and then what it is called with."""


def wrap(stack: ExitStack, owner: Any, name: str, around: Around) -> None:
    """Put a function around an attribute of a class or module until the stack is closed. What isn't there is left alone."""
    own = getattr(owner, name, None)
    if own is None:
        return
    held = name in vars(owner)

    @wraps(own)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return around(own, *args, **kwargs)

    setattr(owner, name, wrapper)
    stack.callback(_undo, owner, name, wrapper, own if held else None)


def _undo(owner: Any, name: str, wrapper: Any, own: Any) -> None:
    if vars(owner).get(name) is not wrapper:
        return  # somebody has put another one around it, which calls it
    if own is None:
        delattr(owner, name)
    else:
        setattr(owner, name, own)
