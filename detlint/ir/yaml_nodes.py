"""YAML as nodes with their places, by PyYAML's composer: aliases are resolved, nothing is constructed, so that tags stay names.

On 2,000 real files libyaml composes 3.8 MB a second, ten times what PyYAML does without it and twenty times what ruamel.yaml does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

import yaml

from detlint.ir.yaml_text import decoded

Pairs = dict[str, tuple[yaml.ScalarNode, yaml.Node]]
"""The keys of a mapping with their nodes, merged ones (`<<`) included."""
Place = tuple[int, int]
"""A line, counted from 1, and a column in its UTF-8, from 0."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST: Final = 500
"""Brackets within brackets: the time that libyaml takes grows with the square of their number."""
_MOST_COMPACT: Final = 1_000
"""Lists within lists on one line."""
MOST_BY_ALIASES: Final = 100_000
"""Nodes that aliases may add to those that are written."""
LONGEST_NUMBER: Final = 400
"""Characters: `1:1:1` counts in sixties, which takes a time that grows with the square of the length."""
TAG: Final = "tag:yaml.org,2002:"
MERGE: Final = f"{TAG}merge"
NOT_KNOWN: Final = object()
"""What a scalar is that isn't written out."""


def composed(text: str) -> list[yaml.Node]:
    """The documents of a file that aren't empty.

    Args:
        text: with no other line breaks than YAML 1.2 has.

    Raises:
        yaml.YAMLError: it is no YAML, or aliases make much more of it than is written.
    """
    documents = [document for document in yaml.compose_all(text, _LOADER) if document is not None]
    if "*" in text:
        _expect_few(documents)
    return documents


def documents_of(data: bytes) -> list[yaml.Node] | None:
    """The same of a file as it is on disk; None for one that can't be read."""
    try:
        return composed(decoded(data))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None


def scalars(documents: Sequence[yaml.Node]) -> list[str]:
    """The values of a file of settings, as they are written; not its keys."""
    keys = {id(key) for table in _all(documents) if isinstance(table, yaml.MappingNode) for key, _ in table.value}
    return [node.value for node in _all(documents) if isinstance(node, yaml.ScalarNode) and id(node) not in keys]


def shares(documents: Sequence[yaml.Node]) -> bool:
    """Whether a part of a file stands elsewhere in it, too, under an alias."""
    parts = [
        id(part) for node in _all(documents) if isinstance(node, yaml.CollectionNode) for part in children_of(node)
    ]
    return len(parts) > len({*parts})


def _all(documents: Iterable[yaml.Node]) -> Iterator[yaml.Node]:
    return chain.from_iterable(map(nodes_of, documents))


def _expect_few(documents: list[yaml.Node]) -> None:
    """Go through documents as who takes an alias for what it leads to, up to where it leads back to itself: a few lines may lead
    from one to the next millions of times.

    Raises:
        yaml.YAMLError: that are many more nodes than are written.
    """
    left = MOST_BY_ALIASES + sum(1 for document in documents for _ in nodes_of(document))
    waiting: list[tuple[yaml.Node, bool]] = [(document, False) for document in documents]
    above = set[int]()
    while waiting:
        node, left_behind = waiting.pop()
        if left_behind:
            above.discard(id(node))
        elif id(node) not in above:
            left -= 1
            if left < 0:
                raise yaml.YAMLError(f"its aliases stand for more than {MOST_BY_ALIASES:,} values")
            if isinstance(node, yaml.CollectionNode):
                above.add(id(node))
                waiting.append((node, True))
                waiting += [(child, False) for child in children_of(node)]


def children_of(node: yaml.Node) -> Iterable[yaml.Node]:
    """The nodes of a table or list, keys too."""
    return chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value


def nodes_of(top: yaml.Node) -> Iterator[yaml.Node]:
    """A node and all below it, each once, in the order of the source."""
    waiting, seen = [top], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [child for pair in reversed(node.value) for child in reversed(pair)]
        elif isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)


def pairs_of(table: yaml.MappingNode, above: tuple[yaml.Node, ...] = ()) -> Pairs:
    """A mapping's keys; its own before those that it merges, the first of several merged before the others."""
    own: Pairs = {}
    merged: Pairs = {}
    for key, value in table.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.tag != MERGE:
            own[key.value] = (key, value)
            continue
        for base in value.value if isinstance(value, yaml.SequenceNode) else (value,):
            if isinstance(base, yaml.MappingNode) and base not in above:
                merged = {**pairs_of(base, (*above, table)), **merged}
    return {**merged, **own} if merged else own


def is_interpolated(text: str) -> bool:
    """Whether a scalar is an interpolation of OmegaConf's, its mark for what is missing, or an expression or reference of MONAI's."""
    return text.startswith(("$", "@")) or "${" in text or text in ("???", "???\n")


def literal(node: yaml.ScalarNode) -> object:
    """What a scalar is: a text, a number, a truth or None; `NOT_KNOWN` for an interpolation, a date, or what a tag of somebody's means."""
    text, tag = node.value, node.tag.removeprefix(TAG)
    if is_interpolated(text):
        return NOT_KNOWN
    if tag == "str":
        return text if node.style else _with_exponent(text)
    make = _CONSTRUCTORS.get(tag)
    if make is None or len(text) > LONGEST_NUMBER:
        return NOT_KNOWN
    try:
        return make(node)
    except (ValueError, KeyError, OverflowError):
        return NOT_KNOWN


def _with_exponent(text: str) -> str | float:
    """`1e-3`, which is text in YAML 1.1 and a number to OmegaConf, jsonargparse and YAML 1.2."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits[:1].isdecimal() and "e" in digits.lower() and digits.isascii() and len(digits) <= LONGEST_NUMBER):
        return text
    try:
        return float(text)
    except ValueError:
        return text


_SAFE: Final = yaml.constructor.SafeConstructor()
_CONSTRUCTORS: Final = {
    "null": _SAFE.construct_yaml_null,
    "bool": _SAFE.construct_yaml_bool,
    "int": _SAFE.construct_yaml_int,
    "float": _SAFE.construct_yaml_float,
}


def too_deep(text: str) -> bool:
    """Whether a text is nested so deeply that the parser takes minutes for it."""
    if any(_is_compact(line) for line in text.split("\n") if len(line) > _MOST_COMPACT):
        return True
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    return max(accumulate(1 if mark in "[{" else -1 for mark in text if mark in "[]{}")) > _DEEPEST


def _is_compact(line: str) -> bool:
    """Whether a line begins very many lists or tables within each other."""
    marks = 0
    for word in line.split():
        marks = marks + 1 if word in ("-", "?", ":") else 0
        if marks >= _MOST_COMPACT:
            return True
    return False


class Places:
    """Where nodes stand, in lines and in bytes of their UTF-8.

    Args:
        lines: those of the text, in UTF-8.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self._offsets: dict[int, list[int]] = {}
        """Of lines with other characters than ASCII, where each one begins in UTF-8."""

    def place(self, mark: yaml.Mark) -> Place:
        line = self.lines[mark.line] if mark.line < len(self.lines) else b""
        if line.isascii():
            return mark.line + 1, mark.column
        if mark.line not in self._offsets:
            sizes = (len(character.encode()) for character in line.decode())
            self._offsets[mark.line] = [*accumulate(sizes, initial=0)]
        offsets = self._offsets[mark.line]
        return mark.line + 1, offsets[min(mark.column, len(offsets) - 1)]
