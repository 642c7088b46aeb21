"""Which modules `importlib.import_module` may import, where their names are put together or taken from a table."""

from __future__ import annotations

from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.model.sites.records import ANY, Const, Either, Items, Mapping, Member, Result, Value


def named(function: Function, at: int, value: Value | None, package: str) -> tuple[str, ...]:
    """The dotted names of the modules that a call of `import_module` may import; none where nothing is known.

    Args:
        at: the call.
        value: what its first argument is.
        package: the package of the file that it stands in.
    """
    call, texts = function.call(at), _texts(value)
    if not texts and call.positional:
        begin = beginning(function, call.positional[0])
        texts = (f"{begin.rpartition('.')[0]}.{ANY}",) if "." in begin else ()
    # What a relative name is relative to.
    anchors = [*call.positional[1:2], *filter(None, (call.named.get("package"),))]
    if not any(function.dotted(anchor) in ("__package__", "__name__") for anchor in anchors):
        package = next((text_of(function, anchor) for anchor in anchors), "")
    absolute = (_absolute(text, package) for text in texts)
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


def beginning(function: Function, at: int) -> str:
    """What a text that is put together surely begins with: `f"models.{name}"`, `"models." + name`; "" if more than the last
    component of a dotted name is left open."""
    operation = function.ops[at]
    if operation[0] == op.TEXT:
        texts = [function.constant(part) for part in operation[1:]]
        begin, _, rest = "".join(text if isinstance(text, str) else "{" for text in texts).partition("{")
    elif operation[0] == op.BINARY:
        begin, _, rest = text_of(function, operation[2]).partition("%")
    elif function.called_on(at) >= 0:
        begin, _, rest = text_of(function, function.called_on(at)).partition("{")
    else:
        return ""
    return begin if "." not in rest else ""


def text_of(function: Function, at: int) -> str:
    """The text that a value is; "" for any other."""
    text = function.constant(at)
    return text if isinstance(text, str) else ""


def _absolute(name: str, package: str) -> str:
    """`..ops.x` seen from a package."""
    short = name.lstrip(".")
    up = len(name) - len(short)
    if not up:
        return name
    parts = package.split(".")
    kept = parts[: len(parts) - up + 1]
    return ".".join([*kept, short]) if kept and package else ""
