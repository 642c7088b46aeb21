"""What is sure of the tensors of a call by where they come from: they need no gradients, or their indices all differ."""

from __future__ import annotations

from typing import Final

from detlint.domains.gradient.feeds import Feeds, Place
from detlint.domains.gradient.gradients import Gradients
from detlint.domains.matching.match import Matcher
from detlint.domains.matching.record import Match
from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.model.module import Module
from detlint.model.sites.reading.values import KEEPS_NUMBERS
from detlint.model.sites.records import (
    COMPARED,
    SCALED,
    Const,
    Either,
    Expression,
    Function,
    Instance,
    Items,
    Member,
    Param,
    Ref,
    Result,
    Value,
    options,
)
from detlint.model.training import ASKS

OPERANDS: Final = frozenset({
    "grid", "input", "key", "other", "query", "self", "source", "src", "tensor", "value", "values", "weight", "x",
})  # fmt: skip
"""Parameters of operators that are tensors through which gradients may flow, by name."""
SHAPES: Final = frozenset({
    "align_corners", "device", "dim", "dtype", "keepdim", "kernel_size", "mode", "output_size", "pad", "padding", "scale_factor",
    "size", "stride",
})  # fmt: skip
"""Parameters of functions that give tensors which aren't tensors themselves, by name."""
KEEPS: Final = KEEPS_NUMBERS | {
    SCALED, "abs", "amax", "amin", "bfloat16", "chunk", "clamp", "cos", "cpu", "cuda", "double", "exp", "expand_as", "flip", "half", "log",
    "mean", "movedim", "narrow", "neg", "reshape_as", "roll", "select", "sin", "split", "sqrt", "sum", "swapaxes", "t", "tile", "tril",
    "triu", "unbind", "unflatten", "unfold", "view_as",
}  # fmt: skip
"""Methods of tensors that need a gradient if and only if the tensor does."""

COLLECTIONS: Final = (Instance("builtins.list"), Instance("builtins.tuple"))
"""Those of which nothing is known."""
HOLDS: Final = frozenset({"copy", "get", "items", "pop", "values"})
"""Methods of collections that give what is in them."""
DEEPEST: Final = 12
"""A tensor is followed back through no more steps than that."""
SAME_INDICES: Final = frozenset({"clone", "contiguous", "cuda", "detach", "int", "long", "to", "type_as"})
"""Methods of tensors that keep each number, and how many there are."""


_Known = dict[tuple[str, int, str], bool]
"""Parameters, by path, function and name -> whether nothing that needs gradients is given to them."""


class Origins:
    """Follows the tensors of a call back to where they come from.

    Args:
        any_input: whether all that a whole network is given from outside counts as data, and not just what surely is.
    """

    def __init__(self, matcher: Matcher, gradients: Gradients, any_input: bool = False) -> None:
        self.matcher = matcher
        self.feeds = Feeds(matcher.resolver, gradients, any_input)
        catalog, tensors = matcher.catalog, matcher.resolver.types.tensors
        self._made = catalog.leaves
        self._cut = frozenset(name.rpartition(".")[2] for name in catalog.leaves if name.rpartition(".")[0] in tensors)
        self._drawn = frozenset(name for name in self._cut if name.endswith("_"))
        self._inputs = catalog.inputs
        self._tensors = tensors
        self._ranks, self._coordinates = catalog.with_context("ranks"), catalog.with_context("coordinates")
        self._permutes = catalog.with_context("permutes")
        self._one_hot, self._parameters = catalog.with_context("one-hot"), catalog.with_context("parameter")
        self._loaders = catalog.with_context("loader")
        self._passing = catalog.passing
        self._buffers = catalog.buffers

    def _asks(self, module: Module) -> bool:
        """Whether a file asks for the gradients of tensors that are no parameters: any of those in it may need some then."""
        return self.feeds.gradients.training.has(module, {ASKS})

    def need_no_gradients(self, module: Module, index: int, match: Match) -> bool:
        """Whether all tensors that a call computes with surely need none, or that whose gradient alone varies."""
        given = [name for name, argument in match.arguments.items() if argument.given]
        alone = [name for name in given if name == match.entry.gradient_of]
        names = alone or [name for name in given if name in OPERANDS] or given[:1]
        values = [self._written(module, index, match, name) for name in names]
        place = self.feeds.place(module, index)
        known: _Known = {}
        tensors = [value for value in values if not isinstance(value, Const)]
        return bool(tensors) and all(self._is_free(place, value, known) for value in tensors)

    def never_collide(self, module: Module, index: int, match: Match) -> bool:
        """Whether the indices of a call surely differ: ranks, a permutation, or what stands in one row of a one-hot mask."""
        return self._is_distinct(module, index, self._written(module, index, match, match.entry.collides))

    def _is_distinct(self, module: Module, index: int, value: Value | None, depth: int = 0) -> bool:
        """Whether the numbers of a tensor that a site gets surely differ."""
        if isinstance(value, Result):
            if isinstance(value.of, Member) and value.of.attr in SAME_INDICES:
                return self._is_distinct(module, index, value.of.base, depth)
            return self._is_called(module, value, self._permutes)
        if not (isinstance(value, Member) and isinstance(value.base, Result)):
            return False
        if value.attr in ("[1]", "indices") and self._is_called(module, value.base, self._ranks):
            return True
        if (given_back := self._given_back(module, index, value.base, value.attr[1:-1])) is not None:
            return depth < DEEPEST and self._is_distinct(*given_back, depth + 1)
        if not value.attr.startswith("[") or not self._is_called(module, value.base, self._coordinates):
            return False
        target = module.sites[value.base.site].target if value.base.site >= 0 else None
        given = [argument.value for argument in module.sites[value.base.site].args] if target is not None else []
        mask = target.base if isinstance(target, Member) and not given else given[0] if len(given) == 1 else None
        return self._is_row_of_one_hot(module, mask)

    def _given_back(
        self, module: Module, index: int, called: Result, item: str
    ) -> tuple[Module, int, Value | None] | None:
        """What a function of the program gives back as one of several, with a site of it."""
        target = self.matcher.resolver.normal(module.path, called.of, module.function_of(module.sites[index]))
        callee = self.feeds.callee(target)
        returned = callee[1].returns if callee is not None else None
        if callee is None or not isinstance(returned, Items) or not item.isdigit() or int(item) >= len(returned.values):
            return None
        inside = next((i for i, site in enumerate(callee[0].sites) if site.function == callee[1].number), None)
        return None if inside is None else (callee[0], inside, returned.values[int(item)])

    def _is_row_of_one_hot(self, module: Module, value: Value | None) -> bool:
        """Whether a mask says for one class where it was chosen: `one_hot(chosen).permute(2, 1, 0)[number]`."""
        row = False
        while value is not None:
            if isinstance(value, Member) and value.attr.startswith("["):
                row, value = True, value.base
            elif isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr in KEEPS:
                value = value.of.base
            else:
                break
        return row and isinstance(value, Result) and self._is_called(module, value, self._one_hot)

    def _is_called(self, module: Module, value: Result, names: frozenset[str]) -> bool:
        """Whether a value is what one of some functions gave, or what a tensor's method of that name did."""
        if isinstance(value.of, Member):
            return any(
                name.rpartition(".")[0] in self._tensors and name.endswith(f".{value.of.attr}") for name in names
            )
        named = self.matcher.resolver.name(module.path, value.of.name) if isinstance(value.of, Ref) else None
        return isinstance(named, Ref) and named.name in names

    def _written(self, module: Module, index: int, match: Match, name: str) -> Value | None:
        target = module.sites[index].target
        if name == "self" and isinstance(target, Member):
            return target.base
        return self.matcher.written(module, index, match, name)

    def _is_free(self, place: Place, value: Value | None, known: _Known, depth: int = 0) -> bool:
        """Whether a tensor surely needs no gradients.

        Args:
            known: the parameters that were asked about; those that lead to themselves get nothing from it.
        """
        if depth > DEEPEST or value in place.replaced:
            return False
        if isinstance(value, Either):
            # A function that does the same with each of several gives a collection then, of such as it gives of one.
            single = [option for option in value.options if option not in COLLECTIONS] or value.options
            return all(self._is_free(place, option, known, depth + 1) for option in single)
        if isinstance(value, Const):
            return True
        if isinstance(value, (Param, Instance)):
            return value.name in self._inputs or self._is_given_free(place, value.name, known, depth)
        if isinstance(value, Member):
            if not value.attr.startswith("["):
                return (
                    value.attr == "data" or self._is_buffer(place.module, value) or self._is_frozen(place.module, value)
                )
            return self._gives_batches(place, value.base, depth) or self._is_free(place, value.base, known, depth + 1)
        if not isinstance(value, Result):
            return False
        if isinstance(value.of, Member) and value.of.attr in self._cut:
            return True
        if isinstance(value.of, Either):
            return all(self._is_free(place, Result(of, value.site), known, depth + 1) for of in value.of.options if of)
        if isinstance(value.of, Member) and (value.of.attr in KEEPS or value.of.attr in HOLDS):
            return self._is_free(place, value.of.base, known, depth + 1)
        return self._is_drawn_into(place, value) or self._is_result_free(place, value, known, depth)

    def _is_buffer(self, module: Module, value: Member) -> bool:
        """Whether a layer keeps a tensor under a name, always as one that is no parameter: `self.register_buffer("freqs", table)`."""
        owner = value.base
        if not isinstance(owner, Instance) or owner.name or self._asks(module):
            return False
        body = module.classes.get(owner.of.removeprefix(f"{module.facts.module}."))
        if body is None or value.attr in body.attributes:
            return False
        return any(
            isinstance(site.target, Member)
            and site.target.attr in self._buffers
            and site.target.base == owner
            and any(argument.value == Const(value.attr) for argument in site.args[:1])
            for site in module.sites
        )

    def _is_frozen(self, module: Module, value: Member) -> bool:
        """Whether a layer keeps parameters under a name that are never trained: `nn.Parameter(table, requires_grad=False)`."""
        owner = value.base
        if not isinstance(owner, Instance) or owner.name or self._asks(module):
            return False
        body = module.classes.get(owner.of.removeprefix(f"{module.facts.module}."))
        kept = body.attributes.get(value.attr) if body is not None else None
        made = [option for option in options(kept) if option != Const(None)]
        return bool(made) and all(
            isinstance(option, Result)
            and option.site >= 0
            and self._is_called(module, option, self._parameters)
            and any(
                asked.name == "requires_grad" and asked.value == Const(False)
                for asked in module.sites[option.site].args
            )
            for option in made
        )

    def _gives_batches(self, place: Place, value: Value | None, depth: int) -> bool:
        """Whether the items of a value are what a loader of data gives: it is one, or passes on what one gives."""
        if depth > DEEPEST:
            return False
        if isinstance(value, Either):
            # `bar = enumerate(loader)`, and on one rank `bar = tqdm(bar)`: what this was given isn't kept.
            told = [
                option for option in value.options if self._passed_on(place, option, unknown=COMPARED) is not COMPARED
            ]
            return bool(told) and all(self._gives_batches(place, option, depth + 1) for option in told)
        if isinstance(value, Param):
            calls = self.feeds.given(place.module, place.function, value.name)
            return bool(calls) and all(self._gives_batches(*call, depth + 1) for call in calls or ())
        if (passed_on := self._passed_on(place, value)) is not None:
            return self._gives_batches(place, passed_on, depth + 1)
        called, item = (value.base, value.attr[1:-1]) if isinstance(value, Member) else (value, "")
        if not isinstance(called, Result) or called.site < 0:
            return False
        resolver, module = self.matcher.resolver, place.module
        target = resolver.normal(module.path, called.of, place.function)
        if (callee := self.feeds.callee(target)) is not None:
            given = self.feeds.passed(*callee, place, module.sites[called.site])
            returned = callee[1].returns
            if isinstance(returned, Items) and item.isdigit() and int(item) < len(returned.values):
                returned, item = returned.values[int(item)], ""
            return not item and self._gives_batches(self.feeds.inside(*callee, given), returned, depth + 1)
        classes = [option.name if isinstance(option, Ref) else "" for option in options(target)]
        return not item and all(not self._loaders.isdisjoint((name, *resolver.classes.mro(name))) for name in classes)

    def _passed_on(self, place: Place, value: Value | None, unknown: Value | None = None) -> Value | None:
        """What a value passes the items of on, in their order: `tqdm(loader)`; None for any other value.

        Args:
            unknown: stands for what isn't known.
        """
        if isinstance(value, Expression):
            function, at = in_ir(value.text) or (None, -1)
            if function is None or function.ops[at][0] != op.CALL:
                return None
            named = function.dotted(function.ops[at][1]).rpartition(".")[2] in self._passing
            given = function.call(at).positional[:1] if named else ()
            return value.names.get(function.dotted(given[0])) if given else None
        if not isinstance(value, Result) or value.site < 0 or not isinstance(value.of, Ref):
            return None
        args = place.module.sites[value.site].args
        named = value.of.name.rpartition(".")[2] in self._passing and bool(args) and not args[0].name
        return (args[0].value or unknown) if named else None

    def _is_drawn_into(self, place: Place, value: Result) -> bool:
        """Whether all numbers of a tensor are drawn anew: `noise = torch.empty(n); noise.bernoulli_(p)`."""
        return value.site >= 0 and any(
            isinstance(site.target, Member) and site.target.attr in self._drawn and site.target.base == value
            for site in place.module.sites
            if site.function == place.function.number
        )

    def _is_given_free(self, place: Place, name: str, known: _Known, depth: int) -> bool:
        """Whether no call of a function gives a parameter anything that needs gradients."""
        module, function, _, given = place
        if self._asks(module) or not any(parameter.name == name for parameter in module.detail(function).parameters):
            return False
        if given is not None:
            return name in given and self._is_free(*given[name], known, depth + 1)
        key = (module.path, function.number, name)
        if key not in known:
            known[key] = True
            calls = self.feeds.given(module, function, name)
            known[key] = calls is not None and all(
                not self._asks(call.place.module) and self._is_free(*call, known, depth + 1) for call in calls
            )
        return known[key]

    def _is_result_free(self, place: Place, value: Result, known: _Known, depth: int) -> bool:
        """Whether what a function gives needs no gradients: it makes it, or it is handed nothing that needs any."""
        module = place.module
        target = self.matcher.resolver.normal(module.path, value.of, place.function)
        if self._asks(module) or target is None:
            return False
        if value.site >= 0 and (callee := self.feeds.callee(target)) is not None:
            return self._is_own_result_free(place, value.site, callee, known, depth)
        if not isinstance(target, Ref):
            return False
        if target.name in self._made:
            return True
        if value.site < 0 or target.name not in self.matcher.catalog.calls:
            return False
        given = [argument.value for argument in module.sites[value.site].args if argument.name not in SHAPES]
        tensors = [handed for handed in given if not _is_list(handed)]
        return bool(tensors) and all(self._is_free(place, handed, known, depth + 1) for handed in tensors)

    def _is_own_result_free(
        self, place: Place, index: int, callee: tuple[Module, Function], known: _Known, depth: int
    ) -> bool:
        """Whether what a function of the program gives needs no gradients: it takes none, or none of what it gives back does."""
        module, function = callee
        if self.feeds.gradients.never_flow_out(module, function):
            return True
        if function.deferred or self._asks(module):
            return False
        given = self.feeds.passed(module, function, place, place.module.sites[index])
        values = function.returns.values if isinstance(function.returns, Items) else (function.returns,)
        there = self.feeds.inside(module, function, given)
        return all(self._is_free(there, value, known, depth + 1) for value in values)


def _is_list(value: Value | None) -> bool:
    """Whether an argument is a number, or some: `2`, `(1, 1)`, `[size // 2] * 4`."""
    if not isinstance(value, Expression):
        return isinstance(value, (Const, Items))
    function, at = in_ir(value.text) or (None, -1)
    while function is not None and function.ops[at][0] == op.BINARY:
        at = function.ops[at][2]
    return function is not None and function.ops[at][0] in (op.LIST, op.COLLECT)
