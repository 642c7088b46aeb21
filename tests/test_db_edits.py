"""After any edits, the database answers as if there was none: in one process that goes on, and in new ones on what others saved."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import toy
from hypothesis import given, settings
from hypothesis import strategies as st

from detlint.db import Database, Storage

MODULES = ["a", "b", "c", "d"]
NAMES = ["p", "q", "r"]
WORDS = ["x", "y", "z"]
YOUNG = 0.06
"""Seconds: so long the status of a file that was changed proves nothing."""


class Step(NamedTuple):
    """An edit, and what is asked after it."""

    edit: str
    module: str
    other: str
    text: str
    late: bool
    """Whether some time goes by before it is asked, so that a later status proves that a file is as it was."""
    asked: list[tuple[str, str]]
    whole: bool
    saves: bool


EDITS = ["write", "append", "same size and time", "touch", "delete", "rename", "setting", "nothing"]
modules, names, words = st.sampled_from(MODULES), st.sampled_from(NAMES), st.sampled_from(WORDS)
lines = st.one_of(
    st.builds("{} = {}\n".format, names, words),
    st.builds("from {} import {}\n".format, modules, names),
    st.builds("from {} import *\n".format, modules),
    st.builds("# {}\n".format, words),
)
texts = st.lists(lines, max_size=4).map("".join)
late = st.integers(0, 7).map(lambda number: number == 7)
questions = st.lists(st.tuples(modules, names), max_size=2)
steps = st.builds(Step, st.sampled_from(EDITS), modules, modules, texts, late, questions, st.booleans(), st.booleans())


class Project:
    """A folder of files, and the databases that are asked about it."""

    def __init__(self, root: Path, contents: list[str]) -> None:
        self.folder = root / "project"
        self.folder.mkdir()
        self.cache = root / "cache"
        for module, text in zip(MODULES, contents, strict=True):
            self.path(module).write_text(text)
        self.way = "plain"
        self.changed = 0.0
        self.going_on = [Database(), Database(Storage(self.cache, "1"))]

    def path(self, module: str) -> Path:
        return self.folder / f"{module}.toy"

    def edit(self, step: Step) -> None:
        path = self.path(step.module)
        if step.edit == "setting":
            self.way = "loud" if self.way == "plain" else "plain"
        elif step.edit == "write":
            path.write_text(step.text)
        elif step.edit == "append":
            with path.open("a") as file:
                file.write(step.text)
        elif step.edit == "touch":
            path.touch()
        elif path.exists():
            if step.edit == "same size and time":
                before, text = path.stat(), path.read_text()
                path.write_text(text.replace("= x", "= t").replace("= y", "= x").replace("= t", "= y"))
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            elif step.edit == "delete":
                path.unlink()
            elif step.edit == "rename":
                path.replace(self.path(step.other))
        if step.edit not in ("setting", "nothing"):
            self.changed = time.monotonic()
        if step.late:
            time.sleep(max(0, self.changed + YOUNG - time.monotonic()))

    def ask(self, step: Step) -> None:
        """Ask what is new, what goes on, and what has no storage."""
        plain = toy.Plain(self.folder, self.way)
        new = Database(Storage(self.cache, "1"))
        for db in (new, *self.going_on, Database()):
            toy.setting.set(db, self.way)
            db.refresh()
            for module, name in step.asked:
                assert toy.resolve(db, str(self.folder), module, name) == plain.resolve(module, name)
            if step.whole:
                assert toy.report(db, str(self.folder)) == plain.report()
        if step.saves:
            for db in (new, *self.going_on):
                db.save()
        new.close()


@given(st.lists(texts, min_size=4, max_size=4), st.lists(steps, min_size=5, max_size=40))
@settings(max_examples=200)
def test_answers_are_those_of_a_run_without_a_database(contents: list[str], steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as root:
        project = Project(Path(root), contents)
        for step in steps:
            project.edit(step)
            project.ask(step)
        for db in project.going_on:
            db.close()
