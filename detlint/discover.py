"""Paths to source files: folders are walked, what git ignores and what is excluded is left out, explicit files are in."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from detlint import patterns
from detlint.config import BASELINE, Config
from detlint.files import read
from detlint.folders import is_file, is_folder, packages_around
from detlint.ir.cpp_text import SUFFIXES as CPP
from detlint.ir.launch_texts import JSON, MOST_OF_JSON, is_settings
from detlint.notebook import BOM

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi", ".ipynb", *CPP)
MOST_OF_IGNORES: Final = 250_000
"""Bytes of a .gitignore file; a larger one ignores nothing."""


class Found(msgspec.Struct, frozen=True):
    """The files to check, sorted, each once; and paths that could not be read, with the reason."""

    files: tuple[str, ...]
    problems: tuple[tuple[Path, str], ...] = ()


def discover(paths: Iterable[Path], config: Config) -> Found:
    """The source files under some paths.

    A file or folder named explicitly is checked whatever the excludes say of it, unless `force-exclude` is on. A file that is
    reachable twice (by a link) is reported once, under the shortest path. Linked folders are not entered.

    Raises:
        FileNotFoundError: a path that doesn't exist.
    """
    walker = _Walker(config)
    found: dict[str, str] = {}
    for path in paths:
        if path.is_dir():
            candidates = walker.walk(path)
        elif path.exists():
            left_out = config.settings.force_exclude and walker.excluded_above(path)
            candidates = iter(() if left_out else [(str(path), walker.real(str(path)))])
        else:
            raise FileNotFoundError(path)
        for file, real in candidates:
            if real not in found or (file.count(os.sep), file) < (found[real].count(os.sep), found[real]):
                found[real] = file
    return Found(tuple(sorted(found.values())), tuple(sorted(walker.problems)))


def program(paths: Sequence[Path], config: Config) -> Sequence[str]:
    """The files of the program that some paths belong to: all below the project's root.

    Where nothing marks a project, they are those in the same package or folder.
    """
    tops = [config.root] if config.project else [top(path) for path in paths]
    if all(path.resolve() in {folder.resolve() for folder in tops} for path in paths):
        return ()
    return discover([folder for folder in tops if folder.is_dir()], config).files


def top(path: Path) -> Path:
    """The folder of the outermost package that a path is in; its own folder where that is no package."""
    folder = path.absolute() if path.is_dir() else path.absolute().parent
    inside = packages_around(str(folder))
    return Path(inside[-1]) if inside else folder


Ignores = tuple[tuple[str, "GitIgnoreSpec"], ...]
"""What .gitignore files exclude, each below its folder."""


class _Names(Container[str]):
    """What is in a folder that wasn't listed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __contains__(self, name: object) -> bool:
        return os.path.exists(os.path.join(self.folder, str(name)))


class _Walker:
    def __init__(self, config: Config) -> None:
        settings = config.settings
        self.root = config.root.resolve()
        self.patterns = [*settings.exclude, *settings.extend_exclude]
        self.names = {pattern for pattern in self.patterns if not set(pattern) & set("*?[/")}
        self.gitignore = settings.respect_gitignore
        self.force = settings.force_exclude
        self.ignores: dict[str, Ignores] = {}
        self.problems: list[tuple[Path, str]] = []
        self.folders: dict[str, str] = {}

    @cached_property
    def exclude(self) -> GitIgnoreSpec:
        """What all patterns together exclude; names alone are looked up."""
        return patterns.spec(self.patterns)

    def walk(self, top: Path) -> Iterator[tuple[str, str]]:
        """The source files below a folder, each with its path without links."""
        real = top.resolve()
        named_although_excluded = real != self.root and self.root in real.parents and self.excluded_above(top)
        if named_although_excluded and self.force:
            return
        uses_patterns = not named_although_excluded and len(self.names) < len(self.patterns)
        waiting = [(str(top), self.real_folder(str(top)))]
        while waiting:
            folder, real_folder = waiting.pop()
            self.folders[folder] = real_folder
            try:
                with os.scandir(folder) as listed:  # detlint: ignore[DET305] all that is found is sorted in the end
                    entries = [(entry.name, entry) for entry in listed]
            except OSError as error:
                self.problems.append((Path(folder), f"can't be listed: {error.strerror}"))
                continue
            ignores = self.ignores_of(real_folder, dict(entries)) if self.gitignore else ()
            start, real_start = os.path.join(folder, "") if folder != "." else "", os.path.join(real_folder, "")
            for name, entry in entries:
                inner = is_folder(entry)
                if not inner and not (name.endswith(SUFFIXES) or is_settings(name)):
                    continue
                path = start + name
                if (
                    name in self.names
                    or (uses_patterns and self.excluded(path))
                    or (ignores and self.ignored(path, inner, ignores))
                ):
                    continue
                if inner:
                    waiting.append((path, real_start + name))
                elif entry.is_symlink():
                    if is_file(entry):
                        yield path, os.path.realpath(path)
                    elif not os.path.exists(path):
                        self.problems.append((Path(path), "is a broken link"))
                elif (
                    is_file(entry)
                    and name != BASELINE
                    and not (name.endswith(JSON) and entry.stat().st_size > MOST_OF_JSON)
                ):
                    yield path, real_start + name

    def real(self, file: str) -> str:
        """The path of a file without links, which is the same file under any name."""
        if os.path.islink(file):
            return os.path.realpath(file)
        folder, name = os.path.split(file)
        return os.path.join(self.real_folder(folder), name)

    def real_folder(self, folder: str) -> str:
        """The path of a folder without links; each folder above it is looked at once."""
        if folder not in self.folders:
            above, name = os.path.split(folder)
            known = name not in ("", ".", "..") and above in self.folders and not os.path.islink(folder)
            self.folders[folder] = os.path.join(self.folders[above], name) if known else os.path.realpath(folder)
        return self.folders[folder]

    def excluded(self, path: str) -> bool:
        """Whether a pattern that is more than a name excludes a path."""
        relative = (
            os.path.relpath(path, self.root)
            if os.path.isabs(path)
            else os.path.relpath(os.path.abspath(path), self.root)
        )
        return self.exclude.match_file(relative.replace(os.sep, "/"))

    def excluded_above(self, path: Path) -> bool:
        """Whether a path or a folder above it, below the root, is excluded."""
        real = path.resolve()
        if not real.is_relative_to(self.root):
            return False
        below = real.relative_to(self.root)
        if not self.names.isdisjoint(below.parts):
            return True
        return len(self.names) < len(self.patterns) and self.exclude.match_file(below.as_posix())

    def ignores_of(self, folder: str, names: Container[str] | None = None) -> Ignores:
        """The .gitignore files that govern a folder without links, outermost first, from the repository's top down.

        Args:
            names: what is in the folder, if that is known.
        """
        if folder not in self.ignores:
            known = _Names(folder) if names is None else names
            above = os.path.dirname(folder)
            outer = self.ignores_of(above) if above != folder and ".git" not in known else ()
            own: Ignores = ()
            if ".gitignore" in known:
                with contextlib.suppress(OSError):
                    text = read(os.path.join(folder, ".gitignore"), MOST_OF_IGNORES).removeprefix(BOM)
                    lines = text.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
                    own = ((folder, patterns.spec(lines)),)
            self.ignores[folder] = outer + own
        return self.ignores[folder]

    def ignored(self, path: str, is_folder: bool, ignores: Ignores) -> bool:
        verdict = False
        absolute = self.real(path)
        for folder, spec in ignores:
            name = os.path.relpath(absolute, folder).replace(os.sep, "/") + ("/" if is_folder else "")
            result = spec.check_file(name)
            if result.include is not None:
                verdict = result.include
        return verdict
