"""Functions and classes: their parameters, decorators and names."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.ir import ops as op
from detlint.ir.code import Function as Lowered
from detlint.ir.records import ASYNC, EITHER, GENERATOR, KIND, LAMBDA, OTHERS, REST
from detlint.ir.records import Parameter as Given
from detlint.ir.uses import Op
from detlint.model.sets import KINDS
from detlint.model.sites.reading.blocks import Blocks
from detlint.model.sites.reading.class_body import ClassBody
from detlint.model.sites.reading.handlers import of
from detlint.model.sites.reading.words import name_may_seed
from detlint.model.sites.records import (
    NOTED,
    Arg,
    Branch,
    Const,
    Detail,
    Function,
    Instance,
    Member,
    Option,
    Param,
    Parameter,
    Ref,
    Result,
    Span,
    Value,
)
from detlint.model.sites.scope import Scope


class Definitions(Blocks):
    """Reads definitions."""

    @of(op.FUNCTION)
    def _function(self, at: int, operation: Op) -> Value | None:
        function = self.code.function(operation[1])
        if function.header.kind & KIND == LAMBDA:
            return self.anonymous(function)
        name = self.inside(function.name)
        given = operation[3:]
        options = dict[str, Option]()
        for decorator in given:
            if self.ops[decorator][0] == op.CALL:
                options |= self.click_option(decorator)
            self.registered(decorator, self.prefix + name)
        decorators = tuple([self.made[decorator] for decorator in given])
        self.define(function, name, decorators, options, self.scope.owner if self.scope.kind == "class" else "")
        for decorator, value in zip(given, decorators, strict=True):
            if value is not None:
                self.decorate(decorator, value, Ref(self.prefix + name))
        opaque = any(name_of(decorator).startswith("?") for decorator in decorators)
        return Ref(self.prefix + name) if not opaque else None

    def decorate(self, decorator: int, value: Value, function: Ref) -> None:
        """Call a decorator of a library that does something with its function; one that runs it in a script alone as a `__main__` block."""
        made = value.base if type(value) is Member else None  # a method of an object: `@experiment.automain`
        of = made.of if type(made) is Result else None
        known = f"{of.name}.{value.attr}" if type(value) is Member and type(of) is Ref else name_of(value)
        name = self.catalog.canonical(known) if type(value) is not Result else ""
        starts = name in self.catalog.with_context("runs-in-script")
        if starts or name in self.catalog.keeping:
            self.site("call", value, (Arg("", function),), decorator)
        if starts:
            self.steps.append(Branch("main", None, ((self.steps.pop(),), ()), self.span(decorator)))

    def anonymous(self, function: Lowered) -> Value:
        """A lambda, counted in what stands around it: lines that move give it no other name."""
        around = self.around()
        number = self.lambdas[around] = self.lambdas.get(around, 0) + 1
        name = self.inside(f"<lambda:{number}>")
        self.define(function, name, (), {}, "")  # in a class body it is no method
        return Ref(self.prefix + name)

    def click_option(self, at: int) -> dict[str, Option]:
        """The parameter that `@click.option("--seed", default=0)` fills."""
        name = name_of(self.made[at])
        if not name.startswith(("click.", "rich_click.", "asyncclick.")) or not name.endswith((".option", ".argument")):
            return {}
        call = self.scope.function.call(at)
        texts = [text for given in call.positional if isinstance(text := self.constant_of(given), str)]
        if not texts:
            return {}
        plain = [text for text in texts if not text.startswith("-")]
        long = next((text for text in texts if text.startswith("--")), texts[0])
        if "default" in call.named:
            default = self.valued(call.named["default"])
        else:
            flag = self.code_of(call.named.get("is_flag", -1)) == op.CONST or "/" in long
            default = Const(False) if flag else Const(None) if "required" not in call.named else None
        parameter = plain[0] if plain else long.partition("/")[0].lstrip("-").replace("-", "_")
        return {parameter: Option(default, self.span(at))}

    def inside(self, name: str) -> str:
        """The name of a definition inside the module, dotted."""
        around = self.around()
        if self.cells and self.scope.kind == "module":
            # Cells define names anew as they go, and what is called in between means the earlier ones.
            count = self.defined[name] = self.defined.get(name, 0) + 1
            return f"{name}@{count}" if count > 1 else name
        return f"{around}.{name}" if around else name

    def around(self) -> str:
        """The name of the class or function that stands around here; empty for the module."""
        if self.scope.kind == "class":
            return self.scope.owner
        return self.functions[self.scope.number].name if self.scope.kind == "function" else ""

    def define(
        self,
        function: Lowered,
        name: str,
        decorators: tuple[Value | None, ...],
        options: dict[str, Option],
        owner: str,
    ) -> None:
        """Queue a function's body to be read after the block around it.

        Args:
            owner: the class whose method it is; "" for none.
        """
        names = [*map(name_of, decorators)]
        if owner:
            name = self.classes[owner].define(name, names)
        index = len(self.functions)
        scope = Scope("function", function, self.scope, index, self.scope.owner)
        parameters = self.parameters(function, scope)
        if owner and parameters and function.header.parameters[0].kind <= EITHER:
            self.receive(scope, owner, names)
        self.waiting.append(scope)
        self.functions.append(Function(name, owner, None, index))
        self.details.append(Detail(parameters, decorators, options))
        self.flow.append(())

    def receive(self, scope: Scope, owner: str, decorators: Sequence[str]) -> None:
        """Say what the first parameter of a method is."""
        if "builtins.staticmethod" not in decorators:
            own = Ref(self.prefix + owner)
            scope.slots[0] = own if "builtins.classmethod" in decorators else self.classes[owner].instance

    def parameters(self, function: Lowered, scope: Scope) -> tuple[Parameter, ...]:
        """The parameters of a function or method; what they are in it is noted in its scope."""
        given = function.header.parameters
        return tuple([self.parameter(function, slot, one, scope) for slot, one in enumerate(given)])

    def parameter(self, function: Lowered, slot: int, given: Given, scope: Scope) -> Parameter:
        """A parameter; what it is in the function is noted in its scope."""
        name = function.text(slot)
        kind = "*" if given.kind == REST else "**" if given.kind == OTHERS else ""
        annotation = self.annotation(given.annotation)
        value = span = None
        if given.default >= 0:
            value = self.valued(given.default)
            self.leave_out(given.default)
            if name_may_seed(name):
                span = Span(*function.span_of_parameter(slot))
        if annotation and not kind and (annotation in KINDS or not annotation.startswith("builtins.")):
            scope.slots[slot] = Instance(annotation, "" if annotation in KINDS else name)
        else:
            scope.slots[slot] = Param(name, value)
        return Parameter(name, value, annotation, kind, span, given.default < 0 and not kind)

    def leave_out(self, default: int) -> None:
        """Leave out the steps that say what is to be built: where that is a parameter's default, nothing builds it there."""
        if self.ops[default][0] not in (op.CALL, op.DICT):
            return
        inside = {(self.scope.function.number, part) for part in self.scope.function.within(default)}
        self.steps[:] = [
            step
            for step in self.steps
            if type(step) is not int
            or step < 0
            or self.sites[step].kind not in ("config", "registry")
            or self.places[step] not in inside
        ]

    @of(op.CLASS)
    def _class(self, at: int, operation: Op) -> Value | None:
        function = self.code.function(operation[1])
        name = self.inside(function.name)
        given = self.scope.function.call(at)
        made = [self.made[decorator] for decorator in operation[3 : 3 + operation[2]]]
        for decorator in operation[3 : 3 + operation[2]]:
            self.registered(decorator, self.prefix + name)
        for word, value in (*given.named.items(), *(("metaclass", value) for value in given.unpacked)):
            if word == "metaclass" and self.made[value] != Ref("abc.ABCMeta"):
                made.append(self.made[value])
        bases = tuple([self.made[base] for base in given.positional])
        body = self.classes[name] = ClassBody(name, bases, tuple(made), Instance(self.prefix + name))
        scope, within = Scope("class", function, self.scope, self.scope.number, name), self.within
        self.run_inside(scope)
        self.within = within
        for attribute, kept in scope.bound().items():
            if attribute not in body.methods:
                body.attribute(attribute, kept)
        for base in bases:
            if type(base) is Ref:
                self.read(base, NOTED, base, NOTED)
        return Ref(self.prefix + name)


def name_of(decorator: Value | None) -> str:
    """The name of a decorator, called or not."""
    value = decorator.of if isinstance(decorator, Result) else decorator
    return value.name if isinstance(value, Ref) else ""


def is_deferred(function: Lowered) -> bool:
    """Whether calling a function runs nothing yet: a generator function, or a coroutine."""
    return bool(function.header.kind & (ASYNC | GENERATOR))
