"""The losses of frameworks other than PyTorch, read where they hand them to Python."""

from __future__ import annotations

from functools import wraps
from types import ModuleType
from typing import Any

from detlint.tracing import losses
from detlint.tracing.losses import Recorder


def of_tensorflow(tensorflow: ModuleType) -> None:
    """Read what gradients are computed of; inside of a `tf.function` there is no value to read."""
    gradient = tensorflow.GradientTape.gradient

    @wraps(gradient)
    def reading(self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if tensorflow.executing_eagerly() and hasattr(target, "numpy"):
            _add(target, "GradientTape")
        return gradient(self, target, *args, **kwargs)

    tensorflow.GradientTape.gradient = reading


def of_keras(keras: ModuleType) -> None:
    """Read what `fit` tells its callbacks after each batch: the mean of the epoch so far."""
    if keras.backend.backend() == "torch":
        return  # it calls backward
    fit = keras.Model.fit

    class Reader(keras.callbacks.Callback):  # type: ignore[name-defined, misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if logs and "loss" in logs:
                _add(logs["loss"], "fit")

    @wraps(fit)
    def fitting(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = kwargs.get("callbacks")
        if len(args) < 6 and (given is None or isinstance(given, list | tuple)):
            kwargs["callbacks"] = [*(given or ()), Reader()]
        return fit(self, *args, **kwargs)

    keras.Model.fit = fitting


def _add(value: Any, source: str) -> None:
    """Write a loss; each is an iteration."""
    recorder: Recorder | None = losses.current
    if recorder is None:
        return
    array = value.asnumpy() if hasattr(value, "asnumpy") else value.numpy() if hasattr(value, "numpy") else value
    number = float(array.mean()) if hasattr(array, "mean") else float(array)
    bits: str = array.tobytes().hex() if hasattr(array, "tobytes") else number.hex()
    recorder.add(number, bits, source)
    recorder.stepped(lambda: "")
