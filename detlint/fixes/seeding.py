"""Seeding a run: which statement, at which place, with which number."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from detlint.fixes.file import File, span_of
from detlint.fixes.names import top_imports
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Edit
from detlint.model.sites.records import Span
from detlint.sources.nodes import walk

SEED: Final = re.compile(r"(?:(?:random|manual|global|rng|base|train)_?)?seed", re.I)
"""What people call the number."""
OPTIONS: Final = frozenset({"ArgumentParser", "add_argument", "add_argument_group", "parse_args"})
"""What reads the command line."""


@dataclass(frozen=True)
class Seat:
    """Where a seeding statement goes.

    Attributes:
        after: the statement that it follows; None where it is the first of `body`.
        top: whether that is the module's top level.
        seed: the number, as source; "" where there is none to be used.
    """

    body: Sequence[ast.stmt]
    after: ast.stmt | None
    top: bool
    seed: str = ""


def beside(file: File, span: Span) -> Seat:
    """The seat behind a seeding call, with the seed that it gets.

    Raises:
        NoFix: it isn't a statement of its own, or what it gets can't stand twice.
    """
    stands = file.around(span)
    statement = next((node for node in reversed(stands) if isinstance(node, ast.stmt)), None)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise NoFix("the seeding call is no statement of its own")
    call = statement.value
    given = [k.value for k in call.keywords if k.arg is not None and SEED.fullmatch(k.arg)] or call.args[:1]
    if span_of(call) != span or not given or not _repeatable(given[0]):
        raise NoFix("which seed that call gets isn't plain")
    start, end = file.range(given[0])
    top = not any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in stands)
    return Seat([statement], statement, top, file.text.text[start:end])


def _repeatable(node: ast.expr) -> bool:
    """Whether an expression gives the same number again, and has no other effect."""
    allowed = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.Subscript)
    number = not isinstance(node, ast.Constant) or (isinstance(node.value, int) and not isinstance(node.value, bool))
    return number and all(isinstance(inner, allowed) for inner in walk(node))


def start(file: File, begins: Span, first: Span, then: Span | None) -> Seat:
    """The seat at the start of a run.

    Args:
        begins: where it starts.
        first: the first step that it takes to what draws, in the file that it starts in. A step that stands in a function
            which it doesn't start in is one of a callback: nobody knows when it is taken.
        then: the step after it, where that is in this file too.

    Raises:
        NoFix: the run draws before there is a place.
    """
    stands = _statements(file, first)
    if not stands:
        raise NoFix("where the run starts isn't known")
    begun = _statements(file, begins)
    if (
        begun
        and begun[0] is not stands[0]
        and isinstance(stands[0], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ):
        stands, first, then = begun, begins, None
    top = stands[0]
    if isinstance(top, ast.If) and _is_main(top):
        inner = stands[-1] if stands[-1] is not top else top.body[0] if len(top.body) == 1 else top
        seat, called = _in_body(file, top.body, first.line, False), _called(file, inner)
        if called is None or (seat.seed and seat.seed != _constant(file)):
            return seat
        inside = then is not None and _inside(called, then)
        return _in_function(file, called, then.line if then is not None and inside else _behind_options(called.body))
    if isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _in_function(file, top, first.line)
    if isinstance(top, (ast.Import, ast.ImportFrom, ast.ClassDef)):
        raise NoFix("it is drawn while modules are imported")
    return _in_body(file, file.tree.body, top.lineno, True)


def process(file: File, begins: Span) -> Seat:
    """The seat at the start of what another process runs.

    Args:
        begins: the first that it does.

    Raises:
        NoFix: that is no function with statements.
    """
    around = file.around(begins)
    functions = [node for node in around if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    if not functions or isinstance(functions[-1], ast.Lambda):
        raise NoFix("what the process runs is no function with statements")
    return _in_function(file, functions[-1], begins.line)


Import = ast.Import | ast.ImportFrom


def imports(file: File, roots: Collection[str]) -> bool:
    """Whether importing a file imports a library, which has one of some names."""
    return any(_is_of(node, roots) for node in top_imports(file.tree.body))


def _is_of(node: Import, roots: Collection[str]) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return not getattr(node, "level", 0) and any(name.partition(".")[0] in roots for name in names)


def imports_inside(file: File, path: str) -> bool:
    """Whether a file only imports another one in a function, or under a condition."""
    folder, name = os.path.split(os.path.splitext(path)[0])
    stem, always = os.path.basename(folder) if name == "__init__" else name, [*top_imports(file.tree.body)]
    found = [node for node in file.nodes if isinstance(node, Import) and stem in _parts(node)]
    return bool(found) and not any(node in always for node in found)


def _parts(node: Import) -> set[str]:
    module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
    return {part for name in (module, *(alias.name for alias in node.names)) for part in name.split(".")}


def import_around(file: File, roots: Collection[str], span: Span) -> Import | None:
    """The import of a library in a function, or under a condition, that holds for a place; None for none."""
    around = file.around(span)
    bodies = [body for node in around for _, body in ast.iter_fields(node) if isinstance(body, list)]
    found = [s for body in bodies for s in body if isinstance(s, Import) and _is_of(s, roots) and s.lineno < span.line]
    return found[-1] if found else None


def behind(file: File, statement: Import) -> Seat:
    """The seat right behind an import in a function, or under a condition."""
    option = _option(file)
    parsed = [name for node in file.nodes if isinstance(node, ast.stmt) and (name := _parsed(node))]
    functions = [n for n in file.around(span_of(statement)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    within = [s for s in functions[-1].body if _parsed(s) and s.lineno < statement.lineno] if functions else []
    seed = f"{parsed[0]}.{option}" if within and option is not None else _constant(file) or ""
    return Seat([statement], statement, False, seed)


def _statements(file: File, span: Span) -> list[ast.stmt]:
    return [node for node in file.around(span) if isinstance(node, ast.stmt)]


def _is_main(node: ast.If) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == "__name__" for inner in walk(node.test))


def _called(file: File, statement: ast.stmt) -> ast.FunctionDef | None:
    """The function of the file that a statement calls: `main()`, `sys.exit(main())`."""
    functions = {node.name: node for node in file.tree.body if isinstance(node, ast.FunctionDef)}
    for node in walk(statement) if isinstance(statement, ast.Expr) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
            return functions[node.func.id]
    return None


def _inside(node: ast.stmt, span: Span) -> bool:
    return node.lineno <= span.line <= (node.end_lineno or node.lineno)


def _in_function(file: File, function: ast.FunctionDef | ast.AsyncFunctionDef, before: int) -> Seat:
    seat = _in_body(file, function.body, before, False)
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    defaults = [None] * (len(arguments) - len(function.args.kwonlyargs) - len(function.args.defaults))
    given = [*defaults, *function.args.defaults, *function.args.kw_defaults]
    for argument, default in zip(arguments, given, strict=True):
        if SEED.fullmatch(argument.arg) and (default is None or _number(default)):
            return Seat(seat.body, seat.after, False, argument.arg)
    return seat


def _in_body(file: File, body: Sequence[ast.stmt], before: int, top: bool) -> Seat:
    """The seat in a list of statements, ahead of a line: behind what gives the seed, else as early as can be."""
    earlier = [statement for statement in body if (statement.end_lineno or statement.lineno) < before]
    for statement in earlier:
        parsed = _parsed(statement)
        if parsed is not None and (option := _option(file)) is not None:
            return Seat(body, statement, top, f"{parsed}.{option}")
        if (name := _constant_in(statement)) is not None:
            return Seat(body, statement, top, name)
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    last = body[0] if documented else None
    for statement in earlier:
        introduces = isinstance(statement, (ast.Import, ast.ImportFrom))
        if introduces or (top and isinstance(statement, ast.Try) and isinstance(statement.body[0], ast.Import)):
            last = statement
    return Seat(body, last, top, "" if top else _constant(file) or "")


def _option(file: File) -> str | None:
    """The attribute of the command line's seed, where it has a number by default."""
    for node in file.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            long = [name[2:].replace("-", "_") for name in names if name.startswith("--")]
            default = next((k.value for k in node.keywords if k.arg == "default"), None)
            if long and SEED.fullmatch(long[0]) and default is not None and _number(default):
                return next((k.value.value for k in node.keywords if k.arg == "dest"), long[0])  # type: ignore[attr-defined]
    return None


def _behind_options(body: Sequence[ast.stmt]) -> int:
    """The line of the first statement that does more than to describe the function and to read the command line."""
    for statement in body:
        value = getattr(statement, "value", None)
        function = getattr(value, "func", None)
        reads = getattr(function, "attr", getattr(function, "id", "")) in OPTIONS
        if (
            not reads
            and not isinstance(statement, (ast.Import, ast.ImportFrom))
            and not isinstance(value, ast.Constant)
        ):
            return statement.lineno
    return (body[-1].end_lineno or body[-1].lineno) + 1


def _parsed(statement: ast.stmt) -> str | None:
    """The name that a statement gives the parsed command line."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        call = statement.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "parse_args":
            return statement.targets[0].id
    return None


def _constant_in(statement: ast.stmt) -> str | None:
    """The name under which a statement keeps a number as the seed."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    target = statement.target if isinstance(statement, ast.AnnAssign) else target
    value = getattr(statement, "value", None)
    if isinstance(target, ast.Name) and SEED.fullmatch(target.id) and isinstance(value, ast.expr) and _number(value):
        return target.id
    return None


def _constant(file: File) -> str | None:
    return next((name for name in map(_constant_in, file.tree.body) if name is not None), None)


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)


def inserted(file: File, seat: Seat, statements: Sequence[str]) -> list[Edit]:
    """The edit that puts statements there.

    Raises:
        NoFix: they are there already, or the line has other statements too.
    """
    text = file.text
    known = {text.text[slice(*file.range(statement))] for statement in seat.body}
    if not known.isdisjoint(statements):
        raise NoFix("it is there already")
    if seat.after is None:
        first = seat.body[0]
        margin = text.line(first.lineno)[: text.offset(first.lineno, first.col_offset) - text.starts[first.lineno - 1]]
        if margin.strip() or text.continues(first.lineno):
            raise NoFix("the block stands on one line")
        lines = "".join(f"{margin}{statement}{text.newline}" for statement in statements)
        line = first.lineno
        while line > 1 and text.line(line - 1).startswith(f"{margin}#"):
            line -= 1  # comments above a statement are about it
        return [Edit(text.starts[line - 1], text.starts[line - 1], lines)]
    last, column = seat.after.end_lineno or seat.after.lineno, seat.after.end_col_offset or 0
    margin = text.line(seat.after.lineno)
    margin = margin[: text.offset(seat.after.lineno, seat.after.col_offset) - text.starts[seat.after.lineno - 1]]
    rest = text.line(last)[text.offset(last, column) - text.starts[last - 1] :]
    if margin.strip() or rest.partition("#")[0].strip() or text.continues(seat.after.lineno):
        raise NoFix("the line has other statements too")
    lines = "".join(f"{margin}{statement}{text.newline}" for statement in statements)
    place = text.starts[last - 1] + len(text.line(last))
    if not text.line(last).endswith(("\n", "\r")):
        lines = text.newline + lines.removesuffix(text.newline)
    if seat.top and isinstance(seat.after, (ast.Import, ast.ImportFrom)):
        lines = text.newline + lines
    return [Edit(place, place, lines)]
