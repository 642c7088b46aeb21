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

from detlint.checks.applied import Applied
from detlint.checks.configured import Configured
from detlint.checks.gradients import BEGINNING, Gradients
from detlint.checks.guards import class_in
from detlint.checks.hints import READERS, without_hints
from detlint.checks.unused import puts_names_together
from detlint.facts.loops import dotted
from detlint.facts.model import Instance, Param, Result, Site, Value, is_made_by
from detlint.facts.nodes import walk
from detlint.facts.parse import tree
from detlint.facts.yaml_text import is_yaml
from detlint.model.training import ASKS, FREEZES, NEEDS, REQUIRES
from detlint.program.answers import Answers
from detlint.program.resolve import Module
from detlint.program.texts import IMPORT, deriving, whole
from detlint.program.users import Use, Users

_ASKS, _FREEZES = REQUIRES
_DEEPEST: Final = 2
"""Functions that hand a network on to one that freezes it."""


class Frozen:
    """Finds layers whose weights are never trained.

    Args:
        in_library: whether others may use what is in a file.
        idle: whether nothing runs a function or class of a file.
        trains: whether something may train in a definition of a file's top level, "" for what stands in none.
    """

    def __init__(
        self,
        gradients: Gradients,
        users: Users,
        in_library: Callable[[Module], bool],
        idle: Callable[[Module, str], bool],
        trains: Callable[[str, str], bool],
    ) -> None:
        self._gradients = gradients
        self._resolver = users.resolver
        self._users = users
        self._in_library = in_library
        catalog = users.resolver.catalog
        self._weights = catalog.words_with("weights")
        self._named = catalog.words_with("named-weights")
        self._same = catalog.words_with("returns-self")
        self._loads = catalog.loading
        self._idle = idle
        self._trains = trains
        self._applied = Applied(users, trains)
        self._configured = Configured(users, self._is_frozen_in)
        self._decided: Answers[bool] = Answers(users)
        self._said: Answers[bool] = Answers(users)

    def holds(self, module: Module, index: int) -> bool:
        """Whether the layer that a site makes is only part of networks whose weights are frozen."""
        return self._said.of(module.path, lambda: self._only_freeze(module), False) and self._is_part(module, index)

    def _is_part(self, module: Module, index: int, part: str = "") -> bool:
        """Whether what a site makes is frozen there, or only part of what is; or an attribute of it."""
        site = module.sites[index]
        function = module.function_of(site)
        if self._is_frozen_there(module, site, part):
            return True
        if function.owner and part:
            return False
        if function.owner:
            layer = self._resolver.layer(f"{module.path}::{function.owner}")
            method = function.name.rpartition(".")[2]
            # Whoever calls its other methods may make a network of its own by them.
            inside = method in BEGINNING or (method.startswith("_") and not method.startswith("__"))
            if layer is None or not inside:
                return False
            part = self._kept_as(module, site) if method == "__init__" else ""
            return self._are_all(module, function.owner) or (part != "" and self._are_all(module, function.owner, part))
        if not function.name or not is_made_by(function.returns, index):
            of_whole = self._given_back_in(module, site) if function.name and not part else ""
            return of_whole != "" and self._are_all(module, function.name, of_whole)
        return self._are_all(module, function.name, part)

    def _given_back_in(self, module: Module, site: Site) -> str:
        """The attribute that what a site makes is of what its function makes of it, and gives back without doing more with it than to
        choose its mode or to load its weights; "" for none."""
        found = [*self._names_of(module, site)]
        name, body = found[0] if len(found) == 1 else ("", ())
        made, _, part = name.partition(".")
        for statement in body if part else ():
            if isinstance(statement, ast.Return) and dotted(statement.value or statement) == made:
                return part
            if _may_leave(statement) or (_mentions(statement, name) and not self._only_prepares(statement, name)):
                return ""
        if found:
            return ""
        text, place = self._users.texts.code(module.path), _place(site)
        last = (body[-1] for body in _blocks(text)) if text is not None else ()
        given = (statement.value for statement in last if isinstance(statement, ast.Return) and statement.value)
        parts = (self._part_of(module.path, value, lambda of: self._makes(of, place)) for value in given)
        return next(filter(None, parts), "")

    def _kept_as(self, module: Module, site: Site) -> str:
        """The one attribute of its object under which a constructor keeps what a site makes, if its class sets that nowhere else, and
        hands on no weights, which may be trained whatever becomes of them later; "" for none."""
        text = self._users.texts.code(module.path)
        names = [name for name, _ in self._names_of(module, site)]
        kind, _, part = names[0].partition(".") if len(names) == 1 else ("", "", "")
        owner = class_in(text, module.function_of(site).owner) if text is not None and kind == "self" else None
        if owner is None or not part.isidentifier():
            return ""
        return part if self._is_kept_alone(owner, part) else ""

    def _are_all(self, module: Module, name: str, part: str = "") -> bool:
        """Whether all that a class or a function of a file makes is part of what is frozen.

        Args:
            part: an attribute of the objects of that class: whether this is frozen where they are made.
        """

        def find() -> bool:
            if not name.isidentifier() or self._may_be_used_otherwise(module, name):
                return False
            found = self._gradients.uses(module, name) or ()
            others = (use for use in found if not (self._is_of_made(use) or self._only_tells(use, name)))
            uses = [use for use in others if not (use.around and self._idle(use.module, use.around))]
            frozen = [self._makes_part(use, part) for use in uses]
            return any(frozen) and all(
                is_it or self._only_applies(use) for is_it, use in zip(frozen, uses, strict=True)
            )

        return self._decided.of((module.path, name, part), find, False)

    def _makes_part(self, use: Use, part: str = "") -> bool:
        """Whether a use of a definition is a call, and what that makes only part of what is frozen, or an attribute of it frozen there."""
        is_call = use.called and use.site >= 0 and use.module.sites[use.site].kind == "call"
        if is_yaml(use.module.path):
            return is_call and not part and self._configured.holds(use.module, use.site)
        return is_call and self._is_part(use.module, use.site, part)

    def _only_applies(self, use: Use) -> bool:
        """Whether a use of a definition is a call, and what that makes only applied there."""
        is_call = use.called and use.site >= 0 and use.module.sites[use.site].kind == "call"
        return is_call and not is_yaml(use.module.path) and self._applied.holds(use)

    def _is_of_made(self, use: Use) -> bool:
        """Whether a use calls what was made, rather than to make one: `self.features(x)`."""
        if not use.called or use.site < 0:
            return False
        site = use.module.sites[use.site]
        target = self._resolver.normal(use.module.path, site.target, use.module.function_of(site))
        return isinstance(target, Result)

    def _only_tells(self, use: Use, name: str) -> bool:
        """Whether another file only says the name of a definition to say of which class something is, and nobody reads that."""
        text = self._users.texts.code(use.module.path) if use.site < 0 else None
        if text is None or re.search(rb"\b%s\s+as\b" % name.encode(), text):
            return False
        said = whole(name).search(IMPORT.sub(b"", without_hints(text))) is not None
        return not said and not self._users.texts.saying_any(READERS, self._users.home(use.module))

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

    def _is_frozen_there(self, module: Module, site: Site, part: str = "") -> bool:
        """Whether what a site makes, or an attribute of it, gets a name, and is frozen behind it, before anything but its mode and its
        weights is set."""
        found = [*self._names_of(module, site)]
        ends = f".{part}" if part else ""
        return len(found) == 1 and self._is_frozen_in(module.path, found[0][1], found[0][0] + ends)

    def _names_of(self, module: Module, site: Site) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
        """The name that what a site makes gets, also as a part of what is made of it, with the statements behind that."""
        text, place = self._users.texts.code(module.path), _place(site)
        for body in _blocks(text) if text is not None else ():
            for number, statement in enumerate(body):
                name = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
                if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not name:
                    continue
                if self._makes(statement.value, place):
                    yield name, body[number + 1 :]
                elif part := self._part_of(module.path, statement.value, lambda given: self._makes(given, place)):
                    yield f"{name}.{part}", body[number + 1 :]

    def _part_of(self, path: str, value: ast.expr, is_it: Callable[[ast.expr], bool]) -> str:
        """The one attribute under which an object of the program keeps a network that it is made of, whose class does nothing else with
        what it is handed, and hands on no weights; "" for anything else.

        Args:
            is_it: whether an argument is that network.
        """
        given = [*value.args, *(keyword.value for keyword in value.keywords)] if isinstance(value, ast.Call) else []
        if not isinstance(value, ast.Call) or sum(map(is_it, given)) != 1 or not all(map(_is_written_out, given)):
            return ""
        home, name = self._definition(path, value.func)
        module = self._resolver.module(home) if home else None
        made = module.functions.get(f"{name}.__init__") if module is not None else None
        text = self._users.texts.code(home) if module is not None else None
        owner = class_in(text, name) if text is not None else None
        if module is None or made is None or owner is None or module.classes[name].decorators:
            return ""
        if self._trains(home, name):
            return ""
        parameters = [parameter.name for parameter in module.detail(made).parameters[1:] if not parameter.kind]
        named = {keyword.arg: keyword.value for keyword in value.keywords} | dict(
            zip(parameters, value.args, strict=False)
        )
        taken = next((parameter for parameter, handed in named.items() if is_it(handed)), None)
        kept = [part for part, of in module.classes[name].attributes.items() if _is_parameter(of, taken or "")]
        init = next((node for node in owner.body if getattr(node, "name", "") == "__init__"), owner)
        said = sum(isinstance(node, ast.Name) and node.id == taken for node in walk(init))
        return kept[0] if len(kept) == 1 and said == 1 and self._is_kept_alone(owner, kept[0]) else ""

    def _is_kept_alone(self, owner: ast.ClassDef, part: str) -> bool:
        """Whether a class sets an attribute in one place, and hands on no weights, which may be trained whatever becomes of them later."""
        said = [node for node in walk(owner) if isinstance(node, ast.Attribute)]
        alone = sum(node.attr == part and not isinstance(node.ctx, ast.Load) for node in said) == 1
        return alone and not any(node.attr in self._weights | self._named for node in said)

    def _makes(self, value: ast.expr, place: tuple[int, int, int, int]) -> bool:
        """Whether a value is what the call at a place gives, perhaps by methods that give the object itself."""
        if not isinstance(value, ast.Call):
            return False
        if (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset) == place:
            return True
        func = value.func
        return isinstance(func, ast.Attribute) and func.attr in self._same and self._makes(func.value, place)

    def _is_frozen_in(self, path: str, body: Sequence[ast.stmt], name: str, depth: int = 0) -> bool:
        """Whether the statements behind the one that makes a network freeze it, before anything else is done with it or may leave.

        Args:
            path: the file in which they stand.
            depth: how many functions handed the network on to them.
        """
        names = [name]
        for statement in body:
            if any(self._freezes(path, statement, each, depth) for each in names):
                return True
            other = self._renamed(path, statement, names)
            if other:
                names.append(other)
            elif _may_leave(statement) or any(
                _mentions(statement, each) and not self._only_prepares(statement, each) for each in names
            ):
                return False
        return False

    def _renamed(self, path: str, statement: ast.stmt, names: Sequence[str]) -> str:
        """The name under which a statement keeps what has one of some names: `self.encoder = net.eval()`, `whole = Whole(net)`."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return ""
        value = statement.value
        if part := self._part_of(path, value, lambda given: dotted(given) in names):
            return f"{target}.{part}" if (target := dotted(statement.targets[0])) else ""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in self._same:
            value = value.func.value
        return dotted(statement.targets[0]) if dotted(value) in names else ""

    def _freezes(self, path: str, statement: ast.stmt, name: str, depth: int) -> bool:
        """Whether a statement freezes all weights of the network that a name is."""
        if isinstance(statement, ast.Expr):
            return _sets_false(statement.value, name) or self._hands_to_freeze(path, statement.value, name, depth)
        if not isinstance(statement, ast.For) or statement.orelse:
            return False
        weight = self._weight_of(statement, name)
        return weight != "" and all(_freezes_one(part, weight) for part in statement.body)

    def _weight_of(self, loop: ast.For, name: str) -> str:
        """The name that each weight of a network gets in a loop over all of them: with their names, too (`for name, p in
        net.named_parameters()`); "" for any other loop."""
        weights, target, words = loop.iter, loop.target, self._weights
        if isinstance(weights, ast.Call) and isinstance(weights.func, ast.Attribute) and weights.func.attr == "values":
            weights = weights.func.value
        elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
            target, words = target.elts[1], self._named
        if not isinstance(weights, ast.Call) or not isinstance(weights.func, ast.Attribute):
            return ""
        of_all = not weights.args and not weights.keywords and weights.func.attr in words
        is_it = of_all and dotted(weights.func.value) == name
        return target.id if is_it and isinstance(target, ast.Name) else ""

    def _hands_to_freeze(self, path: str, value: ast.expr, name: str, depth: int) -> bool:
        """Whether an expression hands a network, and nothing else, to a function of the program that freezes it first of all."""
        if not isinstance(value, ast.Call) or len(value.args) != 1 or value.keywords or depth == _DEEPEST:
            return False
        if dotted(value.args[0]) != name:
            return False
        home, inside = self._definition(path, value.func)
        function = _function(self._users.texts.code(home) or b"", inside) if home else None
        return function is not None and self._is_frozen_in(home, function.body, function.args.args[0].arg, depth + 1)

    def _definition(self, path: str, func: ast.expr) -> tuple[str, str]:
        """The definition of the program that an expression names, with its file; "" for none."""
        module = self._resolver.module(path)
        meant = self._resolver.meant(module, dotted(func)) if module is not None else ""
        home, colon, inside = meant.partition("::")
        self._resolver.opened.update({home} if colon else ())
        return (home, inside) if colon else ("", "")

    def _only_prepares(self, statement: ast.stmt, name: str) -> bool:
        """Whether all that a statement does with a network is to choose its mode or its place, or to load its weights, perhaps only if
        something else is so."""
        if isinstance(statement, ast.If):
            parts = [*statement.body, *statement.orelse]
            asks = _mentions(ast.Expr(statement.test), name)
            return not asks and all(not _mentions(part, name) or self._only_prepares(part, name) for part in parts)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        call = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if not isinstance(call, ast.Call):
            return False
        last = dotted(call.func).rpartition(".")[2]
        around = name.rpartition(".")[0]
        of = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if of and of in (name, around) and last in self._same - {"apply"}:
            return all(dotted(target) == of for target in targets)
        return last in self._loads

    def _only_freeze(self, module: Module) -> bool:
        """Whether files of the project freeze something, and none, but in what nothing runs, asks for gradients of what needs none."""
        training, found = self._gradients.training, set[str]()
        for home in self._asking(module):
            for name, signs in training.signs(home).items():
                if not signs.isdisjoint((ASKS, NEEDS)) and not (name and self._idle(home, name)):
                    return False
                found |= signs
        return FREEZES in found

    def _asking(self, module: Module) -> Iterator[Module]:
        """The files of the project of a file, those that it imports, and those that import it, which say whether something needs
        gradients."""
        modules, texts, project = self._resolver.modules, self._users.texts, self._users.project(module)
        texts.sought.update((project, word) for word in REQUIRES)
        found = (modules.find(module.path, name) for name in module.facts.imports)
        others = [*self._users.importers(module.path), *(place[0] for place in found if place is not None)]
        self._users.asked.add(os.path.basename(module.path).partition(".")[0])
        self._resolver.opened.update(others)
        for path in dict.fromkeys([*texts.below(project), *others]):
            code = modules.code(path)
            home = (
                self._resolver.module(path) if code is not None and not code.identifiers.isdisjoint(REQUIRES) else None
            )
            if home is not None:
                self._resolver.opened.add(path)
                yield home


@lru_cache(maxsize=16)
def _function(text: bytes, name: str) -> ast.FunctionDef | None:
    """The one function of that name at the top level of a file, if it is a plain one and takes something; None for any other."""
    body = (tree(text) or ast.Module([], [])).body
    found = [node for node in body if getattr(node, "name", "") == name]
    function = found[0] if len(found) == 1 and isinstance(found[0], ast.FunctionDef) else None
    plain = function is not None and not function.decorator_list and not function.args.posonlyargs
    generates = function is not None and any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in walk(function))
    return function if function is not None and plain and not generates and function.args.args else None


@lru_cache(maxsize=4)
def _blocks(text: bytes) -> Sequence[Sequence[ast.stmt]]:
    """The blocks of a file's statements; none where it can't be read."""
    nodes = walk(tree(text) or ast.Module([], []))
    fields = (field for node in nodes for _, field in ast.iter_fields(node))
    return [field for field in fields if isinstance(field, list) and field and isinstance(field[0], ast.stmt)]


def _place(site: Site) -> tuple[int, int, int, int]:
    """Where a site begins and ends."""
    span = site.span
    return span.line, span.column, span.end_line, span.end_column


def _is_parameter(value: Value | None, name: str) -> bool:
    """Whether a value is the parameter of that name, perhaps with a class as its hint."""
    return value == Param(name) or (isinstance(value, Instance) and name != "" and value.name == name)


def _is_written_out(given: ast.expr) -> bool:
    """Whether an argument stands for itself, and isn't unpacked."""
    return not isinstance(given, ast.Starred)


def _mentions(statement: ast.stmt, name: str) -> bool:
    """Whether a statement says a name, or does something with the object that it is an attribute of, which may do anything to it."""
    nodes = [*walk(statement)]
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
    return targets == [f"{name}.{_ASKS}"] and isinstance(value, ast.Constant) and value.value is False


def _sets_false(value: ast.expr, name: str) -> bool:
    """Whether an expression is `name.requires_grad_(False)`."""
    if not isinstance(value, ast.Call) or dotted(value.func) != f"{name}.{_FREEZES}":
        return False
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False


def _may_leave(statement: ast.stmt) -> bool:
    """Whether the flow may leave a function, or a loop, in a statement."""
    return any(isinstance(node, (ast.Return, ast.Break, ast.Continue)) for node in walk(statement))
