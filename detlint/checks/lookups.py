"""What code looks up in settings: `config.clip`, `cfg["train"].get("steps", 1)`, `"fpn" in cfg`."""

from __future__ import annotations

import ast
import re
from typing import Final, NamedTuple

from detlint.facts.loops import dotted
from detlint.facts.model import Const, Instance, Member, Param, Ref, Result, Value
from detlint.facts.nodes import walk
from detlint.facts.reading.values import constant

SETTINGS: Final = re.compile(
    r"(?:^|_)(?:cfg|conf|config|configure|configuration|opts?|options|args|hparams|hyp|settings)s?(?:_|$)|Config|Settings"
)
"""The names of what holds settings."""
_LOADING: Final = re.compile(
    r"(?:^|[._])(?:safe_load|yaml|OmegaConf|EasyDict|Dict|AttrDict|DictConfig|Munch)(?:[._]|$)"
)
"""What makes such, beside what is called so."""
_RESPELLS: Final = frozenset({"lower", "upper", "strip"})
"""Methods that only texts have, which write them otherwise."""
_DEEPEST: Final = 3
"""So many names may stand for one another."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Lookup(NamedTuple):
    """What code looks up in settings."""

    key: str
    table: str = ""
    """The key before."""
    default: Const | None = None
    """What is had where the key is missing."""
    is_there: bool = False
    """Whether it only asks if the key is there."""
    respelled: str = ""
    """The method that writes the text otherwise which is had: `config.loss.lower()`."""
    unpacked: bool = False
    """Whether a call passes it by a table that it unpacks, and the key is the name of a parameter: `Net(**config.model)`."""


def looked_up(function: _Function, node: ast.expr, depth: int = 0) -> Lookup | None:
    """What an expression of a function looks up in settings; None for any other."""
    if isinstance(node, ast.Name):
        bound = _bound_once(function, node.id) if depth < _DEEPEST else None
        return looked_up(function, bound, depth + 1) if bound is not None else None
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        return _lookup(node.value, node.attr)
    if isinstance(node, ast.Subscript):
        return _lookup(node.value, text_of(node.slice))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
        found = _lookup(node.comparators[0], text_of(node.left))
        return found._replace(is_there=True) if found is not None else None
    if method := respells(node):
        found = looked_up(function, text_in(node), depth)
        known = found is not None and not (found.is_there or found.respelled)
        return found._replace(respelled=method) if found is not None and known else None
    if isinstance(node, ast.Call) and not node.keywords:
        return _called(node)
    return None


def respells(node: ast.expr) -> str:
    """The method by which an expression writes a text otherwise; "" for any other."""
    called = node.func if isinstance(node, ast.Call) and not (node.args or node.keywords) else None
    return called.attr if isinstance(called, ast.Attribute) and called.attr in _RESPELLS else ""


def text_in(node: ast.expr) -> ast.expr:
    """What an expression writes otherwise; itself where it does not."""
    called = node.func if isinstance(node, ast.Call) and respells(node) else None
    return called.value if isinstance(called, ast.Attribute) else node


def _called(node: ast.Call) -> Lookup | None:
    """`config.get(key, default)`, `getattr(config, key, default)`, `hasattr(config, key)`."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        holder, args = node.func.value, node.args
    elif dotted(node.func) in ("getattr", "hasattr") and node.args:
        holder, args = node.args[0], node.args[1:]
    else:
        return None
    found = _lookup(holder, text_of(args[0])) if args else None
    if found is None or len(args) > 2:
        return None
    if dotted(node.func) == "hasattr":
        return found._replace(is_there=True)
    if len(args) == 1:
        return found._replace(default=Const(None)) if dotted(node.func) != "getattr" else found
    default = constant(args[1].value) if isinstance(args[1], ast.Constant) else None
    return found._replace(default=default) if isinstance(default, Const) else None


def _lookup(holder: ast.expr, key: str) -> Lookup | None:
    parts = _parts(holder)
    return (
        Lookup(key, _table(parts[-1]) if len(parts) > 1 else "") if key and any(map(SETTINGS.search, parts)) else None
    )


def _parts(node: ast.expr) -> list[str]:
    """The names by which a table is come to, from the first one; none where there is anything else."""
    if isinstance(node, ast.Name):
        return [node.id]
    key = (
        node.attr if isinstance(node, ast.Attribute) else text_of(node.slice) if isinstance(node, ast.Subscript) else ""
    )
    before = _parts(node.value) if key and isinstance(node, (ast.Attribute, ast.Subscript)) else []
    return [*before, key] if before else []


def text_of(node: ast.expr) -> str:
    """The text that an expression is; "" for any other."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _bound_once(function: _Function, name: str) -> ast.expr | None:
    """What a function binds a name to, if it does so in one place alone."""
    bound = assignments(function, name)
    return bound[0].value if len(bound) == 1 else None


def assignments(function: _Function, name: str) -> list[ast.Assign]:
    """The assignments by which a function binds a name; none where anything else binds it too."""
    nodes = [*walk(function)]
    stored = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    bound = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1 and n.targets[0] in stored]
    is_argument = any(isinstance(n, ast.arg) and n.arg == name for n in nodes)
    return bound if len(bound) == len(stored) and not is_argument else []


def holds_settings(base: Value | None) -> bool:
    """Whether a value is a table of settings, by its name, or by what it comes of."""
    if isinstance(base, Member):
        return SETTINGS.search(key_of(base.attr)) is not None or holds_settings(base.base)
    if isinstance(base, (Param, Instance)):
        return SETTINGS.search(base.name) is not None
    if isinstance(base, Ref):
        return SETTINGS.search(base.name.rpartition(".")[2]) is not None
    called = base.of if isinstance(base, Result) else None
    name = called.name.rpartition("::")[2] if isinstance(called, Ref) else ""
    return _LOADING.search(name) is not None or SETTINGS.search(name.rpartition(".")[2]) is not None


def key_of(attr: str) -> str:
    """The key that a step to a value asks for: `clip` for `clip` and for `[clip]`."""
    return attr[1:-1] if attr.startswith("[") else attr


def table_of(base: Value | None) -> str:
    """The key of the table in which something is asked for; "" where that is no part of another one, or has a name for all settings."""
    return _table(base.attr) if isinstance(base, Member) else ""


def _table(name: str) -> str:
    """The key of the table that is asked, if that is no name for all settings."""
    return "" if SETTINGS.search(key_of(name)) else key_of(name)
