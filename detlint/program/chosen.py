"""What the settings and the documents of a project give a key: its files of YAML and JSON, other files of settings, commands in
scripts and READMEs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import yaml

from detlint.facts.model import Const
from detlint.facts.reading.values import constant
from detlint.facts.yaml_file import composed, pairs_of, scalar, too_deep
from detlint.facts.yaml_text import is_yaml, of_lines
from detlint.program.commands import told

Table = Mapping[str, Const | None]
"""What the keys of a table have; None for what is neither a literal nor a table."""
_LITERALS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "none": None, "null": None, "~": None}
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_SHELL: Final = (".sh", ".bash", ".slurm", ".sbatch")
_QUOTES: Final = "\"'`*,;)]}|。，、；"
_OPENING: Final = "\"'`*[{("


class Chosen(NamedTuple):
    """What a key is given, anywhere."""

    values: tuple[Const | None, ...] = ()
    """Each value once; None for what isn't known."""
    left_out: bool = False
    """Whether there is a table that lacks the key beside others of the same keys that have it, or that is the one which is asked."""
    started: bool = False
    """Whether a text has a command that starts a script."""
    spoken: bool = False
    """Whether a text says the key without giving it anything: it may tell the reader to."""


UNKNOWN: Final = Chosen((None,))
SAID: Final = "*"
"""Stands for the table where it is only asked whether a text has the key as a word, in whatever case."""
SET: Final = "="
"""The same, but of prose only lines with an option or a command: others tell of it without setting anything to it."""
_PROSE: Final = (".md", ".rst")
_SETS: Final = re.compile(r"^.*(?:--\w|\w=|\bpython).*$", re.M)
TABLE: Final = Const("{...}")
"""Stands for a table with something in it, which is neither None nor anything that code compares it with."""
_COMMAND: Final = re.compile(r"\bpython[\d.]*[ \t]+(?:-\S+[ \t]+)*[\w./$\{}-]+\.py\b")
"""What starts a script."""


def chosen(texts: Iterable[tuple[str, str]], key: str, table: str) -> Chosen:
    """What the files of a project give a key.

    Args:
        texts: paths, and what stands there.
        table: the key of the table in which code looks for it; "" where that isn't known.
    """
    if table in (SAID, SET):
        word = re.compile(rf"(?<!\w){re.escape(key).replace('_', '[-_]')}(?!\w)", re.I)
        prose = _PROSE if table == SET else ()
        lines = (_SETS.findall(text) if path.endswith(prose) else (text,) for path, text in texts)
        return Chosen(spoken=any(word.search(line) is not None for part in lines for line in part))
    found, having, left_out = set[Const | None](), set[str](), False
    lacking, started, spoken = list[Table](), False, False
    for path, text in texts:
        said = key in text or key.replace("_", "-") in text or key.upper() in text
        tables = _tables(path, text) if is_table(path) else None
        if tables is None:
            text = told(text) if said and path.endswith(_SHELL) else text
            started = started or (not is_table(path) and _COMMAND.search(text) is not None)
            spoken = spoken or (not is_table(path) and _says_more(text, key))
            found.update(() if not said else (None,) if is_table(path) else _written(text, key))
            continue
        for top, inside in tables:
            given = {held[key] for _, held in inside if key in held}
            texts_in = (text for _, held in inside for text in held.items())
            given.update(value for place, text in texts_in for value in _in_text(place, text, key))
            found |= given
            having.update(top if given else ())
            lacking += () if given else (top,)
            left_out |= any(name == table and key not in held for name, held in inside if table)
    left_out |= any(not having.isdisjoint(top) for top in lacking)
    return Chosen(tuple(sorted(found, key=repr)), left_out, started, spoken)


def is_table(path: str) -> bool:
    """Whether a file is read as tables: YAML, or JSON."""
    return is_yaml(path) or path.endswith(".json")


@lru_cache(maxsize=512)
def _tables(path: str, text: str) -> Sequence[tuple[Table, Sequence[tuple[str, Table]]]] | None:
    """The table at the top of each document of a file, and all tables in it, itself too, with the keys that have them; None for what
    can't be read.

    Further documents of YAML that have nothing but texts, or lists, tell what the keys of the first mean, or what may be chosen.
    """
    try:
        documents = [json.loads(text)] if path.endswith(".json") else _of_yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError):
        return None
    if documents is None:
        return None
    tops = [document for document in documents if isinstance(document, dict)]
    told = [top for number, top in enumerate(tops) if number == 0 or not _tells(top, tops[0])]
    return [(_literals(top), [(name, _literals(inner)) for name, inner in _inside("", top)]) for top in told]


def _of_yaml(text: str) -> list[object] | None:
    lines = of_lines(text.removeprefix("\ufeff"))
    return None if too_deep(lines) else [_plain(node, ()) for node in composed(lines)]


def _plain(node: yaml.Node, above: tuple[int, ...]) -> object:
    """A node as JSON has such: a dictionary, a list, or a literal; an ellipsis for what isn't known."""
    if id(node) in above:
        return ...
    above = (*above, id(node))
    if isinstance(node, yaml.MappingNode):
        return {name: _plain(value, above) for name, (_, value) in pairs_of(node).items()}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, above) for item in node.value]
    value = scalar(node) if isinstance(node, yaml.ScalarNode) else None
    return value.value if isinstance(value, Const) else ...


def _tells(top: Mapping[str, object], first: Mapping[str, object]) -> bool:
    """Whether a table only tells what the keys of the first one mean, or may be."""
    told = all(isinstance(value, (str, list)) for value in top.values())
    return told and any(type(first[name]) is not type(value) for name, value in top.items() if name in first)


def _inside(name: str, value: object) -> Iterator[tuple[str, dict[str, object]]]:
    """A table, and all that are in it, with the keys that have them; the texts of a list stand in one without a key."""
    if isinstance(value, dict):
        yield name, value
        for key, inner in value.items():
            table, dot, last = str(key).rpartition(".")
            yield from [(table.rpartition(".")[2], {last: inner})] if dot else ()
            yield from _inside(last, inner)
    elif isinstance(value, list):
        yield "", {f"[{number}]": text for number, text in enumerate(value) if isinstance(text, str)}
        for inner in value:
            yield from _inside(name, inner)


def _literals(table: Mapping[str, object]) -> Table:
    """The literals of a table, under names as code has them."""
    return {str(name).lstrip("-").replace("-", "_"): _literal(value) for name, value in table.items()}


def _literal(value: object) -> Const | None:
    if isinstance(value, dict) and value:
        return TABLE
    found = constant(value) if value is None or isinstance(value, (bool, int, float, str)) else None
    return found if isinstance(found, Const) else None


def _says_more(text: str, key: str) -> bool:
    """Whether a text says a key anywhere but where it gives it something, or an option that may be short for it."""
    word = rf"(?<![\w-])-*{re.escape(key).replace('_', '[-_]')}(?![\w-])"
    short = any(map(key.startswith, _options(text) - {key}))
    return short or len(re.findall(word, text, re.A | re.I)) > len(list(_giving(text, key)))


@lru_cache(maxsize=512)
def _options(text: str) -> frozenset[str]:
    """The options that a text says, as code has their names."""
    return frozenset(found.replace("-", "_") for found in re.findall(r"(?<![\w-])--(\w[\w-]*)", text))


def _giving(text: str, key: str) -> Iterator[re.Match[str]]:
    """Where a text gives a key something."""
    name = re.escape(key).replace("_", "[-_]")
    return re.finditer(
        rf"(?:(?<![\w-])--?{name}(?![\w-])([ \t=]*)|(?<![\w-]){name}[\"'`]*[ \t]*[:=][ \t]*)(\S*)", text, re.A
    )


def _written(text: str, key: str) -> Iterator[Const | None]:
    """What commands, other settings, or code in a document, give a key."""
    for found in _giving(text, key):
        gap, word = found[1], found[2]
        value = word.strip(_QUOTES + _OPENING)
        if value == key.upper():
            continue  # as usage messages have it
        if gap is not None and (not value or value.startswith("-") or value == "\\") and not _NUMBER.fullmatch(value):
            yield Const(True) if "=" not in gap else None
            continue
        literal = _of_word(value)
        described = gap is not None and len(gap) > 1 and "=" not in gap
        if not (described and literal is not None and isinstance(literal.value, str)):
            yield literal
    words = (key, key.replace("_", "-"), key.upper())
    yield from _told(
        "\n".join(line for line in text.split("\n") if any(word in line for word in words)),
        re.escape(key).replace("_", "[-_]"),
        key.upper(),
    )


def _told(text: str, name: str, variable: str) -> Iterator[Const | None]:
    """What a text gives a key otherwise: `MODEL.CLIP True` in a command, sentences (`set clip to True`, `enable clip`), a variable
    of the environment (`APP__CLIP=1`), or an override that takes it out (`~model.clip`).

    Args:
        name: the pattern of the key.
        variable: how a variable of the environment has the key.
    """
    ways = (
        rf"(?<=\.){name}[ \t]+(?!(?:to|as|is)\b)([^\s=:|\\-]\S*|-\d\S*)",
        rf"(?<![\w-]){name}[\"'`*]*(?:[ \t]+(?:to|as|is)\b|[ \t]*[设置改]*[为成])[ \t]*(\S+)",
        rf"(?:(?<!\w)|(?<=__)){variable}=(\S*)",
    )
    for number, way in enumerate(ways):
        for found in re.finditer(way, text, re.A):
            literal = _of_word(found[1].strip(_QUOTES + _OPENING).removesuffix("."))
            if number != 1 or found[1][0] in _OPENING or not (literal and isinstance(literal.value, str)):
                yield literal
    turned_on = (
        rf"(?:\b(?:enable|activate|(?:turn|switch) on) |开启|打开|启用)[ \t]*[\"'`*]*(?:[\w.]*\.)?{name}(?![\w-])"
    )
    yield from (Const(True) for _ in re.finditer(turned_on, text, re.A | re.I))
    yield from (None for _ in re.finditer(rf"(?<![\w~])~(?:[\w/.]*\.)?{name}(?![\w-])", text, re.A))


def _in_text(place: str, value: Const | None, key: str) -> Iterator[Const | None]:
    """What a text among settings gives a key: a command, an override, or an item of a list before its value (`[model.clip, True]`)."""
    text = value.value if value is not None else None
    if not isinstance(text, str):
        return
    if "=" in text or "--" in text or f".{key} " in text:
        yield from _written(text, key)
    elif place.startswith("[") and text.endswith(f".{key}"):
        yield None


def _of_word(word: str) -> Const | None:
    """What a word of a command means."""
    if not word or set(word) & set("$<>{}*`"):
        return None
    if word.lower() in _LITERALS:
        return Const(_LITERALS[word.lower()])
    if number := _NUMBER.fullmatch(word):
        return Const(float(word) if number[1] or "e" in word.lower() else int(word))
    return Const(word)
