"""The entry points that a project declares: console and GUI scripts in pyproject.toml, setup.cfg and setup.py."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from detlint import toml
from detlint.files import MOST_OF_METADATA, read
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.lower import lower
from detlint.sources.parse import Problem, parse

GROUPS = ("console_scripts", "gui_scripts")


def scripts(root: Path) -> list[str]:
    """`package.module:function` of every script that the files in a project's root declare; a wrong file declares none."""
    found = [*_pyproject(root / "pyproject.toml"), *_setup_cfg(root / "setup.cfg"), *_setup_py(root / "setup.py")]
    return sorted({"".join(text.partition("[")[0].split()) for text in found if ":" in text})


def is_packaged(root: Path) -> bool:
    """Whether a project says how it is built and installed, or has been installed: then others use its packages."""
    if (root / "setup.py").is_file() or (root / "setup.cfg").is_file():
        return True
    raw = _toml(root / "pyproject.toml")
    said = "project" in raw or "build-system" in raw or "poetry" in _table(raw.get("tool"))
    return said or any(root.glob("*.dist-info"))


def _pyproject(file: Path) -> Iterator[str]:
    raw = _toml(file)
    poetry = _table(_table(raw.get("tool")).get("poetry"))
    project = _table(raw.get("project"))
    for table in (project.get("scripts"), project.get("gui-scripts"), poetry.get("scripts")):
        yield from (text for text in _table(table).values() if isinstance(text, str))


def _toml(file: Path) -> dict[str, Any]:
    """What a TOML file says; a wrong one says nothing."""
    try:
        return toml.load(file)
    except (OSError, toml.TomlError):
        return {}


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _setup_cfg(file: Path) -> Iterator[str]:
    try:
        text = read(file, MOST_OF_METADATA).decode()
    except (OSError, UnicodeDecodeError):
        return
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for group in GROUPS:
        yield from _targets(parser.get("options.entry_points", group, fallback="").splitlines())


def _setup_py(file: Path) -> Iterator[str]:
    """The `entry_points` of a `setup(...)` call, as far as they are written out; nothing is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own faults (`"\d"`)
            tree = parse(read(file, MOST_OF_METADATA))
    except OSError:
        return
    for function in Code(lower(tree)).functions() if not isinstance(tree, Problem) else ():
        for at, _ in function.each(op.CALL):
            given = function.call(at).named.get("entry_points", -1)
            if given >= 0:
                yield from _written(function, function.meant(given))


def _written(function: Function, at: int) -> Iterator[str]:
    """Entry points as a table of lists by group, or as one text."""
    said, operation = function.constant(at), function.ops[at]
    if isinstance(said, str):
        yield from _sections(said)
    elif operation[0] == op.DICT:
        for key, value in zip(operation[1::2], operation[2::2], strict=True):
            if key >= 0 and function.constant(key) in GROUPS:
                yield from _targets(_texts(function, function.meant(value)))


def _texts(function: Function, at: int) -> Iterator[object]:
    """A text, or those of a list."""
    code, *items = function.ops[at]
    said = map(function.constant, items if code in (op.LIST, op.TUPLE) else [at])
    return (text for text in said if isinstance(text, str))


def _sections(text: str) -> Iterator[str]:
    """Entry points as one text with `[console_scripts]` headings."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    try:
        parser.read_string(inspect.cleandoc(text))
    except configparser.Error:
        return
    for group in GROUPS:
        if parser.has_section(group):
            yield from parser[group].values()


def _targets(lines: Iterable[object]) -> Iterator[str]:
    """The right sides of `name = package.module:function`."""
    for line in lines:
        yield from (part.partition("=")[2].strip() for part in str(line).splitlines() if "=" in part)
