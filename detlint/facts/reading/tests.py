"""What a test asks: a flag that the object keeps, whether a layer trains, what a parameter says."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from detlint.facts import modes
from detlint.facts.loops import dotted
from detlint.facts.model import (
    Branch,
    Const,
    Either,
    Expression,
    Instance,
    Items,
    Member,
    Param,
    Result,
    Step,
    Value,
)
from detlint.facts.nodes import walk
from detlint.facts.reading.class_body import ClassBody
from detlint.facts.reading.handlers import EXPRESSIONS, of_expression
from detlint.facts.reading.sites import Sites
from detlint.facts.reading.values import TYPED, tail_of
from detlint.facts.reading.words import may_seed, name_may_seed
from detlint.facts.scope import chosen, join
from detlint.ir import ops as op
from detlint.model.flow import flags_of_uses
from detlint.model.unused import reads_any_name

_AMONG: Final = frozenset({ast.In, ast.NotIn})
_ALIKE: Final = frozenset({ast.Eq, ast.NotEq, *_AMONG})
_COMBINES: Final = re.compile(r"\b(?:and|or|not|is)\b|[<>=]=|[<>]")
"""What a test has that is put together of others."""


class Tests(Sites):
    """Reads what decides an arm."""

    __slots__ = ()

    def tell_needed(self) -> None:
        """Put transforms that are made for one arm of an `if flag:` alone under that flag: `flip = RandomFlip()`, and then
        `if is_training: operations = [flip]`."""
        for number in self.transforms:
            place = self.code.at(self.sites[number].span.place, op.CALL)
            for flag, holds in flags_of_uses(*place) if place is not None else ():
                arms = ((number,), ()) if holds else ((), (number,))
                self.steps = _with_step(self.steps, number, Branch("if", Param(flag), arms))
                break
        self.transforms = []

    def carried(self, after: dict[str, Value | None], keys: bool, renewed: Collection[str]) -> Value | None:
        """The values that a loop's body replaces for the next turn, each before the one in its place: those that may be tensors,
        or any where there may be keys among them."""
        names = self.scope.names
        kept = [(name, value) for name, value in after.items() if name not in renewed]
        pairs = [(before, value) for name, value in kept if (before := names.get(name)) is not None]
        changed = [pair for pair in pairs if (keys or type(pair[0]) in TYPED) and pair[0] != pair[1]]
        return Items(tuple([value for pair in changed for value in pair])) if changed else None

    def mode(self, test: ast.expr, arms: list[tuple[Step, ...]]) -> Value | None:
        """Whether an `if` asks a layer if it trains: `if self.training`; of `if not self.training` the arms change places."""
        asked, negated = modes.asked(test, self.catalog.modes)
        if type(asked) is not ast.Attribute or len(arms) != 2 or (mode := self.mode_of(asked)) is None:
            return None
        if negated:
            arms.reverse()
        return mode

    def mode_of(self, asked: modes.Asked) -> Value | None:
        """What a mode that is asked for is: an attribute of a layer, or a parameter of the function; None for anything else."""
        if isinstance(asked, ast.Name):
            given = self.scope.names.get(asked.id)
            return given if type(given) is Param else None
        layer = self.scope.names.get(dotted(asked.value))
        return Member(layer, asked.attr) if type(layer) is Instance else None

    def decided_by_mode(self, test: ast.expr | None, holds: bool) -> Value | None:
        """The mode that a layer is surely in where a test comes out so: that in which it trains."""
        asked = modes.decides(test, self.catalog.modes, holds)
        return None if asked is None else self.mode_of(asked)

    def decided(self, test: ast.BoolOp | ast.Name, holds: bool) -> Value | None:
        """What is surely true where a test comes out so: a mode, or a flag that the object keeps, `self.mosaic and p < 0.5`, by the name
        too that this was given."""
        if type(test) is ast.Name:
            return self.flagged_by(test) if holds and test.id in self.flagged else None
        mode = self.decided_by_mode(test, holds)
        return self.flag_among(test) if mode is None and holds else mode

    def flag_among(self, test: ast.expr) -> Value | None:
        """A flag that the object keeps without which a test doesn't hold."""
        if type(test) is not ast.BoolOp or type(test.op) is not ast.And:
            return None
        flags = (self.kept_flag(part, negated=False) for part in test.values)
        return next((flag for flag in flags if flag is not None), None)

    def flagged_by(self, name: ast.Name) -> Value | None:
        """The flag without which a name isn't true, that nothing else binds in the function."""
        return self.flagged[name.id] if self.bound_here()[0][name.id] == 1 else None

    def drawn_for(self, test: ast.BoolOp) -> None:
        """Note that what is drawn right before an `if` is only looked at while a layer trains: `p = random()`, and then
        `if self.training and p < drop`."""
        mode = self.decided_by_mode(test, holds=type(test.op) is ast.And)
        if mode is None or self.definition is None or type(step := self.steps[-1]) is not int:
            return
        read = [n.id for n in walk(self.definition) if type(n) is ast.Name and type(n.ctx) is ast.Load]
        asked = {part.id for part in walk(test) if type(part) is ast.Name and read.count(part.id) == 1}
        values = (self.scope.names.get(name) for name in asked)
        if any(type(value) is Result and value.site == step for value in values):
            self.steps[-1:] = [Branch("if", mode, ((step,), ()))]

    def under(self, asked: Value | None, start: int) -> None:
        """Note that the steps from one on are only taken where something is true: while a layer trains, by a flag."""
        if asked is not None and len(self.steps) > start:
            self.steps[start:] = [Branch("if", asked, (tuple(self.steps[start:]), ()))]

    def question(self, test: ast.expr, arms: list[tuple[Step, ...]]) -> Value | None:
        """What an `if` asks, kept where it may decide on a seed or a switch."""
        text = self.text(test) if len(arms) == 2 else None
        asks = text is not None and may_seed(text)
        return self.expression_value(test) if asks or any(map(self.may_seed, arms)) else None

    def argument(self, test: ast.expr | None, arms: list[tuple[Step, ...]]) -> Value | None:
        """What an `if` asks of a parameter that may be left at None, `n is not None and n > 0`, kept where it decides on a draw."""
        first = test.values[0] if type(test) is ast.BoolOp else test
        asked = self.scope.names.get(tells_given(first)[0]) if type(first) is ast.Compare else None
        if test is None or type(asked) is not Param or asked.default != Const(None):
            return None
        return self.expression_value(test) if any(map(self.may_draw, arms)) else None

    def choice(self, test: ast.expr | None) -> Value | None:
        """What an `if` asks of parameters that have defaults, `repeats > 0`, `shuffle and buffer > 0`: a call may leave them at those."""
        parts = test.values if type(test) is ast.BoolOp else [test]
        kept = all(self.asks_default(part, flag=type(test) is ast.BoolOp) for part in parts)
        return self.expression_value(test) if kept and test is not None else None

    def asks_default(self, test: ast.expr | None, flag: bool) -> bool:
        """Whether a test compares a parameter that has a default with a literal, or, as a flag among others, is one."""
        literal = type(test) is ast.Compare and len(test.ops) == 1 and type(test.comparators[0]) is ast.Constant
        named = test.left if literal else test if flag else None  # type: ignore[union-attr]
        asked = self.scope.names.get(named.id) if type(named) is ast.Name else None
        return type(asked) is Param and type(asked.default) is Const

    def worded(self, test: ast.expr) -> Value | None:
        """What an `if` asks of a text, `split == "train"`, `"train" in split`: of a parameter, which a call may say, or of what the
        constructor keeps of one."""
        if type(test) is not ast.Compare or len(test.ops) > 1 or type(test.ops[0]) not in _ALIKE:
            return None
        asked, with_ = test.left, test.comparators[0]
        if type(asked) is ast.Constant and type(test.ops[0]) in _AMONG:
            asked, with_ = with_, asked
        literals = with_.elts if type(with_) is ast.Tuple or type(with_) is ast.List else [with_]
        if not all(type(literal) is ast.Constant and type(literal.value) is str for literal in literals):
            return None
        if type(asked) is ast.Name:
            return self.expression_value(test) if type(self.scope.names.get(asked.id)) is Param else None
        kept, known = self.kept_attribute(asked), self.expression_value(test)
        if kept is None or type(kept[1]) is not Param or type(known) is not Expression:
            return None
        given, name = self.kept_parameter(asked), dotted(asked)
        # Where the constructor itself asks, its call says it.
        return known if given is None else Expression(known.text.replace(name, kept[1].name), {kept[1].name: given})

    def held(self, test: ast.expr) -> Value | None:
        """What an `if` asks of a name that only ever stands for one value, as a script has its settings at the top: `kind == "walks"`,
        `not quick`. Who edits the script may choose another one, as with an option."""
        asked = test.operand if type(test) is ast.UnaryOp and type(test.op) is ast.Not else test
        if type(asked) is ast.Compare and len(asked.ops) == 1 and type(asked.comparators[0]) is ast.Constant:
            asked = asked.left
        if type(asked) is not ast.Name or type(self.scope.names.get(asked.id)) is not Const:
            return None
        return self.expression_value(test) if self.is_bound_once(asked.id) else None

    def is_bound_once(self, name: str) -> bool:
        """Whether one place alone binds a name, in the function, or in the file for one of its top level, and nothing does so out of
        sight."""
        if self.scope.kind == "class" or reads_any_name(self.code):
            return False
        stored, outer = self.bound_here()
        return stored[name] + outer[name] == 1

    def bound_here(self) -> tuple[Counter[str], Counter[str]]:
        """How often each name is bound in the function that is read, or in the file at its top level, and how often such code says
        that a name is of another scope."""
        if self.bindings is None or self.bindings[0] is not self.definition:
            around = self.definition or self.tree
            nodes = [*walk(around)] if around is not None else []
            stored = Counter(n.id for n in nodes if type(n) is ast.Name and type(n.ctx) is not ast.Load)
            outer = Counter(name for n in nodes if type(n) is ast.Global or type(n) is ast.Nonlocal for name in n.names)
            self.bindings = self.definition, stored, outer
        return self.bindings[1:]

    def may_draw(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of some sites may draw, by its name."""
        words = self.catalog.all_drawing_words
        return any(
            any(map(self.may_draw, step.arms))
            if type(step) is Branch
            else step >= 0 and tail_of(self.sites[step].target) in words  # type: ignore[operator, index]
            for step in steps
        )

    def flag(self, test: ast.expr | None, arms: list[tuple[Step, ...]]) -> Value | None:
        """The parameter that an `if` asks, which a call may give as True or False; of `if not flag` the arms change places."""
        name, negated = self.decider(test)
        asked = Param(name) if name and not name.startswith(".") else self.kept_flag(test, negated)
        if asked is not None and negated:
            arms.reverse()
        return asked

    def kept_flag(self, test: ast.expr | None, negated: bool) -> Value | None:
        """The attribute that a test is, or denies, of an object whose constructor keeps that by what it is given."""
        asked = test.operand if negated else test  # type: ignore[union-attr]
        kept = self.kept_attribute(asked)
        return Member(kept[0].instance, asked.attr) if kept is not None else None  # type: ignore[union-attr]

    def decider(self, test: ast.expr | None) -> tuple[str, bool]:
        """The parameter that a test is, or, with a dot, the mode of a layer, "" for neither, and whether it stands under a `not`."""
        negated = type(test) is ast.UnaryOp and type(test.op) is ast.Not
        name = test.operand if negated else test  # type: ignore[union-attr]
        if type(name) is ast.Attribute and name.attr in self.catalog.modes:
            return f".{name.attr}", negated
        found = self.scope.names.get(name.id) if type(name) is ast.Name else self.kept_parameter(name)
        return (found.name, negated) if type(found) is Param else ("", negated)

    def chooser(self, test: ast.expr | None) -> tuple[str, bool]:
        """What a test is that decides between two values (see `Either.by`), "" for anything else, and whether it stands under a `not`."""
        by, negated = self.decider(test)
        asked = test.operand if negated else test  # type: ignore[union-attr]
        return by or (dotted(asked) if type(asked) is ast.Attribute else ""), negated

    def fixed(self, test: ast.expr | None) -> bool | None:
        """What a test always is, since it names what the function binds once, to True or False; None where that isn't so."""
        negated = type(test) is ast.UnaryOp and type(test.op) is ast.Not
        name = test.operand if negated else test  # type: ignore[union-attr]
        value = self.scope.names.get(name.id) if type(name) is ast.Name and self.scope.kind == "function" else None
        if type(value) is not Const or type(value.value) is not bool or self.definition is None:
            return None
        stored, outer = self.bound_here()
        once = stored[name.id] == 1 and not outer[name.id]  # type: ignore[union-attr]
        return value.value is not negated if once else None

    def kept_parameter(self, node: ast.expr | None) -> Value | None:
        """What an attribute is that the constructor which is being read has kept of a parameter, `self.train = train`, and that
        nothing else in the file sets."""
        kept = self.kept_attribute(node)
        if kept is None or self.functions[self.scope.function].name != f"{kept[0].name}.__init__":
            return None
        return kept[1] if type(kept[1]) is Param else None

    def kept_attribute(self, node: ast.expr | None) -> tuple[ClassBody, Value] | None:
        """The class of `self`, and what its constructor keeps as an attribute which nothing else in the file sets: a parameter, or what
        some come to."""
        if type(node) is not ast.Attribute or type(node.value) is not ast.Name:
            return None
        own = self.scope.names.get(node.value.id)
        owner = self.classes.get(own.of.removeprefix(self.prefix)) if type(own) is Instance and not own.name else None
        value = owner.attributes.get(node.attr) if owner is not None else None
        if value is None or owner is None or not _may_be_flag(value):
            return None
        return (owner, value) if self.writes.is_set_once(owner.name, node.attr) else None

    def may_seed(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of some sites may seed a stream or set a switch, by its name."""
        for step in steps:
            if type(step) is Branch:
                if any(map(self.may_seed, step.arms)):
                    return True
            elif step >= 0:  # type: ignore[operator]
                tail = tail_of(self.sites[step].target)  # type: ignore[index]
                catalog = self.catalog
                if tail in catalog.setting_words or (name_may_seed(tail) and tail not in catalog.all_drawing_words):
                    return True
        return False

    @of_expression(ast.IfExp)
    def _conditional(self, node: ast.IfExp) -> Value | None:
        outer, self.use = self.use, "tested"
        test = self.expression(node.test)
        options, inside = [], len(self.sites)
        for arm, holds in ((node.body, True), (node.orelse, False)):
            self.use, start = outer, len(self.steps)
            self.unsure += 1
            options.append(self.value(arm))
            self.unsure -= 1
            if len(self.steps) > start:
                self.under(self.decided_by_mode(node.test, holds), start)
        self.may_be_passed_over(inside)
        if isinstance(test, Const):
            return options[0 if test.value else 1]
        if options == [None, None]:
            return None
        by, negated = self.chooser(node.test)
        then, other = reversed(options) if negated else options
        return chosen(then, other, by)

    def may_be_passed_over(self, inside: int) -> None:
        """Note that the sites from one on stand where a run may not come, although it comes to their statement."""
        self.perhaps.update(dict.fromkeys(range(inside, len(self.sites))))

    @of_expression(ast.BoolOp)
    def _bool(self, node: ast.BoolOp) -> Value | None:
        either = type(node.op) is ast.Or
        outer = self.use if either else "tested"
        options, inside = [], len(self.sites)
        start = len(self.steps)
        for number, part in enumerate(node.values):
            self.use = outer
            self.unsure += number == 1
            options.append(EXPRESSIONS[type(part)](self, part))
            inside = len(self.sites) if number == 0 else inside
        self.unsure -= 1
        self.may_be_passed_over(inside)
        if not either and len(self.steps) > start:
            asked, negated = modes.asked(node.values[0], self.catalog.modes)
            flag = self.kept_flag(node.values[0], negated=False) if asked is None else None
            self.under(self.mode_of(asked) if asked is not None and not negated else flag, start)
        # `x or default`: either of them, when both are known.
        return join(options) if either and None not in options else None


def tells_given(test: ast.expr | None) -> tuple[str, bool]:
    """The name that a test tells to be something else than None, "" for none, and whether it does where it holds: else it does
    where it fails."""
    if isinstance(test, ast.Call) and dotted(test.func) == "isinstance" and test.args:
        return dotted(test.args[0]), True
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return "", False
    none = test.comparators[0]
    told = isinstance(none, ast.Constant) and none.value is None
    return (dotted(test.left), isinstance(test.ops[0], ast.IsNot)) if told else ("", False)


def _may_be_flag(value: Value) -> bool:
    """Whether a constructor may make a value of the flags that it is given: `augment and not rect`."""
    if type(value) is Expression:
        return _COMBINES.search(value.text) is not None
    return type(value) is Param or (type(value) is Either and value.by != "" and "." not in value.by[1:])


def _with_step(steps: Iterable[Step], number: int, instead: Branch) -> list[Step]:
    """Steps with another one in place of a site, wherever it stands among them."""
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Branch):
            arms = tuple(tuple(_with_step(arm, number, instead)) for arm in step.arms)
            step = Branch(step.kind, step.test, arms, step.span)
        found.append(instead if step == number else step)
    return found
