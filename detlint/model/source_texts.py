"""Sources in C++ and CUDA that are texts in Python: where these are written out, and what adds atomically in one.

What it may assume: holes of a text, `{{type}}`, are filled by names or expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.cpp import lower
from detlint.ir.places import Place
from detlint.model.kernel_numbers import Terms
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
    for at in function.made_of(value) if depth < DEEPEST else ():
        constant, operation = function.constant(at), function.ops[at]
        if isinstance(constant, str):
            yield Text(Place(function, at), constant)
        elif operation[0] == op.LOAD and function.binding(operation[1]).owner != function.number:
            for around, stored in function.code.stores(function.binding(operation[1])):
                if around.ops[stored][0] == op.STORE:
                    yield from written(around, around.ops[stored][2], depth + 1)


def atomics_of(terms: Terms, text: str) -> list[Atomic]:
    """What adds atomically in a source that stands alone, or in statements: the body of a function. Holes, `{{type}}`, are names."""
    begin, *holes = text.split("{{")
    parts = (hole.partition("}}") for hole in holes)
    text = begin + "".join(
        name + rest if name.isidentifier() else "{{" + name + end + rest for name, end, rest in parts
    )
    sources = (text,) if KERNEL in text else (text, f"void body() {{ {text}; }}")
    for source in sources if may_add(text.encode("utf-8", "replace")) else ():
        ir = lower(source.encode("utf-8", "replace"))
        found = [a for a in Source(terms, Code(ir)).atomics() if not a.is_counter] if ir is not None else []
        if found:
            return found
    return []
