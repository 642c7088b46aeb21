"""Functions and classes: their parameters, decorators and names."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from detlint.facts.model import (
    Const,
    Detail,
    Function,
    Instance,
    Option,
    Param,
    Parameter,
    Ref,
    Result,
    Step,
    Value,
)
from detlint.facts.reading.blocks import Blocks
from detlint.facts.reading.class_body import ClassBody
from detlint.facts.reading.handlers import of_expression, of_statement
from detlint.facts.reading.values import span_of
from detlint.facts.reading.words import name_may_seed
from detlint.facts.scope import Scope
from detlint.facts.sets import KINDS


class Definitions(Blocks):
    """Reads definitions."""

    __slots__ = ()

    @of_statement(ast.FunctionDef, ast.AsyncFunctionDef)
    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        name = self.inside(node.name)
        decorators, options = [], dict[str, Option]()
        for decorator in node.decorator_list:
            decorators.append(self.expression(decorator))
            if isinstance(decorator, ast.Call):
                options |= self.click_option(decorator, decorators[-1])
            self.registered(decorator, self.prefix + name)
        self.define(node, name, tuple(decorators), options)
        opaque = any(name_of(decorator).startswith("?") for decorator in decorators)
        self.scope.bind(node.name, Ref(self.prefix + name) if not opaque else None)

    def click_option(self, node: ast.Call, made: Value | None) -> dict[str, Option]:
        """The parameter that `@click.option("--seed", default=0)` fills."""
        name = name_of(made)
        if not name.startswith(("click.", "rich_click.", "asyncclick.")) or not name.endswith((".option", ".argument")):
            return {}
        texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if not texts:
            return {}
        plain = [text for text in texts if not text.startswith("-")]
        long = next((text for text in texts if text.startswith("--")), texts[0])
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if "default" in given:
            default = self.value(given["default"])
        else:
            flag = isinstance(given.get("is_flag"), ast.Constant) or "/" in long
            default = Const(False) if flag else Const(None) if "required" not in given else None
        parameter = plain[0] if plain else long.partition("/")[0].lstrip("-").replace("-", "_")
        return {parameter: Option(default, span_of(node))}

    def inside(self, name: str) -> str:
        """The name of a definition inside the module, dotted."""
        around = self.around()
        if self.in_cells and self.scope.kind == "module":
            # Cells define names anew as they go, and what is called in between means the earlier ones.
            count = self.defined[name] = self.defined.get(name, 0) + 1
            return f"{name}@{count}" if count > 1 else name
        return f"{around}.{name}" if around else name

    def around(self) -> str:
        """The name of the class or function that stands around here; empty for the module."""
        if self.scope.kind == "class":
            return self.scope.owner
        return self.functions[self.scope.function].name if self.scope.kind == "function" else ""

    def define(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        name: str,
        decorators: tuple[Value | None, ...],
        options: dict[str, Option] | None = None,
    ) -> int:
        """Queue a function's body to be read after the block around it; its position in `functions`."""
        owner = self.scope.owner if self.scope.kind == "class" else ""
        names = [name_of(decorator) for decorator in decorators] if decorators else []
        if owner:
            name = self.classes[owner].define(name, names)
        scope = Scope("function", self.scope, 0, owner or self.scope.owner)
        parameters = self.parameters(node.args, owner, names, scope.names)
        # Only now: a default may be a lambda, which is numbered first.
        index = scope.function = len(self.functions)
        self.waiting.append((node, scope, index))
        self.functions.append(Function(name, owner, None, index))
        self.details.append(Detail(parameters, decorators, options or {}))
        self.flow.append(())
        return index

    def parameters(
        self, arguments: ast.arguments, owner: str, decorators: Sequence[str], bound: dict[str, Value | None]
    ) -> tuple[Parameter, ...]:
        """The parameters of a function or method; what their names mean in it is noted in `bound`."""
        positional, defaults = arguments.args, arguments.defaults
        if arguments.posonlyargs:
            positional = [*arguments.posonlyargs, *positional]
        required = len(positional) - len(defaults)
        parameters = [
            self.parameter(argument, defaults[i - required] if i >= required else None, "", bound)
            for i, argument in enumerate(positional)
        ]
        if owner and positional and "builtins.staticmethod" not in decorators:
            own = self.prefix + owner
            bound[positional[0].arg] = (
                Ref(own) if "builtins.classmethod" in decorators else self.classes[owner].instance
            )
        if arguments.vararg:
            parameters.append(self.parameter(arguments.vararg, None, "*", bound))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            parameters.append(self.parameter(argument, default, "", bound))
        if arguments.kwarg:
            parameters.append(self.parameter(arguments.kwarg, None, "**", bound))
        return tuple(parameters)

    def parameter(
        self, argument: ast.arg, default: ast.expr | None, kind: str, bound: dict[str, Value | None]
    ) -> Parameter:
        """A parameter; what its name means in the function is noted in `bound`."""
        name = argument.arg
        annotated = argument.annotation
        annotation = self.annotated(annotated) if annotated is not None else ""
        value = span = None
        if default is not None:
            before = len(self.steps)
            value = self.value(default)
            if len(self.steps) > before and type(default) in (ast.Call, ast.Dict):
                self.steps[before:] = [s for s in self.steps[before:] if not self.describes(s)]
            if name_may_seed(name):
                span = span_of(argument)
        if annotation and not kind and (annotation in KINDS or not annotation.startswith("builtins.")):
            bound[name] = Instance(annotation, "" if annotation in KINDS else name)
        else:
            bound[name] = Param(name, value)
        return Parameter(name, value, annotation, kind, span, default is None and not kind)

    def describes(self, step: Step) -> bool:
        """Whether a step says what is to be built; where that is a parameter's default, nothing builds it there."""
        return type(step) is int and step >= 0 and self.sites[step].kind in ("config", "registry")

    @of_statement(ast.ClassDef)
    def _class(self, node: ast.ClassDef) -> None:
        name = self.inside(node.name)
        decorators = tuple(self.expression(decorator) for decorator in node.decorator_list)
        for decorator in node.decorator_list:
            self.registered(decorator, self.prefix + name)
        bases = tuple(self.expression(base) for base in node.bases)
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            if keyword.arg in ("metaclass", None) and value != Ref("abc.ABCMeta"):
                decorators = (*decorators, value)
        body = self.classes[name] = ClassBody(name, bases, decorators, Instance(self.prefix + name))
        outer, within = self.scope, self.within
        outer.bind(node.name, Ref(f"{self.module}.{name}"))
        self.scope = Scope("class", outer, outer.function, name)
        self.block(node.body)
        for attribute, value in self.scope.names.items():
            if attribute not in body.methods:
                body.attribute(attribute, value)
        for statement in node.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
                if type(target) is ast.Name and name_may_seed(target.id):
                    body.places[target.id] = span_of(statement)
        self.scope, self.within = outer, within

    @of_expression(ast.Lambda)
    def _lambda(self, node: ast.Lambda) -> Value | None:
        self.use = ""
        scope = self.scope
        # Counted in what stands around it: lines that move give it no other name.
        siblings = self.lambdas.setdefault(self.around(), {})
        number = siblings.setdefault((node.lineno, node.col_offset), len(siblings) + 1)
        name = self.inside(f"<lambda:{number}>")
        if scope.kind == "class":
            # A lambda in a class body is no method; what it binds stays unknown.
            scope = self.scope
            self.scope = Scope("function", scope, scope.function, scope.owner)
            self.define(node, name, ())
            self.scope = scope
        else:
            self.define(node, name, ())
        return Ref(f"{self.module}.{name}")


def name_of(decorator: Value | None) -> str:
    """The name of a decorator, called or not."""
    value = decorator.of if isinstance(decorator, Result) else decorator
    return value.name if isinstance(value, Ref) else ""
