"""Calls as LibCST nodes: their arguments found, set and taken out, with the layout that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from detlint.fixes.recipe import NoFix, Parameters

NO_SPACES: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
COMMA: Final = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def parse(text: str) -> cst.BaseExpression:
    """An expression as it stands in a file, perhaps over several lines.

    Raises:
        NoFix: LibCST doesn't know its syntax.
    """
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        pass
    except (RecursionError, ValueError):
        raise NoFix("the expression can't be parsed") from None
    try:
        node = cst.parse_expression(f"({text}\n)")
    except (cst.ParserSyntaxError, RecursionError, ValueError):
        raise NoFix("the expression can't be parsed") from None
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])


def written(node: cst.CSTNode) -> str:
    """A node as source."""
    return cst.Module([]).code_for_node(node)


def dotted(node: cst.BaseExpression) -> str:
    """A name with its attributes, "" for any other expression."""
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    return ".".join([node.value, *reversed(parts)]) if isinstance(node, cst.Name) else ""


def find(call: cst.Call, parameters: Parameters, name: str) -> int | None:
    """The position of an argument among those of a call; None where it isn't given.

    Raises:
        NoFix: a splat may give it.
    """
    keywords = [i for i, arg in enumerate(call.args) if arg.keyword is not None and arg.keyword.value == name]
    if keywords:
        return keywords[0]
    order = []
    for parameter, _ in parameters:
        if parameter.startswith("*"):
            break
        order.append(parameter)
    place = order.index(name) if name in order else -1
    for i, arg in enumerate(call.args):
        if arg.star == "**" or (arg.star == "*" and place >= i):
            raise NoFix(f"`{written(arg.value)}` may hold `{name}`")
        if arg.star == "*" or arg.keyword is not None:
            continue
        if i == place:
            return i
        if not parameters:
            raise NoFix(f"which argument `{name}` is isn't known")
    return None


def argument(call: cst.Call, parameters: Parameters, name: str) -> cst.BaseExpression | None:
    """What a call gives for a parameter."""
    place = find(call, parameters, name)
    return None if place is None else call.args[place].value


def with_argument(call: cst.Call, parameters: Parameters, name: str, value: cst.BaseExpression) -> cst.Call:
    """A call with an argument set: instead of the one that it gives, as the only one where it is the first parameter
    (`Dropout(0.0)`), or as a keyword after the others."""
    place = find(call, parameters, name)
    args = [*call.args]
    if place is not None:
        args[place] = args[place].with_changes(value=value)
        return call.with_changes(args=args)
    if not args and parameters and parameters[0][0] == name:
        return call.with_changes(args=[cst.Arg(value)])
    new = cst.Arg(value, cst.Name(name), equal=NO_SPACES)
    if args:
        last = args[-1]
        # What stands behind the last argument, the line break before the parenthesis too, stands behind the new one.
        between, comma = _parted(_separator(args, call.whitespace_before_args), last.comma)
        between, after = _with_comment(between, last.whitespace_after_arg)
        new = new.with_changes(comma=comma, whitespace_after_arg=after)
        args[-1] = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*args, new])


def _with_comment(
    between: cst.Comma, behind: cst.BaseParenthesizableWhitespace
) -> tuple[cst.Comma, cst.BaseParenthesizableWhitespace]:
    """A comma before a line break, with the comment on the line of what is before it; and what stands behind that, without it."""
    here = between.whitespace_after
    if not isinstance(here, cst.ParenthesizedWhitespace) or not isinstance(behind, cst.ParenthesizedWhitespace):
        return between, behind
    line = behind.first_line
    if line.comment is None:
        return between, behind
    without = line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
    between = between.with_changes(whitespace_after=here.with_changes(first_line=line))
    return between, behind.with_changes(first_line=without)


def _parted(
    between: cst.Comma, comma: cst.Comma | cst.MaybeSentinel
) -> tuple[cst.Comma, cst.Comma | cst.MaybeSentinel]:
    """The same of a comma behind the last one."""
    if not isinstance(comma, cst.Comma):
        return between, comma
    between, after = _with_comment(between, comma.whitespace_after)
    return between, comma.with_changes(whitespace_after=after)


def _separator(parts: Sequence[cst.Arg | cst.BaseDictElement], opening: cst.BaseParenthesizableWhitespace) -> cst.Comma:
    """The comma between arguments, or items, with the line break that stands there, or before the first of them; no comments."""
    first = parts[0].comma if len(parts) > 1 else None
    after = first.whitespace_after if isinstance(first, cst.Comma) else opening
    if not isinstance(after, cst.ParenthesizedWhitespace):
        return COMMA
    line = after.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
    return cst.Comma(whitespace_after=after.with_changes(first_line=line, empty_lines=[]))


def without_argument(call: cst.Call, parameters: Parameters, name: str) -> cst.Call:
    """A call with an argument left out.

    Raises:
        NoFix: others behind it are given by position.
    """
    place = find(call, parameters, name)
    if place is None:
        return call
    args = [*call.args]
    if args[place].keyword is None and any(arg.keyword is None for arg in args[place + 1 :]):
        raise NoFix(f"`{name}` is given by position, with others behind it")
    gone = args.pop(place)
    if place == len(args) and args:
        args[-1] = args[-1].with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
    return call.with_changes(args=args)


def item_of(table: cst.Dict, key: str) -> int | None:
    """The position of an item of a dictionary display, by its literal key.

    Raises:
        NoFix: a splat may hold it.
    """
    for i, element in enumerate(table.elements):
        if isinstance(element, cst.StarredDictElement):
            raise NoFix(f"`{written(element.value)}` may hold `{key}`")
        if (
            isinstance(element, cst.DictElement)
            and isinstance(element.key, cst.SimpleString)
            and element.key.evaluated_value == key
        ):
            return i
    return None


def exchanged(node: cst.BaseExpression, old: cst.BaseExpression, new: cst.BaseExpression) -> cst.BaseExpression:
    """An expression with a part of it exchanged."""
    changed = node.deep_replace(old, new)
    assert isinstance(changed, cst.BaseExpression)
    return changed


def with_item(table: cst.Dict, key: str, value: cst.BaseExpression) -> cst.Dict:
    """A dictionary display with an item set."""
    place = item_of(table, key)
    elements = [*table.elements]
    if place is not None:
        elements[place] = elements[place].with_changes(value=value)
        return table.with_changes(elements=elements)
    quote = next(
        (e.key.quote for e in elements if isinstance(e, cst.DictElement) and isinstance(e.key, cst.SimpleString)), '"'
    )
    new = cst.DictElement(cst.SimpleString(f"{quote}{key}{quote}"), value)
    if elements:
        last = elements[-1]
        between, comma = _parted(_separator(elements, table.lbrace.whitespace_after), last.comma)
        between, before = _with_comment(between, table.rbrace.whitespace_before)
        table = table.with_changes(rbrace=table.rbrace.with_changes(whitespace_before=before))
        new = new.with_changes(comma=comma)
        elements[-1] = last.with_changes(comma=between)
    return table.with_changes(elements=[*elements, new])


def plain(node: cst.BaseExpression) -> bool:
    """Whether an expression can stand twice: a name, or attributes and constant items of one."""
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        if isinstance(node, cst.Subscript) and not all(
            isinstance(element.slice, cst.Index)
            and isinstance(element.slice.value, (cst.Integer, cst.SimpleString, cst.Name))
            for element in node.slice
        ):
            return False
        node = node.value
    return isinstance(node, cst.Name)


_PURE: Final = frozenset({"abs", "float", "int", "len", "list", "max", "min", "round", "str", "sum", "tuple"})
_ACTING: Final = (cst.Await, cst.NamedExpr, cst.Yield, cst.Lambda, cst.BaseComp)


def repeatable(node: cst.CSTNode) -> bool:
    """Whether an expression can stand twice at little cost: it calls nothing but some functions for numbers."""
    acts = isinstance(node, _ACTING) or (isinstance(node, cst.Call) and dotted(node.func) not in _PURE)
    return not acts and all(repeatable(child) for child in node.children)


def attached(node: cst.BaseExpression) -> str:
    """An expression as source that an attribute can follow."""
    text = written(node)
    simple = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.Dict)
    return text if isinstance(node, simple) or node.lpar else f"({text})"


def operand(node: cst.BaseExpression) -> str:
    """An expression as source that an operator can stand beside."""
    return written(node) if isinstance(node, (cst.BaseNumber, cst.BaseString)) else attached(node)
