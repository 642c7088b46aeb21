"""What counts in a program that has no loss: an expression, worked out among the names of its main module as it ends."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from types import CodeType
from typing import Any

from detlint.tracing.arrays import of_array
from detlint.tracing.events import digest
from detlint.tracing.losses import Loss

_LONGEST = 60


@cache
def compiled(expression: str) -> CodeType:
    """The expression.

    Raises:
        SyntaxError: it is none.
    """
    return compile(expression.strip(), "--output", "eval")


def names() -> dict[str, Any]:
    """Those of the program's main module."""
    return vars(sys.modules["__main__"])


def used(expression: str) -> dict[str, Any]:
    """The program's names that stand in it, with what they stand for."""
    known = names()
    return {name: known[name] for name in _named(compiled(expression)) if name in known}


def _named(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _named(inner)


@cache
def value(expression: str) -> Any:
    """What it gives. It is worked out once: it may draw."""
    return eval(compiled(expression), names())


def leaves(found: Any) -> Iterator[Loss]:
    """Each number, text and tensor in a value, as what is compared.

    Raises:
        TypeError: something else is in it, whose digest would be that of an address.
    """
    for place, (path, part) in enumerate(_parts(found, "")):
        yield _told(place, path, part)


def printed(text: str) -> list[Loss]:
    """Likewise, of the lines that a program prints."""
    return [
        Loss(place, 0.0, line, "printed", text=line[:_LONGEST] or "(empty)")
        for place, line in enumerate(text.splitlines())
    ]


def _parts(found: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What is in a value, by the way to it."""
    if isinstance(found, Mapping):
        for key, item in found.items():
            yield from _parts(item, f"{path}[{key!r}]")
    elif isinstance(found, list | tuple):
        for place, item in enumerate(found):
            yield from _parts(item, f"{path}[{place}]")
    elif dataclasses.is_dataclass(found) and not isinstance(found, type):
        for field in dataclasses.fields(found):
            yield from _parts(getattr(found, field.name), f"{path}.{field.name}")
    else:
        yield path, found


def _told(place: int, path: str, part: Any) -> Loss:
    if isinstance(part, float | int):
        return Loss(place, float(part), f"{path}={digest(part):016x}", "output")
    if isinstance(part, str | bytes | complex | None):
        return Loss(place, 0.0, f"{path}={digest(part):016x}", "output", text=f"{path} {part!r}".strip()[:_LONGEST])
    array = _array(part)
    if array is None:
        kind = type(part)
        raise TypeError(f"a {kind.__module__}.{kind.__qualname__} can't be compared; name what is in it")
    values, number = array
    bits = f"{path}={number:016x}"
    if values.size == 1 and values.dtype.kind in "biuf":
        return Loss(place, float(values.reshape(-1)[0]), bits, "output")
    return Loss(place, 0.0, bits, "output", text=f"{path} {values.dtype}{[*values.shape]} {number:016x}".strip())


def _array(part: Any) -> tuple[Any, int] | None:
    """A tensor as an array of NumPy's, and the digest of its bits."""
    if hasattr(part, "detach"):
        from detlint.tracing.digests import host, unseen

        with unseen():
            here = part.detach().cpu()
            small = here.is_floating_point() and here.element_size() < 4  # NumPy has no bfloat16
            return (here.float() if small else here).numpy(), host(here.contiguous())
    own = part.asnumpy() if hasattr(part, "asnumpy") else part.numpy() if hasattr(part, "numpy") else part
    return (own, of_array(own)) if hasattr(own, "dtype") and hasattr(own, "tobytes") else None
