"""How many dimensions a tensor surely has, by the calls that gave it its shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detlint.model.sites.records import Arg, Const, Items, Member, Ref, Result, Site, Value

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


def dimensions(value: Value | None, sites: Sequence[Site]) -> int | None:
    """The number of dimensions of a tensor; None where that isn't known.

    Args:
        value: as the file has it.
        sites: the file's.
    """
    if isinstance(value, Member) and value.attr.startswith("["):
        return _of_item(value, sites)
    if not isinstance(value, Result) or value.site < 0:
        return None
    if value.of == Ref(PATTERNS):
        return _in_pattern([argument.value for argument in sites[value.site].args[1:2]])
    if not isinstance(value.of, Member):
        return None
    if value.of.attr in SHAPES:
        return _told(sites[value.site].args)
    return dimensions(value.of.base, sites) if value.of.attr in KEEP else None


def _of_item(value: Member, sites: Sequence[Site]) -> int | None:
    """Of one tensor of several, or of a part of one: `qkv[0]`."""
    made = value.base.of if isinstance(value.base, Result) and isinstance(value.base.of, Member) else None
    if made is not None and made.attr in PARTS:
        return dimensions(made.base, sites)
    whole = made.base if made is not None and made.attr == "unbind" else value.base
    number = dimensions(whole, sites) if value.attr[1:-1].isdecimal() else None
    return number - 1 if number is not None else None


def _told(arguments: Sequence[Arg]) -> int | None:
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
