"""The IR of a file, to be asked: functions by number, ops by place, where a name is bound.

Bodies are decoded, and their flow is found out, when somebody first asks for them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from detlint.ir import ops as op
from detlint.ir.body import UNKNOWN, VALUES, Binding, Call
from detlint.ir.function import Function
from detlint.ir.mentions import mentioned
from detlint.ir.records import FileIR
from detlint.ir.spans import Span, last_lines

__all__ = ["UNKNOWN", "VALUES", "Binding", "Call", "Code", "Function", "Span"]

_NOTHING: Final = ((), ())


class Code:
    """The IR of a file, to be asked."""

    def __init__(self, ir: FileIR) -> None:
        self.ir = ir
        self.strings = ir.strings
        self.constants = ir.constants
        self._functions: list[Function | None] = [None] * len(ir.functions)

    def function(self, number: int) -> Function:
        """A function by its number; 0 is the module's top level."""
        found = self._functions[number]
        if found is None:
            found = self._functions[number] = Function(self, number)
        return found

    @property
    def module(self) -> Function:
        """The top level."""
        return self.function(0)

    def functions(self) -> Iterator[Function]:
        """All functions, class bodies and the top level."""
        return map(self.function, range(len(self._functions)))

    def each_once(self) -> Iterator[Function]:
        """The same, for one look at each: those that nobody has asked for so far aren't kept."""
        return (found or Function(self, number) for number, found in enumerate(self._functions))

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[Function]]:
        """Qualified names -> the functions and class bodies of that name."""
        found: dict[str, list[Function]] = {}
        for function in self.functions():
            found.setdefault(function.qualified, []).append(function)
        return found

    @cached_property
    def defined(self) -> frozenset[Binding]:
        """The variables of the top level that definitions bind."""
        top = self.module
        made = ((operation[1], top.ops[operation[2]][0]) for _, operation in top.each(op.STORE))
        return frozenset(Binding(0, slot) for slot, code in made if code in (op.FUNCTION, op.CLASS))

    def inside(self, number: int) -> Iterator[Function]:
        """A function with those that stand in it."""
        waiting = deque([number])
        while waiting:
            found = waiting.popleft()
            yield self.function(found)
            waiting += self.children.get(found, ())

    @cached_property
    def children(self) -> Mapping[int, Sequence[int]]:
        """Functions -> those that stand in them, but in none that does."""
        found: dict[int, list[int]] = {}
        for number, header in enumerate(self.ir.functions):
            found.setdefault(header.parent, []).append(number)
        return found

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """All names that its code has: of variables, attributes, keywords, modules by their parts. Not what its texts say."""
        return frozenset(part for text in self.strings for part in text.split("."))

    @cached_property
    def mentions(self) -> Counter[str]:
        """How often its code has each name: of variables that are bound or read, definitions, parameters, attributes, keywords and parts
        of what is imported; and how often a constant is one, or has it as a part of a dotted name."""
        found = Counter(name for function in self.functions() for name in mentioned(function))
        found.update(
            part for constant in self.constants if isinstance(constant, str) for part in {*constant.split(".")}
        )
        return found

    @cached_property
    def texts(self) -> frozenset[str]:
        """All texts that are written out in its code."""
        return frozenset(constant for constant in self.constants if isinstance(constant, str))

    @cached_property
    def attributes(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """The ops that read, set or delete attributes, by the names of these: the numbers of their functions, and they."""
        found: dict[str, list[tuple[int, int]]] = {}
        for function in self.each_once():
            for at, operation in function.each(op.ATTR, op.SET_ATTR, op.DELETE_ATTR):
                found.setdefault(self.strings[operation[2]], []).append((function.number, at))
        return found

    def at(self, span: Span, *codes: int) -> tuple[Function, int] | None:
        """The op of some codes, or of any, that stands at a place; None for none."""
        for function in self._latest_first:
            if (function.number and function.header.line > span[0]) or self._last_lines[function.number] < span[2]:
                continue
            for at in function.spans.at(*span[:2]):
                if function.spans[at] == span and (not codes or function.ops[at][0] in codes):
                    return function, at
        return None

    def covering(
        self, line: int, column: int, counts: Callable[[Function, int], bool] | None = None
    ) -> tuple[Function, int] | None:
        """The smallest op that holds a place, in the innermost function that has one.

        Args:
            counts: which ops are meant; None for all.
        """
        for function in self._latest_first:
            if (function.number and function.header.line > line) or self._last_lines[function.number] < line:
                continue
            spans = function.spans
            holding = [n for n, span in enumerate(spans) if span[:2] <= (line, column) < span[2:]]
            if counts is not None:
                holding = [n for n in holding if counts(function, n)]
            if holding:
                return function, min(holding, key=lambda n: (spans[n][2] - spans[n][0], spans[n][3] - spans[n][1]))
        return None

    @cached_property
    def _latest_first(self) -> Sequence[Function]:
        """All functions, those that begin later before the others."""
        return sorted(self.functions(), key=lambda function: (function.header.line, function.number), reverse=True)

    @cached_property
    def _last_lines(self) -> Sequence[int]:
        return last_lines(self.ir)

    def same_attribute(self, function: Function, at: int) -> Iterator[tuple[Function, int]]:
        """The ops that read the attribute which an op reads, or sets, of what has the same dotted name: `self.files`."""
        _, base, name = function.ops[at][:3]
        for number, other in self.attributes.get(self.strings[name], ()):
            reader = self.function(number)
            operation = reader.ops[other]
            if operation[0] == op.ATTR and reader.dotted(operation[1]) == function.dotted(base):
                yield reader, other

    def setters(self, attribute: str) -> Iterator[tuple[Function, int]]:
        """The ops that set an attribute of that name, of whatever object."""
        for number, at in self.attributes.get(attribute, ()):
            function = self.function(number)
            if function.ops[at][0] != op.ATTR:
                yield function, at

    @cached_property
    def _variables(self) -> Mapping[Binding, tuple[list[tuple[Function, int]], list[tuple[Function, int]]]]:
        """Variables -> the ops that bind or delete them, and those that read them."""
        found: dict[Binding, tuple[list[tuple[Function, int]], list[tuple[Function, int]]]] = {}
        for function in self.functions():
            bindings = [*map(function.binding, range(len(function.names)))]
            for at, operation in function.each(op.LOAD, op.STORE, op.DELETE):
                uses = found.setdefault(bindings[operation[1]], ([], []))
                uses[operation[0] == op.LOAD].append((function, at))
        return found

    def stores(self, binding: Binding) -> Sequence[tuple[Function, int]]:
        """The ops that bind a variable, or delete it, in whichever function."""
        return self._variables.get(binding, _NOTHING)[0]

    def reads(self, binding: Binding) -> Sequence[tuple[Function, int]]:
        """The ops that read a variable, in whichever function."""
        return self._variables.get(binding, _NOTHING)[1]
