"""Settings: `[tool.detlint]` in pyproject.toml, or detlint.toml, under what the command line says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from detlint import patterns, toml
from detlint.catalog import Target
from detlint.folders import packages_around
from detlint.formats import MODULES as FORMATS
from detlint.runtime.choices import Collectives, Dropout, Handled, Loaders, Profile, Rng, Transforms, Unsupported

Severity = Literal["error", "warning", "note"]

EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d",
    ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pypackages__", "_build",
    "buck-out", "build", "dist", "node_modules", "site-packages", "venv", ".detlint_cache",
)  # fmt: skip

FILES = ("detlint.toml", ".detlint.toml", "pyproject.toml")


BASELINE = ".detlint-baseline.json"


_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")


class ConfigError(Exception):
    """Settings that can't be used. The text names the file, the key and the reason."""


Seed = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


class Runtime(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """What `detlint run` and notebooks enforce; what is left out is as `detlint.runtime.enforce` has it."""

    seed: Seed = 1234
    profile: Profile | None = None
    """That of the linter where it isn't given."""
    dropout: Dropout | None = None
    rng: Rng | None = None
    operators: Handled | tuple[str, ...] | None = None
    replace: Handled | tuple[str, ...] | None = None
    loaders: Loaders | None = None
    transforms: Transforms | None = None
    collectives: Collectives | None = None
    unsupported: Unsupported = "warn"
    deterministic: bool = True


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """What a configuration file may say; the defaults are what happens without one."""

    select: tuple[str, ...] = ("DET",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] = EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    profile: Profile = "reproduce"
    targets: tuple[Target, ...] = ()
    """Empty: they follow from what each file imports and mentions."""
    versions: dict[str, str] = {}
    """Library -> version; of others, the project's own files give it (see `detlint.versions`), else it's the newest."""
    catalogs: tuple[str, ...] = ()
    """TOML files of the user's own, relative to the configuration file."""
    severity: dict[str, Literal["error", "warning", "note", "off"]] = {}
    fail_on: Severity = "warning"
    output_format: str = "full"
    show_notes: bool = False
    library: Literal["caller", "strict"] = "caller"
    """How draws are judged that no entry point of the program reaches."""
    entry_points: tuple[str, ...] = ()
    """Where runs start besides what detlint finds by itself: `package.module:function`, or a module."""
    seeds: dict[str, tuple[str, ...]] = {}
    """Functions of one's own, or of a library that the catalog doesn't know, that seed: dotted name -> the streams."""
    docs_url: str = ""
    """Where the documentation's site is, for links of findings; a folder, relative to the root, stands for itself."""
    max_file_size: Annotated[int, msgspec.Meta(ge=0)] = 1_000_000
    """Bytes of a file, or of the code in a notebook; larger ones are reported as DET001 and skipped."""
    fix: bool = False
    """Whether to repair what can be repaired."""
    unsafe_fixes: bool = False
    """Whether fixes count that change the training, or what it costs."""
    fix_only: bool = False
    """Fix, and report nothing of what is left."""
    show_fixes: bool = False
    """List what was fixed."""
    fix_seed: Seed = 0
    """The number that fixes seed with where the program has none of its own."""
    fix_style: Literal["plain", "runtime"] = "plain"
    """How fixes seed a run: by each library's own call, or by `seed_all` of detlint's runtime."""
    baseline: str = BASELINE
    """The file with the findings that are accepted, relative to the root; empty: none."""
    runtime: Runtime = Runtime()
    """For runs, not for checks."""
    cache_dir: str = ""
    jobs: Annotated[int, msgspec.Meta(ge=0)] = 0


class Config(msgspec.Struct, frozen=True):
    """Settings, where they come from, and the folder that their paths are relative to."""

    settings: Settings
    root: Path
    """The project's root: the configuration file's folder, else the nearest `.git` or `pyproject.toml`."""
    source: Path | None = None
    overridden: frozenset[str] = frozenset()
    """The keys that the command line has set."""
    project: bool = False
    """Whether something marks the root as a project's: then all files below it are one program."""
    found: dict[str, str] = {}
    """Library -> the project's file that its version comes from; those that the configuration gives are not there."""
    sought: frozenset[str] = frozenset()
    """The libraries whose versions folders below the root may say."""

    def says(self, key: str) -> str:
        """Who set a key, for messages."""
        return "command line" if key in self.overridden or self.source is None else str(self.source)


def load(
    start: Path, file: Path | None = None, isolated: bool = False, overrides: dict[str, Any] | None = None
) -> Config:
    """The settings that hold for `start`.

    Args:
        start: a file or folder to be checked.
        file: a configuration file to use instead of the nearest.
        isolated: use no configuration file.
        overrides: what the command line says, by key.

    Raises:
        ConfigError: an unknown key, a wrong value, a file that can't be read.
    """
    start = Path(os.path.abspath(start))  # a relative path doesn't say what is around it
    folder = start if start.is_dir() else start.parent
    source = file if file is not None else None if isolated else _nearest(folder)
    raw = _extended(source, required=file is not None) if source is not None else {}
    label = str(source) if source is not None else "command line"
    settings = _convert(raw, label)
    _check(settings, label)
    if overrides:
        settings = _convert({**msgspec.to_builtins(settings), **overrides}, "command line")
        _check(settings, "command line")
    root, project = (source.parent, True) if source is not None and file is None else _root(folder)
    return Config(settings, root, source, frozenset(overrides or ()), project)


def enforced(settings: Settings) -> dict[str, Any]:
    """What the settings say to `detlint.runtime.enforce`, by the names of its options."""
    given: dict[str, Any] = msgspec.to_builtins(settings.runtime)
    return {key: value for key, value in given.items() if value is not None} | {
        "profile": settings.runtime.profile or settings.profile
    }


def _convert(raw: dict[str, Any], label: str) -> Settings:
    try:
        return msgspec.convert(raw, Settings)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at ")
        unknown = re.search(r"unknown field `(.+)`", reason)
        if unknown:
            table = place.strip("`").removeprefix("$").removeprefix(".")
            struct = Runtime if table == "runtime" else Settings
            close = _closest(unknown[1], sorted(field.encode_name for field in msgspec.structs.fields(struct)))
            key = f"{table}.{unknown[1]}" if table else unknown[1]
            raise ConfigError(
                f"{label}: unknown key `{key}`" + (f"; did you mean `{close}`?" if close else "")
            ) from None
        raise ConfigError(f"{label}: `{place.strip('`').removeprefix('$.') or 'tool.detlint'}`: {reason}") from None


def _closest(word: str, known: Iterable[str]) -> str:
    import difflib

    return next(iter(difflib.get_close_matches(word, list(known), 1)), "")


def _check(settings: Settings, label: str) -> None:
    """What types can't say: selectors look like codes, versions are versions, the size is positive."""
    for key, codes in _selectors(settings).items():
        for code in codes:
            if not re.fullmatch(r"ALL|DET\d{0,3}", code):
                raise ConfigError(f"{label}: `{key}`: `{code}` is not a code or a prefix of one (DET, DET4, DET403)")
    if settings.output_format not in FORMATS:
        named = ", ".join(f"`{name}`" for name in FORMATS)
        raise ConfigError(f"{label}: `output-format`: `{settings.output_format}` is not one of {named}")
    globs = (("exclude", settings.exclude), ("extend-exclude", settings.extend_exclude))
    for key, lines in (*globs, ("per-file-ignores", [name.removeprefix("!") for name in settings.per_file_ignores])):
        if wrong := next((line for line in lines if not patterns.is_valid(line)), None):
            raise ConfigError(f"{label}: `{key}`: `{wrong}` is no pattern, as .gitignore files have them")
    if wrong := next((name for name in settings.seeds if not _DOTTED.fullmatch(name)), None):
        raise ConfigError(f"{label}: `seeds`: `{wrong}` is no dotted name of a function, such as `our.lib.setup`")
    if settings.versions:
        _check_versions(settings, label)


def _check_versions(settings: Settings, label: str) -> None:
    from packaging.version import InvalidVersion, Version

    for name, version in settings.versions.items():
        try:
            Version(version)
        except InvalidVersion:
            raise ConfigError(f"{label}: `versions.{name}`: `{version}` is not a version") from None


def check_codes(config: Config, known: Iterable[str]) -> None:
    """Every selector must select something.

    Raises:
        ConfigError: a selector that matches no rule.
    """
    codes = list(known)
    for key, selectors in _selectors(config.settings).items():
        for selector in selectors:
            if selector != "ALL" and not any(code.startswith(selector) for code in codes):
                who = config.says(key.partition(".")[0])
                raise ConfigError(f"{who}: `{key}`: unknown rule `{selector}`; `detlint rule --all` lists them")


def _selectors(settings: Settings) -> dict[str, Iterable[str]]:
    """The keys that hold codes or prefixes of codes."""
    return {
        "select": settings.select,
        "extend-select": settings.extend_select,
        "ignore": settings.ignore,
        "extend-ignore": settings.extend_ignore,
        "severity": tuple(settings.severity),
        **{f"per-file-ignores.{pattern}": codes for pattern, codes in settings.per_file_ignores.items()},
    }


def _read(file: Path, required: bool) -> dict[str, Any]:
    try:
        raw = toml.load(file)
    except OSError as error:
        raise ConfigError(f"{file}: can't be read: {error.strerror}") from None
    except toml.TomlError as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from None
    if file.name != "pyproject.toml":
        return raw
    tool = raw.get("tool", {})
    section = tool.get("detlint", {}) if isinstance(tool, dict) else {}
    if not isinstance(section, dict):
        raise ConfigError(f"{file}: `tool.detlint` must be a table")
    return section


def _extended(file: Path, required: bool) -> dict[str, Any]:
    """What a configuration file says, above what the one says that it extends; tables are put together key by key.

    Raises:
        ConfigError: one can't be read, or they extend each other.
    """
    raw, seen, at = _read(file, required), [file.resolve()], file
    while (name := raw.pop("extend", None)) is not None:
        if not isinstance(name, str) or not name:
            raise ConfigError(f"{at}: `extend`: must be the path of a configuration file")
        at = at.parent / Path(name).expanduser()
        if at.resolve() in seen:
            raise ConfigError(f"{file}: `extend`: {at} extends itself")
        seen.append(at.resolve())
        below = _read(at, required=True)
        if isinstance(catalogs := below.get("catalogs"), list):
            below["catalogs"] = [str(at.absolute().parent / str(name)) for name in catalogs]
        for key, value in raw.items():
            both = isinstance(value, dict) and isinstance(below.get(key), dict)
            below[key] = {**below[key], **value} if both else value
        raw = below
    return raw


def _nearest(folder: Path) -> Path | None:
    """The nearest configuration file, upwards; a pyproject.toml counts only with a `[tool.detlint]` section."""
    for parent in (folder, *folder.parents):
        for name in FILES:
            file = parent / name
            if file.is_file() and (name != "pyproject.toml" or _has_section(file)):
                return file
    return None


def _has_section(file: Path) -> bool:
    try:
        return "detlint" in toml.load(file).get("tool", {})
    except toml.TomlError:
        return True  # reading it says what is wrong
    except (OSError, AttributeError, TypeError):
        return False


def _root(folder: Path) -> tuple[Path, bool]:
    """The root of the project that a folder is in, and whether something marks it as one."""
    for parent in (folder, *folder.parents):
        if any((parent / name).exists() for name in (".git", "pyproject.toml", "setup.py", "setup.cfg")):
            return parent, True
    inside = packages_around(str(folder))
    return (Path(inside[-1]).parent if inside else folder), False


def severity_of(settings: Settings, code: str) -> Literal["error", "warning", "note", "off"] | None:
    """What the configuration says of a rule's severity: the longest prefix of its code decides."""
    matching = [prefix for prefix in settings.severity if prefix == "ALL" or code.startswith(prefix)]
    return settings.severity[max(matching, key=lambda p: 0 if p == "ALL" else len(p))] if matching else None


def selected(settings: Settings, code: str) -> bool:
    """Whether a rule is on: the longest selector that matches its code decides, `ignore` winning ties."""

    def longest(selectors: Iterable[str]) -> int:
        return max((0 if s == "ALL" else len(s) for s in selectors if s == "ALL" or code.startswith(s)), default=-1)

    chosen = longest([*settings.select, *settings.extend_select])
    return chosen > longest([*settings.ignore, *settings.extend_ignore]) and severity_of(settings, code) != "off"
