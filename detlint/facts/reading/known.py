"""Calls of functions whose meaning the reader itself needs."""

from __future__ import annotations

import ast

from detlint.facts import imported, loops
from detlint.facts.model import (
    IMPORT_MODULE,
    SUPER,
    Arg,
    Const,
    Expression,
    Instance,
    Items,
    Mapping,
    Member,
    Option,
    Param,
    Partial,
    Ref,
    Result,
    Value,
)
from detlint.facts.nodes import walk
from detlint.facts.reading.calls import Calls
from detlint.facts.reading.handlers import of_call
from detlint.facts.reading.values import FLAGS, member, opened, span_of
from detlint.facts.scope import join


class Known(Calls):
    """Reads calls of known functions."""

    __slots__ = ()

    @of_call("functools.partial")
    def _partial(self, node: ast.Call, args: list[Arg]) -> Value | None:
        if not args or args[0].value is None or args[0].name or isinstance(args[0].value, (Const, Param, Expression)):
            return None
        target = args[0].value
        if isinstance(target, Partial) and isinstance(target.of, Partial):
            return None
        site = self.site("partial", target, tuple(args[1:]), node) if self.wanted(target) else -1
        return Partial(target, site)

    @of_call("builtins.dict")
    def _dict(self, node: ast.Call, args: list[Arg]) -> Value | None:
        first = args[:1] if args and not args[0].name else []
        named = {arg.name: arg.value for arg in args[len(first) :]}
        if "" in named or "*" in named or [arg.name for arg in args].count("**") > 1:
            return None
        for keyword in node.keywords:
            self.section(keyword.arg, named.get(keyword.arg or ""), keyword.value)
        if first:
            return opened(Mapping(("**", *named), (first[0].value, *named.values())), once=False)
        return self.mapping([*named], [*named.values()], node)

    @of_call("builtins.super")
    def _super(self, node: ast.Call, args: list[Arg]) -> Value | None:
        owner = self.scope.owner
        return Member(Instance(f"{self.module}.{owner}"), SUPER) if owner else None

    @of_call("os.putenv", "os.environ.setdefault", "os.environ.__setitem__")
    def _set_variable(self, node: ast.Call, args: list[Arg]) -> None:
        if len(args) > 1 and isinstance(args[0].value, Const) and isinstance(args[0].value.value, str):
            self.environment([(args[0].value.value, args[1].value)], node)

    @of_call("os.environ.update")
    def _update_variables(self, node: ast.Call, args: list[Arg]) -> None:
        for arg in args:
            if isinstance(arg.value, Mapping):
                self.environment(zip(arg.value.keys, arg.value.values, strict=True), node)
            elif arg.name not in ("", "*", "**"):
                self.environment([(arg.name, arg.value)], node)

    @of_call("builtins.setattr")
    def _setattr(self, node: ast.Call, args: list[Arg]) -> None:
        if len(args) == 3 and isinstance(args[1].value, Const) and isinstance(args[1].value.value, str):
            base, attr = args[0].value, args[1].value.value
            if isinstance(base, Ref) and (attr in self.words or base.name.rpartition(".")[2] in self.words):
                self.site("assignment", Ref(f"{base.name}.{attr}"), (Arg("value", args[2].value),), node)

    @of_call("builtins.sorted", "natsort.natsorted")
    def _sorted(self, node: ast.Call, args: list[Arg]) -> None:
        for child in walk(node.args[0]) if node.args else ():
            if isinstance(child, (ast.Name, ast.Attribute, ast.Subscript)):
                self.ordered.add(loops.place(child))

    @of_call("builtins.staticmethod")
    def _same(self, node: ast.Call, args: list[Arg]) -> Value | None:
        return args[0].value if args else None

    @of_call("typer.Option", "typer.Argument")
    def _first(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`typer.Option(None, "--seed")` is the default of what it describes."""
        return (
            args[0].value if args and not args[0].name else next((a.value for a in args if a.name == "default"), None)
        )

    @of_call("dataclasses.field")
    def _field(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`dataclasses.field(default=0)`; of a factory, what it makes."""
        named = {arg.name: arg.value for arg in args}
        factory = named.get("default_factory")
        return named["default"] if "default" in named else Result(factory) if isinstance(factory, Ref) else None

    @of_call(*(f"absl.flags.DEFINE_{kind}" for kind in ("integer", "string", "float", "bool", "boolean")))
    def _flag(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`flags.DEFINE_integer("seed", None, ...)` of absl."""
        name = args[0].value if args else None
        if not (isinstance(name, Const) and isinstance(name.value, str)):
            return None
        default = args[1].value if len(args) > 1 else next((a.value for a in args if a.name == "default"), None)
        self.options[name.value] = Option(default, span_of(node))
        return Ref(f"{FLAGS}.{name.value}")

    @of_call("importlib.import_module", "builtins.__import__")
    def _import_module(self, node: ast.Call, args: list[Arg]) -> Value | None:
        package = self.module if self.package else self.module.rpartition(".")[0]
        names = imported.named(node, args[0].value if args else None, package)
        self.imports.update(names)
        for name in names:
            self.run(name)
        if not names and args and not args[0].name:
            return self.looked_up(IMPORT_MODULE, args[:1], node)
        return join(map(Ref, names)) if names else None

    @of_call("builtins.getattr")
    def _getattr(self, node: ast.Call, args: list[Arg]) -> Value | None:
        if len(args) >= 2 and isinstance(args[1].value, Const) and isinstance(args[1].value.value, str):
            return member(args[0].value, args[1].value.value)
        # `getattr(torch_scatter, f"scatter_{name}")` is one of those that begin so; what the catalog doesn't know is harmless.
        begin = imported.beginning(node.args[1]) if len(args) >= 2 and isinstance(args[0].value, Ref) else ""
        known = self.catalog.beginning(f"{args[0].value.name}.{begin}") if begin else ()  # type: ignore[union-attr]
        return (
            join(map(Ref, known)) if known or len(args) < 2 else self.part(args[0].value, args[1].value, node.args[1])
        )

    @of_call("builtins.type")
    def _type(self, node: ast.Call, args: list[Arg]) -> Value | None:
        """`type("Net", (Base,), {})` is a class that has all that its one base has."""
        bases = args[1].value if len(args) == 3 else None
        empty = len(args) == 3 and type(args[2].value) is Mapping and not args[2].value.keys
        return bases.values[0] if empty and isinstance(bases, Items) and len(bases.values) == 1 else None

    @of_call("builtins.vars")
    def _vars(self, node: ast.Call, args: list[Arg]) -> Value | None:
        return member(args[0].value, "__dict__") if args else None

    @of_call("builtins.globals")
    def _globals(self, node: ast.Call, args: list[Arg]) -> Value | None:
        return Ref(f"{self.prefix}.__dict__")
