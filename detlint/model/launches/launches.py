"""Launches: the commands that start a Python file, with their arguments, their environment, and in how many processes.

What a command starts is the first word behind Python, or behind a program that starts others (the catalog's `[[launcher]]`), which ends
with `.py`, or the module that `-m` names. What stands before it are options of those programs. A program that isn't known, and gets
options, may be any of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from detlint.catalog import Launcher
from detlint.model.launches.commands import UNKNOWN, Given, Started, is_known

_PYTHONS: Final = ("python", "pypy")
_MODULE: Final = frozenset({"-m", "--module"})
_EXPORT: Final = "--export"
"""The option that takes several variables, with commas between them."""
_SURE: Final = frozenset({"", ".", ".."})


class Launch(NamedTuple):
    """A command that starts a Python file."""

    script: str
    """The path of the file as it is written, from where the command is run, with `/`; what isn't known of it is `UNKNOWN`."""
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    counts: tuple[str, ...]
    """What it says of how many processes there are, by options and variables."""
    source: str
    """The path of the launch text."""
    line: int
    column: int
    is_module: bool = False
    """Whether it is named as a module is."""

    def options(self) -> dict[str, str | None]:
        """What its options are given, by their names as `argparse` keeps them, "" for a flag alone; None where that isn't known. One that
        is given twice has the last value."""
        return options(self.arguments)

    def end(self) -> str:
        """What is known for sure of where its script stands: `$DIR/src/train.py` is some `src/train.py`; "" for nothing."""
        return known_end(self.script)

    def is_anywhere(self) -> bool:
        """Whether what it starts may stand in a folder that isn't known: behind a variable, or on Python's path."""
        return not is_known(self.script) or self.is_module

    def is_for_one(self) -> bool:
        """Whether it says that there is one process."""
        return bool(self.counts) and all(count == "1" for count in self.counts)


def known_end(path: str) -> str:
    """What is known for sure of where a file stands, as `Launch.end`."""
    parts = path.replace("\\", "/").split("/")
    unsure = [i for i, part in enumerate(parts) if part in _SURE or not is_known(part) or set(part) & set("[]{}*~")]
    return os.sep.join(parts[unsure[-1] + 1 :] if unsure else parts)


def options(arguments: Sequence[str]) -> dict[str, str | None]:
    """What options are given, as `Launch.options`."""
    found: dict[str, str | None] = {}
    for i, word in enumerate(arguments):
        if not (word.startswith("-") and word.strip("-")) or _is_number(word):
            continue
        name, given, value = word.lstrip("-").partition("=")
        if not given:
            value = arguments[i + 1] if i + 1 < len(arguments) else "-"
            value = "" if value.startswith("-") and not _is_number(value) else value
        unsure = not is_known(value) or (given and not value)
        found[name.replace("-", "_")] = None if unsure else value
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


class Programs:
    """The programs that start others.

    Args:
        launchers: those of the catalog.
    """

    def __init__(self, launchers: Iterable[Launcher]) -> None:
        self._launchers = [*launchers]

    @cached_property
    def _by_name(self) -> dict[str, Launcher]:
        return {name: launcher for launcher in self._launchers for name in launcher.names}

    @cached_property
    def _by_module(self) -> dict[str, Launcher]:
        return {name: launcher for launcher in self._launchers for name in launcher.modules}

    @cached_property
    def _variables(self) -> frozenset[str]:
        return frozenset(name for launcher in self._launchers for name in launcher.variables)

    def launches(self, started: Iterable[Started], source: str) -> Iterator[Launch]:
        """Those commands that start a Python file."""
        for command in started:
            found = self._launch(command, source)
            if found is not None:
                yield found

    def _launch(self, command: Started, source: str) -> Launch | None:
        words, used = command.words, list[Launcher]()
        program = ""
        if words[0] == UNKNOWN and words[1:] and words[1].startswith("--"):
            return Launch(UNKNOWN, words[1:], command.environment, (), source, command.line, command.column)
        for i, word in enumerate(words):
            name = word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
            if word.endswith(".py") and (program or not i):
                return self._made(command, word, i, used, source, False)
            if name in self._by_name:
                used.append(self._by_name[name])
            elif program and word in _MODULE and self._has_modules(program) and i + 1 < len(words):
                module = words[i + 1]
                if module not in self._by_module:
                    return self._made(command, f"{module.replace('.', '/')}.py", i + 1, used, source, True)
                used.append(self._by_module[module])
            elif program.startswith(_PYTHONS) and word == "-c":
                return None
            elif not (name.startswith(_PYTHONS) or (not i and not is_known(word)) or ("=" in word and not program)):
                if not program:
                    return None
                continue
            program = name if "=" not in word or program else program
        return None

    def gives_by_options(self, program: str) -> bool:
        """Whether a program gives what it starts variables by options alone, as one in a container."""
        launcher = self._by_name.get(program.rpartition("/")[2])
        return launcher is not None and "-e" in launcher.assigning

    def assigned(self, command: Started) -> Iterator[Given]:
        """The variables that the words of a command set for what it starts, up to the first program that starts no other one."""
        options, by_words = list[str](), False
        for i, word in enumerate(command.words):
            place = command.places[i] if i < len(command.places) else (0, 0, 0)
            name, sign, value = word.partition("=")
            launcher = self._by_name.get(word.replace("\\", "/").rpartition("/")[2])
            if launcher is not None:
                options += launcher.assigning
                by_words = "" in launcher.assigning
            elif not i:
                return
            elif name in options and word.startswith("-"):
                given = value if sign else command.words[i + 1] if i + 1 < len(command.words) else ""
                where = place if sign or i + 1 >= len(command.places) else command.places[i + 1]
                for part in given.split(",") if name == _EXPORT else (given,):
                    yield from _variable(part, command, where)
            elif sign and by_words and name.isidentifier():
                yield from _variable(word, command, place)
            elif word.startswith(_PYTHONS) or word.endswith(".py"):
                return

    def _has_modules(self, program: str) -> bool:
        """Whether the option `-m` of a program names a module."""
        launcher = self._by_name.get(program)
        return (
            program.startswith(_PYTHONS) or not is_known(program) or (launcher is not None and bool(launcher.modules))
        )

    def _made(
        self, command: Started, script: str, at: int, used: Sequence[Launcher], source: str, is_module: bool
    ) -> Launch:
        counts = [count for launcher in used for count in _counts(launcher, command.words[:at])]
        environment = {**command.environment, **{one.name: one.value for one in self.assigned(command)}}
        counts += [value for name, value in environment.items() if name in self._variables]
        path = (
            script if script.startswith(("/", "~")) or not command.folder.strip("./") else f"{command.folder}/{script}"
        )
        arguments = command.words[at + 1 :]
        return Launch(path, arguments, environment, tuple(counts), source, command.line, command.column, is_module)


def _variable(text: str, command: Started, place: tuple[int, int, int]) -> Iterator[Given]:
    """The variable that a word sets: `NAME=value`."""
    name, sign, value = text.partition("=")
    if sign and name.isidentifier():
        line, column = place[:2] if place[0] else (command.line, command.column)
        yield Given(name, value, line, column, place)


def _counts(launcher: Launcher, words: Sequence[str]) -> Iterator[str]:
    """How many processes a program is asked for."""
    found = False
    for i, word in enumerate(words):
        name, given, value = word.partition("=")
        if name in launcher.processes:
            found = True
            yield value if given else words[i + 1] if i + 1 < len(words) else ""
    if not found and launcher.processes:
        yield "" if launcher.several else "1"
