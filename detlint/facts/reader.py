"""Reads the facts of a source file off its `ast`, in one walk that visits each expression once.

A body is read in order, with the names as they stand at that statement; the bodies of functions are read after the
block around them, because that is when they can run. Branches are read from the same state and joined.

The walk is one class in layers, a file each in `reading/`: each layer stands on those below, and reads some kinds of nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from itertools import groupby, takewhile
from typing import Literal

from msgspec import Raw, structs

from detlint.catalog import Catalog
from detlint.facts.kernel import ends_cell
from detlint.facts.model import (
    ENCODER,
    SETTER,
    Aliases,
    Body,
    Branch,
    Cell,
    Class,
    Detail,
    Either,
    Facts,
    Function,
    Member,
    Partial,
    Problem,
    Ref,
    Value,
)
from detlint.facts.parse import parsable, parse
from detlint.facts.reading.definitions import Definitions
from detlint.facts.reading.words import mentions
from detlint.facts.scope import Scope, join
from detlint.ir.lower import lower
from detlint.ir.records import FileIR
from detlint.model.exports import ALL, exported
from detlint.model.options import lacking
from detlint.model.search_path import put_on_path
from detlint.model.trials import TRIES, is_trial
from detlint.notebook import cell_of
from detlint.sources.directives import directives


class Reader(Definitions):
    """One walk over a file."""

    __slots__ = ()

    def file(self, tree: ast.Module, cells: tuple[Cell, ...], left_out: tuple[Problem, ...]) -> Facts:
        lines, lower = self.data.count(b"\n") + 1, self.data.lower()
        self.said = self.code.identifiers
        self.top = tree.body
        self.functions.append(Function("", ""))
        self.details.append(Detail())
        self.flow.append(())
        if cells:
            self.cells(tree.body, cells)
        else:
            self.tree = tree
            self.lacking = lacking(self.code)
            self.block(tree.body)
        self.details[0] = Detail(ordered=self.in_order(), fates=self.used())
        self.flow[0] = tuple(self.steps)
        module_scope = self.scope
        exports = exported(self.code) if ALL in self.code.strings else None
        while self.waiting:
            self.function_body(*self.waiting.popleft())
        classes = tuple([body.done() for body in self.classes.values()])
        return Facts(
            module=self.module,
            imports=tuple(sorted(self.imports)),
            aliases=Raw(ENCODER.encode(aliases(module_scope.names, classes))),
            starts="notebook" if cells else self.starts(),
            names=module_scope.names,
            stars=tuple(self.stars),
            offers=" ".join(
                [name for name in module_scope.names if not name.startswith("_")]
                if exports is None
                else sorted(exports)
            ),
            closed=exports is not None,
            functions=tuple(self.functions),
            classes=classes,
            directives=directives(self.data, lower),
            options=self.options,
            mentions=mentions((*self.code.strings, *self.code.constants)),
            lines=lines,
            cells=cells,
            registers=self.registers,
            builds=tuple(sorted(self.builds)),
            puts=put_on_path(self.code),
            left_out=left_out,
            properties=self.properties(),
            body=Raw(ENCODER.encode(self.body())),
        )

    def body(self) -> Body:
        return Body(
            tuple(self.sites),
            tuple(self.flow),
            tuple(self.details),
            tuple(self.runs),
            tuple(self.keyed),
            self.lists,
            tuple(self.perhaps),
        )

    def cells(self, statements: list[ast.stmt], cells: Sequence[Cell]) -> None:
        """Read a notebook's top level. Each cell is run by itself: one that raises, or exits, doesn't end the run."""
        self.in_cells = True
        for _, group in groupby(statements, lambda statement: cell_of(cells, statement.lineno)):
            if self.statements([*takewhile(lambda statement: not ends_cell(statement, self.data), group)]):
                self.steps.pop()
                last = self.steps[-1] if self.steps else None
                if isinstance(last, Branch) and last.kind == "exit":
                    self.steps.pop()

    def starts(self) -> Literal["", "main", "script"]:
        if any(type(step) is Branch and step.kind == "main" for step in self.flow[0]):
            return "main"
        return "script" if any(site.function == 0 and site.kind == "call" for site in self.sites) else ""

    def properties(self) -> tuple[str, ...]:
        """The names of the properties that do something."""
        found = {f"{body.name}.{name}": name for body in self.classes.values() for name in body.properties}
        if not found:
            return ()
        names = ((f.name.removesuffix(SETTER), steps) for f, steps in zip(self.functions, self.flow, strict=True))
        return tuple(sorted({found[name] for name, steps in names if name in found and any(s != -1 for s in steps)}))

    def in_order(self) -> tuple[str, ...]:
        return tuple(sorted(self.ordered))

    def used(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(dict.fromkeys(uses)) for name, uses in self.fates.items() if uses}

    def function_body(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope, index: int
    ) -> None:
        self.scope, self.steps, self.returned, self.within = scope, [], [], ()
        self.definition, self.outermost, self.early = node, self.steps, []
        self.flagged = {}
        self.ordered, self.fates, self.counters = set(), {}, set()
        self.yields, self.noted = False, set()
        if isinstance(node, ast.Lambda):
            self.unsure += 1
            self.returned.append(self.expression(node.body))
            self.unsure -= 1
        else:
            if self.lists:
                self.fates = {
                    argument.arg: [] for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                }
            self.block(node.body)
            for place, mode in reversed(self.early):
                self.under(mode, place)
            self.tell_needed()
            if self.steps and node.name.startswith(TRIES) and self.is_trial(node):
                self.steps = [Branch("trial", None, (tuple(self.steps),))]
        head, detail = self.functions[index], self.details[index]
        deferred = self.yields or isinstance(node, ast.AsyncFunctionDef)
        self.functions[index] = Function(head.name, head.owner, join(self.returned), index, self.yields, deferred)
        self.details[index] = Detail(detail.parameters, detail.decorators, detail.options, self.in_order(), self.used())
        self.flow[index] = tuple(self.steps)

    def is_trial(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function only tries something out."""
        of_name = (f for f in self.code.functions() if f.name == node.name and f.header.line == node.lineno)
        return any(map(is_trial, of_name))


def read(
    data: bytes, module: str, package: bool, catalog: Catalog, cells: tuple[Cell, ...] = (), accelerator: str = ""
) -> tuple[Facts, FileIR | None]:
    """The facts of one file, and its IR; None where it can't be parsed.

    Args:
        data: the file's bytes, in any encoding that it declares; of a notebook, the joined code.
        module: its dotted name.
        package: whether it is an `__init__.py`.
        catalog: tells which names can make a site.
        cells: a notebook's cells of code.
        accelerator: the word for the hardware on which a notebook is to be opened, besides those in its code.

    Never raises on account of the input: a file that can't be parsed has a `problem` and nothing else. Of a notebook, the
    cells that can't be parsed are left out.
    """
    tree = parse(data)
    left_out: tuple[Problem, ...] = ()
    if isinstance(tree, Problem) and cells:
        data, left_out = parsable(data, cells)
        tree = parse(data)
    if isinstance(tree, Problem):
        return Facts(module, cells=cells, problem=tree), None
    try:
        ir = lower(tree)
        facts = Reader(data, module, package, catalog, ir).file(tree, cells, left_out)
    except RecursionError:
        return Facts(module, cells=cells, problem=Problem("can't be analysed: it is nested too deeply")), None
    if accelerator and accelerator not in facts.mentions:
        facts = structs.replace(facts, mentions=tuple(sorted({*facts.mentions, accelerator})))
    return facts, ir


def aliases(names: dict[str, Value | None], classes: Iterable[Class]) -> Aliases:
    """Names that may stand for something of another name, so that a call by them needs a closer look."""
    found: dict[str, set[str]] = {}
    for table in (names, *(body.attributes for body in classes)):
        for name, value in table.items():
            if type(value) is Ref and value.name.endswith(name) and value.name.rpartition(".")[2] == name:
                continue  # as most are: an import or a definition by its own name
            others = _tails(value) - {name}
            if others:
                found.setdefault(name, set()).update(others)
    for body in classes:
        if "__init__" not in body.methods:  # constructing it is constructing its base
            bases = set().union(*map(_tails, body.bases))
            if bases:
                found.setdefault(body.name.rpartition(".")[2], set()).update(bases)
    return {name: tuple(sorted(others)) for name, others in sorted(found.items())}


def _tails(value: Value | None) -> set[str]:
    """The last components of the names that a value may have."""
    kind = type(value)
    if kind is Ref:
        return {value.name.rpartition(".")[2]}  # type: ignore[union-attr]
    if kind is Member:
        return {value.attr}  # type: ignore[union-attr]
    if kind is Partial:
        return _tails(value.of)  # type: ignore[union-attr, arg-type]
    return set().union(*map(_tails, value.options)) if kind is Either else set()  # type: ignore[union-attr]
