"""Calls: their arguments, and what methods do to what the file knows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from detlint.facts import loops, sets
from detlint.facts.loops import GROWS, MAPS, WRITES, dotted
from detlint.facts.model import (
    UNKNOWN_RECEIVER,
    Arg,
    Const,
    Either,
    Instance,
    Items,
    Mapping,
    Member,
    Option,
    Param,
    Ref,
    Result,
    Value,
    options,
)
from detlint.facts.reading.annotations import Annotations
from detlint.facts.reading.handlers import EXPRESSIONS, SPECIAL, of_expression
from detlint.facts.reading.values import (
    DEEPEST_VALUE,
    KEEPS_NUMBERS,
    PASSES,
    depth_of,
    is_table,
    span_of,
    tail_of,
    updated,
    without,
)
from detlint.facts.scope import MISSING, Missing, join
from detlint.facts.sets import MAKES_SET

_SAME_NUMBER: Final = frozenset({"builtins.abs", "builtins.int"})
_BUILT_IN: Final = {
    f"builtins.{name}": Instance(f"builtins.{made}")
    for name, made in (
        ("list", "list"), ("dict", "dict"), ("tuple", "tuple"), ("str", "str"), ("int", "int"), ("float", "float"), ("range", "range"),
        ("len", "int"), ("ord", "int"),
    )
}  # fmt: skip
"""What functions of the language give."""
_METHODS: Final = {
    **dict.fromkeys(
        ("sort", "add_argument", "set_defaults", "update", "register_module", "add", "extend", "pop", "setdefault"),
        "tells",
    ),
    "join": "joins",
    **dict.fromkeys((GROWS | WRITES | MAPS) - {"extend"}, "passes"),
}
"""Methods whose name tells the reader something, or what becomes of their arguments."""
_VIEWS: Final = frozenset({"items", "keys", "values"})


class Calls(Annotations):
    """Reads calls."""

    __slots__ = ()

    def watch(self, name: str) -> None:
        """Note from here on how a name is used that holds what a site gave; an attribute, or a name of the module, in all
        functions that are read later."""
        self.fates.setdefault(name, [])
        if "." in name or self.scope.kind == "module":
            self.kept_names.add(name)

    def extended(self, name: str) -> None:
        """Note from here on how a list is used that was made under this name and gets a listing: `files.extend(folder.glob("*"))`."""
        if type(self.scope.names.get(name)) is Items:
            self.watch(name)

    def viewed(self, name: str, use: str) -> None:
        """Note how a table is used whose items are asked for, in its order: `for name, file in files.items()`."""
        if name in self.fates or name in self.kept_names:
            self.use = use
            self.follow(name)
            self.use = ""

    @of_expression(ast.Call)
    def _call(self, node: ast.Call) -> Value | None:
        use, self.use = self.use, ""
        function = node.func
        kind = type(function)
        if kind is ast.Call:
            self.use = use  # `Parallel(...)(...)`: what is built here makes what is used there
        if kind is ast.Attribute:
            if use and function.attr in _VIEWS and (self.fates or self.kept_names):  # type: ignore[attr-defined]
                self.viewed(dotted(function.value), use)  # type: ignore[attr-defined]
            callee, attr = self._attribute(function, called=True), function.attr  # type: ignore[arg-type, attr-defined]
        else:
            callee, attr = EXPRESSIONS[kind](self, function), ""
        if callee is None and attr in self.catalog.methods:
            callee = Member(UNKNOWN_RECEIVER, attr)
        name = callee.name if type(callee) is Ref else ""
        if kind is ast.Name and function.id in self.stand_ins:  # type: ignore[attr-defined]
            name = self.stand_ins[function.id]  # type: ignore[attr-defined]
        wanted = callee is not None and (
            self.wanted(callee)
            or (node.keywords and _says_what_to_make(node, name != "", self.whole))
            or (attr == "to" and _converts(node, self.whole))
        )
        args: Sequence[Arg] = ()
        known = name in self.kept
        method = _METHODS.get(attr, "") if attr else ""
        if method == "joins":
            method = "tells" if type(function.value) is ast.Constant else ""  # type: ignore[attr-defined]
        if known or method == "tells":
            args, made = self.understood(node, callee, name, attr if method else "", wanted, use)
            if made is not None:
                return made
        elif node.args or node.keywords:
            if wanted:
                passed = (
                    _passed(attr, function, use) if method else f"argument:{name}" if name else f"argument:?.{attr}"
                )
                # The text of an argument only matters to the rules, so only where the catalog may know the callee.
                args = self.arguments(node, passed, self.value if tail_of(callee) in self.words else None)
            else:
                self.visit_arguments(node, name or f"?.{attr}", use if method else None)
            self.use = ""
        if callee is None:
            return None
        if attr == "copy" and type(callee) is Member and is_table(callee.base):
            return callee.base
        site = self.site("call", callee, tuple(args) if args else (), node, use) if wanted else -1
        if (
            attr in KEEPS_NUMBERS
            and type(callee) is Member
            and self.is_mask(callee.base)
            and not (wanted and attr == "to")
        ):
            return callee.base
        if site < 0 and name.startswith("builtins."):
            # `int(time.time())` is still what the clock said.
            if name in PASSES and args and isinstance(args[0].value, (Result, Member, Param)):
                return args[0].value
            return _BUILT_IN.get(name)
        return Result(callee, site) if name or depth_of(callee) < DEEPEST_VALUE else None

    def understood(
        self, node: ast.Call, callee: Value | None, name: str, attr: str, wanted: bool, use: str
    ) -> tuple[list[Arg], Value | None]:
        """A call whose meaning the reader itself needs: its arguments, and what it gives if that is known by it."""
        goes_through = name in self.gone_through
        if goes_through and use and _counts(name, node.args):
            use = f"counted:{use}"
        if attr in GROWS or attr == "join":
            passed = _passed(attr, node.func, use)
        elif name in self.same_order or name in _SAME_NUMBER:
            passed = use
        else:
            passed = f"argument:{name or '?.' + attr}"
        before = self.judged
        args = self.arguments(node, passed, self.value if wanted and tail_of(callee) in self.words else None)
        self.use = ""
        if attr == "extend" and self.judged > before:
            self.extended(dotted(node.func.value))  # type: ignore[attr-defined]
        if attr:
            self.method_call(node, attr, callee, args, use)
        made = SPECIAL[name](self, node, args) if name in SPECIAL else None
        if made is None and name in self.builders:
            made = self.instantiated(self.builders[name], node, args)
        if made is None and goes_through:
            made = self.passed_on(name, node, args, use)
        return args, made

    def arguments(self, node: ast.Call, passed: str, read: Callable[[ast.expr], Value | None] | None) -> list[Arg]:
        """Visit the arguments of a call and say what they are; what becomes of them is `passed`."""
        args = []
        followed = self.fates or self.kept_names
        for argument in node.args:
            label = ""
            if type(argument) is ast.Starred:
                label, argument = "*", argument.value
            kind = type(argument)
            if followed or kind is not ast.Name:
                self.use = passed
            args.append(Arg(label, read(argument) if read else EXPRESSIONS[kind](self, argument)))
        for keyword in node.keywords:
            given = keyword.value
            kind = type(given)
            if followed or kind is not ast.Name:
                self.use = passed
            args.append(Arg(keyword.arg or "**", read(given) if read else EXPRESSIONS[kind](self, given)))
        return args

    def visit_arguments(self, node: ast.Call, name: str, use: str | None) -> None:
        """Visit the arguments of a call that nobody asks for; a mere name only matters where it is followed.

        Args:
            use: what becomes of the call, where its method passes it on.
        """
        followed = self.fates or self.kept_names
        passed = ""
        for argument in node.args:
            kind = type(argument)
            if kind is ast.Constant or (kind is ast.Name and not followed):
                if kind is ast.Name and self.scope.look_up(argument.id) is MISSING:  # type: ignore[attr-defined]
                    self.misses(argument.id)  # type: ignore[attr-defined]
                continue
            passed = passed or (f"argument:{name}" if use is None else _passed(name.rpartition(".")[2], node.func, use))
            self.use = passed
            if kind is ast.Starred:
                argument = argument.value  # type: ignore[attr-defined]
                kind = type(argument)
            EXPRESSIONS[kind](self, argument)
        for keyword in node.keywords:
            given = keyword.value
            kind = type(given)
            if kind is ast.Constant or (kind is ast.Name and not followed):
                if kind is ast.Name and self.scope.look_up(given.id) is MISSING:  # type: ignore[attr-defined]
                    self.misses(given.id)  # type: ignore[attr-defined]
                continue
            self.use = passed = passed or (
                f"argument:{name}" if use is None else _passed(name.rpartition(".")[2], node.func, use)
            )
            EXPRESSIONS[kind](self, given)

    def method_call(self, node: ast.Call, attr: str, callee: Value | None, args: list[Arg], use: str) -> None:
        """What a method's name alone tells: `x.sort()`, `parser.add_argument(...)`, `options.update(...)`."""
        function = node.func
        assert isinstance(function, ast.Attribute)
        if attr == "sort":
            self.ordered.add(loops.place(function.value))
        elif attr in ("add", "update") and isinstance(callee, Member) and self.unordered(callee.base) is not None:
            self.added(function.value, callee.base, node, args)
        elif attr == "extend" or attr == "join":
            name, into = (
                ("builtins.iter", _passed(attr, function, "")) if attr == "extend" else ("builtins.str.join", use)
            )
            for given, arg in zip(node.args[:1], args, strict=False):
                self.order(name, self.unordered(arg.value), given, into)
        elif attr == "add_argument":
            self.option(args, node, callee)
        elif attr == "register_module":
            things = [a.value.name for a in args if a.name in ("", "module") and isinstance(a.value, Ref)]
            if things:
                self.registered(node, things[0])
        elif attr == "set_defaults":
            for arg in args:
                known = self.options.get(arg.name)
                # What a parser says counts for it; of several subcommands' parsers any may be the one that is used.
                other = known is not None and not _same_owner(self.parsers.get(arg.name), callee)
                value = join((known.default, arg.value)) if known is not None and other else arg.value
                self.options[arg.name], self.parsers[arg.name] = Option(value, span_of(node)), callee
        elif attr == "update" and (callee is None or (isinstance(callee, Member) and is_table(callee.base))):
            self.dictionary_update(function.value, args)
        elif attr in ("pop", "setdefault") and isinstance(callee, Member) and is_table(callee.base):
            self.dictionary_change(attr, function.value, callee.base, [arg.value for arg in args])

    def passed_on(self, name: str, node: ast.Call, args: list[Arg], use: str) -> Value | None:
        """What a function gives that makes a set or goes through one; None where none is involved, or it gets an order."""
        if name in MAKES_SET:
            given = node.args[0] if node.args else None
            value = args[0].value if args else None
            return sets.SETS[sets.items_of(given, value) if given is not None else "-"]
        kinds = [kind for arg in args if (kind := self.unordered(arg.value)) is not None]
        if not kinds:
            return None
        kind = sets.joined(kinds)
        if name in self.ordering:
            items = [*node.args, *(keyword.value for keyword in node.keywords)]
            for item, arg in zip(items, args, strict=True):
                if not arg.name.startswith("*"):
                    self.order(name, self.unordered(arg.value), item, use)
            return None
        # `map(f, names)` gives something else than names.
        return sets.SETS[kind if name != "builtins.map" else sets.items_of(node, None)]

    def added(self, target: ast.expr, base: Value, node: ast.Call, args: list[Arg]) -> None:
        """`names.add(x)`, `names.update(xs)`: what a set holds from here on."""
        before = self.unordered(base) or ""
        one = node.func.attr == "add"  # type: ignore[attr-defined]
        pairs = zip(node.args, args, strict=False)
        new = [(sets.element_of if one else sets.items_of)(given, arg.value) for given, arg in pairs]
        made = sets.SETS[sets.joined((before, *new))]
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, made)
        elif isinstance(base, Member) and isinstance(base.base, Instance):
            self.classes[base.base.of.removeprefix(self.prefix)].attribute(base.attr, made)

    def option(self, args: list[Arg], node: ast.Call, callee: Value | None) -> None:
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
        self.options[name], self.parsers[name] = Option(default, span_of(node)), callee

    def dictionary_update(self, target: ast.expr, args: list[Arg]) -> None:
        """`options.update(shuffle=True)` on a dictionary that is known."""
        base = self.scope.look_up(target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and not isinstance(base, Missing) and is_table(base):
            named: dict[str, Value | None] | None = {}
            for arg in args:
                if (
                    isinstance(arg.value, Mapping)
                    and not arg.value.open
                    and arg.name in ("", "**")
                    and named is not None
                ):
                    named.update(zip(arg.value.keys, arg.value.values, strict=True))
                elif arg.name not in ("", "*", "**") and named is not None:
                    named[arg.name] = arg.value
                else:
                    named = None
            self.scope.bind(target.id, updated(base, named))

    def dictionary_change(self, attr: str, target: ast.expr, table: Value, args: list[Value | None]) -> None:
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
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, changed)


def _same_owner(first: Value | None, second: Value | None) -> bool:
    """Whether two methods are surely of one object: of the same variable's value, or of the same attribute."""
    if not isinstance(first, Member) or not isinstance(second, Member):
        return False
    return first.base is second.base or (type(first.base) is Member and first.base == second.base)


def _converts(node: ast.Call, whole: frozenset[str]) -> bool:
    """Whether a call of a method `to` spells out the device, or a type of whole numbers: `x.to("cpu")`, `x.to(torch.long)`."""
    if not node.args:
        return False
    first = node.args[0]
    return (type(first) is ast.Constant and type(first.value) is str) or getattr(first, "attr", "") in whole


def _says_what_to_make(node: ast.Call, function: bool, whole: frozenset[str]) -> bool:
    """Whether a call says where its tensor is made (of functions alone), or that it holds whole numbers."""
    for keyword in node.keywords:
        if keyword.arg == "device" and function:
            return True
        if keyword.arg == "dtype" and getattr(keyword.value, "attr", "") in whole:
            return True
    return False


def _passed(attr: str, function: Any, use: str) -> str:
    """What becomes of the arguments of a method: `files.append(x)`, `out.write(x)`, `pool.map(f, xs)`, `",".join(xs)`."""
    if attr in GROWS:
        return f"{'data-loop' if attr == 'extend' else 'put'}:{dotted(function.value)}"
    if attr == "join":
        return f"joined:{use}"
    return "written" if attr in WRITES else use


def _counts(name: str, arguments: list[ast.expr]) -> bool:
    """Whether a call gives each item of an iterable a number: `enumerate(xs)`, `zip(xs, range(n))`."""
    if name == "builtins.zip":
        functions = [dotted(a.func) for a in arguments if type(a) is ast.Call]
        return any(function.rpartition(".")[2] in ("range", "count", "arange") for function in functions)
    return name == "builtins.enumerate"
