"""What the files of settings of a project decide: `if config.transform:` never holds where all of them that have the key say `null`.

What code looks up is known by its key alone, in whatever table: all that any file, command, or line of code may give that key counts.
So nothing needs to be known of which file is read, nor of how tables are handed on.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from detlint.checks.guards import call_in, guarded
from detlint.facts.loops import dotted
from detlint.facts.model import Const, Instance, Member, Param, Ref, Result, Span, Value
from detlint.facts.parse import tree
from detlint.facts.reader import constant
from detlint.program.answers import Answers
from detlint.program.documents import Documents
from detlint.program.resolve import Module
from detlint.program.truth import truth
from detlint.program.users import Users

_SETTINGS: Final = re.compile(
    r"(?:^|_)(?:cfg|conf|config|configuration|opts?|options|args|hparams|hyp|settings)s?(?:_|$)|Config|Settings"
)
"""The names of what holds settings."""
_LOADING: Final = re.compile(
    r"(?:^|[._])(?:safe_load|yaml|OmegaConf|EasyDict|Dict|AttrDict|DictConfig|Munch)(?:[._]|$)"
)
"""What makes such, beside what is called so."""
_READERS: Final = ("yaml", "OmegaConf", "hydra", "json")
"""What a project says that reads files of settings."""
_LENIENT: Final = ("addict", "OmegaConf", "__missing__", "defaultdict", "__getattr__")
"""What a project says in which an attribute that a table lacks may be had all the same."""
_PLAIN: Final = frozenset(
    {"builtins", "typing", "collections", "enum", "argparse", "types", "abc", "pydantic", "easydict", "addict"}
)
"""Modules from which tables of settings derive."""
_TABLES: Final = re.compile(r"Config|Settings|Args|Arguments|Cfg|Options|Params|Namespace|Dict|Conf\b")
"""The names of classes whose objects may be such."""
TRUTH: Final = Const("bool()")
"""Stands for whether the value of a key is true, which code puts in its place: only of a text is that anything else."""
_NO_TEXT: Final = re.compile(r"\s*|[-+.\d].*|true|false|none|null|yes|no|on|off|[\[({].*", re.I | re.S)
_DEEPEST: Final = 3
"""So many names may stand for one another."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINED: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Lookup(NamedTuple):
    """What code looks up in settings."""

    key: str
    table: str = ""
    """The key before."""
    default: Const | None = None
    """What is had where the key is missing."""
    is_there: bool = False
    """Whether it only asks if the key is there."""


class Settled:
    """Finds what such files decide."""

    def __init__(self, users: Users, documents: Documents) -> None:
        self._users = users
        self._documents = documents
        self._given: Answers[frozenset[Const | None]] = Answers(users)
        self._said: Answers[bool] = Answers(users)

    def value(self, module: Module, value: Value | None) -> Const | None:
        """What a value that is looked up in settings always is; None where that isn't known, or for any other."""
        if isinstance(value, Ref):  # of a table that another file has: `from config import config`
            named, _, last = value.name.rpartition(".")
            value = Member(Ref(named), last)
        if isinstance(value, Member) and _holds_settings(value.base):
            return self._of(module, Lookup(_key(value.attr), _table_of(value.base)))
        of = value.of if isinstance(value, Result) else None
        if not (isinstance(of, Member) and of.attr == "get" and isinstance(value, Result) and value.site >= 0):
            return None
        args = module.sites[value.site].args
        key = args[0].value if args and len(args) <= 2 and not any(arg.name for arg in args) else None
        default = args[1].value if len(args) == 2 else Const(None)
        if not (isinstance(key, Const) and isinstance(key.value, str) and isinstance(default, Const)):
            return None
        return self._of(module, Lookup(key.value, _table_of(of.base), default)) if _holds_settings(of.base) else None

    def written(self, module: Module, function: _Function, node: ast.expr) -> Const | None:
        """The same of an expression of a function, or of a test whether a key is there."""
        found = looked_up(function, node)
        return self._of(module, found) if found is not None else None

    def passed(self, module: Module, site: int, name: str, position: int) -> Const | None:
        """What a call passes that its function looks up in settings.

        Args:
            name: the parameter.
            position: its position, counted from 0.
        """
        caller = module.function_of(module.sites[site])
        text = self._users.texts.of(module.path) if module.path.endswith(".py") and caller.name else None
        found = call_in(text, caller.name.partition(".")[0], module.sites[site].span) if text is not None else None
        if found is None or found[0].name != caller.name.rpartition(".")[2]:
            return None
        function, call = found
        plain = not any(isinstance(arg, ast.Starred) for arg in call.args)
        written = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
        if written is None and plain and 0 <= position < len(call.args):
            written = call.args[position]
        if isinstance(written, ast.Name) and (value := self.written(module, function, written)) is None:
            lines = module.sites[site].span.line - call.lineno
            written = self._only_bound(module, caller.name.partition(".")[0], function, written.id, lines)
            return value or (
                self.written(module, function, written) or self.member(module, written) if written else None
            )
        return self.written(module, function, written) if written is not None else None

    def member(self, module: Module, node: ast.expr) -> Const | None:
        """The value of a member of an enumeration, as code names it; None for anything else."""
        first, dot, rest = dotted(node).partition(".") if isinstance(node, ast.Attribute) else ("", "", "")
        meant = module.facts.names.get(first) if dot else None
        if not isinstance(meant, Ref):
            return None
        value = self._users.resolver.name(module.path, f"{meant.name}.{rest}")
        owner = self._users.resolver.name(module.path, f"{meant.name}.{rest}".rpartition(".")[0])
        bases = self._users.resolver.mro(owner.name) if isinstance(owner, Ref) and "::" in owner.name else ()
        return value if isinstance(value, Const) and any(base.startswith("enum.") for base in bases) else None

    def _only_bound(self, module: Module, top: str, function: _Function, name: str, lines: int) -> ast.expr | None:
        """What a function binds a name to in the only place that settings let it come to.

        Args:
            top: the definition of the top level that it is in.
            lines: how many are before it in its file.
        """
        nodes = [*ast.walk(function)]
        stored = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
        bound = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1 and n.targets[0] in stored]
        if len(bound) != len(stored) or any(isinstance(n, ast.arg) and n.arg == name for n in nodes):
            return None
        text, leaf = self._users.texts.of(module.path) or b"", partial(self.written, module, function)
        left = list[ast.expr]()
        for node in bound:
            line = node.lineno + lines
            found = guarded(text, top, Span(line, node.col_offset, line, node.col_offset + 1))
            tests = found.guards if found is not None else ()
            if not any(truth(guard.test, leaf) is (not guard.wanted) for guard in tests):
                left.append(node.value)
        return left[0] if len(left) == 1 else None

    def _of(self, module: Module, asked: Lookup) -> Const | None:
        """What looking something up always gives."""
        if not asked.key.isidentifier() or not asked.key.isascii():
            return None
        folder = self._folder(module)
        reads = self._said.of((folder, _READERS), partial(self._says, folder, _READERS), False)
        if not folder or not reads:
            return None
        chosen = self._documents.chosen(folder, asked.key, asked.table)
        if None in chosen.values or len(chosen.values) > 1:
            return None
        given = self._given.of((folder, asked.key), partial(self._given_by_code, folder, asked.key), frozenset())
        values = {*chosen.values, *given}
        if None in values:
            return None
        if asked.is_there and chosen.values and not chosen.left_out:
            return Const(True)
        strict = not self._said.of((folder, _LENIENT), partial(self._says, folder, _LENIENT), True)
        if asked.is_there:
            return Const(False) if not values and chosen.left_out and strict else None
        if chosen.left_out and asked.default is not None:
            values.add(asked.default)
        elif not chosen.values or (chosen.left_out and not strict):
            return None
        converted = TRUTH in values
        values.discard(TRUTH)
        only = values.pop() if len(values) == 1 else None
        text = converted and only is not None and isinstance(only.value, str)
        return only if only is not None and not text and not _may_be_more(only) else None

    def _folder(self, module: Module) -> str:
        """The folder of the project that a module belongs to, or that of the README which is about it, whichever is around the other."""
        own, documented = self._users.project(module), os.path.join(self._documents.home(module.path), "")
        around = min(own, documented, key=len) if len(documented) > 1 else own
        return max(around, os.path.join(self._users.resolver.modules.root, ""), key=len)

    def _says(self, folder: str, words: tuple[str, ...]) -> bool:
        return any(path.endswith((".py", ".ipynb")) for path in self._users.texts.saying_any(words, folder))

    def _given_by_code(self, folder: str, key: str) -> frozenset[Const | None]:
        """What the code below a folder gives a key; None for what isn't known."""
        found = set[Const | None]()
        for path in self._users.texts.saying_any([key, key.replace("_", "-")], folder):
            if path.endswith((".py", ".ipynb")):
                self._users.resolver.opened.add(path)
                parsed = tree(self._users.texts.code(path) or b"")
                writes = _Writes(key, partial(self._is_of_library, path), partial(self._is_of_framework, path))
                found.update(writes.of(parsed) if parsed is not None else (None,))
            if None in found:
                break
        return frozenset(found)

    def _is_of_library(self, path: str, owner: str) -> bool:
        bases = self._users.resolver.mro(f"{path}::{owner}")[1:]
        return any("::" not in base and base.partition(".")[0] not in _PLAIN for base in bases)

    def _is_of_framework(self, path: str, name: str) -> bool:
        module = self._users.resolver.module(path)
        meant = module.facts.names.get(name) if module is not None else None
        return isinstance(meant, Ref) and meant.name.partition(".")[0] in self._users.resolver.catalog.roots


def looked_up(function: _Function, node: ast.expr, depth: int = 0) -> Lookup | None:
    """What an expression of a function looks up in settings; None for any other."""
    if isinstance(node, ast.Name):
        bound = _bound_once(function, node.id) if depth < _DEEPEST else None
        return looked_up(function, bound, depth + 1) if bound is not None else None
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return _lookup(node.value, node.attr)
    if isinstance(node, ast.Subscript):
        return _lookup(node.value, _text(node.slice))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
        found = _lookup(node.comparators[0], _text(node.left))
        return found._replace(is_there=True) if found is not None else None
    if isinstance(node, ast.Call) and not node.keywords:
        return _called(node)
    return None


def _called(node: ast.Call) -> Lookup | None:
    """`config.get(key, default)`, `getattr(config, key, default)`, `hasattr(config, key)`."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        holder, args = node.func.value, node.args
    elif dotted(node.func) in ("getattr", "hasattr") and node.args:
        holder, args = node.args[0], node.args[1:]
    else:
        return None
    found = _lookup(holder, _text(args[0])) if args else None
    if found is None or len(args) > 2:
        return None
    if dotted(node.func) == "hasattr":
        return found._replace(is_there=True)
    if len(args) == 1:
        return found._replace(default=Const(None)) if dotted(node.func) != "getattr" else found
    default = constant(args[1].value) if isinstance(args[1], ast.Constant) else None
    return found._replace(default=default) if isinstance(default, Const) else None


def _lookup(holder: ast.expr, key: str) -> Lookup | None:
    parts = _parts(holder)
    return (
        Lookup(key, _table(parts[-1]) if len(parts) > 1 else "") if key and any(map(_SETTINGS.search, parts)) else None
    )


def _parts(node: ast.expr) -> list[str]:
    """The names by which a table is come to, from the first one; none where there is anything else."""
    if isinstance(node, ast.Name):
        return [node.id]
    key = node.attr if isinstance(node, ast.Attribute) else _text(node.slice) if isinstance(node, ast.Subscript) else ""
    before = _parts(node.value) if key and isinstance(node, (ast.Attribute, ast.Subscript)) else []
    return [*before, key] if before else []


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _bound_once(function: _Function, name: str) -> ast.expr | None:
    """What a function binds a name to, if it does so in one place alone."""
    nodes = [*ast.walk(function)]
    stored = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    if len(stored) != 1 or any(isinstance(n, ast.arg) and n.arg == name for n in nodes):
        return None
    return next((n.value for n in nodes if isinstance(n, ast.Assign) and n.targets == stored), None)


def _holds_settings(base: Value | None) -> bool:
    """Whether a value is a table of settings, by its name, or by what it comes of."""
    if isinstance(base, Member):
        return _SETTINGS.search(_key(base.attr)) is not None or _holds_settings(base.base)
    if isinstance(base, (Param, Instance)):
        return _SETTINGS.search(base.name) is not None
    if isinstance(base, Ref):
        return _SETTINGS.search(base.name.rpartition(".")[2]) is not None
    called = base.of if isinstance(base, Result) else None
    name = called.name.rpartition("::")[2] if isinstance(called, Ref) else ""
    return _LOADING.search(name) is not None or _SETTINGS.search(name.rpartition(".")[2]) is not None


def _may_be_more(value: Const) -> bool:
    """Whether code may make something else of a text than that, as of `"False"` or `"0"`."""
    return isinstance(value.value, str) and _NO_TEXT.fullmatch(value.value) is not None


def _key(attr: str) -> str:
    return attr[1:-1] if attr.startswith("[") else attr


def _table_of(base: Value | None) -> str:
    return _table(base.attr) if isinstance(base, Member) else ""


def _table(name: str) -> str:
    """The key of the table that is asked, if that is no name for all settings."""
    return "" if _SETTINGS.search(_key(name)) else _key(name)


class _Writes:
    """Finds what code gives a key: `config.key = ...`, `dict(key=...)`, `{"key": ...}`, an option, a field of a class.

    Args:
        is_of_library: whether a class of the file derives from one that a library makes objects of, and no tables: a layer, a data set.
        is_of_framework: whether a name of the file is a module of a framework, or something in one.
    """

    def __init__(self, key: str, is_of_library: Callable[[str], bool], is_of_framework: Callable[[str], bool]) -> None:
        self._key = key
        self._is_of_framework = is_of_framework
        self._is_of_library = is_of_library
        self._spelled = re.compile(rf"(?<![\w-])-*{key.replace('_', '[-_]')}\s*=(?!=)|\.{key}$")

    def of(self, parsed: ast.Module) -> Iterator[Const | None]:
        own, harmless = self._own(parsed), self._harmless(parsed)
        values = _values(parsed)
        for node in ast.walk(parsed):
            if isinstance(node, ast.Attribute) and node.attr == self._key and not isinstance(node.ctx, ast.Load):
                yield from self._written(values.get(id(node))) if id(node) not in own else ()
            elif (
                isinstance(node, ast.Subscript)
                and not isinstance(node.ctx, ast.Load)
                and _text(node.slice) == self._key
            ):
                yield from self._written(values.get(id(node)))
            elif isinstance(node, ast.keyword) and node.arg == self._key:
                yield from self._written(node.value) if id(node) not in harmless else ()
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    yield from self._written(value) if key is not None and _text(key) == self._key else ()
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in harmless:
                yield from (None,) if self._may_name(node.value) else ()
            elif isinstance(node, _DEFINED) and id(node) not in own:
                yield from (None,) if node.name == self._key else self._by_default(node)
            elif isinstance(node, ast.alias):
                yield from (None,) if self._key in (node.asname, node.name) else ()
            if isinstance(node, (ast.Module, ast.ClassDef)):
                yield from self._fields(node, values)

    def _own(self, parsed: ast.Module) -> set[int]:
        """The methods of classes that hold no settings, by their names, and what such a class keeps under that name, if it surely is
        none."""
        owners = [n for n in parsed.body if isinstance(n, ast.ClassDef) and not _TABLES.search(n.name)]
        inside = [n for owner in owners for n in ast.walk(owner)]
        kept = [n for owner in owners if self._is_of_library(owner.name) for n in ast.walk(owner)]
        of_self = {id(n) for n in kept if isinstance(n, ast.Attribute) and dotted(n.value) == "self"}
        return of_self | {id(n) for n in inside if isinstance(n, _DEFINED)}

    def _harmless(self, parsed: ast.Module) -> set[int]:
        """Strings that only ask for the key, values under other names, texts that document, and keywords that hand a variable of that
        name on."""
        found = set[int]()
        for node in ast.walk(parsed):
            if isinstance(node, ast.Call):
                last = dotted(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
                asking = node.args[:1] if last == "get" else node.args[1:2] if last in ("getattr", "hasattr") else ()
                found.update(map(id, asking))
                makes = last in ("dict", "update") or _SETTINGS.search(last) or _TABLES.search(last)
                theirs = self._is_of_framework(dotted(node.func).partition(".")[0])
                found.update(id(k) for k in node.keywords if not makes and (theirs or self._hands_on(k.value)))
                found.update(id(k.value) for k in node.keywords)
            elif isinstance(node, ast.Compare):
                found.update(map(id, (node.left, *node.comparators)))
            elif isinstance(node, ast.Subscript):
                found.add(id(node.slice))
            elif isinstance(node, ast.Dict):
                found.update(map(id, (*filter(None, node.keys), *node.values)))
            elif isinstance(node, ast.Expr):
                found.add(id(node.value))
        return found

    def _hands_on(self, value: ast.expr) -> bool:
        """Whether a value is the key of some table, or a variable of that name."""
        return self._reads(value) or (isinstance(value, ast.Name) and value.id == self._key)

    def _may_name(self, text: str) -> bool:
        """Whether a string may say the key to somebody who sets it: by itself, as an option, or with a value."""
        return text.lstrip("-").replace("-", "_") == self._key or self._spelled.search(text) is not None

    def _written(self, value: ast.expr | None) -> Iterator[Const | None]:
        """What is written for the key; nothing where that is what it is anyway, but for what `get` gives where it is missing."""
        if isinstance(value, ast.Call) and dotted(value.func) == "bool" and any(map(self._reads, value.args)):
            yield TRUTH
        elif value is None or not self._reads(value):
            found = constant(value.value) if isinstance(value, ast.Constant) else None
            yield found if isinstance(found, Const) else None
        elif isinstance(value, ast.Call):
            yield from self._written(value.args[1]) if len(value.args) > 1 else (Const(None),)

    def _reads(self, value: ast.expr) -> bool:
        """Whether a value is the key of some table."""
        if isinstance(value, ast.Call):
            asks = getattr(value.func, "attr", "") == "get" and bool(value.args) and not value.keywords
            return asks and _text(value.args[0]) == self._key
        if isinstance(value, ast.Attribute):
            return value.attr == self._key
        return isinstance(value, ast.Subscript) and _text(value.slice) == self._key

    def _by_default(self, function: _Function) -> Iterator[Const | None]:
        """What a function takes by default under that name, which it may make settings of."""
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = zip(reversed(named), reversed(arguments.defaults), strict=False)
        for argument, default in (*defaults, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
            if argument.arg == self._key and default is not None:
                yield from self._written(default)

    def _fields(self, node: ast.Module | ast.ClassDef, values: dict[int, ast.expr]) -> Iterator[Const | None]:
        """What a class, or a file, has under that name."""
        for statement in node.body:
            for target in ast.walk(statement) if not isinstance(statement, (*_DEFINED, ast.ClassDef)) else ():
                if isinstance(target, ast.Name) and target.id == self._key and not isinstance(target.ctx, ast.Load):
                    yield from self._written(values.get(id(target)))


def _values(parsed: ast.Module) -> dict[int, ast.expr]:
    """What is assigned to targets, by their identity."""
    found = dict[int, ast.expr]()
    for node in ast.walk(parsed):
        if isinstance(node, ast.Assign):
            found.update((id(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found[id(node.target)] = node.value
    return found
