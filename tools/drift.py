"""What a library documents, reads and takes, beside what the catalog says of it; `freshness.py` prints it.

A function that the documentation of the deterministic switch lists should have an entry of that category. A setting or a variable of the
environment whose name says that it is about determinism should be known, by the catalog or by the coverage data. A signature in the catalog
should be that of the library; one with `*`, `*args` or `**kwargs` says only a part, and what it leaves out isn't compared.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from detlint.catalog import Catalog, Entry

SWITCH: Final = re.compile(
    r"(?i)determinis|tf32|reduced_precision|batch_invarian|fallback_random|(?:^|_)(?:random_)?seed(?:$|_)"
)
"""A name of a setting that is about determinism."""
BULLET: Final = re.compile(r"\* :(?:func|class|meth):`~?([\w.]+)`")
READ: Final = re.compile(r"environ|getenv|env_name")
NAME: Final = re.compile(r"[\"']([A-Z][A-Z0-9]*_[A-Z0-9_]+)[\"']")
UNTOLD: Final = "..."
"""A default that the catalog doesn't write out, or none."""
REST: Final = ("*", "**")
SCALARS: Final = (bool, int, float, str, type(None))


class Lists(NamedTuple):
    """Where a library documents what its deterministic switch does."""

    function: str
    categories: tuple[tuple[str, str], ...]
    """Words in the line that begins a list, each with the category of the functions in it."""
    outdated: tuple[str, ...] = ()
    """Those of which it no longer says what is so: the notes of their entries say why."""


def documented(
    lists: Lists, catalog: Catalog, of: Callable[[str], object], holds: Callable[[Entry], bool]
) -> Iterator[str]:
    """The functions that a library documents in a list, and the catalog in no entry of that category.

    Args:
        of: what a dotted name stands for.
        holds: whether an entry is about the version that is installed.
    """
    text = inspect.getdoc(of(lists.function)) or ""
    for name, category in listed(text, lists.categories):
        if name in lists.outdated:
            continue
        known = {catalog.entries[i].category for i in catalog.calls.get(name, ()) if holds(catalog.entries[i])}
        if category not in known:
            said = (
                f"the catalog says {', '.join(sorted(filter(None, known)))}" if any(known) else "the catalog has none"
            )
            yield f"{name}: category {category}, {said}"


def listed(text: str, categories: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The functions in the lists of a docstring, each with the category of its list."""
    category = ""
    for paragraph in re.split(r"\n\s*\n", text):
        flat = " ".join(paragraph.split())
        begun = next((category for words, category in categories if words in flat), "")
        if begun:
            category = begun
        elif not flat.startswith(("* ", "- ")):
            category = ""
        yield from ((name, category) for name in BULLET.findall(paragraph) if category)


def switches(package: Path, modules: Sequence[object], known: Callable[[str], bool]) -> Iterator[str]:
    """The settings and variables of the environment of a library that are about determinism, and known nowhere."""
    found = set[str]()
    for module in modules:
        name = getattr(module, "__name__", "")
        found.update(f"{name}.{word}" for word in vars(module) if SWITCH.search(word) and not word.startswith("_"))
    for path in package.rglob("*.py"):
        for line in path.read_text("utf-8", "replace").splitlines():
            if READ.search(line):
                found.update(word for word in NAME.findall(line) if SWITCH.search(word))
    yield from sorted(name for name in found if not known(name))


def signatures(catalog: Catalog, names: Sequence[str], of: Callable[[str], object | None]) -> Iterator[str]:
    """The names whose signature is another one than the catalog says, in a parameter that an entry asks for."""
    for name in names:
        entries = [catalog.entries[i] for i in catalog.calls.get(name, ())]
        asked = {key.partition(".")[0] for entry in entries for key in (*entry.when, entry.seed)}
        real = taken(of(name)) if asked else None
        difference = differs(catalog.signatures[name], real, asked) if real is not None else ""
        if difference:
            yield f"{name}: {difference}"


def taken(member: object | None) -> list[inspect.Parameter] | None:
    """The parameters of a function or class, without `self`; None where Python doesn't know them."""
    if member is None or not callable(member):
        return None
    try:
        found = [*inspect.signature(member).parameters.values()]
    except (TypeError, ValueError):
        return None
    return found[1:] if found and found[0].name in ("self", "cls") and not inspect.isclass(member) else found


def differs(told: Sequence[tuple[str, object]], real: Sequence[inspect.Parameter], asked: Container[str]) -> str:
    """How the parameters that are asked for differ from the real ones; "" where they don't."""
    by_name = {parameter.name: parameter for parameter in real}
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in real)
    takes_rest = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in real)
    positional = [p.name for p in real if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_place = True
    for place, (name, default) in enumerate(told):
        if name.startswith(REST):
            by_place = False
        if name not in asked:
            continue
        parameter = by_name.get(name)
        if parameter is None:
            if takes_more or (takes_rest and by_place):
                continue
            return f"it has no parameter {name}"
        if by_place and not takes_rest and positional[place : place + 1] != [name]:
            return f"{name} is not its parameter {place + 1}"
        known = default != UNTOLD and type(parameter.default) in SCALARS
        if known and default != parameter.default:
            return f"{name} is {parameter.default!r} by default, not {default!r}"
    return ""
