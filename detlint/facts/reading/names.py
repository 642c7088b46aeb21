"""Names and attributes: what they stand for, and what reading them runs."""

from __future__ import annotations

import ast
from typing import Any, Final

from detlint.facts import loops, unbound
from detlint.facts.loops import dotted
from detlint.facts.model import Branch, Const, Either, Instance, Member, Param, Ref, Result, Value
from detlint.facts.nodes import walk
from detlint.facts.reading.handlers import EXPRESSIONS, of_expression, of_statement
from detlint.facts.reading.tests import Tests
from detlint.facts.reading.values import LONGEST_TEXT, WITHOUT_PARTS, constant, member
from detlint.facts.scope import MISSING

SHOWN: Final = frozenset({"shown", "argument:builtins.print", *(f"argument:?.{level}" for level in loops.LEVELS)})
"""What shows people what it is handed: which part of it, is no matter."""
_MAY_SKIP: Final = frozenset({
    ast.BoolOp, ast.Compare, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp,
})  # fmt: skip
"""Kinds of expressions that may not read all names in them."""
_KEEPS: Final = ("argument:", "assigned:", "returned", "written")
"""How the uses of a text begin that may be more than shown."""
_ERRORS: Final = ("Error", "Exception", "Warning")


class Names(Tests):
    """Reads names, attributes and imports."""

    __slots__ = ()

    def follow(self, name: str) -> None:
        """Note how a name is used; what it is assigned to holds the same."""
        name = self.anew.get(name, name)
        self.fates.setdefault(name, []).append(self.use)
        if "assigned:" in self.use:
            self.judged += 1

    @of_statement(ast.Import)
    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imports.add(alias.name)
            self.takes(alias.name)
            self.run(alias.name)
            if alias.asname:
                self.scope.bind(alias.asname, Ref(alias.name))
            else:
                root = alias.name.partition(".")[0]
                self.scope.bind(root, Ref(root))

    @of_statement(ast.ImportFrom)
    def _import_from(self, node: ast.ImportFrom) -> None:
        source = node.module or ""
        if node.level:
            parts = self.module.split(".")
            keep = len(parts) - node.level + (1 if self.package else 0)
            source = ".".join([*parts[: max(keep, 0)], *([source] if source else [])])
        prefix = f"{source}." if source else ""
        self.takes(source)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(source)
                self.imports.add(source)
                self.run(source)
            else:
                name = prefix + alias.name
                self.imports.add(name)
                self.run(name)
                self.scope.bind(alias.asname or alias.name, Ref(name))

    def takes(self, module: str) -> None:
        """Note that a module is imported: one in `code` can only be the program's, since the standard library's has none."""
        root, dot, _ = module.partition(".")
        if dot and root in WITHOUT_PARTS:
            self.foreign -= {root}

    def run(self, name: str) -> None:
        """Note that an import runs a module here, if it may be one of the program's, or that its library has no such."""
        root = name.partition(".")[0]
        if root in self.catalog.key_roots:
            self.has_keys = True
        if root not in self.foreign or (self.raises and self.catalog.lacks(name)):
            if name not in self.ran:
                self.ran[name] = -2 - len(self.runs)
                self.runs.append(name)
            self.steps.append(self.ran[name])

    @of_statement(ast.Global)
    def _global(self, node: ast.Global) -> None:
        if self.scope.kind == "function":
            self.scope.globals.update(node.names)

    @of_expression(ast.JoinedStr)
    def _joined(self, node: ast.JoinedStr) -> None:
        kept = self.use.startswith(_KEEPS) and self.use not in SHOWN and not self.use.endswith(_ERRORS)
        for part in node.values:
            if type(part) is ast.FormattedValue and type(part.value) is not ast.Name:
                # Which one of some files a text names that isn't only shown is up to their order.
                self.use = "" if kept and type(part.value) is ast.Subscript else "shown"
                self.expression(part.value)
        self.use = ""

    @of_expression(ast.Slice)
    def _slice(self, node: ast.Slice) -> None:
        for part in (node.lower, node.upper, node.step):
            if part is not None and type(part) is not ast.Constant:
                self.expression(part)

    @of_expression(ast.Constant)
    def _constant(self, node: ast.Constant) -> Value | None:
        self.use = ""
        value = node.value
        if type(value) is str and len(value) <= LONGEST_TEXT and value.isascii():
            return Const(value)
        return constant(value)

    @of_expression(ast.Name)
    def _name(self, node: ast.Name) -> Value | None:
        name = node.id
        if self.use:
            if name in self.fates or name in self.kept_names:
                self.follow(name)
            self.use = ""
        names = self.scope.names
        if name in names:
            return names[name]
        found = self.scope.look_up(name)
        if found is MISSING:
            if self.stars:
                return Ref(self.prefix + name)
            self.misses(name)
            return None
        return found  # type: ignore[return-value]

    def misses(self, name: str) -> None:
        """Note that a name is read that nothing has bound so far: if nothing in the file ever does, that raises. At the top level it
        may be what somebody has left out who shows the rest."""
        if self.unsure or not self.may_miss() or not self.is_unbound(name):
            return
        if self.scope.kind == "module" and self.excerpt is None and self.tree is not None:
            self.excerpt = unbound.is_excerpt(self.code, self.bound or set())
        if self.scope.kind != "module" or not self.excerpt:
            self.steps.append(Branch("raise", Const(name), ()))

    def may_miss(self) -> bool:
        """Whether a name that is read here may be one that nothing binds."""
        return self.tree is not None and self.bound is not None and not self.stars

    def is_unbound(self, name: str) -> bool:
        """Whether nothing in the file binds a name that no scope has so far."""
        if not self.bound and self.tree is not None and not name.startswith("__"):
            self.bound = unbound.bound(self.code)
        return self.bound is not None and not name.startswith("__") and name not in self.bound

    def surely_misses(self, statement: ast.stmt) -> bool:
        """Whether a statement surely reads a name that nothing binds."""
        nodes = [*walk(statement)] if type(statement) in (ast.Assign, ast.Expr) else []
        if any(type(node) in _MAY_SKIP for node in nodes):
            return False
        read = [node.id for node in nodes if type(node) is ast.Name and type(node.ctx) is ast.Load]
        missing = {name for name in read if self.scope.look_up(name) is MISSING}
        if missing and self.definition is not None:  # most of them the function binds, which is soon looked through
            missing -= self.bound_here()[0].keys()
        return any(map(self.is_unbound, missing))

    @of_expression(ast.Attribute)
    def _attribute(self, node: ast.Attribute, called: bool = False) -> Value | None:
        """An attribute; one that is `called` is a method sooner than a property."""
        # Chains are followed without recursion: generated code has chains thousands of links long.
        base = node.value
        kind = type(base)
        if self.kept_names and self.use and (name := dotted(node)) in self.kept_names:
            self.follow(name)
            self.use = ""
        if self.lacking and not self.unsure:
            self.lack(node)
        if kind is not ast.Attribute:
            value = EXPRESSIONS[kind](self, base)
            if value is None:
                return None
            if not called:
                self.read(value, node.attr, value, node.attr)
            elif node.attr == "get" and self.shared(base, value) is not value:
                return Member(Ref(self.prefix + base.id), "get")  # type: ignore[attr-defined]
            return Ref(f"{value.name}.{node.attr}") if type(value) is Ref else member(value, node.attr)
        attributes = [node.attr]
        while type(base) is ast.Attribute:
            attributes.append(base.attr)
            base = base.value
        value = root = self.expression(base)
        path = ""
        while attributes and value is not None:
            attr = attributes.pop()
            path = f"{path}.{attr}" if path else attr
            if attributes or not called:
                self.read(root, path, value, attr)
            value = member(value, attr)
        return value

    def lack(self, node: ast.Attribute) -> None:
        """Note that an option is read which the command line doesn't have, at the root of a chain of attributes."""
        while isinstance(node.value, ast.Attribute):
            node = node.value
        if (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) in self.lacking:
            self.steps.append(Branch("raise", Const(node.attr), ()))

    def read(self, root: Value | None, path: str, base: Value, attr: str) -> None:
        """Note that an attribute is read that may be a property; it is known by the first name of the chain, and the rest."""
        step = self.ran.get((id(root), path))
        if step is None:
            self.roots.append(root)
            step = 0
            if self.may_run(base, attr):
                step = -2 - len(self.runs)
                self.runs.append(Member(base, attr))
            self.ran[id(root), path] = step
        if step and step not in self.noted:
            self.noted.add(step)
            self.steps.append(step)

    def is_mask(self, value: Value) -> bool:
        """Whether a tensor is called a mask; in another shape or type it stays one."""
        return type(value) in (Instance, Param) and value.name.endswith(self.masks)  # type: ignore[union-attr]

    def may_run(self, base: Value, attr: str) -> bool:
        """Whether an attribute may be a property of one of the program's classes."""
        kind = type(base)
        if kind is Instance:
            name: str = base.of  # type: ignore[union-attr, assignment]
            own = self.classes.get(name.removeprefix(self.prefix))
            if own is not None:
                return attr not in own.attributes and (attr not in own.methods or attr in own.properties)
            return name.partition(".")[0] not in self.foreign
        root: Any = base
        while True:
            if kind is Member:
                root = root.base
            elif kind is Result:
                root = root.of
            else:
                break
            kind = type(root)
        if kind is Ref:
            return root.name.partition(".")[0] not in self.foreign
        return kind is Instance or kind is Param or kind is Either
