"""A class while it is read."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.model.sites.records import NOTED, SETTER, Class, Instance, Span, Value
from detlint.model.sites.scope import join


class ClassBody:
    """A class while its methods are still being read."""

    def __init__(
        self,
        name: str,
        bases: tuple[Value | None, ...],
        decorators: tuple[Value | None, ...],
        instance: Instance,
    ) -> None:
        self.name, self.bases, self.decorators = name, bases, decorators
        self.instance = instance
        """`self`, the same in all of its methods."""
        self.attributes: dict[str, Value | None] = {}
        self.methods: list[str] = []
        self.properties: list[str] = []
        self.places: dict[str, Span] = {}

    def define(self, name: str, decorators: Sequence[str]) -> str:
        """Note a method; the name of its function, which for what sets a property isn't that of the property."""
        last = name.rpartition(".")[2]
        for decorator in decorators:
            if decorator.endswith(f".{name}.setter"):
                return name + SETTER
            if decorator.endswith(f".{name}.deleter"):
                return f"{name}.<deleter>"
            if decorator.endswith("property"):
                self.properties.append(last)
        if last == NOTED:
            self.properties.append(last)
        self.methods.append(last)
        return name

    def attribute(self, name: str, value: Value | None) -> None:
        """Note an assignment; several that differ are alternatives."""
        self.attributes[name] = join((self.attributes[name], value)) if name in self.attributes else value

    def done(self) -> Class:
        return Class(
            self.name,
            self.bases,
            self.attributes,
            tuple(dict.fromkeys(self.methods)),
            self.places,
            self.decorators,
            tuple(dict.fromkeys(self.properties)),
        )
