"""What each name means at a point of a file: scopes, branches and their joins."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Final, Literal

from detlint.facts.model import Const, Either, Instance, Mapping, Ref, Result, Value

BUILTINS: Final = {name: Ref(f"builtins.{name}") for name in dir(builtins)}
MOST_OPTIONS: Final = 4
MOST_DEFINITIONS: Final = 64
"""Of functions and classes: the commands of a command line are so many, and the names of a factory."""


class Missing:
    """The state of a name that was not bound."""


MISSING: Final = Missing()
Bound = Value | None | Missing


def join(options: Iterable[Bound]) -> Value | None:
    """The value of a name where several ways meet.

    A way on which the name isn't bound can't reach a use, and `None` or `False` beside an import is the usual
    placeholder of an optional dependency: neither counts.
    """
    flat: list[Value | None] = []
    for option in options:
        if option is MISSING:
            continue
        if type(option) is Either:
            flat += [value for value in option.options if value not in flat]
        elif option not in flat:
            flat.append(option)  # type: ignore[arg-type]
    if len(flat) == 1:
        return flat[0]
    if Ref in map(type, flat):
        flat = [value for value in flat if not (isinstance(value, Const) and not value.value)]
        if len(flat) == 1:
            return flat[0]
    most = MOST_DEFINITIONS if all(type(value) is Ref for value in flat) else MOST_OPTIONS
    return Either(tuple(flat)) if 1 < len(flat) <= most else None


def chosen(then: Bound, other: Bound, by: str) -> Value | None:
    """The value of a name after `if flag:`, which a parameter decides ("" for any other test)."""
    joined = join((then, other))
    plain = Either not in (type(then), type(other))
    if by and plain and type(joined) is Either and len(joined.options) == 2:
        return Either((then, other), by)  # type: ignore[arg-type]
    return joined


def is_collection(value: Bound) -> bool:
    """Whether a name is bound to a collection that is filled later: `{}`, `dict()`, `collections.OrderedDict()`."""
    if isinstance(value, Mapping):
        return not value.keys and value.rest is None
    if isinstance(value, Result):
        return isinstance(value.of, Ref) and value.of.name.startswith("collections.")
    return isinstance(value, Instance) and value.of == "builtins.dict"


def over(table: Mapping, rest: Value | None) -> Mapping:
    """A table over the one that has its other keys, if that is known."""
    if not isinstance(rest, Mapping):
        return table
    merged = dict(zip(rest.keys, rest.values, strict=True)) | dict(zip(table.keys, table.values, strict=True))
    return Mapping(tuple(merged), tuple(merged.values()), rest.open, rest.rest)


class Scope:
    """The names of a module, class or function body, as of the statement being read."""

    __slots__ = ("around", "function", "globals", "kind", "log", "names", "owner", "parent")

    def __init__(
        self, kind: Literal["module", "class", "function"], parent: Scope | None, function: int, owner: str
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.function = function
        self.owner = owner
        """The class around it, as a name inside the module."""
        self.names: dict[str, Value | None] = {}
        self.around = self._visible(parent)
        """What can be seen here: the names of this scope and of those around it, inner ones first."""
        self.globals: set[str] = set()
        self.log: list[tuple[str, Bound]] | None = None

    def _visible(self, parent: Scope | None) -> tuple[dict[str, Value | None], ...]:
        if parent is None:
            return (self.names,)
        return (self.names, *(parent.around if parent.kind != "class" else parent.around[1:]))

    def bind(self, name: str, value: Value | None) -> None:
        """`name = value`, remembered for the join when inside a branch."""
        if self.globals and name in self.globals:
            scope: Scope = self
            while scope.parent is not None:
                scope = scope.parent
            scope.names[name] = join((scope.names.get(name, MISSING), value))
            return
        if self.log is not None:
            self.log.append((name, self.names.get(name, MISSING)))
        self.names[name] = value

    def look_up(self, name: str) -> Bound:
        """What `name` means here; class bodies are invisible to the functions inside them."""
        for names in self.around:
            if name in names:
                return names[name]
        return BUILTINS.get(name, MISSING)


class Arms:
    """Reads the arms of a branch one by one from the same starting state, then joins what they bound."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.outer = scope.log
        self.ends: list[dict[str, Value | None]] = []

    def start(self) -> None:
        """Begin an arm."""
        self.scope.log = []

    def end(self, stopped: bool) -> None:
        """End an arm: undo its bindings, keep them for the join unless the flow never comes out of it."""
        scope, log = self.scope, self.scope.log
        scope.log = None
        if not log:
            if not stopped:
                self.ends.append({})
            return
        names = scope.names
        if not stopped:
            self.ends.append({name: names.get(name) for name, _ in log})
        for name, before in reversed(log):
            if before is MISSING:
                names.pop(name, None)
            else:
                names[name] = before  # type: ignore[assignment]

    def join(self, by: str = "", negated: bool = False) -> None:
        """Bind what the arms that come out agree on, or their alternatives.

        Args:
            by: the parameter that decides which of two arms is taken.
            negated: whether it is the second where that is true.
        """
        scope, ends = self.scope, self.ends
        scope.log = self.outer
        if len(ends) == 1:
            for name, value in ends[0].items():
                scope.bind(name, value)
            return
        bound: dict[str, Value | None] = {}
        for end in ends:
            bound.update(end)
        for name in bound:
            before = scope.names.get(name, MISSING)
            values = [end.get(name, before) for end in ends]
            if by:
                then, other = reversed(values) if negated else values
            scope.bind(name, chosen(then, other, by) if by else join(values))
