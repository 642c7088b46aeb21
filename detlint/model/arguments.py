"""Which parameter of a call gets what, what a function gets that a library calls, and what a call gives by its arguments.

What it may assume: a signature is complete; what a splat may give may be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Table

import msgspec

from detlint.catalog import Condition, Entry, Handing
from detlint.model.sites.records import Arg, Const, Either, Items, Mapping, Member, Parameter, Ref, Site, Value
from detlint.model.sites.scope import join

NO_DEFAULT = "..."


class Argument(msgspec.Struct, frozen=True):
    """What a parameter gets: the call's value or the default. `given`: passed by the call (None: a splat may pass it)."""

    value: Value | None
    given: bool | None


MISSING = Argument(None, False)


class CallArgument(msgspec.Struct, frozen=True):
    """An argument as the call writes it, its value in normal form; `name` as in `facts.model.Arg`."""

    name: str
    value: Value | None


def bind(
    arguments: Iterable[CallArgument], signature: list[tuple[str, object]], partial: bool = False
) -> dict[str, Argument]:
    """Which parameter gets what, defaults included.

    Args:
        arguments: those of the call.
        signature: (parameter, default) in order, as the catalog has it; a name beginning with `*` takes the rest.
        partial: whether later calls may add arguments (`functools.partial`).
    """
    bound: dict[str, Argument] = {}
    names = [name for name, _ in signature]
    stop = next((i for i, name in enumerate(names) if name.startswith("*")), len(names))
    position, positional_splat, keyword_splat = 0, False, False
    for argument in arguments:
        if argument.name == "":
            if not positional_splat and position < stop:
                bound[names[position]] = Argument(argument.value, True)
            position += 1
        elif argument.name == "*":
            positional_splat = True
        elif argument.name == "**":
            if isinstance(argument.value, Mapping):
                pairs = zip(argument.value.keys, argument.value.values, strict=True)
                bound.update({key: Argument(value, True) for key, value in pairs})
                keyword_splat = keyword_splat or argument.value.open
            else:
                keyword_splat = True
                if isinstance(argument.value, Either):
                    bound.update(_perhaps(argument.value))
        else:
            bound[argument.name] = Argument(argument.value, True)
    for i, (name, default) in enumerate(signature):
        if name in bound or name.startswith("*"):
            continue
        if keyword_splat or partial or (positional_splat and position <= i < stop):
            bound[name] = Argument(_default(default), None)
        else:
            bound[name] = Argument(_default(default), False)
    if keyword_splat or partial:
        bound["**"] = Argument(None, None)
    return bound


def signature_of(parameters: Iterable[Parameter]) -> list[tuple[str, object]]:
    """The parameters of a function of the program as `bind` takes them."""
    return [(p.kind + p.name, NO_DEFAULT) for p in parameters]


def received(site: Site, parameters: Sequence[Parameter]) -> dict[str, Argument]:
    """What a call gives some parameters of a function of the program, as its file has it, or their defaults.

    Args:
        parameters: those that calls give something.
    """
    arguments = [CallArgument(a.name, a.value) for a in site.args]
    bound = bind(arguments, signature_of(parameters), partial=site.kind == "partial")
    left = {p.name: Argument(p.default, False) for p in parameters if p.name in bound and bound[p.name].given is False}
    return bound | left


def beyond(arguments: Iterable[CallArgument], signature: list[tuple[str, object]]) -> list[CallArgument]:
    """The arguments that none of the parameters takes, in order."""
    names = [name for name, _ in signature]
    bare = next((i for i, name in enumerate(names) if name.startswith("*")), len(names))
    found, position = list[CallArgument](), 0
    for argument in arguments:
        taken = position < bare if not argument.name else argument.name in names
        position += not argument.name
        found += [] if taken else [argument]
    return found


def owner_of(value: Value) -> Value | None:
    """What has what a value is, by its name or as an attribute: `module` of `module.name`; None where nothing does."""
    if isinstance(value, Member):
        return value.base
    owner = value.name.rpartition(".")[0] if isinstance(value, Ref) else ""
    return Ref(owner) if owner else None


def given_with(
    hands: Handing, site: Site, bound: Table[str, Argument], signature: list[tuple[str, object]]
) -> list[Arg]:
    """What a function gets which a call hands over, as the file of that call has it: `Process(target=f, args=(1,), kwargs={"n": 2})` comes
    to `f(1, n=2)`.

    Args:
        bound: what the parameters of the call get.
        signature: those parameters.
    """
    found: list[Arg] = []
    if hands.first:
        found.append(Arg("", owner_of(site.target) if hands.first == "self" else None))
    if hands.items.startswith("*"):
        more = beyond((CallArgument(a.name, a.value) for a in site.args), signature)
        found += [Arg(a.name, None) for a in more if a.name in ("", "*")]
    elif hands.items:
        found.append(Arg("", None))
    for star, name in (("*", hands.arguments), ("**", hands.keywords)):
        if name.startswith("*"):
            more = beyond((CallArgument(a.name, a.value) for a in site.args), signature)
            found += [Arg(a.name, a.value) for a in more if (a.name in ("", "*")) is (star == "*")]
        elif name and (passed := bound.get(name)) is not None and passed.given is not False:
            listed = passed.value.values if star == "*" and isinstance(passed.value, Items) else None
            found += [Arg("", value) for value in listed] if listed is not None else [Arg(star, passed.value)]
    return found


def returned(entries: Iterable[Entry], given: Iterable[CallArgument], signature: list[tuple[str, object]]) -> str:
    """The class that the first entry gives whose conditions may hold of the call; "" if none may, or if a splat hides what
    would decide.

    Args:
        given: what the call passes, in normal form.
    """
    bound = bind(given, signature)
    for entry in entries:
        asked = (
            [(condition, bound.get(name, MISSING)) for name, condition in entry.when.items()] if entry.returns else []
        )
        if any(argument.given is None for _, argument in asked):
            return ""
        if entry.returns and all(_may_hold(condition, argument) for condition, argument in asked):
            return entry.returns
    return ""


def _perhaps(splat: Either) -> dict[str, Argument]:
    """What alternative dictionaries pass: an argument that only some of them have may be passed."""
    mappings = [option for option in splat.options if isinstance(option, Mapping)]
    found: dict[str, Argument] = {}
    for key in dict.fromkeys(key for mapping in mappings for key in mapping.keys):
        having = [mapping.values[mapping.keys.index(key)] for mapping in mappings if key in mapping.keys]
        everywhere = len(having) == len(splat.options)
        found[key] = Argument(join(having), True if everywhere else None)
    return found


def _default(default: object) -> Value | None:
    if default == NO_DEFAULT:
        return None
    if isinstance(default, (list, tuple)):
        return Items(tuple(Const(item) if isinstance(item, (bool, int, float, str)) else None for item in default))
    return Const(default) if default is None or isinstance(default, (bool, int, float, str)) else None


def _may_hold(condition: Condition, argument: Argument) -> bool:
    value = argument.value
    if condition.given is not None and condition.given is (not argument.given or value == Const(None)):
        return False
    if condition.sequence and isinstance(value, Const):
        return False
    return condition.in_ is None or not isinstance(value, Const) or value.value in condition.in_
