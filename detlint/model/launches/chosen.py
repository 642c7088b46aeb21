"""What the files of settings and the launches of a project give a key: its files of YAML, JSON, TOML and INI, the options, overrides and
variables of commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from detlint.ir.launch_texts import LaunchText
from detlint.ir.settings import Items, NotKnown, Setting, Table, plain
from detlint.model.launches.commands import Started, is_known
from detlint.model.launches.launches import Launch
from detlint.model.sites.reading.values import constant
from detlint.model.sites.records import Const

Held = Mapping[str, Const | None]
"""What the keys of a table have; None for what is neither a literal nor a table."""


class Read(NamedTuple):
    """A launch text, and what it runs."""

    path: str
    text: LaunchText
    started: tuple[Started, ...]
    launches: tuple[Launch, ...]


class Chosen(NamedTuple):
    """What a key is given, anywhere."""

    values: tuple[Const | None, ...] = ()
    """Each value once; None for what isn't known."""
    left_out: bool = False
    """Whether there is a table that lacks the key beside others of the same keys that have it, or that is the one which is asked."""
    started: bool = False
    """Whether a text has a command that starts a script."""
    spoken: bool = False
    """Whether a text says the key without giving it anything: by an option that may be short for it."""


UNKNOWN: Final = Chosen((None,))
SAID: Final = "*"
"""Stands for the table where it is only asked whether a text has the key as a word, in whatever case."""
TABLE: Final = Const("{...}")
"""Stands for a table with something in it, which is neither None nor anything that code compares it with."""


def chosen(texts: Iterable[Read], key: str, table: str) -> Chosen:
    """What the files of a project give a key.

    Args:
        table: the key of the table in which code looks for it; "" where that isn't known.
    """
    if table == SAID:
        word = key.lower().replace("-", "_")
        return Chosen(spoken=any(word in read.text.words for read in texts))
    found, having, left_out = set[Const | None](), set[str](), False
    lacking, started, spoken = list[Held](), False, False
    for read in texts:
        started = started or bool(read.launches)
        spoken = spoken or any(_is_short(option, key) for launch in read.launches for option in launch.options())
        if not read.text.is_read and key.lower() in read.text.words:
            found.add(None)
        for command in read.started:
            found.update(given(command.words, command.environment, key))
        for top, inside in _documents(read.text):
            own = {held[key] for _, held in inside if key in held}
            told = (text for _, held in inside for text in held.items())
            own.update(value for place, text in told for value in _in_text(place, text, key))
            found |= own
            having.update(top if own else ())
            lacking += () if own else (top,)
            left_out |= any(name == table and key not in held for name, held in inside if table)
    left_out |= any(not having.isdisjoint(top) for top in lacking)
    return Chosen(tuple(sorted(found, key=repr)), left_out, started, spoken)


def values(texts: Iterable[Read], key: str) -> set[Const | None]:
    """What tables give a key, wherever they have it; None for what isn't known. A text with spaces describes it."""
    held = (inside for read in texts for _, tables in _documents(read.text) for _, inside in tables)
    found = {table[key] for table in held if key in table}
    return {value for value in found if value is None or not (isinstance(value.value, str) and " " in value.value)}


def literals(texts: Iterable[Read]) -> Iterator[tuple[str, Const]]:
    """All keys of tables that have a literal, with that."""
    for read in texts:
        for _, inside in _documents(read.text):
            for _, held in inside:
                yield from ((key, value) for key, value in held.items() if value is not None)


def _documents(text: LaunchText) -> Iterator[tuple[Held, Sequence[tuple[str, Held]]]]:
    """The table at the top of each document, and all tables in it, itself too, with the keys that have them; but for documents that only
    tell what the keys of the first one mean, or may be."""
    tops = [document for document in text.documents or () if isinstance(document, Table)]
    for number, top in enumerate(tops):
        if number == 0 or not _tells(top, tops[0]):
            yield _held(top), [*_inside("", top)]


def _tells(top: Table, first: Table) -> bool:
    """Whether a table only tells what the keys of the first one mean, or may be."""
    kinds = {row.key: type(row.value) for row in first.rows}
    told = all(isinstance(row.value, (str, Items)) for row in top.rows)
    return told and any(kinds[row.key] is not type(row.value) for row in top.rows if row.key in kinds)


def _inside(name: str, setting: Setting) -> Iterator[tuple[str, Held]]:
    """A table, and all that are in it, with the keys that have them; the texts of a list stand in one without a key."""
    if isinstance(setting, Table):
        yield name, _held(setting)
        for row in setting.rows:
            table, dot, last = row.key.rpartition(".")
            yield from [(table.rpartition(".")[2], {_named(last): _literal(row.value)})] if dot else ()
            yield from _inside(last, row.value)
    elif isinstance(setting, Items):
        yield "", {f"[{number}]": Const(text) for number, text in enumerate(setting.values) if isinstance(text, str)}
        for value in setting.values:
            yield from _inside(name, value)


def _held(table: Table) -> Held:
    """The literals of a table, under names as code has them."""
    return {_named(row.key): _literal(row.value) for row in table.rows}


def _named(key: str) -> str:
    return key.lstrip("-").replace("-", "_")


def _literal(value: Setting) -> Const | None:
    if isinstance(value, Table):
        return TABLE if value.rows else None
    found = constant(value) if not isinstance(value, (Items, NotKnown)) else None
    return found if isinstance(found, Const) else None


def _in_text(place: str, value: Const | None, key: str) -> Iterator[Const | None]:
    """What a text among settings gives a key: a command, an override, or an item of a list before its value (`[model.clip, True]`)."""
    text = value.value if value is not None else None
    if isinstance(text, str) and ("=" in text or "--" in text or f".{key} " in text):
        yield from given(text.split(), {}, key)
    elif isinstance(text, str) and place.startswith("[") and text.endswith(f".{key}"):
        yield None


def _is_short(option: str, key: str) -> bool:
    """Whether an option may be short for another one."""
    return option != key and key.startswith(option)


def given(words: Sequence[str], environment: Mapping[str, str], key: str) -> Iterator[Const | None]:
    """What a command gives a key: by an option (`--clip True`, `--model.clip=True`), an override (`model.clip=True`, `MODEL.clip True`,
    `~model.clip`), or a variable of the environment (`APP__CLIP=1`); None for what isn't known."""
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        path = name.lstrip("-+~").replace("-", "_").replace("/", ".")
        if path.rpartition(".")[2] != key:
            continue
        behind = words[i + 1] if i + 1 < len(words) else "-"
        follows = not behind.startswith("-") or isinstance(plain(behind), (int, float))
        if word.startswith("~"):
            yield None
        elif equals:
            yield of_word(value)
        elif word.startswith("-"):
            yield of_word(behind) if follows else Const(True)
        elif "." in path and follows:
            yield of_word(behind)
    for name, value in environment.items():
        if name == key or name.lstrip("-").replace("-", "_") == key or name.rpartition("__")[2] == key.upper():
            yield of_word(value)


def of_word(word: str) -> Const | None:
    """What a word of a command means; None where that isn't known."""
    if not word or not is_known(word) or set(word) & set("$<>{}*`"):
        return None
    found = plain(word)
    if found is None or isinstance(found, (bool, int, float)):
        return Const(found) if word.lower() not in ("yes", "no", "on", "off") else Const(word)
    return Const(None) if word.lower() == "none" else Const(word)
