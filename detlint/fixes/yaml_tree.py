"""The nodes of a YAML file: where they stand in the text, what holds them, and what they would be after a change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import yaml

from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Text
from detlint.ir.yaml_nodes import composed, is_interpolated, nodes_of
from detlint.ir.yaml_text import of_lines
from detlint.model.sites.records import Span

BOOL: Final = "tag:yaml.org,2002:bool"
Said = tuple[str, str]
"""A tag, and what it is of: the text of a scalar, or `BEGIN`."""
BEGIN: Final = "begin"
END: Final = ("", "end")
Pair = tuple[yaml.Node, yaml.Node]
_TAG: Final = re.compile(r"![^\s,\]}]+")
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\r\n]*", re.M)
_TEMPLATE: Final = re.compile(r"\{\{|\{%|<%")


class Meant(NamedTuple):
    """What an edit is to mean.

    Attributes:
        node: what it changes.
        place: in a mapping or a sequence, the position of the member that is meant.
        new: as `Tree.plain` says it: what a scalar becomes, or what follows the member, which may be -1; nothing where the
            member goes.
    """

    node: yaml.Node
    place: int
    new: Sequence[Said]


def _members(node: yaml.Node, changes: Iterable[Meant]) -> Iterator[yaml.Node | Said]:
    """What is in a table or a list after some changes."""
    made = {change.place: change.new for change in changes}
    yield from made.get(-1, ())
    for place, member in enumerate(node.value):
        if place not in made or made[place]:
            yield from member if isinstance(member, tuple) else (member,)
        yield from made.get(place, ())


class Tree:
    """The documents of a file.

    Args:
        text: the file's.

    Raises:
        NoFix: it is no YAML.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        try:
            self.documents = composed(of_lines(text.text))
        except (yaml.YAMLError, RecursionError) as error:
            raise NoFix(f"the file can't be parsed: {error}") from None
        self.nodes = [node for document in self.documents for node in nodes_of(document)]
        self._parents = {id(child): node for node in self.nodes for child in _children(node)}
        self._uses = Counter(id(child) for node in self.nodes for child in _children(node))

    # -- places -------------------------------------------------------------------------------------------------

    def start(self, node: yaml.Node) -> int:
        """Where a node begins."""
        return self._offset(node.start_mark)

    def end(self, node: yaml.Node) -> int:
        """Where a node ends; of a block, where the next thing begins."""
        return self._offset(node.end_mark)

    def _offset(self, mark: yaml.Mark) -> int:
        starts = self.text.starts
        return starts[mark.line] + mark.column if mark.line < len(starts) else len(self.text.text)

    def last(self, node: yaml.Node) -> int:
        """Where the last that is written of a node ends."""
        if not isinstance(node, yaml.CollectionNode) or node.flow_style:
            return self.end(node)
        return max(map(self.last, _children(node)), default=self.end(node))

    def source(self, node: yaml.Node) -> str:
        """What is written for a node."""
        return self.text.text[self.start(node) : self.end(node)]

    def lead(self, offset: int) -> str:
        """What stands on a line before a place."""
        line = self.text.place(offset)[0]
        return self.text.text[self.text.starts[line - 1] : offset]

    def rest(self, offset: int) -> str:
        """What stands on a line behind a place, with the line's end."""
        line = self.text.place(offset)[0]
        return self.text.line(line)[offset - self.text.starts[line - 1] :]

    def comments(self, start: int, end: int) -> Iterator[str]:
        """The comments between two places."""
        scalars = [(self._content(node), self.end(node)) for node in self.nodes if isinstance(node, yaml.ScalarNode)]
        for found in _COMMENT.finditer(self.text.text, start, end):
            if not any(begin <= found.start() < behind for begin, behind in scalars):
                yield found[0]

    def _content(self, node: yaml.ScalarNode) -> int:
        """Where what a scalar says begins: behind the line with `|` or `>`, on which a comment may stand."""
        starts, line = self.text.starts, self.text.place(self.start(node))[0]
        return starts[line] if node.style in ("|", ">") and line < len(starts) else self.start(node)

    # -- what stands somewhere ----------------------------------------------------------------------------------

    def pair_at(self, span: Span) -> tuple[yaml.MappingNode, Pair] | None:
        """The key that stands at a span, with its value and the table that they are in."""
        return self._pairs.get(self.text.offset(span.line, span.column))

    @cached_property
    def _pairs(self) -> dict[int, tuple[yaml.MappingNode, Pair]]:
        tables = (node for node in self.nodes if isinstance(node, yaml.MappingNode))
        return {self.start(key): (table, (key, value)) for table in tables for key, value in table.value}

    def tagged_at(self, span: Span) -> yaml.Node | None:
        """The node whose tag stands at a span."""
        return self._tagged.get(self.text.offset(span.line, span.column))

    @cached_property
    def _tagged(self) -> dict[int, yaml.Node]:
        tagged = ((node, _TAG.search(self.text.text, self.start(node))) for node in self.nodes if node.tag[:1] == "!")
        return {found.start(): node for node, found in tagged if found is not None}

    @cached_property
    def boolean(self) -> yaml.ScalarNode | None:
        """The first boolean, which shows how the file writes them."""
        return next((n for n in self.nodes if isinstance(n, yaml.ScalarNode) and n.tag == BOOL), None)

    def holder(self, node: yaml.Node) -> yaml.Node | None:
        """The node that another is a child of."""
        return self._parents.get(id(node))

    def own(self, node: yaml.Node) -> yaml.Node:
        """The node, if it stands only where it is written.

        Raises:
            NoFix: it has an alias, or what holds it does.
        """
        held: yaml.Node | None = node
        while held is not None:
            if self._uses[id(held)] > 1:
                raise NoFix("an alias leads to it")
            held = self.holder(held)
        return node

    def literal(self, node: yaml.Node) -> yaml.ScalarNode:
        """A scalar that says what it is, on one line.

        Raises:
            NoFix: it is something else, is looked up when it is used, or has a tag or an anchor.
        """
        if not isinstance(node, yaml.ScalarNode):
            raise NoFix("its value is no single one")
        if node.style in ("|", ">") or node.start_mark.line != node.end_mark.line:
            raise NoFix("its value takes several lines")
        if is_interpolated(node.value) or _TEMPLATE.search(node.value):
            raise NoFix("its value is looked up elsewhere")
        if self.source(node)[:1] in ("&", "!"):
            raise NoFix("its value has a tag or an anchor")
        return node

    # -- changes ------------------------------------------------------------------------------------------------

    def plain(self, changes: Iterable[Meant] = ()) -> list[Said]:
        """What the documents say, without their layout: scalars, and where tables and lists begin and end.

        Args:
            changes: what is to become of them.
        """
        made: dict[int, list[Meant]] = {}
        for change in changes:
            made.setdefault(id(change.node), []).append(change)
        said, seen = list[Said](), dict[int, int]()
        waiting: list[yaml.Node | Said] = [*reversed(self.documents)]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, yaml.Node):
                said.append(node)
            elif id(node) in seen:
                said.append(("alias", str(seen[id(node)])))
            elif isinstance(node, yaml.ScalarNode):
                said += made[id(node)][0].new if id(node) in made else [(node.tag, node.value)]
            else:
                said.append((node.tag, BEGIN))
                waiting += [END, *reversed([*_members(node, made.get(id(node), ()))])]
            if isinstance(node, yaml.Node) and self._uses[id(node)] > 1:
                seen.setdefault(id(node), len(seen))
        return said


def _children(node: yaml.Node) -> Sequence[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else ()
