"""Assignments: what names, attributes and items hold from then on."""

from __future__ import annotations

from detlint.ir import ops as op
from detlint.ir.uses import Op
from detlint.model.sets import KINDS
from detlint.model.sites.reading.handlers import of, of_call
from detlint.model.sites.reading.known import Known
from detlint.model.sites.reading.values import is_table, member, tail_of, updated, without
from detlint.model.sites.reading.values import operation as arithmetic
from detlint.model.sites.reading.words import name_may_seed
from detlint.model.sites.records import (
    OPERATED,
    PARSES,
    SCALED,
    Arg,
    Branch,
    Const,
    Instance,
    Items,
    Mapping,
    Member,
    Param,
    Ref,
    Result,
    Span,
    Value,
)

_DEFINES = frozenset({op.FUNCTION, op.CLASS, op.IMPORT, op.MEMBER})


class Bindings(Known):
    """Reads assignments."""

    @of(op.STORE)
    def _store(self, at: int, operation: Op) -> None:
        _, slot, given = operation
        value, code = self.assigned(given), self.ops[given][0]
        if code in (op.FOR, op.PART):
            self.renew(slot, given)
        elif code not in _DEFINES:
            value = self.told_by_annotation(at, value)
            if self.is_choice(given, "and") and (flag := self.flag_among(given)) is not None:
                self.flagged[slot] = flag
            if type(value) is Mapping and code != op.AUGMENT:
                self.section(self.scope.function.text(slot), value, given)
            if self.scope.kind == "class":
                self.field(slot, at, given)
        self.scope.bind(slot, value)

    def renew(self, slot: int, given: int) -> None:
        """Note what a loop binds at the beginning of each turn."""
        while self.ops[given][0] == op.PART:
            given = self.ops[given][1]
        block = self.blocks[-1] if self.blocks else None
        if block is not None and block.mark == given and block.kind == "loop":
            block.renewed.add(slot)

    def field(self, slot: int, at: int, given: int) -> None:
        """Note where a field of a class stands that may seed."""
        name = self.scope.function.text(slot)
        if name_may_seed(name):
            begin, end = self.scope.function.span(at), self.scope.function.span(given)
            self.classes[self.scope.owner].places[name] = Span(*begin[:2], *end[2:])

    def told_by_annotation(self, at: int, value: Value | None) -> Value | None:
        """What a name or attribute holds whose annotation follows, if it has one: what isn't known is of the class that this names."""
        ops, span = self.ops, self.scope.function.span
        if at + 1 >= len(ops) or ops[at + 1][0] != op.QUOTE:
            return value
        behind = self.scope.function.parts[at + 1][-1] + 1
        annotates = ops[behind][0] in (op.ANNOTATE, op.ANNOTATE_ATTR) if behind < len(ops) else False
        return self.instance(ops[behind][-1], value) if annotates and span(behind)[:2] == span(at)[:2] else value

    def instance(self, annotation: int, value: Value | None) -> Value | None:
        """What something is of which an annotation tells the class."""
        if not isinstance(value, (Const, Ref, Items, Mapping)):
            name = self.annotation(annotation)
            if name and (name in KINDS or not name.startswith("builtins.")):
                return Instance(name, "?")
        return value

    @of(op.ANNOTATE)
    def _annotate(self, at: int, operation: Op) -> None:
        if not self.is_told(at):
            value = self.instance(operation[2], None)
            if value is not None:
                self.scope.bind(operation[1], value)

    @of(op.ANNOTATE_ATTR)
    def _annotate_attribute(self, at: int, operation: Op) -> None:
        if not self.is_told(at):
            value = self.instance(operation[3], None)
            if value is not None:
                self.set_attribute(self.made[operation[1]], self.strings[operation[2]], value, at)

    def is_told(self, at: int) -> bool:
        """Whether what an annotation is about has got a value right before, which was read with it."""
        before = self.scope.function.opened[at - 1] - 1
        stores = before >= 0 and self.ops[before][0] in (op.STORE, op.SET_ATTR, op.SET_ITEM)
        return stores and self.scope.function.span(before)[:2] == self.scope.function.span(at)[:2]

    @of(op.AUGMENT)
    def _augment(self, at: int, operation: Op) -> Value | None:
        word, target, given = self.strings[operation[1]], operation[2], operation[3]
        held, value = self.made[target], self.valued(given)
        if word == "+":
            self.order("builtins.iter", self.unordered(value), given)
        if isinstance(held, Ref) and held.name == "os.environ" and isinstance(value, Mapping):
            self.environment(zip(value.keys, value.values, strict=True), at)
        if word == "|" and self.ops[target][0] == op.LOAD and held is not None and is_table(held):
            self.dictionary_update(at, target, [Arg("", value)])
            return self.scope.own(self.ops[target][1])
        return arithmetic(held, None)

    @of(op.SET_ITEM)
    def _set_item(self, at: int, operation: Op) -> None:
        _, of, index, given = operation
        base, key, value = self.made[of], self.made[index], self.assigned(given)
        if self.ops[given][0] == op.AUGMENT:
            if self.ops[index][0] == op.CONST:
                self.written(base, key, self.augmented(given), at)
            return
        if isinstance(value, (Param, Ref)):
            self.keep(of, base, key, value, at)
        if self.keys and base is not None and isinstance(key, Const):
            self.steps.append(Branch("rebind", member(base, f"[{key.value}]"), ()))
        if base is not None and base == self.rest():
            base = Mapping((), (), open=True)
        if is_table(base) and self.ops[of][0] == op.LOAD:
            changed = {key.value: value} if isinstance(key, Const) and isinstance(key.value, str) else None
            self.scope.change(self.ops[of][1], updated(base, changed))
        if isinstance(value, Result) and tail_of(value.of) in (OPERATED, SCALED):
            value = self.expression(given)
        self.written(base, key, value, at)

    def augmented(self, at: int) -> Value | None:
        """How `a += b` is written, as what it gives: `a + b`."""
        return self.expression(at)

    def written(self, base: Value | None, key: Value | None, value: Value | None, at: int) -> None:
        """`os.environ[key] = value`; of a value that is put together, how it is written is what the rule engine looks at."""
        if (
            isinstance(base, Ref)
            and base.name == "os.environ"
            and isinstance(key, Const)
            and isinstance(key.value, str)
        ):
            self.environment([(key.value, value)], at)

    @of(op.SET_ATTR)
    def _set_attribute(self, at: int, operation: Op) -> None:
        _, of, row, given = operation
        if self.ops[given][0] != op.AUGMENT:
            value = self.assigned(given)
            if self.ops[given][0] not in (op.FOR, op.PART):
                value = self.told_by_annotation(at, value)
            self.set_attribute(self.made[of], self.strings[row], value, at)

    def set_attribute(self, base: Value | None, attr: str, value: Value | None, at: int) -> None:
        """`self.name = value`, or an attribute of an import, or of anything else."""
        if base is None:
            return
        if self.keys:
            self.steps.append(Branch("rebind", member(base, attr), ()))
        if isinstance(base, Result) and isinstance(base.of, Ref) and isinstance(value, Ref):
            made = self.classes.get(base.of.name.removeprefix(self.prefix))
            if made is not None:
                made.attribute(attr, value)  # `net = Net(); net.step = step`
        if isinstance(base, Instance) and base.of.startswith(self.prefix):
            owner = self.classes.get(base.of.removeprefix(self.prefix))
            if owner is not None:
                owner.attribute(attr, value)
                if attr in owner.properties:
                    self.site("write", Member(base, attr), (Arg("", value),), at)
        elif isinstance(base, Ref) and (attr in self.words or base.name.rpartition(".")[2] in self.words):
            self.site("assignment", Ref(f"{base.name}.{attr}"), (Arg("value", value),), at)
        elif isinstance(base, (Param, Result, Member)) and "seed" in attr.lower():
            self.site("write", Member(base, attr), (Arg("", value),), at)
            if isinstance(base, Result) and attr in self.words:
                self.site("assignment", Member(base, attr), (Arg("value", value),), at)
        elif isinstance(base, Result) and attr in self.words:
            self.site("assignment", Member(base, attr), (Arg("value", value),), at)
        elif self.may_run(base, attr) or (isinstance(base, Result) and tail_of(base.of) in PARSES):
            self.site("write", Member(base, attr), (Arg("", value),), at)

    @of_call("builtins.setattr")
    def _setattr(self, at: int, args: list[Arg]) -> None:
        if len(args) == 3 and isinstance(args[1].value, Const) and isinstance(args[1].value.value, str):
            base, attr = args[0].value, args[1].value.value
            if isinstance(base, (Instance, Ref, Result)):
                self.set_attribute(base, attr, args[2].value, at)

    @of(op.DELETE)
    def _delete(self, at: int, operation: Op) -> None:
        self.scope.bind(operation[1], None)

    @of(op.DELETE_ITEM)
    def _delete_item(self, at: int, operation: Op) -> None:
        held, key = self.made[operation[1]], self.made[operation[2]]
        if self.ops[operation[1]][0] == op.LOAD and held is not None and is_table(held):
            self.scope.change(self.ops[operation[1]][1], without(held, key.value if isinstance(key, Const) else None))
