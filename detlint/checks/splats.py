"""What a call passes by dictionaries that are put together and unpacked: `args = dict(radix=2, **kwargs)`, `build(Net, **args)`.

Of dictionaries into which others are put, facts keep what is surely in them. Whether the rest is what a definition is handed itself
is read here from its text, for the few sites that would be told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

import msgspec

from detlint.checks.guards import call_in
from detlint.facts.model import Arg, Const, Mapping, Parameter, Site, Span
from detlint.facts.nodes import walk
from detlint.facts.parse import tree

RUN_LATER: Final = frozenset({"target", "func", "function", "fn"})
"""What libraries call the parameter of a function that they run with keywords which they are handed, too."""
_HARMLESS: Final = frozenset({"get", "keys"})
"""Methods of a dictionary that leave it as it is, and give nobody all of it."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Keyword(NamedTuple):
    """What a call passes under a name."""

    value: Const | None
    """The literal that is written for it."""
    handed_on: bool = False
    """Whether it is what the function around it gets under the same name, and doesn't name itself: `f(**kwargs)`."""


def keyword(data: bytes, around: str, span: Span, name: str) -> Keyword | None:
    """What a call passes by keyword; None where that isn't known.

    Args:
        data: the text of the file.
        around: the function that the call stands in, dotted.
        span: the place of the call.
    """
    found = call_in(data, around.partition(".")[0], span)
    if found is None or found[0].name != around.rpartition(".")[2]:
        return None
    function, call = found
    keywords = [*_keywords(function, call.keywords)]
    if None in keywords:
        return None
    written = [k.value for k in keywords if k is not None and k.arg == name]
    if written:
        # A name that an unpacked dictionary has too raises, so what is written for it is what is passed.
        value = written[0]
        literal = isinstance(value, ast.Constant) and isinstance(value.value, (bool, int, float, str, type(None)))
        return Keyword(Const(value.value)) if literal else None  # type: ignore[attr-defined]
    own = {node.arg for node in walk(function.args) if isinstance(node, ast.arg)}
    handed_on = name not in own and any(k is not None and k.arg is None for k in keywords)
    return Keyword(None, True) if handed_on else None


def handed_over(data: bytes, definition: str, span: Span, parameter: str) -> frozenset[str] | None:
    """The names of what a function itself says to whatever it is given for a parameter, and only calls, with all other keywords
    that it is given: `return network(num_classes=10, **kwargs)`; None where it does anything else with either.

    Args:
        definition: the function, one of the top level.
        span: the place of such a call.
    """
    found = call_in(data, definition, span)
    if found is None or found[0].name != definition:
        return None
    function, rest = found[0], _rest(found[0])
    nodes = [*walk(function)]
    calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == parameter]
    named = [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr == "__name__"]
    known = {id(call.func) for call in calls} | {id(node) for node in named}
    if not rest or any(isinstance(n, ast.Name) and n.id == parameter and id(n) not in known for n in nodes):
        return None
    if any(call.args or [k for k in _unpacked(call.keywords) if not _is_name(k.value, rest)] for call in calls):
        return None
    same = {frozenset(k.arg for k in call.keywords if k.arg) for call in calls}
    passes = all(_unpacked(call.keywords) for call in calls) and _is_left(function, rest)
    return same.pop() if passes and len(same) == 1 else None


def hands_on(data: bytes, around: str, span: Span) -> bool:
    """Whether a call unpacks no more than what the function around it is given besides its parameters, and as that is.

    Args: as those of `keyword`.
    """
    found = call_in(data, around.partition(".")[0], span)
    if found is None or found[0].name != around.rpartition(".")[2]:
        return False
    function, call = found
    more, rest = function.args.vararg, _rest(function)
    stars = [n for n, argument in enumerate(call.args) if isinstance(argument, ast.Starred)]
    last = stars in ([], [len(call.args) - 1])
    own = all(more is not None and _is_name(a.value, more.arg) for a in call.args if isinstance(a, ast.Starred))
    named = {n.id for n in walk(function) if isinstance(n, ast.Name) and not _is_read(n)}
    kept = more is None or more.arg not in named
    return (
        last
        and own
        and kept
        and all(_is_name(k.value, rest) for k in _unpacked(call.keywords))
        and _is_left(function, rest)
    )


def opened(inner: Site, outer: Site, parameters: Sequence[Parameter]) -> Site | None:
    """A call that hands on what the function around it is given besides its parameters, with what a call of that gives it; None
    where that one unpacks a sequence."""
    stars = {argument.name for argument in inner.args}
    own = [parameter.name for parameter in takewhile(lambda p: not p.kind, parameters[1:])]
    bare = [a for a in outer.args if not a.name][len(own) :] if "*" in stars else ()
    kept = {parameter.name for parameter in parameters if not parameter.kind}
    named = [a for a in outer.args if a.name and a.name not in kept] if "**" in stars else ()
    written = [a for a in inner.args if not a.name.startswith("*")]
    args = (*(a for a in written if not a.name), *bare, *(a for a in written if a.name), *named)
    return msgspec.structs.replace(inner, args=args) if all(a.name != "*" for a in outer.args) else None


def called_later(site: Site) -> Site | None:
    """The call that a library makes of a function which it is handed with all the keywords for it: `Thread(target=work, kwargs={"n": 8})`;
    None where it may make another one."""
    told = [argument.value for argument in site.args if argument.name in ("args", "kwargs", "*", "**")]
    if len(told) != 1 or not isinstance(told[0], Mapping) or told[0].open:
        return None
    args = tuple(Arg(key, value) for key, value in zip(told[0].keys, told[0].values, strict=True))
    return msgspec.structs.replace(site, args=args)


def may_say(data: bytes, name: str, own: bool) -> bool:
    """Whether a file may put something under a name into a dictionary of keywords, or pass it so.

    Args:
        own: whether the definition stands there that takes it: its methods hand it on to parts.
    """
    if not re.search(rb"\b%s\s*=(?!=)|[\"']%s[\"']" % (name.encode(), name.encode()), data):
        return False
    parsed = tree(data)
    if parsed is None:
        return True
    methods = [
        f for c in parsed.body if own and isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, _Function)
    ]
    handed_on = {
        id(node)
        for method in methods
        for node in walk(method)
        if isinstance(node, ast.keyword) and _is_own(node.value, name)
    }
    values = {id(value) for node in walk(parsed) for value in _only_values(node)}
    return any(
        (isinstance(node, ast.keyword) and node.arg == name and id(node) not in handed_on)
        or (isinstance(node, ast.Constant) and node.value == name and id(node) not in values)
        or (own and isinstance(node, ast.Name) and node.id == name and not _is_read(node))
        for node in walk(parsed)
    )


def _only_values(node: ast.AST) -> Iterable[ast.AST | None]:
    """What is given, kept or asked for under another name, and so is none itself: `resize(x, mode="linear")`, `mode == "linear"`."""
    if isinstance(node, ast.keyword):
        return (node.value,)
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.arguments):
        return (*node.defaults, *node.kw_defaults)
    equal = isinstance(node, ast.Compare) and all(isinstance(asked, (ast.Eq, ast.NotEq)) for asked in node.ops)
    return node.comparators if isinstance(node, ast.Compare) and equal else ()


def _is_own(value: ast.expr, name: str) -> bool:
    """Whether a value is the parameter of that name, or the attribute: `name`, `self.name`."""
    return _is_name(value, name) or (isinstance(value, ast.Attribute) and value.attr == name)


def _keywords(function: _Function, keywords: Sequence[ast.keyword]) -> Iterator[ast.keyword | None]:
    """The keywords of a call, with those of the dictionaries that it unpacks; without a name what the function around it is given
    besides its parameters; None for a dictionary that isn't known."""
    for one in keywords:
        table = one.value if one.arg is None else None
        if table is None:
            yield one
            continue
        if isinstance(table, ast.Name) and table.id == _rest(function) and _is_left(function, table.id):
            yield one
            continue
        if isinstance(table, ast.Name):
            table = _bound(function, table)
        if isinstance(table, ast.Call) and _is_name(table.func, "dict") and not table.args:
            yield from _keywords(function, table.keywords)
        else:
            yield None


def _bound(function: _Function, name: ast.Name) -> ast.expr | None:
    """The dictionary that a name stands for; None where it isn't bound once, before, by the function's own block, or where it may
    be changed."""
    stored = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name.id and not _is_read(n)]
    for statement in function.body:
        if isinstance(statement, ast.Assign) and statement.targets == stored and statement.lineno < name.lineno:
            return statement.value if _is_left(function, name.id) else None
    return None


def _is_left(function: _Function, name: str) -> bool:
    """Whether a dictionary is only unpacked in a function, or asked for one of its items, wherever it is read."""
    nodes = [*walk(function)]
    asked = [n.func for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    kept = {id(attribute.value) for attribute in asked if attribute.attr in _HARMLESS}
    kept |= {id(n.value) for n in nodes if isinstance(n, ast.keyword) and n.arg is None}
    own = function.args.kwarg is not None and function.args.kwarg.arg == name
    names = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    return all(id(n) in kept if _is_read(n) else not own for n in names)


def _rest(function: _Function) -> str:
    """The name under which a function gets the keywords that none of its parameters takes; "" for none."""
    return function.args.kwarg.arg if function.args.kwarg is not None else ""


def _unpacked(keywords: Sequence[ast.keyword]) -> list[ast.keyword]:
    return [one for one in keywords if one.arg is None]


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)
