"""What files had when they were checked: only that may be edited, for nothing else is where findings say."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from detlint.checks.finding import Report
from detlint.files import read
from detlint.fixes.recipe import Changed, Left
from detlint.fixes.write import leads_outside


class Originals(dict[str, bytes]):
    """The content of files, by path, each read when it is first asked for.

    Args:
        report: of the check that edits are to be made for; `check` takes a later one.
        root: the project's: no link leads out of it.
    """

    def __init__(self, report: Report, root: Path) -> None:
        super().__init__(report.texts)
        self._report = report
        self._root = root

    def __missing__(self, path: str) -> bytes:
        outside = leads_outside(path, self._root)
        if outside is not None:
            raise Left(outside)
        try:
            data = read(path)
        except OSError as error:
            raise Left(f"it can't be read: {error.strerror}") from None
        if not self._report.saw(path, data):
            raise Changed
        self[path] = data
        return data

    def check(self, report: Report, besides: Container[str]) -> list[str]:
        """Compare what was read with what a later check has seen of it, and forget what differs.

        Args:
            besides: files that it was given the content of.

        Returns: the files that have changed.
        """
        self._report = report
        changed = [path for path, data in self.items() if path not in besides and not report.saw(path, data)]
        for path in changed:
            del self[path]
        return changed
