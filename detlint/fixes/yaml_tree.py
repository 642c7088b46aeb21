"""The nodes of a YAML file: where they stand in the text, what holds them, and what they would be after a change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from detlint.facts.model import Span
from detlint.facts.yaml_file import UNKNOWN, composed, nodes_of
from detlint.facts.yaml_text import of_lines
from detlint.fixes.recipe import NoFix
from detlint.fixes.text import Text

Pair = tuple[yaml.Node, yaml.Node]
_TAG: Final = re.compile(r"![^\s,\]}]+")
_TEMPLATE: Final = re.compile(r"\{\{|\{%|<%")


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

    # -- what stands somewhere ----------------------------------------------------------------------------------

    def pair_at(self, span: Span) -> tuple[yaml.MappingNode, Pair] | None:
        """The key that stands at a span, with its value and the table that they are in."""
        at = self.text.offset(span.line, span.column)
        tables = (node for node in self.nodes if isinstance(node, yaml.MappingNode))
        return next(
            ((table, (key, value)) for table in tables for key, value in table.value if self.start(key) == at), None
        )

    def tagged_at(self, span: Span) -> yaml.Node | None:
        """The node whose tag stands at a span."""
        at = self.text.offset(span.line, span.column)
        for node in self.nodes:
            if node.tag.startswith("!"):
                found = _TAG.search(self.text.text, self.start(node))
                if found is not None and found.start() == at:
                    return node
        return None

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
        if UNKNOWN.match(node.value) or _TEMPLATE.search(node.value):
            raise NoFix("its value is looked up elsewhere")
        if self.source(node)[:1] in ("&", "!"):
            raise NoFix("its value has a tag or an anchor")
        return node

    # -- changes ------------------------------------------------------------------------------------------------

    def plain(self, changes: Mapping[int, Any]) -> list[Any]:
        """What the documents say, without their layout.

        Args:
            changes: what some nodes, by identity, would be instead: a scalar of them `scalar`, the pairs of a mapping, the
                items of a sequence.
        """
        seen: dict[int, int] = {}
        return [self._plain(document, changes, seen) for document in self.documents]

    def _plain(self, node: Any, changes: Mapping[int, Any], seen: dict[int, int]) -> Any:
        if not isinstance(node, yaml.Node):
            return node
        if id(node) in seen:
            return "*", seen[id(node)]
        if self._uses[id(node)] > 1:
            seen[id(node)] = len(seen)
        value = changes.get(id(node), node.value)
        if isinstance(node, yaml.ScalarNode):
            return value if id(node) in changes else (node.tag, value)
        if isinstance(node, yaml.MappingNode):
            return node.tag, *((self._plain(k, changes, seen), self._plain(v, changes, seen)) for k, v in value)
        return node.tag, *(self._plain(item, changes, seen) for item in value)


def _children(node: yaml.Node) -> Sequence[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else ()
