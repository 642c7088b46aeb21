"""What the documents of a project say of the hardware that it is for: its README and what stands below, and its shell scripts."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from xxhash import xxh3_64_hexdigest

from detlint.program.chosen import UNKNOWN, Chosen, chosen
from detlint.program.commands import Command, commands, fenced

TEXTS: Final = (".md", ".rst")
SHELL: Final = (".sh", ".bash")
SETTINGS: Final = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg")
DOCUMENTS: Final = (*TEXTS, *SHELL, *SETTINGS)
MOST_FOLDERS: Final = 1_000
"""A project with more folders is not one whose README is about all that is in it."""
MOST_DOCUMENTS: Final = 300
MOST_SETTINGS: Final = 1 << 15
"""How many bytes a JSON file of settings has: what is longer is data."""
MOST_READ: Final = 1 << 18
"""How many bytes of a document are read: what is longer is data."""
OF_OTHERS: Final = frozenset({"node_modules", "third_party", "venv"})
"""Folders of others."""

_ASCEND: Final = re.compile(
    r"ascend(?!ing)|(?<![a-z])npu|npu(?![a-z])|hccl|davinci|modelarts|atlas ?\d|910[ab]|昇腾", re.I
)
"""Whatever speaks of Ascend, anywhere: a mention too many leaves it open what a project is for."""
_ELSEWHERE: Final = re.compile(r"https?://(?![^\s)>\"]+\.whl\b)[^\s)>\"]+|ascend[ _-]?310\w*", re.I)
"""What speaks of it all the same, and not of the project's runs: addresses, as of weights, but for what is installed, and a chip that
runs what was exported."""
_GPU: Final = re.compile(r"(?<![a-z])(?:gpus?|cuda|nccl|nvidia)(?![a-z])(?![ -]?(?:days?|hours?|mem))", re.I)
_SETTING: Final = re.compile(
    r"(?:^|[{,])[ \t]*[\"']?(\w+)[\"']?[ \t]*[:=][ \t]*[\"']?(Ascend|NPU|GPU|CUDA|CPU)\b", re.M | re.I
)
_SET_OUT: Final = re.compile(r"^[ \t]*(?:\||(?:#+|[-*+]|\d+[.)])(?=[^\n]{1,100}$))[^\n]*", re.M)
"""Headings, items and tables, which say what a project needs; sentences may tell of somebody else's hardware."""
_OF_OTHERS: Final = re.compile(r"torch|tensorflow|paddle|caffe|jax|official|baseline|original|paper", re.I)
"""What such lines have that tell of it all the same."""
_STARTING: Final = re.compile(r"^.*(?:\bpython|\bbash\b|\bsh\b|run\b|CUDA_VISIBLE_DEVICES).*$", re.M)
"""Lines of code that start something; other code may be the entry of a bibliography."""


class Said(NamedTuple):
    """What the documents of a project say; of one that they don't say to be for a GPU alone, no more than that."""

    gpu: bool = False
    """Whether they name a GPU, in what is set out or in code, and Ascend nowhere."""
    commands: tuple[Command, ...] = ()
    unread: bool = False
    """Whether there is a line that can't be read although it may start a script."""
    settings: tuple[tuple[str, str], ...] = ()
    """Keys of YAML files, and the hardware that they are given."""
    scripts: tuple[str, ...] = ()
    """The files that have the name of one which a command starts."""

    def starting(self, script: str) -> list[Command] | None:
        """The commands that start a script; None where they can't be told from those that start another one."""
        found = list[Command]()
        for command in self.commands:
            end = _end(command.script)
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

    documents: tuple[tuple[str, int, int], ...] = ()
    """Paths, sizes and dates."""
    scripts: tuple[str, ...] = ()
    """The Python files."""


class _Texts(NamedTuple):
    """What some documents are made of."""

    prose: list[str]
    blocks: list[str]
    """The code in what is prose else."""
    scripts: list[str]
    settings: list[tuple[str, str]]

    def whole(self) -> str:
        return "\n".join((*self.prose, *self.blocks, *self.scripts))

    def name_gpu(self) -> bool:
        """Whether they name a GPU, in what is set out or in code."""
        told = (part for text in (*self.prose, *self.blocks) for part in _SET_OUT.findall(text))
        own = (part for part in told if not _OF_OTHERS.search(part))
        started = (part for text in self.blocks for part in _STARTING.findall(text))
        return any(map(_GPU.search, (*own, *started, *self.scripts)))


class Documents:
    """Reads the documents around scripts, and notes what the next run has to compare.

    Args:
        root: the project's root; nothing above it is read.
        frameworks: the frameworks that a project may be for: documents that name none are those of another program.
    """

    def __init__(self, root: str, frameworks: Iterable[str]) -> None:
        self._root = root
        self._frameworks = re.compile("|".join(sorted(frameworks)), re.I)
        self._said: dict[str, Said] = {}
        self._listed: dict[str, _Files | None] = {}
        self._readmes: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}
        self._stamps: dict[str, str] = {}
        self._chosen: dict[tuple[str, str, str], Chosen] = {}
        self.noted: dict[str, tuple[str, str]] = {}
        """The scripts that were asked for -> `_stamp`, and what was read."""
        self.noted_keys: dict[tuple[str, str, str], tuple[str, str]] = {}
        """Folders and keys that `chosen` was asked for -> the same."""

    def around(self, script: str) -> Said:
        """What the documents say of the project that a script belongs to."""
        home = self.home(script)
        if home not in self._said:
            self._said[home] = self._read(home) if home else NOTHING
        said = self._said[home]
        if script not in self.noted:
            self.noted[script] = self._stamp(script), _digest(repr(said))
        return said

    def holds(self, script: str, noted: tuple[str, str]) -> bool:
        """Whether the documents around a script say what they said; those that have not been touched aren't read."""
        if noted[0] == self._stamp(script):
            self.noted[script] = noted
            return True
        self.around(script)
        return self.noted[script][1] == noted[1]

    def chosen(self, folder: str, key: str, table: str) -> Chosen:
        """What the settings and documents below a folder give a key, as the function of that name has it."""
        asked = folder.rstrip(os.sep), key, table
        if asked not in self._chosen:
            files = self._list(asked[0])
            self._chosen[asked] = self._read_for(files, key, table) if files is not None else UNKNOWN
        if asked not in self.noted_keys:
            self.noted_keys[asked] = self._stamp_of(asked[0]), _digest(repr(self._chosen[asked]))
        return self._chosen[asked]

    def still_chosen(self, asked: tuple[str, str, str], noted: tuple[str, str]) -> bool:
        """Whether a key is given what it was given, as `holds` has it."""
        if noted[0] == self._stamp_of(asked[0]):
            self.noted_keys[asked] = noted
            return True
        self.chosen(*asked)
        return self.noted_keys[asked][1] == noted[1]

    def _read_for(self, files: _Files, key: str, table: str) -> Chosen:
        """What files give a key; of those that are too many, or too long, that isn't known."""
        paths = [path for path, size, _ in files.documents if size <= MOST_SETTINGS or not path.endswith(".json")]
        long = any(size > MOST_READ for path, size, _ in files.documents if path in paths)
        if long or len(paths) > MOST_DOCUMENTS:
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

    def _text_of(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = _text(path)
        return self._texts[path]

    def _stamp(self, script: str) -> str:
        """Changes with the folder whose README is about a script, with any document below, and with the names of the files there."""
        return self._stamp_of(self.home(script))

    def _stamp_of(self, home: str) -> str:
        if home not in self._stamps:
            self._stamps[home] = _digest(repr((home, self._list(home))))
        return self._stamps[home]

    def _list(self, home: str) -> _Files | None:
        """What stands below a folder; None for too much."""
        if home not in self._listed:
            self._listed[home] = _below(home) if home else _Files()
        return self._listed[home]

    def _read(self, home: str) -> Said:
        """What the documents below a folder say."""
        files = self._list(home) or _Files()
        paths = [path for path, size, _ in files.documents if size <= MOST_SETTINGS or not path.endswith(".json")]
        if not 0 < len(paths) <= MOST_DOCUMENTS:
            return NOTHING
        texts = _texts(paths)
        whole = texts.whole()
        if not self._frameworks.search(whole) or not texts.name_gpu() or _ASCEND.search(_ELSEWHERE.sub("", whole)):
            return NOTHING
        read = [command for text in (*texts.blocks, *texts.scripts) for command in commands(text)]
        known = tuple(command for command in read if command is not None)
        names = {os.path.basename(command.script) for command in known}
        scripts = tuple(path for path in files.scripts if os.path.basename(path) in names)
        return Said(True, known, None in read, tuple(sorted({*texts.settings})), scripts)


def _below(home: str) -> _Files | None:
    """What stands below a folder; None for too many folders."""
    documents, scripts = list[tuple[str, int, int]](), list[str]()
    waiting, folders = [home], 0
    while waiting:
        folders += 1
        if folders > MOST_FOLDERS:
            return None
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    scripts.append(entry.path)
                elif entry.name.lower().endswith(DOCUMENTS) or entry.name == "Makefile":
                    documents.append((entry.path, *_size_and_date(entry)))
                elif entry.is_dir(follow_symlinks=False) and entry.name[0] != "." and entry.name not in OF_OTHERS:
                    waiting.append(entry.path)
    return _Files(tuple(sorted(documents)), tuple(sorted(scripts)))


def _texts(paths: Iterable[str]) -> _Texts:
    """What documents are made of, by their kinds."""
    texts = _Texts([], [], [], [])
    for path in paths:
        text = _text(path)
        if path.lower().endswith(SETTINGS):
            texts.settings.extend(_SETTING.findall(text))
        elif path.lower().endswith(TEXTS):
            block, around = fenced(text)
            texts.blocks.append(block)
            texts.prose.append(around)
        else:
            texts.scripts.append(f"# {os.path.basename(path)}\n{text}")
    return texts


def _size_and_date(entry: os.DirEntry[str]) -> tuple[int, int]:
    """Those of a document; zeros for a link that leads nowhere."""
    try:
        status = entry.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _digest(text: str) -> str:
    return xxh3_64_hexdigest(text.encode("utf-8", "replace"))


def _end(script: str) -> str:
    """What a command says for sure of where its script stands: `../$DIR/src/train.py` is some `src/train.py`; "" for nothing."""
    parts = re.split(r"[/\\]", script)
    unsure = [number for number, part in enumerate(parts) if part in ("", ".", "..") or set(part) & set("$[]{}*~")]
    return os.sep.join(parts[unsure[-1] + 1 :] if unsure else parts)


def _text(path: str) -> str:
    """The beginning of a document."""
    try:
        with open(path, "rb") as opened:
            return opened.read(MOST_READ).decode("utf-8", "replace")
    except OSError:
        return ""
