"""The rewrites of YAML: an argument is set, left out, or an item of a list is, where a configuration says so."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import yaml

from detlint.catalog import Catalog, Scalar
from detlint.fixes.recipe import NoFix, Order
from detlint.fixes.removal import on_lines
from detlint.fixes.text import Edit
from detlint.fixes.yaml_tree import BEGIN, BOOL, END, Meant, Said, Tree
from detlint.ir.yaml_nodes import MERGE, composed, pairs_of

_BLOCK_LEAD: Final = re.compile(r" *(?:- +)*")
"""What may stand on a line before a key of a block."""
_STR: Final = "tag:yaml.org,2002:str"
_MAP: Final = "tag:yaml.org,2002:map"


class Rewrite(NamedTuple):
    """An edit, and what it is to mean."""

    edit: Edit
    meant: Meant


@dataclass
class Named:
    """What a configuration names, and its arguments.

    Attributes:
        node: the table, or what has the tag.
        tables: those that hold its arguments.
        listed: the arguments by position.
        home: the key that a table of arguments has beside the name, where there is none yet.
        value: where a setting is named: what it is set to.
    """

    node: yaml.Node
    tables: list[yaml.MappingNode] = field(default_factory=list)
    listed: yaml.SequenceNode | None = None
    home: str = ""
    value: tuple[yaml.Node, yaml.Node] | None = None


def rewrite(tree: Tree, order: Order, catalog: Catalog) -> Rewrite | None:
    """What following a recipe does; None where all is as it should be.

    Raises:
        NoFix: it can't be followed here.
    """
    kind = KINDS.get(order.recipe.kind)
    if kind is None or (order.recipe.text and order.recipe.kind != "start-run"):
        raise NoFix("it takes Python")
    return kind(tree, order, _named(tree, order, catalog))


def _named(tree: Tree, order: Order, catalog: Catalog) -> Named:
    tagged = tree.tagged_at(order.span)
    if isinstance(tagged, yaml.MappingNode):
        return Named(tagged, [tagged])
    if tagged is not None:
        return Named(tagged, listed=tagged if isinstance(tagged, yaml.SequenceNode) else None)
    found = tree.pair_at(order.span)
    if found is None or found[1][0].tag == MERGE:
        raise NoFix("what it names stands elsewhere")
    table, (key, value) = found
    factory = catalog.factory_keys.get(key.value) if isinstance(key, yaml.ScalarNode) else None
    if factory is None or not isinstance(value, yaml.ScalarNode):
        if isinstance(value, yaml.MappingNode):
            return Named(value, [value])
        return Named(table, value=(key, value))
    own, every = _own(table), pairs_of(table)
    listed = own.get(factory.positional, (None, None))[1]
    if factory.positional in every and not isinstance(listed, yaml.SequenceNode):
        raise NoFix("its arguments stand elsewhere")
    held = [own[name][1] if name in own else None for name in factory.arguments if name in every]
    tables = [node for node in held if isinstance(node, yaml.MappingNode)]
    if len(tables) < len(held):
        raise NoFix("its arguments stand elsewhere")
    if not factory.arguments:
        tables = [table]
    return Named(
        table,
        tables,
        listed if isinstance(listed, yaml.SequenceNode) else None,
        "" if tables else factory.arguments[0],
    )


def _own(table: yaml.MappingNode) -> dict[str, tuple[int, yaml.Node]]:
    """The keys of a table that it doesn't merge, with their positions and values."""
    return {
        key.value: (i, value)
        for i, (key, value) in enumerate(table.value)
        if isinstance(key, yaml.ScalarNode) and key.tag != MERGE
    }


def _find(named: Named, order: Order) -> tuple[yaml.MappingNode, int] | tuple[yaml.SequenceNode, int] | None:
    """The table or list that holds the recipe's argument, and its position there; None where it isn't given.

    Raises:
        NoFix: it is merged, or which of those by position it is isn't known.
    """
    name = order.recipe.argument
    for table in named.tables:
        own = _own(table)
        if name in own:
            return table, own[name][0]
        if name in pairs_of(table):
            raise NoFix("a merge brings it")
    if named.listed is not None and named.listed.value:
        if not order.parameters:
            raise NoFix(f"which argument `{name}` is isn't known")
        names = [parameter for parameter, _ in order.parameters]
        names = names[: next((i for i, parameter in enumerate(names) if parameter.startswith("*")), len(names))]
        if name in names and names.index(name) < len(named.listed.value):
            return named.listed, names.index(name)
    return None


# -- values ---------------------------------------------------------------------------------------------------------


def _replaced(tree: Tree, key: yaml.Node | None, node: yaml.Node, value: Scalar, seed: int) -> Rewrite | None:
    """Another scalar instead of one; where there is none behind a key, it is put there."""
    old = tree.literal(node)
    text = _spelled(tree, seed if value == "{seed}" else value, old)
    start, end = tree.start(node), tree.end(node)
    meant = Meant(node, 0, [_meaning(text)])
    if start < end:
        return Rewrite(Edit(start, end, text), meant) if _meaning(text) != (old.tag, old.value) else None
    colon = re.compile(r"[ \t]*:").match(tree.text.text, tree.end(key)) if key is not None else None
    if colon is None:
        raise NoFix("it has no value")
    return Rewrite(Edit(colon.end(), colon.end(), f" {text}"), meant)


def _spelled(tree: Tree, value: Scalar, old: yaml.ScalarNode | None) -> str:
    """A value as YAML that may stand anywhere, written as the file writes its kind."""
    if isinstance(value, str) and old is not None and old.tag == _STR and old.style in ("'", '"'):
        return json.dumps(value, ensure_ascii=False) if old.style == '"' else "'" + value.replace("'", "''") + "'"
    text: str = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=math.inf).strip()[1:-1]
    if isinstance(value, bool):
        like = old if old is not None and old.tag == BOOL else tree.boolean
        text = next((f for f in (str.title, str.upper) if like is not None and like.value == f(like.value)), str)(text)
    return text


def _meaning(text: str) -> tuple[str, str]:
    """What a spelled scalar is."""
    node = composed(f"[{text}]")[0].value[0]
    return node.tag, node.value


# -- what is set ----------------------------------------------------------------------------------------------------


def _set_argument(tree: Tree, order: Order, named: Named) -> Rewrite | None:
    recipe = order.recipe
    if named.value is not None:
        raise NoFix("it takes no arguments")
    tree.own(named.node)
    found = _find(named, order)
    if found is not None:
        holder, place = found
        item = holder.value[place]
        key, node = item if isinstance(holder, yaml.MappingNode) else (None, item)
        return _replaced(tree, key, tree.own(node), recipe.value, order.seed)
    text = _spelled(tree, order.seed if recipe.value == "{seed}" else recipe.value, None)
    new = [(_STR, recipe.argument), _meaning(text)]
    if named.tables:
        return _added(tree, _table(tree, named.tables[0]), [(recipe.argument, text)], new)
    if not named.home:
        raise NoFix("it takes no named arguments")
    table = _table(tree, named.node)
    held = [(_STR, named.home), (_MAP, BEGIN), *new, END]
    return _added(tree, table, [(named.home, ""), (recipe.argument, text)], held)


def _table(tree: Tree, node: yaml.Node) -> yaml.MappingNode:
    own = tree.own(node)
    assert isinstance(own, yaml.MappingNode)
    return own


def _added(tree: Tree, table: yaml.MappingNode, keys: list[tuple[str, str]], new: Sequence[Said]) -> Rewrite:
    """A table with one more key.

    Args:
        keys: the key and what it is set to; where that is a table, the key, and that table's only one.
        new: the same as `Tree.plain` says it.
    """
    if table.flow_style:
        return _added_in_flow(tree, table, keys, new)
    first = tree.start(table.value[0][0])
    lead = tree.lead(first)
    if _BLOCK_LEAD.fullmatch(lead) is None:
        raise NoFix("it can't be told where its keys go")
    quote, newline = _quote(table), tree.text.newline
    lines = [
        f"{' ' * len(lead)}{'  ' * i}{quote}{key}{quote}:{f' {text}' if text else ''}"
        for i, (key, text) in enumerate(keys)
    ]
    places = [i for i, pair in enumerate(table.value) if _on_a_line(tree, *pair)]
    if not places:
        raise NoFix("it can't be told where its keys go")
    behind = table.value[places[-1]][1]
    rest = tree.rest(tree.end(behind))
    place = tree.end(behind) + len(rest)
    ended = rest.endswith(("\n", "\r"))
    text = newline.join([*lines, ""] if ended else ["", *lines])
    return Rewrite(Edit(place, place, text), Meant(table, places[-1], new))


def _on_a_line(tree: Tree, key: yaml.Node, value: yaml.Node) -> bool:
    """Whether a key and its value stand on a line of their own, but for a comment."""
    simple = isinstance(value, yaml.ScalarNode) and value.style not in ("|", ">")
    start, end = tree.end(key), tree.end(value)
    return (
        simple
        and start <= tree.start(value) < end
        and key.start_mark.line == value.end_mark.line
        and re.fullmatch(r"[ \t]*(?:[ \t]#.*)?", tree.rest(end).rstrip("\r\n")) is not None
    )


def _added_in_flow(tree: Tree, table: yaml.MappingNode, keys: list[tuple[str, str]], new: Sequence[Said]) -> Rewrite:
    quote = _quote(table)
    text = ""
    for key, value in reversed(keys):
        text = f"{quote}{key}{quote}: {value or f'{{{text}}}'}"
    if not table.value:
        if tree.source(table)[1:-1].strip():
            raise NoFix("it can't be told where its keys go")
        return Rewrite(Edit(tree.end(table) - 1, tree.end(table) - 1, text), Meant(table, -1, new))
    key, value = table.value[-1]
    if tree.start(value) < tree.end(key):
        raise NoFix("an alias stands before its place")
    between = ", "
    if len(table.value) > 1:
        between = tree.text.text[tree.end(table.value[-2][1]) : tree.start(key)]
    place = tree.end(value)
    edit = Edit(place, place, (between if re.fullmatch(r"\s*,\s*", between) else ", ") + text)
    return Rewrite(edit, Meant(table, len(table.value) - 1, new))


def _quote(table: yaml.MappingNode) -> str:
    """The quotes that a table's keys have."""
    style = table.value[0][0].style if table.value and isinstance(table.value[0][0], yaml.ScalarNode) else None
    return style if style in ("'", '"') else ""


def _replace_value(tree: Tree, order: Order, named: Named) -> Rewrite | None:
    """The value of a setting."""
    if named.value is None:
        raise NoFix("it is no setting")
    key, value = named.value
    return _replaced(tree, key, tree.own(value), order.recipe.value, order.seed)


# -- what is left out -----------------------------------------------------------------------------------------------


def _remove_argument(tree: Tree, order: Order, named: Named) -> Rewrite | None:
    tree.own(named.node)
    found = _find(named, order)
    if found is None:
        return None
    table, place = found
    if not isinstance(table, yaml.MappingNode):
        raise NoFix("it is given by position")
    return Rewrite(_without(tree, _table(tree, table).value, place, table, ""), Meant(table, place, []))


def _replace_item(tree: Tree, order: Order, named: Named) -> Rewrite | None:
    """Nothing instead of an item of a list. Elsewhere, and as the only item, the argument is set that turns it off."""
    listed = tree.holder(tree.own(named.node))
    if named.value is not None or not isinstance(listed, yaml.SequenceNode) or len(listed.value) == 1:
        if order.recipe.argument:
            return _set_argument(tree, order, named)
        raise NoFix("it stands in no list with others")
    place = next(i for i, item in enumerate(listed.value) if item is named.node)
    edit = _without(tree, [(item, item) for item in listed.value], place, listed, "-")
    return Rewrite(edit, Meant(listed, place, []))


def _without(tree: Tree, members: list[tuple[yaml.Node, yaml.Node]], place: int, holder: yaml.Node, mark: str) -> Edit:
    """What takes a pair or an item out of what holds it.

    Args:
        members: the first and the last node of each.
        mark: what stands before each in a block.
    """
    start, end = tree.start(members[place][0]), tree.last(members[place][1])
    if end < start:
        raise NoFix("an alias stands for it")
    flow = getattr(holder, "flow_style", False)
    if not flow and len(members) == 1:
        raise NoFix("nothing else stands beside it")
    lead = tree.lead(start)
    line = start - len(lead)
    following = tree.start(members[place + 1][0]) if place + 1 < len(members) else None
    if not flow and lead.strip() == mark:
        behind = end + len(tree.rest(end))
        margin = " " * (len(lead) - len(lead.lstrip()))
        ended = tree.text.end(tree.text.place(end)[0])
        return Edit(line, behind, on_lines(tree.comments(start, behind), margin, tree.text.newline, ended))
    if following is not None and (flow or not mark):
        edit = Edit(start, following, "")
    elif flow:
        edit = Edit(tree.end(members[place - 1][1]) if place else start, end, "")
    else:
        raise NoFix("it shares its line")
    if [*tree.comments(edit.start, edit.end)]:
        raise NoFix("a comment stands beside it")
    return edit


KINDS: Final[dict[str, Callable[[Tree, Order, Named], Rewrite | None]]] = {
    "set-argument": _set_argument,
    "remove-argument": _remove_argument,
    "replace-value": _replace_value,
    "set-default": _replace_value,
    "replace-item": _replace_item,
}
"""By the names that the catalog uses."""
