"""What a change brings in: the findings that a program has and hadn't at a revision of its git repository.

A finding is new if a line of it has changed, if the way to it passes a line that has, or if the program as it was didn't have
it: a seeding that is taken away makes a draw unseeded that nobody touched.
"""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from detlint import git
from detlint.checks.finding import Finding, Report, Step
from detlint.checks.identity import Identities
from detlint.discover import SUFFIXES
from detlint.notebook import is_notebook
from detlint.report.place import Sources
from detlint.source import Source

_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OPTIONS: Final = ("--find-renames", "--no-relative")


LACKING: Final = "this clone lacks files as they were, and detlint fetches nothing; `git fetch --refetch --no-filter` gets all of them"


class NoComparison(Exception):
    """Why nothing can be compared, and what to do."""


@dataclass
class Changes:
    """What has changed since a revision, in the files that matter to detlint.

    Attributes:
        lines: the lines that are new or different, by file.
        before: what the files had: nothing where they are new. Files that are gone are among them.
        tracked: the files that git knows.
    """

    lines: dict[str, list[range]] = field(default_factory=dict)
    before: dict[str, bytes] = field(default_factory=dict)
    tracked: set[str] = field(default_factory=set)
    _real: dict[str, str] = field(default_factory=dict)

    @classmethod
    def since(cls, revision: str, folder: Path, files: Sequence[str]) -> Changes:
        """Compare the files as they are with the last commit that a revision and the present one have in common.

        Args:
            folder: in the repository.
            files: those that are checked.

        Raises:
            NoComparison: there is no git, no repository, no such revision, or nothing in common with it.
        """
        repository = _Repository(folder)
        base = repository.base(revision)
        changes = cls(tracked=repository.tracked())
        top = repository.top
        named = [path for path in map(os.path.realpath, files) if not path.endswith(SUFFIXES)]
        of = [f":(top,glob)**/*{suffix}" for suffix in SUFFIXES]
        of += [f":(top,literal){os.path.relpath(path, top)}" for path in named if path.startswith(top)]
        contents = repository.changed(base, of)
        for path, content in contents.items():
            changes.before[path] = content
            if is_notebook(path) and os.path.exists(path):
                changes.lines[path] = [*_different(Source(path, content), Source(path))]
        changes.lines |= repository.lines(base, [*of, ":(top,exclude,glob)**/*.ipynb"])
        for path in map(os.path.realpath, files):
            if path not in changes.tracked:
                changes.before[path] = b""
        return changes

    def texts(self, root: Path, files: Sequence[str]) -> dict[str, bytes]:
        """What the files had, by their paths as a run knows them, which may lead through links.

        Args:
            root: the project's.
            files: those that are checked.
        """
        inside = os.path.realpath(root) + os.sep
        known = {path: os.path.join(root, path.removeprefix(inside)) for path in self.before if path.startswith(inside)}
        known |= {os.path.realpath(path): os.path.abspath(path) for path in files}
        return {known.get(path, path): text for path, text in self.before.items()}

    def real(self, path: str) -> str:
        """A file's path without links, by which it is known here."""
        if path not in self._real:
            self._real[path] = os.path.realpath(path)
        return self._real[path]

    def touch(self, place: Finding | Step) -> bool:
        """Whether a line has changed on which something stands."""
        path = self.real(place.path)
        if path not in self.tracked:
            return True
        first, last = place.span.line, place.span.end_line
        return any(lines.start <= last and first < lines.stop for lines in self.lines.get(path, ()))


def restrict(report: Report, changes: Changes, before: Report) -> None:
    """Leave in a report what changes have brought in, and count the others.

    Args:
        before: the report of the program as it was.
    """
    known = Counter(_keys(before, changes))
    kept = []
    for finding, key in zip(report.findings, _keys(report, changes), strict=True):
        was_there = known[key] > 0
        known[key] -= was_there
        if not was_there or changes.touch(finding) or any(map(changes.touch, finding.steps)):
            kept.append(finding)
    report.earlier = len(report.findings) - len(kept)
    report.findings = kept


def _keys(report: Report, changes: Changes) -> Iterator[tuple[object, ...]]:
    """What each finding is known by: in a file that has changed, by the code that it stands on, else by its place."""
    identities = Identities(Sources(report))
    for finding in report.findings:
        path = changes.real(finding.path)
        if path in changes.before:
            identity = identities.of(finding)
            yield path, finding.code, identity.function, identity.digest
        else:
            yield path, finding.code, finding.span


def _different(old: Source, new: Source) -> Iterator[range]:
    """The lines of a notebook's joined code that are not what they were."""
    matcher = difflib.SequenceMatcher(None, old.lines, new.lines, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind in ("insert", "replace"):
            yield range(start + 1, end + 1)


class _Repository:
    """A repository, as git knows it.

    Raises:
        NoComparison: there is no git, or no repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            self.top = os.path.realpath(os.fsdecode(self._run("rev-parse", "--show-toplevel").rstrip(b"\n")))
        except FileNotFoundError:
            raise NoComparison("--diff-base needs git, which is not installed") from None
        except git.Failed as error:
            raise NoComparison(f"--diff-base needs a git repository: {error}") from None
        self._folder = Path(self.top)

    def _run(self, *arguments: str, given: bytes | None = None) -> bytes:
        return git.run(self._folder, *arguments, given=given)

    def _diff(self, *arguments: str) -> bytes:
        try:
            return git.diff(self._folder, *_OPTIONS, *arguments)
        except git.Failed as error:
            said = str(error)
            lacking = any(word in said for word in ("unable to read", "promisor", "lazy fetching"))
            raise NoComparison(f"--diff-base: {LACKING if lacking else said}") from None

    def base(self, revision: str) -> str:
        """The commit to compare with."""
        try:
            commit = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except git.Failed:
            raise NoComparison(f"--diff-base: `{revision}` is no revision of {self.top}") from None
        try:
            return self._run("merge-base", commit.decode().strip(), "HEAD").decode().split()[0]
        except (git.Failed, IndexError):
            raise NoComparison(
                f"--diff-base: `{revision}` and the present commit have no commit in common; in a shallow clone, "
                "fetch more of the history"
            ) from None

    def tracked(self) -> set[str]:
        """All files that git knows, those of submodules too."""
        names = self._run("ls-files", "-z", "--full-name", "--recurse-submodules").split(b"\0")
        return {self._path(name) for name in names if name}

    def changed(self, base: str, of: Sequence[str]) -> dict[str, bytes]:
        """What changed files had, by the path that they have now; that of files which are gone by their own."""
        raw = self._diff("--raw", "-z", "--no-abbrev", base, "--", *of).split(b"\0")
        fields, old = iter(raw), {}
        for line in fields:
            if not line:
                break
            _, _, blob, _, status = line.split(b" ")
            path = next(fields)
            path = next(fields) if status[:1] in b"RC" else path
            old[self._path(path)] = blob
        blobs = [blob for blob in dict.fromkeys(old.values()) if blob.strip(b"0")]
        contents = dict(zip(blobs, self._contents(blobs), strict=True))
        return {path: contents.get(blob, b"") for path, blob in old.items()}

    def _contents(self, blobs: Sequence[bytes]) -> Iterator[bytes]:
        if not blobs:
            return
        out = self._run("cat-file", "--batch", given=b"\n".join(blobs) + b"\n")
        at = 0
        for _ in blobs:
            end = out.index(b"\n", at)
            if out.endswith(b" missing", at, end):
                raise NoComparison(f"--diff-base: {LACKING}")
            size = int(out[at:end].split()[-1])
            yield out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    def lines(self, base: str, of: Sequence[str]) -> dict[str, list[range]]:
        """The lines that are new or different, by file."""
        prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
        patch = self._diff("--unified=0", "--text", *prefixes, base, "--", *of).split(b"\n")
        found: dict[str, list[range]] = {}
        at, path = 0, ""
        while at < len(patch):
            line = patch[at]
            at += 1
            hunk = _HUNK.match(line)
            if line.startswith(b"+++ "):
                path = self._path(_unquoted(line[4:]).removeprefix(b"b/"))
            elif hunk is not None:
                gone, start, come = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
                if come:
                    found.setdefault(path, []).append(range(start, start + come))
                while gone + come > 0:  # the lines themselves, which may look like anything
                    gone, come = gone - patch[at].startswith(b"-"), come - patch[at].startswith(b"+")
                    at += 1
        return found

    def _path(self, name: bytes) -> str:
        return os.path.join(self.top, os.fsdecode(name).replace("/", os.sep))


def _unquoted(name: bytes) -> bytes:
    """A name in a patch: one with unusual characters is quoted as in C, behind one with blanks there is a tab."""
    if name.startswith(b'"'):
        unquoted: bytes = ast.literal_eval(f"b{name.rstrip().decode('latin-1')}")
        return unquoted
    return name.removesuffix(b"\t")
