"""What has changed in a program since it was last looked at, and what of that answers may rest on."""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final, NamedTuple

import msgspec

from detlint import marks
from detlint.db import Mark
from detlint.ir.code import Code
from detlint.ir.parts import parts_of
from detlint.ir.words import STAR, Words
from detlint.model import outline
from detlint.model.index import Index
from detlint.model.launches.documents import Documents
from detlint.model.links import Links, registered
from detlint.model.modules import ModuleNames, Modules
from detlint.model.search_path import NOTHING, Handed, Puts, filled
from detlint.model.sites.records import Facts
from detlint.model.sites.store import File, Store
from detlint.model.uses import words_of
from detlint.moved import Edit, Said, edit_of
from detlint.state import Row, State

NONE: Final = Words(array("I"), array("I"))
_States = tuple[Facts, Facts]
"""What a file said, and what it says now."""


class Marked(NamedTuple):
    """What answers rest on."""

    users: Sequence[str]
    """The names whose users were searched for."""
    saying: Sequence[tuple[str, str]]
    """How the paths begin of the texts in which words were looked for, and the words."""
    parts: Sequence[tuple[str, str]]
    """Files, and the functions of them that were looked into."""


class Changes(NamedTuple):
    """Compares a program with what it was.

    Attributes:
        before: what was known of it.
        store: the facts of its files, those that have changed as soon as they are read.
        inside: the program's own files.
    """

    before: State
    store: Store
    inside: Set[str]
    names: ModuleNames
    modules: Modules
    links: Links
    documents: Documents
    words: Index

    def news(self) -> set[str] | None:
        """The names of modules and folders that have come or gone where names of the program may lead; None: they may lead
        anywhere."""
        inside = {path for path, row in self.before.files.items() if row.inside}
        names = {os.path.basename(path) for path in inside ^ self.inside}
        for path, key in self.before.others.items():
            other = File(path, *self.names.of(path))
            with contextlib.suppress(OSError):
                other.hash(self.store.look)
            if other.key != key:
                return None
        for folder, (changed, listing) in self.before.folders.items():
            names |= self.modules.news(folder, changed, listing)
        for script, noted in self.before.documents.items():
            if script in self.store.files and not self.documents.holds(script, noted):
                return None
        if not all(self.documents.still_chosen(asked, noted) for asked, noted in self.before.keys.items()):
            return None
        if not all(self.modules.around.holds(asked, noted) for asked, noted in self.before.around.items()):
            return None
        return None if "__init__.py" in names else {name.removesuffix(".py") for name in names}

    def led_elsewhere(self, news: set[str]) -> dict[str, list[str] | None]:
        """The files in which names may lead elsewhere because of what has come or gone -> which they say of its names; None:
        they needn't say them."""
        files = self.store.files
        gone = {path for path in self.before.files if path not in files}
        found: dict[str, list[str] | None] = {}
        for path, row in self.before.files.items():
            if path not in gone and (
                (row.head is not None and row.head.imports) or not gone.isdisjoint(self.before.imports.get(path, ()))
            ):
                found[path] = None
        return found | dict(self._mentions(self.before.files.keys() - gone - found.keys(), news))

    def scripts_move(self, unsettled: Iterable[File]) -> bool:
        """Whether the first script has come into a package, or a folder above others, or the last one has gone, or a file puts other
        folders on the path than before."""
        then, now = self.before.files, self.store.files
        changed = {os.path.abspath(file.path) for file in unsettled} | (then.keys() - now.keys())
        if any(_puts(then.get(path)) != _puts(now.get(path)) for path in changed):
            return True
        moved = (path for path in changed if (begins(then.get(path)) == "main") is not is_script(now, path))
        for folder in sorted({os.path.dirname(path) for path in moved}):
            below = [path for path in {**then, **now} if path.startswith(folder + os.sep)]
            inside = [path for path in below if os.path.dirname(path) == folder]
            had = any(begins(then.get(path)) == "main" for path in inside)
            if had is not any(is_script(now, path) for path in inside) and (
                len(inside) < len(below) or os.path.join(folder, "__init__.py") in now
            ):
                return True
        return False

    def edits(self) -> dict[str, Edit]:
        """The files in which an edit has only moved lines, changed comments, or what is inside of functions and facts don't tell."""
        found = {path: self._edit(path) for path in self._edited()}
        return {path: edit for path, edit in found.items() if edit is not None}

    def _edited(self) -> set[str]:
        files = self.store.files
        return {path for path, row in self.before.files.items() if path in files and files[path].key != row.key}

    def _edit(self, path: str) -> Edit | None:
        keys = self.before.files[path].key, self.store.files[path].key
        facts, code = map(self.store.known, keys), map(self.store.known_ir, keys)
        then, now = (
            Said(one, ir) if one is not None and ir is not None else None for one, ir in zip(facts, code, strict=True)
        )
        return edit_of(then, now) if then is not None and now is not None else None

    def touched(
        self,
        led: Mapping[str, Collection[str] | None],
        edits: Mapping[str, Edit],
        known: Marked,
    ) -> Iterator[tuple[Mark[...], tuple[str, ...]]]:
        """What has changed of what answers may rest on.

        Args:
            led: the files in which names may lead elsewhere although they are as they were, as `led_elsewhere` says.
            edits: the files of which the facts stay as they are, as `edits` says.
            known: what answers rest on.
        """
        before, files = self.before, self.store.files
        led = {path: words for path, words in led.items() if path in files}  # what nothing imports any more isn't read
        edited = self._edited() - {path for path, edit in edits.items() if not edit.parts}
        changed = edited | (files.keys() ^ before.files.keys())
        if not changed and not led:
            return
        states = {path: self._states(before.files[path].key, files[path].key) for path in edited}
        changed_names = {path: edits[path].names if path in edits else self._changed_names(path) for path in edited}
        same_tops = {path for path, names in changed_names.items() if names is not None}
        touched, acting, led_on = self._touched(changed, states, led, same_tops)
        here = touched & files.keys()
        only = {
            path: names
            for path, names in changed_names.items()
            if names is not None and path not in led_on and _same_outside(states[path])
        }
        yield from ((marks.body, (path,)) for path in touched)
        yield from ((marks.top, (path,)) for path in acting)
        inside = {path: {*map(str, edit.parts)} for path, edit in edits.items() if path in touched - led_on}
        yield from ((marks.facts, (path,)) for path in touched - inside.keys())
        yield from (
            (marks.part, (path, part))
            for path, part in known.parts
            if path in touched and (path not in inside or part in inside[path])
        )
        yield from ((marks.users, (name,)) for name in self._newly_said(here, states, known.users))
        yield from ((marks.saying, found) for found in self._said_by_them(touched, known.saying, only))

    def still_hidden(self) -> bool:
        """Whether the files have the names that they had which may stand for something else."""
        before, files = self.before.files, self.store.files
        changed = before.keys() ^ files.keys() | {
            p for p, row in before.items() if p in files and files[p].key != row.key
        }
        return all(_aliases(before.get(path)) == _aliases(files.get(path)) for path in changed)

    def _touched(
        self,
        changed: set[str],
        states: Mapping[str, _States | None],
        led: Mapping[str, Collection[str] | None],
        same_tops: Set[str],
    ) -> tuple[set[str], set[str], set[str]]:
        """The files whose answers may be others now; those of them for whose sake even a run may be another one that does no more
        than to import them; and those in which names may lead elsewhere.

        Args:
            same_tops: the files of which the IR says the same of the top level as it did.
        """
        missed = frozenset(self.before.missed)
        heads = (row.head for rows in (self.before.files, self.store.files) for row in rows.values())
        starred = {star.rpartition(".")[2] for head in heads if head is not None for star in head.stars}
        moved = {
            path: outline.moved(*both, missed, starred) if both is not None else None for path, both in states.items()
        }
        for path, words in led.items():
            passed, known = self._led_on(path, words), moved.get(path, frozenset())
            moved[path] = None if passed is None or known is None else known | passed
        moved = {path: names for path, names in moved.items() if names != frozenset()}
        rebuilt = self._rebuilt(changed, moved.keys())
        saying = self.links.touched(moved, self._mentions, self._passing_on) if moved else {}
        touched = changed | led.keys() | rebuilt | saying.keys()
        idle = {path for path in same_tops if (both := states[path]) is not None and outline.same_top(*both)}
        idle |= {path for path, words in saying.items() if path not in changed and not self._acts_on(path, words)}
        return touched, touched - (idle - rebuilt - led.keys()), {*led, *rebuilt, *saying}

    def _changed_names(self, path: str) -> Set[str] | None:
        """The names that those functions of a file have in which alone its IR says something else; None where it does elsewhere, too."""
        code = [self.store.known_ir(key) for key in (self.before.files[path].key, self.store.files[path].key)]
        then, now = (parts_of(Code(ir)) if ir is not None else None for ir in code)
        if then is None or now is None or then.top != now.top:
            return None
        return now.names_changed(then)

    def _said_by_them(
        self, touched: Set[str], sought: Iterable[tuple[str, str]], only: Mapping[str, Set[str]]
    ) -> set[tuple[str, str]]:
        """What some files say, or said, of the words that were looked for in them, with how the paths begin of those that were.

        Args:
            only: the files of which only some functions say anything else -> the names of these.
        """
        found, wanted = set[tuple[str, str]](), [*sought]
        for path in touched:
            here = (each for each in wanted if path.startswith(each[0]))
            if path in only:
                found.update(each for each in here if each[1] in only[path])
                continue
            then, now = self._had(path), self.words.words(path) if path in self.store.files else NONE
            found.update(each for each in here if any(one is None or one.have(each[1]) for one in (then, now)))
        return found

    def _had(self, path: str) -> Words | None:
        """The names that a file had; None where that isn't known. Of what the gate keeps out, they are known if anybody asked for them."""
        row = self.before.files.get(path)
        words = self.store.known_words(row.key) if row is not None else NONE
        return NONE if words is None and row is not None and row.head is None else words

    def _newly_said(self, touched: Set[str], states: Mapping[str, _States | None], names: Iterable[str]) -> set[str]:
        """Which of the names whose users were searched for may have users in files that had none of them before.

        Who imports what it did before can only have come to say a name; if it said it then, it was looked into.
        """
        asked = {*names}
        said: set[str] = set()
        for path in touched:
            both = states.get(path)
            if self.before.imports.get(path) != self.links.imports.get(path):
                both = None
            elif path not in states:
                continue
            if both is not None:
                then, now = map(words_of, both)
                said |= (now - then) & asked
            else:
                said |= {name for name in asked if self._may_say(path, name)}
        return said

    def _rebuilt(self, changed: Set[str], moved: Set[str]) -> set[str]:
        """The files that build something by the name of a registry which means something else now."""
        files, heads = self.store.files, self.before.files
        touched = changed | moved
        then = registered((path, heads[path].head) for path in touched if path in heads)
        now = registered((path, files[path].head) for path in touched if path in files)
        names = {
            name
            for name in then.keys() | now.keys()
            if then.get(name) != now.get(name) or any(path in moved for path, _ in now[name])
        }
        if not names:
            return set()
        return {
            path for path, file in files.items() if file.head is not None and not names.isdisjoint(file.head.builds)
        }

    def _states(self, old: bytes, new: bytes) -> _States | None:
        """What a file said, and what it says now; None where one of them isn't known."""
        before, now = self.store.known(old), self.store.known(new)
        return (before, now) if before is not None and now is not None else None

    def _led_on(self, path: str, words: Collection[str] | None) -> frozenset[str] | None:
        """The names of a file that lead elsewhere where some words do; None: any name may."""
        facts = self.store.known(self.store.files[path].key)
        if facts is None:
            return frozenset()
        return None if words is None or facts.stars else outline.passing_on(facts, words)

    def _mentions(self, paths: Collection[str], words: Collection[str]) -> Iterator[tuple[str, list[str]]]:
        """The files that have some names, with these; all of them where a file can't be read."""
        for path in paths:
            if said := [word for word in words if self.words.has_name(path, word)]:
                yield path, said

    def _may_say(self, path: str, word: str) -> bool:
        """Whether a file may use a name: it has it, or it imports all that another file has."""
        return bool(word) and (self.words.has_name(path, word) or self.words.has_name(path, STAR))

    def _acts_on(self, path: str, words: Collection[str] | None) -> bool:
        """Whether what importing a file does may depend on what some words mean; None: on any."""
        facts = self.store.known(self.store.files[path].key)
        return words is None or facts is None or outline.acts_on(facts, words)

    def _passing_on(self, path: str, words: Collection[str]) -> frozenset[str]:
        facts = self.store.known(self.store.files[path].key)
        return outline.passing_on(facts, words) if facts is not None else frozenset()


_INSIDE: Final = frozenset({"lines", "directives", "body", "names", "functions", "classes", "options"})
"""What of facts has places or numbers in it, or is only asked for a report."""


def _same_outside(states: _States | None) -> bool:
    """Whether a file says the same outside of its functions, as others see it."""
    if states is None:
        return False
    then, now = states
    same = (getattr(then, name) == getattr(now, name) for name in then.__struct_fields__ if name not in _INSIDE)
    defaults = ({name: option.default for name, option in facts.options.items()} for facts in (then, now))
    return all(same) and next(defaults) == next(defaults) and outline.outline(then) == outline.outline(now)


def is_script(files: Mapping[str, File], path: str) -> bool:
    """Whether a file has a `__main__` block."""
    return begins(files.get(path)) == "main"


def put_on_path(files: Mapping[str, File]) -> dict[str, list[str]]:
    """Folders of files -> the folders, all by absolute paths, that these put on Python's search path."""
    found: dict[str, list[str]] = {}
    for path, file in files.items():
        puts, own = _puts(file), os.path.dirname(path)
        folders = [*puts.folders, *(folder for call in puts.handed for folder in _put_by(files, own, call))]
        for put in folders:
            found.setdefault(own, []).append(os.path.normpath(os.path.join(own, put)))
    return found


def _put_by(files: Mapping[str, File], folder: str, call: Handed) -> Iterator[str]:
    """What a function of another file puts on the path, of which a file in a folder calls it with some arguments."""
    name = call.name.lstrip(".")
    level = len(call.name) - len(name)
    *module, function = name.split(".")
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    while module and folder:
        helpers = (os.path.join(folder, *module) + ".py", os.path.join(folder, *module, "__init__.py"))
        helper = next((path for path in helpers if path in files), "")
        if helper:
            for pattern in dict(_puts(files[helper]).by_functions).get(function, ()):
                yield from filled(pattern, call.arguments, os.path.dirname(helper))
            return
        folder = os.path.dirname(folder) if not level and folder != os.path.dirname(folder) else ""


def begins(file: Row | File | None) -> str:
    """How a run may start in a file."""
    return file.head.starts if file is not None and file.head is not None else ""


def _puts(file: Row | File | None) -> Puts:
    return file.head.puts if file is not None and file.head is not None else NOTHING


def _aliases(file: Row | File | None) -> msgspec.Raw | None:
    """The names of a file that may stand for something else, encoded."""
    return file.head.aliases if file is not None and file.head is not None else None
