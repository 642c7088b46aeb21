"""What is done with the calls of one API: the entries of the catalog that say so, and how each is carried out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, Protocol

from detlint.catalog import Catalog, Deed, Entry, Recipe
from detlint.runtime.arguments import Call, Parameters
from detlint.runtime.conditions import Bound, hold
from detlint.runtime.context import Context, Nondeterministic, NondeterministicWarning, in_force
from detlint.runtime.options import Options
from detlint.runtime.places import origin
from detlint.runtime.recipes import Impossible, Template, carry_out, evaluate, template

Function = Callable[..., Any]
Action = Callable[["Plan", "Choice", Function, Call], Any]
GOES_ON: Final = object()
"""What an action gives whose work is done by changing the arguments."""


class Backend(Protocol):
    """What calls of a library can be done with."""

    actions: ClassVar[Mapping[str, Action]]
    """By the words of the catalog. Each gets the plan, the choice, the function and the call, and gives the result or
    `GOES_ON`."""


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

    @property
    def gives_another(self) -> bool:
        """Whether it makes something else instead of only changing arguments."""
        deed, recipe = self.entry.runtime, self.recipe
        own = deed is not None and bool(deed.text)
        whole = recipe is not None and (
            recipe.kind == "replace" or (recipe.kind == "replace-item" and not recipe.argument)
        )
        return self.made is not None and (own or whole)


class Plan:
    """What is done with the calls of an API. Calling it makes the call as it should be made."""

    def __init__(
        self, api: str, choices: list[Choice], parameters: Parameters, context: Context, backend: Backend
    ) -> None:
        self.api = api
        self.choices = choices
        self.parameters = parameters
        self.context = context
        self.backend = backend
        self.asked = asks(context.options, api)
        """Whether the options name it, so that it is moved wherever it runs."""

    def __call__(self, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = Call(self.parameters, args, kwargs)
        for choice in self.choices:
            result = self.backend.actions[choice.do](self, choice, func, call)
            if result is not GOES_ON:
                return result
        return func(*call.args, **call.kwargs)

    def of(self, choices: list[Choice]) -> Plan:
        """The same with some of its choices."""
        return Plan(self.api, choices, self.parameters, self.context, self.backend)

    def seed(self) -> int:
        """The next of the seeds for what is made here."""
        return self.context.seed(self.api, origin()[1])

    @cached_property
    def _draws(self) -> frozenset[str]:
        """The streams that it draws from where it is given no generator and no seed."""
        catalog = self.context.catalog
        return frozenset(stream for i in catalog.calls.get(self.api, ()) for stream in catalog.entries[i].draws)

    @property
    def repeats(self) -> bool:
        """Whether it draws only from streams that the program seeds itself, so that it repeats as it is."""
        return self.context.own.fix(self._draws)

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


def plan_of(api: str, context: Context, backend: Backend, entries: list[Entry] | None = None) -> Plan | None:
    """The plan of an API of the catalog, under the options; None where nothing is to be done.

    Args:
        entries: instead of the catalog's.
    """
    catalog = context.catalog
    known = [catalog.entries[i] for i in catalog.calls.get(api, ())] if entries is None else entries
    able = backend.actions.keys() & context.only if context.only else backend.actions.keys()
    choices = [choice for choice in _choices(api, known, context.options) if choice.do in able]
    if not choices and "cpu" in able and asks(context.options, api):
        return asked_for(api, context, backend)
    return Plan(api, choices, parameters_of(api, catalog), context, backend) if choices else None


def asks(options: Options, api: str) -> bool:
    """Whether the options name an API, so that it runs on the CPU wherever it would run."""
    return not isinstance(options.operators, str) and not options.operators.isdisjoint(names_of(api))


def asked_for(api: str, context: Context, backend: Backend) -> Plan:
    """The plan of an API that only the options name: it runs on the CPU."""
    entry = Entry(names=(api,), runtime=Deed("cpu"))
    return Plan(api, [Choice("cpu", entry, None, None)], parameters_of(api, context.catalog), context, backend)


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
        text = text or (_text(recipe) if recipe is not None else "")
        try:
            yield Choice(do, entry, recipe, template(text, api) if text else None)
        except Impossible:
            continue


def _do(api: str, entry: Entry, options: Options) -> str:
    """What is done by an entry under the options; "" for nothing."""
    deed = entry.runtime
    if deed is None:
        varies = entry.rule[:4] == "DET4" and entry.category in ("a", "d")
        if varies and asks(options, api):
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
    if deed.do in ("replace", "counterpart") and entry.rule[:4] in ("DET2", "DET3"):
        return options.dropout == "off" if entry.rule[:4] == "DET2" else options.transforms == "off"
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


def _text(recipe: Recipe) -> str:
    """What a recipe writes. One that takes an item out of a list leaves what does nothing in its place."""
    if recipe.kind != "replace-item" or recipe.argument:
        return recipe.text
    return recipe.value if isinstance(recipe.value, str) else recipe.text or "<detlint.runtime.nothing.unchanged>"


def unsupported(
    plan: Plan, choice: Choice, device: str, why: str = "nothing is known to do about it at run time"
) -> None:
    """Tell that a call varies on a device and runs there, as the options say.

    Raises:
        Nondeterministic: the options ask for it.
    """
    text = f"`{plan.api}` is nondeterministic on {device}, and {why}"
    if plan.context.options.unsupported == "error":
        raise Nondeterministic(f"{text}. {choice.entry.remedy}")
    plan.context.refuse(choice.entry, plan.api, text)
    warnings.warn(text, NondeterministicWarning, stacklevel=5)


def turn_off(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    if choice.recipe is None or not hold(choice.entry.when, call):
        return GOES_ON
    if choice.recipe.kind == "replace" and choice.made is not None:
        return put(plan, choice, func, call)
    try:
        carry_out(choice.recipe, choice.made, call, plan.seed)
    except Impossible as error:
        plan.refuse(choice, f"still draws: {error}")
    else:
        plan.done(choice, f"ran with {choice.recipe.argument}={choice.recipe.value}")
    return GOES_ON


def put(
    plan: Plan,
    choice: Choice,
    func: Function,
    call: Call,
    told: str = "replaced by its deterministic counterpart",
) -> Any:
    """Do what a text says instead, and tell it."""
    if choice.made is None:
        return GOES_ON
    try:
        result = evaluate(choice.made, call, plan.seed)
    except Impossible as error:
        plan.refuse(choice, f"nothing put in its place: {error}")
        return GOES_ON
    plan.done(choice, told)
    return result


def seed(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    recipe = choice.recipe
    if recipe is None or not recipe.seeds:
        return GOES_ON
    if not hold(choice.entry.when, call):
        if choice.entry.unseeds and call.gives(recipe.argument):  # left out, it would unseed: so it seeds
            plan.context.own.note(plan.api, call.get(recipe.argument))
        return GOES_ON
    if (
        plan.repeats or origin()[0] == "standard"
    ):  # what Python's own modules draw, names of temporary files, ought to differ
        return GOES_ON
    if choice.gives_another:
        return put(plan, choice, func, call, "seeded by a fixed number instead")
    try:
        if carry_out(recipe, choice.made, call, plan.seed):
            plan.done(choice, f"got a seed, as `{recipe.argument}`")
    except Impossible as error:
        plan.refuse(choice, f"not seeded: {error}")
    return GOES_ON


def in_order(plan: Plan, choice: Choice, func: Function, call: Call) -> Any:
    """Under `sequential` what compares back ends; else what leaves the training as it is: a seed, or order among workers."""
    entry = choice.entry
    if not hold(entry.when, call):
        return GOES_ON
    if plan.context.options.loaders == "sequential" and entry.fix is None and entry.align is None:
        plan.refuse(choice, f"its order stays. {entry.remedy}")
        return GOES_ON
    if plan.context.options.loaders == "sequential" and entry.align is not None and entry.align.kind != "replace":
        return _ordered(plan, choice, entry.align, None, call)
    recipe = entry.fix
    if plan.context.options.loaders == "sequential" and choice.gives_another:
        return put(plan, choice, func, call)
    harmless = recipe is not None and (recipe.seeds or recipe.applicability == "safe")
    if recipe is not None and recipe.seeds and plan.repeats:
        return GOES_ON
    if recipe is None or not (harmless or plan.context.options.loaders == "sequential"):
        return GOES_ON
    return _ordered(plan, choice, recipe, choice.made if recipe.text else None, call)


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


ACTIONS: Final[Mapping[str, Action]] = {"off": turn_off, "seed": seed, "sequential": in_order}
"""What can be done with the calls of any library."""
