"""From findings to fixes: the edits that a finding's recipe comes to, in the files as they are."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from detlint.catalog import Applicability, Catalog, Recipe
from detlint.checks.finding import ANOTHER_RUN, LAUNCH, PROCESS, Finding
from detlint.config import Settings
from detlint.fixes import seeding
from detlint.fixes.file import File, span_of
from detlint.fixes.files import Files
from detlint.fixes.fixable import Placed
from detlint.fixes.launch_file import LaunchFile
from detlint.fixes.names import Names
from detlint.fixes.place import applicability, runs_once
from detlint.fixes.recipe import NoFix, Order, Parameters
from detlint.fixes.text import Edit
from detlint.fixes.wording import fix_text


@dataclass(frozen=True)
class Fix:
    """What repairs a finding."""

    finding: Finding
    applicability: Applicability
    message: str
    """What it does, as an order."""
    edits: dict[str, list[Edit]] = field(default_factory=dict)
    """By file."""
    imports: dict[str, set[str]] = field(default_factory=dict)
    """What the files have to import for it."""
    seats: list[Sequence[ast.stmt]] = field(default_factory=list)
    """The blocks that get seeding statements."""

    def placed(self, files: Files) -> Iterator[tuple[str, Placed]]:
        """Where its edits are made, with those for the imports, file by file."""
        for path, edits in self.edits.items():
            file, needed = files[path], self.imports.get(path)
            for edit in file.placed(sorted([*edits, *(file.importing(needed, edits) if needed else ())])):
                yield path, edit


class Planner:
    """Makes fixes.

    Args:
        catalog: for the signatures of what is called.
        settings: the profile decides what may be changed.
        files: those that may be fixed.
        may: the files that were asked for.

    Attributes:
        refused: why findings that have a recipe can't be fixed where they stand.
    """

    def __init__(self, catalog: Catalog, settings: Settings, files: Files, may: Set[str]) -> None:
        self.catalog = catalog
        self.settings = settings
        self.files = files
        self.may = may
        self.refused: dict[Finding, str] = {}

    def fix(self, finding: Finding) -> Fix | None:
        """The fix of a finding; None where it has none, or not here."""
        recipe = finding.fix
        if recipe is None:
            return None
        try:
            fix = self._seeded(finding, recipe) if recipe.kind == "start-run" else self._rewritten(finding, recipe)
            self._check(fix)
            return fix
        except NoFix as error:
            self.refused[finding] = str(error)
        except RecursionError:
            self.refused[finding] = "it is nested too deeply"
        except Exception as error:  # the boundary of one finding: the others are fixed
            self.refused[finding] = fault(error)
        return None

    def _check(self, fix: Fix) -> None:
        """
        Raises:
            NoFix: it would change nothing, or something that must stay.
        """
        for path, edits in [*fix.edits.items()]:
            text = self.files[path].text.text
            fix.edits[path] = [edit for edit in edits if text[edit.start : edit.end] != edit.text]
            if not fix.edits[path]:
                del fix.edits[path]
        if not fix.edits:
            raise NoFix("what it would write stands there already")
        if not all(self.files[path].takes(edits, fix.imports.get(path, ())) for path, edits in fix.edits.items()):
            raise NoFix("what stands there must stay as it is")

    def _rewritten(self, finding: Finding, recipe: Recipe) -> Fix:
        if (launched := self._exported(finding, recipe)) is not None:
            return launched
        if finding.path not in self.may:
            raise NoFix("the file isn't among those that are checked")
        file = self.files[finding.path]
        others = tuple(step.span for step in finding.steps if step.path == finding.path)
        order = Order(
            recipe, finding.span, self._parameters(finding), self.settings.fix_seed, finding.api, others, self._aliases,
            self.catalog.factories,
        )  # fmt: skip
        change, kind = file.follow(order), recipe.applicability
        if isinstance(file, File):
            kind = applicability(recipe, file.tree, finding.span)
        return Fix(finding, kind, message(recipe), {finding.path: change.edits}, {finding.path: change.imports})

    def _exported(self, finding: Finding, recipe: Recipe) -> Fix | None:
        """The fix where launch files set other variables: one more line in each. None where that can't be done in all of them."""
        steps = [step for step in finding.steps if step.message == LAUNCH]
        if not steps or not {step.path for step in steps} <= self.may:
            return None
        edits, words = dict[str, list[Edit]](), dict[str, None]()
        for step in steps:
            file = self.files[step.path]
            try:
                assert isinstance(file, LaunchFile)
                edit = file.export(recipe.argument, str(recipe.value), step.span)
            except NoFix:
                return None
            edits[step.path], words[edit.text.strip()] = [edit], None
        files = ", ".join(os.path.basename(path) for path in edits)
        return Fix(finding, recipe.applicability, f"Write `{'`, `'.join(words)}` in {files}", edits)

    def _parameters(self, finding: Finding) -> Parameters:
        """The signature of what a finding is about; what is known by its last name alone has that of one such API."""
        catalog, api = self.catalog, finding.api
        entries = [*catalog.methods.get(api, ()), *catalog.copies.get(api, ())]
        known = (name for i in entries for name in catalog.entries[i].names if name.rpartition(".")[2] == api)
        return next((catalog.signatures[name] for name in (api, *known) if name in catalog.signatures), [])

    def _seeded(self, finding: Finding, recipe: Recipe) -> Fix:
        fix = Fix(finding, recipe.applicability, message(recipe))
        starts = [i for i, step in enumerate(finding.steps) if step.message == PROCESS]
        start, *way = finding.steps[starts[-1] if starts else 0 :]
        own = [step for step in finding.steps if step.message != ANOTHER_RUN]
        step = own[-1] if finding.code == "DET113" else start  # the seeding of another stream, or where the run starts
        if (lazy := self._lazily(finding, recipe, step.path)) is not None:
            return lazy
        if finding.code == "DET113":
            self._seat(fix, recipe, step.path, seeding.beside(self._file(step.path), step.span))
            return fix
        if start.message.endswith("(script)") and os.path.exists(
            os.path.join(os.path.dirname(start.path), "__init__.py")
        ):
            raise NoFix("it may be a module that others import in a way that can't be followed")
        inner = [step.span if step.path == start.path else None for step in way if step.message != ANOTHER_RUN]
        inner.append(finding.span if finding.path == start.path else None)
        # A switch belongs to the whole run, wherever it is told.
        here = (start.path, start.span) == (finding.path, finding.span) or finding.family == 6
        if starts:
            fix = replace(fix, message=message(recipe, "at the start of what the process runs"))
        first = start.span if starts or here else inner[0]
        if first is None:
            raise NoFix("it is drawn while modules are imported")
        then = inner[1] if inner[1:] else None
        file = self._file(start.path)
        seat = seeding.process(file, start.span) if starts else seeding.start(file, start.span, first, then)
        self._seat(fix, recipe, start.path, seat)
        for step in way:
            if step.message == ANOTHER_RUN and step.path in self.may and step.path not in fix.edits:
                place = seeding.start(self.files.code(step.path), step.span, step.span, None)
                self._seat(fix, recipe, step.path, place)
        return fix

    def _lazily(self, finding: Finding, recipe: Recipe, start: str) -> Fix | None:
        """The fix where only some ways through a run import the framework that draws: beside that import. None where the run imports it,
        or nothing has to be imported.

        Raises:
            NoFix: that import isn't around the draw.
        """
        dotted = [call.partition("(")[0] for call in recipe.text.splitlines()]
        roots = {name.partition(".")[0] for each in dotted for name in (each, *self._aliases(each))}
        drawing, begins = self.files.code(finding.path), self.files.code(start)
        if finding.family != 1 or any(":" in each for each in dotted) or seeding.imports(begins, roots):
            return None
        way = [begins, *(self.files.code(step.path) for step in finding.steps if step.path != start)]
        if seeding.imports(drawing, roots):
            if not any(seeding.imports_inside(file, drawing.path) for file in way):
                return None
            raise NoFix(f"only some ways through the run import {finding.path.rpartition('/')[2]}")
        found = seeding.import_around(drawing, roots, finding.span)
        if found is None:
            return None
        file = self._file(finding.path)
        names, seat = Names(ast.Module([found], []), ()), seeding.behind(file, found)
        kind = recipe.applicability if runs_once(file.tree, span_of(found)) else "unsafe"
        fix = Fix(finding, kind, message(recipe, f"where `{'`, `'.join(a.name for a in found.names)}` is imported"))
        statements = []
        for call, name in zip(recipe.text.splitlines(), dotted, strict=True):
            known, needed = names.of(name, None, self._aliases(name))
            if needed:
                raise NoFix(f"only some ways through the run import {name.partition('.')[0]}")
            statements.append(self._statement(known, call.partition("(")[2], seat))
        fix.edits[finding.path] = seeding.inserted(file, seat, statements)
        return fix

    def _file(self, path: str) -> File:
        if path not in self.may:
            raise NoFix("the file isn't among those that are checked")
        return self.files.code(path)

    def _seat(self, fix: Fix, recipe: Recipe, path: str, seat: seeding.Seat) -> None:
        file = self.files.code(path)
        if any(seat.body == other for other in fix.seats):
            return  # another run that begins there is seeded with it
        fix.seats.append(seat.body)
        line = (seat.after.lineno if seat.after is not None else seat.body[0].lineno) + 1 if seat.top else None
        statements = []
        for call in recipe.text.splitlines():
            called, _, rest = call.partition("(")
            module, _, dotted = called.rpartition(":")
            if module:
                name, needed = file.names.member(module, dotted, line)
            else:
                name, needed = file.names.of(dotted, line, self._aliases(dotted))
            statements.append(self._statement(name, rest, seat))
            if needed:
                fix.imports.setdefault(path, set()).add(needed)
        fix.edits.setdefault(path, []).extend(seeding.inserted(file, seat, statements))

    def _statement(self, name: str, rest: str, seat: seeding.Seat) -> str:
        """A call of a recipe under a local name, with the seed that its seat has."""
        return f"{name}({rest}".replace("{seed}", seat.seed or str(self.settings.fix_seed))

    def _aliases(self, dotted: str) -> list[str]:
        """The other names of something: `tensorflow.keras.utils...` for `keras.utils...`. Those within one library are
        mostly of the modules that define some of its members."""
        known = self.catalog.aliases.items()
        return [
            alias + dotted.removeprefix(name)
            for alias, name in known
            if f"{dotted}.".startswith(f"{name}.") and alias.partition(".")[0] != name.partition(".")[0]
        ]


def fault(error: Exception) -> str:
    """What is said of an error that nobody has foreseen."""
    return f"a fault of detlint's (please report it): {error!r}"


def message(recipe: Recipe, where: str = "at the start of the run") -> str:
    """What following a recipe does, as an order; `where` is what it adds to a run."""
    text = fix_text(recipe, where)
    return text[0].upper() + text[1:]
