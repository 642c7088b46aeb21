"""Folders that a file puts on Python's search path when it is run: `sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))`,
in a loop, or by a function of its own or of another file.

What it may assume: what is said relative to the working directory is meant relative to the file's own folder, in which such scripts are
started; whatever is asked on the way, each way may be taken.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple

from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.records import REST
from detlint.ir.uses import Op

FILE: Final = "__file__"
MOST: Final = 16
"""So many values are told apart that something may have."""
DEEPEST: Final = 8
"""How many calls are followed into each other."""
MOST_STEPS: Final = 100
"""So far a value is followed back to what it is made of."""
MOST_VALUES: Final = 5_000
"""So many of a file are looked at."""
_PUTS: Final = frozenset({"sys.path.append", "sys.path.extend", "sys.path.insert", "site.addsitedir"})
_PATH: Final = "sys.path"
_SAME: Final = frozenset({
    "str", "list", "tuple", "sorted", "reversed", "set", "os.fspath", "os.path.abspath", "os.path.expanduser", "os.path.normpath",
    "os.path.realpath", "open", "io.open", "codecs.open",
})  # fmt: skip
"""What gives what it gets, spelled otherwise or in another order."""
_SAME_METHODS: Final = frozenset(
    {"absolute", "as_posix", "expanduser", "open", "read", "read_bytes", "read_text", "resolve"}
)
_JOINS: Final = frozenset({"os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"})
_HERE: Final = frozenset({"os.getcwd", "pathlib.Path.cwd"})
_NAMES: Final = {
    "os.pardir": "..",
    "os.path.pardir": "..",
    "os.curdir": ".",
    "os.path.curdir": ".",
    "os.sep": "/",
    "os.path.sep": "/",
}

Path = str | tuple[str, ...]
"""A text, or several in a list. A parameter that isn't known is `<n>`."""
Given = Mapping[int, tuple[Path, ...]]
"""Parameters, by their slots -> what they may be."""


class Handed(NamedTuple):
    """A call of a function of another file."""

    name: str
    """Dotted; it begins with as many dots as the import of it is relative."""
    arguments: tuple[tuple[str, ...], ...]
    """The folders that each may be."""


class Puts(NamedTuple):
    """What a file puts on the path, relative to its own folder, with slashes, in the order in which it is put there."""

    folders: tuple[str, ...] = ()
    """Its own folder is left out, which is on the path anyway."""
    by_functions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What its functions put there that others may call, `<n>` for their parameters: `<0>/lib`."""
    handed: tuple[Handed, ...] = ()
    """Calls that may put something there."""


NOTHING: Final = Puts()


def put_on_path(code: Code) -> Puts:
    """What a file puts on the path."""
    return _Reader(code, {"sys", "path"}.issubset(code.strings) or "addsitedir" in code.strings).puts()


def paths(code: Code, function: Function, at: int, given: Given) -> list[str]:
    """The paths that a value of a function may be, or those of the files that it may be opened from, from the folder of its own file.

    Args:
        given: what the function's parameters are, and its attributes, by their ops below 0.
    """
    found = _Reader(code, False)._values(function, at, given)
    return [
        posixpath.normpath(f"{FILE}/../{each}" if each[:1] != "/" and not each.startswith(FILE) else each)
        for each in _texts(found)
    ]


def filled(pattern: str, arguments: Sequence[Iterable[str]], folder: str) -> Iterator[str]:
    """What a function of a file in a folder puts on the path that gets some arguments."""
    if pattern[0] != "<":
        yield posixpath.join(folder, pattern)
        return
    number, _, rest = pattern.partition(">")
    for argument in arguments[int(number[1:])] if int(number[1:]) < len(arguments) else ():
        yield posixpath.normpath(argument + rest)


class _Reader:
    """Args:
    says: whether the file itself may put something there.
    """

    def __init__(self, code: Code, says: bool) -> None:
        self._code = code
        self._says = says
        self._has_place = FILE in code.strings
        self._found: dict[str, None] = {}
        self._handed: dict[Handed, None] = {}
        self._entered: set[tuple[int, str]] = set()
        self._known: dict[tuple[object, ...], tuple[Path, ...]] = {}
        self._depth = 0

    def puts(self) -> Puts:
        self._run(self._code.module, {})
        by_functions: list[tuple[str, tuple[str, ...]]] = []
        own, self._found = self._found, {}
        for function in self._code.functions() if self._says else ():
            if function.header.parent == 0 and not function.is_class and not self._is_entered(function):
                self._run(function, {i: (f"<{i}>",) for i in range(len(function.header.parameters))})
                if self._found:
                    by_functions.append((function.name, tuple(self._found)))
                self._found = {}
        folders = (path for path in own if path != "." and not path.startswith(("/", "<")))
        return Puts(tuple(folders), tuple(by_functions), tuple(self._handed))

    def _is_entered(self, function: Function) -> bool:
        """Whether it was called, or can't put anything on the path."""
        called = any(number == function.number for number, _ in self._entered)
        return (called and not function.header.parameters) or not self._touches(function)

    def _touches(self, function: Function) -> bool:
        """Whether a function itself says where modules are looked for."""
        return any(self._name(function, at) in (_PATH, *_PUTS) for at, _ in function.each(op.ATTR, op.LOAD))

    # -- what is run ----------------------------------------------------------------------------------------------------

    def _run(self, function: Function, given: Given) -> None:
        for at, operation in enumerate(function.ops):
            if operation[0] == op.CALL:
                self._call(function, at, given)
            elif self._says and self._changed(function, operation) == _PATH:
                self._put(self._values(function, operation[3], given))

    def _changed(self, function: Function, operation: Op) -> str:
        """The dotted name of what an op changes by its last operand."""
        if operation[0] == op.AUGMENT or operation[0] == op.SET_ITEM:
            return self._name(function, operation[2 if operation[0] == op.AUGMENT else 1])
        if operation[0] != op.SET_ATTR:
            return ""
        return f"{self._name(function, operation[1])}.{self._code.strings[operation[2]]}"

    def _call(self, function: Function, at: int, given: Given) -> None:
        call = function.call(at)
        name = self._name(function, call.callee)
        if name in _PUTS:
            self._put(self._values(function, call.positional[-1], given) if call.positional else ())
            return
        for called in self._own(function, call.callee) if self._says else ():
            bound = self._bound(called, function, at, given)
            key = called.number, repr(bound)
            if key not in self._entered and self._depth < DEEPEST:
                self._entered.add(key)
                self._depth += 1
                self._run(called, bound)
                self._depth -= 1
        if function.number == 0 and "." in name and name.partition(".")[0] not in sys.stdlib_module_names:
            alone = not call.values() and not function.users[at]
            if alone or (self._has_place and any(self._is_own_folder(function, value) for value in call.positional)):
                arguments = [self._values(function, value, given) for value in call.positional]
                self._handed[Handed(name, tuple(tuple(_texts(argument)) for argument in arguments))] = None

    def _is_own_folder(self, function: Function, value: int) -> bool:
        """Whether a value comes from where the file stands."""
        parts = [*function.within(value)]
        meant = [function.meant(part) for part in parts]
        deeper = (inner for part, at in zip(parts, meant, strict=True) if at != part for inner in function.within(at))
        return any(self._name(function, part) == FILE for part in (*parts, *deeper))

    def _put(self, values: Iterable[Path]) -> None:
        for text in _texts(values):
            if text and "<" not in text[1:]:
                self._found[posixpath.normpath(text) if text[0] != "<" else text] = None

    def _bound(self, called: Function, function: Function, at: int, given: Given) -> Given:
        call = function.call(at)
        names = [called.text(slot) for slot in range(len(called.header.parameters))]
        bound = dict(enumerate(self._values(function, value, given) for value in call.positional))
        rest = next((slot for slot, p in enumerate(called.header.parameters) if p.kind == REST), len(bound))
        if rest < len(bound):
            bound[rest] = (tuple(text for slot in [*bound] if slot >= rest for text in _texts(bound.pop(slot))),)
        bound |= {names.index(k): self._values(function, v, given) for k, v in call.named.items() if k in names}
        for slot, parameter in enumerate(called.header.parameters):
            if slot not in bound and parameter.default >= 0 and called.parent is not None:
                bound[slot] = self._values(called.parent, parameter.default, {})
        return bound

    def _own(self, function: Function, callee: int) -> Iterator[Function]:
        """The functions of the file's top level that are called."""
        operation = function.ops[callee]
        binding = function.binding(operation[1]) if operation[0] == op.LOAD else None
        if binding is not None and binding.owner == 0 and binding.slot >= 0:
            for home, at in self._code.stores(binding):
                made = home.ops[home.ops[at][2]] if home.ops[at][0] == op.STORE else (op.END,)
                if made[0] == op.FUNCTION:
                    yield self._code.function(made[1])

    # -- what names and values are --------------------------------------------------------------------------------------

    @cached_property
    def _imported(self) -> dict[str, str]:
        """Names that imports bind -> what they stand for."""
        strings = self._code.strings
        found = {}
        for each in self._code.ir.imports:
            if each.name >= 0:
                module, name = strings[each.module], strings[each.name]
                first = each.member < 0 and name == module.partition(".")[0]
                parts = [name] if first else [module, strings[each.member]] if each.member >= 0 else [module]
                found[name] = "." * each.level + ".".join(filter(None, parts))
        return found

    def _name(self, function: Function, value: int) -> str:
        """The dotted name of what is imported or built in; "" for anything else."""
        root, attributes = function.chain(value)
        operation = function.ops[root]
        if operation[0] != op.LOAD:
            return ""
        text = function.text(operation[1])
        known = self._imported.get(text, text if function.binding(operation[1]).slot < 0 else "")
        return ".".join((known, *attributes)) if known else ""

    def _values(self, function: Function, at: int, given: Given) -> tuple[Path, ...]:
        """The paths that a value may be; none where it isn't known, or where it is made of itself."""
        key = function.number, at, *sorted(given.items())
        if at < 0 or self._depth > MOST_STEPS or len(self._known) > MOST_VALUES:
            return ()
        if key not in self._known:
            self._known[key] = ()
            self._depth += 1
            self._known[key] = tuple(dict.fromkeys(self._found_values(function, at, given)))[:MOST]
            self._depth -= 1
        return self._known[key]

    def _found_values(self, function: Function, at: int, given: Given) -> Iterable[Path]:
        operation = function.ops[at]
        code = operation[0]
        if code == op.CONST:
            constant = function.constant(at)
            return (constant,) if isinstance(constant, str) else ()
        if code == op.LOAD:
            return self._loaded(function, at, given)
        if code == op.ATTR:
            if -at in given:
                return given[-at]
            text = _NAMES.get(self._name(function, at))
            parent = self._code.strings[operation[2]] == "parent"
            return (text,) if text else _above(self._values(function, operation[1], given)) if parent else ()
        if code in (op.LIST, op.TUPLE, op.SET):
            return (tuple(t for item in operation[1:] for t in _texts(self._values(function, item, given))),)
        if code in (op.CHOICE, op.STAR):
            arms = operation[2:] if code == op.CHOICE else operation[1:]
            return [value for arm in arms for value in self._values(function, arm, given)]
        if code in (op.FOR, op.PART):  # which of several isn't told apart
            return list(_texts(self._values(function, operation[1], given)))
        if code == op.COLLECT:
            gives = [n for n in range(operation[2], at) if function.ops[n][0] == op.GIVE]
            return (tuple(t for n in gives for t in _texts(self._values(function, function.ops[n][1], given))),)
        if code in (op.BINARY, op.AUGMENT):
            return self._put_together(function, operation, given)
        if code in (op.TEXT, op.FORMAT):
            parts = operation[1:] if code == op.TEXT else operation[1:2]
            return _each("".join, [self._values(function, part, given) for part in parts])
        if code == op.WITH:
            return self._values(function, operation[1], given)
        if code == op.ITEM:
            return self._item(function, operation, given)
        return self._called(function, at, given) if code == op.CALL else ()

    def _loaded(self, function: Function, at: int, given: Given) -> Iterable[Path]:
        slot = function.ops[at][1]
        if self._name(function, at) == FILE:
            return (FILE,)
        parameter = function.parameter(at)
        if parameter >= 0:
            return given.get(parameter, ())
        stored = function.stored(at)
        if stored is not None:
            return [value for made in stored for value in self._values(function, made, given)]
        binding = function.binding(slot)
        kept = self._code.stores(binding) if binding.slot >= 0 and binding.owner != function.number else ()
        places = [(home, home.ops[n][2]) for home, n in kept if home.ops[n][0] == op.STORE]
        return [value for home, made in places for value in self._values(home, made, {})]

    def _put_together(self, function: Function, operation: Op, given: Given) -> Iterable[Path]:
        sides = [self._values(function, side, given) for side in operation[2:]]
        sign = self._code.strings[operation[1]]
        if sign == "/":
            return _each(_joined, sides)
        lists = [value for side in sides for value in side if isinstance(value, tuple)]
        if sign != "+" or lists:
            return lists if sign == "+" else ()
        return _each("".join, sides)

    def _item(self, function: Function, operation: Op, given: Given) -> Iterable[Path]:
        """`sys.path[0]`, which is the folder of the script; `Path(__file__).parents[1]`; an item of a list."""
        base, number = function.ops[operation[1]], function.constant(operation[2])
        if self._name(function, operation[1]) == _PATH:
            return (".",) if number == 0 else ()
        if base[0] == op.ATTR and self._code.strings[base[2]] == "parents" and isinstance(number, int):
            values: Iterable[Path] = self._values(function, base[1], given)
            for _ in range(min(number, MOST) + 1):
                values = _above(values)
            return values
        lists = [value for value in self._values(function, operation[1], given) if isinstance(value, tuple)]
        if isinstance(number, int):
            return [value[number] for value in lists if -len(value) <= number < len(value)]
        return [text for value in lists for text in value]

    def _called(self, function: Function, at: int, given: Given) -> Iterable[Path]:
        call = function.call(at)
        name = self._name(function, call.callee)
        arguments = [self._values(function, value, given) for value in call.positional]
        if name in _HERE or (name in _JOINS and not arguments):
            return (".",)
        if name in _JOINS:
            return _each(_joined, arguments)
        if name in _SAME:
            return arguments[0] if arguments else ()
        if name in ("os.path.dirname", "os.path.split"):
            above = _above(arguments[0]) if arguments else ()
            return above if name == "os.path.dirname" else [tuple(_texts([path])) for path in above]
        if name == "map":
            return arguments[-1] if len(arguments) > 1 else ()
        if name in ("inspect.getfile", "inspect.getsourcefile"):
            return (FILE,)
        own = [
            value
            for called in self._own(function, call.callee)
            for _, operation in called.each(op.RETURN)
            for value in self._values(called, operation[1], self._bound(called, function, at, given))
        ]
        if own or function.ops[call.callee][0] != op.ATTR:
            return own
        method = self._code.strings[function.ops[call.callee][2]]
        held = self._values(function, function.ops[call.callee][1], given)
        return _each(_joined, [held, *arguments]) if method == "joinpath" else held if method in _SAME_METHODS else ()


def _texts(values: Iterable[Path]) -> Iterator[str]:
    for value in values:
        yield from (value,) if isinstance(value, str) else value


def _above(paths: Iterable[Path]) -> list[Path]:
    """The folders that paths stand in; nothing is known above the parameter of a function, but that it is above that."""
    return [
        posixpath.normpath(f"{path}/..") if path[:1] != "<" else f"{path}/.."
        for path in _texts(paths)
        if path[:1] != "/"
    ]


def _joined(parts: Sequence[str]) -> str:
    return posixpath.join(*parts)


def _each(join: Callable[[Sequence[str]], str], parts: Sequence[Iterable[Path]]) -> list[Path]:
    """What comes of joining parts, each of which may be several."""
    chosen = product(*([*_texts(part)] for part in parts))
    return [join(each) for _, each in zip(range(MOST), chosen, strict=False)]
