"""What a call passes by dictionaries that are put together and unpacked: `args = dict(radix=2, **kwargs)`, `build(Net, **args)`.

Of dictionaries into which others are put, facts keep what is surely in them. Whether the rest is what a definition is handed itself
is asked here of its IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, NamedTuple

import msgspec

from detlint.domains.constant.evaluator import literal
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.places import Place
from detlint.ir.records import OTHERS, REST
from detlint.ir.uses import Use
from detlint.model.sites.records import Arg, Const, Mapping, Parameter, Site

RUN_LATER: Final = frozenset({"target", "func", "function", "fn"})
"""What libraries call the parameter of a function that they run with keywords which they are handed, too."""
_HARMLESS: Final = frozenset({"get", "keys"})
"""Methods of a dictionary that leave it as it is, and give nobody all of it."""


class Keyword(NamedTuple):
    """What a call passes under a name."""

    value: Const | None
    """The literal that is written for it."""
    handed_on: bool = False
    """Whether it is what the function around it gets under the same name, and doesn't name itself: `f(**kwargs)`."""


def keyword(point: Place, name: str) -> Keyword | None:
    """What a call passes by keyword; None where that isn't known."""
    function = point.function
    found = _told(function, *_pairs_of(function, point.at))
    if found is None:
        return None
    if name in found.named:
        # A name that an unpacked dictionary has too raises, so what is written for it is what is passed.
        value = literal(function, found.named[name])
        return Keyword(value) if value is not None else None
    handed_on = found.rest and all(function.text(slot) != name for slot in range(len(function.header.parameters)))
    return Keyword(None, True) if handed_on else None


def handed_over(point: Place, parameter: str) -> frozenset[str] | None:
    """The names of what a function itself says to whatever it is given for a parameter, and only calls, with all other keywords
    that it is given: `return network(num_classes=10, **kwargs)`; None where it does anything else with either.

    Args:
        point: such a call.
    """
    function = point.function
    slot, rest = next(iter(function.slots.get(parameter, ())), -1), _taking(function, OTHERS)
    loads = [at for at, operation in function.each(op.LOAD) if operation[1] == slot]
    if rest < 0 or slot in function.shared or any(function.parameter(at) != slot for at in loads):
        return None
    calls = set[int]()
    for use in (use for at in loads for use in function.users[at]):
        taking = function.ops[use.op]
        if taking[0] == op.CALL and use.place == 1:
            calls.add(use.op)
        elif taking[0] != op.ATTR or function.code.strings[taking[2]] != "__name__":
            return None
    told = [function.call(at) for at in sorted(calls)]
    passes = all(call.unpacked and not call.positional for call in told)
    passes = passes and all(function.parameter(value) == rest for call in told for value in call.unpacked)
    same = {frozenset(call.named) for call in told}
    return same.pop() if passes and _is_left(function, rest) and len(same) == 1 else None


def hands_on(point: Place) -> bool:
    """Whether a call unpacks no more than what the function around it is given besides its parameters, and as that is."""
    function = point.function
    call, more, rest = function.call(point.at), _taking(function, REST), _taking(function, OTHERS)
    stars = [n for n, value in enumerate(call.positional) if function.ops[value][0] == op.STAR]
    own = all(more >= 0 and function.parameter(function.ops[call.positional[n]][1]) == more for n in stars)
    named = all(function.parameter(value) == rest for value in call.unpacked)
    return stars in ([], [len(call.positional) - 1]) and own and named and (rest < 0 or _is_left(function, rest))


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


def may_say(code: Code | None, name: str, own: bool) -> bool:
    """Whether a file may put something under a name into a dictionary of keywords, or pass it so.

    Args:
        code: None where it can't be read.
        own: whether the definition stands there that takes it: its methods hand it on to parts.
    """
    if code is None:
        return True
    if name not in code.identifiers and name not in code.texts:
        return False
    for function in code.functions():
        method = own and function.parent is not None and function.parent.is_class
        for at, _ in function.each(op.CALL, op.CLASS):
            value = function.call(at).named.get(name, -1)
            if value >= 0 and not (method and name in (function.dotted(value), *function.chain(value).attributes[-1:])):
                return True
        if any(function.constant(at) == name and not _is_only_value(function, at) for at, _ in function.each(op.CONST)):
            return True
        if own and any(function.text(operation[1]) == name for _, operation in function.each(op.STORE)):
            return True
    return False


def _is_only_value(function: Function, at: int) -> bool:
    """Whether a value is given, kept or asked for under another name, and so is none itself: `resize(x, mode="linear")`,
    `mode == "linear"`."""
    uses = function.users[at]
    return bool(uses) and all(_is_of_other_name(function, use) for use in uses)


def _is_of_other_name(function: Function, use: Use) -> bool:
    operation, strings = function.ops[use.op], function.code.strings
    if operation[0] == op.CALL:
        return use.place > 2 + operation[2]
    if operation[0] == op.FUNCTION:
        return use.place < 0  # a parameter's default
    if operation[0] == op.DICT:
        return use.place % 2 == 0
    return operation[0] == op.COMPARE and use.place > 1 and all(strings[w] in ("==", "!=") for w in operation[2::2])


class _Told(NamedTuple):
    """What keywords say, with those of the dictionaries that are unpacked."""

    named: dict[str, int]
    rest: bool
    """Whether also what the function around is given besides its parameters."""


def _pairs_of(function: Function, call: int) -> tuple[dict[str, int], Sequence[int]]:
    found = function.call(call)
    return dict(found.named), found.unpacked


def _told(function: Function, named: dict[str, int], unpacked: Sequence[int]) -> _Told | None:
    """What keywords say; None where a dictionary among them isn't known."""
    rest = False
    for table in unpacked:
        if function.parameter(table) >= 0:
            if function.parameter(table) != _taking(function, OTHERS) or not _is_left(
                function, function.parameter(table)
            ):
                return None
            rest = True
            continue
        made = _made(function, table)
        inner = _told(function, *made) if made is not None else None
        if inner is None:
            return None
        named, rest = {**inner.named, **named}, rest or inner.rest
    return _Told(named, rest)


def _made(function: Function, table: int) -> tuple[dict[str, int], Sequence[int]] | None:
    """What a dictionary is made of that nobody changes: `dict(a=1, **others)`, `{"a": 1, **others}`; None for any other."""
    value = table
    while function.ops[value][0] == op.LOAD:
        stored = function.stored(value)
        if stored is None or len(stored) != 1 or not _is_left(function, function.ops[value][1]):
            return None
        value = stored[0]
    operation = function.ops[value]
    if operation[0] == op.CALL and function.dotted(operation[1]) == "dict" and not function.call(value).positional:
        return _pairs_of(function, value)
    pairs = [*zip(operation[1::2], operation[2::2], strict=True)] if operation[0] == op.DICT else [(-2, -1)]
    keys = [function.constant(key) if key >= 0 else key for key, _ in pairs]
    if not all(isinstance(key, str) or key == -1 for key in keys):
        return None
    named = {key: value for key, (_, value) in zip(keys, pairs, strict=True) if isinstance(key, str)}
    return named, [value for key, value in pairs if key == -1]


def _is_left(function: Function, slot: int) -> bool:
    """Whether a dictionary under a name is only unpacked in a function, or asked for one of its items, wherever it is read."""
    loads = (at for at, operation in function.each(op.LOAD) if operation[1] == slot)
    return slot not in function.shared and all(
        _is_harmless(function, use) for at in loads for use in function.users[at]
    )


def _is_harmless(function: Function, use: Use) -> bool:
    operation = function.ops[use.op]
    if operation[0] == op.ATTR:
        called = all(function.ops[more.op][0] == op.CALL and more.place == 1 for more in function.users[use.op])
        return called and function.code.strings[operation[2]] in _HARMLESS
    unpacks = operation[0] in (op.CALL, op.CLASS) and use.place > 3 and operation[use.place - 1] == -1
    return unpacks or (operation[0] == op.DICT and use.place % 2 == 0 and operation[use.place - 1] == -1)


def _taking(function: Function, kind: int) -> int:
    """The parameter of a kind, as `**options`; -1 for none."""
    return next((n for n, known in enumerate(function.header.parameters) if known.kind == kind), -1)
