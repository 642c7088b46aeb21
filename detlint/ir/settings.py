"""What files of settings say: tables of values by keys, with their places where the format's parser tells them (YAML).

YAML, JSON, TOML, INI and files of variables are lowered to these, whatever their grammar.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Final

import msgspec
import yaml

from detlint.ir.yaml_nodes import Places, composed, literal, pairs_of, too_deep

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_PARTS: Final = 100
"""Dots in a line of TOML: the reader's time grows with the square of their number in a key."""
_TOP: Final = "\0"
"""The section of what stands before the first one of an INI file."""


class _Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A compact record: an array on disk."""


class NotKnown(_Record, frozen=True, tag=True):
    """What isn't written out: an interpolation, a date."""

    text: str = ""
    """How it is written."""


UNKNOWN: Final = NotKnown()
NOWHERE: Final = (0, 0, 0)


class Items(_Record, frozen=True, tag=True):
    """A list."""

    values: tuple[Setting, ...]
    places: tuple[tuple[int, int, int], ...] = ()
    """Where each begins that is written on one line, and its length, with its quotes; `NOWHERE` for others."""


class Row(_Record, frozen=True):
    """A key with its value."""

    key: str
    value: Setting
    line: int = 0
    """Where the key stands, from 1; 0 where that isn't known."""
    column: int = 0
    inner: tuple[int, int] = (0, 0)
    """Where the text begins that a value is."""
    indent: int = 0
    """How far each line of a text is indented."""
    place: tuple[int, int, int] = (0, 0, 0)
    """Where the value stands, as `Items.places` has it."""


class Table(_Record, frozen=True, tag=True):
    """A table."""

    rows: tuple[Row, ...]

    def get(self, key: str) -> Setting:
        """What a key has; None also for one that isn't there."""
        return next((row.value for row in reversed(self.rows) if row.key == key), None)


Setting = Table | Items | NotKnown | bool | int | float | str | None


def of_yaml(text: str) -> list[Setting] | None:
    """The documents of a YAML file; None where it is none.

    Args:
        text: with no other line breaks than YAML 1.2 has.
    """
    if too_deep(text):
        return None
    try:
        reader = _Yaml(text)
        return [reader.setting(document, ()) for document in composed(text)]
    except (yaml.YAMLError, RecursionError, ValueError):
        return None


class _Yaml:
    """The state of reading a YAML file."""

    def __init__(self, text: str) -> None:
        self.places = Places(text.encode("utf-8", "replace").splitlines())

    def setting(self, node: yaml.Node, above: tuple[int, ...]) -> Setting:
        if id(node) in above:
            return UNKNOWN
        above = (*above, id(node))
        if isinstance(node, yaml.MappingNode):
            return Table(tuple(self.row(name, *pair, above) for name, pair in pairs_of(node).items()))
        if isinstance(node, yaml.SequenceNode):
            values = tuple(self.setting(item, above) for item in node.value)
            return Items(values, tuple(map(self.place, node.value)))
        return _scalar(node) if isinstance(node, yaml.ScalarNode) else UNKNOWN

    def row(self, name: str, key: yaml.ScalarNode, value: yaml.Node, above: tuple[int, ...]) -> Row:
        line, column = self.places.place(value.start_mark)
        indent = 0
        if isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
            behind = (text for text in self.places.lines[line:] if text.strip())
            first = next(behind, b"")
            line, column = line + 1, 0
            indent = len(first) - len(first.lstrip(b" "))
        elif isinstance(value, yaml.ScalarNode) and value.style:
            column += 1
        key_place, place = self.places.place(key.start_mark), self.place(value)
        return Row(name, self.setting(value, above), *key_place, (line, column), indent, place)

    def place(self, node: yaml.Node) -> tuple[int, int, int]:
        """Where a scalar stands that is written on one line."""
        if not isinstance(node, yaml.ScalarNode) or node.start_mark.line != node.end_mark.line:
            return NOWHERE
        (line, column), (_, end) = self.places.place(node.start_mark), self.places.place(node.end_mark)
        return line, column, end - column


def of_json(text: str) -> list[Setting] | None:
    """The document of a JSON file; None where it is none."""
    try:
        found = [_of_data(json.loads(text))]
    except (ValueError, RecursionError):
        return None
    placed = of_yaml(as_yaml(text.encode("utf-8", "replace")).decode())
    return placed if placed is not None and len(placed) == 1 else found


def as_yaml(text: bytes) -> bytes:
    """A text of JSON as YAML has it: that knows no tabs between things."""
    return text.replace(b"\t", b" ")


def of_toml(text: str) -> list[Setting] | None:
    """The document of a TOML file; None where it is none."""
    if any(line.count(".") > MOST_PARTS for line in text.split("\n")):
        return None
    try:
        return [_of_data(tomllib.loads(text))]
    except (ValueError, RecursionError):
        return None


def of_ini(text: str) -> list[Setting] | None:
    """The sections of an INI file, with what stands before them; None where it is none. Its values are read as those of YAML are."""
    import configparser  # seldom needed

    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(f"[{_TOP}]\n{text}")
    except (configparser.Error, ValueError, AttributeError):  # the last one, where a line goes on that has no value
        return None
    sections = {name: tuple(Row(key, plain(value)) for key, value in parser.items(name)) for name in parser.sections()}
    top = sections.pop(_TOP)
    return [Table((*top, *(Row(name, Table(rows)) for name, rows in sections.items())))]


def plain(text: str | None) -> Setting:
    """What a text without quotes means, as YAML has it."""
    if text is None:
        return None
    bare = text.strip()
    if bare[:1] in ("'", '"') and bare[-1:] == bare[:1] and len(bare) > 1:
        return bare[1:-1]
    tag = yaml.resolver.Resolver().resolve(yaml.ScalarNode, bare, (True, False))  # type: ignore[no-untyped-call]
    return _scalar(yaml.ScalarNode(tag, bare))


def _scalar(node: yaml.ScalarNode) -> Setting:
    found = literal(node)
    return found if found is None or isinstance(found, (bool, int, float, str)) else NotKnown(node.value)


def _of_data(data: object) -> Setting:
    if isinstance(data, dict):
        return Table(tuple(Row(str(key), _of_data(value)) for key, value in data.items()))
    if isinstance(data, list):
        return Items(tuple(map(_of_data, data)))
    return data if data is None or isinstance(data, (bool, int, float, str)) else UNKNOWN


def tables(setting: Setting, name: str = "") -> Iterator[tuple[str, Table]]:
    """All tables in a value, itself too, each with the key that has it; those of a list have the key of that."""
    if isinstance(setting, Table):
        yield name, setting
        for row in setting.rows:
            yield from tables(row.value, row.key)
    elif isinstance(setting, Items):
        for value in setting.values:
            yield from tables(value, name)


def texts(setting: Setting) -> Iterator[str]:
    """All keys, and all values that are texts."""
    if isinstance(setting, str):
        yield setting
    elif isinstance(setting, Items):
        for value in setting.values:
            yield from texts(value)
    elif isinstance(setting, Table):
        for row in setting.rows:
            yield row.key
            yield from texts(row.value)
