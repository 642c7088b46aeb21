"""YAML files: a scalar, a key or an item is changed, and every other byte stays as it is."""

from __future__ import annotations

from collections.abc import Collection, Set
from functools import cached_property

from detlint.catalog import Catalog
from detlint.facts import yaml_file
from detlint.fixes.fixable import Fixable
from detlint.fixes.recipe import Change, NoFix, Order
from detlint.fixes.text import Edit, Text, of_yaml
from detlint.fixes.yaml_rewrites import rewrite
from detlint.fixes.yaml_tree import Tree


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

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self.text)

    @cached_property
    def suppressed(self) -> Set[int]:
        directives = yaml_file.read(self._data, "", self._catalog).directives
        return frozenset(d.line for d in directives if d.scope == "line" and not d.problem)

    def follow(self, order: Order) -> Change:
        found = rewrite(self._tree, order, self._catalog)
        if found is None:
            return Change([])
        new = Tree(Text(self.text.edited_text([found.edit])))
        if new.plain({}) != self._tree.plain(found.changes):
            raise NoFix("it would change something else")
        return Change([found.edit])

    def apart(self, edit: Edit, other: Edit) -> bool:
        """Two keys that are put in one place may be the same."""
        return edit == other or edit.end < other.start or other.end < edit.start

    def edited(self, edits: Collection[Edit]) -> bytes:
        Tree(Text(self.text.edited_text(edits)))
        return self.text.edited(edits)
