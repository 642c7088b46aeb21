"""What the code of a file gives a key of settings: `config.key = ...`, `dict(key=...)`, `{"key": ...}`, an option, a field of a class."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeGuard

from detlint.checks.lookups import SETTINGS, text_of
from detlint.facts.loops import dotted
from detlint.facts.model import Const
from detlint.facts.nodes import walk
from detlint.facts.reading.values import constant

_TABLES: Final = re.compile(r"Config|Settings|Args|Arguments|Cfg|Options|Params|Namespace|Dict|Conf\b")
"""The names of classes whose objects may be such."""
_OF_LIBRARIES: Final = re.compile(r"\b(?:Tap|Munch|DotMap|Struct|Box)\b")
"""Those of libraries whose names say less."""
_MAKES: Final = frozenset(
    {"dict", "update", "replace", "_replace", "evolve", "merge", "override", "copy", "model_copy", "from_dict"}
    | {"from_pretrained"}
)
"""What makes settings of keywords, or sets them so."""
_DECLARES: Final = re.compile(
    r"DEFINE|^(?:add|set|define|register)_|^set$|[oO]ption|[aA]rg|[fF]lag|[pP]aram|^update$|override"
)
"""What is told by a keyword which key it is about."""
_KEYS: Final = frozenset({"k", "key", "name", "attr", "field", "option", "opt", "param"})
"""The names of variables that go over keys."""
TRUTH: Final = Const("bool()")
"""Stands for whether the value of a key is true, which code puts in its place: only of a text is that anything else."""
IS: Final = "== "
"""Stands before a text for whether the value of a key is that, which code puts in its place: `config.clip = config.clip == "True"`."""
_STR: Final = ast.Name("str")
"""The type of an option that says none."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINED: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def names_tables(name: str) -> bool:
    """Whether the name of a library's class says that its objects hold settings."""
    return _TABLES.search(name) is not None or _OF_LIBRARIES.search(name) is not None


class Writes:
    """Finds what code gives a key: `config.key = ...`, `dict(key=...)`, `{"key": ...}`, an option, a field of a class.

    Args:
        is_of_library: whether a class of the file derives from one that a library makes objects of, and no tables: a layer, a data set.
        is_of_framework: whether a name of the file is a module of a framework, or something in one.
        unpacked: whether tables are unpacked for calls, to which any other may hand keywords on.
    """

    def __init__(
        self,
        key: str,
        is_of_library: Callable[[str], bool],
        is_of_framework: Callable[[str], bool],
        unpacked: bool = False,
    ) -> None:
        self._key = key
        self._unpacked = unpacked
        self._is_of_framework = is_of_framework
        self._is_of_library = is_of_library
        name = key.replace("_", "[-_]")
        self._spelled = re.compile(
            rf"(?<![\w-])(?:-*{name}\s*=(?!=)|--{name}(?![\w-])|{name}[\"']?\s*:\s*[\w\"'\[-])|\.{key}(?:$|[ \t]+[^\s=:])"
        )
        self.declared = False
        """Whether a parser has it as an option."""

    def of(self, parsed: ast.Module) -> Iterator[Const | None]:
        values = _values(parsed)
        own, harmless, telling = self._own(parsed), self._harmless(parsed, values), _telling(parsed)
        for node in walk(parsed):
            if isinstance(node, ast.Call) and self._declares(node):
                self.declared = True
                telling.update(map(id, node.args))
                yield _usual(node)
            if isinstance(node, ast.Attribute) and node.attr == self._key and not isinstance(node.ctx, ast.Load):
                yield from self._written(values.get(id(node))) if id(node) not in own else ()
            elif (
                isinstance(node, ast.Subscript)
                and not isinstance(node.ctx, ast.Load)
                and self._is_key(text_of(node.slice))
            ):
                yield from self._written(values.get(id(node)))
            elif isinstance(node, ast.keyword) and node.arg == self._key:
                yield from self._written(node.value) if id(node) not in harmless else ()
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    yield from self._written(value) if key is not None and self._is_key(text_of(key)) else ()
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in telling:
                yield from (None,) if self._may_name(node.value, by_itself=id(node) not in harmless) else ()
            elif isinstance(node, _DEFINED) and id(node) not in own:
                yield from (None,) if node.name == self._key else self._by_default(node)
            elif isinstance(node, ast.ImportFrom):  # a module is no setting
                yield from (None,) if any(self._key in (name.asname, name.name) for name in node.names) else ()
            if isinstance(node, (ast.Module, ast.ClassDef)) or _is_of_settings(node):
                yield from self._fields(node, values)

    def _own(self, parsed: ast.Module) -> set[int]:
        """The methods of classes that hold no settings, by their names, and what such a class keeps under that name, if it surely is
        none."""
        owners = [
            n for n in parsed.body if isinstance(n, ast.ClassDef) and not _TABLES.search(n.name) and not _takes_all(n)
        ]
        inside = [n for owner in owners for n in walk(owner)]
        kept = [n for owner in owners if self._is_of_library(owner.name) for n in walk(owner)]
        of_self = {id(n) for n in kept if isinstance(n, ast.Attribute) and dotted(n.value) == "self"}
        return of_self | {id(n) for n in inside if isinstance(n, _DEFINED)}

    def _harmless(self, parsed: ast.Module, values: Mapping[int, ast.expr]) -> set[int]:
        """Strings that only ask for the key, values under other names, and keywords that hand a variable of that name on."""
        found, bound = set[int](), self._binds(parsed, values)
        for node in walk(parsed):
            if isinstance(node, ast.Call):
                last = dotted(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
                asking = node.args[:1] if last == "get" else node.args[1:2] if last in ("getattr", "hasattr") else ()
                found.update(map(id, asking))
                makes = last in _MAKES or SETTINGS.search(last) or _TABLES.search(last)
                theirs = self._is_of_framework(dotted(node.func).partition(".")[0])
                open_ = self._unpacked or (bound and not last[:1].isupper())
                found.update(
                    id(k)
                    for k in node.keywords
                    if not makes and (theirs or self._hands_on(k.value, variables=not open_))
                )
                naming = {"dest", "key", "name"} if _DECLARES.search(last) else {"dest", "key"}
                found.update(id(k.value) for k in node.keywords if k.arg not in naming)
            elif isinstance(node, ast.Compare):
                goes_over = isinstance(node.left, ast.Name) and node.left.id in _KEYS
                compared = [n for side in node.comparators for n in (side, *getattr(side, "elts", ()))]
                found.update(map(id, (node.left, *(() if goes_over else compared))))
            elif isinstance(node, ast.Subscript):
                found.add(id(node.slice))
            elif isinstance(node, ast.Dict):
                found.update(map(id, (*filter(None, node.keys), *node.values)))
        return found

    def _binds(self, parsed: ast.Module, values: Mapping[int, ast.expr]) -> bool:
        """Whether something in a file binds a variable of the key's name to something else than what that is anyway: the name of
        a loop, as one that tries settings has."""
        stored = (n for n in walk(parsed) if isinstance(n, ast.Name) and n.id == self._key)
        bound = (values.get(id(n)) for n in stored if not isinstance(n.ctx, ast.Load))
        return any(value is None or not self._reads(value) for value in bound)

    def _declares(self, call: ast.Call) -> bool:
        """Whether a call gives a parser the key as an option, by its name alone: `parser.add_argument("--key", default=...)`."""
        if getattr(call.func, "attr", "") != "add_argument":
            return False
        names = [text_of(arg) for arg in call.args]
        return all(name.startswith("-") for name in names) and any(
            name.lstrip("-").replace("-", "_") == self._key for name in names if name.startswith("--")
        )

    def _hands_on(self, value: ast.expr, variables: bool) -> bool:
        """Whether a value is the key of some table, or a variable of that name."""
        return self._reads(value) or (variables and isinstance(value, ast.Name) and value.id == self._key)

    def _is_key(self, text: str) -> bool:
        """Whether a string is the key, also below others (`model.clip`), or as an option."""
        return text.lstrip("-").replace("__", ".").rpartition(".")[2].replace("-", "_") == self._key

    def _may_name(self, text: str, by_itself: bool) -> bool:
        """Whether a string may say the key to somebody who sets it: as an option, with a value, or by itself if that counts."""
        alone = by_itself and text.lstrip("-").replace("-", "_") == self._key
        return alone or self._spelled.search(text) is not None

    def _written(self, value: ast.expr | None) -> Iterator[Const | None]:
        """What is written for the key; nothing where that is what it is anyway, but for what `get` gives where it is missing."""
        if isinstance(value, ast.Call) and dotted(value.func) == "bool" and any(map(self._reads, value.args)):
            yield TRUTH
        elif isinstance(value, ast.Compare) and (text := self._compared(value)):
            yield Const(f"{IS}{text}")
        elif value is None or not self._reads(value):
            found = constant(value.value) if isinstance(value, ast.Constant) else None
            yield found if isinstance(found, Const) else None
        elif isinstance(value, ast.Call):
            yield from self._written(value.args[1]) if len(value.args) > 1 else (Const(None),)

    def _compared(self, value: ast.Compare) -> str:
        """The text of which a comparison says whether the key is that; "" for any other."""
        alike = len(value.ops) == 1 and isinstance(value.ops[0], ast.Eq) and self._reads(value.left)
        return text_of(value.comparators[0]) if alike else ""

    def _reads(self, value: ast.expr) -> bool:
        """Whether a value is the key of some table."""
        if isinstance(value, ast.Call):
            asks = getattr(value.func, "attr", "") == "get" and bool(value.args) and not value.keywords
            return asks and text_of(value.args[0]) == self._key
        if isinstance(value, ast.Attribute):
            return value.attr == self._key
        return isinstance(value, ast.Subscript) and text_of(value.slice) == self._key

    def _by_default(self, function: _Function) -> Iterator[Const | None]:
        """What a function takes by default under that name, which it may make settings of."""
        arguments = function.args
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = zip(reversed(named), reversed(arguments.defaults), strict=False)
        for argument, default in (*defaults, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
            if argument.arg == self._key and default is not None:
                yield from self._written(default)

    def _fields(
        self, node: ast.Module | ast.ClassDef | _Function, values: dict[int, ast.expr]
    ) -> Iterator[Const | None]:
        """What a class, a file, or a function that is made settings, has under that name."""
        for statement in node.body:
            for target in walk(statement) if not isinstance(statement, (*_DEFINED, ast.ClassDef)) else ():
                if isinstance(target, ast.Name) and target.id == self._key and not isinstance(target.ctx, ast.Load):
                    yield from self._written(values.get(id(target)))


def _telling(parsed: ast.Module) -> set[int]:
    """Texts that document, or are only compared and shown."""
    documenting = {id(node.value) for node in walk(parsed) if isinstance(node, ast.Expr)}
    helping = {id(node.value) for node in walk(parsed) if isinstance(node, ast.keyword) and node.arg == "help"}
    return documenting | helping | set(_shown(parsed))


def _is_of_settings(node: ast.AST) -> TypeGuard[_Function]:
    """Whether a function's variables are settings: `@experiment.named_config`."""
    decorators = node.decorator_list if isinstance(node, _DEFINED) else ()
    return any(dotted(one).rpartition(".")[2].endswith("config") for one in decorators)


def _takes_all(owner: ast.ClassDef) -> bool:
    """Whether a class may keep all that a method is given: `vars(self).update(locals())`."""
    return any(isinstance(node, ast.Name) and node.id == "locals" for node in walk(owner))


def _shown(parsed: ast.Module) -> Iterator[int]:
    """The texts that the functions of a file keep under names which it only compares, or puts into other texts."""
    nodes = [*walk(parsed)]
    told = [n.value for n in nodes if isinstance(n, ast.FormattedValue)]
    told += [side for n in nodes if isinstance(n, ast.Compare) for side in (n.left, *n.comparators)]
    harmless = {id(n) for n in told}
    used = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in harmless}
    given_out = {name for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    for node in (inner for n in nodes if isinstance(n, _DEFINED) for inner in walk(n)):
        names = [getattr(t, "id", "") for t in node.targets] if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.Assign) and "" not in names and used.union(given_out).isdisjoint(names):
            yield id(node.value)


def _usual(call: ast.Call) -> Const | None:
    """What an option is that nobody gives, where it is declared; None where that isn't known, as of a text that becomes something else."""
    said = {keyword.arg: keyword.value for keyword in call.keywords}
    if not said.keys().isdisjoint({None, "dest", "required"}):
        return None
    action = text_of(said["action"]) if "action" in said else "store"
    default = said.get("default", ast.Constant({"store_true": False, "store_false": True}.get(action)))
    found = constant(default.value) if isinstance(default, ast.Constant) and action else None
    if not isinstance(found, Const) or (isinstance(found.value, str) and dotted(said.get("type", _STR)) != "str"):
        return None
    return found


def _values(parsed: ast.Module) -> dict[int, ast.expr]:
    """What is assigned to targets, by their identity."""
    found = dict[int, ast.expr]()
    for node in walk(parsed):
        if isinstance(node, ast.Assign):
            found.update((id(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found[id(node.target)] = node.value
    return found
