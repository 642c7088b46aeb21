"""Which modules `importlib.import_module` may import, where their names are put together or taken from a table."""

from __future__ import annotations

import ast

from detlint.facts.model import ANY, Const, Either, Items, Mapping, Member, Result, Value


def named(node: ast.Call, value: Value | None, package: str) -> tuple[str, ...]:
    """The dotted names of the modules that a call of `import_module` may import; none where nothing is known.

    Args:
        node: the call.
        value: what its first argument is.
        package: the package of the file that it stands in.
    """
    texts = _texts(value)
    if not texts and node.args:
        begin = beginning(node.args[0])
        texts = (f"{begin.rpartition('.')[0]}.{ANY}",) if "." in begin else ()
    anchored = any(isinstance(n, ast.Name) and n.id in ("__package__", "__name__") for n in _anchors(node))
    absolute = (_absolute(text, package) if anchored else "" if text.startswith(".") else text for text in texts)
    return tuple(dict.fromkeys(name for name in absolute if name))


def _texts(value: Value | None) -> tuple[str, ...]:
    """The texts that a value may be: one that is written out, or those of a table or of several ways."""
    if isinstance(value, Const):
        return (value.value,) if isinstance(value.value, str) else ()
    if isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr == "get":
        value = Member(value.of.base, "[*]")
    if isinstance(value, Member) and value.attr == "[*]" and isinstance(value.base, (Mapping, Items)):
        value = Either(value.base.values)
    if not isinstance(value, Either):
        return ()
    texts = [o.value for o in value.options if isinstance(o, Const) and isinstance(o.value, str)]
    return tuple(texts) if len(texts) == len(value.options) else ()


def beginning(node: ast.expr) -> str:
    """What a text that is put together surely begins with: `f"models.{name}"`, `"models." + name`; "" if more than the last
    component of a dotted name is left open."""
    if isinstance(node, ast.JoinedStr):
        texts = [str(part.value) if isinstance(part, ast.Constant) else "{" for part in node.values]
        begin, _, rest = "".join(texts).partition("{")
    elif isinstance(node, ast.BinOp):
        begin, _, rest = _literal(node.left).partition("%")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        begin, _, rest = _literal(node.func.value).partition("{")
    else:
        return ""
    return begin if "." not in rest else ""


def _literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _anchors(node: ast.Call) -> list[ast.expr]:
    """What a relative name is relative to."""
    return [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "package")]


def _absolute(name: str, package: str) -> str:
    """`..ops.x` seen from a package."""
    short = name.lstrip(".")
    up = len(name) - len(short)
    if not up:
        return name
    parts = package.split(".")
    kept = parts[: len(parts) - up + 1]
    return ".".join([*kept, short]) if kept and package else ""
