"""What one enforcement does with libraries other than PyTorch: their functions, methods and classes, by the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar, Final

from detlint.catalog import Catalog
from detlint.runtime import listings, mindspore_part
from detlint.runtime.arguments import Call
from detlint.runtime.conditions import hold
from detlint.runtime.context import Context
from detlint.runtime.imports import when_imported
from detlint.runtime.installation import CONSTRUCTED, Installation
from detlint.runtime.patches import Patches
from detlint.runtime.plans import ACTIONS, GOES_ON, Action, Choice, Function, Plan, put
from detlint.runtime.recipes import Impossible, carry_out

PYTORCH: Final = "torch.Tensor"
"""What frameworks have as their tensor whose calls PyTorch's own part sees to."""


class LibraryPart:
    """Starts and undoes. Libraries that the program imports later are seen to when they come."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._patches = Patches()
        self.installation = Installation(context, Libraries(), self._patches, CONSTRUCTED | {"off", "replace"})

    def start(self) -> None:
        self.installation.start(others(self._context.catalog))
        listings.start(self._context, self._patches)
        when_imported("mindspore", self._with_mindspore)

    def _with_mindspore(self, mindspore: ModuleType) -> None:
        if self._context.active:
            mindspore_part.start(self._context, self._patches, mindspore)

    def undo(self) -> None:
        self.installation.stop()
        self._patches.undo()


def others(catalog: Catalog) -> list[str]:
    """The APIs with which something is done that need no PyTorch."""
    pytorch = {
        module for framework in catalog.frameworks if framework.tensor == PYTORCH for module in framework.modules
    }
    foreign = {module for framework in catalog.frameworks if framework.tensor for module in framework.modules} - pytorch
    deeds: dict[str, set[str]] = {}
    for entry in catalog.entries:
        for name in entry.names if entry.kind == "call" and entry.runtime is not None else ():
            deeds.setdefault(name, set()).add(entry.runtime.do if entry.runtime is not None else "")
    return sorted(
        name
        for name, done in deeds.items()
        if (root := name.partition(".")[0]) in foreign
        or (root not in pytorch and done <= CONSTRUCTED)
        or "counterpart" in done
    )


def _replace(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    """What draws by design gives way to its counterpart that doesn't, or gets the argument with which it doesn't."""
    recipe = choice.recipe
    if not hold(choice.entry.when, call):
        return GOES_ON
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
        plan.done(choice, f"got {recipe.argument}={recipe.value}")
    return GOES_ON


class Libraries:
    """What can be done with calls of libraries whose tensors we know nothing of."""

    actions: ClassVar[Mapping[str, Action]] = {**ACTIONS, "replace": _replace, "counterpart": _replace}
