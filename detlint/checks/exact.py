"""What comes out the same in any order since only whole numbers are added up: shapes and lengths, counters, masks, ones; or
since no more than two numbers are, or all but one of them are zeros; or since each comes to a place of its own.

The facts know tensors by what makes them. What those were made of, and what an object that adds up is called with, is read here
from the text of a function, or of the layer that has the object as a part, for the few sites that would be told.

Means of whole numbers are none of these: where they are told, each number is divided before they are added up.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeGuard

from detlint.catalog import Entry
from detlint.checks.guards import call_in, class_in
from detlint.checks.lengths import AXES, axis_of, length, literal
from detlint.checks.levels import is_class
from detlint.checks.match import SAME_NUMBERS, Match, Matcher
from detlint.facts.loops import dotted
from detlint.facts.model import Member, Ref
from detlint.facts.nodes import walk
from detlint.model.readers import Readers
from detlint.program.resolve import Module
from detlint.program.texts import Texts
from detlint.program.users import Callers, Use

SUMS: Final = "whole"
"""Entries that except tensors of such a type add up, or multiply."""
ALONG_AXIS: Final = "along-axis"
"""Entries in this context add up, or multiply, along the axis that they are told after the tensor."""
LOOKS_UP: Final = "looks-up"
"""Entries in this context give rows of a table: their backward pass adds up the gradients of one that was asked for again and again."""
_KEEP: Final = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""Operators that make whole numbers of whole numbers."""
_COMPARE: Final = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OF_NUMPY: Final = frozenset(
    {"numpy.bool_", *(f"numpy.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
)
"""Types of whole numbers that arrays may have."""
_JOIN: Final = (ast.BitAnd, ast.BitOr, ast.BitXor)
"""Operators that make a mask of two masks."""
_LOOPS: Final = (ast.For, ast.While, ast.With)
"""Statements with a block, which may be run again and again."""
_AGAIN: Final = (
    ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef,
    ast.AsyncFunctionDef,
)  # fmt: skip
"""What may come to something in it again and again, inside of a function."""
_BY_THE_WAY: Final = (ast.Lambda, ast.NamedExpr)
"""What may read a name later than where it stands, or bind it there."""
_ONE_HOT: Final = ("indices", "depth", "on_value", "off_value", "axis")
"""What frameworks call the parameters of what makes one-hot masks, in their order."""
_NEW_AXIS: Final = frozenset({"expand_dims", "unsqueeze"})
"""What puts an axis of one before the others, if told 0."""
_ALONE: Final = frozenset({"self", "input", "tensor"})
"""What a sum is of, as the parameter of an entry; others are added to it."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Exact:
    """Finds sums and products of whole numbers."""

    def __init__(self, matcher: Matcher, texts: Texts, attributes: Readers, callers: Callers) -> None:
        self.matcher = matcher
        self._texts = texts
        self._attributes = attributes
        self._callers = callers
        self.same = matcher.catalog.words_with("returns-self")
        """Methods of objects that give the object itself."""
        self._asked: set[str] = set()
        """The layers of whose results that is being found out, and the parameters."""

    def holds(self, module: Module, index: int, match: Match) -> bool:
        """Whether all that a call, or the object that it makes, adds up surely is whole numbers, or only two."""
        site = module.sites[index]
        owner = module.function_of(site).owner
        name = module.function_of(site).name.partition(".")[0]
        whole = any(asked.not_type == SUMS for asked in match.entry.when.values())
        along, looks = ALONG_AXIS in match.entry.contexts, LOOKS_UP in match.entry.contexts and is_class(match.name)
        if not name or site.kind != "call" or not (whole or along or looks):
            return False
        text = self._texts.code(module.path)
        found = call_in(text, name, site.span) if text is not None else None
        if found is None:
            return False
        function, call = found
        layer = self.class_of(module, owner)
        numbers = _Numbers(self, module, function, layer, module.function_of(site).name)
        part = _part(layer, call, self.same) if layer is not None and is_class(match.name) else ""
        if looks:
            asked = self._calls_of_part(module, layer, part) if layer is not None and part else None
            return _look_up_once([(numbers, made) for made in numbers.calls_of(call)] if asked is None else asked)
        if is_class(match.name):
            if layer is not None and part:
                return _adds_one(match.entry) and self._adds_as_part(module, layer, part)
            calls = numbers.calls_of(call)
            return bool(calls) and all(
                (whole and numbers.is_whole(_first(made))) or (along and numbers.are_two(made, _first(made), 1))
                for made in calls
            )
        of_tensor = isinstance(site.target, Member) and isinstance(call.func, ast.Attribute)
        added = call.func.value if of_tensor else _first(call)  # type: ignore[attr-defined]
        if along and numbers.are_two(call, added, 0 if of_tensor else 1):
            return True
        one = _adds_one(match.entry)
        return whole and (numbers.is_whole(added, floats=one) or (one and numbers.are_lone(call, added, of_tensor)))

    def adds(self, name: str) -> bool:
        """Whether what the catalog knows by a name gives the sum of one tensor."""
        catalog = self.matcher.catalog
        return any(_adds_one(catalog.entries[number]) for number in catalog.calls.get(name, ()))

    def class_of(self, module: Module, name: str) -> ast.ClassDef | None:
        """A class of the top level of a file, that is a layer; by its name."""
        text = self._texts.code(module.path) if name in module.classes and name.isidentifier() else None
        layer = self.matcher.resolver.layer(f"{module.path}::{name}") if text is not None else None
        return class_in(text, name) if text is not None and layer is not None else None

    def is_set_by_others(self, module: Module, layer: ast.ClassDef, attribute: str) -> bool:
        """Whether anything but a layer itself may set an attribute of it."""
        return self._attributes.is_set_by_others(module, layer.name, attribute)

    def gives_whole(self, module: Module, name: str) -> bool:
        """Whether a layer of a file only ever gives whole numbers."""
        layer = self.class_of(module, name)
        framework = self.matcher.resolver.layer(f"{module.path}::{name}")
        if layer is None or framework is None or name in self._asked:
            return False
        self._asked.add(name)
        forward = next((method for method in _methods(layer) if method.name == framework.forward), None)
        given = [node.value for node in walk(forward) if isinstance(node, ast.Return)] if forward is not None else []
        found = all(_Numbers(self, module, forward, layer).is_whole(value) for value in given) if forward else False
        self._asked.discard(name)
        return found and bool(given)

    def is_given(self, module: Module, name: str, parameter: str, floats: bool) -> bool:
        """Whether all calls of a function, in any file, give a parameter of it tensors of whole numbers."""
        key = f"{module.path}::{name}({parameter})"
        own = module.detail(module.functions[name])
        position = next((n for n, known in enumerate(own.parameters) if known.name == parameter), None)
        uses = self._callers(module, name) if key not in self._asked and not own.decorators else None
        if not uses or position is None:
            return False
        self._asked.add(key)
        found = all(self._gives(use, position, parameter, floats) for use in uses)
        self._asked.discard(key)
        return found

    def _gives(self, use: Use, position: int, parameter: str, floats: bool) -> bool:
        """Whether one use of a function is a call that gives a parameter of it whole numbers."""
        site = use.module.sites[use.site] if use.called and use.site >= 0 else None
        self.matcher.resolver.opened.add(use.module.path)
        text = self._texts.code(use.module.path) if site is not None and site.kind == "call" else None
        if site is None or text is None:
            return False
        caller = use.module.function_of(site)
        found = call_in(text, caller.name.partition(".")[0], site.span) if caller.name else None
        if found is None:
            return False
        function, call = found
        unpacks = any(isinstance(part, ast.Starred) for part in call.args) or not all(k.arg for k in call.keywords)
        named = (keyword.value for keyword in call.keywords if keyword.arg == parameter)
        given = next(iter(call.args[position : position + 1]), None) or next(named, None)
        numbers = _Numbers(self, use.module, function, self.class_of(use.module, caller.owner), caller.name)
        return not unpacks and numbers.is_whole(given, floats=floats)

    def _adds_as_part(self, module: Module, layer: ast.ClassDef, part: str) -> bool:
        """Whether all that a part of a layer adds up, wherever it is called, is whole numbers."""
        calls = self._calls_of_part(module, layer, part)
        return bool(calls) and all(
            numbers.is_whole(_first(call)) or numbers.are_lone(call, _first(call)) for numbers, call in calls
        )

    def _calls_of_part(self, module: Module, layer: ast.ClassDef, part: str) -> list[tuple[_Numbers, ast.Call]]:
        """The calls of a part of a layer, each with what is known where it stands; none where it may be called elsewhere too."""
        found = []
        for method in _methods(layer):
            read = [node for node in walk(method) if _is_part(node, part, ast.Load)]
            calls = [node for node in walk(method) if isinstance(node, ast.Call) and node.func in read]
            if len(calls) != len(read):
                return []
            found += [(_Numbers(self, module, method, layer), call) for call in calls]
        return found if not self._attributes.is_read_by_kin(module, layer.name, part) else []


class _Numbers:
    """What is whole in one function, which may be a method of a layer."""

    def __init__(
        self, exact: Exact, module: Module, function: _Function, layer: ast.ClassDef | None, name: str = ""
    ) -> None:
        self._exact = exact
        self._matcher = exact.matcher
        self._module = module
        self._layer = layer
        self._function = function
        self._own = name if name == function.name else ""
        """The name of a function of the top level; "" for any other."""
        self._nodes = [*walk(function)]
        self._read = Counter(n.id for n in self._nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        self._set = Counter(n.id for n in self._nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
        self._not_own = {node.arg for node in self._nodes if isinstance(node, ast.arg)}
        for node in self._nodes:
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._not_own.update(node.names)

    def calls_of(self, made: ast.Call) -> Sequence[ast.Call]:
        """The calls of an object that a call makes; nothing where it may be called elsewhere too."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        at_once = [node for node in calls if node.func is made]
        kept = (node.targets for node in self._nodes if isinstance(node, ast.Assign) and node.value is made)
        targets = next(kept, [])
        name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
        if self._set[name] != 1 or name in self._not_own:
            return at_once
        called = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == name]
        return called if self._read[name] == len(called) else ()

    def is_whole(self, node: ast.expr | None, *, floats: bool = True) -> bool:
        """Whether an expression surely is a tensor of whole numbers.

        Args:
            floats: whether their type may be one for others, too.
        """
        if isinstance(node, ast.Name):
            if self._is_changed(node.id):
                return False
            if (floats and self._is_called_mask(node.id)) or self._is_given(node.id, floats):
                return True
            return self.is_whole(self._bound(node), floats=floats)
        if isinstance(node, ast.Attribute):
            kept = self._kept(node)
            return kept is not node and self.is_whole(kept, floats=floats)
        if floats and (self._is_mask(node) or self._is_sum(node)):
            return True
        if floats and self._keeps_whole(node):
            return True
        if not isinstance(node, ast.Call):
            return False
        if floats and (self._is_filled(node) or self._is_of_bits(node)):
            return True
        catalog, called = self._matcher.catalog, self._called(node.func)
        if called not in catalog.wraps:
            return called in catalog.whole
        kinds = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "dtype")]
        if kinds:
            return all(self._name(kind) in catalog.whole for kind in kinds)
        return all(keyword.arg for keyword in node.keywords) and self._is_number(_first(node))

    def _is_given(self, name: str, floats: bool) -> bool:
        """Whether a parameter that stays what was given is whole by all calls."""
        own = [node for node in self._nodes if isinstance(node, ast.arg) and node.arg == name]
        if not self._own or self._set[name] or len(own) != 1 or own[0] not in self._function.args.args:
            return False
        return self._exact.is_given(self._module, self._own, name, floats)

    def are_two(self, call: ast.Call, added: ast.expr | None, position: int) -> bool:
        """Whether a call adds up no more than two numbers at a time, along an axis that it is told at some position."""
        axis = axis_of(call, position)
        if isinstance(added, ast.Name):
            added = self._bound(added)
        return axis is not None and length(added, axis, self._matcher.catalog.stacks, self._called) in (1, 2)

    def are_lone(self, call: ast.Call, added: ast.expr | None, of_tensor: bool = False) -> bool:
        """Whether a call adds up rows along the last axis in which all but one number are zeros: what a one-hot mask leaves of them.

        Args:
            of_tensor: whether it is a method of the tensor.
        """
        told = [keyword.value for keyword in call.keywords if keyword.arg in AXES] or call.args[not of_tensor :][:1]
        axis = literal(self._kept(told[0])) if told else None
        return self._is_masked(added) if axis in (-1, (-1,), [-1]) else axis in (1, (1,)) and self._are_rows(added)

    def is_made_once(self, call: ast.Call) -> bool:
        """Whether the function comes to a call of its own once at most."""
        around = (node for node in self._nodes if isinstance(node, _AGAIN) and node is not self._function)
        return not any(_says(node, call) for node in around)

    def are_apart(self, node: ast.expr | None) -> bool:
        """Whether an expression surely gives numbers of which each is another one: those of a range, also in another shape."""
        if isinstance(node, ast.Name):
            return not self._is_changed(node.id) and self.are_apart(self._bound(node))
        if isinstance(node, ast.Attribute):
            return self.are_apart(self._set_once(node))
        if isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return all(map(_is_view, parts)) and self.are_apart(node.value)
        if not isinstance(node, ast.Call) or self._called(node.func) not in self._matcher.catalog.ranges:
            return False
        given = [literal(part) for part in (*node.args, *(keyword.value for keyword in node.keywords))]
        return not any(isinstance(number, float) for number in given)

    def _is_masked(self, node: ast.expr | None) -> bool:
        """Whether an expression is a one-hot mask, or anything multiplied by one, of either sign."""
        if isinstance(node, ast.Name):
            return not self._is_changed(node.id) and self._is_masked(self._bound(node))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and self._is_masked(node.operand)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Mult) and (self._is_masked(node.left) or self._is_masked(node.right))
        if not isinstance(node, ast.Call):
            return False
        if (cast := self._cast(node)) is not None:
            return self._is_masked(cast)
        called, knows = self._called(node.func), self._matcher.catalog.with_context
        if called in knows("one-hot"):
            return self._is_one_hot(node)
        factors = node.args if called in knows("multiplies") else node.args[:1] if called in knows("negates") else ()
        return any(map(self._is_masked, factors))

    def _are_rows(self, node: ast.expr | None) -> bool:
        """Whether an expression has two axes, and is a one-hot mask, multiplied by one row that is repeated for each of the mask's."""
        if isinstance(node, ast.Name):
            return not self._is_changed(node.id) and self._are_rows(self._bound(node))
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
            return False
        sides = ((node.left, node.right), (node.right, node.left))
        return any(self._is_masked(mask) and self._repeats_row(rows, dotted(mask)) for mask, rows in sides)

    def _repeats_row(self, node: ast.expr, mask: str) -> bool:
        """Whether an expression repeats one row for each of a mask's: `weights.unsqueeze(0).tile((mask.shape[0], 1))`."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "tile":
            return False
        of_tensor = self._called(node.func) not in self._matcher.catalog.reshapes
        given = [node.func.value, *node.args] if of_tensor else node.args
        row = given[0] if len(given) == 2 else None
        row = (self._bound(row) or row) if isinstance(row, ast.Name) else row
        times = given[1].elts if len(given) == 2 and isinstance(given[1], ast.Tuple) else ()
        if len(times) != 2 or mask == "" or not isinstance(row, ast.Call) or not isinstance(row.func, ast.Attribute):
            return False
        is_row = row.func.attr in _NEW_AXIS and bool(row.args) and literal(row.args[-1]) == 0
        return is_row and ast.unparse(times[0]) == f"{mask}.shape[0]" and literal(times[1]) == 1

    def _one_hot(self, call: ast.Call) -> dict[str | None, ast.expr] | None:
        """What a call is told that makes a one-hot mask: `OneHot()(labels, 10, on, off)`, which puts ones and zeros along the last axis
        where it is told nothing else; None for any other call."""
        made = self._maker(call.func)
        if self._called(call.func) not in self._matcher.catalog.with_context("one-hot") or (made and made.args):
            return None
        told = dict[str | None, ast.expr](zip(_ONE_HOT, call.args, strict=False))
        told |= {key.arg: key.value for key in (*(made.keywords if made is not None else ()), *call.keywords)}
        plain = len(call.args) <= len(_ONE_HOT) and not any(isinstance(part, ast.Starred) for part in call.args)
        return told if plain and told.keys() <= {*_ONE_HOT, "num_classes"} else None

    def _is_one_hot(self, call: ast.Call) -> bool:
        """Whether a call gives zeros beside the ones, which stand along the last axis."""
        told = self._one_hot(call)
        if told is None or ("axis" in told and literal(told["axis"]) != -1):
            return False
        return "off_value" not in told or self._number(told["off_value"]) == 0

    def _is_of_bits(self, call: ast.Call) -> bool:
        """Whether a call surely gives zeros beside ones, along whatever axis."""
        told = self._one_hot(call)
        values = [told[name] for name in ("on_value", "off_value") if name in told] if told is not None else []
        return told is not None and all(self._number(value, counts=True) in (0, 1) for value in values)

    def _number(self, node: ast.expr, *, counts: bool = False) -> object:
        """The number that an expression is, or a tensor of it; None where that isn't known.

        Args:
            counts: whether a tensor has to be of a type that holds sums of counts.
        """
        catalog, node = self._matcher.catalog, self._kept(node)
        node = (self._bound(node) or node) if isinstance(node, ast.Name) else node
        if not isinstance(node, ast.Call) or self._name(node.func) not in catalog.wraps:
            return literal(node)
        kinds = {self._name(kind) for kind in (*node.args[1:], *(keyword.value for keyword in node.keywords))}
        holds = not counts or kinds <= catalog.precise | catalog.whole
        return literal(node.args[0]) if node.args and holds else None

    def _kept(self, node: ast.expr) -> ast.expr:
        """What the layer always has as the attribute that an expression reads; itself for any other, and where it is made of what some
        method binds."""
        kept = self._set_once(node) if isinstance(node, ast.Attribute) else None
        if self._layer is None or kept is None:
            return node
        parts = walk(self._layer)
        bound = {part.arg if isinstance(part, ast.arg) else part.id for part in parts if _is_binding(part)}
        read = {part.id for part in walk(kept) if isinstance(part, ast.Name)}
        return kept if bound.isdisjoint(read) else node

    def _set_once(self, node: ast.Attribute) -> ast.expr | None:
        """The one expression that the layer ever sets the attribute to which another one reads, as some method has it; None where that
        isn't known."""
        name = dotted(node).removeprefix("self.")
        if self._layer is None or not name:
            return None
        parts = [*walk(self._layer)]
        set_by = [
            part.value
            for part in parts
            if isinstance(part, ast.Assign) and any(_is_part(target, name, ast.Store) for target in part.targets)
        ]
        alone = len(set_by) == 1 and sum(_is_part(part, name, ast.Store) for part in parts) == 1
        return set_by[0] if alone and not self._exact.is_set_by_others(self._module, self._layer, name) else None

    def _is_mask(self, node: ast.expr | None, *, called: bool = True) -> bool:
        """Whether an expression surely is a tensor of zeros and ones: what a comparison gives, in a type that holds their sums.

        Args:
            called: whether parameters count that are only called so.
        """
        if isinstance(node, ast.Name):
            if self._is_changed(node.id):
                return False
            return (called and self._is_called_mask(node.id)) or self._is_mask(self._bound(node), called=called)
        if isinstance(node, ast.Compare):
            return all(isinstance(operator, _COMPARE) for operator in node.ops)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Invert) and self._is_mask(node.operand, called=called)
        if isinstance(node, ast.BinOp) and isinstance(node.op, _JOIN):
            return self._is_mask(node.left, called=called) and self._is_mask(node.right, called=called)
        if isinstance(node, ast.Call) and self._called(node.func) in self._matcher.catalog.compares:
            return True
        if factors := self._factors(node):
            return all(self._is_mask(factor, called=False) for factor in factors)
        cast = self._cast(node)
        return cast is not None and self._is_mask(cast, called=called)

    def _factors(self, node: ast.expr | None) -> Sequence[ast.expr]:
        """What an expression multiplies, or takes from ones (`1 - mask`): masks give masks then, but for what is only called so, since
        what is predicted may be a share (`pred_mask * gt_mask`). Nothing for any other expression."""
        if isinstance(node, ast.Call):
            multiplies = self._called(node.func) in self._matcher.catalog.with_context("multiplies")
            return node.args if multiplies and not node.keywords else ()
        if not isinstance(node, ast.BinOp):
            return ()
        if isinstance(node.op, ast.Mult):
            return (node.left, node.right)
        return (node.right,) if isinstance(node.op, ast.Sub) and literal(node.left) == 1 else ()

    def _is_filled(self, call: ast.Call) -> bool:
        """Whether a call surely fills a tensor with zeros, or with ones, or takes each number from one of two such."""
        catalog, name = self._matcher.catalog, self._called(call.func)
        if name in catalog.picks:
            return len(call.args) == 3 and all(_is_bit(part) or self.is_whole(part) for part in call.args[1:])
        kinds = {self._name(keyword.value) for keyword in call.keywords}
        ones = name in catalog.constants and len(call.args) == 2 and _is_bit(call.args[1])
        return name in catalog.zeros or (ones and kinds <= catalog.precise | catalog.whole)

    def _keeps_whole(self, node: ast.expr | None) -> bool:
        """Whether an expression gives whole numbers that it gets, in another shape or in a type that holds their sums."""
        same = self._shaped(node) or self._cast(node)
        return same is not None and self.is_whole(same)

    def _shaped(self, node: ast.expr | None) -> ast.expr | None:
        """What an expression gives in another shape, or a part of; None where it doesn't."""
        if isinstance(node, ast.Subscript):
            return node.value if _is_cut(node.slice) else None
        if not isinstance(node, ast.Call):
            return None
        catalog = self._matcher.catalog
        if self._called(node.func) in catalog.reshapes:
            return _first(node)
        method = node.func if isinstance(node.func, ast.Attribute) else None
        shapes = method is not None and method.attr in SAME_NUMBERS - catalog.casting_methods
        return method.value if method is not None and shapes else None

    def _cast(self, node: ast.expr | None, *, like_others: bool = False) -> ast.expr | None:
        """What an expression casts to a type that holds sums of counts; None where it doesn't.

        Args:
            like_others: or to that of another tensor, whichever it is.
        """
        if not isinstance(node, ast.Call):
            return None
        catalog, given = self._matcher.catalog, [*node.args, *(keyword.value for keyword in node.keywords)]
        if self._called(node.func) not in catalog.casts:
            if not isinstance(node.func, ast.Attribute) or node.func.attr not in catalog.casting_methods:
                return None
            given = [node.func.value, *given]
        kinds = {self._name(self._kept(kind)) for kind in given[1:] if not (like_others and _is_type_of(kind))}
        return given[0] if given and kinds <= catalog.precise | catalog.whole else None

    def _is_called_mask(self, name: str) -> bool:
        """Whether a parameter is called a mask, and stays what was given, but for its shape, and its type if that holds counts or is that
        of what it is applied to."""
        if name not in self._not_own or not name.endswith(self._matcher.catalog.masks):
            return False
        given = (node for node in self._nodes if isinstance(node, ast.Assign) and len(node.targets) == 1)
        values = [node.value for node in given if dotted(node.targets[0]) == name]
        same = (self._shaped(value) or self._cast(value, like_others=True) for value in values)
        return self._set[name] == sum(isinstance(of, ast.Name) and of.id == name for of in same)

    def _called(self, node: ast.expr) -> str:
        """The name of a function, or of the class of an object that is called."""
        made = self._maker(node)
        return self._name(made.func if made is not None else node)

    def _maker(self, node: ast.expr) -> ast.Call | None:
        """The call that makes the object which is called: a part of the layer, or one that was just made; None for a function."""
        made = self._bound(node) if isinstance(node, ast.Name) else node
        part = _part_of(self._layer, node, self._exact.same) if self._layer is not None else None
        made = _itself(part or made, self._exact.same)
        return made if isinstance(made, ast.Call) else None

    def _is_sum(self, node: ast.expr | None) -> bool:
        """Whether a call surely adds up whole numbers: one of the catalog's, of a part of the layer, or of another layer."""
        if not isinstance(node, ast.Call):
            return False
        made = self._bound(node.func) if isinstance(node.func, ast.Name) else None
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            own = self._module.facts.names.get(made.func.id)
            is_own = isinstance(own, Ref) and own.name == f"{self._module.facts.module}.{made.func.id}"
            return is_own and not self._set[made.func.id] and self._exact.gives_whole(self._module, made.func.id)
        return self._exact.adds(self._called(node.func)) and self.is_whole(_first(node))

    def _is_number(self, node: ast.expr | None) -> bool:
        """Whether an expression surely is a whole number, or some: a shape, a length, and what is made of such."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int)
        if isinstance(node, ast.Name):
            value = self._bound(node)
            return not isinstance(value, ast.List) and self._is_number(value)  # others may come into a list
        if isinstance(node, (ast.List, ast.Tuple)):
            return all(map(self._is_number, node.elts))
        if isinstance(node, (ast.Subscript, ast.Starred)):
            return self._is_number(node.value)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, _KEEP) and self._is_number(node.left) and self._is_number(node.right)
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Name):
            return node.func.id == "len"
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
            return len(node.args) == 1 and self._name(node.args[0]) in _OF_NUMPY
        return (
            self._name(node.func) == "numpy.array"
            and len(node.args) == 1
            and not node.keywords
            and self._is_number(node.args[0])
        )

    def _bound(self, name: ast.Name) -> ast.expr | None:
        """What a name is, or what it is an item of; None where it is neither bound exactly once before, by an assignment, nor by one
        of the same block."""
        if name.id in self._not_own:
            return None
        if self._set[name.id] != 1:
            return self._bound_anew(name)
        assigned = (node for node in self._nodes if isinstance(node, ast.Assign))
        found = next((node for node in assigned if any(_binds(target, name.id) for target in node.targets)), None)
        return _value(found, name.id) if found is not None and (found.end_lineno or 0) < name.lineno else None

    def _bound_anew(self, name: ast.Name) -> ast.expr | None:
        """What a name is by the last statement before that binds it, where that is an assignment of the same block, or of one around
        the tests on the way, and the loops that don't bind it."""
        fields = (
            (node, field) for node in self._nodes for _, field in ast.iter_fields(node) if isinstance(field, list)
        )
        around = [(node, block, here) for node, block in fields if (here := _place(block, name)) is not None]
        if not around:
            return None
        now = around[-1][1][around[-1][2]]
        now = now.test if isinstance(now, ast.If) else now
        if hasattr(now, "body") or not _says(now, name) or any(isinstance(n, _BY_THE_WAY) for n in walk(now)):
            return None
        for node, block, here in reversed(around):
            before = next((part for part in reversed(block[:here]) if _sets(part, name.id)), None)
            if before is None and (isinstance(node, ast.If) or (isinstance(node, _LOOPS) and not _sets(node, name.id))):
                continue
            bound = isinstance(before, ast.Assign) and any(_binds(target, name.id) for target in before.targets)
            return _value(before, name.id) if isinstance(before, ast.Assign) and bound else None
        return None

    def _is_changed(self, name: str) -> bool:
        """Whether the numbers of a tensor may become others: `totals[0] = 0.5`, `totals.mul_(0.5)`."""
        changes = (
            node.value
            for node in self._nodes
            if (isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Attribute) and node.attr.endswith("_"))
        )
        return any(dotted(changed) == name for changed in changes)

    def _name(self, node: ast.expr) -> str:
        """What a name of the file stands for, dotted; "" where that isn't known."""
        first = dotted(node).partition(".")[0]
        if self._set[first] or first in self._not_own:
            return ""
        return self._matcher.resolver.meant(self._module, dotted(node))


def _adds_one(entry: Entry) -> bool:
    """Whether what an entry is about adds up one tensor, and nothing to it."""
    added = {parameter for parameter, asked in entry.when.items() if asked.not_type == SUMS}
    return bool(added) and added <= _ALONE


def _look_up_once(calls: Sequence[tuple[_Numbers, ast.Call]]) -> bool:
    """Whether a table is only asked for positions, each of them once."""
    return len(calls) == 1 and all(
        numbers.is_made_once(call) and numbers.are_apart(_first(call)) for numbers, call in calls
    )


def _methods(layer: ast.ClassDef) -> list[_Function]:
    return [node for node in layer.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _is_part(node: ast.AST, name: str, context: type[ast.expr_context]) -> bool:
    """Whether a node is an attribute of `self` that is read, or set."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, context) and dotted(node) == f"self.{name}"


def _is_cut(index: ast.expr) -> bool:
    """Whether an index takes a part of a tensor: `[:, 0]`, `[:k]`; what has names, as a table, has it by another."""
    return isinstance(index, (ast.Slice, ast.Tuple)) or isinstance(literal(index), int)


def _is_binding(node: ast.AST) -> TypeGuard[ast.arg | ast.Name]:
    """Whether a node is a parameter, or a name that is bound."""
    return isinstance(node, ast.arg) or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))


def _is_view(index: ast.expr) -> bool:
    """Whether a part of an index chooses each place once at most: `:k`, `None`, `...`, `tf.newaxis`."""
    known = isinstance(index, (ast.Slice, ast.Constant))
    return known or (isinstance(index, ast.Attribute) and index.attr == "newaxis")


def _itself(node: ast.expr | None, same: frozenset[str]) -> ast.expr | None:
    """What makes an object, without what only sets it up: `ReduceSum()` of `ReduceSum().shard(...)`.

    Args:
        same: the methods that give the object itself.
    """
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in same:
        node = node.func.value
    return node


def _part(layer: ast.ClassDef, made: ast.Call, same: frozenset[str]) -> str:
    """The name of the part of a layer that is, or may be, what a call makes."""
    assigned = (node for node in walk(layer) if isinstance(node, ast.Assign))
    kept = (node for node in assigned if _same(_itself(node.value, same), made))
    target = next((node.targets[0] for node in kept if len(node.targets) == 1), None)
    return target.attr if isinstance(target, ast.Attribute) and dotted(target) == f"self.{target.attr}" else ""


def _part_of(layer: ast.ClassDef, read: ast.expr, same: frozenset[str]) -> ast.Call | None:
    """The call that makes a part of a layer, `self.sum`, if it is always what this one makes."""
    name = read.attr if isinstance(read, ast.Attribute) and dotted(read) == f"self.{read.attr}" else ""
    if not name:
        return None
    nodes = [*walk(layer)]
    made = [
        node.value
        for node in nodes
        if isinstance(node, ast.Assign) and any(_is_part(target, name, ast.Store) for target in node.targets)
    ]
    places = sum(_is_part(node, name, ast.Store) or _is_part(node, name, ast.Del) for node in nodes)
    found = _itself(made[0], same) if len(made) == places == 1 else None
    return found if isinstance(found, ast.Call) else None


def _same(node: ast.AST | None, other: ast.Call) -> bool:
    """Whether two calls of one definition are the same."""
    return isinstance(node, ast.Call) and (node.lineno, node.col_offset) == (other.lineno, other.col_offset)


def _first(call: ast.Call) -> ast.expr | None:
    """The first argument of a call."""
    return next(iter(call.args), None) or next((keyword.value for keyword in call.keywords if keyword.arg), None)


def _place(block: Sequence[ast.AST], name: ast.Name) -> int | None:
    """Which statement of a block says a name; None where none does, or it is no block."""
    places = (n for n, part in enumerate(block) if isinstance(part, ast.stmt) and _says(part, name))
    return next(places, None)


def _says(node: ast.AST, name: ast.expr) -> bool:
    return any(part is name for part in walk(node))


def _sets(node: ast.AST, name: str) -> bool:
    """Whether a statement may bind a name."""
    names = (part for part in walk(node) if isinstance(part, ast.Name) and part.id == name)
    return any(not isinstance(part.ctx, ast.Load) for part in names)


def _is_type_of(node: ast.expr) -> bool:
    """Whether an expression is the type of some tensor: `x.dtype`."""
    return isinstance(node, ast.Attribute) and node.attr == "dtype"


def _is_bit(node: ast.expr) -> bool:
    """Whether an expression is the number one, or zero."""
    return isinstance(node, ast.Constant) and node.value in (0, 1)


def _value(node: ast.Assign, name: str) -> ast.expr:
    """What an assignment binds a name to, or to an item of: `depth, on = 10, 1.0`."""
    target, value = node.targets[0], node.value
    if len(node.targets) != 1 or not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, ast.Tuple):
        return value
    spread = any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts))
    if spread or len(target.elts) != len(value.elts):
        return value
    return next(
        (part for item, part in zip(target.elts, value.elts, strict=True) if _binds(item, name)),
        value,
    )


def _binds(target: ast.expr, name: str) -> bool:
    """Whether a target of an assignment is a name, or holds it: `b, c = x.shape`."""
    items = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return any(isinstance(item, ast.Name) and item.id == name for item in items)
