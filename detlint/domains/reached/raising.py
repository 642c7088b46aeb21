"""Definitions that nothing gets any use of, since they come to an error whoever calls them: by what a framework lacks, perhaps on the
hardware that a finding is about alone, or by what a script imports that can't be imported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from detlint.catalog import RAISES, UNSUPPORTED, Target
from detlint.db import Memo
from detlint.domains.gradient.gradients import BEGINNING
from detlint.domains.matching.match import Matcher
from detlint.model.classes import may_derive
from detlint.model.imports import Imports
from detlint.model.module import Module
from detlint.model.patched import Patched
from detlint.model.raises import BOUND
from detlint.model.sites.records import Branch, Function, Instance, Member, Ref, Result, Step, sites
from detlint.model.uses import Users


class Raising:
    """Finds what stands behind an error, or in what ends with one.

    Args:
        imports: knows which imports raise.
        patched: knows which files may give a framework what it lacks.
        in_library: whether others may use what is in a file.
    """

    def __init__(
        self,
        matcher: Matcher,
        users: Users,
        imports: Imports,
        patched: Patched,
        in_library: Callable[[Module], bool],
    ) -> None:
        self._matcher = matcher
        self._resolver = matcher.resolver
        self._users = users
        self._imports = imports
        self._in_library = in_library
        self._mended = patched
        self._known: Memo[bool] = Memo(users.db)

    def holds(self, module: Module, index: int, targets: Sequence[Target] = ()) -> bool:
        """Whether nothing comes of a site, as something surely raises: the import of its file, the function before it comes
        there, the layer's forward pass that it stands in, or the constructor of its class.

        Args:
            targets: the hardware that is asked about; none: any.
        """
        function = module.function_of(module.sites[index])
        missing = self._unsupported(targets)
        return (
            self._is_behind(module, module.steps(function), index, missing)
            or (function.number > 0 and self._fails(module))
            or (bool(function.owner) and self._is_in_vain(module, function, missing))
        )

    def _unsupported(self, targets: Sequence[Target]) -> frozenset[str]:
        """The operators that a framework has on none of some hardware."""
        entries = (entry for entry in self._matcher.catalog.entries if UNSUPPORTED in entry.contexts and targets)
        return frozenset(name for entry in entries if {*targets} <= {*entry.targets} for name in entry.names)

    def _is_behind(self, module: Module, steps: Iterable[Step], index: int, missing: frozenset[str]) -> bool:
        """Whether something raises before a site comes, on every way there."""
        for step in steps:
            if isinstance(step, Branch):
                arm = next((arm for arm in step.arms if index in sites(arm)), None)
                if arm is not None:
                    return self._is_behind(module, arm, index, missing)
            elif step == index:
                return False
            elif step >= 0 and self._raises(module, step, missing):
                return True
        return False

    def _fails(self, module: Module) -> bool:
        """Whether importing a file raises at an import, before it calls anything of the program."""
        return self._known.of(("import", module.path), lambda: self._finds_out_import(module), False)

    def _finds_out_import(self, module: Module) -> bool:
        for step in module.steps(module.facts.functions[0]):
            if isinstance(step, Branch):
                if step.kind != "try":
                    return False
            elif step <= -2:
                name = module.body.runs[-2 - step]
                if isinstance(name, str) and self._is_refused(module, name):
                    return True
                if isinstance(name, str) and self._imports.is_lacking(name) and self._imports.may_raise(module, name):
                    return not self._is_mended(module)
            elif step >= 0 and self._callee(module, step) is not None:
                return False
        return False

    def _is_refused(self, module: Module, name: str) -> bool:
        """Whether files of the program keep a script from importing a name. Who imports the script may find others by that name."""
        starts = module.facts.starts and not module.facts.cells
        refusing = self._imports.refusing(module, name) if starts else ()
        if not refusing:
            return False
        self._resolver.opened.update(refusing)
        return not self._users.importers(module.path)

    def _is_in_vain(self, module: Module, function: Function, missing: frozenset[str]) -> bool:
        """Whether a method is a layer's forward pass that surely raises, or of a class whose constructor does."""
        owner = f"{module.path}::{function.owner}"
        layer = self._resolver.kinds.layer(owner)
        if layer is not None:
            forward = module.functions.get(f"{function.owner}.{layer.forward}")
            if forward is not None and self._ends_so(module, forward, missing):
                methods = module.classes[function.owner].methods if function is not forward else ()
                if all(name in BEGINNING or name == layer.forward for name in methods):
                    return True
        decorators = (self._resolver.normal(module.path, d) for d in module.detail(function).decorators)
        return self.makes_none(module, function.owner) and not any(decorator in BOUND for decorator in decorators)

    def makes_none(self, module: Module, owner: str) -> bool:
        """Whether no object of a class ever comes to be, as its constructor surely raises."""
        made = module.functions.get(f"{owner}.__init__")
        return made is not None and self._ends_so(module, made) and not self._is_derived_from(module, owner)

    def _ends_so(self, module: Module, function: Function, missing: frozenset[str] = frozenset()) -> bool:
        """Whether a function surely raises, on whichever way through it."""
        if function.deferred or module.detail(function).decorators:
            return False
        key = (module.path, function.number, missing)
        return self._known.of(key, lambda: self._is_passed(module, module.steps(function), missing), False)

    def _is_passed(self, module: Module, steps: Iterable[Step], missing: frozenset[str]) -> bool:
        """Whether something raises that is passed before any step may leave. A loop over which an operator is run that isn't there is
        gone through: nobody has one for nothing."""
        for step in steps:
            if isinstance(step, Branch):
                if missing and step.kind == "loop" and self._is_passed(module, step.arms[0], missing):
                    return True
                if _leaves(step):
                    return False
            elif step == -1:
                return False
            elif step >= 0 and self._raises(module, step, missing):
                return True
        return False

    def _raises(self, module: Module, step: int, missing: frozenset[str]) -> bool:
        """Whether a site surely raises: the catalog knows it, or it calls what surely raises in the program."""
        if module.sites[step].kind != "call":
            return False
        if missing and self._runs(module, step) in missing:
            return not self._is_mended(module)
        if any(RAISES in match.entry.contexts and match.sure for match in self._matcher.matches(module, step)):
            return not self._is_mended(module) and not self._is_given(module, step)
        callee = self._callee(module, step)
        return callee is not None and self._ends_so(*callee, missing)

    def _runs(self, module: Module, step: int) -> str:
        """The operator that a site runs: a function, or an object that was made of a class; "" where that isn't known."""
        target = self._matcher.target(module, step)
        made = target.of if isinstance(target, Result) else None
        ran = made if isinstance(made, Ref) and self._resolver.classes.is_class(made.name) else target
        makes = ran is target and isinstance(ran, Ref) and self._resolver.classes.is_class(ran.name)
        return ran.name if isinstance(ran, Ref) and not makes else ""

    def _callee(self, module: Module, step: int) -> tuple[Module, Function] | None:
        """The function of the program that a site calls by its name, or the constructor of the class that it names."""
        target = self._matcher.target(module, step)
        if isinstance(target, Ref) and "::" in target.name and self._resolver.classes.is_class(target.name):
            target = Ref(f"{target.name}.__init__")
        return self._resolver.function(target)

    def _is_derived_from(self, module: Module, owner: str) -> bool:
        """Whether a class may have others that derive from it, with constructors of their own."""
        saying = self._users.saying(module, owner) if owner.isidentifier() and owner.isascii() else None
        if saying is None or self._in_library(module):
            return True
        return any(may_derive(self._resolver, path, f"{module.path}::{owner}") for path in saying)

    def _is_given(self, module: Module, step: int) -> bool:
        """Whether an object whose class lacks what it calls of itself may have that: from an heir, or from whoever sets it."""
        function, target = module.function_of(module.sites[step]), module.sites[step].target
        itself = Instance(module.prefix + function.owner)
        if not function.owner or not isinstance(target, Member) or target.base != itself:
            return False
        saying = self._users.saying(module, target.attr)
        if saying is None or self._is_derived_from(module, function.owner):
            return True
        near = sorted({module.path, *saying})
        self._resolver.opened.update(near)  # whoever sets attributes by names that aren't written out counts, too
        return any(self._users.writers.sets(target.attr, path) for path in near)

    def _is_mended(self, module: Module) -> bool:
        """Whether a file may give the framework what it lacks, beside a module or beside the scripts that lead to it."""
        return self._known.of(("patched", module.path), lambda: self._finds_out_mended(module), True)

    def _finds_out_mended(self, module: Module) -> bool:
        ends = self._users.ends(module.path)
        if ends is None:
            return True
        roots = sorted(self._matcher.catalog.raising_roots)
        beside = {os.path.dirname(path) for path in ends} | {
            self._users.package(module) or os.path.dirname(module.path)
        }
        paths = {path for folder in beside for path in self._users.index.saying_any(roots, folder + os.sep)}
        return any(map(self._mended.may, sorted(paths)))


def _leaves(branch: Branch) -> bool:
    """Whether the flow may leave in a branch, which a loop's `break` counts for, too."""
    return branch.kind in ("exit", "yield") or any(
        _leaves(step) if isinstance(step, Branch) else step == -1 for arm in branch.arms for step in arm
    )
