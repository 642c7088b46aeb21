"""Objects that are random by design: while one works, its deterministic counterpart works in its place.

Nothing is put into the program's objects. So those that were made before are reached too, those that were made meanwhile are
random again on leaving, and what saves or prints them finds what the program has made.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from inspect import unwrap
from typing import Any, Final, Generic, TypeVar

from detlint.catalog import Framework
from detlint.runtime.arguments import MISSING, Call, Parameters
from detlint.runtime.conditions import hold
from detlint.runtime.context import Context
from detlint.runtime.nothing import unchanged
from detlint.runtime.patches import Patches, sign
from detlint.runtime.plans import Choice, Plan
from detlint.runtime.recipes import Impossible, Template, carry_out, evaluate

CALL: Final = "__call__"

_Value = TypeVar("_Value")


class Counterparts:
    """Makes the counterparts of objects of the classes that it is given, each when it is first needed."""

    def __init__(self, context: Context, patches: Patches) -> None:
        self._context = context
        self._patches = patches
        self._plans: dict[type, Plan] = {}
        self._ways: dict[type, frozenset[str]] = {}
        """Class -> the methods by which its objects work."""
        self._made: _Notes[Call] = _Notes()
        """What objects were made with, as far as it was seen."""
        self._known: _Notes[Any] = _Notes()
        """Object -> its counterpart; None where it works by itself."""
        self._here = threading.local()
        """`making`: whether this thread makes one; what that makes is no object of the program. `within`: how many of the
        program's objects it is making, one as a part of the other."""

    def put(self, kind: type, plan: Plan) -> None:
        """Have objects of a class give way from now on."""
        own = Parameters.of(kind)
        if own.names or own.defaults:  # the installed version's, which its objects are named after
            plan.parameters = own
        framework = _framework(plan)
        works = framework.works if framework is not None and hasattr(kind, framework.works) else CALL
        hands = framework.hands if framework is not None else ""
        ways = {works, hands} if hands and hasattr(kind, hands) else {works}
        self._plans[kind] = plan
        self._ways[kind] = frozenset(ways)
        self._note(kind, plan)
        for way in sorted(ways):
            method = getattr(kind, way)
            stand_in = self._handing(method, way) if way == hands else self._working(method)
            self._patches.attribute(kind, way, functools.wraps(method)(stand_in))

    def meet(self, thing: object) -> bool:
        """Look at an object before it works, so that what becomes of it is told in this process. Whether it is one of these."""
        if not self._context.active or self._kind(type(thing)) is None:
            return False
        self.of(thing)
        return True

    def of(self, thing: Any) -> Any:
        """The counterpart of an object; None where it is to work itself."""
        found = self._known.get(thing, MISSING)
        if found is not MISSING or self._making:
            return None if found is MISSING else found
        self._here.making = True
        try:
            found = self._counterpart(thing)
        finally:
            self._here.making = False
        self._known.put(thing, found)
        return found

    @property
    def _making(self) -> bool:
        return getattr(self._here, "making", False)

    def _note(self, kind: type, plan: Plan) -> None:
        made: Any = kind.__init__  # type: ignore[misc]

        @functools.wraps(made)
        def __init__(thing: Any, *args: Any, **kwargs: Any) -> None:
            if not self._context.active or self._making:
                made(thing, *args, **kwargs)
                return
            within = self._here.within = getattr(self._here, "within", 0) + 1
            try:
                made(thing, *args, **kwargs)
            finally:
                self._here.within = within - 1
            self._made.put(thing, Call(plan.parameters, args, kwargs))
            # What is part of another may never work, and a class that derives from this one isn't done with it yet.
            if within == 1 and type(thing) is kind:
                self.of(thing)

        sign(__init__, made)
        self._patches.attribute(kind, "__init__", __init__)

    def _working(self, own: Callable[..., Any]) -> Callable[..., Any]:
        def work(thing: Any, *args: Any, **kwargs: Any) -> Any:
            other = self.of(thing) if self._context.active else None
            return own(thing, *args, **kwargs) if other is None else other(*args, **kwargs)

        return work

    def _handing(self, own: Callable[..., Any], way: str) -> Callable[..., Any]:
        def hand(thing: Any, *args: Any, **kwargs: Any) -> Any:
            other = self.of(thing) if self._context.active else None
            if other is None:
                return own(thing, *args, **kwargs)
            return getattr(other, way)(*args, **kwargs) if hasattr(other, way) else other

        return hand

    def _kind(self, own: type) -> type | None:
        return next((base for base in own.__mro__ if base in self._plans), None)

    def _counterpart(self, thing: Any) -> Any:
        kind = self._kind(type(thing))
        if kind is None:
            return None
        plan = self._plans[kind]
        call = self._made.get(thing, None) or _described(thing, plan.parameters)
        varying = (choice for choice in plan.choices if hold(choice.entry.when, call))
        own = _overridden(type(thing), kind, self._ways[kind])
        other, told = None, []
        for choice in varying:
            if own:
                plan.refuse(choice, f"left alone, since `{type(thing).__name__}` has its own `{own}`")
                return None
            try:
                other, message = _another(plan, choice, kind, call)
            except Impossible as error:
                plan.refuse(choice, f"stays random. {error}")
                return None
            except Exception as error:  # the library's: what an object keeps may have another form than what makes it
                plan.refuse(choice, f"stays random. Its counterpart can't be made: {type(error).__name__}: {error}")
                return None
            told.append((choice, message))
            if choice.gives_another:
                break
            self._known.put(other, None)
        for choice, message in told:
            plan.done(choice, message)
        return other


def _another(plan: Plan, choice: Choice, kind: type, call: Call) -> tuple[Any, str]:
    """What takes an object's place by one entry, and how that is told. Where it is one of the same class, the arguments are changed.

    Raises:
        Impossible: nothing can.
    """
    recipe = choice.recipe
    if choice.gives_another and choice.made is not None:
        other = evaluate(choice.made, call, plan.seed)
        return other, "is left out" if other is unchanged else f"gives way to {_named(choice.made, other)}"
    if recipe is None:
        raise Impossible(choice.entry.remedy or "no counterpart of it is known")
    carry_out(recipe, choice.made, call, plan.seed)
    given = (
        f"without {recipe.argument}" if recipe.kind == "remove-argument" else f"with {recipe.argument}={recipe.value}"
    )
    return kind(*call.args, **call.kwargs), f"works {given}"


def _named(made: Template, other: object) -> str:
    """What a text puts in an object's place, in short: `Compose(Resize, CenterCrop)`, or the class of a part of it."""
    names = [name.rpartition(".")[2] for name in made.names.values() if not name.startswith("detlint.")]
    return f"{names[0]}({', '.join(names[1:])})" if len(names) > 1 else "".join(names) or type(other).__name__


def _described(thing: Any, parameters: Parameters) -> Call:
    """What an object that was made before may have been made with: most keep it under the same names."""
    names = dict.fromkeys([*parameters.names, *parameters.defaults])
    held = {name: getattr(thing, name, MISSING) for name in names}
    return Call(parameters, (), {name: value for name, value in held.items() if value is not MISSING})


def _overridden(own: type, kind: type, ways: frozenset[str]) -> str:
    """A method by which a program's class works otherwise than the one that it derives from; "" for none."""
    for derived in own.__mro__[: own.__mro__.index(kind)]:
        for name in vars(derived):
            before: Any = getattr(kind, name, None)
            mine = not name.startswith("__") and name not in ways and callable(before)
            if mine and unwrap(getattr(derived, name)) is not unwrap(before):
                return name
    return ""


def _framework(plan: Plan) -> Framework | None:
    root = plan.api.partition(".")[0]
    return next((framework for framework in plan.context.catalog.frameworks if root in framework.modules), None)


class _Notes(Generic[_Value]):
    """Something noted of each of some objects, as long as these live. They need not be hashable."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[Any], _Value]] = {}

    def get(self, thing: object, otherwise: Any) -> Any:
        found = self._values.get(id(thing))
        return found[1] if found is not None and found[0]() is thing else otherwise

    def put(self, thing: object, value: _Value) -> None:
        key, values = id(thing), self._values
        try:
            values[key] = weakref.ref(thing, lambda _: values.pop(key, None)), value
        except TypeError:  # nothing can be noted of objects of some classes of C
            return
