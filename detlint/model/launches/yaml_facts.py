"""Reads the facts of a YAML file: what it says is to be built (`_target_: torch.nn.Dropout`), as sites like those of Python."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Final

import yaml
from msgspec import Raw

from detlint.catalog import Catalog, Factory, SettingsFile
from detlint.ir.yaml_nodes import (
    MERGE,
    NOT_KNOWN,
    TAG,
    Pairs,
    Place,
    Places,
    composed,
    literal,
    nodes_of,
    pairs_of,
    too_deep,
)
from detlint.ir.yaml_text import decoded, lines_of
from detlint.model.factories import arguments, kind_of, named
from detlint.model.sites.reading.values import LONGEST_DISPLAY, constant
from detlint.model.sites.reading.words import mentions
from detlint.model.sites.records import (
    ENCODER,
    Arg,
    Body,
    Const,
    Detail,
    Facts,
    Function,
    Items,
    Mapping,
    Partial,
    Ref,
    Result,
    Site,
    SiteKind,
    Span,
    Value,
)
from detlint.sources.directives import Directive, may_hold, of_comment
from detlint.sources.parse import Problem

REFERENCE: Final = "!ref"
"""The tag of what stands for another key's value (`!ref <seed>`)."""
_BEHIND_TAGS: Final = frozenset(b" \t\r\f\v,]}")
"""What a tag ends before."""
_TEMPLATE: Final = ("{{", "{%", "<%")
"""What templates have (Jinja, Helm, ERB): they need be no YAML before they are filled in."""


def read(data: bytes, module: str, catalog: Catalog) -> Facts:
    """The facts of one file.

    Args:
        data: the file's bytes.
        module: what to call it.
        catalog: tells which keys and tags name what is built, and which names can make a site.

    Never raises on account of the input: a file that is no YAML has a `problem` and nothing else. A template has nothing.
    """
    try:
        text = decoded(data)
    except UnicodeDecodeError as error:
        return Facts(
            module, problem=Problem("can't be parsed: it is not in UTF-8", data.count(b"\n", 0, error.start) + 1)
        )
    if too_deep(text):
        return Facts(module, problem=Problem("can't be parsed: it is nested too deeply"))
    try:
        documents = composed(text)
    except yaml.YAMLError as error:
        return Facts(module, problem=None if any(mark in text for mark in _TEMPLATE) else _problem(error))
    try:
        return _Reader(text, module, catalog).file(documents)
    except RecursionError:
        return Facts(module, problem=Problem("can't be analysed: it is nested too deeply"))


def argument_span(data: bytes, at: Span, name: str) -> Span | None:
    """Where the argument `name` stands of what is named at `at`; None where it isn't given there."""
    places, named = _named_in(data)
    for first, beside in named.get((at.line, at.column), ()):
        tables = (first, beside, *(other for _, other in beside.value))
        pairs = (pairs_of(node) for node in tables if isinstance(node, yaml.MappingNode))
        found = next((found[name] for found in pairs if name in found), None)
        if found is not None:
            return places.span(*found)
    return None


@lru_cache(maxsize=2)
def _named_in(data: bytes) -> tuple[_Places, dict[Place, list[tuple[yaml.Node, yaml.MappingNode]]]]:
    """The places of keys and tags -> what the key leads to and the table that it is in, or the table with the tag: there, or in a
    table beside the key, may the arguments stand of what is named."""
    places, named = _Places([]), dict[Place, list[tuple[yaml.Node, yaml.MappingNode]]]()
    try:
        text = decoded(data)
        documents = composed(text)
    except (yaml.YAMLError, UnicodeDecodeError):
        return places, named  # it has changed since it was read
    places = _Places(lines_of(text))
    for table in (node for document in documents for node in nodes_of(document)):
        if isinstance(table, yaml.MappingNode):
            tag = places.tag(table)
            if tag is not None:
                named.setdefault((tag.line, tag.column), []).append((table, yaml.MappingNode("", [])))
            for key, value in table.value:
                named.setdefault(places.place(key.start_mark), []).append((value, table))
    return places, named


class _Reader:
    """The state of reading one file."""

    def __init__(self, text: str, module: str, catalog: Catalog) -> None:
        self.text = text
        self.module = module
        self.catalog = catalog
        self.sections = catalog.sections.keys()
        self.places = _Places(lines_of(text))
        self.sites: list[Site] = []
        self.imports: set[str] = set()
        self.builds: set[str] = set()
        self.known: dict[int, Pairs] = {}
        """The keys of mappings, by identity."""
        self.named: dict[str, yaml.Node] = {}
        """What the keys at the top of the document have."""
        self.values: dict[int, Value | None] = {}
        """What nodes are, by identity: one that aliases lead to is one thing."""

    def file(self, documents: list[yaml.Node]) -> Facts:
        for document in documents:
            nodes = [*nodes_of(document)]
            top = self.pairs(document) if isinstance(document, yaml.MappingNode) else {}
            self.named = {name: value for name, (_, value) in top.items()}
            for kind in self.catalog.settings_files:
                if isinstance(document, yaml.MappingNode) and self.is_of(kind, nodes):
                    self.settings(kind, document)
            for node in nodes:
                if self.factory(node) is not None:
                    self.value(node)
                if isinstance(node, yaml.MappingNode) and not self.sections.isdisjoint(self.pairs(node)):
                    self.section(node)
        scalars = (
            node.value for document in documents for node in nodes_of(document) if isinstance(node, yaml.ScalarNode)
        )
        called = tuple(number for number, site in enumerate(self.sites) if site.kind in ("call", "registry"))
        body = Body(tuple(self.sites), (called,), (Detail(),))
        return Facts(
            self.module,
            imports=tuple(sorted(self.imports)),
            directives=tuple(self.directives(documents)),
            lines=len(self.places.lines),
            builds=tuple(sorted(self.builds)),
            functions=(Function("", ""),),
            mentions=mentions(scalars),
            body=Raw(ENCODER.encode(body)),
        )

    def is_of(self, kind: SettingsFile, nodes: list[yaml.Node]) -> bool:
        """Whether a document is of a kind, by its keys."""
        marks = {mark for mark in kind.marks if mark in self.text}
        tables = (node for node in nodes if isinstance(node, yaml.MappingNode)) if marks else ()
        return any(not marks.isdisjoint(self.pairs(table)) for table in tables)

    def settings(self, kind: SettingsFile, document: yaml.MappingNode) -> None:
        """Keys that mean something by their name, at the top or below a subcommand."""
        top = self.pairs(document)
        held = [top[key][1] for key in kind.under if key in top]
        for pairs in (top, *(self.pairs(table) for table in held if isinstance(table, yaml.MappingNode))):
            for name, (key, value) in pairs.items():
                if f"{kind.name}.{name}" in self.catalog.settings:
                    target, args = Ref(f"{kind.name}.{name}"), (Arg("value", self.value(value)),)
                    self.site("setting", target, args, self.places.span(key, value))
                elif name in kind.calls and isinstance(value, yaml.MappingNode) and self.factory(value) is None:
                    api = kind.calls[name]
                    self.imports.add(api)
                    given = tuple(Arg(k, self.value(v)) for k, (_, v) in self.pairs(value).items())
                    self.site("call", Ref(api), given, self.places.span(key, key))

    def section(self, table: yaml.MappingNode) -> None:
        """Settings under a name that the catalog knows: `randomness: {seed: null}`."""
        for name, (key, value) in self.pairs(table).items():
            if name in self.sections and isinstance(value, yaml.MappingNode) and self.factory(value) is None:
                args = tuple(Arg(k, self.value(v)) for k, (_, v) in self.pairs(value).items())
                self.site("section", Ref(name), args, self.places.span(key, key))

    def site(self, kind: SiteKind, target: Ref, args: tuple[Arg, ...], span: Span) -> int:
        self.sites.append(Site(kind, target, args, span, 0))
        return len(self.sites) - 1

    def pairs(self, table: yaml.MappingNode) -> Pairs:
        """The keys of a mapping with their nodes."""
        if id(table) not in self.known:
            self.known[id(table)] = pairs_of(table)
        return self.known[id(table)]

    # -- what nodes are -----------------------------------------------------------------------------------------

    def value(self, node: yaml.Node) -> Value | None:
        """What a node is; a table that says what is to be built from it is the object, and a site."""
        key = id(node)
        if key not in self.values:
            self.values[key] = None  # until it is known: what leads back to itself is nothing that is known
            self.values[key] = self.look(node)
        return self.values[key]

    def look(self, node: yaml.Node) -> Value | None:
        factory = self.factory(node)
        if factory is not None:
            return self.built(factory, node)
        if isinstance(node, yaml.ScalarNode) and node.tag == REFERENCE:
            return self.value(self.named[name]) if (name := node.value.strip("<>")) in self.named else None
        if isinstance(node, yaml.ScalarNode):
            return scalar(node)
        if len(node.value) > LONGEST_DISPLAY or not node.tag.startswith(TAG):
            return None
        if isinstance(node, yaml.SequenceNode):
            return Items(tuple(self.value(item) for item in node.value))
        return self.table(self.pairs(node)) if isinstance(node, yaml.MappingNode) else None

    def table(self, pairs: Pairs) -> Mapping:
        return Mapping(tuple(pairs), tuple(self.value(value) for _, value in pairs.values()))

    def factory(self, node: yaml.Node) -> Factory | None:
        """How a node says what is to be built from it."""
        if node.tag.startswith("!"):
            return self.catalog.factory_tags.get(node.tag.partition(":")[0] + ":")
        if isinstance(node, yaml.MappingNode):
            keys = self.catalog.factory_keys
            return next((keys[key] for key in self.pairs(node) if key in keys), None)
        return None

    def built(self, factory: Factory, node: yaml.Node) -> Value | None:
        if node.tag.startswith("!"):
            return self.tagged(factory, node)
        assert isinstance(node, yaml.MappingNode)
        pairs = self.pairs(node)
        key, value = pairs[factory.key]
        table = self.table(pairs)
        args = arguments(factory, table)
        what = self.value(value)
        target = (
            named(factory, what.value, self.catalog)
            if isinstance(what, Const) and isinstance(what.value, str)
            else None
        )
        if target is None or args is None:
            return table
        return (
            self.noted(
                kind_of(factory, target, table, self.catalog), target, args, self.places.naming(node, key, value)
            )
            or table
        )

    def tagged(self, factory: Factory, node: yaml.Node) -> Value | None:
        """`!new:torch.nn.Dropout`, with its arguments as a table, as a list, or without any."""
        tag, _, name = node.tag.partition(":")
        args: tuple[Arg, ...] = ()
        if isinstance(node, yaml.MappingNode):
            args = tuple(Arg(key, self.value(value)) for key, (_, value) in self.pairs(node).items())
        elif isinstance(node, yaml.SequenceNode):
            args = tuple(Arg("", self.value(value)) for value in node.value)
        target = named(factory, name, self.catalog)
        if target is None:
            return None
        kind: SiteKind = "partial" if f"{tag}:" in factory.partial_tags else "call"
        return self.noted(kind, target, args, self.places.tag(node) or self.places.span(node, node))

    def noted(self, kind: SiteKind, target: Ref, args: tuple[Arg, ...], span: Span) -> Value | None:
        """The object that is built, and its site; None for what a registry builds, of which only the table is known."""
        if kind == "registry":
            self.builds.add(target.name)
            self.site(kind, target, args, span)
            return None
        self.imports.add(target.name)
        site = self.site(kind, target, args, span)
        return Partial(target, site) if kind == "partial" else Result(target, site)

    # -- comments -----------------------------------------------------------------------------------------------

    def directives(self, documents: Iterable[yaml.Node]) -> Iterator[Directive]:
        """The suppression comments. What stands in a scalar is none."""
        if not may_hold(self.text.encode("utf-8", "replace")):
            return
        nodes = (node for document in documents for node in nodes_of(document))
        place_of = self.places.place
        scalars = sorted(
            ((place_of(n.start_mark), place_of(n.end_mark), n.style) for n in nodes if isinstance(n, yaml.ScalarNode)),
            key=itemgetter(0, 1),
        )
        for number, line in enumerate(self.places.lines, 1):
            for start in _comments(line):
                place = (number, start)
                before = bisect_right(scalars, place, key=itemgetter(0)) - 1
                if before < 0 or not _holds(scalars[before], place):
                    yield from of_comment(line[start:].decode("utf-8", "replace"), *place)
                    break


def _comments(line: bytes) -> Iterator[int]:
    """Where in a line a comment may begin."""
    at = line.find(b"#")
    while at >= 0:
        if at == 0 or line[at - 1] in b" \t":
            yield at
        at = line.find(b"#", at + 1)


def _holds(scalar: tuple[Place, Place, str | None], place: Place) -> bool:
    """Whether a scalar that begins before a place holds it; the line that a block (`|`) begins on may end with a comment."""
    start, end, style = scalar
    return place < end and not (style in ("|", ">") and place[0] == start[0])


class _Places(Places):
    """Where sites stand."""

    def span(self, first: yaml.Node, last: yaml.Node) -> Span:
        """From a key to the end of its value; of the key alone where an alias stands for the value, or it is a table."""
        start, end = self.place(first.start_mark), self.place(last.end_mark)
        if end < start or (end[0] > start[0] and not isinstance(last, yaml.ScalarNode)):
            end = self.place(first.end_mark)
        return Span(*start, *end)

    def naming(self, table: yaml.MappingNode, key: yaml.ScalarNode, value: yaml.Node) -> Span:
        """Where a table says what is built: its own key, or the merge (`<<`) that brings it."""
        if any(own is key for own, _ in table.value):
            return self.span(key, value)
        merge = next(own for own, _ in table.value if own.tag == MERGE)
        return self.span(merge, merge)

    def tag(self, node: yaml.Node) -> Span | None:
        """The tag that a node begins with."""
        if not node.tag.startswith("!"):
            return None
        line, column = self.place(node.start_mark)
        text = self.lines[line - 1] if line <= len(self.lines) else b""
        start = text.find(b"!", column)
        end = next((at for at in range(start, len(text)) if text[at] in _BEHIND_TAGS), len(text))
        return Span(line, start, line, end) if 0 <= start < end - 1 else None


def scalar(node: yaml.ScalarNode) -> Value | None:
    """A literal; None for an interpolation, a date, or what a tag of somebody's means."""
    found = literal(node)
    return constant(found) if found is not NOT_KNOWN else None


def _problem(error: yaml.YAMLError) -> Problem:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        reason = error.problem or error.context or "it is no YAML"
        return Problem(f"can't be parsed: {reason}", mark.line + 1, mark.column)
    return Problem(f"can't be parsed: {str(error).partition(chr(10))[0]}")
