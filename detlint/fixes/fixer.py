"""Fixing a program: fixes are put in, what then is found is fixed again, until nothing is left to do."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Final

from detlint.catalog import Applicability, Catalog
from detlint.checks.finding import Finding, Report
from detlint.config import Settings
from detlint.files import read as read_file
from detlint.fixes.files import Files
from detlint.fixes.fixable import Fixable
from detlint.fixes.plan import Fix, Planner
from detlint.fixes.python_file import PythonFile
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Edit
from detlint.fixes.unused import without_unused

MOST_PASSES: Final = 10
Check = Callable[[dict[str, bytes]], Report]
"""Checks the program with other texts for some of its files."""


@dataclass
class Fixed:
    """What came of fixing.

    Attributes:
        report: what is left.
        texts: the new content of each file that has changed.
        counts: how many findings were fixed, by file and rule.
        faults: files that were left alone, and why: each is an error of detlint's.
    """

    report: Report
    texts: dict[str, bytes] = field(default_factory=dict)
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)


def fix(check: Check, catalog: Catalog, settings: Settings, before: dict[str, bytes]) -> Fixed:
    """Fix what can be fixed of what is reported.

    Args:
        check: checks the program.
        before: gets the content that each changed file had when it was first read.
    """
    allowed: set[Applicability] = {"safe", "unsafe"} if settings.unsafe_fixes else {"safe"}

    collecting = gc.isenabled()
    gc.disable()  # syntax trees are no garbage, and take twice as long while it is looked for
    try:
        return _rounds(check, catalog, settings, before, allowed)
    finally:
        if collecting:
            gc.enable()


def _rounds(
    check: Check, catalog: Catalog, settings: Settings, before: dict[str, bytes], allowed: Set[Applicability]
) -> Fixed:
    done = Fixed(check({}))
    files = Files(lambda path: done.texts.get(path, _first_content(path, before)), catalog)
    for _ in range(MOST_PASSES):
        planner = Planner(catalog, settings, files, done.report.paths - done.faults.keys())
        shown = [f for f in done.report.findings if settings.show_notes or f.severity != "note"]
        changed = _apply(_first(planner, shown, allowed), files, done)
        if not changed:
            break
        done.texts.update(changed | _tidied(changed, files, done, before))
        for path in changed:
            files.renew(path)
        done.report = check(done.texts)
    else:
        done.faults |= dict.fromkeys(changed, f"fixes are still being made after {MOST_PASSES} rounds")
    done.report.fixed = sum(done.counts.values())
    return done


def _first_content(path: str, before: dict[str, bytes]) -> bytes:
    """What a file has now, which from then on counts as what it had."""
    if path not in before:
        before[path] = read_file(path)
    return before[path]


TURNS: Final = {"set-default": 1, "set-seed": 1, "start-run": 2}
"""Kinds of recipes that come before the others, whose turn is the third."""


def _first(planner: Planner, findings: list[Finding], allowed: Set[Applicability]) -> list[Fix]:
    """The fixes to make next. Seeds that are there get their numbers, then runs are seeded, before anything is changed that
    may be in order then."""
    turns: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and finding.fix.applicability in allowed:
            turns.setdefault(_turn(finding, finding.fix.kind, planner.settings), []).append(finding)

    def made(turn: int) -> list[Fix]:
        fixes = [planner.fix(finding) for finding in turns.get(turn, ())]
        return [fix for fix in fixes if fix is not None and fix.applicability in allowed]

    return next(filter(None, map(made, (1, 2, 3))), []) + made(0)


def _turn(finding: Finding, kind: str, settings: Settings) -> int:
    """When a finding's turn is; any time, said as 0, is right for those that stay whatever is seeded or switched on: a
    listing's order, a draw on a device, and in the align profile what is random by design."""
    by_design = settings.profile == "align" and finding.family in (2, 3)
    if by_design or kind == "draw-on-cpu" or (kind == "wrap" and finding.family < 6):
        return 0
    return TURNS.get(kind, 3)


def _apply(fixes: list[Fix], files: Files, done: Fixed) -> dict[str, bytes]:
    """Put fixes in, each whole or not at all; the new content of the files that they change."""
    taken: dict[str, list[Edit]] = {}
    imports: dict[str, set[str]] = {}
    made: list[Fix] = []
    for fix in fixes:
        if all(_fits(files[path], taken.get(path, ()), edits) for path, edits in fix.edits.items()):
            made.append(fix)
            for path, edits in fix.edits.items():
                known = taken.setdefault(path, [])
                known += [edit for edit in edits if edit not in known]
                imports.setdefault(path, set()).update(fix.imports.get(path, ()))
    changed = {}
    for path, edits in taken.items():
        try:
            changed[path] = _new(files[path], edits, imports[path])
        except (NoFix, UnicodeEncodeError) as error:
            done.faults[path] = f"its fixes can't be put in: {error}"
    for fix in made:
        if not fix.edits.keys() & done.faults.keys():
            done.counts[(fix.finding.path, fix.finding.code, fix.finding.name)] += 1
    return changed


def _tidied(changed: dict[str, bytes], files: Files, done: Fixed, before: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those of the changed files that edits have left with imports which nothing uses, without them."""
    python = {path: file for path in changed if isinstance(file := files[path], PythonFile)}
    texts = {**before, **done.texts, **changed}

    def read(path: str) -> bytes:
        return texts[path] if path in texts else read_file(path)

    return without_unused(python, {path: changed[path] for path in python}, sorted(done.report.program), read)


def _fits(file: Fixable, taken: Iterable[Edit], edits: Iterable[Edit]) -> bool:
    """Whether edits keep clear of those that are made already."""
    return all(file.apart(edit, other) for edit in edits for other in taken)


def _new(file: Fixable, edits: list[Edit], imports: set[str]) -> bytes:
    """The file with the edits made.

    Raises:
        NoFix: what comes of it can't be parsed.
    """
    return file.edited([*(file.importing(imports, edits) if imports else ()), *edits])
