"""Compare what two states of detlint find in some repositories.

    python tools/compare.py OLD NEW REPOSITORY... [--output-format text|json] [-- OPTIONS OF detlint check]

    python tools/compare.py main . ../diffusers ../mindcv -- --profile align --target ascend

OLD and NEW are each a folder with a checkout of detlint, a Python executable that has detlint installed, or a git revision of this
repository, which is checked out into a temporary worktree; what is a path is taken as one. Checkouts run under the Python that runs
this tool, with its libraries. Each side checks each repository once, in one process, without a cache, notes included; the two sides
run at the same time. A finding has moved if its rule stands at another place of the same file where the line, or else the message, is
the same.

Exit code: 0 both find the same, 1 they don't, 2 one of them can't be run.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import click
import msgspec
from rich.console import Console
from rich.table import Table

from detlint.source import Source

HERE: Final = Path(__file__).parent.parent
KINDS: Final = ("gained", "lost", "moved", "level", "message")
SIGNS: Final = {"gained": "+", "lost": "-", "moved": ">", "level": "!", "message": "~"}
COLOURS: Final = {"gained": "green", "lost": "red", "moved": "blue", "level": "yellow", "message": "cyan"}


class Failed(click.ClickException):
    """A side that can't be run, or that fails."""

    exit_code = 2


class Place(msgspec.Struct, frozen=True):
    """A position in a file, or in a notebook's cell; 1-based."""

    row: int
    column: int


class Finding(msgspec.Struct, frozen=True):
    """What one side has found, as detlint's JSON has it."""

    code: str
    filename: str
    location: Place
    severity: str
    message: str
    cell: int | None = None

    @property
    def at(self) -> str:
        """The place within the file, as people are told it."""
        cell = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{cell}{self.location.row}:{self.location.column}"


class Change(msgspec.Struct, frozen=True):
    """What one side finds and the other doesn't, or not so."""

    kind: str
    rule: str
    file: str
    """As it is called from the folder where the tool runs."""
    line: str
    """The source at the new place, or at the old one of what was lost."""
    old: Finding | None
    new: Finding | None


class Compared(msgspec.Struct, frozen=True):
    """What both sides find in a repository."""

    repository: str
    seconds: tuple[float, float]
    """CPU time of the old and the new side."""
    same: dict[str, int]
    """How many findings of each rule are the same."""
    changes: list[Change]


class Side(NamedTuple):
    """How to run one state of detlint."""

    command: list[str]
    environment: dict[str, str]

    def check(self, repository: Path, options: list[str], folder: Path) -> tuple[list[Finding], float]:
        """What it finds, and how many seconds of CPU time that takes.

        Args:
            folder: an empty one, to run in: a module of the repository must not be imported in the place of a library's.
        """
        report, said = folder / "report.json", folder / "stderr"
        fixed = [
            "--no-cache",
            "--jobs",
            "1",
            "--show-notes",
            "--exit-zero",
            "--output-format",
            "json",
            "-o",
            str(report),
        ]
        command = [*self.command, "check", *options, *fixed, str(repository)]
        with said.open("wb") as errors:
            process = subprocess.Popen(command, cwd=folder, env=self.environment, stdout=errors, stderr=errors)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode or not report.exists():
            raise Failed(f"{' '.join(command)} ended with {process.returncode}:\n{said.read_text('utf-8', 'replace')}")
        return msgspec.json.decode(report.read_bytes(), type=list[Finding]), used.ru_utime + used.ru_stime


@contextlib.contextmanager
def side(name: str) -> Iterator[Side]:
    """A side by its name: a checkout, an executable, or a revision.

    Raises:
        Failed: it is none of these.
    """
    path = Path(name).absolute()
    without = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if (path / "detlint" / "__init__.py").exists():
        yield _checkout(path)
    elif path.is_file() and os.access(path, os.X_OK):
        yield Side([str(path), "-m", "detlint"], without)
    else:
        git = ["git", "-C", str(HERE), "worktree"]
        with tempfile.TemporaryDirectory() as folder:
            added = [*git, "add", "--quiet", "--detach", f"{folder}/detlint", name]
            done = subprocess.run(added, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Failed(f"{name} is no checkout of detlint, no executable and no revision: {done.stderr.strip()}")
            try:
                yield _checkout(Path(folder, "detlint"))
            finally:
                removed = [*git, "remove", "--force", f"{folder}/detlint"]
                subprocess.run(removed, capture_output=True, check=False)


def _checkout(path: Path) -> Side:
    return Side([sys.executable, "-m", "detlint"], {**os.environ, "PYTHONPATH": str(path)})


def compared(old: Side, new: Side, repository: Path, options: list[str]) -> Compared:
    """What two sides find in a repository.

    Raises:
        Failed: one of them can't be run.
    """
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folders = [Path(name, part) for part in ("old", "new")]
        for folder in folders:
            folder.mkdir()
        runs = [
            pool.submit(one.check, repository, options, folder) for one, folder in zip((old, new), folders, strict=True)
        ]
        (before, old_seconds), (after, new_seconds) = (run.result() for run in runs)
    lines = Lines()
    pairs = [*paired(before, after, lines)]
    same = Counter(one.code for one, other in pairs if one is not None and one == other)
    changes = [_change(one, other, lines) for one, other in pairs if one != other]
    changes.sort(key=lambda change: (change.rule, KINDS.index(change.kind), change.file, place(change)))
    return Compared(str(repository), (old_seconds, new_seconds), dict(same), changes)


class Lines(dict[str, dict[int | None, list[str]]]):
    """The lines of files, of notebooks those of each cell."""

    def __missing__(self, path: str) -> dict[int | None, list[str]]:
        found = {cell: text.splitlines() for cell, text in Source(path).parts.items()}
        self[path] = found
        return found

    def of(self, finding: Finding) -> str:
        """The line at which a finding stands."""
        lines, row = self[finding.filename].get(finding.cell, []), finding.location.row
        return lines[row - 1].strip() if 0 < row <= len(lines) else ""


Pair = tuple[Finding | None, Finding | None]


def paired(before: list[Finding], after: list[Finding], lines: Lines) -> Iterator[Pair]:
    """Each finding of one side with that of the other which it stands for; None where there is none."""
    alike: list[Callable[[Finding], object]] = [
        lambda one: one,
        lambda one: (one.code, one.filename, one.cell, one.location),
        lambda one: (one.code, one.filename, lines.of(one)),
        lambda one: (one.code, one.filename, one.message),
    ]
    for key in alike:
        waiting: dict[object, list[Finding]] = {}
        for one in after:
            waiting.setdefault(key(one), []).append(one)
        left = []
        for one in before:
            others = waiting.get(key(one))
            if others:
                yield one, others.pop(0)
            else:
                left.append(one)
        before, after = left, [one for others in waiting.values() for one in others]
    yield from ((one, None) for one in before)
    yield from ((None, one) for one in after)


def _change(old: Finding | None, new: Finding | None, lines: Lines) -> Change:
    one = new or old
    assert one is not None
    if old is None or new is None:
        kind = "gained" if old is None else "lost"
    elif old.severity != new.severity:
        kind = "level"
    else:
        kind = "message" if (old.cell, old.location) == (new.cell, new.location) else "moved"
    return Change(kind, one.code, os.path.relpath(one.filename), lines.of(one), old, new)


def place(change: Change) -> tuple[int, int, int]:
    """Where a change stands in its file."""
    one = change.new or change.old
    assert one is not None
    return one.cell or 0, one.location.row, one.location.column


def told(found: list[Compared], console: Console) -> None:
    """Print what differs, a table by rule, and what the runs cost."""
    for change in (change for compared in found for change in compared.changes):
        head, line = listed(change), printable(change.line)
        console.print(head, style=COLOURS[change.kind], markup=False, highlight=False, soft_wrap=True)
        console.print(f"      {line}", markup=False, highlight=False, soft_wrap=True)
    rules = Table("rule", "same", *KINDS, title="findings")
    kinds = Counter((change.rule, change.kind) for compared in found for change in compared.changes)
    same = sum((Counter(compared.same) for compared in found), Counter[str]())
    for rule in sorted({*same, *(rule for rule, _ in kinds)}):
        rules.add_row(rule, str(same[rule]), *(str(kinds[rule, kind] or "") for kind in KINDS))
    rules.add_section()
    rules.add_row("all", str(same.total()), *(str(sum(kinds[r, k] for r, k in kinds if k == kind)) for kind in KINDS))
    costs = Table("repository", "old", "new", "new / old", title="CPU seconds")
    for compared in found:
        before, after = compared.seconds
        costs.add_row(compared.repository, f"{before:.1f}", f"{after:.1f}", f"{after / before:.2f}")
    console.print(rules, costs)


def listed(change: Change) -> str:
    """A line about a change."""
    old, new = change.old, change.new
    one = new or old
    assert one is not None
    level = f"{old.severity} -> {new.severity}" if old and new and old.severity != new.severity else one.severity
    at = f"{old.at} -> {new.at}" if old and new and old.at != new.at else one.at
    said = f"{old.message} -> {one.message}" if old and old.message != one.message else one.message
    return printable(f"{SIGNS[change.kind]} {change.kind} {change.rule} {level} {change.file}:{at} {said}")


def printable(text: str) -> str:
    """A text without what a terminal would take for an order."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@click.command(help=__doc__.replace("\n\n    ", "\n\n\b\n    "))
@click.argument("old")
@click.argument("new")
@click.argument("repositories", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def main(passed: list[str], old: str, new: str, repositories: tuple[Path, ...], output_format: str) -> None:
    with side(old) as before, side(new) as after:
        found = [compared(before, after, repository.absolute(), passed) for repository in repositories]
    if output_format == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        told(found, Console())
    sys.exit(int(any(compared.changes for compared in found)))


if __name__ == "__main__":
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    main(given[:end], obj=given[end + 1 :])
