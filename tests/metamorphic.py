"""Transformations of files after which a project means what it meant, and a name for each place that they keep.

Two programs that mean the same get the same verdict. A transformation takes the text of a Python file,
or of a notebook's cell, and gives another; one that can't do anything with it gives it back as it is.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, count, groupby, pairwise, repeat
from pathlib import Path

import black
from black.parsing import InvalidInput
from conftest import REPOSITORY, Told

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Transformation = Callable[[str], str]
Place = tuple[str, int]
"""The top-level function or class that a place stands in, "" for none, and the number of the word in it."""

RULES = REPOSITORY / "rules"
WORDS = (
    "optimizer = Adam(); net.train(); loss.backward(); optimizer.step(); Ascend npu hccl cuda nccl gpu tpu; manual_seed(0), "
    "seed_everything, deterministic=True, DataLoader, dropout, inference, evaluate, test, python train.py --device npu"
)
"""What a verdict must not rest on where it stands in prose."""
HASH_COMMENTS = {".py", ".yaml", ".yml", ".toml", ".cfg", ".sh", ".slurm"}
"""The suffixes of files in which a number sign begins a comment."""
MARK = re.compile(r"[ \t]*#\s*expect:.*")
BESIDE_THE_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
READS_ITS_NAMES = {"locals", "vars", "eval", "exec", "dir"}
READS_ITS_DOCSTRINGS = re.compile("__doc__|docopt|doctest")
Function = ast.FunctionDef | ast.AsyncFunctionDef


# -- transformations --------------------------------------------------------------------------------------------------


def commented(text: str) -> str:
    """A comment at the end."""
    return b"".join([*lines_of(text), f"# {WORDS}\n".encode()]).decode()


def laid_out(text: str) -> str:
    """As Black lays it out in 60 columns."""
    try:
        return black.format_str(text, mode=black.Mode(line_length=60))
    except InvalidInput:
        return text


def renamed(text: str) -> str:
    """Other names for the local variables of functions, which say nothing."""
    tree = parsed(text)
    if tree is None:
        return text
    nodes = [*ast.walk(tree)]
    written = {word for node in nodes for word in words_in_strings(node)}
    fresh = (name for n in count(1) if (name := f"v{n}") not in text)
    edits: dict[tuple[int, int], tuple[int, str]] = {}
    for function in (node for node in nodes if isinstance(node, Function)):
        uses = [node for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)]
        if function.decorator_list or READS_ITS_NAMES & {use.id for use in uses}:
            continue  # a decorator may read the names, as sacred's do
        new = dict(zip(sorted(own_names(function) - written), fresh, strict=False))
        edits |= {(use.lineno, use.col_offset): (len(use.id), new[use.id]) for use in uses if use.id in new}
    lines = lines_of(text)
    for (row, column), (length, name) in sorted(edits.items(), reverse=True):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + name.encode() + line[column + length :]
    return b"".join(lines).decode()


def reordered(text: str) -> str:
    """Functions that follow on one another at the top level, from the last to the first."""
    tree = parsed(text)
    if tree is None:
        return text
    late = "from __future__ import annotations" in text
    lines, result, end = lines_of(text), list[bytes](), 0
    for movable, group in groupby(tree.body, lambda node: isinstance(node, Function) and is_movable(node, late)):
        functions = [node for node in group if isinstance(node, Function)]
        if movable and len({node.name for node in functions}) == len(functions):
            for here, comes in zip(functions, reversed(functions), strict=True):
                result += lines[end : here.lineno - 1] + lines[comes.lineno - 1 : comes.end_lineno]
                end = here.end_lineno or 0
    return b"".join(result + lines[end:]).decode()


def documented(text: str) -> str:
    """A docstring for the module and each class and function; another one, if it had one."""
    tree = parsed(text)
    if tree is None or READS_ITS_DOCSTRINGS.search(text):
        return text
    lines = lines_of(text)
    docstring = f'"""{WORDS}."""'.encode()
    owners = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and node.body]
    for first in sorted((node.body[0] for node in owners), key=lambda node: node.lineno, reverse=True):
        row = min([first.lineno, *(node.lineno for node in getattr(first, "decorator_list", []))]) - 1
        before = lines[row][: first.col_offset]
        if before.strip():
            continue  # `def f(): ...`
        if is_string(first):
            end = first.end_lineno or 0
            lines[row:end] = [before + docstring + lines[end - 1][first.end_col_offset :]]
        else:
            lines.insert(row, before + docstring + b"\n")
    return b"".join(lines).decode()


def keyworded(text: str) -> str:
    """Arguments by their names instead of their positions, where a call is surely one of a function of the file or of the catalog."""
    tree = parsed(text)
    if tree is None:
        return text
    lines = lines_of(text)
    known = known_calls(tree)
    for call in sorted(known, key=lambda call: (call.lineno, call.col_offset), reverse=True):
        names = known[call]
        if len(call.args) > len(names) or {keyword.arg for keyword in call.keywords} & {None, *names[: len(call.args)]}:
            continue
        edits, end = list[tuple[int, int, str]](), (call.func.end_lineno or 0, call.func.end_col_offset or 0)
        for argument, name, between in zip(call.args, names, chain("(", repeat(",")), strict=False):
            begin = (argument.lineno, argument.col_offset)
            stands_alone = part(lines, end, begin).strip() == between.encode()
            if not stands_alone or isinstance(argument, (ast.Starred, ast.NamedExpr, ast.GeneratorExp)):
                edits.clear()
                break
            edits.append((*begin, name))
            end = (argument.end_lineno or 0, argument.end_col_offset or 0)
        for row, column, name in reversed(edits):
            line = lines[row - 1]
            lines[row - 1] = line[:column] + name.encode() + b"=" + line[column:]
    return b"".join(lines).decode()


TRANSFORMATIONS: dict[str, Transformation] = {
    "docstrings": documented,
    "keywords": keyworded,
    "locals": renamed,
    "order": reordered,
    "layout": laid_out,
    "comment": commented,
}
"""In the order in which all are made together."""


def together(text: str) -> str:
    """All of them."""
    for transformation in TRANSFORMATIONS.values():
        text = transformation(text)
    return text


# -- what they ask ----------------------------------------------------------------------------------------------------


def parsed(text: str) -> ast.Module | None:
    """None for what Python can't read, as cells with commands of IPython's."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


@lru_cache(maxsize=1)
def signatures() -> dict[str, list[str]]:
    """What the catalog knows to be called -> its parameters that may be given by position or by name."""
    found = dict[str, list[str]]()
    for path in sorted(RULES.rglob("*.toml")):
        for name, parameters in tomllib.loads(path.read_text("utf-8")).get("signatures", {}).items():
            function = ast.parse(f"def f({parameters}): ...").body[0]
            assert isinstance(function, ast.FunctionDef)
            found[name] = parameters_of(function)
    return found


def parameters_of(function: Function) -> list[str]:
    """Those that may be given by position or by name; none where that isn't sure."""
    arguments = function.args
    return [] if arguments.posonlyargs or arguments.vararg else [argument.arg for argument in arguments.args]


def known_calls(tree: ast.Module) -> dict[ast.Call, list[str]]:
    """Calls of functions of the top level, and of what imports give, whose names are bound nowhere else -> the parameters."""
    bound = Counter(name for node in ast.walk(tree) for name in bound_by(node))
    own, imported = dict[str, list[str]](), dict[str, str]()
    for node in tree.body:
        if isinstance(node, Function) and not node.decorator_list:
            own[node.name] = parameters_of(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                imported[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    found = dict[ast.Call, list[str]]()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        root, _, rest = ast.unparse(call.func).partition(".")
        if bound[root] == 1 and isinstance(call.func, ast.Name | ast.Attribute):
            name = f"{imported.get(root, '')}.{rest}".rstrip(".")
            found[call] = own.get(root, []) if not rest and root in own else signatures().get(name, [])
    return found


def bound_by(node: ast.AST) -> set[str]:
    """The names that a node binds, or declares."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    return names_bound_by(node)


def part(lines: list[bytes], begin: tuple[int, int], end: tuple[int, int]) -> bytes:
    """The text from one place to another, of lines from 1 and columns from 0."""
    if begin[0] == end[0]:
        return lines[begin[0] - 1][begin[1] : end[1]]
    middle = lines[begin[0] : end[0] - 1]
    return b"".join([lines[begin[0] - 1][begin[1] :], *middle, lines[end[0] - 1][: end[1]]])


def lines_of(text: str) -> list[bytes]:
    """The lines as Python counts them, with their ends; the last one has an end, too."""
    lines = text.encode().splitlines(keepends=True)
    return [*lines[:-1], lines[-1].rstrip(b"\r\n") + b"\n"] if lines else []


def is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_movable(node: Function, annotations_are_late: bool) -> bool:
    """Whether nothing happens as the function is defined, but that it is."""
    arguments = node.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotated = node.returns or any(argument and argument.annotation for argument in listed)
    defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
    return not (node.decorator_list or defaults or (annotated and not annotations_are_late))


def words_in_strings(node: ast.AST) -> Iterator[str]:
    """Names that a string may speak of, and those whose place in the file isn't known before Python 3.12."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from re.findall(r"\w+", node.value)
    elif isinstance(node, ast.JoinedStr):
        yield from (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def own_names(function: Function) -> set[str]:
    """The variables that a function alone binds, by assignments, loops and `with`: every use of such a name in it means them."""
    own, others = set[str](), {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    inside: list[tuple[ast.AST, bool]] = [(node, False) for node in function.body]
    while inside:
        node, nested = inside.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                (others if nested else own).add(node.id)
        else:
            others |= names_bound_by(node)
        inside += [(child, nested or isinstance(node, SCOPES)) for child in ast.iter_child_nodes(node)]
    return {name for name in own - others if name.isascii() and not name.startswith("__")}


def names_bound_by(node: ast.AST) -> set[str]:
    """What a node binds, or declares, by a name that is no node of its own."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return {*node.names}
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, ast.arg):
        return {node.arg}
    return {name for field in ("name", "rest") if isinstance(name := getattr(node, field, None), str)}


# -- files ------------------------------------------------------------------------------------------------------------


def without_marks(text: str) -> str:
    """Without what the fixture says is to be found; rows and columns stay."""
    return MARK.sub("", text)


def transform(path: Path, transformation: Transformation) -> None:
    """Transform a file in place; comments alone are written into what isn't Python."""
    if path.suffix == ".ipynb":
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = transformation(without_marks("".join(cell["source"]))).splitlines(keepends=True)
        path.write_text(json.dumps(notebook, indent=1), "utf-8")
    elif path.suffix in HASH_COMMENTS:
        text = without_marks(path.read_text("utf-8"))
        if path.suffix != ".py" and transformation in (commented, together):
            text = commented(text)
        path.write_text(transformation(text) if path.suffix == ".py" else text, "utf-8")


# -- places -----------------------------------------------------------------------------------------------------------


def place(text: str, row: int, column: int) -> Place:
    """What stays of a place, whatever is done to the text; `row` counts from 1, `column` from 0.

    It is the next word (name, number or string) that is no docstring, counted within the function or class at the top level.
    """
    try:
        found, owners = landmarks(text)
    except (SyntaxError, ValueError):
        return "", row
    at = bisect_left(found, (row, column))
    owner = owners.get(found[at][0], "") if at < len(found) else ""
    return owner, sum(owners.get(line, "") == owner for line, _ in found[:at])


@lru_cache(maxsize=64)
def landmarks(text: str) -> tuple[list[tuple[int, int]], dict[int, str]]:
    """Where names, numbers and strings begin that are no statements by themselves, and no names of arguments; the top-level
    definition of each row in one.

    Raises SyntaxError or ValueError for what Python can't read.
    """
    owners = {
        line: node.name
        for node in ast.parse(text).body
        if isinstance(node, (ast.ClassDef, *FUNCTIONS))
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    tokens = [
        token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in BESIDE_THE_CODE
    ]
    found, starts = list[tuple[int, int]](), True
    depth = 0
    for token, following in pairwise(tokens):
        depth += {"(": 1, ")": -1}.get(token.string, 0)
        alone = starts and token.type == tokenize.STRING and following.type == tokenize.NEWLINE
        starts = token.type == tokenize.NEWLINE
        is_keyword = depth > 0 and token.type == tokenize.NAME and following.string == "="
        if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING) and not (alone or is_keyword):
            found.append(token.start)
    return found, owners


def finding(row: Told, root: Path) -> tuple[str, str, str, Place]:
    """What is said of a project whatever its layout: file or cell, code, level, place."""
    path = row.path.resolve()
    text = path.read_text("utf-8")
    if row.cell is not None:
        text = "".join(json.loads(text)["cells"][row.cell - 1]["source"])
    python = path.suffix in (".py", ".pyi", ".ipynb")
    where = place(text, row.line, row.column - 1) if python else ("", row.line)
    name = path.relative_to(root.resolve()).as_posix()
    return f"{name} cell {row.cell}" if row.cell is not None else name, row.code, row.level, where
