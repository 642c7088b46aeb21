"""Names, attributes and imports: what they stand for, and what reading them runs."""

from __future__ import annotations

from typing import Any

from detlint.ir import ops as op
from detlint.ir.uses import Op
from detlint.model import unbound
from detlint.model.sites.reading.handlers import of
from detlint.model.sites.reading.tests import Tests
from detlint.model.sites.reading.values import WITHOUT_PARTS, constant, member
from detlint.model.sites.records import Branch, Const, Either, Instance, Member, Param, Ref, Result, Value
from detlint.model.sites.scope import MISSING


class Names(Tests):
    """Reads names, attributes and imports."""

    # -- imports ----------------------------------------------------------------------------------------------------------------

    @of(op.IMPORT)
    def _import(self, at: int, operation: Op) -> Value | None:
        _, row, level, first = operation
        name = self.strings[row]
        if level and self.ends_cell(at):
            return None
        following = self.ops[at + 1]
        if following[0] == op.STORE and following[2] == at:
            self.imports.add(name)
            self.takes(name)
            self.run_module(name)
            return Ref(name.partition(".")[0] if first else name)
        if level:
            parts = self.module.split(".")
            keep = len(parts) - level + (1 if self.package else 0)
            name = ".".join([*parts[: max(keep, 0)], *([name] if name else [])])
        self.takes(name)
        return Ref(name)

    @of(op.MEMBER)
    def _member(self, at: int, operation: Op) -> Value | None:
        module, name = self.made[operation[1]], self.strings[operation[2]]
        assert isinstance(module, Ref)
        full = f"{module.name}.{name}" if module.name else name
        self.imports.add(full)
        self.run_module(full)
        return Ref(full)

    @of(op.STAR_IMPORT)
    def _star(self, at: int, operation: Op) -> None:
        module = self.made[operation[1]]
        assert isinstance(module, Ref)
        self.stars.append(module.name)
        self.imports.add(module.name)
        self.run_module(module.name)

    def takes(self, module: str) -> None:
        """Note that a module is imported: one in `code` can only be the program's, since the standard library's has none."""
        root, dot, _ = module.partition(".")
        if dot and root in WITHOUT_PARTS:
            self.foreign -= {root}

    def run_module(self, name: str) -> None:
        """Note that an import runs a module here, if it may be one of the program's, or that its library has no such."""
        root = name.partition(".")[0]
        if root in self.catalog.key_roots:
            self.has_keys = True
        if root not in self.foreign or (self.raises and self.catalog.lacks(name)):
            if name not in self.ran:
                self.ran[name] = -2 - len(self.runs)
                self.runs.append(name)
            self.steps.append(self.ran[name])

    # -- names ------------------------------------------------------------------------------------------------------------------

    @of(op.CONST)
    def _constant(self, at: int, operation: Op) -> Value | None:
        return constant(self.code.constants[operation[1]])

    @of(op.LOAD)
    def _name(self, at: int, operation: Op) -> Value | None:
        found = self.scope.look_up(operation[1])
        if found is MISSING:
            name = self.scope.names[operation[1]]
            if name.slot < 0 or name.owner == 0:
                text = self.strings[name.text]
                if self.stars:
                    return Ref(self.prefix + text)
                self.misses(text)
            return None
        return found  # type: ignore[return-value]

    def misses(self, name: str) -> None:
        """Note that a name is read that nothing has bound so far: if nothing in the file ever does, that raises. At the top level it
        may be what somebody has left out who shows the rest."""
        if self.unsure or self.stars or not self.is_unbound(name):
            return
        if self.scope.kind == "module" and self.excerpt is None:
            self.excerpt = unbound.is_excerpt(self.code, self.bound or set())
        if self.scope.kind != "module" or not self.excerpt:
            self.steps.append(Branch("raise", Const(name), ()))

    def is_unbound(self, name: str) -> bool:
        """Whether nothing in the file binds a name that no scope has so far."""
        if self.bound is not None and not self.bound and not name.startswith("__"):
            self.bound = unbound.bound(self.code)
        return self.bound is not None and not name.startswith("__") and name not in self.bound

    # -- attributes -------------------------------------------------------------------------------------------------------------

    @of(op.ATTR)
    def _attribute(self, at: int, operation: Op) -> Value | None:
        """An attribute; one that is called is a method sooner than a property."""
        base, attr = operation[1], self.strings[operation[2]]
        if self.lacking and not self.unsure and self.scope.function.span(at) in self.lacking:
            self.steps.append(Branch("raise", Const(attr), ()))
        value = self.made[base]
        if value is None:
            return None
        root, path = self.chains.get(base, (value, ""))
        path = f"{path}.{attr}" if path else attr
        self.chains[at] = root, path
        if at not in self.callees:
            self.read(root, path, value, attr)
        elif attr == "get" and (table := self.shared(base, value)) is not value:
            return Member(table, "get")  # type: ignore[arg-type]
        made = member(value, attr)
        if attr in self.mentioned and type(made) is Ref and not self.scope.function.users[at]:
            self.mentions(made, at)
        return made

    def mentions(self, value: Ref, at: int) -> None:
        """Note a statement that only names a function."""
        if self.catalog.canonical(value.name) in self.catalog.mentions:
            self.site("mention", value, (), at)

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
