"""What is said of the ops of a function is so whenever it runs: definitions that reach, tests that were passed, what is come to, and who
takes whose result."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ir_machine import Frame, Machine, finished
from ir_programs import Maker
from test_ir_meaning import PROGRAMS, Tell

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.exits import BEFORE, UNTOLD
from detlint.ir.lower import lower
from detlint.ir.uses import places


class Values(dict[int, Any]):
    """The results of a frame's ops, which note who takes them."""

    def __init__(self, recorder: Recorder, values: dict[int, Any]) -> None:
        super().__init__(values)
        self.recorder = recorder

    def __getitem__(self, key: int) -> Any:
        self.recorder.taken.add(key)
        return super().__getitem__(key)

    def get(self, key: int, default: Any = None) -> Any:
        self.recorder.taken.add(key)
        return super().get(key, default)

    def copy(self) -> Values:
        return Values(self.recorder, self)


FREE = {op.COMPREHEND, op.COLLECT}
"""What hands on by other ways than values."""
NOT_ALL = {
    op.CHOICE, op.PART, op.ASSERT, op.CAUGHT, op.MATCHES_VALUE, op.MATCHES_MAPPING, op.MATCHES_SINGLETON, op.MATCHES_CLASS, op.WITHOUT,
    op.ANNOTATE, op.ANNOTATE_ATTR, op.TYPE_PARAMETER, op.FUNCTION, op.CLASS, op.STAR_IMPORT,
}  # fmt: skip
"""What may do without some of its values."""


class Recorder(Machine):
    """A machine that compares what happens with what is said of it."""

    def __init__(self, code: Code, names: dict[str, Any]) -> None:
        super().__init__(code.ir, names)
        self.said = [*code.functions()]
        self.origins: dict[tuple[int, str], tuple[object, int, int]] = {}
        """Of a variable, with what holds it: the function and the op that have bound it."""
        self.wrong: list[str] = []
        self.reads = 0
        self.guarded = 0
        self.taken: set[int] = set()
        self.at: tuple[int, int] | None = None

    def fail(self, function: Function, at: int, what: str) -> None:
        self.wrong.append(
            f"{function.qualified}:{at} {op.NAMES[function.ops[at][0]]} at {function.spans[at][0]}: {what}"
        )

    def comes(self, frame: Frame, at: int) -> None:
        function = self.said[frame.code.number]
        if not isinstance(frame.values, Values):
            frame.values = Values(self, frame.values)
        if not function.flow.reached[at]:
            self.fail(function, at, "isn't reached")
        for guard in function.guards(at):
            self.guarded += 1
            if dict.get(frame.values, -2 - guard.test) != guard.holds:
                self.fail(function, at, f"passed {guard.test}, which wasn't {guard.holds}")
        operation = function.ops[at]
        if operation[0] in (op.IF, op.UNTIL):
            frame.values[-2 - operation[1]] = bool(dict.__getitem__(frame.values, operation[1]))
        self.taken = set()

    def value(self, frame: Frame, at: int, code: int, operands: list[int]) -> Any:
        function = self.said[frame.code.number]
        taken = self.taken
        if code == op.LOAD and frame.code.body.names[operands[0]].owner == frame.code.number:
            self.reads += 1
            self.check(frame, at, operands[0])
        made = super().value(frame, at, code, operands)
        if code == op.STORE:
            place, key, _ = self.place(frame, operands[0])
            self.origins[id(place), key] = place, frame.code.number, at
        elif code == op.STAR_IMPORT:
            found = vars(dict.__getitem__(frame.values, operands[0]))
            bound = {key for place, key in self.origins if place == id(self.names)}
            for key in bound & set(found.get("__all__", [name for name in found if name[0] != "_"])):
                self.origins[id(self.names), key] = self.names, frame.code.number, at
        said = {value for place in places(function.ops[at]) if (value := function.ops[at][place]) >= 0}
        if code == op.FUNCTION:
            header = self.ir.functions[operands[0]]
            said |= {parameter.default for parameter in header.parameters if parameter.default >= 0}
        found = {value for value in taken if value >= 0}
        if code not in FREE and not (found <= said if code in NOT_ALL else found == said):
            self.fail(function, at, f"takes {found}, not {said}")
        return made

    def delete(self, frame: Frame, slot: int) -> None:
        super().delete(frame, slot)
        place, key, _ = self.place(frame, slot)
        self.origins.pop((id(place), key), None)

    def check(self, frame: Frame, at: int, slot: int) -> None:
        """A name is read."""
        function = self.said[frame.code.number]
        place, key, around = self.place(frame, slot)
        _, number, definition = self.origins.get((id(place), key), (None, frame.code.number, BEFORE))
        if around and key not in place:
            definition = BEFORE
        said = function.flow.reaching.get(at, frozenset())
        deleted = definition == BEFORE and any(d >= 0 and function.ops[d][0] == op.DELETE for d in said)
        if not (UNTOLD in said or deleted or (number == frame.code.number and definition in said)):
            self.fail(function, at, f"{key} was bound by {(number, definition)}, not by one of {sorted(said)}")


class Open(Tell):
    """Whose managers let exceptions through, as is assumed of all."""

    @contextmanager
    def manager(self, value: object) -> Iterator[object]:
        self("enter", value)
        try:
            yield value
        finally:
            self("exit")


class Ways:
    """Makes programs of many ways, each of which is gone through or not as it comes."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.left = 40
        self.count = 0

    def value(self) -> str:
        name, other = self.random.choice("abc"), self.random.choice("abc")
        kinds = ["chosen()"] * 3 + [f"({name} := chosen())", f"(chosen() and ({name} := 3))", f"(chosen() or {name})"]
        kinds += [f"({name} if chosen() else {other})", f"any({name} for x in (1, 2) if ({other} := chosen()))"]
        return self.random.choice([*kinds, f"[{name} for {name} in (0, {other})]", f"(1 < chosen() < {name})"])

    def block(self, loops: bool, depth: int) -> list[str]:
        return ["  " + line for _ in range(self.random.randint(1, 3)) for line in self.statement(loops, depth + 1)]

    def statement(self, loops: bool = False, depth: int = 0) -> list[str]:
        self.left -= 1
        name, value = self.random.choice("abc"), self.value()
        simple = [
            f"{name} = {value}",
            f"{name} = 1",
            f"{name}",
            "tell(a, b, c)",
            f"{name} += 1",
            f"if {value}: raise ValueError",
        ]
        simple += [
            f"del {name}",
            f"g = ({name} + x for x in (1, 2))",
            "list(g)",
            "s()",
            f"if {value}: return",
            f"assert {value}",
        ]
        simple += ["break", "continue", f"if {value}: break", f"if {value}: continue"] * loops
        compound = ["if", "if", "for", "while", "try", "try", "with", "match"] if self.left > 0 and depth < 7 else []
        kind = self.random.choice(simple + compound * 2)
        return getattr(self, f"_{kind}")(value, loops, depth) if kind in compound else [kind]

    def _if(self, value: str, loops: bool, depth: int) -> list[str]:
        lines = [f"if {self.random.choice([value, value, '1', '0', 'True'])}:", *self.block(loops, depth)]
        for _ in range(self.random.choice([0, 0, 1, 2])):
            lines += [f"elif {self.value()}:", *self.block(loops, depth)]
        return [*lines, "else:", *self.block(loops, depth)] if self.random.random() < 0.5 else lines

    def _for(self, value: str, loops: bool, depth: int) -> list[str]:
        lines = [f"for {self.random.choice('abc')} in range(chosen()):", *self.block(True, depth)]
        return [*lines, "else:", *self.block(loops, depth)] if self.random.random() < 0.4 else lines

    def _while(self, value: str, loops: bool, depth: int) -> list[str]:
        lines = [
            f"while {self.random.choice([value, value, 'True', '0'])}:",
            "  if tired(): break",
            *self.block(True, depth),
        ]
        return [*lines, "else:", *self.block(loops, depth)] if self.random.random() < 0.4 else lines

    def _try(self, value: str, loops: bool, depth: int) -> list[str]:
        lines = ["try:", *self.block(loops, depth)]
        star = self.random.random() < 0.2 and sys.version_info >= (3, 11)
        for error in self.random.choice(
            [["ValueError"], ["ValueError as a", "Exception as b"], [f"({value}, KeyError)[1]", "NameError"], []]
        ):
            inside = ["  " + line for line in self.statement()] if star else self.block(loops, depth)
            inside = ["  pass"] if star and any("return" in line for line in inside) else inside
            lines += [f"except{'*' * star} {error}:", *inside]
        has_handlers = len(lines) > 1 and any(line.startswith("except") for line in lines)
        if has_handlers and self.random.random() < 0.4:
            lines += ["else:", *self.block(loops, depth)]
        return lines if has_handlers and self.random.random() < 0.5 else [*lines, "finally:", *self.block(loops, depth)]

    def _with(self, value: str, loops: bool, depth: int) -> list[str]:
        return [f"with tell.manager({value}) as {self.random.choice('abc')}:", *self.block(loops, depth)]

    def _match(self, value: str, loops: bool, depth: int) -> list[str]:
        lines = [f"match {value}, {self.random.choice('abc')}:"]
        for pattern in self.random.sample(
            ["(0, a)", "(a, b) if chosen()", "(1 | 2, _)", "(bool(), c)", "_ if b", "[*_, a]"], 2
        ):
            lines += [f" case {pattern}:", *self.block(loops, depth)]
        return [*lines, " case _:", *self.block(loops, depth)] if self.random.random() < 0.4 else lines

    def program(self) -> str:
        """Its text."""
        body = [f" {line}" for _ in range(6) for line in self.statement()]
        shared = f" def s():\n  nonlocal {self.random.choice('abc')}\n  {self.random.choice('abc')} = 7\n"
        shared = shared.replace("nonlocal", self.random.choice(["nonlocal", "nonlocal", "pass; global"]), 1)
        start = "def f(a, b):\n c = 0\n g = ()\n" + self.random.choice([" s = list\n", shared])
        run = "for r in range(5):\n try: f(1, 2)\n except Exception: pass\n"
        return start + "\n".join(body) + "\n" + run


def recorded(source: str, **names: Any) -> Recorder:
    """What happens as a program is run, which is as is said of it."""
    code = Code(lower(ast.parse(source)))
    recorder = Recorder(code, {"tell": Open(), "__name__": "program", **names})
    with suppress(Exception, KeyboardInterrupt):
        finished(recorder.block(Frame(recorder.codes[0], None), recorder.codes[0].items))
    assert not recorder.wrong, "\n".join(recorder.wrong[:10])
    return recorder


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_said_of_a_program_is_so(name: str) -> None:
    assert recorded(PROGRAMS[name]).reads > 5


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_so_it_is_of_any_program(seed: int) -> None:
    source = Maker(Random(seed)).program()
    try:
        compile(source, "program.py", "exec")
    except SyntaxError:
        assume(False)
    recorded(source)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_so_it_is_where_there_are_many_ways(seed: int) -> None:
    source = Ways(Random(seed)).program()
    try:
        compile(source, "program.py", "exec")
    except SyntaxError:
        assume(False)
    chance = Random(seed)
    recorded(source, chosen=lambda: chance.randint(0, 2), tired=lambda: chance.random() < 0.3)
