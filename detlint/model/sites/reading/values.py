"""Values as the reader builds them: of literals, attributes, arithmetic and tables."""

from __future__ import annotations

import sys
from typing import Any, Final

from detlint.model import elements, sets
from detlint.model.sites.records import (
    COMPARED,
    OPERATED,
    SCALED,
    Const,
    Either,
    Expression,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Partial,
    Ref,
    Result,
    Value,
    options,
)
from detlint.model.sites.scope import join

STDLIB: Final = sys.stdlib_module_names | {"builtins"}
WITHOUT_PARTS: Final = STDLIB - {
    "asyncio", "collections", "concurrent", "ctypes", "curses", "dbm", "distutils", "email", "encodings", "ensurepip", "html", "http",
    "idlelib", "importlib", "json", "lib2to3", "logging", "msilib", "multiprocessing", "os", "pathlib", "pydoc_data", "pyrepl", "re",
    "sqlite3", "string", "sys", "sysconfig", "tkinter", "tomllib", "turtledemo", "unittest", "urllib", "venv", "wsgiref", "xml",
    "xmlrpc", "zoneinfo",
}  # fmt: skip
"""Those that have no modules in them, in any release."""
LONGEST_TEXT: Final = 200
LONGEST_DISPLAY: Final = 64
DEEPEST_VALUE: Final = 16
SHORT_MAPPING: Final = 8
FLAGS: Final = "absl.flags.FLAGS"
RESHAPES: Final = frozenset({
    "contiguous", "expand", "flatten", "permute", "reshape", "squeeze", "transpose", "unflatten", "unsqueeze", "view",
})  # fmt: skip
"""Methods of tensors that give the same numbers, of the same type and in the same place, in another shape."""
KEEPS_NUMBERS: Final = frozenset({
    "clone", "contiguous", "detach", "expand", "flatten", "float", "permute", "repeat", "repeat_interleave", "reshape", "squeeze",
    "to", "transpose", "type_as", "unsqueeze", "view",
})  # fmt: skip
"""Methods of tensors that keep the numbers, in another shape, type or place."""
_SHORT: Final = frozenset({Const, Ref, Instance, type(None)})
"""Values that are short to write down, whatever is in them."""
TYPED: Final = frozenset({Result, Member, Instance, Param})
PASSES: Final = frozenset(
    f"builtins.{name}" for name in ("int", "int.from_bytes", "float", "abs", "round", "str", "hash", "reversed", "iter")
)


def constant(value: object) -> Value | None:
    """A literal as a value; bytes, complex numbers, long texts and huge integers are not kept."""
    if isinstance(value, str):
        return Const(value) if len(value) <= LONGEST_TEXT and (value.isascii() or value.isprintable()) else None
    if value is None or isinstance(value, (bool, float)):
        return Const(value)
    return Const(value) if isinstance(value, int) and -(2**63) <= value < 2**63 else None


def member(base: Value | None, attr: str) -> Value | None:
    """An attribute of a value."""
    kind = type(base)
    if kind is Ref:
        return Ref(f"{base.name}.{attr}") if attr[0] != "[" else Member(base, attr)  # type: ignore[union-attr, arg-type]
    if kind is Member or kind is Result:
        return Member(base, attr) if depth_of(base) < DEEPEST_VALUE else None  # type: ignore[arg-type]
    if base is None or kind is Const or kind is Expression:
        return None
    if kind is Mapping and attr in base.keys:  # type: ignore[union-attr]
        return base.values[base.keys.index(attr)]  # type: ignore[union-attr]
    return Member(base, attr)


def without_table(value: Value | None) -> Value | None:
    """What a value is the table of the names of: `module.__dict__`; None for any other."""
    if isinstance(value, Ref) and value.name.endswith(".__dict__"):
        return Ref(value.name.removesuffix(".__dict__"))
    return value.base if isinstance(value, Member) and value.attr == "__dict__" else None


def operation(left: Value | None, right: Value | None) -> Value | None:
    """Arithmetic gives what its typed side is: `2 * x` is a tensor when `x` is."""
    if left is COMPARED and right is COMPARED:
        return COMPARED
    if type(left) is Either and type(right) is not Instance and any(type(option) in TYPED for option in left.options):
        # `seed + rank`, where the seed is drawn unless it is given: it is still what was drawn.
        return join(operation(option, right) for option in left.options)
    if type(left) in TYPED and type(left) is not Instance and is_of_stdlib(right) and not is_drawn(right):
        left, right = right, left  # `rank + int(time.time())` differs as the clock does, whatever the rank is
    kinds = [sets.elements_of(side) for side in (left, right)]
    if None not in kinds:  # what is taken out of a set, or compared with it, is of its kind
        return sets.SETS[elements.joined(kind for kind in kinds if kind is not None)]
    for side in (left, right):
        if side is COMPARED:
            continue  # as a factor it takes on the other's type
        if type(side) in TYPED and depth_of(side) < DEEPEST_VALUE:
            other = right if side is left else left
            attr = SCALED if type(other) is Const else OPERATED
            if type(side) is Result and type(side.of) is Member and side.of.attr in (attr, OPERATED):
                return side
            return Result(Member(side, attr))  # type: ignore[arg-type]
        if type(side) is Items and side.kind == "set":
            return sets.SETS[sets.elements_of(side) or ""]
    return None


def is_of_stdlib(value: Value | None) -> bool:
    """Whether a function of the standard library gave a value, such as `random.randint`: it is no tensor."""
    return type(value) is Result and type(value.of) is Ref and value.of.name.partition(".")[0] in STDLIB


def is_drawn(value: Value | None) -> bool:
    """Whether module `random` gave a value: what is multiplied by it may be a tensor."""
    return type(value) is Result and type(value.of) is Ref and value.of.name.startswith("random.")


def tail_of(callee: Value | None) -> str:
    """The last component of a callee's name."""
    kind = type(callee)
    if kind is Ref:
        return callee.name.rpartition(".")[2]  # type: ignore[union-attr]
    if kind is Member:
        return callee.attr  # type: ignore[union-attr]
    if kind is Either:
        return next((tail for option in callee.options if (tail := tail_of(option))), "")  # type: ignore[union-attr]
    return ""


def depth_of(value: Any) -> int:
    depth = 0
    while True:
        kind = type(value)
        if kind is Member:
            value = value.base
        elif kind is Result:
            value = value.of
        else:
            return depth
        depth += 1


def simple(value: Value | None) -> Value | None:
    """A value if it is short to write down."""
    kind = type(value)
    if kind in _SHORT:
        return value
    if kind is Param:
        default = value.default  # type: ignore[union-attr]
        return value if default is None or type(default) is Const else Param(value.name)  # type: ignore[union-attr]
    if kind is Partial:
        return value if type(value.of) is Ref else None  # type: ignore[union-attr]
    if kind is Mapping and len(value.keys) <= SHORT_MAPPING:  # type: ignore[union-attr]
        held = tuple(map(simple, value.values))  # type: ignore[union-attr]
        return Mapping(value.keys, held, value.open, simple(value.rest))  # type: ignore[union-attr]
    if kind is Items and len(value.values) <= SHORT_MAPPING and any(type(held) is Ref for held in value.values):  # type: ignore[union-attr]
        return Items(tuple(map(simple, value.values)), value.kind)  # type: ignore[union-attr]
    if kind is Either:
        options = tuple(simple(option) for option in value.options)  # type: ignore[union-attr]
        return Either(options, value.by) if None not in options else None  # type: ignore[union-attr]
    if kind is not Member and kind is not Result:
        return None
    return value if depth_of(value) <= 8 or depth_of(value := _reshaped(value)) <= 8 else None


def _reshaped(value: Value | None) -> Value | None:
    """A tensor in another shape, brought into it in one step."""
    if type(value) is Member:
        return Member(base, value.attr) if (base := _reshaped(value.base)) is not None else None
    if type(value) is not Result or type(value.of) is not Member or value.of.attr not in RESHAPES:
        return value
    base = value.of.base
    while type(base) is Result and type(base.of) is Member and base.of.attr in RESHAPES:
        base = base.of.base
    return Result(Member(base, value.of.attr), value.site)


def is_table(value: Value | None) -> bool:
    """Whether a value is a dictionary that is known, or one of several."""
    return all(isinstance(option, Mapping) for option in options(value))


def opened(table: Mapping, once: bool) -> Value | None:
    """A dictionary into which others are put, under the key `**`: what is surely in it.

    Args:
        once: whether no key may come twice, as in a call; else the last one counts.
    """
    merged: dict[str, Value | None] = {}
    unknown: list[Value | None] = []
    for key, value in zip(table.keys, table.values, strict=True):
        if key != "**":
            merged[key] = value
            continue
        if type(value) is Mapping:
            unknown += [value.rest] if value.open else []
        else:
            # What it has too isn't as it was before.
            unknown += [value] if once or not merged else [value, None]
        if not once and (type(value) is not Mapping or value.open):
            merged.clear()
        if type(value) is Mapping:
            merged |= zip(value.keys, value.values, strict=True)
    rest = unknown[0] if len(unknown) == 1 else None
    return Mapping(tuple(merged), tuple(merged.values()), unknown != [], rest) if merged or rest is not None else None


def updated(base: Value | None, changed: dict[str, Value | None] | None) -> Value | None:
    """A dictionary with some keys set anew; None when it isn't known which."""
    if isinstance(base, Either) and changed is not None:
        return Either(tuple(updated(option, changed) for option in base.options), base.by)
    if changed is None or not isinstance(base, Mapping):
        return None
    merged = dict(zip(base.keys, base.values, strict=True)) | changed
    return Mapping(tuple(merged), tuple(merged.values()), base.open, base.rest)


def without(base: Value | None, key: object) -> Value | None:
    """A dictionary without a key; None when that isn't known."""
    if isinstance(base, Either):
        return Either(tuple(without(option, key) for option in base.options), base.by)
    if not isinstance(base, Mapping) or not isinstance(key, str) or base.open:
        return None
    kept = {k: v for k, v in zip(base.keys, base.values, strict=True) if k != key}
    return Mapping(tuple(kept), tuple(kept.values()))
