"""An expression as it is written: layout, quotes and parentheses are this module's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.uses import Op

_BRACKETS: Final = {op.LIST: "[]", op.SET: "{}"}
_COLLECTS: Final = {"list": "[]", "set": "{}", "dict": "{}", "generator": "()"}
_BINDS: Final = {
    word: level
    for level, words in enumerate((
        ("if",), ("or",), ("and",), ("not",), (), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "@", "/", "//", "%"), ("~",),
        ("**",),
    ))
    for word in words
}  # fmt: skip
"""Operators -> how closely they bind."""
_COMPARES: Final = 4
_SIGN: Final = _BINDS["~"]
_CLOSEST: Final = 20
DEEPEST: Final = 24
LONGEST: Final = 200
"""Characters; what is deeper or longer isn't written out."""


class _Unwritten(Exception):
    """Something isn't written out."""


def written(function: Function, at: int) -> str:
    """An expression for people; `...` for what isn't written out."""
    return _Writer(function, {}, exact=False).whole(at)


def exactly(function: Function, at: int, names: Mapping[int, str] | None = None) -> str | None:
    """An expression that gives what a value is; None for comprehensions, lambdas and the like, and for what is long.

    Args:
        names: ops -> what stands for them.
    """
    try:
        return _Writer(function, names or {}, exact=True).whole(at)
    except _Unwritten:
        return None


class _Writer:
    def __init__(self, function: Function, names: Mapping[int, str], *, exact: bool) -> None:
        self.function = function
        self.ops = function.ops
        self.strings = function.strings
        self.names = names
        self.depth = 0
        self.exact = exact

    def whole(self, at: int) -> str:
        """A value."""
        if at in self.names:
            return self.names[at]
        operation = self.ops[at] if at >= 0 else (op.END,)
        writer = _WRITERS.get(operation[0]) if self.depth < DEEPEST else None
        if writer is None:
            return self.unwritten()
        self.depth += 1
        text = writer(self, at, operation)
        self.depth -= 1
        return text if len(text) <= LONGEST or not self.exact else self.unwritten()

    def unwritten(self) -> str:
        """What stands for what isn't written out."""
        if self.exact:
            raise _Unwritten
        return "..."

    def part(self, at: int, binds: int = _CLOSEST) -> str:
        """A value inside of another, in parentheses where that binds its parts more closely."""
        text = self.whole(at)
        return f"({text})" if at not in self.names and self.binds(at) < binds else text

    def binds(self, at: int) -> int:
        """How closely a value binds its parts."""
        operation = self.ops[at]
        code = operation[0]
        if code == op.UNARY:
            word = self.strings[operation[1]]
            return _BINDS["not"] if word == "not" else _SIGN
        if code in (op.BINARY, op.AUGMENT, op.CHOICE):
            return _BINDS[self.strings[operation[1]]]
        return _COMPARES if code in (op.COMPARE, op.AWAIT) else _CLOSEST

    def constant(self, at: int, operation: Op) -> str:
        value = self.function.constant(at)
        return "..." if value is ... else repr(value)

    def name(self, at: int, operation: Op) -> str:
        return self.function.text(operation[1])

    def attribute(self, at: int, operation: Op) -> str:
        return f"{self.part(operation[1])}.{self.strings[operation[2]]}"

    def item(self, at: int, operation: Op) -> str:
        return f"{self.part(operation[1])}[{self.whole(operation[2])}]"

    def slice(self, at: int, operation: Op) -> str:
        low, high, step = (self.whole(part) if part >= 0 else "" for part in operation[1:])
        return f"{low}:{high}:{step}" if step else f"{low}:{high}"

    def call(self, at: int, operation: Op) -> str:
        call = self.function.call(at)
        said = [*map(self.whole, call.positional)]
        said += [f"{name}={self.whole(value)}" for name, value in call.named.items()]
        said += [f"**{self.part(value)}" for value in call.unpacked]
        return f"{self.part(call.callee)}({', '.join(said)})"

    def unary(self, at: int, operation: Op) -> str:
        word = self.strings[operation[1]]
        return f"{word}{' ' if word == 'not' else ''}{self.part(operation[2], self.binds(at))}"

    def binary(self, at: int, operation: Op) -> str:
        binds = self.binds(at)
        left, right = self.part(operation[2], binds), self.part(operation[3], binds + 1)
        return f"{left} {self.strings[operation[1]]} {right}"

    def compare(self, at: int, operation: Op) -> str:
        left, right = self.part(operation[1], _COMPARES + 1), self.part(operation[3], _COMPARES + 1)
        return f"{left} {self.strings[operation[2]]} {right}"

    def choice(self, at: int, operation: Op) -> str:
        if self.strings[operation[1]] != "if":
            return self.binary(at, operation)
        then, asked = self.part(operation[2], 1), self.part(self.function.condition(at), 1)
        return f"{then} if {asked} else {self.part(operation[3], 0)}"

    def star(self, at: int, operation: Op) -> str:
        return f"*{self.part(operation[1])}"

    def awaited(self, at: int, operation: Op) -> str:
        return f"await {self.part(operation[1])}"

    def tuple(self, at: int, operation: Op) -> str:
        return f"({', '.join(map(self.whole, operation[1:]))}{',' if len(operation) == 2 else ''})"

    def display(self, at: int, operation: Op) -> str:
        brackets = _BRACKETS[operation[0]]
        return f"{brackets[0]}{', '.join(map(self.whole, operation[1:]))}{brackets[1]}"

    def mapping(self, at: int, operation: Op) -> str:
        pairs = zip(operation[1::2], operation[2::2], strict=True)
        said = (
            f"{self.whole(key)}: {self.whole(value)}" if key >= 0 else f"**{self.part(value)}" for key, value in pairs
        )
        return f"{{{', '.join(said)}}}"

    def text(self, at: int, operation: Op) -> str:
        parts = []
        for part in operation[1:]:
            if self.ops[part][0] != op.FORMAT:
                parts.append(str(self.function.constant(part)).replace("{", "{{").replace("}", "}}"))
                continue
            _, value, spec, conversion = self.ops[part]
            inner = self.part(value)
            kind = f"!{chr(conversion)}" if conversion >= 0 else ""
            if spec >= 0:
                kind += ":" + "".join(str(self.function.constant(item)) for item in self.ops[spec][1:])
            if not {"'", '"', "{", "unknown"}.isdisjoint(inner + kind):
                return self.unwritten()
            parts.append(f"{{{inner}{kind}}}")
        said = repr("".join(parts))
        return f"f{said}" if "\\" not in said else self.unwritten()

    def collected(self, at: int, operation: Op) -> str:
        parts, clauses, given = self.function.parts, list[str](), ""
        part = operation[2]
        while part < at - 1:
            part += 1
            code = self.ops[part][0]
            if code == op.COMPREHEND or (code == op.IF and self.ops[parts[part][-1] + 1][0] == op.CHOICE):
                part = parts[part][-1]
            elif code == op.FOR:
                first = "async for" if self.ops[part][2] else "for"
                clauses.append(f"{first} {self.target(part)} in {self.part(self.ops[part][1], 1)}")
            elif code == op.IF:
                clauses.append(f"if {self.part(self.ops[part][1], 1)}")
            elif code == op.GIVE:
                key, value = self.ops[part][1:]
                given = self.whole(key) if value < 0 else f"{self.whole(key)}: {self.whole(value)}"
        brackets = _COLLECTS[self.strings[operation[1]]]
        return f"{brackets[0]}{' '.join((given, *clauses))}{brackets[1]}"

    def target(self, loop: int) -> str:
        """What a `for` binds: a name, or several."""
        stores = [o for o in self.ops[loop + 1 : self.function.parts[loop][-1]] if o[0] == op.STORE]
        if stores and stores[0][2] == loop:
            return self.function.text(stores[0][1])
        parts = [
            o for o in stores if self.ops[o[2]][0] == op.PART and self.ops[o[2]][1] == loop and self.ops[o[2]][2] >= 0
        ]
        names = ", ".join(self.function.text(part[1]) for part in parts)
        return names if parts and len(parts) == self.ops[parts[0][2]][3] else self.unwritten()


_WRITERS: Final[dict[int, Callable[[_Writer, int, Op], str]]] = {
    op.CONST: _Writer.constant,
    op.LOAD: _Writer.name,
    op.ATTR: _Writer.attribute,
    op.ITEM: _Writer.item,
    op.SLICE: _Writer.slice,
    op.CALL: _Writer.call,
    op.UNARY: _Writer.unary,
    op.BINARY: _Writer.binary,
    op.AUGMENT: _Writer.binary,
    op.COMPARE: _Writer.compare,
    op.CHOICE: _Writer.choice,
    op.STAR: _Writer.star,
    op.AWAIT: _Writer.awaited,
    op.TUPLE: _Writer.tuple,
    op.LIST: _Writer.display,
    op.SET: _Writer.display,
    op.DICT: _Writer.mapping,
    op.TEXT: _Writer.text,
    op.COLLECT: _Writer.collected,
}
