"""The rewrites that recipes of the catalog name: each makes of what stands at a finding what should stand there."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from detlint.catalog import Recipe, Scalar
from detlint.facts.model import Span
from detlint.fixes import calls
from detlint.fixes.file import File, span_of
from detlint.fixes.recipe import NoFix, Parameters
from detlint.fixes.text import Edit, shortest

_DOTTED: Final = re.compile(r"<([\w.]+)>")
_PLACE: Final = re.compile(r"\{(\w*)\}")


@dataclass
class Spot:
    """Where a recipe is followed.

    Args:
        file: the file.
        span: what the finding stands on.
        parameters: the signature of what is called there; empty where it isn't known.
        seed: the number that seeds get.
    """

    file: File
    span: Span
    parameters: Parameters
    seed: int
    imports: set[str] = field(default_factory=set)
    """The imports that the rewritten code needs."""

    @property
    def start(self) -> int:
        """Where the span begins."""
        return self.file.text.offset(self.span.line, self.span.column)

    @property
    def source(self) -> str:
        """What stands there."""
        start, end = self.file.text.range(self.span)
        return self.file.text.text[start:end]

    def name(self, dotted: str) -> str:
        """How the file writes a name; what it needs for it is imported."""
        written, needed = self.file.names.of(dotted)
        if needed:
            self.imports.add(needed)
        return written

    def sibling(self, name: str) -> str:
        """Another member of the module that what is called comes from, written as that is: `T.CenterCrop`."""
        func = self.call().func
        if isinstance(func, cst.Attribute):
            return calls.written(func.with_changes(attr=cst.Name(name)))
        if not isinstance(func, cst.Name):
            raise NoFix("what it calls has no name")
        written, needed = self.file.names.beside(func.value, name)
        if needed:
            self.imports.add(needed)
        return written

    def call(self) -> cst.Call:
        """What stands there, as a call."""
        node = calls.parse(self.source)
        if not isinstance(node, cst.Call):
            raise NoFix("it is no call")
        return node

    def replaced(self, new: str) -> list[Edit]:
        """The edits that put other code there."""
        old = self.source
        return [shortest(old, new, self.start)] if new != old else []


def edits(recipe: Recipe, spot: Spot) -> list[Edit]:
    """What following a recipe does to the file.

    Raises:
        NoFix: it can't be followed here.
    """
    rewrite = KINDS.get(recipe.kind)
    if rewrite is None:
        raise NoFix(f"there is no rewrite `{recipe.kind}`")
    return rewrite(recipe, spot)


def _literal(value: Scalar, seed: int) -> cst.BaseExpression:
    """A value of the catalog as Python; `{seed}` stands for the number that seeds get."""
    if value == "{seed}":
        value = seed
    return calls.parse(json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value))


def _set_argument(recipe: Recipe, spot: Spot) -> list[Edit]:
    node, value = calls.parse(spot.source), _value(recipe, spot)
    if isinstance(node, cst.Dict):
        return spot.replaced(calls.written(calls.with_item(node, recipe.argument, value)))
    call, parameters = _called(node, spot)
    return spot.replaced(calls.written(calls.with_argument(call, parameters, recipe.argument, value)))


def _value(recipe: Recipe, spot: Spot) -> cst.BaseExpression:
    """What an argument becomes: the recipe's value, or its text with names and the seed put in."""
    return calls.parse(_filled(recipe.text, spot)) if recipe.text else _literal(recipe.value, spot.seed)


def _called(node: cst.BaseExpression, spot: Spot) -> tuple[cst.Call, Parameters]:
    """A call and the parameters that its arguments are for: those of the function, of a table, behind `partial(f`."""
    if not isinstance(node, cst.Call):
        raise NoFix("it is no call")
    func = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
    if func == "dict":
        return node, [("*", "...")]
    if func in ("partial", "partialmethod") and node.args:
        return node, [("", "..."), *spot.parameters]
    return node, spot.parameters


def _remove_argument(recipe: Recipe, spot: Spot) -> list[Edit]:
    call, parameters = _called(calls.parse(spot.source), spot)
    return spot.replaced(calls.written(calls.without_argument(call, parameters, recipe.argument)))


def _replace_value(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The value of an assignment, of `os.environ.setdefault`, of `os.putenv`."""
    stands = spot.file.around(spot.span)
    value = next((node for node in reversed(stands) if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Call))), None)
    if isinstance(value, ast.Call):
        if len(value.args) != 2 or any(isinstance(arg, ast.Starred) for arg in value.args):
            raise NoFix("where its value stands isn't known")
        target: ast.expr | None = value.args[1]
    else:
        target = value.value if value is not None else None
    if target is None:
        raise NoFix("where its value stands isn't known")
    start, end = spot.file.range(target)
    old, new = spot.file.text.text[start:end], calls.written(_literal(recipe.value, spot.seed))
    if isinstance(recipe.value, str) and old[:1] == "'" and "'" not in recipe.value:
        new = f"'{new[1:-1]}'"
    return [Edit(start, end, new)] if old != new else []


def _wrap(recipe: Recipe, spot: Spot) -> list[Edit]:
    text = spot.source
    node = calls.parse(text)
    if isinstance(node, cst.GeneratorExp) and not node.lpar:
        text = f"({text})"
    return spot.replaced(_filled(recipe.text.replace("{}", "{call}"), spot, {"call": text}))


def _filled(text: str, spot: Spot, values: dict[str, str] | None = None) -> str:
    """A template of the catalog: `<torch.Generator>` is written as the file does, `<.CenterCrop>` as what is called there,
    `{size}` is what the call gives for it.

    Raises:
        NoFix: the call gives nothing for it.
    """
    call: list[tuple[cst.Call, Parameters]] = []

    def put(match: re.Match[str]) -> str:
        name = match[1]
        if values is not None and name in values:
            return values[name]
        if name == "seed":
            return str(spot.seed)
        if not call:
            call.append(_called(calls.parse(spot.source), spot))
        if name == "self":
            func = call[0][0].func
            if not isinstance(func, cst.Attribute):
                raise NoFix("it is called on nothing")
            return calls.attached(func.value)
        value = calls.argument(*call[0], name)
        if value is None:
            raise NoFix(f"it is given no `{name}`")
        return calls.written(value)

    return _DOTTED.sub(
        lambda match: spot.sibling(match[1][1:]) if match[1][0] == "." else spot.name(match[1]), _PLACE.sub(put, text)
    )


def _replace(recipe: Recipe, spot: Spot) -> list[Edit]:
    """Another expression in its place."""
    return spot.replaced(_filled(recipe.text, spot))


def _replace_item(recipe: Recipe, spot: Spot) -> list[Edit]:
    """Other items of the list that it stands in, none to leave it out; on its own, what `value` makes of them."""
    listed = _listed(spot)
    if listed is None:
        if not isinstance(recipe.value, str):
            raise NoFix("it stands in no list")
        return spot.replaced(_filled(recipe.value, spot))
    if recipe.text:
        return spot.replaced(_filled(recipe.text, spot))
    items, place = listed
    if len(items) == 1 and not recipe.argument:
        raise NoFix("nothing else stands in the list")
    return [_without_item(spot, items, place)]


def _without_item(spot: Spot, items: list[ast.expr], place: int) -> Edit:
    """A list without an item: where that has lines of its own, these go, with the comment that stands on them."""
    text = spot.file.text
    start, end = spot.file.range(items[place])
    before, after = items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None
    first, last = items[place].lineno, items[place].end_lineno or 0
    alone = not text.text[text.starts[first - 1] : start].strip() and (before is None or before.end_lineno != first)
    rest = text.line(last)[end - text.starts[last - 1] :].partition("#")[0]
    if alone and rest.strip() in (",", "") and (after is None or after.lineno > last):
        return Edit(text.starts[first - 1], text.starts[last - 1] + len(text.line(last)), "")
    if after is not None:
        following = spot.file.range(after)[0]
        if "#" in text.text[end:following]:
            raise NoFix("a comment stands behind it")
        return Edit(start, following, "")
    begin = spot.file.range(before)[1] if before is not None else start
    if "#" in text.text[begin:start]:
        raise NoFix("a comment stands before it")
    return Edit(begin, end, "")


def _listed(spot: Spot) -> tuple[list[ast.expr], int] | None:
    """The items of the list or tuple display that holds what is found as one of its items, and its position."""
    stands = spot.file.around(spot.span)
    for node in reversed(stands):
        if isinstance(node, (ast.List, ast.Tuple)):
            place = next((i for i, item in enumerate(node.elts) if span_of(item) == spot.span), None)
            if place is not None:
                return node.elts, place
    return None


def _draw_on_cpu(recipe: Recipe, spot: Spot) -> list[Edit]:
    """`torch.randn(3, device=d)` becomes `torch.randn(3).to(d)`: the same numbers on any hardware."""
    call = spot.call()
    for given in ("out", "generator"):
        if calls.argument(call, spot.parameters, given) is not None:
            raise NoFix(f"with `{given}` it must be drawn where that is")
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if name.endswith("_"):
        return _fill_on_cpu(call, spot)
    device = calls.argument(call, spot.parameters, "device")
    if device is None:
        raise NoFix("the device isn't given")
    call, ending = _leaf(calls.without_argument(call, spot.parameters, "device"), spot.parameters)
    if re.search(r"_like$|^new_", name):
        call = calls.with_argument(call, spot.parameters, "device", calls.parse('"cpu"'))
    return spot.replaced(f"{calls.written(call)}.to({calls.written(device)}){ending}")


def _leaf(call: cst.Call, parameters: Parameters) -> tuple[cst.Call, str]:
    """A factory call without `requires_grad`, which moving would lose, and what is to follow the move instead."""
    wanted = calls.argument(call, parameters, "requires_grad")
    if wanted is None:
        return call, ""
    call = calls.without_argument(call, parameters, "requires_grad")
    text = calls.written(wanted)
    return call, {"False": "", "True": ".requires_grad_()"}.get(text, f".requires_grad_({text})")


def _fill_on_cpu(call: cst.Call, spot: Spot) -> list[Edit]:
    """`x.normal_()` becomes `x.copy_(torch.empty_like(x, device="cpu").normal_())`; a fresh tensor is made on the CPU."""
    func = cst.ensure_type(call.func, cst.Attribute)
    receiver = func.value
    if isinstance(receiver, cst.Call):
        device = next((arg for arg in receiver.args if arg.keyword is not None and arg.keyword.value == "device"), None)
        if device is None or any(arg.star == "**" for arg in receiver.args):
            raise NoFix("the device isn't given")
        made, ending = _leaf(calls.without_argument(receiver, (), "device"), ())
        filled = call.with_changes(func=func.with_changes(value=made))
        return spot.replaced(f"{calls.written(filled)}.to({calls.written(device.value)}){ending}")
    if not calls.plain(receiver):
        raise NoFix("what it fills would be computed twice")
    text = calls.written(receiver)
    empty = calls.parse(f'{spot.name("torch.empty_like")}({text}, device="cpu")')
    filled = call.with_changes(func=func.with_changes(value=empty))
    return spot.replaced(f"{text}.copy_({calls.written(filled)})")


def _on_cpu(recipe: Recipe, spot: Spot) -> list[Edit]:
    """The operator computes on the CPU, and its result goes back to where the first of its tensors is."""
    call = spot.call()
    args, first = [*call.args], ""
    for name in recipe.arguments:
        place = calls.find(call, spot.parameters, name)
        if place is None:
            continue
        value = args[place].value
        if not first:
            if not calls.plain(value):
                raise NoFix(f"`{name}` would be computed twice")
            first = calls.written(value)
        if calls.written(value) != "None":
            args[place] = args[place].with_changes(value=calls.parse(f"{calls.attached(value)}.cpu()"))
    if not first:
        raise NoFix("it isn't known which tensors it takes")
    return spot.replaced(f"{calls.written(call.with_changes(args=args))}.to({first}.device)")


KINDS: Final[dict[str, Callable[[Recipe, Spot], list[Edit]]]] = {
    "set-argument": _set_argument,
    "remove-argument": _remove_argument,
    "replace-value": _replace_value,
    "wrap": _wrap,
    "replace": _replace,
    "replace-item": _replace_item,
    "draw-on-cpu": _draw_on_cpu,
    "on-cpu": _on_cpu,
}
"""By the names that the catalog uses."""
