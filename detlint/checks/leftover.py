"""Layers that are put into others, or given back by a method of their own network, and come to where nothing ever calls them, or are
replaced before anything does.

The facts know what is kept as an attribute itself. Where it is a part of what is kept is read here from the text of the class, for
the few sites that would be told.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Final

from detlint.checks.guards import call_in, class_in
from detlint.checks.match import Matcher
from detlint.facts.loops import dotted
from detlint.facts.nodes import walk
from detlint.model.readers import Readers
from detlint.program.resolve import Module
from detlint.program.texts import Texts

MOST: Final = 32
"""So many classes are kept as they were read."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Leftover:
    """Finds layers that end where nothing calls them.

    Args:
        always: says whether a test always holds in the function of a site.
    """

    def __init__(
        self, matcher: Matcher, texts: Texts, attributes: Readers, always: Callable[[Module, int, ast.expr], bool]
    ) -> None:
        self._always = always
        self._resolver = matcher.resolver
        self._texts = texts
        self._attributes = attributes
        self._read: dict[tuple[str, str], _Parts | None] = {}

    def holds(self, module: Module, index: int) -> bool:
        """Whether nothing ever calls the layer that a site makes, nor any that it is put into."""
        site = module.sites[index]
        owner = module.function_of(site).owner
        if not owner.isidentifier() or not module.path.endswith(".py"):
            return False
        if (module.path, owner) not in self._read:
            if len(self._read) == MOST:
                self._read.clear()
            self._read[module.path, owner] = self._parts(module, owner)
        parts = self._read[module.path, owner]
        text = self._texts.of(module.path)
        found = call_in(text, owner, site.span) if parts is not None and text is not None else None
        made = parts.at(found[1]) if parts is not None and found is not None else None
        return parts is not None and made is not None and parts.is_left(made, partial(self._always, module, index))

    def _parts(self, module: Module, owner: str) -> _Parts | None:
        """What becomes of the parts of a layer that does its work by calling some; None for another class."""
        layer = self._resolver.layer(f"{module.path}::{owner}")
        text = self._texts.of(module.path)
        node = class_in(text, owner) if layer is not None and text is not None else None
        methods = [method for method in node.body if isinstance(method, _Function)] if node is not None else []
        forward = next((method for method in methods if layer is not None and method.name == layer.forward), None)
        if node is None or forward is None:
            return None
        calls = (call for call in walk(forward) if isinstance(call, ast.Call))
        if not any(dotted(call.func).startswith("self.") for call in calls):
            return None  # what it does stands elsewhere
        return _Parts(self, module, node)

    def is_layer(self, module: Module, name: str) -> bool:
        """Whether a name of a file is a layer of a framework, which does nothing to those that it is handed before it is called."""
        meant = self._resolver.meant(module, name)
        return meant != "" and "::" not in meant and self._resolver.layer(meant) is not None

    def is_read(self, module: Module, owner: str, name: str) -> bool:
        return self._attributes.is_read(module, owner, name, inside=True)

    def is_read_by_kin(self, module: Module, owner: str, name: str) -> bool:
        return self._attributes.is_read_by_kin(module, owner, name)


class _Parts:
    """The text of one layer."""

    def __init__(self, program: Leftover, module: Module, node: ast.ClassDef) -> None:
        self._program = program
        self._module = module
        self._node = node
        self._parents = {child: around for around in walk(node) for child in ast.iter_child_nodes(around)}
        self._asked: set[tuple[ast.AST | None, str]] = set()

    def at(self, call: ast.Call) -> ast.Call | None:
        """The call that stands where another reading of the text has one."""
        place = (call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
        calls = (node for node in self._parents if isinstance(node, ast.Call))
        return next((c for c in calls if (c.lineno, c.col_offset, c.end_lineno, c.end_col_offset) == place), None)

    def is_left(self, made: ast.expr, always: Callable[[ast.expr], bool]) -> bool:
        """Whether nothing ever calls what an expression gives.

        Args:
            always: says whether a test always holds around it.
        """
        self._asked.clear()
        self._always = always
        return self._ends(made)

    def _ends(self, node: ast.AST) -> bool:
        """Whether nothing is made of a layer, or of what it is put into, by what stands around it."""
        around = self._parents[node]
        if isinstance(around, (ast.keyword, ast.Starred, ast.List)):
            return self._ends(around)
        if isinstance(around, ast.Call) and around.func is not node:
            if self._program.is_layer(self._module, dotted(around.func)):
                return self._ends(around)
            name = around.func.value.id if self._adds(around.func) else ""  # type: ignore[attr-defined]
            return bool(name) and self._begins_here(node, name) and self._are_left(node, name)
        if isinstance(around, ast.Assign) and len(around.targets) == 1:
            return self._is_replaced(around) or self._ends_as(around.targets[0])
        if isinstance(around, ast.Tuple) and isinstance(self._parents[around], ast.Return):
            return self._is_given_for_nothing(node, around.elts.index(node))  # type: ignore[arg-type]
        return isinstance(around, ast.Return) and self._is_given_for_nothing(node, None)

    def _is_replaced(self, binding: ast.Assign) -> bool:
        """Whether a name that is bound gets another value before anything reads it, under a test that always holds."""
        target, around = binding.targets[0], self._parents[binding]
        blocks = (block for _, block in ast.iter_fields(around) if isinstance(block, list) and binding in block)
        block = next(blocks, [binding])
        next_ = next((s for s in block[block.index(binding) + 1 :] if _names(s, target)), None)
        if not isinstance(target, ast.Name) or not isinstance(next_, ast.If) or _names(next_.test, target):
            return False
        anew = next((s for s in next_.body if _names(s, target)), None)
        alone = isinstance(anew, ast.Assign) and len(anew.targets) == 1 and isinstance(anew.targets[0], ast.Name)
        return alone and not _names(anew.value, target) and self._always(next_.test)  # type: ignore[union-attr]

    def _ends_as(self, target: ast.expr) -> bool:
        """Whether nothing calls what a target of an assignment holds."""
        if isinstance(target, ast.Name):
            return self._are_left(target, target.id)
        if not isinstance(target, ast.Attribute) or dotted(target) != f"self.{target.attr}":
            return False
        return not self._program.is_read(self._module, self._node.name, target.attr)

    def _are_left(self, node: ast.AST, name: str) -> bool:
        """Whether nothing calls what a name of a method holds, or the items of the list that it is."""
        method = self._method(node)
        if (method, name) in self._asked:
            return True
        self._asked.add((method, name))
        inside = [*walk(method)] if method is not None else []
        if not inside or any(isinstance(n, (ast.Global, ast.Nonlocal, *_SCOPES)) for n in inside[1:]):
            return False
        reads = [n for n in inside if isinstance(n, ast.Name) and n.id == name and _is_read(n)]
        return all(self._adds(self._parents[read]) or self._ends(read) for read in reads)

    def _adds(self, func: ast.AST) -> bool:
        """Whether a list under a name gets one more: `layers.append(layer)`."""
        if not isinstance(func, ast.Attribute) or func.attr != "append" or not isinstance(func.value, ast.Name):
            return False
        call = self._parents[func]
        return isinstance(call, ast.Call) and call.func is func and isinstance(self._parents[call], ast.Expr)

    def _begins_here(self, node: ast.AST, name: str) -> bool:
        """Whether the list that a name of a method is, is made in it: no parameter, and none that is kept elsewhere already."""
        method = self._method(node)
        inside = [*walk(method)] if method is not None else []
        if any(isinstance(n, ast.arg) and n.arg == name for n in inside):
            return False
        bound = [self._parents[n] for n in inside if isinstance(n, ast.Name) and n.id == name and not _is_read(n)]
        return bool(bound) and all(isinstance(n, ast.Assign) and self._is_made(n.value) for n in bound)

    def _is_made(self, value: ast.expr) -> bool:
        """Whether an expression makes a list, or a layer of the framework."""
        name = dotted(value.func) if isinstance(value, ast.Call) else ""
        return isinstance(value, ast.List) or name == "list" or self._program.is_layer(self._module, name)

    def _is_given_for_nothing(self, node: ast.AST, item: int | None) -> bool:
        """Whether nothing calls what a method gives back, or an item of it: only methods of the class call it, by `self`."""
        method = self._method(node)
        name = method.name if method is not None and not method.decorator_list else ""
        if (method, str(item)) in self._asked:
            return True
        self._asked.add((method, str(item)))
        if not name.startswith("_") or self._program.is_read_by_kin(self._module, self._node.name, name):
            return False
        given = [n for n in self._parents if isinstance(n, ast.Attribute) and n.attr == name]
        return bool(given) and all(self._is_put_aside(read, item) for read in given)

    def _is_put_aside(self, func: ast.Attribute, item: int | None) -> bool:
        """Whether nothing calls what a call of a method gives, or an item of it."""
        call = self._parents[func]
        around = self._parents[call]
        if dotted(func) != f"self.{func.attr}" or not isinstance(call, ast.Call) or call.func is not func:
            return False
        if item is None:
            return self._ends(call)
        target = around.targets[0] if isinstance(around, ast.Assign) and len(around.targets) == 1 else None
        if not isinstance(target, ast.Tuple) or any(isinstance(part, ast.Starred) for part in target.elts):
            return False
        return item < len(target.elts) and self._ends_as(target.elts[item])

    def _method(self, node: ast.AST) -> _Function | None:
        """The method that a node stands in."""
        while not isinstance(node, _Function) and node in self._parents:
            node = self._parents[node]
        return node if isinstance(node, _Function) and self._parents.get(node) is self._node else None


def _names(node: ast.AST, target: ast.expr) -> bool:
    """Whether something says the name that a target is."""
    return isinstance(target, ast.Name) and any(isinstance(n, ast.Name) and n.id == target.id for n in walk(node))


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
