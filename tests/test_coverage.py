"""The catalog against the documentation: every API that is documented as random, seeding or nondeterministic is known.

`tests/data/coverage/*.toml` list the APIs, with what detlint must say where a program calls them; `Row` describes the
keys. Each row becomes one small program for each name, and one run reads all of them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from conftest import REPOSITORY, Told, told

from detlint.catalog import Catalog, load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COVERAGE = sorted((REPOSITORY / "tests" / "data" / "coverage").glob("*.toml"))
SWITCHES = {"DET602", "DET607", "DET608"}
UNSEEDED = {"DET101", "DET102", "DET104", "DET105", "DET106", "DET108", "DET113"}


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """APIs that documentation describes together, and what detlint must say of each.

    At least one of `rule`, `silent`, `counted`, `seeds`, `leaves` and `sets` is given.
    """

    fact: str
    """What is documented, in a word or two; shown where the row fails."""
    names: list[str]
    """Full names. A method is called on an object annotated with its class."""
    args: str = ""
    """The arguments of the call."""
    code: str = ""
    """The lines to write instead of a call; `{name}` stands for the name."""
    setup: str = ""
    """Lines before them, in which findings don't count."""
    rule: str = ""
    """The rule that must be found at the call. With `silent` too, the name needs an entry but is silent here."""
    silent: str = ""
    """Nothing may be found at the call; says why."""
    counted: bool = False
    """One switch answers it: it is named where the run never throws that switch, and is no finding by itself."""
    seeds: list[str] = []
    """The streams, of `[streams]`, whose draws are reproducible after the call."""
    leaves: list[str] = []
    """The streams whose draws are still reported after the call."""
    sets: dict[str, bool | int | float | str | None] = {}
    """The switches that the catalog's entries for the name set, whatever their conditions."""
    profile: str = ""
    target: str = ""
    versions: dict[str, str] = {}


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of rows."""

    row: list[Row]
    target: str = ""
    """The target of rows that name none; without one, it follows from the program."""
    streams: dict[str, str] = {}
    """A stream to the lines of a program that draws from it."""
    trains: dict[str, str] = {}
    """A target to the lines of a program that trains on it."""


class Case(NamedTuple):
    """One name of one row, and the program made of it."""

    row: Row
    name: str
    stream: str
    """The stream that the program draws from after the call."""
    text: str
    lines: range
    """The lines in which findings count."""


def read(path: Path) -> Document:
    return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Document)


def write(row: Row, name: str, draw: str) -> tuple[str, range]:
    """The program, and the lines of it that the row is about."""
    owner, _, member = name.rpartition(".")
    method = owner.rpartition(".")[2][:1].isupper()
    head = f"import {name.partition('.')[0]}\n" if owner else ""
    call = row.code.replace("{name}", name) or (
        f"kept = value.{member}({row.args})" if method else f"{name}({row.args})"
    )
    if row.rule == "DET107" and not (method or row.code):
        call = f"def made():\n    return {call}"  # what is made, and dropped, draws nothing
    if method and not row.code:
        head += f"value: {owner} = read()\n"
    head += row.setup.rstrip() + "\n" if row.setup else ""
    body = call.rstrip() + "\n"
    first = head.count("\n") + 1
    return head + body + draw, range(first, first + body.count("\n"))


def cases(document: Document) -> list[Case]:
    made = []
    for row in document.row:
        for name in row.names:
            if row.counted:
                trains = document.trains[row.target or document.target]
                made.append(Case(row, name, "", *write(row, name, trains)))
            elif row.rule or row.silent:
                made.append(Case(row, name, "", *write(row, name, "")))
            streams = (*row.seeds, *row.leaves)
            made += [Case(row, name, stream, *write(row, name, document.streams[stream])) for stream in streams]
    return made


def run(document: Document, folder: Path) -> list[tuple[Case, list[Told]]]:
    """Each case with the findings of its program; cases that share their options share a run."""
    groups: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for case in cases(document):
        versions = "".join(f'{name} = "{version}"\n' for name, version in sorted(case.row.versions.items()))
        groups[case.row.target or document.target, case.row.profile, versions].append(case)
    judged = []
    for number, ((target, profile, versions), members) in enumerate(groups.items()):
        top = folder / f"group_{number}"
        top.mkdir()
        options = [*(["--target", target] if target else []), *(["--profile", profile] if profile else [])]
        if versions:
            (top / "detlint.toml").write_text("[versions]\n" + versions)
            options += ["--config", str(top / "detlint.toml")]
        for i, case in enumerate(members):
            (top / f"case_{i:04}.py").write_text(case.text)
        found: dict[str, list[Told]] = defaultdict(list)
        for finding in told("--jobs", "1", *options, top, isolated=not versions):
            found[finding.path.name].append(finding)
        judged += [(case, found[f"case_{i:04}.py"]) for i, case in enumerate(members)]
    return judged


def verdict(case: Case, found: list[Told]) -> str:
    """What is wrong with the findings of one program, if anything."""
    row = case.row
    if case.stream:
        codes = {finding.code for finding in found} & UNSEEDED
        if case.stream in row.seeds:
            return f"a draw from {case.stream} is still {min(codes)}" if codes else ""
        return "" if codes else f"a draw from {case.stream} is taken as seeded"
    if row.counted:
        named = any(finding.code in SWITCHES and f"`{case.name}`" in finding.message for finding in found)
        found = [finding for finding in found if finding.code not in (*SWITCHES, "DET609")]
        if not named:
            return "is not counted"
    here = sorted({finding.code for finding in found if finding.line in case.lines})
    if row.silent or row.counted:
        return f"{', '.join(here)}, not silent" if here else ""
    return "" if row.rule in here else f"{', '.join(here) or 'nothing'} instead of {row.rule}"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


@pytest.mark.parametrize("path", COVERAGE, ids=lambda path: path.stem)
def test_known(path: Path, catalog: Catalog) -> None:
    tables = (catalog.calls, catalog.assignments, catalog.environment, catalog.members, catalog.copies)
    wrong = []
    for row in read(path).row:
        for name in row.names:
            positions = [i for table in tables for i in table.get(catalog.canonical(name), [])]
            if not positions and not (row.silent and not row.rule) and not row.code:
                wrong.append(f"{row.fact}: {name}: the catalog has no entry")
            sets = {key: value for i in positions for key, value in catalog.entries[i].sets.items()}
            if row.sets and sets != row.sets:
                wrong.append(f"{row.fact}: {name}: sets {sets}, documented is {row.sets}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", COVERAGE, ids=lambda path: path.stem)
def test_reported(path: Path, tmp_path: Path) -> None:
    judged = run(read(path), tmp_path)
    wrong = [f"{case.row.fact}: {case.name}: {fault}" for case, found in judged if (fault := verdict(case, found))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", COVERAGE, ids=lambda path: path.stem)
def test_rows_expect_something(path: Path) -> None:
    empty = [
        row.fact
        for row in read(path).row
        if not (row.rule or row.silent or row.counted or row.seeds or row.leaves or row.sets)
    ]
    assert not empty
    assert all(row.names for row in read(path).row)
