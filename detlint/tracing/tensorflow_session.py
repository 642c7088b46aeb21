"""Tracing TensorFlow.

At level `kernel`, TensorFlow tells of every operator that runs eagerly (its op callbacks), and functions that would be compiled
run eagerly. At level `module`, they stay compiled, and each is one call, as each layer of Keras's is that runs eagerly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import ModuleType
from typing import Any, Final

import numpy
import tensorflow
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, imperative_grad
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.framework import constant_op, op_callbacks

from detlint.runtime.imports import when_imported
from detlint.tracing.keras_layers import follow_keras
from detlint.tracing.records import NOTHING
from detlint.tracing.session import Session
from detlint.tracing.settings import Level
from detlint.tracing.tensorflow_tracer import TensorFlowTracer
from detlint.tracing.wrapping import wrap
from detlint.tracing.writer import Writer

_EAGER: Final = (
    "tf.function: while operators are traced, functions run eagerly; what TensorFlow makes of their graphs (fused, compiled by XLA, "
    "in another order) is not in the trace (`--level module` leaves them compiled, and sees each as one call)"
)
_COMPILED: Final = (
    "tf.function: what compiled functions were given and gave is in the trace, what happened in them isn't "
    "(`--level kernel` runs them eagerly)"
)
_NO_API: Final = "TensorFlow has no level `api`: operators were traced, as by level `kernel`"


class TensorFlowTrace(Session):
    """A trace of TensorFlow in this process."""

    framework = "tensorflow"
    digest = "xxh3/host-1"

    @property
    def level(self) -> Level:
        return "module" if self.settings.level == "module" else "kernel"

    def _begin(self, writer: Writer) -> TensorFlowTracer:
        whole = self.level == "module"
        tracer = TensorFlowTracer(writer, functions_only=whole)
        stack = self.stack
        op_callbacks.add_op_callback(tracer.called)
        stack.callback(op_callbacks.remove_op_callback, tracer.called)
        wrap(stack, polymorphic_function.Function, "__call__", self._told(_COMPILED if whole else _EAGER))
        wrap(stack, constant_op, "convert_to_eager_tensor", _brought(tracer))
        wrap(stack, imperative_grad, "imperative_grad", _backward(tracer))
        if not whole:
            wrap(stack, backprop.GradientTape, "gradient", _from_loss(tracer))
        self._gradients(tracer)
        if not whole:
            before = tensorflow.config.functions_run_eagerly()
            tensorflow.config.run_functions_eagerly(True)
            stack.callback(tensorflow.config.run_functions_eagerly, before)
        if self.settings.level == "api":
            self.note(_NO_API)

        def follow(keras: ModuleType) -> None:
            if self._tracer is tracer or self._tracer is None:
                follow_keras(stack, tracer, keras, partial(self._stepped, tracer), whole)

        when_imported("keras", follow)
        return tracer

    def _told(self, note: str) -> Callable[..., Any]:
        def calling(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self.note(note)
            return own(*args, **kwargs)

        return calling

    def _stepped(self, tracer: TensorFlowTracer, variables: Iterable[Any]) -> None:
        if tracer.recording and self.level == "kernel":
            tracer.aim("parameters", (variable.handle for variable in variables))
        self.step()

    def _gradients(self, tracer: TensorFlowTracer) -> None:
        """Have it told which operator's gradient is computed."""
        own = backprop._gradient_function

        def gradient(op: Any, attributes: Any, count: Any, inputs: Any, outputs: Any, *rest: Any) -> Any:
            before = tracer.node, tracer.forward
            tracer.node, tracer.forward = str(op), tracer.found(str(op), inputs, outputs)
            try:
                return own(op, attributes, count, inputs, outputs, *rest)
            finally:
                tracer.node, tracer.forward = before

        pywrap_tfe.TFE_Py_RegisterGradientFunction(gradient)
        self.stack.callback(pywrap_tfe.TFE_Py_RegisterGradientFunction, own)

    def _computing(self) -> dict[str, Any]:
        return {"versions": {"tensorflow": str(tensorflow.__version__)}}


def _backward(tracer: TensorFlowTracer) -> Callable[..., Any]:
    """What runs while gradients are computed, and is no operator's gradient by itself: custom gradients, sums."""

    def computing(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        before = tracer.node, tracer.forward
        tracer.node, tracer.forward = "gradient", NOTHING
        try:
            return own(*args, **kwargs)
        finally:
            tracer.node, tracer.forward = before

    return computing


def _from_loss(tracer: TensorFlowTracer) -> Callable[..., Any]:
    """Have a row written of what gradients are computed of."""

    def computing(own: Callable[..., Any], tape: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if tracer.recording:
            tracer.aim("loss", tracer.tensors((target,)))
        return own(tape, target, *args, **kwargs)

    return computing


def _brought(tracer: TensorFlowTracer) -> Callable[..., Any]:
    """Arrays that come from NumPy. Numbers are constants."""

    def converting(own: Callable[..., Any], value: Any, *args: Any, **kwargs: Any) -> Any:
        tensor = own(value, *args, **kwargs)
        if tracer.recording and isinstance(value, numpy.ndarray) and value.size > 1 and tracer.is_tensor(tensor):
            tracer.bring("tf.constant", (tensor,))
        return tensor

    return converting
