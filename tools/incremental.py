"""Check that what is kept from before an edit gives the answer that a run without a cache gives.

    python tools/incremental.py PROJECT... [--sequences 100] [--steps 5] [--seed 1] [--keep FOLDER]

Copies of the projects, folders of a few dozen files best, are edited at random, as `tests/edits.py` does it, several times in a row.
After every edit a run with a cache is compared, byte for byte, with one without; the two have different hash seeds. A sequence after
which they differ is made as small as possible: first the changes of files that matter, then the files that were there before. With
`--keep` what is left of it is written out, a folder for each state. The same seed draws the same edits of the same files.

Exit code: 0 the answers are always the same, 1 they aren't.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Final, NamedTuple, TypeVar

TESTS: Final = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from conftest import CHECKING  # noqa: E402
from edits import Project  # noqa: E402
from forks import server  # noqa: E402

LEFT_OUT: Final = shutil.ignore_patterns(".git", "__pycache__", "*.pyc")
PROFILES: Final = ((), ("--profile", "align"))
MOST_TRIES: Final = 120
"""So often a sequence is run again to make it smaller."""
_T = TypeVar("_T")


class Entry(NamedTuple):
    """What stands at a path."""

    kind: str
    """`file`, `link` or `folder`."""
    data: bytes
    """Its content, or where it leads."""
    time: int
    """When it was modified, in nanoseconds."""


State = dict[str, Entry]
"""What there is below a folder, by path."""


class Change(NamedTuple):
    """What an edit has changed at one path."""

    step: int
    path: str
    now: Entry | None
    """None: there is nothing any more."""
    dated: bool
    """Whether it has the time that the edit gave it, rather than that at which it was done."""


class History(NamedTuple):
    """A project as it was, and what edits have changed in it since."""

    options: Sequence[str]
    """How it is checked."""
    before: State
    changes: Sequence[Change]


def state_of(root: Path) -> State:
    """What there is below a folder."""
    found: State = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            time = path.lstat().st_mtime_ns
            if path.is_symlink():
                entry = Entry("link", os.fsencode(os.readlink(path)), time)
            else:
                entry = Entry("folder", b"", 0) if path.is_dir() else Entry("file", path.read_bytes(), time)
            found[path.relative_to(root).as_posix()] = entry
    return found


def changes(step: int, before: State, after: State, began: int) -> list[Change]:
    """What an edit has changed that began at a time."""
    gone = [Change(step, path, None, False) for path in sorted(before.keys() - after.keys(), reverse=True)]
    new = (path for path in sorted(after) if before.get(path) != after[path])
    return [*gone, *(Change(step, path, after[path], after[path].time < began) for path in new)]


def put(root: Path, change: Change) -> None:
    """Make a change below a folder, as far as that is possible there."""
    path, now = root / change.path, change.now
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir() and (now is None or now.kind != "folder"):
        shutil.rmtree(path)
    if now is None or not all(
        above.is_dir() for above in path.parents if above.is_relative_to(root) and above.exists()
    ):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if now.kind == "folder":
        path.mkdir(exist_ok=True)
    elif now.kind == "link":
        path.symlink_to(os.fsdecode(now.data))
    else:
        path.write_bytes(now.data)
        if change.dated:
            os.utime(path, ns=(now.time, now.time))


class Answers(NamedTuple):
    """What is found with what is kept, and with nothing."""

    kept: str
    anew: str


class Program:
    """A project in a folder of its own, with a cache beside it."""

    def __init__(self, folder: Path, before: State, options: Sequence[str]) -> None:
        self.root, self._cache = folder / "project", folder / "cache"
        self._options = options
        for old in (self.root, self._cache):
            shutil.rmtree(old, ignore_errors=True)
        self.root.mkdir()
        for path in sorted(before):
            put(self.root, Change(0, path, before[path], dated=True))
        (self.root / "detlint.toml").touch()  # all files below are one program
        self._report("1", "--cache-dir", str(self._cache))

    def answers(self) -> Answers:
        """What is found now."""
        return Answers(self._report("1", "--cache-dir", str(self._cache)), self._report("2", "--no-cache"))

    def kept(self) -> None:
        """Check it, and keep that."""
        self._report("1", "--cache-dir", str(self._cache))

    def _report(self, seed: str, *options: str) -> str:
        given = ("check", "--show-notes", "--output-format", "json", "--jobs", "1", *self._options, *options, ".")
        done = server(CHECKING, PYTHONHASHSEED=seed).run("main(prog_name='detlint')", *given, cwd=self.root)
        return done.stdout if done.returncode in (0, 1) else f"ended with {done.returncode}: {done.stderr}"


def edited(project: Path, folder: Path, random: Random, steps: int) -> Iterator[tuple[str, History, Answers]]:
    """After each of some edits: what was done, all up to then, and the answers."""
    source = folder / "source"
    if not source.exists():
        shutil.copytree(project, source, symlinks=True, ignore=LEFT_OUT)
    before = state = state_of(source)
    options = random.choice(PROFILES)
    program = Program(folder, before, options)
    edits, made = Project(program.root, random), list[Change]()
    for step in range(steps):
        # the clock of files is coarser: what is given a time that was before is dated
        probe = folder / "clock"
        probe.touch()
        done = edits.edit()
        after = state_of(program.root)
        made += changes(step, state, after, probe.stat().st_mtime_ns)
        state = after
        yield done.replace(f"{program.root}{os.sep}", ""), History(options, before, [*made]), program.answers()


def minimal(items: Sequence[_T], fails: Callable[[Sequence[_T]], bool]) -> Sequence[_T]:
    """As few of some items as still fail, by delta debugging (Zeller and Hildebrandt's ddmin)."""
    parts = 2
    while items:
        size = -(-len(items) // parts)
        for start in range(0, len(items), size):
            rest = [*items[:start], *items[start + size :]]
            if fails(rest):
                items, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(items))
    return items


def shrunk(folder: Path, failing: History) -> History:
    """As few changes, and as few files before, as still make the answers differ."""
    tries = 0

    def fails(before: Iterable[str], made: Sequence[Change]) -> bool:
        nonlocal tries
        tries += 1
        return tries <= MOST_TRIES and differ(
            folder, History(failing.options, {path: failing.before[path] for path in before}, made)
        )

    made = minimal(failing.changes, lambda part: fails(failing.before, part))
    tries = 0
    files = minimal([*failing.before], lambda part: fails(part, made))
    made = minimal(made, lambda part: fails(files, part))
    return History(failing.options, {path: failing.before[path] for path in files}, made)


def differ(folder: Path, sequence: History) -> bool:
    """Whether the answers differ at the end."""
    program = Program(folder, sequence.before, sequence.options)
    steps = [[*part] for _, part in groupby(sequence.changes, lambda change: change.step)]
    for number, part in enumerate(steps):
        for change in part:
            put(program.root, change)
        if number + 1 < len(steps):
            program.kept()
    answers = program.answers()
    return answers.kept != answers.anew


def told(sequence: History) -> Iterator[str]:
    """What is left of a sequence, and how the answers differ."""
    yield f"checked with: {' '.join(sequence.options) or 'no options'}"
    yield f"files before: {' '.join(sorted(sequence.before))}"
    state = dict(sequence.before)
    for change in sequence.changes:
        old, now = state.pop(change.path, None), change.now
        what = "gone" if now is None else f"{now.kind}{', dated back' if change.dated else ''}"
        yield f"step {change.step}: {change.path}: {what}"
        if now is not None:
            was, is_ = ((one.data.decode("utf-8", "replace") if one else "").splitlines() for one in (old, now))
            yield from (f"    {line}" for line in [*difflib.unified_diff(was, is_, lineterm="", n=1)][2:40])
            state[change.path] = now


def kept(sequence: History, folder: Path) -> None:
    """Write each state out, as a folder."""
    numbers = [-1, *sorted({change.step for change in sequence.changes})]
    for number, step in enumerate(numbers):
        root = folder / str(number)
        root.mkdir(parents=True)
        for path in sorted(sequence.before):
            put(root, Change(0, path, sequence.before[path], dated=True))
        for change in sequence.changes:
            if change.step <= step:
                put(root, change)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--sequences", type=int, default=100, help="how many, over all projects in turn")
    parser.add_argument("--steps", type=int, default=5, help="edits in a sequence")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for what is left of sequences that fail")
    options = parser.parse_args()
    steps = failed = 0
    with tempfile.TemporaryDirectory(prefix="edits-") as name:
        for number in range(options.sequences):
            project = options.projects[number % len(options.projects)].resolve()
            folder = Path(name, str(number % len(options.projects)))
            folder.mkdir(exist_ok=True)
            seed, done = f"{options.seed}-{number}", list[str]()
            for edit, sequence, answers in edited(project, folder, Random(seed), options.steps):
                done.append(edit)
                steps += 1
                if answers.kept != answers.anew:
                    failed += 1
                    print(f"\n{project} {seed}: the answers differ after\n  " + "\n  ".join(done))
                    print("\n".join(lines(answers)), flush=True)
                    small = shrunk(folder, sequence) if differ(folder, sequence) else sequence
                    print("\n".join(told(small)), flush=True)
                    if options.keep is not None:
                        kept(small, options.keep / seed)
                    break
            print(f"{number + 1} sequences, {steps} steps, {failed} differ", flush=True)
    sys.exit(int(failed > 0))


def lines(answers: Answers) -> Iterator[str]:
    """How answers differ: `-` with what was kept, `+` with nothing."""
    compared = difflib.unified_diff(answers.kept.splitlines(), answers.anew.splitlines(), lineterm="", n=0)
    return (f"  {line}" for line in [*compared][2:60])


if __name__ == "__main__":
    main()
