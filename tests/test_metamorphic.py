"""What means the same gets the same verdict: fixtures with what metamorphic.py does to them, whatever is found in them.

Each program and each trap is checked as it is, and with all transformations made together. What `tests/data/metamorphic.toml`
knows to fail is checked with each transformation by itself; under `pytest --metamorphic each`, so are all programs, traps and
fixtures of rules. The list only gets shorter: a fixture that it has and that no longer fails is a failure too.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import test_fixtures
import test_programs
from conftest import Told, once
from metamorphic import TRANSFORMATIONS, Place, finding, parsed, together, transform
from test_fixtures import FIXTURES, RULES, TRAPS
from test_programs import PROGRAMS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Verdict = Counter[tuple[str, str, str, Place]]

TOGETHER = "together"
"""What fails with all transformations, and with none of them alone."""
ALL = {**TRANSFORMATIONS, TOGETHER: together}
LIST = Path("tests", "data", "metamorphic.toml")
KNOWN: dict[str, list[str]] = tomllib.loads((FIXTURES.parent / LIST).read_text("utf-8"))
SOURCES = {path.relative_to(FIXTURES).as_posix(): path for path in (*PROGRAMS, *RULES, *TRAPS)}


def verdict(source: Path, root: Path, found: list[Told]) -> Verdict:
    """What is found in a fixture, by places that its layout doesn't change."""
    return Counter(finding(row, root if source.is_dir() else root.parent) for row in found)


def differences(source: Path, shared: Path, folder: Path, one_by_one: bool) -> dict[str, str]:
    """The transformations that change the verdict, and what they change in it."""
    judged = test_programs.judged if source.is_dir() else test_fixtures.judged
    before = verdict(source, *once(shared, source, judged))

    def change(name: str) -> str:
        after = verdict(source, *judged(source, folder / name, partial(transform, transformation=ALL[name])))
        lost, gained = sorted((before - after).elements()), sorted((after - before).elements())
        return f"{name}: lost {lost}, gained {gained}" if lost or gained else ""

    all_together = "" if one_by_one else change(TOGETHER)
    if not (one_by_one or all_together):
        return {}
    changes = {name: told for name in TRANSFORMATIONS if (told := change(name))}
    if not changes and (told := all_together or change(TOGETHER)):
        changes[TOGETHER] = told
    return changes


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "one_by_one" in metafunc.fixturenames:
        known = {name for names in KNOWN.values() for name in names}
        each = metafunc.config.getoption("metamorphic") == "each"
        chosen = [
            (name, each or name in known) for name in SOURCES if each or name in known or not name.startswith("rules/")
        ]
        metafunc.parametrize(("name", "one_by_one"), chosen, ids=[name for name, _ in chosen])


def test_what_means_the_same_gets_the_same_verdict(name: str, one_by_one: bool, shared: Path, tmp_path: Path) -> None:
    known = {transformation for transformation, names in KNOWN.items() if name in names}
    changes = differences(SOURCES[name], shared, tmp_path, one_by_one)
    wrong = [told for transformation, told in changes.items() if transformation not in known]
    wrong += [
        f"{transformation}: the verdict stays. Remove {name} from {LIST.as_posix()}"
        for transformation in known - {*changes}
    ]
    assert not wrong, "\n".join(wrong)


def test_the_list_names_what_exists() -> None:
    assert {*KNOWN} <= {*ALL}
    assert {name for names in KNOWN.values() for name in names} <= {*SOURCES}
    assert all(names == sorted({*names}) for names in KNOWN.values())


SCOPES = '''
"""Old."""
import functools
outer = 1

def shadows(given, *rest):
    outer = given + 1
    listed = [outer for outer in rest]
    def inner(k=outer):
        nonlocal outer
        outer += k
        return lambda listed: listed + outer
    total = 0
    for item in rest:
        total += item
    with_default = inner()(3)
    return total, outer, listed, with_default, f"{total}", [total + item for item in rest]

def closes_over():
    "Old."
    kept, other = 1, 2
    class Local:
        other = kept
        def method(self): return kept
    try:
        raise ValueError(kept)
    except ValueError as error:
        seen = str(error)
    match (kept, other):
        case (first, last): picked = first - last
    return Local.other, Local().method(), other, seen, picked

def takes(first, second=2, *, third=3): return first, second, third
TAKEN = takes(1, 2), takes((1), 2), takes(1, third=4), takes(*[1, 2])

def speaks():
    named = 3
    return locals()

def asks():
    spoken = 3
    return "{spoken}".format(spoken=spoken)

@functools.cache
def decorated(x=outer): return x

RESULT = TAKEN, shadows(1, 2, 3), closes_over(), speaks(), asks(), decorated()
'''


@pytest.mark.parametrize("name", ALL)
def test_a_transformation_changes_the_text_and_keeps_what_it_does(name: str) -> None:
    results = []
    for text in (SCOPES, after := ALL[name](SCOPES)):
        names: dict[str, object] = {}
        exec(compile(text, name, "exec"), names)
        results.append(names["RESULT"])
    assert results[0] == results[1]
    assert after != SCOPES
    assert all(parsed(ALL[name](text)) for text in ("", "x = 1", "def f(): return 1", "'''a'''\n", "# only this"))
