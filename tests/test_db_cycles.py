"""Queries that come to themselves: one answer, whoever asks first, and never one of those on the way to it."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detlint.db import CycleError, Database, UnsettledError, query, source

Edges = tuple[tuple[int, ...], ...]


@source
def graph() -> Edges:
    """For each number those that it has edges to; set by tests."""
    return ()


@query
def edges(db: Database, number: int) -> tuple[int, ...]:
    return graph(db)[number]


@query(initial=frozenset())
def reached(db: Database, number: int) -> frozenset[int]:
    """What can be reached from a number; through numbers that divide by three without storing it."""
    parts = [aside(db, to) if to % 3 == 0 else reached(db, to) for to in edges(db, number)]
    return frozenset({number}).union(*parts)


@query(stored=False, initial=frozenset())
def aside(db: Database, number: int) -> frozenset[int]:
    return reached(db, number)


@query(initial=frozenset())
def guarded(db: Database, number: int) -> frozenset[int]:
    """As `reached`, but an edge counts only once the number before is known to be reached: what is asked depends on answers."""
    found = frozenset({number})
    for to in edges(db, number):
        found |= guarded(db, to)
        if (to + 1) % len(graph(db)) in found:
            found |= guarded(db, (to + 1) % len(graph(db))) | {100 + to}
    return found


@query
def bare(db: Database, number: int) -> int:
    """A query without `initial`, from which a way may lead to itself."""
    return sum(bare(db, to) for to in edges(db, number))


@query(initial=False)
def fickle(db: Database, number: int) -> bool:
    return not fickle(db, number)


@query
def depth(db: Database, number: int) -> int:
    return depth(db, number - 1) + 1 if number else len(graph(db))


@query(initial=frozenset())
def ring(db: Database, number: int, size: int) -> frozenset[int]:
    return ring(db, (number + 1) % size, size) | frozenset({number % 7})


@query
def failing(db: Database, number: int) -> int:
    """Fails at the end of a way, unless the graph has an edge there."""
    if number:
        return failing(db, number - 1)
    if not edges(db, 0):
        raise ValueError("no edge")
    return edges(db, 0)[0]


@query
def caught(db: Database, number: int) -> str:
    try:
        return str(failing(db, number))
    except ValueError as error:
        return str(error)


def naive_reached(given: Edges) -> list[frozenset[int]]:
    return fixed(given, lambda known, number: frozenset({number}).union(*(known[to] for to in given[number])))


def naive_guarded(given: Edges) -> list[frozenset[int]]:
    def step(known: list[frozenset[int]], number: int) -> frozenset[int]:
        found = frozenset({number})
        for to in given[number]:
            found |= known[to]
            if (to + 1) % len(given) in found:
                found |= known[(to + 1) % len(given)] | {100 + to}
        return found

    return fixed(given, step)


def fixed(given: Edges, step: object) -> list[frozenset[int]]:
    assert callable(step)
    known: list[frozenset[int]] = [frozenset() for _ in given]
    while (new := [step(known, number) for number in range(len(given))]) != known:
        known = new
    return known


SIZE = 6
graphs = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=3).map(tuple), min_size=SIZE, max_size=SIZE).map(tuple)


def database(given: Edges) -> Database:
    db = Database()
    graph.set(db, given)
    db.refresh()
    return db


@given(graphs, st.permutations(range(SIZE)))
@settings(max_examples=500)
def test_answers_are_the_least_fixed_point_in_every_order_of_asking(given: Edges, order: list[int]) -> None:
    for ask, expected in ((reached, naive_reached(given)), (guarded, naive_guarded(given))):
        db = database(given)
        assert {number: ask(db, number) for number in order} == dict(enumerate(expected))


@given(st.lists(graphs, min_size=2, max_size=6), st.lists(st.integers(0, SIZE - 1), max_size=4))
@settings(max_examples=300)
def test_circles_that_come_and_go_leave_nothing_behind(given: list[Edges], order: list[int]) -> None:
    db = database(given[0])
    for one in given:
        graph.set(db, one)
        db.refresh()
        known, guards = naive_reached(one), naive_guarded(one)
        for number in order:
            assert aside(db, number) == reached(db, number) == known[number]
            assert guarded(db, number) == guards[number]


def test_small_graphs_in_all_orders() -> None:
    choices = [(), (0,), (1,), (2,), (0, 1), (1, 2), (2, 0)]
    for some in itertools.product(choices, repeat=3):
        expected = naive_reached(some)
        for order in itertools.permutations(range(3)):
            db = database(some)
            assert {number: reached(db, number) for number in order} == dict(enumerate(expected))


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_cycle_without_initial_is_named_the_same_way_whoever_asks(first: int) -> None:
    db = database(((1,), (2,), (0,)))
    with pytest.raises(CycleError) as caught:
        bare(db, first)
    names = [f"test_db_cycles.bare({number},)" for number in (0, 1, 2, 0)]
    assert " -> ".join(names) in str(caught.value)
    graph.set(db, ((1,), (2,), ()))
    db.refresh()
    assert bare(db, first) == 0


def test_what_never_settles_is_an_error() -> None:
    with pytest.raises(UnsettledError, match="fickle"):
        fickle(database(()), 1)


def test_no_chain_is_too_deep_to_compute_or_to_verify() -> None:
    db = database(())
    limit = sys.getrecursionlimit()
    assert depth(db, 10_000) == 10_000
    graph.set(db, ((), ()))
    db.refresh()
    assert depth(db, 10_000) == 10_002
    assert ring(db, 0, 2_000) == frozenset(range(7))
    assert sys.getrecursionlimit() == limit


def test_who_goes_on_after_an_error_is_asked_again_when_it_is_gone() -> None:
    db = database(((),))
    assert caught(db, 500) == "no edge"
    graph.set(db, ((7,),))
    db.refresh()
    assert caught(db, 500) == "7"
    graph.set(db, ((),))
    db.refresh()
    assert caught(db, 500) == "no edge"
    with pytest.raises(ValueError, match="no edge"):
        failing(db, 3)
