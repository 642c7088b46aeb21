"""What the code of a file gives a key of settings: `config.key = ...`, `dict(key=...)`, `{"key": ...}`, an option, a field of a class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from detlint.domains.constant.evaluator import literal
from detlint.ir import ops as op
from detlint.ir.code import Code, Function
from detlint.ir.records import FUNCTION, KIND
from detlint.ir.tests import comparison
from detlint.ir.uses import Use
from detlint.model.imported import text_of
from detlint.model.launches.settings import TABLES, makes_tables
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Const, Ref

_MAKES: Final = frozenset(
    {"dict", "update", "replace", "_replace", "evolve", "merge", "override", "copy", "model_copy", "from_dict"}
    | {"from_pretrained"}
)
"""What makes settings of keywords, or sets them so."""
_NAMING: Final = frozenset({"dest", "key", "name"})
"""What functions call the parameter by which they are told the name of a setting."""
_CONFIGURE: Final = frozenset({"config", "named_config"})
"""Decorators of sacred that make settings of a function's variables."""
TRUTH: Final = Const("bool()")
"""Stands for whether the value of a key is true, which code puts in its place: only of a text is that anything else."""
IS: Final = "== "
"""Stands before a text for whether the value of a key is that, which code puts in its place: `config.clip = config.clip == "True"`."""
_DEFINES: Final = frozenset({op.FUNCTION, op.CLASS, op.IMPORT, op.MEMBER, op.CAUGHT})
"""What binds a name otherwise than by an assignment, or a loop."""
_COLLECTIONS: Final = frozenset({op.LIST, op.TUPLE, op.SET})


def writes(resolver: Resolver, path: str, key: str, *, unpacked: bool = False) -> Writes:
    """What finds what the code of a file gives a key, by what its names mean."""
    module = resolver.module(path)

    def is_of_library(owner: str) -> bool:
        return not makes(owner) and any("::" not in base for base in resolver.classes.mro(f"{path}::{owner}")[1:])

    def is_of_framework(name: str) -> bool:
        meant = module.facts.names.get(name) if module is not None else None
        return isinstance(meant, Ref) and meant.name.partition(".")[0] in resolver.catalog.roots

    def makes(name: str) -> bool:
        full = resolver.meant(module, name) if module is not None else ""
        return full in TABLES or ("::" in full and makes_tables(resolver, full))

    return Writes(key, is_of_library, is_of_framework, makes, unpacked)


class Writes:
    """Finds what code gives a key: `config.key = ...`, `dict(key=...)`, `{"key": ...}`, an option, a field of a class.

    Args:
        is_of_library: whether a class of the file derives from one that a library makes objects of, and no tables: a layer, a data set.
        is_of_framework: whether a name of the file is a module of a framework, or something in one.
        makes: whether what has a name in the file makes tables.
        unpacked: whether tables are unpacked for calls, to which any other may hand keywords on.
    """

    def __init__(
        self,
        key: str,
        is_of_library: Callable[[str], bool],
        is_of_framework: Callable[[str], bool],
        makes: Callable[[str], bool],
        unpacked: bool = False,
    ) -> None:
        self._key = key
        self._unpacked = unpacked
        self._is_of_framework = is_of_framework
        self._makes_tables = makes
        self._is_of_library = is_of_library
        self.declared = False
        """Whether a parser has it as an option."""

    def of(self, code: Code) -> Iterator[Const | None]:
        if self._key not in code.identifiers and not any(self._key in text.replace("-", "_") for text in code.texts):
            return
        for function in code.functions():
            owner = _owner(function)
            own = owner is not None and not self._makes_tables(owner.name)
            keeps = own and owner is not None and self._is_of_library(owner.name)
            for at, operation in enumerate(function.ops):
                yield from self._by_op(function, at, operation[0], keeps)
            if function.header.kind & KIND == FUNCTION and not own:
                yield from (None,) if function.name == self._key else self._by_default(function)
            if not function.number or function.is_class or _is_of_settings(function):
                yield from self._fields(function)

    def _by_op(self, function: Function, at: int, code: int, keeps: bool) -> Iterator[Const | None]:
        """What an op gives the key.

        Args:
            keeps: whether what an object of the class around keeps under that name is no setting.
        """
        operation, strings = function.ops[at], function.code.strings
        if code == op.CALL or code == op.CLASS:
            if code == op.CALL and self._declares(function, at):
                self.declared = True
                yield _usual(function, at)
            value = function.call(at).named.get(self._key, -1)
            if value >= 0 and not (code == op.CALL and self._hands_on(function, at, value)):
                yield from self._written(function, value)
        elif code == op.SET_ATTR or code == op.DELETE_ATTR:
            if strings[operation[2]] == self._key and not (keeps and function.is_self(operation[1])):
                yield from self._written(function, operation[3] if code == op.SET_ATTR else -1)
        elif code == op.SET_ITEM or code == op.DELETE_ITEM:
            if self._is_key(text_of(function, operation[2])):
                yield from self._written(function, operation[3] if code == op.SET_ITEM else -1)
        elif code == op.DICT:
            for key, value in zip(operation[1::2], operation[2::2], strict=True):
                yield from self._written(function, value) if self._is_key(text_of(function, key)) else ()
        elif code == op.CONST and (text := text_of(function, at)) and not self._is_telling(function, at):
            asks = any(self._asks(function, use) for use in function.users[at])
            yield from (None,) if self._may_name(text, by_itself=not asks) else ()
        elif code == op.MEMBER:  # a module is no setting
            stored = (function.ops[use.op] for use in function.users[at] if function.ops[use.op][0] == op.STORE)
            names = {strings[operation[2]], *(function.text(store[1]) for store in stored)}
            yield from (None,) if self._key in names else ()

    def _is_telling(self, function: Function, at: int) -> bool:
        """Whether a text is an option's name, tells of one, or is kept under a name that is only compared, and put into other texts."""
        return any(self._tells(function, use) for use in function.users[at])

    def _tells(self, function: Function, use: Use) -> bool:
        operation, strings = function.ops[use.op], function.code.strings
        if operation[0] == op.CALL:
            named = use.place > 2 + operation[2]
            return strings[operation[use.place - 1]] == "help" if named else self._declares(function, use.op)
        if operation[0] != op.STORE or function.header.kind & KIND != FUNCTION:
            return False
        own = function.names[operation[1]].owner == function.number and operation[1] not in function.shared
        loads = function.loads.get(use.op, ())
        taking = (function.ops[more.op][0] for load in loads for more in function.users[load])
        return own and all(code in (op.FORMAT, op.COMPARE) for code in taking)

    def _asks(self, function: Function, use: Use) -> bool:
        """Whether a use of a text only asks for the key, or is the value of something else."""
        operation, strings = function.ops[use.op], function.code.strings
        if operation[0] == op.CALL:
            last = function.called(use.op)
            if use.place > 2 + operation[2]:
                return strings[operation[use.place - 1]] not in _NAMING
            return use.place == {"get": 3, "getattr": 4, "hasattr": 4}.get(last)
        if operation[0] == op.COMPARE:
            return use.place == 1 or not _may_be_key(function, operation[1])
        if operation[0] in _COLLECTIONS:
            return any(
                function.ops[more.op][0] == op.COMPARE and self._asks(function, more) for more in function.users[use.op]
            )
        return operation[0] == op.DICT or (operation[0] in (op.ITEM, op.SET_ITEM, op.DELETE_ITEM) and use.place == 2)

    def _declares(self, function: Function, at: int) -> bool:
        """Whether a call gives a parser the key as an option, by its name alone: `parser.add_argument("--key", default=...)`."""
        if function.called(at) != "add_argument" or function.called_on(at) < 0:
            return False
        names = [text_of(function, value) for value in function.call(at).positional]
        return all(name.startswith("-") for name in names) and any(
            name.lstrip("-").replace("-", "_") == self._key for name in names if name.startswith("--")
        )

    def _hands_on(self, function: Function, at: int, value: int) -> bool:
        """Whether a keyword of a call hands on what the key of some table is, or a parameter of that name, to what makes no settings."""
        callee = function.dotted(function.ops[at][1])
        if function.called(at) in _MAKES or self._makes_tables(callee):
            return False
        if self._is_of_framework(callee.partition(".")[0]) or self._reads(function, function.meant(value)):
            return True
        given = function.given(value)
        return not self._unpacked and given is not None and given[0].text(given[1]) == self._key

    def _is_key(self, text: str) -> bool:
        """Whether a string is the key, also below others (`model.clip`), or as an option."""
        return text.lstrip("-").replace("__", ".").rpartition(".")[2].replace("-", "_") == self._key

    def _may_name(self, text: str, by_itself: bool) -> bool:
        """Whether a string may say the key to somebody who sets it: as an option, with a value, or by itself if that counts."""
        alone = by_itself and text.lstrip("-").replace("-", "_") == self._key
        return alone or any(_gives(before, behind) for before, behind in self._said_in(text))

    def _said_in(self, text: str) -> Iterator[tuple[str, str]]:
        """What stands before and behind the key in a text, wherever it is a word of its own."""
        said, at = text.replace("-", "_"), -1
        while (at := said.find(self._key, at + 1)) >= 0:
            before, behind = said[:at].rstrip("_"), said[at + len(self._key) :]
            if not before[-1:].isalnum() and not (behind[:1].isalnum() or behind[:1] == "_"):
                yield text[:at], text[at + len(self._key) :]

    def _written(self, function: Function, value: int) -> Iterator[Const | None]:
        """What is written for the key; nothing where that is what it is anyway, but for what `get` gives where it is missing."""
        is_call = value >= 0 and function.ops[value][0] == op.CALL
        positional = function.call(value).positional if is_call else ()
        if (
            is_call
            and function.called(value) == "bool"
            and function.called_on(value) < 0
            and any(self._reads(function, one) for one in positional)
        ):
            yield TRUTH
        elif value >= 0 and (text := self._compared(function, value)):
            yield Const(f"{IS}{text}")
        elif value < 0 or not self._reads(function, value):
            yield literal(function, value) if value >= 0 else None
        elif is_call:
            yield from self._written(function, positional[1]) if len(positional) > 1 else (Const(None),)

    def _compared(self, function: Function, value: int) -> str:
        """The text of which a comparison says whether the key is that; "" for any other."""
        found = comparison(function, value)
        alike = found is not None and found.word == "==" and self._reads(function, found.left)
        return text_of(function, found.right) if found is not None and alike else ""

    def _reads(self, function: Function, value: int) -> bool:
        """Whether a value is the key of some table."""
        operation, strings = function.ops[value], function.code.strings
        if operation[0] == op.CALL:
            call = function.call(value)
            asks = (
                function.called(value) == "get" and function.called_on(value) >= 0 and not (call.named or call.unpacked)
            )
            return asks and bool(call.positional) and text_of(function, call.positional[0]) == self._key
        if operation[0] == op.ATTR:
            return strings[operation[2]] == self._key
        return operation[0] == op.ITEM and text_of(function, operation[2]) == self._key

    def _by_default(self, function: Function) -> Iterator[Const | None]:
        """What a function takes by default under that name, which it may make settings of."""
        for slot, parameter in enumerate(function.header.parameters):
            if parameter.default >= 0 and function.parent is not None and function.text(slot) == self._key:
                yield from self._written(function.parent, parameter.default)

    def _fields(self, function: Function) -> Iterator[Const | None]:
        """What a class, a file, or a function that is made settings, has under that name."""
        slots = function.slots.get(self._key, ())
        bound = [(at, o) for at, o in function.each(op.STORE, op.DELETE, op.ANNOTATE) if slots and o[1] in slots]
        begun = {function.spans[at][:2] for at, operation in bound if operation[0] == op.STORE}
        for at, operation in bound:
            if operation[0] == op.DELETE or (operation[0] == op.ANNOTATE and function.spans[at][:2] not in begun):
                yield None
            elif operation[0] == op.STORE and function.ops[operation[2]][0] not in _DEFINES:
                yield from self._written(function, operation[2])


def _gives(before: str, behind: str) -> bool:
    """Whether a text gives a key something, or names it as an option or below others, by what stands around it."""
    if before.endswith("--"):
        return True
    following = behind.lstrip("\"'").lstrip()
    gives = (following[:1] == "=" and following[1:2] != "=") or (following[:1] == ":" and following[1:].strip() != "")
    return gives or (
        before.endswith(".") and (not behind or (behind[0] in " \t" and following[:1] not in ("=", ":", "")))
    )


def _may_be_key(function: Function, value: int) -> bool:
    """Whether a value may be any key of a table: a loop goes over such, or a function is told one."""
    value = function.meant(value)
    operation = function.ops[value]
    if operation[0] == op.PART and operation[2] == 0:
        operation = function.ops[operation[1]]
    return operation[0] == op.FOR or function.given(value) is not None


def _owner(function: Function) -> Function | None:
    """The class of the top level that a function stands in; None for none."""
    while function.parent is not None and function.parent.number:
        function = function.parent
    return function if function.is_class else None


def _is_of_settings(function: Function) -> bool:
    """Whether a function's variables are settings: `@experiment.named_config`."""
    definition = function.parent.ops[function.definition] if function.parent is not None and function.number else ()
    decorators = definition[3 : 3 + definition[2]] if definition and definition[0] == op.FUNCTION else ()
    around = function.parent or function
    return any(_named(around, one) in _CONFIGURE for one in decorators)


def _named(function: Function, at: int) -> str:
    """The last name of a value, also of what calls give: `named_config` of `experiment().named_config`."""
    operation = function.ops[at]
    return function.dotted(at) if operation[0] != op.ATTR else function.code.strings[operation[2]]


def _usual(function: Function, at: int) -> Const | None:
    """What an option is that nobody gives, where it is declared; None where that isn't known, as of a text that becomes something else."""
    call = function.call(at)
    said = call.named
    if call.unpacked or not said.keys().isdisjoint({"dest", "required"}):
        return None
    action = text_of(function, said["action"]) if "action" in said else "store"
    flags = {"store_true": Const(False), "store_false": Const(True)}
    found = literal(function, said["default"]) if "default" in said else flags.get(action, Const(None))
    of_text = function.dotted(said["type"]) == "str" if "type" in said else True
    if not action or found is None or (isinstance(found.value, str) and not of_text):
        return None
    return found
