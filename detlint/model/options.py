"""Options that a command line doesn't have: to read one of what argparse gives raises AttributeError.

A parser is understood where all that its file does with it is to add options with literal names; what it gives, where nothing but
attributes is taken of it before. Anything else may add some, and nothing is said then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function, Span
from detlint.ir.places import Place
from detlint.ir.records import GENERATOR
from detlint.model.sites.records import PARSES

_PARSER: Final = "argparse.ArgumentParser"
_GROUPS: Final = frozenset({"add_argument_group", "add_mutually_exclusive_group"})
_HARMLESS: Final = frozenset(
    {"error", "exit", "format_help", "format_usage", "get_default", "print_help", "print_usage"}
)
_LOOKS: Final = frozenset({"format", "getattr", "hasattr", "isinstance", "print", "repr", "str", "type"})
_OWN: Final = frozenset(
    {"description", "usage", "prog", "formatter_class", "add_help", "epilog", "allow_abbrev", "conflict_handler"}
)
"""What a parser may be told that gives it no other options."""


class _Use(NamedTuple):
    """An op that takes a value, and the function that it stands in."""

    function: Function
    at: int


class _Kept(NamedTuple):
    """What a command line was parsed into."""

    place: Place
    """What gives it."""
    options: frozenset[str]
    uses: tuple[_Use, ...]


def lacking(code: Code) -> frozenset[Span]:
    """Where options are read that no parser of the file defines, of what is surely what such a parser gave."""
    if "argparse" not in code.identifiers:
        return frozenset()
    found = set[Span]()
    kept = [*_parsed(code)]
    for one in kept:
        found.update(_lacking_in(one))
        kept += _given_back(code, one)
    return frozenset(found)


def _parsed(code: Code) -> Iterator[_Kept]:
    """What the parsers of a file give."""
    for function in code.functions():
        for at, _ in function.each(op.CALL):
            if not _makes(function, at):
                continue
            uses = _uses(function, at)
            options = _options(uses)
            for use in uses or () if options is not None else ():
                for call in use.function.users[use.at]:
                    if _method(use) in PARSES and _takes_none(use.function, call.op):
                        yield from _kept(
                            use.function, call.op, options or frozenset(), two=_method(use) == "parse_known_args"
                        )


def _makes(function: Function, call: int) -> bool:
    """Whether a call makes a new parser without any options."""
    made = function.call(call)
    plain = len(made.positional) <= 3 and not made.unpacked and _OWN.issuperset(made.named)
    return plain and function.external(made.callee) == _PARSER


def _takes_none(function: Function, call: int) -> bool:
    given = function.call(call)
    return len(given.positional) <= 1 and not given.unpacked and {"args"}.issuperset(given.named)


def _uses(function: Function, value: int) -> tuple[_Use, ...] | None:
    """All uses of a value, through the variable that keeps it; None where that may hold something else, too."""
    found = list[_Use]()
    for use in function.users[value]:
        operation = function.ops[use.op]
        if operation[0] != op.STORE:
            found.append(_Use(function, use.op))
            continue
        binding = function.binding(operation[1])
        if len(function.code.stores(binding)) != 1:
            return None
        found += (_Use(home, taken.op) for home, read in function.code.reads(binding) for taken in home.users[read])
    return tuple(found)


def _method(use: _Use) -> str:
    """The method that is called of a value, by all that takes it; "" for any other use."""
    function, at = use
    operation = function.ops[at]
    calls = operation[0] == op.ATTR and function.users[at]
    called = calls and all(function.ops[call.op][0] == op.CALL and call.place == 1 for call in calls)
    return function.code.strings[operation[2]] if called else ""


def _options(uses: tuple[_Use, ...] | None) -> frozenset[str] | None:
    """The options of a parser, or of a group of them; None if anything else may be done with it."""
    options = set[str]()
    for use in uses if uses is not None else ():
        method = _method(use)
        for call in use.function.users[use.at] if method else ():
            added = _added(use.function, method, call.op)
            if added is None:
                return None
            options |= added
        if not method:
            return None
    return frozenset(options) if uses is not None else None


def _added(function: Function, method: str, at: int) -> frozenset[str] | None:
    """The options that the call of a parser's method adds; None where that can't be known."""
    call = function.call(at)
    if method == "add_argument":
        return read_as(function, at)
    if method == "set_defaults":
        return frozenset(call.named) if not call.unpacked else None
    if method in _GROUPS:
        return _options(_uses(function, at))
    return frozenset() if method in PARSES or method in _HARMLESS else None


def read_as(function: Function, at: int) -> frozenset[str] | None:
    """The attribute that an option is read by which a call adds; None where that can't be known."""
    call = function.call(at)
    flags = [*map(function.constant, call.positional)]
    dest, action = (function.constant(call.named[name]) if name in call.named else None for name in ("dest", "action"))
    if call.unpacked or not all(isinstance(text, str) for text in flags) or not isinstance(action, str | None):
        return None
    if "dest" in call.named:
        return frozenset({dest}) if isinstance(dest, str) else None
    texts = [text for text in flags if isinstance(text, str)]
    first = next((text for text in texts if text.startswith("--")), texts[0] if texts else "")
    return frozenset({first.lstrip("-").replace("-", "_") if first.startswith("-") else first}) if first else None


def _kept(function: Function, call: int, options: frozenset[str], *, two: bool) -> Iterator[_Kept]:
    """What a call has parsed, where it is kept.

    Args:
        two: whether the call also gives what is left.
    """
    values = [call]
    if two:
        taken = (use.op for use in function.users[call])
        values = [at for at in taken if function.ops[at][0] == op.PART and function.ops[at][2] == 0]
    for value in values:
        uses = _uses(function, value)
        if uses is not None:
            written = {
                use.function.code.strings[use.function.ops[use.at][2]]
                for use in uses
                if use.function.ops[use.at][0] == op.SET_ATTR
            }
            yield _Kept(Place(function, value), options | written, uses)


def _leaks(kept: _Kept) -> list[_Use]:
    """Where more is done with it than to read and set its attributes, and to look at it."""
    return [use for use in kept.uses if not _is_read(use)]


def _is_read(use: _Use) -> bool:
    operation, strings = use.function.ops[use.at], use.function.code.strings
    if operation[0] in (op.ATTR, op.SET_ATTR, op.DELETE_ATTR):
        return not strings[operation[2]].startswith("_")
    if operation[0] == op.CALL:
        return use.function.dotted(operation[1]) in _LOOKS
    return operation[0] == op.FORMAT


def _lacking_in(kept: _Kept) -> Iterator[Span]:
    """Where attributes are read that it surely doesn't have: before anything else is done with it, and if a whole file has it, which may
    get some from others between calls of its functions, only where that runs from the top."""
    home = kept.place.function
    leaks = _leaks(kept)
    if any(use.function is not home for use in leaks):
        return  # a function has it, which may run at any time
    first = min((use.at for use in leaks), default=len(home.ops))
    for use in kept.uses:
        operation = use.function.ops[use.at]
        name = use.function.code.strings[operation[2]] if operation[0] == op.ATTR else "_"
        if name.startswith("_") or name in kept.options:
            continue
        here = use.function is home and kept.place.at < use.at < first
        if here or (use.function is not home and home.number and not leaks):
            yield use.function.spans[use.at]


def _given_back(code: Code, kept: _Kept) -> Iterator[_Kept]:
    """What the calls of a function of the top level give, if that does nothing else with what it has parsed than to give it back."""
    function = kept.place.function
    returns = [at for at, _ in function.each(op.RETURN)]
    back = [use for use in _leaks(kept) if use.function is function and use.at in returns]
    if function.header.parent or not function.number or len(returns) != 1 or back != _leaks(kept) or len(back) != 1:
        return
    top = code.module
    made = [(at, operation) for at, operation in top.each(op.FUNCTION) if operation[1] == function.number]
    if not made or made[0][1][2] or function.header.kind & GENERATOR:
        return
    for use in _uses(top, made[0][0]) or ():
        if use.function.ops[use.at][0] == op.CALL and use.function.dotted(use.function.ops[use.at][1]) == function.name:
            yield from _kept(use.function, use.at, kept.options, two=False)
