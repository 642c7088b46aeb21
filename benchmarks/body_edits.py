"""What `detlint check FILE` costs after an edit of a function's body.

    python benchmarks/body_edits.py REPOSITORY [FILE...] [--edits 16] [--seed 1]

A copy of the repository is checked as a whole first. Then a function of it is drawn at random, again and again: its file is checked,
gets a `print` at the beginning of that function, and is checked again, each time by a process of its own. Printed are the CPU seconds
of that last check, and how many files were judged, and followed from, anew. Where files are named, functions are drawn from these.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

_ANEW = re.compile(r"judged anew: (\d+), runs followed anew: (\d+)")


def check(root: Path, *options: str) -> tuple[float, str]:
    """CPU seconds of a check, and what it says of itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "detlint", "check", "--exit-zero", "--verbose", "--jobs", "1", *options]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = _ANEW.search(said)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, found[0] if found else ""


def functions(text: str) -> list[tuple[str, ast.stmt]]:
    """The functions of a file, each with the statement before which another one may stand."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body[0].lineno > node.lineno:
            first = node.body[1:2] if ast.get_docstring(node) is not None else node.body[:1]
            found += [(node.name, one) for one in first if not getattr(one, "decorator_list", None)]
    return found


def edits(root: Path, files: list[str], seed: int) -> Iterator[tuple[str, str, str]]:
    """Files with a function each, and the text that they have once it is edited."""
    rng = random.Random(seed)
    for number in range(1_000_000):
        file = rng.choice(files)
        text = (root / file).read_text("utf-8")
        try:
            there = functions(text)
        except SyntaxError:
            continue
        if there:
            name, statement = rng.choice(there)
            lines = text.split("\n")
            lines.insert(statement.lineno - 1, f"{' ' * statement.col_offset}print({number})")
            yield file, name, "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--edits", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / asked.repository.resolve().name
        shutil.copytree(asked.repository, root, ignore=shutil.ignore_patterns(".git", ".detlint_cache"))
        files = asked.files or sorted(str(path.relative_to(root)) for path in root.rglob("*.py"))
        print(f"the whole, cold: {check(root, '.')[0]:.1f} s of CPU time", flush=True)
        taken = []
        for file, name, text in edits(root, files, asked.seed):
            before = (root / file).read_bytes()
            check(root, file)
            (root / file).write_text(text, "utf-8")
            seconds, anew = check(root, file)
            (root / file).write_bytes(before)
            taken.append(seconds)
            print(f"{seconds:6.2f}  {anew}  {file}: {name}", flush=True)
            if len(taken) == asked.edits:
                break
    taken.sort()
    print(f"median {taken[len(taken) // 2]:.2f} s, 95th percentile {taken[int(len(taken) * 0.95)]:.2f} s")


if __name__ == "__main__":
    main()
