"""Do what means nothing to real projects, and tell whether the verdicts change.

    python tools/transformed.py PROJECT... [--only TRANSFORMATION] [-- OPTIONS OF detlint check]

Each project is copied, checked, transformed as `tests/metamorphic.py` does it to fixtures, and checked again. It prints what is found
before only (-) and after only (+), and ends with 1 if there is any such finding.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from conftest import Told  # noqa: E402
from metamorphic import TRANSFORMATIONS, finding, transform  # noqa: E402


def verdict(root: Path, options: list[str]) -> Counter[tuple[object, ...]]:
    """What is found in a project, notes included, by places that its layout doesn't change."""
    command = [
        sys.executable,
        "-m",
        "detlint",
        "check",
        "--isolated",
        "--no-cache",
        "--show-notes",
        "--output-format",
        "concise",
    ]
    done = subprocess.run([*command, *options, "."], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    rows = (Told.of(line) for line in done.stdout.splitlines())
    return Counter(finding(row._replace(path=root / row.path.relative_to(Path.cwd())), root) for row in rows)


def changes(project: Path, names: list[str], options: list[str]) -> int:
    """Print what transformations change in a project; how many findings that is."""
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        before: Counter[tuple[object, ...]] = Counter()
        for name in ["", *names]:
            root = Path(shutil.copytree(project, Path(folder, name or "as it is", project.name)))
            files = [path for path in sorted(root.rglob("*.py")) if path.is_file()]
            for path in files if name else ():
                try:
                    transform(path, partial(TRANSFORMATIONS[name]))
                except (UnicodeError, SyntaxError):
                    continue  # in an encoding, or a syntax, of its own
            after = verdict(root, options)
            if not name:
                before = after
                print(f"{project}: {len(files)} files, {after.total()} findings")
                continue
            lost, gained = before - after, after - before
            print(f"{project}: {name}: {lost.total()} lost, {gained.total()} gained")
            for sign, rows in (("-", lost), ("+", gained)):
                print(*(f"  {sign} {row}\n" for row in sorted(rows.elements(), key=repr)), sep="", end="")
            total += lost.total() + gained.total()
    return total


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", type=Path, metavar="PROJECT")
    parser.add_argument("--only", choices=TRANSFORMATIONS, action="append", default=[])
    known, options = parser.parse_known_args()
    options = [option for option in options if option != "--"]
    return int(
        sum(changes(project.resolve(), known.only or [*TRANSFORMATIONS], options) for project in known.projects) > 0
    )


if __name__ == "__main__":
    sys.exit(main())
