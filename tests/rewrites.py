"""Rewrites of whole programs after which they do exactly what they did before.

A program is its files: text by path below its folder. Each line of code bears a mark in a comment, which stays with it
wherever a rewrite takes it, so that a finding can be followed through.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import libcst as cst
from libcst.metadata import Assignment, ImportAssignment, MetadataWrapper, Scope, ScopeProvider

Program = dict[str, str]
MARK = re.compile(r"#@(\d+)")
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
ACTING = (cst.Call, cst.Subscript, cst.BinaryOperation, cst.Await, cst.Yield, cst.ListComp, cst.DictComp, cst.SetComp)
HARMLESS = {"staticmethod", "classmethod", "property"}


def sources(program: Program) -> list[str]:
    """The paths of the Python files."""
    return sorted(name for name in program if name.endswith(".py"))


# -- marks ----------------------------------------------------------------------------------------------------------


def code_rows(text: str) -> list[int]:
    """The rows that hold code and whose end is no part of a string or a continued line."""
    found, code = [], set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row = token.end[0]
        if token.type not in LAYOUT:
            code.add(row)
        elif token.type in (tokenize.NL, tokenize.NEWLINE) and token.start[0] in code:
            found.append(token.start[0])
    return found


def marked(program: Program) -> Program:
    """The program with a mark, a number of its own, at each line of code."""
    result, number = dict(program), 0
    for name in sources(program):
        lines = program[name].splitlines()
        for row in code_rows(program[name]):
            lines[row - 1] += f"  #@{number}"
            number += 1
        result[name] = "".join(f"{line}\n" for line in lines)
    return result


def mark_at(text: str, row: int) -> str:
    """The mark of the code at a row, or of the next below; "" after the last."""
    found = MARK.search("\n".join(text.splitlines()[row - 1 :]))
    return found[1] if found else ""


# -- where imports lead ---------------------------------------------------------------------------------------------


def folder_of(name: str) -> str:
    parent = PurePosixPath(name).parent.as_posix()
    return "" if parent == "." else parent


def below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def resolve(program: Program, importer: str, dotted: str, level: int = 0) -> str | None:
    """The file of the program that an import in another leads to."""
    bases = [folder_of(importer)]
    if level:
        for _ in range(level - 1):
            bases[0] = folder_of(bases[0])
    else:
        inside = []
        while bases[0] and below(bases[0], "__init__.py") in program:
            inside.append(bases[0])
            bases[0] = folder_of(bases[0])
        bases += ["", "src", *(folder for folder in inside if _has_script(program, folder))]
    for base in bases:
        place = below(base, dotted.replace(".", "/")) if dotted else base
        for candidate in (below(place, "__init__.py"), f"{place}.py"):
            if candidate in program:
                return candidate
    return None


def _has_script(program: Program, folder: str) -> bool:
    """Whether Python puts a folder on its path for a script in it, though the folder is a package."""
    inside = (program[name] for name in sources(program) if folder_of(name) == folder)
    return any("__main__" in text or re.search(r"^\w[\w.]*\(", text, re.M) for text in inside)


def dotted_name(node: cst.BaseExpression | None) -> str:
    """`a.b.c`, "" for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        inner = dotted_name(node.value)
        return f"{inner}.{node.attr.value}" if inner else ""
    return ""


def dotted_node(name: str) -> cst.Name | cst.Attribute:
    head, _, last = name.rpartition(".")
    return cst.Attribute(dotted_node(head), cst.Name(last)) if head else cst.Name(last)


class _Imports(cst.CSTVisitor):
    """What a file imports: modules as wholes, and names from modules."""

    def __init__(self) -> None:
        self.wholes: list[tuple[str, str]] = []
        """Module and local name."""
        self.parts: list[tuple[str, int, str]] = []
        """Module, level, and name; `*` for all."""

    def visit_Import(self, node: cst.Import) -> None:
        for alias in node.names:
            module = dotted_name(alias.name)
            self.wholes.append((module, alias.evaluated_alias or module))

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        module, level = dotted_name(node.module), len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            self.parts.append((module, level, "*"))
        else:
            self.parts += [(module, level, alias.evaluated_name) for alias in node.names]


def imports_of(text: str) -> _Imports:
    found = _Imports()
    cst.parse_module(text).visit(found)
    return found


def bindings(module: cst.Module) -> Counter[str]:
    """How often a file binds each name of its top level."""
    scopes = MetadataWrapper(module, unsafe_skip_copy=True).resolve(ScopeProvider).values()
    top = next((scope.globals for scope in scopes if scope is not None), None)
    every = top.assignments if top is not None else ()
    return Counter(item.name for item in every if isinstance(item, (Assignment, ImportAssignment)))


def names_in(node: cst.CSTNode) -> set[str]:
    """Every name inside a node."""
    found = {node.value} if isinstance(node, cst.Name) else set()
    return found.union(*(names_in(child) for child in node.children))


# -- definitions in another order -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Movable:
    """A definition of the top level and the first and last of the gaps between the other statements that it may stand in."""

    statement: cst.FunctionDef | cst.ClassDef
    first: int
    last: int


@dataclass(frozen=True)
class Layout:
    """A module as definitions that may move, and all other statements, which stay in order."""

    module: cst.Module
    others: Sequence[cst.BaseStatement | cst.SimpleStatementLine]
    movable: Sequence[Movable]

    def arranged(self, order: Sequence[Movable], gaps: Sequence[int]) -> str:
        """The module with its definitions in some order, each in its gap."""
        body: list[cst.BaseStatement | cst.SimpleStatementLine] = []
        for number in range(len(self.others) + 1):
            body += [item.statement for item, gap in zip(order, gaps, strict=True) if gap == number]
            body += self.others[number : number + 1]
        return self.module.with_changes(body=body).code


def layout(program: Program, name: str) -> Layout:
    """What may move in a file: definitions that do nothing when they are made."""
    module = cst.parse_module(program[name])
    bound = bindings(module)
    defined = {s.name.value for s in module.body if isinstance(s, (cst.FunctionDef, cst.ClassDef))}
    others: list[cst.BaseStatement | cst.SimpleStatementLine] = []
    found: list[tuple[cst.FunctionDef | cst.ClassDef, int, set[str]]] = []
    for statement in module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and bound[statement.name.value] == 1:
            needed = _needed(statement)
            if needed is not None and not needed & defined:
                found.append((statement, len(others), needed))
                continue
        others.append(statement)
    movable = []
    for definition, gap, needed in found:
        first = max((i + 1 for i in range(gap) if needed & names_in(others[i]) or _is_head(others[i])), default=0)
        last = gap
        while last < len(others) and _is_silent(program, name, others[last]):
            last += 1
        movable.append(Movable(definition, first, last))
    return Layout(module, others, movable)


def _needed(statement: cst.CSTNode) -> set[str] | None:
    """The names that making a definition evaluates; None where more may happen."""
    if isinstance(statement, cst.FunctionDef):
        if any(dotted_name(d.decorator) not in HARMLESS for d in statement.decorators):
            return None
        return _needed_by(statement.params) | (_needed_by(statement.returns) if statement.returns else set())
    if isinstance(statement, cst.ClassDef):
        if statement.decorators or statement.keywords or not all(dotted_name(base.value) for base in statement.bases):
            return None
        found = set[str]().union(*(names_in(base) for base in statement.bases))
        for inner in statement.body.body:
            needed = _needed(inner)
            if needed is None:
                return None
            found |= needed
        return found
    if isinstance(statement, cst.SimpleStatementLine):
        plain = (cst.Pass, cst.Expr, cst.Assign, cst.AnnAssign)
        if not all(isinstance(small, plain) for small in statement.body) or _calls(statement):
            return None
        return names_in(statement)
    return None


def _needed_by(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.Parameters):
        every = [*node.params, *node.kwonly_params, *node.posonly_params, node.star_kwarg]
        every += [node.star_arg] if isinstance(node.star_arg, cst.Param) else []
        parts = [part for p in every if p is not None for part in (p.default, p.annotation) if part is not None]
        return set[str]().union(*(names_in(part) | ({"<call>"} if _calls(part) else set()) for part in parts))
    return names_in(node)


def _calls(node: cst.CSTNode) -> bool:
    return isinstance(node, ACTING) or any(_calls(child) for child in node.children)


def _is_head(statement: cst.CSTNode) -> bool:
    """A docstring or an import from `__future__`."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    if isinstance(first, cst.ImportFrom):
        return dotted_name(first.module) == "__future__"
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString)


def _is_silent(program: Program, name: str, statement: cst.CSTNode) -> bool:
    """Whether a statement can't use a definition: an import from outside of the program, or a plain assignment."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    for small in statement.body:
        if isinstance(small, (cst.Import, cst.ImportFrom)):
            found = _Imports()
            small.visit(found)
            modules = [(module, 0) for module, _ in found.wholes] + [(m, level) for m, level, _ in found.parts]
            if any(level or resolve(program, name, module.partition(".")[0]) for module, level in modules):
                return False
        elif not isinstance(small, cst.Assign) or names_in(small.value) - {"None", "True", "False"} or _calls(small):
            return False
    return True


# -- modules under another name -------------------------------------------------------------------------------------


def renamable(program: Program) -> list[str]:
    """The modules whose every mention is an import, or plainly follows from one."""
    found = []
    for name in sources(program):
        stem = PurePosixPath(name).stem
        if stem in ("__init__", "__main__", "setup", "conftest") or "test" in name:
            continue
        word = re.compile(rf"\b{re.escape(stem)}\b")
        if any(word.search(text) for other, text in program.items() if not other.endswith(".py")):
            continue
        if any(word.search(string) for other in sources(program) for string in _strings(program[other])):
            continue
        says = re.compile(rf"^\s*(?:from|import) (\.*)((?:\w+\.)+{re.escape(stem)})\b", re.M)
        said = ((other, *found) for other in sources(program) for found in says.findall(program[other]))
        if any(resolve(program, other, module, len(dots)) != name for other, dots, module in said):
            continue  # a module of this name that is found otherwise, or nowhere
        init = program.get(below(folder_of(name), "__init__.py"), "")
        if stem in {part for _, _, part in imports_of(init).parts if part != stem} or re.search(
            rf"^(def|class) {stem}\b|^{stem} =|import .*\b{stem} as|as {stem}\b|import {stem}\b", init, re.M
        ):
            continue
        if "import *" in init and re.search(rf"^(def|class) {re.escape(stem)}\b", program[name], re.M):
            continue  # the package has the definition of this name
        if any(_mentions(program, other, name, stem) for other in sources(program)):
            continue
        found.append(name)
    return found


def _strings(text: str) -> Iterator[str]:
    kinds = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            yield token.string


def _mentions(program: Program, other: str, name: str, stem: str) -> bool:
    """Whether a file has `something.stem` that isn't what a dotted import of it binds."""
    text = program[other]
    whole = [m for m, local in imports_of(text).wholes if m == local and resolve(program, other, m) == name]
    rest = re.sub(r"^\s*(import|from)\b.*$", "", text, flags=re.M)
    for module in whole:
        rest = re.sub(rf"(?<![\w.]){re.escape(module)}\b", "", rest)
    return re.search(rf"\.\s*{re.escape(stem)}\b", rest) is not None


def renamed(program: Program, name: str, stem: str) -> Program:
    """The program with a module under another name, in the same folder."""
    new = below(folder_of(name), f"{stem}.py")
    result = {(new if other == name else other): text for other, text in program.items()}
    for other in sources(program):
        tree = cst.parse_module(program[other])
        result[new if other == name else other] = tree.visit(_Rename(program, other, name, stem)).code
    return result


class _Rename(cst.CSTTransformer):
    """Renames a module in the imports of a file, and in the dotted names that they bind."""

    def __init__(self, program: Program, importer: str, target: str, stem: str) -> None:
        self.program = program
        self.importer = importer
        self.target = target
        self.stem = stem
        self.old = PurePosixPath(target).stem
        self.bound: set[str] = set()

    def _new(self, module: str) -> cst.Name | cst.Attribute:
        head = module.rpartition(".")[0]
        return dotted_node(f"{head}.{self.stem}" if head else self.stem)

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        module, level = dotted_name(original_node.module), len(original_node.relative)
        if module and resolve(self.program, self.importer, module, level) == self.target:
            return updated_node.with_changes(module=self._new(module))
        if isinstance(original_node.names, cst.ImportStar) or isinstance(updated_node.names, cst.ImportStar):
            return updated_node
        names = []
        for alias in updated_node.names:
            inner = f"{module}.{alias.evaluated_name}" if module else alias.evaluated_name
            if alias.evaluated_name == self.old and (resolve(self.program, self.importer, inner, level) == self.target):
                alias = alias.with_changes(name=cst.Name(self.stem), asname=alias.asname or _as(self.old))
            names.append(alias)
        return updated_node.with_changes(names=names)

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> cst.Import:
        names = []
        for alias in original_node.names:
            module = dotted_name(alias.name)
            if resolve(self.program, self.importer, module) == self.target:
                asname = alias.asname or (_as(module) if "." not in module else None)
                if asname is None:
                    self.bound.add(module)
                alias = alias.with_changes(name=self._new(module), asname=asname)
            names.append(alias)
        return updated_node.with_changes(names=names)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        name = dotted_name(original_node)
        return self._new(name) if name in self.bound else updated_node


def _as(name: str) -> cst.AsName:
    return cst.AsName(cst.Name(name))


# -- imports under another name -------------------------------------------------------------------------------------


def aliased(program: Program, name: str, choose: Iterable[int], suffix: str) -> str | None:
    """A file with some of its imports bound to other names, wherever they are used; None where none can be.

    Args:
        choose: numbers of which each, modulo how many there are, chooses an import.
    """
    wrapped = MetadataWrapper(cst.parse_module(program[name]))
    scopes = {scope for scope in wrapped.resolve(ScopeProvider).values() if scope is not None}
    open_names = _used_by_others(program, name)
    found = [
        (item, uses)
        for scope in scopes
        for item in scope.assignments
        if isinstance(item, ImportAssignment) and (uses := _uses(scope, item, open_names)) is not None
    ]
    if not found:
        return None
    found.sort(key=lambda pair: (pair[0].name, str(pair[0].scope)))
    found.sort(key=lambda pair: _position(wrapped.module, pair[0].as_name))
    chosen = {number % len(found) for number in choose}
    renames: dict[cst.CSTNode, str] = {}
    for number in chosen:
        item, uses = found[number]
        renames.update(dict.fromkeys(uses, f"{item.name}{suffix}"))
        renames[_alias_of(item)] = f"{item.name}{suffix}"
    return wrapped.module.visit(_Alias(renames)).code


def _position(module: cst.Module, wanted: cst.CSTNode) -> int:
    count = 0
    waiting: list[cst.CSTNode] = [module]
    while waiting:
        node = waiting.pop()
        if node is wanted:
            return count
        count += 1
        waiting += reversed(node.children)
    return -1


def _alias_of(item: ImportAssignment) -> cst.ImportAlias:
    assert isinstance(item.node, (cst.Import, cst.ImportFrom)) and not isinstance(item.node.names, cst.ImportStar)
    return next(alias for alias in item.node.names if _binds(alias) == item.name)


def _binds(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name.partition(".")[0]


def _uses(scope: Scope, item: ImportAssignment, open_names: set[str] | None) -> set[cst.CSTNode] | None:
    """The names that stand for an import; None where it can't be bound to another name."""
    if not isinstance(item.node, (cst.Import, cst.ImportFrom)) or isinstance(item.node.names, cst.ImportStar):
        return None
    if isinstance(item.node, cst.ImportFrom) and dotted_name(item.node.module) == "__future__":
        return None
    alias = next((alias for alias in item.node.names if _binds(alias) == item.name), None)
    if alias is None or len(scope[item.name]) != 1 or (alias.asname is None and "." in alias.evaluated_name):
        return None
    if scope is scope.globals and (open_names is None or item.name in open_names):
        return None
    uses: set[cst.CSTNode] = set()
    for access in item.references:
        node: cst.CSTNode = access.node
        while isinstance(node, cst.Attribute):
            node = node.value
        if not isinstance(node, cst.Name) or node.value != item.name or len(access.referents) != 1:
            return None
        uses.add(node)
    return uses


def _used_by_others(program: Program, name: str) -> set[str] | None:
    """The names of a file that others may use; None where they may use all."""
    found = set(re.findall(r"\w+", " ".join(_strings(program[name]))))
    found |= set(re.findall(r"global (\w+)", program[name]))
    for other in sources(program):
        if other == name:
            continue
        imports = imports_of(program[other])
        for module, level, part in imports.parts:
            if resolve(program, other, module, level) == name:
                if part == "*":
                    return None
                found.add(part)
            inner = f"{module}.{part}" if module else part
            if resolve(program, other, inner, level) == name:
                found |= set(re.findall(r"\.(\w+)", program[other]))
        for module, _ in imports.wholes:
            if resolve(program, other, module) == name or resolve(program, other, module.partition(".")[0]) == name:
                found |= set(re.findall(r"\.(\w+)", program[other]))
    return found


class _Alias(cst.CSTTransformer):
    """Gives names, and the imports that bind them, the names that they are to have."""

    def __init__(self, renames: dict[cst.CSTNode, str]) -> None:
        self.renames = renames

    def visit_ImportAlias(self, node: cst.ImportAlias) -> bool:
        return False

    def leave_ImportAlias(self, original_node: cst.ImportAlias, updated_node: cst.ImportAlias) -> cst.ImportAlias:
        name = self.renames.get(original_node)
        return updated_node.with_changes(asname=_as(name)) if name is not None else updated_node

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        name = self.renames.get(original_node)
        return updated_node.with_changes(value=name) if name is not None else updated_node


# -- a module in two ------------------------------------------------------------------------------------------------


def separable(program: Program, name: str) -> list[str]:
    """The definitions of a file that use nothing of it but what it imports before them, at its top level.

    Of several that are decorated none is: a decorator may register them, and which comes first then depends on the imports.
    """
    module = cst.parse_module(program[name])
    decorated = sum(bool(s.decorators) for s in module.body if isinstance(s, (cst.FunctionDef, cst.ClassDef)))
    if any(part == "*" for _, _, part in imports_of(program[name]).parts):
        return []
    bound = bindings(module)
    imported: set[str] = set()
    found = []
    for statement in module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, (cst.Import, cst.ImportFrom)) and not isinstance(small.names, cst.ImportStar):
                    imported |= {b for a in small.names if bound[b := _binds(a)] == 1}
        elif isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            text = module.code_for_node(statement)
            used = {word for word in re.findall(r"\w+", text) if word in bound}  # in quoted annotations too
            called = statement.name.value
            private = re.search(r"\b(global|__name__|__file__|globals|__main__)\b", text)
            in_order = bool(statement.decorators) and decorated > 1
            if bound[called] == 1 and used - {called} <= imported and not private and not in_order:
                found.append(called)
    return found


def split(program: Program, name: str, definition: str, stem: str) -> Program:
    """The program with a definition in a module of its own, from which the old one imports it again."""
    module = cst.parse_module(program[name])
    at, moved = next(
        (i, statement)
        for i, statement in enumerate(module.body)
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and statement.name.value == definition
    )
    used = set(re.findall(r"\w+", module.code_for_node(moved)))
    taken: list[cst.SimpleStatementLine | cst.BaseCompoundStatement] = []
    for statement in module.body[:at]:
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, cst.ImportFrom) and dotted_name(small.module) == "__future__":
                    taken.append(cst.SimpleStatementLine([small]))
                elif isinstance(small, (cst.Import, cst.ImportFrom)) and not isinstance(small.names, cst.ImportStar):
                    names = [alias for alias in small.names if _binds(alias) in used]
                    if names:
                        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
                        small = small.with_changes(names=names, semicolon=cst.MaybeSentinel.DEFAULT)
                        taken.append(cst.SimpleStatementLine([small]))
    packaged = below(folder_of(name), "__init__.py") in program
    again = cst.parse_statement(f"from {'.' if packaged else ''}{stem} import {definition}")
    result = dict(program)
    result[name] = module.with_changes(body=[*module.body[:at], again, *module.body[at + 1 :]]).code
    result[below(folder_of(name), f"{stem}.py")] = cst.Module(body=[*taken, moved]).code
    return result


# -- comments and blank lines ---------------------------------------------------------------------------------------


def spaced(text: str, places: Iterable[tuple[int, str]]) -> str:
    """A file with lines inserted between its lines of code: (number, line) pairs, each number modulo how many there are."""
    rows = code_rows(text)
    if not rows:
        return text
    after: dict[int, list[str]] = {}
    for number, line in places:
        row = (0, *rows)[number % (len(rows) + 1)]
        after.setdefault(row, []).append(line)
    lines = text.splitlines()
    parts = [*after.get(0, ())]
    for row, line in enumerate(lines, 1):
        parts += [line, *after.get(row, ())]
    return "".join(f"{line}\n" for line in parts)


# -- edits that do change what a program does -----------------------------------------------------------------------


def _functions(module: cst.Module) -> list[cst.FunctionDef]:
    found: list[cst.FunctionDef] = []
    waiting: list[cst.CSTNode] = [module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, cst.FunctionDef) and isinstance(node.body, cst.IndentedBlock):
            found.append(node)
        waiting += reversed(node.children)
    return found


def with_changed_body(text: str, number: int) -> str | None:
    """A file of which one function, by number, draws before it does anything, or no longer does what it did first."""
    module = cst.parse_module(text)
    functions = _functions(module)
    if not functions:
        return None
    body = functions[number // 2 % len(functions)].body
    assert isinstance(body, cst.IndentedBlock)
    draw = cst.parse_statement("__import__('random').random()") if number % 4 < 2 else cst.parse_statement("pass")
    import_ = cst.parse_statement("import random")
    call = cst.parse_statement("random.random()")
    statements = [import_, call, *body.body] if number % 2 else [draw, *body.body[1:]]
    return _replaced(module, body, body.with_changes(body=statements))


def with_changed_definition(text: str, number: int) -> str | None:
    """A file of which one function, by number, has another name or another parameter."""
    module = cst.parse_module(text)
    functions = _functions(module)
    if not functions:
        return None
    function = functions[number // 2 % len(functions)]
    params = function.params
    if number % 2 or params.star_kwarg is not None:
        return _replaced(module, function.name, cst.Name(f"{function.name.value}_before"))
    extra = cst.Param(cst.Name("extra"), default=cst.Name("None"))
    return _replaced(module, params, params.with_changes(kwonly_params=[*params.kwonly_params, extra]))


def _replaced(module: cst.Module, old: cst.CSTNode, new: cst.CSTNode) -> str:
    replaced = module.deep_replace(old, new)
    assert isinstance(replaced, cst.Module)
    return replaced.code
