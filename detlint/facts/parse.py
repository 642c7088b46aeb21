"""Source to syntax tree; of a notebook, what can be parsed of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from detlint import counters
from detlint.facts.model import UNPARSABLE, Cell, Problem


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


@lru_cache(maxsize=16)
def tree(text: bytes) -> ast.Module | None:
    """The tree of a file, or of a part of one, for whoever looks closer at it; None where it can't be parsed. The latest are kept, as
    many sites ask for the same: nobody may change them."""
    parsed = parse(text)
    return parsed if isinstance(parsed, ast.Module) else None


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
