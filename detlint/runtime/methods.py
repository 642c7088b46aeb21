"""Putting a function in the place of a method, also of a class of C's, which refuses it.

Instances of such classes are made in C, so a class that stands in wouldn't reach them, and programs ask whether an object is of the class.
CPython looks a method up in the class's table whoever has changed it, once it is told that the class has changed.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any, Final

ABSENT: Final = object()


def put(owner: Any, name: str, value: Any) -> None:
    """Set an attribute, or take it away (`ABSENT`)."""
    try:
        delattr(owner, name) if value is ABSENT else setattr(owner, name, value)
    except (TypeError, AttributeError):
        if not isinstance(owner, type):
            raise
        (table,) = (found for found in gc.get_referents(owner.__dict__) if isinstance(found, dict))
        table.pop(name, None) if value is ABSENT else table.__setitem__(name, value)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))
