"""Doing at run time what `--fix` writes: a recipe of the catalog, carried out on the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from types import CodeType
from typing import Any, Final, NamedTuple

from detlint.catalog import Recipe
from detlint.runtime.arguments import MISSING, Call
from detlint.runtime.conditions import Bound
from detlint.runtime.resolve import find

_PLACE: Final = re.compile(
    r"<(?P<name>[\w.]+)>|\{(?P<splat>(?P<comma>, )?(?P<keyword>\w+)=)?(?P<never>!)?(?P<value>\w*)\}"
)
"""A name, or an argument, in the text of a recipe; see docs/catalog.md."""


class Impossible(Exception):
    """A recipe can't be carried out on this call; the text says why."""


class Template(NamedTuple):
    """The text of a recipe, compiled."""

    code: CodeType
    names: dict[str, str]
    """Variable -> the dotted name of what it holds."""
    values: dict[str, str]
    """Variable -> the parameter whose value it holds."""
    optional: dict[str, str]
    """Variable of a dictionary -> the parameter that it holds where the call gives it."""
    never: list[str]
    """Parameters that the call must not give."""


def template(text: str, api: str) -> Template:
    """Compile a text. `<.Name>` stands beside the API.

    Raises:
        Impossible: it is no expression.
    """
    names: dict[str, str] = {}
    values: dict[str, str] = {}
    optional: dict[str, str] = {}
    never: list[str] = []

    def put(match: re.Match[str]) -> str:
        variable = f"_{match.start()}"
        if match["name"]:
            name = match["name"]
            names[variable] = api.rpartition(".")[0] + name if name.startswith(".") else name
        elif match["splat"]:
            optional[variable] = match["keyword"]
            return f"{match['comma'] or ''}**{variable}"
        elif match["never"]:
            never.append(match["value"])
            return ""
        else:
            values[variable] = match["value"]
        return variable

    try:
        return Template(compile(_PLACE.sub(put, text), f"<recipe of {api}>", "eval"), names, values, optional, never)
    except SyntaxError:
        raise Impossible(f"`{text}` is no expression") from None


def evaluate(made: Template, bound: Bound, seed: Callable[[], int]) -> Any:
    """What a text gives for some arguments.

    Raises:
        Impossible: an argument or a name of it isn't there, or the call gives what it must not.
    """
    if given := [name for name in made.never if bound.gives(name)]:
        raise Impossible(f"it is given `{given[0]}`")
    variables: dict[str, Any] = {variable: _object(name) for variable, name in made.names.items()}
    for variable, name in made.values.items():
        value = seed() if name == "seed" else bound.get(name)
        if value is MISSING:
            raise Impossible(f"the value of `{name}` isn't known")
        variables[variable] = value
    for variable, name in made.optional.items():
        variables[variable] = {name: bound.get(name)} if bound.gives(name) else {}
    return eval(made.code, variables)


def _object(name: str) -> Any:
    found = find(name)
    if found is None and name.startswith("detlint."):
        import_module(name.rpartition(".")[0])
        found = find(name)
    if found is None:
        raise Impossible(f"there is no `{name}`")
    return found.value


def carry_out(recipe: Recipe, made: Template | None, call: Call, seed: Callable[[], int]) -> bool:
    """Change a call's arguments as a recipe says. Whether that changed anything.

    Raises:
        Impossible: as `evaluate`, or the recipe is of a kind that changes no arguments.
    """
    if recipe.kind == "remove-argument":
        names = (recipe.argument, *recipe.arguments)
        for name in filter(None, names):
            call.remove(name)
        return True
    if recipe.kind not in ("set-argument", "add-argument", "replace-item") or not recipe.argument.isidentifier():
        raise Impossible(f"its recipe `{recipe.kind}` changes the source")
    if recipe.kind == "add-argument" and call.gives(recipe.argument):
        return False
    call.set(recipe.argument, _value(recipe, made, call, seed))
    return True


def _value(recipe: Recipe, made: Template | None, bound: Bound, seed: Callable[[], int]) -> Any:
    if made is not None:
        return evaluate(made, bound, seed)
    return seed() if recipe.value == "{seed}" else recipe.value
