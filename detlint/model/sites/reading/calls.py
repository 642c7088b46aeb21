"""Calls: their arguments, and what methods do to what the file knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from detlint.ir import ops as op
from detlint.ir.uses import Op
from detlint.model import elements, sets
from detlint.model.sets import MAKES_SET
from detlint.model.sites.reading.annotations import Annotations
from detlint.model.sites.reading.handlers import SPECIAL, of
from detlint.model.sites.reading.values import (
    DEEPEST_VALUE,
    PASSES,
    depth_of,
    is_table,
    tail_of,
    updated,
    without,
)
from detlint.model.sites.records import (
    TAKES_OUT,
    UNKNOWN_RECEIVER,
    Arg,
    Branch,
    Const,
    Either,
    Instance,
    Items,
    Mapping,
    Member,
    Option,
    Param,
    Parameter,
    Ref,
    Result,
    Value,
    options,
)
from detlint.model.sites.scope import join

_BUILT_IN: Final = {
    f"builtins.{name}": Instance(f"builtins.{made}")
    for name, made in (
        ("list", "list"), ("dict", "dict"), ("tuple", "tuple"), ("str", "str"), ("int", "int"), ("float", "float"), ("range", "range"),
        ("len", "int"), ("ord", "int"),
    )
}  # fmt: skip
"""What functions of the language give."""
_TELLS: Final = frozenset({
    "add_argument", "set_defaults", "update", "register_module", "add", "extend", "pop", "setdefault",
})  # fmt: skip
"""Methods whose name tells the reader something."""
_EXITS: Final = frozenset({"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"})
_NONE: Final[Sequence[Arg]] = ()


class Calls(Annotations):
    """Reads calls."""

    @of(op.CALL)
    def _call(self, at: int, operation: Op) -> Value | None:
        function, count = operation[1], operation[2]
        callee, attr = self.made[function], ""
        if self.ops[function][0] == op.ATTR:
            attr = self.strings[self.ops[function][2]]
            if callee is None and attr in self.catalog.methods:
                callee = Member(UNKNOWN_RECEIVER, attr)
            if attr == "parse_args" and self.ends_cell(at):
                return None
        name = callee.name if type(callee) is Ref else ""
        if self.catalog.stand_ins and self.ops[function][0] == op.LOAD:
            name = self.catalog.stand_ins.get(self.scope.function.text(self.ops[function][1]), name)
        wanted = callee is not None and (
            self.wanted(callee)
            or (len(operation) > 3 + count and self.says_what_to_make(operation, name != ""))
            or (attr == "to" and count > 0 and self.converts(operation[3]))
        )
        args = _NONE
        tells = attr in _TELLS or (attr == "join" and self.ops[self.ops[function][1]][0] == op.CONST)
        if wanted or tells or name in self.kept:
            args = self.arguments(operation, wanted and tail_of(callee) in self.words)
            if tells:
                self.method_call(at, attr, callee, args)
            made = self.understood(at, name, args) if name in self.kept else None
            if made is not None:
                return made
        if callee is None:
            return None
        own = self.keyword(at, callee) if attr in TAKES_OUT and type(callee) is Member else None
        if own is not None:
            return own
        if attr == "copy" and type(callee) is Member and is_table(callee.base):
            return callee.base
        site = self.site("call", callee, tuple(args), at) if wanted else -1
        if _leaves(callee) and not self.scope.function.users[at]:
            self.steps.append(Branch("exit", None, ()))
            self.stop(at)
        if site < 0 and name.startswith("builtins."):
            # `int(time.time())` is still what the clock said.
            if name in PASSES and args and isinstance(args[0].value, (Result, Member, Param)):
                return args[0].value
            return _BUILT_IN.get(name)
        return Result(callee, site) if name or depth_of(callee) < DEEPEST_VALUE else None

    def keyword(self, at: int, callee: Member) -> Param | None:
        """What `options.pop("seed", None)` gives of a function's own `**options`: a parameter of it with a default, which only goes by its
        name."""
        given = [self.made[one] for one in self.scope.function.call(at).positional]
        key, default = given if len(given) == 2 and callee.base == self.rest() else (None, None)
        if not (type(key) is Const and isinstance(key.value, str) and type(default) is Const):
            return None
        return self.taken(at, key.value, default)

    def taken(self, at: int, key: str, default: Value | None) -> Param:
        """The parameter that a function takes out of its own `**options`."""
        number = self.scope.number
        detail = self.details[number]
        if not any(parameter.name == key for parameter in detail.parameters):
            *others, rest = detail.parameters
            made = Parameter(key, default, "", span=self.span(at))
            self.details[number] = msgspec.structs.replace(detail, parameters=(*others, made, rest))
        return Param(key, default)

    def rest(self) -> Value | None:
        """What the function that is read gets the keywords as that none of its parameters takes."""
        parameters = self.details[self.scope.number].parameters
        return Param(parameters[-1].name) if parameters and parameters[-1].kind == "**" else None

    def understood(self, at: int, name: str, args: list[Arg]) -> Value | None:
        """What a call gives whose meaning the reader itself needs."""
        made = SPECIAL[name](self, at, args) if name in SPECIAL else None
        if made is None and name in self.catalog.builders:
            made = self.instantiated(self.catalog.builders[name], at, args)
        return self.passed_on(name, at, args) if made is None and name in self.gone_through else made

    def arguments(self, operation: Op, written: bool) -> list[Arg]:
        """The arguments of a call.

        Args:
            written: whether those that aren't known are kept as they are written. That only matters to the rules, so only where the
                catalog may know the callee.
        """
        read = self.valued if written else self.made.__getitem__
        named = 3 + operation[2]
        args = []
        for given in operation[3:named]:
            if self.ops[given][0] == op.STAR:
                args.append(Arg("*", read(self.ops[given][1])))
            else:
                args.append(Arg("", read(given)))
        for word, given in zip(operation[named::2], operation[named + 1 :: 2], strict=True):
            args.append(Arg(self.strings[word] if word >= 0 else "**", read(given)))
        return args

    def method_call(self, at: int, attr: str, callee: Value | None, args: list[Arg]) -> None:
        """What a method's name alone tells: `parser.add_argument(...)`, `options.update(...)`."""
        operation = self.ops[at]
        of = self.ops[operation[1]][1]
        base = callee.base if isinstance(callee, Member) else None
        if attr in ("add", "update") and base is not None and self.unordered(base) is not None:
            self.added(of, base, at, args)
        elif attr == "extend" or attr == "join":
            if operation[2]:
                name = "builtins.iter" if attr == "extend" else "builtins.str.join"
                self.order(name, self.unordered(args[0].value), operation[3])
        elif attr == "add_argument":
            self.option(args, at, callee)
        elif attr == "register_module":
            things = [a.value.name for a in args if a.name in ("", "module") and isinstance(a.value, Ref)]
            if things:
                self.registered(at, things[0])
        elif attr == "set_defaults":
            for arg in args:
                known = self.options.get(arg.name)
                # What a parser says counts for it; of several subcommands' parsers any may be the one that is used.
                other = known is not None and not _same_owner(self.parsers.get(arg.name), callee)
                value = join((known.default, arg.value)) if known is not None and other else arg.value
                self.options[arg.name], self.parsers[arg.name] = Option(value, self.span(at)), callee
        elif attr == "update" and (callee is None or (base is not None and is_table(base))):
            self.dictionary_update(at, of, args)
        elif attr in ("pop", "setdefault") and base is not None and is_table(base):
            self.dictionary_change(attr, of, base, [arg.value for arg in args])

    def passed_on(self, name: str, at: int, args: list[Arg]) -> Value | None:
        """What a function gives that makes a set or goes through one; None where none is involved, or it gets an order."""
        call, function = self.scope.function.call(at), self.scope.function
        if name in MAKES_SET:
            given = call.positional[0] if call.positional else -1
            return sets.SETS[sets.items_of(function, given, args[0].value) if given >= 0 else "-"]
        kinds = [kind for arg in args if (kind := self.unordered(arg.value)) is not None]
        if not kinds:
            return None
        kind = elements.joined(kinds)
        if name in self.catalog.ordering:
            for item, arg in zip([*call.positional, *call.named.values()], args, strict=False):
                if not arg.name.startswith("*"):
                    self.order(name, self.unordered(arg.value), item)
            return None
        # `map(f, names)` gives something else than names.
        return sets.SETS[kind if name != "builtins.map" else sets.items_of(function, at, None)]

    def added(self, target: int, base: Value, at: int, args: list[Arg]) -> None:
        """`names.add(x)`, `names.update(xs)`: what a set holds from here on."""
        function = self.scope.function
        call = function.call(at)
        before = self.unordered(base) or ""
        kind = sets.element_of if function.called(at) == "add" else sets.items_of
        new = [kind(function, given, arg.value) for given, arg in zip(call.positional, args, strict=False)]
        made = sets.SETS[elements.joined((before, *new))]
        if self.ops[target][0] == op.LOAD:
            self.scope.change(self.ops[target][1], made)
        elif isinstance(base, Member) and isinstance(base.base, Instance):
            self.classes[base.base.of.removeprefix(self.prefix)].attribute(base.attr, made)

    def option(self, args: list[Arg], at: int, callee: Value | None) -> None:
        """A command-line option and its default: `parser.add_argument("--seed", type=int, default=42)`."""
        flags = [
            a.value.value for a in args if not a.name and isinstance(a.value, Const) and isinstance(a.value.value, str)
        ]
        named = {a.name: a.value for a in args if a.name}
        long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
        given = named.get("dest")
        name = (
            given.value
            if isinstance(given, Const) and isinstance(given.value, str)
            else long.lstrip("-").replace("-", "_")
        )
        default: Value | None = None
        if "default" in named:
            default = named["default"]
        elif "action" in named:
            action = named["action"]
            stored = {"store_true": Const(False), "store_false": Const(True)}
            default = stored.get(str(action.value)) if isinstance(action, Const) else None
        elif long.startswith("-") and "required" not in named:
            default = Const(None)
        elif isinstance(choices := named.get("choices"), Items) and len(choices.values) > 1:
            default = Either(choices.values)
        self.options[name], self.parsers[name] = Option(default, self.span(at)), callee

    def dictionary_update(self, at: int, target: int, args: list[Arg]) -> None:
        """`options.update(shuffle=True)` on a dictionary that is known; by the function's own `**options`, what it holds becomes their
        defaults."""
        base = self.made[target] if self.ops[target][0] == op.LOAD else None
        if base is None or not is_table(base):
            return
        rest = self.rest()
        if isinstance(base, Mapping) and not base.open and rest is not None and args == [Arg("", rest)]:
            values = [self.taken(at, key, value) for key, value in zip(base.keys, base.values, strict=True)]
            self.scope.change(self.ops[target][1], Mapping(base.keys, tuple(values), True, rest))
            return
        named: dict[str, Value | None] | None = {}
        for arg in args:
            whole = isinstance(arg.value, Mapping) and not arg.value.open and arg.name in ("", "**")
            if whole and named is not None:
                named.update(zip(arg.value.keys, arg.value.values, strict=True))  # type: ignore[union-attr]
            elif arg.name not in ("", "*", "**") and named is not None:
                named[arg.name] = arg.value
            else:
                named = None
        self.scope.change(self.ops[target][1], updated(base, named))

    def dictionary_change(self, attr: str, target: int, table: Value, args: list[Value | None]) -> None:
        """`options.pop("shuffle")`, `options.setdefault("shuffle", True)` on a dictionary that is known."""
        key = args[0].value if args and isinstance(args[0], Const) else None
        changed = without(table, key)
        if attr == "setdefault":
            given = {key: args[1] if len(args) > 1 else Const(None)} if isinstance(key, str) else None
            tables = [
                option if isinstance(option, Mapping) and key in option.keys else updated(option, given)
                for option in options(table)
            ]
            changed = (
                join(tables) if not any(isinstance(option, Mapping) and option.open for option in tables) else None
            )
        if self.ops[target][0] == op.LOAD:
            self.scope.change(self.ops[target][1], changed)

    def converts(self, given: int) -> bool:
        """Whether a call of a method `to` spells out the device, or a type that matters: `x.to("cpu")`, `x.to(torch.long)`."""
        return isinstance(self.constant_of(given), str) or self.is_type(given)

    def is_type(self, given: int) -> bool:
        """Whether a value is called as a type of whole numbers, or of few bits, is: `torch.long`."""
        return self.ops[given][0] == op.ATTR and self.strings[self.ops[given][2]] in self.catalog.type_words

    def says_what_to_make(self, operation: Op, function: bool) -> bool:
        """Whether a call says where its tensor is made (of functions alone), or a type that matters."""
        named = 3 + operation[2]
        for word, given in zip(operation[named::2], operation[named + 1 :: 2], strict=True):
            said = self.strings[word] if word >= 0 else ""
            if (said == "device" and function) or (said == "dtype" and self.is_type(given)):
                return True
        return False


def _leaves(callee: Value) -> bool:
    """Whether a call ends the process: `sys.exit()`, `parser.error("...")`."""
    if isinstance(callee, Member):
        return (
            callee.attr in ("error", "exit")
            and isinstance(callee.base, Result)
            and tail_of(callee.base.of) == "ArgumentParser"
        )
    return isinstance(callee, Ref) and callee.name in _EXITS


def _same_owner(first: Value | None, second: Value | None) -> bool:
    """Whether two methods are surely of one object: of the same variable's value, or of the same attribute."""
    if not isinstance(first, Member) or not isinstance(second, Member):
        return False
    return first.base is second.base or (type(first.base) is Member and first.base == second.base)
