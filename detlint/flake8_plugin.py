"""The flake8 plugin. flake8 reads files one at a time, in several processes; detlint's verdicts need the whole program.

So the program is checked once, before flake8 starts its processes, and each file is told what was found in it. What an
editor sends through standard input is checked within its program, the rest of which comes from the cache.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from detlint import __version__
from detlint.visible import visible

if TYPE_CHECKING:
    from argparse import Namespace

    from flake8.options.manager import OptionManager

    from detlint.checks.finding import Finding, Report
    from detlint.project import Project

Row = tuple[int, int, str, type]
"""A violation: line from 1, column from 0, code and text, and the plugin."""
STDIN: Final = ("-", "stdin")


class Plugin:
    """What flake8 makes for each file. It is told the tree but not asked to use it: the program was read already.

    Args:
        tree: the file's tree.
        filename: its path, or the name that standard input is given.
        lines: its lines.
    """

    name: ClassVar[str] = "detlint"
    version: ClassVar[str] = __version__
    options: ClassVar[_Options]

    def __init__(self, tree: ast.AST, filename: str, lines: list[str]) -> None:
        self.filename = filename
        self.lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Register what can be set on flake8's command line and in its configuration."""
        manager.add_option("--detlint-profile", parse_from_config=True, choices=["reproduce", "align"], default=None,
                           help="Judge for runs that are repeated, or compared with another back end.")  # fmt: skip
        manager.add_option("--detlint-target", parse_from_config=True, comma_separated_list=True, default=None,
                           help="Hardware to judge for: cpu, cuda, ascend, tpu, mps, xpu.")  # fmt: skip
        manager.add_option("--detlint-config", parse_from_config=True, default=None,
                           help="detlint's configuration file instead of the nearest.")  # fmt: skip
        manager.add_option("--detlint-show-notes", parse_from_config=True, action="store_true", default=None,
                           help="Report notes too: what is random by design, and seeded.")  # fmt: skip
        manager.add_option("--detlint-no-cache", parse_from_config=True, action="store_true", default=None,
                           help="Neither read nor write detlint's cache.")  # fmt: skip

    @classmethod
    def parse_options(cls, options: Namespace) -> None:
        """Take the options, and check the program, unless this is one of flake8's processes that was started anew."""
        from flake8.exceptions import ExecutionError

        from detlint.catalog import CatalogError
        from detlint.config import ConfigError

        cls.options = _Options(options)
        if multiprocessing.parent_process() is not None:
            return  # it is done when a file asks for it: what the first process has kept is at hand
        for warning in _selectors(options):
            print(f"detlint: {warning}", file=sys.stderr)
        try:
            cls.options.project()
            cls.options.prepare()
        except (ConfigError, CatalogError) as error:
            raise ExecutionError(f"detlint: {error}") from None

    def run(self) -> Iterator[Row]:
        """What is found in the file."""
        try:
            rows = [*self._rows()]
        except Exception as error:  # anything that leaves here would end the whole of flake8
            rows = [(1, 0, f"DET001 can't be analysed, which is a fault of detlint's (please report it): {error!r}")]
        for line, column, text in rows:
            yield line, column, text, type(self)

    def _rows(self) -> Iterator[tuple[int, int, str]]:
        for finding in self.options.findings(self.filename, self.lines):
            line = finding.span.line
            text = self.lines[line - 1] if line <= len(self.lines) else ""
            column = len(text.encode()[: finding.span.column].decode("utf-8", "replace"))
            yield line, column, f"{finding.code} {visible(finding.message)}"


class _Options:
    """What flake8 was told, and what follows from it."""

    def __init__(self, options: Namespace) -> None:
        self.paths = [Path(name) for name in options.filenames or ["."] if name not in STDIN]
        self.config = Path(options.detlint_config) if options.detlint_config else None
        self.notes = bool(options.detlint_show_notes)
        self.cache = not options.detlint_no_cache
        self.overrides: dict[str, Any] = {"force-exclude": True}
        if options.detlint_profile:
            self.overrides["profile"] = options.detlint_profile
        if options.detlint_target:
            self.overrides["targets"] = options.detlint_target
        self._report: Report | None = None

    @lru_cache(maxsize=1)  # noqa: B019
    def project(self) -> Project:
        """The project that the first path belongs to."""
        from detlint.project import Project

        start = self.paths[0] if self.paths else Path()
        return Project.of(start, self.overrides, self.config, cache=self.cache)

    def prepare(self) -> None:
        """Check the files that flake8 was pointed to."""
        from detlint.discover import discover

        if self.paths:
            paths = [path for path in self.paths if path.exists()]
            found = discover(paths, self.project().config)
            self._report = self.project().check(found.files, paths, None, found.problems)

    def findings(self, filename: str, lines: list[str]) -> Iterable[Finding]:
        """What was found in a file, notes left out unless they were asked for."""
        from detlint.discover import discover

        path = os.path.abspath(filename)
        if self._report is None:
            self.prepare()
        report = self._report
        if report is None or path not in report.paths:
            # Standard input, or a file that the walk has left out.
            named = [Path(path)]
            if named[0].exists() and not discover(named, self.project().config).files:
                return ()
            report = self.project().check(named, named, {path: "".join(lines).encode("utf-8", "surrogatepass")})
        return [f for f in report.findings if f.path == path and (self.notes or f.severity != "note")]


def _selectors(options: Namespace) -> Iterator[str]:
    """What is wrong with codes that flake8 takes for prefixes of DET."""
    for name in ("ignore", "extend_ignore"):
        for code in getattr(options, name, None) or ():
            if code in ("D", "DE"):
                yield f"`{name.replace('_', '-')} = {code}` silences DET too; write D1,D2,D3,D4 for pydocstyle's rules"
    for name in ("select", "extend_select"):
        for code in getattr(options, name, None) or ():
            if code in ("D", "DE"):
                yield f"`{name.replace('_', '-')} = {code}` selects DET too; write D1,D2,D3,D4 for pydocstyle's rules alone"
