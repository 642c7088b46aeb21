"""Assignments: what names, attributes and items hold from then on."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.model import (
    ANEW,
    OPERATED,
    SCALED,
    Arg,
    Branch,
    Const,
    Expression,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Ref,
    Result,
    Value,
)
from detlint.facts.nodes import walk
from detlint.facts.reading.handlers import EXPRESSIONS, of_statement
from detlint.facts.reading.known import Known
from detlint.facts.reading.values import (
    DEEPEST_VALUE,
    constant,
    depth_of,
    is_table,
    member,
    operation,
    tail_of,
    updated,
    without,
)
from detlint.facts.reading.walk import OPAQUE
from detlint.facts.scope import Missing
from detlint.facts.sets import KINDS

_PARAMETERS: Final = frozenset({"named_parameters", "parameters"})
_MOST_ANEW: Final = 4
"""A name that is bound anew more often is no longer told apart from what it was before."""


class Bindings(Known):
    """Reads assignments."""

    __slots__ = ()

    @of_statement(ast.Assign)
    def _assign(self, node: ast.Assign) -> None:
        right, targets = node.value, node.targets
        kind = type(right)
        if kind is ast.Constant:
            value = constant(right.value)  # type: ignore[attr-defined]
        elif kind is ast.Attribute or (kind is ast.Name and not self.fates):
            self.use = ""
            value = EXPRESSIONS[kind](self, right)
        else:
            first = targets[0]
            name = first.id if type(first) is ast.Name else dotted(first)
            before = self.judged
            held = self.held_anew(name, right) if name in self.fates else name
            self.use = "assigned:" + held if name else _put_into(first)
            self.is_id = name.rpartition(".")[2] in self.ids
            value = EXPRESSIONS[kind](self, right)
            self.is_id = False
            if value is None and kind not in OPAQUE:
                value = self.expression_value(right)
            if self.judged > before and name:
                self.watch(held)
                if held != name:
                    self.anew = {**self.anew, name: held}
        for target in targets:
            if type(target) is ast.Name:
                self.scope.bind(target.id, value)
                if kind is ast.BoolOp and (flag := self.flag_among(right)) is not None:
                    self.flagged[target.id] = flag
                if type(value) is Mapping:
                    self.section(target.id, value, right)
            else:
                self.assign(target, value, node)

    def held_anew(self, name: str, value: ast.expr) -> str:
        """What a name that is followed is called from here on to the end of the block, where it is bound to something else: nothing
        comes there that it had before."""
        held = self.anew.get(name, name)
        kept = "." in name or held.endswith(ANEW * _MOST_ANEW)
        return held if kept or any(dotted(part) == name for part in walk(value)) else held + ANEW

    @of_statement(ast.AnnAssign)
    def _annotated(self, node: ast.AnnAssign) -> None:
        name, before = dotted(node.target), self.judged
        name = self.anew.get(name, name)
        self.use = f"assigned:{name}"
        value = self.value(node.value) if node.value is not None else None
        if self.judged > before and name:
            self.watch(name)
        if not isinstance(value, (Const, Ref, Items, Mapping)):
            annotation = self.annotated(node.annotation)
            if annotation and (annotation in KINDS or not annotation.startswith("builtins.")):
                value = Instance(annotation, "?")
        if node.value is not None or value is not None:
            self.assign(node.target, value, node)

    @of_statement(ast.AugAssign)
    def _augmented(self, node: ast.AugAssign) -> None:
        name, before = dotted(node.target), self.judged
        self.use = use = f"data-loop:{name}"
        value = self.value(node.value)
        if self.judged > before and name:
            self.watch(name)
        if isinstance(node.op, ast.Add):
            self.order("builtins.iter", self.unordered(value), node.value, use)
        target = self.expression(node.target) if not isinstance(node.target, ast.Name) else None
        if isinstance(target, Ref) and target.name == "os.environ" and isinstance(value, Mapping):
            self.environment(zip(value.keys, value.values, strict=True), node)
        if isinstance(node.target, ast.Subscript) and isinstance(node.target.slice, ast.Constant):
            self.written(self.expression(node.target.value), constant(node.target.slice.value), None, node)
        if isinstance(node.target, ast.Name):
            held = self.scope.look_up(node.target.id)
            if isinstance(node.op, ast.BitOr) and not isinstance(held, Missing) and is_table(held):
                self.dictionary_update(node.target, [Arg("", value)])
            else:
                self.scope.bind(node.target.id, None if isinstance(held, Missing) else operation(held, None))

    def assign(self, target: ast.expr, value: Value | None, statement: ast.stmt) -> None:
        """Bind a target: a name, an attribute of `self` or of an import, `os.environ[...]`, or several of them."""
        if isinstance(target, ast.Name):
            self.scope.bind(target.id, value)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(target, value, statement)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values: Sequence[Value | None] = ()
            if isinstance(value, Items) and len(value.values) == len(target.elts):
                values = value.values
            for i, element in enumerate(target.elts):
                part = (
                    values[i]
                    if values
                    else (Member(value, f"[{i}]") if depth_of(value) < DEEPEST_VALUE and value else None)
                )
                self.assign(element.value if isinstance(element, ast.Starred) else element, part, statement)
        elif isinstance(target, ast.Subscript):
            base = self.expression(target.value)
            key = self.expression(target.slice)
            if isinstance(value, (Param, Ref)):
                self.keep(target.value, base, key, value, statement)
            if self.keys and base is not None and isinstance(key, Const):
                self.steps.append(Branch("rebind", member(base, f"[{key.value}]"), ()))
            if base is not None and base == self.rest():
                base = Mapping((), (), open=True)
            if is_table(base) and isinstance(target.value, ast.Name):
                changed = {key.value: value} if isinstance(key, Const) and isinstance(key.value, str) else None
                self.scope.bind(target.value.id, updated(base, changed))
            self.written(base, key, value, statement)

    def written(self, base: Value | None, key: Value | None, value: Value | None, statement: ast.stmt) -> None:
        """`os.environ[key] = value`; of a value that is put together, its text is what the rule engine looks at."""
        if not (isinstance(base, Ref) and base.name == "os.environ") or not isinstance(key, Const):
            return
        if isinstance(statement, ast.AugAssign):
            text = self.text(statement)
            value = Expression(text) if text is not None else None
        elif (
            isinstance(statement, ast.Assign) and isinstance(value, Result) and tail_of(value.of) in (OPERATED, SCALED)
        ):
            value = self.expression_value(statement.value)
        if isinstance(key.value, str):
            self.environment([(key.value, value)], statement)

    def assign_attribute(self, target: ast.Attribute, value: Value | None, statement: ast.stmt) -> None:
        base = self.expression(target.value)
        if self.keys and base is not None:
            self.steps.append(Branch("rebind", member(base, target.attr), ()))
        if isinstance(base, Instance) and base.of.startswith(self.prefix):
            owner = self.classes.get(base.of.removeprefix(self.prefix))
            if owner is not None:
                owner.attribute(target.attr, value)
                if target.attr in owner.properties:
                    self.site("write", Member(base, target.attr), (Arg("", value),), statement)
        elif isinstance(base, Ref) and (target.attr in self.words or base.name.rpartition(".")[2] in self.words):
            self.site("assignment", Ref(f"{base.name}.{target.attr}"), (Arg("value", value),), statement)
        elif isinstance(base, (Param, Result, Member)) and "seed" in target.attr.lower():
            self.site("write", Member(base, target.attr), (Arg("", value),), statement)
            if isinstance(base, Result) and target.attr in self.words:
                self.site("assignment", Member(base, target.attr), (Arg("value", value),), statement)
        elif isinstance(base, Result) and target.attr in self.words:
            self.site("assignment", Member(base, target.attr), (Arg("value", value),), statement)
        elif base is not None and self.may_run(base, target.attr):
            self.site("write", Member(base, target.attr), (Arg("", value),), statement)

    @of_statement(ast.Delete)
    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.bind(target.id, None)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                held, key = self.scope.look_up(target.value.id), self.expression(target.slice)
                if not isinstance(held, Missing) and is_table(held):
                    self.scope.bind(target.value.id, without(held, key.value if isinstance(key, Const) else None))

    def rest(self) -> Value | None:
        """What the function that is read gets the keywords as that none of its parameters takes."""
        parameters = self.details[self.scope.function].parameters
        return Param(parameters[-1].name) if parameters and parameters[-1].kind == "**" else None


def _is_parameter(value: Value | None) -> bool:
    """Whether a value is one of a layer's parameters: `for name, parameter in layer.named_parameters()`."""
    while type(value) is Member and value.attr.startswith("["):
        value = value.base
    return type(value) is Result and tail_of(value.of) in _PARAMETERS


def _put_into(target: ast.expr) -> str:
    """What becomes of what is assigned to an item: the whole gathers it (`splits["train"] = files`)."""
    return f"put:{dotted(target.value)}" if type(target) is ast.Subscript else "assigned:"
