"""What the launch files of a project say: its shell scripts and other commands, and the settings in its files."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Final, NamedTuple

from xxhash import xxh3_64_hexdigest

from detlint.files import beginning
from detlint.folders import is_folder
from detlint.notebook import NotANotebook, open_notebook
from detlint.program.chosen import UNKNOWN, Chosen, chosen
from detlint.program.commands import Command, commands, fenced
from detlint.program.starts import Part, Starts
from detlint.status import Status, status_of

TEXTS: Final = (".md", ".rst")
SHELL: Final = (
    ".sh", ".bash", ".zsh", ".ksh", ".fish", ".slurm", ".sbatch", ".pbs", ".qsub", ".lsf", ".bat", ".cmd", ".ps1", ".mk", ".dockerfile",
)  # fmt: skip
NAMES: Final = frozenset({"dockerfile", "gnumakefile", "jenkinsfile", "justfile", "makefile", "procfile", "snakefile"})
"""Documents that have commands and no suffix."""
PREFIXES: Final = ("dockerfile.", "makefile.", "readme.", "usage.", "commands.", "options.", "args.")
"""How such begin that have one which says nothing: `Dockerfile.gpu`, `args.txt`."""
SETTINGS: Final = (
    ".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf", ".env", ".args", ".gin", ".json5", ".jsonc", ".jsonnet", ".properties",
    ".j2", ".tmpl", ".template", ".example",
)  # fmt: skip
NOTEBOOKS: Final = ".ipynb"
"""They have commands for scripts, too."""
DOCUMENTS: Final = (*TEXTS, *SHELL, *SETTINGS, NOTEBOOKS)
BESIDE: Final = ("", "doc", "docs", "script", "scripts")
"""The folders in those above a project which may have a text about it."""
MOST_FOLDERS: Final = 1_000
"""A project with more folders is not one whose README is about all that is in it."""
MOST_DOCUMENTS: Final = 300
MOST_SETTINGS: Final = 1 << 15
"""How many bytes a JSON file of settings has: what is longer is data."""
MOST_READ: Final = 1 << 18
"""How many bytes of a document are read: what is longer is data."""
MOST_OF_NOTEBOOKS: Final = 1 << 22
"""How many bytes a notebook has that is searched for commands."""
OF_OTHERS: Final = frozenset({"node_modules", "third_party", "venv"})
"""Folders of others."""
OF_SERVICES: Final = frozenset({".github", ".circleci", ".buildkite", ".vscode"})
"""Hidden folders that have commands."""
_path: Final = itemgetter(0)
_ALL: Final = "+"
_Noted = tuple[str, str]
"""What the next run has to compare."""
_CHANGED: Final[_Noted] = ("", "")
"""What nothing compares equal to."""

_SETTING: Final = re.compile(
    r"(?:^|[{,])[ \t]*[\"']?(\w+)[\"']?[ \t]*[:=][ \t]*[\"']?(Ascend|NPU|GPU|CUDA|CPU|True|False)\b", re.M | re.I
)
_OPTION: Final = re.compile(r"(?<![\w-])--(\w+)")
"""An option in a command, as settings have one for a container."""
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.M)
"""What shells, and formats of settings, leave out."""


class Said(NamedTuple):
    """What the documents of a project say."""

    commands: tuple[Command, ...] = ()
    launched: int = 0
    """How many of them, the first, stand in launch files: the others are examples, beside which there may be more."""
    unread: bool = False
    """Whether there is a line that can't be read although it may start a script."""
    settings: tuple[tuple[str, str], ...] = ()
    """Keys of YAML files, and the hardware, or the truth, that they are given."""
    scripts: tuple[str, ...] = ()
    """The files that have the name of one which a command starts."""
    told: tuple[str, ...] = ()
    """The options that settings give, as those of a container, in a command."""

    def starting(self, script: str) -> list[Command] | None:
        """The commands that start a script; None where they can't be told from those that start another one."""
        found = list[Command]()
        for command in self.commands:
            end = command.end()
            if not end:
                return None
            meant = [path for path in self.scripts if path.endswith(f"{os.sep}{end}")]
            if script in meant:
                if len(meant) > 1:
                    return None
                found.append(command)
        return None if self.unread else found


NOTHING: Final = Said()


class _Files(NamedTuple):
    """What stands below a folder."""

    documents: tuple[tuple[str, Status], ...] = ()
    """By their paths."""
    scripts: tuple[str, ...] = ()
    """The Python files."""


class _Texts(NamedTuple):
    """What some documents are made of."""

    notebooks: list[str]
    """What the cells of code say."""
    fences: list[str]
    """The blocks of code in what is prose else, which says nothing."""
    scripts: list[str]
    settings: list[str]

    def given(self) -> set[tuple[str, str]]:
        """The keys of settings that are given hardware, or a truth, with that."""
        return {found for text in self.settings for found in _SETTING.findall(text)}

    def parts(self) -> tuple[Part, ...]:
        """Those that may say how things are started."""
        code = [Part(text, is_code=True) for text in (*self.fences, *self.scripts)]
        return (*code, *(Part(text, is_code=False) for text in self.notebooks if text))


class Documents:
    """Reads the documents around scripts, and notes what the next run has to compare.

    Args:
        root: the project's root; nothing above it is read.
        began: when the run began, in nanoseconds.
    """

    def __init__(self, root: str, began: int) -> None:
        self._root = root
        self._began = began
        self._said: dict[str, Said] = {}
        self._listed: dict[str, _Files | None] = {}
        self._readmes: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}
        self._stamps: dict[str, str] = {}
        self._starts: dict[str, tuple[Starts | None, str]] = {}
        """Folders -> what stands in the documents there, and what changes with that."""
        self._chosen: dict[tuple[str, str, str], Chosen] = {}
        self.noted: dict[str, _Noted] = {}
        """The scripts that were asked for -> `_stamp`, and what was read, which begins with `_ALL` where that was all texts."""
        self.noted_keys: dict[tuple[str, str, str], _Noted] = {}
        """Folders and keys that `chosen` was asked for -> `_stamp`, and what was read."""

    def around(self, script: str) -> Said:
        """What the documents say of the project that a script belongs to."""
        home = self.home(script)
        if home not in self._said:
            self._said[home] = self._read(home) if home else NOTHING
        said = self._said[home]
        if script not in self.noted:
            self.noted[script] = self._stamp(script), _digest(repr(said))
        return said

    def starts(self, script: str) -> Starts | None:
        """What may say on how many devices a script is started; None where that is too much, or no README is about the script."""
        home = self.home(script)
        if home not in self._starts:
            starts = self._read_starts(home) if home else None
            self._starts[home] = starts, _ALL + _digest(repr((self.around(script), starts)))
        found, digest = self._starts[home]
        self.noted[script] = self._stamp(script), digest
        return found

    def holds(self, script: str, noted: _Noted) -> bool:
        """Whether the documents around a script say what they said; those that have not been touched aren't read."""
        if noted[0] == self._stamp(script):
            self.noted[script] = noted
            return True
        self.starts(script) if noted[1].startswith(_ALL) else self.around(script)
        return self.noted[script][1] == noted[1]

    def learn(self, noted: Mapping[str, _Noted], keys: Mapping[tuple[str, str, str], _Noted]) -> None:
        """Take over what others have noted of the same documents: whoever has read all texts of a script's has read more. Of documents
        that have changed meanwhile nothing is known."""
        for script, read in noted.items():
            known = self.noted.get(script, read)
            more = read if not known[1].startswith(_ALL) else known
            self.noted[script] = more if known[0] == read[0] else _CHANGED
        for asked, read in keys.items():
            self.noted_keys[asked] = read if self.noted_keys.get(asked, read) == read else _CHANGED

    def chosen(self, folder: str, key: str, table: str) -> Chosen:
        """What the settings and documents below a folder give a key, as the function of that name has it."""
        asked = folder.rstrip(os.sep), key, table
        if asked not in self._chosen:
            files = self._list(asked[0])
            self._chosen[asked] = self._read_for(files, key, table) if files is not None else UNKNOWN
        if asked not in self.noted_keys:
            self.noted_keys[asked] = self._stamp_of(asked[0]), _digest(repr(self._chosen[asked]))
        return self._chosen[asked]

    def still_chosen(self, asked: tuple[str, str, str], noted: _Noted) -> bool:
        """Whether a key is given what it was given, as `holds` has it."""
        if noted[0] == self._stamp_of(asked[0]):
            self.noted_keys[asked] = noted
            return True
        self.chosen(*asked)
        return self.noted_keys[asked][1] == noted[1]

    def _read_for(self, files: _Files, key: str, table: str) -> Chosen:
        """What files give a key; of those that are too many, or too long, that isn't known."""
        paths = _read_of(files)
        if (
            any(status.size > _most_of(path) for path, status in files.documents if path in paths)
            or len(paths) > MOST_DOCUMENTS
        ):
            return UNKNOWN
        return chosen(((path, self._text_of(path)) for path in paths), key, table)

    def home(self, script: str) -> str:
        """The folder of the README that is about a script: the nearest one, or the outermost that names it; "" for none."""
        found, folder = "", os.path.dirname(script)
        while f"{folder}{os.sep}".startswith(f"{self._root}{os.sep}"):
            readmes = self._readmes_in(folder)
            inside = script[len(folder) + 1 :].replace(os.sep, "/")
            if readmes and (not found or any(inside in self._text_of(readme) for readme in readmes)):
                found = folder
            if folder == self._root:
                break
            folder = os.path.dirname(folder)
        return found

    def _readmes_in(self, folder: str) -> list[str]:
        if folder not in self._readmes:
            try:
                names = sorted(name for name in os.listdir(folder) if name.lower().startswith("readme"))
            except OSError:
                names = []
            self._readmes[folder] = [os.path.join(folder, name) for name in names if name.lower().endswith(TEXTS)]
        return self._readmes[folder]

    def _parted(self, paths: Iterable[str]) -> _Texts:
        return _texts((path, self._text_of(path)) for path in paths)

    def _text_of(self, path: str) -> str:
        """A document, which a run reads once."""
        if path not in self._texts:
            self._texts[path] = _text(path, _most_of(path))
        return self._texts[path]

    def _stamp(self, script: str) -> str:
        """Changes with the folder whose README is about a script, with any document below, and with the names of the files there."""
        return self._stamp_of(self.home(script))

    def _stamp_of(self, home: str) -> str:
        if home not in self._stamps:
            self._stamps[home] = _digest(repr((home, self._list(home), self._above(home))))
        return self._stamps[home]

    def _list(self, home: str) -> _Files | None:
        """What stands below a folder; None for too much."""
        if home not in self._listed:
            self._listed[home] = _below(home, self._began) if home else _Files()
        return self._listed[home]

    def _read(self, home: str) -> Said:
        """What the documents below a folder say."""
        files = self._list(home) or _Files()
        paths = [path for path in _read_of(files) if not path.endswith(NOTEBOOKS)]
        if not 0 < len(paths) <= MOST_DOCUMENTS:
            return NOTHING
        texts = self._parted(paths)
        written = [command for text in texts.scripts for command in commands(text)]
        read = [*written, *(command for text in texts.fences for command in commands(text))]
        known = tuple(command for command in read if command is not None)
        launched = sum(command is not None for command in written)
        names = {os.path.basename(command.script) for command in known}
        scripts = tuple(path for path in files.scripts if os.path.basename(path) in names)
        told = {name for text in texts.settings for name in _OPTION.findall(text)}
        return Said(known, launched, None in read, tuple(sorted(texts.given())), scripts, tuple(sorted(told)))

    def _read_starts(self, home: str) -> Starts | None:
        """What the documents below a folder, and some above, say of how things are started; None for too many."""
        files = self._list(home)
        paths = _read_of(files) if files is not None else []
        if files is None or len(paths) > MOST_DOCUMENTS:
            return None
        if any(status.size > MOST_OF_NOTEBOOKS for path, status in files.documents if path.endswith(NOTEBOOKS)):
            return None
        texts = self._parted(paths)
        outside = self._parted(path for path, _ in self._above(home) if not path.lower().endswith(SETTINGS))
        return Starts(texts.parts(), outside.parts(), f"{home}{os.sep}", tuple(texts.settings))

    def _above(self, home: str) -> list[tuple[str, Status]]:
        """The documents in the folders above a project."""
        found, folder = list[tuple[str, Status]](), home
        while f"{os.path.dirname(folder)}{os.sep}".startswith(f"{self._root}{os.sep}"):
            folder = os.path.dirname(folder)
            for name in BESIDE:
                found += _in(os.path.join(folder, name), self._began)
        return sorted(found, key=_path)


def _in(folder: str, began: int) -> list[tuple[str, Status]]:
    """The documents in a folder."""
    try:
        with os.scandir(folder) as entries:
            paths = sorted(entry.path for entry in entries if _is_document(entry.name))
            return [(path, status_of(path, began)) for path in paths]
    except OSError:
        return []


def _is_document(name: str) -> bool:
    lower = name.lower()
    return lower.endswith(DOCUMENTS) or lower in NAMES or lower.startswith(PREFIXES)


def _most_of(path: str) -> int:
    """How many bytes of a document are read."""
    return MOST_OF_NOTEBOOKS if path.endswith(NOTEBOOKS) else MOST_READ


def _read_of(files: _Files) -> list[str]:
    """The documents that are read."""
    return [path for path, status in files.documents if status.size <= MOST_SETTINGS or not path.endswith(".json")]


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
                elif _is_document(entry.name):
                    documents.append((entry.path, status_of(entry.path, began)))
                elif entry.name[0] == "." and entry.name not in OF_SERVICES:
                    continue
                elif entry.name not in OF_OTHERS and is_folder(entry):
                    waiting.append(entry.path)
    return _Files(tuple(sorted(documents, key=_path)), tuple(sorted(scripts)))


def _texts(read: Iterable[tuple[str, str]]) -> _Texts:
    """What documents are made of, by their kinds."""
    texts = _Texts([], [], [], [])
    for path, text in read:
        if path.lower().endswith(SETTINGS):
            texts.settings.append(_COMMENT.sub("", text))
        elif path.lower().endswith((*TEXTS, ".txt")):
            texts.fences.extend(_COMMENT.sub("", block) for block in fenced(text))
        elif path.endswith(NOTEBOOKS):
            texts.notebooks.append(_said_in(text))
        else:
            texts.scripts.append(_COMMENT.sub("", text))
    return texts


def _said_in(notebook: str) -> str:
    """What the cells of code of a notebook say."""
    try:
        return open_notebook(notebook.encode()).text.decode("utf-8", "replace")
    except NotANotebook:
        return ""


def _digest(text: str) -> str:
    return xxh3_64_hexdigest(text.encode("utf-8", "replace"))


def _text(path: str, most: int) -> str:
    """The beginning of a document."""
    try:
        return beginning(path, most).decode("utf-8", "replace")
    except OSError:
        return ""
