"""Macros that make kernels: `#define KERNEL(NAME, T, ADD) __global__ void NAME(T* x) { ADD(x, 1); }`.

Such a kernel is read where the macro stands, with the macro's parameters for names. What each is in some place that uses the macro is what
that name stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

KERNEL: Final = b"__global__"
_OPENING: Final = frozenset({"(", "[", "{"})
_CLOSING: Final = frozenset({")", "]", "}"})


def said(value: Node | None) -> str:
    """What a macro stands for, on one line, but for the comment behind it."""
    text = (value.text or b"") if value is not None else b""
    return text.decode("utf-8", "replace").replace("\\\n", " ").partition("//")[0]


def written_out(value: Node) -> bytes:
    """What a macro makes, on the lines on which it stands; what is pasted together, `name##T`, is one word."""
    begin = value.start_point
    text = (value.text or b"").replace(b"##", b"__").replace(b"\\\n", b" \n")
    return b"\n" * begin[0] + b" " * begin[1] + text


def uses(root: Node, name: bytes) -> Iterator[Sequence[bytes]]:
    """What a macro is handed where it is used."""
    waiting, depth, handed = [root], 0, list[bytes]()
    before = b""
    while waiting:
        node = waiting.pop()
        if node.children and node.type != "preproc_function_def":
            waiting += node.children[::-1]
            continue
        word = node.text or b""
        if depth or (before == name and word == b"("):
            depth += (node.type in _OPENING) - (node.type in _CLOSING)
            if not depth:
                yield handed
            elif depth == 1 and word in (b"(", b","):
                handed = [*(handed if word == b"," else ()), b""]
            else:
                handed[-1] += word
        before = word
