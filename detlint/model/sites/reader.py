"""Reads the facts of a source file off its IR, in one pass over the ops.

A body is read in order, with the names as they stand at that op; the bodies of functions are read after the block around them, because that
is when they can run. Branches are read from the same state and joined.

The pass is one class in layers, a file each in `reading/`: each layer stands on those below, and reads some kinds of ops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Raw, structs

from detlint.catalog import Catalog
from detlint.ir.code import Code
from detlint.ir.lower import lower
from detlint.ir.records import GENERATOR, KIND, LAMBDA, FileIR
from detlint.model.exports import ALL, exported
from detlint.model.search_path import put_on_path
from detlint.model.sites.reading.definitions import Definitions, is_deferred
from detlint.model.sites.reading.words import mentions
from detlint.model.sites.records import (
    ENCODER,
    SETTER,
    Aliases,
    Body,
    Branch,
    Class,
    Detail,
    Either,
    Facts,
    Function,
    Member,
    Partial,
    Ref,
    Value,
)
from detlint.model.sites.scope import Scope, join
from detlint.model.trials import TRIES, is_trial
from detlint.sources.directives import directives
from detlint.sources.parse import Cell, Problem, parsable, parse


class Reader(Definitions):
    """One pass over a file."""

    def file(self, data: bytes, left_out: tuple[Problem, ...]) -> Facts:
        self.functions.append(Function("", ""))
        self.details.append(Detail())
        self.flow.append(())
        scope = Scope("module", self.code.module, None, 0, "")
        self.enter(scope)
        self.run()
        self.flow[0] = tuple(self.steps)
        exports = exported(self.code) if ALL in self.code.strings else None
        while self.waiting:
            self.function_body(self.waiting.popleft())
        names = scope.bound()
        scope.all.clear()  # they lead to each other: nothing would ever free them while garbage isn't looked for
        classes = tuple([body.done() for body in self.classes.values()])
        return Facts(
            module=self.module,
            imports=tuple(sorted(self.imports)),
            aliases=Raw(ENCODER.encode(aliases(names, classes))),
            starts="notebook" if self.cells else self.starts(),
            names=names,
            stars=tuple(self.stars),
            offers=" ".join(
                [name for name in names if not name.startswith("_")] if exports is None else sorted(exports)
            ),
            closed=exports is not None,
            functions=tuple(self.functions),
            classes=classes,
            directives=directives(data, data.lower()),
            options=self.options,
            mentions=mentions((*self.code.strings, *self.code.constants)),
            lines=data.count(b"\n") + 1,
            cells=tuple(self.cells),
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
        )

    def next_cell(self, at: int) -> int:
        """Each cell is run by itself: one that raises, or exits, doesn't end the run."""
        if not self.cells or self.scope.kind != "module":
            return len(self.ops)
        self.steps.pop()
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Branch) and last.kind == "exit":
            self.steps.pop()
        spans, parts = self.scope.function.spans, self.scope.function.parts
        end = next((cell.line for cell in self.cells if cell.line > spans[at][0]), 0)
        while end and at + 1 < len(self.ops) and spans[at + 1][0] < end:
            at = parts[at + 1][-1] if at + 1 in parts else at + 1
        return at + 1 if end else len(self.ops)

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

    def function_body(self, scope: Scope) -> None:
        self.steps, self.returned, self.within = [], [], ()
        self.outermost, self.early, self.flagged, self.noted = self.steps, [], {}, set()
        header = scope.function.header
        anonymous = header.kind & KIND == LAMBDA
        self.unsure = int(anonymous)
        self.enter(scope)
        self.run()
        if anonymous:
            self.steps = self.steps[:-1]
        self.unsure = 0
        for place, mode in reversed(self.early):
            self.under(mode, place)
        self.tell_needed()
        if self.steps and scope.function.name.startswith(TRIES) and is_trial(scope.function):
            self.steps = [Branch("trial", None, (tuple(self.steps),))]
        head = self.functions[scope.number]
        deferred = is_deferred(scope.function)
        yields = bool(header.kind & GENERATOR)
        self.functions[scope.number] = Function(
            head.name, head.owner, join(self.returned), scope.number, yields, deferred
        )
        self.flow[scope.number] = tuple(self.steps)


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
        facts = Reader(Code(ir), module, package, catalog, cells).file(data, left_out)
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
