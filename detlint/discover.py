"""Paths to source files: folders are walked, what git ignores and what is excluded is left out, explicit files are in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from detlint.config import Config

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class Found:
    """The files to check, sorted, each once; and paths that could not be read, with the reason."""

    files: tuple[Path, ...]
    problems: tuple[tuple[Path, str], ...] = ()


def discover(paths: Iterable[Path], config: Config) -> Found:
    """The source files under some paths.

    A file named explicitly is checked whatever its suffix or the excludes, unless `force-exclude` is on. A file that is
    reachable twice (by a link) is reported once, under the shortest path. Linked folders are not entered.

    Raises:
        FileNotFoundError: a path that doesn't exist.
    """
    walker = _Walker(config)
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            candidates: Iterable[Path] = walker.walk(path)
        elif path.exists():
            candidates = [] if config.settings.force_exclude and walker.excluded_above(path) else [path]
        else:
            raise FileNotFoundError(path)
        for file in candidates:
            real = file.resolve()
            if real not in found or (len(file.parts), str(file)) < (len(found[real].parts), str(found[real])):
                found[real] = file
    return Found(tuple(sorted(found.values())), tuple(sorted(walker.problems)))


class _Walker:
    def __init__(self, config: Config) -> None:
        settings = config.settings
        self.root = config.root.resolve()
        self.patterns = [*settings.exclude, *settings.extend_exclude]
        self.exclude = _spec(self.patterns)
        self.names = {pattern for pattern in self.patterns if not set(pattern) & set("*?[/")}
        self.gitignore = settings.respect_gitignore
        self.ignores: dict[Path, tuple[tuple[Path, GitIgnoreSpec], ...]] = {}
        self.problems: list[tuple[Path, str]] = []

    def walk(self, top: Path) -> Iterator[Path]:
        if self.excluded_above(top) and self.root != top.resolve() and self.root in top.resolve().parents:
            return
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self.problems.append((folder, f"can't be listed: {error.strerror}"))
                continue
            ignores = self.ignores_of(folder) if self.gitignore else ()
            for entry in entries:
                path = folder / entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not entry.name.endswith(SUFFIXES):
                    continue
                if entry.name in self.names or self.excluded(path) or self.ignored(path, is_folder, ignores):
                    continue
                if is_folder:
                    waiting.append(path)
                elif entry.is_symlink() and not path.exists():
                    self.problems.append((path, "is a broken link"))
                elif path.is_file():
                    yield path

    def excluded(self, path: Path) -> bool:
        if len(self.names) == len(self.patterns):
            return False
        absolute = path if path.is_absolute() else Path.cwd() / path
        relative = absolute.relative_to(self.root) if absolute.is_relative_to(self.root) else absolute
        return self.exclude.match_file(relative.as_posix())

    def excluded_above(self, path: Path) -> bool:
        """Whether a path or a folder above it, below the root, is excluded."""
        real = path.resolve()
        return real.is_relative_to(self.root) and self.exclude.match_file(real.relative_to(self.root).as_posix())

    def ignores_of(self, folder: Path) -> tuple[tuple[Path, GitIgnoreSpec], ...]:
        """The .gitignore files that govern a folder, outermost first, from the repository's top down."""
        folder = folder.resolve()
        if folder not in self.ignores:
            outer: tuple[tuple[Path, GitIgnoreSpec], ...] = ()
            if not (folder / ".git").exists() and folder != folder.parent:
                outer = self.ignores_of(folder.parent)
            file = folder / ".gitignore"
            try:
                own = ((folder, _spec(file.read_text("utf-8", "replace").splitlines())),) if file.is_file() else ()
            except OSError:
                own = ()
            self.ignores[folder] = outer + own
        return self.ignores[folder]

    def ignored(self, path: Path, is_folder: bool, ignores: tuple[tuple[Path, GitIgnoreSpec], ...]) -> bool:
        verdict = False
        absolute = path.parent.resolve() / path.name if ignores else path
        for folder, spec in ignores:
            name = absolute.relative_to(folder).as_posix() + ("/" if is_folder else "")
            result = spec.check_file(name)
            if result.include is not None:
                verdict = result.include
        return verdict


def _spec(patterns: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)
