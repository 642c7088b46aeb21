"""What each name means at a point of a file: scopes, branches and their joins."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Final, Literal

from detlint.ir.code import Function
from detlint.model.sites.records import Const, Either, Instance, Mapping, Ref, Result, Value

BUILTINS: Final = {name: Ref(f"builtins.{name}") for name in dir(builtins)}
MOST_OPTIONS: Final = 4
MOST_RESULTS: Final = 16
"""Of what calls give: so many wrappers may be put around an environment, one after the other."""
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
    kinds = {*map(type, flat)}
    most = MOST_DEFINITIONS if kinds == {Ref} else MOST_RESULTS if kinds == {Result} else MOST_OPTIONS
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
    """A module, class or function body as of the op that is read: what its slots hold, and what its ops gave.

    Args:
        around: what stands around it; None for the module.
        number: the function that it is, or stands in, as a position in `Facts.functions`.
        owner: the class around it, as a name inside the module.
    """

    def __init__(
        self,
        kind: Literal["module", "class", "function"],
        function: Function,
        around: Scope | None,
        number: int,
        owner: str,
    ) -> None:
        self.kind = kind
        self.function = function
        self.around = around
        self.number = number
        self.owner = owner
        self.ops = function.ops
        self.names = function.names
        self.slots: list[Bound] = [MISSING] * len(self.names)
        """What each holds."""
        self.made: list[Value | None] = [None] * len(self.ops)
        """What each op gave."""
        self.all: dict[int, Scope] = around.all if around is not None else {}
        """All scopes of the file, by the numbers of their functions in the IR."""
        self.all[function.number] = self
        self.log: list[tuple[int, Bound]] | None = None

    def bind(self, slot: int, value: Value | None) -> None:
        """`name = value`, remembered for the join when inside a branch. What a function binds for one around it is one of several."""
        name = self.names[slot]
        if name.owner != self.function.number:
            home = self.all.get(name.owner)
            if home is not None and name.slot >= 0:
                home.slots[name.slot] = join((home.slots[name.slot], value))
            return
        if self.log is not None:
            self.log.append((slot, self.slots[slot]))
        self.slots[slot] = value

    def change(self, slot: int, value: Value | None) -> None:
        """What a slot holds is changed, which matters here if it is the function's own."""
        if self.names[slot].owner == self.function.number:
            self.bind(slot, value)

    def look_up(self, slot: int) -> Bound:
        """What a slot holds here."""
        name = self.names[slot]
        home = self.all.get(name.owner)
        if home is not None and name.slot >= 0:
            found = home.slots[name.slot]
            if found is not MISSING:
                return found
            if home.kind == "class" and home.around is not None:
                return home.around.named(self.function.text(slot))
        return BUILTINS.get(self.function.text(slot), MISSING)

    def named(self, text: str) -> Bound:
        """What a name means here, whether its code has it or not; class bodies are invisible to what stands inside of them."""
        scope: Scope | None = self
        while scope is not None:
            for slot in scope.function.slots.get(text, ()) if scope is self or scope.kind != "class" else ():
                if scope.names[slot].owner == scope.function.number and scope.slots[slot] is not MISSING:
                    return scope.slots[slot]
            scope = scope.around
        return BUILTINS.get(text, MISSING)

    def own(self, slot: int) -> Value | None:
        """What a slot holds that the function binds itself; None for any other."""
        found = self.slots[slot]
        return None if isinstance(found, Missing) else found

    def bound(self) -> dict[str, Value | None]:
        """What its names hold now, but for those that comprehensions have for themselves."""
        private, text = self.function.private, self.function.text
        return {
            text(slot): value
            for slot, value in enumerate(self.slots)
            if not isinstance(value, Missing) and slot not in private
        }


class Arms:
    """Reads the arms of a branch one by one from the same starting state, then joins what they bound."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.outer = scope.log
        self.ends: list[dict[int, Value | None]] = []

    def start(self, bound: dict[int, Value | None] | None = None) -> None:
        """Begin an arm, or go on with one.

        Args:
            bound: what it has bound so far.
        """
        self.scope.log = []
        for slot, value in (bound or {}).items():
            self.scope.bind(slot, value)

    def stop(self) -> dict[int, Value | None]:
        """Stop in an arm: undo its bindings, which are given back."""
        scope, log = self.scope, self.scope.log or []
        scope.log = self.outer
        bound = {slot: scope.own(slot) for slot, _ in log}
        for slot, before in reversed(log):
            scope.slots[slot] = before
        return bound

    def end(self, stopped: bool) -> None:
        """End an arm: keep its bindings for the join unless the flow never comes out of it."""
        bound = self.stop()
        if not stopped:
            self.ends.append(bound)

    def join(self, by: str = "", negated: bool = False) -> None:
        """Bind what the arms that come out agree on, or their alternatives.

        Args:
            by: the parameter that decides which of two arms is taken.
            negated: whether it is the second where that is true.
        """
        scope, ends = self.scope, self.ends
        if len(ends) == 1:
            for slot, value in ends[0].items():
                scope.bind(slot, value)
            return
        bound: dict[int, Value | None] = {}
        for end in ends:
            bound.update(end)
        for slot in bound:
            before = scope.slots[slot]
            values = [end.get(slot, before) for end in ends]
            if by:
                then, other = reversed(values) if negated else values
            scope.bind(slot, chosen(then, other, by) if by else join(values))
