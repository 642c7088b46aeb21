"""What is sure of the tensors of a call by where they come from: they need no gradients, or their indices all differ."""

from __future__ import annotations

from typing import Final

from detlint.checks.match import Match, Matcher
from detlint.facts.model import Const, Either, Instance, Items, Member, Param, Ref, Result, Value
from detlint.facts.reader import KEEPS_NUMBERS
from detlint.program.resolve import Module

OPERANDS: Final = frozenset({
    "grid", "input", "key", "other", "query", "self", "source", "src", "tensor", "value", "values", "weight", "x",
})  # fmt: skip
"""Parameters of operators that are tensors through which gradients may flow, by name."""
KEEPS: Final = KEEPS_NUMBERS | {"bfloat16", "chunk", "clamp", "cpu", "cuda", "double", "half", "split", "unfold"}
"""Methods of tensors that need a gradient if and only if the tensor does."""

SAME_INDICES: Final = frozenset({"clone", "contiguous", "cuda", "detach", "int", "long", "to", "type_as"})
"""Methods of tensors that keep each number, and how many there are."""


class Origins:
    """Follows the tensors of a call back to where they come from."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        catalog, tensors = matcher.catalog, matcher.resolver.tensors
        self._made = catalog.leaves
        self._cut = frozenset(name.rpartition(".")[2] for name in catalog.leaves if name.rpartition(".")[0] in tensors)
        self._inputs = catalog.inputs
        self._tensors = tensors
        self._ranks, self._coordinates = catalog.with_context("ranks"), catalog.with_context("coordinates")
        self._one_hot = catalog.with_context("one-hot")

    def need_no_gradients(self, module: Module, index: int, match: Match) -> bool:
        """Whether all tensors that a call computes with surely need none."""
        given = [name for name, argument in match.arguments.items() if argument.given]
        names = [name for name in given if name in OPERANDS] or given[:1]
        return bool(names) and all(self._is_free(module, self._written(module, index, match, name)) for name in names)

    def never_collide(self, module: Module, index: int, match: Match) -> bool:
        """Whether the indices of a call surely differ: ranks, or what stands in one row of a one-hot mask."""
        return self._is_distinct(module, self._written(module, index, match, match.entry.collides))

    def _is_distinct(self, module: Module, value: Value | None) -> bool:
        if isinstance(value, Result) and isinstance(value.of, Member) and value.of.attr in SAME_INDICES:
            return self._is_distinct(module, value.of.base)
        if not (isinstance(value, Member) and isinstance(value.base, Result)):
            return False
        if value.attr in ("[1]", "indices") and self._is_called(module, value.base, self._ranks):
            return True
        if not value.attr.startswith("[") or not self._is_called(module, value.base, self._coordinates):
            return False
        target = module.sites[value.base.site].target if value.base.site >= 0 else None
        given = [argument.value for argument in module.sites[value.base.site].args] if target is not None else []
        mask = target.base if isinstance(target, Member) and not given else given[0] if len(given) == 1 else None
        return self._is_row_of_one_hot(module, mask)

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

    def _is_free(self, module: Module, value: Value | None) -> bool:
        if isinstance(value, Either):
            return all(self._is_free(module, option) for option in value.options)
        if isinstance(value, (Param, Instance)):
            return value.name in self._inputs
        if isinstance(value, Member):
            return value.attr == "data" or (value.attr.startswith("[") and self._is_free(module, value.base))
        if isinstance(value, Result) and isinstance(value.of, Member):
            method = value.of.attr
            return method in self._cut or (method in KEEPS and self._is_free(module, value.of.base))
        return isinstance(value, Result) and isinstance(value.of, Ref) and self._is_result_free(module, value, value.of)

    def _is_result_free(self, module: Module, value: Result, of: Ref) -> bool:
        """Whether what a function gives needs no gradients: it makes it, or it is handed nothing that needs any."""
        name = self.matcher.resolver.name(module.path, of.name)
        if not isinstance(name, Ref) or module.facts.learns:
            return False
        if name.name in self._made:
            return True
        if value.site < 0 or name.name not in self.matcher.catalog.calls:
            return False
        given = [argument.value for argument in module.sites[value.site].args]
        tensors = [handed for handed in given if not isinstance(handed, (Const, Items))]
        return bool(tensors) and all(self._is_free(module, handed) for handed in tensors)
