"""The versions of a project's libraries, as its own lock and requirement files give them.

A folder below the root may have files of its own, as a repository of many projects has them; the nearest folder counts.
Every reader gives requirements (`torch>=1.7,<1.9`). Where one file names a library several times, for several platforms
say, the newest counts: markers aren't evaluated, so that the answer is the same on every machine.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec

from detlint import toml
from detlint.files import MOST_OF_METADATA, read

if TYPE_CHECKING:
    from packaging.specifiers import Specifier
    from packaging.version import Version

    from detlint.catalog import Catalog
    from detlint.config import Config

LAST: Final = 9999
"""The last component of the newest version of a series: `<1.9` gives 1.8.9999, whichever release of 1.8 that is."""
ALIASES: Final = {
    "pytorch": "torch", "pytorch-cpu": "torch", "pytorch-gpu": "torch",
    "tensorflow-cpu": "tensorflow", "tensorflow-gpu": "tensorflow", "tensorflow-intel": "tensorflow",
    "tensorflow-macos": "tensorflow", "tensorflow-rocm": "tensorflow",
    "mindspore-ascend": "mindspore", "mindspore-gpu": "mindspore",
}  # fmt: skip
"""Other names of distributions -> the library."""
TEXTS: Final = (".md", ".rst")
LONGEST: Final = 1_000
"""Characters of a requirement; what is longer isn't looked into."""
MOST_BOUNDS: Final = 20
"""Comparisons of a requirement that is looked into: each bound is tried with all of them."""
NAME: Final = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
PACKAGE: Final = re.compile(
    r'^\[\[packages?\]\]\n(?=(?:(?!\[).*\n)*?name = "([^"\n]+)")(?=(?:(?!\[).*\n)*?version = "([^"\n]+)")', re.MULTILINE
)
"""A package of a lock file: the lines of its table, before the next one, that give its name and its version."""
WHEEL: Final = re.compile(r"([A-Za-z0-9][\w.]*)-(\d[^-]*)-.*\.whl")
INCLUDE: Final = re.compile(r"^[ \t]*(?:-r|-c|--requirement|--constraint)[ \t=]*([^\s#]+)", re.MULTILINE)
CONDA: Final = re.compile(r"\s*-\s+[\"']?(?:[\w-]+::)?([A-Za-z0-9][\w.-]*)\s*([^\s\"'#\[]*)")


class Found(NamedTuple):
    """A version, and the file that gives it, relative to the root."""

    version: str
    file: str


def settle(config: Config, catalog: Catalog) -> Config:
    """Add to the settings the versions that the project's files give; what the configuration says of a library wins.

    Only libraries that the catalog tells versions of are looked for: others change nothing that is reported.
    """
    named = (NAME.match(entry.versions) for entry in catalog.entries if entry.versions)
    configured = {library(name): version for name, version in config.settings.versions.items()}
    wanted = frozenset(library(match[1]) for match in named if match) - configured.keys()
    found = find(config.root, wanted)
    versions = {name: each.version for name, each in found.items()} | configured
    return msgspec.structs.replace(
        config,
        settings=msgspec.structs.replace(config.settings, versions=versions),
        found={name: each.file for name, each in found.items()},
        sought=wanted,
    )


def below(config: Config, folders: Iterable[str]) -> dict[str, dict[str, str]]:
    """The versions that hold in folders below the root which say some of their own: those of the folder above, but for these.

    Args:
        folders: absolute paths of the program's folders, with a separator at the end. Those between them and the root count too.
    """
    root = os.path.join(config.root.absolute(), "")
    inside = set[str]()
    for folder in folders if config.sought else ():
        while folder not in inside and len(folder) > len(root) and folder.startswith(root):
            inside.add(folder)
            folder = os.path.join(os.path.dirname(folder[:-1]), "")
    versions: dict[str, dict[str, str]] = {}
    for folder in sorted(inside):  # those above come first
        own = {name: each.version for name, each in find(Path(folder), config.sought).items()}
        if own:
            versions[folder] = nearest(versions, folder, config.settings.versions) | own
    return versions


def nearest(versions: Mapping[str, dict[str, str]], folder: str, otherwise: dict[str, str]) -> dict[str, str]:
    """What the nearest of some folders has for a folder, or for a file, below it.

    Args:
        versions: by folder, with a separator at the end.
    """
    while folder:
        if folder in versions:
            return versions[folder]
        folder = folder[: folder.rstrip(os.sep).rfind(os.sep) + 1]
    return otherwise


def library(name: str) -> str:
    """The library that a distribution is: `PyTorch_Lightning` -> `pytorch-lightning`, `pytorch` -> `torch`."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    return ALIASES.get(name, name)


def find(root: Path, wanted: Collection[str]) -> dict[str, Found]:
    """The versions of some libraries: of each, what the most trustworthy file gives that says anything definite.

    Args:
        root: the folder with the files: the project's root, or one below.
        wanted: libraries, by the names that `library` gives.
    """
    found: dict[str, Found] = {}
    asked = set[str]()
    for file, requirements in _files(root):
        given: dict[str, Version] = {}
        for text in requirements:
            match = NAME.match(text) if len(text) <= LONGEST else None
            name = library(match[1]) if match else ""
            if not file.endswith(TEXTS):
                asked.add(name)
            elif name in asked:
                continue  # the project asks for it itself, in whatever version
            if name in wanted and name not in found and (version := _newest(text)) is not None:
                given[name] = max(given.get(name, version), version)
        # What follows the `+` (`2.1.0+cu118`) names a build of the same release.
        found.update((name, Found(version.public, file)) for name, version in given.items())
    return found


def _newest(text: str) -> Version | None:
    """The newest version that a requirement admits; None where it sets no upper bound, or can't be read."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        admitted = Requirement(text).specifier
        if len(admitted) > MOST_BOUNDS:
            return None
        bounds = [bound for each in admitted if (bound := _bound(each)) is not None]
        return max((bound for bound in bounds if admitted.contains(bound, prereleases=True)), default=None)
    except (InvalidRequirement, ValueError):
        return None


def _bound(specifier: Specifier) -> Version | None:
    """The newest version that one comparison admits.

    Which releases a series has is not known here, so its last one is written with `LAST`.
    """
    from packaging.version import Version

    version = Version(specifier.version.removesuffix(".*"))
    release = [*version.release]
    if specifier.operator == "==" and specifier.version.endswith(".*"):
        return Version(".".join(map(str, [*release, LAST])))
    if specifier.operator in ("==", "===", "<="):
        return version
    if specifier.operator == "~=":
        return Version(".".join(map(str, [*release[:-1], LAST])))
    while release and not release[-1]:
        release.pop()
    if specifier.operator != "<" or not release:
        return None
    return Version(".".join(map(str, [*release[:-1], release[-1] - 1, LAST])))


# -- the files --------------------------------------------------------------------------------------------------


def _files(root: Path) -> Iterator[tuple[str, list[str]]]:
    """The files that there are, the most trustworthy first, and the requirements in them; wrong files have none."""
    import configparser

    root, seen = root.resolve(), set()
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for pattern, reader in READERS:
        if not fnmatch.filter(names, pattern.partition("/")[0]):
            continue
        # `requirements.txt` is what a run needs; `requirements-dev.txt` and the like say what else there is.
        waiting = sorted(root.glob(pattern), key=lambda file: (file.stem != "requirements", file))
        if pattern.startswith("*/"):
            waiting = [file for file in waiting if not _has_code(file.parent)]
        while waiting:
            file = waiting.pop(0)
            if file in seen or not file.is_relative_to(root):
                continue
            seen.add(file)
            try:
                text = _text(file)
                requirements = [*reader(text)]
            except (OSError, ValueError, RecursionError, configparser.Error):
                continue
            yield file.relative_to(root).as_posix(), requirements
            if reader is _requirements:
                waiting[:0] = [Path(os.path.normpath(file.parent / name)) for name in INCLUDE.findall(text)]


def _has_code(folder: Path) -> bool:
    """Whether a folder has Python files beside its environment, which is theirs then and not that of the folder above."""
    return any(name.endswith((".py", ".ipynb")) for name in os.listdir(folder))


def _text(file: Path) -> str:
    data = read(file, MOST_OF_METADATA)
    # PowerShell's `pip freeze > requirements.txt` writes UTF-16.
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    return text.replace("\r\n", "\n")


def _lock(text: str) -> Iterator[str]:
    """uv.lock, poetry.lock, pdm.lock, pylock.toml. They are written by programs, always in this form, and they can be
    so large that the TOML reader would take longer than all else that an unchanged project takes."""
    return (f"{name}=={version}" for name, version in PACKAGE.findall(text))


def _pipfile(text: str) -> Iterator[str]:
    raw = _table(msgspec.json.decode(text))
    for section in ("default", "develop"):
        for name, package in _table(raw.get(section)).items():
            yield f"{name}{_table(package).get('version', '')}"


def _conda(text: str) -> Iterator[str]:
    """The items of all lists, those of channels among them: they have no versions.

    `=1.12` means `==1.12.*`; what follows a second `=` names a build.
    """
    for line in text.splitlines():
        parts = re.split(r"([,<>=!~]+)", line)
        match = CONDA.match("".join([parts[0].rstrip(), *map(str.strip, parts[1:])]))
        if match is None:
            continue
        name, version = match[1], match[2]
        if single := re.match(r"=?(\d[\d.]*?)(?:\.?\*)?(?:=|$)", version):
            version = f"=={single[1]}" + (".*" if single[1].count(".") < 2 else "")
        elif double := re.match(r"==[^=]+", version):
            version = double[0]
        yield name + version


def _requirements(text: str) -> Iterator[str]:
    for line in text.replace("\\\n", " ").splitlines():
        line = re.split(r"(?:^|\s)(?:#|--)", line)[0].strip()
        found = (WHEEL.match(part) for part in re.split(r"[/\s]", unquote(line)) if ".whl" in part)
        wheel = next((match for match in found if match is not None), None)
        if re.match(r"[\w.-]+=[^=]", line):  # as `conda list --export` writes it
            yield from _conda(f"- {line}")
        else:
            yield f"{wheel[1]}=={wheel[2]}" if wheel else line


def _pyproject(text: str) -> Iterator[str]:
    raw = toml.parse(text)
    project, poetry = _table(raw.get("project")), _table(_table(raw.get("tool")).get("poetry"))
    groups = [*_table(project.get("optional-dependencies")).values(), *_table(raw.get("dependency-groups")).values()]
    for group in (project.get("dependencies"), *groups):
        yield from (item for item in (group if isinstance(group, list) else ()) if isinstance(item, str))
    for table in (poetry, *map(_table, _table(poetry.get("group")).values())):
        for key in ("dependencies", "dev-dependencies"):
            for name, wish in _table(table.get(key)).items():
                yield f"{name}{_poetry(_table(wish).get('version', '') if isinstance(wish, dict) else wish)}"


def _poetry(wish: object) -> str:
    """Poetry's way to write versions: `^1.8` is `>=1.8,<2`, `~1.8` is `>=1.8,<1.9`, `1.8` is `==1.8`."""
    parts = []
    for part in str(wish).replace(" ", "").split(","):
        match = re.fullmatch(r"([\^~])(\d+(?:\.\d+)*)", part)
        if match is None:
            parts.append(f"=={part}" if part[:1].isdigit() else part.strip("*"))
            continue
        numbers = [int(number) for number in match[2].split(".")]
        first = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        kept = numbers[: first + 1] if match[1] == "^" else numbers[:2]
        parts.append(f">={match[2]},<{'.'.join(map(str, [*kept[:-1], kept[-1] + 1]))}")
    return ",".join(parts)


def _setup_cfg(text: str) -> Iterable[str]:
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    return _requirements(parser.get("options", "install_requires", fallback=""))


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


READERS: Final[tuple[tuple[str, Callable[[str], Iterable[str]]], ...]] = (
    ("uv.lock", _lock),
    ("poetry.lock", _lock),
    ("pdm.lock", _lock),
    ("pylock.toml", _lock),
    ("Pipfile.lock", _pipfile),
    ("environment.yml", _conda),
    ("environment.yaml", _conda),
    ("env.yml", _conda),
    ("env.yaml", _conda),
    ("*/environment.yml", _conda),
    ("*/environment.yaml", _conda),
    ("requirements*.txt", _requirements),
    ("requirements/*.txt", _requirements),
    ("pyproject.toml", _pyproject),
    ("setup.cfg", _setup_cfg),
)
"""In order of trust: what was locked, what one environment is made of, what the project asks for."""
