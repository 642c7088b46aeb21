"""What is done with the calls of one API: the entries of the catalog that say so, and how each is carried out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import torch

from detlint.catalog import Catalog, Deed, Entry, Recipe
from detlint.runtime.arguments import Call, Parameters
from detlint.runtime.conditions import ON, Bound, hold
from detlint.runtime.context import Context, Nondeterministic, NondeterministicWarning, in_force
from detlint.runtime.operators import Generators, device_of, on_cpu
from detlint.runtime.options import Options
from detlint.runtime.places import origin
from detlint.runtime.recipes import Impossible, Template, carry_out, evaluate, template

Function = Callable[..., Any]
GOES_ON: Final = object()
"""What an action gives whose work is done by changing the arguments."""


class Choice(NamedTuple):
    """One entry of an API, and what is done when it holds.

    Attributes:
        recipe: what changes the arguments, with its text compiled.
        made: the text of the recipe, or of what takes the API's place.
    """

    do: str
    entry: Entry
    recipe: Recipe | None
    made: Template | None


class Plan:
    """What is done with the calls of an API. Calling it makes the call as it should be made."""

    def __init__(
        self, api: str, choices: list[Choice], parameters: Parameters, context: Context, generators: Generators
    ) -> None:
        self.api = api
        self.choices = choices
        self.parameters = parameters
        self.context = context
        self.generators = generators
        wanted = context.options.operators
        self.asked = not isinstance(wanted, str) and not wanted.isdisjoint(names_of(api))
        """Whether the options name it, so that it is moved wherever it runs."""

    def __call__(self, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = Call(self.parameters, args, kwargs)
        for choice in self.choices:
            result = _ACTIONS[choice.do](self, choice, func, call)
            if result is not GOES_ON:
                return result
        return func(*call.args, **call.kwargs)

    def seed(self) -> int:
        return self.context.seed(self.api, origin()[1])

    def done(self, choice: Choice, message: str) -> None:
        self.context.done(choice.entry, self.api, f"`{self.api}` {message}")

    def refuse(self, choice: Choice, reason: str) -> None:
        self.context.refuse(choice.entry, self.api, f"`{self.api}`: {reason}")

    @property
    def replaces(self) -> bool:
        """Whether the order of an object's items is that of another object."""
        return any(self._other(choice) for choice in self.choices)

    def _other(self, choice: Choice) -> bool:
        align = choice.entry.align
        wanted = choice.do == "sequential" and self.context.options.loaders == "sequential"
        return wanted and align is not None and align.kind == "replace"

    def counterpart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The object in whose order the items of a new one come; None where the call rules it out."""
        call = Call(self.parameters, args, kwargs)
        for choice in self.choices:
            if self._other(choice) and choice.entry.align is not None and hold(choice.entry.when, call):
                try:
                    made = evaluate(template(choice.entry.align.text, self.api), call, self.seed)
                except Impossible as error:
                    self.refuse(choice, f"its order stays: {error}")
                else:
                    self.done(choice, "takes the items in order")
                    return made
        return None

    def held(self, of: Bound) -> dict[str, Any]:
        """What attributes of an object must be while it works, so that it draws nothing."""
        found: dict[str, Any] = {}
        for choice in self.choices:
            recipe = choice.recipe
            if choice.do == "off" and recipe is not None and recipe.kind == "set-argument":
                value = of.get(recipe.argument)
                if isinstance(value, (int, float)) and hold(choice.entry.when, of):
                    found[recipe.argument] = recipe.value
                    self.done(choice, f"ran with {recipe.argument}={recipe.value}")
        return found


def plan_of(api: str, context: Context, generators: Generators, entries: list[Entry] | None = None) -> Plan | None:
    """The plan of an API of the catalog, under the options; None where nothing is to be done.

    Args:
        entries: instead of the catalog's.
    """
    catalog = context.catalog
    known = [catalog.entries[i] for i in catalog.calls.get(api, ())] if entries is None else entries
    choices = [*_choices(api, known, context.options)]
    return Plan(api, choices, parameters_of(api, catalog), context, generators) if choices else None


def asked_for(api: str, context: Context, generators: Generators) -> Plan:
    """The plan of an API that only the options name: it runs on the CPU."""
    entry = Entry(names=[api], runtime=Deed("cpu"))
    return Plan(api, [Choice("cpu", entry, None, None)], parameters_of(api, context.catalog), context, generators)


def parameters_of(api: str, catalog: Catalog) -> Parameters:
    """By the catalog's signature, where it has one. A tensor's method gets the tensor first when it is intercepted."""
    tensors = {framework.tensor for framework in catalog.frameworks}
    return Parameters(catalog.signatures.get(api, []), method=api.rpartition(".")[0] in tensors)


def _choices(api: str, entries: list[Entry], options: Options) -> Iterator[Choice]:
    drawn = False
    for entry in sorted(entries, key=lambda entry: not entry.rule):
        if entry.kind != "call" or not in_force(entry.versions):
            continue
        do = _do(api, entry, options)
        if not do or (do == "cpu-draw" and drawn):
            continue
        drawn = drawn or do == "cpu-draw"
        recipe = _recipe(do, entry)
        text = entry.runtime.text if entry.runtime is not None else ""
        text = text or (recipe.text if recipe is not None else "")
        try:
            yield Choice(do, entry, recipe, template(text, api) if text else None)
        except Impossible:
            continue


def _do(api: str, entry: Entry, options: Options) -> str:
    """What is done by an entry under the options; "" for nothing."""
    deed = entry.runtime
    if deed is None:
        varies = entry.rule[:4] == "DET4" and entry.category in ("a", "d")
        if varies and not isinstance(options.operators, str) and not options.operators.isdisjoint(names_of(api)):
            return "cpu"
        return "unsupported" if varies and options.operators != "keep" else ""
    return deed.do if _wanted(api, entry, deed, options) else ""


def _wanted(api: str, entry: Entry, deed: Deed, options: Options) -> bool:
    if deed.do == "off":
        return options.dropout == "off"
    if deed.do == "cpu-draw":
        return options.rng == "cpu"
    if deed.do == "cpu":
        return _listed(api, entry, options.operators)
    if deed.do == "replace":
        return _listed(api, entry, options.replace)
    if deed.do == "sequential" or entry.rule == "DET302":
        return options.loaders != "keep"
    return True


def _listed(api: str, entry: Entry, wanted: str | frozenset[str]) -> bool:
    if isinstance(wanted, str):
        return wanted == "listed"
    return not wanted.isdisjoint({*names_of(api), entry.rule})


def names_of(api: str) -> tuple[str, str]:
    """How options may name it."""
    return api, api.rpartition(".")[2]


def _recipe(do: str, entry: Entry) -> Recipe | None:
    return entry.fix if do != "sequential" else entry.fix or entry.align


# Each action gets the plan, the choice, the function and the call. It gives the result, or GOES_ON.


def _turn_off(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    if choice.recipe is None or not hold(choice.entry.when, call):
        return GOES_ON
    if choice.recipe.kind == "replace" and choice.made is not None:
        return _put(plan, choice, func, call)
    try:
        carry_out(choice.recipe, choice.made, call, plan.seed)
    except Impossible as error:
        plan.refuse(choice, f"still draws: {error}")
    else:
        plan.done(choice, f"ran with {choice.recipe.argument}={choice.recipe.value}")
    return GOES_ON


def _put(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    """Do what a text says instead."""
    if choice.made is None:
        return GOES_ON
    try:
        result = evaluate(choice.made, call, plan.seed)
    except Impossible as error:
        plan.refuse(choice, f"nothing put in its place: {error}")
        return GOES_ON
    plan.done(choice, "replaced by its deterministic counterpart")
    return result


def _concerned(plan: Plan, choice: Choice, call: Call) -> torch.device | None:
    """The device on which a call varies, as the entry says, or as the program's author does; None where it doesn't."""
    device = device_of(call.args, call.kwargs)
    if plan.asked:
        return device
    targets = choice.entry.targets
    if device is None or (targets and ON.get(device.type, device.type) not in targets):
        return None
    if choice.entry.pass_ == "backward" and not _takes_gradients(call):
        return None
    return device if hold(choice.entry.when, call) else None


def _takes_gradients(call: Call) -> bool:
    return torch.is_grad_enabled() and any(_requires(value) for value in (*call.args, *call.kwargs.values()))


def _requires(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_requires(item) for item in value)
    return isinstance(value, torch.Tensor) and value.requires_grad


def _run_on_cpu(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = _concerned(plan, choice, call)
    if device is None:
        return GOES_ON
    plan.done(choice, f"ran on the CPU instead of {device.type}")
    return on_cpu(func, call.args, call.kwargs, device, plan.generators)


def _draw_on_cpu(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = call.kwargs.get("device")
    if device is None:
        device = device_of(call.args, call.kwargs) or _default_device(call)
    device = torch.device(device)
    if device.type in ("cpu", "meta"):
        return GOES_ON
    plan.done(choice, f"drew on the CPU instead of {device.type}")
    return on_cpu(func, call.args, call.kwargs, device, plan.generators)


def _default_device(call: Call) -> torch.device:
    """Where a call without a device draws: with its tensors on the CPU, else where PyTorch makes new ones."""
    tensors = any(isinstance(value, torch.Tensor) for value in (*call.args, *call.kwargs.values()))
    return torch.device("cpu") if tensors else torch.get_default_device()


def _replace(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    return GOES_ON if _concerned(plan, choice, call) is None else _put(plan, choice, func, call)


def _seed(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    recipe = choice.recipe
    if recipe is None or not recipe.seeds or not hold(choice.entry.when, call):
        return GOES_ON
    if origin()[0] == "standard":  # what Python's own modules draw, names of temporary files, ought to differ
        return GOES_ON
    try:
        if carry_out(recipe, choice.made, call, plan.seed):
            plan.done(choice, f"got a seed, as `{recipe.argument}`")
    except Impossible as error:
        plan.refuse(choice, f"not seeded: {error}")
    return GOES_ON


def _in_order(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    """Under `sequential` what compares back ends; else what leaves the training as it is: a seed, or order among workers."""
    entry = choice.entry
    if not hold(entry.when, call):
        return GOES_ON
    if plan.context.options.loaders == "sequential" and entry.align is not None and entry.align.kind != "replace":
        return _ordered(plan, choice, entry.align, None, call)
    recipe = entry.fix
    harmless = recipe is not None and (recipe.seeds or recipe.applicability == "safe")
    if recipe is None or not (harmless or plan.context.options.loaders == "sequential"):
        return GOES_ON
    return _ordered(plan, choice, recipe, choice.made, call)


def _ordered(plan: Plan, choice: Choice, recipe: Recipe, made: Template | None, call: Call) -> Any:
    try:
        if not carry_out(recipe, made, call, plan.seed):
            return GOES_ON
    except Impossible as error:
        plan.refuse(choice, f"its order stays: {error}")
        return GOES_ON
    removed = recipe.kind == "remove-argument"
    value = "got a seed of its own" if recipe.seeds else f"got {recipe.argument}={recipe.value}"
    plan.done(choice, f"left out {recipe.argument}" if removed else value)
    return GOES_ON


def _unsupported(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    device = _concerned(plan, choice, call)
    if device is None:
        return GOES_ON
    how = plan.context.options.unsupported
    if how == "cpu":
        return _run_on_cpu(plan, choice, func, call)
    text = f"`{plan.api}` is nondeterministic on {device.type}, and nothing is known to do about it at run time"
    if how == "error":
        raise Nondeterministic(f"{text}. {choice.entry.remedy}")
    plan.context.refuse(choice.entry, plan.api, text)
    warnings.warn(text, NondeterministicWarning, stacklevel=4)
    return GOES_ON


_ACTIONS: Final[dict[str, Callable[[Plan, Choice, Function, Call], Any]]] = {
    "off": _turn_off,
    "cpu": _run_on_cpu,
    "cpu-draw": _draw_on_cpu,
    "replace": _replace,
    "seed": _seed,
    "sequential": _in_order,
    "unsupported": _unsupported,
}
