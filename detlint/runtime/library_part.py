"""What one enforcement does with libraries other than PyTorch: their functions, methods and classes, by the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar, Final

from detlint.catalog import Catalog
from detlint.runtime import listings, mindspore_part, tensorflow_part
from detlint.runtime.arguments import Call
from detlint.runtime.conditions import hold
from detlint.runtime.context import Context
from detlint.runtime.imports import when_imported
from detlint.runtime.installation import CONSTRUCTED, Installation
from detlint.runtime.patches import Patches
from detlint.runtime.places import caller, importing
from detlint.runtime.plans import ACTIONS, GOES_ON, Action, Choice, Function, Plan, put, unsupported
from detlint.runtime.recipes import Impossible, carry_out

PYTORCH: Final = "torch.Tensor"
"""What frameworks have as their tensor whose calls PyTorch's own part sees to."""


class LibraryPart:
    """Starts and undoes. Libraries that the program imports later are seen to when they come."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._patches = Patches()
        self.installation = Installation(
            context, Libraries(), self._patches, CONSTRUCTED | {"off", "replace"}, self._placed
        )

    def start(self) -> None:
        self.installation.start(dict.fromkeys([*others(self._context.catalog), *self._asked()]))
        listings.start(self._context, self._patches)
        when_imported("mindspore", self._with_mindspore)

    def _with_mindspore(self, mindspore: ModuleType) -> None:
        if self._context.active:
            mindspore_part.start(self._context, self._patches, mindspore)

    def _asked(self) -> list[str]:
        """What the options name of frameworks with tensors of their own, in full or as the catalog's APIs end."""
        wanted, catalog = self._context.options.operators, self._context.catalog
        if isinstance(wanted, str):
            return []
        roots = foreign(catalog)
        full = {catalog.canonical(api) for api in wanted if api.partition(".")[0] in roots}
        known = {api for api in catalog.calls if api.rpartition(".")[2] in wanted and api.partition(".")[0] in roots}
        return sorted(full | known)

    def _placed(self, plan: Plan, thing: Any, call: Call) -> None:
        """Have an operator that a program has made run on the CPU, where its library lets it choose."""
        for choice in plan.choices:
            device = _device(plan, choice, call)
            if not device or (_root(plan) == "mindspore" and mindspore_part.moved_inside(thing)):
                continue
            if choice.do == "cpu" and _root(plan) == "mindspore" and mindspore_part.is_primitive(thing):
                plan.done(choice, f"runs on the CPU instead of {device}")
                mindspore_part.place(self._patches, thing)
            else:
                unsupported(plan, choice, device)
            return

    def undo(self) -> None:
        self.installation.stop()
        self._patches.undo()


def foreign(catalog: Catalog) -> frozenset[str]:
    """The modules of frameworks that have tensors of their own."""
    return frozenset(m for f in catalog.frameworks if f.tensor for m in f.modules) - _pytorch(catalog)


def _pytorch(catalog: Catalog) -> frozenset[str]:
    return frozenset(m for f in catalog.frameworks if f.tensor == PYTORCH for m in f.modules)


def others(catalog: Catalog) -> list[str]:
    """The APIs with which something is done that need no PyTorch."""
    pytorch, elsewhere = _pytorch(catalog), foreign(catalog)
    deeds: dict[str, set[str]] = {}
    for entry in catalog.entries:
        if entry.kind == "call" and (entry.runtime is not None or entry.category in ("a", "d")):
            for name in entry.names:
                deeds.setdefault(name, set()).add(entry.runtime.do if entry.runtime is not None else "")
    return sorted(
        name
        for name, done in deeds.items()
        if (root := name.partition(".")[0]) in elsewhere
        or (root not in pytorch and done <= CONSTRUCTED)
        or "counterpart" in done
    )


def _root(plan: Plan) -> str:
    return plan.api.partition(".")[0]


def _device(plan: Plan, choice: Choice, call: Call) -> str:
    """The device on which a call varies; "" where it doesn't, and for what a library does while it is being imported."""
    if (not plan.asked and not hold(choice.entry.when, call)) or importing():
        return ""
    part = {"tensorflow": tensorflow_part, "mindspore": mindspore_part}.get(_root(plan))
    return part.device(plan, choice, call) if part is not None else ""


def _run_on_cpu(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = _device(plan, choice, call)
    if not device:
        return GOES_ON
    if _root(plan) == "tensorflow":
        plan.done(choice, f"ran on the CPU instead of {device}")
        return tensorflow_part.on_cpu(func, call)
    unsupported(plan, choice, device, "of functions only the primitives that they build meanwhile are moved to the CPU")
    return GOES_ON


def _unsupported(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    if plan.context.options.unsupported == "cpu":
        return _run_on_cpu(plan, choice, func, call)
    if device := _device(plan, choice, call):
        unsupported(plan, choice, device)
    return GOES_ON


def _replace(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    """What draws by design gives way to its counterpart that doesn't, or gets the argument with which it doesn't."""
    recipe = choice.recipe
    if not hold(choice.entry.when, call):
        return GOES_ON
    if choice.do == "counterpart" and caller().partition(".")[0] == _root(plan):
        return GOES_ON  # by a transform of the library's own, which was asked already
    if choice.gives_another:
        return put(plan, choice, func, call)
    if recipe is None:
        plan.refuse(choice, f"stays random. {choice.entry.remedy}")
        return GOES_ON
    try:
        carry_out(recipe, choice.made, call, plan.seed)
    except Impossible as error:
        plan.refuse(choice, f"stays random: {error}")
    else:
        removed = recipe.kind == "remove-argument"
        plan.done(choice, f"left out {recipe.argument}" if removed else f"got {recipe.argument}={recipe.value}")
    return GOES_ON


class Libraries:
    """What can be done with calls of libraries whose tensors we know nothing of."""

    actions: ClassVar[Mapping[str, Action]] = {
        **ACTIONS,
        "cpu": _run_on_cpu,
        "replace": _replace,
        "counterpart": _replace,
        "unsupported": _unsupported,
    }
