"""The files of a program: found, read, linked, and compared with what they were when they were last looked at."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import xxhash

from detlint.answers import Known, followed
from detlint.changes import Changes, Marked, begins, is_script, put_on_path
from detlint.config import Config, Runtime
from detlint.db import Storage
from detlint.files import StrPath
from detlint.ir.code import Code
from detlint.ir.launch_texts import is_settings
from detlint.ir.words import Words
from detlint.marks import NPU_AS_CUDA, Brief, digest_of, followable, linked, listed, part, saying, users
from detlint.model.drawn import drawn_in
from detlint.model.index import Index
from detlint.model.launches.documents import Documents
from detlint.model.launches.scripts import is_packaged, scripts
from detlint.model.links import Links
from detlint.model.modules import Given, ModuleNames, Modules
from detlint.model.runs.outcome import Runs
from detlint.model.sites.gate import yaml_gate_of
from detlint.model.sites.records import Facts, Head
from detlint.model.sites.store import File, Progress, Store, processes
from detlint.state import Row, State
from detlint.status import Status
from detlint.versions import below
from detlint.ways import Groups

if TYPE_CHECKING:
    from detlint.checks.engine import Engine
    from detlint.effects.recorder import Recorder


class ProgramFiles:
    """Holds the files of one program.

    Args:
        store: the facts of the program's files.
        problems: paths that could not be read, with the reason.
    """

    def __init__(self, store: Store, config: Config, problems: list[tuple[Path, str]]) -> None:
        self.store = store
        self.config = config
        self.problems = problems
        self.names = ModuleNames()
        self.folders: dict[str, str] = {}
        """The absolute paths of folders, by how they were named; both with a separator at the end."""
        given = Given(self._facts, self._code, self._head, self._is_script, self._is_taken, self._put)
        self.modules = Modules(config.root.absolute(), given, store.look.began)
        self.links = Links()
        self.inside: set[str] = set()
        """The program's own files; what they import from outside of it is in the store too."""
        self.reported: set[str] = set()
        """Those of them to report on."""
        self.before = State()
        """The program as it was when it was last looked at."""
        self.known = Known()
        """What is known of it."""
        self._answer(self.known)
        self._runs: dict[str, Runs] = {}
        """The runs that files are judged by."""
        self.engine: Engine | None = None
        self.recorder: Recorder | None = None
        """Is told what happens in the runs that are followed."""
        self.into: dict[str, dict[int, None]] = {}
        """The marks of the functions, or files, into which was looked while runs were followed, by file."""
        self.consulted: dict[str, tuple[Status, str]] = {}
        """The folders whose listing an answer may depend on, with their states."""
        self.missed: set[str] = set()
        """The names that files were asked for and don't define."""
        self.differs = False
        """Whether anything was looked at that may not be as it was before."""
        self.anew: set[str] = set()
        """The files that were judged anew."""
        self.again: set[str] = set()
        """The files in which runs start that were followed anew."""
        self.followed = False
        """Whether the engine has followed runs, rather than judged modules."""
        root, launchers = str(config.root.absolute()), store.catalog.launchers
        self.documents = Documents(root, store.look.began, launchers, store.kept, self._given)
        self.declared = sorted({*config.settings.entry_points, *(scripts(config.root) if config.project else ())})
        """The entry points that the configuration and the project's metadata name."""
        self.packaged = is_packaged(config.root)

    def _answer(self, known: Known) -> None:
        """Have what is known of a program ask this one."""
        raise NotImplementedError

    def _given(self, path: str) -> bytes | None:
        """What stands for the content of a file; None for what it has."""
        file = self.store.files.get(path)
        return file.text if file is not None else None

    def add(self, path: StrPath, texts: Mapping[str, bytes] | None = None) -> None:
        """Make a file part of the program, if it is none yet.

        Args:
            texts: what stands for the content of some files, by absolute path.
        """
        path = os.fspath(path)
        if os.altsep is not None:
            path = path.replace(os.altsep, os.sep)
        folder, sep, name = path.rpartition(os.sep)
        folder += sep
        above = self.folders.get(folder)
        if above is None:
            above = self.folders[folder] = self._absolute(folder)
        real = above + name
        if real not in self.store.files:
            self.store.files[real] = File(path, *self.names.of(real), text=texts.get(real) if texts else None)
            self.inside.add(real)

    @cached_property
    def versions(self) -> dict[str, dict[str, str]]:
        """The versions of libraries that hold in some folders of the program, all of whose files have been added."""
        return below(self.config, self.folders.values())

    @cached_property
    def index(self) -> Index:
        """Which files have a name, once it is settled what is known of the program."""
        return Index(self._text, self.store.files, self._words, self.modules.code, self.known)

    def _absolute(self, folder: str) -> str:
        """The absolute path of a folder, by that of the one above where it is known; both with a separator at the end."""
        outer, sep, name = folder[:-1].rpartition(os.sep)
        if outer + sep in self.folders and name not in ("", os.curdir, os.pardir):
            return f"{self.folders[outer + sep]}{name}{os.sep}"
        return os.path.join(os.path.abspath(folder), "")

    def settle(self, known: Known, progress: Progress | None) -> None:
        """Read what has changed, link, and tell which answers may be others now.

        Args:
            known: what is known of the program; it is brought up to date.
            progress: as in `check`.
        """
        jobs = processes(self.config.settings.jobs)
        self.known = known
        self._answer(known)
        self.before = before = known.state
        unsettled = self._look(before)
        changes = Changes(
            before, self.store, self.inside, self.names, self.modules, self.links, self.documents, self.index
        )
        news = changes.news()
        led = changes.led_elsewhere(news) if news else {}
        again = self.store.files if news is None else led
        same = [file for path, file in self.store.files.items() if path in again and before.has(path, file.key)]
        others = self.store.files.keys() != before.files.keys()  # the gate lets through who imports from the program
        unsettled += [
            file for file in same if not file.whole or (others and file.head is None and not is_settings(file.path))
        ]
        self.store.fill(unsettled, jobs, progress)
        if news is not None and changes.scripts_move(unsettled):
            news = None  # Python imports from the folders of scripts
            rest = [file for file in self.store.files.values() if not file.whole]
            self.store.fill(rest, jobs, progress)
            unsettled += rest
        linked = before.imports if news is not None else {}
        self._link(linked, {os.path.abspath(file.path) for file in unsettled}, jobs)
        self._renew(changes, led if news is not None else None)

    def _renew(self, changes: Changes, led: dict[str, list[str] | None] | None) -> None:
        """Note how the program is now, and touch what isn't as it was; without `led`, all may be something else."""
        before, known, files = self.before, self.known, self.store.files
        rows = {
            path: Row(
                file.status, file.key, path in self.inside,
                file.head.brief() if file.head and file.whole else file.head, "" if file.head else file.module,
            )
            for path, file in files.items()
        }  # fmt: skip
        state = State(rows, self.links.imports)
        state.documents, state.keys = self.documents.noted, self.documents.noted_keys
        state.around = self.modules.around.noted
        if led is None:
            known.distrust()
        else:
            marked = Marked([name for (name,) in known.marked(users)], [*known.marked(saying)], [*known.marked(part)])
            edits = changes.edits()
            moved = {path: edit.lines for path, edit in edits.items()}
            known.move({path: lines for path, lines in moved.items() if any(line != to for line, to in lines.items())})
            known.touch([*changes.touched(led, edits, marked)])
            state.others = before.others
            state.folders = {folder: self.modules.renewed(folder, *was) for folder, was in before.folders.items()}
            state.missed, state.hidden = before.missed, before.hidden if changes.still_hidden() else {}
        known.packed = known.packed if state.imports == before.imports else None
        known.state = state
        self._state_all()
        known.refresh()

    def waits(self) -> bool:
        """Whether runs have to be followed before the files to report on can be judged."""
        return any(not self.known.holds(followed, path) for path in self._starts())

    def _look(self, before: State) -> list[File]:
        """Find each file's key, reading only what may have changed; the files that weren't there."""
        for path, earlier in before.files.items():
            if path not in self.store.files and not earlier.inside:
                self.store.files[path] = File(path, *self.names.of(path))
        look, unsettled, gate = self.store.look, [], partial(yaml_gate_of, self.store.catalog)
        for path, file in [*self.store.files.items()]:
            row = before.files.get(path)
            try:
                if row is not None and file.text is None and not look.keeps:
                    file.status = Status.of(os.stat(path), look.began)
                    file.size = file.status.size
                    if row.holds(file):
                        file.key, file.head, file.whole = row.key, row.head, row.head is None
                        continue
                self.differs = True
                file.hash(look, gate)
            except OSError as error:
                if path in self.inside:
                    self.problems.append((Path(file.path), f"can't be read: {error.strerror}"))
                del self.store.files[path]
                self.inside.discard(path)
                self.reported.discard(path)
                continue
            if row is not None and row.key == file.key:
                file.head, file.whole = row.head, row.head is None
            else:
                unsettled.append(file)
        return unsettled

    def _link(self, known: dict[str, tuple[str, ...]], changed: set[str], jobs: int) -> None:
        """Note what each file imports; what imports lead to outside of the program is read too."""
        files, waiting = self.store.files, [*self.inside]
        while waiting:
            led: dict[str, None] = {}
            for path in waiting:
                head = files[path].head
                if path in known and path not in changed:
                    self.links.imports[path] = known[path]
                elif head is not None:
                    self.links.add(path, head, self.modules)
                targets = self.links.imports.get(path, ())
                if not self.inside.issuperset(targets):
                    led.update(dict.fromkeys(targets))
            waiting = [path for path in led if path not in self.links.imports and path not in self.inside]
            new = [self._outside(path) for path in waiting if path not in files]
            self.store.fill([file for file in new if file is not None], jobs, None)
            waiting = [path for path in waiting if path in files]
            self.links.imports.update((path, ()) for path in waiting if files[path].head is None)
        for path in [path for path in files if path not in self.inside and path not in self.links.imports]:
            del files[path]

    def _outside(self, path: str) -> File | None:
        file = File(path, *self.names.of(path))
        try:
            file.hash(self.store.look)
        except OSError:
            return None
        self.store.files[path] = file
        return file

    def _text(self, path: str) -> bytes | None:
        """The bytes of a file of the program; None for what is none: a link that leads nowhere is found, and told of, but not read."""
        file = self.store.files.get(path)
        return file.read() if file is not None else None

    def recorded(self) -> Known:
        """What the last run found out, whichever process that was."""
        folder = self.store.cache.folder
        return Known(Storage(folder, self._name()) if folder is not None else None)

    def _name(self) -> str:
        """By what the answers are known that hold under these settings; what only concerns the report leaves it as it is."""
        settings = msgspec.structs.replace(
            self.config.settings, jobs=0, output_format="full", show_notes=False, fail_on="warning", per_file_ignores={},
            fix=False, unsafe_fixes=False, fix_only=False, show_fixes=False, fix_seed=0, baseline="",
            runtime=Runtime(),
        )  # fmt: skip
        digest = xxhash.xxh3_128(self.store.catalog.fingerprint.encode())
        digest.update(msgspec.json.encode(settings) + str(self.config.root.absolute()).encode("utf-8", "replace"))
        digest.update("\0".join(self.declared).encode("utf-8", "replace"))
        digest.update(b"packaged" if self.packaged else b"")
        digest.update(repr(self.versions).encode("utf-8", "replace") if self.versions else b"")
        if not self.config.project:
            digest.update("\0".join(sorted(self.inside)).encode("utf-8", "replace"))
        return digest.hexdigest()

    @cached_property
    def groups(self) -> Groups:
        """The files that the same runs come to."""
        return Groups(self.links.imports, self._starting)

    def _state_all(self) -> None:
        """Say what tells the program as a whole from other states of it."""
        followable.set(self.known, tuple(sorted(self._starts())))
        linked.set(self.known, digest_of((sorted(self.links.imports.items()), sorted(self._starting))))
        # Of what the gate keeps out, only its facts say how a run may start in it.
        rows = sorted((path, begins(file) if file.head else file.key) for path, file in self.store.files.items())
        listed.set(self.known, digest_of(rows))

    def importers(self, path: str) -> Sequence[str]:
        """The files that import a file, sorted."""
        return self.links.importers(path)

    def begins(self, path: str) -> str:
        """How a run may start in a file, as its head says; "" where none does."""
        head = self.modules.head(path)
        return head.starts if head is not None else ""

    def brief(self, path: str) -> Brief:
        """What runs ask of a file."""
        facts = self.modules.facts(path)
        if facts is None:
            return Brief()
        libraries = sorted({name.partition(".")[0] for name in facts.imports})
        streams = drawn_in(facts, self.store.catalog)
        return Brief((*facts.options,), facts.mentions, (*libraries,), NPU_AS_CUDA in facts.imports, *streams)

    def files_in(self, folder: str) -> Iterator[str]:
        """The files of a folder itself, in order."""
        return (path for path in self.index.all_below(folder) if os.path.dirname(path) == folder)

    def below(self, folder: str) -> list[str]:
        """The files whose paths begin so, in order."""
        return [*self.index.all_below(folder)]

    def _starts(self) -> Iterator[str]:
        """The files in which runs start that may reach a file to report on."""
        reaching = self._reaching(self.reported)
        return (path for path in self._starting if path in reaching)

    def _reaching(self, paths: set[str]) -> set[str]:
        """The files of the program from which runs may reach some of them."""
        return self.inside if paths >= self.inside else self.links.reaching(paths)

    @cached_property
    def _starting(self) -> set[str]:
        """The files in which runs start."""
        heads = {path: head for path in self.inside if (head := self.store.files[path].head) is not None}
        acting = {path for path, head in heads.items() if head.starts == "script"}
        # To name something of a script in a YAML file is not to import it.
        imports = (
            others for path, others in self.links.imports.items() if path.endswith(".py") or not is_settings(path)
        )
        return acting.difference(chain.from_iterable(imports)) | {
            path
            for path, head in heads.items()
            if path in self.named or head.starts in ("main", "notebook") or path.endswith("__main__.py")
        }

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """The declared entry points: functions (or "" for the top level), by file."""
        found: dict[str, list[str]] = {}
        inside = os.path.join(self.modules.root, "setup.py")
        for text in self.declared:
            module, _, function = text.partition(":")
            place = self.modules.find(inside, module)
            if place is not None and not place[1]:
                found.setdefault(place[0], []).append(function)
        return found

    def _facts(self, path: str) -> Facts | None:
        return self.store.facts(path, self.names.of(path))

    def _code(self, path: str) -> Code | None:
        return self.store.code(path, self.names.of(path))

    def _words(self, path: str) -> Words | None:
        return self.store.words(path, self.names.of(path))

    def _is_script(self, path: str) -> bool:
        """Whether a file has a `__main__` block."""
        return is_script(self.store.files, path)

    def _put(self) -> dict[str, list[str]]:
        """Folders of files -> those that these put on Python's search path."""
        return put_on_path(self.store.files)

    def _is_taken(self, name: str) -> bool:
        """Whether a library has a name: a folder of that name which doesn't say that it is a package hides none."""
        return name in self.store.catalog.libraries or name in sys.stdlib_module_names

    def _head(self, path: str) -> Head | None:
        file = self.store.files.get(path)
        return file.head if file is not None else None
