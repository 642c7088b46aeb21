"""Operators, displays and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final, Literal

from detlint.facts import loops, sets
from detlint.facts.model import COMPARED, Branch, Const, Items, Mapping, Ref, Value
from detlint.facts.nodes import walk
from detlint.facts.reading.handlers import EXPRESSIONS, of_expression
from detlint.facts.reading.names import SHOWN, Names
from detlint.facts.reading.sites import LOOPS
from detlint.facts.reading.values import LONGEST_DISPLAY, member, operation, with_use, without_table
from detlint.facts.scope import MISSING, Missing

_ONE_ANSWER: Final = frozenset({ast.In, ast.NotIn, ast.Is, ast.IsNot})
"""Comparisons that give True or False whatever they compare; of tensors, the others give one for each element."""
UNREAD: Final = "?"
"""Behind `loop`, while the loop is read whose sites come to stand there."""
# Every kind of node has its handler, so that none needs to be asked for twice.
_DISPLAYS: Final[dict[type[ast.expr], Literal["list", "tuple", "set"]]] = {
    ast.List: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
}


class Operators(Names):
    """Reads what is put together of other expressions."""

    __slots__ = ()

    def done_in_order(self, first: int, body: int, names: Iterable[str]) -> None:
        """Tell what a loop goes over what else its body does: `loop:A-B`, by the positions of the sites.

        Args:
            first: the first site of what it goes over.
            body: that of its body.
            names: those that hold what it goes over.
        """
        use = f"loop:{body}-{len(self.sites)}" if len(self.sites) > body else "loop"
        for i in range(first, body) if use != "loop" else ():
            site = self.sites[i]
            if site.kind == "order" and site.use.endswith("loop"):
                self.sites[i] = with_use(site, use)
            elif site.use in LOOPS:
                self.sites[i] = with_use(site, site.use.removesuffix("loop") + use)
        for name in names:
            self.fates[name] = [
                fate.removesuffix(f"loop{UNREAD}") + use if fate.endswith(UNREAD) else fate for fate in self.fates[name]
            ]

    @of_expression(ast.BinOp)
    def _binary(self, node: ast.BinOp) -> Value | None:
        use, self.use = self.use, ""
        kind = type(node.op)
        # Lists that are put together go where the whole goes.
        use = use if kind is ast.Add else f"modulo:{use}" if kind is ast.Mod or kind is ast.BitAnd else ""
        rights = []
        left: ast.expr = node
        while type(left) is ast.BinOp:
            rights.append(left.right)
            left = left.left
        self.use = use
        value = EXPRESSIONS[type(left)](self, left)
        for right in reversed(rights):
            self.use = use if kind is ast.Add else ""
            value = operation(value, EXPRESSIONS[type(right)](self, right))
        self.use = ""
        return value

    @of_expression(ast.UnaryOp)
    def _unary(self, node: ast.UnaryOp) -> Value | None:
        if isinstance(node.op, ast.Not):
            self.use = "tested"
        value = self.expression(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value)
        if isinstance(node.op, ast.Not):
            return None
        return value if value is COMPARED else operation(value, Const(-1))

    @of_expression(ast.Subscript)
    def _subscript(self, node: ast.Subscript) -> Value | None:
        item = node.slice
        if self.use in SHOWN or (type(item) is ast.Slice and not (item.lower or item.upper or item.step)):
            pass
        elif type(item) is ast.Name:
            self.use = "turn" if item.id in self.counters else "index"
        else:
            single = type(item) is ast.Constant or type(item) is ast.UnaryOp
            self.use = "item" if single and not self.use.startswith("returned") else "index"
        base = EXPRESSIONS[type(node.value)](self, node.value)
        self.use = "key"
        key = EXPRESSIONS[type(item)](self, item)
        self.use = ""
        base = self.shared(node.value, base)
        if base is None or self.is_mask(base):
            return base
        if base == Ref("sys.modules") and type(item) is ast.Name and item.id == "__name__":
            return Ref(self.prefix)
        whole = without_table(base)
        if whole is not None:
            return (
                member(whole, key.value)
                if type(key) is Const and type(key.value) is str
                else self.part(whole, key, item)
            )
        if type(key) is Const:
            if type(base) is Mapping and isinstance(key.value, str):
                return base.values[base.keys.index(key.value)] if key.value in base.keys else None
            if type(base) is Items and isinstance(key.value, int) and -len(base.values) <= key.value < len(base.values):
                return base.values[key.value]
            return member(base, f"[{key.value}]")
        return member(base, "[*]")

    @of_expression(ast.List, ast.Tuple, ast.Set)
    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> Value | None:
        outer, self.use = _inside(self.use) if type(node) is not ast.Set else "argument:builtins.set", ""
        if len(node.elts) > LONGEST_DISPLAY:
            for element in node.elts:
                if type(element) is not ast.Constant:
                    self.expression(element)
            return sets.SETS[sets.joined(map(sets.element, node.elts))] if type(node) is ast.Set else None
        values, starred = [], False
        for element in node.elts:
            self.use = outer
            if type(element) is ast.Starred:
                starred, element = True, element.value
                values.append(EXPRESSIONS[type(element)](self, element))
                self.order("builtins.iter", self.unordered(values[-1]), element, outer)
            else:
                values.append(EXPRESSIONS[type(element)](self, element))
        if starred:
            return sets.SETS[""] if type(node) is ast.Set else None
        return Items(tuple(values), _DISPLAYS[type(node)])

    @of_expression(ast.Dict)
    def _dictionary(self, node: ast.Dict) -> Value | None:
        outer, self.use = _inside(self.use), ""
        keys, values, literal = [], [], len(node.keys) <= LONGEST_DISPLAY
        for i, (key, item) in enumerate(zip(node.keys, node.values, strict=True)):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                keys.append(key.value)
            elif key is None:
                keys.append("**")
            else:
                literal = False
                keys.append(f"[{i}]")
                self.expression(key)
            self.use = outer
            values.append(self.value(item) if literal else self.expression(item))
            self.section(keys[-1] if literal else None, values[-1], item)
        if literal:
            return self.mapping(keys, values, node)
        # Under what names a table has its functions and classes doesn't matter where one of them is taken out.
        table = "**" not in keys and 0 < len(keys) <= LONGEST_DISPLAY and all(type(value) is Ref for value in values)
        return Mapping(tuple(keys), tuple(values)) if table else None

    @of_expression(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    def _comprehension(self, node: Any) -> Value | None:
        outer, self.use = self.use, ""
        kind = type(node)
        collected = outer or "collected"
        if kind is ast.SetComp:
            collected = "argument:builtins.set"  # a set has no order to begin with
        elif kind is ast.DictComp and outer and loops.keyed(node):
            collected = f"keyed:{outer}"
        saved: dict[str, Any] = {}
        before = len(self.sites)
        for number, generator in enumerate(node.generators):
            self.use = collected
            iterated = self.expression(generator.iter)
            self.unsure += number == 0
            unordered = self.unordered(iterated)
            if unordered is not None:
                # A dictionary is read by its keys.
                self.order("builtins.iter", unordered, generator.iter, "loop" if kind is ast.DictComp else collected)
            self.use = ""
            target = generator.target
            for child in (target,) if type(target) is ast.Name else walk(target):
                if isinstance(child, ast.Name):
                    saved.setdefault(child.id, self.scope.names.get(child.id, MISSING))
                    self.scope.names[child.id] = member(iterated, "[*]") if child is target else None
            for condition in generator.ifs:
                self.expression(condition)
        inside, start, keys = len(self.sites), len(self.steps), self.keys
        if kind is ast.DictComp:
            self.expression(node.key)
            self.expression(node.value)
            self.done_in_order(before, inside, ())
        else:
            self.use = _among(collected) if type(node.elt) is ast.Call else ""
            self.expression(node.elt)
        self.unsure -= 1
        if self.keys > keys:
            self.steps[start:] = [Branch("loop", None, (tuple(self.steps[start:]),))]
        for name, outside in saved.items():
            if isinstance(outside, Missing):
                self.scope.names.pop(name, None)
            else:
                self.scope.names[name] = outside
        return sets.SETS[sets.comprehended(node)] if kind is ast.SetComp else None

    @of_expression(ast.Compare)
    def _compare(self, node: ast.Compare) -> Value | None:
        for side in (node.left, *node.comparators):
            kind = type(side)
            if kind is not ast.Constant and kind is not ast.Name:
                self.use = "tested"
                EXPRESSIONS[kind](self, side)
        self.use = ""
        return None if type(node.ops[0]) in _ONE_ANSWER else COMPARED

    @of_expression(ast.NamedExpr)
    def _named(self, node: ast.NamedExpr) -> Value | None:
        value = self.expression(node.value)
        self.scope.bind(node.target.id, value)
        return value

    @of_expression(ast.Await)
    def _await(self, node: ast.Await) -> Value | None:
        return self.expression(node.value)

    @of_expression(ast.Yield, ast.YieldFrom)
    def _yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        value = None
        if node.value is not None:
            self.use = "returned"
            value = self.expression(node.value)
        # Whoever goes over what passes on all of a loader gets what that gives.
        self.returned.append(value if type(node) is ast.YieldFrom else None)
        self.yields = True
        self.steps.append(Branch("yield", None, ()))


def _inside(use: str) -> str:
    """What becomes of an element of something that something becomes of."""
    return use if use != "returned" else "returned:inside"


def _among(use: str) -> str:
    """What becomes of one of many that something becomes of together: `found = [os.listdir(folder) for folder in folders]`."""
    kind, _, name = use.partition(":")
    return f"put:{name}" if kind == "assigned" and name else _inside(use)
