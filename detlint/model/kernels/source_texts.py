"""Sources in C++ and CUDA that are texts in Python: where these are written out, and what adds atomically in one.

What it may assume: holes of a text, `{{type}}`, are filled by names or expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import UNKNOWN, Code, Function
from detlint.ir.cpp import lower
from detlint.ir.cpp_text import may_add
from detlint.ir.places import Place
from detlint.model.kernels.numbers import Terms
from detlint.model.kernels.python import Kernels
from detlint.model.kernels.source_adders import is_macro
from detlint.model.kernels.source_holes import filled
from detlint.model.kernels.source_races import lost
from detlint.model.kernels.sources import Atomic, Source
from detlint.model.meaning import Meaning

KERNEL: Final = "__global__"
"""What is in a text that is the source of a kernel, and no statements alone."""
MOST_PARTS: Final = 24
"""So deep are texts put together."""
MOST: Final = 1 << 17
"""So long do they get."""
MOST_KEPT: Final = 256
"""So many texts are remembered."""
_STATEMENT: Final = frozenset(";{}\n")
"""What is in a statement, or on several lines."""
_OF: Final = frozenset({op.AWAIT, op.FORMAT, op.ITEM, op.PART, op.STAR})
"""What is a text that its first value is, or has."""
_SAME: Final = frozenset(
    {"format", "format_map", "lstrip", "replace", "rstrip", "safe_substitute", "strip", "substitute"}
)
"""Methods that fill in texts, or take blanks from them."""


class Text(NamedTuple):
    """A text that is written out in Python."""

    place: Place
    text: str
    path: str = ""
    """The file that it stands in."""

    def line(self, number: int) -> int:
        """The line of the file in which a line of the text stands; -1 where its lines aren't those of the file."""
        first, _, last, _ = self.place.function.span(self.place.at)
        return first + number - 1 if last - first == self.text.count("\n") else -1


class Part(NamedTuple):
    """A text that is a part of a longer one."""

    begin: tuple[int, int]
    """The line and column of the longer one at which it begins, counted from 1 and 0."""
    text: Text
    line: int
    """The line of the text with which it does."""


Key = tuple[str, int, int]
"""A value: its file, its function, and which it is."""
Value = tuple[Meaning, Function, int]


class Whole:
    """A text that is put together of others."""

    def __init__(self) -> None:
        self.text = ""
        self.parts: list[Part] = []

    def add(self, more: str, text: Text | None = None, line: int = 1) -> None:
        """Put something behind it: a part of a text that is written out, from a line of that on."""
        if text is not None:
            begin = self.text.count("\n") + 1, len(self.text) - self.text.rfind("\n") - 1
            self.parts.append(Part(begin, text, line))
        self.text += more

    def part(self, atomic: Atomic) -> tuple[Text, int] | None:
        """The text in which something stands, and the line of that."""
        line, column, *_ = atomic.place.function.span(atomic.place.at)
        part = next((part for part in reversed(self.parts) if part.begin <= (line, column)), None)
        return (part.text, part.line + line - part.begin[0]) if part is not None else None


class Texts:
    """Puts texts together that values are, as a program does."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels

    def of(self, meaning: Meaning, function: Function, value: int) -> Whole:
        """The text that a value is, with names for what isn't known; where it may be one of several, all of them."""
        whole = Whole()
        self._put(whole, meaning, function, value, [])
        return whole

    def _put(self, whole: Whole, meaning: Meaning, function: Function, at: int, above: Sequence[Key]) -> None:
        """Put what a value is behind a text.

        Args:
            above: the values that it is a part of.
        """
        key, operation = (meaning.path, function.number, at), function.ops[at]
        if key in above or len(above) > MOST_PARTS or len(whole.text) > MOST:
            return
        above = [*above, key]
        if operation[0] == op.TEXT:
            self._put_formatted(whole, meaning, function, at, above)
        elif (text := text_at(function, at)) is not None:
            whole.add(text.text, text._replace(path=meaning.path))
        elif operation[0] == op.CALL:
            self._put_called(whole, meaning, function, at, above)
        elif operation[0] == op.LOAD:
            self._put_named(whole, meaning, function, at, above)
        elif operation[0] == op.CHOICE:
            self._put_one_of(whole, [(meaning, function, part) for part in operation[2:4]], above)
        elif operation[0] == op.PART and function.ops[operation[1]][0] == op.CALL:
            self._put_called(whole, meaning, function, operation[1], above, operation[2])
        else:
            for part in self._parts(function, at):
                self._put(whole, meaning, function, part, above)

    def _put_one_of(self, whole: Whole, values: Iterable[Value], above: Sequence[Key]) -> None:
        """Put what a value is that may be one of several: all of them, unless they are but names or expressions."""
        for meaning, function, value in values:
            begin = len(whole.text)
            self._put(whole, meaning, function, value, above)
            if len(whole.text) > begin and _STATEMENT.isdisjoint(whole.text[begin:]):
                break

    def _parts(self, function: Function, at: int) -> Sequence[int]:
        """The values of which an op puts a text together."""
        operation = function.ops[at]
        if operation[0] in (op.BINARY, op.AUGMENT):
            return operation[2:4] if function.strings[operation[1]] == "+" else operation[2:3]
        if operation[0] == op.COLLECT:
            begin, end = operation[2], function.parts[operation[2]][-1]
            return [given[1] for n, given in function.each(op.GIVE) if begin < n < end]
        if operation[0] == op.DICT:
            return operation[2::2]
        return operation[1:] if operation[0] in (op.LIST, op.TUPLE) else operation[1:2] if operation[0] in _OF else ()

    def _put_formatted(self, whole: Whole, meaning: Meaning, function: Function, at: int, above: Sequence[Key]) -> None:
        """`f"{begin} atomicAdd(&out[{place}], x);"`"""
        made, line = text_at(function, at), 1
        text = Text(Place(function, at), made.text if made is not None else "", meaning.path)
        for value in function.ops[at][1:]:
            filled = function.ops[value][1] if function.ops[value][0] == op.FORMAT else -1
            begin = len(whole.text)
            if filled >= 0 and function.constant(function.meant(filled)) is UNKNOWN:
                self._put(whole, meaning, function, filled, above)
            if len(whole.text) == begin:
                said = part_of(function, value)
                whole.add(said, text, line)
                line += said.count("\n")

    def _part_of(self, meaning: Meaning, function: Function, value: int, number: int) -> Value:
        """One of several values that a function gives back, or all."""
        operation = function.ops[function.meant(value)]
        several = operation[0] == op.TUPLE and 0 <= number < len(operation) - 1
        return meaning, function, operation[1 + number] if several else value

    def _put_called(
        self, whole: Whole, meaning: Meaning, function: Function, at: int, above: Sequence[Key], number: int = -1
    ) -> None:
        """What a call gives: `"\\n".join(lines)`, `text.format(n)`, `dedent(text)`, what a function of the program returns."""
        given, on = function.call(at).positional, function.called_on(at)
        if function.called(at) == "join" and on >= 0 and given:
            between, begin = function.constant(function.meant(on)), len(whole.text)
            for part in self._listed(function, given[0]):
                whole.add(between if isinstance(between, str) and len(whole.text) > begin else "")
                self._put(whole, meaning, function, part, above)
            return
        called = self._kernels.called(meaning, function, at)
        if called:
            made = [
                (other, each, given[1]) for other, each in called for _, given in each.each(op.RETURN) if given[1] >= 0
            ]
            self._put_one_of(whole, (self._part_of(*value, number) for value in made), above)
            return
        if on >= 0 and function.called(at) in _SAME:
            self._put(whole, meaning, function, on, above)
        elif given and function.called(at) in ("Template", "dedent", "str"):
            self._put(whole, meaning, function, given[0], above)

    def _listed(self, function: Function, value: int) -> list[int]:
        """What a list has in it, also what is appended to it."""
        values, operation = list[int](), function.ops[value]
        for made in (function.stored(value) or ()) if operation[0] == op.LOAD else (value,):
            values += self._parts(function, made) if function.ops[made][0] != op.CALL else [made]
        for call, _ in function.each(op.CALL) if operation[0] == op.LOAD else ():
            on = function.called_on(call)
            if on >= 0 and function.ops[on] == operation and function.called(call) in ("append", "extend", "insert"):
                values += function.call(call).positional[-1:]
        return values

    def _put_named(self, whole: Whole, meaning: Meaning, function: Function, at: int, above: Sequence[Key]) -> None:
        """What a name is that something was kept under; a name that nothing is known of stands for itself."""
        begin, binding = len(whole.text), function.binding(function.ops[at][1])
        if binding.owner == function.number and function.number:
            kept = [(function, value) for value in self._put_one_by_one(function, at)]
        else:
            stores = function.code.stores(binding)
            kept = [(around, around.ops[n][2]) for around, n in stores if around.ops[n][0] == op.STORE]
        self._put_one_of(whole, [(meaning, *value) for value in kept], above)
        if len(whole.text) == begin and len(above) > 1:
            whole.add(part_of(function, at))

    def _put_one_by_one(self, function: Function, at: int) -> list[int]:
        """What is put under a name, and what is added to it, in order: `text = a`, `text += b`, `text = text + c`."""
        waiting, found = [at], dict[int, int]()
        for load in waiting:  # grows meanwhile
            for n in function.flow.reaching.get(load, ()):
                store = function.ops[n] if n >= 0 else (op.END,)
                if store[0] != op.STORE or n in found:
                    continue
                made = function.ops[store[2]]
                adds = made[0] in (op.AUGMENT, op.BINARY) and function.strings[made[1]] == "+"
                own = adds and function.ops[made[2]] == function.ops[at]
                found[n] = made[3] if own else store[2]
                waiting += made[2:3] if own else ()
        return [found[n] for n in sorted(found)]


def text_at(function: Function, at: int) -> Text | None:
    """The text that an op is, with names for its holes; None for any other op."""
    operation = function.ops[at]
    if operation[0] == op.TEXT:
        made = "".join(part_of(function, value) for value in operation[1:])
        return Text(Place(function, at), filled(function, at, made))
    constant = function.constant(at) if operation[0] == op.CONST else None
    return Text(Place(function, at), filled(function, at, constant)) if isinstance(constant, str) else None


def part_of(function: Function, value: int) -> str:
    """A part of a text: what is written out, or what fills the hole, a name for what isn't known."""
    filled = function.ops[value][1] if function.ops[value][0] == op.FORMAT else value
    constant = function.constant(function.meant(filled))
    name = function.dotted(filled).rpartition(".")[2]
    return constant if isinstance(constant, str) else name if name.isidentifier() else "hole"


def may_be_there(texts: Iterable[str]) -> bool:
    """Whether one of some texts may be the source of a kernel."""
    return any(KERNEL in text or (";" in text and may_add(text.encode("utf-8", "replace"))) for text in texts)


@lru_cache(MOST_KEPT)
def is_source(text: str) -> bool:
    """Whether a text is a source by itself: it says so, or defines a function."""
    if KERNEL in text:
        return True
    if not ("{" in text and may_be_there((text,))):
        return False
    ir = lower(_without_holes(text).encode("utf-8", "replace"))
    functions = Code(ir).functions() if ir is not None else ()
    return any(each.number and not (each.is_class or is_macro(each)) for each in functions)


def kernels_of(code: Code) -> Iterator[Text]:
    """The texts of a file that are sources of kernels."""
    for function in code.functions():
        parts = {value for _, operation in function.each(op.TEXT) for value in operation[1:]}
        for at, _ in function.each(op.CONST, op.TEXT):
            text = text_at(function, at) if at not in parts else None
            if text is not None and is_source(text.text):
                yield text


def _without_holes(text: str) -> str:
    """A text with names for `{{type}}`."""
    begin, *holes = text.split("{{")
    parts = (hole.partition("}}") for hole in holes)
    return begin + "".join(
        name + rest if name.isidentifier() else "{{" + name + end + rest for name, end, rest in parts
    )


def atomics_of(terms: Terms, text: str, declared: Sequence[str] = ()) -> list[Atomic]:
    """What adds atomically in a source that stands alone, or in statements: the body of a function. Holes, `{{type}}`, are names.

    Args:
        declared: the parameters of a kernel for elements of which this is the body, `raw float32 y, int32 n`.
    """
    text = _without_holes(text)
    body = f"{_kernel(declared)} {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {text}; }}"
    sources = (text,) if is_source(text) else (body,) if declared else (text, f"void body() {{ {text}; }}")
    for said in sources if KERNEL in text or may_add(text.encode("utf-8", "replace")) else ():
        ir = lower(said.encode("utf-8", "replace"))
        source = Source(terms, Code(ir)) if ir is not None else None
        found = [a for a in (*source.atomics(), *lost(source)) if not a.is_counter] if source is not None else []
        if found:
            return found
    return []


def _kernel(declared: Sequence[str]) -> str:
    """The head of a kernel for elements in C++: `raw T x` is an array, a type of one letter any type."""
    words = [words for part in declared for each in part.split(",") if len(words := each.split()) > 1]
    given = ", ".join(f"{each[-2]}{'*' * ('raw' in each)} {each[-1]}" for each in words)
    types = ", ".join(f"typename {name}" for name in dict.fromkeys(each[-2] for each in words) if len(name) == 1)
    return f"template <{types}> __global__ void body({given})"
