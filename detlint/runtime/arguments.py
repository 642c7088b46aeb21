"""The arguments of one call, by parameter: read, changed, and handed on."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from inspect import signature as inspected
from typing import Any, Final

from detlint.catalog import Signature

MISSING: Final = object()
"""The value of a parameter that got none and has no default, or that nobody knows of."""


class Parameters:
    """The parameters of an API: which can be given by position, and their defaults."""

    __slots__ = ("defaults", "names", "positions")

    def __init__(self, signature: Signature, method: bool = False) -> None:
        names = ["self"] if method else []
        for name, _ in signature:
            if name.startswith("*"):
                break
            names.append(name)
        self.names = names
        self.positions = {name: position for position, name in enumerate(names)}
        self.defaults = {name: default for name, default in signature if default != "..." and name[0] != "*"}

    def of_method(self) -> Parameters:
        """The same, of a function that gets the object first."""
        names = [name for name in self.names if name != "self"]
        bound = Parameters([])
        bound.names = ["self", *names]
        bound.positions = {name: position for position, name in enumerate(bound.names)}
        bound.defaults = self.defaults
        return bound

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Parameters:
        """Those that a function of Python has; none where it can't be asked."""
        try:
            own = inspected(function).parameters.values()
        except (TypeError, ValueError):
            return cls([])
        named = [p for p in own if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
        keyword = [p for p in own if p.kind is Parameter.KEYWORD_ONLY]
        read = [
            [(p.name, "..." if p.default is Parameter.empty else p.default) for p in part] for part in (named, keyword)
        ]
        return cls([*read[0], ("*", "..."), *read[1]])


class Call:
    """One call's arguments. `set` and `remove` change what `args` and `kwargs` hand on."""

    __slots__ = ("args", "kwargs", "parameters")

    def __init__(self, parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.parameters = parameters
        self.args = args
        self.kwargs = kwargs

    def get(self, name: str) -> Any:
        """What a parameter gets, by position, by name or by default; else `MISSING`."""
        if name in self.kwargs:
            return self.kwargs[name]
        position = self.parameters.positions.get(name, -1)
        if 0 <= position < len(self.args):
            return self.args[position]
        return self.parameters.defaults.get(name, MISSING)

    def gives(self, name: str) -> bool:
        """Whether the call passes it, and not as None."""
        position = self.parameters.positions.get(name, -1)
        passed = name in self.kwargs or 0 <= position < len(self.args)
        return passed and self.get(name) is not None

    def set(self, name: str, value: Any) -> None:
        position = self.parameters.positions.get(name, -1)
        if name not in self.kwargs and 0 <= position < len(self.args):
            self.args = (*self.args[:position], value, *self.args[position + 1 :])
        else:
            self.kwargs = {**self.kwargs, name: value}

    def remove(self, name: str) -> None:
        """Leave an argument out; one by position gets its default."""
        if name in self.kwargs:
            self.kwargs = {key: value for key, value in self.kwargs.items() if key != name}
        elif self.gives(name) and name in self.parameters.defaults:
            self.set(name, self.parameters.defaults[name])


class Attributes:
    """An object's attributes, read as if they were the arguments that made it: layers keep them under the same names."""

    __slots__ = ("_of",)

    def __init__(self, of: object) -> None:
        self._of = of

    def get(self, name: str) -> Any:
        return getattr(self._of, name, MISSING)

    def gives(self, name: str) -> bool:
        return self.get(name) not in (MISSING, None)
