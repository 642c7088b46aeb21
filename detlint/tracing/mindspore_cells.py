"""Cells of MindSpore's: the path of the one whose `construct` runs, and a row for each where whole Cells are traced."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindspore import context, nn
from mindspore.common.api import _pynative_executor

from detlint.tracing.mindspore_backward import follow_gradient
from detlint.tracing.mindspore_tracer import MindSporeTracer


class Cells:
    """Follows calls of Cells, whichever they are.

    A Cell that is called while none runs is a root: the Cells below it get their paths from it. The paths that an earlier
    root gave stay.
    """

    def __init__(
        self, tracer: MindSporeTracer, stepped: Callable[[Any], None], compiled: Callable[[str], None], whole: bool
    ) -> None:
        """
        Args:
            stepped: told which optimizer has stepped.
            compiled: told the name of what runs as a graph.
            whole: whether Cells get rows.
        """
        self._tracer = tracer
        self._stepped = stepped
        self._compiled = compiled
        self._whole = whole
        self._names: dict[int, tuple[str, Any]] = {}
        """By their ids, their names, and themselves, so that no other gets their id."""
        self._depth = 0
        self._hooks: list[Any] = []

    def call(self, own: Callable[..., Any], cell: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a Cell."""
        tracer = self._tracer
        if not self._depth:
            self._root(cell)
        before, tracer.path = tracer.path, self._name(cell)
        self._depth += 1
        try:
            rows = self._whole and tracer.recording
            result = self._as_row(own, cell, args, kwargs) if rows else own(cell, *args, **kwargs)
        finally:
            self._depth -= 1
            tracer.path = before
        if _steps(cell):
            self._stepped(cell)
        return result

    def graph(self, own: Callable[..., Any], function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call what `jit` has compiled."""
        tracer = self._tracer
        if not tracer.recording:
            return own(function, *args, **kwargs)
        inner = getattr(function, "fn", None)
        name = str(getattr(inner, "__qualname__", "a function"))
        if str(getattr(inner, "__module__", "")).startswith("mindspore.") and not name.endswith("after_grad"):
            return own(function, *args, **kwargs)  # of an optimizer, which has a row of its own
        self._compiled(f"`{name}`")
        row = tracer.begin(f"graph {name}", tracer.tensors((*args, *kwargs.values())))
        result = own(function, *args, **kwargs)
        tracer.finish(row, tracer.tensors((result,)))
        return result

    def gradients(self, own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Compute gradients; the hooks that wait for them are taken away."""
        try:
            return own(*args, **kwargs)
        finally:
            self.forget()

    def forget(self) -> None:
        """Take all hooks away."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _as_row(self, own: Callable[..., Any], cell: Any, args: Any, kwargs: Any) -> Any:
        tracer = self._tracer
        name = f"{type(cell).__name__} {tracer.path}"
        if _runs_as_graph():
            self._compiled(f"`{type(cell).__name__}`")
        inputs = [*tracer.tensors((*args, *kwargs.values()))]
        row = tracer.begin(name, inputs)
        result = own(cell, *args, **kwargs)
        outputs = [*tracer.tensors((result,))]
        changed = [*cell.get_parameters()] if _steps(cell) or _runs_as_graph() else []
        number = tracer.finish(row, (*outputs, *changed))
        if _pynative_executor.requires_grad():
            passed = _Passed(tracer, name, number, row.module)
            own_parameters = [parameter for _, parameter in cell.parameters_and_names(expand=False)]
            self._hooks.extend(passed.follow(outputs, (*inputs, *own_parameters)))
        return result

    def _root(self, cell: Any) -> None:
        tracer = self._tracer
        for parameter in cell.get_parameters():
            key = tracer.key(parameter)
            if key is not None:
                tracer.names[key] = parameter.name
            if not self._whole:
                tracer.backward.follow_parameter(parameter)

    def _name(self, cell: Any) -> str:
        """The path of a Cell; its class's name where it is a root."""
        known = self._names.get(id(cell))
        if known is None:
            root = type(cell).__name__
            for path, inner in cell.cells_and_names():
                self._names.setdefault(id(inner), (path or root, inner))
            known = self._names.setdefault(id(cell), (root, cell))
        return known[0]


class _Passed:
    """The backward pass of one call of a Cell: what comes to its results, and what goes from it to what it was given."""

    def __init__(self, tracer: MindSporeTracer, name: str, forward: int, module: int) -> None:
        self._tracer = tracer
        self._name = name
        self._forward = forward
        self._module = module
        self._received: list[Any] = []

    def follow(self, results: Iterable[Any], given: Iterable[Any]) -> Iterator[Any]:
        """Have a row written for each gradient that it passes on; the hooks."""
        waiting = [(tensor, self._received.append) for tensor in results]
        waiting += [(tensor, self._passed) for tensor in given]
        hooks = (follow_gradient(tensor, action) for tensor, action in waiting)
        return (hook for hook in hooks if hook is not None)

    def _passed(self, gradient: Any) -> None:
        tracer = self._tracer
        if tracer.recording and self._received:
            row = tracer.begin(self._name, self._received)
            row.node, row.forward, row.module = tracer.text("backward"), self._forward, self._module
            tracer.finish(row, (gradient,))


def _steps(cell: Any) -> bool:
    """Whether calling a Cell is a step of an optimizer: there are two families of them."""
    return isinstance(cell, nn.Optimizer) or any(
        kind.__name__ == "Optimizer" and kind.__module__.startswith("mindspore.experimental.")
        for kind in type(cell).__mro__
    )


def _runs_as_graph() -> bool:
    return bool(context.get_context("mode") == context.GRAPH_MODE and os.environ.get("MS_JIT") != "0")
