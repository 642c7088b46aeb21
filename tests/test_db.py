"""The database: how much work it does, what it keeps on disk, and what becomes of that."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toy
from hypothesis import given, settings
from hypothesis import strategies as st

from detlint import counters
from detlint.db import Changed, Database, Storage, query, source
from detlint.db.graph import Graph
from detlint.db.inputs import content, listing

OLD = 0.06
"""Seconds after which a file's status proves what it has."""
FILES = {
    "a": "from b import p\nfrom c import *\n",
    "b": "p = x\nfrom a import q\n",
    "c": "q = y\nr = z\n",
    "d": "p = z\n",
}
REPORT = "a.p: x\na.q: y\na.r: z\nb.p: x\nb.q: y\nc.q: y\nc.r: z\nd.p: z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    for name, text in FILES.items():
        (made / f"{name}.toy").write_text(text)
    time.sleep(OLD)
    return made


def opened(folder: Path) -> Database:
    return Database(Storage(folder.parent / "cache", "1"))


def kept(folder: Path) -> Path:
    return folder.parent / "cache" / "queries-1.sqlite"


def work(do: Callable[[], object]) -> tuple[int, int, int, int]:
    """What it takes: queries run, verified, values loaded, and sources read."""
    with counters.counted() as done:
        do()
    return done.computed, done.green, done.loaded, done.inputs


def check(folder: Path) -> str:
    """A run in a new process."""
    db = opened(folder)
    while True:
        try:
            said = toy.report(db, str(folder))
            break
        except Changed:  # a file was written meanwhile
            db.refresh()
    db.save()
    db.close()
    return said


def edit(path: Path, text: str) -> None:
    path.write_text(text)
    time.sleep(OLD)


# --- work ---


def test_a_run_in_which_nothing_has_changed_loads_what_was_asked_and_nothing_else(folder: Path) -> None:
    assert check(folder) == REPORT
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


def test_it_writes_nothing_where_there_is_nothing_new(folder: Path) -> None:
    check(folder)
    before = kept(folder).stat()
    check(folder)
    assert kept(folder).stat().st_mtime_ns == before.st_mtime_ns


def test_a_comment_is_parsed_and_nothing_behind_it_computed(folder: Path) -> None:
    check(folder)
    edit(folder / "c.toy", FILES["c"] + "# more\n")
    computed, green, loaded, inputs = work(lambda: check(folder))
    assert (computed, loaded, inputs) == (1, 1, 1)
    assert green > 5


def test_the_same_in_a_process_that_goes_on(folder: Path) -> None:
    db = Database()
    toy.report(db, str(folder))
    edit(folder / "c.toy", FILES["c"] + "# more\n")
    db.refresh()
    computed, _, loaded, inputs = work(lambda: toy.report(db, str(folder)))
    assert (computed, loaded, inputs) == (1, 0, 0)


def test_only_what_rests_on_a_change_is_computed(folder: Path) -> None:
    check(folder)
    edit(folder / "d.toy", "p = y\n")
    assert work(lambda: check(folder))[0] == 5  # the file, where it is, its names, one of them, the report
    db = opened(folder)
    assert work(lambda: toy.resolve(db, str(folder), "a", "r")) == (0, 0, 1, 0)


def test_a_touch_is_read_and_computes_nothing(folder: Path) -> None:
    check(folder)
    (folder / "c.toy").touch()
    time.sleep(OLD)
    assert work(lambda: check(folder)) == (0, 0, 1, 1)
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


def test_what_has_just_changed_is_not_trusted(folder: Path) -> None:
    (folder / "d.toy").write_text("p = x\n")
    check(folder)
    stale = (folder / "d.toy").stat()
    (folder / "d.toy").write_text("p = y\n")
    os.utime(folder / "d.toy", ns=(stale.st_atime_ns, stale.st_mtime_ns))
    assert check(folder).endswith("d.p: y")


def test_a_query_that_is_not_stored_hands_on_what_it_rests_on(folder: Path) -> None:
    check(folder)
    (folder / "b.toy").rename(folder / "e.toy")
    assert check(folder) == "a.p: nothing\na.q: y\na.r: z\nc.q: y\nc.r: z\nd.p: z\ne.p: x\ne.q: y"


def test_values_that_were_released_are_read_again(folder: Path) -> None:
    db = opened(folder)
    toy.report(db, str(folder))
    path = str(folder / "d.toy")
    toy.parse.release(db)
    assert work(lambda: toy.parse(db, path)) == (0, 0, 1, 0)
    db.save()
    toy.parse.release(db)
    assert work(lambda: toy.parse(db, path)) == (0, 0, 1, 0)
    edit(folder / "d.toy", "p = y\n")
    toy.parse.release(db)
    db.refresh()
    assert toy.report(db, str(folder)).endswith("d.p: y")


def test_a_setting_counts_from_the_next_revision_on(folder: Path) -> None:
    db = Database()
    assert toy.report(db, str(folder)) == REPORT
    toy.setting.set(db, "loud")
    assert toy.report(db, str(folder)) == REPORT
    db.refresh()
    assert work(lambda: toy.report(db, str(folder)))[0] == 1
    assert toy.report(db, str(folder)) == REPORT.upper()
    toy.setting.unset(db)
    db.refresh()
    assert toy.report(db, str(folder)) == REPORT


def test_a_text_of_an_editor_stands_for_the_file(folder: Path) -> None:
    db = opened(folder)
    content.set(db, b"p = w\n", str(folder / "d.toy"))
    assert toy.report(db, str(folder)).endswith("d.p: w")
    db.save()
    assert check(folder) == REPORT


@query
def twice(db: Database, path: str) -> bytes | None:
    first = content(db, path)
    Path(path).write_bytes(b"other")
    assert content(db, path) == first
    return first


def test_a_file_that_changes_under_the_run_ends_the_revision(folder: Path) -> None:
    db, path = opened(folder), folder / "d.toy"
    with pytest.raises(Changed):
        twice(db, str(path))
    db.refresh()
    assert twice(db, str(path)) == b"other"


def test_files_and_folders_that_are_not_there(tmp_path: Path) -> None:
    db = Database()
    assert content(db, str(tmp_path / "none")) is None
    assert content(db, str(tmp_path)) is None
    assert listing(db, str(tmp_path / "none")) is None
    assert content(db, "nul\0") is None
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub")
    (tmp_path / "none").write_text("")
    db.refresh()
    assert listing(db, str(tmp_path)) == ("link@", "none", "sub/")
    assert content(db, str(tmp_path / "none")) == b""


_shaky: list[int] = []


@source
def shaky() -> int:
    if not _shaky:
        raise OSError("not now")
    return _shaky[0]


@query
def steady(db: Database) -> str:
    try:
        return str(shaky(db))
    except OSError as error:
        return str(error)


def test_what_a_source_raises_is_not_remembered() -> None:
    db = Database()
    _shaky.clear()
    assert steady(db) == "not now"
    _shaky.append(1)
    db.refresh()
    assert steady(db) == "1"
    _shaky.clear()
    db.refresh()
    assert steady(db) == "not now"


@query
def mixed(db: Database) -> tuple[dict[str, int], frozenset[str]]:
    return {}, frozenset()


def test_sets_and_dictionaries_do_not_mix() -> None:
    with pytest.raises(TypeError, match="sets or dictionaries"):
        mixed(Database())


@query
def words(db: Database, count: int) -> frozenset[str]:
    return frozenset(f"w{number}" for number in range(count))


@query
def table(db: Database) -> dict[str, int]:
    return {"z": 1, "a": 2}


def test_values_come_from_disk_as_they_were_computed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); import test_db as t;"
        "db = t.Database(t.Storage(Path(sys.argv[1]), '1')); t.words(db, 50); t.table(db); db.save();"
        "print(db.export() or 0, [*db._graph.prints])"
    )
    seen = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", code, str(tmp_path / seed), os.path.dirname(__file__)]
        seen.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    assert len(seen) == 1
    db = Database(Storage(tmp_path / "1", "1"))
    assert words(db, 50) == words.function(db, 50)
    assert [*table(db)] == ["z", "a"]


# --- what becomes of the file ---


@given(st.data())
@settings(max_examples=150)
def test_a_damaged_file_costs_time_and_no_answer(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder, whole = damaged_project(tmp_path_factory)
    start = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.sampled_from([1, 2, 16, 500, 5000]))
    kind = data.draw(st.sampled_from(["flip", "zero", "cut"]))
    part = whole[start : start + length]
    new = bytes(byte ^ 0xFF for byte in part) if kind == "flip" else bytes(len(part)) if kind == "zero" else b""
    kept(folder).write_bytes(whole[:start] + new + (whole[start + length :] if kind != "cut" else b""))
    edit_first = data.draw(st.booleans())
    (folder / "d.toy").write_text("p = y\n" if edit_first else FILES["d"])
    expected = toy.Plain(folder, "plain").report()
    assert check(folder) == expected
    assert check(folder) == expected


_damaged: list[tuple[Path, bytes]] = []


def damaged_project(factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A project with a database, as it was when all was right."""
    if not _damaged:
        folder = factory.mktemp("damaged") / "project"
        folder.mkdir()
        for name, text in FILES.items():
            (folder / f"{name}.toy").write_text(text)
        time.sleep(OLD)
        check(folder)
        _damaged.append((folder, kept(folder).read_bytes()))
    return _damaged[0]


@pytest.mark.parametrize("foreign", [b"", b"text", b"SQLite format 3\0" + bytes(100)])
def test_a_foreign_file_is_thrown_away(folder: Path, foreign: bytes) -> None:
    kept(folder).parent.mkdir()
    kept(folder).write_bytes(foreign)
    assert check(folder) == REPORT
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


def test_a_database_of_somebody_else_is_thrown_away(folder: Path) -> None:
    kept(folder).parent.mkdir()
    database = sqlite3.connect(kept(folder))
    database.execute("CREATE TABLE graph (x)")
    database.execute("INSERT INTO graph VALUES (1)")
    database.execute("CREATE TABLE answers (y)")
    database.commit()
    database.close()
    check(folder)
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


def test_each_version_has_its_own(folder: Path) -> None:
    check(folder)
    other = Database(Storage(folder.parent / "cache", "2"))
    assert work(lambda: toy.report(other, str(folder)))[0] > 5


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_means_no_cache(folder: Path) -> None:
    folder.parent.chmod(0o555)
    try:
        assert check(folder) == REPORT
        assert not kept(folder).parent.exists()
    finally:
        folder.parent.chmod(0o755)


def test_a_place_that_is_no_folder_means_no_cache(folder: Path) -> None:
    kept(folder).parent.write_text("")
    assert check(folder) == REPORT


def test_a_link_in_the_place_of_the_file_is_not_followed(folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    kept(folder).parent.mkdir()
    kept(folder).symlink_to(precious)
    assert check(folder) == REPORT
    assert precious.read_text() == "mine"


def test_a_lost_row_is_computed_again(folder: Path) -> None:
    check(folder)
    database = sqlite3.connect(kept(folder))
    database.execute("DELETE FROM answers")
    database.commit()
    database.close()
    computed, _, loaded, _ = work(lambda: check(folder))
    assert computed > 5 and loaded == 0
    edit(folder / "d.toy", "p = x\n")
    assert check(folder).endswith("d.p: x")


def test_nothing_is_imported_because_the_file_says_so(folder: Path) -> None:
    """A module whose queries aren't there yet: whoever rests on them is run, and brings them."""
    check(folder)
    code = (
        "import sys; from pathlib import Path; from detlint.db import Database, Storage, query\n"
        "folder = Path(sys.argv[1])\n"
        "db = Database(Storage(folder.parent / 'cache', '1'))\n"
        "db.refresh(); assert 'toy' not in sys.modules\n"
        "sys.path.insert(0, sys.argv[2]); import toy\n"
        "sys.stdout.write(toy.report(db, str(folder))); db.save()"
    )
    (folder / "d.toy").write_text("p = y\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(folder), os.path.dirname(__file__)]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert run.stdout == REPORT.replace("d.p: z", "d.p: y")


def test_what_nobody_asks_for_goes_after_a_month(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(folder)
    db = opened(folder)
    toy.resolve(db, str(folder), "a", "none")
    db.save()
    days = 40 * 86_400
    later = time.time() + days
    monkeypatch.setattr(time, "time", lambda: later)
    db = opened(folder)
    toy.resolve(db, str(folder), "d", "p")
    db.save()
    graph = Graph(Storage(folder.parent / "cache", "1").graph())
    assert sum(1 for one in graph.digests if one) == 4  # the name, its file, that file's content, the folder
    assert check(folder) == REPORT
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


# --- several processes ---


def test_who_saves_later_adds_what_the_other_has_not(folder: Path) -> None:
    first, second = opened(folder), opened(folder)
    assert toy.report(first, str(folder)) == toy.report(second, str(folder)) == REPORT
    assert toy.resolve(second, str(folder), "d", "q") == frozenset()
    first.save()
    second.save()
    db = opened(folder)
    assert work(lambda: toy.resolve(db, str(folder), "d", "q")) == (0, 0, 1, 0)
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


def _run_often(folder: Path, number: int, failures: Any) -> None:
    for turn in range(12):
        (folder / f"n{number}.toy").write_text(f"p = {'xyz'[turn % 3]}\n")
        said = check(folder).splitlines()
        if f"n{number}.p: {'xyz'[turn % 3]}" not in said:
            failures.put((number, turn, said))


def test_two_processes_at_once(folder: Path) -> None:
    fork = multiprocessing.get_context("fork")
    failures = fork.Queue()
    processes = [fork.Process(target=_run_often, args=(folder, number, failures)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert failures.empty()
    assert check(folder) == toy.Plain(folder, "plain").report()
    assert work(lambda: check(folder))[0] == 0


def _save_for_ever(folder: Path) -> None:
    for turn in range(1_000_000):
        (folder / "d.toy").write_text(f"p = w{turn}\n")
        check(folder)


@pytest.mark.parametrize("turn", range(8))
def test_a_writer_that_is_killed_leaves_nothing_half_written(folder: Path, turn: int) -> None:
    process = multiprocessing.get_context("fork").Process(target=_save_for_ever, args=(folder,))
    process.start()
    time.sleep(0.05 + 0.013 * turn)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    expected = toy.Plain(folder, "plain").report()
    assert check(folder) == expected
    assert work(lambda: check(folder))[0] == 0


_parent: list[Database] = []


def _parse_in_worker(paths: list[str]) -> bytes:
    for path in paths:
        toy.parse(_parent[0], path)
    return _parent[0].export()


@pytest.fixture
def workers(folder: Path) -> Iterator[Any]:
    _parent[:] = [opened(folder)]
    _parent[0].refresh()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        yield pool
    _parent.clear()


def test_workers_hand_over_what_they_compute(folder: Path, workers: Any) -> None:
    db = _parent[0]
    for handed in workers.map(_parse_in_worker, [[str(folder / f"{name}.toy")] for name in FILES]):
        db.adopt(handed)
    with counters.counted() as done:
        for name in FILES:
            toy.parse(db, str(folder / f"{name}.toy"))
    assert (done.computed, done.loaded) == (0, 4)
    assert toy.report(db, str(folder)) == REPORT
    db.save()
    assert work(lambda: check(folder)) == (0, 0, 1, 0)


def test_what_a_worker_has_read_otherwise_is_not_taken_over(folder: Path, workers: Any) -> None:
    db, path = _parent[0], folder / "d.toy"
    toy.parse(db, str(path))
    path.write_text("p = y\n")
    for handed in workers.map(_parse_in_worker, [[str(path)]]):
        db.adopt(handed)
    assert toy.resolve(db, str(folder), "d", "p") == frozenset({"z"})
    db.refresh()
    assert toy.resolve(db, str(folder), "d", "p") == frozenset({"y"})
