"""What is told of a program, once its runs are followed and its files judged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from detlint.answers import judged, said
from detlint.checks.finding import Finding, Report, Step
from detlint.config import selected, severity_of
from detlint.merged import found, once
from detlint.model.sites.records import Span
from detlint.model.sites.store import with_deep_stack
from detlint.patterns import glob
from detlint.source import Source
from detlint.sources.parse import Problem

if TYPE_CHECKING:
    pass
from detlint.program_files import ProgramFiles


class ProgramFindings(ProgramFiles):
    """Puts it together."""

    def told(self, paths: set[str]) -> Report:
        """What is found in some files, comments and configuration considered."""
        files = self.store.files
        paths = paths & self.reported
        report = Report(paths=frozenset(paths), program=frozenset(self.inside), files=len(paths))
        report.lines = sum(head.lines for path in paths if (head := files[path].head) is not None)
        findings = once(with_deep_stack(lambda: [*found(*self._said(paths))]))
        for path, reason in self.problems:
            findings += self.unreadable(os.path.abspath(path), Problem(reason))
        findings = self._unsuppressed(findings, report)
        if self.config.settings.per_file_ignores:
            findings = [f for f in findings if not self._ignored(f)]
        report.findings = sorted(findings, key=Finding.sort_key)
        report.judged, report.followed = len(self.anew), len(self.again)
        report.cells = {path: file.head.cells for path, file in files.items() if file.head and file.head.cells}
        report.texts = {path: file.text for path, file in files.items() if file.text is not None}
        told = {finding.path for finding in findings} | {step.path for finding in findings for step in finding.steps}
        report.keys = {path: (files[path].key, files[path].module, files[path].package) for path in told & files.keys()}
        return report

    def _said(self, paths: set[str]) -> tuple[dict[str, list[Finding]], dict[str, list[Finding]]]:
        """What runs that reach some files say, and what judging these gave. Runs that reach none of them say nothing of them."""
        known, starts = self.known, self._starting & self._reaching(paths)
        there = [path for path in paths if self.store.files[path].head is not None]
        return {start: said(known, start) for start in starts}, {path: judged(known, path).findings for path in there}

    def _unsuppressed(self, findings: list[Finding], report: Report) -> list[Finding]:
        """What no comment covers, in the files that are checked, and what is wrong with the comments."""
        from detlint.checks.suppress import suppress

        rule = self.store.catalog.rules.get("DET002")
        unused = rule if rule is not None and selected(self.config.settings, rule.code) else None
        on = {code for code in self.store.catalog.rules if selected(self.config.settings, code)}
        files = self.store.files
        said = {path: head.directives for path in report.paths if (head := files[path].head) and head.directives}
        by_file: dict[str, list[Finding]] = {path: [] for path in said}
        kept = list[Finding]()
        for finding in findings:
            if finding.path in report.paths:
                by_file.get(finding.path, kept).append(finding)
            elif finding.code == "DET001":
                kept.append(finding)
            else:
                # What an entry point reaches in a file that isn't checked is reported on the way to it.
                step = next((s for s in reversed(finding.steps) if s.path in report.paths), None)
                if step is not None:
                    there = Step(finding.path, finding.span, "here")
                    recipe = finding.fix if finding.fix is not None and finding.fix.kind == "start-run" else None
                    steps = (*finding.steps, there)
                    moved = msgspec.structs.replace(
                        finding, path=step.path, span=step.span, steps=steps, argument="", fix=recipe
                    )
                    by_file.get(step.path, kept).append(moved)
        for path, found_here in by_file.items():
            left, covered = suppress(found_here, said[path], path, Source(path, files[path].read), unused, on)
            report.suppressed += covered
            kept += left
        level = severity_of(self.config.settings, "DET002")
        return [f.with_severity(level) if f.code == "DET002" and level and level != "off" else f for f in kept]

    def unreadable(self, path: str, problem: Problem) -> list[Finding]:
        rule = self.store.catalog.rules.get("DET001")
        if rule is None or not selected(self.config.settings, rule.code):
            return []
        span = Span(problem.line, problem.column, problem.line, problem.column)
        level = severity_of(self.config.settings, rule.code) or "warning"
        finding = Finding(path, span, rule.code, rule.name, "warning", problem.message, rule.remedy)
        return [finding.with_severity(level)] if level != "off" else []

    def _ignored(self, finding: Finding) -> bool:
        """Whether `per-file-ignores` turns a rule off for the finding's file."""
        path = finding.path.removeprefix(f"{self.config.root.absolute()}{os.sep}").replace(os.sep, "/")
        for pattern, codes in self.config.settings.per_file_ignores.items():
            matches = glob(pattern.removeprefix("!")).match_file(path)
            if matches is not pattern.startswith("!") and any(
                code == "ALL" or finding.code.startswith(code) for code in codes
            ):
                return True
        return False
