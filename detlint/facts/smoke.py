"""Smoke tests: `__main__` blocks, and functions that say it, which run something on made-up inputs and show no more than the shape
of what comes out."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from detlint.facts.loops import dotted
from detlint.facts.nodes import walk

SHAPES: Final = frozenset({"device", "dtype", "len", "ndim", "numel", "shape", "size", "type"})
_COUNTS: Final = frozenset({"flops"})
"""Methods of networks that count what they compute, which their weights don't change."""
_SHOWS: Final = frozenset({"print", "pprint"})
_DISPLAYS: Final = "show"
"""The method by which a picture is put on the screen: `Image.show`."""
_PICTURES: Final = frozenset({
    "axis", "destroyAllWindows", "figure", "imshow", "plot", "show", "subplot", "tight_layout", "title", "waitKey",
})  # fmt: skip
"""Calls that make a picture, and put it there."""
_LOOKS_UP: Final = frozenset({"get", "getenv"})
_STOPS: Final = frozenset({"breakpoint", "set_trace"})
"""Debuggers: whoever left them there looked at it himself."""
_PUTS_TOGETHER: Final = frozenset({"format", "list", "str", "sum", "tuple"})
_MODES: Final = frozenset({"cuda", "eval", "float", "half", "npu", "requires_grad_", "train"})
"""Methods that put a network into a mode, or on a device."""
_FORWARD: Final = "forward"
"""How the names of methods begin that only run a network."""
_MAKES_UP: Final = frozenset({"normal", "ones", "rand", "randint", "randn", "random", "uniform", "zeros"})
"""What makes up the numbers that a network is tried with."""
_BACKWARD: Final = "backward"
_ASKS: Final = frozenset({"callable", "hasattr", "isinstance", "issubclass"})
_FILLS: Final = frozenset({
    "init_parameters", "init_weights", "initialize_weights", "reset_parameters", "set_data", "weight_init", "weights_init",
})  # fmt: skip
"""Methods of networks, and of their weights, that give weights their first values."""
_SETS_UP: Final = frozenset({"manual_seed", "seed", "set_context", "set_device", "set_seed", "set_train"})

_BINDS: Final = (ast.AnnAssign, ast.AugAssign, ast.For, ast.NamedExpr, ast.comprehension)
_LITERAL: Final = (ast.BinOp, ast.Constant, ast.Dict, ast.List, ast.Set, ast.Tuple, ast.UnaryOp)
_WHOLES: Final = (ast.BinOp, ast.BoolOp, ast.GeneratorExp, ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)

TRIES: Final = "test"
"""How the names of functions begin that only try something out."""
_RUNNER: Final = "pytest.mark."
"""How the decorators begin by which a test runner knows what to hand a function."""


def is_trial(node: ast.FunctionDef | ast.AsyncFunctionDef, decorators: Sequence[str]) -> bool:
    """Whether a function is a smoke test: it is handed nothing, but by a test runner, and gives back and keeps nothing.

    Args:
        decorators: their names, whatever the file calls them.
    """
    runner = [decorator.startswith(_RUNNER) for decorator in decorators]
    handed = (node.args.args or node.args.kwonlyargs) and not runner
    if not node.name.startswith(TRIES) or handed or not all(runner):
        return False
    return only_shows_shapes(node.body) and not any(map(_keeps, walk(node)))


def asks_for_tests(test: ast.expr, testing: Collection[str]) -> bool:
    """Whether a test of an `if` only holds while tests run: `"PYTEST_CURRENT_TEST" in os.environ`, or `os.getenv` of it.

    Args:
        testing: environment variables, and modules, that are only there then.
    """
    if isinstance(test, ast.BoolOp):
        asked = (asks_for_tests(part, testing) for part in test.values)
        return any(asked) if isinstance(test.op, ast.And) else all(asked)
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.In) and _is_one_of(test.left, testing)
    return (
        isinstance(test, ast.Call)
        and _last(test) in _LOOKS_UP
        and any(_is_one_of(arg, testing) for arg in test.args[:1])
    )


def _is_one_of(node: ast.expr, words: Collection[str]) -> bool:
    return isinstance(node, ast.Constant) and node.value in words


def _keeps(node: ast.AST) -> bool:
    """Whether a node of a function gives something to who comes after it."""
    if isinstance(node, ast.Return):
        return node.value is not None
    kept = isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
    return kept or isinstance(node, (ast.Global, ast.Nonlocal))


def only_shows_shapes(body: Sequence[ast.stmt], layers: Collection[str] = ()) -> bool:
    """Whether all that a block does with what it makes is to show its shape or type, or a picture, or to run a network on it in the
    end.

    It does something else if it calls anything whose result it drops: to save, to plot, to train. A pass back through the network
    isn't training yet.

    Args:
        layers: what makes objects which, printed, show the layers that they are made of.
    """
    networks, written, tried = _networks(body, layers), _written(body), _tried(body)
    shown = bool(body) and (_runs(body[-1], networks) or _value(body[-1]) in tried)
    for node in (node for statement in body for node in walk(statement)):
        if isinstance(node, (ast.Yield, ast.Await)) or (isinstance(node, ast.Assert) and not _is_shape(node.test)):
            return False
        shown = shown or isinstance(node, ast.Assert)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            last = _last(call)
            if last in _SHOWS:
                if not all(
                    _is_shape(given, written) or (isinstance(given, ast.Name) and given.id in networks)
                    for given in call.args
                ):
                    return False
                shown = shown or any(not isinstance(given, ast.Constant) for given in call.args)
            elif last in _STOPS or (last == _DISPLAYS and not call.args):
                shown = True
            elif dotted(call.func) in layers:
                shown = True  # it is built, and that is all
            elif last == _BACKWARD or call in tried or (isinstance(call.func, ast.Name) and call.func.id in networks):
                continue
            elif last not in _SETS_UP and not (last in _MODES and not call.args) and not _fills(call):
                return False
    return shown


def _fills(call: ast.Call) -> bool:
    """Whether a call gives weights their first values: `net.apply(init_weights)`, `nn.init.zeros_(net.bias)`."""
    of = dotted(call.func).split(".")
    handed = [dotted(given).rpartition(".")[2] for given in call.args] if of[-1] == "apply" else of[-1:]
    return "init" in of[:-1] or (len(handed) == 1 and handed[0].strip("_") in _FILLS)


def makers(functions: Mapping[str, ast.FunctionDef], layers: Collection[str]) -> set[str]:
    """The functions, of some by their names, that only make one of some layers and give it back: `model = Net(); return model`.

    Args:
        layers: their classes.
    """
    found = set[str]()
    while new := {
        name for name, node in functions.items() if name not in found and _only_makes(node, {*layers, *found})
    }:
        found |= new
    return found


def _only_makes(function: ast.FunctionDef, layers: Collection[str]) -> bool:
    """Whether all that a function does with what some classes and functions make is to give it back."""
    nodes = [node for statement in function.body for node in walk(statement)]
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    returned = [node.value for node in statements if isinstance(node, ast.Return)]
    if not returned or function.decorator_list or not all(map(_only_binds, statements)):
        return False
    made = {target.id: value for target, value in map(_binding, statements) if isinstance(target, ast.Name)}
    said = [node.id for node in nodes if isinstance(node, ast.Name)]
    for value in returned:
        if isinstance(value, ast.Name) and said.count(value.id) == 2:
            value = made.get(value.id)
        if not isinstance(value, ast.Call) or dotted(value.func) not in layers:
            return False
    return True


def _only_binds(statement: ast.stmt) -> bool:
    """Whether a statement only binds names, gives something back, or chooses between such statements."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, (ast.Assign, ast.AnnAssign, ast.If, ast.Pass, ast.Return))


def _binding(statement: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """What a statement binds alone, and to what; None for another."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0], statement.value
    return (statement.target, statement.value) if isinstance(statement, ast.AnnAssign) else (None, None)


def only_prints(body: Sequence[ast.stmt]) -> bool:
    """Whether the only calls of a block whose results it drops are those that print, and some do."""
    dropped = _dropped(body)
    return not dropped.isdisjoint(_SHOWS) and dropped <= _SHOWS | _SETS_UP | _MODES


def only_looks(body: Sequence[ast.stmt]) -> bool:
    """Whether the only calls of a block whose results it drops, if any, are those that print, or show pictures."""
    return _dropped(body) <= _SHOWS | _PICTURES | _SETS_UP | _MODES


def _dropped(body: Sequence[ast.stmt]) -> set[str]:
    """The last components of the calls of a block whose results it drops."""
    nodes = (node for statement in body for node in walk(statement))
    return {_last(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)}


def _networks(body: Sequence[ast.stmt], layers: Collection[str]) -> set[str]:
    """The names of what is built, by a class, and called, or by what is known to make a layer: printed, a network shows its
    layers."""
    nodes = [node for statement in body for node in walk(statement)]
    built = [
        (target.id, node.value)
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and (_last(node.value)[:1].isupper() or dotted(node.value.func) in layers)
    ]
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    given = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return {name for name, by in built if name in called or (dotted(by.func) in layers and given.count(name) == 1)}


def _runs(statement: ast.stmt, networks: set[str]) -> bool:
    """Whether a statement only builds something, or runs one of some networks and keeps what comes out under a name."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(call, ast.Call) or not all(isinstance(target, ast.Name) for target in statement.targets):  # type: ignore[attr-defined]
        return False
    if [target.id for target in statement.targets] == ["_"] and _last(call)[:1].isupper():  # type: ignore[attr-defined]
        return True  # `_ = Net()`: it is built, and that is all
    if isinstance(call.func, ast.Attribute):  # `features = net.forward_features(x)`
        return isinstance(call.func.value, ast.Name) and call.func.attr.startswith(_FORWARD)
    return isinstance(call.func, ast.Name) and call.func.id in networks


def _tried(body: Sequence[ast.stmt]) -> set[ast.expr]:
    """The calls, each all that a statement keeps, of what some call has made, with made-up numbers alone: `net = get_net();
    x = torch.rand(8); y = net(x)`. Of those that are statements, it is written how many numbers."""
    made = {
        target.id: statement.value
        for statement in body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    found = set[ast.expr]()
    for statement in body:
        call = _value(statement)
        if isinstance(call, ast.Call) and call.args and not call.keywords and dotted(call.func) in made:
            given = [made.get(argument.id) if isinstance(argument, ast.Name) else None for argument in call.args]
            made_up = [maker for maker in given if maker is not None and _last(maker) in _MAKES_UP]
            if len(made_up) == len(given) and (isinstance(statement, ast.Assign) or all(map(_is_written, made_up))):
                found.add(call)
    return found


def _is_written(maker: ast.Call) -> bool:
    """Whether all that a call is handed is written out."""
    given = [*maker.args, *(keyword.value for keyword in maker.keywords if keyword.arg != "dtype")]
    return all(isinstance(part, _LITERAL) for value in given for part in walk(value))


def _value(statement: ast.stmt) -> ast.expr | None:
    """What a statement keeps, or what it is."""
    return statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None


def _written(body: Sequence[ast.stmt]) -> set[str]:
    """The names that only hold what is written in a block: `for size in (32, 64)`."""
    nodes = [node for statement in body for node in walk(statement)]
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    bound: dict[str, list[ast.expr]] = {}
    for node in nodes:
        bindings = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, _BINDS) else []
        value = node.iter if isinstance(node, (ast.For, ast.comprehension)) else getattr(node, "value", None)
        for target in (name for part in bindings for name in walk(part) if isinstance(name, ast.Name)):
            bound.setdefault(target.id, []).append(value or target)
    known: set[str] = set()
    for name, values in bound.items():  # in the order in which they are bound first
        parts = [part for value in values for part in walk(value)]
        literal = all(part.id in known if isinstance(part, ast.Name) else isinstance(part, _LITERAL) for part in parts)
        if literal and stored.count(name) == len(values):
            known.add(name)
    return known


def _is_shape(node: ast.expr, written: Collection[str] = ()) -> bool:
    """Whether what is shown says nothing of the numbers in a tensor.

    Args:
        written: names that only hold what is written in the block.
    """
    if isinstance(node, ast.Attribute):
        return node.attr in SHAPES
    if isinstance(node, ast.Name):
        return node.id in written
    if isinstance(node, ast.Call):
        last = _last(node)
        return last in SHAPES | _ASKS | _COUNTS or (
            last in _PUTS_TOGETHER and all(_is_shape(part, written) for part in node.args)
        )
    if isinstance(node, ast.Subscript):
        return _is_shape(node.value, written)
    if isinstance(node, ast.Compare):
        return _compares_shapes(node)
    if isinstance(node, _WHOLES):
        return all(_is_shape(part, written) for part in _parts(node))
    return isinstance(node, ast.Constant)


def _parts(node: ast.expr) -> Sequence[ast.expr]:
    """What an expression puts together."""
    if isinstance(node, ast.JoinedStr):
        return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return [node.elt]
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]


def _compares_shapes(node: ast.Compare) -> bool:
    """Whether a comparison says nothing of numbers: `x.shape == (size, 3)`, `x is not None`."""
    sides = (node.left, *node.comparators)
    if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
        return any(isinstance(side, ast.Constant) and side.value is None for side in sides)
    told = any(_is_shape(side) and not isinstance(side, ast.Constant) for side in sides)
    return told and all(_is_shape(side) or not any(isinstance(n, ast.Call) for n in walk(side)) for side in sides)


def _last(call: ast.Call) -> str:
    """The last component of what is called, also where that is a method of something made on the spot."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
