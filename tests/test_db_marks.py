"""Marks: what stands for something outside that only who sees it change can tell of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detlint.db import Database, Memo, Storage, mark, query

TEXTS: dict[str, str] = {}
RUN: list[str] = []


@mark
def text(name: str) -> None: ...


@mark
def word(name: str, which: str) -> None: ...


@query
def length(db: Database, name: str) -> int:
    RUN.append(name)
    text(db, name)
    return len(TEXTS[name])


@query
def total(db: Database) -> int:
    RUN.append("total")
    word(db, "a", "x")
    return length(db, "a") + length(db, "b")


@query(stored=False)
def twice(db: Database, name: str) -> int:
    RUN.append(f"twice {name}")
    text(db, name)
    return 2 * len(TEXTS[name])


@pytest.fixture(autouse=True)
def texts() -> None:
    TEXTS.clear()
    TEXTS.update(a="a", b="bb")
    RUN.clear()


def opened(folder: Path) -> Database:
    RUN.clear()
    return Database(Storage(folder, "1"))


def test_what_is_touched_is_computed_again(tmp_path: Path) -> None:
    db = opened(tmp_path)
    assert total(db) == 3
    db.save()
    db = opened(tmp_path)
    assert total(db) == 3 and not RUN
    TEXTS["a"] = "aaa"
    assert sorted(db.marked(text)) == [("a",), ("b",)] and [*db.marked(word)] == [("a", "x")]
    db.touch([(text, ("a",)), (text, ("c",))])
    db.refresh()
    assert not db.holds(length, "a") and db.holds(length, "b")
    assert db.before(length, "a") == 1 and db.before(length, "c") is None
    assert total(db) == 5 and RUN == ["a", "total"]
    assert db.holds(total)


def test_what_comes_out_the_same_leaves_the_rest(tmp_path: Path) -> None:
    db = opened(tmp_path)
    assert total(db) == 3
    RUN.clear()
    TEXTS["a"] = "z"
    db.touch([(text, ("a",))])
    db.refresh()
    assert db.holds(total) and RUN == ["a"] and total(db) == 3


def test_touched_answers_stay_so_on_disk(tmp_path: Path) -> None:
    db = opened(tmp_path)
    total(db)
    db.touch([(word, ("a", "x"))])
    db.save()
    db = opened(tmp_path)
    assert total(db) == 3 and RUN == ["total"]


def test_what_is_not_stored(tmp_path: Path) -> None:
    db = opened(tmp_path)
    assert twice(db, "a") == 2 and twice(db, "a") == 2 and RUN == ["twice a"]
    TEXTS["a"] = "aa"
    db.touch([(text, ("a",))])
    db.refresh()
    assert twice(db, "a") == 4


def test_distrust(tmp_path: Path) -> None:
    db = opened(tmp_path)
    total(db)
    RUN.clear()
    db.distrust()
    db.refresh()
    assert not db.holds(total) and db.before(total) == 3
    assert total(db) == 3 and set(RUN) == {"a", "b", "total"}


def test_another_process_hands_over_what_rests_on_marks(tmp_path: Path) -> None:
    db, child = Database(), Database()
    assert length(child, "a") == 1
    data = child.hand_over()
    db.adopt(data)
    RUN.clear()
    assert length(db, "a") == 1 and not RUN
    assert [*db.marked(text)] == [("a",)]
    assert length(child, "b") == 2
    db.touch([(text, ("a",))])
    db.refresh()
    db.adopt(child.hand_over())
    assert not db.holds(length, "a") and db.holds(length, "b")


def test_what_is_kept_aside(tmp_path: Path) -> None:
    db = opened(tmp_path)
    total(db)
    db.aside = b"state"
    db.save()
    assert opened(tmp_path).aside == b"state"


def test_who_saves_last_wins(tmp_path: Path) -> None:
    db, other = opened(tmp_path), opened(tmp_path)
    total(db), length(other, "b")
    db.save()
    other.save()
    again = opened(tmp_path)
    assert not again.holds(total) and total(again) == 3


def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.py")
    TEXTS[name] = "1234"
    db = opened(tmp_path)
    assert length(db, name) == 4
    db.save()
    assert length(opened(tmp_path), name) == 4


def test_who_is_given_what_is_remembered_rests_on_what_it_rests_on() -> None:
    db = Database()
    memo: Memo[int] = Memo(db)

    def found() -> int:
        text(db, "a")
        return memo.of("inner", lambda: len(TEXTS["a"]), 0) + memo.of("outer", found, 7)

    with db.noting() as first:
        assert memo.of("outer", found, 7) == 8
    with db.noting() as second:
        assert memo.of("outer", found, 7) == 8
    assert first == second == {db.number(text, "a"): None}


def test_an_answer_that_is_restated_is_not_computed_again(tmp_path: Path) -> None:
    db = opened(tmp_path)
    assert total(db) == 3
    db.save()
    db = opened(tmp_path)
    assert [asked.name.rpartition(".")[2] for asked, _ in db.resting_on([(text, ("a",))])] == ["length"]
    db.restate((length, ("a",)), 10)
    db.refresh()
    assert (length(db, "a"), RUN) == (10, [])
    assert (total(db), RUN) == (12, ["total"])
    db.restate((length, ("a",)), None)
    db.refresh()
    assert (total(db), RUN) == (3, ["total", "a", "total"])


def test_what_rests_on_an_answer_that_is_restated_as_it_was_holds(tmp_path: Path) -> None:
    db = opened(tmp_path)
    assert total(db) == 3
    db.save()
    db = opened(tmp_path)
    db.restate((length, ("a",)), 1)
    db.refresh()
    assert (total(db), RUN) == (3, [])
