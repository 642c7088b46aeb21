"""Fixing a program: fixes are put in, what then is found is fixed again, until nothing is left to do."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from detlint.catalog import Applicability, Catalog
from detlint.checks.finding import Finding, Report
from detlint.config import Config, Settings
from detlint.files import read as read_file
from detlint.fixes.files import Files
from detlint.fixes.fixable import Fixable
from detlint.fixes.originals import Originals
from detlint.fixes.plan import Fix, Planner
from detlint.fixes.python_file import PythonFile
from detlint.fixes.recipe import Left, NoFix
from detlint.fixes.text import Edit
from detlint.fixes.together import Together
from detlint.fixes.unused import without_unused

MOST_PASSES: Final = 10
MOST_ATTEMPTS: Final = 10
Check = Callable[[dict[str, bytes]], Report]
"""Checks the program with other texts for some of its files."""


@dataclass
class Fixed:
    """What came of fixing.

    Attributes:
        report: what is left.
        before: what files had.
        texts: the new content of each file that has changed.
        counts: how many findings were fixed, by file and rule.
        left: files in which nothing may be changed, although something could be fixed there, and why.
        faults: what a fault of detlint's kept from being fixed: the file, the rule, and why.
    """

    report: Report
    before: Originals
    texts: dict[str, bytes] = field(default_factory=dict)
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    left: dict[str, Left] = field(default_factory=dict)
    faults: list[tuple[str, str, str]] = field(default_factory=list)

    def forget(self, paths: Collection[str], report: Report) -> None:
        """Count as not fixed what couldn't be written.

        Args:
            report: what is found in the files as they are.
        """
        for key in [key for key in self.counts if key[0] in paths]:
            del self.counts[key]
        self.report = report
        report.fixed = sum(self.counts.values())


def fix(check: Check, catalog: Catalog, config: Config, given: Mapping[str, bytes]) -> Fixed:
    """Fix what can be fixed of what is reported.

    A fix that comes to nothing (it is undone by another, what it repairs is found again and again, the file can't be parsed
    with it) is left out, and all others are made.

    Args:
        check: checks the program.
        config: its settings, and the project's root.
        given: the content of files that aren't to be read.
    """
    collecting = gc.isenabled()
    gc.disable()  # syntax trees are no garbage, and take twice as long while it is looked for
    try:
        report, stuck = check({}), dict[Known, str]()
        for _ in range(MOST_ATTEMPTS):
            attempt = _Attempt(check, catalog, config, report, given, stuck)
            if attempt.settles():
                break
        else:
            attempt.undo(report)
        attempt.done.faults = sorted((known.path, known.code, reason) for known, reason in stuck.items())
        return attempt.done
    finally:
        if collecting:
            gc.enable()


@dataclass(frozen=True)
class Known:
    """What a finding is known by from round to round: its file, its rule, and what it stands on."""

    path: str
    code: str
    source: str


class _Attempt:
    """Rounds of fixing, from the files as they are.

    Args:
        report: what is found in them.
        stuck: findings whose fixes come to nothing, and why; more are added.
    """

    def __init__(
        self,
        check: Check,
        catalog: Catalog,
        config: Config,
        report: Report,
        given: Mapping[str, bytes],
        stuck: dict[Known, str],
    ) -> None:
        self._check = check
        self._catalog = catalog
        self._settings = config.settings
        self._stuck = stuck
        self._allowed: set[Applicability] = {"safe", "unsafe"} if config.settings.unsafe_fixes else {"safe"}
        self.done = Fixed(report, Originals(report, config.root))
        self.done.before.update(given)
        self._given = {*report.texts, *given}
        self._files = Files(self._content, catalog)
        self._seen: dict[str, list[tuple[bytes, set[Known]]]] = {}
        """The contents that a file has had, each with what was fixed then."""

    def _content(self, path: str) -> bytes:
        return self.done.texts[path] if path in self.done.texts else self.done.before[path]

    def settles(self) -> bool:
        """Whether there comes a round in which nothing is left to do."""
        done, last = self.done, set[Known]()
        for _ in range(MOST_PASSES):
            planner = Planner(self._catalog, self._settings, self._files, done.report.paths)
            made, changed = self._put(self._first(planner))
            if not changed:
                done.left = {path: left for path, left in self._files.left.items() if path in done.report.paths}
                done.report.unfixed = planner.refused
                done.report.fixed = sum(done.counts.values())
                return True
            changed |= self._tidied(changed)
            last = self._note(made, changed)
            undone = {known for path, text in changed.items() for known in self._undone(path, text)}
            if undone:
                self._stuck.update(dict.fromkeys(undone, "another fix undoes it"))
                return False
            self._take(made, changed)
        self._stuck.update(dict.fromkeys(last, f"it is still found after {MOST_PASSES} rounds"))
        return False

    def _note(self, made: Iterable[Fix], changed: Iterable[str]) -> set[Known]:
        """Note what is fixed in files as they are now."""
        noted = set[Known]()
        for path in changed:
            here = {self._known(fix.finding) for fix in made if path in fix.edits}
            self._seen.setdefault(path, []).append((self._content(path), here))
            noted |= here
        return noted

    def _undone(self, path: str, text: bytes) -> set[Known]:
        """What has been fixed in a file since it had a content before."""
        seen = self._seen[path]
        first = next((i for i, (before, _) in enumerate(seen) if before == text), len(seen))
        return {known for _, fixed in seen[first:] for known in fixed}

    def undo(self, report: Report) -> None:
        """Fix nothing."""
        self.done = Fixed(report, self.done.before)

    def _first(self, planner: Planner) -> list[Fix]:
        """The fixes to make next. Seeds that are there get their numbers, then runs are seeded, before anything is changed that
        may be in order then."""
        findings = self.done.report.findings
        turns: dict[int, list[Finding]] = {}
        for finding in findings if self._settings.show_notes else [f for f in findings if f.severity != "note"]:
            if finding.fix is not None and finding.fix.applicability in self._allowed:
                turns.setdefault(_turn(finding, finding.fix.kind, self._settings), []).append(finding)

        def made(turn: int) -> list[Fix]:
            fixes = [planner.fix(finding) for finding in turns.get(turn, ())]
            return [fix for fix in fixes if fix is not None and self._may(fix, planner)]

        return next(filter(None, map(made, (1, 2, 3))), []) + made(0)

    def _may(self, fix: Fix, planner: Planner) -> bool:
        reason = self._stuck.get(self._known(fix.finding)) if self._stuck else None
        if reason is not None:
            planner.refused[fix.finding] = reason
        return reason is None and fix.applicability in self._allowed

    def _known(self, finding: Finding) -> Known:
        try:
            text = self._files[finding.path].text
        except NoFix:
            return Known(finding.path, finding.code, "")
        return Known(finding.path, finding.code, text.text[slice(*text.range(finding.span))])

    def _put(self, fixes: list[Fix]) -> tuple[list[Fix], dict[str, bytes]]:
        """Put fixes in, each whole or not at all: those that could be, and the new content of the files that they change."""
        taken: dict[str, list[Edit]] = {}
        apart = list[Fix]()
        for fix in fixes:
            if all(_fits(self._files[path], taken.get(path, ()), edits) for path, edits in fix.edits.items()):
                apart.append(fix)
                for path, edits in fix.edits.items():
                    known = taken.setdefault(path, [])
                    known += [edit for edit in edits if edit not in known]
        together = Together(self._files)
        made = together.most(apart)
        for fix, reason in together.impossible:
            self._stuck[self._known(fix.finding)] = reason
        return made, together.texts(made)

    def _take(self, made: Iterable[Fix], changed: dict[str, bytes]) -> None:
        """Go on with what some fixes made of the files."""
        done = self.done
        for fix in made:
            done.counts[(fix.finding.path, fix.finding.code, fix.finding.name)] += 1
        done.texts.update(changed)
        for path in changed:
            self._files.renew(path)
        done.report = self._check(done.texts)
        for path in done.before.check(done.report, self._given | done.texts.keys()):
            self._files.pop(path, None)
        self._files.left.clear()

    def _tidied(self, changed: Mapping[str, bytes]) -> dict[str, bytes]:
        """Those of the changed files that edits have left with imports which nothing uses, without them."""
        python = {path: file for path in changed if isinstance(file := self._files[path], PythonFile)}
        texts = {**self.done.before, **self.done.texts, **changed}

        def read(path: str) -> bytes:
            return texts[path] if path in texts else read_file(path)

        return without_unused(python, {path: changed[path] for path in python}, sorted(self.done.report.program), read)


TURNS: Final = {"set-default": 1, "set-seed": 1, "start-run": 2}
"""Kinds of recipes that come before the others, whose turn is the third."""


def _turn(finding: Finding, kind: str, settings: Settings) -> int:
    """When a finding's turn is; any time, said as 0, is right for those that stay whatever is seeded or switched on: a
    listing's order, a draw on a device, and in the align profile what is random by design."""
    by_design = settings.profile == "align" and finding.family in (2, 3)
    if by_design or kind == "draw-on-cpu" or (kind == "wrap" and finding.family < 6):
        return 0
    return TURNS.get(kind, 3)


def _fits(file: Fixable, taken: Iterable[Edit], edits: Iterable[Edit]) -> bool:
    """Whether edits keep clear of those that are made already."""
    return all(file.apart(edit, other) for edit in edits for other in taken)
