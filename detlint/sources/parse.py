"""Source to syntax tree; of a notebook, what can be parsed of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

import msgspec

from detlint import counters

UNPARSABLE: Final = "can't be parsed"
"""How the message begins about a file that Python can't read."""


class Problem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Why nothing is known of a file."""

    message: str
    line: int = 1
    column: int = 0

    @property
    def is_syntax(self) -> bool:
        """Whether Python can't read the file either."""
        return self.message.startswith(UNPARSABLE)


class Cell(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A code cell of a notebook. The code of all cells is joined, in their order, and read like one file."""

    line: int
    """The line at which it begins in the joined code, from 1."""
    number: int
    """Its position among the cells of all kinds, from 1, as ruff counts them."""
    margin: int = 0
    """How many columns were taken off its lines, where they were all indented."""


def module_of(source: bytes | str) -> ast.Module:
    """The tree of a file, or of statements out of one.

    Raises:
        SyntaxError, ValueError, LookupError, RecursionError, MemoryError: there is none.
    """
    counters.now.parses += 1
    return ast.parse(source)


def expression_of(source: bytes | str) -> ast.expr:
    """The tree of an expression.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: there is none.
    """
    counters.now.expressions += 1
    return ast.parse(source, mode="eval").body


def parse(source: bytes | str) -> ast.Module | Problem:
    """The tree of a source file, or why there is none. Never raises on account of the input."""
    try:
        return module_of(source)
    except SyntaxError as error:
        message = error.msg or "invalid syntax"
        if message.startswith(("Missing parentheses in call to", "multiple exception types")):
            message += " (Python 2?)"
        return Problem(f"{UNPARSABLE}: {message}", error.lineno or 1, max((error.offset or 1) - 1, 0))
    except (ValueError, LookupError) as error:
        return Problem(f"can't be parsed: {error}")
    except (RecursionError, MemoryError):
        return Problem("can't be parsed: it is nested too deeply")


def parsable(code: bytes, cells: Sequence[Cell]) -> tuple[bytes, tuple[Problem, ...]]:
    """A notebook's joined code without the cells that can't be parsed, of which empty lines are left; and why they can't."""
    if isinstance(parse(code), ast.Module):
        return code, ()
    from detlint.ipython import as_python_lines

    lines = code.decode().split("\n")
    problems = []
    for cell, after in zip(cells, [*(cell.line for cell in cells[1:]), len(lines)], strict=True):
        place = slice(cell.line - 1, after - 1)
        part = "\n".join(lines[place]).rstrip("\n")
        wrong = parse(part)
        if isinstance(wrong, Problem):
            part = as_python_lines(part, automagic=True)
            if isinstance(parse(part), Problem):
                part = ""
                problems.append(Problem(f"this cell {wrong.message}", cell.line + wrong.line - 1, wrong.column))
            rest = part.split("\n")
            lines[place] = [*rest, *[""] * (after - cell.line - len(rest))]
    return "\n".join(lines).encode(), tuple(problems)
