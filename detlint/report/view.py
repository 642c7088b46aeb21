"""A run as formats see it: what is shown of its findings, where they stand, what would repair them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from detlint.catalog import Catalog
from detlint.checks.finding import Finding, Report
from detlint.config import Config
from detlint.report.place import Position, Sources, shown

if TYPE_CHECKING:
    from detlint.checks.identity import Identities
    from detlint.fixes.plan import Fix, Planner


PAGES: Final = Path(__file__).parents[1] / "pages" / "rules"
"""The rules' pages, which wheels have (`hatch_build.py`)."""


class Replacement(NamedTuple):
    """What a fix puts in the place of some text of a file."""

    path: str
    start: Position
    end: Position
    text: str


@dataclass
class View:
    """What a format may show.

    Attributes:
        report: the run.
        config: its settings, and the project's root.
        catalog: the rules.
        cache: where facts are kept; None: nowhere.
        fold: whether text shows findings of one cause once.
    """

    report: Report
    config: Config
    catalog: Catalog
    cache: Path | None = None
    fold: bool = True

    @cached_property
    def show_notes(self) -> bool:
        """Whether notes are listed."""
        return self.config.settings.show_notes

    @cached_property
    def findings(self) -> list[Finding]:
        """Those that are listed, in order."""
        return [f for f in self.report.findings if self.show_notes or f.severity != "note"]

    @cached_property
    def sources(self) -> Sources:
        """The files, and places in them."""
        return Sources(self.report)

    def at(self, finding: Finding) -> tuple[Position, Position]:
        """Where a finding begins and ends."""
        return self.sources.start(finding.path, finding.span), self.sources.end(finding.path, finding.span)

    def message(self, finding: Finding) -> str:
        """What a finding says; with the cell, for formats that know no cells."""
        start = self.at(finding)[0]
        return finding.message if start.cell is None else f"cell {start.cell}:{start.line}: {finding.message}"

    # -- fixes --------------------------------------------------------------------------------------------------

    @cached_property
    def planner(self) -> Planner:
        """What makes fixes, of files as they were when the report was made."""
        from detlint.fixes.files import Files
        from detlint.fixes.originals import Originals
        from detlint.fixes.plan import Planner  # imports LibCST

        files = Files(Originals(self.report, self.config.root).__getitem__, self.catalog)
        return Planner(self.catalog, self.config.settings, files, self.report.paths)

    @cached_property
    def fixable(self) -> tuple[int, int]:
        """How many of the findings that are listed `--fix` repairs, and how many more with `--unsafe-fixes`."""
        kinds = Counter(made.applicability for finding in self.findings if (made := self.fix(finding)) is not None)
        return kinds["safe"], kinds["unsafe"]

    def refused(self, finding: Finding) -> str:
        """Why a finding that has a recipe isn't repaired where it stands; "" where it is, or has none."""
        if finding in self.report.unfixed:
            return self.report.unfixed[finding]
        return self.planner.refused.get(finding, "") if finding.fix is not None and self.fix(finding) is None else ""

    def fix(self, finding: Finding) -> Fix | None:
        """What repairs a finding; None where nothing does."""
        if finding.fix is None:
            return None
        if finding not in self._fixes:
            if finding.path != self._planned:  # the trees of all files would take a gigabyte
                self.planner.files.clear()
                self._planned = finding.path
            self._fixes[finding] = self.planner.fix(finding)
        return self._fixes[finding]

    _planned: str = ""
    """The file that fixes were planned in last."""

    @cached_property
    def _fixes(self) -> dict[Finding, Fix | None]:
        return {}

    def replacements(self, fix: Fix) -> Iterator[Replacement]:
        """What a fix replaces, file by file."""
        for path, edit in fix.placed(self.planner.files):
            start, end = (Position(edit.cell, *place) for place in (edit.start, edit.end))
            yield Replacement(path, start, end, edit.text)

    def replaced_in_files(self, finding: Finding) -> list[Replacement]:
        """What the fix of a finding replaces, for formats that know files only; nothing where it is made in a cell."""
        fix = self.fix(finding)
        made = [*self.replacements(fix)] if fix is not None else []
        return [] if any(one.start.cell is not None for one in made) else made

    # -- files, as services know them ---------------------------------------------------------------------------

    @cached_property
    def top(self) -> str:
        """The repository's folder; the project's root where it is in none."""
        root = self.config.root.resolve()
        return str(next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root))

    def relative(self, path: str, top: str = "") -> str:
        """A file's path from the repository's folder (or another), with `/`; as it is where it lies outside of that.

        Links are followed: services know only what they lead to.
        """
        real, top = os.path.realpath(path), (top or self.top).rstrip(os.sep) + os.sep
        name = real.removeprefix(top).replace(os.sep, "/")
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    def name(self, path: str) -> str:
        """A file's path from the project's root; as it is where it lies outside of it."""
        return shown(path, str(self.config.root.absolute()))

    def rule_url(self, code: str) -> str | None:
        """The address of a rule's page, as `docs-url` has it; else that of the installed page, None where there is none: in a source
        tree, and for a rule of one's own."""
        base = self.config.settings.docs_url
        if not base:
            page = PAGES / f"{code}.html"
            return page.as_uri() if page.is_file() else None
        if "://" not in base:
            base = (self.config.root / base).absolute().as_uri()
        return f"{base.rstrip('/')}/rules/{code}.html"

    def uri(self, path: str) -> str:
        """A file as a URI: from the repository's folder, absolute where it lies outside of it."""
        from urllib.parse import quote

        real, top = os.path.realpath(path), self.top.rstrip(os.sep) + os.sep
        if not real.startswith(top):
            return Path(real).as_uri()
        return quote(os.fsencode(real.removeprefix(top).replace(os.sep, "/")))

    # -- findings, as services know them again ------------------------------------------------------------------

    @cached_property
    def _identities(self) -> Identities:
        from detlint.checks.identity import Identities

        return Identities(self.sources)

    @cached_property
    def fingerprints(self) -> dict[int, str]:
        """A text for each finding, by its position among those listed, which no other has. It stays what it is when
        lines above the finding come or go, and when the code is laid out differently."""
        seen: dict[tuple[str, ...], int] = {}
        found = {}
        for number, finding in enumerate(self.findings):
            identity = self._identities.of(finding)
            key = (self.relative(finding.path), finding.code, identity.function, identity.digest)
            seen[key] = seen.get(key, 0) + 1
            found[number] = self._identities.digest([*key, str(seen[key])])
        return found
