"""Asks: what is known, what must be verified, and what is computed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, Final, ParamSpec, TypeVar

import msgspec

from detlint import counters
from detlint.db.errors import Changed
from detlint.db.evaluation import Evaluation, Name
from detlint.db.graph import Graph, Needs, Told
from detlint.db.query import NOTHING, Asked, Key, Mark, Source, digest, parsed, print_of
from detlint.db.storage import Outcome, Storage

P = ParamSpec("P")
T = TypeVar("T")
KEPT: Final = 30
"""Days for which what nobody asks for stays on disk."""
_DAY: Final = 86_400


class _Row(msgspec.Struct, array_like=True):
    """An answer for another process, with the fingerprints of what it rests on there."""

    digest: int
    print_: int
    text: bytes
    data: bytes
    note: bytes | None
    """That of a source; of a query None."""
    needs: list[tuple[int, int]]
    is_mark: bool = False


class Database:
    """The answers to queries, in memory and in a storage; None: only in memory.

    One that was forked works on for itself, and hands what it computes to its parent: `parent.adopt(child.export())`.
    """

    def __init__(self, storage: Storage | None = None) -> None:
        self.hot: list[dict[Key, tuple[Any, int]]] = []
        """By number of the query and by key, the values that hold in this revision, and their nodes: read by `Asked.__call__`."""
        self.asked: dict[int, None] = {}
        """The nodes that whoever runs at the moment has asked for. Those below 0 aren't stored."""
        self.pins: dict[Name, Any] = {}
        """What sources give instead of what is outside, from the next revision on."""
        self._storage = storage
        self._graph = _opened(storage)
        self._evaluation = Evaluation(self._run, self._finish)
        self._begun = False
        self._dirty = False
        self._suspect: set[int] = set()
        """Nodes that may rest on something that has changed and haven't been verified. A source that can't be looked at is one."""
        self._askers: dict[int, list[int]] = {}
        """Of suspect nodes, and changed sources: the suspect nodes that had asked for them."""
        self._names: dict[int, Name] = {}
        self._held: dict[int, Any] = {}
        """Values of nodes that aren't hot."""
        self._below = count(-1, -1)
        self._apart: dict[int, Needs] = {}
        """What the nodes below 0 have asked for."""
        self._fresh: dict[int, tuple[bytes, bytes]] = {}
        """Rows that the storage doesn't have: questions and values."""
        self._fetched: dict[int, tuple[bytes, bytes]] = {}
        """Rows that were read from there all at once."""
        self._gone: set[int] = set()
        """Nodes whose rows the storage shouldn't have any more."""
        self._touched: set[int] = set()
        """The marks that were touched since the last revision began."""
        self._process = os.getpid()
        self._shared: dict[tuple[int, ...], dict[int, None]] = {}
        self._restated: set[int] = set()
        """The answers that were given another value since the last revision began."""

    # --- asking ---

    def ask(self, asked: Asked[Any, Any], key: Key) -> Any:
        """The answer to a question that isn't hot."""
        if not self._begun:
            self.refresh()
        name = (asked, key)
        if isinstance(asked, Source):
            return self._input(asked, key)
        if isinstance(asked, Mark):
            return self._mark(asked, key)
        value = self._evaluation.meanwhile(name)
        if value is not NOTHING:
            return value
        node = self._graph.find(digest(asked.text(key))) if asked.stored else None  # type: ignore[attr-defined]
        if node is not None:
            self._names[node] = name
            self._verify(node)
            if node not in self._suspect and self._heat(node, name):
                return self._answer(name)
            value = self._evaluation.meanwhile(name)
            if value is not NOTHING:
                return value
        value = self._evaluation.compute(name)
        return self._answer(name) if key in self._table(asked) else value

    def _answer(self, name: Name) -> Any:
        value, node = self._table(name[0])[name[1]]
        self.asked[node] = None
        return value

    def _table(self, asked: Asked[Any, Any]) -> dict[Key, tuple[Any, int]]:
        while len(self.hot) <= asked.number:
            self.hot.append({})
        return self.hot[asked.number]

    def _heat(self, node: int, name: Name) -> bool:
        """Make a node hot whose fingerprint is right, if its value is there."""
        asked, key = name
        table = self._table(asked)
        if key in table:
            return True
        if node in self._held:
            value = self._held.pop(node)
        else:
            row = self._row(node)
            if row is None or row[0] != asked.text(key) or print_of(*row) != self._graph.prints[node]:
                return False
            try:
                value = asked.decode(row[1])
            except msgspec.DecodeError:
                return False
            counters.now.loaded += 1
        table[key] = value, node
        return True

    def _row(self, node: int) -> tuple[bytes, bytes] | None:
        found = self._fresh.get(node) or self._fetched.get(node)
        return found or (self._storage.row(node) if self._storage is not None else None)

    def fetch(self) -> None:
        """Read all values at once that are on disk, for whoever will ask for most of them."""
        self._fetched = self._storage.rows() if self._storage is not None else {}

    def holds(self, asked: Asked[P, Any], *key: P.args, **named: P.kwargs) -> bool:
        """Whether an answer is known and still holds; what it rests on is computed for that, where it has to be."""
        if not self._begun:
            self.refresh()
        node = self._graph.find(digest(asked.text(key)))
        if node is None:
            return False
        self._names[node] = (asked, key)
        self._verify(node)
        return node not in self._suspect

    def before(self, asked: Asked[P, T], *key: P.args, **named: P.kwargs) -> T | None:
        """The last answer, whether it holds or not; None where it isn't known."""
        node, text = self._graph.find(digest(asked.text(key))), asked.text(key)
        if node is None:
            return None
        if (found := self._table(asked).get(key)) is not None or node in self._held:
            value: T = found[0] if found is not None else self._held[node]
            return value
        row = self._row(node)
        if row is None or row[0] != text or print_of(*row) != self._graph.prints[node]:
            return None
        with contextlib.suppress(msgspec.DecodeError):
            return asked.decode(row[1])
        return None

    def _run(self, name: Name, noted: dict[int, None]) -> Any:
        counters.now.computed += 1
        outer, self.asked = self.asked, noted
        try:
            return name[0].function(self, *name[1])
        finally:
            self.asked = outer

    def _finish(self, circle: dict[Name, Any], noted: dict[int, None], together: bool) -> None:
        """Remember the value of a query, or those of a circle."""
        needs = self._flat(noted)
        if together:
            texts = sorted(asked.text(key) for asked, key in circle)
            prints = sorted(print_of(a.text(k), a.encode(v)) for (a, k), v in circle.items() if a.stored)  # type: ignore[attr-defined]
            whole = b"\0".join([b"together", *texts])
            node = self._put(digest(whole), print_of(whole, msgspec.msgpack.encode(prints)), needs)
            self._keep(node, b"", b"")
            needs = (node,)
        for name, value in circle.items():
            asked, key = name
            if asked.stored:  # type: ignore[attr-defined]
                text, data = asked.text(key), asked.encode(value)
                node = self._put(digest(text), print_of(text, data), needs)
                self._keep(node, text, data)
                self._held.pop(node, None)
            else:
                node = next(self._below)
                self._apart[node] = needs
            self._names[node] = name
            self._table(asked)[key] = value, node

    def _flat(self, noted: Iterable[int]) -> Needs:
        """What is stored of some nodes: itself, or what it has asked for."""
        if not self._apart:
            return tuple(noted)
        flat = dict[int, None]()
        for node in noted:
            flat.update(dict.fromkeys(self._apart[node]) if node < 0 else {node: None})
        return tuple(flat)

    def _put(self, question: int, print_: int, needs: Needs) -> int:
        node, changed = self._graph.put(question, print_, needs)
        if changed:
            self._blame(node)
        self._suspect.discard(node)
        self._dirty = True
        return node

    def _blame(self, node: int) -> None:
        """A node has another value: those who asked for the old one, and weren't computed again since, are red."""
        self._graph.red.update(asker for asker in self._askers.get(node, ()) if asker in self._suspect)

    def _keep(self, node: int, text: bytes, data: bytes) -> None:
        rows = self._own()
        rows.pop(node, None)  # each comes after what it rests on
        rows[node] = text, data

    # --- verifying ---

    def _verify(self, target: int) -> None:
        """Find out whether a node still holds: go through what it has asked for, in this order, and run what has to be.

        What comes first is unchanged when the next is run, so that this is only what the asker would ask for, too. A node that stays
        suspect couldn't be run by itself, and its askers are. There is no recursion, however long the chain.
        """
        suspect, red = self._suspect, self._graph.red
        if target not in suspect:
            return
        way = [(target, iter(self._graph.needs[target]))]
        while way:
            node, rest = way[-1]
            if node not in suspect:
                way.pop()
            elif node not in red:
                need = next((need for need in rest if need in suspect), None)
                if need is None:
                    suspect.discard(node)
                    counters.now.green += 1
                elif self._names.get(need) in self._evaluation.active:  # it comes to itself since lately
                    red.update(one for one, _ in way)
                else:
                    way.append((need, iter(self._graph.needs[need])))
            elif node == target:
                return
            else:
                way.pop()
                name = self._name(node)
                if name is None:
                    red.add(way[-1][0])
                elif not self._again(node, name):
                    red.update(one for one, _ in way)
                    return

    def _again(self, node: int, name: Name) -> bool:
        """Run a query whose answer is red, or look at a source; whether its value is known by then."""
        asked, key = name
        if isinstance(asked, Source):
            self._look(node, asked, key)
        elif name not in self._evaluation.active and name not in self._evaluation.open:
            with contextlib.suppress(Exception):  # if it is really asked for, it is raised again where it belongs
                self._evaluation.compute(name)
        return node not in self._suspect

    def _name(self, node: int) -> Name | None:
        if node not in self._names:
            told = self._graph.sources.get(node)
            row = (told.text, b"") if told is not None else self._row(node)
            name = parsed(row[0]) if row is not None and digest(row[0]) == self._graph.digests[node] else None
            if name is None:
                return None
            self._names[node] = name
        return self._names[node]

    # --- sources ---

    def refresh(self) -> None:
        """Begin a new revision: look at all sources, in what way they have changed."""
        assert not self._evaluation.active, "a query can't begin a revision"
        self._note_roots()
        self._begun = True
        graph = self._graph
        if self._restated:
            graph.red.update(graph.askers(self._restated))
            self._restated.clear()
        self._shared.clear()
        self._suspect = {*graph.sources}
        changed = [node for node in graph.sources if (name := self._name(node)) and self._look(node, *name)]  # type: ignore[arg-type]
        unseen = self._suspect
        self._suspect, self._askers = graph.cone({*changed, *unseen, *graph.red})
        graph.red |= unseen
        for node in changed:
            self._suspect.discard(node)
            self._blame(node)
        for node in (*self._suspect, *changed):
            if node in self._names:
                found = self._forget(node)
                if found is not None and node in self._suspect and node not in graph.sources:
                    self._held[node] = found[0]
        self._forget_apart({*self._suspect, *changed, *self._touched})
        self._touched.clear()

    # --- marks ---

    def touch(self, marks: Iterable[tuple[Mark[...], Key]]) -> None:
        """Say that what some marks stand for has changed. It counts from the next revision on (`refresh`)."""
        nodes = {node for one, key in marks if (node := self._graph.find(digest(one.text(key)))) is not None}
        if nodes:
            self._graph.red.update(self._graph.askers(nodes))
            self._touched |= nodes
            self._dirty = True

    def resting_on(self, marks: Iterable[tuple[Mark[...], Key]]) -> list[Name]:
        """The questions whose answers rest on some marks by themselves, and may hold; others are computed again."""
        graph = self._graph
        nodes = {node for one, key in marks if (node := graph.find(digest(one.text(key)))) is not None}
        askers = [node for node in graph.askers(nodes) if node not in graph.red] if nodes else []
        graph.red.update(node for node in askers if self._name(node) is None)
        return [name for node in askers if (name := self._name(node)) is not None]

    def restate(self, name: Name, value: Any) -> None:
        """Give an answer the value that it would have if it was computed again, or None: that isn't known. It counts from the next
        revision on."""
        asked, key = name
        text = asked.text(key)
        node = self._graph.find(digest(text))
        assert node is not None
        self._table(asked).pop(key, None)
        self._held.pop(node, None)
        if value is None:
            self._graph.red.add(node)
        else:
            data, before = asked.encode(value), self._graph.prints[node]
            self._put(digest(text), print_of(text, data), self._graph.needs[node])
            self._keep(node, text, data)
            if self._graph.prints[node] != before:
                self._restated.add(node)

    def marked(self, asked: Mark[...]) -> Iterator[Key]:
        """The keys of a mark that answers may rest on."""
        name = asked.text(())[1:]  # behind a byte that says how many parts there are
        for text in self._graph.marks.values():
            if text.startswith(name, 1):
                with contextlib.suppress(msgspec.DecodeError):
                    yield asked.key_of(text)

    def distrust(self) -> None:
        """Have all answers computed again, from the next revision on."""
        graph = self._graph
        told = graph.marks.keys() | graph.sources.keys()
        graph.red.update(node for node, one in enumerate(graph.digests) if one and node not in told)
        self._touched |= graph.marks.keys()
        self._dirty = True

    @contextlib.contextmanager
    def noting(self) -> Iterator[dict[int, None]]:
        """Note apart what is asked meanwhile: whoever asks for it doesn't rest on it by that."""
        outer, self.asked = self.asked, {}
        try:
            yield self.asked
        finally:
            self.asked = outer

    def name_of(self, node: int) -> Name:
        """The question of a node that was asked for."""
        return self._names[node]

    def shared(self, noted: dict[int, None]) -> dict[int, None]:
        """What something rests on; equal ones are the same object, as most answers rest on what others do."""
        return self._shared.setdefault(tuple(noted), noted)

    def number(self, asked: Mark[...], *key: str) -> int:
        """A number for a mark, in this process: `db.asked[number] = None` asks for it, too, where that has to be fast."""
        with self.noting() as noted:
            asked(self, *key)
        return next(iter(noted))

    @property
    def aside(self) -> bytes:
        """What is kept with the answers for whoever touches marks: as it was when they held."""
        return self._graph.aside

    @aside.setter
    def aside(self, data: bytes) -> None:
        if data != self._graph.aside:
            self._graph.aside, self._dirty = data, True

    def _mark(self, asked: Mark[...], key: Key) -> None:
        text = asked.text(key)
        node = self._graph.find(digest(text))
        if node is None:
            node = self._put(digest(text), print_of(text, b""), ())
            self._graph.marks[node] = text
        self._names[node] = (asked, key)
        self.asked[node] = None
        self._table(asked)[key] = None, node

    def _forget_apart(self, gone: set[int]) -> None:
        """Forget what isn't stored and rests on some nodes: it is computed again when it is asked for."""
        for node in [node for node, needs in self._apart.items() if not gone.isdisjoint(needs)]:
            self._forget(node)
            del self._apart[node], self._names[node]

    def _forget(self, node: int) -> tuple[Any, int] | None:
        asked, key = self._names[node]
        return self._table(asked).pop(key, None)

    def _look(self, node: int, asked: Source[..., Any], key: Key) -> bool:
        """Look whether a source has changed. One that can't be looked at stays suspect."""
        told, pinned = self._graph.sources[node], (asked, key) in self.pins
        if not (told.note and not pinned and asked.status is not None and asked.status(*key) == told.note):
            try:
                value, note = self._read(asked, key)
            except Exception:
                return False
            print_ = print_of(told.text, asked.encode(value))
            if note != told.note:
                self._graph.sources[node] = told._replace(note=note)
                self._dirty = True
            if print_ != self._graph.prints[node]:
                self._put(digest(told.text), print_, ())
                self._held[node] = value
                return True
        self._graph.red.discard(node)
        self._suspect.discard(node)
        return False

    def _read(self, asked: Source[..., Any], key: Key) -> tuple[Any, bytes]:
        """The value of a source, and the status that it surely had."""
        counters.now.inputs += 1
        if (asked, key) in self.pins:
            return self.pins[asked, key], b""
        before = asked.status(*key) if asked.status is not None else b""
        value = asked.function(*key)
        return value, before if before and asked.status is not None and asked.status(*key) == before else b""

    def _input(self, asked: Source[..., Any], key: Key) -> Any:
        text = asked.text(key)
        node = self._graph.find(digest(text))
        if node is not None and node in self._suspect:
            self._names[node] = (asked, key)
            self._look(node, asked, key)
        if node is not None and node in self._held:
            value = self._held.pop(node)
        else:
            try:
                value, note = self._read(asked, key)
            except Exception:  # whoever goes on without it rests on that
                node = self._put(digest(text), 0, ())
                self._graph.sources[node] = Told(text, b"")
                self.asked[node] = None
                raise
            print_ = print_of(text, asked.encode(value))
            if node is None:
                node = self._put(digest(text), print_, ())
                self._graph.sources[node] = Told(text, note)
            elif print_ != self._graph.prints[node]:
                raise Changed(f"{asked}{key!r}")
        self._names[node] = (asked, key)
        self.asked[node] = None
        if asked.kept:
            self._table(asked)[key] = value, node
        return value

    # --- keeping and sharing ---

    def save(self) -> None:
        """Write what is new to the storage. One that can't be written costs time, nothing else."""
        assert not self._evaluation.active, "a query can't save"
        self._note_roots()
        if self._storage is None or not self._dirty:
            return
        outcome = self._write()
        if outcome is Outcome.OTHER and self._graph.marks:  # nobody knows whether those say the same in both
            outcome = self._write(anyhow=True)
        if outcome is Outcome.OTHER:  # another process was faster: what it has stays, and gets what it doesn't have
            other = Database(self._storage)
            other.pins = self.pins
            other.adopt(self.export())
            digests = map(self._graph.digests.__getitem__, self._graph.roots)
            other._graph.roots.update(
                (node, _today()) for one in digests if (node := other._graph.find(one)) is not None
            )
            other._write()
        self._dirty = outcome is Outcome.FAILED

    def export(self) -> bytes:
        """What was computed since it was saved, or the process was forked, for the database of another process."""
        graph, inputs = self._graph, dict[int, None]()
        rows = []
        for node, (text, data) in self._own().items():
            if node in graph.red:  # what it was computed with is no more
                continue
            inputs.update(
                dict.fromkeys(need for need in graph.needs[node] if need in graph.sources or need in graph.marks)
            )
            rows.append(self._exported(node, text, data, None))
        told = ((node, graph.sources.get(node)) for node in inputs)
        first = [
            self._exported(node, one.text, b"", one.note)
            if one is not None
            else self._exported(node, graph.marks[node], b"", None, is_mark=True)
            for node, one in told
        ]
        return msgspec.msgpack.encode([*first, *rows])

    def hand_over(self) -> bytes:
        """The same, once: what comes later is told without it."""
        data = self.export()
        self._fresh = {}
        return data

    def adopt(self, data: bytes) -> None:
        """Take over what another process has computed, as far as it rests on what this one sees, too."""
        if not self._begun:
            self.refresh()
        graph, suspect = self._graph, self._suspect
        for row in msgspec.msgpack.decode(data, type=list[_Row]):
            node = graph.find(row.digest)
            if node is not None and node not in suspect:
                continue
            needs = [graph.find(need) for need, _ in row.needs]
            if all(
                need is not None and need not in suspect and graph.prints[need] == print_
                for need, (_, print_) in zip(needs, row.needs, strict=True)
            ):
                node = self._put(row.digest, row.print_, tuple(need for need in needs if need is not None))
                self._held.pop(node, None)
                if row.note is not None:
                    graph.sources[node] = Told(row.text, row.note)
                elif row.is_mark:
                    graph.marks[node] = row.text
                else:
                    self._own()[node] = row.text, row.data

    def close(self) -> None:
        """Close the storage, without saving."""
        if self._storage is not None:
            self._storage.close()

    def _own(self) -> dict[int, tuple[bytes, bytes]]:
        """The rows that this process has to hand on: those from before it was forked are its parent's."""
        if self._process != os.getpid():
            self._process, self._fetched, self._fresh = os.getpid(), {**self._fetched, **self._fresh}, {}
        return self._fresh

    def _exported(self, node: int, text: bytes, data: bytes, note: bytes | None, *, is_mark: bool = False) -> _Row:
        digests, prints = self._graph.digests, self._graph.prints
        needs = [(digests[need], prints[need]) for need in self._graph.needs[node]]
        return _Row(digests[node], prints[node], text, data, note, needs, is_mark)

    def _note_roots(self) -> None:
        """Note what was asked from outside."""
        today, roots = _today(), self._graph.roots
        for node in self._flat(self.asked):
            if roots.get(node) != today:
                roots[node] = today
                self._dirty = True
        self.asked.clear()

    def _write(self, anyhow: bool = False) -> Outcome:
        assert self._storage is not None
        graph, today = self._graph, _today()
        if graph.red or graph.swept != today:
            graph.swept = today
            gone = graph.sweep(today - KEPT)
            self._gone |= gone
            self._forget_apart(gone)
            for node in gone:
                if node in self._names:
                    self._forget(node)
                for kept in (self._names, self._held, self._fresh):
                    kept.pop(node, None)
            self._suspect -= gone
        before, graph.token = graph.token, int.from_bytes(os.urandom(7), "big")
        rows = ((node, text, data) for node, (text, data) in self._own().items() if text)
        outcome = self._storage.save(None if anyhow else before, graph.token, graph.encode(), rows, self._gone)
        if outcome is Outcome.SAVED:
            self._fresh, self._gone = {}, set()
        else:
            graph.token = before
        return outcome


def _opened(storage: Storage | None) -> Graph:
    if storage is not None and (data := storage.graph()) is not None:
        with contextlib.suppress(msgspec.DecodeError):
            return Graph(data)
    return Graph()


def _today() -> int:
    return int(time.time()) // _DAY
