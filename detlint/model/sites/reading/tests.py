"""What a test asks: a flag that the object keeps, whether a layer trains, what a parameter says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from detlint.ir import ops as op
from detlint.ir.alone import in_ir
from detlint.model.flow import flags_of_uses
from detlint.model.sites.reading.class_body import ClassBody
from detlint.model.sites.reading.sites import Sites
from detlint.model.sites.reading.values import TYPED, tail_of
from detlint.model.sites.reading.words import may_seed, name_may_seed
from detlint.model.sites.records import (
    Branch,
    Const,
    Either,
    Expression,
    Instance,
    Items,
    Member,
    Param,
    Ref,
    Result,
    Step,
    Value,
    sites,
)
from detlint.model.unused import reads_any_name

_AMONG: Final = frozenset({"in", "not in"})
_ALIKE: Final = frozenset({"==", "!=", *_AMONG})
_OPTIONS: Final = (Param, Ref, Result)
"""What may be a command line's options."""
_COMBINES: Final = frozenset({op.CHOICE, op.COMPARE, op.UNARY})
"""What a test has that is put together of others."""


class Tests(Sites):
    """Reads what decides an arm. What is asked is an op, as a rule a test; -1 for none."""

    # -- how a test is put together ---------------------------------------------------------------------------------------------

    def denied(self, at: int) -> tuple[int, bool]:
        """What a test asks, and whether it stands under a `not`."""
        negated = self.code_of(at) == op.UNARY and self.strings[self.ops[at][1]] == "not"
        return (self.ops[at][2], True) if negated else (at, False)

    def combined(self, at: int, word: str) -> list[int]:
        """The parts of `a and b and c`; none for anything else."""
        parts, waiting = list[int](), [at] if self.is_choice(at, word) else []
        while waiting:
            part = waiting.pop()
            if self.is_choice(part, word):
                waiting += self.ops[part][:1:-1]
            else:
                parts.append(part)
        return parts

    def is_choice(self, at: int, *words: str) -> bool:
        """Whether it is `a and b`, or the like."""
        return self.code_of(at) == op.CHOICE and self.strings[self.ops[at][1]] in words

    def comparison(self, at: int) -> tuple[int, str, int] | None:
        """The sides of one comparison, and its operator."""
        operation = self.ops[at] if at >= 0 else (op.END,)
        return (operation[1], self.strings[operation[2]], operation[3]) if operation[0] == op.COMPARE else None

    def named(self, at: int) -> Value | None:
        """What a name holds that the function binds; None for any other value."""
        own = self.code_of(at) == op.LOAD and self.scope.names[self.ops[at][1]].owner == self.scope.function.number
        return self.made[at] if own else None

    def told(self, at: int) -> tuple[int, bool]:
        """The name that a test tells to be something else than None, -1 for none, and whether it does where it holds: else it does
        where it fails."""
        if self.code_of(at) == op.CALL:
            operation = self.ops[at]
            asks = self.dotted(operation[1]) == "isinstance" and operation[2]
            return (operation[3], True) if asks else (-1, False)
        compared = self.comparison(at)
        if compared is None or compared[1] not in ("is", "is not") or not self.is_none(compared[2]):
            return -1, False
        return compared[0], compared[1] == "is not"

    def is_main(self, at: int) -> bool:
        """Whether a test is `__name__ == "__main__"`."""
        compared = self.comparison(at)
        if compared is None or compared[1] != "==":
            return False
        sides = compared[0], compared[2]
        return "__name__" in map(self.dotted, sides) and "__main__" in map(self.constant_of, sides)

    # -- modes of layers --------------------------------------------------------------------------------------------------------

    def asked_mode(self, at: int) -> tuple[int, bool]:
        """The mode that a test is, and whether it stands under a `not`; -1 for any other test."""
        asked, negated = self.denied(at)
        code = self.code_of(asked)
        name = ""
        if code == op.ATTR and self.code_of(self.ops[asked][1]) == op.LOAD:
            name = self.strings[self.ops[asked][2]]
        elif code == op.LOAD:
            name = self.scope.function.text(self.ops[asked][1])
        return (asked if name in self.catalog.modes else -1), negated

    def deciding_mode(self, at: int, holds: bool) -> int:
        """The mode without which a test can't come out: `training and p > 0` doesn't hold, `p == 0 or not training` doesn't fail."""
        for part in self.combined(at, "and" if holds else "or") or [at]:
            found, negated = self.asked_mode(part)
            if found >= 0 and negated is not holds:
                return found
        return -1

    def mode_of(self, asked: int) -> Value | None:
        """What a mode that is asked for is: an attribute of a layer, or a parameter of the function; None for anything else."""
        if self.code_of(asked) == op.LOAD:
            given = self.named(asked)
            return given if type(given) is Param else None
        layer = self.named(self.ops[asked][1]) if asked >= 0 else None
        return Member(layer, self.strings[self.ops[asked][2]]) if type(layer) is Instance else None

    def decided_by_mode(self, at: int, holds: bool) -> Value | None:
        """The mode that a layer is surely in where a test comes out so: that in which it trains."""
        return self.mode_of(self.deciding_mode(at, holds))

    def mode(self, test: int, arms: list[tuple[Step, ...]]) -> Value | None:
        """Whether an `if` asks a layer if it trains: `if self.training`; of `if not self.training` the arms change places."""
        asked, negated = self.asked_mode(test)
        mode = self.mode_of(asked) if self.code_of(asked) == op.ATTR and len(arms) == 2 else None
        if mode is not None and negated:
            arms.reverse()
        return mode

    def decided(self, test: int, holds: bool) -> Value | None:
        """What is surely true where a test comes out so: a mode, or a flag that the object keeps, `self.mosaic and p < 0.5`, by the name
        too that this was given."""
        if self.code_of(test) == op.LOAD:
            slot = self.ops[test][1]
            return self.flagged[slot] if holds and slot in self.flagged and self.is_bound_once(slot) else None
        mode = self.decided_by_mode(test, holds)
        return self.flag_among(test) if mode is None and holds else mode

    def flag_among(self, test: int) -> Value | None:
        """A flag that the object keeps without which a test doesn't hold."""
        flags = (self.kept_flag(part) for part in self.combined(test, "and"))
        return next((flag for flag in flags if flag is not None), None)

    def drawn_for(self, test: int) -> None:
        """Note that what is drawn right before an `if` is only looked at while a layer trains: `p = random()`, and then
        `if self.training and p < drop`."""
        holds = self.is_choice(test, "and")
        mode = self.decided_by_mode(test, holds) if holds or self.is_choice(test, "or") else None
        if mode is None or self.scope.kind == "module":
            return
        function = self.scope.function
        inside = {*function.within(test)}
        last = len(self.steps) - 1
        while last >= 0 and self.is_read_in(self.steps[last], inside):
            last -= 1
        for part in inside:
            value = self.made[part] if self.ops[part][0] == op.LOAD else None
            if last >= 0 and type(value) is Result and value.site == self.steps[last] != -1:
                slot = self.ops[part][1]
                if sum(operation[:2] == (op.LOAD, slot) for operation in self.ops) == 1:
                    self.steps[last] = Branch("if", mode, ((value.site,), ()))
                    return

    def is_read_in(self, step: Step, inside: Collection[int]) -> bool:
        """Whether a step stands for a part of an expression."""
        if isinstance(step, Branch):
            return any(self.is_read_in(site, inside) for site in sites((step,)))
        if step == -1:
            return False
        return step < -1 or self.places[step] in {(self.scope.function.number, part) for part in inside}

    def under(self, asked: Value | None, start: int) -> None:
        """Note that the steps from one on are only taken where something is true: while a layer trains, by a flag."""
        if asked is not None and len(self.steps) > start:
            self.steps[start:] = [Branch("if", asked, (tuple(self.steps[start:]), ()))]

    # -- what it may decide -------------------------------------------------------------------------------------------------

    def question(self, test: int, arms: Sequence[tuple[Step, ...]]) -> Value | None:
        """What an `if` asks, kept where it may decide on a seed or a switch."""
        asks = len(arms) == 2 and any(map(self.says_seed, self.scope.function.within(test)))
        return self.expression(test) if asks or any(map(self.may_seed, arms)) else None

    def says_seed(self, at: int) -> bool:
        """Whether a name, attribute or text speaks of seeds."""
        operation = self.ops[at]
        if operation[0] == op.LOAD:
            return name_may_seed(self.scope.function.text(operation[1]))
        if operation[0] == op.ATTR:
            return name_may_seed(self.strings[operation[2]])
        text = self.constant_of(at)
        return isinstance(text, str) and len(text) < 200 and may_seed(text)

    def argument(self, test: int, arms: Sequence[tuple[Step, ...]]) -> Value | None:
        """What an `if` asks of a parameter that may be left at None, `n is not None and n > 0`, kept where it decides on a draw."""
        first = (self.combined(test, "and") or self.combined(test, "or") or [test])[0]
        asked = self.named(self.told(first)[0]) if self.comparison(first) is not None else None
        if type(asked) is not Param or asked.default != Const(None):
            return None
        return self.expression(test) if any(map(self.may_draw, arms)) else None

    def choice(self, test: int) -> Value | None:
        """What an `if` asks of parameters that have defaults, `repeats > 0`, `shuffle and buffer > 0`: a call may leave them at those."""
        parts = self.combined(test, "and") or self.combined(test, "or")
        kept = all(self.asks_default(part, flag=bool(parts)) for part in parts or [test])
        return self.expression(test) if kept else None

    def asks_default(self, test: int, flag: bool) -> bool:
        """Whether a test compares a parameter that has a default with a literal, or, as a flag among others, is one."""
        compared = self.comparison(test)
        literal = compared is not None and self.code_of(compared[2]) == op.CONST
        asked = self.named(compared[0] if literal and compared is not None else test if flag else -1)
        return type(asked) is Param and type(asked.default) is Const

    def worded(self, test: int) -> Value | None:
        """What an `if` asks of a text, `split == "train"`, `"train" in split`: of a parameter, which a call may say, or of what the
        constructor keeps of one."""
        compared = self.comparison(test)
        if compared is None or compared[1] not in _ALIKE:
            return None
        asked, word, with_ = compared
        if self.code_of(asked) == op.CONST and word in _AMONG:
            asked, with_ = with_, asked
        literals = self.ops[with_][1:] if self.code_of(with_) in (op.TUPLE, op.LIST) else [with_]
        if not all(isinstance(self.constant_of(literal), str) for literal in literals):
            return None
        if self.code_of(asked) == op.LOAD:
            return self.expression(test) if type(self.named(asked)) is Param else None
        kept = self.kept_attribute(asked)
        if kept is None or type(kept[1]) is not Param:
            return None
        given = self.kept_parameter(asked)
        # Where the constructor itself asks, its call says it.
        return self.expression(test) if given is None else self.expression(test, asked, given)

    def held(self, test: int) -> Value | None:
        """What an `if` asks of a name that only ever stands for one value, as a script has its settings at the top: `kind == "walks"`,
        `not quick`. Who edits the script may choose another one, as with an option."""
        asked = self.compared_with_literal(test)
        if type(self.named(asked)) is not Const or self.scope.kind == "class":
            return None
        return self.expression(test) if self.is_bound_once(self.ops[asked][1]) else None

    def of_options(self, test: int) -> Value | None:
        """What an `if` asks of an attribute of what may be a command line's options, which a run may set anew: `args.phase == "train"`."""
        asked = self.compared_with_literal(test)
        of = self.ops[asked][1] if self.code_of(asked) == op.ATTR else -1
        return self.expression(test) if self.code_of(of) == op.LOAD and type(self.made[of]) in _OPTIONS else None

    def compared_with_literal(self, test: int) -> int:
        """What a test asks, `not` left out, or what it compares with a literal."""
        asked, _ = self.denied(test)
        compared = self.comparison(asked)
        return compared[0] if compared is not None and self.code_of(compared[2]) == op.CONST else asked

    def is_bound_once(self, slot: int) -> bool:
        """Whether one place alone binds a name, and nothing does so out of sight."""
        return len(self.code.stores(self.scope.function.binding(slot))) == 1 and not reads_any_name(self.code)

    def may_draw(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of some sites may draw, by its name."""
        words = self.catalog.all_drawing_words
        return any(tail_of(self.sites[step].target) in words for step in sites(steps))

    def may_seed(self, steps: tuple[Step, ...]) -> bool:
        """Whether one of some sites may seed a stream or set a switch, by its name."""
        known = self.catalog
        for step in sites(steps):
            tail = tail_of(self.sites[step].target)
            if tail in known.setting_words or (name_may_seed(tail) and tail not in known.all_drawing_words):
                return True
        return False

    # -- flags ------------------------------------------------------------------------------------------------------------------

    def flag(self, test: int, arms: list[tuple[Step, ...]]) -> Value | None:
        """The parameter that an `if` asks, which a call may give as True or False; of `if not flag` the arms change places."""
        name, negated = self.decider(test)
        asked = Param(name) if name and not name.startswith(".") else self.kept_flag(self.denied(test)[0])
        if asked is not None and negated:
            arms.reverse()
        return asked

    def kept_flag(self, asked: int) -> Value | None:
        """The attribute that is asked, of an object whose constructor keeps that by what it is given."""
        kept = self.kept_attribute(asked)
        return Member(kept[0].instance, self.strings[self.ops[asked][2]]) if kept is not None else None

    def decider(self, test: int) -> tuple[str, bool]:
        """The parameter that a test is, or, with a dot, the mode of a layer, "" for neither, and whether it stands under a `not`."""
        asked, negated = self.denied(test)
        if self.code_of(asked) == op.ATTR and self.strings[self.ops[asked][2]] in self.catalog.modes:
            return f".{self.strings[self.ops[asked][2]]}", negated
        found = self.named(asked) if self.code_of(asked) == op.LOAD else self.kept_parameter(asked)
        return (found.name, negated) if type(found) is Param else ("", negated)

    def chooser(self, test: int) -> tuple[str, bool]:
        """What a test is that decides between two values (see `Either.by`), "" for anything else, and whether it stands under a `not`."""
        by, negated = self.decider(test)
        asked = self.denied(test)[0]
        return by or (self.dotted(asked) if self.code_of(asked) == op.ATTR else ""), negated

    def fixed(self, test: int) -> bool | None:
        """What a test always is, since it names what the function binds once, to True or False; None where that isn't so."""
        asked, negated = self.denied(test)
        value = self.named(asked) if self.scope.kind == "function" else None
        if type(value) is not Const or type(value.value) is not bool:
            return None
        once = len(self.code.stores(self.scope.function.binding(self.ops[asked][1]))) == 1
        return value.value is not negated if once else None

    def kept_parameter(self, at: int) -> Param | None:
        """What an attribute is that the constructor which is being read has kept of a parameter, `self.train = train`, and that
        nothing else in the file sets."""
        kept = self.kept_attribute(at)
        if kept is None or self.functions[self.scope.number].name != f"{kept[0].name}.__init__":
            return None
        return kept[1] if type(kept[1]) is Param else None

    def kept_attribute(self, at: int) -> tuple[ClassBody, Value] | None:
        """The class of `self`, and what its constructor keeps as an attribute which nothing else in the file sets: a parameter, or what
        some come to."""
        if self.code_of(at) != op.ATTR:
            return None
        own, name = self.named(self.ops[at][1]), self.strings[self.ops[at][2]]
        owner = self.classes.get(own.of.removeprefix(self.prefix)) if type(own) is Instance and not own.name else None
        value = owner.attributes.get(name) if owner is not None else None
        if value is None or owner is None or not _may_be_flag(value):
            return None
        return (owner, value) if self.writes.is_set_once(owner.name, name) else None

    # -- loops and transforms ---------------------------------------------------------------------------------------------------

    def carried(self, after: dict[int, Value | None], keys: bool, renewed: Collection[int]) -> Value | None:
        """The values that a loop's body replaces for the next turn, each before the one in its place: those that may be tensors,
        or any where there may be keys among them."""
        pairs = [(self.scope.own(slot), value) for slot, value in after.items() if slot not in renewed]
        changed = [
            pair for pair in pairs if pair[0] is not None and (keys or type(pair[0]) in TYPED) and pair[0] != pair[1]
        ]
        return Items(tuple([value for pair in changed for value in pair])) if changed else None

    def tell_needed(self) -> None:
        """Put transforms that are made for one arm of an `if flag:` alone under that flag: `flip = RandomFlip()`, and then
        `if is_training: operations = [flip]`."""
        for number, at in self.transforms:
            for flag, holds in flags_of_uses(self.scope.function, at):
                arms = ((number,), ()) if holds else ((), (number,))
                self.steps = [*_with_step(self.steps, number, Branch("if", Param(flag), arms))]
                break
        self.transforms = []


def _may_be_flag(value: Value) -> bool:
    """Whether a constructor may make a value of the flags that it is given: `augment and not rect`."""
    if type(value) is Expression:
        function, _ = in_ir(value.text) or (None, -1)
        return function is not None and any(operation[0] in _COMBINES for operation in function.ops)
    return type(value) is Param or (type(value) is Either and value.by != "" and "." not in value.by[1:])


def _with_step(steps: Sequence[Step], number: int, instead: Branch) -> Iterator[Step]:
    """Steps with another one in place of a site, wherever it stands among them."""
    for step in steps:
        if isinstance(step, Branch):
            arms = tuple(tuple(_with_step(arm, number, instead)) for arm in step.arms)
            step = Branch(step.kind, step.test, arms, step.span)
        yield instead if step == number else step
