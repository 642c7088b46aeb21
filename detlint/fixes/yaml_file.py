"""YAML files: a scalar, a key or an item is changed, and every other byte stays as it is."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Set
from functools import cached_property

import yaml

from detlint.catalog import Catalog
from detlint.fixes.fixable import Fixable
from detlint.fixes.launch_file import given_at, replaced, started_with
from detlint.fixes.recipe import Change, NoFix, Order
from detlint.fixes.text import Edit, Text, of_yaml
from detlint.fixes.yaml_rewrites import Rewrite, rewrite
from detlint.fixes.yaml_tree import Meant, Tree
from detlint.model.launches import yaml_facts
from detlint.model.launches.launch_facts import said


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
        directives = yaml_facts.read(self._data, "", self._catalog).directives
        return frozenset(d.line for d in directives if d.scope == "line" and not d.problem)

    def follow(self, order: Order) -> Change:
        try:
            name = order.api
            of_process = name in self._catalog.environment or name in self._catalog.commands
            found = self._given(order) if of_process else rewrite(self._tree, order, self._catalog)
        except RecursionError:
            raise NoFix("it is nested too deeply") from None
        if found is None:
            return Change([])
        self._meant[found.edit] = found.meant
        return Change([found.edit])

    def _given(self, order: Order) -> Rewrite:
        """What is done to what processes get: in a scalar, whatever that is.

        Raises:
            NoFix: it can't be done there.
        """
        found = said(os.path.basename(self.path), self._data, self._catalog)
        if order.recipe.kind == "set-argument":
            edit = started_with(self.text, found, order)
        else:
            edit, _ = replaced(self.text, given_at(found, order), order)
        new = Tree(Text(self.text.edited_text([edit])))
        pairs = zip(self._tree.nodes, new.nodes, strict=True) if len(new.nodes) == len(self._tree.nodes) else ()
        changed = [
            Meant(old, 0, [(now.tag, now.value)])
            for old, now in pairs
            if isinstance(old, yaml.ScalarNode) and (old.tag, old.value) != (now.tag, now.value)
        ]
        if len(changed) != 1:
            raise NoFix("the file would say something else")
        return Rewrite(edit, changed[0])

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
        data = self.text.edited(edits)
        if self.path.endswith(".json"):
            try:
                json.loads(data)
            except ValueError:
                raise NoFix("it would be no JSON") from None
        return data
