"""YAML files: a scalar, a key or an item is changed, and every other byte stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Set
from functools import cached_property

import yaml

from detlint.catalog import Catalog
from detlint.facts import yaml_file
from detlint.fixes.fixable import Fixable
from detlint.fixes.recipe import Change, NoFix, Order
from detlint.fixes.text import Edit, Text, of_yaml
from detlint.fixes.yaml_rewrites import rewrite
from detlint.fixes.yaml_tree import Meant, Tree


class YamlFile(Fixable):
    """A YAML file.

    Args:
        path: its name.
        data: its bytes.
        catalog: tells how configurations name what they build.

    Raises:
        Undecodable: the bytes are neither in UTF-8 nor in what a byte order mark says.
    """

    def __init__(self, path: str, data: bytes, catalog: Catalog) -> None:
        super().__init__(path, of_yaml(data))
        self._data = data
        self._catalog = catalog
        self._meant: dict[Edit, Meant] = {}
        """What the edits that were planned are to mean."""

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self.text)

    @cached_property
    def suppressed(self) -> Set[int]:
        directives = yaml_file.read(self._data, "", self._catalog).directives
        return frozenset(d.line for d in directives if d.scope == "line" and not d.problem)

    def follow(self, order: Order) -> Change:
        try:
            found = rewrite(self._tree, order, self._catalog)
        except RecursionError:
            raise NoFix("it is nested too deeply") from None
        if found is None:
            return Change([])
        self._meant[found.edit] = found.meant
        return Change([found.edit])

    def apart(self, edit: Edit, other: Edit) -> bool:
        """Two keys that are put in one place may be the same. What is last goes alone, so that something always stays."""
        if edit != other and self._empties(self._meant[edit], self._meant[other]):
            return False
        return edit == other or edit.end < other.start or other.end < edit.start

    def _empties(self, one: Meant, other: Meant) -> bool:
        """Whether two members of one table or list go, the last among them."""
        gone = one.node is other.node and isinstance(one.node, yaml.CollectionNode) and not one.new and not other.new
        return gone and len(one.node.value) - 1 in (one.place, other.place)

    def edited(self, edits: Collection[Edit]) -> bytes:
        new = Tree(Text(self.text.edited_text(edits)))
        if new.plain() != self._tree.plain(self._meant[edit] for edit in edits):
            raise NoFix("the file would say something else")
        return self.text.edited(edits)
