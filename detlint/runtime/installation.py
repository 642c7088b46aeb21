"""Putting plans where calls go by: PyTorch's own functions, functions and classes of modules, operators of autograd."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Container, Iterable
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from detlint.catalog import Catalog
from detlint.runtime.arguments import Call, Parameters
from detlint.runtime.context import Context
from detlint.runtime.counterparts import Counterparts
from detlint.runtime.imports import when_imported
from detlint.runtime.patches import Patches, sign
from detlint.runtime.plans import Backend, Plan, plan_of
from detlint.runtime.resolve import Found, find, prefixes

CONSTRUCTED = frozenset({"seed", "sequential"})
"""What is done when an object is made; the rest when it works."""


_started: list[Installation] = []
_watched: set[str] = set()
"""Modules whose import is told to those that have started."""


def _imported(module: ModuleType) -> None:
    _watched.discard(module.__name__)
    for installation in _started:
        installation.arrived(module.__name__)


class Installation:
    """Patches the APIs of the catalog as their modules are there, and those that come later when they come."""

    def __init__(
        self,
        context: Context,
        backend: Backend,
        patches: Patches,
        constructed: frozenset[str] = CONSTRUCTED,
        moved: Callable[[Plan, Any, Call], None] | None = None,
    ) -> None:
        self._context = context
        self._backend = backend
        self._patches = patches
        self._constructed = constructed
        self._moved = moved
        """Gets each object of a class that is to run on the CPU, once it is made."""
        self.counterparts = Counterparts(context, patches)
        """What takes the place of objects while they work."""
        self._waiting: dict[str, list[str]] = {}
        """Module -> APIs that may be in it."""
        self._homes: dict[str, list[str]] = {}
        """Name by which the catalog knows a package or what is in it -> others that it has."""
        for other, name in context.catalog.aliases.items():
            self._homes.setdefault(name, []).append(other)

    def start(self, apis: Iterable[str]) -> None:
        found = []
        for api in apis:
            here = self._find(api)
            if here is not None:
                found.append((api, here))
            else:
                for module in prefixes(api):
                    self._waiting.setdefault(module, []).append(api)
        self._put(found)
        _started.append(self)
        for module in self._waiting.keys() - _watched:
            _watched.add(module)
            when_imported(module, _imported)

    def stop(self) -> None:
        """Wait no longer."""
        _started.remove(self)

    def arrived(self, module: str) -> None:
        """Patch what a module has that was waited for."""
        self._put((api, here) for api in self._waiting.pop(module, ()) if (here := self._find(api)) is not None)

    def _find(self, api: str) -> Found | None:
        """Where an API is: by its own name, or where a library has it that doesn't hand it on under that name."""
        here = find(api)
        if here is not None or api.partition(".")[0] not in sys.modules:
            return here
        ends = [end for end, letter in enumerate(f"{api}.") if letter == "."]
        others = (other + api[end:] for end in reversed(ends) for other in self._homes.get(api[:end], ()))
        return next((here for name in others if (here := find(name)) is not None), None)

    def _put(self, found: Iterable[tuple[str, Found]]) -> None:
        pairs = []
        seen: set[tuple[int, str]] = set()
        homes: dict[int, tuple[Any, str, set[str]]] = {}
        """Of what only programs get a seed for: the module that has it, the library, which calls it as it likes, and the other modules
        from which programs take it."""
        for api, here in found:
            plan = plan_of(api, self._context, self._backend) if _is_new(here, seen) else None
            seen.add(_identity(here))
            if plan is None:
                continue
            try:
                stand_in = self._stand_in(here, plan)
            except (TypeError, AttributeError) as error:  # of C: a program must not fail for what can't be patched
                self._context.report.refuse("", "", api, f"`{api}` can't be patched: {error}")
                continue
            if stand_in is not None:
                pairs.append((here.value, stand_in))
                if all(choice.do == "seed" for choice in plan.choices):
                    others = {other.rpartition(".")[0] for other in self._homes.get(api, ())}
                    homes[id(here.value)] = here.owner, api.partition(".")[0], others

        def keeps(module: ModuleType, original: Any) -> bool:
            owner, library, others = homes.get(id(original), (module, "", set[str]()))
            own = module is owner or module.__name__ in others
            return not own and module.__name__.partition(".")[0] == library

        self._patches.replace(pairs, keeps)

    def _stand_in(self, here: Found, plan: Plan) -> Any:
        """What takes an object's place where it is named; None where the object itself was patched."""
        if isinstance(here.value, type):
            return self._of_class(here.value, plan)
        if isinstance(here.owner, type):
            self._of_method(here.owner, here.attribute, plan)
            return None
        return standing_in(here.value, plan)

    def _of_method(self, owner: type, name: str, plan: Plan) -> None:
        """Patch a method where its class has it. The catalog's signature doesn't name `self`."""
        own = inspect.getattr_static(owner, name)
        function = getattr(own, "__func__", own)
        if not inspect.isfunction(function) and not (callable(function) and all(c.do == "seed" for c in plan.choices)):
            return
        if not isinstance(own, staticmethod):
            plan.parameters = plan.parameters.of_method()
        stand_in = standing_in(function, plan)
        kind = type(own) if isinstance(own, (classmethod, staticmethod)) else None
        self._patches.attribute(owner, name, kind(stand_in) if kind is not None else stand_in)

    def _of_class(self, kind: type, plan: Plan) -> Any:
        """Patch the constructor of a class; of one that is no class of Python's, or whose place an object of another takes,
        give a class that stands in."""
        if not (plan.parameters.names or plan.parameters.defaults):
            plan.parameters = Parameters.of(kind)
        if working := [choice for choice in plan.choices if choice.do == "counterpart"]:
            self.counterparts.put(kind, plan.of(working))
        if self._moved is not None and (moved := [c for c in plan.choices if c.do in ("cpu", "unsupported")]):
            self._tell(kind, plan.of(moved), self._moved)
        choices = [choice for choice in plan.choices if choice.do in self._constructed]
        if not choices:
            return None
        plan = plan.of(choices)
        if kind.__flags__ & _IMMUTABLE or any(choice.gives_another for choice in choices):
            return _shim(kind, plan)
        made: Any = vars(kind).get("__init__") or kind.__init__  # type: ignore[misc]
        counterparts = self._iterated(kind, plan)

        @functools.wraps(made)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if plan.context.active and (type(self) is kind or not _listed(type(self), plan.context.catalog)):
                plan(functools.partial(made, self), args, kwargs)
                if counterparts is not None and (counterpart := plan.counterpart(args, kwargs)) is not None:
                    counterparts[self] = counterpart
            else:
                made(self, *args, **kwargs)

        sign(__init__, made)
        self._patches.attribute(kind, "__init__", __init__)
        return None

    def _tell(self, kind: type, plan: Plan, then: Callable[[Plan, Any, Call], None]) -> None:
        """Have something done with each object of a class that is made."""
        made: Any = kind.__init__  # type: ignore[misc]

        @functools.wraps(made)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            made(self, *args, **kwargs)
            if plan.context.active:
                then(plan, self, Call(plan.parameters, args, kwargs))

        sign(__init__, made)
        self._patches.attribute(kind, "__init__", __init__)

    def _iterated(self, kind: type, plan: Plan) -> WeakKeyDictionary[Any, Any] | None:
        """For a class of which another takes the place, as of samplers: objects -> what is iterated over instead."""
        own: Any = getattr(kind, "__iter__", None)
        if own is None or not plan.replaces:
            return None
        counterparts: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

        @functools.wraps(own)
        def __iter__(self: Any) -> Any:
            counterpart = counterparts.get(self) if plan.context.active else None
            return own(self) if counterpart is None else iter(counterpart)

        self._patches.attribute(kind, "__iter__", __iter__)
        return counterparts


_IMMUTABLE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE: a class of C whose attributes can't be set."""


def _identity(here: Found) -> tuple[int, str]:
    """What is the same thing under two names is patched once; a function that two classes share is patched in both."""
    method = isinstance(here.owner, type) and not isinstance(here.value, type)
    return (id(here.owner), here.attribute) if method else (id(here.value), "")


def _is_new(here: Found, seen: Container[tuple[int, str]]) -> bool:
    return callable(here.value) and _identity(here) not in seen and not hasattr(here.value, "detlint_stands_in")


def standing_in(function: Any, plan: Plan) -> Any:
    """What takes a function's place and makes its calls by a plan."""
    if not plan.parameters.names and not plan.parameters.defaults:
        plan.parameters = Parameters.of(function)

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        return plan(function, args, kwargs) if plan.context.active else function(*args, **kwargs)

    try:
        functools.update_wrapper(stand_in, function)
    except AttributeError:
        stand_in.__name__ = plan.api.rpartition(".")[2]
    sign(stand_in, function)
    stand_in.detlint_stands_in = True  # type: ignore[attr-defined]
    # Scripts are made of the source of what they call, and of its globals: PyTorch asks wrappers of its own kind for theirs.
    stand_in.__dict__.update({"__script_if_tracing_wrapper": True, "__original_fn": function})
    return stand_in


def _shim(kind: type, plan: Plan) -> type:
    """A class in whose name objects of another are made. `isinstance` and subclasses take it for that one."""

    class Meta(type(kind)):  # type: ignore[misc]
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            make = kind if cls is shim else functools.partial(super().__call__)
            return plan(make, args, kwargs) if plan.context.active else make(*args, **kwargs)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, kind) if cls is shim else super().__instancecheck__(instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, kind) if cls is shim else super().__subclasscheck__(subclass)

    shim = Meta(kind.__name__, (kind,), {"__module__": kind.__module__, "__doc__": kind.__doc__})
    shim.detlint_stands_in = True
    return shim


def _listed(kind: type, catalog: Catalog) -> bool:
    return catalog.canonical(f"{kind.__module__}.{kind.__qualname__}") in catalog.calls
