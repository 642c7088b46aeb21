"""The launch texts of a program: found, lowered when first asked for, and what the next run has to compare."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple

import msgspec
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest, xxh3_128_digest

from detlint.catalog import Launcher
from detlint.files import beginning
from detlint.folders import is_folder
from detlint.ir.commands import Script
from detlint.ir.launch_texts import MOST_OF_JSON, LaunchText, kind_of, lower
from detlint.model.launches.chosen import UNKNOWN, Chosen, Read, chosen, literals
from detlint.model.launches.commands import is_known, started
from detlint.model.launches.devices import Starts
from detlint.model.launches.launches import Launch, Programs, known_end
from detlint.model.sites.records import ENCODER, Const
from detlint.notebook import NotANotebook, open_notebook
from detlint.status import Status, status_of

MOST_FOLDERS: Final = 1_000
"""A folder with more below it is no project."""
MOST_DOCUMENTS: Final = 300
MOST_LAUNCHES: Final = 1_000
"""Launch texts in which commands are looked for together."""
MOST_READ: Final = 1 << 17
"""How many bytes a launch text has: what is longer is data."""
MOST_OF_NOTEBOOKS: Final = 1 << 25
"""How many bytes a notebook has that is searched for commands."""
OF_OTHERS: Final = frozenset({"node_modules", "third_party", "venv"})
"""Folders of others."""
OF_SERVICES: Final = frozenset({".github", ".circleci", ".buildkite", ".vscode"})
"""Hidden folders that have commands."""
_SETTINGS: Final = frozenset({"yaml", "json", "toml", "ini", "variables"})
_path: Final = itemgetter(0)
_Noted = tuple[str, str]
"""What the next run has to compare."""
_STABLE: Final = msgspec.msgpack.Encoder(order="deterministic", enc_hook=repr)
_LAUNCH_TEXT: Final = msgspec.msgpack.Decoder(LaunchText)
_CHANGED: Final[_Noted] = ("", "")
"""What nothing compares equal to."""


class Said(NamedTuple):
    """What the launch texts around a script say."""

    launches: tuple[Launch, ...] = ()
    """Those that start the script."""
    unsure: bool = False
    """Whether there is one of which isn't known whether it starts the script."""
    settings: tuple[tuple[str, Const], ...] = ()
    """Keys of settings, and the literals that they are given."""
    told: frozenset[str] = frozenset()
    """The options that settings give, as those of a container, in a command."""


class _Files(NamedTuple):
    """What stands below a folder."""

    documents: tuple[tuple[str, Status], ...] = ()
    """By their paths."""
    scripts: tuple[str, ...] = ()
    """The Python files."""

    @property
    def read(self) -> list[str]:
        """The documents that are read."""
        return [path for path, status in self.documents if status.size <= MOST_OF_JSON or not path.endswith(".json")]


class Documents:
    """Reads the launch texts around scripts, and notes what the next run has to compare.

    Args:
        root: the project's root; nothing above it is read.
        began: when the run began, in nanoseconds.
        launchers: the programs that start others.
        kept: gives what was kept under a key, or else keeps what is made now.
        given: gives what stands for the content of a file; None for what it has.
    """

    def __init__(
        self,
        root: str,
        began: int,
        launchers: Iterable[Launcher],
        kept: Callable[[bytes, Callable[[], bytes]], bytes],
        given: Callable[[str], bytes | None] = lambda path: None,
    ) -> None:
        self._text_of = given
        self._root = root
        self._kept = kept
        self._began = began
        self._programs = Programs(launchers)
        self._listed: dict[str, _Files | None] = {}
        self._read: dict[str, Read] = {}
        self._texts: dict[str, LaunchText] = {}
        self._tops: dict[str, str] = {}
        self._meant: dict[str, dict[str, list[tuple[Launch, bool]]]] = {}
        """Folders -> the scripts below them, with the launches that start them, and whether those surely do."""
        self._stamps: dict[str, str] = {}
        self._chosen: dict[tuple[str, str, str], Chosen] = {}
        self._around: dict[str, Said] = {}
        self._contents: dict[str, str] = {}
        self._given: dict[str, tuple[tuple[tuple[str, Const], ...], frozenset[str]]] = {}
        """Folders -> the keys that settings below give literals, and the options that commands among them give."""
        self.noted: dict[str, _Noted] = {}
        """The scripts that were asked for -> `_stamp`, and what was read."""
        self.noted_keys: dict[tuple[str, str, str], _Noted] = {}
        """Folders and keys that `chosen` was asked for -> `_stamp_of`, and what was read."""

    # -- questions ----------------------------------------------------------------------------------------------

    def around(self, script: str) -> Said:
        """What launches that start a script say, and the settings of its project."""
        if script not in self._around:
            said, starts = self._said(script), self._starts(script)
            launches = starts.launches if starts is not None else None
            self._around[script] = said
            self.noted[script] = self._stamp(script), _digest((said, launches, self._content(self.home(script))))
        return self._around[script]

    def starts(self, script: str) -> Starts | None:
        """What may say on how many devices a script is started; None where nothing is known to start it, or there is too much to read."""
        self.around(script)
        return self._starts(script)

    def exported(self, script: str, variable: str) -> frozenset[str]:
        """What the launches that start a script set a variable of the environment to; nothing where one doesn't, or isn't known."""
        said = self.around(script)
        found = frozenset(launch.environment.get(variable, "") for launch in said.launches)
        return found if not said.unsure and all(value and is_known(value) for value in found) else frozenset()

    def chosen(self, folder: str, key: str, table: str) -> Chosen:
        """What the settings and launches below a folder give a key, as the function of that name has it."""
        asked = folder.rstrip(os.sep), key, table
        if asked not in self._chosen:
            found = self._below(asked[0])
            self._chosen[asked] = chosen(found, key, table) if found is not None else UNKNOWN
        if asked not in self.noted_keys:
            self.noted_keys[asked] = self._stamp_of(asked[0]), _digest(self._chosen[asked])
        return self._chosen[asked]

    def home(self, script: str) -> str:
        """The folder of what belongs to a script: its own, with all launches that start it."""
        sources = [os.path.dirname(launch.source) for launch, _ in self._of(script)]
        return os.path.commonpath([os.path.dirname(script), *sources])

    # -- what the next run compares -----------------------------------------------------------------------------

    def holds(self, script: str, noted: _Noted) -> bool:
        """Whether the texts around a script say what they said; those that have not been touched aren't read."""
        if noted[0] == self._stamp(script):
            self.noted[script] = noted
            return True
        self.around(script)
        return self.noted[script][1] == noted[1]

    def still_chosen(self, asked: tuple[str, str, str], noted: _Noted) -> bool:
        """Whether a key is given what it was given, as `holds` has it."""
        if noted[0] == self._stamp_of(asked[0]):
            self.noted_keys[asked] = noted
            return True
        self.chosen(*asked)
        return self.noted_keys[asked][1] == noted[1]

    def learn(self, noted: Mapping[str, _Noted], keys: Mapping[tuple[str, str, str], _Noted]) -> None:
        """Take over what others have noted of the same texts. Of those that have changed meanwhile nothing is known."""
        for script, read in noted.items():
            self.noted[script] = read if self.noted.get(script, read) == read else _CHANGED
        for asked, read in keys.items():
            self.noted_keys[asked] = read if self.noted_keys.get(asked, read) == read else _CHANGED

    def _stamp(self, script: str) -> str:
        """Changes with any launch text that may be about a script, and with the names of the files around it."""
        return self._stamp_of(self._top(script))

    def _stamp_of(self, folder: str) -> str:
        if folder not in self._stamps:
            self._stamps[folder] = _digest((folder, self._list(folder)))
        return self._stamps[folder]

    # -- launches -----------------------------------------------------------------------------------------------

    def _said(self, script: str) -> Said:
        found = self._of(script)
        launches = tuple(launch for launch, _ in found)
        keys, told = self._given_below(self.home(script))
        unsure = any(not sure for _, sure in found) or any(not launch.end() for launch in self._nowhere(script))
        return Said(launches, unsure, keys, told)

    def _given_below(self, folder: str) -> tuple[tuple[tuple[str, Const], ...], frozenset[str]]:
        if folder not in self._given:
            settings = [read for read in self._below(folder) or () if kind_of(os.path.basename(read.path)) in _SETTINGS]
            told = frozenset(option for read in settings for launch in read.launches for option in launch.options())
            self._given[folder] = tuple(sorted({*literals(settings)}, key=repr)), told
        return self._given[folder]

    def _content(self, folder: str) -> str:
        """Changes with what the launch texts below a folder say."""
        if folder not in self._contents:
            self._contents[folder] = _digest(self._below(folder))
        return self._contents[folder]

    def _starts(self, script: str) -> Starts | None:
        settings, launches = self._settings(script), [launch for launch, _ in self._of(script)]
        if settings is None or not launches:
            return None
        return Starts((*launches, *self._nowhere(script)), settings, f"{self.home(script)}{os.sep}")

    def _settings(self, script: str) -> Sequence[Read] | None:
        """The settings below the folder of what belongs to a script; None for too many."""
        return self._below(self.home(script))

    def _of(self, script: str) -> list[tuple[Launch, bool]]:
        """The launches that start a script, and whether each surely does."""
        return self._by_script(self._top(script)).get(script, [])

    def _nowhere(self, script: str) -> list[Launch]:
        """Those beside it, above or below of which isn't known what they start."""
        own = os.path.join(os.path.dirname(script), "")
        found = (
            (launch, os.path.join(os.path.dirname(launch.source), ""))
            for launch, _ in self._by_script(self._top(script)).get("", ())
        )
        return [launch for launch, there in found if there.startswith(own) or own.startswith(there)]

    def _by_script(self, folder: str) -> dict[str, list[tuple[Launch, bool]]]:
        if folder not in self._meant:
            found: dict[str, list[tuple[Launch, bool]]] = {}
            files = self._list(folder) or _Files()
            named = dict[str, list[str]]()
            for path in files.scripts:
                named.setdefault(os.path.basename(path), []).append(path)
            for path in files.read:
                for launch in self._text(path).launches:
                    meant = self._meant_by(launch, named)
                    for script in meant or ([] if launch.end() else [""]):
                        found.setdefault(script, []).append((launch, len(meant) == 1))
            self._meant[folder] = found
        return self._meant[folder]

    def _meant_by(self, launch: Launch, named: Mapping[str, Sequence[str]]) -> list[str]:
        """The scripts that a launch may start: where it says, from where its text stands, or from a folder above. Where it isn't known in
        which folder it looks, those below the nearest one whose paths end so."""
        end, folder = launch.end(), os.path.dirname(launch.source)
        there = named.get(os.path.basename(end), ()) if end else ()
        exact = os.path.normpath(os.path.join(folder, launch.script))
        if exact in there:
            return [exact]
        fitting = [path for path in there if path.endswith(f"{os.sep}{end}")]
        while folder.startswith(self._root):
            if os.path.join(folder, end) in fitting:
                return [os.path.join(folder, end)]
            inside = [path for path in fitting if path.startswith(folder + os.sep)] if launch.is_anywhere() else []
            if inside:
                return inside
            folder = os.path.dirname(folder)
        return []

    # -- files --------------------------------------------------------------------------------------------------

    def _top(self, script: str) -> str:
        """The outermost folder around a script, below the root, that isn't too large to read its launch texts."""
        own = os.path.dirname(script)
        if own not in self._tops:
            above, found = own, own
            while f"{above}{os.sep}".startswith(f"{self._root}{os.sep}"):
                files = self._list(above)
                if files is None or len(files.documents) > MOST_LAUNCHES:
                    break
                found, above = above, os.path.dirname(above)
            self._tops[own] = found
        return self._tops[own]

    def _below(self, folder: str) -> Sequence[Read] | None:
        """The launch texts below a folder; None for too many, or too long ones."""
        files = self._list(folder)
        paths = files.read if files is not None else []
        if files is None or len(paths) > MOST_DOCUMENTS:
            return None
        long = any(status.size > _most_of(path) for path, status in files.documents if path in {*paths})
        return [self._text(path) for path in paths] if not long else None

    def _text(self, path: str) -> Read:
        """A launch text, which a run reads once."""
        if path not in self._read:
            text = self._lowered(path)
            commands = tuple(started(text.script, partial(self._sourced, path)))
            self._read[path] = Read(path, text, commands, tuple(self._programs.launches(commands, path)))
        return self._read[path]

    def _sourced(self, path: str, name: str) -> Script | None:
        """What a script says that another one reads; None for one that doesn't stand beside it, or below."""
        folder = os.path.dirname(path)
        found = os.path.normpath(os.path.join(folder, name if is_known(name) else known_end(name)))
        files = self._list(folder) or _Files()
        stands = found != path and any(found == other for other, _ in files.documents)
        return self._lowered(found).script if stands and kind_of(os.path.basename(found)) == "shell" else None

    def _lowered(self, path: str) -> LaunchText:
        if path not in self._texts:
            try:
                given = self._text_of(path)
                data = given if given is not None else beginning(path, _most_of(path))
                self._texts[path] = self._as_kept(os.path.basename(path), data)
            except OSError:
                self._texts[path] = LaunchText()
        return self._texts[path]

    def _as_kept(self, name: str, data: bytes) -> LaunchText:
        """What a launch text says, by its content: to read it by its grammar takes longer than to look it up."""
        key = b"%b launch %b" % (xxh3_128_digest(data), os.fsencode(name))
        try:
            return _LAUNCH_TEXT.decode(self._kept(key, lambda: ENCODER.encode(read(name, data))))
        except (msgspec.DecodeError, OverflowError, UnicodeEncodeError):  # msgpack has no such numbers, or texts
            return read(name, data)

    def _as_given(self, path: str, status: Status) -> Status:
        """The status of a launch text, which is another one where something stands for its content."""
        given = self._text_of(path)
        return status if given is None else Status(len(given), xxh3_64_intdigest(given) >> 1, 0, 0)

    def _list(self, folder: str) -> _Files | None:
        """What stands below a folder; None for too much."""
        if folder not in self._listed:
            found = _below(folder, self._began) if folder else _Files()
            if found is not None:
                documents = ((path, self._as_given(path, status)) for path, status in found.documents)
                found = _Files(tuple(documents), found.scripts)
            self._listed[folder] = found
        return self._listed[folder]


def read(name: str, data: bytes) -> LaunchText:
    """What a launch text says. Never raises on account of the input.

    Args:
        name: its file's.
    """
    if kind_of(name) == "notebook":
        from detlint.ipython import shell_of

        try:
            data = "\n".join(map(shell_of, open_notebook(data).texts)).encode("utf-8", "replace")
        except NotANotebook:
            return LaunchText(is_read=False)
    return lower(name, data)


def _most_of(path: str) -> int:
    """How many bytes of a launch text are read."""
    return MOST_OF_NOTEBOOKS if kind_of(os.path.basename(path)) == "notebook" else MOST_READ


def _below(home: str, began: int) -> _Files | None:
    """What stands below a folder; None for too many folders."""
    documents, scripts = list[tuple[str, Status]](), list[str]()
    waiting, folders = [home], 0
    while waiting:
        folders += 1
        if folders > MOST_FOLDERS:
            return None
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    scripts.append(entry.path)
                elif kind_of(entry.name) and not is_folder(entry):
                    documents.append((entry.path, status_of(entry.path, began)))
                elif entry.name[0] == "." and entry.name not in OF_SERVICES:
                    continue
                elif entry.name not in OF_OTHERS and is_folder(entry):
                    waiting.append(entry.path)
    return _Files(tuple(sorted(documents, key=_path)), tuple(sorted(scripts)))


def _digest(value: object) -> str:
    """What tells a value from others in all processes: sets are sorted, which have another order in each."""
    try:
        packed = _STABLE.encode(value)
    except (OverflowError, UnicodeEncodeError):
        packed = repr(value).encode("utf-8", "replace")
    return xxh3_64_hexdigest(packed)
