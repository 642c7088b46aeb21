"""Calls of functions whose meaning the reader itself needs."""

from __future__ import annotations

from detlint.model import imported
from detlint.model.sites.reading.calls import Calls
from detlint.model.sites.reading.handlers import of_call
from detlint.model.sites.reading.values import FLAGS, member, opened
from detlint.model.sites.records import (
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
from detlint.model.sites.scope import join


class Known(Calls):
    """Reads calls of known functions."""

    @of_call("functools.partial", "functools.partialmethod")
    def _partial(self, at: int, args: list[Arg]) -> Value | None:
        if not args or args[0].value is None or args[0].name or isinstance(args[0].value, (Const, Param, Expression)):
            return None
        target = args[0].value
        if isinstance(target, Partial) and isinstance(target.of, Partial):
            return None
        site = self.site("partial", target, tuple(args[1:]), at) if self.wanted(target) else -1
        return Partial(target, site)

    @of_call("builtins.dict")
    def _dict(self, at: int, args: list[Arg]) -> Value | None:
        first = args[:1] if args and not args[0].name else []
        named = {arg.name: arg.value for arg in args[len(first) :]}
        if "" in named or "*" in named or [arg.name for arg in args].count("**") > 1:
            return None
        for word, given in self.scope.function.call(at).named.items():
            self.section(word, named.get(word), given)
        if first:
            return opened(Mapping(("**", *named), (first[0].value, *named.values())), once=False)
        return self.mapping([*named], [*named.values()], at)

    @of_call("builtins.super")
    def _super(self, at: int, args: list[Arg]) -> Value | None:
        owner = self.scope.owner
        return Member(Instance(f"{self.module}.{owner}"), SUPER) if owner else None

    @of_call("os.putenv", "os.environ.setdefault", "os.environ.__setitem__")
    def _set_variable(self, at: int, args: list[Arg]) -> None:
        if len(args) > 1 and isinstance(args[0].value, Const) and isinstance(args[0].value.value, str):
            self.environment([(args[0].value.value, args[1].value)], at)

    @of_call("os.environ.update")
    def _update_variables(self, at: int, args: list[Arg]) -> None:
        for arg in args:
            if isinstance(arg.value, Mapping):
                self.environment(zip(arg.value.keys, arg.value.values, strict=True), at)
            elif arg.name not in ("", "*", "**"):
                self.environment([(arg.name, arg.value)], at)

    @of_call("builtins.staticmethod")
    def _given(self, at: int, args: list[Arg]) -> Value | None:
        return args[0].value if args else None

    @of_call("typer.Option", "typer.Argument")
    def _first(self, at: int, args: list[Arg]) -> Value | None:
        """`typer.Option(None, "--seed")` is the default of what it describes."""
        return (
            args[0].value if args and not args[0].name else next((a.value for a in args if a.name == "default"), None)
        )

    @of_call("dataclasses.field")
    def _field(self, at: int, args: list[Arg]) -> Value | None:
        """`dataclasses.field(default=0)`; of a factory, what it makes."""
        named = {arg.name: arg.value for arg in args}
        factory = named.get("default_factory")
        return named["default"] if "default" in named else Result(factory) if isinstance(factory, Ref) else None

    @of_call(*(f"absl.flags.DEFINE_{kind}" for kind in ("integer", "string", "float", "bool", "boolean")))
    def _flag(self, at: int, args: list[Arg]) -> Value | None:
        """`flags.DEFINE_integer("seed", None, ...)` of absl."""
        name = args[0].value if args else None
        if not (isinstance(name, Const) and isinstance(name.value, str)):
            return None
        default = args[1].value if len(args) > 1 else next((a.value for a in args if a.name == "default"), None)
        self.options[name.value] = Option(default, self.span(at))
        return Ref(f"{FLAGS}.{name.value}")

    @of_call("importlib.import_module", "builtins.__import__")
    def _import_module(self, at: int, args: list[Arg]) -> Value | None:
        package = self.module if self.package else self.module.rpartition(".")[0]
        names = imported.named(self.scope.function, at, args[0].value if args else None, package)
        self.imports.update(names)
        for name in names:
            self.run_module(name)
        if not names and args and not args[0].name:
            return self.looked_up(IMPORT_MODULE, args[:1], at)
        return join(map(Ref, names)) if names else None

    @of_call("builtins.getattr")
    def _getattr(self, at: int, args: list[Arg]) -> Value | None:
        if len(args) >= 2 and isinstance(args[1].value, Const) and isinstance(args[1].value.value, str):
            return member(args[0].value, args[1].value.value)
        # `getattr(torch_scatter, f"scatter_{name}")` is one of those that begin so; what the catalog doesn't know is harmless.
        given = self.scope.function.call(at).positional
        begin = (
            imported.beginning(self.scope.function, given[1])
            if len(given) >= 2 and isinstance(args[0].value, Ref)
            else ""
        )
        known = self.catalog.beginning(f"{args[0].value.name}.{begin}") if begin else ()  # type: ignore[union-attr]
        return join(map(Ref, known)) if known or len(given) < 2 else self.part(args[0].value, args[1].value, given[1])

    @of_call("builtins.type")
    def _type(self, at: int, args: list[Arg]) -> Value | None:
        """`type("Net", (Base,), {})` is a class that has all that its one base has."""
        bases = args[1].value if len(args) == 3 else None
        empty = len(args) == 3 and type(args[2].value) is Mapping and not args[2].value.keys
        return bases.values[0] if empty and isinstance(bases, Items) and len(bases.values) == 1 else None

    @of_call("builtins.vars")
    def _vars(self, at: int, args: list[Arg]) -> Value | None:
        return member(args[0].value, "__dict__") if args else None

    @of_call("builtins.globals")
    def _globals(self, at: int, args: list[Arg]) -> Value | None:
        return Ref(f"{self.prefix}.__dict__")
