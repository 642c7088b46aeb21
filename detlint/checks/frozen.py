"""Layers that only networks have whose weights are frozen: `for p in net.parameters(): p.requires_grad = False`.

No gradient of their weights is ever taken, though one may go through them. What becomes of a network once it is made is read from the
text, for the few sites that would be told.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from detlint.checks.configured import Configured
from detlint.checks.gradients import BEGINNING, Gradients
from detlint.checks.thawed import Thawed
from detlint.checks.unused import puts_names_together
from detlint.facts.loops import dotted
from detlint.facts.model import Result, Site, is_made_by
from detlint.facts.parse import tree
from detlint.facts.yaml_text import is_yaml
from detlint.program.answers import Answers
from detlint.program.resolve import Module
from detlint.program.texts import deriving
from detlint.program.users import Use, Users

ASKS: Final = "requires_grad"
FREEZES: Final = "requires_grad_"
"""A method of networks, and of tensors."""
_FREEZING: Final = re.compile(rb"\brequires_grad(?:\s*=\s*|_\(\s*(?:requires_grad\s*=\s*)?)False\b")


class Frozen:
    """Finds layers whose weights are never trained.

    Args:
        in_library: whether others may use what is in a file.
        idle: whether nothing runs a function or class of a file.
    """

    def __init__(
        self,
        gradients: Gradients,
        users: Users,
        in_library: Callable[[Module], bool],
        idle: Callable[[Module, str], bool],
    ) -> None:
        self._gradients = gradients
        self._resolver = users.resolver
        self._users = users
        self._in_library = in_library
        catalog = users.resolver.catalog
        self._weights = catalog.words_with("weights")
        self._same = catalog.words_with("returns-self")
        self._loads = catalog.loading
        self._thawed = Thawed(users.resolver, idle)
        self._configured = Configured(users, self._is_frozen_in)
        self._decided: Answers[bool] = Answers(users)
        self._said: Answers[bool] = Answers(users)

    def holds(self, module: Module, index: int) -> bool:
        """Whether the layer that a site makes is only part of networks whose weights are frozen."""
        return self._said.of(module.path, lambda: self._only_freeze(module), False) and self._is_part(module, index)

    def _is_part(self, module: Module, index: int) -> bool:
        """Whether what a site makes is frozen there, or only part of what is."""
        site = module.sites[index]
        function = module.function_of(site)
        if self._is_frozen_there(module, site):
            return True
        if function.owner:
            layer = self._resolver.layer(f"{module.path}::{function.owner}")
            method = function.name.rpartition(".")[2]
            # Whoever calls its other methods may make a network of its own by them.
            inside = method in BEGINNING or (method.startswith("_") and not method.startswith("__"))
            return layer is not None and inside and self._are_all(module, function.owner)
        return bool(function.name) and is_made_by(function.returns, index) and self._are_all(module, function.name)

    def _are_all(self, module: Module, name: str) -> bool:
        """Whether all that a class or a function of a file makes is part of what is frozen."""

        def find() -> bool:
            if not name.isidentifier() or self._may_be_used_otherwise(module, name):
                return False
            uses = [use for use in self._gradients.uses(module, name) or () if not self._is_of_made(use)]
            return bool(uses) and all(self._makes_part(use) for use in uses)

        return self._decided.of((module.path, name), find, False)

    def _makes_part(self, use: Use) -> bool:
        """Whether a use of a definition is a call, and what that makes only part of what is frozen."""
        is_call = use.called and use.site >= 0 and use.module.sites[use.site].kind == "call"
        if is_yaml(use.module.path):
            return is_call and self._configured.holds(use.module, use.site)
        return is_call and self._is_part(use.module, use.site)

    def _is_of_made(self, use: Use) -> bool:
        """Whether a use calls what was made, rather than to make one: `self.features(x)`."""
        if not use.called or use.site < 0:
            return False
        site = use.module.sites[use.site]
        target = self._resolver.normal(use.module.path, site.target, use.module.function_of(site))
        return isinstance(target, Result)

    def _may_be_used_otherwise(self, module: Module, name: str) -> bool:
        """Whether something may be used by who doesn't say its name: in what is installed, by names put together, or by what
        derives from it."""
        if name in module.classes:
            decorated = bool(module.classes[name].decorators)
        else:
            decorated = name not in module.functions or bool(module.detail(module.functions[name]).decorators)
        if decorated or self._in_library(module) or puts_names_together(self._users, module):
            return True
        saying = self._users.saying(module, name) if name.isascii() else None
        return saying is None or any(deriving(name).search(self._users.texts.of(path) or b"") for path in saying)

    def _is_frozen_there(self, module: Module, site: Site) -> bool:
        """Whether what a site makes gets a name, and is frozen behind it, before anything but its mode and its weights is set."""
        text = self._users.texts.code(module.path)
        if text is None or not _FREEZING.search(text):
            return False
        span = site.span
        place = (span.line, span.column, span.end_line, span.end_column)
        for body in _blocks(text):
            for number, statement in enumerate(body):
                if (
                    isinstance(statement, ast.Assign)
                    and len(statement.targets) == 1
                    and self._makes(statement.value, place)
                ):
                    name = dotted(statement.targets[0])
                    return bool(name) and self._is_frozen_in(body[number + 1 :], name)
        return False

    def _makes(self, value: ast.expr, place: tuple[int, int, int, int]) -> bool:
        """Whether a value is what the call at a place gives, perhaps by methods that give the object itself."""
        if not isinstance(value, ast.Call):
            return False
        if (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset) == place:
            return True
        func = value.func
        return isinstance(func, ast.Attribute) and func.attr in self._same and self._makes(func.value, place)

    def _is_frozen_in(self, body: Sequence[ast.stmt], name: str) -> bool:
        """Whether the statements behind the one that makes a network freeze it, before anything else is done with it or may leave."""
        names = [name]
        for statement in body:
            if any(self._freezes(statement, each) for each in names):
                return True
            other = self._renamed(statement, names)
            if other:
                names.append(other)
            elif _may_leave(statement) or any(
                _mentions(statement, each) and not self._only_prepares(statement, each) for each in names
            ):
                return False
        return False

    def _renamed(self, statement: ast.stmt, names: Sequence[str]) -> str:
        """The name under which a statement keeps what has one of some names: `self.encoder = net.eval()`."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return ""
        value = statement.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in self._same:
            value = value.func.value
        return dotted(statement.targets[0]) if dotted(value) in names else ""

    def _freezes(self, statement: ast.stmt, name: str) -> bool:
        """Whether a statement freezes all weights of the network that a name is."""
        if isinstance(statement, ast.Expr):
            return _sets_false(statement.value, name)
        if not isinstance(statement, ast.For) or statement.orelse or not isinstance(statement.target, ast.Name):
            return False
        weights = statement.iter
        if isinstance(weights, ast.Call) and isinstance(weights.func, ast.Attribute) and weights.func.attr == "values":
            weights = weights.func.value
        if not isinstance(weights, ast.Call) or not isinstance(weights.func, ast.Attribute):
            return False
        if (
            weights.args
            or weights.keywords
            or weights.func.attr not in self._weights
            or dotted(weights.func.value) != name
        ):
            return False
        return all(_freezes_one(part, statement.target.id) for part in statement.body)

    def _only_prepares(self, statement: ast.stmt, name: str) -> bool:
        """Whether all that a statement does with a network is to choose its mode or its place, or to load its weights."""
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if not isinstance(call, ast.Call):
            return False
        last = dotted(call.func).rpartition(".")[2]
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == name and last in self._same - {"apply"}:
            return all(dotted(target) == name for target in targets)
        return last in self._loads

    def _only_freeze(self, module: Module) -> bool:
        """Whether files of the project freeze something, and none asks for gradients of what is no parameter from the first."""
        texts = [*self._asking(module)]
        freezing = any(_FREEZING.search(text) for _, text in texts)
        return freezing and not any(self._thawed.may(path, text) for path, text in texts)

    def _asking(self, module: Module) -> Iterator[tuple[str, bytes]]:
        """The texts of the project of a file, and of what it imports or who imports it, that say whether something needs gradients,
        with their files."""
        modules, texts = self._resolver.modules, self._users.texts
        paths = dict.fromkeys(texts.saying_any((ASKS, FREEZES), self._users.project(module)))
        found = (modules.find(module.path, name) for name in module.facts.imports)
        others = [*self._users.importers(module.path), *(place[0] for place in found if place is not None)]
        self._users.asked.add(os.path.basename(module.path).partition(".")[0])
        for path in dict.fromkeys([*paths, *others]):
            self._resolver.opened.add(path)
            yield path, texts.of(path) or b""


@lru_cache(maxsize=4)
def _blocks(text: bytes) -> Sequence[Sequence[ast.stmt]]:
    """The blocks of a file's statements; none where it can't be read."""
    nodes = ast.walk(tree(text) or ast.Module([], []))
    fields = (field for node in nodes for _, field in ast.iter_fields(node))
    return [field for field in fields if isinstance(field, list) and field and isinstance(field[0], ast.stmt)]


def _mentions(statement: ast.stmt, name: str) -> bool:
    """Whether a statement says a name, or does something with the object that it is an attribute of, which may do anything to it."""
    nodes = [*ast.walk(statement)]
    inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    around = name.rpartition(".")[0]
    methods = (dotted(node.func) for node in nodes if isinstance(node, ast.Call))
    if around and any(method.rpartition(".")[0] == around for method in methods):
        return True
    said = (node for node in nodes if isinstance(node, (ast.Name, ast.Attribute)))
    return any(dotted(node) == name or (dotted(node) == around != "" and id(node) not in inner) for node in said)


def _freezes_one(statement: ast.stmt, name: str) -> bool:
    """Whether a statement freezes the parameter that a name is."""
    if isinstance(statement, ast.Expr):
        return _sets_false(statement.value, name)
    targets = [dotted(target) for target in statement.targets] if isinstance(statement, ast.Assign) else []
    value = statement.value if isinstance(statement, ast.Assign) else None
    return targets == [f"{name}.{ASKS}"] and isinstance(value, ast.Constant) and value.value is False


def _sets_false(value: ast.expr, name: str) -> bool:
    """Whether an expression is `name.requires_grad_(False)`."""
    if not isinstance(value, ast.Call) or dotted(value.func) != f"{name}.{FREEZES}":
        return False
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False


def _may_leave(statement: ast.stmt) -> bool:
    """Whether the flow may leave a function, or a loop, in a statement."""
    return any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in ast.walk(statement))
