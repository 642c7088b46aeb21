"""How many dimensions a tensor surely has, by the calls that gave it its shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from detlint.checks.conditions import CallArgument
from detlint.facts.model import Const, Items, Member, Ref, Result, Value

SHAPES: Final = frozenset({"permute", "reshape", "view"})
"""Methods of tensors that are told each dimension."""
KEEP: Final = frozenset({
    "bfloat16", "clone", "contiguous", "cuda", "detach", "double", "flip", "float", "half", "roll", "softmax", "swapaxes", "to",
    "transpose", "type_as",
})  # fmt: skip
"""Those that keep the number of dimensions."""
PARTS: Final = frozenset({"chunk", "split", "tensor_split"})
"""Those that give several tensors, with as many dimensions."""
PATTERNS: Final = "einops.rearrange"
"""Its pattern names the dimensions: `"b (h w) c -> b h w c"`."""


class Made(NamedTuple):
    """A call that made a value."""

    of: Value | None
    """What it is a method of; None for a function."""
    arguments: Sequence[CallArgument]


def dimensions(value: Value | None, made: Callable[[int], Made]) -> int | None:
    """The number of dimensions of a tensor; None where that isn't known.

    Args:
        value: in normal form.
        made: the call that made a value.
    """
    if isinstance(value, Member) and value.attr.startswith("["):
        return _of_item(value, made)
    name = _called(value)
    if not isinstance(value, Result) or value.site < 0 or not name:
        return None
    of, arguments = made(value.site)
    if value.of == Ref(PATTERNS):
        return _in_pattern([argument.value for argument in arguments[1:2]])
    if name in SHAPES and of is not None:
        return _told(arguments)
    return dimensions(of, made) if name in KEEP else None


def _of_item(value: Member, made: Callable[[int], Made]) -> int | None:
    """Of one tensor of several, or of a part of one: `qkv[0]`."""
    name, whole = _called(value.base), value.base
    if isinstance(whole, Result) and whole.site >= 0 and name in PARTS:
        return dimensions(made(whole.site).of, made)
    if isinstance(whole, Result) and whole.site >= 0 and name == "unbind":
        number = dimensions(made(whole.site).of, made)
    else:
        number = dimensions(whole, made) if value.attr[1:-1].isdecimal() else None
    return number - 1 if number is not None else None


def _called(value: Value | None) -> str:
    """The last component of the name of what gave a value."""
    of = value.of if isinstance(value, Result) else None
    return of.attr if isinstance(of, Member) else of.name.rpartition(".")[2] if isinstance(of, Ref) else ""


def _told(arguments: Sequence[CallArgument]) -> int | None:
    """How many dimensions a call is told: `view(a, b)`, `view((a, b))`."""
    if len(arguments) == 1:
        only = arguments[0].value
        return len(only.values) if isinstance(only, Items) else None
    return len(arguments) if arguments and not any(argument.name for argument in arguments) else None


def _in_pattern(patterns: Sequence[Value | None]) -> int | None:
    """How many dimensions the right side of a pattern names; those in parentheses become one."""
    text = patterns[0].value if patterns and isinstance(patterns[0], Const) else None
    if not isinstance(text, str) or text.count("->") != 1 or "..." in text:
        return None
    count, depth = 0, 0
    for word in text.partition("->")[2].replace("(", " ( ").replace(")", " ) ").split():
        count += depth == 0 and word != ")"
        depth += (word == "(") - (word == ")")
    return count
