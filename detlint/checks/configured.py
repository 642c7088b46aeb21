"""Parts of networks that a configuration describes, and that the constructor which is handed the description makes and freezes:
`first_stage_config: {target: ldm.AutoencoderKL, params: ...}` in what describes a whole network.

The configuration says which class's constructor is handed the description, and as which parameter. What becomes of it there is read
from the text, through methods of the object itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.model import Items, Mapping, Ref, Result, Site, Value
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.facts.yaml_text import is_yaml
from detlint.program.resolve import Module
from detlint.program.users import Users

_TAKEN_OUT: Final = rb"(?:\.|\[\s*[\"']|(?:get|pop|setdefault)\(\s*[\"'])%s\b"
"""How code takes a description out of the one around it."""
_SHARES: Final = re.compile(rb"[:\-]\s+&\w")
"""A part of a YAML file that is named, so that it may stand elsewhere, too."""
_DEEPEST: Final = 4
"""Methods that hand a description on to others."""


class Configured:
    """Finds such parts.

    Args:
        freezes: whether statements of a file freeze what a name is before they do anything else with it.
    """

    def __init__(self, users: Users, freezes: Callable[[str, Sequence[ast.stmt], str], bool]) -> None:
        self._users = users
        self._resolver = users.resolver
        self._freezes = freezes

    def holds(self, module: Module, index: int) -> bool:
        """Whether what a site of a configuration describes is frozen by each constructor that is handed the description."""
        text = self._users.texts.of(module.path) if is_yaml(module.path) else None
        if text is None or _SHARES.search(text):
            return False
        held = [(site, arg.name, _place(arg.value, index)) for site in module.sites for arg in site.args]
        found = [(site, name, deep) for site, name, deep in held if deep is not None]
        return bool(found) and all(not deep and self._is_frozen_by(module, site, name) for site, name, deep in found)

    def _is_frozen_by(self, module: Module, site: Site, name: str) -> bool:
        """Whether the constructor that a site calls freezes what it makes of a parameter, and nobody else is handed that."""
        made = self._resolver.normal(module.path, site.target)
        if not (isinstance(made, Ref) and "::" in made.name and name.isidentifier() and name.isascii()):
            return False
        project = self._users.project(self._resolver.known(made.name.partition("::")[0]))
        taken = re.compile(_TAKEN_OUT % name.encode())
        for path in self._users.texts.saying(name, project):
            self._resolver.opened.add(path)
            if not is_yaml(path) and taken.search(self._users.texts.of(path) or b""):
                return False
        return self._only_freezes(made.name, "__init__", name, _DEEPEST)

    def _only_freezes(self, made: str, method: str, parameter: str | int, deepest: int) -> bool:
        """Whether all that a method of a class makes of a parameter is frozen there, or by the methods that it hands that to.

        Args:
            parameter: its name, or its position, counted from 1.
        """
        found = self._resolver.attribute_of_class(made, method) if deepest else None
        if not (isinstance(found, Ref) and "::" in found.name):
            return False
        path, _, inside = found.name.partition("::")
        self._resolver.opened.add(path)
        node = _functions(self._users.texts.of(path) or b"").get(inside)
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)] if node is not None else []
        name = names[parameter] if isinstance(parameter, int) and parameter < len(names) else parameter
        if node is None or node.decorator_list or name not in names[1:]:
            return False
        counted = {id(said) for said in _only_asked(node, str(name))}
        handed = 0
        for said, body in _calls(node, str(name)):
            if not self._keeps_frozen(path, made, said, body, names[0], deepest):
                return False
            counted.add(id(said.args[0]))
            handed += 1
        return handed > 0 and all(id(n) in counted for n in walk(node) if isinstance(n, ast.Name) and n.id == name)

    def _keeps_frozen(
        self, path: str, made: str, call: ast.Call, body: Sequence[ast.stmt], own: str, deepest: int
    ) -> bool:
        """Whether a call that is handed a description gives what is frozen at once, or is of a method that does so itself.

        Args:
            path: the file of the method in which it stands.
            body: the statement with the call, and those behind it.
            own: the name of the object.
        """
        first = body[0]
        if isinstance(first, ast.Assign):
            name = dotted(first.targets[0]) if len(first.targets) == 1 else ""
            return name != "" and self._freezes(path, body[1:], name)
        owner, _, method = dotted(call.func).rpartition(".")
        return owner == own and self._only_freezes(made, method, 1, deepest - 1)


def _place(value: Value | None, index: int) -> bool | None:
    """Whether what a site builds is inside of a value; False where it is the value itself, None where it isn't there."""
    if isinstance(value, Result):
        return False if value.site == index else None
    parts = value.values if isinstance(value, (Items, Mapping)) else ()
    return True if any(_place(part, index) is not None for part in parts) else None


@lru_cache(maxsize=4)
def _functions(text: bytes) -> dict[str, ast.FunctionDef]:
    """The methods of a file's classes, by their names inside it; none where it can't be read."""
    classes = (node for node in (tree(text) or ast.Module([], [])).body if isinstance(node, ast.ClassDef))
    return {
        f"{owner.name}.{node.name}": node
        for owner in classes
        for node in owner.body
        if isinstance(node, ast.FunctionDef)
    }


def _calls(function: ast.FunctionDef, name: str) -> Iterator[tuple[ast.Call, Sequence[ast.stmt]]]:
    """The calls that are handed a name alone, of statements that are no more than that, with all that stands behind in their block."""
    for node in walk(function):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, ())
            for number, statement in enumerate(block if isinstance(block, list) else ()):
                call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
                if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords and _is(call.args[0], name):
                    yield call, block[number:]


def _only_asked(function: ast.FunctionDef, name: str) -> Iterator[ast.Name]:
    """Where a function says a name without making anything of it: it compares it, or counts what is in it."""
    for node in walk(function):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and dotted(node.func) == "len":
            asked = node.args
        for value in asked:
            while isinstance(value, (ast.Attribute, ast.Subscript)):
                value = value.value
            if isinstance(value, ast.Name) and value.id == name:
                yield value


def _is(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Name) and value.id == name
