"""Which values of a function surely are tensors of whole numbers, masks, one-hot masks, or numbers of which each is another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from detlint.domains.matching.arguments import SAME_NUMBERS
from detlint.domains.matching.match import Matcher
from detlint.domains.numeric.lengths import AXES, axis_of, length, literal
from detlint.domains.numeric.objects import Objects
from detlint.ir import ops as op
from detlint.ir.code import Function
from detlint.ir.records import EITHER, KIND, LAMBDA
from detlint.model.module import Module
from detlint.model.sites.records import Ref

if TYPE_CHECKING:
    from detlint.domains.numeric.exact import Exact

_KEEP: Final = frozenset({"+", "-", "*", "//", "%"})
"""Operators that make whole numbers of whole numbers."""
_COMPARE: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_OF_NUMPY: Final = frozenset(
    {"numpy.bool_", *(f"numpy.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
)
"""Types of whole numbers that arrays may have."""
_SAME: Final = SAME_NUMBERS | {"clone", "detach", "repeat", "repeat_interleave", "tile"}
"""Methods of tensors that give no other numbers than those of theirs."""
_JOIN: Final = frozenset({"&", "|", "^"})
"""Operators that make a mask of two masks."""
_AGAIN: Final = frozenset({op.FOR, op.WHILE, op.COMPREHEND})
"""What may come to something in it again and again, inside of a function."""
_ONE_HOT: Final = ("indices", "depth", "on_value", "off_value", "axis")
"""What frameworks call the parameters of what makes one-hot masks, in their order."""
_TO_ONE: Final = ("mean", "sum")
"""Reductions of losses that give one number."""
_NEW_AXIS: Final = frozenset({"expand_dims", "unsqueeze"})
"""What puts an axis of one before the others, if told 0."""


class Numbers(Objects):
    """What is whole in one function, which may be a method of a layer."""

    def __init__(self, exact: Exact, matcher: Matcher, module: Module, function: Function, depth: int = 0) -> None:
        super().__init__(matcher, module, function, depth)
        self._exact = exact
        self._pending: set[tuple[str, int]] = set()
        """What is being found out: a value of a loop is so if what it begins with is, and each round keeps it so."""

    def _elsewhere(self, function: Function) -> Numbers:
        return Numbers(self._exact, self._matcher, self._module, function, self._depth + 1)

    def _is_set_by_others(self, attribute: str) -> bool:
        return self._exact.is_set_by_others(self._module, self.layer, attribute)

    def is_made_once(self, call: int) -> bool:
        """Whether the function comes to a call of its own once at most."""
        again = any(self.function.ops[mark][0] in _AGAIN for mark in self.function.blocks(call))
        return not again and self.function.header.kind & KIND != LAMBDA

    # -- whole numbers --------------------------------------------------------------------------------------------------

    def is_whole(self, at: int, *, floats: bool = True) -> bool:
        """Whether an expression surely is a tensor of whole numbers.

        Args:
            floats: whether their type may be one for others, too.
        """
        if at < 0:
            return False
        operation = self.function.ops[at]
        if operation[0] == op.LOAD:
            if self._is_changed(at):
                return False
            if self._is_given(at, floats):
                return True
            return self._each(f"whole{floats}", at, lambda value: self.is_whole(value, floats=floats))
        if operation[0] == op.ATTR:
            kept = self._kept(at)
            return kept is not None and kept[0].is_whole(kept[1], floats=floats)
        if floats and (self._is_mask(at) or self._is_sum(at) or self._keeps_whole(at)):
            return True
        if operation[0] == op.BINARY and floats:
            keeps = self.function.code.strings[operation[1]] in _KEEP
            return keeps and all(self.is_whole(side) or self._is_number(side) for side in operation[2:])
        if operation[0] != op.CALL:
            return False
        if floats and (self._is_filled(at) or self._is_of_bits(at) or self._is_counted(at)):
            return True
        catalog, called, call = self._matcher.catalog, self._called(operation[1]), self.function.call(at)
        if called not in catalog.wraps:
            return called in catalog.whole
        kinds = [*call.positional[1:2], *([call.named["dtype"]] if "dtype" in call.named else [])]
        if kinds:
            return all(self.name(kind) in catalog.whole for kind in kinds)
        return not call.unpacked and self._is_number(first(self.function, at))

    def _each(self, question: str, load: int, holds: Callable[[int], bool]) -> bool:
        """Whether something holds for all that a name may be."""
        if (question, load) in self._pending:
            return True
        self._pending.add((question, load))
        stored = self._stored(load)
        found = bool(stored) and all(map(holds, stored))
        self._pending.discard((question, load))
        return found

    def _is_given(self, load: int, floats: bool) -> bool:
        """Whether a parameter that stays what was given is whole by all calls."""
        function, parameter = self.function, self.function.parameter(load)
        of_module = function.parent is not None and not function.parent.number and not function.is_class
        if parameter < 0 or not of_module or function.header.parameters[parameter].kind > EITHER:
            return False
        return self._exact.is_given(self._module, function.name, function.text(parameter), floats)

    def is_scalar(self, at: int) -> bool:
        """Whether an expression surely is one number: a loss, or what is made of such alone."""
        if at < 0:
            return False
        code, *operands = self.function.ops[at]
        if code == op.LOAD:
            return not self._is_changed(at) and self._each("scalar", at, self.is_scalar)
        if code in (op.BINARY, op.AUGMENT):
            return all(map(self.is_scalar, operands[1:]))
        if code == op.ATTR:
            kept = self._kept(at)
            return kept is not None and kept[0].is_scalar(kept[1])
        if code != op.CALL:
            return isinstance(self.function.constant(at), int | float)
        if self._called(operands[0]) not in self._matcher.catalog.scalars:
            return False
        numbers, made = self._maker(operands[0]) or (self, at)
        call = numbers.function.call(made)
        # By position, a reduction may be any argument behind those that are compared, which a class isn't made with.
        compared = 0 if (numbers, made) != (self, at) else 2
        told = call.named.get("reduction")
        by_name = told is None or numbers.function.constant(told) in _TO_ONE
        return by_name and not call.unpacked and len(call.positional) <= compared

    def are_two(self, call: int, added: int, position: int) -> bool:
        """Whether a call adds up no more than two numbers at a time, along an axis that it is told at some position."""
        axis = axis_of(self.function, call, position)
        if added >= 0 and self._is(added, op.LOAD):
            added = self._bound(added)
        stacks = self._matcher.catalog.stacks
        return axis is not None and added >= 0 and length(self.function, added, axis, stacks, self._called) in (1, 2)

    def _is_sum(self, at: int) -> bool:
        """Whether a call surely adds up whole numbers: one of the catalog's, of a part of the layer, or of another layer."""
        if not self._is(at, op.CALL):
            return False
        function, callee = self.function, self.function.ops[at][1]
        made = self._bound(callee) if self._is(callee, op.LOAD) else -1
        if made >= 0 and self._is(made, op.CALL) and self._is(function.ops[made][1], op.LOAD):
            name, slot = function.dotted(function.ops[made][1]), function.ops[function.ops[made][1]][1]
            own = self._module.facts.names.get(name)
            is_own = isinstance(own, Ref) and own.name == f"{self._module.facts.module}.{name}"
            return is_own and not function.binding(slot).owner and self._exact.gives_whole(self._module, name)
        return self._exact.adds(self._called(callee)) and self.is_whole(first(function, at))

    def _is_number(self, at: int) -> bool:
        """Whether an expression surely is a whole number, or some: a shape, a length, and what is made of such."""
        if at < 0:
            return False
        code, *operands = self.function.ops[at]
        if code == op.CONST:
            return isinstance(self.function.constant(at), int)
        if code == op.LOAD:  # others may come into a list
            return self._each("number", at, lambda value: not self._is(value, op.LIST) and self._is_number(value))
        if code in (op.LIST, op.TUPLE):
            return all(map(self._is_number, operands))
        if code in (op.ITEM, op.STAR):
            return self._is_number(operands[0])
        if code == op.BINARY:
            return self.function.code.strings[operands[0]] in _KEEP and all(map(self._is_number, operands[1:]))
        if code == op.ATTR:
            return self.function.code.strings[operands[1]] == "shape"
        if code != op.CALL:
            return False
        call = self.function.call(at)
        if self._is(call.callee, op.LOAD):
            return self.function.dotted(call.callee) == "len"
        if self.function.called(at) == "astype":
            return len(call.positional) == 1 and self.name(call.positional[0]) in _OF_NUMPY
        alone = len(call.values()) == len(call.positional) == 1
        return self.name(call.callee) == "numpy.array" and alone and self._is_number(call.positional[0])

    def _is_changed(self, load: int) -> bool:
        """Whether the numbers of a tensor under a name may become others: `totals[0] = 0.5`, `totals.mul_(0.5)`."""
        function, slot = self.function, self.function.ops[load][1]
        changing = [
            operation
            for _, operation in function.each(op.SET_ITEM, op.DELETE_ITEM, op.ATTR)
            if operation[0] != op.ATTR or function.code.strings[operation[2]].endswith("_")
        ]
        return any(function.ops[operation[1]][:2] == (op.LOAD, slot) for operation in changing)

    def _keeps_whole(self, at: int) -> bool:
        """Whether an expression gives whole numbers that it gets, in another shape or in a type that holds their sums."""
        shaped = self._shaped(at)
        same = shaped if shaped >= 0 else self._cast(at)
        return same >= 0 and self.is_whole(same)

    def _shaped(self, at: int) -> int:
        """What an expression gives in another shape, or a part of; -1 where it doesn't."""
        operation = self.function.ops[at]
        if operation[0] == op.ITEM:
            index = self.function.ops[operation[2]][0]
            is_cut = index in (op.SLICE, op.TUPLE) or isinstance(literal(self.function, operation[2]), int)
            return operation[1] if is_cut else -1
        if operation[0] != op.CALL:
            return -1
        catalog = self._matcher.catalog
        if self._called(operation[1]) in catalog.reshapes:
            return first(self.function, at)
        shapes = self.function.called_on(at) >= 0 and self.function.called(at) in _SAME - catalog.casting_methods
        return self.function.called_on(at) if shapes else -1

    def _cast(self, at: int, *, like_others: bool = False) -> int:
        """What an expression casts to a type that holds sums of counts, wherever it puts that; -1 where it doesn't.

        Args:
            like_others: or to that of another tensor, whichever it is.
        """
        if not self._is(at, op.CALL):
            return -1
        catalog, call = self._matcher.catalog, self.function.call(at)
        given = [*call.values()]
        if self._called(call.callee) not in catalog.casts:
            if self.function.called_on(at) < 0 or self.function.called(at) not in catalog.casting_methods:
                return -1
            given = [self.function.called_on(at), *given]
        told = {"device", "dtype"} if like_others else {"device"}
        kinds = set[str]()
        for kind in given[1:]:
            if not (self._is(kind, op.ATTR) and self.function.code.strings[self.function.ops[kind][2]] in told):
                numbers, value = self._kept(kind) or (self, kind)
                kinds.add(numbers.name(value))
        return given[0] if given and kinds <= catalog.precise | catalog.whole else -1

    # -- masks ----------------------------------------------------------------------------------------------------------

    def _is_mask(self, at: int) -> bool:
        """Whether an expression surely is a tensor of zeros and ones: what a comparison gives, in a type that holds their sums."""
        code, *operands = self.function.ops[at]
        strings = self.function.code.strings
        if code == op.LOAD:
            if self._is_changed(at):
                return False
            return self._each("mask", at, self._is_mask)
        if code == op.COMPARE:
            return strings[operands[1]] in _COMPARE
        if code == op.UNARY:
            return strings[operands[0]] == "~" and self._is_mask(operands[1])
        if code == op.BINARY and strings[operands[0]] in _JOIN:
            return all(self._is_mask(side) for side in operands[1:])
        if code == op.CALL and self._called(operands[0]) in self._matcher.catalog.compares:
            return True
        if factors := self._factors(at):
            return all(self._is_mask(factor) for factor in factors)
        same = max(self._shaped(at), self._cast(at, like_others=True))
        return same >= 0 and self._is_mask(same)

    def _factors(self, at: int) -> Sequence[int]:
        """What an expression multiplies, or takes from ones (`1 - mask`): masks give masks then. Nothing for any other expression."""
        code, *operands = self.function.ops[at]
        if code == op.CALL:
            call = self.function.call(at)
            multiplies = self._called(call.callee) in self._matcher.catalog.with_context("multiplies")
            return call.positional if multiplies and not (call.named or call.unpacked) else ()
        word = self.function.code.strings[operands[0]] if code == op.BINARY else ""
        if word == "*":
            return operands[1:]
        return operands[2:] if word == "-" and literal(self.function, operands[1]) == 1 else ()

    def _is_filled(self, at: int) -> bool:
        """Whether a call surely fills a tensor with zeros, or with ones, or takes each number from one of two such."""
        catalog, call = self._matcher.catalog, self.function.call(at)
        name = self._called(call.callee)
        if name in catalog.picks:
            given = call.positional
            return len(given) == 3 and all(self._is_bit(part) or self.is_whole(part) for part in given[1:])
        kinds = {self.name(value) for value in call.named.values()}
        ones = name in catalog.constants and len(call.positional) == 2 and self._is_bit(call.positional[1])
        return name in catalog.zeros or (ones and not call.unpacked and kinds <= catalog.precise | catalog.whole)

    def _is_counted(self, at: int) -> bool:
        """Whether a call surely gives the whole numbers of a range, in a type that holds sums of them."""
        catalog, call = self._matcher.catalog, self.function.call(at)
        kinds = {self.name(call.named["dtype"])} if "dtype" in call.named else set()
        ends = call.positional if len(call.positional) > 1 else ()  # from zero, by ones, wherever to
        counts = self._called(call.callee) in catalog.ranges and not call.unpacked and call.named.keys() <= {"dtype"}
        return counts and kinds <= catalog.precise | catalog.whole and all(map(self._is_number, ends))

    def _is_bit(self, at: int) -> bool:
        """Whether an expression is the number one, or zero."""
        return self.function.constant(at) in (0, 1)

    def are_lone(self, call: int, added: int, of_tensor: bool = False) -> bool:
        """Whether a call adds up rows along the last axis in which all but one number are zeros: what a one-hot mask leaves of them.

        Args:
            of_tensor: whether it is a method of the tensor.
        """
        said = self.function.call(call)
        told = [said.named[name] for name in AXES if name in said.named] or [*said.positional[not of_tensor :][:1]]
        numbers, value = (self._kept(told[0]) or (self, told[0])) if told else (self, -1)
        axis = literal(numbers.function, value) if value >= 0 else None
        if added < 0:
            return False
        return self._is_masked(added) if axis in (-1, (-1,)) else axis in (1, (1,)) and self._are_rows(added)

    def _is_masked(self, at: int) -> bool:
        """Whether an expression is a one-hot mask, or anything multiplied by one, of either sign."""
        code, *operands = self.function.ops[at]
        word = self.function.code.strings[operands[0]] if code in (op.UNARY, op.BINARY) else ""
        if code == op.LOAD:
            return not self._is_changed(at) and self._each("masked", at, self._is_masked)
        if code == op.UNARY:
            return word == "-" and self._is_masked(operands[1])
        if code == op.BINARY:
            return word == "*" and any(map(self._is_masked, operands[1:]))
        if code != op.CALL:
            return False
        if (cast := self._cast(at)) >= 0:
            return self._is_masked(cast)
        call, knows = self.function.call(at), self._matcher.catalog.with_context
        called = self._called(call.callee)
        if called in knows("one-hot"):
            return self._is_one_hot(at)
        count = len(call.positional) if called in knows("multiplies") else int(called in knows("negates"))
        return any(map(self._is_masked, call.positional[:count]))

    def _are_rows(self, at: int) -> bool:
        """Whether an expression has two axes, and is a one-hot mask, multiplied by one row that is repeated for each of the mask's."""
        code, *operands = self.function.ops[at]
        if code == op.LOAD:
            return not self._is_changed(at) and self._each("rows", at, self._are_rows)
        if code != op.BINARY or self.function.code.strings[operands[0]] != "*":
            return False
        left, right = operands[1:]
        return any(
            self._is_masked(mask) and self._repeats_row(row, mask) for mask, row in ((left, right), (right, left))
        )

    def _repeats_row(self, at: int, mask: int) -> bool:
        """Whether an expression repeats one row for each of a mask's: `weights.unsqueeze(0).tile((mask.shape[0], 1))`."""
        if self.function.called_on(at) < 0 or self.function.called(at) != "tile":
            return False
        function, call = self.function, self.function.call(at)
        of_tensor = self._called(call.callee) not in self._matcher.catalog.reshapes
        given = [*([function.called_on(at)] if of_tensor else []), *call.positional]
        if len(given) != 2 or len(function.ops[given[1]]) != 3 or not self._is(given[1], op.TUPLE):
            return False
        row, times = function.meant(given[0]), function.ops[given[1]][1:]
        if not self._is(row, op.CALL) or function.called(row) not in _NEW_AXIS:
            return False
        axis = function.call(row).positional[-1:]
        is_row = bool(axis) and literal(function, axis[0]) == 0
        item = function.ops[times[0]]
        shape = function.ops[item[1]] if item[0] == op.ITEM and literal(function, item[2]) == 0 else (op.END,)
        of_mask = shape[0] == op.ATTR and function.code.strings[shape[2]] == "shape" and function.same(shape[1], mask)
        return is_row and of_mask and literal(function, times[1]) == 1

    # -- one-hot masks --------------------------------------------------------------------------------------------------

    def _one_hot(self, at: int) -> dict[str, Made] | None:
        """What a call is told that makes a one-hot mask: `OneHot()(labels, 10, on, off)`, which puts ones and zeros along the last axis
        where it is told nothing else; None for any other call."""
        call = self.function.call(at)
        made = self._maker(call.callee)
        making = made[0].function.call(made[1]) if made is not None else None
        if self._called(call.callee) not in self._matcher.catalog.with_context("one-hot"):
            return None
        told = {name: (self, value) for name, value in zip(_ONE_HOT, call.positional, strict=False)}
        if made is not None and making is not None:
            told |= {name: (made[0], value) for name, value in making.named.items()}
        told |= {name: (self, value) for name, value in call.named.items()}
        unpacks = self.function.unpacks(at) or (making is not None and (making.positional or making.unpacked))
        plain_ = not unpacks and len(call.positional) <= len(_ONE_HOT)
        return told if plain_ and told.keys() <= {*_ONE_HOT, "num_classes"} else None

    def _is_one_hot(self, call: int) -> bool:
        """Whether a call gives zeros beside the ones, which stand along the last axis."""
        told = self._one_hot(call)
        if told is None or ("axis" in told and literal(told["axis"][0].function, told["axis"][1]) != -1):
            return False
        return "off_value" not in told or _number(told["off_value"]) == 0

    def _is_of_bits(self, call: int) -> bool:
        """Whether a call surely gives zeros beside ones, along whatever axis."""
        told = self._one_hot(call)
        values = [told[name] for name in ("on_value", "off_value") if name in told] if told is not None else []
        return told is not None and all(_number(value, counts=True) in (0, 1) for value in values)

    def number(self, at: int, *, counts: bool) -> object:
        """The number that an expression is, or a tensor of it; None where that isn't known.

        Args:
            counts: whether a tensor has to be of a type that holds sums of counts.
        """
        if (kept := self._kept(at)) is not None:
            return kept[0].number(kept[1], counts=counts)
        if self._is(at, op.LOAD) and (bound := self._bound(at)) >= 0:
            at = bound
        catalog, function = self._matcher.catalog, self.function
        if not self._is(at, op.CALL) or self.name(function.ops[at][1]) not in catalog.wraps:
            return literal(function, at)
        call = function.call(at)
        kinds = {self.name(kind) for kind in (*call.positional[1:], *call.named.values())}
        holds = not counts or kinds <= catalog.precise | catalog.whole
        return literal(function, call.positional[0]) if call.positional and holds else None

    # -- numbers of which each is another one ---------------------------------------------------------------------------

    def are_apart(self, at: int) -> bool:
        """Whether an expression surely gives numbers of which each is another one: those of a range, also in another shape."""
        if at < 0:
            return False
        code, *operands = self.function.ops[at]
        if code == op.LOAD:
            return not self._is_changed(at) and self._each("apart", at, self.are_apart)
        if code == op.ATTR:
            kept = self._kept(at)
            return kept is not None and kept[0].are_apart(kept[1])
        if code == op.ITEM:
            index = self.function.ops[operands[1]]
            parts = index[1:] if index[0] == op.TUPLE else operands[1:]
            return all(map(self._is_view, parts)) and self.are_apart(operands[0])
        if code != op.CALL or self._called(operands[0]) not in self._matcher.catalog.ranges:
            return False
        return not any(isinstance(literal(self.function, value), float) for value in self.function.call(at).values())

    def _is_view(self, index: int) -> bool:
        """Whether a part of an index chooses each place once at most: `:k`, `None`, `...`, `tf.newaxis`."""
        operation = self.function.ops[index]
        is_axis = operation[0] == op.ATTR and self.function.code.strings[operation[2]] == "newaxis"
        return operation[0] in (op.SLICE, op.CONST) or is_axis


Made = tuple[Numbers, int]
"""A value, with what is known where it stands."""


def _number(value: Made, *, counts: bool = False) -> object:
    return value[0].number(value[1], counts=counts)


def first(function: Function, call: int) -> int:
    """The first argument of a call; -1 for none."""
    told = function.call(call)
    return next(iter(told.positional), next(iter(told.named.values()), -1))
