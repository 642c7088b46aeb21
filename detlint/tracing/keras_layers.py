"""Keras's layers under TensorFlow: the path of the one that is called, and a row for each where whole layers are traced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import tensorflow

from detlint.tracing.tensorflow_tracer import TensorFlowTracer
from detlint.tracing.wrapping import wrap


def follow_keras(
    stack: ExitStack, tracer: TensorFlowTracer, keras: ModuleType, stepped: Callable[[Iterable[Any]], None], whole: bool
) -> None:
    """Follow its layers, optimizers and seeds until the stack is closed.

    Args:
        stepped: told what an optimizer changes when it has stepped.
        whole: whether layers get rows.
    """
    if keras.backend.backend() != "tensorflow":
        return

    def calling(own: Callable[..., Any], layer: Any, *args: Any, **kwargs: Any) -> Any:
        before, tracer.path = tracer.path, str(getattr(layer, "path", "") or layer.name)
        try:
            if not whole or not tracer.recording:
                return own(layer, *args, **kwargs)
            row = tracer.begin(f"{type(layer).__name__} {tracer.path}", tracer.tensors((*args, *kwargs.values())))
            result = own(layer, *args, **kwargs)
            if outputs := [*tracer.tensors((result,))]:  # otherwise a graph is made
                tracer.finish(row, outputs)
            return result
        finally:
            tracer.path = before

    def applying(own: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        result = own(optimizer, *args, **kwargs)
        variables = [variable.value for variable in optimizer._trainable_variables]
        if tensorflow.executing_eagerly():
            stepped(variables)
        else:
            tracer.stepping(outermost(), lambda: stepped(variables))
        return result

    def seeding(own: Callable[[], int]) -> int:
        seed = own()
        if tracer.recording:
            tracer.seed("keras.random.SeedGenerator", (seed,))
        return seed

    def outermost() -> str:
        """The name of the function that is being compiled."""
        graph = tensorflow.compat.v1.get_default_graph()
        while getattr(graph.outer_graph, "outer_graph", None) is not None:
            graph = graph.outer_graph
        return str(graph.name)

    wrap(stack, keras.Layer, "__call__", calling)
    wrap(stack, keras.optimizers.Optimizer, "apply", applying)
    for name, module in [*sys.modules.items()]:
        if name.startswith("keras.src.") and "make_default_seed" in vars(module):
            wrap(stack, module, "make_default_seed", seeding)
