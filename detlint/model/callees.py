"""What calling a value runs: functions of the program, constructors, forward passes, properties.

What it may assume: an object is of the class that is known of it, or of one that derives from that and replaces nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from detlint.model.module import Module
from detlint.model.resolve import Resolver
from detlint.model.sites.records import Either, Function, Member, Partial, Ref, Result, Value, options
from detlint.model.sites.scope import MOST_DEFINITIONS

Callee = tuple[Module, Function, str]
"""A function that is called, and the class of its `self`."""
BARE: Final = "<bare>"
"""How the attribute begins by which a decorator's wrapper knows the function that it was given; then comes the number of
decorators that have been left behind."""
_HOOKS: Final = frozenset({
    "__call__", "__getitem__", "__getitems__", "__iter__", "__next__", "configure_callbacks", "configure_model", "configure_optimizers",
    "generate_train_batch", "optimizer_step", "predict_dataloader", "predict_step", "prediction_step", "setup", "test_dataloader",
    "test_step", "train_dataloader", "train_step", "training_step", "val_dataloader", "val_step", "validation_step",
})  # fmt: skip
"""Methods that frameworks call by themselves: the data model's of data sets and samplers, those of Lightning, Keras, mmengine,
transformers and batchgenerators."""
_OPERATORS: Final = frozenset({
    f"__{before}{name}__" for name in ("add", "and", "lshift", "matmul", "mul", "or", "rshift", "sub", "xor") for before in ("", "r", "i")
} | {"__contains__", "__eq__", "__getattr__", "__len__", "__lt__", "__missing__", "__neg__", "__pow__", "__truediv__"})  # fmt: skip
"""Methods by which objects take part in expressions."""
_EVENT: Final = "on_"
"""How the names of those begin that they call when something happens."""


class Callees:
    """Finds what calling things runs."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    def callees(self, target: Value | None) -> list[Callee]:
        """The functions of the program that calling a value runs, with the class of their `self`."""
        if isinstance(target, Result) and isinstance(target.of, Either):  # an object of one of several classes
            target = Either(
                tuple(Result(option, target.site) if option is not None else None for option in target.of.options)
            )
        if isinstance(target, Either):
            return [found for option in target.options for found in self.callees(option)][:MOST_DEFINITIONS]
        if isinstance(target, Partial):
            return self.callees(target.of)
        if isinstance(target, Member) and target.attr.startswith(BARE):
            return self.callees(target.base)
        if isinstance(target, Ref):
            module, inside = self.resolver.definition(target.name) or (None, "")
            if module is not None and inside in module.classes:
                return [*self.method(target.name, "__init__"), *self.method(target.name, "__post_init__")]
            function = module.functions.get(inside) if module is not None else None
            return [(module, function, "")] if module is not None and function is not None else []
        kind = self.resolver.types.of(target)
        layer = self.resolver.kinds.layer(kind) if "::" in kind else None
        return self.method(kind, layer.forward if layer is not None else "__call__") if "::" in kind else []

    def method(self, name: str, method: str) -> list[Callee]:
        """A method of a class of the program, with that class; where its bases may be several, each that it may have."""
        found = options(self.resolver.classes.attribute(name, method))
        own = [option for option in found if isinstance(option, Ref) and "::" in option.name]
        return [(module, function, name) for option in own for module, function, _ in self.callees(option)]

    def accessors(self, value: Value | None, attr: str, what: str = "") -> list[Callee]:
        """The function of a property that runs when the attribute of a value is read; when it is set, with `SETTER`."""
        found = self.resolver.member(value, attr)
        if not (isinstance(found, Result) and found.site < 0 and isinstance(found.of, Ref) and "::" in found.of.name):
            return []
        own = self.resolver.types.of(value)
        return [(module, function, own) for module, function, _ in self.callees(Ref(found.of.name + what))]

    def hooks(self, name: str, called: bool = True) -> Iterator[Callee]:
        """The methods of a class of the program that frameworks call by themselves.

        Args:
            called: whether its objects may be called, if they are layers.
        """
        layer = self.resolver.kinds.layer(name)
        plain = self.is_plain(name)
        for method in dict.fromkeys(method for _, _, method in self.methods(name)):
            passes = layer is not None and method == layer.forward
            by_itself = is_hook(method) and (method.startswith("__") or not plain)
            if (by_itself or passes) and (called or not passes):
                yield from self.method(name, method)

    def is_plain(self, name: str) -> bool:
        """Whether a class of the program surely has no base of a framework, which would call its methods by their names."""
        classes = self.resolver.classes
        return all(
            classes.knows_bases(base) if "::" in base else base.partition(".")[0] in sys.stdlib_module_names
            for base in classes.mro(name)
        )

    def methods(self, name: str) -> Iterator[tuple[Module, str, str]]:
        """The methods of a class of the program and of its bases: the file, the class and the method's name."""
        for module, owner in self.resolver.classes.family(name):
            yield from ((module, owner, method) for method in module.classes[owner].methods)


def is_hook(method: str) -> bool:
    """Whether frameworks, or operators, call methods of a name by themselves."""
    return method in _HOOKS or method in _OPERATORS or method.startswith(_EVENT)


def returned(module: Module, function: Function) -> Function | None:
    """The inner function that a function gives back."""
    names = (value.name for value in options(function.returns) if isinstance(value, Ref))
    found = (module.functions.get(name.removeprefix(f"{module.facts.module}.")) for name in names)
    return next((inner for inner in found if inner is not None), None)
