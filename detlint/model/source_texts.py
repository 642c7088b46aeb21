"""Sources in C++ and CUDA that are texts in Python: where these are written out, and what adds atomically in one.

What it may assume: holes of a text, `{{type}}`, are filled by names or expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.cpp import lower
from detlint.ir.places import Place
from detlint.model.kernel_numbers import Terms
from detlint.model.source_holes import filled
from detlint.model.sources import Atomic, Source
from detlint.sources.cpp_text import may_add

KERNEL: Final = "__global__"
"""What is in a text that is the source of a kernel, and no statements alone."""
DEEPEST: Final = 4
"""So many names may stand for one another."""


class Text(NamedTuple):
    """A text that is written out in Python."""

    place: Place
    text: str

    def line(self, atomic: Atomic) -> int:
        """The line of the file in which a line of the text stands; -1 where its lines aren't those of the file."""
        first, _, last, _ = self.place.function.span(self.place.at)
        return first + atomic.line - 1 if last - first == self.text.count("\n") else -1


def written(function: Function, value: int, depth: int = 0) -> Iterator[Text]:
    """The texts of which a value is made, also by names."""
    parts = set[int]()
    for at in function.made_of(value) if depth < DEEPEST else ():
        operation = function.ops[at]
        text = text_at(function, at) if at not in parts else None
        if text is not None:
            parts.update(operation[1:] if operation[0] == op.TEXT else ())
            yield text
        elif operation[0] == op.LOAD and function.binding(operation[1]).owner != function.number:
            for around, stored in function.code.stores(function.binding(operation[1])):
                if around.ops[stored][0] == op.STORE:
                    yield from written(around, around.ops[stored][2], depth + 1)


def text_at(function: Function, at: int) -> Text | None:
    """The text that an op is, with names for its holes; None for any other op."""
    operation = function.ops[at]
    if operation[0] == op.TEXT:
        made = "".join(_part(function, value) for value in operation[1:])
        return Text(Place(function, at), filled(function, at, made))
    constant = function.constant(at) if operation[0] == op.CONST else None
    return Text(Place(function, at), filled(function, at, constant)) if isinstance(constant, str) else None


def _part(function: Function, value: int) -> str:
    """A part of a text: what is written out, or what fills the hole, a name for what isn't known."""
    filled = function.ops[value][1] if function.ops[value][0] == op.FORMAT else value
    constant = function.constant(function.meant(filled))
    name = function.dotted(filled).rpartition(".")[2]
    return constant if isinstance(constant, str) else name if name.isidentifier() else "hole"


def kernels_of(code: Code) -> Iterator[Text]:
    """The texts of a file that are sources of kernels."""
    for function in code.functions():
        parts = {value for _, operation in function.each(op.TEXT) for value in operation[1:]}
        for at, _ in function.each(op.CONST, op.TEXT):
            text = text_at(function, at) if at not in parts else None
            if text is not None and KERNEL in text.text:
                yield text


def atomics_of(terms: Terms, text: str, declared: Sequence[str] = ()) -> list[Atomic]:
    """What adds atomically in a source that stands alone, or in statements: the body of a function. Holes, `{{type}}`, are names.

    Args:
        declared: the parameters of a kernel for elements of which this is the body, `raw float32 y, int32 n`.
    """
    begin, *holes = text.split("{{")
    parts = (hole.partition("}}") for hole in holes)
    text = begin + "".join(
        name + rest if name.isidentifier() else "{{" + name + end + rest for name, end, rest in parts
    )
    body = f"{_kernel(declared)} {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {text}; }}"
    sources = (text,) if KERNEL in text else (body,) if declared else (text, f"void body() {{ {text}; }}")
    for source in sources if may_add(text.encode("utf-8", "replace")) else ():
        ir = lower(source.encode("utf-8", "replace"))
        found = [a for a in Source(terms, Code(ir)).atomics() if not a.is_counter] if ir is not None else []
        if found:
            return found
    return []


def _kernel(declared: Sequence[str]) -> str:
    """The head of a kernel for elements in C++: `raw T x` is an array, a type of one letter any type."""
    words = [words for part in declared for each in part.split(",") if len(words := each.split()) > 1]
    given = ", ".join(f"{each[-2]}{'*' * ('raw' in each)} {each[-1]}" for each in words)
    types = ", ".join(f"typename {name}" for name in dict.fromkeys(each[-2] for each in words) if len(name) == 1)
    return f"template <{types}> __global__ void body({given})"
