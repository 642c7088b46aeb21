"""What the incremental database costs: python benchmarks/db.py

Times are those of this process's CPU, the least of some runs. The table's first line is what nearly all questions are: those whose
answer is known in this revision.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from detlint import counters
from detlint.db import Database, Storage, query, source

FILES = 100
FUNCTIONS = 100
ANSWERS = FILES * FUNCTIONS


@source
def text(path: str) -> int:
    """Stands for a file."""
    return 0


@query
def parsed(db: Database, path: str) -> tuple[int, ...]:
    number = text(db, path) % 2
    return tuple(number + function for function in range(FUNCTIONS))


@query
def summary(db: Database, path: str, function: int) -> tuple[str, int]:
    """One of many answers, which rests on its file and on the answer before."""
    before = summary(db, path, function - 1)[1] if function else 0
    return path, parsed(db, path)[function] + before


@query
def total(db: Database) -> int:
    return sum(summary(db, path_of(file), function)[1] for file in range(FILES) for function in range(FUNCTIONS))


def path_of(file: int) -> str:
    return f"package/module{file}.py"


def least(times: int, prepare: Callable[[], Database], run: Callable[[Database], object]) -> float:
    """The seconds that something takes."""
    taken = []
    for _ in range(times):
        db = prepare()
        start = time.process_time()
        run(db)
        taken.append(time.process_time() - start)
        db.close()
    return min(taken)


def ask_all(db: Database) -> None:
    for path, function in QUESTIONS:
        summary(db, path, function)


QUESTIONS = [(path_of(file), function) for file in range(FILES) for function in range(FUNCTIONS)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)

        def opened() -> Database:
            return Database(Storage(cache, "benchmark"))

        def changed(amount: int, files: int) -> Callable[[], Database]:
            def prepare() -> Database:
                db = opened()
                for file in range(files):
                    text.set(db, amount, path_of(file))
                return db

            return prepare

        def filled() -> Database:
            db = Database()
            total(db)
            return db

        def rows() -> list[tuple[str, float, int]]:
            cold = least(3, Database, total)
            db = opened()
            total(db)
            started = time.process_time()
            db.save()
            saved = time.process_time() - started
            db.close()
            return [
                ("a hit", least(5, filled, ask_all), ANSWERS),
                ("computed", cold, ANSWERS),
                ("saved", saved, ANSWERS),
                ("nothing has changed: all", least(5, opened, total), 1),
                ("one file has changed, its answers not", least(5, changed(2, 1), total), FUNCTIONS),
                ("all files have changed, no answers: verified", least(5, changed(2, FILES), total), ANSWERS),
                ("one file has changed, and its answers", least(5, changed(1, 1), total), FUNCTIONS),
                ("all values read from disk", least(3, opened, ask_all), ANSWERS),
            ]

        for what, seconds, count in rows():
            print(f"{what:<46} {seconds * 1000:9.2f} ms {seconds / count * 1e6:9.2f} µs each of {count}")
        with counters.counted() as done:
            total(changed(2, FILES)())
        print(f"verified without being computed: {done.green}, computed: {done.computed}, loaded: {done.loaded}")
        size = (cache / "queries-benchmark.sqlite").stat().st_size
        print(f"on disk: {size / ANSWERS:.0f} bytes for each answer")


if __name__ == "__main__":
    main()
